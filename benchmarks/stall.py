"""How long one call of a store keeps the others waiting.

    python benchmarks/stall.py [--memories 20000] [--json]

A store of one user is filled through the journal with ready vectors. Then, during each call, a task
that asks to be woken every 5 ms and a task that searches without a break go on in the same event
loop. Printed are, for each call: how long it took, the longest pause of the ticking task beyond
its 5 ms, the longest search, the longest round of Python's garbage collector (which stops all of
the process, and is part of both), and how many ticks and searches there were. Calls that are short
are repeated for a second. The first row is the ticking task alone, with nothing open: what the
machine itself does. --freeze tells the collector to leave alone what is there after warming up.
"""

import argparse
import asyncio
import gc
import json
import random
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from filling import Loader, words_of

import eunoe

USER: Final = "u0"
TICK_S: Final = 0.005
REST_S: Final = 2.0
REPEATED_S: Final = 1.0
ADDED: Final = 500
LISTED: Final = 100


@dataclass
class Row:
    """What was seen during a call."""

    name: str
    took_s: float = 0.0
    pause_ms: float = 0.0
    search_ms: float = 0.0
    collector_ms: float = 0.0
    ticks: int = 0
    searches: int = 0


@contextmanager
def _collector(row: Row) -> Iterator[None]:
    """Note the longest round of the garbage collector."""
    began = 0.0

    def note(phase: str, _: object) -> None:
        nonlocal began
        if phase == "start":
            began = time.perf_counter()
        else:
            row.collector_ms = max(row.collector_ms, 1e3 * (time.perf_counter() - began))

    gc.callbacks.append(note)
    try:
        yield
    finally:
        gc.callbacks.remove(note)


async def _tick(row: Row) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(TICK_S)
        row.pause_ms = max(row.pause_ms, 1e3 * (time.perf_counter() - began - TICK_S))
        row.ticks += 1


async def _search(row: Row, memory: eunoe.Memory, count: int) -> None:
    draw = random.Random(3)  # noqa: S311 - made-up questions and no secret
    while True:
        question = " and the ".join(draw.sample(words_of(USER, draw.randrange(count)), 2))
        began = time.perf_counter()
        await memory.search(f"when did we talk about {question}", user_id=USER)
        row.search_ms = max(row.search_ms, 1e3 * (time.perf_counter() - began))
        row.searches += 1


@asynccontextmanager
async def _watched(name: str, *others: Callable[[Row], Awaitable[None]]) -> AsyncIterator[Row]:
    """Let others go on meanwhile."""
    row = Row(name)
    tasks = [asyncio.ensure_future(other(row)) for other in others]
    await asyncio.sleep(10 * TICK_S)
    began = time.perf_counter()
    with _collector(row):
        yield row
    row.took_s = time.perf_counter() - began
    await asyncio.sleep(10 * TICK_S)
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(outcome, asyncio.CancelledError), outcome


def calls(memory: eunoe.Memory) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return the calls that are watched, by name."""
    texts = [" ".join(words_of("added", number)) for number in range(ADDED)]
    turns = [{"content": text, "id": f"added/{n}"} for n, text in enumerate(texts)]
    return {
        "idle": lambda: asyncio.sleep(REST_S),
        f"add of {ADDED} turns": lambda: memory.add(turns, user_id=USER),
        "flush": memory.runtime.journal.flush,
        "list": lambda: _repeated(lambda: memory.list(user_id=USER, limit=LISTED)),
        "profile": lambda: _repeated(lambda: memory.profile(user_id=USER)),
        "forget of one turn": lambda: memory.forget("added/7", user_id=USER),
        "digest": lambda: memory.digest(user_id=USER),
        "stats": lambda: _repeated(lambda: memory.stats(user_id=USER)),
        "doctor": memory.doctor,
        "optimise": memory.optimise,
        "flush after one turn": lambda: _one_more(memory),
        "optimise again": memory.optimise,
    }


async def _repeated(call: Callable[[], Awaitable[object]]) -> None:
    end = time.perf_counter() + REPEATED_S
    while time.perf_counter() < end:
        await call()


async def _one_more(memory: eunoe.Memory) -> None:
    await memory.add("One more turn.", user_id=USER)
    await memory.runtime.journal.flush()


async def measure(settings: eunoe.Settings, count: int, *, freeze: bool = False) -> list[Row]:
    """Fill a store and watch every call."""
    async with eunoe.open(settings, serve=False, process=False) as memory:
        await Loader(memory).fill(USER, count)
    rows = []
    async with _watched("nothing open", _tick) as row:
        await asyncio.sleep(REST_S)
    rows.append(row)
    async with eunoe.open(settings, serve=False) as memory:
        await memory.warm()
        await memory.add("The first turn makes the writer.", user_id=USER)

        if freeze:
            gc.collect()
            gc.freeze()

        async def search(row: Row) -> None:
            await _search(row, memory, count)

        for name, call in calls(memory).items():
            async with _watched(name, _tick, search) as row:
                await call()
            rows.append(row)
    return rows


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--freeze", action="store_true", help="spare the collector the models")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eunoe-stall-") as scratch:
        settings = eunoe.Settings(folder=Path(scratch, "data"), config_home=Path(scratch, "config"))
        rows = asyncio.run(measure(settings, arguments.memories, freeze=arguments.freeze))
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    heads = ("call", "took s", "pause ms", "search ms", "collector ms", "ticks", "searches")
    print("{:22}{:>9}{:>10}{:>11}{:>14}{:>8}{:>10}".format(*heads))
    for row in rows:
        print(
            f"{row.name:22}{row.took_s:9.2f}{row.pause_ms:10.1f}{row.search_ms:11.1f}"
            f"{row.collector_ms:14.1f}{row.ticks:8}{row.searches:10}"
        )


if __name__ == "__main__":
    main()
