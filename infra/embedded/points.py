"""Points of the episodic store: from journal records, and back to what the port returns.

What looks points up stands here as well, and what rebuilds a shard; what asks one, in queries.py.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from struct import unpack
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge

from ...schemas.events import iso
from ...schemas.limits import SCROLL_PAGE
from ...schemas.ports import ALWAYS, MemoryPoint
from ...schemas.records import Box, Candidate, Decision, JournalRecord, Sparse, Truth

__all__ = [
    "DENSE",
    "SUPERSEDED",
    "TERMS",
    "TRUTH",
    "TURN",
    "Shard",
    "box_of",
    "boxes_in",
    "decision_values",
    "empty_point",
    "make_shard",
    "memories_in",
    "memory_of",
    "memory_point",
    "optimise_shard",
    "shard_config",
    "some_memories_in",
    "turn_points",
    "words_in",
]

Payload = dict[str, Any]
Shard = edge.EdgeShard
"""The engine, for modules that only hand it on."""
Named = dict[str, list[float] | edge.SparseVector | list[list[float]]]

DENSE: Final = "dense"
TERMS: Final = "terms"
TURN: Final = "turn"
SUPERSEDED: Final = "superseded"
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
    "owner": edge.PayloadSchemaType.Keyword,
    "kind": edge.PayloadSchemaType.Keyword,
    "said": edge.PayloadSchemaType.Float,
    "about": edge.PayloadSchemaType.Float,
    "expires": edge.PayloadSchemaType.Float,
    "state": edge.PayloadSchemaType.Keyword,
    "from": edge.PayloadSchemaType.Float,
    "to": edge.PayloadSchemaType.Float,
    "project": edge.PayloadSchemaType.Keyword,
    "words": edge.PayloadSchemaType.Integer,
}
"""What filters ask often enough, or what is rare enough, to be worth an index."""


def shard_config(dimension: int) -> edge.EdgeConfig:
    """Return how a new shard is made."""
    vectors = edge.EdgeVectorParams(
        size=dimension,
        distance=edge.Distance.Dot,
        datatype=edge.VectorStorageDatatype.Float16,
    )
    terms = edge.EdgeSparseVectorParams(
        modifier=edge.Modifier.Idf, datatype=edge.VectorStorageDatatype.Float16
    )
    return edge.EdgeConfig(
        vectors={DENSE: vectors},
        sparse_vectors={TERMS: terms},
        payload_memory=edge.Memory.Cached,
        wal_enabled=False,
        # Up to so many KiB of an owner's vectors are compared one by one, which is exact.
        hnsw_config=edge.HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=20_000),
        # Whatever is deleted vanishes when segments are optimised.
        optimizers=edge.EdgeOptimizersConfig(deleted_threshold=0.0, vacuum_min_vector_number=0),
    )


def _dense(vector: bytes) -> list[float]:
    return list(unpack(f"<{len(vector) // 2}e", vector))


def _sparse(terms: Sparse) -> edge.SparseVector:
    return edge.SparseVector(list(terms.indices), _dense(terms.weights))


def turn_points(record: JournalRecord) -> Iterator[edge.Point]:
    """Yield the points of a turn's chunks."""
    if record.box is None:
        return
    for point in record.points:
        # Later chunks carry no box: hits are opened through the turn's first chunk.
        payload: Payload = {
            "owner": record.owner,
            "kind": TURN,
            "said": record.said_at.timestamp(),
            "recorded": record.recorded_at.timestamp(),
        }
        if record.about:
            payload["about"] = [float(moment) for moment in record.about]
        if point.id == record.event_id:
            payload["box"] = _boxed(record.box)
        vectors: Named = {DENSE: _dense(point.vector), TERMS: _sparse(point.terms)}
        yield edge.Point(str(point.id), vectors, payload)


