"""The identity store on TiKV when servers and processes die, stop and come back."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from eunoe.infra.tikv_identity import TikvIdentity
from eunoe.infra.tikv_keys import Space
from eunoe.schemas.errors import Unavailable
from eunoe.schemas.ports import Applied, TurnFilter
from tests.integration.tikv_histories import turn
from tests.integration.tikv_places import new_namespace, opened
from tests.servers.minitikv import MiniTikv
from tests.support.records import ANA, BEN, EPOCH, PARTITION, erasure, gap, ident

pytestmark = pytest.mark.server

SHORT_S: Final = 1.0
PATIENT_S: Final = 60.0
COUNT: Final = 60


@pytest.fixture(name="namespace")
def make_namespace() -> str:
    """Return a namespace of the test's own."""
    return new_namespace()


@contextmanager
def applying(
    address: str, namespace: str, count: int, batch: int
) -> Iterator["subprocess.Popen[str]"]:
    """Run a process that applies turns of Ana, and kill it if it is still there at the end."""
    command = [sys.executable, "-m", "tests.integration.tikv_child", address, namespace]
    with subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
        [*command, str(count), str(batch)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


async def require_once(store: TikvIdentity, count: int = COUNT) -> None:
    """Require that the first turns of Ana have had their effects, each once."""
    names = [f"{ANA}/{number}" for number in range(count)]
    turns = await store.turns(ANA, limit=count + 1)
    assert [one.event_id for one in turns] == [ident(name) for name in names]
    assert [one.position for one in turns] == list(range(count))
    assert await store.counts(ANA) == {"turns": count, "memories": count, "slots": 1}
    assert len(await store.statements(ANA)) == count
    points = await store.points_of(ANA, TurnFilter())
    expected = [ident(f"{name}{part}").bytes for name in names for part in ("", "/1", "/m")]
    assert sorted(points) == sorted(expected)
    places = [(b"s1", number) for number in range(count)]
    assert len(await store.neighbours(ANA, places)) == count
    assert await store.applied(PARTITION) == Applied(EPOCH, count)


async def test_two_writers_at_once_are_one(tikv_address: str, namespace: str) -> None:
    """Processes that apply the same records at the same time leave each effect once."""
    with (
        applying(tikv_address, namespace, COUNT, 4) as one,
        applying(tikv_address, namespace, COUNT, 7) as other,
    ):
        assert await asyncio.to_thread(one.wait) == 0
        assert await asyncio.to_thread(other.wait) == 0
    async with opened(tikv_address, namespace) as store:
        await require_once(store)


async def test_two_stores_at_once_are_one(tikv_address: str, namespace: str) -> None:
    """A batch that is applied through several connections at once is applied once."""
    turns = [turn(number) for number in range(COUNT)]
    async with opened(tikv_address, namespace) as one, opened(tikv_address, namespace) as other:
        await asyncio.gather(*(store.apply(turns) for store in (one, other, one, other)))
        await require_once(one)
        await require_once(other)


async def test_a_late_writer_changes_nothing(tikv_address: str, namespace: str) -> None:
    """One that was held up applies what others applied long ago, and what was erased since."""
    turns = [turn(number) for number in range(8)]
    async with opened(tikv_address, namespace) as store, opened(tikv_address, namespace) as zombie:
        gone = erasure(8, [f"{ANA}/3"], gaps=(gap("s1", [3], 7),), memories=(ident(f"{ANA}/3/m"),))
        await store.apply([*turns, gone])
        before = await store.turns(ANA), await store.counts(ANA), await store.statements(ANA)
        await zombie.apply(turns[2:5])
        after = await store.turns(ANA), await store.counts(ANA), await store.statements(ANA)
        assert after == before
        assert await store.applied(PARTITION) == Applied(EPOCH, 9)


@pytest.mark.parametrize("steps", [1, 3, 6])
async def test_a_killed_writer_holds_nobody_up(
    tikv_address: str, namespace: str, steps: int
) -> None:
    """What a process that was killed left half done is dropped or finished by the next one."""
    with applying(tikv_address, namespace, COUNT, 6) as process:
        assert process.stdout is not None
        for _ in range(steps):
            process.stdout.readline()
        process.kill()
    async with opened(tikv_address, namespace, timeout_s=30.0) as store:
        await store.apply([turn(number) for number in range(COUNT)])
        await require_once(store)


async def test_a_killed_server_comes_back(own_tikv: MiniTikv, namespace: str) -> None:
    """What was applied before a crash of the server is there after it; the store reconnects."""
    turns = [turn(number) for number in range(COUNT)]
    async with opened(own_tikv.address, namespace) as store:
        await store.apply(turns[:20])
        applying_more = asyncio.ensure_future(store.apply(turns[20:]))
        await asyncio.sleep(0.02)
        own_tikv.kill()
        with pytest.raises(Unavailable, match="EUNOE_TIKV"):
            await applying_more
        with pytest.raises(Unavailable, match="EUNOE_TIKV"):
            await store.turns(ANA)
        own_tikv.start()
        assert len(await store.turns(ANA)) in {20, COUNT}, "a batch is whole or not there"
        await store.apply(turns)
        await require_once(store)


async def test_a_restarted_server_is_found_again(own_tikv: MiniTikv, namespace: str) -> None:
    """The first call after a restart finds the server, one that reads and one that writes."""
    async with (
        opened(own_tikv.address, namespace) as one,
        opened(own_tikv.address, namespace) as other,
    ):
        for number in range(3):
            await one.apply([turn(number)])
            own_tikv.stop()
            own_tikv.start()
            found = await asyncio.gather(*(other.turns(ANA) for _ in range(5)))
            assert [len(turns) for turns in found] == [number + 1] * 5


async def test_a_paused_server_is_unavailable(own_tikv: MiniTikv, namespace: str) -> None:
    """A server that doesn't answer is `Unavailable` in time, and usable when it answers again."""
    async with opened(own_tikv.address, namespace, timeout_s=SHORT_S) as store:
        await store.apply([turn(0)])
        own_tikv.pause()
        async with asyncio.timeout(PATIENT_S):
            with pytest.raises(Unavailable, match="EUNOE_CALL_TIMEOUT_S"):
                await store.turns(ANA)
            with pytest.raises(Unavailable, match="EUNOE_CALL_TIMEOUT_S"):
                await store.apply([turn(1)])
        own_tikv.resume()
        async with asyncio.timeout(PATIENT_S):
            await usable(store)
        assert len(await store.turns(ANA)) in {1, 2}
    async with opened(own_tikv.address, namespace) as store:
        await store.apply([turn(number) for number in range(COUNT)])
        await require_once(store)


async def usable(store: TikvIdentity) -> None:
    """Wait until a store answers; on a busy machine that may take a second or two."""
    while True:
        try:
            await store.owners()
        except Unavailable:
            continue
        return


async def test_a_commit_that_nobody_waits_for_is_whole(own_tikv: MiniTikv, namespace: str) -> None:
    """A pause in the middle of writing leaves all of a batch or nothing, and no other's writes."""
    turns = [turn(number) for number in range(COUNT)]
    async with (
        opened(own_tikv.address, namespace, timeout_s=SHORT_S) as store,
        opened(own_tikv.address, namespace, timeout_s=PATIENT_S) as patient,
    ):
        for start, pause_s in ((0, 0.01), (20, 0.03), (40, 0.06)):
            task = asyncio.ensure_future(store.apply(turns[start : start + 20]))
            await asyncio.sleep(pause_s)
            own_tikv.pause()
            await asyncio.wait({task}, timeout=PATIENT_S)
            own_tikv.resume()
            assert task.done()
            assert task.exception() is None or isinstance(task.exception(), Unavailable)
            await patient.apply(turns[: start + 20])
            await require_once(patient, start + 20)


async def test_a_cancelled_call_holds_nobody_up(tikv_address: str, namespace: str) -> None:
    """Whenever a call is cancelled, the next one finds all of its effects or none, at once."""
    turns = [turn(number) for number in range(COUNT)]
    async with opened(tikv_address, namespace, timeout_s=PATIENT_S) as store:
        for number, wait_s in enumerate((0, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06)):
            start = 6 * number
            task = asyncio.ensure_future(store.apply(turns[start : start + 6]))
            await asyncio.sleep(wait_s)
            task.cancel()
            await asyncio.wait({task})
            assert len(await store.turns(ANA)) in {start, start + 6}
            await store.apply(turns[: start + 6])
        await store.apply(turns)
        await require_once(store)


async def test_regions_may_split_meanwhile(own_tikv: MiniTikv, namespace: str) -> None:
    """Splits in the middle of owners' rows, while they are written, change nothing."""
    keys = Space(namespace).owner(ANA)
    turns = [turn(number) for number in range(COUNT)]
    splits = [keys.turn(30), keys.prefix, keys.place(b"s1", 20), keys.ids + b"\x80", keys.marker]
    async with opened(own_tikv.address, namespace) as store:
        for number, key in enumerate(splits):
            writing = asyncio.ensure_future(store.apply(turns[12 * number : 12 * number + 12]))
            await asyncio.to_thread(own_tikv.command, f"split {key.hex()}")
            await writing
        await require_once(store)
        await store.apply([turn(COUNT, BEN)])
        assert await store.owners() == [ANA, BEN]
