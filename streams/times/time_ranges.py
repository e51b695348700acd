"""From what was found to intervals: days to instants, bare names by tense, ranges of two ends."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import NamedTuple

from .calendars import Days, clock_instants, day_exists, midnight
from .named_days import ONE_DAY, Picked, Reading, choose
from .time_values import Found, Within

__all__ = ["Interval", "after", "before", "by", "from_on", "resolve", "since", "span", "until"]


class Interval(NamedTuple):
    """An interval and whether it is sure; None is open."""

    start: datetime | None
    end: datetime | None
    sure: bool


class _Closed(NamedTuple):
    start: datetime
    end: datetime
    sure: bool


def resolve(found: Found, reading: Reading) -> _Closed | None:
    """Return the interval that something found means by itself, or None if it can't be known."""
    if found.nothing:
        return None
    if found.instants is not None:
        start, end = found.instants
        return _Closed(start, end, found.sure) if start < end else None
    if not found.dated:
        return None if found.within is None else _bare_clock(found.within, reading)
    choice = _days(found, reading)
    if choice is None:
        return None
    if found.within is not None:
        return _on_day(choice, found.within, reading)
    return _whole(choice.days, reading, sure=choice.sure)


def _days(found: Found, reading: Reading) -> Picked | None:
    if found.days is not None:
        return Picked(found.days, found.sure)
    if found.name is None:
        return None
    choice = choose(found.name, reading)
    return None if choice is None else Picked(choice.days, choice.sure and found.sure)


def _whole(days: Days, reading: Reading, *, sure: bool) -> _Closed | None:
    first, end = days
    if end - first == ONE_DAY and not day_exists(first, reading.zone):
        return None
    return _Closed(midnight(first, reading.zone), midnight(end, reading.zone), sure)


def _on_day(choice: Picked, within: Within, reading: Reading) -> _Closed | None:
    first, end = choice.days
    if end - first != ONE_DAY or not day_exists(first, reading.zone):
        return None
    return _at(first, within, reading, sure=choice.sure)


def _at(day: date, within: Within, reading: Reading, *, sure: bool = True) -> _Closed:
    zone = within.zone or reading.zone
    start, end, once = clock_instants(day, within.first, within.end, zone)
    if within.zone is not None:
        start, end = start.astimezone(reading.zone), end.astimezone(reading.zone)
    return _Closed(start, end, sure and within.sure and (once or not within.instant))


def _bare_clock(within: Within, reading: Reading) -> _Closed | None:
    if reading.elsewhere:
        return None
    near = [_at(reading.today + step * ONE_DAY, within, reading) for step in (-2, -1, 0, 1, 2)]
    if reading.tense == "past":
        return [one for one in near if one.start <= reading.now][-1]
    if reading.tense == "future":
        return next(one for one in near if one.end > reading.now)
    return near[2]._replace(sure=False)


# --- ranges --------------------------------------------------------------------------------------


def span(first: Found, second: Found, reading: Reading) -> Interval | None:
    """Return the interval from one thing to the end of another, with it.

    A clock time ends where it begins. What of both is a bare name is placed by tense: in the past
    the second is the latest that has begun and the first the latest before it, in the future the
    first is the next and the second the first after it.
    """
    if first.nothing or second.nothing:
        return None
    if second.within is not None and not second.dated and second.instants is None:
        return _clocks(first, second.within, reading)
    ends = _ends(first, second, reading)
    if ends is None:
        return None
    start, last = ends
    end = last.start if second.within is not None and second.within.instant else last.end
    return Interval(start.start, end, start.sure and last.sure) if start.start < end else None


def _clocks(first: Found, second: Within, reading: Reading) -> Interval | None:
    # Both on one day, that of the first; a second that is earlier lies on the next.
    if first.within is None:
        return None
    later = 24 * 60 if second.first <= first.within.first else 0
    end = second._replace(first=second.first + later, end=second.end + later)
    whole = Within(first.within.first, end.first if end.instant else end.end, zone=end.zone)
    whole = whole._replace(zone=first.within.zone or end.zone)
    found = resolve(
        Found(first.last, first.days, first.name, within=whole, sure=first.sure), reading
    )
    if found is None:
        return None
    return Interval(found.start, found.end, found.sure and first.within.sure and second.sure)


