"""What is asked of the points of the episodic store, as the port's queries say it.

Filters are conditions on the payload that points.py writes; what is rare (superseded, expiring, of
a project) is told by fields that other points lack, so that their indexes stay small. Each client
of the engine has its own objects for conditions: `Words` are what this module needs of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Generic, NamedTuple, Protocol, TypeVar
from uuid import UUID

from ..schemas.ports import EpisodicQuery, Holding, Interval, PointHit
from .points import SUPERSEDED, TENANT, TURN

__all__ = [
    "BEAM",
    "SCORE_SLACK",
    "ByMeaning",
    "ByWords",
    "Words",
    "hits_of",
    "owner_filter",
    "parts_of",
    "said_filter",
]

BEAM: Final = 256
"""How many candidates a graph search keeps: with 20 000 points of one owner the nearest 64 were
.997 those of an exact search, with the engine's own choice .93."""
SCORE_SLACK: Final = 1e-3  # the engine sums in another order than numpy

_hit: Final = partial(tuple.__new__, PointHit)
"""Makes a hit from its fields, in a third of the time that the class's own code takes."""

Condition = TypeVar("Condition")
Filter = TypeVar("Filter")


class Words(Protocol[Condition, Filter]):
    """A client's words for conditions; a filter is one as well."""

    def equals(self, key: str, value: str | int) -> Condition:
        """Hold where one of the field's values is this one."""
        ...

    def among(self, key: str, values: Sequence[str]) -> Condition:
        """Hold where one of the field's values is among these."""
        ...

    def beside(self, key: str, values: Sequence[str]) -> Condition:
        """Hold where one of the field's values isn't among these."""
        ...

    def between(self, key: str, interval: Interval) -> Condition:
        """Hold where one of the field's values lies in an interval."""
        ...

    def up_to(self, key: str, bound: float) -> Condition:
        """Hold where one of the field's values is this or less."""
        ...

    def lacks(self, key: str) -> Condition:
        """Hold where there is no such field."""
        ...

    def has_id(self, ids: Iterable[UUID]) -> Condition:
        """Hold of points by their ids."""
        ...

    def every(
        self,
        must: list[Condition | Filter],
        must_not: list[Condition | Filter] | None = None,
        should: list[Condition | Filter] | None = None,
    ) -> Filter:
        """Hold where all of the first, none of the second and, if given, one of the third do."""
        ...


class ByMeaning(NamedTuple, Generic[Filter]):
    """The part of a query that a vector asks.

    Args:
        dense: The vector.
        limit: How many points come.
        only: Which may.
    """

    dense: list[float]
    limit: int
    only: Filter


class ByWords(NamedTuple, Generic[Filter]):
    """The part of a query that words ask.

    Args:
        terms: The words.
        weights: What each counts.
        limit: How many points come.
        only: Which may.
        corpus: Over which points IDF is computed.
    """

    terms: list[int]
    weights: list[float]
    limit: int
    only: Filter
    corpus: Filter


def owner_filter(
    words: Words[Condition, Filter], owner: str, *, without_turns: bool = False
) -> Filter:
    """Return the filter for an owner's points."""
    return words.every(
        [words.equals(TENANT, owner)], [words.equals("kind", TURN)] if without_turns else None
    )


def parts_of(
    words: Words[Condition, Filter], query: EpisodicQuery
) -> list[ByMeaning[Filter] | ByWords[Filter]]:
    """Return the parts of a query, dense before sparse; those of the interval `near` come last."""
    only = _filter(words, query)
    parts = _parts(words, query, only)
    if query.near is not None:
        # Beside `within`, not in its place: what that leaves out stays out.
        near = words.every([only, _of_time(words, query.near, query.holding)])
        parts += _parts(words, replace(query, limit=query.near_limit), near)
    return parts


def _parts(
    words: Words[Condition, Filter], query: EpisodicQuery, only: Filter
) -> list[ByMeaning[Filter] | ByWords[Filter]]:
    parts: list[ByMeaning[Filter] | ByWords[Filter]] = []
    if query.vector is not None:
        parts.append(ByMeaning(query.vector.tolist(), query.limit, only))
    if query.terms:
        corpus = owner_filter(words, query.owner)
        terms = [*query.terms, *(term for term, _ in query.related)]
        weights = [1.0] * len(query.terms) + [weight for _, weight in query.related]
        parts.append(ByWords(terms, weights, query.limit, only, corpus))
    return parts


