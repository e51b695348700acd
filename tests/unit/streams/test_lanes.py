"""Lanes: opened, retried, fenced, taken away."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from eunoe.schemas import limits
from eunoe.schemas.errors import Damaged, EunoeError, Fenced, Rejected, Unavailable
from eunoe.schemas.ports import LogRecord, Position, TopicPartition
from eunoe.schemas.topics import MARK_HEADER
from eunoe.streams import lanes as lanes_module
from eunoe.streams.lanes import Lanes, Processing

NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)
TOPICS = ("turns", "commands")


@dataclass
class Group:
    """A membership and a processor that write down what happens to them."""

    failures: list[Exception] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)
    handled: list[int] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    failed: list[EunoeError] = field(default_factory=list)
    refuse: int | None = None
    error: EunoeError | None = None
    hang: bool = False
    now: Callable[[], float] = lambda: 0.0
    notice_s: float = 60.0
    unkept: asyncio.Event = field(default_factory=asyncio.Event)

    def acknowledge(self, records: Sequence[LogRecord]) -> None:
        """Write offsets down."""
        self.done += [one.position.offset for one in records]

    def pause(self, place: TopicPartition) -> None:
        """Write it down."""
        self.happened.append(f"pause {place.topic}")

    def resume(self, place: TopicPartition) -> None:
        """Write it down."""
        self.happened.append(f"resume {place.topic}")

    @asynccontextmanager
    async def open(self, partition: int) -> AsyncIterator[Processing]:
        """Open a lane, or fail as told."""
        if self.failures:
            raise self.failures.pop(0)
        self.happened.append(f"open {partition}")
        try:
            yield Processing(self.handle, self.bury, keep=self.keep)
        finally:
            self.happened.append(f"close {partition}")

    async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        """Handle, refuse or fail as told."""
        if self.hang:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        self.handled += [one.position.offset for one in records]
        return [Rejected("No.") if one.position.offset == self.refuse else None for one in records]

    async def keep(self) -> None:
        """Keep house until it is told to fail."""
        await self.unkept.wait()
        self.unkept.clear()
        message = "Another has it."
        raise Fenced(message)

    async def bury(self, record: LogRecord, reason: Rejected, attempts: int) -> None:
        """Write the letter down."""
        del reason, attempts
        self.happened.append(f"bury {record.position.offset}")

    def lanes(self) -> Lanes:
        """Return the lanes of this group."""
        return Lanes(
            "writer",
            "group",
            TOPICS,
            self.open,
            self,
            self.notice_s,
            self.now,
            self.failed.append,
            lambda _partition, _records: None,
        )


def record(offset: int, partition: int = 0, *, mark: bool = False) -> LogRecord:
    """Return a record of turns."""
    headers = ((MARK_HEADER, b"tick"),) if mark else ()
    return LogRecord(Position("turns", partition, "e", offset), b"k", b"v", headers, NOON)


def places(*partitions: int) -> list[TopicPartition]:
    """Return the partitions of every topic."""
    return [TopicPartition(topic, one) for topic in TOPICS for one in partitions]


async def soon(holds: Callable[[], bool]) -> None:
    """Let tasks go on until something holds."""
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - the code under test knows of no such event
            await asyncio.sleep(0.001)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "LANE_AGAIN_S", 0.001)
    monkeypatch.setattr(lanes_module, "STOP_S_MAX", 0.2)


async def test_what_is_handled_is_acknowledged_and_what_is_refused_is_buried_before() -> None:
    """A refused event has its letter before its acknowledgement."""
    group = Group(refuse=1)
    lanes = group.lanes()
    await lanes.assign(places(0))
    for offset in range(3):
        assert lanes.hand(record(offset))
    await soon(lambda: group.done == [0, 1, 2])
    assert "bury 1" in group.happened
    await lanes.revoke()


async def test_what_the_log_itself_needs_is_acknowledged_and_handed_to_nobody() -> None:
    """Ticks go by, whether alone or between events."""
    group = Group()
    lanes = group.lanes()
    await lanes.assign(places(0))
    for offset, mark in ((0, True), (1, False), (2, True)):
        lanes.hand(record(offset, mark=mark))
    await soon(lambda: group.done == [0, 1, 2])
    assert group.handled == [1]
    await lanes.revoke()


async def test_an_engine_that_is_away_is_waited_for() -> None:
    """Nothing is lost: the lane opens when the engine is back, and says until then why it waits."""
    group = Group(failures=[Unavailable("TiKV is away."), Unavailable("TiKV is away.")])
    lanes = group.lanes()
    await lanes.assign(places(0))
    lanes.hand(record(0))
    (lane,) = lanes.open
    await soon(lambda: lane.trouble is not None or bool(group.done))
    await soon(lambda: group.done == [0])
    assert lane.trouble is None
    await lanes.revoke()


async def test_a_fenced_lane_that_stays_is_opened_anew() -> None:
    """After the group has had time to take it away; what was in flight is handled again."""
    group = Group(notice_s=0.01)
    lanes = group.lanes()
    await lanes.assign(places(0))
    (lane,) = lanes.open
    await soon(lambda: lane.state == "open")
    group.error = Fenced("Another has it.")
    for offset in range(3):
        lanes.hand(record(offset))
    await soon(lambda: lane.state == "fenced")
    group.error = None
    lanes.hand(record(3))
    await soon(lambda: group.done == [0, 1, 2, 3])
    assert group.handled == [0, 1, 2, 3]
    assert group.happened == ["open 0", "close 0", "open 0"]
    await lanes.revoke()


async def test_a_lane_whose_housekeeping_fails_is_opened_anew() -> None:
    """An idle lane that the log takes nothing from any more doesn't stand there for ever."""
    group = Group(notice_s=0.01)
    lanes = group.lanes()
    await lanes.assign(places(0))
    (lane,) = lanes.open
    await soon(lambda: lane.state == "open")
    group.unkept.set()
    await soon(lambda: group.happened == ["open 0", "close 0", "open 0"])
    lanes.hand(record(0))
    await soon(lambda: group.done == [0])
    await lanes.revoke()


