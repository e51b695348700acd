"""Spots on SQLite: of small owners from process memory, of large ones and in old files by index."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Final

import pytest

from eunoe.infra.embedded import identity, identity_rows, identity_writes, spot_cache
from eunoe.infra.embedded.identity import SqliteIdentity
from eunoe.infra.embedded.spot_cache import SpotCache
from eunoe.schemas.limits import SMALL_TURNS_MAX
from eunoe.schemas.ports import Spot, Stored
from tests.support.records import ANA, BEN, erasure, gap, ident, stored

LONGEST_S: Final = 60.0


async def shown(store: SqliteIdentity, numbers: Sequence[int], owner: str = ANA) -> list[int]:
    """Return the positions of turns, by spots and by neighbours, which must agree."""
    asked = [ident(f"t{number}").bytes for number in numbers]
    spots = await store.spots(owner, asked)
    places = await store.places(owner, [ident(f"t{number}") for number in numbers])
    assert {point: spot.position for point, spot in spots.items()} == {
        point.bytes: place.position for point, place in places.items()
    }
    near = await store.neighbours(owner, [(spot.session, spot.position) for spot in spots.values()])
    assert set(near.values()) == set(spots.values())
    return [spots[point].position for point in asked if point in spots]


@pytest.mark.parametrize("count", [5, SMALL_TURNS_MAX, SMALL_TURNS_MAX + 1, 3 * SMALL_TURNS_MAX])
async def test_spots_follow_writes(tmp_path: Path, count: int) -> None:
    """A search after a turn or an erasure sees it, though the one before read all spots."""
    store = await SqliteIdentity.open(tmp_path / "identity.sqlite")
    await store.apply([stored(n, f"t{n}", position=n) for n in range(count)])
    assert await shown(store, range(count)) == [*range(count)]
    await store.apply([stored(count, f"t{count}", position=count)])
    assert await shown(store, [0, count]) == [0, count]
    await store.apply([erasure(count + 1, ["t1"], gaps=(gap("s1", [1], count),))])
    assert await shown(store, [0, 1, 2, count]) == [0, 1, count - 1]
    await store.close()


async def test_a_write_that_nobody_waits_for_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the one who applies is cancelled, the write goes on, and later searches see it."""
    store = await SqliteIdentity.open(tmp_path / "identity.sqlite")
    await store.apply([stored(0, "t0")])
    assert await shown(store, [0]) == [0]
    begun, go_on, write = Event(), Event(), identity_writes.write

    def slow(connection: sqlite3.Connection, record: Stored) -> None:
        begun.set()
        assert go_on.wait(LONGEST_S)
        write(connection, record)

    monkeypatch.setattr(identity, "write", slow)
    writing = asyncio.ensure_future(store.apply([stored(1, "t1", position=1)]))
    assert await asyncio.to_thread(begun.wait, LONGEST_S)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await shown(store, [0, 1]) == [0]
    go_on.set()
    await store.turns(ANA)  # in the writing thread, so after the write
    assert await shown(store, [0, 1]) == [0, 1]
    await store.close()


async def test_small_owners_never_mix(tmp_path: Path) -> None:
    """What is kept of one owner is not found under another, who may not exist."""
    store = await SqliteIdentity.open(tmp_path / "identity.sqlite")
    await store.apply([stored(0, "t0"), stored(1, "t1", owner=BEN)])
    for _ in range(2):
        assert await shown(store, [0, 1]) == [0]
        assert await shown(store, [0, 1], BEN) == [0]
        assert await shown(store, [0, 1], "default/nobody") == []
    await store.close()


async def test_an_older_file_gets_the_index(tmp_path: Path) -> None:
    """A file that was made before there was the index opens and is searched like a new one."""
    path = tmp_path / "identity.sqlite"
    store = await SqliteIdentity.open(path)
    await store.apply([stored(n, f"t{n}", position=n) for n in range(2 * SMALL_TURNS_MAX)])
    await store.close()
    with closing(sqlite3.connect(path)) as file:
        file.execute("DROP INDEX events_by_spot")
    store = await SqliteIdentity.open(path)
    assert await shown(store, [7, 200]) == [7, 200]
    await store.close()


async def test_no_look_up_walks_an_owners_rows(tmp_path: Path) -> None:
    """Looking turns up by place or by id seeks by place or by id, however many the owner has."""
    path = tmp_path / "identity.sqlite"
    await (await SqliteIdentity.open(path)).close()
    marked = identity_rows.NEIGHBOURS.format("(?,?)")
    with closing(sqlite3.connect(path)) as file:
        for statement, values, step in (
            (marked, (b"", 0, 0), "(session=? AND position=? AND owner=?)"),
            (identity_rows.SPOTS, (0, b"", 0), "events_by_spot (owner=? AND event_id=?"),
        ):
            plan = [row[3] for row in file.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
            assert any(step in line for line in plan), plan


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The owners asked about last stay, up to the bound; a write takes all."""
    monkeypatch.setattr(spot_cache, "SPOTS_CACHED_MAX", 5)
    cache = SpotCache()
    spots = {n: {bytes([n, m]): Spot(b"", b"", m, (), "") for m in range(2)} for n in range(3)}
    for number, one in spots.items():
        assert cache.find(str(number), 1) is None
        cache.remember(str(number), one)
        assert cache.find("0", 1) == spots[0]
    assert cache.find("1", 1) is None
    assert cache.find("2", 1) == spots[2]
    assert cache.find("2", 2) is None
    assert not cache.is_large("9")
    cache.remember_large("9")
    assert cache.is_large("9")
