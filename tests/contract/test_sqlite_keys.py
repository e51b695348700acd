"""The embedded key log: the contract, and what only its files can be asked."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.infra.embedded import keys as keys_module
from eunoe.infra.embedded.keys import SqliteKeys
from eunoe.infra.embedded.log_sealer import LogSealer, SealedValue
from eunoe.infra.sealing import WRAPPED_BYTES, new_key
from eunoe.schemas.errors import Damaged, Rejected, Unavailable
from eunoe.schemas.limits import LOOKED_UP_MAX
from eunoe.schemas.ports import WrappedKey
from tests.contract.keys_contract import ANA, BOB, RECORD, KeysContract, opened, sealed
from tests.contract.log_contract import each_example
from tests.contract.sqlite_store import MASTER, SqliteStore

NewStore = Callable[[], SqliteStore]
PIECE_BYTES: Final = 12
"""A run of so many equal bytes is no chance."""


@pytest.fixture
def new_key_store(tmp_path: Path) -> NewStore:
    """Return a maker of empty stores."""
    made: list[SqliteStore] = []

    def make() -> SqliteStore:
        made.append(SqliteStore(tmp_path / f"store {len(made)}"))
        return made[-1]

    return make


@pytest.fixture
def store(new_key_store: NewStore) -> SqliteStore:
    """Return an empty store."""
    return new_key_store()


@pytest.fixture
async def keys(store: SqliteStore) -> AsyncIterator[SqliteKeys]:
    """Return empty keys."""
    async with store.keys() as keys:
        yield keys


class TestSqliteKeys(KeysContract):
    """The contract on SQLite."""


def remains(store: SqliteStore, gone: list[bytes]) -> int:
    """Count how many of these bytes left a piece in any file of the store."""
    raw = store.raw()
    return sum(
        any(one[start : start + PIECE_BYTES] in raw for start in (0, 24, WRAPPED_BYTES - 12))
        for one in gone
    )


# --- nothing stays on the disk -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
async def test_shredded_keys_leave_no_bytes(store: SqliteStore, seed: int) -> None:
    """After each shred no piece of a wrapped key is left in file, write-ahead log or elsewhere.

    The keys come in batches and go in a random order, so that pages fill, split and empty.
    """
    chance = Random(seed)  # noqa: S311 - a repeatable order, no secret
    live: list[WrappedKey] = []
    gone: list[bytes] = []
    async with store.keys() as keys:
        owner = await keys.owner(ANA)
        for _ in range(12):
            made = [owner.seal(b"text", RECORD)[1] for _ in range(chance.randrange(10, 150))]
            await keys.put(made)
            live += made
            chance.shuffle(live)
            cut = chance.randrange(len(live))
            shredded, live = live[:cut], live[cut:]
            await keys.shred([one.key_id for one in shredded])
            gone += [one.wrapped for one in shredded]
            assert remains(store, gone) == 0
        assert remains(store, [one.wrapped for one in live]) == len(live)
    assert remains(store, gone) == 0


async def wrapped_keys(keys: SqliteKeys, table: str) -> list[bytes]:
    """Return every wrapped key of a table."""
    query = f"SELECT wrapped FROM {table}"  # noqa: S608 - a name from this file
    rows = await keys._database.run(lambda connection: connection.execute(query).fetchall())
    return [wrapped for (wrapped,) in rows]


async def test_shredded_shared_keys_leave_no_bytes(store: SqliteStore) -> None:
    """The same for keys that records share."""
    async with store.keys() as keys:
        names = [f"tenant/{day}" for day in range(60)]
        for name in names:
            await keys.seal_shared(name, b"text")
        query = "SELECT wrapped FROM shared_keys"
        wrapped = [
            row[0] for row in await keys._database.run(lambda c: c.execute(query).fetchall())
        ]
        assert remains(store, wrapped) == len(names)
        await keys.shred_shared(names[::2])
        assert remains(store, wrapped[::2]) == 0
        assert remains(store, wrapped[1::2]) == 30


async def test_no_key_and_no_text_is_plain_on_disk(store: SqliteStore) -> None:
    """The files hold neither the master key nor texts nor unwrapped keys."""
    async with store.keys() as keys:
        boxes = await sealed(keys, ANA, [b"the blue notebook"] * 20)
        await opened(keys, ANA, boxes)
        raw = store.raw()
        assert MASTER not in raw
        assert b"the blue notebook" not in raw
        owner = keys._owners.find([ANA])[ANA]
        assert owner._hashing not in raw


async def test_the_write_ahead_log_is_empty_after_a_shred(store: SqliteStore) -> None:
    """Older forms of a page don't wait there for the next checkpoint."""
    async with store.keys() as keys:
        (box,) = await sealed(keys, ANA, [b"text"])
        await keys.shred([box.key_id])
        assert (store.folder / "keys.sqlite-wal").stat().st_size == 0


