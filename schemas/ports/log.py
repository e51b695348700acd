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
    """A record as read; `timestamp` is the log's own append time where the topic keeps it."""

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

        Marks that a log keeps for itself come like other records (`LogRecord.is_mark`), so that
        who reads moves on beyond them; who looks for records passes over them.

        Args:
            topic: Topic name.
            partition: Partition.
            offset: First offset wanted.
            limit: At most so many records.
            wait_s: How long to wait for a first record, in seconds; 0 returns at once.
        """
        ...

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return (first offset that may exist, offset that the next record gets at the least).

        Everything that was appended by whoever asks, and has returned, lies below the end.
        """
        ...

    async def close(self) -> None:
        """Release files and connections; pending reads end with no records."""
        ...


class Log(LogReader, Protocol):
    """Topics of partitions of records: the truth that every store is a projection of.

    Promises:
        * `append` is all or nothing, and durable when it returns: neither a killed process
          nor a lost power supply takes the records away. Where it is `Unavailable`, a log over
          a network may have the records or not; the log of a partition's only writer settles
          which before it reads or appends again.
        * Offsets of a partition grow by append order and are never used twice, not even after
          deletion or compaction; they may have gaps, and marks of the log's own between.
        * The partition is murmur2(placed_by or key) as Kafka's default partitioner computes
          it, modulo the topic's partitions.
        * `read` yields records in offset order and never one that is not yet durable.
        * What a process appended, its own next `read` has, and `bounds` encloses; a `poll`
          and other processes have it a moment later.
        * A committed offset is the next one to read, belongs to one group, and survives.
        * A record that is older than its topic keeps records may go at any time.
        * Compaction keeps the newest record of each key and drops keys whose newest record is
          a tombstone, together with the tombstone; the order and offsets of the rest stay.
          `compact` has done it when it returns, or the log does it by itself within a lag that
          is a setting (`compaction_lag_s`), as long as it is called or ticks come.
        * A log in a folder keeps values of topics that are marked `sealed_by_log`, and their
          headers, on the disk only sealed, each under a key of its own; `delete_before` and
          compaction destroy those keys too.
        * Once another owner has opened the log, or on a broker the same partition's writing,
          the writes of this one are refused with `Fenced`: a zombie appends nothing, and it
          commits and deletes nothing once it knows.
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
        """Store the next offsets to read of a group, all or none.

        Raises:
            Conflict: The group has members at a broker, who alone commit for it.
        """
        ...

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return the next offset to read of a group, or None."""
        ...

    async def delete_before(self, topic: str, partition: int, offset: int) -> int:
        """Delete every record below `offset`.

        Returns:
            How many went; a log that doesn't know counts gaps and its own marks too.

        Raises:
            Rejected: The topic is compacted, and this log lets only tombstones delete from it.
        """
        ...

    async def expire(self, topic: str, before: datetime) -> int:
        """Delete what is older, and nothing that isn't.

        Of each partition at least those older records go that stand before the first that isn't
        older: all, where times grow with the offsets.

        Returns:
            How many went; a log that doesn't know counts gaps and its own marks too.

        Raises:
            Rejected: The topic is compacted, and this log lets only tombstones delete from it.
        """
        ...

    async def compact(self, topic: str) -> int:
        """Compact a topic, each partition for itself, or let the log do it within its lag.

        Returns:
            How many records went, where that is known; else 0.

        Raises:
            Rejected: The topic isn't one that is compacted: its records share keys and all stay.
        """
        ...

    async def vacuum(self) -> None:
        """Make what was deleted vanish from the disk (free pages, write-ahead log).

        A broker does so by itself, within the lags of its topics.
        """
        ...
