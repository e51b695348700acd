"""From opened boxes to what the façade returns. Pure."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ..schemas.errors import NotFound
from ..schemas.ports import EventPlace, MemoryPoint
from ..schemas.results import Hit, Item
from ..schemas.sentences import is_quotable
from .context import OpenTurn
from .ranking_parameters import DEFAULTS
from .recall import Found

__all__ = ["memory_hit", "not_found", "tier", "turn_hit", "turn_item"]


def turn_item(place: EventPlace, turn: OpenTurn, recorded_at: datetime) -> Item:
    """Return a turn as an item."""
    payload = turn.payload
    return Item(
        id=turn.id,
        kind="turn",
        text=payload.content,
        source=turn.source,
        sources=(turn.id,),
        said_at=place.said_at,
        created_at=recorded_at,
        last_accessed=recorded_at,
        role=payload.role,
        name=payload.name,
        session_id=payload.session_id,
        metadata=payload.metadata,
    )


def turn_hit(found: Found, turn: OpenTurn) -> Hit:
    """Return a turn that a search found."""
    return Hit(
        id=turn.id,
        text=turn.payload.content,
        score=found.score,
        sources=(turn.id,),
        said_at=found.spot.said_at,
        confidence=1.0,
        kind="turn",
        tier="active",
        why=found.signals,
    )


def memory_hit(
    found: Found, memory: MemoryPoint, content: dict[str, Any], turns: dict[UUID, OpenTurn]
) -> Hit:
    """Return a memory that a search found, with the turn of its text as the closest source."""
    return Hit(
        id=str(memory.memory_id),
        text=content["text"],
        score=found.score,
        sources=tuple(
            dict.fromkeys(turns[source].id for source in memory.sources if source in turns)
        ),
        said_at=memory.said_at,
        confidence=memory.confidence,
        kind=memory.kind,
        tier=tier(memory.confidence),
        why=found.signals,
    )


def tier(confidence: float) -> str:
    """Return "active", or "faded" for a memory of low confidence."""
    return "faded" if confidence < DEFAULTS.faded_below else "active"


def not_found(ident: str | tuple[str, str]) -> NotFound:
    """Return the error for an id that this user has nothing under."""
    name = ident if isinstance(ident, str) else " / ".join(ident)
    told = f"the id {name}" if is_quotable(name) else "this id"
    return NotFound(f"This user has nothing with {told}: see list for the ids there are.")
