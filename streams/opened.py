"""From opened boxes to what the façade returns. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from ..schemas.errors import NotFound
from ..schemas.ports import EventPlace, MemoryPoint
from ..schemas.results import Hit, Item
from ..schemas.sentences import is_quotable
from .answers import Answer
from .context import OpenTurn
from .ranking_parameters import DEFAULTS
from .recall import Found

__all__ = ["memory_hit", "not_found", "slot_hit", "tier", "turn_hit", "turn_item"]


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
        tier="superseded" if found.outdated else "active",
        why=found.signals,
        role=turn.payload.role,
        name=turn.payload.name,
    )


def memory_hit(
    found: Found, memory: MemoryPoint, content: dict[str, Any], turns: dict[UUID, OpenTurn]
) -> Hit:
    """Return a memory that a search found, with the turn of its text as the closest source."""
    said = turns.get(memory.sources[0]) if memory.sources else None
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
        role=None if said is None else said.payload.role,
        name=None if said is None else said.payload.name,
    )


def slot_hit(answer: Answer, turns: Mapping[UUID, OpenTurn]) -> Hit:
    """Return an exact answer, with the turns that state it, the newest first."""
    said = [turns[source] for source in answer.version.sources if source in turns]
    speaker = said[0].payload if said else None
    return Hit(
        id=answer.content["slot"],
        text=answer.content["value"],
        score=1.0,
        sources=tuple(turn.id for turn in said),
        said_at=answer.version.said_at,
        confidence=1.0,
        kind=answer.version.rows[-1].kind,
        tier="active",
        why={"slot": 1.0},
        role=None if speaker is None else speaker.role,
        name=None if speaker is None else speaker.name,
    )


def tier(confidence: float) -> str:
    """Return "active", or "faded" for a memory of low confidence."""
    return "faded" if confidence < DEFAULTS.faded_below else "active"


def not_found(ident: str | tuple[str, str]) -> NotFound:
    """Return the error for an id that this user has nothing under."""
    name = ident if isinstance(ident, str) else " / ".join(ident)
    told = f"the id {name}" if is_quotable(name) else "this id"
    return NotFound(f"This user has nothing with {told}: see list for the ids there are.")
