"""The episodic store's contract on a Qdrant server, and what late writers can't do there."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from eunoe.infra.qdrant import QdrantEpisodes
from eunoe.schemas.errors import Damaged, Fenced
from eunoe.schemas.limits import BATCH_RECORDS_MAX, QDRANT_GRAVE_S
from eunoe.schemas.ports import Applied, EpisodicQuery
from eunoe.schemas.records import Truth
from tests.contract.episodes_contract import EpisodesContract, NewStore, picture
from tests.contract.episodes_time_contract import EpisodesTimeContract
from tests.contract.episodes_truth_contract import EpisodesTruthContract
from tests.integration.qdrant_places import Place, open_store
from tests.servers.qdrant import Qdrant
from tests.support.records import (
    ANA,
    EPOCH,
    PARTITION,
    erasure,
    ident,
    memory_put,
    new,
    stored,
    touch,
    vector,
)
from tests.support.tools import START

pytestmark = pytest.mark.server

EVERYTHING = EpisodicQuery(ANA, vector(1.0), (1, 2), 100)


@pytest.fixture(name="new_store")
async def make_stores(qdrant_url: str) -> AsyncIterator[NewStore]:
    """Make stores, each on a collection of its own."""
    places: list[Place] = []

    def make() -> Place:
        places.append(Place(qdrant_url))
        return places[-1]

    yield make
    for place in places:
        await place.remove()


@pytest.fixture(name="place")
async def make_place(qdrant_url: str) -> AsyncIterator[Place]:
    """Make a place for a store."""
    place = Place(qdrant_url)
    yield place
    await place.remove()


@pytest.fixture(name="store")
async def open_one(place: Place) -> AsyncIterator[QdrantEpisodes]:
    """Open a store."""
    async with place.open() as store:
        yield store


class TestQdrantEpisodes(EpisodesContract, EpisodesTimeContract, EpisodesTruthContract):
    """A Qdrant server keeps the promises of `ports.EpisodicStore`."""


# --- late writers ------------------------------------------------------------------------------


async def test_a_late_put_is_refused(place: Place, store: QdrantEpisodes) -> None:
    """What a later record wrote stays, when a writer comes late with an earlier one."""
    first = new(1, "t1", "m1", vector(1.0), confidence=0.1)
    put = memory_put("m1", vector(0.0, 1.0), ["t2"], confidence=0.2)
    later = erasure(5, ["t1"], points=(), memories=(ident("m1"),), puts=(put,))
    await store.apply([first, later])
    before = await picture(store, ANA)
    async with place.open() as late:
        await late.apply([first])
    assert await picture(store, ANA) == before
    assert [one.confidence for one in await store.memories(ANA)] == [0.2]


async def test_a_late_touch_is_refused(place: Place, store: QdrantEpisodes) -> None:
    """A touch that comes late changes no value and takes no truth away."""
    gone = Truth(state="superseded", changed_at=START, valid_to=START)
    touches = [
        touch(2, "t2", "m1", ["t1", "t2"], importance=0.6),
        touch(3, "t3", "m1", ["t1", "t2", "t3"], importance=0.7, truth=gone),
    ]
    await store.apply([new(1, "t1", "m1", vector(1.0)), *touches])
    before = await picture(store, ANA)
    async with place.open() as late:
        await late.apply(touches[:1])
        await late.apply([new(1, "t1", "m1", vector(1.0)), *touches[:1]])
    assert await picture(store, ANA) == before
    (memory,) = await store.memories(ANA)
    assert (memory.importance, memory.truth) == (0.7, gone)


async def test_a_late_erasure_is_refused(place: Place, store: QdrantEpisodes) -> None:
    """What was put again after an erasure isn't removed by the erasure that comes late."""
    early = erasure(4, ["t1"], points=(), memories=(ident("m1"),))
    put = memory_put("m1", vector(1.0), ["t2"])
    again = erasure(6, ["t3"], points=(), puts=(put,))
    await store.apply([new(1, "t1", "m1", vector(1.0)), early, again])
    async with place.open() as late:
        await late.apply([early])
    assert [one.memory_id for one in await store.memories(ANA)] == [ident("m1")]


async def test_nothing_rises_from_its_grave(place: Place, store: QdrantEpisodes) -> None:
    """After an erasure no earlier put and no touch brings a point back, however it comes."""
    records = [
        new(1, "t1", "m1", vector(1.0)),
        touch(2, "t2", "m1", ["t1", "t2"], truth=Truth(verified=True)),
    ]
    await store.apply([*records, erasure(3, ["t1", "t2"], memories=(ident("m1"),))])
    async with place.open() as late:
        for batch in (records, records[:1], records[1:]):
            await late.apply(batch)
        await late.apply([touch(9, "t9", "m1", ["t9"])])
    assert [one.point_id for one in await store.query(EVERYTHING)] == [ident("t9").bytes]
    assert await store.memories(ANA) == []
    assert await store.turn_boxes(ANA, [ident("t1"), ident("t2")]) == {}


