"""Dates in digits alone: ISO dates and timestamps, slashes and dots."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from .calendars import elapsed, valid_date
from .named_days import ONE_DAY, date_of
from .time_cursor import Cursor, Rule
from .time_values import Found, void

__all__ = ["NUMERIC_DATES"]

_MONTHS: Final = 12
_CENTURY: Final = 100


def _of(day: date | None, last: int) -> Found:
    return void(last) if day is None else Found(last, days=(day, day + ONE_DAY))


def _iso(match: re.Match[str], _: Cursor) -> Found:
    return _of(valid_date(int(match["y"]), int(match["m"]), int(match["d"])), match.end())


def _stamp(match: re.Match[str], cursor: Cursor) -> Found:
    last = match.end()
    day = valid_date(int(match["y"]), int(match["m"]), int(match["d"]))
    hour, minute = int(match["hour"]), int(match["minute"])
    if day is None or hour > 23 or minute > 59:  # noqa: PLR2004 - of a clock
        return void(last)
    naive = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - the zone follows
    zone = match["zone"]
    if not zone:
        start = naive.replace(tzinfo=cursor.reading.zone)
    else:
        start = (naive - _offset(zone)).replace(tzinfo=UTC).astimezone(cursor.reading.zone)
    return Found(last, instants=(start, elapsed(start, 1)))


def _offset(zone: str) -> timedelta:
    if zone == "z":
        return timedelta()
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset


def _dotted(match: re.Match[str], _: Cursor) -> Found:
    return _of(valid_date(int(match["y"]), int(match["m"]), int(match["d"])), match.end())


def _slashed(match: re.Match[str], cursor: Cursor) -> Found:
    one, other, year = int(match["one"]), int(match["other"]), int(match["y"])
    year += 2000 if year < _CENTURY else 0
    return _of(_one_reading(year, one, other, chinese=cursor.chinese), match.end())


def _one_reading(year: int, one: int, other: int, *, chinese: bool) -> date | None:
    american, european = valid_date(year, one, other), valid_date(year, other, one)
    if chinese:
        return american
    if american and european and american != european:
        return None
    return american or european


def _short(match: re.Match[str], cursor: Cursor) -> Found | None:
    one, other, last = int(match["one"]), int(match["other"]), match.end()
    beside = cursor.word_before(match.start()) in _BEFORE or _AFTER.match(cursor.low, last)
    if not beside:
        return void(last)
    day = _one_reading(2024, one, other, chinese=cursor.chinese)  # a leap year has every day
    return Found(last, name=date_of(day.month, day.day)) if day else void(last)


_BEFORE: Final = frozenset(
    "on since until till by before after from to between and through around of dated".split()
)
_AFTER: Final = re.compile(
    r" ?(?:那天|当天|那日|之前|以前|之后|以后|前|后|以来|到|至|起|的时候|号|晚上|早上|上午|下午"
    r"|中午|凌晨|我|你)"
)
_MONTH_BEFORE: Final = frozenset(
    "in during since until till before after by from to of for".split()
)


def _year_month(match: re.Match[str], cursor: Cursor) -> Found | None:
    if cursor.word_before(match.start()) not in _MONTH_BEFORE:
        return None
    month, year = int(match["m"]), int(match["y"])
    if not 1 <= month <= _MONTHS:
        return void(match.end())
    first = date(year, month, 1)
    return Found(match.end(), days=(first, date(year + month // 12, month % 12 + 1, 1)))


_END: Final = r"(?![\d/]|[-.]\d|[a-z])"

NUMERIC_DATES: Final = (
    Rule(
        "#",
        r"(?P<y>\d{4})[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)(?:t| )(?P<hour>\d\d):(?P<minute>\d\d)"
        r"(?::\d\d(?:\.\d{1,9})?)?(?P<zone> ?(?:z|(?:(?<! )[+-]\d\d(?::?\d\d)?))"
        r"(?![a-z0-9]))?(?![\d:])",
        _stamp,
    ),
    Rule(
        "#",
        rf"(?P<y>\d{{4}})(?:-(?=\d+-)|/(?=\d+/)|\.(?=\d+\.))(?P<m>\d\d?).(?P<d>\d\d?){_END}",
        _iso,
    ),
    Rule("#", rf"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{{4}}){_END}", _dotted),
    Rule("#", rf"(?P<one>\d\d?)/(?P<other>\d\d?)/(?P<y>\d{{4}}|\d\d){_END}", _slashed),
    Rule("#", rf"(?P<one>\d\d?)/(?P<other>\d\d?){_END}", _short),
    Rule("#", rf"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d){_END}", _year_month),
)
