"""Measures the gate: names, triggers, small talk and slots, English and Chinese.

    python benchmarks/gate.py [--data FOLDER] [--json]

`--data` names a folder that holds `extraction/entities` and `extraction/memories` (dataset.jsonl,
dataset.zh.jsonl, labels.jsonl each); the sets in `benchmarks/sets` are always measured. Rules
were tuned on the first half of each set only, so "held_out" is the second half's figure.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from eunoe.infra.recogniser import TextRecogniser
from eunoe.infra.spacy import model_names
from eunoe.schemas.ports import Entity
from eunoe.streams.extraction import extract, gate

SETS = Path(__file__).parent / "sets"
CAPITALISED = re.compile(r"\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")
LENGTH_MIN = {"en": 25, "zh": 9}  # characters; the length-only baseline triggers from here on

T = TypeVar("T")
Row = dict[str, Any]
Figures = dict[str, float]
Finder = Callable[[Sequence[str]], list[list[str]]]


@dataclass(frozen=True, slots=True)
class Case:
    """A text with what should be found in it."""

    text: str
    wanted: frozenset[tuple[str, ...]]


def read(path: Path) -> list[Row]:
    """Read a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def score(pairs: Iterable[tuple[frozenset[Any], frozenset[Any]]]) -> Figures:
    """Micro precision, recall and F1 of (wanted, found) pairs."""
    hit = extra = missed = 0
    for wanted, found in pairs:
        hit += len(wanted & found)
        extra += len(found - wanted)
        missed += len(wanted - found)
    precision = hit / (hit + extra) if hit + extra else 0.0
    recall = hit / (hit + missed) if hit + missed else 0.0
    both = precision + recall
    return {
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(2 * precision * recall / both if both else 0.0, 3),
    }


def halves(items: Sequence[T]) -> dict[str, Sequence[T]]:
    """The whole set, the half that rules were tuned on, and the half that they were not."""
    middle = (len(items) + 1) // 2
    return {"all": items, "tuned": items[:middle], "held_out": items[middle:]}


def entities(cases: Sequence[Case], finder: Finder) -> dict[str, Figures]:
    """Score a finder of names: exact, case aside."""
    found = finder([case.text for case in cases])
    pairs = [
        (case.wanted, frozenset((name.lower(),) for name in names))
        for case, names in zip(cases, found, strict=True)
    ]
    return {half: score(part) for half, part in halves(pairs).items()}


def entity_cases(rows: Iterable[Row], labels: dict[str, list[Row]] | None = None) -> list[Case]:
    """Make cases of a set whose labels stand beside it or in a file of their own."""
    return [
        Case(
            row["text"],
            frozenset(
                (one["name"].lower(),) for one in (labels[row["id"]] if labels else row["entities"])
            ),
        )
        for row in rows
    ]


def names_only(recogniser: TextRecogniser) -> Finder:
    """The product's recogniser as a finder."""
    return lambda texts: [[one.name for one in found] for found in recogniser.find(texts)]


def capitalised(texts: Sequence[str]) -> list[list[str]]:
    """Baseline: every capitalised phrase is a name."""
    return [[match.group() for match in CAPITALISED.finditer(text)] for text in texts]


def rate(texts: Sequence[str], names: Sequence[Sequence[Entity]]) -> dict[str, float]:
    """Share of texts with any trigger."""
    flags = [bool(gate(text, found)) for text, found in zip(texts, names, strict=True)]
    return {half: round(sum(part) / len(part), 3) for half, part in halves(flags).items()}


def slots(rows: Sequence[Row], recogniser: TextRecogniser) -> dict[str, Figures]:
    """Score slots: name and exact value."""
    pairs = []
    for row, names in zip(rows, recogniser.find([row["text"] for row in rows]), strict=True):
        wanted = frozenset((one["slot"], one["value"]) for one in row["slots"])
        extracted = extract(row["text"], names, speaker=None, role=row["role"])
        found = frozenset(
            (one.slot, one.value) for one in extracted.statements if one.kind == "slot"
        )
        pairs.append((wanted, found))
    return {half: score(part) for half, part in halves(pairs).items()}


