"""What every log keeps, whatever stands behind it; deletion is in `log_deletion_contract`.

A back-end's test class inherits `LogContract` and `LogDeletionContract`, and its module supplies
two fixtures: `new_store`, which makes empty logs with `CONTRACT_TOPICS` and `CONTRACT_PARTITIONS`,
and `log`, one of them, open.

Offsets are compared with those that `append` returned: a log may keep marks of its own between.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eunoe.infra.placement import partition_of
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.limits import REQUEST_BYTES_MAX
from eunoe.schemas.ports import Log, LogRecord, NewRecord, Position, TopicPartition
from eunoe.schemas.topics import Retention, Topic

__all__ = [
    "COMMITS",
    "COMPACTED",
    "CONTRACT_PARTITIONS",
    "CONTRACT_TOPICS",
    "DAYS_AGO",
    "INGRESS",
    "JOURNAL",
    "LONG_AGO",
    "OWNER",
    "PLAIN_INGRESS",
    "SEALED_COMPACTED",
    "SEALED_WEEK",
    "WAIT_S",
    "WEEK",
    "LogContract",
    "LogStore",
    "NewStore",
    "compacted",
    "each_example",
    "everything",
    "last_commit_counts",
    "numbered",
    "own",
    "values",
    "written",
]

INGRESS: Final = Topic(
    "test.ingress.v1", "owner", "any", Retention.UNTIL_JOURNALED, sealed_by_log=True
)
PLAIN_INGRESS: Final = Topic(
    "test.plain.v1", "owner", "any", Retention.UNTIL_JOURNALED, sealed_by_log=False
)
JOURNAL: Final = Topic(
    "test.journal.v1", "append id", "any", Retention.TOMBSTONES_ONLY, sealed_by_log=False
)
COMPACTED: Final = Topic(
    "test.compacted.v1", "any", "any", Retention.COMPACTED, sealed_by_log=False
)
SEALED_WEEK: Final = Topic("test.recalls.v1", "any", "any", Retention.WEEK, sealed_by_log=True)
SEALED_COMPACTED: Final = Topic(
    "test.sealed.v1", "any", "any", Retention.COMPACTED, sealed_by_log=True
)
WEEK: Final = Topic("test.week.v1", "any", "any", Retention.WEEK, sealed_by_log=False)
CONTRACT_TOPICS: Final = (
    INGRESS,
    PLAIN_INGRESS,
    JOURNAL,
    COMPACTED,
    SEALED_COMPACTED,
    WEEK,
    SEALED_WEEK,
)
CONTRACT_PARTITIONS: Final = 4

LONG_AGO: Final = datetime(2019, 5, 1, 12, 30, 0, 123456, tzinfo=UTC)
DAYS_AGO: Final = datetime.now(UTC) - timedelta(days=6)
"""A time that every topic still keeps."""
OWNER: Final = b"default/ana"
WAIT_S: Final = 30.0
"""How long a wait may take before a test fails; no wait of a passing test takes it."""
AGAIN_S: Final = 0.2
PLACES: Final = st.builds(
    TopicPartition, st.sampled_from([INGRESS.name, JOURNAL.name]), st.integers(0, 3)
)
COMMITS: Final = st.lists(
    st.tuples(
        st.sampled_from(["one", "other"]),
        st.dictionaries(PLACES, st.integers(0, 2**40), max_size=4),
    ),
    max_size=12,
)
"""Commits of two groups, in their order."""


class LogStore(Protocol):
    """A place that holds one log."""

    def open(self) -> AbstractAsyncContextManager[Log]:
        """Open the log that is there, made at the first time; leaving closes it."""
        ...


NewStore = Callable[[], LogStore]

each_example = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,  # the fixture makes a new store for each example
        HealthCheck.differing_executors,  # the same test runs on each back-end
        HealthCheck.too_slow,
    ],
)


async def everything(log: Log, topic: Topic) -> dict[int, list[LogRecord]]:
    """Read all records of a topic, by partition, without the log's own marks."""
    return {
        partition: written(await log.read(topic.name, partition, 0, limit=10_000))
        for partition in range(CONTRACT_PARTITIONS)
    }


def written(records: list[LogRecord]) -> list[LogRecord]:
    """Return those records that somebody appended: a log may keep marks of its own."""
    return [record for record in records if not record.is_mark]


