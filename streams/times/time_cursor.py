"""Where a reader of times stands in a text, and the rules that it tries there."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, NamedTuple

from .calendars import Days
from .named_days import Kind, Reading
from .time_values import Found, void

__all__ = [
    "MASK",
    "Cursor",
    "Reader",
    "Rule",
    "Rules",
    "any_of",
    "index_rules",
    "mapped",
    "try_rules",
]

MASK: Final = "\x00"
"""Stands for a character that no reader may use."""

_DEPTH_MAX: Final = 4
_NAMED: Final = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A text and how it is read.

    Args:
        text: Of simple blanks, quotes and digits; as long as the original.
        low: The same in lower case.
        reading: From where it is read.
        day: Reads days at a position, for rules that hang on others.
        chinese: Whether the text holds Chinese.
        depth: How many expressions hang on each other up to here.
    """

    text: str
    low: str
    reading: Reading
    day: "Callable[[Cursor, int], Found | None]"
    chinese: bool
    depth: int = 0

    def read_day(self, at: int) -> Found | None:
        """Read days at a position that others hang on; they don't nest deeply."""
        if self.depth >= _DEPTH_MAX:
            return None
        return self.day(replace(self, depth=self.depth + 1), at)

    def word_before(self, at: int) -> str:
        """Return the word that ends right before a position, in lower case."""
        end = at
        while end > 0 and self.low[end - 1] in " -":
            end -= 1
        first = end
        while first > 0 and "a" <= self.low[first - 1] <= "z":
            first -= 1
        return self.low[first:end]


Reader = Callable[[re.Match[str], Cursor], Found | None]


class Rule(NamedTuple):
    """A pattern, the first words or characters that it may begin with, and what reads it."""

    heads: str
    pattern: str
    reader: Reader


Rules = dict[str, list[tuple[re.Pattern[str], Reader]]]


def index_rules(rules: Iterable[Rule]) -> Rules:
    """Compile rules and file them by their first words; "#" stands for digits."""
    index: Rules = {}
    for heads, source, reader in rules:
        pattern = re.compile(source, re.ASCII)
        for head in heads.split():
            index.setdefault(head, []).append((pattern, reader))
    return index


def any_of(rules: Rules, head: str) -> re.Pattern[str]:
    """Return one pattern that fits wherever one of the many rules of a word does.

    It tells in a fraction of their time that none of them fits, as mostly none does.
    """
    sources = (_NAMED.sub("(?:", pattern.pattern) for pattern, _ in rules[head])
    return re.compile("|".join(f"(?:{source})" for source in sources), re.ASCII)


def try_rules(rules: Rules, head: str, cursor: Cursor, at: int) -> Found | None:
    """Return what the first rule that fits finds.

    Args:
        rules: By first word; those of one word in order.
        head: The first word, or "#" for digits.
        cursor: Of the text.
        at: Where the word begins.
    """
    for pattern, reader in rules.get(head, ()):
        match = pattern.match(cursor.low, at)
        if match is not None:
            found = reader(match, cursor)
            if found is not None:
                return found
    return None


def mapped(
    found: Found,
    change: Callable[[Days], Days | None],
    *,
    sure: bool = True,
    kind: Kind = "stretch",
) -> Found:
    """Return the days that hang on others, as the day after them.

    Args:
        found: The others, fixed or a bare name.
        change: From their days to those meant.
        sure: Whether most speakers would agree on the change.
        kind: Of the name that comes of a bare name.
    """
    if found.nothing:
        return found
    if found.days is not None:
        days = change(found.days)
        if days is None:
            return void(found.last)
        return replace(found, days=days, sure=found.sure and sure)
    name = found.name
    if name is None:
        return void(found.last)
    place = name.place

    def changed(first: date) -> Days | None:
        days = place(first)
        return None if days is None else change(days)

    new = replace(name, place=changed, kind=kind, sure=name.sure and sure, month=None)
    return replace(found, name=new)
