"""The port of the key log and of sealing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from ..records import Box
from .log import NewRecord

__all__ = [
    "Keys",
    "OwnerKeys",
    "WrappedKey",
]


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A data key sealed by its owner's key, as it stands in the key log."""

    key_id: UUID
    owner: str
    wrapped: bytes


class OwnerKeys(Protocol):
    """An owner's keys, in process memory only."""

    @property
    def owner(self) -> str:
        """The owner."""
        ...

    def hash(self, kind: str, text: str) -> bytes:
        """Return a 16-byte keyed hash of a text, separate for each kind of use."""
        ...

    def term(self, term: str) -> int:
        """Return the keyed 32-bit hash of a term or entity."""
        ...

    def seal(self, plain: bytes, record: UUID) -> tuple[Box, WrappedKey]:
        """Seal under a fresh data key, with the record's id as associated data.

        The box can be opened after the wrapped key was put into the key log.
        """
        ...


class Keys(Protocol):
    """The key log and what it protects.

    Promises:
        * One data key per box; `put` is durable when it returns.
        * After `shred` returned, no copy of a box under those keys can be opened in this
          process, and in others as soon as they have read of it, which takes seconds. The
          wrapped keys' bytes are gone from the key log's files by then, or on a broker within
          the compaction lag of its topic.
        * `open_boxes` gives None for a key that is absent, and raises `Damaged` when the key is
          there but the box doesn't fit it, or was sealed for another record.
        * The keys of one owner open nothing of another.
    """

    async def owner(self, owner: str) -> OwnerKeys:
        """Return the owner's keys, made durably at the first use.

        On a broker only the writer of the owner's partition makes them. Who only reads gets keys
        of the moment for an owner who has none: they match nothing, and nobody keeps them.
        """
        ...

    async def put(self, keys: Sequence[WrappedKey]) -> None:
        """Append wrapped keys to the key log.

        Raises:
            Rejected: This process only reads it.
        """
        ...

    async def stage(self, keys: Sequence[WrappedKey]) -> list[NewRecord]:
        """Put wrapped keys in such a way that they're durable with what the log appends next.

        Returns:
            What has to be appended in the transaction of the records that these keys close; of a
            key log that is a file of its own nothing, since it has put them by then.
        """
        ...

    async def open_boxes(self, owner: str, boxes: Sequence[tuple[Box, UUID]]) -> list[bytes | None]:
        """Open (box, record id) pairs in order; None where the key was shredded."""
        ...

    async def shred(self, key_ids: Sequence[UUID]) -> None:
        """Destroy data keys; absent ones are no error."""
        ...

    async def seal_shared(self, name: str, plain: bytes) -> bytes:
        """Seal under a key that several records share, such as a tenant's day; makes it.

        Each process that writes may make one of its own; all of a name are shredded together by
        who reads them all.

        Raises:
            Rejected: This process only reads the key log.
        """
        ...

    async def open_shared(self, name: str, sealed: bytes) -> bytes | None:
        """Open what `seal_shared` sealed; None when that key was shredded."""
        ...

    async def shred_shared(self, names: Sequence[str]) -> None:
        """Destroy shared keys."""
        ...

    async def close(self) -> None:
        """Forget all keys in memory and release the file."""
        ...
