"""The experience store's contract on SQLite, and what only a file can be asked."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from eunoe.infra.embedded.experience import SqliteExperience
from eunoe.schemas.errors import Damaged, Unavailable
from eunoe.schemas.experience import DOMAINS
from eunoe.schemas.ports import ExperienceStore
from tests.contract.experience_contract import ExperienceContract
from tests.support.experiencing import next_days, point, pseudonym

CHILD = """
import asyncio, sys
from pathlib import Path
from eunoe.infra.embedded.experience import SqliteExperience
from tests.support.experiencing import point

async def main():
    store = SqliteExperience(Path(sys.argv[1]))
    for number in range(10**6):
        await store.write([point("ana", f"e{number}")])
        print(number, flush=True)

asyncio.run(main())
"""


class Place:
    """A file with a store.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @asynccontextmanager
    async def open(self) -> AsyncIterator[ExperienceStore]:
        """Open it."""
        store = SqliteExperience(self.path)
        try:
            yield store
        finally:
            await store.close()


@pytest.fixture(name="place")
def make_place(tmp_path: Path) -> Place:
    """Return an empty place."""
    return Place(tmp_path / "experience.sqlite")


@pytest.fixture(name="store")
async def open_store(place: Place) -> AsyncIterator[ExperienceStore]:
    """Open a store."""
    async with place.open() as store:
        yield store


class TestSqliteExperience(ExperienceContract):
    """SQLite keeps the promises of `ports.ExperienceStore`."""


def files(place: Place) -> bytes:
    """Return the bytes of the file and its write-ahead log."""
    return b"".join(path.read_bytes() for path in sorted(place.path.parent.iterdir()))


async def test_the_file_is_made_at_the_first_use(place: Place) -> None:
    """Who never needs it doesn't open it, and closing it then is no error."""
    async with place.open():
        assert not place.path.exists()
    async with place.open() as store:
        await store.write([point("ana")])
        assert place.path.stat().st_mode & 0o077 == 0


async def test_each_domain_has_a_table_of_its_own(place: Place) -> None:
    """A domain's points are in its table and in no other."""
    async with place.open() as store:
        await store.write([point(f"of {domain}", domain=domain) for domain in DOMAINS])
    with closing(sqlite3.connect(place.path)) as file:
        tables = [
            name
            for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if name.startswith("points_")
        ]
        found = [file.execute(f"SELECT pseudonym FROM {table}").fetchall() for table in tables]  # noqa: S608 - names of the file's own
    assert sorted(found) == sorted([[(pseudonym(f"of {domain}"),)] for domain in DOMAINS])


async def test_what_was_written_survives_a_killed_process(place: Place) -> None:
    """Each point whose write returned before SIGKILL is there."""
    child = subprocess.Popen(  # noqa: ASYNC220, S603 - our own program
        [sys.executable, "-c", CHILD, str(place.path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    with child:
        told = [int(child.stdout.readline()) for _ in range(25)][-1]
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split()
    written = int(rest[-1]) if rest else told
    async with place.open() as store:
        (total,) = await store.totals([pseudonym("ana")], *next_days(1))
    assert written + 1 <= total.count <= written + 2


async def test_an_erased_pseudonym_leaves_the_file(place: Place) -> None:
    """Neither pages nor the write-ahead log hold its bytes afterwards."""
    async with place.open() as store:
        await store.write(
            [point(name, f"e{n}", minute=n) for name in ("ana", "ben") for n in range(500)]
        )
        assert pseudonym("ana").encode() in files(place)
        await store.erase([pseudonym("ana")])
        assert pseudonym("ana").encode() not in files(place)
        assert pseudonym("ben").encode() in files(place)


async def test_another_format_makes_it_wait(place: Place) -> None:
    """A newer file is `Unavailable` with a sentence, unchanged, and used once it is ours again."""
    async with place.open() as store:
        await store.write([point("ana")])
    with closing(sqlite3.connect(place.path)) as file:
        file.execute("PRAGMA user_version = 99")
    async with place.open() as store:
        for _ in range(2):
            with pytest.raises(Unavailable, match="format 99"):
                await store.write([point("ana")])
        with closing(sqlite3.connect(place.path)) as file:
            file.execute("PRAGMA user_version = 1")
        await store.write([point("ana", "e2")])
        (total,) = await store.totals([pseudonym("ana")], *next_days(1))
        assert total.count == 2


async def test_a_malformed_file_says_what_to_do(place: Place) -> None:
    """What is no SQLite file is `Damaged`, and the sentence names it."""
    place.path.write_bytes(b"counts, but not these" * 1_000)
    async with place.open() as store:
        with pytest.raises(Damaged, match=r"remove experience\.sqlite"):
            await store.write([point("ana")])


async def test_a_folder_that_is_missing_makes_it_wait(place: Place, tmp_path: Path) -> None:
    """Where the file can't be made it is `Unavailable`; once it can, the same store goes on."""
    store = SqliteExperience(tmp_path / "later" / "experience.sqlite")
    with pytest.raises(Unavailable):
        await store.write([point("ana")])
    (tmp_path / "later").mkdir()
    await store.write([point("ana")])
    await store.close()
    assert not place.path.exists()
