"""English words before and after a name of days: last, this, next, a year, a preposition."""

import re
from typing import Final

from .english_words import END, FOLLOWS, YEAR
from .named_days import Name, Picked, Reading, coming, latest, placed, upcoming
from .time_cursor import Cursor

__all__ = [
    "HOW_HEADS",
    "MODIFIERS",
    "OF_YEAR",
    "PLACES",
    "TURNS",
    "ends_well",
    "is_surname",
    "modified",
    "year_named",
]

OF_YEAR: Final = (
    rf"(?:,? (?:of |in )?(?P<year>{YEAR})|,? (?:of |in )?(?P<turn>last|this|next) year{END})"
)
"""A year after a name: "2022", "in 2022", "of last year"."""
MODIFIERS: Final = (
    r"(?:(?P<how>the last|this past|the past|past|last|this coming|the coming|coming|the next|next"
    r"|this|previous) )"
)
TURNS: Final = {"last": -1, "this": 0, "next": 1}
PLACES: Final = frozenset(
    """in on at by since until till before after from to through between and of during over
    around about every each last this next past early late mid coming back or for""".split()
)
"""Words after which a name that is also another word stands for a date."""
HOW_HEADS: Final = "the last this past next coming previous"
_FOLLOWS: Final = re.compile(FOLLOWS)
_SURNAME: Final = re.compile(r" [A-Z][a-z]+")


def year_named(match: re.Match[str], reading: Reading) -> int | None:
    """Return the year that a match of OF_YEAR names."""
    if match["year"]:
        return int(match["year"])
    return reading.today.year + TURNS[match["turn"]] if match["turn"] else None


def modified(how: str, name: Name, reading: Reading) -> Picked | None:
    """Pick what last, this, next and their kin mean with a name."""
    if how in {"last", "previous"}:
        return latest(name, reading)
    if how in {"this past", "past", "the past", "the last"}:
        choice = latest(name, reading)
        return choice and Picked(choice.days, name.sure)
    if how in {"this coming", "coming", "the coming"}:
        return upcoming(name, reading)
    if how in {"next", "the next"}:
        return coming(name, reading)
    return _this(name, reading)


def _this(name: Name, reading: Reading) -> Picked | None:
    choice = placed(name, reading, 0)
    if choice is None:
        return None
    if name.kind == "weekday" and choice.days[1] <= reading.today and reading.tense != "past":
        ahead = upcoming(name, reading)
        return ahead and Picked(ahead.days, sure=False)
    return choice


def ends_well(cursor: Cursor, last: int) -> bool:
    """Tell whether a name of days may end at a position: no noun comes after it."""
    return _FOLLOWS.match(cursor.low, last) is not None


def is_surname(cursor: Cursor, last: int) -> bool:
    """Tell whether what comes after a name makes it that of a person: Wednesday Addams."""
    return _SURNAME.match(cursor.text, last) is not None and not ends_well(cursor, last)
