"""What a log that one process has to itself keeps beyond `LogContract`: `LocalLogContract`.

It has no marks of its own, so its offsets have no gaps but those of deletion; it deletes and
compacts when it is told, from every topic, and knows how much went; a poll has what was appended.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given

from eunoe.schemas.ports import Log, NewRecord, Position, TopicPartition
from eunoe.schemas.topics import Topic
from tests.contract.log_contract import (
    COMPACTED,
    CONTRACT_PARTITIONS,
    INGRESS,
    JOURNAL,
    LONG_AGO,
    OWNER,
    SEALED_COMPACTED,
    WEEK,
    NewStore,
    each_example,
    everything,
    numbered,
    own,
)
from tests.contract.log_deletion_contract import (
    COMPACTED_TOPICS,
    COMPACTION_STEPS,
    compaction_is_a_dictionary,
)

__all__ = ["LocalLogContract"]

REMOVALS: Final[Sequence[Callable[[Log], Coroutine[Any, Any, object]]]] = (
    lambda log: log.delete_before(*own(log, COMPACTED), 1_000),
    lambda log: log.expire(COMPACTED.name, datetime.now(UTC) + timedelta(days=1)),
    lambda log: log.compact(COMPACTED.name),
    lambda log: log.vacuum(),
)


class LocalLogContract:
    """The promises of a log of one process; stands before the others among the base classes."""

    @pytest.mark.parametrize("topic", [INGRESS, JOURNAL])
    async def test_offsets_have_no_gaps(self, log: Log, topic: Topic) -> None:
        """They are counted from 0, and the end is one more than the last."""
        place = own(log, topic)
        assert await log.bounds(*place) == (0, 0)
        positions = await log.append(numbered(topic, 5))
        assert [one.offset for one in positions] == list(range(5))
        assert await log.bounds(*place) == (0, 5)
        assert [one.position for one in await log.read(*place, 0, limit=9)] == positions
        await log.delete_before(*place, 3)
        assert await log.bounds(*place) == (3, 5)
        (found,) = await log.read(*place, 1, limit=1)
        assert found.position == positions[3]
        (following,) = await log.append(numbered(topic, 1))
        assert following.offset == 5

    async def test_a_poll_has_what_was_appended(self, log: Log) -> None:
        """At once, without a read before it."""
        positions = await log.append(
            [NewRecord(INGRESS.name, b"%d" % (number % 9), b"%d" % number) for number in range(60)]
        )
        offsets = {TopicPartition(INGRESS.name, one): 0 for one in range(CONTRACT_PARTITIONS)}
        found = await log.poll(offsets, limit=1_000, wait_s=0)
        assert {one.position for one in found} == set(positions)

    @pytest.mark.parametrize("topic", [WEEK, JOURNAL])
    async def test_a_time_is_kept_however_old(self, log: Log, topic: Topic) -> None:
        """No record goes by itself."""
        await log.append([NewRecord(topic.name, OWNER, b"old", timestamp=LONG_AGO)])
        (old,) = await log.read(*own(log, topic), 0, limit=10)
        assert abs(old.timestamp - LONG_AGO) < timedelta(milliseconds=1)

    async def test_a_compacted_topic_is_cut(self, log: Log) -> None:
        """What lies below an offset goes, once, and nothing else."""
        await log.append(numbered(JOURNAL, 10))
        others = [NewRecord(JOURNAL.name, b"%d" % number, b"other") for number in range(20)]
        await log.append(
            [one for one in others if log.partition_of(one.key) != own(log, JOURNAL)[1]]
        )
        before = await everything(log, JOURNAL)
        assert await log.delete_before(*own(log, JOURNAL), 4) == 4
        assert await log.delete_before(*own(log, JOURNAL), 4) == 0
        before[log.partition_of(OWNER)] = before[log.partition_of(OWNER)][4:]
        assert await everything(log, JOURNAL) == before

    @pytest.mark.parametrize("topic", [WEEK, SEALED_COMPACTED])
    async def test_expiry_tells_how_much_went(self, log: Log, topic: Topic) -> None:
        """Of every topic, and to the record."""
        times = [LONG_AGO + timedelta(days=day) for day in range(5)]
        await log.append(
            [
                NewRecord(topic.name, b"%d" % day, b"value", timestamp=moment)
                for day, moment in enumerate(times)
            ]
        )
        assert await log.expire(topic.name, times[3]) == 3
        found = [one.key for part in (await everything(log, topic)).values() for one in part]
        assert sorted(found) == [b"3", b"4"]

    async def test_one_call_compacts_and_tells_how_much_went(self, log: Log) -> None:
        """Tombstones and what they remove are gone when it returns."""
        await log.append(
            [
                NewRecord(JOURNAL.name, b"append %d" % number, b"value", placed_by=OWNER)
                for number in range(6)
            ]
        )
        await log.append(
            [
                NewRecord(JOURNAL.name, b"append %d" % number, None, placed_by=OWNER)
                for number in (1, 4)
            ]
        )
        assert await log.compact(JOURNAL.name) == 4
        found = await log.read(*own(log, JOURNAL), 0, limit=10)
        assert [record.position.offset for record in found] == [0, 2, 3, 5]
        assert await log.compact(JOURNAL.name) == 0

    @each_example
    @given(topic=COMPACTED_TOPICS, steps=COMPACTION_STEPS)
    def test_compaction_is_a_dictionary(
        self, new_store: NewStore, topic: Topic, steps: list[tuple[int, bytes | None] | None]
    ) -> None:
        """After any puts, tombstones and compactions one more leaves the last value of each key."""
        asyncio.run(compaction_is_a_dictionary(new_store, topic, steps, at_once=True))

    @pytest.mark.parametrize("topic", [JOURNAL, SEALED_COMPACTED])
    async def test_what_was_compacted_and_cut_stays_so(
        self, new_store: NewStore, topic: Topic
    ) -> None:
        """Neither is undone by a restart; bounds stay as they are."""
        store = new_store()
        async with store.open() as log:
            await log.append(
                [NewRecord(topic.name, b"%d" % n, b"value", placed_by=OWNER) for n in range(6)]
            )
            await log.append([NewRecord(topic.name, b"3", None, placed_by=OWNER)])
            await log.compact(topic.name)
            await log.delete_before(*own(log, topic), 2)
            before = await log.read(*own(log, topic), 0, limit=10)
            bounds = await log.bounds(*own(log, topic))
        assert [record.key for record in before] == [b"2", b"4", b"5"]
        async with store.open() as log:
            assert await log.read(*own(log, topic), 0, limit=10) == before
            assert await log.bounds(*own(log, topic)) == bounds

    async def test_a_compacted_topic_gives_no_offset_back(self, new_store: NewStore) -> None:
        """Neither after a cut nor after expiry, compaction, vacuum or a restart."""
        store = new_store()
        used: list[Position] = []
        for remove in REMOVALS:
            async with store.open() as log:
                used += await log.append(numbered(COMPACTED, 3))
                used += await log.append([NewRecord(COMPACTED.name, OWNER, None)])
                await remove(log)
            async with store.open() as log:
                used += await log.append(numbered(COMPACTED, 1))
        assert len(set(used)) == len(used)
        assert sorted(used) == used
