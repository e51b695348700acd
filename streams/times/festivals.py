"""Feasts: the day of each in a year, and the spans that their holidays fill."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from .calendars import Days, nth_weekday
from .lunar_calendar import DONGZHI, QINGMING, lunar_date, solar_term
from .named_days import Kind, Name

__all__ = ["LEAP_REACH", "feast", "feast_span", "lunar_day"]

_DAY: Final = timedelta(days=1)
_SUNDAY: Final = 6
_THURSDAY: Final = 3
LEAP_REACH: Final = 12
"""Years to either side in which a leap month is looked for."""

_UNITED_STATES: Final = frozenset(
    """America/New_York America/Chicago America/Denver America/Los_Angeles America/Anchorage
    America/Phoenix America/Detroit America/Boise America/Juneau America/Sitka America/Nome
    America/Adak America/Menominee America/Metlakatla America/Yakutat Pacific/Honolulu
    """.split()
)
_STATES_REGIONS: Final = ("US/", "America/Indiana/", "America/Kentucky/", "America/North_Dakota/")
_CANADA: Final = frozenset(
    """America/Toronto America/Vancouver America/Halifax America/Winnipeg America/Edmonton
    America/Regina America/St_Johns America/Montreal America/Moncton America/Whitehorse
    America/Yellowknife America/Iqaluit America/Glace_Bay America/Goose_Bay America/Dawson
    America/Thunder_Bay America/Inuvik America/Swift_Current""".split()
)
_BRITAIN: Final = frozenset(
    """Europe/London Europe/Belfast Europe/Jersey Europe/Guernsey Europe/Isle_of_Man
    Europe/Dublin GB Eire""".split()
)
_OCEANIA: Final = frozenset({"Pacific/Auckland", "Pacific/Chatham", "NZ", "NZ-CHAT"})

_FIXED: Final = {
    "new year": (1, 1), "epiphany": (1, 6), "groundhog": (2, 2), "valentine": (2, 14),
    "women": (3, 8), "arbor": (3, 12), "patrick": (3, 17), "fools": (4, 1), "earth": (4, 22),
    "labour": (5, 1), "youth": (5, 4), "children": (6, 1), "shopping 618": (6, 18),
    "juneteenth": (6, 19), "party": (7, 1), "fourth of july": (7, 4), "bastille": (7, 14),
    "army": (8, 1), "teachers": (9, 10), "national": (10, 1), "halloween": (10, 31),
    "all saints": (11, 1), "guy fawkes": (11, 5), "singles": (11, 11), "double twelve": (12, 12),
    "christmas eve": (12, 24), "christmas": (12, 25), "boxing": (12, 26), "new year eve": (12, 31),
}  # fmt: skip
_EASTER: Final = {
    "ash wednesday": -46, "palm sunday": -7, "maundy thursday": -3, "good friday": -2,
    "easter": 0, "easter monday": 1, "ascension": 39, "pentecost": 49, "whit monday": 50,
}  # fmt: skip
_LUNAR: Final = {
    "spring festival": (1, 1), "lantern": (1, 15), "dragon head": (2, 2), "dragon boat": (5, 5),
    "qixi": (7, 7), "ghost": (7, 15), "mid-autumn": (8, 15), "double ninth": (9, 9),
    "laba": (12, 8),
}  # fmt: skip
_TERMS: Final = {"qingming": QINGMING, "dongzhi": DONGZHI}
_HOLIDAYS: Final = frozenset({"spring festival", "national", "labour"})
"""A week of holidays for many: the day alone is unsure."""
_YEAR_ENDS: Final = frozenset({"lunar eve", "laba"})
"""At the end of the lunar year: a year word names that one for some, ours for others."""
_LAST_MONTH: Final = 12


def _easter(year: int) -> date:
    # The anonymous Gregorian algorithm (Nature, 20 April 1876).
    century, rest = divmod(year, 100)
    golden = year % 19
    moon = (
        19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15
    ) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def _thanksgiving(year: int, zone: str) -> date | None:
    if zone in _CANADA or zone.startswith("Canada/"):
        return nth_weekday(year, 10, 0, 2)
    return nth_weekday(year, 11, _THURSDAY, 4)


def _black_friday(year: int, _: str) -> date | None:
    thursday = nth_weekday(year, 11, _THURSDAY, 4)
    return thursday and thursday + _DAY


def _cyber_monday(year: int, _: str) -> date | None:
    thursday = nth_weekday(year, 11, _THURSDAY, 4)
    return thursday and thursday + 4 * _DAY


def _mothers(year: int, zone: str) -> date | None:
    return None if zone in _BRITAIN else nth_weekday(year, 5, _SUNDAY, 2)


def _fathers(year: int, zone: str) -> date | None:
    if zone in _OCEANIA or zone.startswith("Australia/"):
        return None
    return nth_weekday(year, 6, _SUNDAY, 3)


def _in_the_states(month: int, number: int) -> Callable[[int, str], date | None]:
    def day(year: int, zone: str) -> date | None:
        if zone in _UNITED_STATES or zone.startswith(_STATES_REGIONS):
            return nth_weekday(year, month, 0, number)
        return None

    return day


_BY_RULE: Final[dict[str, Callable[[int, str], date | None]]] = {
    "thanksgiving": _thanksgiving,
    "black friday": _black_friday,
    "cyber monday": _cyber_monday,
    "mothers": _mothers,
    "fathers": _fathers,
    "labor": _in_the_states(9, 1),
    "memorial": _in_the_states(5, -1),
    "presidents": _in_the_states(2, 3),
}


def _day_in(key: str, year: int, zone: str) -> date | None:
    """Return the day of a feast in a year, or None where it has none that is certain."""
    day: date | None
    if key in _FIXED:
        day = date(year, *_FIXED[key])
    elif key in _EASTER:
        day = _easter(year) + _EASTER[key] * _DAY
    elif key in _TERMS:
        day = solar_term(_TERMS[key], year)
    elif key in _BY_RULE:
        day = _BY_RULE[key](year, zone)
    elif key == "lunar eve":  # the last day of the lunar year, which is in the next of ours
        day = lunar_date(year + 1, 1, 0)
    else:
        day = lunar_date(year, *_LUNAR[key])
    return day


def feast(key: str, zone: ZoneInfo) -> Name:
    """Name a feast by its key, an English word or two in lower case."""

    def place(first: date) -> Days | None:
        day = _day_in(key, first.year, zone.key or "")
        return None if day is None else (day, day + _DAY)

    kind: Kind = "holiday" if key in _HOLIDAYS else "feast"
    return Name("year", place, "year end" if key in _YEAR_ENDS else kind)


_SPANS: Final = {
    # First day and the day after the last, counted from the feast.
    "national": (0, 7), "labour": (0, 5), "christmas": (-1, 8), "easter": (-2, 2),
    "spring festival": (-1, 7), "new year": (-1, 2), "thanksgiving": (0, 4),
}  # fmt: skip


def feast_span(key: str, zone: ZoneInfo) -> Name:
    """Name the holidays around a feast; where they have no custom, three days to either side."""
    before, after = _SPANS.get(key, (-3, 4))

    def place(first: date) -> Days | None:
        day = _day_in(key, first.year, zone.key or "")
        return None if day is None else (day + before * _DAY, day + after * _DAY)

    return Name("year", place, "feast", sure=False)


def lunar_day(month: int, day: int, *, leap: bool = False, sure: bool = True) -> Name:
    """Name a day of the lunar calendar; the year of its cycle is that of the lunar year."""

    def place(first: date) -> Days | None:
        found = lunar_date(first.year, month, day, leap=leap)
        return None if found is None else (found, found + _DAY)

    kind: Kind = "year end" if month == _LAST_MONTH else "feast"
    return Name("year", place, kind, sure, reach=LEAP_REACH if leap else 2)
