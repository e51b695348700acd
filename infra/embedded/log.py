"""The embedded log: topics of partitions in one SQLite file, for one process.

Writes run in one thread, and calls that come while a transaction is on its way share the next
one. Reads have a connection and a thread of their own.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, Self

from ...schemas.errors import Rejected, Unavailable
from ...schemas.ports import Clock, LogRecord, NewRecord, Position, TopicPartition
from ...schemas.topics import PARTITIONS, TOPICS, Topic
from ..log_checks import check_offset, check_size, is_compacted, keeps_own_time, placing
from ..placement import partition_of
from . import log_tables as tables
from .database import Database
from .log_appender import Appender, Entry
from .log_reader import Arrivals, Reader
from .log_sealer import LogSealer
from .log_tables import ROLE, Place, State, Victims

__all__ = ["SqliteLog"]

_PAGE_BYTES: Final = 16_384
"""A journal record has some 2.5 KB: with the usual pages of 4 KiB each took one of its own."""


class SqliteLog:
    """`Log` on one SQLite file; see the port for the promises.

    Topics whose retention is `UNTIL_JOURNALED` keep the log's own time, as Kafka's
    `LogAppendTime` does; the others keep a record's `timestamp` where it has one. Use `open`.

    Args:
        writer: The file.
        reader: The same file, read-only.
        state: What the file said when it was opened.
        topics: The topics.
        partitions: Of every topic.
        sealer: Seals values of topics that are `sealed_by_log`.
        clock: Tells a record's time.
    """

    def __init__(  # noqa: PLR0913 - called by `open` only
        self,
        writer: Database,
        reader: Database,
        state: State,
        *,
        topics: Iterable[Topic],
        partitions: int,
        sealer: LogSealer,
        clock: Clock,
    ) -> None:
        self._writer = writer
        self._reading = reader
        self._epoch = state.epoch
        self._topics = {topic.name: (topic, state.topics[topic.name]) for topic in topics}
        self._partitions = partitions
        self._sealer = sealer
        self._clock = clock
        self._counters = state.counters
        self._arrivals = Arrivals()
        self._appender = Appender(writer, sealer, self._counters, state.epoch, self._arrivals.wake)
        names = {number: name for name, number in state.topics.items()}
        self._reader = Reader(reader, sealer, names, state.epoch)
        self._polls = 0
        self._shredded: set[bytes] = set(state.shredding)
        self._closed = False

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        topics: Sequence[Topic] = TOPICS,
        partitions: int = PARTITIONS,
        sealer: LogSealer,
        clock: Clock,
    ) -> Self:
        """Open a log, made if it isn't there.

        Args:
            path: The file; its folder has to be there.
            topics: The topics; those that the file doesn't have are added.
            partitions: Of every topic; fixed when the file is made.
            sealer: From the keys of the same store.
            clock: Tells a record's time.

        Raises:
            Rejected: The file has another partition count or format.
            Unavailable: The file can't be used now.
            Damaged: The file is malformed.
        """
        if partitions < 1:
            message = "A log needs at least one partition."
            raise Rejected(message)
        writer = await Database.open(path, ROLE, page_bytes=_PAGE_BYTES)
        try:
            names = [topic.name for topic in topics]
            state = await writer.run(partial(tables.prepare, topics=names, partitions=partitions))
            if state.shredding:  # a process ended between a deletion and its shredding
                await sealer.shred_values(state.shredding)
            reader = await Database.open(path, ROLE, read_only=True)
        except BaseException:
            await writer.close()
            raise
        return cls(
            writer,
            reader,
            state,
            topics=topics,
            partitions=partitions,
            sealer=sealer,
            clock=clock,
        )

    @property
    def epoch(self) -> str:
        """Made with the file."""
        return self._epoch

    def partition_of(self, placed_by: bytes) -> int:
        """Compute the partition of a key."""
        return partition_of(placed_by, self._partitions)

    async def append(self, records: Sequence[NewRecord]) -> list[Position]:
        """Append to one or several topics in one transaction.

        Raises:
            Rejected: A record has an unknown topic, is too long, or has a time without a zone.
            Unavailable: The log can't be written now; nothing was appended.
        """
        self._check_open()
        now = self._clock.now()
        entries = [self._check(record, now) for record in records]
        return await self._appender.append(entries) if entries else []

    def _check(self, record: NewRecord, now: datetime) -> Entry:
        topic, number = self._topic(record.topic)
        check_size(record)
        moment = None if keeps_own_time(topic) else record.timestamp
        place = Place(number, self.partition_of(placing(record)))
        return Entry(topic, place, record, _stamp(now if moment is None else moment))

    async def read(
        self, topic: str, partition: int, offset: int, *, limit: int, wait_s: float = 0.0
    ) -> list[LogRecord]:
        """Read up to `limit` records from `offset` on, waiting for a first one if asked to.

        Raises:
            Rejected: The topic or partition is unknown, or a number is out of range.
            Damaged: A sealed record's key is gone though the record isn't.
        """
        place = TopicPartition(topic, partition)
        return await self.poll({place: offset}, limit=limit, wait_s=wait_s)

    async def poll(
        self, offsets: Mapping[TopicPartition, int], *, limit: int, wait_s: float
    ) -> list[LogRecord]:
        """Read from several partitions at once, as a consumer does.

        Each call prefers another partition, so that a busy one doesn't starve the others.

        Raises:
            Rejected: A topic or partition is unknown, or a number is out of range.
            Damaged: A sealed record's key is gone though the record isn't.
        """
        self._check_open()
        if limit < 1:
            message = "A read needs a limit of at least one record."
            raise Rejected(message)
        starts = [(self._place(*place), check_offset(offset)) for place, offset in offsets.items()]
        self._polls += 1
        turn = self._polls % len(starts) if starts else 0
        starts = starts[turn:] + starts[:turn]
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait_s
        while not self._closed:
            seen = {place: self._counters[place] for place, _ in starts}
            waiting = {place: offset for place, offset in starts if offset < seen[place]}
            if waiting and (records := await self._reader.fetch(waiting, limit)):
                return records
            remaining_s = deadline - loop.time()
            if remaining_s <= 0:
                break
            # From this look at the counters to the wait nothing is awaited: no append is missed.
            if all(self._counters[place] == end for place, end in seen.items()):
                await self._arrivals.wait(seen, remaining_s)
        return []

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return (first offset that may exist, offset that the next record will get)."""
        self._check_open()
        place = self._place(topic, partition)
        following = self._counters[place]
        first = await self._reading.run(partial(tables.first_offset, place=place))
        return (following if first is None else min(first, following)), following

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Store the next offsets to read of a group, in one transaction."""
        self._check_open()
        places = {self._place(*place): check_offset(offset) for place, offset in offsets.items()}
        if places:
            await self._writer.run(partial(tables.write_commits, group=group, offsets=places))

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return the next offset to read of a group, or None."""
        self._check_open()
        place = self._place(topic, partition)
        return await self._reading.run(partial(tables.read_commit, group=group, place=place))

    async def delete_before(self, topic: str, partition: int, offset: int) -> int:
        """Delete every record below `offset` and destroy their keys; returns how many."""
        self._check_open()
        return await self._delete(
            Victims.below(self._place(topic, partition), check_offset(offset))
        )

    async def expire(self, topic: str, before: datetime) -> int:
        """Delete every record with an earlier timestamp and destroy their keys."""
        self._check_open()
        return await self._delete(Victims.older(self._topic(topic)[1], _stamp(before)))

    async def compact(self, topic: str) -> int:
        """Compact a topic, partition by partition, and destroy the keys of what goes.

        Raises:
            Rejected: The topic's records are all kept, whatever their keys.
        """
        self._check_open()
        named, number = self._topic(topic)
        if not is_compacted(named):
            message = f"The topic {topic} isn't one that is compacted."
            raise Rejected(message)
        return await self._delete(Victims.superseded(number))

    async def _delete(self, victims: Victims) -> int:
        done = tuple(self._shredded)
        removed, keys = await self._writer.run(
            partial(tables.delete, victims=victims, shredded=done)
        )
        self._shredded.difference_update(done)
        if keys:
            await self._sealer.shred_values(keys)
            self._shredded.update(keys)
        return removed

    async def vacuum(self) -> None:
        """Make what was deleted vanish: at most one rewriting of the file."""
        self._check_open()
        await self._writer.run(tables.vacuum)

    async def close(self) -> None:
        """Finish the appends that wait, end waiting reads with no records, release the file."""
        if self._closed:
            return
        self._closed = True
        self._arrivals.close()
        await self._appender.finish()
        await self._reading.close()
        await self._writer.close()

    def _check_open(self) -> None:
        if self._closed:
            message = f"The {ROLE} is closed."
            raise Unavailable(message)

    def _topic(self, name: str) -> tuple[Topic, int]:
        found = self._topics.get(name)
        if found is None:
            message = f"The log has no topic {name!r}."
            raise Rejected(message)
        return found

    def _place(self, topic: str, partition: int) -> Place:
        number = self._topic(topic)[1]
        if not 0 <= partition < self._partitions:
            message = f"The topic {topic} has partitions 0 to {self._partitions - 1}."
            raise Rejected(message)
        return Place(number, partition)


def _stamp(moment: datetime) -> int:
    if moment.tzinfo is None:
        message = "A record's time needs a time zone."
        raise Rejected(message)
    return tables.stamp_of(moment)
