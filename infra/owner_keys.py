"""An owner's keys in process memory: one that wraps data keys, one for hashes."""

from collections.abc import Mapping
from uuid import UUID, uuid4

from ..schemas.ports import WrappedKey
from ..schemas.records import Box
from .sealing import WRAPPED_BYTES, SealingKey, keyed_hash, new_key, term_hash

__all__ = ["SealingOwnerKeys"]


class SealingOwnerKeys:
    """`OwnerKeys`, and what opens the data keys that they wrap.

    Args:
        owner: Whose.
        wrapping: Wraps data keys, 32 bytes.
        hashing: For keyed hashes, 32 bytes.
    """

    __slots__ = ("_hashing", "_owner", "_owner_bytes", "_wrapping")

    def __init__(self, owner: str, wrapping: bytes, hashing: bytes) -> None:
        self._owner = owner
        self._owner_bytes = owner.encode()
        self._wrapping = SealingKey(wrapping)
        self._hashing = hashing

    @classmethod
    def of_the_moment(cls, owner: str) -> "SealingOwnerKeys":
        """Return new keys, which match nothing that is stored and which nobody keeps."""
        return cls(owner, new_key(), new_key())

    @classmethod
    def make(cls, owner: str, master: SealingKey) -> tuple["SealingOwnerKeys", bytes]:
        """Return new keys, and what is to be kept of them."""
        wrapping, hashing, label = new_key(), new_key(), owner.encode()
        kept = master.seal(wrapping, b"wrapping " + label)
        kept += master.seal(hashing, b"hashing " + label)
        return cls(owner, wrapping, hashing), kept

    @classmethod
    def open(cls, owner: str, kept: bytes, master: SealingKey) -> "SealingOwnerKeys":
        """Return the keys that were kept.

        Raises:
            Damaged: The master key didn't seal them for this owner.
        """
        label = owner.encode()
        return cls(
            owner,
            master.open(kept[:WRAPPED_BYTES], b"wrapping " + label),
            master.open(kept[WRAPPED_BYTES:], b"hashing " + label),
        )

    @property
    def owner(self) -> str:
        """The owner."""
        return self._owner

    def hash(self, kind: str, text: str) -> bytes:
        """Return a 16-byte keyed hash of a text, separate for each kind of use."""
        return keyed_hash(self._hashing, kind, text)

    def term(self, term: str) -> int:
        """Return the keyed 32-bit hash of a term or entity."""
        return term_hash(self._hashing, term)

    def seal(self, plain: bytes, record: UUID) -> tuple[Box, WrappedKey]:
        """Seal under a fresh data key, with the record's id as associated data."""
        key_id = uuid4()
        raw = new_key()
        sealed = SealingKey(raw).seal(plain, record.bytes)
        wrapped = self._wrapping.seal(raw, key_id.bytes + self._owner_bytes)
        return Box(key_id=key_id, sealed=sealed), WrappedKey(key_id, self._owner, wrapped)

    def unwrap(self, key_id: UUID, wrapped: bytes) -> SealingKey:
        """Open a wrapped data key.

        Raises:
            Damaged: It isn't wrapped by these keys, or under another id.
        """
        return SealingKey(self._wrapping.open(wrapped, key_id.bytes + self._owner_bytes))

    def unwrap_each(self, wrapped: Mapping[bytes, bytes]) -> dict[bytes, SealingKey]:
        """Open wrapped data keys by the 16 bytes of their ids.

        Raises:
            Damaged: As `unwrap`.
        """
        label = self._owner_bytes
        plain = self._wrapping.open_each([(one, key + label) for key, one in wrapped.items()])
        return dict(zip(wrapped, map(SealingKey, plain), strict=True))
