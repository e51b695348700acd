"""Where a consumer's records come from, and where it acknowledges them.

A consumer knows a `Feed` alone: embedded it polls the log itself; on a cluster a group's membership
decides which partitions a process has, and hands it their records.

Delivery: a feed hands records over in offset order within each partition, from the committed
offset on; what isn't committed comes again.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ..schemas.limits import BATCH_RECORDS_MAX, LANE_RECORDS_MAX, LANE_RECORDS_MIN, POLL_S
from ..schemas.ports import Log, LogRecord, TopicPartition

__all__ = ["Feed", "HandedFeed", "LogFeed"]


class Feed(Protocol):
    """Some partitions of one group."""

    @property
    def group(self) -> str:
        """Name of the group."""
        ...

    async def start(self) -> dict[TopicPartition, int]:
        """Begin at the committed offsets; returns them as far as they are known."""
        ...

    async def next(self) -> list[LogRecord]:
        """Return the records that come next, at least one; waits for it."""
        ...

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Acknowledge everything below these offsets.

        Raises:
            Unavailable: It isn't stored now; nothing was acknowledged.
        """
        ...


class LogFeed:
    """A feed that polls a log for partitions that nobody else has.

    Args:
        log: Where from.
        group: Whose offsets.
        partitions: Which.
        limit: At most so many records of each topic at a time.
    """

    def __init__(
        self,
        log: Log,
        group: str,
        partitions: Sequence[TopicPartition],
        *,
        limit: int = BATCH_RECORDS_MAX,
    ) -> None:
        self._log = log
        self.group = group
        self._partitions = partitions
        self._limit = limit
        self._offsets: dict[TopicPartition, int] = {}
        """What is read next; what is committed may lie behind by the records in flight."""

    async def start(self) -> dict[TopicPartition, int]:
        """Begin at the committed offsets."""
        for place in self._partitions:
            committed = await self._log.committed(self.group, *place)
            first, _ = await self._log.bounds(*place)
            self._offsets[place] = first if committed is None else committed
        return dict(self._offsets)

    async def next(self) -> list[LogRecord]:
        """Return the records that come next."""
        records: list[LogRecord] = []
        while not records:
            records = await self._log.poll(self._offsets, limit=self._limit, wait_s=POLL_S)
        for record in records:
            place = TopicPartition(record.position.topic, record.position.partition)
            self._offsets[place] = record.position.offset + 1
        return records

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Acknowledge everything below these offsets."""
        await self._log.commit(self.group, offsets)


class HandedFeed:
    """A feed that is handed its records, as they come, by whoever belongs to the group.

    At a bound of records in flight it asks for no more of a partition, until half are acknowledged.

    Args:
        group: Whose.
        acknowledge: Called with the records that are done, in order.
        pause: Asks for no more of a partition.
        resume: Asks for more of it.
        now: A clock that only goes on, in seconds.
    """

    def __init__(
        self,
        group: str,
        acknowledge: Callable[[Sequence[LogRecord]], None],
        pause: Callable[[TopicPartition], None],
        resume: Callable[[TopicPartition], None],
        now: Callable[[], float],
    ) -> None:
        self.group = group
        self.moved_at: float | None = None
        """When something was acknowledged last, or nothing was in flight; None before that."""
        self._now = now
        self._acknowledge = acknowledge
        self._pause = pause
        self._resume = resume
        self._waiting: deque[LogRecord] = deque()
        self._some = asyncio.Event()
        self._flying: dict[TopicPartition, deque[LogRecord]] = {}
        self._paused: set[TopicPartition] = set()

    @property
    def in_flight(self) -> int:
        """Records that were handed over and aren't acknowledged."""
        return sum(map(len, self._flying.values()))

    def hand(self, record: LogRecord) -> None:
        """Take a record; never waits."""
        place = TopicPartition(record.position.topic, record.position.partition)
        flying = self._flying.setdefault(place, deque())
        if not self.in_flight:
            self.moved_at = self._now()
        flying.append(record)
        self._waiting.append(record)
        self._some.set()
        if len(flying) >= LANE_RECORDS_MAX and place not in self._paused:
            self._paused.add(place)
            self._pause(place)

    async def start(self) -> dict[TopicPartition, int]:
        """Begin anew with what isn't acknowledged; offsets aren't known before that."""
        self._waiting = deque(one for flying in self._flying.values() for one in flying)
        return {}

    async def next(self) -> list[LogRecord]:
        """Return the records that come next."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        count = min(len(self._waiting), BATCH_RECORDS_MAX)
        return [self._waiting.popleft() for _ in range(count)]

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Acknowledge everything below these offsets, in order."""
        done = [
            record
            for place, offset in offsets.items()
            for record in self._flying[place]
            if record.position.offset < offset
        ]
        self._acknowledge(done)
        self.moved_at = self._now()
        for record in done:  # the first of their partitions, since records come in order
            position = record.position
            self._flying[TopicPartition(position.topic, position.partition)].popleft()
        for place in list(self._paused):
            if len(self._flying[place]) <= LANE_RECORDS_MIN:
                self._paused.discard(place)
                self._resume(place)
