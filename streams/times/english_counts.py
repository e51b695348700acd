"""English counts and calendar units: ago, in, the last, last week, so far, and the vague ones."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from .calendars import elapsed, midnight, week_of
from .counted import about, ahead, beyond, exactly, point, rolling, this_time, turn_of, vague
from .english_words import CARDINAL, END, UNIT, cardinal, unit_of
from .named_days import ONE_DAY, Reading
from .time_cursor import Cursor, Rule, mapped
from .time_values import PARTS, Found, part, picked, void

__all__ = ["ENGLISH_COUNTS"]

_TURNS: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
_LOOSE: Final = r"(?:about|around|roughly|approximately|some|nearly|almost|maybe|like)"
_HALF_UNITS: Final = {"year": "half year", "month": "half month", "hour": "hour"}
_FEW: Final = r"(?P<few>(?:a )?(?:couple(?: of)?|few)|several|some|a number of|many)"


def _day(match: re.Match[str], cursor: Cursor) -> Found:
    steps = {"yesterday": -1, "today": 0, "tomorrow": 1}
    step = steps[match["day"]]
    step += 0 if match["by"] is None else -1 if "before" in match["by"] else 1
    return picked(match.end(), turn_of(cursor.reading, "day", step))


def _night(match: re.Match[str], cursor: Cursor) -> Found:
    reading, words = cursor.reading, match[0]
    step = -2 if "before" in words else -1 if "last" in words or "yester" in words else 0
    choice = turn_of(reading, "day", step)
    key = "late night" if words.startswith("late") else "night"
    runs = step == -1 and reading.now.hour < PARTS[key][1] - 24
    return Found(match.end(), days=choice and choice.days, within=part(key), sure=not runs)


def _this_part(match: re.Match[str], cursor: Cursor) -> Found:
    key = {"noon": "noon", "lunchtime": "noon"}.get(match["part"], match["part"])
    day = cursor.reading.today + _TURNS[match["turn"]] * ONE_DAY
    return Found(match.end(), days=(day, day + ONE_DAY), within=part(key))


def _earlier(match: re.Match[str], cursor: Cursor) -> Found:
    reading, last, unit = cursor.reading, match.end(), match["unit"] or "day"
    choice = turn_of(reading, unit, 0)
    if choice is None:
        return void(last)
    first, end = (midnight(day, reading.zone) for day in choice.days)
    bounds = (reading.now, end) if match[0].startswith("later") else (first, reading.now)
    return Found(last, instants=bounds)


def _turn(match: re.Match[str], cursor: Cursor) -> Found:
    choice = turn_of(cursor.reading, match["unit"], _TURNS[match["turn"]])
    return picked(match.end(), choice)


def _turn_beyond(match: re.Match[str], cursor: Cursor) -> Found:
    step = -2 if match["side"] == "before last" else 2
    return picked(match.end(), turn_of(cursor.reading, match["unit"], step))


def _week_of(match: re.Match[str], cursor: Cursor) -> Found:
    target = cursor.read_day(match.end())
    if target is None or target.nothing:
        return void(match.end() if target is None else target.last)
    sunday = cursor.reading.sunday
    return mapped(target, lambda days: week_of(days[0], sunday=sunday))


def _count(match: re.Match[str]) -> tuple[str, float]:
    """Return the unit and how many a match counts, halves as such."""
    unit = unit_of(match["unit"])
    if match["half"]:
        return _HALF_UNITS.get(unit, unit), 1.0 if unit in {"year", "month"} else 0.5
    count = float(cardinal(match["count"]))
    return unit, count + 0.5 if match["more"] or match["rest"] else count


def _ago(match: re.Match[str], cursor: Cursor) -> Found:
    unit, count = _count(match)
    ago = match["side"] in {"ago", "back", "earlier"}
    sign = -1 if ago else 1
    last, reading, how = match.end(), cursor.reading, match["how"] or ""
    exact = match["from"] or match["side"] == "from today"
    weekday = _WEEKDAY_NEXT.match(cursor.low, last)
    if not exact and weekday:
        return void(weekday.end())
    if how.startswith(("less", "under")):
        return vague(last, reading, unit, 0, int(sign * count)) if ago else void(last)
    if match["from"]:
        return _from_day(match["from"], last, reading, unit, sign * count)
    read = about if how or match["so"] else point
    if exact or how.startswith(("exactly", "precisely")):
        read = exactly
    elif how.startswith(("over", "more", "just over")):
        read = beyond
    found = read(last, reading, unit, sign * count)
    night = match["unit"] == "night" and read is point
    return replace(found, within=part("night")) if night else found


_PARTS_FROM: Final = re.compile(r"night|morning|afternoon|evening", re.ASCII)


def _from_day(word: str, last: int, reading: Reading, unit: str, count: float) -> Found:
    """Return the day, or its part, that is counted from a named one: a week ago last night."""
    shift = -1 if word in {"yesterday", "last night"} else int(word == "tomorrow")
    found = exactly(last, reading._replace(today=reading.today + shift * ONE_DAY), unit, count)
    key = _PARTS_FROM.search(word)
    if key is None or found.days is None:
        return found
    return replace(found, within=part(key[0]))


_WEEKDAY_NEXT: Final = re.compile(r" (?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day")


def _in(match: re.Match[str], cursor: Cursor) -> Found | None:
    if cursor.reading.tense == "past":
        return None  # "in three days I finished it" is how long it took
    unit, count = _count(match)
    last, reading = match.end(), cursor.reading
    if _WEEKDAY_NEXT.match(cursor.low, last) or cursor.low.startswith(" of ", last):
        return None
    if match["today"] or (match["how"] or "").startswith("exactly"):
        return exactly(last, reading, unit, count)
    return (about if match["how"] else point)(last, reading, unit, count)


def _few_ago(match: re.Match[str], cursor: Cursor) -> Found | None:
    near, far = (1, 3) if "couple" in match["few"] else (1, 6)
    if match["side"] is not None and match["side"] not in {"ago", "back", "earlier"}:
        near, far = -near, -far
    if match["in"]:
        if cursor.reading.tense == "past":
            return None
        near, far = -abs(near), -abs(far)
    return vague(match.end(), cursor.reading, unit_of(match["unit"]), -near, -far)


def _two_or_three(match: re.Match[str], cursor: Cursor) -> Found:
    one, other = cardinal(match["count"]), cardinal(match["other"])
    return vague(match.end(), cursor.reading, unit_of(match["unit"]), 1 - one, -other)


def _or_two(match: re.Match[str], cursor: Cursor) -> Found:
    """Read "a week or two ago"."""
    return vague(match.end(), cursor.reading, unit_of(match["unit"]), 0, -cardinal(match["other"]))


def _rolling(match: re.Match[str], cursor: Cursor) -> Found:
    last, reading, unit = match.end(), cursor.reading, unit_of(match["unit"])
    if cursor.low.startswith(" of ", last):
        return void(last)  # "the last day of school" hangs on something else
    forward = match["way"] in {"next", "coming", "following", "upcoming"}
    if match["few"]:
        count = 7.0 if unit == "day" else 2.0 if match["few"].startswith("couple") else 6.0
        return (ahead if forward else rolling)(last, reading, unit, count, sure=False)
    count = 1.0
    if match["half"]:
        unit = _HALF_UNITS.get(unit, unit)
        count = 1.0 if unit.startswith("half") else 0.5
    elif match["count"]:
        count = float(cardinal(match["count"]))
    return (ahead if forward else rolling)(last, reading, unit, count)


def _within(match: re.Match[str], cursor: Cursor) -> Found:
    count, unit = float(cardinal(match["count"])), unit_of(match["unit"])
    if match["of"]:
        return void(match.end())
    return ahead(match.end(), cursor.reading, unit, count)


def _this_time(match: re.Match[str], cursor: Cursor) -> Found:
    unit, step = match["unit"], _TURNS[match["turn"]]
    if "time" in match[0].split(" ", 2)[1]:
        return this_time(match.end(), cursor.reading, unit, step)
    return exactly(match.end(), cursor.reading, unit, step)


def _so_far(match: re.Match[str], cursor: Cursor) -> Found:
    choice = turn_of(cursor.reading, match["unit"] or "day", 0)
    if choice is None:
        return void(match.end())
    start = midnight(choice.days[0], cursor.reading.zone)
    return Found(match.end(), instants=(start, cursor.reading.now))


_FUZZY: Final = {
    # First and last bound in days before today; None is now.
    "recently": (30, None), "lately": (30, None), "the other week": (28, 0),
    "the other month": (90, 0), "the other": (14, 0),
    "some": (365, 7), "while": (365, 7),
}  # fmt: skip


def _fuzzy(match: re.Match[str], cursor: Cursor) -> Found:
    reading, last = cursor.reading, match.end()
    if match["now"]:
        return Found(last, instants=(elapsed(reading.now, -60), reading.now), sure=False)
    key = next(key for key in _FUZZY if key in match[0])
    first, end = _FUZZY[key]
    start = midnight(reading.today - timedelta(days=first), reading.zone)
    until = reading.now if end is None else _before(reading, end)
    return Found(last, instants=(start, until), sure=False)


def _before(reading: Reading, days: int) -> datetime:
    return midnight(reading.today - timedelta(days=days), reading.zone)


def _pointer(match: re.Match[str], _: Cursor) -> Found:
    return void(match.end())


_NUMBERS_HEADS: Final = (
    "# a an one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety"
)
_LOOSE_HEADS: Final = (
    "about around roughly approximately some nearly almost maybe like exactly over more just "
    "precisely less under"
)
_HOW: Final = rf"(?:(?P<how>{_LOOSE}|exactly|precisely|just over|over|more than|less than|under) )?"
_COUNTED: Final = (
    rf"(?:(?P<half>half(?: an?)?)|(?P<count>{CARDINAL}))(?P<more> and a half)?[ -]{UNIT}"
    r"(?P<rest> and a half)?"
)
_SIDE: Final = (
    rf"(?P<so>or so )?(?P<side>ago|back|from now|from today|from(?= tomorrow| tonight)|hence){END}"
)
_FROM: Final = (
    r"(?: (?P<from>today|tonight|yesterday|tomorrow|last night|this (?:morning|afternoon|evening))"
    rf"{END})?"
)
_FEW_UNIT: Final = rf"{_FEW} {UNIT}"
_ROLL: Final = r"(?:the |these |this |my |our )?(?P<way>last|past|next|coming|following|upcoming)"

_AT: Final = r"(?: (?:at|around) (?:noon|midnight|\d{1,2}(?::\d\d)?(?: ?[ap]m)?))?"

ENGLISH_COUNTS: Final = (
    Rule(
        "the yesterday today tomorrow",
        r"(?:the )?(?P<by>day before (?=y)|day after (?=tom))?(?P<day>yesterday|today"
        rf"|tomorrow){END}",
        _day,
    ),
    Rule(
        "the last late tonight yesternight",
        r"(?:the night before last|late last night|late tonight|last night|tonight"
        rf"|yesternight){END}",
        _night,
    ),
    Rule("last", rf"(?P<turn>last) (?P<part>evening){END}", _this_part),
    Rule(
        "this early",
        rf"(?:early |late )?(?P<turn>this) (?P<part>morning|noon|lunchtime|afternoon|evening){END}",
        _this_part,
    ),
    Rule("tonight", r"tonight", _night),
    Rule(
        "earlier later",
        rf"(?:earlier|later)(?: on)? (?:today|tonight|this (?P<unit>week|month|quarter|year)){END}",
        _earlier,
    ),
    Rule(
        "so year",
        r"(?:so far (?=today|this)|year[- ]to[- ]date)(?:today|this (?P<unit>week|month|quarter"
        rf"|year))?{END}",
        _so_far,
    ),
    Rule(
        "this today",
        r"(?:this (?:time|day)|today) (?P<turn>last|next) (?P<unit>week|month|year)"
        rf"{END}",
        _this_time,
    ),
    Rule(
        "the",
        rf"the (?P<unit>week|month|quarter|year) (?P<side>before last|after next){END}",
        _turn_beyond,
    ),
    Rule("the", r"the week (?:of|beginning|starting) (?:the )?(?=[a-z0-9])", _week_of),
    Rule(
        f"{_NUMBERS_HEADS} {_LOOSE_HEADS} half",
        rf"{_HOW}{_COUNTED} {_SIDE}{_FROM}",
        _ago,
    ),
    Rule("in", rf"in (?:just )?{_HOW}{_COUNTED}(?:'s?)?(?: time)?{END}(?P<today>)", _in),
    Rule("in", rf"(?P<in>in) {_FEW_UNIT}(?:'s?)?(?: time)?(?P<side>)", _few_ago),
    Rule(
        "a an one",
        rf"(?:an?|one) {UNIT} or (?P<other>{CARDINAL}) (?:ago|back){END}",
        _or_two,
    ),
    Rule("a couple few several some many", rf"(?P<in>){_FEW_UNIT} {_SIDE}", _few_ago),
    Rule(
        _NUMBERS_HEADS,
        rf"(?P<count>{CARDINAL})(?: or | to |-)(?P<other>{CARDINAL}) {UNIT} (?:ago|back){END}",
        _two_or_three,
    ),
    Rule(
        "the last next previous following",
        r"(?:the (?:previous|following|next|same) (?:day|morning|afternoon|evening|night)"
        rf"|the (?:previous|following|same) (?:week|month|year)){_AT}{END}",
        _pointer,
    ),
    Rule(
        "that same the",
        r"(?:that|the same|that same) (?:day|morning|afternoon|evening|night|week|weekend|month"
        rf"|year|summer|winter|spring){_AT}{END}",
        _pointer,
    ),
    Rule(
        "the these this last past next coming following upcoming my our within",
        rf"(?:within )?{_ROLL} (?:(?P<few>few|couple(?: of)?|several) |(?P<half>half )"
        rf"|(?P<count>{CARDINAL}) )"
        rf"(?:full |whole )?{UNIT}",
        _rolling,
    ),
    Rule(
        "the past these",
        rf"(?:the (?P<way>last|past|next)|(?P<past>past)) (?P<few>)(?P<half>)(?P<count>){UNIT}",
        _rolling,
    ),
    Rule(
        "this",
        rf"this (?P<way>past) (?P<few>)(?P<half>)(?P<count>)(?P<unit>week|month|year){END}",
        _rolling,
    ),
    Rule(
        "within",
        rf"within (?:the space of )?(?P<count>{CARDINAL}) {UNIT}(?P<of> of{END})?",
        _within,
    ),
    Rule(
        "last this next current previous the",
        r"(?:the (?=current))?(?P<turn>last|this|next|current|previous) (?P<unit>week|month"
        rf"|quarter|year){END}(?!(?:,? on)? the \d\d?(?:st|nd|rd|th)| ?\d\d?号)",
        _turn,
    ),
    Rule(
        "just a moments",
        rf"(?P<now>just now|(?:just )?(?:a (?:moment|second|minute|min|sec) ago|moments ago)){END}",
        _fuzzy,
    ),
    Rule("recently lately", rf"(?P<now>)(?:recently|lately){END}", _fuzzy),
    Rule(
        "the",
        rf"(?P<now>)the other (?:day|night|evening|morning|afternoon|week|month){END}",
        _fuzzy,
    ),
    Rule(
        "some a",
        rf"(?P<now>)(?:some time ago|a (?:little |short )?while (?:ago|back)){END}",
        _fuzzy,
    ),
)
