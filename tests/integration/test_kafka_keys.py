"""The key log on Kafka: the contract on a real broker, and what lanes and readers share."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.infra.kafka_keys import KafkaKeys
from eunoe.schemas.errors import Damaged, Fenced, Rejected, Unavailable
from eunoe.schemas.ports import Keys, NewRecord
from eunoe.schemas.topics import KEYS
from tests.contract.keys_contract import (
    ANA,
    BOB,
    RECORD,
    KeysContract,
    NewKeyStore,
    opened,
    sealed,
    what_is_open_agrees,
)
from tests.contract.log_contract import each_example
from tests.integration.kafka_store import LAG_S, MASTER, KafkaKeyStore, cluster_settings
from tests.servers.fixtures import give_kafka, give_own_kafka
from tests.servers.kafka import Kafka

__all__ = ["give_kafka", "give_own_kafka"]

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
WAIT_S: Final = 30.0
PLAIN: Final = "the blue notebook 蓝色的笔记本".encode()


@pytest.fixture
def new_key_store(kafka_address: str) -> Iterator[Callable[..., KafkaKeyStore]]:
    """Return a maker of empty stores; one partition has all owners, so that a lane has them."""
    made: list[KafkaKeyStore] = []

    def make(partitions: int = 1) -> KafkaKeyStore:
        made.append(KafkaKeyStore(cluster_settings(kafka_address, partitions=partitions)))
        return made[-1]

    yield make
    for store in made:
        store.remove()


@pytest.fixture
def store(new_key_store: Callable[..., KafkaKeyStore]) -> KafkaKeyStore:
    """Return an empty store."""
    return new_key_store()


@pytest.fixture
async def keys(store: KafkaKeyStore) -> AsyncIterator[KafkaKeys]:
    """Return empty keys."""
    async with store.keys() as keys:
        yield keys


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something holds, which has to be soon."""
    async with asyncio.timeout(WAIT_S):
        while not await holds():  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.05)


class TestKafkaKeys(KeysContract):
    """The contract on Kafka."""

    @settings(each_example, max_examples=5)
    @given(
        steps=st.lists(
            st.tuples(st.sampled_from(["seal", "shred", "open"]), st.integers(0, 9)), max_size=20
        )
    )
    def test_what_is_open_is_what_was_put_and_not_shredded(
        self, new_key_store: NewKeyStore, steps: list[tuple[str, int]]
    ) -> None:
        """After any sequence of seals, openings and shreds, and a restart, a model agrees."""
        asyncio.run(what_is_open_agrees(new_key_store, steps))


# --- lanes and readers -------------------------------------------------------------------------


async def test_a_reader_opens_what_a_lane_put(store: KafkaKeyStore) -> None:
    """Boxes, hashes and shared values are the same for who only reads, at once."""
    async with store.keys() as lane, store.open() as log:
        reader = await KafkaKeys.open_to_read(log, [0], master=MASTER)
        for owner in (ANA, BOB):
            boxes = await sealed(lane, owner, [PLAIN, b"2"])
            assert await opened(reader, owner, boxes) == [PLAIN, b"2"]
            own, read = await lane.owner(owner), await reader.owner(owner)
            assert own.hash("kind", "词") == read.hash("kind", "词")
            assert own.term("里斯本") == read.term("里斯本")
        value = await lane.seal_shared("default/2026-01-05", PLAIN)
        assert await reader.open_shared("default/2026-01-05", value) == PLAIN
        await reader.close()


async def test_a_shred_in_a_lane_closes_boxes_elsewhere(store: KafkaKeyStore) -> None:
    """Who has opened a box can't open it any more soon after another process shredded its key."""
    async with store.keys() as lane, store.open() as log:
        reader = await KafkaKeys.open_to_read(log, [0], master=MASTER)
        gone, stays = await sealed(lane, ANA, [PLAIN, b"stays"])
        value = await lane.seal_shared("one", PLAIN)
        assert await opened(reader, ANA, [gone, stays]) == [PLAIN, b"stays"]
        assert await reader.open_shared("one", value) == PLAIN
        await lane.shred([gone.key_id])
        await lane.shred_shared(["one"])

        async def is_closed() -> bool:
            shared = await reader.open_shared("one", value)
            return await opened(reader, ANA, [gone, stays]) == [None, b"stays"] and shared is None

        await until(is_closed)
        await reader.close()


async def test_a_reader_shreds_but_makes_nothing(store: KafkaKeyStore) -> None:
    """It destroys keys of any partition; owners' and other keys it doesn't make."""
    async with store.keys() as lane, store.open() as log:
        reader = await KafkaKeys.open_to_read(log, [0], master=MASTER)
        (box,) = await sealed(lane, ANA, [PLAIN])
        value = await lane.seal_shared("one", PLAIN)
        _, wrapped = (await lane.owner(ANA)).seal(PLAIN, RECORD)
        with pytest.raises(Rejected):
            await reader.put([wrapped])
        with pytest.raises(Rejected):
            await reader.seal_shared("one", PLAIN)
        await reader.shred([box.key_id, uuid4()])
        await reader.shred_shared(["one", "never used"])
        for keys in (reader, lane):

            async def is_closed(keys: Keys = keys) -> bool:
                shared = await keys.open_shared("one", value)
                return await opened(keys, ANA, [box]) == [None] and shared is None

            await until(is_closed)
        await reader.close()


