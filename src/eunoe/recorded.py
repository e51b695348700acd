"""The encoder that a store names, without its model: enough to read what is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import orjson

from .infra.wiring import STORE_FILE
from .schemas.errors import Rejected, Unavailable
from .schemas.ports import Vectors

__all__ = ["RecordedEncoder"]


@dataclass(frozen=True, slots=True)
class RecordedEncoder:
    """`Encoder` of a store that is only read.

    Args:
        id: As the store names it.
        dimension: Of the store's vectors.
    """

    id: str
    dimension: int
    languages: frozenset[str] = frozenset()
    duplicate_threshold: float = 1.0
    batch_invariant: bool = True

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read what the store in a folder names.

        Raises:
            Rejected: The folder holds no store.
        """
        try:
            fields = orjson.loads((folder / STORE_FILE).read_bytes())
            return cls(fields["encoder"], fields["dimension"])
        except (OSError, ValueError, KeyError, TypeError):
            message = f"The folder {folder} holds no store."
            raise Rejected(message) from None

    def chance(self, language: str) -> float:
        """Return -1 for any language: nothing is asked of it."""
        del language
        return -1.0

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Refuse: there is no model behind this."""
        message = f"{len(texts)} texts can't be encoded: this store is only read."
        raise Unavailable(message)

    async def close(self) -> None:
        """Nothing is held."""
