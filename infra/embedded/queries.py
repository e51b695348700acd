"""What the engine of the episodic store is asked, as the port's queries say it.

Filters are conditions on the payload that points.py writes; what is rare (superseded, expiring, of
a project) is told by fields that other points lack, so that their indexes stay small.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import qdrant_edge as edge

from ...schemas.limits import NEAREST_PAGE
from ...schemas.ports import EpisodicQuery, Holding, Interval, MemoryPoint, PointHit, Vectors
from .points import DENSE, SUPERSEDED, TERMS, TURN, memory_of

__all__ = [
    "DENSE_PARAMS",
    "found_in",
    "nearest_in",
    "owner_filter",
    "said_in",
    "search_requests",
]

Condition = (
    edge.FieldCondition
    | edge.IsEmptyCondition
    | edge.IsNullCondition
    | edge.HasIdCondition
    | edge.HasVectorCondition
    | edge.NestedCondition
    | edge.Filter
)
DENSE_PARAMS: Final = edge.SearchParams(hnsw_ef=256)
"""How many candidates a graph search keeps: with 20 000 points of one owner the nearest 64 were
.997 those of an exact search, with the engine's own choice .93."""
SCORE_SLACK: Final = 1e-3  # the engine sums in another order than numpy


def owner_filter(owner: str, *, without_turns: bool = False) -> edge.Filter:
    """Return the filter for an owner's points."""
    return edge.Filter(
        must=[_is("owner", owner)], must_not=[_is("kind", TURN)] if without_turns else None
    )


def search_requests(query: EpisodicQuery) -> list[edge.QueryRequest]:
    """Return the parts of a query, dense before sparse; those of the interval `near` come last."""
    only = _filter(query)
    requests = _parts(query, only)
    if query.near is not None:
        # Beside `within`, not in its place: what that leaves out stays out.
        near = edge.Filter(must=[only, _of_time(query.near, query.holding)])
        requests += _parts(replace(query, limit=query.near_limit), near)
    return requests


def _parts(query: EpisodicQuery, only: edge.Filter) -> list[edge.QueryRequest]:
    requests: list[edge.QueryRequest] = []
    if query.vector is not None:
        nearest = edge.Query.Nearest(query.vector.tolist(), using=DENSE)
        requests.append(
            edge.QueryRequest(query=nearest, filter=only, limit=query.limit, params=DENSE_PARAMS)
        )
    if query.terms:
        vector = edge.SparseVector(list(query.terms), [1.0] * len(query.terms))
        corpus = edge.IdfParams(corpus=owner_filter(query.owner))
        requests.append(
            edge.QueryRequest(
                query=edge.Query.Nearest(vector, using=TERMS),
                filter=only,
                limit=query.limit,
                params=edge.SearchParams(idf=corpus),
            )
        )
    return requests


def _filter(query: EpisodicQuery) -> edge.Filter:
    must: list[Condition] = [_is("owner", query.owner)]
    must_not: list[Condition] = []
    if query.kinds is not None:
        must.append(edge.FieldCondition(key="kind", match=edge.MatchAny(any=list(query.kinds))))
    if query.within is not None:
        must.append(_of_time(query.within, query.holding))
    if query.only is not None:
        ids: set[edge.PointId] = {UUID(bytes=one) for one in query.only}
        must.append(edge.HasIdCondition(ids))
    if query.holding is not None:
        must += _required(query.holding, query.terms)
        must_not += _excluded(query.holding)
    return edge.Filter(must=must, must_not=must_not or None)


def _of_time(interval: Interval, holding: Holding | None) -> edge.Filter:
    of_time: list[Condition] = [_between(key, interval) for key in ("said", "about")]
    if holding is not None and holding.past == interval:
        # Whenever it was said; what didn't hold then is excluded in any case.
        of_time.append(_is("state", SUPERSEDED))
    return edge.Filter(should=of_time)