async def test_a_shred_that_meets_a_reader_can_be_repeated(store: SqliteStore) -> None:
    """While somebody else reads the file it is Unavailable, and all is done the next time."""
    async with store.keys() as keys:
        box, wrapped = (await keys.owner(ANA)).seal(b"text", RECORD)
        await keys.put([wrapped])
        await keys._database.run(lambda connection: connection.execute("PRAGMA busy_timeout = 10"))
        path = store.folder / "keys.sqlite"
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM data_keys").fetchone()
            with pytest.raises(Unavailable, match="in use"):
                await keys.shred([box.key_id])
        await keys.shred([box.key_id])
        assert remains(store, [wrapped.wrapped]) == 0
        assert await opened(keys, ANA, [box]) == [None]


# --- beyond the port ---------------------------------------------------------------------------


async def test_keep_a_shredded_key_shredded(keys: SqliteKeys) -> None:
    """A late or repeated `put` of its wrapped key doesn't bring a shredded key back."""
    box, wrapped = (await keys.owner(ANA)).seal(b"text", RECORD)
    await keys.put([wrapped])
    await keys.shred([box.key_id])
    await keys.put([wrapped])
    assert await opened(keys, ANA, [box]) == [None]


async def test_a_wrapped_key_must_fit(keys: SqliteKeys) -> None:
    """A key of another length, or of an owner without keys, is refused with the whole batch."""
    box, good = (await keys.owner(ANA)).seal(b"text", RECORD)
    for bad in (
        WrappedKey(uuid4(), ANA, b"short"),
        WrappedKey(uuid4(), "default/nobody", bytes(WRAPPED_BYTES)),
    ):
        with pytest.raises(Rejected):
            await keys.put([good, bad])
    assert await opened(keys, ANA, [box]) == [None]


async def test_a_wrapped_key_is_bound_to_owner_and_id(store: SqliteStore) -> None:
    """Rows that somebody exchanged in the file open nothing."""
    async with store.keys() as keys:
        one, other = await sealed(keys, ANA, [b"one", b"other"])
        await keys.owner(BOB)
    with closing(sqlite3.connect(store.folder / "keys.sqlite")) as connection:
        connection.execute(
            "UPDATE data_keys SET wrapped = (SELECT wrapped FROM data_keys WHERE key_id = ?) "
            "WHERE key_id = ?",
            (one.key_id.bytes, other.key_id.bytes),
        )
        connection.execute("UPDATE data_keys SET owner = 2 WHERE key_id = ?", (one.key_id.bytes,))
        connection.commit()
    async with store.keys() as keys:
        for owner, box in [(ANA, other), (ANA, one), (BOB, one)]:
            with pytest.raises(Damaged):
                await opened(keys, owner, [box])


async def test_a_wrong_master_key_is_noticed(store: SqliteStore) -> None:
    """Another master key is refused with a sentence when the store is opened, unharmed."""
    async with store.keys() as keys:
        boxes = await sealed(keys, ANA, [b"text"])
    with pytest.raises(Unavailable, match="master key"):
        async with store.keys(new_key()):
            pass
    async with store.keys() as keys:
        assert await opened(keys, ANA, boxes) == [b"text"]


