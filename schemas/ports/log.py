"""The port of the log: topics, partitions, groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from ..topics import MARK_HEADER

__all__ = [
    "Headers",
    "Log",
    "LogReader",
    "LogRecord",
    "NewRecord",
    "Position",
    "TopicPartition",
]

Headers = tuple[tuple[str, bytes], ...]


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class Position(NamedTuple):
    """A place in a partition; offsets of different epochs can't be compared."""

    topic: str
    partition: int
    epoch: str
    offset: int


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to append.

    Args:
        topic: Where to.
        key: Record key, UTF-8.
        value: None is a tombstone for `key`.
        headers: Pairs, in order.
        placed_by: What the partition is computed from; None means `key`.
        timestamp: Event time for topics that keep it; None means now.
    """

    topic: str
    key: bytes
    value: bytes | None
    headers: Headers = ()
    placed_by: bytes | None = None
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record as read; `timestamp` is the log's own append time."""

    position: Position
    key: bytes
    value: bytes | None
    headers: Headers
    timestamp: datetime

    @property
    def is_mark(self) -> bool:
        """Whether the log wrote it for itself, such as a tick: who reads a topic passes over it."""
        return any(name == MARK_HEADER for name, _ in self.headers)


class LogReader(Protocol):
    """The reading half of a log, as a replay uses it beside the process that writes.

    Promises:
        * `read` yields records in offset order and never one that is not yet durable.
        * What another process appended, deleted or compacted is seen at the next call.
    """

    @property
    def epoch(self) -> str:
        """Made with the log; offsets of another epoch mean nothing here."""
        ...

    def partition_of(self, placed_by: bytes) -> int:
        """Compute the partition of a key."""
        ...

    async def read(
        self, topic: str, partition: int, offset: int, *, limit: int, wait_s: float = 0.0
    ) -> list[LogRecord]:
        """Read up to `limit` records from `offset` on.

        Args:
            topic: Topic name.
            partition: Partition.
            offset: First offset wanted.
            limit: At most so many records.
            wait_s: How long to wait for a first record, in seconds; 0 returns at once.
        """
        ...

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return (first offset that may exist, offset that the next record will get)."""
        ...

    async def close(self) -> None:
        """Release files; pending reads end with no records."""
        ...


class Log(LogReader, Protocol):
    """Topics of partitions of records: the truth that every store is a projection of.

    Promises:
        * `append` is all or nothing, and durable when it returns: neither a killed process
          nor a lost power supply takes the records away.
        * Offsets of a partition grow by append order and are never used twice, not even after
          deletion or compaction; they may have gaps.
        * The partition is murmur2(placed_by or key) as Kafka's default partitioner computes
          it, modulo the topic's partitions.
        * `read` yields records in offset order and never one that is not yet durable.
        * A committed offset is the next one to read, belongs to one group, and survives.
        * `compact` keeps the newest record of each key and drops keys whose newest record is
          a tombstone, together with the tombstone; the order and offsets of the rest stay.
        * Values of topics that are marked `sealed_by_log`, and their headers, stand on the
          disk only sealed, each under a key of its own; `delete_before` and compaction
          destroy those keys too.
        * Once another owner has opened the log, the writes of this one are refused with
          `Fenced`: a zombie appends, commits and deletes nothing.
        * An unknown topic is `Rejected`.
    """

    async def append(self, records: Sequence[NewRecord]) -> list[Position]:
        """Append to one or several topics in one transaction.

        Returns:
            Positions in the order of `records`.
        """
        ...

    async def poll(
        self, offsets: Mapping[TopicPartition, int], *, limit: int, wait_s: float
    ) -> list[LogRecord]:
        """Read from several partitions at once, as a consumer does.

        Args:
            offsets: The first offset wanted of each partition.
            limit: At most so many records of each topic.
            wait_s: How long to wait for a first record of any, in seconds.

        Returns:
            Records, in offset order within each partition.
        """
        ...

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Store the next offsets to read of a group, in one transaction."""
        ...

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return the next offset to read of a group, or None."""
        ...

    async def delete_before(self, topic: str, partition: int, offset: int) -> int:
        """Delete every record below `offset`; returns how many."""
        ...

    async def expire(self, topic: str, before: datetime) -> int:
        """Delete every record with an earlier timestamp; returns how many."""
        ...

    async def compact(self, topic: str) -> int:
        """Compact a topic, each partition for itself; returns how many records went.

        Raises:
            Rejected: The topic isn't one that is compacted: its records share keys and all stay.
        """
        ...

    async def vacuum(self) -> None:
        """Make what was deleted vanish from the disk (free pages, write-ahead log)."""
        ...
