"""Keys of the embedded log's own values: one a record, in slots that are used again.

SQLite's `secure_delete` overwrites a deleted row, but not the stale copies that its b-tree leaves
behind when it moves rows between pages. Here rows never move: a slot is appended once and from
then on only overwritten in place by bytes of equal length, so a shredded key is gone.
"""

import os
import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple

from ...schemas.limits import (
    LOG_KEYS_CACHED_MAX,
)
from ..sealing import WRAPPED_BYTES, SealingKey, new_key
from .database import Database, transaction, truncate_wal
from .key_cache import KeyCache

__all__ = ["LogSealer", "SealedValue"]

_SLOT_BYTES: Final = 8
_MARK_BYTES: Final = 8
_EMPTY: Final = bytes(WRAPPED_BYTES)
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS log_keys (
    slot INTEGER PRIMARY KEY,
    mark BLOB NOT NULL,
    wrapped BLOB NOT NULL
) STRICT
"""


class SealedValue(NamedTuple):
    """A sealed value.

    Args:
        key_id: 16 bytes: the key's slot, then a random mark, since slots are used again.
        sealed: Nonce, ciphertext and tag.
    """

    key_id: bytes
    sealed: bytes


class LogSealer:
    """Seals each value under a key of its own that can be destroyed alone.

    Made by `SqliteKeys`, on whose file and thread it works; not part of the keys port.

    Args:
        database: The key log.
        master: Wraps the keys.
        slots: How many slots the file has.
        free: Those that hold no key.
    """

    def __init__(self, database: Database, master: SealingKey, slots: int, free: list[int]) -> None:
        self._database = database
        self._master = master
        self._slots = slots
        self._free = free
        self._cache: KeyCache[bytes, SealingKey] = KeyCache(LOG_KEYS_CACHED_MAX)

    @classmethod
    async def load(cls, database: Database, master: SealingKey) -> "LogSealer":
        """Make the table if need be, and find the free slots."""

        def find(connection: sqlite3.Connection) -> tuple[int, list[int]]:
            with transaction(connection):
                connection.execute(_SCHEMA)
            (slots,) = connection.execute("SELECT count(*) FROM log_keys").fetchone()
            rows = connection.execute("SELECT slot FROM log_keys WHERE wrapped = ?", (_EMPTY,))
            return slots, [slot for (slot,) in rows]

        slots, free = await database.run(find)
        return cls(database, master, slots, free)

    async def seal_values(self, values: Sequence[tuple[bytes, bytes]]) -> list[SealedValue]:
        """Seal values, each under a fresh key; the keys are durable on return.

        Args:
            values: Pairs of a plain value and what it is bound to.

        Returns:
            Sealed values in the same order.
        """
        if not values:
            return []
        purges = self._cache.purges
        sealed = await self._database.run(lambda connection: self._seal_all(connection, values))
        self._cache.remember([(value.key_id, key) for key, value in sealed], purges=purges)
        return [value for _, value in sealed]

    async def open_values(self, values: Sequence[tuple[SealedValue, bytes]]) -> list[bytes | None]:
        """Open values.

        Args:
            values: Pairs of a sealed value and what it is bound to.

        Returns:
            Plain values in the same order; None where the key was destroyed.

        Raises:
            Damaged: A value doesn't fit its key.
        """
        keys = self._cache.find(value.key_id for value, _ in values)
        missing = [value.key_id for value, _ in values if value.key_id not in keys]
        if missing:
            purges = self._cache.purges
            loaded = await self._database.run(lambda connection: self._load(connection, missing))
            self._cache.remember(loaded.items(), purges=purges)
            keys |= loaded
        opened: list[bytes | None] = []
        for value, bound_to in values:
            key = keys.get(value.key_id)
            opened.append(None if key is None else key.open(value.sealed, bound_to))
        return opened

    async def shred_values(self, key_ids: Sequence[bytes]) -> None:
        """Destroy keys, in memory and on the disk; absent ones are no error."""
        self._cache.purge(key_ids)
        places = [_split(key_id) for key_id in key_ids]

        def shred(connection: sqlite3.Connection) -> None:
            emptied: list[int] = []
            with transaction(connection):
                for slot, mark in places:
                    cursor = connection.execute(
                        "UPDATE log_keys SET wrapped = ?1 "
                        "WHERE slot = ?2 AND mark = ?3 AND wrapped <> ?1",
                        (_EMPTY, slot, mark),
                    )
                    if cursor.rowcount:
                        emptied.append(slot)
            self._free.extend(emptied)
            # Also after a shred that found nothing: an earlier one may have failed just here.
            truncate_wal(connection, self._database.role)

        await self._database.run(shred)

    def forget(self) -> None:
        """Drop every key from memory."""
        self._cache.clear()

    # From here on: in the file's thread only.

    def _seal_all(
        self, connection: sqlite3.Connection, values: Sequence[tuple[bytes, bytes]]
    ) -> list[tuple[SealingKey, SealedValue]]:
        reused = [self._free.pop() for _ in range(min(len(values), len(self._free)))]
        # Fresh slots come last and ascending, so that the table only grows at its end.
        slots = [*reused, *range(self._slots, self._slots + len(values) - len(reused))]
        try:
            made = [
                self._seal(slot, plain, bound_to)
                for slot, (plain, bound_to) in zip(slots, values, strict=True)
            ]
            with transaction(connection):
                connection.executemany(
                    "INSERT INTO log_keys VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
                    "SET mark = excluded.mark, wrapped = excluded.wrapped",
                    [row for _, _, row in made],
                )
        except BaseException:
            self._free.extend(reused)
            raise
        self._slots += len(slots) - len(reused)
        return [(key, value) for key, value, _ in made]

    def _seal(
        self, slot: int, plain: bytes, bound_to: bytes
    ) -> tuple[SealingKey, SealedValue, tuple[int, bytes, bytes]]:
        mark = os.urandom(_MARK_BYTES)
        key_id = slot.to_bytes(_SLOT_BYTES, "big") + mark
        raw = new_key()
        key = SealingKey(raw)
        wrapped = self._master.seal(raw, key_id)
        return key, SealedValue(key_id, key.seal(plain, bound_to)), (slot, mark, wrapped)

    def _load(
        self, connection: sqlite3.Connection, key_ids: Sequence[bytes]
    ) -> dict[bytes, SealingKey]:
        loaded: dict[bytes, SealingKey] = {}
        for key_id in key_ids:
            row = connection.execute(
                "SELECT wrapped FROM log_keys WHERE slot = ? AND mark = ?", _split(key_id)
            ).fetchone()
            if row is not None and row[0] != _EMPTY:
                loaded[key_id] = SealingKey(self._master.open(row[0], key_id))
        return loaded


def _split(key_id: bytes) -> tuple[int, bytes]:
    return int.from_bytes(key_id[:_SLOT_BYTES], "big"), key_id[_SLOT_BYTES:]
