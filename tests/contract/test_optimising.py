"""Optimising the episodic store in a process of its own: what goes on, and what a crash leaves."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from eunoe.infra.embedded import episodes, optimising, shard_slots
from eunoe.infra.embedded.episodes import SHARD, EdgeEpisodes
from eunoe.infra.embedded.optimising import Optimiser
from eunoe.infra.embedded.shard_slots import SECOND, ShardCopy
from eunoe.schemas.errors import Unavailable
from eunoe.schemas.ports import Applied, EpisodicQuery, Stored
from tests.contract.episodes_contract import picture
from tests.contract.optimise_child import BEFORE, DIED, MEANWHILE, RECORDS, STEPS
from tests.support.records import ANA, BEN, DIMENSION, EPOCH, PARTITION, ident, stored, vector

ROOT: Final = Path(__file__).resolve().parents[2]
CHILD_TIMEOUT_S: Final = 60
RUN: Final = Optimiser.run


@pytest.fixture(name="folder")
def make_folder(tmp_path: Path) -> Path:
    """Make the store's folder."""
    folder = tmp_path / "episodes"
    folder.mkdir()
    return folder


@pytest.fixture(name="store")
async def open_store(folder: Path) -> AsyncIterator[EdgeEpisodes]:
    """Open a store that has applied `BEFORE`."""
    store = await EdgeEpisodes.open(folder, DIMENSION)
    await store.apply(BEFORE)
    yield store
    await store.close()


async def told(store: EdgeEpisodes) -> tuple[object, ...]:
    """Return all that a store tells of the two owners, scores rounded as segments round them."""
    turns = [ident(f"t{number}") for number in range(30)]
    hits = await store.query(EpisodicQuery(ANA, vector(1.0), (0, 1, 2), 100))
    return (
        sorted((hit.point_id, _rounded(hit.dense), _rounded(hit.sparse)) for hit in hits),
        await store.turn_boxes(ANA, turns),
        await store.memories(ANA),
        (await picture(store, BEN)),
    )


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 2)


@pytest.fixture(scope="module", name="expected")
def tell_without_optimising(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """Return what a store tells that has applied all records and was never optimised."""

    async def tell() -> tuple[object, ...]:
        store = await EdgeEpisodes.open(tmp_path_factory.mktemp("plain"), DIMENSION)
        await store.apply(RECORDS)
        answer = await told(store)
        await store.close()
        return answer

    return asyncio.run(tell())


def during(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[Optimiser], Any], *, after: bool = False
) -> None:
    """Do something just before, or after, the other process does its work."""

    async def run(optimiser: Optimiser) -> None:
        if after:
            await RUN(optimiser)
        await work(optimiser)
        if not after:
            await RUN(optimiser)

    monkeypatch.setattr(Optimiser, "run", run)


def many(count: int) -> list[Stored]:
    """Make turns with chance vectors."""
    rows = np.random.default_rng(7).normal(size=(count, DIMENSION)).astype(np.float32)
    return [
        stored(100 + number, f"n{number}", chunks=[(f"n{number}", vector(*row), [number % 50])])
        for number, row in enumerate(rows)
    ]


def left(folder: Path) -> set[str]:
    """Return the names in a store's folder."""
    return {path.name for path in folder.iterdir()}


# --- what goes on ------------------------------------------------------------------------------


async def test_calls_go_on_while_another_process_optimises(
    store: EdgeEpisodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the other process's start and end the loop ticks, searches answer, turns come in."""
    turns = many(5_000)
    await store.apply(turns[:-200])
    events: list[str] = []
    optimise = asyncio.subprocess.Process.wait

    async def wait(process: asyncio.subprocess.Process) -> int:
        code = await optimise(process)
        events.append("ended")
        return code

    monkeypatch.setattr(asyncio.subprocess.Process, "wait", wait)

    async def note(_: Optimiser) -> None:
        events.append("started")

    during(monkeypatch, note)

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.005)
            events.append("tick")

    async def search() -> None:
        while True:
            assert await store.query(EpisodicQuery(ANA, vector(1.0), (1,), 10))
            events.append("search")
            await asyncio.sleep(0.01)

    async def write() -> None:
        for turn in turns[-200:]:
            await store.apply([turn])
            events.append("write")
            await asyncio.sleep(0.01)

    others = [asyncio.create_task(work()) for work in (tick, search, write)]
    await store.optimise()
    meanwhile = events[events.index("started") : events.index("ended")]
    await others.pop()
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    assert all(meanwhile.count(one) >= 10 for one in ("tick", "search", "write")), meanwhile
    boxes = await store.turn_boxes(ANA, [ident(f"n{number}") for number in range(5_000)])
    assert len(boxes) == 5_000


