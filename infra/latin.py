"""Names in Latin letters by their capitals, whatever language stands around them."""

import re
from collections.abc import Iterator
from typing import Final

from ..schemas.ports import EntityKind
from .english_words import CALENDAR, LANGUAGES, NOT_NAMES, SUFFIX_KINDS, TITLES

__all__ = [
    "camel_spans",
    "find_latin",
    "is_acronym",
    "is_no_name",
    "kind_of_phrase",
    "latin_phrases",
]

_WORD: Final = r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ÿ0-9]*(?:(?:-|['’](?!s\b))[A-Za-zÀ-ÖØ-öø-ÿ0-9]+)*"
_PHRASE: Final = re.compile(
    rf"(?<![A-Za-zÀ-ÿ0-9_@./\\:-]){_WORD}"
    rf"(?:(?:\ (?:of|of\ the|de|la|van|von|der|den|del|da|di|y|&)\ |\ ){_WORD})*"
)
_CAMEL: Final = re.compile(
    r"(?<![A-Za-zÀ-ÿ0-9_@./\\])(?:[a-z]{1,3}[A-Z][a-z]+[A-Za-z0-9]*"
    r"|[A-Z][a-z]+(?:[A-Z][a-z0-9]+)+)(?![A-Za-zÀ-ÿ0-9_])"
)
_CONTRACTION: Final = re.compile(r"'(?:ll|ve|re|m|d|s)$")
_ABBREVIATED: Final = 3
_CHINESE_PROJECT: Final = re.compile(r"\s*(?:项目|管道|计划|工程|流水线|仓库|存储库|仪表板)")


def kind_of_phrase(name: str, label: EntityKind | None = None) -> EntityKind:
    """Guess what a name is of from its last word.

    Args:
        name: The name.
        label: What a model said, used where the name itself tells nothing.
    """
    last = name.rsplit(" ", 1)[-1].lower()
    for kind in ("organization", "place", "project", "product"):
        if " " in name and last in SUFFIX_KINDS[kind]:
            return kind
    return label or "other"


def is_acronym(word: str) -> bool:
    """Whether a word is all capitals: a name only where the model says so."""
    return len(word) > 1 and word.upper() == word and not any(c.islower() for c in word)


def is_no_name(word: str) -> bool:
    """Whether a word has capitals without being a name: calendar, languages, function words."""
    lower = word.lower().replace("’", "'")
    lower = _CONTRACTION.sub("", lower)
    return lower in NOT_NAMES or lower in CALENDAR or lower in LANGUAGES


def _ends_no_name(word: str) -> bool:
    # Mar and Jan end people's names as well as dates.
    return word[0].islower() or (
        is_no_name(word) and not (word.lower() in CALENDAR and len(word) == _ABBREVIATED)
    )


def latin_phrases(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of capitalised phrases, trimmed of words that never belong to a name."""
    for match in _PHRASE.finditer(text):
        start = match.start()
        words = list(re.finditer(r"\S+", match.group()))
        while words and (
            is_no_name(words[0].group())
            or words[0].group().lower() in TITLES
            or is_acronym(words[0].group())
        ):
            words = words[1:]
        while words and _ends_no_name(words[-1].group()):
            words = words[:-1]
        if len(words) > 1 and is_acronym(words[-1].group()):
            words = words[:-1]
        if words:
            yield start + words[0].start(), start + words[-1].end()


def camel_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of words with a capital inside, such as product names."""
    for match in _CAMEL.finditer(text):
        if is_no_name(match.group()):
            continue
        yield match.span()


def find_latin(text: str) -> Iterator[tuple[int, int, EntityKind]]:
    """Yield (start, end, kind) of the names in Latin letters inside a text of another script."""
    taken: set[int] = set()
    for start, end in latin_phrases(text):
        name = text[start:end]
        if len(name) <= 1 or is_acronym(name):
            continue
        taken.update(range(start, end))
        if _CHINESE_PROJECT.match(text, end):
            yield start, end, "project"
        else:
            yield start, end, kind_of_phrase(name, "person" if " " in name else None)
    for start, end in camel_spans(text):
        if start not in taken:
            yield start, end, "product"
