"""A second look of a search, for the names that its best matches brought up.

"Our engineer" is somebody in one turn, and what that one can't eat stands in another, which may
have no word of the question.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from ..schemas.ports import EpisodicQuery, EpisodicStore, IdentityStore
from .ranking_parameters import DEFAULTS

__all__ = ["Links", "links"]


class Links(NamedTuple):
    """What holds the names.

    Args:
        scores: BM25 of the names, by point.
        bringers: The turns that brought them up, which they don't lift.
    """

    scores: dict[bytes, float]
    bringers: frozenset[bytes]


async def links(
    identity: IdentityStore, episodes: EpisodicStore, query: EpisodicQuery, best: Sequence[str]
) -> Links:
    """Ask for the names in the best matches that the question doesn't hold itself.

    Args:
        identity: Knows the names in turns.
        episodes: Finds what holds them.
        query: What was asked before; its bounds hold here.
        best: Points, in hexadecimal digits.
    """
    places = await identity.places(query.owner, [UUID(hex=point) for point in best])
    own = frozenset(query.terms)
    brought = [name for one in places.values() for name in one.names if name not in own]
    if not brought:
        return Links({}, frozenset())
    names, limit = tuple(dict.fromkeys(brought)), DEFAULTS.linked_limit
    asked = replace(query, vector=None, terms=names, related=(), limit=limit, near=None)
    hits = await episodes.query(asked)
    scores = {point: score or 0.0 for point, _, score, _ in hits}
    # Of many alike, the engine returns any: a name that all of them hold tells none apart.
    least = min(scores.values(), default=0.0) if len(scores) == limit else 0.0
    told_apart = {point: score for point, score in scores.items() if score > least}
    return Links(told_apart, frozenset(place.event_id.bytes for place in places.values()))
