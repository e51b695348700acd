"""What commands print: aligned lines for a person, JSON for a program."""

import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from .options import Options

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..schemas.results import (
        Check,
        Context,
        DeadLetter,
        ForgetReport,
        Hit,
        Item,
        ProfileField,
        Revision,
        Stats,
    )

__all__ = [
    "check_row",
    "context_text",
    "field_row",
    "hit_row",
    "hit_row_with_why",
    "item_row",
    "item_text",
    "letter_row",
    "plain",
    "print_json",
    "print_many",
    "print_one",
    "report_text",
    "revision_row",
    "stats_text",
    "table",
]

_Model = TypeVar("_Model", bound="BaseModel")

_TURNING: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_GAP: Final = "  "
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")
_UNIT: Final = 1024


def plain(text: str) -> str:
    """Put a text on one line and take out what would steer the terminal."""
    kept = (" " if unicodedata.category(c) == "Cc" else c for c in text if c not in _TURNING)
    return " ".join("".join(kept).split())


def table(rows: Iterable[Sequence[str]]) -> str:
    """Align columns by their width on a terminal; the last one is cut to the window."""
    cleaned = [[plain(cell) for cell in row] for row in rows]
    if not cleaned:
        return ""
    widths = [max(map(_width, column)) for column in zip(*cleaned, strict=True)]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return "\n".join(_cut(_line(row, widths), room) for row in cleaned)


def print_json(value: object) -> None:
    """Print one JSON document on one line, as UTF-8 whatever the terminal's encoding."""
    import orjson  # noqa: PLC0415 - not needed by a person's --help

    click.echo(orjson.dumps(value))


def print_one(options: Options, model: "BaseModel", text: Callable[[Any], str]) -> None:
    """Print one result."""
    click.echo(model.model_dump_json().encode() if options.as_json else text(model))


def print_many(
    options: Options,
    models: Sequence[_Model],
    row: Callable[[_Model], Sequence[str]],
    *,
    nothing: str,
) -> None:
    """Print a list of results, a line each; for a person, a sentence if there are none."""
    if options.as_json:
        for model in models:
            click.echo(model.model_dump_json().encode())
    else:
        click.echo(table(map(row, models)) or nothing)


def hit_row(hit: "Hit") -> Sequence[str]:
    """Score, day, kind, sources, text."""
    kind = hit.kind if hit.tier == "active" else f"{hit.kind} ({hit.tier})"
    return f"{hit.score:.2f}", _day(hit.said_at), kind, _ids(hit.sources), hit.text


def hit_row_with_why(hit: "Hit") -> Sequence[str]:
    """Score, day, kind, sources, signals with their shares, text."""
    *cells, text = hit_row(hit)
    shares = sorted(hit.why.items(), key=lambda pair: -pair[1])
    return *cells, " ".join(f"{signal}={share:.2f}" for signal, share in shares), text


def context_text(context: "Context") -> str:
    """The block as it is: `streams.prompting` took out what would steer a terminal."""
    return context.text


def item_row(item: "Item") -> Sequence[str]:
    """Day, kind, id, text."""
    speaker = item.name or item.role
    text = f"{speaker}: {item.text}" if speaker else item.text
    return _minute(item.said_at), item.kind, item.id, text


def revision_row(revision: "Revision") -> Sequence[str]:
    """Minute, change, version, sources, text."""
    version = "" if revision.version is None else f"v{revision.version}"
    return (
        _minute(revision.at),
        revision.change,
        version,
        _ids(revision.sources),
        revision.text,
    )


def field_row(field: "ProfileField") -> Sequence[str]:
    """Slot, whose and when, version, day, sources, value."""
    name = field.slot if field.subject is None else f"{field.subject}: {field.slot}"
    held = "" if field.condition is None else f" ({field.condition})"
    return (
        name + held,
        f"v{field.version}",
        _day(field.said_at),
        _ids(field.sources),
        field.value,
    )


def check_row(check: "Check") -> Sequence[str]:
    """Verdict, name, sentence."""
    return "ok" if check.ok else "NOT OK", check.name, check.detail


def letter_row(letter: "DeadLetter") -> Sequence[str]:
    """Minute, topic, attempts, reason and, if asked for, the original."""
    original = "" if letter.original is None else f"  original: {letter.original}"
    return (
        _minute(letter.first_seen),
        letter.topic,
        f"{letter.attempts}×",
        letter.reason + original,
    )


def item_text(item: "Item") -> str:
    """Everything about one item, a line each; what is unknown is left out."""
    rows = {
        "id": item.id,
        "kind": item.kind,
        "text": item.text,
        "said": _minute(item.said_at),
        "by": " ".join(part for part in (item.name, item.role and f"({item.role})") if part),
        "session": item.session_id,
        "source": item.source,
        "rests on": _ids(item.sources),
        "before it": item.summary,
        "tags": ", ".join(item.tags),
        "importance": f"{item.importance:.2f}",
        "confidence": f"{item.confidence:.2f}",
        "recorded": _minute(item.created_at),
        "last used": _minute(item.last_accessed),
        "metadata": None if item.metadata is None else str(item.metadata),
    }
    return _facts({name: value for name, value in rows.items() if value})


def stats_text(stats: "Stats") -> str:
    """Counts, a line each."""
    rows = {
        "turns": str(stats.turns),
        "memories": str(stats.memories),
        "slots": str(stats.slots),
        "waiting": str(stats.waiting),
        "dead letters": str(stats.dead_letters),
        "users": None if stats.users is None else str(stats.users),
        "on disk": None if stats.disk_bytes is None else _size(stats.disk_bytes),
        "encoder": stats.encoder,
    }
    return _facts({name: value for name, value in rows.items() if value is not None})


def report_text(report: "ForgetReport") -> str:
    """What a forget did, a line each."""
    return _facts(
        {
            "forgotten": _ids(report.forgotten),
            "memories removed": str(report.memories_removed),
            "memories changed": str(report.memories_changed),
            "keys destroyed": str(report.keys_shredded),
            "verified absent in": ", ".join(report.verified),
        }
    )


def _facts(rows: dict[str, str]) -> str:
    # Not through `table`: the values of one thing are shown whole.
    width = max(map(len, rows))
    return "\n".join(f"{name:{width}}{_GAP}{plain(value)}" for name, value in rows.items())


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(ids)


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _size(count: float) -> str:
    for unit in _UNITS[:-1]:
        if count < _UNIT:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= _UNIT
    return f"{count:.1f} {_UNITS[-1]}"


def _width(text: str) -> int:
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    *cells, last = row
    padded = [
        cell + " " * (width - _width(cell))
        for cell, width in zip(cells, widths, strict=False)
        if width > 0
    ]
    return _GAP.join([*padded, last]).rstrip()


def _cut(line: str, room: int | None) -> str:
    if room is None or _width(line) <= room:
        return line
    taken = 0
    for place, character in enumerate(line):
        taken += _columns(character)
        if taken > room - 1:
            return line[:place] + "…"
    return line
