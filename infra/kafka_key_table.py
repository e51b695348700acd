"""The records of the key log, and the table of wrapped keys that they make in memory.

| key | value |
|---|---|
| `check` | a known text, sealed by the master key |
| `owner/TENANT/OWNER` | the owner's two keys, each wrapped by the master key |
| `data/ID` | a data key, wrapped by its owner's; then the owner |
| `shared/ID` | a shared key, wrapped by the master key; then its name |

An id is 32 hexadecimal digits, a wrapped key has 60 bytes. No value is a shredded key.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple
from uuid import UUID

from ..schemas.errors import Damaged
from ..schemas.ports import LogRecord, NewRecord, WrappedKey
from .sealing import WRAPPED_BYTES

__all__ = [
    "CHECK_KEY",
    "DataKey",
    "KeyTable",
    "SharedKey",
    "check_record",
    "data_record",
    "owner_record",
    "shared_record",
]

CHECK_KEY: Final = b"check"
_OWNER: Final = b"owner/"
_DATA: Final = b"data/"
_SHARED: Final = b"shared/"
_NUMBER_BYTES: Final = 4


class DataKey(NamedTuple):
    """A data key as it stands in the log."""

    owner: str
    wrapped: bytes


class SharedKey(NamedTuple):
    """A shared key as it stands in the log, and in which partition."""

    name: str
    wrapped: bytes
    partition: int


def check_record(topic: str, sealed: bytes, placed_by: bytes) -> NewRecord:
    """Return the record that tells a wrong master key."""
    return NewRecord(topic, CHECK_KEY, sealed, placed_by=placed_by)


def owner_record(topic: str, owner: str, kept: bytes) -> NewRecord:
    """Return the record of an owner's keys."""
    return NewRecord(topic, _OWNER + owner.encode(), kept, placed_by=owner.encode())


def data_record(topic: str, key: WrappedKey | None, key_id: UUID, owner: str) -> NewRecord:
    """Return the record of a data key, or with None the one that shreds it."""
    label = owner.encode()
    value = None if key is None else key.wrapped + label
    return NewRecord(topic, _DATA + key_id.hex.encode(), value, placed_by=label)


def shared_record(topic: str, key_id: UUID, key: SharedKey | None, placed_by: bytes) -> NewRecord:
    """Return the record of a shared key, or with None the one that shreds it."""
    value = None if key is None else key.wrapped + key.name.encode()
    return NewRecord(topic, _SHARED + key_id.hex.encode(), value, placed_by=placed_by)


class KeyTable:
    """The wrapped keys of some partitions, as far as their records were applied.

    A data key takes some 250 bytes: its id, the wrapped key and its owner's number.
    """

    def __init__(self) -> None:
        self._data: dict[bytes, bytes] = {}
        self._shared: dict[bytes, SharedKey] = {}
        self._by_name: dict[str, set[bytes]] = {}
        self._owners: dict[str, bytes] = {}
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self.checks: dict[int, bytes] = {}
        """The check value of each partition."""

    def owner(self, owner: str) -> bytes | None:
        """Return what was kept of an owner's keys."""
        return self._owners.get(owner)

    def data(self, key_id: UUID) -> DataKey | None:
        """Return a data key, or None where there is none."""
        found = self._data.get(key_id.bytes)
        if found is None:
            return None
        number = int.from_bytes(found[:_NUMBER_BYTES], "big")
        return DataKey(self._names[number], found[_NUMBER_BYTES:])

    def shared(self, key_id: UUID) -> SharedKey | None:
        """Return a shared key, or None where there is none."""
        return self._shared.get(key_id.bytes)

    def shared_ids(self, name: str) -> list[UUID]:
        """Return the ids of the shared keys of a name."""
        return [UUID(bytes=key_id) for key_id in sorted(self._by_name.get(name, ()))]

    def apply(self, records: Iterable[LogRecord]) -> None:
        """Take over what records say, in their order.

        Raises:
            Damaged: One isn't a record of the key log.
        """
        for record in records:
            if record.is_mark:
                continue
            try:
                self._apply(record)
            except (ValueError, IndexError):
                message = (
                    f"The record at offset {record.position.offset} of partition "
                    f"{record.position.partition} isn't one of the key log."
                )
                raise Damaged(message) from None

    def _apply(self, record: LogRecord) -> None:
        key, value = record.key, record.value
        if key.startswith(_DATA):
            self._apply_data(UUID(key.removeprefix(_DATA).decode()).bytes, value)
        elif key.startswith(_SHARED):
            key_id = UUID(key.removeprefix(_SHARED).decode()).bytes
            self._apply_shared(key_id, value, record.position.partition)
        elif key.startswith(_OWNER) and value is not None:
            if len(value) != 2 * WRAPPED_BYTES:
                raise ValueError
            self._owners[key.removeprefix(_OWNER).decode()] = value
        elif key == CHECK_KEY and value is not None:
            self.checks[record.position.partition] = value
        else:
            raise ValueError

    def _apply_data(self, key_id: bytes, value: bytes | None) -> None:
        if value is None:
            self._data.pop(key_id, None)
            return
        if len(value) <= WRAPPED_BYTES:
            raise ValueError
        owner = value[WRAPPED_BYTES:].decode()
        number = self._numbers.get(owner)
        if number is None:
            number = self._numbers[owner] = len(self._names)
            self._names.append(owner)
        self._data[key_id] = number.to_bytes(_NUMBER_BYTES, "big") + value[:WRAPPED_BYTES]

    def _apply_shared(self, key_id: bytes, value: bytes | None, partition: int) -> None:
        gone = self._shared.pop(key_id, None)
        if gone is not None:
            self._by_name[gone.name].discard(key_id)
            if not self._by_name[gone.name]:
                del self._by_name[gone.name]
        if value is None:
            return
        if len(value) < WRAPPED_BYTES:
            raise ValueError
        name = value[WRAPPED_BYTES:].decode()
        self._shared[key_id] = SharedKey(name, value[:WRAPPED_BYTES], partition)
        self._by_name.setdefault(name, set()).add(key_id)
