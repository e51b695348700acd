"""The embedded log: the contract, and what only a SQLite file can be asked."""

import asyncio
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

import pytest

from eunoe.infra.clock import SystemClock
from eunoe.infra.embedded import log_tables
from eunoe.infra.embedded.log import SqliteLog
from eunoe.infra.embedded.log_tables import Place, Row
from eunoe.schemas.errors import Damaged, Rejected, Unavailable
from eunoe.schemas.ports import NewRecord, Position
from eunoe.schemas.topics import Retention, Topic
from tests.contract.local_log_contract import LocalLogContract
from tests.contract.log_contract import (
    CONTRACT_PARTITIONS,
    CONTRACT_TOPICS,
    INGRESS,
    JOURNAL,
    PLAIN_INGRESS,
    SEALED_COMPACTED,
    LogContract,
    everything,
    numbered,
    own,
    values,
)
from tests.contract.log_deletion_contract import LogDeletionContract
from tests.contract.sqlite_store import SqliteStore

CHILD_TIMEOUT_S: Final = 60
SECRET: Final = b"the blue notebook lies under the stairs"
OWNER: Final = b"default/ana"


@pytest.fixture
def new_store(tmp_path: Path) -> Callable[[], SqliteStore]:
    """Return a maker of empty stores."""
    made: list[SqliteStore] = []

    def make() -> SqliteStore:
        made.append(SqliteStore(tmp_path / f"store {len(made)}"))
        return made[-1]

    return make


@pytest.fixture
def store(new_store: Callable[[], SqliteStore]) -> SqliteStore:
    """Return an empty store."""
    return new_store()


@pytest.fixture
async def log(store: SqliteStore) -> AsyncIterator[SqliteLog]:
    """Return an empty log."""
    async with store.open() as log:
        yield log


class TestSqliteLog(LocalLogContract, LogContract, LogDeletionContract):
    """The contract on SQLite."""


async def read_own(log: SqliteLog) -> list[bytes | None]:
    """Return all values of an owner's ingress records."""
    return values(await log.read(*own(log, INGRESS), 0, limit=10_000))


def back_up(path: Path, copy: Path) -> None:
    """Copy a file that is in use."""
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


# --- sealing on the disk -----------------------------------------------------------------------


async def test_sealed_values_and_headers_are_never_plain_on_disk(store: SqliteStore) -> None:
    """Neither the file nor its write-ahead log shows them, at any time."""
    async with store.open() as log:
        headers = (("subject", SECRET[::-1]),)
        for topic in (INGRESS, SEALED_COMPACTED):
            await log.append([NewRecord(topic.name, OWNER, SECRET, headers)])
            await log.append([NewRecord(topic.name, OWNER, None, headers)])
        assert SECRET not in store.raw()
        assert SECRET[::-1] not in store.raw()
        assert b"subject" not in store.raw()
        assert OWNER in store.raw()
        await log.vacuum()
        assert SECRET not in store.raw()


@pytest.mark.parametrize("way", ["delete_before", "expire", "compact"])
async def test_a_copy_of_a_deleted_record_stays_closed(store: SqliteStore, way: str) -> None:
    """Whoever copied the log's file before a deletion can't open the record after it."""
    topic = SEALED_COMPACTED if way == "compact" else INGRESS
    async with store.open() as log:
        await log.append([NewRecord(topic.name, OWNER, SECRET)])
        copy = store.folder / "copy.sqlite"
        back_up(store.path, copy)
        if way == "delete_before":
            await log.delete_before(*own(log, topic), 1)
        elif way == "expire":
            await log.expire(topic.name, datetime(2100, 1, 1, tzinfo=UTC))
        else:
            await log.append([NewRecord(topic.name, OWNER, None)])
            await log.compact(topic.name)
        assert await log.read(*own(log, topic), 0, limit=10) == []
    shutil.move(copy, store.path)
    async with store.open() as log:
        with pytest.raises(Damaged):
            await log.read(*own(log, topic), 0, limit=10)


async def test_a_sealed_value_is_bound_to_its_place(store: SqliteStore) -> None:
    """A value that somebody moved to another record of the file doesn't open there."""
    async with store.open() as log:
        await log.append([NewRecord(INGRESS.name, OWNER, SECRET)])
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE records SET key = ?", (b"default/bob",))
    connection.close()
    async with store.open() as log:
        with pytest.raises(Damaged):
            await log.read(*own(log, INGRESS), 0, limit=1)