async def test_a_grave_holds_nothing(place: Place, store: QdrantEpisodes) -> None:
    """Of what was erased an id and a position are left: no owner, no text, no vector, no term."""
    await store.apply([new(1, "t1", "m1", vector(1.0)), erasure(2, ["t1"])])
    (grave,) = [one for one in await place.points() if one.id == str(ident("t1"))]
    assert grave.payload == {
        "buried": START.timestamp(),
        "partition": PARTITION,
        "epoch": EPOCH,
        "applied": 2,
    }


async def test_graves_go_when_nobody_can_be_late(place: Place) -> None:
    """`optimise` removes a gravestone an hour after it was set, if the marker has passed it."""
    async with place.open() as store:
        await store.apply([new(1, "t1", "m1", vector(1.0))])
        await store.flush()
        await store.apply([erasure(2, ["t1"])])
        await store.optimise()
        assert await graves(place) == 1
        place.clock.moment += timedelta(seconds=QDRANT_GRAVE_S)
        await store.optimise()
        assert await graves(place) == 1
        await store.flush()
        place.clock.moment -= timedelta(seconds=1)
        await store.optimise()
        assert await graves(place) == 1
        place.clock.moment += timedelta(seconds=1)
        await store.optimise()
        assert await graves(place) == 0
        assert [one.memory_id for one in await store.memories(ANA)] == [ident("m1")]


async def graves(place: Place) -> int:
    """Count the gravestones of a place."""
    return sum("buried" in (one.payload or {}) for one in await place.points())


# --- markers -----------------------------------------------------------------------------------


async def test_a_marker_never_goes_back(place: Place, store: QdrantEpisodes) -> None:
    """A writer that comes late moves no marker back, and is told nothing is wrong."""
    async with place.open() as late:
        await late.apply([stored(1, "t1")])
        await store.apply([stored(1, "t1"), stored(2, "t2"), stored(3, "t3")])
        await store.flush()
        await late.flush()
        assert await late.applied(PARTITION) == Applied(EPOCH, 4)
    assert await store.applied(PARTITION) == Applied(EPOCH, 4)


async def test_another_log_is_refused(place: Place, store: QdrantEpisodes) -> None:
    """Records of another epoch are refused with a sentence, and change nothing."""
    await store.apply([stored(1, "t1")])
    await store.flush()
    async with place.open() as other:
        with pytest.raises(Damaged, match=r"filled from another log: .* EUNOE_NAMESPACE"):
            await other.apply([stored(9, "t1", epoch="epoch-2"), stored(10, "t2", epoch="epoch-2")])
    assert await store.turn_boxes(ANA, [ident("t2")]) == {}


async def test_two_logs_at_once_are_told(place: Place, store: QdrantEpisodes) -> None:
    """Of two that fill a new collection from two logs, the second is fenced at its flush."""
    async with place.open() as other:
        await store.apply([stored(1, "t1")])
        await other.apply([stored(5, "t5", epoch="epoch-2")])
        await store.flush()
        with pytest.raises(Fenced, match="start again"):
            await other.flush()
        other._pending.clear()
    assert await store.applied(PARTITION) == Applied(EPOCH, 2)


# --- round trips -------------------------------------------------------------------------------


async def test_a_batch_takes_one_request(own_qdrant: Qdrant) -> None:
    """A batch is one request, two where it touches older memories; a query is one."""
    store = await open_store(own_qdrant.url, "counted")
    await store.apply([stored(1, "t1")])
    own_qdrant.calls()
    points = "POST /collections/{name}/points"
    records = [new(n, f"t{n}", f"m{n}", vector(1.0, n)) for n in range(10, 10 + BATCH_RECORDS_MAX)]
    await store.apply(records)
    assert own_qdrant.calls() == {f"{points}/batch": 1}
    touches = [touch(100 + n, f"x{n}", f"m{n}", ["t1"]) for n in range(10, 10 + BATCH_RECORDS_MAX)]
    await store.apply(touches)
    assert own_qdrant.calls() == {points: 1, f"{points}/batch": 1}
    assert await store.query(EVERYTHING)
    assert own_qdrant.calls() == {f"{points}/query/batch": 1}
    await store.close()
