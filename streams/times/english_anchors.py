"""English days that hang on others: the day after Christmas, the end of June, by EOD."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from .calendars import Days, add_months, midnight, nth_weekday, year_of
from .counted import around_day, moved, turn_of
from .english_words import (
    CARDINAL,
    END,
    MONTH,
    ORDINAL,
    UNIT,
    WEEKDAY,
    YEAR,
    cardinal,
    ordinal,
    unit_of,
    weekday_number,
)
from .named_days import ONE_DAY, Name, month_stretch, week_stretch, year_stretch
from .time_cursor import Cursor, Rule, mapped
from .time_values import Found, Within, part, picked, void

__all__ = ["ENGLISH_ANCHORS", "skip_clause"]

Change = Callable[[Days], Days | None]
_LONG: Final = frozenset({"season", "year"})
_WEEK: Final = 7
_CLAUSE: Final = re.compile(r"[^,.;:?!\x00]*")
_QUARTER_DAYS: Final = 100


def skip_clause(cursor: Cursor, at: int) -> Found:
    """Return the rest of a clause as nothing: it hangs on what can't be known."""
    match = _CLAUSE.match(cursor.low, at)
    return void(match.end() if match else at)


def _shift(unit: str, count: int) -> Change:
    def change(days: Days) -> Days | None:
        first = days[0] if count < 0 else days[1] - ONE_DAY
        day = moved(first, unit, count)
        return None if day is None else around_day(day, unit)

    return change


def _anchored(match: re.Match[str], cursor: Cursor) -> Found:
    target = cursor.read_day(match.end())
    if target is None or target.nothing or not target.dated:
        return skip_clause(cursor, match.end())
    sign = -1 if match["side"] in {"before", "prior to", "preceding"} else 1
    unit = unit_of(match["unit"])
    number = cardinal(match["count"]) if match["count"] else 1
    if unit in {"minute", "hour"}:
        return void(target.last)
    if match["count"] is None and match["unit"] == "week":
        return mapped(target, _week_beside(sign), sure=False)
    if match["count"] is None and unit != "day":
        return void(target.last)
    return mapped(target, _shift(unit, sign * number), sure=unit == "day", kind="day")


def _week_beside(sign: int) -> Change:
    def change(days: Days) -> Days:
        if sign < 0:
            return days[0] - timedelta(days=_WEEK), days[0]
        return days[1], days[1] + timedelta(days=_WEEK)

    return change


def _part_beside(match: re.Match[str], cursor: Cursor) -> Found:
    target = cursor.read_day(match.end())
    if target is None or target.nothing or not target.dated:
        return skip_clause(cursor, match.end())
    sign = -1 if match["side"] == "before" else 1
    shifted = mapped(target, _shift("day", sign), kind="day")
    key = match["part"]
    return Found(shifted.last, shifted.days, shifted.name, within=part(key), sure=shifted.sure)


def _weekday_beside(match: re.Match[str], cursor: Cursor) -> Found:
    target = cursor.read_day(match.end())
    if target is None or target.nothing or not target.dated:
        return skip_clause(cursor, match.end())
    number, earlier = match["day"], match["side"] == "before"
    weekday = 5 if number == "weekend" else weekday_number(number)
    length = 2 if number == "weekend" else 1

    def change(days: Days) -> Days:
        if earlier:
            back = (days[0].weekday() - weekday - length) % _WEEK + length
            first = days[0] - timedelta(days=back)
        else:
            first = days[1] + timedelta(days=(weekday - days[1].weekday()) % _WEEK)
        return first, first + timedelta(days=length)

    return mapped(target, change, kind="day")


# --- parts of months and years -------------------------------------------------------------------


def _period(cursor: Cursor, at: int) -> Found | None:
    """Read a month, year or week that something is a part of."""
    match = _THE_PERIOD.match(cursor.low, at)
    if match is None:
        year = _YEAR.match(cursor.low, at)
        if year is not None:
            return Found(year.end(), days=year_of(int(year[0])))
        found = cursor.read_day(at)
        return None if found is None or found.nothing or not found.dated else found
    turn = {"last": -1, "next": 1, "this": 0}
    if match["turn"]:
        return picked(match.end(), turn_of(cursor.reading, match["unit"], turn[match["turn"]]))
    unit = match["unit"]
    if unit == "week":
        return Found(match.end(), name=week_stretch(0, _WEEK))
    name = year_stretch(1, 12) if unit == "year" else month_stretch(None, 1, None)
    return Found(match.end(), name=name)


_THE_PERIOD: Final = re.compile(
    rf"(?:the|(?P<turn>last|next|this)) (?P<unit>week|month|year){END}", re.ASCII
)
_YEAR: Final = re.compile(YEAR, re.ASCII)


