"""What grows with a store, from 1,000 to 200,000 memories of one owner; by hand, for an hour.

    python benchmarks/growth.py [--sizes 1000 5000 20000 50000 200000] [--plot growth.svg]

Stores are filled through the journal with ready vectors. At each size, as written and after
maintenance (`optimise`): how fast 200 real turns become searchable, the median of searches, the
time to open without models, the disk's bytes for each memory, and the share of the nearest 64 that
a search's dense part finds. Then what other owners' data changes: the median of a user with 1,000
memories, alone and among 200 others. Everything is printed as a ratio to the first size as well.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import qdrant_edge as edge
from filling import Loader, edge_of, words_of

import eunoe
from eunoe.infra.embedded.queries import DENSE_PARAMS
from eunoe.infra.embedded.words import WORDS
from eunoe.infra.points import DENSE
from eunoe.infra.questions import owner_filter
from eunoe.schemas.events import owner_key

SIZES: Final = (1_000, 5_000, 20_000, 50_000, 200_000)
QUESTIONS: Final = 60
WARM_UP: Final = 10
TURNS: Final = 200
NEAREST: Final = 64
OTHERS: Final = 200
VECTOR_BYTES: Final = 4
"""Of a float32, which the disk's figure is compared with."""
SEALED_BYTES: Final = 200
"""About what a sealed text of the made-up turns takes."""
PANELS: Final = ("search ms", "turns/s", "open s", "bytes/memory")
COLOURS: Final = {"as written": "#888", "optimised": "#06c"}


@dataclass(frozen=True)
class Row:
    """The figures of one size, as written or optimised."""

    memories: int
    state: str
    figures: dict[str, float]


async def measure(settings: eunoe.Settings, user: str, count: int) -> dict[str, float]:
    """Measure an open store; leaves its turns in it."""
    began = time.perf_counter()
    async with eunoe.open(settings, serve=False, process=False):
        opened = time.perf_counter() - began
    async with eunoe.open(settings, serve=False) as memory:
        await memory.warm()
        found = await search_ms(memory, user, count)
        recall = await dense_recall(memory, user)
        name = f"new{time.time_ns()}"
        texts = [{"content": " ".join(words_of(name, n))} for n in range(2 * TURNS)]
        await memory.add(texts[:TURNS], user_id=user)
        began = time.perf_counter()
        await memory.add(texts[TURNS:], user_id=user)
        speed = TURNS / (time.perf_counter() - began)
        dimension = memory.runtime.engines.encoder.dimension
    async with eunoe.open(settings, serve=False, process=False) as memory:
        stats = await memory.stats()  # after a clean start: no write-ahead log stands open
        disk = (stats.disk_bytes or 0) / stats.turns
    least = VECTOR_BYTES * dimension + SEALED_BYTES
    return {
        "search ms": found,
        "turns/s": speed,
        "open s": opened,
        "bytes/memory": disk,
        "disk ratio": disk / least,
        "dense recall": recall,
    }


async def search_ms(memory: eunoe.Memory, user: str, count: int) -> float:
    """Return the median of searches, in milliseconds."""
    draw = random.Random(5)  # noqa: S311 - made-up text and no secret
    took = []
    for number in range(WARM_UP + QUESTIONS):
        words = draw.sample(words_of(user, draw.randrange(count)), 4)
        question = "when did we talk about " + " and the ".join(words)
        began = time.perf_counter()
        hits = await memory.search(question, user_id=user)
        if number >= WARM_UP:
            took.append(1e3 * (time.perf_counter() - began))
        assert hits, f"nothing was found for {question}"
    return statistics.median(took)


async def dense_recall(memory: eunoe.Memory, user: str) -> float:
    """Return the share of the exactly nearest points that a search's dense part finds."""
    shard = edge_of(memory).shard
    only = owner_filter(WORDS, owner_key("default", user))
    shares = []
    for number in range(20):
        vector = (await memory.runtime.engines.encoder.encode([" ".join(words_of("q", number))]))[0]
        found = [
            {str(one.id) for one in shard.query(_request(vector.tolist(), only, params))}
            for params in (DENSE_PARAMS, edge.SearchParams(exact=True))
        ]
        shares.append(len(found[0] & found[1]) / len(found[1]))
    return float(np.mean(shares))


def _request(
    vector: list[float], only: edge.Filter, params: edge.SearchParams
) -> edge.QueryRequest:
    nearest = edge.Query.Nearest(vector, using=DENSE)
    return edge.QueryRequest(query=nearest, filter=only, limit=NEAREST, params=params)


