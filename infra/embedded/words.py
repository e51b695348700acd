"""The conditions of `infra.questions` in the objects of Qdrant Edge."""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

import qdrant_edge as edge

from ...schemas.ports import Interval
from ..questions import Words

__all__ = ["WORDS", "Condition", "EdgeWords"]

Condition = (
    edge.FieldCondition
    | edge.IsEmptyCondition
    | edge.IsNullCondition
    | edge.HasIdCondition
    | edge.HasVectorCondition
    | edge.NestedCondition
    | edge.Filter
)


class EdgeWords:
    """`Words` of Qdrant Edge."""

    def equals(self, key: str, value: str | int) -> Condition:
        """Hold where one of the field's values is this one."""
        return edge.FieldCondition(key=key, match=edge.MatchValue(value=value))

    def among(self, key: str, values: Sequence[str]) -> Condition:
        """Hold where one of the field's values is among these."""
        return edge.FieldCondition(key=key, match=edge.MatchAny(any=list(values)))

    def beside(self, key: str, values: Sequence[str]) -> Condition:
        """Hold where one of the field's values isn't among these."""
        return edge.FieldCondition(key=key, match=edge.MatchExcept(list(values)))

    def between(self, key: str, interval: Interval) -> Condition:
        """Hold where one of the field's values lies in an interval."""
        start, end = interval
        return edge.FieldCondition(key=key, range=edge.RangeFloat(gte=start, lt=end))

    def up_to(self, key: str, bound: float) -> Condition:
        """Hold where one of the field's values is this or less."""
        return edge.FieldCondition(key=key, range=edge.RangeFloat(lte=bound))

    def lacks(self, key: str) -> Condition:
        """Hold where there is no such field."""
        return edge.IsEmptyCondition(key)

    def has_id(self, ids: Iterable[UUID]) -> Condition:
        """Hold of points by their ids."""
        return edge.HasIdCondition(set(ids))

    def every(
        self,
        must: list[Condition],
        must_not: list[Condition] | None = None,
        should: list[Condition] | None = None,
    ) -> edge.Filter:
        """Hold where all of the first, none of the second and, if given, one of the third do."""
        return edge.Filter(must=must, must_not=must_not, should=should)


WORDS: Final[Words[Condition, edge.Filter]] = EdgeWords()
