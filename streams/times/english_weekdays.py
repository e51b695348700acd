"""English weekdays: bare, with last, this and next, of a week that is named, beside a date."""

import re
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from .calendars import Days, valid_date
from .english_modifiers import HOW_HEADS, MODIFIERS, PLACES, TURNS, ends_well, is_surname, modified
from .english_words import CARDINAL, END, MONTH, WEEKDAY, cardinal, weekday_number
from .named_days import ONE_DAY, Name, latest, placed, upcoming, weekday
from .time_cursor import Cursor, Rule
from .time_values import Found, picked, void

__all__ = ["ENGLISH_WEEKDAYS", "ENGLISH_WEEKDAYS_OF_WEEKS"]

_SUN: Final = frozenset(["sat", "sun", "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri"])
_TITLES: Final = frozenset(
    "ruby casual freaky bloody manic super fat man girl joe ash palm tgi his her my".split()
)


def _of_week(match: re.Match[str], cursor: Cursor) -> Found | None:
    at = match.start("day")
    if match["day"] in _SUN and not _is_named(cursor, at):
        return None  # "they wed last week"
    name = weekday(weekday_number(match["day"]))
    how = match["week"]
    step = -2 if how.endswith("before last") else 2 if how.endswith("after next") else TURNS[how]
    return picked(match.end(), placed(name, cursor.reading, step))


def _week_on(match: re.Match[str], cursor: Cursor) -> Found:
    choice = upcoming(weekday(weekday_number(match["day"])), cursor.reading)
    weeks = timedelta(weeks=2 if (match["weeks"] or "").startswith("two") else 1)
    if choice is None:
        return void(match.end())
    first, end = choice.days
    return Found(match.end(), days=(first + weeks, end + weeks))


def _weekday_date(match: re.Match[str], cursor: Cursor) -> Found | None:
    found = cursor.read_day(match.end())
    if found is None or found.nothing or (found.name and found.name.month is None):
        return None
    number = weekday_number(match["day"])
    if found.days is not None:
        agrees = found.days[0].weekday() == number
        return found if agrees else found.unsure()
    name = found.name
    if name is None or not _is_date(cursor, match.end()):
        return None
    place = name.place

    def on_weekday(first: date) -> Days | None:
        days = place(first)
        return days if days is not None and days[0].weekday() == number else None

    return replace(found, name=replace(name, place=on_weekday, reach=6))


def _is_date(cursor: Cursor, at: int) -> bool:
    return any(one.isdigit() for one in cursor.low[at : at + 16])


def _thirteenth(match: re.Match[str], _: Cursor) -> Found:
    number, day = weekday_number(match["day"]), int(match["number"])

    def place(first: date) -> Days | None:
        found = valid_date(first.year, first.month, day)
        return (found, found + ONE_DAY) if found and found.weekday() == number else None

    return Found(match.end(), name=Name("month", place, reach=14))


def _beyond(match: re.Match[str], cursor: Cursor) -> Found | None:
    """Read "the Friday before last" and "two Fridays ago": so many of its kind back, or ahead."""
    back = match["side"] not in {"after next", "from now"}
    count = cardinal(match["count"]) if match["count"] else 2
    name, reading = weekday(weekday_number(match["day"])), cursor.reading
    choice = latest(name, reading) if back else upcoming(name, reading)
    if choice is None or not 1 <= count <= _COUNT_MAX:
        return None
    # One that was or comes in this week, or is today, some don't count.
    steady = back and choice.sure and reading.today.weekday() != choice.days[0].weekday()
    weeks = timedelta(weeks=(1 - count) if back else count - 1)
    first, end = choice.days
    return Found(match.end(), days=(first + weeks, end + weeks), sure=steady)


_COUNT_MAX: Final = 60


def _weekday(match: re.Match[str], cursor: Cursor) -> Found | None:
    word, how, at = match["day"].rstrip("."), match["how"], match.start("day")
    name = weekday(weekday_number(word))
    last = match.end() - match["day"].endswith(".")
    if word in _SUN and not (_is_named(cursor, at) and (how or _stands(cursor, at))):
        return None
    if how:
        return picked(last, modified(how, name, cursor.reading))
    before = cursor.word_before(at)
    if before in _TITLES or _is_name(cursor, last, before):
        return void(last)
    if cursor.low.startswith("'s", last):
        return void(last + 2)
    if before == "the" or (before not in PLACES and not ends_well(cursor, last)):
        return void(last)
    return Found(last, name=name)


def _is_name(cursor: Cursor, last: int, before: str) -> bool:
    if before in PLACES - {"about", "from", "to", "of", "and", "or", "for"}:
        return False
    return is_surname(cursor, last)


def _is_named(cursor: Cursor, at: int) -> bool:
    """Tell whether a short name has a capital, and isn't the test that is called SAT."""
    test = cursor.text.startswith("SAT", at) and not cursor.text.isupper()
    return cursor.text[at].isupper() and not test


def _stands(cursor: Cursor, at: int) -> bool:
    return cursor.word_before(at) in PLACES


_WEEKDAY_HEADS: Final = (
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs "
    "fri sat sun"
)
_FULL: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNT_HEADS: Final = "# a one two three four five six seven eight nine ten couple"
_WEEK: Final = r"(?P<week>last|this|next|the week before last|the week after next)"

ENGLISH_WEEKDAYS_OF_WEEKS: Final = (
    Rule(
        f"the {_WEEKDAY_HEADS}",
        rf"(?:the )?(?P<day>{WEEKDAY})(?: of| in)? (?:{_WEEK[:-1]}){END})(?: week|(?! (?:year"
        rf"|month|night|time|spring|summer|autumn|winter|{MONTH}))){END}",
        _of_week,
    ),
    Rule("last this next", rf"{_WEEK} week(?:'s| on|,)? (?P<day>{WEEKDAY})", _of_week),
)
"""Weekdays of a week that is named: they come before the week alone."""

ENGLISH_WEEKDAYS: Final = (
    Rule(
        f"the {_WEEKDAY_HEADS}",
        rf"(?P<count>(?!))?(?:the )?(?P<day>{WEEKDAY}) (?P<side>before last|after next){END}",
        _beyond,
    ),
    Rule(
        _COUNT_HEADS,
        rf"(?:(?P<count>{CARDINAL})|(?:a )?couple(?: of)?) (?P<day>{_FULL})s?"
        rf" (?P<side>ago|back|from now){END}",
        _beyond,
    ),
    Rule(
        "a one two",
        rf"(?P<weeks>a week|one week|two weeks) (?:on|from)(?: next| this)? (?P<day>{WEEKDAY})",
        _week_on,
    ),
    Rule(_WEEKDAY_HEADS, rf"(?P<day>{WEEKDAY})(?P<weeks>) week{END}", _week_on),
    Rule(
        _WEEKDAY_HEADS,
        rf"(?P<day>{WEEKDAY}) the (?P<number>\d\d?)(?:st|nd|rd|th){END}(?! of)",
        _thirteenth,
    ),
    Rule(
        f"last this next {_WEEKDAY_HEADS}",
        rf"(?:(?:last|this|next) )?(?P<day>{WEEKDAY}),? (?:the )?(?=\d|{MONTH})",
        _weekday_date,
    ),
    Rule(f"{HOW_HEADS} {_WEEKDAY_HEADS}", rf"{MODIFIERS}?(?P<day>{WEEKDAY})(?!s{END})", _weekday),
)
