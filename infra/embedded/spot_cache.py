"""Where the turns of small owners stand, in process memory: bounded, and emptied by each write."""

from collections import OrderedDict

from ...schemas.limits import (
    OWNERS_CACHED_MAX,
    SPOTS_CACHED_MAX,
)
from ...schemas.ports import Spot

__all__ = ["SpotCache"]


class SpotCache:
    """The spots of the small owners who were asked about last, each owner's whole or not at all.

    For one event loop; it does no I/O.
    """

    def __init__(self) -> None:
        self._owners: OrderedDict[str, dict[bytes, Spot]] = OrderedDict()
        self._count = 0
        self._writes = 0
        self._large: set[str] = set()

    def find(self, owner: str, writes: int) -> dict[bytes, Spot] | None:
        """Return all spots of an owner by event id, if they are here.

        Args:
            owner: Whose.
            writes: How often the store was written to; after a write nothing is here.
        """
        if writes != self._writes:
            self._owners.clear()
            self._count, self._writes = 0, writes
        found = self._owners.get(owner)
        if found is not None:
            self._owners.move_to_end(owner)
        return found

    def remember(self, owner: str, spots: dict[bytes, Spot]) -> None:
        """Keep all spots of a small owner, read after `find` gave None."""
        self._owners[owner] = spots
        self._count += len(spots)
        while self._count > SPOTS_CACHED_MAX or len(self._owners) > OWNERS_CACHED_MAX:
            _, gone = self._owners.popitem(last=False)
            self._count -= len(gone)

    def is_large(self, owner: str) -> bool:
        """Tell whether the owner was found to be too large; one who shrinks stays so."""
        return owner in self._large

    def remember_large(self, owner: str) -> None:
        """Note that an owner is too large."""
        if len(self._large) >= OWNERS_CACHED_MAX:
            self._large.clear()
        self._large.add(owner)
