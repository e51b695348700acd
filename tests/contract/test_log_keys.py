"""The key log of a cluster on the embedded log: the contract without a broker."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from eunoe.infra import kafka_key_follower
from eunoe.infra.clock import SystemClock
from eunoe.infra.embedded.log import SqliteLog
from eunoe.infra.kafka_key_follower import KeyFollower
from eunoe.infra.kafka_keys import KafkaKeys
from eunoe.schemas.errors import Damaged, Rejected, Unavailable
from eunoe.schemas.ports import LogRecord, NewRecord, WrappedKey
from eunoe.schemas.topics import KEYS, MARK_HEADER
from tests.contract.keys_contract import ANA, BOB, RECORD, KeysContract, opened, sealed
from tests.contract.sqlite_store import MASTER, SqliteStore


class LogKeyStore(SqliteStore):
    """A folder with a log of one partition, which holds the keys."""

    @asynccontextmanager
    async def log(self) -> AsyncGenerator[SqliteLog, None]:
        """Open the log."""
        async with super().keys() as sealing:
            log = await SqliteLog.open(
                self.path, partitions=1, sealer=sealing.sealer, clock=SystemClock()
            )
            try:
                yield log
            finally:
                await log.close()

    @asynccontextmanager
    async def keys(self, master: bytes = MASTER) -> AsyncGenerator[KafkaKeys, None]:  # type: ignore[override]  # other keys
        """Open the keys."""
        async with self.log() as log:
            keys = await KafkaKeys.open(log, 0, master=master)
            try:
                yield keys
            finally:
                await keys.close()


@pytest.fixture
def new_key_store(tmp_path: Path) -> Callable[[], LogKeyStore]:
    """Return a maker of empty stores."""
    made: list[LogKeyStore] = []

    def make() -> LogKeyStore:
        made.append(LogKeyStore(tmp_path / f"store {len(made)}"))
        return made[-1]

    return make


@pytest.fixture
def store(new_key_store: Callable[[], LogKeyStore]) -> LogKeyStore:
    """Return an empty store."""
    return new_key_store()


@pytest.fixture
async def keys(store: LogKeyStore) -> AsyncIterator[KafkaKeys]:
    """Return empty keys."""
    async with store.keys() as keys:
        yield keys


class TestLogKeys(KeysContract):
    """The contract on records of a log."""


async def test_compacted_keys_are_the_same(store: LogKeyStore) -> None:
    """What is open doesn't change when the log drops what was overwritten or shredded."""
    async with store.log() as log:
        keys = await KafkaKeys.open(log, 0, master=MASTER)
        gone, stays = await sealed(keys, ANA, [b"gone", "留下".encode()])
        await keys.shred([gone.key_id])
        value = await keys.seal_shared("一天", b"shared")
        await keys.close()
        assert await log.compact(KEYS.name) == 2
        keys = await KafkaKeys.open(log, 0, master=MASTER)
        assert await opened(keys, ANA, [gone, stays]) == [None, "留下".encode()]
        assert await keys.open_shared("一天", value) == b"shared"
        await keys.close()


async def test_who_was_away_reads_the_keys_anew(
    store: LogKeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tombstone that came and went while nobody looked closes its box after all."""
    async with store.log() as log:
        keys = await KafkaKeys.open(log, 0, master=MASTER)
        gone, stays = await sealed(keys, ANA, [b"gone", b"stays"])
        away = KeyFollower(log, [0])
        await away.load()
        await keys.shred([gone.key_id])
        await log.compact(KEYS.name)
        await away.catch_up()
        assert away.table.data(gone.key_id) is not None  # nothing in the log tells of it any more
        monkeypatch.setattr(kafka_key_follower, "KEYS_STALE_S", -1.0)
        away.follow()
        async with asyncio.timeout(30):
            while away.table.data(gone.key_id) is not None:  # noqa: ASYNC110 - a task does it
                await asyncio.sleep(0.01)
        assert away.table.data(stays.key_id) is not None
        await away.close()
        await keys.close()


async def test_what_is_read_while_keys_are_read_anew_stays(
    store: LogKeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that comes after the new reading has read the last one isn't forgotten."""
    async with store.log() as log:
        keys = await KafkaKeys.open(log, 0, master=MASTER)
        follower = KeyFollower(log, [0])
        await follower.load()
        read = log.read
        late = []

        async def then_one_comes(
            topic: str, partition: int, offset: int, *, limit: int
        ) -> list[LogRecord]:
            found = await read(topic, partition, offset, limit=limit)
            monkeypatch.setattr(log, "read", read)
            late.extend(await sealed(keys, ANA, ["晚 late".encode()]))
            await follower.catch_up()
            assert follower.table.data(late[0].key_id) is not None
            return found

        monkeypatch.setattr(log, "read", then_one_comes)
        old = follower.table
        await follower._reload()
        assert follower.table is not old
        assert follower.table.data(late[0].key_id) is not None
        await keys.close()


async def test_another_master_key_changes_nothing(store: LogKeyStore) -> None:
    """It is told at opening, and the log is as it was."""
    async with store.keys() as keys:
        boxes = await sealed(keys, ANA, [b"text"])
    with pytest.raises(Unavailable, match="master key"):
        async with store.keys(bytes(32)):
            pass
    async with store.keys() as keys:
        assert await opened(keys, ANA, boxes) == [b"text"]


async def test_a_key_of_nobody_is_put_by_nobody(store: LogKeyStore) -> None:
    """A wrapped key of an owner without keys, or of a wrong length, is refused."""
    async with store.keys() as keys:
        _, wrapped = (await keys.owner(ANA)).seal(b"text", RECORD)
        for wrong in (
            WrappedKey(wrapped.key_id, BOB, wrapped.wrapped),
            WrappedKey(wrapped.key_id, ANA, wrapped.wrapped[:-1]),
        ):
            with pytest.raises(Rejected, match="wrapped key"):
                await keys.put([wrong])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"data/none", b"value"),
        (b"data/" + b"0" * 32, b"short"),
        (b"shared/" + b"0" * 32, b""),
        (b"owner/default/ana", bytes(119)),
        (b"owner/default/ana", None),
        ("别的".encode(), b"value"),
        (b"", b""),
    ],
)
async def test_what_isnt_a_key_is_damage(
    store: LogKeyStore, key: bytes, value: bytes | None
) -> None:
    """A foreign record in the topic is neither a key nor an erasure."""
    async with store.log() as log:
        await log.append([NewRecord(KEYS.name, key, value)])
        with pytest.raises(Damaged, match="offset 0 of partition 0"):
            await KafkaKeys.open(log, 0, master=MASTER)


async def test_marks_are_passed_over(store: LogKeyStore) -> None:
    """What the log writes for itself is no key and no damage."""
    async with store.log() as log:
        await log.append([NewRecord(KEYS.name, b"tick", b"", ((MARK_HEADER, b"tick"),))])
        keys = await KafkaKeys.open(log, 0, master=MASTER)
        boxes = await sealed(keys, ANA, [b"text"])
        assert await opened(keys, ANA, boxes) == [b"text"]
        await keys.close()