async def test_deleted_plain_records_vanish_with_a_vacuum(store: SqliteStore) -> None:
    """After a vacuum no byte run of a deleted record is left, wherever SQLite moved its rows."""
    chance = Random(7)  # noqa: S311 - a repeatable order, no secret
    gone: list[bytes] = []
    kept: list[bytes] = []
    async with store.open() as log:
        for number in range(600):
            value = chance.randbytes(chance.choice([60, 200, 900, 5_000]))
            record = NewRecord(JOURNAL.name, b"append %d" % number, value, placed_by=b"%d" % number)
            await log.append([record])
            (gone if chance.random() < 0.4 else kept).append(value)
        named = {value: number for number, value in enumerate(gone)}
        records = await everything(log, JOURNAL)
        tombstones = [
            NewRecord(JOURNAL.name, one.key, None, placed_by=one.key.removeprefix(b"append "))
            for part in records.values()
            for one in part
            if one.value in named
        ]
        chance.shuffle(tombstones)
        for start in range(0, len(tombstones), 40):
            await log.append(tombstones[start : start + 40])
            await log.compact(JOURNAL.name)
        await log.vacuum()
        raw = store.raw()
        assert sum(map(len, (await everything(log, JOURNAL)).values())) == len(kept)
    starts = [place for value in gone for place in (0, len(value) // 2, len(value) - 16)]
    pieces = zip([value for value in gone for _ in range(3)], starts, strict=True)
    assert not [1 for value, start in pieces if value[start : start + 16] in raw]


async def test_vacuum_empties_the_write_ahead_log(store: SqliteStore) -> None:
    """After a vacuum nothing waits in the write-ahead log, and the file has shrunk."""
    async with store.open() as log:
        await log.append([NewRecord(PLAIN_INGRESS.name, OWNER, bytes(4_000)) for _ in range(500)])
        await log.delete_before(*own(log, PLAIN_INGRESS), 500)
        before = store.path.stat().st_size
        await log.vacuum()
        assert store.path.with_name("log.sqlite-wal").stat().st_size < 17_000  # one small frame
        assert store.path.stat().st_size < before / 5


async def test_a_vacuum_that_meets_a_reader_can_be_repeated(store: SqliteStore) -> None:
    """While somebody else reads the file it is Unavailable, and all is done the next time."""
    async with store.open() as log:
        await log.append([NewRecord(PLAIN_INGRESS.name, OWNER, SECRET)])
        await log._writer.run(lambda connection: connection.execute("PRAGMA busy_timeout = 10"))
        with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM records").fetchone()
            await log.delete_before(*own(log, PLAIN_INGRESS), 1)
            with pytest.raises(Unavailable, match="in use"):
                await log.vacuum()
        await log.vacuum()
        assert SECRET not in store.raw()


async def test_a_writer_elsewhere_makes_the_log_unavailable(store: SqliteStore) -> None:
    """While another process holds the file nothing is appended, and afterwards it is."""
    async with store.open() as log:
        await log._writer.run(lambda connection: connection.execute("PRAGMA busy_timeout = 10"))
        with closing(sqlite3.connect(store.path, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            with pytest.raises(Unavailable, match="another process"):
                await log.append(numbered(JOURNAL, 1))
        assert [one.offset for one in await log.append(numbered(JOURNAL, 1))] == [0]


# --- crashes -----------------------------------------------------------------------------------


def run_child(store: SqliteStore, scene: str) -> None:
    """Play a scene of `log_child` in a process that kills itself."""
    root = Path(__file__).resolve().parents[2]
    ended = subprocess.run(  # noqa: S603 - our own script, by our own interpreter
        [sys.executable, "-m", "tests.contract.log_child", str(store.folder), scene],
        cwd=root,
        env={"PYTHONPATH": f"{root}:{root / 'src'}"},
        capture_output=True,
        text=True,
        timeout=CHILD_TIMEOUT_S,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.parametrize("scene", ["appended", "seen"])
async def test_a_killed_process_loses_nothing_that_was_told(store: SqliteStore, scene: str) -> None:
    """What `append` returned for, or any read has shown, is there after a SIGKILL."""
    async with store.open() as log:
        await log.append(numbered(INGRESS, 3))
    run_child(store, scene)
    async with store.open() as log:
        assert await read_own(log) == [b"0", b"1", b"2", b"10", b"11", b"12"]


async def test_a_kill_between_keys_and_records_leaves_no_record(store: SqliteStore) -> None:
    """Such a crash leaves keys of nothing: no record, no gap, and the log goes on."""
    async with store.open() as log:
        await log.append(numbered(INGRESS, 3))
    run_child(store, "sealed")
    async with store.open() as log:
        assert await read_own(log) == [b"0", b"1", b"2"]
        (position,) = await log.append(numbered(INGRESS, 1, 20))
        assert position.offset == 3
        assert await read_own(log) == [b"0", b"1", b"2", b"20"]


async def test_a_kill_between_deletion_and_shredding_is_made_good(store: SqliteStore) -> None:
    """Opening the log destroys the keys of records that were deleted just before a crash."""
    async with store.open() as log:
        await log.append(numbered(INGRESS, 3))
        copy = store.folder / "copy.sqlite"
        back_up(store.path, copy)
    run_child(store, "deleted")
    async with store.open() as log:
        assert await read_own(log) == [b"2"]
    shutil.move(copy, store.path)
    async with store.open() as log:
        with pytest.raises(Damaged):
            await log.read(*own(log, INGRESS), 0, limit=1)
        assert values(await log.read(*own(log, INGRESS), 2, limit=1)) == [b"2"]


# --- one transaction for many calls ------------------------------------------------------------


async def test_calls_that_wait_share_a_transaction(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many appends at the same time cost few commits, and each gets its own positions."""
    sizes: list[int] = []

    def insert(
        connection: sqlite3.Connection, rows: Sequence[Row], counters: Mapping[Place, int]
    ) -> None:
        sizes.append(len(rows))
        insert_rows(connection, rows, counters)

    insert_rows = log_tables.insert
    monkeypatch.setattr(log_tables, "insert", insert)
    calls = await asyncio.gather(
        *(log.append(numbered(INGRESS, 2, 2 * call)) for call in range(100))
    )
    assert sum(sizes) == 200
    assert len(sizes) <= 3
    offsets = [position.offset for positions in calls for position in positions]
    assert offsets == list(range(200))


async def test_a_full_disk_takes_nothing_and_heals(store: SqliteStore) -> None:
    """Every waiting call hears of a full disk; with room again, appends go on without a gap."""
    async with store.open() as log:
        await log.append(numbered(JOURNAL, 1))
        await log._writer.run(lambda connection: connection.execute("PRAGMA max_page_count = 40"))
        big = [NewRecord(JOURNAL.name, OWNER, bytes(100_000)) for _ in range(3)]
        results = await asyncio.gather(*(log.append(big) for _ in range(3)), return_exceptions=True)
        assert [type(result) for result in results] == [Unavailable] * 3
        assert "disk is full" in str(results[0])
        assert len({id(result) for result in results}) == 3
        await log._writer.run(
            lambda connection: connection.execute("PRAGMA max_page_count = 1000000")
        )
        assert [one.offset for one in await log.append(big)] == [1, 2, 3]
        assert len(await log.read(*own(log, JOURNAL), 0, limit=10)) == 4


async def test_a_cancelled_committer_leaves_nobody_waiting(log: SqliteLog) -> None:
    """If the loop ends the committer before its first step, its callers hear of it."""
    appending = asyncio.create_task(log.append(numbered(JOURNAL, 1)))
    await asyncio.sleep(0)
    committer = log._appender._committer
    assert committer is not None
    committer.cancel()
    with pytest.raises(Unavailable):
        await appending
    assert [one.offset for one in await log.append(numbered(JOURNAL, 1))] == [0]


async def test_an_unknown_outcome_is_looked_up(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the committer ends during a transaction that succeeds, no offset is used twice."""
    insert_rows = log_tables.insert
    begun, goes_on = threading.Event(), threading.Event()

    def insert(
        connection: sqlite3.Connection, rows: Sequence[Row], counters: Mapping[Place, int]
    ) -> None:
        begun.set()
        assert goes_on.wait(CHILD_TIMEOUT_S)
        insert_rows(connection, rows, counters)

    monkeypatch.setattr(log_tables, "insert", insert)
    appending = asyncio.create_task(log.append(numbered(JOURNAL, 2)))
    assert await asyncio.to_thread(begun.wait, CHILD_TIMEOUT_S)
    committer = log._appender._committer
    assert committer is not None
    committer.cancel()
    with pytest.raises(Unavailable, match="unknown"):
        await appending
    goes_on.set()
    assert [one.offset for one in await log.append(numbered(JOURNAL, 1, 2))] == [2]
    assert values(await log.read(*own(log, JOURNAL), 0, limit=9)) == [b"0", b"1", b"2"]


# --- the file ----------------------------------------------------------------------------------


async def open_with(
    store: SqliteStore, partitions: int = CONTRACT_PARTITIONS, topics: Sequence[Topic] = ()
) -> Position:
    """Open a log with other settings, append one record and close it."""
    async with store.keys() as keys:
        log = await SqliteLog.open(
            store.path,
            topics=(*CONTRACT_TOPICS, *topics),
            partitions=partitions,
            sealer=keys.sealer,
            clock=SystemClock(),
        )
        topic = (*CONTRACT_TOPICS, *topics)[-1]
        (position,) = await log.append([NewRecord(topic.name, OWNER, b"value")])
        await log.close()
    return position


@pytest.mark.parametrize("partitions", [0, CONTRACT_PARTITIONS - 1, CONTRACT_PARTITIONS + 1])
async def test_the_partition_count_is_fixed(store: SqliteStore, partitions: int) -> None:
    """Another count than the file's is refused with a sentence, and the file stays usable."""
    await open_with(store)
    with pytest.raises(Rejected, match="partition"):
        await open_with(store, partitions)
    assert (await open_with(store)).offset == 1


async def test_a_topic_can_be_added(store: SqliteStore) -> None:
    """A new version's topics are made in an old file; the others stay as they are."""
    await open_with(store)
    added = Topic("test.added.v1", "any", "any", Retention.COMPACTED, sealed_by_log=True)
    assert (await open_with(store, topics=[added])).offset == 0
    assert (await open_with(store)).offset == 1


async def test_a_newer_format_is_refused(store: SqliteStore) -> None:
    """A file of a later version is refused before anything in it is touched."""
    await open_with(store)
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(Rejected, match="format 2"):
        await open_with(store)


async def test_a_file_that_is_no_log_is_damaged(store: SqliteStore) -> None:
    """The sentence names the file's role and not what it holds."""
    store.path.write_bytes(SECRET * 200)
    with pytest.raises(Damaged, match="event log") as caught:
        await open_with(store)
    assert SECRET.decode() not in str(caught.value)


async def test_a_missing_folder_is_unavailable(store: SqliteStore) -> None:
    """A place that can't be written is no damage: it may come back."""
    shutil.rmtree(store.folder)
    with pytest.raises(Unavailable):
        await open_with(store)


@pytest.mark.parametrize("packed", [b"", b"\x00", b"\x00\x00\x00\x05abc", b"\xff\xff\xff\xff\x00"])
def test_a_record_that_is_cut_short_is_damaged(packed: bytes) -> None:
    """Lengths that reach beyond the bytes are never read as a shorter value."""
    with pytest.raises(Damaged, match="cut short"):
        log_tables.unpack(packed)


async def test_a_lost_key_is_damage(store: SqliteStore) -> None:
    """A record whose key is gone though nobody deleted it is never skipped in silence."""
    async with store.open() as log:
        await log.append(numbered(INGRESS, 3))
        place = log._place(*own(log, INGRESS))
        rows = await log._reading.run(lambda connection: log_tables.select(connection, place, 0, 9))
        key_id = rows[1].key_id
        assert key_id is not None
        await log._sealer.shred_values([key_id])
        with pytest.raises(Damaged, match="key"):
            await log.read(*own(log, INGRESS), 0, limit=10)
        assert values(await log.read(*own(log, INGRESS), 2, limit=10)) == [b"2"]


async def test_commits_are_synchronous_and_files_private(store: SqliteStore) -> None:
    """Write-ahead log, synchronous=FULL, secure_delete; no file can be read by others."""
    async with store.open() as log:
        await log.append(numbered(INGRESS, 1))
        pragmas = ("journal_mode", "synchronous", "secure_delete")
        found = await log._writer.run(
            lambda connection: [
                connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas
            ]
        )
        assert found == ["wal", 2, 1]
        modes = {stat.S_IMODE(path.stat().st_mode) for path in store.folder.iterdir()}
        assert modes == {0o600}
