"""Cheap, deterministic stand-ins for encoder, recogniser and clock: no model, no thread."""

import re
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

import numpy as np

from eunoe.infra.vectors import normalise_rows
from eunoe.schemas.ports import Entity, Vectors

__all__ = ["START", "SetClock", "WordEncoder", "WordRecogniser"]

START: Final = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)
"""Where a `SetClock` begins."""

_DIMENSION: Final = 64
_HAN: Final = r"\u3400-\u9fff"
_WORD: Final = re.compile(r"[a-zà-ÿ0-9']+")
_NAME: Final = re.compile(r"\b[A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)*|《[^》]+》")
_NO_NAMES: Final = frozenset(
    "A An And At But By For From He His How I If In It My No Not On Once Our Please She Since So "
    "That The Their They This To We What When Where Who Yes You Your".split()
)


def _features(text: str) -> Iterator[str]:
    lower = text.casefold()
    yield from _WORD.findall(lower)
    packed = re.sub(r"\s+", "", lower)
    for first, second in zip(packed, packed[1:], strict=False):
        yield first + second


@lru_cache(maxsize=8192)
def _row(text: str) -> tuple[float, ...]:
    row = np.zeros(_DIMENSION)
    for feature in _features(text):
        number = zlib.crc32(feature.encode())
        row[number % _DIMENSION] += 1.0 if number & 0x10000 else -1.0
    return tuple(row.tolist())


class WordEncoder:
    """`ports.Encoder` over the hashes of words and character bigrams.

    Args:
        name: Its id.
    """

    dimension: Final = _DIMENSION
    languages: Final = frozenset(("en", "zh"))
    duplicate_threshold: Final = 0.85
    batch_invariant: Final = True

    def __init__(self, name: str = "test-64") -> None:
        self.id = name
        self.calls: list[list[str]] = []
        """What was encoded, call by call."""

    def chance(self, language: str) -> float:
        """Return what two texts without a common word may have, in any language."""
        del language
        return 0.24

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; computes at once, in the event loop."""
        self.calls.append(list(texts))
        if not texts:
            return np.zeros((0, _DIMENSION), dtype=np.float32)
        return normalise_rows(np.asarray([_row(text) for text in texts], dtype=np.float32))

    async def close(self) -> None:
        """Hold nothing, release nothing."""


class WordRecogniser:
    """`ports.Recogniser`: capitalised English words, and Chinese titles in 《》."""

    async def recognise(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Find names; computes at once, in the event loop."""
        return [list(_names(text)) for text in texts]

    async def close(self) -> None:
        """Hold nothing, release nothing."""


def _names(text: str) -> Iterator[Entity]:
    for match in _NAME.finditer(text):
        if match.group() not in _NO_NAMES:
            yield Entity(match.group(), "other", match.start(), match.end())


class SetClock:
    """`ports.Clock` that a test sets; it goes on by a second at each look.

    Args:
        start: The first moment.
        step: How far it goes on.
    """

    def __init__(self, start: datetime = START, step: timedelta = timedelta(seconds=1)) -> None:
        self.moment = start
        self.step = step

    def now(self) -> datetime:
        """Return the moment and go on."""
        moment = self.moment
        self.moment += self.step
        return moment
