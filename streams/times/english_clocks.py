"""English clock times and parts of the day, alone and beside a day."""

import re
from datetime import UTC, timedelta, timezone
from typing import Final, NamedTuple

from .english_words import END, FOLLOWS, cardinal
from .time_cursor import Cursor
from .time_values import Within, clock, hour_in_part, loosely, part

__all__ = ["Clock", "PartFound", "known_clock", "read_clock", "read_part"]

_WORD_HOURS: Final = "one two three four five six seven eight nine ten eleven twelve"
_DIAL: Final = 12
_HOUR_DIGITS: Final = 2
_OFFSET_MAX: Final = 14
_HOUR: Final = rf"(?:\d{{1,2}}|{_WORD_HOURS.replace(' ', '|')})"
_ZONES: Final = {
    # Hours from UTC by the name before "time", of clocks that know no summer time.
    "beijing": 8, "shanghai": 8, "china": 8, "hong kong": 8, "singapore": 8, "tokyo": 9,
    "japan": 9, "seoul": 9, "dubai": 4, "india": 5.5, "moscow": 3,
}  # fmt: skip
_SHIFTING: Final = "london|paris|berlin|new york|chicago|los angeles|sydney|madrid|rome"
_PATTERN: Final = re.compile(
    rf"(?:(?P<past>half|quarter|a quarter|five|ten|twenty|twenty-five|\d\d?)(?: minutes?)?"
    rf" (?P<side>past|to|after|before) (?P<from>{_HOUR})(?: o'?clock)?"
    rf"|(?P<hour>{_HOUR})(?:[:.](?P<minute>\d\d)(?::\d\d)?|(?P<full> ?o'?clock))?)"
    r"(?: ?(?P<noon>am|pm|a\.m\.?|p\.m\.?))?(?![a-z0-9])"
    r"(?: ?(?P<zone>utc|gmt|z)(?: ?(?P<offset>[+-]\d\d?(?::?\d\d)?))?(?![a-z0-9])"
    r"| ?(?P<plain>[+-]\d\d:\d\d)(?!\d)"
    rf"| (?P<city>{'|'.join(_ZONES)}) time{END}"
    r"| (?P<bad>[ecmp][sd]?t|ist|bst|cet|cest|eet|jst|aest|eastern|central|mountain|pacific"
    rf"|{_SHIFTING})"
    r"(?: time)?(?![a-z0-9]))?"
    r"(?P<in>(?: in the (?:early )?(?P<part>morning|afternoon|evening)"
    r"| at (?P<night>night))(?![a-z0-9]))?",
    re.ASCII,
)


class Clock(NamedTuple):
    """A clock time as it is said.

    Args:
        last: The character after it.
        hour: 0 to 24.
        minute: None if only an hour is named.
        known: What it means by itself, None if morning or evening is open.
        foreign: Whether it is by a zone that can't be told.
        loose: Whether it stands for about that time.
    """

    last: int
    hour: int
    minute: int | None
    known: Within | None
    foreign: bool = False
    loose: bool = False

    def beside(self, key: str) -> Within | None:
        """Return what it means in a part of the day."""
        found = hour_in_part(key, self.hour, self.minute)
        if found is not None and self.known is not None and self.known.zone is None:
            known = self.known
            shift = 24 * 60 if found.first >= 24 * 60 > known.first + 12 * 60 else 0
            moved = known._replace(first=known.first + shift, end=known.end + shift, part=key)
            found = moved._replace(sure=known.sure and shift == 0)
        return found and (loosely(found) if self.loose else found)


def read_clock(cursor: Cursor, at: int, *, bare: bool = True) -> Clock | None:
    """Read a clock time at a position.

    Args:
        cursor: Of the text.
        at: Where it may begin.
        bare: Whether "3" alone may be one, as after "at".
    """
    match = _PATTERN.match(cursor.low, at)
    if match is None:
        return None
    minute: int | None
    if match["past"]:
        hour, minute = _past(match)
    else:
        hour = _hour(match["hour"])
        minute = int(match["minute"]) if match["minute"] else None
    marked = any(match[key] for key in ("past", "minute", "full", "noon", "zone", "city", "in"))
    if hour > 24 or (minute or 0) > 59 or not (marked or bare):  # noqa: PLR2004 - of a clock
        return None
    if match["past"] and not (match["side"] in {"past", "to"} or match["past"] == "half"):
        return None
    return _meant(match, hour, minute)


