"""Lanes: one partition's processor, opened when the partition is assigned, closed when it goes.

A lane opens what its processor needs (on a cluster the fenced log, the keys, the stores at the
journal's end), then consumes. While an engine is away it tries again and acknowledges nothing.
When the log takes nothing from it any more, it is closed at once. Mostly another process has the
partition by then, and the group takes it away; where it stays for longer than the group needs to
notice, the lane is opened anew.

Delivery: a lane that is cancelled at any point has acknowledged only what was handled.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from ..schemas.errors import Conflict, Damaged, EunoeError, Fenced, Unavailable
from ..schemas.limits import BACKOFF_S_MAX, LANE_AGAIN_S, PROGRESS_S_MAX, STOP_S_MAX
from ..schemas.ports import LogRecord, TopicPartition
from .consumer import Bury, Consumer, Handle, Prepare, Progress
from .feeding import HandedFeed

__all__ = ["Lane", "Lanes", "Membership", "OpenLane", "Processing"]


@dataclass(frozen=True, slots=True)
class Processing:
    """What a lane does with its records, while it is open.

    Args:
        handle: The processor.
        bury: Writes dead letters.
        prepare: Works ahead; None does without.
        keep: Runs beside it for as long as the lane is open, and ends it by raising; None is
            nothing.
    """

    handle: Handle
    bury: Bury
    prepare: Prepare | None = None
    keep: Callable[[], Coroutine[Any, Any, None]] | None = None


OpenLane = Callable[[int], AbstractAsyncContextManager[Processing]]
"""Opens what a partition's processor needs."""


class Membership(Protocol):
    """The group's side of a lane: who reads the partitions, and where offsets go."""

    def acknowledge(self, records: Sequence[LogRecord]) -> None:
        """Acknowledge records, in order within each partition."""
        ...

    def pause(self, place: TopicPartition) -> None:
        """Read no more of a partition for now."""
        ...

    def resume(self, place: TopicPartition) -> None:
        """Read on."""
        ...


class Lane:
    """One partition of a processor.

    Args:
        name: Of the processor.
        partition: Which.
        open_lane: Opens what it needs.
        feed: Its records.
        notice_s: After so many seconds the group has noticed who is no member any more.
        now: A clock that only goes on, in seconds.
        failed: Called when it can't go on, with the reason.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a lane
        self,
        name: str,
        partition: int,
        open_lane: OpenLane,
        feed: HandedFeed,
        notice_s: float,
        now: Callable[[], float],
        failed: Callable[[EunoeError], None],
    ) -> None:
        self.name = name
        self.partition = partition
        self.feed = feed
        self.progress = Progress()
        self._open = open_lane
        self._notice_s = notice_s
        self._now = now
        self._failed = failed
        self._opened_at = now()
        self._task: asyncio.Task[None] | None = None
        self.state = "opening"
        """"opening", "open", "fenced" or "failed"."""

    def start(self) -> None:
        """Open it and begin."""
        self._task = asyncio.create_task(self._run(), name=f"eunoe-{self.name}-{self.partition}")
        self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """End it, whatever is in flight; what wasn't acknowledged comes again elsewhere."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        # An engine's call that can't be cancelled must not hold up the others.
        await asyncio.wait([task], timeout=STOP_S_MAX / 2)

    @property
    def trouble(self) -> str | None:
        """Why it isn't well, as a sentence, or None."""
        name = f"{self.name}, partition {self.partition}"
        if self.state == "failed":
            return f"{name}: {self.progress.failed}"
        if self.progress.trouble is not None:
            return f"{name} waits: {self.progress.trouble}"
        if self.state == "fenced":
            return f"{name}: another process has taken the partition over."
        since = self._now() - (self.feed.moved_at or self._opened_at)
        if self.feed.in_flight and since > PROGRESS_S_MAX:
            return f"{name}: {self.feed.in_flight} records, and no progress for {since:.0f} s."
        return None

    async def _run(self) -> None:
        pause = LANE_AGAIN_S
        while True:
            try:
                async with self._open(self.partition) as processing:
                    self.state = "open"
                    self.progress.trouble = None
                    await self._consume(processing)
            except Fenced:
                self.state = "fenced"
                await asyncio.sleep(self._notice_s)
            except (Unavailable, Conflict) as error:
                self.state = "opening"
                self.progress.trouble = str(error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, BACKOFF_S_MAX)
            except EunoeError as error:
                self._fail(error)
                return

    async def _consume(self, processing: Processing) -> None:
        consumer = Consumer(
            self.feed,
            processing.handle,
            processing.bury,
            self.progress,
            prepare=processing.prepare,
        )
        work = [consumer.run()] if processing.keep is None else [consumer.run(), processing.keep()]
        tasks = [asyncio.ensure_future(one) for one in work]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for one in done:
                one.result()
        finally:
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        # A bug in opening or keeping must not look like silence.
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._fail(Damaged(f"The {self.name} stopped: {type(error).__name__}."))

    def _fail(self, error: EunoeError) -> None:
        self.state = "failed"
        self.progress.fail(error)
        self._failed(error)


