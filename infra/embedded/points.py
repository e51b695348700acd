"""Points of the episodic store: from journal records, and back to what the port returns."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from struct import unpack
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge

from ...schemas.events import iso
from ...schemas.ports import EpisodicQuery, MemoryPoint
from ...schemas.records import Box, Candidate, Decision, JournalRecord, Sparse

__all__ = [
    "DENSE",
    "DENSE_PARAMS",
    "TERMS",
    "TURN",
    "box_of",
    "decision_values",
    "empty_point",
    "memory_of",
    "memory_point",
    "owner_filter",
    "search_requests",
    "shard_config",
    "turn_points",
]

Payload = dict[str, Any]
Condition = (
    edge.FieldCondition
    | edge.IsEmptyCondition
    | edge.IsNullCondition
    | edge.HasIdCondition
    | edge.HasVectorCondition
    | edge.NestedCondition
    | edge.Filter
)
Named = dict[str, list[float] | edge.SparseVector | list[list[float]]]

DENSE: Final = "dense"
TERMS: Final = "terms"
TURN: Final = "turn"
DENSE_PARAMS: Final = edge.SearchParams(hnsw_ef=256)
"""How many candidates a graph search keeps: with 20 000 points of one owner the nearest 64 were
.997 those of an exact search, with the engine's own choice .93."""


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


def owner_filter(
    owner: str, kinds: Sequence[str] | None, *, without_turns: bool = False
) -> edge.Filter:
    """Return the filter for an owner's points, of some kinds."""
    must: list[Condition] = [edge.FieldCondition(key="owner", match=edge.MatchValue(value=owner))]
    if kinds is not None:
        must.append(edge.FieldCondition(key="kind", match=edge.MatchAny(any=list(kinds))))
    turns = edge.FieldCondition(key="kind", match=edge.MatchValue(value=TURN))
    return edge.Filter(must=must, must_not=[turns] if without_turns else None)


def search_requests(query: EpisodicQuery) -> list[edge.QueryRequest]:
    """Return the dense and the sparse part of a query, as far as it has them."""
    only = owner_filter(query.owner, query.kinds)
    requests: list[edge.QueryRequest] = []
    if query.vector is not None:
        nearest = edge.Query.Nearest(query.vector.tolist(), using=DENSE)
        requests.append(
            edge.QueryRequest(query=nearest, filter=only, limit=query.limit, params=DENSE_PARAMS)
        )
    if query.terms:
        vector = edge.SparseVector(list(query.terms), [1.0] * len(query.terms))
        everything = only if query.kinds is None else owner_filter(query.owner, None)
        requests.append(
            edge.QueryRequest(
                query=edge.Query.Nearest(vector, using=TERMS),
                filter=only,
                limit=query.limit,
                params=edge.SearchParams(idf=edge.IdfParams(corpus=everything)),
            )
        )
    return requests


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
        payload: Payload = {"owner": record.owner, "kind": TURN}
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
        **decision_values(decision),
    }
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
    }


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
        vector=vector,
        **times,
    )