def _filter(words: Words[Condition, Filter], query: EpisodicQuery) -> Filter:
    must: list[Condition | Filter] = [words.equals(TENANT, query.owner)]
    must_not: list[Condition | Filter] = []
    if query.kinds is not None:
        must.append(words.among("kind", query.kinds))
    if query.within is not None:
        must.append(_of_time(words, query.within, query.holding))
    if query.only is not None:
        must.append(words.has_id(UUID(bytes=one) for one in query.only))
    if query.holding is not None:
        required = _required(words, query.holding, query.terms)
        excluded = _excluded(words, query.holding)
        must += required
        must_not += excluded
    return words.every(must, must_not or None)


def _of_time(
    words: Words[Condition, Filter], interval: Interval, holding: Holding | None
) -> Filter:
    of_time: list[Condition | Filter] = [words.between(key, interval) for key in ("said", "about")]
    if holding is not None and holding.past == interval:
        # Whenever it was said; what didn't hold then is excluded in any case.
        of_time.append(words.equals("state", SUPERSEDED))
    return words.every([], None, of_time)


def _required(
    words: Words[Condition, Filter], holding: Holding, terms: Sequence[int]
) -> list[Condition | Filter]:
    must: list[Condition | Filter] = []
    if holding.as_of is not None:
        must.append(words.up_to("recorded", holding.as_of))
    if holding.verified:
        must.append(words.equals("verified", "yes"))
        must += [words.equals("words", one) for one in terms]
    return must


def _excluded(words: Words[Condition, Filter], holding: Holding) -> list[Condition | Filter]:
    must_not: list[Condition | Filter] = [
        words.up_to("expires", holding.at),
        words.beside("project", [holding.project.hex() if holding.project else ""]),
    ]
    superseded: list[Condition | Filter] = [words.equals("state", SUPERSEDED)]
    if holding.as_of is not None:
        superseded.append(words.up_to("changed", holding.as_of))
    if holding.past is None:
        return [*must_not, words.every(superseded)]
    apart = _apart(words, holding.past)
    return [*must_not, words.every(superseded, None, apart)] if apart else must_not


def _apart(words: Words[Condition, Filter], interval: Interval) -> list[Condition | Filter]:
    """Hold of what held at no time in an interval: from its end on only, or up to its start."""
    start, end = interval
    apart: list[Condition | Filter] = []
    if end is not None:
        apart.append(words.between("from", (end, None)))
    if start is not None:
        apart.append(words.up_to("to", start))
    return apart


def said_filter(
    words: Words[Condition, Filter],
    owner: str,
    interval: Interval,
    holding: Holding,
    only: Sequence[bytes] | None,
) -> Filter:
    """Return the filter for the first points of the turns said in an interval."""
    must: list[Condition | Filter] = [
        words.equals(TENANT, owner),
        words.equals("kind", TURN),
        words.between("said", interval),
    ]
    if holding.as_of is not None:
        must.append(words.up_to("recorded", holding.as_of))
    if only is not None:
        must.append(words.has_id(UUID(bytes=one) for one in only))
    return words.every(must, [words.lacks("box")])  # chunks but the first


def hits_of(query: EpisodicQuery, scores: Sequence[Mapping[bytes, float]]) -> list[PointHit]:
    """Return what the parts of a query found, united and unordered.

    Args:
        query: What was asked.
        scores: For each part, the score of each point by the 16 bytes of its id.
    """
    count = (query.vector is not None) + bool(query.terms)
    dense: dict[bytes, float] = {}
    sparse: dict[bytes, float] = {}
    for part in scores[::count] if query.vector is not None else ():
        dense.update(part)
    for part in scores[count - 1 :: count] if query.terms else ():
        sparse.update(part)
    timely = {point for part in scores[count:] for point in part}
    taken = sparse.pop
    hits = [
        _hit((point, score, taken(point, None), point in timely)) for point, score in dense.items()
    ]
    hits += [_hit((point, None, score, point in timely)) for point, score in sparse.items()]
    return hits
