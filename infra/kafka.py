"""The log on Kafka: topics of one namespace, for processes that share them.

Records, positions and everything above have the plain names of the topics table; on the wire
the namespace stands in their place. Ingress is written by any process, journal and keys of a
partition by its lane alone, through `fenced`.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Self

from ..schemas.ports import LogRecord, NewRecord, Position, TopicPartition
from ..schemas.topics import TOPICS, Topic
from . import kafka_topics
from .cluster_settings import ClusterSettings
from .kafka_client import Client, Names
from .kafka_fenced import FencedLog
from .kafka_grouping import Groups
from .kafka_marks import tick
from .kafka_places import Places
from .kafka_producing import Room, Singles
from .kafka_reading import Reading
from .kafka_requests import Requests
from .kafka_times import milliseconds
from .kafka_transactions import Transactions, ends
from .log_checks import check_offset

__all__ = ["KafkaLog"]


class KafkaLog:
    """`Log` on Kafka; see the port for the promises. Use `open`.

    Args:
        settings: Where the brokers are.
        client: Connected.
        places: Topics, partitions and epoch.
    """

    def __init__(self, settings: ClusterSettings, client: Client, places: Places) -> None:
        self._settings = settings
        self._client = client
        self._places = places
        self._names = Names(settings.namespace)
        self._requests = Requests(client)
        self._reading = Reading(client, self._requests, places, settings.connections_max)
        room = Room()
        self._singles = Singles(settings, room)
        self._groups = Groups(settings, room, self._reading.expect)

    @classmethod
    async def open(
        cls,
        settings: ClusterSettings,
        *,
        topics: Sequence[Topic] = TOPICS,
    ) -> Self:
        """Open the log; `eunoe topics apply` has made its topics.

        Args:
            settings: Where the brokers are, and the namespace.
            topics: The topics table.

        Raises:
            Unavailable: Kafka can't be reached, the login is wrong, or a topic isn't as it has
                to be; the sentence names the setting or the command.
            Rejected: The topics have another number of partitions.
        """
        names = Names(settings.namespace)
        client = await Client.connect(settings)
        try:
            epoch = await kafka_topics.check(settings, client=client, topics=topics)
            await client.follow([names.topic(one.name) for one in topics])
        except BaseException:
            await client.close()
            raise
        return cls(settings, client, Places(names, topics, settings.partitions, epoch))

    @property
    def epoch(self) -> str:
        """Made with the topics."""
        return self._places.epoch

    @property
    def partitions(self) -> int:
        """How many partitions every topic has."""
        return self._places.count

    def partition_of(self, placed_by: bytes) -> int:
        """Compute the partition of a key."""
        return self._places.partition_of(placed_by)

    async def append(self, records: Sequence[NewRecord]) -> list[Position]:
        """Append one record, or several in one transaction.

        Raises:
            Rejected: A record has an unknown topic, is too long, or has a time without a zone.
            Unavailable: Kafka can't be reached, or didn't answer in time: then it is unknown
                whether the records are there.
        """
        self._reading.check_open()
        outgoing = [self._places.outgoing(record) for record in records]
        if not outgoing:
            return []
        if len(outgoing) == 1:
            offsets = [await self._singles.append(outgoing[0])]
            self._reading.expect(ends(outgoing, offsets))
        else:
            offsets = await self._groups.append(outgoing)
        return self._places.positions(records, outgoing, offsets)

    async def read(
        self, topic: str, partition: int, offset: int, *, limit: int, wait_s: float = 0.0
    ) -> list[LogRecord]:
        """Read up to `limit` records from `offset` on, waiting for a first one if asked to.

        Raises:
            Rejected: The topic or partition is unknown, or a number is out of range.
            Unavailable: Kafka can't be reached.
        """
        return await self._reading.read(
            TopicPartition(topic, partition), offset, limit=limit, wait_s=wait_s
        )

    async def poll(
        self, offsets: Mapping[TopicPartition, int], *, limit: int, wait_s: float
    ) -> list[LogRecord]:
        """Read from several partitions at once, as a consumer does.

        Raises:
            Rejected: A topic or partition is unknown, or a number is out of range.
            Unavailable: Kafka can't be reached.
        """
        return await self._reading.poll(offsets, limit=limit, wait_s=wait_s)

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return (first offset that may exist, the last stable offset)."""
        return await self._reading.bounds(topic, partition)

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Store the next offsets to read of a group without members.

        Raises:
            Conflict: The group has members, who alone commit for it.
        """
        self._reading.check_open()
        places = {self._places.wire(*one): check_offset(to) for one, to in offsets.items()}
        if places:
            await self._requests.commit(self._names.group(group), places)

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return the next offset to read of a group, or None."""
        self._reading.check_open()
        place = self._places.wire(topic, partition)
        return await self._requests.committed(self._names.group(group), *place)

    async def delete_before(self, topic: str, partition: int, offset: int) -> int:
        """Delete every record below `offset`; returns how many offsets went.

        Raises:
            Rejected: The topic is compacted: brokers cut no such topic.
        """
        self._reading.check_open()
        place = self._places.wire(topic, partition)
        self._places.check_cut(topic)
        first, end = await self._reading.bounds(topic, partition)
        until = min(check_offset(offset), end)
        if until <= first:
            return 0
        await self._requests.delete_before(*place, until)
        return until - first

    async def expire(self, topic: str, before: datetime) -> int:
        """Delete of each partition what stands before the first record that isn't older.

        Raises:
            Rejected: The topic is compacted: brokers cut no such topic.
        """
        self._reading.check_open()
        self._places.check_cut(topic)
        oldest_ms = milliseconds(before)
        gone = 0
        for partition in range(self._places.count):
            # The end first: what becomes visible after it was looked at is in neither answer.
            _, end = await self._reading.bounds(topic, partition)
            place = self._places.wire(topic, partition)
            first = await self._requests.first_since(*place, oldest_ms)
            gone += await self.delete_before(topic, partition, end if first is None else first)
        return gone

    async def compact(self, topic: str) -> int:
        """Append a tick to each partition, so that the broker compacts it within its lag.

        Raises:
            Rejected: The topic's records are all kept, whatever their keys.
        """
        self._places.compacted(topic)
        await asyncio.gather(
            *(self._tick(topic, partition) for partition in range(self._places.count))
        )
        return 0

    async def _tick(self, topic: str, partition: int) -> None:
        self._reading.check_open()
        await self._singles.append(tick(*self._places.wire(topic, partition)))

    @asynccontextmanager
    async def fenced(self, partition: int) -> AsyncIterator[FencedLog]:
        """Open the log of the writer of a partition: whoever wrote it before is shut out.

        The broker refuses what a former writer appends from now on, and aborts what it left open.

        Args:
            partition: Of the compacted topics.

        Yields:
            A log whose appends are transactions of that writer's producer.

        Raises:
            Unavailable: Kafka can't be reached.
        """
        self._reading.check_open()
        self._places.check_partition(partition)
        transactions = await Transactions.open(
            self._settings,
            self._names.group(f"journal-{partition}"),
            expect=self._reading.expect,
            lost=(
                f"Another process writes partition {partition} of the journal now, or Kafka gave "
                "up a transaction that took too long: this writer stops, whoever has the "
                "partition opens it again."
            ),
        )
        log = FencedLog(self, self._places, transactions, partition)
        try:
            yield log
        finally:
            await log.close()

    async def vacuum(self) -> None:
        """Do nothing: the broker frees its disk by itself, within the lags of its topics."""
        self._reading.check_open()

    async def close(self) -> None:
        """Finish the appends that were sent, end waiting reads with no records, disconnect."""
        if self._reading.is_closed:
            return
        self._reading.close()
        await self._groups.close()
        await self._singles.close()
        await self._reading.finished()
        await self._client.close()
