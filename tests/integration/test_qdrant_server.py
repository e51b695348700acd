"""A Qdrant server that fails, ends, is too old, is filled with something else, or is switched."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient, models

from eunoe.infra.qdrant import QdrantEpisodes
from eunoe.infra.qdrant_collection import numbered
from eunoe.schemas.errors import Damaged, EncoderMismatch, Fenced, Rejected, Unavailable
from eunoe.schemas.ports import Applied, EpisodicQuery
from tests.contract.episodes_contract import picture
from tests.integration.qdrant_places import Place, open_store
from tests.servers import qdrant
from tests.servers.qdrant import Qdrant
from tests.support.records import (
    ANA,
    DIMENSION,
    EPOCH,
    PARTITION,
    erasure,
    ident,
    new,
    stored,
    touch,
    vector,
)

pytestmark = pytest.mark.server

RECORDS = [
    new(1, "t1", "m1", vector(1.0)),
    touch(2, "t2", "m1", ["t1", "t2"], importance=0.6),
    new(3, "t3", "m3", vector(0.0, 1.0)),
    erasure(4, ["t3"], memories=(ident("m3"),)),
]
EVERYTHING = EpisodicQuery(ANA, vector(1.0), (1, 2), 100)


@pytest.fixture(name="place")
async def make_place(qdrant_url: str) -> AsyncIterator[Place]:
    """Make a place for a store."""
    place = Place(qdrant_url)
    yield place
    await place.remove()


# --- what fails --------------------------------------------------------------------------------


async def test_what_was_acknowledged_survives_a_kill(own_qdrant: Qdrant) -> None:
    """After a crash of the server everything applied is there, and the markers that were moved."""
    store = await open_store(own_qdrant.url, "killed")
    await store.apply(RECORDS[:2])
    await store.flush()
    await store.apply(RECORDS[2:])
    before = await picture(store, ANA)
    own_qdrant.kill()
    with pytest.raises(Unavailable, match="EUNOE_QDRANT"):
        await store.query(EVERYTHING)
    own_qdrant.start()
    assert await picture(store, ANA) == before
    assert await store.applied(PARTITION) == Applied(EPOCH, 3)
    await store.flush()
    assert await store.applied(PARTITION) == Applied(EPOCH, 5)
    await store.close()


async def test_a_server_that_fails_for_a_while_loses_nothing(own_qdrant: Qdrant) -> None:
    """While the server answers 503, all is Unavailable and no marker moves; then it goes on."""
    store = await open_store(own_qdrant.url, "failing")
    own_qdrant.fault(status=503)
    for asking in (store.apply(RECORDS), store.query(EVERYTHING), store.memories(ANA)):
        with pytest.raises(Unavailable, match=r"answers 503: .* EUNOE_QDRANT"):
            await asking
    own_qdrant.heal()
    await store.flush()
    assert await store.applied(PARTITION) is None
    await store.apply(RECORDS)
    own_qdrant.fault(status=503)
    with pytest.raises(Unavailable):
        await store.flush()
    own_qdrant.heal()
    assert await store.applied(PARTITION) is None
    await store.flush()
    assert await store.applied(PARTITION) == Applied(EPOCH, 5)
    await store.close()


async def test_an_answer_that_is_lost_is_repeated(own_qdrant: Qdrant) -> None:
    """Where the connection breaks after the work was done, doing it again is the same state."""
    store = await open_store(own_qdrant.url, "dropping")
    plain = await open_store(own_qdrant.url, "plain")
    await plain.apply(RECORDS)
    for start in range(len(RECORDS)):
        own_qdrant.fault(drop=True, count=1, path="/points/batch")
        with pytest.raises(Unavailable, match="EUNOE_QDRANT"):
            await store.apply(RECORDS[start : start + 1])
        await store.apply(RECORDS[start : start + 1])
    own_qdrant.fault(drop=True, count=1, path="/points/batch")
    with pytest.raises(Unavailable):
        await store.flush()
    await store.flush()
    assert await store.applied(PARTITION) == Applied(EPOCH, 5)
    assert await picture(store, ANA) == await picture(plain, ANA)
    await store.close()
    await plain.close()


async def test_what_takes_too_long_is_given_up(own_qdrant: Qdrant) -> None:
    """A call has a time limit, and the sentence names the setting."""
    store = await open_store(own_qdrant.url, "slow", timeout_s=1.0)
    own_qdrant.fault(delay_s=5.0)
    with pytest.raises(Unavailable, match=r"within 1 s: .* EUNOE_CALL_TIMEOUT_S"):
        await store.query(EVERYTHING)
    own_qdrant.heal()
    await store.close()


async def test_who_waits_for_a_connection_is_counted(own_qdrant: Qdrant) -> None:
    """`waiting` says how many calls wait because all connections are in use."""
    store = await open_store(own_qdrant.url, "narrow", connections_max=1)
    own_qdrant.fault(delay_s=0.5, count=1)
    asking = [asyncio.create_task(store.query(EVERYTHING)) for _ in range(3)]
    await asyncio.sleep(0)
    assert store.waiting == 2
    assert await asyncio.gather(*asking) == [[], [], []]
    assert store.waiting == 0
    await store.close()


async def test_a_server_that_isnt_there_is_named() -> None:
    """Where nothing answers, the sentence names the setting that says where."""
    with pytest.raises(Unavailable, match=r"can't be reached: .* EUNOE_QDRANT"):
        await open_store("http://127.0.0.1:9", "nowhere")


async def test_a_key_that_is_refused_is_named(tmp_path: Path) -> None:
    """A wrong key or none is refused, and its setting named; with the right one the store opens."""
    with qdrant.running(tmp_path / "qdrant", key="secret") as server:
        for key in ("", "wrong"):
            with pytest.raises(Unavailable, match="EUNOE_QDRANT_KEY"):
                await open_store(server.url, "locked", key=key)
        store = await open_store(server.url, "locked", key="secret")
        await store.apply(RECORDS)
        await store.close()


async def test_a_request_that_isnt_taken_is_damage(place: Place) -> None:
    """What the server refuses to understand is no matter of waiting; no marker moves."""
    async with place.open() as store:
        wide = vector(1.0).repeat(2)
        with pytest.raises(Damaged, match="doesn't take a request"):
            await store.apply([stored(1, "t1", chunks=[("t1", wide, [1])])])
        await store.flush()
        assert await store.applied(PARTITION) is None


async def test_a_closed_store_is_unavailable(place: Place) -> None:
    """After `close`, which may come twice, everything is Unavailable."""
    async with place.open() as store:
        await store.apply(RECORDS)
    await store.close()
    for asking in (store.apply(RECORDS), store.query(EVERYTHING), store.flush()):
        with pytest.raises(Unavailable, match="closed"):
            await asking


# --- what is opened ----------------------------------------------------------------------------


async def test_opening_at_once_makes_one_collection(place: Place) -> None:
    """Several that open a new store at the same time write to one collection."""
    stores = await asyncio.gather(*(open_store(place.url, place.alias) for _ in range(3)))
    assert {store.collection for store in stores} == {numbered(place.alias, 1)}
    for number, store in enumerate(stores):
        await store.apply([stored(number, f"t{number}")])
    assert [len(await store.query(EVERYTHING)) for store in stores] == [3, 3, 3]
    for store in stores:
        await store.close()


async def test_namespaces_that_look_alike_share_nothing(place: Place) -> None:
    """One that is called as another with a number has a collection of its own, whoever comes first.

    Its alias would be the other's collection, if that were called so.
    """
    for first, second in (
        (place.alias, f"{place.alias}-1"),
        (f"{place.alias}-2-1", f"{place.alias}-2"),
    ):
        stores = [await open_store(place.url, alias) for alias in (first, second)]
        for number, store in enumerate(stores):
            await store.apply([stored(1, f"t{number}")])
        assert [await found(store) for store in stores] == [
            {ident("t0").bytes},
            {ident("t1").bytes},
        ]
        for store in stores:
            if not store.collection.startswith(f"{place.alias}."):
                await store.drop(store.collection)
            store._pending.clear()
            await store.close()


async def test_opening_leaves_nothing_behind(place: Place) -> None:
    """The points by which the server is probed are gone when the store is open."""
    async with place.open():
        assert await place.points() == []


async def test_what_was_half_made_is_made(place: Place) -> None:
    """A collection without indexes and alias, as a crash leaves it, is completed."""
    async with place.open() as store:
        await store.apply(RECORDS)
        before = await picture(store, ANA)
    client = AsyncQdrantClient(url=place.url, check_compatibility=False)
    delete = models.DeleteAlias(alias_name=place.alias)
    await client.update_collection_aliases([models.DeleteAliasOperation(delete_alias=delete)])
    await client.close()
    async with place.open() as store:
        assert await picture(store, ANA) == before


async def test_a_server_that_ignores_the_corpus_is_refused(tmp_path: Path) -> None:
    """A server that computes IDF over all owners is refused; the sentence names the version."""
    with qdrant.running(tmp_path / "qdrant", version="1.18.0", honours_idf=False) as server:
        with pytest.raises(Rejected, match=r"is 1\.18\.0 .* version 1\.19 or later"):
            await open_store(server.url, "old")
        client = AsyncQdrantClient(url=server.url, check_compatibility=False)
        assert (await client.count(numbered("old", 1))).count == 0
        await client.close()


async def test_another_dimension_is_refused(place: Place) -> None:
    """Vectors of another encoder are refused, and what is there stays."""
    async with place.open() as store:
        await store.apply(RECORDS)
        with pytest.raises(EncoderMismatch, match=f"{DIMENSION} numbers.*EUNOE_NAMESPACE"):
            await open_store(place.url, place.alias, dimension=2 * DIMENSION)
        assert len(await store.memories(ANA)) == 1


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"distance": models.Distance.COSINE}, "distance Cosine and needs Dot"),
        ({"datatype": models.Datatype.FLOAT32}, "datatype float32 and needs float16"),
        ({"modifier": None}, "modifier None and needs idf"),
        ({"payload_m": 8}, "hnsw payload_m 8 and needs 16"),
        ({"layout": 3}, "layout 3 and needs 2"),
    ],
)
async def test_other_settings_are_refused(
    place: Place, changed: dict[str, object], named: str
) -> None:
    """A collection that somebody else made is refused; the sentence says what differs."""
    given: dict[str, object] = {
        "distance": models.Distance.DOT,
        "datatype": models.Datatype.FLOAT16,
        "modifier": models.Modifier.IDF,
        "payload_m": 16,
        "layout": 2,
    } | changed
    dense = {"size": DIMENSION, "distance": given["distance"], "datatype": given["datatype"]}
    index = models.SparseIndexParams(datatype=models.Datatype.FLOAT16)
    terms = {"modifier": given["modifier"], "index": index}
    client = AsyncQdrantClient(url=place.url, check_compatibility=False)
    name = numbered(place.alias, 1)
    await client.create_collection(
        name,
        vectors_config={"dense": models.VectorParams.model_validate(dense)},
        sparse_vectors_config={"terms": models.SparseVectorParams.model_validate(terms)},
        shard_number=1,
        hnsw_config=models.HnswConfigDiff.model_validate({"m": 0, "payload_m": given["payload_m"]}),
        metadata={"layout": given["layout"]},
    )
    with pytest.raises(Rejected, match=named):
        await open_store(place.url, place.alias)
    await client.delete_collection(name)
    await client.close()


# --- blue and green ----------------------------------------------------------------------------


async def test_a_filled_collection_takes_the_others_place(place: Place) -> None:
    """A spare collection is seen by nobody until it is switched to, and then by everybody."""
    async with place.open() as old, place.open() as reader:
        await old.apply(RECORDS)
        await old.flush()
        spare = await open_store(place.url, place.alias, spare=True)
        assert spare.collection == numbered(place.alias, 2)
        assert await spare.applied(PARTITION) is None
        await spare.apply([stored(1, "new")])
        await spare.flush()
        assert ident("new").bytes not in await found(reader)
        assert await spare.switch(place.alias) == old.collection
        assert await found(reader) == await found(spare) == {ident("new").bytes}
        await spare.drop(old.collection)
        assert await found(reader) == {ident("new").bytes}
        await spare.close()


async def test_who_still_writes_to_the_old_one_is_fenced(place: Place) -> None:
    """A writer of before moves no marker of the new collection, and is told to start again."""
    async with place.open() as reader:
        old = await open_store(place.url, place.alias)
        await old.apply(RECORDS[:2])
        await old.flush()
        spare = await open_store(place.url, place.alias, spare=True)
        await spare.apply(RECORDS[:2])
        await spare.flush()
        await spare.switch(place.alias)
        await old.apply(RECORDS[2:])
        with pytest.raises(Fenced, match="start again"):
            await old.close()
        async with place.open() as again:
            assert again.collection == spare.collection
            assert await again.applied(PARTITION) == Applied(EPOCH, 3)
            await again.apply(RECORDS[2:])
        assert ident("t1").bytes in await found(reader)
        await spare.drop(old.collection)
        await spare.close()


async def test_who_writes_to_what_was_removed_is_fenced(place: Place) -> None:
    """When the old collection is gone, writing to it is no matter of waiting."""
    async with place.open() as old:
        spare = await open_store(place.url, place.alias, spare=True)
        await spare.switch(place.alias)
        await spare.drop(old.collection)
        with pytest.raises(Fenced, match="start again"):
            await old.apply(RECORDS)
        await spare.close()


async def found(store: QdrantEpisodes) -> set[bytes]:
    """Return the ids of everything that is found."""
    return {hit.point_id for hit in await store.query(EVERYTHING)}