def _length(days: Days) -> str:
    count = (days[1] - days[0]).days
    if count <= _WEEK:
        return "week"
    if count < _QUARTER_DAYS:
        return "month" if count < _QUARTER_DAYS // 2 else "season"
    return "year"


def _start(days: Days) -> Days:
    first, _ = days
    unit = _length(days)
    if unit in _LONG:
        return first, add_months(first, 2 if unit == "year" else 1)
    return first, first + timedelta(days=2 if unit == "week" else _WEEK)


def _end(days: Days) -> Days:
    _, end = days
    unit = _length(days)
    if unit in _LONG:
        return add_months(end, -1), end
    if unit == "week":
        friday = end - timedelta(days=(end - ONE_DAY).weekday() - 4 + 1)
        return friday, friday + ONE_DAY
    return end - timedelta(days=_WEEK), end


def _middle(days: Days) -> Days:
    first, _ = days
    unit = _length(days)
    if unit in _LONG:
        months = (5, 7) if unit == "year" else (1, 2)
        return add_months(first, months[0]), add_months(first, months[1])
    if unit == "week":
        return first + ONE_DAY, first + 4 * ONE_DAY
    return first + 10 * ONE_DAY, first + 20 * ONE_DAY


def _early(days: Days) -> Days:
    if _length(days) in _LONG:
        return days[0], add_months(days[0], 4 if _length(days) == "year" else 1)
    return (days[0], days[0] + 10 * ONE_DAY) if _length(days) == "month" else _start(days)


def _mid(days: Days) -> Days:
    if _length(days) == "year":
        return add_months(days[0], 4), add_months(days[0], 8)
    return _middle(days)


def _late(days: Days) -> Days:
    if _length(days) in _LONG:
        return add_months(days[0], 8 if _length(days) == "year" else 2), days[1]
    if _length(days) == "month":
        return days[0] + 20 * ONE_DAY, days[1]
    return days[0] + 3 * ONE_DAY, days[0] + 5 * ONE_DAY


_PARTS: Final[dict[str, Change]] = {
    "beginning": _start, "start": _start, "middle": _middle, "end": _end,
    "early": _early, "mid": _mid, "late": _late,
}  # fmt: skip


def _part_of(match: re.Match[str], cursor: Cursor) -> Found | None:
    target = _period(cursor, match.end())
    if target is None or target.nothing:
        return None
    if target.days is not None and target.days[1] - target.days[0] < 3 * ONE_DAY:
        return None
    if target.name is not None and target.name.kind not in {"month", "stretch"}:
        return None
    if match["by"]:
        return _by_end(target, cursor)
    return mapped(target, _PARTS[match["part"]], sure=False)


def _by_end(target: Found, cursor: Cursor) -> Found:
    """Return from now to the end of the unit; with a week some mean its Friday."""
    reading = cursor.reading
    days = target.days
    if days is None and target.name is not None:
        ahead = [
            one for one in target.name.near(reading.today, reading.sunday) if one[1] > reading.today
        ]
        days = ahead[0] if ahead else None
    if days is None or days[1] <= reading.today:
        return void(target.last)
    bounds = reading.now, midnight(days[1], reading.zone)
    return Found(target.last, instants=bounds, sure=_length(days) != "week")


def _is_day(found: Found) -> bool:
    if found.days is not None:
        return found.days[1] - found.days[0] <= ONE_DAY
    return found.name is None or found.name.kind not in {"month", "season", "stretch", "weekend"}


def _nth(match: re.Match[str], cursor: Cursor) -> Found | None:
    target = _period(cursor, match.end())
    if target is None or target.nothing or _is_day(target):
        return None
    number = -1 if match["nth"] == "last" else ordinal(match["nth"])
    what = match["what"]
    if what == "day":
        return mapped(target, _nth_day(number), kind="day")
    if what == "week":
        return mapped(target, _nth_week(number), sure=False)
    weekday = 5 if what == "weekend" else weekday_number(what)
    length = 2 if what == "weekend" else 1
    return mapped(target, _nth_of(weekday, number, length), sure=length == 1, kind="day")


def _nth_day(number: int) -> Change:
    def change(days: Days) -> Days | None:
        first = days[1] - ONE_DAY if number < 0 else days[0] + (number - 1) * ONE_DAY
        return (first, first + ONE_DAY) if first < days[1] else None

    return change


def _nth_week(number: int) -> Change:
    def change(days: Days) -> Days | None:
        first = (
            days[1] - _WEEK * ONE_DAY if number < 0 else days[0] + (number - 1) * _WEEK * ONE_DAY
        )
        return (first, min(first + _WEEK * ONE_DAY, days[1])) if first < days[1] else None

    return change


def _nth_of(weekday: int, number: int, length: int) -> Change:
    def change(days: Days) -> Days | None:
        month = days[0] if number > 0 else days[1] - ONE_DAY
        day: date | None = nth_weekday(month.year, month.month, weekday, number)
        if day is None or not days[0] <= day < days[1]:
            return None
        return day, day + length * ONE_DAY

    return change


