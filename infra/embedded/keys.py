"""The embedded key log: a SQLite file of its own behind the keys port.

The master key wraps two keys of each owner, one that wraps data keys and one for hashes. Wrapped
data keys stand in rows that are appended once and never move or shrink: to shred one is to
overwrite it in place. (`secure_delete` alone leaves stale copies where SQLite moves rows between
pages.) A shredded key's id stays, so that a late or repeated `put` can't bring the key back.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self
from uuid import UUID, uuid4

from ...schemas.errors import Damaged, Rejected
from ...schemas.limits import (
    DATA_KEYS_CACHED_MAX,
    KEYS_CACHE_KIB,
    LOOKED_UP_MAX,
    OWNERS_CACHED_MAX,
)
from ...schemas.ports import NewRecord, OwnerKeys, WrappedKey
from ...schemas.records import Box
from ..owner_keys import SealingOwnerKeys
from ..sealing import OVERHEAD_BYTES, WRAPPED_BYTES, SealingKey, new_key
from . import key_tables as tables
from .database import Database, transaction
from .key_cache import KeyCache
from .key_tables import EMPTY, ROLE
from .log_sealer import LogSealer

__all__ = ["SqliteKeys"]

_UUID_BYTES: Final = 16


class _DataKey(NamedTuple):
    owner: str
    key: SealingKey | None
    """None where the key belongs to another owner than the one who asked."""


class SqliteKeys:
    """`Keys` on one SQLite file; see the port for the promises.

    Beyond them: a key id that was shredded stays closed even if its wrapped key is put again.
    Use `open`.

    Args:
        database: The key log.
        reader: A read-only connection to it, for look-ups in the event loop.
        master: Wraps the owners', the shared and the log's keys.
        sealer: Seals the embedded log's own values with keys of the same file.
    """

    def __init__(
        self, database: Database, reader: Database, master: SealingKey, sealer: LogSealer
    ) -> None:
        self._database = database
        self._reader = reader
        self._master = master
        self._sealer = sealer
        self._owners: KeyCache[str, SealingOwnerKeys] = KeyCache(OWNERS_CACHED_MAX)
        self._data_keys: KeyCache[bytes, _DataKey] = KeyCache(DATA_KEYS_CACHED_MAX)

    @classmethod
    async def open(cls, path: Path, *, master: bytes) -> Self:
        """Open a key log, made if it isn't there.

        Args:
            path: The file; its folder has to be there.
            master: The master key, 32 bytes.

        Raises:
            Unavailable: The file can't be used, or another master key belongs to it.
            Damaged: The file is malformed.
            Rejected: Another version of Eunoe wrote it.
        """
        key = SealingKey(master)
        database = await Database.open(path, ROLE)
        try:
            await database.run(lambda connection: tables.prepare(connection, key))
            sealer = await LogSealer.load(database, key)
            reader = await Database.open(path, ROLE, read_only=True, cache_kib=KEYS_CACHE_KIB)
        except BaseException:
            await database.close()
            raise
        return cls(database, reader, key, sealer)

    @classmethod
    async def open_to_read(cls, path: Path, *, master: bytes) -> Self:
        """Open a key log beside the process that writes it; nothing can be put or shredded.

        Args:
            path: The file.
            master: The master key, 32 bytes.

        Raises:
            Unavailable: The file can't be used, or another master key belongs to it.
            Damaged: The file is malformed.
        """
        key = SealingKey(master)
        database = await Database.open(path, ROLE, read_only=True)
        try:
            await database.run(lambda connection: tables.check_master(connection, key))
            reader = await Database.open(path, ROLE, read_only=True, cache_kib=KEYS_CACHE_KIB)
        except BaseException:
            await database.close()
            raise
        return cls(database, reader, key, LogSealer(database, key, 0, []))

    @property
    def sealer(self) -> LogSealer:
        """Seals the embedded log's own values."""
        return self._sealer

    async def owner(self, owner: str) -> OwnerKeys:
        """Return the owner's keys, made durably at the first use."""
        purges = self._owners.purges
        keys = await self.known_owner(owner)
        if keys is None:
            keys = await self._database.run(lambda connection: self._make_owner(connection, owner))
            self._owners.remember([(owner, keys)], purges=purges)
        return keys

    async def known_owner(self, owner: str) -> SealingOwnerKeys | None:
        """Return an owner's keys, or None where it has none; makes none."""
        cached = self._owners.find((owner,))
        if cached:
            return cached[owner]
        purges = self._owners.purges
        keys = self._reader.look_up(lambda connection: self._find_owner(connection, owner))
        if keys is not None:
            self._owners.remember([(owner, keys)], purges=purges)
        return keys

    async def put(self, keys: Sequence[WrappedKey]) -> None:
        """Append wrapped keys to the key log.

        Raises:
            Rejected: A key has the wrong form, or its owner has no keys here.
        """
        if any(len(key.wrapped) != WRAPPED_BYTES for key in keys):
            message = f"A wrapped key must have {WRAPPED_BYTES} bytes."
            raise Rejected(message)
        if keys:
            await self._database.run(lambda connection: tables.put(connection, keys))

    async def stage(self, keys: Sequence[WrappedKey]) -> list[NewRecord]:
        """Put wrapped keys before the records that they close; see the port.

        Raises:
            Rejected: As `put`.
        """
        await self.put(keys)
        return []

    async def open_boxes(self, owner: str, boxes: Sequence[tuple[Box, UUID]]) -> list[bytes | None]:
        """Open (box, record id) pairs in order; None where the key was shredded.

        Raises:
            Damaged: A box doesn't fit its key, its record or its owner.
        """
        if not boxes:
            return []
        ids = [box.key_id.bytes for box, _ in boxes]  # a UUID's own hash takes long
        keys = self._data_keys.find(ids)
        missing = [key for key in ids if key not in keys] if len(keys) < len(ids) else []
        if missing:
            purges = self._data_keys.purges
            loaded = await self._loaded(owner, missing)
            known = [(key, loaded[key]) for key in missing if key in loaded and loaded[key].key]
            self._data_keys.remember(known, purges=purges)
            keys |= loaded
        opened: list[bytes | None] = []
        for key, (box, record) in zip(ids, boxes, strict=True):
            found = keys.get(key)
            if found is None:
                opened.append(None)
                continue
            if found.key is None or found.owner != owner:
                message = "A box is sealed with a key of another owner."
                raise Damaged(message)
            opened.append(found.key.open(box.sealed, record.bytes))
        return opened

    async def shred(self, key_ids: Sequence[UUID]) -> None:
        """Destroy data keys; absent ones are no error."""
        ids = [key_id.bytes for key_id in key_ids]
        self._data_keys.purge(ids)
        rows = [(EMPTY, key_id) for key_id in ids]
        try:
            await self._database.run(
                lambda connection: tables.overwrite(
                    connection, "UPDATE data_keys SET wrapped = ? WHERE key_id = ?", rows
                )
            )
        finally:
            self._data_keys.purge(ids)  # a look-up may have found one meanwhile

    async def seal_shared(self, name: str, plain: bytes) -> bytes:
        """Seal under a key that several records share, such as a tenant's day; makes it."""
        key_id, key = await self._database.run(
            lambda connection: self._make_shared(connection, name)
        )
        return key_id + key.seal(plain, name.encode())

    async def open_shared(self, name: str, sealed: bytes) -> bytes | None:
        """Open what `seal_shared` sealed; None when that key was shredded.

        Raises:
            Damaged: The value doesn't fit its key or its name.
        """
        if len(sealed) < _UUID_BYTES + OVERHEAD_BYTES:
            message = "A sealed value is too short to be one."
            raise Damaged(message)
        key_id = sealed[:_UUID_BYTES]
        wrapped = await self._database.run(
            lambda connection: connection.execute(
                "SELECT wrapped FROM shared_keys WHERE key_id = ?", (key_id,)
            ).fetchone()
        )
        if wrapped is None or wrapped[0] == EMPTY:
            return None
        label = name.encode()
        key = SealingKey(self._master.open(wrapped[0], key_id + label))
        return key.open(sealed[_UUID_BYTES:], label)

    async def shred_shared(self, names: Sequence[str]) -> None:
        """Destroy shared keys; the next use of a name makes another key."""
        rows = [(EMPTY, name) for name in names]
        await self._database.run(
            lambda connection: tables.overwrite(
                connection, "UPDATE shared_keys SET wrapped = ? WHERE name = ?", rows
            )
        )

    async def close(self) -> None:
        """Forget all keys in memory and release the file."""
        self._owners.clear()
        self._data_keys.clear()
        self._sealer.forget()
        await self._reader.close()
        await self._database.close()

    async def _loaded(self, owner: str, key_ids: Sequence[bytes]) -> dict[bytes, _DataKey]:
        cached = self._owners.find((owner,)).get(owner)

        def work(connection: sqlite3.Connection) -> dict[bytes, _DataKey]:
            keys = cached or self._find_owner(connection, owner)
            return _load(connection, owner, keys, key_ids)

        if len(key_ids) <= LOOKED_UP_MAX:
            return self._reader.look_up(work)
        return await self._database.run(work)

    # From here on: blocking, in the file's thread or, to look up, on the reader.

    def _find_owner(self, connection: sqlite3.Connection, owner: str) -> SealingOwnerKeys | None:
        row = connection.execute(
            "SELECT wrapping, hashing FROM owners WHERE name = ?", (owner,)
        ).fetchone()
        if row is None:
            return None
        wrapping, hashing = row
        return SealingOwnerKeys.open(owner, wrapping + hashing, self._master)

    def _make_owner(self, connection: sqlite3.Connection, owner: str) -> SealingOwnerKeys:
        found = self._find_owner(connection, owner)
        if found is not None:
            return found
        keys, kept = SealingOwnerKeys.make(owner, self._master)
        with transaction(connection):
            connection.execute(
                "INSERT INTO owners (name, wrapping, hashing) VALUES (?, ?, ?)",
                (owner, kept[:WRAPPED_BYTES], kept[WRAPPED_BYTES:]),
            )
        return keys

    def _make_shared(self, connection: sqlite3.Connection, name: str) -> tuple[bytes, SealingKey]:
        label = name.encode()
        row = connection.execute(
            "SELECT key_id, wrapped FROM shared_keys WHERE name = ? AND wrapped <> ?",
            (name, EMPTY),
        ).fetchone()
        if row is not None:
            return row[0], SealingKey(self._master.open(row[1], row[0] + label))
        key_id, raw = uuid4().bytes, new_key()
        wrapped = self._master.seal(raw, key_id + label)
        with transaction(connection):
            connection.execute(
                "INSERT INTO shared_keys (key_id, name, wrapped) VALUES (?, ?, ?)",
                (key_id, name, wrapped),
            )
        return key_id, SealingKey(raw)


def _load(
    connection: sqlite3.Connection,
    owner: str,
    keys: SealingOwnerKeys | None,
    key_ids: Sequence[bytes],
) -> dict[bytes, _DataKey]:
    loaded: dict[bytes, _DataKey] = {}
    own: dict[bytes, bytes] = {}
    for key_id, name, wrapped in tables.wrapped(connection, key_ids):
        if wrapped == EMPTY:
            continue
        if keys is None or name != owner:
            loaded[key_id] = _DataKey(owner, None)
        else:
            own[key_id] = wrapped
    if keys is not None and own:
        loaded |= {key: _DataKey(owner, one) for key, one in keys.unwrap_each(own).items()}
    return loaded
