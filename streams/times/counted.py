"""Counts from now: points with a margin, stretches that roll up to now, and vague ones."""

from datetime import date, timedelta
from typing import Final

from .calendars import YEARS, Days, add_months, elapsed, midnight, month_of, week_of, year_of
from .named_days import ONE_DAY, Picked, Reading
from .time_values import Found, void

__all__ = [
    "about",
    "ahead",
    "around_day",
    "beyond",
    "exactly",
    "moved",
    "point",
    "rolling",
    "this_time",
    "turn_of",
    "vague",
]

_MINUTES: Final = {"minute": 1, "hour": 60}
_DAYS: Final = {"day": 1, "week": 7, "fortnight": 14, "half month": 15}
_MONTHS: Final = {"month": 1, "quarter": 3, "half year": 6, "year": 12, "decade": 120}
_MARGINS: Final = {"week": (3, 4), "fortnight": (3, 4), "half month": (7, 8), "month": (15, 16)}
_COUNT_MAX: Final = 4000
"""Beyond this a count of anything is no time that is remembered."""


def moved(day: date, unit: str, count: float) -> date | None:
    """Return a day some units on; a day number that a month lacks goes to its last."""
    if abs(count) > _COUNT_MAX * (10 if unit == "day" else 1):
        return None
    try:
        if unit in _MONTHS:
            found = add_months(day, round(count * _MONTHS[unit]))
        else:
            found = day + timedelta(days=round(count * _DAYS[unit]))
    except (OverflowError, ValueError):
        return None
    return found if found.year in YEARS else None


def _from_now(last: int, reading: Reading, first: float, end: float, *, sure: bool) -> Found:
    bounds = elapsed(reading.now, first), elapsed(reading.now, end)
    return Found(last, instants=bounds, sure=sure)


def _between(last: int, first: date | None, end: date | None, *, sure: bool = False) -> Found:
    if first is None or end is None or end <= first:
        return void(last)
    return Found(last, days=(first, end), sure=sure)


def around_day(day: date, unit: str, *, half: bool = False) -> Days | None:
    """Return the stretch around a counted point: half the named unit to either side."""
    if unit == "day":
        return day, day + ONE_DAY
    if unit in _MARGINS:
        before, after = _MARGINS[unit]
        return day - timedelta(days=before), day + timedelta(days=after)
    months = 3 if half else _MONTHS[unit] // 2 or 1
    if unit == "quarter":
        return day - timedelta(days=45), day + timedelta(days=46)
    return add_months(day, -months), add_months(day, months)


def point(last: int, reading: Reading, unit: str, count: float) -> Found:
    """Return what "two weeks ago" means, for a negative count; days alone are sure.

    Args:
        last: Where the expression ends.
        reading: From where it is counted.
        unit: What is counted.
        count: How many; 0.5 and 1.5 count half units.
    """
    if unit in _MINUTES:
        if abs(count) > _COUNT_MAX:
            return void(last)
        middle = count * _MINUTES[unit]
        margin = 5 if unit == "minute" else 15 if abs(count) < 1 else 30
        return _from_now(last, reading, middle - margin, middle + margin, sure=False)
    half = count % 1 != 0
    if half and unit == "month":
        unit, count = "half month", count * 2
    day = moved(reading.today, unit, count)
    if day is None:
        return void(last)
    return _margin(last, day, unit, half=half)


def _margin(last: int, day: date, unit: str, *, half: bool) -> Found:
    try:
        days = around_day(day, unit, half=half or unit == "half year")
    except (OverflowError, ValueError):
        return void(last)
    return void(last) if days is None else Found(last, days=days, sure=unit == "day")


def exactly(last: int, reading: Reading, unit: str, count: float) -> Found:
    """Return the very day; of minutes and hours the point with its margin."""
    if unit in _MINUTES:
        return point(last, reading, unit, count)
    day = moved(reading.today, unit, count)
    return _between(last, day, day and day + ONE_DAY, sure=True)


def this_time(last: int, reading: Reading, unit: str, count: int) -> Found:
    """Return "this time last year": the day with the margin of a month, of a week for weeks."""
    day = moved(reading.today, unit, count)
    if day is None:
        return void(last)
    return _margin(last, day, "week" if unit == "week" else "month", half=False).unsure()


def about(last: int, reading: Reading, unit: str, count: float) -> Found:
    """Return "about three weeks ago": from one unit more to one less; of one unit its point."""
    if abs(count) <= 1:
        return point(last, reading, unit, count).unsure()
    return _units(last, reading, unit, count - 1, count + 1)


def beyond(last: int, reading: Reading, unit: str, count: float) -> Found:
    """Return "over a year ago": from one unit more to the count itself."""
    return _units(last, reading, unit, count, count + (1 if count > 0 else -1))


def vague(last: int, reading: Reading, unit: str, near: int, far: int) -> Found:
    """Return "a few days ago": between two counts, negative in the past."""
    return _units(last, reading, unit, near, far)


def _units(last: int, reading: Reading, unit: str, one: float, other: float) -> Found:
    first, end = min(one, other), max(one, other)
    if unit in _MINUTES:
        if max(abs(first), abs(end)) > _COUNT_MAX:
            return void(last)
        size = _MINUTES[unit]
        return _from_now(last, reading, first * size, end * size, sure=False)
    return _between(last, moved(reading.today, unit, first), moved(reading.today, unit, end))


def rolling(last: int, reading: Reading, unit: str, count: float, *, sure: bool = True) -> Found:
    """Return "the last 30 days": from the midnight that many units before today to now."""
    if unit in _MINUTES:
        if count > _COUNT_MAX:
            return void(last)
        return _from_now(last, reading, -count * _MINUTES[unit], 0, sure=sure)
    day = moved(reading.today, unit, -count)
    if day is None:
        return void(last)
    return Found(last, instants=(midnight(day, reading.zone), reading.now), sure=sure)


def ahead(last: int, reading: Reading, unit: str, count: float, *, sure: bool = True) -> Found:
    """Return "the next five days", "within a week": from now to the end of the last of them."""
    if unit in _MINUTES:
        if count > _COUNT_MAX:
            return void(last)
        return _from_now(last, reading, 0, count * _MINUTES[unit], sure=sure)
    day = moved(reading.today, unit, count)
    if day is None:
        return void(last)
    end = midnight(day + ONE_DAY, reading.zone)
    return Found(last, instants=(reading.now, end), sure=sure)


def turn_of(reading: Reading, unit: str, step: int) -> Picked | None:
    """Pick the calendar week, month, quarter or year that is some steps from this one."""
    today = reading.today
    try:
        if unit == "week":
            days = week_of(today + timedelta(weeks=step), sunday=reading.sunday)
        elif unit == "month":
            first = add_months(today.replace(day=1), step)
            days = month_of(first.year, first.month)
        elif unit == "quarter":
            first = add_months(date(today.year, (today.month - 1) // 3 * 3 + 1, 1), 3 * step)
            days = first, add_months(first, 3)
        elif unit == "year":
            days = year_of(today.year + step)
        else:
            days = today + step * ONE_DAY, today + (step + 1) * ONE_DAY
    except (OverflowError, ValueError):
        return None
    return Picked(days, sure=True)