async def test_a_fenced_lane_is_closed_alone() -> None:
    """The others go on, and the worker isn't ended for it."""
    group = Group(failures=[Fenced("Another has it.")])
    lanes = group.lanes()
    await lanes.assign(places(0))
    (fenced,) = lanes.open
    await soon(lambda: fenced.state == "fenced")
    assert "another process" in (fenced.trouble or "")
    assert not group.failed
    await lanes.assign(places(0, 1))
    lanes.hand(record(0, partition=1))
    await soon(lambda: group.done == [0])
    await lanes.revoke()


async def test_a_broken_invariant_ends_the_worker() -> None:
    """Going on could lose data."""
    group = Group(error=Damaged("Broken."))
    lanes = group.lanes()
    await lanes.assign(places(0))
    lanes.hand(record(0))
    await soon(lambda: bool(group.failed))
    assert group.done == []
    assert str(group.failed[0]) == "Broken."
    await lanes.revoke()


async def test_a_bug_in_opening_ends_the_worker() -> None:
    """It's told by its name alone, and doesn't look like a lane that is still opening."""
    group = Group(failures=[KeyError("ana")])
    lanes = group.lanes()
    await lanes.assign(places(0))
    await soon(lambda: bool(group.failed))
    assert str(group.failed[0]) == "The writer stopped: KeyError."
    assert "KeyError" in (lanes.open[0].trouble or "")
    await lanes.revoke()


async def test_a_partition_that_goes_is_closed_with_work_in_flight() -> None:
    """Nothing of it is acknowledged, and what comes late is taken by nobody."""
    group = Group(hang=True)
    lanes = group.lanes()
    await lanes.assign(places(0, 1))
    lanes.hand(record(0))
    await soon(lambda: {"open 0", "open 1"} <= set(group.happened))
    await lanes.assign(places(1))
    assert "close 0" in group.happened
    assert group.done == []
    assert not lanes.hand(record(1))
    assert [lane.partition for lane in lanes.open] == [1]
    await lanes.revoke()


async def test_topics_of_one_partition_belong_together() -> None:
    """An assignment that tears them apart is refused: no order could be kept."""
    group = Group()
    with pytest.raises(Damaged, match="without its fellows"):
        await group.lanes().assign([TopicPartition("turns", 0)])


async def test_no_progress_is_told() -> None:
    """Work in flight that doesn't get on makes the worker unhealthy, after a bound."""
    now = [0.0]
    group = Group(hang=True, now=lambda: now[0])
    lanes = group.lanes()
    await lanes.assign(places(0))
    lanes.hand(record(0))
    (lane,) = lanes.open
    before = lane.trouble
    now[0] = limits.PROGRESS_S_MAX + 1
    after = lane.trouble
    assert before is None
    assert "no progress" in (after or "")
    await lanes.revoke()
