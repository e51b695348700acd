"""Scenes of a process that dies in the middle: `python -m tests.contract.log_child FOLDER SCENE`.

The process kills itself, so that nothing is cleaned up, just as when it loses its power.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from eunoe.infra.embedded.log import SqliteLog
from eunoe.infra.embedded.log_sealer import LogSealer, SealedValue
from tests.contract.log_contract import INGRESS, numbered, own
from tests.contract.sqlite_store import SqliteStore

seal_values = LogSealer.seal_values


def die() -> NoReturn:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


async def appended(log: SqliteLog) -> None:
    """Die after an append returned."""
    await log.append(numbered(INGRESS, 3, 10))


async def seen(log: SqliteLog) -> None:
    """Die as soon as the disk shows a record, if that is before its append returns; else then."""
    appending = asyncio.create_task(log.append(numbered(INGRESS, 3, 10)))
    while not appending.done():
        if await log._reader.fetch({log._place(*own(log, INGRESS)): 3}, 9):
            die()


async def sealed(log: SqliteLog) -> None:
    """Die after the keys are durable and before the records are."""

    async def seal_and_die(
        sealer: LogSealer, values: Sequence[tuple[bytes, bytes]]
    ) -> list[SealedValue]:
        await seal_values(sealer, values)
        die()

    with patch.object(LogSealer, "seal_values", seal_and_die):
        await log.append(numbered(INGRESS, 3, 10))


async def deleted(log: SqliteLog) -> None:
    """Die after records are deleted and before their keys are destroyed."""

    async def only_die(_sealer: LogSealer, _key_ids: Sequence[bytes]) -> None:
        die()

    with patch.object(LogSealer, "shred_values", only_die):
        await log.delete_before(*own(log, INGRESS), 2)


SCENES = {"appended": appended, "seen": seen, "sealed": sealed, "deleted": deleted}


async def main(folder: str, scene: str) -> None:
    """Play a scene."""
    async with SqliteStore(Path(folder)).open() as log:
        await SCENES[scene](log)
        die()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
