"""Speed of remembering: turns per second to searchable, against encoder and recogniser alone.

    python benchmarks/ingest.py [--turns 10000] [--rounds 5] [--data locomo10.json] [--profile]

Both are measured in turn, on the same batches of the same texts: what the writer handed to encoder
and recogniser is recorded and replayed bare, one after the other in this process. Models are loaded
before. Prints the median of the ratios. With --profile it remembers once instead and prints the
share of each step of the writer. With --one-process the recogniser of the writer works in this
process, too: what its own process is worth is the difference.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from profiling import Profile

import eunoe
from eunoe.infra.recogniser import TextRecogniser
from eunoe.infra.recogniser_process import ProcessRecogniser
from eunoe.infra.usem3 import UseEncoder
from eunoe.infra.wiring import Tools
from eunoe.schemas.events import owner_key
from eunoe.schemas.ports import Entity, Vectors
from eunoe.streams import deduplication, episodic, projections

BATCH: Final = 500
USERS: Final = 10
PEOPLE: Final = ("Ana", "Tom", "Mira", "王芳", "李强", "Jonas")
PLACES: Final = ("Lisbon", "Oslo", "北京", "苏州", "Madrid", "Kyoto")
THINGS: Final = ("a bicycle", "the budget", "合同", "晚饭", "a violin lesson", "周报")
NAMES: Final = ("I met Ana in Oslo.", "我在北京见了安娜。")
"""Texts that have all models loaded."""
SHAPES: Final = (
    "I met {person} in {place} yesterday and we talked about {thing}.",
    "haha, that sounds lovely, tell me more",
    "我和{person}上周去了{place}，聊到{thing}。",
    "好的，没问题，我再想想。",
    "{person} will bring {thing} to {place} on Friday at {hour}.",
    "What do you think about {thing}?",
    "记住：{person}的电话要在{hour}点以后打。",
)


class RecordingEncoder(UseEncoder):
    """The packaged encoder; keeps the batches that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Record and encode."""
        self.batches.append(list(texts))
        return await super().encode(texts)


class RecordingRecogniser:
    """A recogniser; keeps the batches that it was given."""

    def __init__(self, recogniser: TextRecogniser) -> None:
        self._recogniser = recogniser
        self.batches: list[list[str]] = []

    async def recognise(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Record and recognise."""
        self.batches.append(list(texts))
        return await self._recogniser.recognise(texts)

    async def close(self) -> None:
        """Release it."""
        await self._recogniser.close()


async def watch_all(profile: Profile, memory: eunoe.Memory) -> None:
    """Count the steps of a writer, for the rest of the process."""
    runtime = memory.runtime
    engines = runtime.engines
    sealing = type(await engines.keys.owner(owner_key("default", "u0")))
    for target, name, step in (
        (engines.recogniser, "recognise", "recognise"),
        (episodic, "draft", "extract"),
        (engines.encoder, "encode", "encode"),
        (episodic, "points", "terms"),
        (engines.episodes, "nearest", "nearest"),
        (deduplication, "decide", "decide"),
        (sealing, "seal", "seal"),
        (engines.keys, "put", "seal"),
        (runtime.journal, "append", "journal"),
        (projections, "encode_record", "journal"),
        (engines.identity, "known", "identity: look up"),
        (engines.identity, "erased", "identity: look up"),
        (engines.identity, "apply", "identity: apply"),
        (engines.episodes, "apply", "episodes: apply"),
        (runtime.journal, "flush", "flush"),
        (engines.log, "commit", "commit"),
        (memory, "add", "add"),
    ):
        profile.watch(target, name, step)


def made_up(count: int) -> list[str]:
    """Make bilingual turns, always the same."""
    draw = random.Random(7)  # noqa: S311 - made-up text and no secret
    return [
        draw.choice(SHAPES).format(
            person=draw.choice(PEOPLE),
            place=draw.choice(PLACES),
            thing=draw.choice(THINGS),
            hour=draw.randrange(8, 20),
        )
        + f" ({number})"
        for number in range(count)
    ]