_MONTH: Final = re.compile(MONTH, re.ASCII)


def _edge(match: re.Match[str], cursor: Cursor) -> Found | None:
    word = match[0].split()[-1]
    at = match.end() + 1
    at += 3 * cursor.low.startswith(("in ", "on "), at)
    month = _MONTH.match(cursor.low, at)
    if month is not None and not cursor.text[at].isupper():
        return None
    target = _period(cursor, at)
    if target is None or target.nothing or match["by"]:
        return None
    unit_like = target.name is None or target.name.kind in {"month", "season", "stretch"}
    if not unit_like or (target.days and target.days[1] - target.days[0] < 3 * ONE_DAY):
        return None
    return mapped(target, _PARTS[word], sure=False)


def _edge_or_part(match: re.Match[str], cursor: Cursor) -> Found | None:
    return _part_of(match, cursor) if match["part"] else _edge(match, cursor)


# --- business words ------------------------------------------------------------------------------


def _end_of_day(match: re.Match[str], cursor: Cursor) -> Found:
    reading, last = cursor.reading, match.end()
    target = cursor.read_day(match.end("gap")) if match["gap"] is not None else None
    if target is not None and not target.nothing and target.dated and target.within is None:
        last = target.last
    else:
        target = Found(last, days=(reading.today, reading.today + ONE_DAY))
        last -= len(match["gap"] or "")
    within = Within(17 * 60, 24 * 60, sure=False)
    if match["by"] and target.days is not None:
        end = midnight(target.days[1], reading.zone)
        return Found(last, instants=(reading.now, end), sure=False)
    if match["by"]:
        return void(last)
    return Found(last, target.days, target.name, within=within, sure=target.sure)


def _end_of_week(match: re.Match[str], cursor: Cursor) -> Found:
    reading, week = cursor.reading, match["what"] in {"eow", "cow"}
    unit = "week" if week else "month" if match["what"] == "eom" else "year"
    name: Name = (
        week_stretch(4, 1)
        if week
        else month_stretch(None, -6, None)
        if unit == "month"
        else year_stretch(12, 1)
    )
    if match["by"]:
        choice = turn_of(reading, unit, 0)
        if choice is None:
            return void(match.end())
        bounds = reading.now, midnight(choice.days[1], reading.zone)
        return Found(match.end(), instants=bounds, sure=not week)
    return Found(match.end(), name=name)


def _midweek(match: re.Match[str], _: Cursor) -> Found:
    return Found(match.end(), name=week_stretch(1, 3))


_NUMBER_HEADS: Final = (
    "# a an one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen twenty thirty forty fifty sixty ninety"
)
_SIDE: Final = r"(?P<side>before|after|prior to|following)"

ENGLISH_ANCHORS: Final = (
    Rule(
        "the",
        rf"(?P<count>(?!))?(?:the )(?P<unit>day|week|month|year) {_SIDE} (?!yesterday|tomorrow"
        rf"|last{END}|next{END})",
        _anchored,
    ),
    Rule(_NUMBER_HEADS, rf"(?P<count>{CARDINAL}) {UNIT} (?:later )?{_SIDE} ", _anchored),
    Rule(
        "the",
        rf"the (?P<part>morning|afternoon|evening|night) (?P<side>before|after) (?!last{END})",
        _part_beside,
    ),
    Rule(
        "the",
        rf"the (?P<day>{WEEKDAY}|weekend) (?P<side>before|after) (?!last{END}|next{END})",
        _weekday_beside,
    ),
    Rule(
        "the by before beginning start middle end early mid late month year",
        r"(?P<by>(?:by|before) (?=the end|end))?(?:the )?"
        r"(?:(?:(?:very )?(?P<part>beginning|start|middle|end)) of |(?:early|mid|late)(?=[ -]))",
        _edge_or_part,
    ),
    Rule(
        "the first second third fourth fifth last",
        rf"(?:the )?(?:very )?(?P<nth>{ORDINAL}|last) (?P<what>{WEEKDAY}|weekend|week|day) (?:of"
        r"|in) ",
        _nth,
    ),
    Rule(
        "by eod end cob close the",
        r"(?P<by>by |before )?(?:the )?(?:eod|end of (?:the )?(?:business )?day|cob"
        rf"|close of business){END}(?P<gap>,? (?:on )?)?",
        _end_of_day,
    ),
    Rule(
        "by end the",
        rf"(?P<by>by |before )?(?:the )?end of(?P<gap> )(?=today{END}|tomorrow{END})",
        _end_of_day,
    ),
    Rule("by eow eom eoy", rf"(?P<by>by )?(?P<what>eow|eom|eoy){END}", _end_of_week),
    Rule("midweek mid", rf"mid-?week{END}", _midweek),
)
