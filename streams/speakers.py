"""Who said what a search found.

Delivery: reads only.
"""

from collections.abc import Sequence

from ..schemas.ports import EventPlace, IdentityStore, Keys, OwnerKeys
from ..schemas.results import Hit
from .context import Turns
from .identity import producer_hash
from .prompting import NOBODY, Speaker

__all__ = ["Speakers"]


class Speakers:
    """Looks up speakers.

    Args:
        keys: Keys of owners.
        identity: Where turns stand.
        turns: Opens them.
    """

    def __init__(self, keys: Keys, identity: IdentityStore, turns: Turns) -> None:
        self._keys = keys
        self._identity = identity
        self._turns = turns

    async def of(self, owner: str, hits: Sequence[Hit]) -> list[Speaker]:
        """Return the speaker of each hit: of the turn that it is, or of its closest source."""
        keys = await self._keys.owner(owner)
        places = [await self._place(owner, keys, hit) for hit in hits]
        turns = await self._turns.open(owner, list({one.event_id for one in places if one}))
        found = [None if place is None else turns.get(place.event_id) for place in places]
        return [
            NOBODY if turn is None else Speaker(turn.payload.role, turn.payload.name)
            for turn in found
        ]

    async def _place(self, owner: str, keys: OwnerKeys, hit: Hit) -> EventPlace | None:
        if not hit.sources:
            return None
        places = await self._identity.by_producer(owner, producer_hash(keys, hit.sources[0]))
        # Several producers may use the id: the one who spoke then.
        at_the_time = [place for place in places if place.said_at == hit.said_at]
        return next(iter([*at_the_time, *places]), None)