async def test_a_newer_format_is_refused(store: SqliteStore) -> None:
    """A key log of a later version isn't touched."""
    async with store.keys():
        pass
    with closing(sqlite3.connect(store.folder / "keys.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(Rejected, match="format 2"):
        async with store.keys():
            pass


async def test_a_file_that_is_no_key_log_is_damaged(store: SqliteStore) -> None:
    """The sentence names the file's role."""
    (store.folder / "keys.sqlite").write_bytes(b"something else " * 100)
    with pytest.raises(Damaged, match="key log"):
        async with store.keys():
            pass


async def test_the_cache_is_bounded(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory holds the keys that were used last; the others open as well."""
    monkeypatch.setattr(keys_module, "DATA_KEYS_CACHED_MAX", 10)
    async with store.keys() as keys:
        texts = [b"%d" % number for number in range(30)]
        boxes = await sealed(keys, ANA, texts)
        assert await opened(keys, ANA, boxes) == texts
        cached = keys._data_keys.find(box.key_id.bytes for box in boxes)
        assert set(cached) == {box.key_id.bytes for box in boxes[20:]}
        assert await opened(keys, ANA, boxes) == texts


@pytest.mark.parametrize("count", [1, LOOKED_UP_MAX + 1])
async def test_an_opening_that_was_on_its_way_remembers_nothing(
    store: SqliteStore, count: int
) -> None:
    """A key that was read before a shred isn't put into memory after it, looked up or scanned."""
    async with store.keys() as keys:
        boxes = await sealed(keys, ANA, [b"text"] * count)
        opening = asyncio.create_task(opened(keys, ANA, boxes))
        await asyncio.sleep(0)
        await keys.shred([boxes[0].key_id])
        assert (await opening)[0] in (b"text", None)
        assert keys._data_keys.find([boxes[0].key_id.bytes]) == {}


# --- the log's own keys ------------------------------------------------------------------------


async def seal_many(sealer: LogSealer, plains: list[bytes]) -> list[SealedValue]:
    """Seal values for one place."""
    return await sealer.seal_values([(plain, b"place") for plain in plains])


async def open_many(sealer: LogSealer, values: list[SealedValue]) -> list[bytes | None]:
    """Open values of one place."""
    return await sealer.open_values([(value, b"place") for value in values])


@each_example
@given(
    steps=st.lists(
        st.one_of(
            st.integers(1, 5),  # so many values are sealed
            st.sets(st.integers(0, 20), max_size=6),  # these are shredded
            st.none(),  # a restart
        ),
        max_size=20,
    )
)
def test_the_logs_values_open_until_they_are_shredded(
    new_key_store: NewStore, steps: list[int | set[int] | None]
) -> None:
    """After any sequence of seals, shreds and restarts a model agrees; no slot mixes two keys."""

    async def check() -> None:
        store = new_key_store()
        values: list[SealedValue] = []
        model: list[bytes | None] = []
        todo = list(steps)
        while todo or not values:
            async with store.keys() as keys:
                while todo and todo[0] is not None:
                    step = todo.pop(0)
                    if isinstance(step, int):
                        plains = [b"%d" % (len(model) + number) for number in range(step)]
                        values += await seal_many(keys.sealer, plains)
                        model += plains
                    elif step is not None:
                        chosen = [number for number in step if number < len(values)]
                        await keys.sealer.shred_values([values[number].key_id for number in chosen])
                        for number in chosen:
                            model[number] = None
                    assert await open_many(keys.sealer, values) == model
            if not todo:
                break
            todo.pop(0)
        async with store.keys() as keys:
            assert await open_many(keys.sealer, values) == model
        assert len({value.key_id for value in values}) == len(values)

    asyncio.run(check())


async def test_the_logs_shredded_keys_leave_no_bytes(store: SqliteStore) -> None:
    """Slots are used again, and neither shredded keys nor their traces stay in the files."""
    chance = Random(3)  # noqa: S311 - a repeatable order, no secret
    gone: set[bytes] = set()
    live: list[SealedValue] = []
    async with store.keys() as keys:
        for _ in range(15):
            live += await seal_many(keys.sealer, [b"text"] * chance.randrange(20, 120))
            chance.shuffle(live)
            cut = chance.randrange(len(live) + 1)
            shredded, live = live[:cut], live[cut:]
            before = set(await wrapped_keys(keys, "log_keys"))
            await keys.sealer.shred_values([value.key_id for value in shredded])
            gone |= before - set(await wrapped_keys(keys, "log_keys")) - {bytes(WRAPPED_BYTES)}
            assert remains(store, list(gone)) == 0
        assert len(await wrapped_keys(keys, "log_keys")) < len(gone)
        assert await open_many(keys.sealer, live) == [b"text"] * len(live)


async def test_a_failed_seal_gives_its_slots_back(store: SqliteStore) -> None:
    """After a full disk the same slots are used, and the table still only grows at its end."""
    async with store.keys() as keys:
        first = await seal_many(keys.sealer, [b"0", b"1", b"2"])
        await keys.sealer.shred_values([first[1].key_id])
        await keys._database.run(lambda c: c.execute("PRAGMA query_only = ON"))
        with pytest.raises(Unavailable):
            await seal_many(keys.sealer, [b"3"] * 5)
        await keys._database.run(lambda c: c.execute("PRAGMA query_only = OFF"))
        values = await seal_many(keys.sealer, [b"3"] * 5)
        assert [int.from_bytes(value.key_id[:8], "big") for value in values] == [1, 3, 4, 5, 6]
        assert await open_many(keys.sealer, [first[0], *values]) == [b"0", *[b"3"] * 5]


async def test_the_logs_values_are_bound_to_their_place(keys: SqliteKeys) -> None:
    """A value of another place is damage."""
    (value,) = await seal_many(keys.sealer, [b"text"])
    with pytest.raises(Damaged):
        await keys.sealer.open_values([(value, b"another place")])
    assert await seal_many(keys.sealer, []) == []
    assert await open_many(keys.sealer, []) == []
