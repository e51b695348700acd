"""Slots, preferences and profile fields: exact values, versioned by the order of truth.

Stored are statements; a version is its rank among them, so a statement that comes late falls
into its place, an equal value touches, and a forgotten one leaves no trace.

Delivery: pure puts by event id; the projection's marker makes a repeat harmless.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final
from uuid import UUID

import orjson

from ..schemas.ports import OwnerKeys, StatementRow, WrappedKey
from ..schemas.records import Statement, StatementKind

__all__ = [
    "MANY",
    "Version",
    "matter_hash",
    "normalise",
    "producer_hash",
    "slot_hash",
    "state",
    "versions",
]


MANY: Final = frozenset(("allergy", "language", "pet"))
"""Slots of which a person has several values at once: another value is another matter. Losing an
allergy because a second one was mentioned would be worse than keeping one too many."""


@dataclass(frozen=True, slots=True)
class Version:
    """One value of a matter, from its first statement to the next other value.

    Args:
        number: Rank in the order of truth, from 1.
        rows: Its statements, oldest first.
        current: Whether no other value came after it.
    """

    number: int
    rows: tuple[StatementRow, ...]
    current: bool

    @property
    def said_at(self) -> datetime:
        """When it was last stated."""
        return self.rows[-1].said_at

    @property
    def sources(self) -> tuple[UUID, ...]:
        """The events that state it, newest first, each once."""
        return tuple(dict.fromkeys(row.event_id for row in reversed(self.rows)))


def versions(rows: Sequence[StatementRow]) -> list[Version]:
    """Collapse the statements of one matter, in the order of truth, into versions."""
    runs = [tuple(run) for _, run in groupby(rows, key=lambda row: row.value)]
    return [Version(number, run, current=number == len(runs)) for number, run in enumerate(runs, 1)]


def normalise(text: str) -> str:
    """Bring a slot, value or subject into the form that is compared."""
    return " ".join(text.casefold().split())


def producer_hash(keys: OwnerKeys, producer_id: str) -> bytes:
    """Hash a producer's id, so that it can be looked up and not be read."""
    return keys.hash("producer", producer_id)


def slot_hash(keys: OwnerKeys, slot: str) -> bytes:
    """Return the keyed hash that finds all statements of a slot."""
    return keys.hash("slot", normalise(slot))


def matter_hash(
    keys: OwnerKeys, subject: str | None, slot: str, condition: str | None, value: str
) -> bytes:
    """Return the keyed hash of what a value is of: whose slot, under which condition.

    A slot of `MANY` has a matter for each value.
    """
    parts: Iterable[str | None] = (subject, slot, condition, *([value] if slot in MANY else ()))
    names = [None if part is None else normalise(part) for part in parts]
    return keys.hash("matter", orjson.dumps(names).decode())


def state(  # noqa: PLR0913 - the fields of a statement
    keys: OwnerKeys,
    event_id: UUID,
    *,
    kind: StatementKind,
    slot: str,
    value: str,
    subject: str | None = None,
    condition: str | None = None,
    text: str | None = None,
) -> tuple[Statement, WrappedKey]:
    """Seal a statement.

    Args:
        keys: The owner's.
        event_id: The turn or command that states it.
        kind: Slot, preference or profile field.
        slot: Its name.
        value: Exactly as stated.
        subject: Whose; None is the user.
        condition: For whom, where or when it holds.
        text: The sentence that states it.
    """
    content = {
        "subject": subject,
        "slot": slot,
        "value": value,
        "condition": condition,
        "text": text or value,
    }
    box, key = keys.seal(orjson.dumps(content), event_id)
    statement = Statement(
        kind=kind,
        slot=slot_hash(keys, slot),
        matter=matter_hash(keys, subject, slot, condition, value),
        value=keys.hash("value", normalise(value)),
        box=box,
    )
    return statement, key
