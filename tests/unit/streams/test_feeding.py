"""Where a consumer's records come from."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count

from eunoe.schemas.limits import BATCH_RECORDS_MAX, LANE_RECORDS_MAX, LANE_RECORDS_MIN
from eunoe.schemas.ports import LogRecord, Position, TopicPartition
from eunoe.streams.feeding import HandedFeed

NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)
TURNS = TopicPartition("turns", 3)
COMMANDS = TopicPartition("commands", 3)


def record(place: TopicPartition, offset: int) -> LogRecord:
    """Return a record at a place."""
    return LogRecord(Position(*place, "e", offset), b"k", b"v", (), NOON)


class Group:
    """Writes down what a feed asks of its group."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []
        self.asked: list[tuple[str, str]] = []
        seconds = count()
        self.feed = HandedFeed(
            "group",
            self._acknowledge,
            lambda place: self.asked.append(("pause", place.topic)),
            lambda place: self.asked.append(("resume", place.topic)),
            lambda: float(next(seconds)),
        )

    def _acknowledge(self, records: Sequence[LogRecord]) -> None:
        self.done += [(one.position.topic, one.position.offset) for one in records]


async def test_records_come_in_the_order_in_which_they_were_handed_over() -> None:
    """Batches are bounded, and nothing is left out or comes twice."""
    group = Group()
    handed = [record(TURNS, offset) for offset in range(BATCH_RECORDS_MAX + 5)]
    for one in handed:
        group.feed.hand(one)
    assert await group.feed.next() + await group.feed.next() == handed


async def test_each_partition_is_acknowledged_up_to_its_own_offset() -> None:
    """What lies behind the offset stays in flight; offsets may have gaps."""
    group = Group()
    for offset in (4, 7, 9):
        group.feed.hand(record(TURNS, offset))
    group.feed.hand(record(COMMANDS, 0))
    await group.feed.next()
    await group.feed.commit({TURNS: 8})
    assert group.done == [("turns", 4), ("turns", 7)]
    assert group.feed.in_flight == 2
    await group.feed.commit({TURNS: 10, COMMANDS: 1})
    assert group.done[2:] == [("turns", 9), ("commands", 0)]
    assert group.feed.in_flight == 0


async def test_a_partition_is_paused_at_the_bound_and_resumed_when_half_is_done() -> None:
    """One that is full doesn't pause the other."""
    group = Group()
    for offset in range(LANE_RECORDS_MAX + 3):
        group.feed.hand(record(TURNS, offset))
    group.feed.hand(record(COMMANDS, 0))
    assert group.asked == [("pause", "turns")]
    await group.feed.commit({TURNS: LANE_RECORDS_MAX - LANE_RECORDS_MIN})
    assert group.asked == [("pause", "turns")]
    await group.feed.commit({TURNS: LANE_RECORDS_MAX - LANE_RECORDS_MIN + 3})
    assert group.asked == [("pause", "turns"), ("resume", "turns")]


async def test_an_idle_feed_does_not_look_stuck_when_something_comes() -> None:
    """The time without progress counts from the first record in flight, not from the last done."""
    group = Group()
    group.feed.hand(record(TURNS, 0))
    began = group.feed.moved_at
    group.feed.hand(record(TURNS, 1))
    assert group.feed.moved_at == began
    await group.feed.commit({TURNS: 2})
    moved = group.feed.moved_at
    group.feed.hand(record(TURNS, 2))
    assert began is not None
    assert moved is not None
    assert group.feed.moved_at == moved + 1