async def compacted(log: Log, topic: Topic, is_done: Callable[[], Awaitable[bool]]) -> int:
    """Compact a topic until it is done: at once, or on a broker within the topic's lag.

    Returns:
        What `compact` returned first.
    """
    deadline = asyncio.get_running_loop().time() + WAIT_S
    went = await log.compact(topic.name)
    while not await is_done():
        assert asyncio.get_running_loop().time() < deadline, "it was never compacted"
        await asyncio.sleep(AGAIN_S)
        await log.compact(topic.name)
    return went


def own(log: Log, topic: Topic) -> tuple[str, int]:
    """Return the place of `OWNER`'s records."""
    return topic.name, log.partition_of(OWNER)


def numbered(topic: Topic, count: int, start: int = 0) -> list[NewRecord]:
    """Return records of `OWNER` with numbers as values."""
    return [NewRecord(topic.name, OWNER, b"%d" % number) for number in range(start, start + count)]


def values(records: list[LogRecord]) -> list[bytes | None]:
    """Return the values, without the log's own marks."""
    return [record.value for record in written(records)]


async def last_commit_counts(
    new_store: NewStore, commits: list[tuple[str, dict[TopicPartition, int]]]
) -> None:
    """Check that after these commits and a restart each place has its last offset."""
    store = new_store()
    expected: dict[tuple[str, TopicPartition], int] = {}
    async with store.open() as log:
        for group, offsets in commits:
            await log.commit(group, offsets)
            expected |= {(group, place): end for place, end in offsets.items()}
    async with store.open() as log:
        for group in ("one", "other"):
            for topic in (INGRESS, JOURNAL):
                for partition in range(CONTRACT_PARTITIONS):
                    place = TopicPartition(topic.name, partition)
                    found = await log.committed(group, *place)
                    assert found == expected.get((group, place))


