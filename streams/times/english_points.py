"""Reads an English point of time at a position: a day, a clock time, or both of one."""

import re
from dataclasses import replace
from typing import Final

from . import chinese_clocks
from .english_anchors import ENGLISH_ANCHORS
from .english_clocks import Clock, known_clock, read_clock, read_part
from .english_counts import ENGLISH_COUNTS
from .english_days import ENGLISH_DAYS
from .english_feasts import ENGLISH_FEASTS
from .english_weekdays import ENGLISH_WEEKDAYS, ENGLISH_WEEKDAYS_OF_WEEKS
from .numeric_dates import NUMERIC_DATES
from .time_cursor import Cursor, Rules, any_of, index_rules, try_rules
from .time_values import Found, void

__all__ = ["ENGLISH_STARTS", "possessive", "read_bound", "read_day", "read_point"]

_RULES: Final[Rules] = index_rules(
    (
        *NUMERIC_DATES,
        *ENGLISH_ANCHORS,
        *ENGLISH_WEEKDAYS_OF_WEEKS,
        *ENGLISH_COUNTS,
        *ENGLISH_FEASTS,
        *ENGLISH_WEEKDAYS,
        *ENGLISH_DAYS,
    )
)
_THE: Final = any_of(_RULES, "the")
ENGLISH_STARTS: Final = frozenset(_RULES) | frozenset(
    """since ever up on no until till before after by prior from between around about roughly
    approximately at the morning noon midday lunchtime afternoon evening night midnight small wee
    early late half quarter a one two three four five six seven eight nine ten eleven twelve
    twenty utc gmt""".split()
)
"""Words that an expression of time may begin with."""
_HEAD: Final = re.compile(r"[a-z]+|\d", re.ASCII)
_CONNECTOR: Final = re.compile(r",? (?:at |@ ?)?(?P<loose>(?:around|about|roughly) )?")
_PART_CONNECTOR: Final = re.compile(
    r",? (?:in |during |at )?(?=the |early |late |morning|afternoon|evening|night|noon|midday)"
)
_OF: Final = re.compile(r"(?:,? on|,? of|,)? ")


def read_bound(cursor: Cursor, word: str, at: int) -> Found | None:
    """Read what begins with "by" or "before" and is an interval already: by EOD."""
    return try_rules(_RULES, word, cursor, at)


def read_day(cursor: Cursor, at: int) -> Found | None:
    """Read days at a position."""
    head = _HEAD.match(cursor.low, at)
    if head is None:
        return None
    word = head[0]
    if word == "the" and _THE.match(cursor.low, at) is None:
        return None
    return try_rules(_RULES, "#" if word.isdigit() else word, cursor, at)


def read_point(cursor: Cursor, at: int, *, bare_hour: bool = False) -> Found | None:
    """Read a day with what is said of its clock, or a clock time with its day."""
    found = read_day(cursor, at)
    if found is not None:
        return found if found.nothing else _with_clock(cursor, found)
    loose = _LOOSE.match(cursor.low, at)
    near = read_day(cursor, loose.end()) if loose and "around" in loose[0] else None
    if near is not None and near.dated:
        return _with_clock(cursor, near).unsure()
    start = loose.end() if loose else at
    clock = read_clock(cursor, start, bare=bare_hour or cursor.word_before(at) == "at")
    if clock is not None:
        return _from_clock(cursor, clock._replace(loose=loose is not None))
    return None if loose else _from_part(cursor, at)


_LOOSE: Final = re.compile(r"(?:at )?(?:around|about|roughly|approximately) ", re.ASCII)


def _with_clock(cursor: Cursor, found: Found) -> Found:
    """Add the part of the day and the clock time that follow a day."""
    if found.instants is not None:
        return found
    found = possessive(cursor, found)
    if found.nothing or found.possessive:
        return found
    mixed = _in_chinese(cursor, found) if cursor.chinese else None
    return _with_english_clock(cursor, found) if mixed is None else mixed


def _with_english_clock(cursor: Cursor, found: Found) -> Found:
    for _ in range(2):
        if found.within is None:
            gap = _PART_CONNECTOR.match(cursor.low, found.last)
            part = read_part(cursor, gap.end()) if gap else None
            if part is not None:
                found = replace(found, within=part.within, last=part.last)
                continue
        gap = _CONNECTOR.match(cursor.low, found.last)
        clock = None
        if gap is not None:
            plain = "at" in gap[0] or "@" in gap[0] or gap["loose"]
            clock = read_clock(cursor, gap.end(), bare=bool(plain))
        if clock is not None and gap is not None:
            added = _attach(found, clock._replace(loose=gap["loose"] is not None))
            if added is None:
                break
            found = added
            if found.nothing:
                return found
    return found


def _in_chinese(cursor: Cursor, found: Found) -> Found | None:
    """Add a clock time or part of the day in Chinese: last Friday 晚上, yesterday 下午三点."""
    start = found.last + cursor.low.startswith(" ", found.last)
    if found.within is not None or cursor.low[start : start + 1] < "\u3000":
        return None
    timed = chinese_clocks.read_clock(cursor, start, None) or chinese_clocks.read_part(
        cursor, start
    )
    if timed is None or timed.nothing:
        return None
    return replace(found, within=timed.within, last=timed.last)


def _attach(found: Found, clock: Clock) -> Found | None:
    if clock.foreign:
        return void(clock.last)
    key = found.within.part if found.within is not None else None
    if found.within is not None and (key is None or found.within.instant):
        return None
    within = clock.beside(key) if key else known_clock(clock)
    return None if within is None else replace(found, within=within, last=clock.last)


def _from_clock(cursor: Cursor, clock: Clock) -> Found:
    """Read the day that follows a clock time; alone it must be known by itself."""
    if clock.foreign:
        return void(clock.last)
    gap = _OF.match(cursor.low, clock.last)
    day = read_day(cursor, gap.end()) if gap else None
    if day is not None and not day.nothing and day.dated:
        day = _with_part(cursor, day)
        key = day.within.part if day.within else None
        within = clock.beside(key) if key else known_clock(clock)
        if within is None:
            return possessive(cursor, day)
        return possessive(cursor, replace(day, within=within))
    within = known_clock(clock)
    return Found(clock.last, within=within, nothing=within is None)


def _with_part(cursor: Cursor, day: Found) -> Found:
    if day.within is not None:
        return day
    gap = _PART_CONNECTOR.match(cursor.low, day.last)
    part = read_part(cursor, gap.end()) if gap else None
    return day if part is None else replace(day, within=part.within, last=part.last)


def _from_part(cursor: Cursor, at: int) -> Found | None:
    part = read_part(cursor, at)
    if part is None:
        return None
    gap = _OF.match(cursor.low, part.last)
    day = read_day(cursor, gap.end()) if gap else None
    if day is not None and day.nothing:
        return day
    if day is not None and day.dated and day.within is None:
        return possessive(cursor, replace(day, within=part.within))
    return Found(part.last, within=part.within) if part.alone else None


def possessive(cursor: Cursor, found: Found) -> Found:
    """Add the 's after a time; after a bare name it makes that nothing: Friday's meeting."""
    if not cursor.low.startswith("'s", found.last) or found.possessive:
        return found
    bare = found.name is not None and found.within is None and found.name.month is None
    last = found.last + 2
    return void(last) if bare else replace(found, last=last, possessive=True)
