"""Names of days that come again (weekday, date, month, season, feast), and which one is meant."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

from .calendars import (
    Days,
    add_months,
    last_of_month,
    month_of,
    valid_date,
    week_of,
)

__all__ = [
    "Kind",
    "Name",
    "Picked",
    "Reading",
    "Tense",
    "choose",
    "coming",
    "date_of",
    "day_of_month",
    "half_year",
    "latest",
    "month",
    "month_stretch",
    "placed",
    "quarter",
    "season",
    "starting",
    "upcoming",
    "week_stretch",
    "weekday",
    "weekend",
    "year_stretch",
]

Tense = Literal["past", "future"]
Cycle = Literal["year", "month", "week"]
Kind = Literal[
    "weekday", "day", "feast", "holiday", "year end", "month", "season", "stretch", "weekend"
]

ONE_DAY: Final = timedelta(days=1)
_RARE_REACH: Final = 8
"""February 29 is up to eight years away."""
_SOUTHERN: Final = frozenset(
    """Africa/Johannesburg Africa/Harare Africa/Maputo Africa/Lusaka Africa/Windhoek
    Africa/Gaborone Africa/Maseru Africa/Mbabane Africa/Blantyre Africa/Luanda Africa/Lubumbashi
    America/Sao_Paulo America/Santiago America/Montevideo America/Asuncion America/La_Paz
    America/Lima America/Bahia America/Recife America/Fortaleza America/Cuiaba
    America/Campo_Grande America/Punta_Arenas America/Buenos_Aires Indian/Mauritius
    Indian/Reunion Indian/Antananarivo Pacific/Auckland Pacific/Chatham Pacific/Fiji
    Pacific/Noumea Pacific/Tongatapu Pacific/Norfolk Pacific/Easter NZ Atlantic/Stanley
    Brazil/East Chile/Continental""".split()
)
_SOUTHERN_REGIONS: Final = ("Australia/", "Antarctica/", "America/Argentina/")
_SPRING: Final = 3
_SUNDAY: Final = 6


class Reading(NamedTuple):
    """From where a text is read.

    Args:
        now: The moment of the question, in its zone.
        today: Its local day.
        zone: The user's.
        tense: Of the main verb.
        sunday: Whether weeks begin on Sunday.
        elsewhere: Whether the text points at a day that isn't known: a clock time without a day
            is of that one.
    """

    now: datetime
    today: date
    zone: ZoneInfo
    tense: Tense | None
    sunday: bool
    elsewhere: bool = False

    @property
    def monday(self) -> date:
        """The first day of the running calendar week."""
        return week_of(self.today, sunday=self.sunday)[0]


class Picked(NamedTuple):
    """Days that were picked, and whether most speakers would pick them."""

    days: Days
    sure: bool


@dataclass(frozen=True, slots=True)
class Name:
    """A name of days that come again.

    Args:
        cycle: How often.
        place: The first day of a year, month or week -> its days with that name, if any.
        kind: What sort of name; some have rules of their own.
        sure: Whether its edges are the same for most speakers.
        reach: How many cycles away the nearest one may be.
        month: Of a date with a month, that month: the "7" of "June 3-7" takes it over.
    """

    cycle: Cycle
    place: Callable[[date], Days | None]
    kind: Kind = "day"
    sure: bool = True
    reach: int = 2
    month: int | None = None

    def near(self, day: date, sunday: bool = False) -> list[Days]:  # noqa: FBT001, FBT002 - as in Reading
        """Return the days with that name around a day, in order."""
        found = []
        for step in range(-self.reach, self.reach + 1):
            try:
                days = self.place(starting(self.cycle, day, step, sunday=sunday))
            except (ValueError, OverflowError):  # before year 1, or after 9999
                continue
            if days is not None:
                found.append(days)
        return found


def starting(cycle: Cycle, day: date, step: int, *, sunday: bool = False) -> date:
    """Return the first day of the year, month or week that is `step` after that of a day."""
    if cycle == "week":
        return week_of(day, sunday=sunday)[0] + timedelta(weeks=step)
    if cycle == "month":
        return add_months(day.replace(day=1), step)
    return date(day.year + step, 1, 1)


def choose(name: Name, reading: Reading) -> Picked | None:
    """Pick the day that a bare name means, by tense.

    Returns:
        In the past the latest that has begun, in the future the next that isn't over, else the
        nearest; a weekday leaves out today. None where there is none.
    """
    today, tense = reading.today, reading.tense
    near = name.near(today, reading.sunday)
    if name.kind == "weekday" and tense is not None:
        return _choose_weekday(near, reading)
    if tense == "past":
        begun = [days for days in near if days[0] <= today]
        return Picked(begun[-1], name.sure) if begun else None
    if tense == "future":
        ahead = [days for days in near if days[1] > today]
        if not ahead:
            return None
        runs = ahead[0][0] <= today and name.kind in {"month", "season"}
        return Picked(ahead[0], name.sure and not runs)
    if not near:
        return None
    return Picked(min(near, key=lambda days: _distance(days, today)), sure=False)


def _choose_weekday(near: list[Days], reading: Reading) -> Picked | None:
    today = reading.today
    sure = all(days[0] != today for days in near)
    if reading.tense == "past":
        return Picked([days for days in near if days[0] < today][-1], sure)
    return Picked(next(days for days in near if days[0] > today), sure)


def _distance(days: Days, today: date) -> tuple[int, bool]:
    first, end = days
    if first <= today < end:
        return 0, False
    behind = first <= today
    return ((today - end + ONE_DAY) if behind else (first - today)).days, behind


def latest(name: Name, reading: Reading) -> Picked | None:
    """Pick what "last" with a name means: the latest that is over."""
    today = reading.today
    over = [days for days in name.near(today, reading.sunday) if days[1] <= today]
    if not over:
        return None
    if name.kind == "weekday":
        return Picked(over[-1], over[-1][0] < reading.monday)
    near = over[-1][0].year == today.year if name.cycle == "year" else False
    return Picked(over[-1], name.sure and not near)


def coming(name: Name, reading: Reading) -> Picked | None:
    """Pick what "next" with a name means: next week's, next month's, next year's."""
    today = reading.today
    this = name.place(starting(name.cycle, today, 0, sunday=reading.sunday))
    following = name.place(starting(name.cycle, today, 1, sunday=reading.sunday))
    if following is None:
        return None
    ahead = this is not None and this[0] > today
    if name.kind == "weekday":
        # On a Sunday some count the coming days as this week's.
        return Picked(following, not ahead and today.weekday() != _SUNDAY)
    return Picked(following, name.sure and not ahead)