def measure(data: Path | None) -> dict[str, Any]:
    """Measure everything there is."""
    recogniser = TextRecogniser()
    find = names_only(recogniser)
    report: dict[str, Any] = {"entities": {}, "trigger_recall": {}, "small_talk": {}, "slots": {}}
    chinese = entity_cases(read(SETS / "entities_zh.jsonl"))
    report["entities"]["sets/entities_zh"] = {"eunoe": entities(chinese, find)}
    texts = {
        f"sets/keep_{code}": [row["text"] for row in read(SETS / f"keep_{code}.jsonl")]
        for code in ("en", "zh")
    }
    if data is not None:
        folder = data / "extraction" if (data / "extraction").is_dir() else data
        labels = {row["id"]: row["entities"] for row in read(folder / "entities/labels.jsonl")}
        for code, file in (("en", "dataset.jsonl"), ("zh", "dataset.zh.jsonl")):
            cases = entity_cases(read(folder / "entities" / file), labels)
            report["entities"][f"external/{code}"] = {
                "eunoe": entities(cases, find),
                "spacy alone": entities(cases, model_names),
                "capitals alone": entities(cases, capitalised),
            }
            texts[f"external/memories_{code}"] = [
                row["text"] for row in read(folder / "memories" / file)
            ]
    for name, kept in texts.items():
        report["trigger_recall"][name] = rate(kept, recogniser.find(kept))
    for code in ("en", "zh"):
        talk = [row["text"] for row in read(SETS / f"smalltalk_{code}.jsonl")]
        triggered = rate(talk, recogniser.find(talk))
        kept = texts[f"sets/keep_{code}"]
        long = LENGTH_MIN[code]
        report["small_talk"][f"sets/smalltalk_{code}"] = {
            "not triggered": {half: round(1 - share, 3) for half, share in triggered.items()},
            "by length alone": {
                "not triggered": round(sum(len(text) < long for text in talk) / len(talk), 3),
                "keep recall": round(sum(len(text) >= long for text in kept) / len(kept), 3),
            },
        }
        report["slots"][f"sets/slots_{code}"] = slots(
            read(SETS / f"slots_{code}.jsonl"), recogniser
        )
    return report


def show(report: dict[str, Any], depth: int = 0) -> None:
    """Print a report for people, one figure group a line."""
    for name, value in report.items():
        if isinstance(value, dict) and any(isinstance(one, dict) for one in value.values()):
            print(f"{'  ' * depth}{name}")
            show(value, depth + 1)
        elif isinstance(value, dict):
            figures = "  ".join(f"{key} {figure:.3f}" for key, figure in value.items())
            print(f"{'  ' * depth}{name:<16} {figures}")
        else:
            print(f"{'  ' * depth}{name:<16} {value:.3f}")


def headline(report: dict[str, Any]) -> dict[str, float]:
    """Return the figures that are wanted, by a short name."""
    names = {"en": "external/en", "zh": "external/zh", "zh script": "sets/entities_zh"}
    found = {
        f"entity F1 {short}": report["entities"][name]["eunoe"]["all"]["f1"]
        for short, name in names.items()
        if name in report["entities"]
    }
    for language in ("en", "zh"):
        found[f"keep recall {language}"] = report["trigger_recall"][f"sets/keep_{language}"]["all"]
        talk = report["small_talk"][f"sets/smalltalk_{language}"]
        found[f"small talk untriggered {language}"] = talk["not triggered"]["all"]
    return found


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, help="folder with extraction/entities and extraction/memories"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for a program")
    arguments = parser.parse_args()
    report = measure(arguments.data)
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False, indent=1))
    else:
        show(report)
        for name, value in headline(report).items():
            print(f"{name} {value:.3f}")


if __name__ == "__main__":
    main()
