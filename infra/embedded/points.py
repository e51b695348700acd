"""Points of the episodic store: from journal records, and back to what the port returns.

What asks a shard stands here as well, and what rebuilds one; who may do so when, in episodes.py.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from struct import unpack
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge

from ...schemas.events import iso
from ...schemas.limits import (
    NEAREST_PAGE,
    SCROLL_PAGE,
)
from ...schemas.ports import EpisodicQuery, MemoryPoint, PointHit, Vectors
from ...schemas.records import Box, Candidate, Decision, JournalRecord, Sparse

__all__ = [
    "DENSE",
    "DENSE_PARAMS",
    "TERMS",
    "TURN",
    "Shard",
    "box_of",
    "boxes_in",
    "decision_values",
    "empty_point",
    "found_in",
    "make_shard",
    "memories_in",
    "memory_of",
    "memory_point",
    "nearest_in",
    "optimise_shard",
    "owner_filter",
    "search_requests",
    "shard_config",
    "some_memories_in",
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
Shard = edge.EdgeShard
"""The engine, for modules that only hand it on."""
Named = dict[str, list[float] | edge.SparseVector | list[list[float]]]

DENSE: Final = "dense"
TERMS: Final = "terms"
TURN: Final = "turn"
DENSE_PARAMS: Final = edge.SearchParams(hnsw_ef=256)
"""How many candidates a graph search keeps: with 20 000 points of one owner the nearest 64 were
.997 those of an exact search, with the engine's own choice .93."""
SCORE_SLACK: Final = 1e-3  # the engine sums in another order than numpy


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


def found_in(shard: edge.EdgeShard, query: EpisodicQuery) -> list[PointHit]:
    """Find points; the union of the dense and the sparse part, unordered."""
    requests = search_requests(query)
    found = shard.query_batch(edge.QueryBatchRequest(queries=requests))
    # Reading `id` makes a UUID each time, so it is read once.
    scores = [{_uuid(one.id).bytes: one.score for one in part} for part in found]
    dense = {} if query.vector is None else scores[0]
    sparse = scores[-1] if query.terms else {}
    hits = [PointHit(point, score, sparse.pop(point, None)) for point, score in dense.items()]
    hits += [PointHit(point, None, score) for point, score in sparse.items()]
    return hits


def nearest_in(
    shard: edge.EdgeShard, owner: str, vectors: Vectors, threshold: float
) -> list[list[MemoryPoint]]:
    """Return, for each row, every memory of the owner at or over a cosine, closest first."""
    return [_nearest(shard, owner, row.tolist(), threshold) for row in vectors]


def _nearest(
    shard: edge.EdgeShard, owner: str, vector: list[float], threshold: float
) -> list[MemoryPoint]:
    limit = NEAREST_PAGE
    while True:
        request = edge.QueryRequest(
            query=edge.Query.Nearest(vector, using=DENSE),
            filter=owner_filter(owner, kinds=None, without_turns=True),
            limit=limit,
            score_threshold=threshold - SCORE_SLACK,
            with_payload=True,
            with_vector=True,
            params=edge.SearchParams(exact=True),
        )
        found = shard.query(request)
        if len(found) < limit:
            return [memory_of(one) for one in found]
        limit *= 4


def boxes_in(shard: edge.EdgeShard, owner: str, ids: Sequence[UUID]) -> dict[UUID, Box]:
    """Return the boxes of an owner's points, by id."""
    found: dict[UUID, Box] = {}
    for one in shard.retrieve([str(one) for one in ids], True, False):  # noqa: FBT003 - the engine's signature
        payload = one.payload  # the engine makes it anew each time
        if payload and payload["owner"] == owner:
            found[_uuid(one.id)] = box_of(payload)
    return found


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
    only = owner_filter(owner, None, without_turns=True)
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
    for name in ("owner", "kind"):
        shard.update(edge.UpdateOperation.create_field_index(name, edge.PayloadSchemaType.Keyword))
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
