"""Parts of the log on Kafka that need no broker: room, names, times, marks, settings, sentences."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.infra.cluster_settings import ClusterSettings
from eunoe.infra.kafka_client import Names, connect_options
from eunoe.infra.kafka_grouping import Groups
from eunoe.infra.kafka_marks import OPENING_KEYS, epoch_of, opening, tick
from eunoe.infra.kafka_producing import Room
from eunoe.infra.kafka_times import milliseconds, moment_of
from eunoe.infra.kafka_topics import wanted_settings
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.limits import RECORD_KEY_BYTES_MAX, REQUEST_BYTES_MAX
from eunoe.schemas.topics import (
    DEAD_LETTERS,
    JOURNAL,
    KEYS,
    MARK_HEADER,
    RECALLS,
    TOPICS,
    TURNS,
)

SETTINGS = ClusterSettings(kafka=("127.0.0.1:9092",), namespace="cafe")


# --- room --------------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.integers(1, 12), st.integers(0, 150), st.booleans()), min_size=1, max_size=30
    )
)
def test_room_is_never_exceeded_and_always_given_back(
    takers: list[tuple[int, int, bool]],
) -> None:
    """However many take room, and whoever gives up waiting, no more than all is taken."""

    async def check() -> None:
        room = Room(records=10, size=100)
        taken = [0, 0]

        async def take(records: int, size: int) -> None:
            give = await room.take(records, size)
            own = (min(records, 10), min(size, 100))
            taken[0] += own[0]
            taken[1] += own[1]
            assert taken[0] <= 10
            assert taken[1] <= 100
            try:
                await asyncio.sleep(0)
            finally:
                taken[0] -= own[0]
                taken[1] -= own[1]
                give()

        tasks = [(asyncio.create_task(take(n, size)), quits) for n, size, quits in takers]
        await asyncio.sleep(0)
        for task, quits in tasks:
            if quits:
                task.cancel()
        ends = await asyncio.gather(*(task for task, _ in tasks), return_exceptions=True)
        for end, (_, quits) in zip(ends, tasks, strict=True):
            assert end is None or (quits and isinstance(end, asyncio.CancelledError))
        assert taken == [0, 0]
        (await room.take(10, 100))()

    asyncio.run(check())


async def test_room_is_given_in_line() -> None:
    """Who comes later and wants less doesn't pass who waits."""
    room = Room(records=10, size=100)
    give = await room.take(8, 0)
    order: list[str] = []

    async def take(name: str, records: int) -> None:
        (await room.take(records, 0))()
        order.append(name)

    tasks = [asyncio.create_task(take("large", 5)), asyncio.create_task(take("small", 1))]
    await asyncio.sleep(0)
    assert order == []
    give()
    await asyncio.gather(*tasks)
    assert order == ["large", "small"]


async def test_a_closed_room_lets_nobody_in() -> None:
    """Who stands in line and who comes is refused, also when what was taken is given back."""
    room = Room(records=10, size=100)
    give = await room.take(8, 0)
    waiting = asyncio.create_task(room.take(5, 0))
    left = asyncio.create_task(room.take(1, 0))
    await asyncio.sleep(0)
    room.close()
    left.cancel()
    give()
    with pytest.raises(Unavailable, match="closed"):
        await waiting
    with pytest.raises(asyncio.CancelledError):
        await left
    with pytest.raises(Unavailable, match="closed"):
        await room.take(1, 0)


# --- groups ------------------------------------------------------------------------------------


