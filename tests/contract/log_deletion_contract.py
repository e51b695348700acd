"""What every log keeps when records are deleted: `LogDeletionContract`, beside `LogContract`."""

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.schemas.errors import Rejected
from eunoe.schemas.ports import Log, NewRecord, Position
from eunoe.schemas.topics import Topic
from tests.contract.log_contract import (
    COMPACTED,
    INGRESS,
    JOURNAL,
    LONG_AGO,
    OWNER,
    PLAIN_INGRESS,
    SEALED_COMPACTED,
    WEEK,
    NewStore,
    each_example,
    everything,
    numbered,
    own,
    values,
)

__all__ = ["LogDeletionContract"]


class LogDeletionContract:
    """The promises of `Log` on deletion, expiry, compaction and vacuum."""

    @pytest.mark.parametrize("topic", [INGRESS, PLAIN_INGRESS, JOURNAL])
    async def test_delete_before_takes_what_lies_below(self, log: Log, topic: Topic) -> None:
        """Records below the offset go, once; those from it on and other partitions stay."""
        await log.append(numbered(topic, 10))
        others = [NewRecord(topic.name, b"%d" % number, b"other") for number in range(20)]
        await log.append([one for one in others if log.partition_of(one.key) != own(log, topic)[1]])
        before = await everything(log, topic)
        assert await log.delete_before(*own(log, topic), 4) == 4
        assert await log.delete_before(*own(log, topic), 4) == 0
        before[log.partition_of(OWNER)] = before[log.partition_of(OWNER)][4:]
        assert await everything(log, topic) == before

    @pytest.mark.parametrize("sealed", [False, True])
    async def test_expire_takes_what_is_older(self, log: Log, *, sealed: bool) -> None:
        """Records with an earlier timestamp go, those of the moment itself stay."""
        topic = SEALED_COMPACTED if sealed else WEEK
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
        await log.append(appended)
        tombstones = [
            NewRecord(JOURNAL.name, b"append %d" % number, None, placed_by=OWNER)
            for number in (1, 4)
        ]
        await log.append(tombstones)
        assert await log.compact(JOURNAL.name) == 4
        found = await log.read(*own(log, JOURNAL), 0, limit=10)
        assert [record.position.offset for record in found] == [0, 2, 3, 5]
        assert await log.compact(JOURNAL.name) == 0

    async def test_compaction_is_per_partition(self, log: Log) -> None:
        """A key that was placed in two partitions is two keys, as on Kafka."""
        places = [b"%d" % number for number in range(20)]
        await log.append([NewRecord(COMPACTED.name, b"key", one, placed_by=one) for one in places])
        await log.compact(COMPACTED.name)
        newest = {log.partition_of(one): [one] for one in places}
        found = await everything(log, COMPACTED)
        assert {part: values(records) for part, records in found.items()} == newest

    @each_example
    @given(
        topic=st.sampled_from([COMPACTED, SEALED_COMPACTED, JOURNAL]),
        steps=st.lists(
            st.one_of(
                st.none(),
                st.tuples(st.integers(0, 6), st.one_of(st.none(), st.binary(max_size=8))),
            ),
            max_size=30,
        ),
    )
    def test_compaction_is_a_dictionary(
        self, new_store: NewStore, topic: Topic, steps: list[tuple[int, bytes | None] | None]
    ) -> None:
        """After any puts, tombstones and compactions the last value of each key is there.

        A step is a put, a tombstone, or None for a compaction. Offsets and order stay.
        """

        async def check() -> None:
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
                await log.compact(topic.name)
                parts = await everything(log, topic)
            found = {
                record.key: (record.position, record.value)
                for part in parts.values()
                for record in part
            }
            assert found == model
            assert sum(map(len, parts.values())) == len(model)
            for part in parts.values():
                offsets = [record.position.offset for record in part]
                assert offsets == sorted(offsets)

        asyncio.run(check())

    @pytest.mark.parametrize("topic", [JOURNAL, SEALED_COMPACTED])
    async def test_what_was_deleted_stays_deleted(self, new_store: NewStore, topic: Topic) -> None:
        """Neither deletion nor compaction is undone by a restart; bounds stay as they are."""
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

    async def test_vacuum_keeps_what_is_there(self, log: Log) -> None:
        """Making deleted records vanish changes no record that stays."""
        await log.append([*numbered(INGRESS, 50), *numbered(COMPACTED, 50)])
        await log.delete_before(*own(log, INGRESS), 20)
        await log.compact(COMPACTED.name)
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
