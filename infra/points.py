"""Points of the episodic store: from journal records, and back to what the port returns.

What a point holds stands here once, for the engine in the process and for the server; each client's
module only puts it into its own objects. What is asked of points stands in questions.py.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from struct import unpack
from typing import Any, Final, NamedTuple
from uuid import UUID

from ..schemas.events import iso
from ..schemas.ports import ALWAYS, MemoryPoint
from ..schemas.records import Box, Candidate, Decision, JournalRecord, Sparse, Truth

__all__ = [
    "DENSE",
    "INDEXES",
    "SUPERSEDED",
    "TENANT",
    "TERMS",
    "TRUTH",
    "TURN",
    "Change",
    "NewPoint",
    "Payload",
    "Removal",
    "Touch",
    "after_touch",
    "box_of",
    "changes_of",
    "decision_values",
    "memory_of",
    "memory_point",
    "turn_points",
]

Payload = dict[str, Any]

DENSE: Final = "dense"
TERMS: Final = "terms"
TURN: Final = "turn"
SUPERSEDED: Final = "superseded"
TENANT: Final = "owner"
"""The field whose values never mix."""
MOMENTS: Final = {
    "changed": "changed_at",
    "from": "valid_from",
    "to": "valid_to",
    "expires": "expires_at",
}
"""Moments of a memory's truth, in seconds since 1970, by their names in the payload."""
TRUTH: Final = (*MOMENTS, "state", "scope", "project", "verified", "words")
"""Fields of what doesn't hold always and for the user alone: other points lack them."""
LAST: Final = datetime.max.replace(tzinfo=UTC)
INDEXES: Final = {
    TENANT: "keyword",
    "kind": "keyword",
    "said": "float",
    "about": "float",
    "expires": "float",
    "state": "keyword",
    "from": "float",
    "to": "float",
    "project": "keyword",
    "words": "integer",
}
"""What filters ask often enough, or what is rare enough, to be worth an index; and its type."""


class NewPoint(NamedTuple):
    """A point as it is put.

    Args:
        id: Its id.
        dense: What its text means.
        indices: Terms of its text.
        weights: One per term.
        payload: What filters ask and what comes back.
    """

    id: UUID
    dense: list[float]
    indices: list[int]
    weights: list[float]
    payload: Payload


class Touch(NamedTuple):
    """New absolute values of a memory, if it is there; its text stays."""

    decision: Decision


class Removal(NamedTuple):
    """Points that vanish, and what they held with them."""

    ids: tuple[UUID, ...]


Change = NewPoint | Touch | Removal


def changes_of(record: JournalRecord) -> Iterator[Change]:
    """Yield what a record changes, in order."""
    yield from turn_points(record)
    for decision in record.decisions:
        if decision.action == "new":
            yield memory_point(record.owner, record.candidates[decision.candidate], decision)
        else:
            yield Touch(decision)
    if record.erasure is not None:
        yield Removal((*record.erasure.points, *record.erasure.memories))
        for put in record.erasure.puts:
            yield memory_point(record.owner, put.candidate, put.decision)


def turn_points(record: JournalRecord) -> Iterator[NewPoint]:
    """Yield the points of a turn's chunks."""
    if record.box is None:
        return
    for point in record.points:
        # Later chunks carry no box: hits are opened through the turn's first chunk.
        payload: Payload = {
            TENANT: record.owner,
            "kind": TURN,
            "said": record.said_at.timestamp(),
            "recorded": record.recorded_at.timestamp(),
        }
        if record.about:
            payload["about"] = [float(moment) for moment in record.about]
        if point.id == record.event_id:
            payload["box"] = _boxed(record.box)
        yield _point(point.id, point.vector, point.terms, payload)


def memory_point(owner: str, candidate: Candidate, decision: Decision) -> NewPoint:
    """Return the point of a memory."""
    payload: Payload = {
        TENANT: owner,
        "kind": candidate.kind,
        "box": _boxed(candidate.box),
        "guard": candidate.guard.hex(),
        "speaker": candidate.speaker.hex(),
        "said": decision.said_at.timestamp(),
        "recorded": decision.created_at.timestamp(),
        **decision_values(decision),
    }
    if candidate.about:
        payload["about"] = [float(moment) for moment in candidate.about]
    if decision.truth is not None and decision.truth.verified:
        payload["words"] = list(candidate.terms.indices)
    return _point(decision.memory_id, candidate.vector, candidate.terms, payload)


