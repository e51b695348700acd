"""Stores of another layout: an older one is emptied for the journal to fill, a newer refused."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from eunoe.infra.embedded.episodes import EdgeEpisodes
from eunoe.infra.embedded.identity import SqliteIdentity
from eunoe.infra.embedded.shard_opening import MARKERS
from eunoe.schemas.errors import Damaged, Fenced, Rejected
from eunoe.schemas.ports import Applied, EpisodicQuery, TurnFilter
from tests.support.older_layouts import (
    make_first_identity,
    set_back_identity,
    set_back_markers,
)
from tests.support.records import ANA, DIMENSION, EPOCH, PARTITION, ident, new, stored, vector

LABEL = b"label"
TURN = new(1, "t1", "m1", vector(1.0), labels=(LABEL,), confidence=0.5)


@pytest.fixture(name="folder")
def make_folder(tmp_path: Path) -> Path:
    """Make a folder for an episodic store."""
    folder = tmp_path / "episodes"
    folder.mkdir()
    return folder


async def fill(folder: Path) -> None:
    """Leave a turn and a memory in an episodic store, and close it."""
    store = await EdgeEpisodes.open(folder, DIMENSION)
    await store.apply([TURN])
    await store.close()


async def test_a_first_identity_file_is_emptied(tmp_path: Path) -> None:
    """A file of the first version opens, knows nothing and is at no position, so it is filled."""
    path = tmp_path / "identity.sqlite"
    make_first_identity(path)
    store = await SqliteIdentity.open(path)
    assert await store.applied(PARTITION) is None
    assert await store.owners() == []
    assert await store.turns(ANA) == []
    await store.apply([TURN])
    await store.close()
    store = await SqliteIdentity.open(path)
    assert await store.applied(PARTITION) == Applied(EPOCH, 2)
    assert set(await store.points_of(ANA, TurnFilter(labels=(LABEL,)))) == {
        ident("t1").bytes,
        ident("m1").bytes,
    }
    assert (await store.spots(ANA, [ident("m1").bytes]))[ident("m1").bytes].confidence == 0.5
    await store.close()


async def test_an_emptied_file_is_like_a_new_one(tmp_path: Path) -> None:
    """What is made anew has every table and index that a new file has, and its format."""
    first, fresh = tmp_path / "first.sqlite", tmp_path / "fresh.sqlite"
    make_first_identity(first)
    made = []
    for path in (first, fresh):
        await (await SqliteIdentity.open(path)).close()
        with closing(sqlite3.connect(path)) as file:
            rows = file.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name")
            made.append((rows.fetchall(), file.execute("PRAGMA user_version").fetchone()))
    assert made[0] == made[1]


async def test_who_had_an_emptied_file_open_is_fenced(tmp_path: Path) -> None:
    """A process that still holds a file that is made anew writes nothing into it."""
    path = tmp_path / "identity.sqlite"
    zombie = await SqliteIdentity.open(path)
    await zombie.apply([TURN])
    set_back_identity(path)
    store = await SqliteIdentity.open(path)
    with pytest.raises(Fenced):
        await zombie.apply([stored(2, "t2", position=1)])
    assert await store.owners() == []
    await store.close()
    await zombie.close()


async def test_a_newer_identity_file_is_refused(tmp_path: Path) -> None:
    """What a newer version wrote is left alone, with a sentence that says what to do."""
    path = tmp_path / "identity.sqlite"
    store = await SqliteIdentity.open(path)
    await store.apply([TURN])
    await store.close()
    with closing(sqlite3.connect(path)) as file:
        (version,) = file.execute("PRAGMA user_version").fetchone()
        file.execute(f"PRAGMA user_version = {version + 1}")
    with pytest.raises(Rejected, match=r"^The identity store has format .* wrote it\.$"):
        await SqliteIdentity.open(path)
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT count(*) FROM events").fetchone() == (1,)


async def test_a_first_shard_is_made_anew(folder: Path) -> None:
    """Markers in the first version's form: the store opens empty, and is filled again."""
    await fill(folder)
    set_back_markers(folder / MARKERS)
    store = await EdgeEpisodes.open(folder, DIMENSION)
    query = EpisodicQuery(ANA, vector(1.0), (1,), 10)
    assert await store.applied(PARTITION) is None
    assert await store.query(query) == []
    assert await store.memories(ANA) == []
    await store.apply([TURN])
    await store.close()
    store = await EdgeEpisodes.open(folder, DIMENSION)
    assert await store.applied(PARTITION) == Applied(EPOCH, 2)
    assert {hit.point_id for hit in await store.query(query)} == {
        ident("t1").bytes,
        ident("m1").bytes,
    }
    await store.close()


async def test_a_crash_after_that_is_mended(folder: Path, tmp_path: Path) -> None:
    """The seal of the old shard says nothing of the new one, should the process die with it."""
    await fill(folder)
    set_back_markers(folder / MARKERS)
    store = await EdgeEpisodes.open(folder, DIMENSION)
    left = shutil.copytree(folder, tmp_path / "left")
    await store.close()
    store = await EdgeEpisodes.open(left, DIMENSION)
    assert await store.applied(PARTITION) is None
    await store.close()


async def test_a_newer_shard_is_refused(folder: Path) -> None:
    """What a newer version wrote is left alone, with a sentence that says what to do."""
    await fill(folder)
    markers = json.loads((folder / MARKERS).read_bytes())
    newer = markers | {"layout": markers["layout"] + 1}
    (folder / MARKERS).write_text(json.dumps(newer), encoding="utf-8")
    with pytest.raises(Rejected, match=r"^The episodic store is of a newer version: .*\.$"):
        await EdgeEpisodes.open(folder, DIMENSION)
    (folder / MARKERS).write_text(json.dumps(markers), encoding="utf-8")
    store = await EdgeEpisodes.open(folder, DIMENSION)
    assert len(await store.memories(ANA)) == 1
    await store.close()


@pytest.mark.parametrize(
    "written", ["", "[]", '"text"', '{"layout": "2"}', '{"layout": null}', '{"layout": 2}', "{"]
)
async def test_damaged_markers_are_told(folder: Path, written: str) -> None:
    """What no version wrote is damage, whose sentence names the folder to remove."""
    (folder / MARKERS).write_text(written, encoding="utf-8")
    with pytest.raises(Damaged, match="remove the folder"):
        await EdgeEpisodes.open(folder, DIMENSION)
