"""Points of experience, made by hand: pseudonyms that names stand for, times in minutes."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from eunoe.schemas.experience import (
    GENERAL,
    MINUTE_NS,
    ExperienceKind,
    ExperiencePoint,
    minute_ns,
)

__all__ = ["MIDNIGHT", "next_days", "point", "pseudonym"]

MIDNIGHT: Final = datetime(2024, 3, 30, tzinfo=UTC)
"""The day before the last of a month begins."""


def pseudonym(name: str) -> str:
    """Return the pseudonym that a name stands for."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def point(who: str, event: str = "e1", *, minute: int = 0, **fields: Any) -> ExperiencePoint:
    """Return a point of an event.

    Args:
        who: A name for the pseudonym.
        event: A name for the event: its place within the minute.
        minute: After `MIDNIGHT`.
        fields: Of the point; by default one search in `GENERAL`.
    """
    within = int.from_bytes(hashlib.sha256(event.encode()).digest()[:8], "big") % MINUTE_NS
    values: dict[str, Any] = {
        "domain": GENERAL,
        "kind": ExperienceKind.SEARCH,
        "pseudonym": pseudonym(who),
        "at_ns": minute_ns(MIDNIGHT + timedelta(minutes=minute)) + within,
        "count": 1,
    }
    return ExperiencePoint(**(values | fields))


def next_days(count: int) -> tuple[datetime, datetime]:
    """Return so many days from `MIDNIGHT` on."""
    return MIDNIGHT, MIDNIGHT + timedelta(days=count)
