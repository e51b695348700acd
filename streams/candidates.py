"""What a ranking gets: a hit of the engine, and where its turn stands, as one candidate. Pure."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from ..schemas.ports import EpisodicQuery, Interval, PointHit, Spot
from .ranking import Candidate
from .ranking_parameters import weight

__all__ = ["Candidates", "lies_in"]

_candidate: Final = partial(tuple.__new__, Candidate)


class Candidates:
    """Puts hits and spots together.

    Args:
        query: What the engine was asked.
        in_project: Whether the question is asked in a project.
    """

    def __init__(self, query: EpisodicQuery, *, in_project: bool) -> None:
        self._named = frozenset(query.terms)
        self._near = query.near
        self._in_project = in_project

    def make(self, hits: Iterable[PointHit], spots: Mapping[bytes, Spot]) -> list[Candidate]:
        """Return candidates; a point without a spot was erased meanwhile."""
        named, near, plain = self._named, self._near, not self._in_project
        find = spots.get
        # Made without the class's own code, which takes longer than all that is told here.
        return [
            _candidate(
                (
                    point.hex(),
                    dense,
                    sparse,
                    spot[1],
                    spot[2],
                    bool(spot[3]) and not named.isdisjoint(spot[3]),
                    near is not None and (timely or lies_in(spot, near)),
                    1.0 if plain and spot[7] == "turn" else self._weight(spot),
                    spot[5] / 100,
                )
            )
            for point, dense, sparse, timely in hits
            if (spot := find(point)) is not None
        ]

    def _weight(self, spot: Spot) -> float:
        return weight(spot.kind, spot.confidence, spot.scope, in_project=self._in_project)


def lies_in(spot: Spot, interval: Interval) -> bool:
    """Tell whether the turn of a point was said within an interval."""
    start, end = interval
    said = spot.said_at.timestamp()
    return (start is None or said >= start) and (end is None or said < end)
