"""Words of a text, and whether they stand in plain anywhere in a folder."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Trace", "files", "find_words", "rare_words"]

_LETTERS_MIN: Final = 4
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003fffd"
_HAN_RUN: Final = re.compile(f"[{_HAN}]{{2,}}")
_WORD: Final = re.compile(rf"[^\W\d_{_HAN}]{{{_LETTERS_MIN},}}")
_ENCODINGS: Final = ("utf-8", "utf-16-le", "utf-16-be")
_GRAM_BYTES: Final = 6  # fewer are met by chance among sealed bytes

_PAGE_BYTES: Final = 4096
_EMPTY: Final = bytes(_PAGE_BYTES)
_GAP: Final = bytes(8)  # longer than any run of zeros inside a word


@dataclass(frozen=True, slots=True, order=True)
class Trace:
    """A word that stands in plain in a file, or in its name."""

    word: str
    file: str


def rare_words(text: str, known: str) -> list[str]:
    """Take the words of a text by which it can be told.

    Args:
        text: The text.
        known: What else was said.

    Returns:
        Words of four letters or more, and Chinese runs of two characters or more, that don't
        occur in `known`, in order.
    """
    familiar = known.casefold()
    found = [*_WORD.findall(text), *_HAN_RUN.findall(text)]
    return [word for word in dict.fromkeys(found) if word.casefold() not in familiar]


def find_words(folder: Path, words: Iterable[str]) -> list[Trace]:
    """Search every file of a folder for words, as UTF-8 and UTF-16.

    Of a Chinese run, each two or three characters in a row count as the run: a word index
    would hold the parts.

    Args:
        folder: The folder, with all that is under it.
        words: From `rare_words`.

    Returns:
        What was found; empty if the folder holds none of it in plain.
    """
    patterns = {word: frozenset(_patterns(word)) for word in words}
    return sorted(
        Trace(word, str(file.relative_to(folder)))
        for file in files(folder)
        for word in _words_in(file, patterns)
    )


def files(folder: Path) -> list[Path]:
    """List every regular file under a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _words_in(file: Path, patterns: dict[str, frozenset[bytes]]) -> Iterator[str]:
    name = str(file).encode(errors="surrogateescape")
    content = b"".join(_filled(file))
    for word, ways in patterns.items():
        if any(way in name or way in content for way in ways):
            yield word


def _filled(file: Path) -> Iterator[bytes]:
    """Read a file page by page; an empty page, of which engines make many, becomes short."""
    with file.open("rb") as opened:
        while page := opened.read(_PAGE_BYTES):
            yield _GAP if page == _EMPTY[: len(page)] else page


def _patterns(word: str) -> Iterator[bytes]:
    if not _HAN_RUN.fullmatch(word):
        for encoding in _ENCODINGS:
            yield word.encode(encoding)
            yield word.lower().encode(encoding)
        return
    for encoding in _ENCODINGS:
        size = -(-_GRAM_BYTES // len("中".encode(encoding)))
        for start in range(max(1, len(word) - size + 1)):
            yield word[start : start + size].encode(encoding)