async def test_keys_of_the_moment_match_nothing(store: KafkaKeyStore) -> None:
    """An owner whom no lane has met gets other keys at each use, and none of them is kept."""
    async with store.keys() as lane, store.open() as log:
        reader = await KafkaKeys.open_to_read(log, [0], master=MASTER)
        for owner in (ANA, BOB):
            hashes = {(await reader.owner(owner)).hash("kind", "text") for _ in range(3)}
            assert len(hashes) == 3
            real = (await lane.owner(owner)).hash("kind", "text")
            assert real not in hashes
            assert (await reader.owner(owner)).hash("kind", "text") == real
        await reader.close()


async def test_staged_keys_are_there_with_what_they_close(store: KafkaKeyStore) -> None:
    """Keys that are appended with other records open their boxes as soon as those are there."""
    async with store.open() as log, log.fenced(0) as fenced:
        keys = await KafkaKeys.open(fenced, 0, master=MASTER)
        box, wrapped = (await keys.owner(ANA)).seal(PLAIN, RECORD)
        staged = await keys.stage([wrapped])
        assert await opened(keys, ANA, [box]) == [None]
        await fenced.append([*staged, NewRecord("eunoe.journal.v1", b"1", b"{}", placed_by=b"0")])
        assert await opened(keys, ANA, [box]) == [PLAIN]
        await keys.close()


async def test_a_lane_has_its_own_partition_only(
    new_key_store: Callable[..., KafkaKeyStore],
) -> None:
    """An owner of another partition is refused, and a reader of all has both lanes' keys."""
    store = new_key_store(2)
    async with store.open() as log:
        places = {log.partition_of(owner.encode()): owner for owner in (ANA, BOB, "a/1", "a/3")}
        assert set(places) == {0, 1}
        reader = await KafkaKeys.open_to_read(log, [0, 1], master=MASTER)
        values = {}
        for partition, owner in places.items():
            async with store.keys(partition) as lane:
                (box,) = await sealed(lane, owner, [PLAIN])
                assert await opened(reader, owner, [box]) == [PLAIN]
                with pytest.raises(Rejected):
                    await lane.owner(places[1 - partition])
                values[partition] = await lane.seal_shared("one", b"%d" % partition)
        for partition, value in values.items():
            assert await reader.open_shared("one", value) == b"%d" % partition
        await reader.shred_shared(["one"])
        assert [await reader.open_shared("one", value) for value in values.values()] == [None] * 2
        await reader.close()


async def test_a_lane_that_lost_its_partition_makes_no_keys(store: KafkaKeyStore) -> None:
    """Once another has the partition, no key is made, put or shredded by the former lane."""
    async with store.keys() as former:
        box, wrapped = (await former.owner(ANA)).seal(PLAIN, RECORD)
        await former.put([wrapped])
        async with store.keys() as lane:
            with pytest.raises(Fenced):
                await former.owner(BOB)
            with pytest.raises(Fenced):
                await former.shred([box.key_id])
            assert await opened(lane, ANA, [box]) == [PLAIN]
            await lane.owner(BOB)


# --- the master key ----------------------------------------------------------------------------


async def test_another_master_key_is_told(store: KafkaKeyStore) -> None:
    """Neither a lane nor a reader starts with it, and the sentence says which setting it is."""
    async with store.keys():
        pass
    with pytest.raises(Unavailable, match="EUNOE_MASTER_KEY"):
        async with store.keys(master=bytes(32)):
            pass
    async with store.open() as log:
        with pytest.raises(Unavailable, match="EUNOE_MASTER_KEY"):
            await KafkaKeys.open_to_read(log, [0], master=bytes(32))


async def test_what_isnt_a_key_is_damage(store: KafkaKeyStore) -> None:
    """A foreign record in the topic is neither a key nor an erasure."""
    async with store.open() as log, log.fenced(0) as fenced:
        await fenced.append([NewRecord(KEYS.name, b"data/none", b"value")])
        with pytest.raises(Damaged, match="offset 3 of partition 0"):
            await KafkaKeys.open(fenced, 0, master=MASTER)


# --- nothing stays on the disk -----------------------------------------------------------------


async def test_shredded_keys_leave_the_brokers_disk(own_kafka: Kafka) -> None:
    """After the compaction lag and a tick no byte of a shredded key is in any of its files."""
    settings = cluster_settings(own_kafka.address, partitions=1, compaction_lag_s=LAG_S)
    store = KafkaKeyStore(settings)
    async with store.open() as log, log.fenced(0) as fenced:
        keys = await KafkaKeys.open(fenced, 0, master=MASTER)
        pairs = [(await keys.owner(ANA)).seal(PLAIN, RECORD) for _ in range(30)]
        await keys.put([wrapped for _, wrapped in pairs])
        gone, kept = pairs[::2], pairs[1::2]

        def left(of: list[bytes]) -> int:
            files = [one for one in Path(own_kafka.folder).rglob("*.log") if "keys" in str(one)]
            raw = b"".join(one.read_bytes() for one in files)
            return sum(one[:12] in raw or one[-12:] in raw for one in of)

        assert left([wrapped.wrapped for _, wrapped in pairs]) == 30
        await keys.shred([box.key_id for box, _ in gone])
        assert await opened(keys, ANA, [box for box, _ in gone]) == [None] * 15

        async def is_clean() -> bool:
            await fenced.tick()
            await asyncio.sleep(0.3)
            return left([wrapped.wrapped for _, wrapped in gone]) == 0

        await until(is_clean)
        assert left([wrapped.wrapped for _, wrapped in kept]) == 15
        assert await opened(keys, ANA, [box for box, _ in kept]) == [PLAIN] * 15
        await keys.close()