async def test_what_comes_meanwhile_is_not_lost(
    store: EdgeEpisodes,
    folder: Path,
    expected: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Turns, touches and a forget that come while a copy is optimised are in what replaces it."""
    during(monkeypatch, lambda _: store.apply(MEANWHILE))
    monkeypatch.setattr(episodes, "LEVELLED_AT_A_TIME", 1)
    old = store.shard
    await store.optimise()
    assert store.shard is not old
    assert await told(store) == expected
    await store.close()
    again = await EdgeEpisodes.open(folder, DIMENSION)
    assert await told(again) == expected
    assert await again.applied(PARTITION) == Applied(EPOCH, 26)
    await again.close()


async def test_a_write_amid_the_copying_comes_after_the_copy(
    store: EdgeEpisodes, expected: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes while files are copied first lets them be copied: a copy is of one moment."""
    order: list[str] = []
    step, write = ShardCopy.step, EdgeEpisodes._write
    monkeypatch.setattr(shard_slots, "_STEP_BYTES", 1)
    writing: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()

    def slow_step(copy: ShardCopy) -> bool:
        if not writing:
            asyncio.run_coroutine_threadsafe(begin(), loop).result()
        is_done = step(copy)
        order.append("copied" if is_done else "copying")
        return is_done

    async def begin() -> None:
        writing.append(asyncio.create_task(store.apply(MEANWHILE)))
        await asyncio.sleep(0)  # it is in the thread's queue

    @wraps(write)
    def noted(*given: Any) -> None:
        order.append("written")
        write(*given)

    monkeypatch.setattr(ShardCopy, "step", slow_step)
    monkeypatch.setattr(EdgeEpisodes, "_write", noted)
    await store.optimise()
    await writing[0]
    assert order == ["copying", "written", "copied", "written"]
    assert await told(store) == expected


async def test_one_at_a_time(store: EdgeEpisodes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second call while one is at work is told so; when it is done the next one works."""

    async def again(_: Optimiser) -> None:
        with pytest.raises(Unavailable, match="optimised already"):
            await store.optimise()

    during(monkeypatch, again)
    await store.optimise()
    await store.optimise()


async def test_every_second_time_the_first_place_is_used_again(
    store: EdgeEpisodes, folder: Path
) -> None:
    """The two places take turns, and only the one that is used is there."""
    for place in (SECOND, SHARD, SECOND):
        await store.optimise()
        assert left(folder) & {SHARD, SECOND} == {place}
    await store.close()
    assert left(folder) == {SHARD, "applied.json", "seal.json"}


# --- what fails --------------------------------------------------------------------------------


async def verify_as_it_was(store: EdgeEpisodes, folder: Path, before: tuple[object, ...]) -> None:
    """Check that a store that wasn't optimised is whole, and can be optimised now."""
    assert left(folder) & {SHARD, SECOND} == {SHARD}
    assert await told(store) == before
    await store.optimise()
    assert await told(store) == before


async def test_a_flood_ends_it(
    store: EdgeEpisodes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many records meanwhile: it is given up with a sentence, and all of them are there."""
    with monkeypatch.context() as patch:
        patch.setattr(optimising, "COLLECTED_MAX", len(MEANWHILE) - 1)
        during(patch, lambda _: store.apply(MEANWHILE))
        with pytest.raises(Unavailable, match="try again when less is written"):
            await store.optimise()
    await verify_as_it_was(store, folder, await told(store))


async def test_a_copy_that_the_engine_refuses(
    store: EdgeEpisodes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the other process fails, its last line is the reason; the store is as it was."""
    before = await told(store)

    async def spoil(_: Optimiser) -> None:
        for path in (folder / SECOND).rglob("segment.json"):
            path.write_text("no segment")

    with monkeypatch.context() as patch:
        during(patch, spoil)
        with pytest.raises(Unavailable, match=r"wasn't optimised and is as it was: .+\.$"):
            await store.optimise()
    await verify_as_it_was(store, folder, before)


async def test_a_copy_that_cannot_be_made(
    store: EdgeEpisodes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If files can't be copied, the call says why and the store is as it was."""
    before = await told(store)

    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", refuse)
        with pytest.raises(Unavailable, match="No space left"):
            await store.optimise()
    await verify_as_it_was(store, folder, before)


async def test_another_process_that_takes_too_long(
    store: EdgeEpisodes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the limit the other process is ended, and the store is as it was."""
    before = await told(store)
    with monkeypatch.context() as patch:
        patch.setattr(optimising, "OPTIMISE_S_MAX", 0.0)
        with pytest.raises(Unavailable, match="took longer than 0 s"):
            await store.optimise()
    await verify_as_it_was(store, folder, before)


async def test_another_process_that_is_killed(
    store: EdgeEpisodes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever kills it leaves the store as it was; the signal is named."""
    before = await told(store)
    start = asyncio.create_subprocess_exec

    async def start_and_kill(*given: Any, **named: Any) -> asyncio.subprocess.Process:
        process = await start(*given, **named)
        os.kill(process.pid, signal.SIGBUS)
        return process

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "create_subprocess_exec", start_and_kill)
        with pytest.raises(Unavailable, match="SIGBUS"):
            await store.optimise()
    await verify_as_it_was(store, folder, before)


class Started:
    """Notes the other processes.

    Args:
        monkeypatch: To get between.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.processes: list[asyncio.subprocess.Process] = []
        self.seen = asyncio.Event()
        start = asyncio.create_subprocess_exec

        async def note(*given: Any, **named: Any) -> asyncio.subprocess.Process:
            self.processes.append(await start(*given, **named))
            self.seen.set()
            return self.processes[-1]

        monkeypatch.setattr(asyncio, "create_subprocess_exec", note)


async def test_closing_ends_it(
    store: EdgeEpisodes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is closed ends the other process, tells the caller, and leaves one shard."""
    started = Started(monkeypatch)
    optimise = asyncio.create_task(store.optimise())
    await started.seen.wait()
    await store.close()
    with pytest.raises(Unavailable, match="closed"):
        await optimise
    assert [one.returncode for one in started.processes] == [-signal.SIGKILL]
    assert left(folder) == {SHARD, "applied.json", "seal.json"}


async def test_cancelling_ends_it(
    store: EdgeEpisodes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancelled call ends the other process before it is over."""
    before = await told(store)
    started = Started(monkeypatch)
    optimise = asyncio.create_task(store.optimise())
    await started.seen.wait()
    optimise.cancel()
    with pytest.raises(asyncio.CancelledError):
        await optimise
    assert [one.returncode for one in started.processes] == [-signal.SIGKILL]
    await verify_as_it_was(store, folder, before)


def test_the_other_process_ends_with_this_one(tmp_path: Path) -> None:
    """It hears the end of the pipe from the process that started it, whatever it is doing."""
    ours, theirs = os.pipe()
    words = [sys.executable, "-c", _WAITING, str(tmp_path)]
    process = subprocess.Popen(words, stdin=ours, stdout=subprocess.PIPE)  # noqa: S603 - our own
    os.close(ours)
    assert process.stdout is not None
    assert process.stdout.readline() == b"at work\n"
    os.close(theirs)
    assert process.wait(CHILD_TIMEOUT_S) == -signal.SIGIO
    process.stdout.close()


_WAITING: Final = """
import time
from eunoe.infra.embedded import optimising
def work(_):
    print("at work", flush=True)
    time.sleep(600)
optimising.optimise_shard = work
optimising.main()
"""


# --- what a crash leaves -----------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
async def test_a_crash_at_any_step_loses_nothing(
    step: str, folder: Path, expected: tuple[object, ...]
) -> None:
    """Killed between any two steps, the store tells all once the journal's rest is applied."""
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "tests.contract.optimise_child", str(folder), step],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        timeout=CHILD_TIMEOUT_S,
        check=False,
    )
    assert ended.returncode == DIED, ended.stderr
    store = await EdgeEpisodes.open(folder, DIMENSION)
    applied = await store.applied(PARTITION)
    start = 0 if applied is None else applied.offset
    await store.apply([one for one in RECORDS if one.position.offset >= start])
    assert await told(store) == expected
    await store.close()
    assert left(folder) == {SHARD, "applied.json", "seal.json"}