class Lanes:
    """The lanes of one processor in this process.

    Args:
        name: Of the processor.
        group: Its consumer group.
        topics: What it reads; a lane has the same partition of each.
        open_lane: Opens what a lane needs.
        membership: The group.
        notice_s: After so many seconds the group has noticed who is no member any more.
        now: A clock that only goes on, in seconds.
        failed: Called when a lane can't go on, with the reason.
        seen: Called with what was acknowledged.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a processor
        self,
        name: str,
        group: str,
        topics: Sequence[str],
        open_lane: OpenLane,
        membership: Membership,
        notice_s: float,
        now: Callable[[], float],
        failed: Callable[[EunoeError], None],
        seen: Callable[[int, Sequence[LogRecord]], None],
    ) -> None:
        self.name = name
        self._group = group
        self._topics = topics
        self._open = open_lane
        self._membership = membership
        self._notice_s = notice_s
        self._now = now
        self._failed = failed
        self._seen = seen
        self._lanes: dict[int, Lane] = {}

    @property
    def open(self) -> Sequence[Lane]:
        """The lanes there are."""
        return tuple(self._lanes.values())

    def hand(self, record: LogRecord) -> bool:
        """Hand a record to its lane; without one it was read before the partition went.

        Returns:
            Whether a lane has it.
        """
        lane = self._lanes.get(record.position.partition)
        if lane is None:
            return False
        lane.feed.hand(record)
        return True

    async def assign(self, places: Sequence[TopicPartition]) -> None:
        """Take the partitions over that are assigned; lanes of others end.

        Raises:
            Damaged: A partition of one topic is here and that of another isn't.
        """
        partitions = {place.partition for place in places}
        missing = {(topic, one) for topic in self._topics for one in partitions} - set(places)
        if missing:
            message = f"The {self.name} has a partition without its fellows: {sorted(missing)}."
            raise Damaged(message)
        await self.revoke(set(self._lanes) - partitions)
        for partition in sorted(partitions - set(self._lanes)):
            lane = self._lanes[partition] = self._made(partition)
            lane.start()

    async def revoke(self, partitions: set[int] | None = None) -> None:
        """End lanes; None ends all."""
        gone = [
            self._lanes.pop(one)
            for one in list(self._lanes)
            if partitions is None or one in partitions
        ]
        await asyncio.gather(*(lane.stop() for lane in gone))

    def _made(self, partition: int) -> Lane:
        def acknowledge(records: Sequence[LogRecord]) -> None:
            self._membership.acknowledge(records)
            self._seen(partition, records)

        feed = HandedFeed(
            self._group,
            acknowledge,
            self._membership.pause,
            self._membership.resume,
            self._now,
        )
        return Lane(self.name, partition, self._open, feed, self._notice_s, self._now, self._failed)