def upcoming(name: Name, reading: Reading) -> Picked | None:
    """Pick the first that begins after today, what "the coming" and "next" by name mean."""
    after = [days for days in name.near(reading.today, reading.sunday) if days[0] > reading.today]
    return Picked(after[0], name.sure) if after else None


def placed(name: Name, reading: Reading, step: int) -> Picked | None:
    """Pick that of this year (month, week), or of one so many steps away."""
    days = name.place(starting(name.cycle, reading.today, step, sunday=reading.sunday))
    return None if days is None else Picked(days, name.sure)


# --- names ---------------------------------------------------------------------------------------


def weekday(number: int) -> Name:
    """Name a weekday, Monday being 0."""

    def place(first: date) -> Days:
        day = first + timedelta(days=(number - first.weekday()) % 7)
        return day, day + ONE_DAY

    return Name("week", place, "weekday")


def weekend() -> Name:
    """Name the Saturday and Sunday of a week."""
    return week_stretch(5, 2, "weekend", sure=True)


def week_stretch(first: int, days: int, kind: Kind = "stretch", *, sure: bool = False) -> Name:
    """Name some days of a week, counted from Monday as 0."""

    def place(start: date) -> Days:
        begin = start + timedelta(days=(-start.weekday()) % 7 + first)
        return begin, begin + timedelta(days=days)

    return Name("week", place, kind, sure)


def day_of_month(day: int) -> Name:
    """Name a day of every month that has it."""

    def place(first: date) -> Days | None:
        return _single(valid_date(first.year, first.month, day))

    return Name("month", place)


def date_of(number: int, day: int) -> Name:
    """Name a day of a month."""

    def place(first: date) -> Days | None:
        return _single(valid_date(first.year, number, day))

    return Name("year", place, reach=_RARE_REACH if (number, day) == (2, 29) else 2, month=number)


def month(number: int) -> Name:
    """Name a month of every year."""
    return Name("year", lambda first: month_of(first.year, number), "month", month=number)


def quarter(number: int) -> Name:
    """Name a quarter, 1 to 4."""
    return _months(3 * number - 2, 3)


def half_year(number: int) -> Name:
    """Name the first or second half of a year."""
    return _months(6 * number - 5, 6)


def _months(first: int, count: int) -> Name:
    def place(year: date) -> Days:
        start = date(year.year, first, 1)
        return start, add_months(start, count)

    return Name("year", place, "month")


def season(number: int, zone: ZoneInfo) -> Name:
    """Name a season: 0 is spring. Half a year later in southern zones."""
    key = zone.key or ""
    southern = key in _SOUTHERN or key.startswith(_SOUTHERN_REGIONS)
    first = (_SPRING + 3 * number + 6 * southern - 1) % 12 + 1
    return replace(_months(first, 3), kind="season", sure=False)


def month_stretch(number: int | None, first: int, end: int | None, *, sure: bool = False) -> Name:
    """Name days of a month, or of every month.

    Args:
        number: Of the month; None is every one.
        first: Day number; below 1 it counts from the end, 0 being the last day.
        end: The day after the last; None is the end of the month.
        sure: Whether the days are defined.
    """

    def place(start: date) -> Days:
        of = number or start.month
        length = last_of_month(start.year, of)
        begin = date(start.year, of, first if first > 0 else length + first)
        stop = month_of(start.year, of)[1] if end is None else date(start.year, of, end)
        return begin, stop

    return Name("month" if number is None else "year", place, "stretch", sure)


def year_stretch(first: int, months: int) -> Name:
    """Name some months of a year, as the beginning or the end of the year."""
    return replace(_months(first, months), kind="stretch", sure=False)


def _single(day: date | None) -> Days | None:
    return None if day is None else (day, day + ONE_DAY)