async def grow(settings: eunoe.Settings, sizes: list[int]) -> list[Row]:
    """Fill one store step by step and measure it at each."""
    rows: list[Row] = []
    filled = 0
    for size in sizes:
        async with eunoe.open(settings, serve=False, process=False) as memory:
            await Loader(memory).fill("u0", size, first=filled)
        filled = size
        for state in ("as written", "optimised"):
            if state == "optimised":
                async with eunoe.open(settings, serve=False, process=False) as memory:
                    await memory.optimise()
                    await memory.runtime.engines.log.vacuum()
            rows.append(Row(size, state, await measure(settings, "u0", size)))
            print(f"{size} {state}: {rows[-1].figures}", file=sys.stderr)
    return rows


async def among_others(scratch: Path, base: eunoe.Settings) -> dict[str, float]:
    """Compare a user alone with the same user among others."""
    took = {}
    for name, others in (("alone", 0), ("among others", OTHERS)):
        settings = replace(base, folder=scratch / name.replace(" ", "-"))
        async with eunoe.open(settings, serve=False, process=False) as memory:
            loader = Loader(memory)
            await loader.fill("u0", 1_000)
            for number in range(others):
                await loader.fill(f"other{number}", 100)
            await memory.optimise()
            await memory.warm()
            took[name] = await search_ms(memory, "u0", 1_000)
    return {**took, "ratio": took["among others"] / took["alone"]}


def table(rows: list[Row]) -> str:
    """Render the figures with their ratio to those of the first size in the same state."""
    names = list(rows[0].figures)
    lines = ["memories".rjust(9) + "  " + "state".ljust(11) + "".join(n.rjust(22) for n in names)]
    for row in rows:
        first = next(one for one in rows if one.state == row.state)
        cells = [
            f"{row.figures[n]:.3g} ({row.figures[n] / first.figures[n]:.2f} x)".rjust(22)
            for n in names
        ]
        lines.append(f"{row.memories:9d}  {row.state:11s}" + "".join(cells))
    return "\n".join(lines)


def plot(rows: list[Row]) -> str:
    """Draw each figure over the number of memories, both axes logarithmic, as an SVG."""
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="960" height="280" font-size="11">']
    for index, name in enumerate(PANELS):
        left = 240 * index + 20
        values = [row.figures[name] for row in rows]
        low, high = np.log(min(values)), np.log(max(values) * 1.05)
        start, end = np.log(rows[0].memories), np.log(rows[-1].memories)
        parts.append(
            f'<text x="{left}" y="20">{name}: {min(values):.3g} to {max(values):.3g}</text>'
        )
        for state, colour in COLOURS.items():
            points = [
                (
                    left + 190 * (np.log(row.memories) - start) / max(end - start, 1e-9),
                    250 - 210 * (np.log(row.figures[name]) - low) / max(high - low, 1e-9),
                )
                for row in rows
                if row.state == state
            ]
            line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
            parts.append(f'<polyline fill="none" stroke="{colour}" points="{line}"/>')
    legend = "   ".join(f"{state} ({colour})" for state, colour in COLOURS.items())
    span = f"{rows[0].memories:,} to {rows[-1].memories:,} memories, logarithmic axes: {legend}"
    parts.append(f'<text x="20" y="272">{span}</text></svg>')
    return "\n".join(parts)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure everything."""
    with tempfile.TemporaryDirectory(prefix="eunoe-growth-") as name:
        scratch = Path(name)
        base = eunoe.Settings(folder=scratch / "one", config_home=scratch / "config")
        others = asyncio.run(among_others(scratch, base))
        rows = asyncio.run(grow(base, sorted(arguments.sizes)))
    return {"others": others, "rows": rows}


def main() -> None:
    """Read the command line, measure, print and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="memories")
    parser.add_argument("--plot", type=Path, help="an SVG to write")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    found = run(arguments)
    if arguments.plot is not None:
        arguments.plot.write_text(plot(found["rows"]), encoding="utf-8")
    if arguments.json:
        rows = [
            {"memories": one.memories, "state": one.state, **one.figures} for one in found["rows"]
        ]
        print(json.dumps({"others": found["others"], "rows": rows}))
        return
    print(table(found["rows"]))
    print("a user with 1,000 memories, ms:", json.dumps(found["others"]))


if __name__ == "__main__":
    main()
