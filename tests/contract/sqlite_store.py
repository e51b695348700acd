"""A folder with the embedded log and its keys, as the tests of both use it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from eunoe.infra.clock import SystemClock
from eunoe.infra.embedded.keys import SqliteKeys
from eunoe.infra.embedded.log import SqliteLog
from tests.contract.log_contract import CONTRACT_PARTITIONS, CONTRACT_TOPICS

__all__ = ["MASTER", "SqliteStore"]

MASTER: Final = bytes(range(32))


class SqliteStore:
    """A folder with a log and its keys.

    Args:
        folder: Made if it isn't there.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

    @property
    def path(self) -> Path:
        """The log's file."""
        return self.folder / "log.sqlite"

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[SqliteLog, None]:
        """Open the log with its keys."""
        async with self.keys() as keys:
            log = await SqliteLog.open(
                self.path,
                topics=CONTRACT_TOPICS,
                partitions=CONTRACT_PARTITIONS,
                sealer=keys.sealer,
                clock=SystemClock(),
            )
            try:
                yield log
            finally:
                await log.close()

    @asynccontextmanager
    async def keys(self, master: bytes = MASTER) -> AsyncGenerator[SqliteKeys, None]:
        """Open the keys alone."""
        keys = await SqliteKeys.open(self.folder / "keys.sqlite", master=master)
        try:
            yield keys
        finally:
            await keys.close()

    def raw(self) -> bytes:
        """Return the bytes of every file of the folder."""
        return b"".join(path.read_bytes() for path in sorted(self.folder.iterdir()))
