"""What every log keeps when records are deleted: `LogDeletionContract`, beside `LogContract`."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.schemas.errors import Rejected
from eunoe.schemas.ports import Log, NewRecord, Position
from eunoe.schemas.topics import Topic
from tests.contract.log_contract import (
    COMPACTED,
    DAYS_AGO,
    INGRESS,
    JOURNAL,
    OWNER,
    PLAIN_INGRESS,
    SEALED_COMPACTED,
    SEALED_WEEK,
    WEEK,
    NewStore,
    compacted,
    each_example,
    everything,
    numbered,
    own,
    values,
    written,
)

__all__ = [
    "COMPACTED_TOPICS",
    "COMPACTION_STEPS",
    "LogDeletionContract",
    "compaction_is_a_dictionary",
]


COMPACTED_TOPICS: Final = st.sampled_from([COMPACTED, SEALED_COMPACTED, JOURNAL])
COMPACTION_STEPS: Final = st.lists(
    st.one_of(st.none(), st.tuples(st.integers(0, 6), st.one_of(st.none(), st.binary(max_size=8)))),
    max_size=30,
)
"""A step is a put or a tombstone of a numbered key, or None for a compaction."""


async def compaction_is_a_dictionary(
    new_store: NewStore,
    topic: Topic,
    steps: list[tuple[int, bytes | None] | None],
    *,
    at_once: bool = False,
) -> None:
    """Check that after these steps the last value of each key is there, and nothing else.

    Args:
        new_store: Makes empty stores.
        topic: One that is compacted.
        steps: Of `COMPACTION_STEPS`.
        at_once: Whether one call compacts, and not a broker within its lag.
    """
    model: dict[bytes, tuple[Position, bytes]] = {}
    async with new_store().open() as log:
        for step in steps:
            if step is None:
                await log.compact(topic.name)
                continue
            key = b"key %d" % step[0]
            (position,) = await log.append([NewRecord(topic.name, key, step[1])])
            model.pop(key, None)
            if step[1] is not None:
                model[key] = (position, step[1])

        async def is_done() -> bool:
            parts = await everything(log, topic)
            records = [record for part in parts.values() for record in part]
            newest = {one.key: (one.position, one.value) for one in records}
            assert {key: found for key, found in newest.items() if found[1] is not None} == model
            for part in parts.values():
                offsets = [record.position.offset for record in part]
                assert offsets == sorted(offsets)
            return len(records) == len(model)

        if at_once:
            await log.compact(topic.name)
            assert await is_done()
        else:
            await compacted(log, topic, is_done)


class LogDeletionContract:
    """The promises of `Log` on deletion, expiry, compaction and vacuum."""

    @pytest.mark.parametrize("topic", [INGRESS, PLAIN_INGRESS, WEEK])
    async def test_delete_before_takes_what_lies_below(self, log: Log, topic: Topic) -> None:
        """Records below the offset go, once; those from it on and other partitions stay."""
        positions = await log.append(numbered(topic, 10))
        others = [NewRecord(topic.name, b"%d" % number, b"other") for number in range(20)]
        await log.append([one for one in others if log.partition_of(one.key) != own(log, topic)[1]])
        before = await everything(log, topic)
        cut = positions[4].offset
        first, _ = await log.bounds(*own(log, topic))
        # What the log keeps of its own between the records goes with them, and is counted.
        assert 4 <= await log.delete_before(*own(log, topic), cut) <= cut - first
        assert await log.delete_before(*own(log, topic), cut) == 0
        before[log.partition_of(OWNER)] = before[log.partition_of(OWNER)][4:]
        assert await everything(log, topic) == before

    @pytest.mark.parametrize("sealed", [False, True])
    async def test_expire_takes_what_is_older(self, log: Log, *, sealed: bool) -> None:
        """Records with an earlier timestamp go, those of the moment itself stay."""
        topic = SEALED_WEEK if sealed else WEEK
        times = [DAYS_AGO + timedelta(days=day) for day in range(5)]
        await log.append(
            [
                NewRecord(topic.name, b"%d" % day, b"value", timestamp=moment)
                for day, moment in enumerate(times)
            ]
        )
        assert await log.expire(topic.name, times[3]) >= 3
        found = [one.key for part in (await everything(log, topic)).values() for one in part]
        assert sorted(found) == [b"3", b"4"]

    @pytest.mark.parametrize("topic", [INGRESS, PLAIN_INGRESS, WEEK])
    async def test_keep_what_isnt_compacted(self, log: Log, topic: Topic) -> None:
        """A topic whose records share keys without replacing each other refuses compaction."""
        await log.append(numbered(topic, 3))
        with pytest.raises(Rejected):
            await log.compact(topic.name)
        assert len(await log.read(*own(log, topic), 0, limit=10)) == 3

    async def test_keep_the_journal_but_for_tombstones(self, log: Log) -> None:
        """Compacting the journal removes what a tombstone names, and the tombstone, only."""
        appended = [
            NewRecord(JOURNAL.name, b"append %d" % number, b"value", placed_by=OWNER)
            for number in range(6)
        ]
        positions = await log.append(appended)
        tombstones = [
            NewRecord(JOURNAL.name, b"append %d" % number, None, placed_by=OWNER)
            for number in (1, 4)
        ]
        await log.append(tombstones)
        kept = [positions[number] for number in (0, 2, 3, 5)]

        async def is_done() -> bool:
            found = written(await log.read(*own(log, JOURNAL), 0, limit=100))
            left = [record.position for record in found]
            assert [one for one in left if one in positions and one not in kept] == [
                one for one in left if one in (positions[1], positions[4])
            ]
            assert [one for one in left if one in kept] == kept
            return left == kept

        assert await compacted(log, JOURNAL, is_done) in (0, 4)  # or nobody knows how many
        assert await log.compact(JOURNAL.name) == 0

    async def test_compaction_is_per_partition(self, log: Log) -> None:
        """A key that was placed in two partitions is two keys, as on Kafka."""
        places = [b"%d" % number for number in range(20)]
        await log.append([NewRecord(COMPACTED.name, b"key", one, placed_by=one) for one in places])
        newest = {log.partition_of(one): [one] for one in places}

        async def is_done() -> bool:
            found = await everything(log, COMPACTED)
            assert {part: values(records)[-1:] for part, records in found.items()} == newest
            return {part: values(records) for part, records in found.items()} == newest

        await compacted(log, COMPACTED, is_done)

    @each_example
    @given(topic=COMPACTED_TOPICS, steps=COMPACTION_STEPS)
    def test_compaction_is_a_dictionary(
        self, new_store: NewStore, topic: Topic, steps: list[tuple[int, bytes | None] | None]
    ) -> None:
        """After any puts, tombstones and compactions the last value of each key is there.

        Offsets and order stay.
        """
        asyncio.run(compaction_is_a_dictionary(new_store, topic, steps))

    @pytest.mark.parametrize("topic", [INGRESS, WEEK])
    async def test_what_was_deleted_stays_deleted(self, new_store: NewStore, topic: Topic) -> None:
        """Deletion isn't undone by a restart; bounds stay as they are."""
        store = new_store()
        async with store.open() as log:
            positions = await log.append(numbered(topic, 6))
            await log.delete_before(*own(log, topic), positions[2].offset)
            before = await log.read(*own(log, topic), 0, limit=10)
            bounds = await log.bounds(*own(log, topic))
        assert values(before) == [b"2", b"3", b"4", b"5"]
        async with store.open() as log:
            assert await log.read(*own(log, topic), 0, limit=10) == before
            assert await log.bounds(*own(log, topic)) == bounds

    @pytest.mark.parametrize("topic", [JOURNAL, SEALED_COMPACTED])
    async def test_what_was_compacted_stays_so(self, new_store: NewStore, topic: Topic) -> None:
        """Compaction isn't undone by a restart; bounds stay as they are."""
        store = new_store()
        async with store.open() as log:
            await log.append(
                [NewRecord(topic.name, b"%d" % n, b"value", placed_by=OWNER) for n in range(6)]
            )
            await log.append([NewRecord(topic.name, b"3", None, placed_by=OWNER)])

            async def is_done() -> bool:
                found = written(await log.read(*own(log, topic), 0, limit=100))
                return all(record.key != b"3" for record in found)

            await compacted(log, topic, is_done)
            before = written(await log.read(*own(log, topic), 0, limit=100))
            bounds = await log.bounds(*own(log, topic))
        assert [record.key for record in before] == [b"0", b"1", b"2", b"4", b"5"]
        async with store.open() as log:
            assert written(await log.read(*own(log, topic), 0, limit=100)) == before
            assert await log.bounds(*own(log, topic)) == bounds

    async def test_a_compacted_topic_is_cut_or_refuses_it(self, log: Log) -> None:
        """Records of a compacted topic go below an offset or a time, or the log refuses whole."""
        positions = await log.append(numbered(JOURNAL, 4))
        left = positions[2:]
        try:
            await log.delete_before(*own(log, JOURNAL), positions[2].offset)
        except Rejected:
            left = positions
        found = written(await log.read(*own(log, JOURNAL), 0, limit=100))
        assert [record.position for record in found] == left
        try:
            await log.expire(JOURNAL.name, datetime.now(UTC) + timedelta(days=1))
        except Rejected:
            assert left == positions
        else:
            left = []
        found = written(await log.read(*own(log, JOURNAL), 0, limit=100))
        assert [record.position for record in found] == left

    async def test_vacuum_keeps_what_is_there(self, log: Log) -> None:
        """Making deleted records vanish changes no record that stays."""
        await log.append([*numbered(INGRESS, 50), *numbered(COMPACTED, 50)])
        await log.delete_before(*own(log, INGRESS), 20)

        async def is_done() -> bool:
            return len(values(await log.read(*own(log, COMPACTED), 0, limit=100))) == 1

        await compacted(log, COMPACTED, is_done)
        before = await everything(log, INGRESS), await everything(log, COMPACTED)
        await log.vacuum()
        await log.vacuum()
        assert (await everything(log, INGRESS), await everything(log, COMPACTED)) == before

    async def test_a_reader_that_meets_a_deletion_loses_nothing_else(self, log: Log) -> None:
        """Reads during deletions of sealed records yield records that stay, and no error."""
        await log.append(numbered(INGRESS, 200))

        async def follow() -> None:
            while deleting:
                found = await log.read(*own(log, INGRESS), 0, limit=200)
                assert [record.position.offset for record in found][-50:] == list(range(150, 200))

        deleting = True
        following = asyncio.create_task(follow())
        for end in range(0, 151, 10):
            await log.delete_before(*own(log, INGRESS), end)
        deleting = False
        await following
