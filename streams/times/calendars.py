"""Days, months and clock times of a zone. Pure arithmetic; hours elapse, days are counted."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

__all__ = [
    "MINUTES_OF_DAY",
    "YEARS",
    "Days",
    "Instants",
    "add_months",
    "clock_instants",
    "day_exists",
    "elapsed",
    "last_of_month",
    "midnight",
    "month_of",
    "nth_weekday",
    "valid_date",
    "week_of",
    "year_of",
]

Days = tuple[date, date]
"""The first day of a stretch of days, and the first that no longer belongs."""
Instants = tuple[datetime, datetime]
"""The same in instants."""

MINUTES_OF_DAY: Final = 24 * 60
YEARS: Final = range(1000, 9000)
"""Years that a date may have: its neighbours, in any zone, are still dates of the calendar."""
_DAY: Final = timedelta(days=1)
_MONTHS: Final = 12
_WEEK_DAYS: Final = 7


def valid_date(year: int, month: int, day: int) -> date | None:
    """Return the date, or None where the calendar has no such day."""
    if year not in YEARS:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


def last_of_month(year: int, month: int) -> int:
    """Return the number of the last day of a month."""
    return (add_months(date(year, month, 1), 1) - _DAY).day


def add_months(day: date, months: int) -> date:
    """Return the same day number some months on; one that is missing goes to the last."""
    index = day.year * _MONTHS + day.month - 1 + months
    year, month = index // _MONTHS, index % _MONTHS + 1
    for number in range(day.day, 0, -1):
        if found := valid_date(year, month, number):
            return found
    raise OverflowError(year)


def month_of(year: int, month: int) -> Days:
    """Return the days of a month."""
    first = date(year, month, 1)
    return first, add_months(first, 1)


def year_of(year: int) -> Days:
    """Return the days of a year."""
    return date(year, 1, 1), date(year + 1, 1, 1)


def week_of(day: date, *, sunday: bool = False) -> Days:
    """Return the calendar week that holds a day, from Monday or from Sunday."""
    first = day - timedelta(days=(day.weekday() + sunday) % _WEEK_DAYS)
    return first, first + timedelta(days=_WEEK_DAYS)


def nth_weekday(year: int, month: int, weekday: int, number: int) -> date | None:
    """Return the nth weekday of a month, from its end if the number is negative."""
    first, end = month_of(year, month)
    if number > 0:
        day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    else:
        last = end - _DAY
        day = last - timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-number - 1))
    return day if day.month == month else None


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the first instant of a day; where 00:00 doesn't exist, the first that does."""
    return _real(datetime.combine(day, time.min, zone))


def day_exists(day: date, zone: ZoneInfo) -> bool:
    """Tell whether a zone has the day: some skipped one as they crossed the date line."""
    return midnight(day, zone).date() == day


def elapsed(now: datetime, minutes: float) -> datetime:
    """Return the instant so many real minutes from now, in the zone of `now`."""
    return (now.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(now.tzinfo)


def clock_instants(
    day: date, first: int, end: int, zone: tzinfo
) -> tuple[datetime, datetime, bool]:
    """Return the instants of two clock times, in minutes after the day's midnight.

    Args:
        day: Whose clock times.
        first: The first minute; from 1440 on it lies on the next day.
        end: The minute after the last.
        zone: Whose clock.

    Returns:
        Start, end, and whether the start exists exactly once. A start that doesn't exist moves
        forward by the gap; one that comes twice begins with the first and ends with the second.
    """
    naive = datetime.combine(day, time.min)
    start = (naive + timedelta(minutes=first)).replace(tzinfo=zone)
    until = (naive + timedelta(minutes=end)).replace(tzinfo=zone)
    real = _real(start)
    if real.replace(tzinfo=None) != start.replace(tzinfo=None):
        if first == 0:
            return real, _real(until), True
        return real, _real(until), False
    if start.utcoffset() != start.replace(fold=1).utcoffset():
        return start, until.replace(fold=1), False
    return real, _real(until), True


def _real(moment: datetime) -> datetime:
    # A time in a gap comes back from UTC moved forward; every other one comes back as it was.
    return moment.astimezone(UTC).astimezone(moment.tzinfo)