def _ends(first: Found, second: Found, reading: Reading) -> tuple[_Closed, _Closed] | None:
    if first.name is None and second.name is None:
        start, end = resolve(first, reading), resolve(second, reading)
    elif first.name is None:
        start = resolve(first, reading)
        end = start and _after(second, start, reading)
    elif second.name is None:
        end = resolve(second, reading)
        start = end and _before(first, end, reading)
    elif reading.tense == "past":
        end = _latest_begun(second, reading)
        start = end and _before(first, end, reading)
    else:
        start = resolve(first, reading)
        end = start and _after(second, start, reading)
    return None if start is None or end is None else (start, end)


def _around(found: Found, day: date, reading: Reading) -> Iterator[_Closed]:
    if found.name is None:
        return
    sure = found.sure and found.name.sure
    for days in found.name.near(day, reading.sunday):
        if found.within is None:
            one = _whole(days, reading, sure=sure)
        else:
            one = _on_day(Picked(days, sure), found.within, reading)
        if one is not None:
            yield one


def _latest_begun(found: Found, reading: Reading) -> _Closed | None:
    begun = [one for one in _around(found, reading.today, reading) if one.start <= reading.now]
    return begun[-1] if begun else None


def _before(found: Found, end: _Closed, reading: Reading) -> _Closed | None:
    earlier = [one for one in _around(found, end.start.date(), reading) if one.start < end.start]
    return earlier[-1]._replace(sure=earlier[-1].sure and end.sure) if earlier else None


def _after(found: Found, start: _Closed, reading: Reading) -> _Closed | None:
    later = [one for one in _around(found, start.start.date(), reading) if one.start > start.start]
    return later[0]._replace(sure=later[0].sure and start.sure) if later else None


# --- open ends -----------------------------------------------------------------------------------


def _with(reading: Reading, tense: str) -> Reading:
    if reading.tense is not None:
        return reading
    return reading._replace(tense="past" if tense == "past" else "future")


def since(found: Found, reading: Reading) -> Interval | None:
    """Return from the start of something to now."""
    one = resolve(found, reading._replace(tense="past"))
    if one is None or one.start >= reading.now:
        return None
    return Interval(one.start, reading.now, one.sure)


def from_on(found: Found, reading: Reading) -> Interval | None:
    """Return from the start of something on, in the past to now."""
    one = resolve(found, _with(reading, "future"))
    if one is None:
        return None
    if reading.tense == "past" and one.start < reading.now:
        return Interval(one.start, reading.now, one.sure)
    return Interval(one.start, None, one.sure)


def until(found: Found, reading: Reading) -> Interval | None:
    """Return up to the end of something; from now in the future."""
    one = resolve(found, _with(reading, "future"))
    if one is None:
        return None
    instant = found.within is not None and found.within.instant
    return _up_to(one.start if instant else one.end, reading, sure=one.sure)


def before(found: Found, reading: Reading) -> Interval | None:
    """Return up to the start of something; from now in the future."""
    one = resolve(found, _with(reading, "future"))
    return None if one is None else _up_to(one.start, reading, sure=one.sure)


def _up_to(end: datetime, reading: Reading, *, sure: bool) -> Interval | None:
    if reading.tense == "past" or (reading.tense is None and end <= reading.now):
        return Interval(None, end, sure)
    return Interval(reading.now, end, sure) if reading.now < end else None


def by(found: Found, reading: Reading) -> Interval | None:
    """Return from now to the end of something that lies ahead."""
    one = resolve(found, _with(reading, "future"))
    if one is None:
        return None
    instant = found.within is not None and found.within.instant
    end = one.start if instant else one.end
    return Interval(reading.now, end, one.sure) if reading.now < end else None


def after(found: Found, reading: Reading) -> Interval | None:
    """Return from the end of something: to now in the past, without end in the future."""
    one = resolve(found, _with(reading, "past"))
    if one is None:
        return None
    instant = found.within is not None and found.within.instant
    start = one.start if instant else one.end
    if reading.tense == "future" or start >= reading.now:
        return Interval(start, None, one.sure) if reading.tense != "past" else None
    return Interval(start, reading.now, one.sure)
