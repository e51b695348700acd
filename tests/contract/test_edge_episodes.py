"""The episodic store's contract on Qdrant Edge."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from eunoe.infra.embedded.episodes import EdgeEpisodes
from eunoe.schemas.errors import Unavailable
from eunoe.schemas.limits import LOOKED_UP_MAX
from eunoe.schemas.ports import Applied, EpisodicStore
from tests.contract.episodes_contract import EpisodesContract, NewStore
from tests.contract.episodes_time_contract import EpisodesTimeContract
from tests.contract.episodes_truth_contract import EpisodesTruthContract
from tests.support.records import (
    ANA,
    DIMENSION,
    EPOCH,
    PARTITION,
    erasure,
    ident,
    new,
    stored,
    vector,
)


class Place:
    """A folder with a store.

    Args:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @asynccontextmanager
    async def open(self) -> AsyncIterator[EpisodicStore]:
        """Open it."""
        self.path.mkdir(exist_ok=True)
        store = await EdgeEpisodes.open(self.path, DIMENSION)
        try:
            yield store
        finally:
            await store.close()


@pytest.fixture(name="new_store")
def make_stores(tmp_path: Path) -> NewStore:
    """Make stores, each in a folder of its own."""
    numbers = count()
    return lambda: Place(tmp_path / f"episodes-{next(numbers)}")


@pytest.fixture(name="store")
async def open_store(new_store: NewStore) -> AsyncIterator[EpisodicStore]:
    """Open a store."""
    async with new_store().open() as store:
        yield store


class TestEdgeEpisodes(EpisodesContract, EpisodesTimeContract, EpisodesTruthContract):
    """Qdrant Edge keeps the promises of `ports.EpisodicStore`."""


@pytest.mark.parametrize("count", [1, LOOKED_UP_MAX + 1])
async def test_a_look_up_never_waits_in_the_event_loop(store: EpisodicStore, count: int) -> None:
    """While the engine is at work, boxes and memories are looked up in the store's thread."""
    assert isinstance(store, EdgeEpisodes)
    await store.apply([new(1, "t1", "m1", vector(1.0))])
    turns = [ident("t1"), *(ident(f"none/{number}") for number in range(count - 1))]
    memories = [ident("m1"), *turns[1:]]
    with store._engine:
        boxes = asyncio.create_task(store.turn_boxes(ANA, turns))
        found = asyncio.create_task(store.memories(ANA, memories))
        await asyncio.sleep(0.05)
        assert not boxes.done()
        assert not found.done()
    assert set(await boxes) == {ident("t1")}
    assert [one.memory_id for one in await found] == [ident("m1")]
    assert await store.turn_boxes(ANA, turns) == boxes.result()
    assert await store.memories(ANA, memories) == found.result()


async def test_a_closed_store_looks_nothing_up(new_store: NewStore) -> None:
    """After `close` look-ups are Unavailable as everything else is."""
    async with new_store().open() as store:
        await store.apply([new(1, "t1", "m1", vector(1.0))])
    with pytest.raises(Unavailable, match="closed"):
        await store.turn_boxes(ANA, [ident("t1")])
    with pytest.raises(Unavailable, match="closed"):
        await store.memories(ANA, [ident("m1")])


async def test_a_failed_apply_moves_no_marker(store: EpisodicStore) -> None:
    """Records whose points the engine refused aren't counted as applied by a later flush."""
    await store.apply([stored(1, "t1")])
    wide = np.ones(2 * DIMENSION, dtype=np.float32)
    with pytest.raises(Unavailable):
        await store.apply([stored(2, "t2", chunks=[("t2", wide, [1])])])
    await store.flush()
    assert await store.applied(PARTITION) == Applied(EPOCH, 2)
    await store.apply([stored(2, "t2")])
    await store.flush()
    assert await store.applied(PARTITION) == Applied(EPOCH, 3)
    assert set(await store.turn_boxes(ANA, [ident("t1"), ident("t2")])) == {
        ident("t1"),
        ident("t2"),
    }


def bytes_under(folder: Path) -> bytes:
    """Return what every file under a folder holds."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


async def test_an_erased_vector_leaves_the_files(tmp_path: Path) -> None:
    """What an erased point held is overwritten at once, or when its segment is optimised again."""
    rows = np.random.default_rng(5).normal(size=(12, DIMENSION)).astype(np.float32)
    plain = [row.astype("<f2").tobytes() for row in rows]
    place = Place(tmp_path / "episodes")
    async with place.open() as store:
        turns = [
            stored(number, f"t{number}", chunks=[(f"t{number}", row, [1])])
            for number, row in enumerate(rows)
        ]
        await store.apply(turns)
        await store.flush()
        held = bytes_under(place.path)
        assert all(one in held for one in plain)
        await store.apply([erasure(12, ["t0", "t5"], points=(ident("t0"), ident("t5")))])
        await store.flush()
        held = bytes_under(place.path)
        assert [one in held for one in plain] == [number not in {0, 5} for number in range(12)]
        await store.optimise()
        await store.apply([erasure(13, ["t1"], points=(ident("t1"),))])
        await store.optimise()
    held = bytes_under(place.path)
    assert [one in held for one in plain] == [number not in {0, 1, 5} for number in range(12)]