def memory_point(owner: str, candidate: Candidate, decision: Decision) -> edge.Point:
    """Return the point of a memory."""
    payload: Payload = {
        "owner": owner,
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
    vectors: Named = {DENSE: _dense(candidate.vector), TERMS: _sparse(candidate.terms)}
    return edge.Point(str(decision.memory_id), vectors, payload)


def empty_point(point: "edge.PointId", dimension: int) -> edge.Point:
    """Return a point that holds nothing, to be written over one that is erased."""
    vectors: Named = {DENSE: [0.0] * dimension, TERMS: edge.SparseVector([], [])}
    return edge.Point(point, vectors, {})


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


def _truth_of(payload: Payload) -> Truth:
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


def box_of(payload: Mapping[str, Any] | None) -> Box:
    """Return the box in a payload."""
    boxed = (payload or {})["box"]
    return Box.model_construct(key_id=UUID(boxed["key"]), sealed=base64.b64decode(boxed["sealed"]))


def memory_of(found: edge.Record | edge.ScoredPoint) -> MemoryPoint:
    """Return what a point says of a memory."""
    payload = found.payload or {}
    vector = None
    if isinstance(found.vector, dict):
        import numpy as np  # noqa: PLC0415 - what only reads does without

        vector = np.asarray(found.vector[DENSE], dtype=np.float32)
    times = {
        name: datetime.fromisoformat(payload[name])
        for name in ("said_at", "touched_at", "created_at", "last_accessed")
    }
    return MemoryPoint(
        memory_id=UUID(str(found.id)),
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


def boxes_in(shard: edge.EdgeShard, owner: str, ids: Sequence[UUID]) -> dict[UUID, Box]:
    """Return the boxes of an owner's points, by id."""
    found: dict[UUID, Box] = {}
    for one in shard.retrieve([str(one) for one in ids], True, False):  # noqa: FBT003 - the engine's signature
        payload = one.payload  # the engine makes it anew each time
        if payload and payload["owner"] == owner:
            found[_uuid(one.id)] = box_of(payload)
    return found


def words_in(shard: edge.EdgeShard, memory_id: UUID) -> list[int]:
    """Return the terms that a point is found by."""
    found = shard.retrieve([str(memory_id)], False, True)  # noqa: FBT003 - the engine's signature
    vector = found[0].vector
    terms = vector[TERMS] if isinstance(vector, dict) else None
    return list(terms.indices) if isinstance(terms, edge.SparseVector) else []


def some_memories_in(shard: edge.EdgeShard, owner: str, ids: Sequence[UUID]) -> list[MemoryPoint]:
    """Return an owner's memories by id, in any order."""
    found = shard.retrieve([str(one) for one in ids], True, False)  # noqa: FBT003 - the engine's signature
    payloads = ((one, one.payload or {"owner": None}) for one in found)
    return [
        memory_of(one)
        for one, payload in payloads
        if payload["owner"] == owner and payload["kind"] != TURN
    ]


def memories_in(shard: edge.EdgeShard, owner: str) -> list[MemoryPoint]:
    """Return all memories of an owner, in any order."""
    only = edge.Filter(
        must=[edge.FieldCondition(key="owner", match=edge.MatchValue(value=owner))],
        must_not=[edge.FieldCondition(key="kind", match=edge.MatchValue(value=TURN))],
    )
    found: list[MemoryPoint] = []
    offset = None
    while True:
        page, offset = shard.scroll(
            edge.ScrollRequest(filter=only, limit=SCROLL_PAGE, offset=offset, with_payload=True)
        )
        found += [memory_of(one) for one in page]
        if offset is None:
            return found


def make_shard(path: Path, dimension: int) -> edge.EdgeShard:
    """Make a shard in a folder that isn't there yet."""
    path.mkdir(parents=True)
    shard = edge.EdgeShard.create(str(path), shard_config(dimension))
    for name, kind in INDEXES.items():
        shard.update(edge.UpdateOperation.create_field_index(name, kind))
    shard.flush()
    return shard


def optimise_shard(path: Path) -> None:
    """Load a shard, rebuild its segments, close it, and see that it can be loaded again."""
    shard = edge.EdgeShard.load(str(path))
    shard.optimize()
    shard.flush()
    shard.close()
    edge.EdgeShard.load(str(path)).close()


def _uuid(point: int | str | UUID) -> UUID:
    return point if isinstance(point, UUID) else UUID(str(point))