def _past(match: re.Match[str]) -> tuple[int, int]:
    word = match["past"].removeprefix("a ")
    minutes = {"half": 30, "quarter": 15}.get(word) or cardinal(word)
    hour = _hour(match["from"])
    if match["side"] in {"to", "before"}:
        return (hour - 1) % 24, 60 - minutes
    return hour, minutes


def _hour(word: str) -> int:
    return int(word) if word.isdigit() else cardinal(word)


def _meant(match: re.Match[str], hour: int, minute: int | None) -> Clock | None:
    known: Within | None = None
    last = match.end()
    if match["noon"]:
        if not 1 <= hour <= _DIAL:
            return None
        known = clock(hour % 12 + 12 * (match["noon"][0] == "p"), minute)
    elif match["part"] or match["night"]:
        known = hour_in_part(match["part"] or "night", hour, minute)
    elif match["minute"] and (
        match["zone"] or hour > _DIAL or hour == 0 or match["hour"].startswith("0")
    ):
        known = clock(hour, minute)
    if known is not None:
        zone = _zone(match)
        known = known._replace(zone=zone) if zone else known
    return Clock(last, hour, minute, known, foreign=match["bad"] is not None)


def _zone(match: re.Match[str]) -> timezone | None:
    if match["city"]:
        return timezone(timedelta(hours=_ZONES[match["city"]]))
    offset = match["offset"] or match["plain"]
    if offset:
        sign = -1 if offset[0] == "-" else 1
        digits = offset[1:].replace(":", "")
        digits = digits if len(digits) > _HOUR_DIGITS else digits + "00"
        hours = min(int(digits[:-2]), _OFFSET_MAX)
        return timezone(sign * timedelta(hours=hours, minutes=int(digits[-2:]) % 60))
    return UTC if match["zone"] else None


def known_clock(found: Clock) -> Within | None:
    """Return what a clock time means by itself, with its margin if it is loose."""
    if found.known is None:
        return None
    return loosely(found.known) if found.loose else found.known


_PARTS: Final = re.compile(
    r"(?:(?P<the>the )?(?:(?P<small>small hours|early hours|wee hours)(?: of the morning)?"
    r"|(?P<late>late at night)|(?P<deep>(?:dead|middle) of the night)"
    r"|(?:early |late )?(?P<part>morning|noon|midday|lunchtime|afternoon|evening|night"
    rf"|midnight)))(?:'s)?{END}",
    re.ASCII,
)
_KEYS: Final = {"midday": "noon", "lunchtime": "noon"}
_FOLLOWS: Final = re.compile(FOLLOWS)
_ALONE: Final = frozenset({"at", "by", "until", "till", "before", "after", "since", "around"})


class PartFound(NamedTuple):
    """A part of the day, where it ends, and whether it may stand alone."""

    last: int
    within: Within
    alone: bool


def read_part(cursor: Cursor, at: int) -> PartFound | None:
    """Read a part of the day at a position: "the morning", "night", "noon"."""
    match = _PARTS.match(cursor.low, at)
    if match is None:
        return None
    if match["small"]:
        return PartFound(match.end(), part("small hours"), alone=True)
    if match["late"]:
        return PartFound(match.end(), part("late night"), alone=True)
    if match["deep"]:
        return PartFound(match.end(), part("deep night"), alone=True)
    word = match["part"]
    if word == "midnight":
        midnight = Within(24 * 60, 25 * 60, sure=False, instant=True, part="night")
        return PartFound(match.end(), midnight, alone=True)
    follows = _FOLLOWS.match(cursor.low, match.end()) is not None
    before = cursor.word_before(match.start())
    steady = word in {"noon", "midday"}
    alone = follows and (
        (match["the"] is not None and before in {"in", "during", *_ALONE})
        or before in _ALONE
        or (steady and before in {"", "at"})
    )
    return PartFound(match.end(), part(_KEYS.get(word, word)), alone)
