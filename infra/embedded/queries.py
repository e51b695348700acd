"""What Qdrant Edge is asked; what a question's filter is, stands in infra.questions."""

from collections.abc import Sequence
from typing import Final

import qdrant_edge as edge

from ...schemas.limits import NEAREST_PAGE
from ...schemas.ports import EpisodicQuery, Holding, Interval, MemoryPoint, PointHit, Vectors
from ..points import DENSE, TERMS
from ..questions import (
    BEAM,
    SCORE_SLACK,
    ByMeaning,
    ByWords,
    hits_of,
    owner_filter,
    parts_of,
    said_filter,
)
from .points import bytes_of, memory_in, uuid_of
from .words import WORDS

__all__ = ["DENSE_PARAMS", "found_in", "nearest_in", "said_in", "search_requests"]

DENSE_PARAMS: Final = edge.SearchParams(hnsw_ef=BEAM)


def search_requests(query: EpisodicQuery) -> list[edge.QueryRequest]:
    """Return the parts of a query, dense before sparse; those of the interval `near` come last."""
    return [_request(part) for part in parts_of(WORDS, query)]


def _request(part: ByMeaning[edge.Filter] | ByWords[edge.Filter]) -> edge.QueryRequest:
    if isinstance(part, ByMeaning):
        nearest = edge.Query.Nearest(part.dense, using=DENSE)
        return edge.QueryRequest(
            query=nearest, filter=part.only, limit=part.limit, params=DENSE_PARAMS
        )
    vector = edge.SparseVector(part.terms, part.weights)
    return edge.QueryRequest(
        query=edge.Query.Nearest(vector, using=TERMS),
        filter=part.only,
        limit=part.limit,
        params=edge.SearchParams(idf=edge.IdfParams(corpus=part.corpus)),
    )


def found_in(shard: edge.EdgeShard, query: EpisodicQuery) -> list[PointHit]:
    """Find points; the union of the parts, unordered."""
    found = shard.query_batch(edge.QueryBatchRequest(queries=search_requests(query)))
    # Reading `id` makes a UUID each time, so it is read once; the engine gives no other form of it.
    return hits_of(query, [{bytes_of(one.id): one.score for one in part} for part in found])


def said_in(
    shard: edge.EdgeShard,
    owner: str,
    interval: Interval,
    holding: Holding,
    limit: int,
    only: Sequence[bytes] | None,
) -> list[bytes]:
    """Return the first points of the turns said in an interval, oldest first."""
    page, _ = shard.scroll(
        edge.ScrollRequest(
            filter=said_filter(WORDS, owner, interval, holding, only),
            limit=limit,
            order_by=edge.OrderBy("said", edge.Direction.Asc),
        )
    )
    return [uuid_of(one.id).bytes for one in page]


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
            filter=owner_filter(WORDS, owner, without_turns=True),
            limit=limit,
            score_threshold=threshold - SCORE_SLACK,
            with_payload=True,
            with_vector=True,
            params=edge.SearchParams(exact=True),
        )
        found = shard.query(request)
        if len(found) < limit:
            return [memory_in(one) for one in found]
        limit *= 4
