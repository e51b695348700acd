"""The recogniser of mixed text: each text goes to the languages that it is written in."""

import asyncio
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from ..schemas.ports import Entity
from .jieba import ChineseNames
from .spacy import EnglishNames

__all__ = ["TextRecogniser"]

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LETTERS: Final = re.compile(r"[A-Za-zÀ-ÿ]")
# English inside Chinese text is read by the English model only where it is a clause.
_CLAUSE: Final = re.compile(r"[A-Za-z][A-Za-z0-9'’,;:\-\"() ]*(?:\s[A-Za-z'’\-]+){3,}[.!?]?")
_LOWER: Final = re.compile(r"\b[a-z]{2,}\b.*\b[a-z]{2,}\b")


class TextRecogniser:
    """`ports.Recogniser` over spaCy and jieba.

    Both block, so one thread of its own runs them; models are loaded when a text first needs
    them, and nothing is written to standard output or error.
    """

    def __init__(self) -> None:
        """Load nothing yet."""
        self._english = EnglishNames()
        self._chinese = ChineseNames()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="recogniser")

    async def recognise(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Find the names in each text.

        Returns:
            One list per text, ordered by start, without overlaps.

        Raises:
            Unavailable: No English model is installed.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self.find, list(texts))

    def find(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Find the names in each text, in the caller's thread; blocks."""
        found: list[list[Entity]] = [[] for _ in texts]
        chinese = [i for i, text in enumerate(texts) if _HAN.search(text)]
        if chinese:
            names = self._chinese.find([texts[i] for i in chinese])
            for i, entities in zip(chinese, names, strict=True):
                found[i] = entities
        pieces = [
            (i, start, end) for i, text in enumerate(texts) for start, end in _english_pieces(text)
        ]
        if pieces:
            names = self._english.find([texts[i][start:end] for i, start, end in pieces])
            for (i, start, _), entities in zip(pieces, names, strict=True):
                moved = [Entity(e.name, e.kind, e.start + start, e.end + start) for e in entities]
                found[i] = _merge(moved, found[i]) if found[i] else moved
        return found

    async def close(self) -> None:
        """End the thread; what runs is finished first."""
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)


def _english_pieces(text: str) -> list[tuple[int, int]]:
    """What of a text the English model should read: all of it, clauses of it, or nothing."""
    if not _LETTERS.search(text):
        return []
    if not _HAN.search(text):
        return [(0, len(text))]
    return [m.span() for m in _CLAUSE.finditer(text) if _LOWER.search(m.group())]


def _merge(first: list[Entity], second: list[Entity]) -> list[Entity]:
    """Keep all of `first`, and of `second` what doesn't overlap; order by start."""
    merged = list(first)
    for entity in second:
        if all(entity.end <= k.start or entity.start >= k.end for k in merged):
            merged.append(entity)
    return sorted(merged, key=lambda e: e.start)
