"""The recogniser of mixed text: each text goes to the languages that it is written in."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NamedTuple

from ..schemas.limits import (
    PIECE_CHARACTERS_MAX,
    READ_CHARACTERS_MAX,
)
from ..schemas.ports import Entity

if TYPE_CHECKING:
    from .jieba import ChineseNames
    from .spacy import EnglishNames

__all__ = ["TextRecogniser"]

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LETTERS: Final = re.compile(r"[A-Za-zÀ-ÿ]")
# English inside Chinese text is read by the English model only where it is a clause.
_CLAUSE: Final = re.compile(r"[A-Za-z][A-Za-z0-9'’,;:\-\"() ]*(?:\s[A-Za-z'’\-]+){3,}[.!?]?")
_LOWER: Final = re.compile(r"\b[a-z]{2,}\b.*\b[a-z]{2,}\b")


_BORDERS: Final = ("\n", "。", ". ", " ")


class _Piece(NamedTuple):
    row: int
    start: int
    text: str


class TextRecogniser:
    """`ports.Recogniser` over spaCy and jieba.

    Both block, so one thread of its own runs them; models are loaded when a text first needs
    them, and nothing is written to standard output or error.
    """

    def __init__(self) -> None:
        """Load nothing yet."""
        self._finders: tuple[EnglishNames, ChineseNames] | None = None
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
        """Find the names in each text, in the caller's thread; blocks.

        Names behind the first 50 000 characters of a text are not looked for.
        """
        if self._finders is None:
            # Here, since their patterns alone take commands that find nothing 40 ms.
            from .jieba import ChineseNames  # noqa: PLC0415 - as said
            from .spacy import EnglishNames  # noqa: PLC0415 - as said

            self._finders = EnglishNames(), ChineseNames()
        english_names, chinese_names = self._finders
        found: list[list[Entity]] = [[] for _ in texts]
        chinese: list[_Piece] = []
        english: list[_Piece] = []
        for index, text in enumerate(texts):
            for start, end in _pieces(text):
                part = text[start:end]
                if _HAN.search(part):
                    chinese.append(_Piece(index, start, part))
                for left, right in _english_spans(part):
                    english.append(_Piece(index, start + left, part[left:right]))
        for pieces, finder in ((english, english_names.find), (chinese, chinese_names.find)):
            names = finder([piece.text for piece in pieces]) if pieces else []
            for piece, entities in zip(pieces, names, strict=True):
                _add(found[piece.row], piece, entities)
        return [sorted(entities, key=lambda entity: entity.start) for entities in found]

    async def close(self) -> None:
        """End the thread; what runs is finished first."""
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Cut a long text at borders, so that the work grows with its length and no faster."""
    start = 0
    length = min(len(text), READ_CHARACTERS_MAX)
    while start < length:
        end = min(start + PIECE_CHARACTERS_MAX, length)
        if end < length:
            borders = [
                text.rfind(mark, start + PIECE_CHARACTERS_MAX // 2, end) for mark in _BORDERS
            ]
            end = max(borders) + 1 or end
        yield start, end
        start = end


def _english_spans(text: str) -> Iterator[tuple[int, int]]:
    """What of a text the English model should read: all of it, clauses of it, or nothing."""
    if not _LETTERS.search(text):
        return
    if not _HAN.search(text):
        yield 0, len(text)
        return
    for match in _CLAUSE.finditer(text):
        if _LOWER.search(match.group()):
            yield match.span()


def _add(kept: list[Entity], piece: _Piece, entities: Sequence[Entity]) -> None:
    """Add a piece's entities that overlap nothing found there before."""
    end = piece.start + len(piece.text)
    before = [one for one in kept if one.end > piece.start and one.start < end]
    for entity in entities:
        moved = entity._replace(start=entity.start + piece.start, end=entity.end + piece.start)
        if all(moved.end <= one.start or moved.start >= one.end for one in before):
            kept.append(moved)