def _required(holding: Holding, terms: Sequence[int]) -> list[Condition]:
    must: list[Condition] = []
    if holding.as_of is not None:
        must.append(_up_to("recorded", holding.as_of))
    if holding.verified:
        words = (
            edge.FieldCondition(key="words", match=edge.MatchValue(value=one)) for one in terms
        )
        must += [_is("verified", "yes"), *words]
    return must


def _excluded(holding: Holding) -> list[Condition]:
    other = edge.MatchExcept([holding.project.hex() if holding.project else ""])
    must_not: list[Condition] = [
        _up_to("expires", holding.at),
        edge.FieldCondition(key="project", match=other),
    ]
    superseded: list[Condition] = [_is("state", SUPERSEDED)]
    if holding.as_of is not None:
        superseded.append(_up_to("changed", holding.as_of))
    if holding.past is None:
        return [*must_not, edge.Filter(must=superseded)]
    apart = _apart(holding.past)
    return [*must_not, edge.Filter(must=superseded, should=apart)] if apart else must_not


def _apart(interval: Interval) -> list[Condition]:
    """Hold of what held at no time in an interval: from its end on only, or up to its start."""
    start, end = interval
    apart: list[Condition] = []
    if end is not None:
        apart.append(edge.FieldCondition(key="from", range=edge.RangeFloat(gte=end)))
    if start is not None:
        apart.append(_up_to("to", start))
    return apart


def _is(key: str, value: str) -> edge.FieldCondition:
    return edge.FieldCondition(key=key, match=edge.MatchValue(value=value))


def _between(key: str, interval: Interval) -> edge.FieldCondition:
    start, end = interval
    return edge.FieldCondition(key=key, range=edge.RangeFloat(gte=start, lt=end))


def _up_to(key: str, moment: float) -> edge.FieldCondition:
    return edge.FieldCondition(key=key, range=edge.RangeFloat(lte=moment))


def found_in(shard: edge.EdgeShard, query: EpisodicQuery) -> list[PointHit]:
    """Find points; the union of the parts, unordered."""
    found = shard.query_batch(edge.QueryBatchRequest(queries=search_requests(query)))
    # Reading `id` makes a UUID each time, so it is read once.
    scores = [{_uuid(one.id).bytes: one.score for one in part} for part in found]
    count = (query.vector is not None) + bool(query.terms)
    dense: dict[bytes, float] = {}
    sparse: dict[bytes, float] = {}
    for part in scores[::count] if query.vector is not None else ():
        dense |= part
    for part in scores[count - 1 :: count] if query.terms else ():
        sparse |= part
    timely = {point for part in scores[count:] for point in part}
    hits = [
        PointHit(point, score, sparse.pop(point, None), point in timely)
        for point, score in dense.items()
    ]
    hits += [PointHit(point, None, score, point in timely) for point, score in sparse.items()]
    return hits


def said_in(
    shard: edge.EdgeShard,
    owner: str,
    interval: Interval,
    holding: Holding,
    limit: int,
    only: Sequence[bytes] | None,
) -> list[bytes]:
    """Return the first points of the turns said in an interval, oldest first."""
    must: list[Condition] = [_is("owner", owner), _is("kind", TURN), _between("said", interval)]
    if holding.as_of is not None:
        must.append(_up_to("recorded", holding.as_of))
    if only is not None:
        must.append(edge.HasIdCondition({UUID(bytes=one) for one in only}))
    later = edge.IsEmptyCondition("box")  # chunks but the first
    page, _ = shard.scroll(
        edge.ScrollRequest(
            filter=edge.Filter(must=must, must_not=[later]),
            limit=limit,
            order_by=edge.OrderBy("said", edge.Direction.Asc),
        )
    )
    return [_uuid(one.id).bytes for one in page]


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
            filter=owner_filter(owner, without_turns=True),
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


def _uuid(point: int | str | UUID) -> UUID:
    return point if isinstance(point, UUID) else UUID(str(point))
