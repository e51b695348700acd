"""The topics table: names, keys and retention of everything that flows through the log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = [
    "COMMANDS",
    "DEAD_LETTERS",
    "INGRESS",
    "JOURNAL",
    "KEYS",
    "MARK_HEADER",
    "PARTITIONS",
    "RECALLS",
    "TOPICS",
    "TURNS",
    "WRITER_GROUP",
    "Retention",
    "Topic",
]

PARTITIONS: Final = 8
"""Partitions of every owner-keyed topic of a new embedded store; fixed for an epoch."""

WRITER_GROUP: Final = "eunoe-writer"

MARK_HEADER: Final = "eunoe-mark"
"""Header of records that a log itself needs, such as ticks; who reads a topic skips them."""


class Retention(StrEnum):
    """How long a topic keeps its records."""

    UNTIL_JOURNALED = "until-journaled"
    """No time limit; deleted below the writer's position."""
    COMPACTED = "compacted"
    """The newest record of a key stays; a tombstone removes its key."""
    TOMBSTONES_ONLY = "tombstones-only"
    """For ever, but for records whose key a tombstone names (each key is used once)."""
    WEEK = "7-days"


@dataclass(frozen=True, slots=True)
class Topic:
    """One row of the table.

    Args:
        name: Name in the log and on the wire; the version is its last part.
        key: What the record key is, in words.
        holds: What the values are, in words.
        retention: How long records stay.
        sealed_by_log: Whether an embedded log has to seal the values itself, since its
            producers don't.
    """

    name: str
    key: str
    holds: str
    retention: Retention
    sealed_by_log: bool


TURNS: Final = Topic(
    "eunoe.turns.v1",
    "tenant/owner",
    "conversation turns",
    Retention.UNTIL_JOURNALED,
    sealed_by_log=True,
)
COMMANDS: Final = Topic(
    "eunoe.commands.v1",
    "tenant/owner",
    "commands: set-timezone, forget, bind, unbind",
    Retention.UNTIL_JOURNALED,
    sealed_by_log=True,
)
JOURNAL: Final = Topic(
    "eunoe.journal.v1",
    "append id, placed by tenant/owner",
    "one record per accepted event: the event and what was decided on it, sealed",
    Retention.TOMBSTONES_ONLY,
    sealed_by_log=False,
)
KEYS: Final = Topic(
    "eunoe.keys.v1",
    "key id, placed by tenant/owner",
    "wrapped keys; embedded: a file of its own behind the keys port",
    Retention.COMPACTED,
    sealed_by_log=False,
)
DEAD_LETTERS: Final = Topic(
    "eunoe.dead-letters.v1",
    "original key",
    "original bytes sealed under a key per tenant and day, reason, attempts, first seen",
    Retention.WEEK,
    sealed_by_log=False,
)
RECALLS: Final = Topic(
    "eunoe.recalls.v1",
    "tenant/owner",
    "what searches served, ids only",
    Retention.WEEK,
    sealed_by_log=True,
)

TOPICS: Final = (TURNS, COMMANDS, JOURNAL, KEYS, DEAD_LETTERS, RECALLS)
INGRESS: Final = (TURNS, COMMANDS)
"""What the writer decides; recalls come in too, but nothing is decided on them yet."""
