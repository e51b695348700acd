"""The embedded log as another process reads it, beside the one that writes."""

from functools import partial
from pathlib import Path
from typing import Self

from ...schemas.errors import Rejected
from ...schemas.ports import LogRecord
from ..placement import partition_of
from . import log_tables as tables
from .database import Database
from .log_reader import Reader
from .log_sealer import LogSealer
from .log_tables import ROLE, Place, State

__all__ = ["SqliteLogView"]


class SqliteLogView:
    """`LogReader` on a log's file. Use `open`.

    Args:
        database: The file, read-only.
        state: What the file said when it was opened.
        sealer: Opens values that the log sealed.
        partitions: Of every topic.
    """

    def __init__(
        self, database: Database, state: State, sealer: LogSealer, partitions: int
    ) -> None:
        self._database = database
        self._topics = state.topics
        self._epoch = state.epoch
        self._partitions = partitions
        names = {number: name for name, number in state.topics.items()}
        self._reader = Reader(database, sealer, names, state.epoch)

    @classmethod
    async def open(cls, path: Path, *, sealer: LogSealer, partitions: int) -> Self:
        """Open a log's file to read it.

        Args:
            path: The file.
            sealer: From the keys of the same store.
            partitions: Of every topic.

        Raises:
            Unavailable: The file can't be used now.
            Damaged: The file is malformed.
        """
        database = await Database.open(path, ROLE, read_only=True)
        try:
            state = await database.run(tables.look)
        except BaseException:
            await database.close()
            raise
        return cls(database, state, sealer, partitions)

    @property
    def epoch(self) -> str:
        """Made with the file."""
        return self._epoch

    def partition_of(self, placed_by: bytes) -> int:
        """Compute the partition of a key."""
        return partition_of(placed_by, self._partitions)

    async def read(
        self, topic: str, partition: int, offset: int, *, limit: int, wait_s: float = 0.0
    ) -> list[LogRecord]:
        """Read up to `limit` records from `offset` on.

        Raises:
            Rejected: The topic is unknown, or a wait was asked for: nothing wakes this process.
            Damaged: A sealed record's key is gone though the record isn't.
        """
        if wait_s:
            message = "A log that is only read doesn't wait for records: ask again later."
            raise Rejected(message)
        return await self._reader.fetch({self._place(topic, partition): offset}, limit)

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return (first offset that may exist, offset that the next record will get)."""
        place = self._place(topic, partition)
        counters = await self._database.run(tables.read_counters)
        first = await self._database.run(partial(tables.first_offset, place=place))
        following = counters[place]
        return (following if first is None else min(first, following)), following

    async def close(self) -> None:
        """Release the file."""
        await self._database.close()

    def _place(self, topic: str, partition: int) -> Place:
        number = self._topics.get(topic)
        if number is None or not 0 <= partition < self._partitions:
            message = f"The log has no partition {partition} of a topic {topic!r}."
            raise Rejected(message)
        return Place(number, partition)
