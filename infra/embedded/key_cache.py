"""Unwrapped keys in process memory: bounded, and emptied of what is shredded."""

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

__all__ = ["KeyCache"]

KeyId = TypeVar("KeyId", bound=Hashable)
Key = TypeVar("Key")


class KeyCache(Generic[KeyId, Key]):
    """The keys that were used last. For one event loop; it does no I/O.

    Args:
        limit: How many keys it holds.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._keys: OrderedDict[KeyId, Key] = OrderedDict()
        self._purges = 0

    @property
    def purges(self) -> int:
        """Count the purges: a key read before one must not be remembered after it."""
        return self._purges

    def find(self, key_ids: Iterable[KeyId]) -> dict[KeyId, Key]:
        """Return those keys that are here."""
        found: dict[KeyId, Key] = {}
        for key_id in key_ids:
            key = self._keys.get(key_id)
            if key is not None:
                self._keys.move_to_end(key_id)
                found[key_id] = key
        return found

    def remember(self, keys: Iterable[tuple[KeyId, Key]], *, purges: int) -> None:
        """Keep keys, unless some were purged since they were read.

        Args:
            keys: Pairs of an id and its key.
            purges: What `purges` was before they were read.
        """
        if purges != self._purges:
            return
        for key_id, key in keys:
            self._keys[key_id] = key
            self._keys.move_to_end(key_id)
        while len(self._keys) > self._limit:
            self._keys.popitem(last=False)

    def purge(self, key_ids: Iterable[KeyId]) -> None:
        """Drop keys that are about to be shredded."""
        self._purges += 1
        for key_id in key_ids:
            self._keys.pop(key_id, None)

    def clear(self) -> None:
        """Drop every key."""
        self._purges += 1
        self._keys.clear()
