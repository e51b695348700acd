"""How many expressions of time are read as the convention page says, English and Chinese.

    python benchmarks/times.py [--wrong] [--json]

`sets/times_*.jsonl` is the half of a labelled table that was held out while the parser was built;
page and table were written before it and apart from it. A line is right if every interval, its
sureness, the session's ordinal and the rule are; an interval that is wrong is counted besides.

`sets/times_typed_*.jsonl` are questions as people type them, by an author who saw the page alone.
Half of them were held out while the parser was mended for the others; they are counted apart.
Sureness isn't labelled and the tense is guessed. An interval where none is meant is a false hit.
`open` marks lines of which the page said nothing then.
"""

import argparse
import json
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from eunoe.streams.times import Parsed, parse

SETS: Final = Path(__file__).parent / "sets"


def moment(text: str | None) -> datetime | None:
    """Read a time; instants are compared, so in UTC."""
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def is_right(row: dict[str, Any], parsed: Parsed) -> tuple[bool, bool]:
    """Return whether a line is right, and whether an interval in it is wrong."""
    found = [
        tuple(None if at is None else at.astimezone(UTC) for at in (one.start, one.end))
        for one in parsed.spans
    ]
    wanted = [(moment(one["start"]), moment(one["end"])) for one in row["expect"]]
    sure = all(
        read.sure == one.get("sure", read.sure)
        for read, one in zip(parsed.spans, row["expect"], strict=False)
    )
    ordinal = parsed.ordinal and {
        "unit": "session",
        "number": parsed.ordinal.number,
        "from": "end" if parsed.ordinal.from_end else "start",
    }
    rest = ordinal == row.get("ordinal") and parsed.rule == row.get("rule")
    return found == wanted and sure and rest, bool(found) and found != wanted


def rows_of(language: str, kind: str = "") -> list[dict[str, Any]]:
    """Return the lines of a set, "typed" or the first one."""
    name = f"times_{kind + '_' if kind else ''}{language}.jsonl"
    return [json.loads(line) for line in (SETS / name).read_text(encoding="utf-8").splitlines()]


def measure(language: str, rows: list[dict[str, Any]], *, tells: bool) -> dict[str, float]:
    """Read some lines.

    Args:
        language: Named in the figures.
        rows: Of one set.
        tells: Whether to print those that aren't right.
    """
    right = wrong = hits = 0
    took = []
    for row in rows:
        now, zone = datetime.fromisoformat(row["now"]), ZoneInfo(row["zone"])
        began = time.perf_counter()
        parsed = parse(row["text"], now, zone, row["tense"])
        took.append(1e3 * (time.perf_counter() - began))
        good, bad = is_right(row, parsed)
        right += good
        wrong += bad
        hits += not row["expect"] and bool(parsed.spans)
        if tells and not good:
            print(f"{language}: {row['text']}  ({row['now']})  {parsed}")
    return {
        f"right {language}": right / len(rows),
        f"interval wrong {language}": wrong / len(rows),
        f"false hits {language}": hits / len(rows),
        f"median ms {language}": statistics.median(took),
    }


def figures(*, tells: bool) -> dict[str, float]:
    """Read both sets in both languages."""
    found: dict[str, float] = {}
    for language in ("en", "zh"):
        found |= measure(language, rows_of(language), tells=tells)
    for language in ("en", "zh"):
        typed = rows_of(language, "typed")
        seen = [row for row in typed if not row["held_out"]]
        held = [row for row in typed if row["held_out"]]
        found |= measure(f"{language} typed", seen, tells=tells)
        found |= measure(f"{language} typed, held out", held, tells=tells)
    return found


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--wrong", action="store_true", help="print the lines that are not right")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    found = figures(tells=arguments.wrong)
    if arguments.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name} {value:.3f}")


if __name__ == "__main__":
    main()