def said(path: Path, count: int) -> list[str]:
    """Take the turns of LoCoMo, again and again until there are enough."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    texts = [
        turn["text"] or "-"
        for row in rows
        for name, turns in row["conversation"].items()
        if name.startswith("session_") and isinstance(turns, list)
        for turn in turns
    ]
    return [texts[number % len(texts)] for number in range(count)]


async def remember(
    texts: list[str],
    encoder: RecordingEncoder,
    recogniser: RecordingRecogniser,
    profile: Profile | None = None,
) -> float:
    """Return the seconds from the first `add` to all searchable."""
    with tempfile.TemporaryDirectory(prefix="eunoe-ingest-") as scratch:
        settings = eunoe.Settings(folder=Path(scratch, "s"), config_home=Path(scratch, "c"))
        tools = Tools(encoder=encoder, recogniser=recogniser)
        async with eunoe.open(settings, serve=False, tools=tools) as memory:
            await memory.warm()
            await recogniser.recognise(NAMES)
            if profile is not None:
                await watch_all(profile, memory)
            encoder.batches.clear()
            recogniser.batches.clear()
            began = time.perf_counter()
            for start in range(0, len(texts), BATCH):
                user = f"u{start // BATCH % USERS}"
                rows = [{"role": "user", "content": text} for text in texts[start : start + BATCH]]
                await memory.add(rows, user_id=user, session_id=f"s{start}", wait=False)
            await memory.settled(timeout_s=3600)
            return time.perf_counter() - began


async def bare(encoder_batches: list[list[str]], name_batches: list[list[str]]) -> float:
    """Return the seconds that encoder and recogniser take for recorded batches."""
    encoder, recogniser = UseEncoder(), TextRecogniser()
    await encoder.encode(["warm"])
    await recogniser.recognise(NAMES)
    began = time.perf_counter()
    for names in name_batches:
        await recogniser.recognise(names)
    for texts in encoder_batches:
        await encoder.encode(texts)
    took = time.perf_counter() - began
    await encoder.close()
    await recogniser.close()
    return took


async def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the rounds."""
    texts = texts_of(arguments)
    ratios, whole_speeds, bare_speeds = [], [], []
    for number in range(arguments.rounds):
        encoder, recogniser = RecordingEncoder(), recogniser_of(arguments)
        whole = await remember(texts, encoder, recogniser)
        alone = await bare(encoder.batches, recogniser.batches)
        ratios.append(alone / whole)
        whole_speeds.append(len(texts) / whole)
        bare_speeds.append(len(texts) / alone)
        print(f"round {number + 1}: ratio {ratios[-1]:.3f}", file=sys.stderr)
    return {
        "ratio": statistics.median(ratios),
        "turns/s": statistics.median(whole_speeds),
        "bare turns/s": statistics.median(bare_speeds),
    }


async def shares(arguments: argparse.Namespace) -> dict[str, float]:
    """Remember once and return the share of each step, the largest first.

    `add` and the preparation of the next turns run beside the writer, and steps wait for each
    other's threads: the sum may pass 1.
    """
    profile = Profile()
    recogniser = recogniser_of(arguments)
    whole = await remember(texts_of(arguments), RecordingEncoder(), recogniser, profile)
    steps = sorted(profile.seconds.items(), key=lambda step: -step[1])
    parts = {name: took / whole for name, took in steps}
    return {"turns/s": arguments.turns / whole, **parts}


def recogniser_of(arguments: argparse.Namespace) -> RecordingRecogniser:
    """Return the recogniser of the writer."""
    return RecordingRecogniser(TextRecogniser() if arguments.one_process else ProcessRecogniser())


def texts_of(arguments: argparse.Namespace) -> list[str]:
    """Return the turns to remember."""
    if arguments.data is None:
        return made_up(arguments.turns)
    return said(arguments.data, arguments.turns)


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, help="locomo10.json; else made-up bilingual turns")
    parser.add_argument("--profile", action="store_true", help="the share of each step instead")
    parser.add_argument("--one-process", action="store_true", help="recognise in this process")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    figures = asyncio.run(shares(arguments) if arguments.profile else run(arguments))
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name} {value:.3f}")


if __name__ == "__main__":
    main()