def after_touch(payload: Mapping[str, Any], decision: Decision, words: Sequence[int]) -> Payload:
    """Return a memory's payload after a touch.

    Args:
        payload: Before it.
        decision: The touch.
        words: The terms that the memory is found by.
    """
    stays = {name: value for name, value in payload.items() if name not in TRUTH}
    values = decision_values(decision)
    if decision.truth is not None and decision.truth.verified:
        values["words"] = list(words)
    return stays | values


def decision_values(decision: Decision) -> Payload:
    """Return the payload fields that a decision sets."""
    return {
        "sources": [str(source) for source in decision.sources],
        "said_at": iso(decision.said_at),
        "touched_at": iso(decision.touched_at),
        "created_at": iso(decision.created_at),
        "last_accessed": iso(decision.last_accessed),
        "importance": decision.importance,
        "confidence": decision.confidence,
        **(_truth_values(decision.truth) if decision.truth is not None else {}),
    }


def _point(ident: UUID, vector: bytes, terms: Sparse, payload: Payload) -> NewPoint:
    return NewPoint(ident, _floats(vector), list(terms.indices), _floats(terms.weights), payload)


def _floats(packed: bytes) -> list[float]:
    return list(unpack(f"<{len(packed) // 2}e", packed))


def _truth_values(truth: Truth) -> Payload:
    moments = {key: getattr(truth, field) for key, field in MOMENTS.items()}
    values: Payload = {key: at.timestamp() for key, at in moments.items() if at is not None}
    if truth.state != "active":
        values["state"] = truth.state
    if truth.scope != "private":
        values["scope"] = truth.scope
    if truth.project is not None:
        values["project"] = truth.project.hex()
    if truth.verified:
        values["verified"] = "yes"
    return values


def _truth_of(payload: Mapping[str, Any]) -> Truth:
    if not any(key in payload for key in TRUTH):
        return ALWAYS
    moments = {field: _moment(payload[key]) for key, field in MOMENTS.items() if key in payload}
    return Truth(
        state=payload.get("state", "active"),
        scope=payload.get("scope", "private"),
        project=bytes.fromhex(payload["project"]) if "project" in payload else None,
        verified="verified" in payload,
        **moments,
    )


def _moment(seconds: float) -> datetime:
    # The last moment there is, which may stand for ever, is no float: it was rounded up.
    return LAST if seconds >= LAST.timestamp() else datetime.fromtimestamp(seconds, UTC)


def _boxed(box: Box) -> Payload:
    return {"key": box.key_id.hex, "sealed": base64.b64encode(box.sealed).decode()}


def box_of(payload: Mapping[str, Any]) -> Box:
    """Return the box in a payload."""
    boxed = payload["box"]
    return Box(key_id=UUID(boxed["key"]), sealed=base64.b64decode(boxed["sealed"]))


def memory_of(
    ident: UUID, payload: Mapping[str, Any], dense: Sequence[float] | None
) -> MemoryPoint:
    """Return what a point says of a memory.

    Args:
        ident: The point.
        payload: Its payload.
        dense: Its vector, where it was asked for.
    """
    vector = None
    if dense is not None:
        import numpy as np  # noqa: PLC0415 - what only reads does without

        vector = np.asarray(dense, dtype=np.float32)
    times = {
        name: datetime.fromisoformat(payload[name])
        for name in ("said_at", "touched_at", "created_at", "last_accessed")
    }
    return MemoryPoint(
        memory_id=ident,
        kind=payload["kind"],
        box=box_of(payload),
        guard=bytes.fromhex(payload["guard"]),
        speaker=bytes.fromhex(payload["speaker"]),
        sources=tuple(UUID(source) for source in payload["sources"]),
        importance=payload["importance"],
        confidence=payload["confidence"],
        truth=_truth_of(payload),
        vector=vector,
        **times,
    )
