"""Whether a candidate is a new memory or repeats one that is there.

Same owner, kind and speaker, at or over the encoder's calibrated cosine, and no guard fired
(negation, numbers and units, dates, entities): the memory is touched. Otherwise it is new. What
the agent itself says never makes a second memory of what a person said. A memory that was
superseded, expires, is vouched for or is not the user's own is left as it is: a touch sets all
values anew, and a turn says nothing of these.

Delivery: pure; a repeated event never comes here, since the writer knows its identity.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from ..schemas.ports import ALWAYS, MemoryPoint, Vectors
from ..schemas.records import Candidate, Decision

__all__ = ["AGENT_IMPORTANCE", "IMPORTANCE", "SCORE_SLACK", "apply", "cosine", "decide", "unpack"]

IMPORTANCE: Final = 0.5
AGENT_IMPORTANCE: Final = 0.3
SCORE_SLACK: Final = 1e-3
"""How far under the threshold a store still returns memories: they are scored again exactly."""
SCORE_DIGITS: Final = 6  # engines sum in different orders; beyond this they are equal


def decide(  # noqa: PLR0913 - each is a part of the decision
    existing: Iterable[MemoryPoint],
    candidate: Candidate,
    *,
    index: int,
    event_id: UUID,
    role: str,
    said_at: datetime,
    recorded_at: datetime,
    threshold: float,
) -> Decision:
    """Decide a candidate against the owner's memories.

    Args:
        existing: Memories with vectors; at least those at or over the threshold.
        candidate: What the turn proposes.
        index: Its place in the record.
        event_id: The turn.
        role: Who spoke: user, assistant, tool or system.
        said_at: When.
        recorded_at: The writer's clock.
        threshold: Cosine from which two texts say the same.

    Returns:
        New absolute values of the memory that is put or touched.
    """
    vector = unpack(candidate.vector)
    repeated = [
        (-score, memory.memory_id, memory)
        for memory in existing
        if _same(memory, candidate, by_agent=role != "user")
        and (score := cosine(memory.vector, vector)) >= threshold
    ]
    if not repeated:
        return Decision(
            action="new",
            candidate=index,
            memory_id=candidate.memory_id,
            sources=(event_id,),
            said_at=said_at,
            touched_at=said_at,
            created_at=recorded_at,
            last_accessed=recorded_at,
            importance=IMPORTANCE if role == "user" else AGENT_IMPORTANCE,
            confidence=1.0,
        )
    closest = min(repeated, key=lambda found: found[:2])[2]
    sources = closest.sources if event_id in closest.sources else (*closest.sources, event_id)
    return Decision(
        action="touch",
        candidate=index,
        memory_id=closest.memory_id,
        sources=sources,
        said_at=closest.said_at,
        touched_at=max(closest.touched_at, said_at),
        created_at=closest.created_at,
        last_accessed=max(closest.last_accessed, recorded_at),
        importance=closest.importance,
        confidence=1.0 if role == "user" else closest.confidence,
    )


def apply(
    memories: dict[UUID, MemoryPoint], candidate: Candidate, decision: Decision
) -> MemoryPoint:
    """Put a decision into a state in memory, as the episodic store does; returns the memory."""
    if decision.action == "new":
        memory = MemoryPoint(
            memory_id=decision.memory_id,
            kind=candidate.kind,
            box=candidate.box,
            guard=candidate.guard,
            speaker=candidate.speaker,
            sources=decision.sources,
            said_at=decision.said_at,
            touched_at=decision.touched_at,
            created_at=decision.created_at,
            last_accessed=decision.last_accessed,
            importance=decision.importance,
            confidence=decision.confidence,
            vector=unpack(candidate.vector),
        )
    else:
        memory = replace(
            memories[decision.memory_id],
            sources=decision.sources,
            touched_at=decision.touched_at,
            last_accessed=decision.last_accessed,
            importance=decision.importance,
            confidence=decision.confidence,
        )
    memories[decision.memory_id] = memory
    return memory


def unpack(vector: bytes) -> Vectors:
    """Return a vector of a record as float32."""
    return np.frombuffer(vector, dtype="<f2").astype(np.float32)


def cosine(left: Vectors | None, right: Vectors) -> float:
    """Return the dot product of two L2-normalised vectors, rounded so that engines agree."""
    return 0.0 if left is None else round(float(np.dot(left, right)), SCORE_DIGITS)


def _same(memory: MemoryPoint, candidate: Candidate, *, by_agent: bool) -> bool:
    return (
        memory.truth == ALWAYS
        and memory.kind == candidate.kind
        and memory.guard == candidate.guard
        and (by_agent or memory.speaker == candidate.speaker)
    )
