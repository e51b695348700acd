"""The log of the writer of one partition: its appends are refused once another took over."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from ..schemas.errors import Rejected
from ..schemas.ports import Log, LogRecord, NewRecord, Position, TopicPartition
from .kafka_marks import needs_ticks, tick
from .kafka_places import Places
from .kafka_producing import Outgoing
from .kafka_transactions import Transactions

__all__ = ["FencedLog"]


class FencedLog:
    """`Log` for the writer of a partition; made by `KafkaLog.fenced`.

    Every append is one transaction. After a call that was `Unavailable` it may be unknown whether
    its records are there; every later call of this log, a read as well, first waits until that
    is settled. So read to the end before what was decided is appended again.

    Args:
        log: Whose topics these are.
        places: Topics, partitions and epoch.
        transactions: Of this partition's one producer.
        partition: The only one that is written.
    """

    def __init__(
        self, log: Log, places: Places, transactions: Transactions, partition: int
    ) -> None:
        self._log = log
        self._places = places
        self._transactions = transactions
        self._partition = partition

    @property
    def epoch(self) -> str:
        """Made with the topics."""
        return self._log.epoch

    @property
    def partition(self) -> int:
        """The only partition that is written."""
        return self._partition

    def partition_of(self, placed_by: bytes) -> int:
        """Compute the partition of a key."""
        return self._log.partition_of(placed_by)

    async def append(self, records: Sequence[NewRecord]) -> list[Position]:
        """Append in one transaction.

        Raises:
            Fenced: Another process writes the partition now.
            Unavailable: Kafka can't be reached, or didn't answer in time.
            Rejected: A record belongs elsewhere, is too long, or has a time without a zone.
        """
        outgoing = [self._places.outgoing(record) for record in records]
        if any(one.partition != self._partition for one in outgoing):
            message = f"The writer of partition {self._partition} can't write another."
            raise Rejected(message)
        if not outgoing:
            return []
        offsets = await self._transactions.append(outgoing)
        return self._places.positions(records, outgoing, offsets)

    async def tick(self) -> None:
        """Append a tick to this partition of each ingress and compacted topic.

        Raises:
            Fenced: Another process writes the partition now.
            Unavailable: Kafka can't be reached.
        """
        topics = [one.name for one in self._places.topics if needs_ticks(one)]
        await self._transactions.append([self._tick(topic) for topic in topics])

    def _tick(self, topic: str) -> Outgoing:
        return tick(*self._places.wire(topic, self._partition))

    async def read(
        self, topic: str, partition: int, offset: int, *, limit: int, wait_s: float = 0.0
    ) -> list[LogRecord]:
        """Read up to `limit` records from `offset` on, once what was written is settled."""
        await self._transactions.settle()
        return await self._log.read(topic, partition, offset, limit=limit, wait_s=wait_s)

    async def poll(
        self, offsets: Mapping[TopicPartition, int], *, limit: int, wait_s: float
    ) -> list[LogRecord]:
        """Read from several partitions at once, once what was written is settled."""
        await self._transactions.settle()
        return await self._log.poll(offsets, limit=limit, wait_s=wait_s)

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset and the last stable one, once what was written is settled."""
        await self._transactions.settle()
        return await self._log.bounds(topic, partition)

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Store the next offsets to read of a group without members."""
        await self._transactions.settle()
        await self._log.commit(group, offsets)

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return the next offset to read of a group, or None."""
        return await self._log.committed(group, topic, partition)

    async def delete_before(self, topic: str, partition: int, offset: int) -> int:
        """Delete every record below `offset`; returns how many offsets went."""
        await self._transactions.settle()
        return await self._log.delete_before(topic, partition, offset)

    async def expire(self, topic: str, before: datetime) -> int:
        """Delete what stands before the first record that isn't older."""
        return await self._log.expire(topic, before)

    async def compact(self, topic: str) -> int:
        """Append a tick to this partition, so that the broker compacts it within its lag."""
        name = self._places.compacted(topic).name
        await self._transactions.append([self._tick(name)])
        return 0

    async def vacuum(self) -> None:
        """Do nothing: the broker frees its disk by itself, within the lags of its topics."""
        await self._log.vacuum()

    async def close(self) -> None:
        """Finish the transaction that is on its way and stop the producer; the log stays."""
        await self._transactions.close()