class LogContract:
    """The promises of `Log`."""

    # --- append ----------------------------------------------------------------------------

    async def test_positions_come_in_the_order_of_the_records(self, log: Log) -> None:
        """Each position names the place where its record is read again."""
        records = [
            NewRecord(topic.name, b"key %d" % number, b"value %d" % number)
            for number in range(5)
            for topic in (JOURNAL, INGRESS, COMPACTED)
        ]
        positions = await log.append(records)
        assert len(positions) == len(records)
        for record, position in zip(records, positions, strict=True):
            assert position.topic == record.topic
            assert position.epoch == log.epoch
            (found,) = await log.read(*position[:2], position.offset, limit=1)
            assert (found.position, found.key, found.value) == (position, record.key, record.value)

    @pytest.mark.parametrize("topic", [JOURNAL, INGRESS, SEALED_COMPACTED])
    @pytest.mark.parametrize("value", [b"text", b"", b"\x00\xff" * 5_000, None])
    @pytest.mark.parametrize("headers", [(), (("a", b"1"), ("zh", "值".encode()), ("a", b""))])
    async def test_a_record_comes_back_as_it_was(
        self,
        log: Log,
        topic: Topic,
        value: bytes | None,
        headers: tuple[tuple[str, bytes], ...],
    ) -> None:
        """Key, value, absence of a value, and headers in their order are kept, sealed or not."""
        key = "默认/安娜".encode()
        (position,) = await log.append([NewRecord(topic.name, key, value, headers)])
        (found,) = await log.read(*position[:2], position.offset, limit=1)
        assert (found.key, found.value, found.headers) == (key, value, headers)

    async def test_appending_nothing_is_no_error(self, log: Log) -> None:
        """No records have no positions."""
        assert await log.append([]) == []

    @pytest.mark.parametrize("place", [0, 1, 2])
    async def test_append_is_all_or_nothing(self, log: Log, place: int) -> None:
        """One record that can't be accepted keeps the whole call out."""
        records = numbered(JOURNAL, 2)
        records.insert(place, NewRecord("test.unknown.v1", OWNER, b"value"))
        before = await log.bounds(*own(log, JOURNAL))
        with pytest.raises(Rejected):
            await log.append(records)
        assert values(await log.read(*own(log, JOURNAL), 0, limit=10)) == []
        assert await log.bounds(*own(log, JOURNAL)) == before

    async def test_append_to_several_topics_is_one_call(self, log: Log) -> None:
        """A record that is refused keeps out those of every other topic too."""
        topics = (JOURNAL, INGRESS, SEALED_COMPACTED)
        records = [record for topic in topics for record in numbered(topic, 2)]
        with pytest.raises(Rejected):
            await log.append([*records, NewRecord("test.unknown.v1", OWNER, b"value")])
        for topic in topics:
            assert values(await log.read(*own(log, topic), 0, limit=10)) == []
        await log.append(records)
        for topic in topics:
            assert values(await log.read(*own(log, topic), 0, limit=10)) == [b"0", b"1"]

    @pytest.mark.parametrize("topic", [JOURNAL, INGRESS])
    async def test_a_read_sees_whole_calls(self, log: Log, topic: Topic) -> None:
        """Whoever reads while others append finds all records of a call, or none of them."""

        async def follow() -> None:
            count = 0
            while count < 90:
                count = len(values(await log.read(*own(log, topic), 0, limit=1_000)))
                assert count % 3 == 0
                await asyncio.sleep(0)  # a read that finds something may not give way

        following = asyncio.create_task(follow())
        for _ in range(6):
            await asyncio.gather(*(log.append(numbered(topic, 3)) for _ in range(5)))
        await following

    async def test_a_refused_call_fails_alone(self, log: Log) -> None:
        """Calls that are made at the same time don't share one's refusal."""
        bad = [NewRecord("test.unknown.v1", OWNER, b"value")]
        results = await asyncio.gather(
            log.append(numbered(JOURNAL, 1)),
            log.append(bad),
            log.append(numbered(JOURNAL, 1, 1)),
            return_exceptions=True,
        )
        assert isinstance(results[1], Rejected)
        assert values(await log.read(*own(log, JOURNAL), 0, limit=10)) == [b"0", b"1"]

    async def test_a_time_without_a_zone_is_rejected(self, log: Log) -> None:
        """A record's time means the same everywhere."""
        naive = LONG_AGO.replace(tzinfo=None)
        with pytest.raises(Rejected):
            await log.append([NewRecord(WEEK.name, OWNER, b"value", timestamp=naive)])

    async def test_a_record_over_its_bound_is_rejected(self, log: Log) -> None:
        """Keys and values have a limit, and what is over it doesn't reach the disk."""
        for record in (
            NewRecord(JOURNAL.name, bytes(70_000), b"value"),
            NewRecord(JOURNAL.name, OWNER, bytes(REQUEST_BYTES_MAX + 1)),
            NewRecord(JOURNAL.name, OWNER, b"", (("name", bytes(REQUEST_BYTES_MAX)),)),
        ):
            with pytest.raises(Rejected, match="bytes at most"):
                await log.append([record])

    async def test_what_was_appended_survives(self, new_store: NewStore) -> None:
        """Records and their positions are the same after the log was opened again."""
        store = new_store()
        async with store.open() as log:
            await log.append([*numbered(JOURNAL, 3), *numbered(INGRESS, 3)])
            before = await everything(log, JOURNAL), await everything(log, INGRESS), log.epoch
        async with store.open() as log:
            after = await everything(log, JOURNAL), await everything(log, INGRESS), log.epoch
        assert after == before

    async def test_each_log_has_its_own_epoch(self, new_store: NewStore) -> None:
        """Offsets of one log can't be taken for another's."""
        async with new_store().open() as one, new_store().open() as other:
            assert one.epoch != other.epoch

    # --- placement and offsets -------------------------------------------------------------

    async def test_the_partition_is_kafkas(self, log: Log) -> None:
        """A record lies where Kafka's default partitioner puts its key."""
        for key in (b"21", b"foobar", b"abc", OWNER, "默认/安娜".encode()):
            expected = partition_of(key, CONTRACT_PARTITIONS)
            (position,) = await log.append([NewRecord(JOURNAL.name, key, b"value")])
            assert position.partition == expected == log.partition_of(key)

    async def test_placed_by_goes_before_the_key(self, log: Log) -> None:
        """Records with different keys lie together where `placed_by` says so."""
        records = [
            NewRecord(JOURNAL.name, b"append %d" % number, b"value", placed_by=OWNER)
            for number in range(20)
        ]
        positions = await log.append(records)
        assert {position.partition for position in positions} == {log.partition_of(OWNER)}

    async def test_offsets_grow_by_append_order(self, log: Log) -> None:
        """Within a partition a later record has a higher offset; calls don't mix."""
        calls = await asyncio.gather(
            *(log.append(numbered(JOURNAL, 5, 5 * call)) for call in range(20))
        )
        offsets = [position.offset for call in calls for position in call]
        assert offsets == sorted(set(offsets))
        found = values(await log.read(*own(log, JOURNAL), 0, limit=1_000))
        assert found == [b"%d" % number for number in range(100)]

    async def test_an_offset_is_never_used_twice(self, new_store: NewStore) -> None:
        """Neither deletion nor expiry nor compaction nor a restart gives an offset back."""
        store = new_store()
        used: dict[Topic, list[Position]] = {WEEK: [], COMPACTED: []}
        removals: list[tuple[Topic, Callable[[Log], Coroutine[Any, Any, object]]]] = [
            (WEEK, lambda log: log.delete_before(*own(log, WEEK), 1_000)),
            (WEEK, lambda log: log.expire(WEEK.name, datetime.now(UTC) + timedelta(days=1))),
            (COMPACTED, lambda log: log.compact(COMPACTED.name)),
            (COMPACTED, lambda log: log.vacuum()),
        ]
        for topic, remove in removals:
            async with store.open() as log:
                used[topic] += await log.append(numbered(topic, 3))
                used[topic] += await log.append([NewRecord(topic.name, OWNER, None)])
                await remove(log)
            async with store.open() as log:
                used[topic] += await log.append(numbered(topic, 1))
        for positions in used.values():
            assert len(set(positions)) == len(positions)
            assert sorted(positions) == positions

    # --- read ------------------------------------------------------------------------------

    async def test_a_read_has_order_and_limit(self, log: Log) -> None:
        """`limit` records come from the offset on, lowest first."""
        positions = await log.append(numbered(JOURNAL, 10))
        found = await log.read(*own(log, JOURNAL), positions[3].offset, limit=4)
        assert [record.position for record in found] == positions[3:7]

    async def test_a_read_steps_over_gaps(self, log: Log) -> None:
        """A read from an offset that is gone yields the next record that is there."""
        positions = await log.append(numbered(INGRESS, 10))
        await log.delete_before(*own(log, INGRESS), positions[6].offset)
        (found,) = await log.read(*own(log, INGRESS), positions[2].offset, limit=1)
        assert found.position == positions[6]

    async def test_a_read_beyond_the_end_is_empty(self, log: Log) -> None:
        """Without a wait, a read at or beyond the end returns nothing at once."""
        await log.append(numbered(JOURNAL, 2))
        _, end = await log.bounds(*own(log, JOURNAL))
        for offset in (end, end + 1, end + 1_000_000):
            assert await log.read(*own(log, JOURNAL), offset, limit=10) == []

    async def test_a_wait_ends_with_a_record(self, log: Log) -> None:
        """A waiting read returns what is appended meanwhile; other partitions don't end it."""
        reading = asyncio.create_task(log.read(*own(log, INGRESS), 0, limit=10, wait_s=WAIT_S))
        elsewhere = next(
            key
            for key in map(b"%d".__mod__, range(100))
            if log.partition_of(key) != log.partition_of(OWNER)
        )
        await log.append([NewRecord(INGRESS.name, elsewhere, b"other"), *numbered(JOURNAL, 1)])
        await asyncio.sleep(0.05)
        assert not reading.done()
        await log.append(numbered(INGRESS, 1))
        assert values(await reading) == [b"0"]

    async def test_a_wait_ends_by_itself(self, log: Log) -> None:
        """A wait in vain returns nothing."""
        assert await log.read(*own(log, INGRESS), 0, limit=10, wait_s=0.05) == []

    async def test_no_append_is_missed_between_reads(self, log: Log) -> None:
        """A reader that always waits for the next offset sees every record once, in order."""
        found: list[bytes | None] = []

        async def follow() -> None:
            while len(found) < 60:
                offset = len(found)
                found.extend(
                    values(await log.read(*own(log, INGRESS), offset, limit=7, wait_s=WAIT_S))
                )

        following = asyncio.create_task(follow())
        for start in range(0, 60, 3):
            await asyncio.gather(
                *(log.append(numbered(INGRESS, 1, start + step)) for step in range(3))
            )
        await following
        assert found == [b"%d" % number for number in range(60)]

    async def test_close_ends_waiting_reads(self, new_store: NewStore) -> None:
        """Whoever waits when the log closes gets no records, and no error."""
        async with new_store().open() as log:
            place = own(log, INGRESS)
            reading = asyncio.create_task(log.read(*place, 0, limit=10, wait_s=WAIT_S))
            polling = asyncio.create_task(
                log.poll({TopicPartition(*place): 0}, limit=10, wait_s=WAIT_S)
            )
            await asyncio.sleep(0.05)
            await log.close()
            assert await reading == []
            assert await polling == []

    async def test_a_closed_log_is_unavailable(self, new_store: NewStore) -> None:
        """After `close`, which may be called twice, nothing is accepted or read."""
        async with new_store().open() as log:
            await log.close()
            await log.close()
            with pytest.raises(Unavailable):
                await log.append(numbered(JOURNAL, 1))
            with pytest.raises(Unavailable):
                await log.read(JOURNAL.name, 0, 0, limit=1)

    async def test_close_finishes_appends(self, new_store: NewStore) -> None:
        """An append that was made before `close` is there afterwards."""
        store = new_store()
        async with store.open() as log:
            appending = asyncio.create_task(log.append(numbered(INGRESS, 3)))
            await asyncio.sleep(0)
            await log.close()
            await appending
        async with store.open() as log:
            assert values(await log.read(*own(log, INGRESS), 0, limit=10)) == [b"0", b"1", b"2"]

    async def test_a_cancelled_caller_stops_nobody(self, log: Log) -> None:
        """Who gives up waiting for an append doesn't take other callers' records along."""
        first = asyncio.create_task(log.append(numbered(INGRESS, 1)))
        second = asyncio.create_task(log.append(numbered(JOURNAL, 1)))
        await asyncio.sleep(0)
        first.cancel()
        (position,) = await second
        assert len(await log.read(*position[:2], position.offset, limit=1)) == 1
        await log.append(numbered(JOURNAL, 1))

    # --- poll ------------------------------------------------------------------------------

    async def test_a_poll_reads_several_partitions(self, log: Log) -> None:
        """Each partition's records come from its own offset on, in order."""
        await log.append(
            [NewRecord(INGRESS.name, b"%d" % (number % 9), b"%d" % number) for number in range(60)]
        )
        offsets = {TopicPartition(INGRESS.name, part): part for part in range(CONTRACT_PARTITIONS)}
        expected = {one: await log.read(*one, at, limit=99) for one, at in offsets.items()}
        found = await log.poll(offsets, limit=1_000, wait_s=0)
        for place in offsets:
            assert [one for one in found if one.position[:2] == place] == expected[place]

    async def test_a_poll_is_bounded_for_each_topic(self, log: Log) -> None:
        """At most `limit` records of a topic come, however many partitions have some."""
        keys = [b"%d" % number for number in range(40)]
        for topic in (INGRESS, JOURNAL):
            await log.append([NewRecord(topic.name, key, b"value") for key in keys])
            await everything(log, topic)  # a poll needn't have it before
        offsets = {
            TopicPartition(topic.name, partition): 0
            for topic in (INGRESS, JOURNAL)
            for partition in range(CONTRACT_PARTITIONS)
        }
        found = await log.poll(offsets, limit=7, wait_s=0)
        for topic in (INGRESS, JOURNAL):
            assert sum(record.position.topic == topic.name for record in found) == 7

    async def test_a_busy_partition_starves_no_other(self, log: Log) -> None:
        """With a limit that one partition could use up, every partition's turn comes."""
        keys = [b"%d" % number for number in range(400)]
        await log.append([NewRecord(INGRESS.name, key, b"value") for key in keys])
        await everything(log, INGRESS)  # a poll needn't have it before
        offsets = {TopicPartition(INGRESS.name, part): 0 for part in range(CONTRACT_PARTITIONS)}
        served: set[int] = set()
        for _ in range(CONTRACT_PARTITIONS):
            found = await log.poll(offsets, limit=5, wait_s=0)
            served |= {record.position.partition for record in found}
        assert served == set(range(CONTRACT_PARTITIONS))

    async def test_a_poll_waits_for_any_partition(self, log: Log) -> None:
        """The first record of any of the partitions ends the wait."""
        offsets = {TopicPartition(INGRESS.name, part): 0 for part in range(CONTRACT_PARTITIONS)}
        for number in range(5):
            polling = asyncio.create_task(log.poll(offsets, limit=5, wait_s=WAIT_S))
            await asyncio.sleep(0.01)
            (position,) = await log.append([NewRecord(INGRESS.name, b"%d" % number, b"value")])
            assert [record.position for record in await polling] == [position]
            offsets[TopicPartition(*position[:2])] = position.offset + 1
        assert await log.poll(offsets, limit=5, wait_s=0.02) == []

    # --- bounds, times, groups -------------------------------------------------------------

    async def test_bounds_enclose_the_records(self, log: Log) -> None:
        """The end is the next record's offset; nothing lies below the first one."""
        place = own(log, INGRESS)
        first, end = await log.bounds(*place)
        assert first == end
        positions = await log.append(numbered(INGRESS, 5))
        first, end = await log.bounds(*place)
        assert (first, end > positions[-1].offset) == (positions[0].offset, True)
        await log.delete_before(*place, positions[3].offset)
        assert await log.bounds(*place) == (positions[3].offset, end)
        (following,) = await log.append(numbered(INGRESS, 1))
        assert following.offset == end

    async def test_ingress_keeps_the_logs_own_time(self, log: Log) -> None:
        """An old event isn't old in an ingress topic, or it would be deleted at once."""
        before = datetime.now(UTC) - timedelta(seconds=5)
        record = NewRecord(INGRESS.name, OWNER, b"value", timestamp=LONG_AGO)
        (position,) = await log.append([record])
        (found,) = await log.read(*position[:2], position.offset, limit=1)
        assert before < found.timestamp < datetime.now(UTC) + timedelta(seconds=5)

    async def test_other_topics_keep_the_events_time(self, log: Log) -> None:
        """A time that is given is kept to the millisecond, and none means now."""
        await log.append([NewRecord(WEEK.name, OWNER, b"old", timestamp=DAYS_AGO)])
        await log.append([NewRecord(WEEK.name, OWNER, b"new")])
        old, new = await log.read(*own(log, WEEK), 0, limit=10)
        assert abs(old.timestamp - DAYS_AGO) < timedelta(milliseconds=1)
        assert old.timestamp.utcoffset() == timedelta(0)
        assert abs(new.timestamp - datetime.now(UTC)) < timedelta(seconds=5)

    async def test_a_commit_belongs_to_its_group_and_partition(self, log: Log) -> None:
        """Another group, topic or partition has committed nothing."""
        place = TopicPartition(INGRESS.name, 1)
        await log.commit("one", {place: 7})
        assert await log.committed("one", *place) == 7
        assert await log.committed("other", *place) is None
        assert await log.committed("one", INGRESS.name, 2) is None
        assert await log.committed("one", JOURNAL.name, 1) is None

    async def test_a_refused_commit_changes_nothing(self, log: Log) -> None:
        """Offsets of one call are stored together or not at all."""
        place = TopicPartition(INGRESS.name, 1)
        with pytest.raises(Rejected):
            await log.commit("one", {place: 7, TopicPartition("test.unknown.v1", 0): 1})
        assert await log.committed("one", *place) is None

    @each_example
    @given(commits=COMMITS)
    def test_the_last_commit_counts_and_survives(
        self, new_store: NewStore, commits: list[tuple[str, dict[TopicPartition, int]]]
    ) -> None:
        """After any interleaving of commits and a restart, each place has its last offset."""
        asyncio.run(last_commit_counts(new_store, commits))

    # --- refusals --------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("topic", "partition"),
        [("test.unknown.v1", 0), (JOURNAL.name, CONTRACT_PARTITIONS), (JOURNAL.name, -1)],
    )
    async def test_an_unknown_place_is_rejected(self, log: Log, topic: str, partition: int) -> None:
        """Neither an unknown topic nor an unknown partition is made or ignored."""
        place = TopicPartition(topic, partition)
        calls: list[Callable[[], Coroutine[Any, Any, object]]] = [
            lambda: log.read(*place, 0, limit=1),
            lambda: log.poll({place: 0}, limit=1, wait_s=0),
            lambda: log.bounds(*place),
            lambda: log.commit("group", {place: 1}),
            lambda: log.committed("group", *place),
            lambda: log.delete_before(*place, 1),
        ]
        if topic != JOURNAL.name:
            calls += [
                lambda: log.expire(topic, LONG_AGO),
                lambda: log.compact(topic),
                lambda: log.append([NewRecord(topic, OWNER, b"value")]),
            ]
        for call in calls:
            with pytest.raises(Rejected):
                await call()

    async def test_numbers_out_of_range_are_rejected(self, log: Log) -> None:
        """A negative offset and an empty limit are mistakes and not empty reads."""
        with pytest.raises(Rejected):
            await log.read(JOURNAL.name, 0, -1, limit=1)
        with pytest.raises(Rejected):
            await log.read(JOURNAL.name, 0, 0, limit=0)
        with pytest.raises(Rejected):
            await log.commit("group", {TopicPartition(JOURNAL.name, 0): -1})
