"""Points of the episodic store in the objects of Qdrant Edge.

What they hold stands in infra.points. What looks points up stands here, and what rebuilds a shard;
what asks one, in queries.py.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge

from ...schemas.limits import SCROLL_PAGE
from ...schemas.ports import MemoryPoint
from ...schemas.records import Box
from ..points import DENSE, INDEXES, TENANT, TERMS, TURN, NewPoint, box_of, memory_of
from ..questions import owner_filter
from .words import WORDS

__all__ = [
    "Shard",
    "boxes_in",
    "bytes_of",
    "edge_point",
    "empty_point",
    "make_shard",
    "memories_in",
    "memory_in",
    "optimise_shard",
    "shard_config",
    "some_memories_in",
    "uuid_of",
    "words_in",
]

Shard = edge.EdgeShard
"""The engine, for modules that only hand it on."""
Named = dict[str, list[float] | edge.SparseVector | list[list[float]]]

INDEX_TYPES: Final = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "float": edge.PayloadSchemaType.Float,
    "integer": edge.PayloadSchemaType.Integer,
}


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


def edge_point(point: NewPoint) -> edge.Point:
    """Return a point as the engine takes it."""
    vectors: Named = {DENSE: point.dense, TERMS: edge.SparseVector(point.indices, point.weights)}
    return edge.Point(str(point.id), vectors, point.payload)


def empty_point(point: "edge.PointId", dimension: int) -> edge.Point:
    """Return a point that holds nothing, to be written over one that is erased."""
    vectors: Named = {DENSE: [0.0] * dimension, TERMS: edge.SparseVector([], [])}
    return edge.Point(point, vectors, {})


def memory_in(found: edge.Record | edge.ScoredPoint) -> MemoryPoint:
    """Return what a point says of a memory."""
    dense: Any = found.vector[DENSE] if isinstance(found.vector, dict) else None
    return memory_of(uuid_of(found.id), found.payload or {}, dense)


def boxes_in(shard: edge.EdgeShard, owner: str, ids: Sequence[UUID]) -> dict[UUID, Box]:
    """Return the boxes of an owner's points, by id."""
    found: dict[UUID, Box] = {}
    for one in shard.retrieve(list(ids), True, False):  # noqa: FBT003 - the engine's signature
        payload = one.payload  # the engine makes it anew each time
        if payload and payload[TENANT] == owner:
            found[uuid_of(one.id)] = box_of(payload)
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
    payloads = ((one, one.payload or {TENANT: None}) for one in found)
    return [
        memory_in(one)
        for one, payload in payloads
        if payload[TENANT] == owner and payload["kind"] != TURN
    ]


def memories_in(shard: edge.EdgeShard, owner: str) -> list[MemoryPoint]:
    """Return all memories of an owner, in any order."""
    only = owner_filter(WORDS, owner, without_turns=True)
    found: list[MemoryPoint] = []
    offset = None
    while True:
        page, offset = shard.scroll(
            edge.ScrollRequest(filter=only, limit=SCROLL_PAGE, offset=offset, with_payload=True)
        )
        found += [memory_in(one) for one in page]
        if offset is None:
            return found


def make_shard(path: Path, dimension: int) -> edge.EdgeShard:
    """Make a shard in a folder that isn't there yet."""
    path.mkdir(parents=True)
    shard = edge.EdgeShard.create(str(path), shard_config(dimension))
    for name, kind in INDEXES.items():
        shard.update(edge.UpdateOperation.create_field_index(name, INDEX_TYPES[kind]))
    shard.flush()
    return shard


def optimise_shard(path: Path) -> None:
    """Load a shard, rebuild its segments, close it, and see that it can be loaded again."""
    shard = edge.EdgeShard.load(str(path))
    shard.optimize()
    shard.flush()
    shard.close()
    edge.EdgeShard.load(str(path)).close()


def bytes_of(point: int | str | UUID) -> bytes:
    """Return the 16 bytes of a point's id, which the engine gives in one of its forms."""
    return (point if isinstance(point, UUID) else UUID(str(point))).int.to_bytes(16, "big")


def uuid_of(point: int | str | UUID) -> UUID:
    """Return a point's id, which the engine gives in one of its forms."""
    return point if isinstance(point, UUID) else UUID(str(point))
