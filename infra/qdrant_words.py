"""Conditions, questions and points in the objects of qdrant-client."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from qdrant_client import models

from ..schemas.ports import EpisodicQuery, Interval
from .points import DENSE, TERMS, NewPoint, Payload
from .questions import BEAM, ByMeaning, ByWords, Words, parts_of

__all__ = [
    "WORDS",
    "Condition",
    "QdrantWords",
    "empty_struct",
    "point_struct",
    "search_requests",
    "terms_in",
]

Condition = (
    models.FieldCondition
    | models.IsEmptyCondition
    | models.IsNullCondition
    | models.HasIdCondition
    | models.HasVectorCondition
    | models.SliceCondition
    | models.NestedCondition
    | models.Filter
)
DENSE_PARAMS: Final = models.SearchParams(hnsw_ef=BEAM)


class QdrantWords:
    """`Words` of qdrant-client."""

    def equals(self, key: str, value: str | int) -> Condition:
        """Hold where one of the field's values is this one."""
        return models.FieldCondition(key=key, match=models.MatchValue(value=value))

    def among(self, key: str, values: Sequence[str]) -> Condition:
        """Hold where one of the field's values is among these."""
        return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))

    def beside(self, key: str, values: Sequence[str]) -> Condition:
        """Hold where one of the field's values isn't among these."""
        match = models.MatchExcept.model_validate({"except": list(values)})
        return models.FieldCondition(key=key, match=match)

    def between(self, key: str, interval: Interval) -> Condition:
        """Hold where one of the field's values lies in an interval."""
        start, end = interval
        return models.FieldCondition(key=key, range=models.Range(gte=start, lt=end))

    def up_to(self, key: str, bound: float) -> Condition:
        """Hold where one of the field's values is this or less."""
        return models.FieldCondition(key=key, range=models.Range(lte=bound))

    def lacks(self, key: str) -> Condition:
        """Hold where there is no such field."""
        return models.IsEmptyCondition(is_empty=models.PayloadField(key=key))

    def has_id(self, ids: Iterable[UUID]) -> Condition:
        """Hold of points by their ids."""
        return models.HasIdCondition(has_id=[str(one) for one in ids])

    def every(
        self,
        must: list[Condition],
        must_not: list[Condition] | None = None,
        should: list[Condition] | None = None,
    ) -> models.Filter:
        """Hold where all of the first, none of the second and, if given, one of the third do."""
        return models.Filter(must=must or None, must_not=must_not, should=should)


WORDS: Final[Words[Condition, models.Filter]] = QdrantWords()


def search_requests(query: EpisodicQuery) -> list[models.QueryRequest]:
    """Return the parts of a query, dense before sparse; those of the interval `near` come last."""
    parts: list[ByMeaning[models.Filter] | ByWords[models.Filter]] = parts_of(WORDS, query)
    return [_request(part) for part in parts]


def _request(part: ByMeaning[models.Filter] | ByWords[models.Filter]) -> models.QueryRequest:
    if isinstance(part, ByMeaning):
        return models.QueryRequest(
            query=part.dense, using=DENSE, filter=part.only, limit=part.limit, params=DENSE_PARAMS
        )
    vector = models.SparseVector(indices=part.terms, values=part.weights)
    corpus = models.IdfCorpusParams(corpus=part.corpus)
    return models.QueryRequest(
        query=vector,
        using=TERMS,
        filter=part.only,
        limit=part.limit,
        params=models.SearchParams(idf=corpus),
    )


def point_struct(point: NewPoint, payload: Payload) -> models.PointStruct:
    """Return a point as the server takes it, with a payload of its own."""
    terms = models.SparseVector(indices=point.indices, values=point.weights)
    vectors: dict[str, models.Vector] = {DENSE: point.dense, TERMS: terms}
    return models.PointStruct(id=str(point.id), vector=vectors, payload=payload)


def empty_struct(point: UUID, dimension: int, payload: Payload) -> models.PointStruct:
    """Return a point that nothing finds: what stood in its place is overwritten with nothing."""
    terms = models.SparseVector(indices=[], values=[])
    vectors: dict[str, models.Vector] = {DENSE: [0.0] * dimension, TERMS: terms}
    return models.PointStruct(id=str(point), vector=vectors, payload=payload)


def terms_in(vector: object) -> list[int]:
    """Return the terms that a point is found by, of what the server says of its vectors."""
    terms = vector.get(TERMS) if isinstance(vector, Mapping) else None
    return list(terms.indices) if isinstance(terms, models.SparseVector) else []