async def test_no_caller_waits_for_a_committer_that_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever is in the group that it had taken, or behind it, is told that it is unknown."""
    taken = asyncio.Event()

    async def hang(_: Groups, group: object) -> None:
        assert group
        taken.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Groups, "_commit", hang)
    groups = Groups(SETTINGS, Room(), lambda _: None)
    records = opening("cafe.keys.v1", 3, "one", OPENING_KEYS)
    first = asyncio.create_task(groups.append(records))
    await taken.wait()
    second = asyncio.create_task(groups.append(records))
    await asyncio.sleep(0)
    assert groups._committer is not None
    groups._committer.cancel()
    for call in (first, second):
        with pytest.raises(Unavailable, match="unknown"):
            await asyncio.wait_for(call, 30)
    await groups.close()


# --- names, times, marks -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plain", "wire"),
    [("eunoe.turns.v1", "cafe.turns.v1"), ("test.dead-letters.v1", "cafe.dead-letters.v1")],
)
def test_a_topic_carries_the_namespace(plain: str, wire: str) -> None:
    """The namespace takes the place of the first part."""
    assert Names("cafe").topic(plain) == wire


def test_a_group_carries_the_namespace() -> None:
    """So do groups and transactional ids."""
    assert Names("cafe").group("eunoe-writer") == "cafe-writer"
    assert Names("cafe").group("journal-3") == "cafe-journal-3"


@given(st.datetimes(min_value=datetime(1970, 1, 2), timezones=st.just(UTC)))  # noqa: DTZ001 - the zone follows
def test_times_are_kept_to_the_millisecond(moment: datetime) -> None:
    """A moment comes back cut to its millisecond, from any zone."""
    back = moment_of(milliseconds(moment))
    assert timedelta(0) <= moment - back < timedelta(milliseconds=1)
    there = moment.astimezone(timezone(timedelta(hours=8)))
    assert milliseconds(there) == milliseconds(moment)


@pytest.mark.parametrize(
    "moment",
    [datetime(2026, 5, 7), datetime(1969, 12, 31, tzinfo=UTC)],  # noqa: DTZ001 - that is refused
)
def test_a_time_that_kafka_has_not_is_rejected(moment: datetime) -> None:
    """Neither a time without a zone nor one before 1970 is guessed at."""
    with pytest.raises(Rejected):
        milliseconds(moment)


def test_marks_carry_their_header_and_the_epoch() -> None:
    """Opening records name the epoch, the first counts, and what is no mark names none."""
    one, two = (opening("cafe.keys.v1", 3, epoch, OPENING_KEYS) for epoch in ("one", "two"))
    ticked = tick("cafe.keys.v1", 3)
    for mark in (*one, *two, ticked):
        assert (mark.partition, mark.headers[0][0]) == (3, MARK_HEADER)
    pairs = [(mark.key, mark.value) for mark in (ticked, *one, *two)]
    assert epoch_of(pairs) == "one"
    assert epoch_of([(b"data/1", b"value"), (ticked.key, ticked.value)]) is None


# --- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_takes_the_largest_record(topic: object) -> None:
    """What the limits allow, with its key, fits the topic."""
    row = next(one for one in TOPICS if one is topic)
    largest = int(wanted_settings(row, SETTINGS)["max.message.bytes"])
    assert largest > REQUEST_BYTES_MAX + RECORD_KEY_BYTES_MAX


@pytest.mark.parametrize("lag_s", [1.5, 60.0, 3_600.0, 86_400.0])
def test_what_is_tombstoned_goes_within_the_lag(lag_s: float) -> None:
    """Rolling, a tick, compaction and the file's removal take no longer together."""
    settings = ClusterSettings(kafka=("a:1",), compaction_lag_s=lag_s, tick_s=lag_s / 6)
    for topic in (JOURNAL, KEYS):
        wanted = wanted_settings(topic, settings)
        assert wanted["cleanup.policy"] == "compact"
        steps_ms = int(wanted["segment.ms"]) + int(wanted["max.compaction.lag.ms"])
        assert steps_ms + lag_s * 1_000 / 6 <= lag_s * 1_000
        if topic is KEYS:
            assert 2 * steps_ms <= int(lag_s * 1_000)


def test_ingress_is_kept_until_it_is_deleted() -> None:
    """No time limit, the broker's own time, and segments short enough to be deleted."""
    wanted = wanted_settings(TURNS, SETTINGS)
    assert wanted["retention.ms"] == wanted["retention.bytes"] == "-1"
    assert wanted["message.timestamp.type"] == "LogAppendTime"
    assert int(wanted["segment.ms"]) <= 3_600_000


@pytest.mark.parametrize("topic", [DEAD_LETTERS, RECALLS])
def test_seven_days_are_kept_by_the_broker_too(topic: object) -> None:
    """It removes what is older, but not before `expire` had a day for it."""
    row = next(one for one in TOPICS if one is topic)
    days = int(wanted_settings(row, SETTINGS)["retention.ms"]) / 86_400_000
    assert 7 < days <= 8


@pytest.mark.parametrize(("replication", "in_sync"), [(1, "1"), (2, "1"), (3, "2"), (5, "4")])
def test_a_broker_may_be_away(replication: int, in_sync: str) -> None:
    """With more than one copy, appends go on when one is missing."""
    settings = ClusterSettings(kafka=("a:1",), replication=replication)
    assert wanted_settings(JOURNAL, settings)["min.insync.replicas"] == in_sync


def test_a_missing_certificate_is_told() -> None:
    """The sentence names EUNOE_KAFKA_CA."""
    settings = ClusterSettings(kafka=("a:1",), kafka_security="SSL", kafka_ca="/no/such/file")
    with pytest.raises(Unavailable, match="EUNOE_KAFKA_CA"):
        connect_options(settings)
