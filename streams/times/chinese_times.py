"""Reads one Chinese expression of time at a position: points, ranges and open ends."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from . import english_clocks
from .calendars import Days, nth_weekday
from .chinese_clocks import CLOCK_STARTS, read_clock, read_part
from .chinese_counts import CHINESE_COUNTS
from .chinese_days import CHINESE_DAYS
from .chinese_feasts import CHINESE_FEASTS
from .chinese_words import COUNT, WEEK, WEEKDAY_NUMBER, chinese_number, weekday_of
from .counted import around_day, moved
from .named_days import ONE_DAY, Reading, date_of
from .numeric_dates import NUMERIC_DATES
from .time_cursor import Cursor, Rules, index_rules, mapped, try_rules
from .time_ranges import Interval, after, before, from_on, resolve, since, span, until
from .time_values import Found, Within, loosely, void

__all__ = ["CHINESE_STARTS", "Read", "read_chinese", "read_chinese_day"]

Read = tuple[int, Interval | None]
"""Where an expression ends and what it means; None is nothing that can be known."""

_RULES: Final[Rules] = index_rules((*CHINESE_COUNTS, *CHINESE_FEASTS, *CHINESE_DAYS))
CHINESE_STARTS: Final = CLOCK_STARTS | frozenset(
    one for one in "".join(_RULES) + "从自打截直到下收今明后" if one > "\u3000"
)
"""Characters that an expression of time may begin with."""
_NUMERIC: Final[Rules] = index_rules(NUMERIC_DATES)


def read_chinese_day(cursor: Cursor, at: int) -> Found | None:
    """Read days at a position, with what is counted from them."""
    if at >= len(cursor.low):
        return None
    head = cursor.low[at]
    found = try_rules(_RULES, "#" if head.isdigit() else head, cursor, at)
    if found is None and head.isdigit():
        found = try_rules(_NUMERIC, "#", cursor, at)
    return found if found is None or found.nothing else _anchored(cursor, found)


# --- what hangs on a day -------------------------------------------------------------------------

_ANCHOR: Final = re.compile(
    r"的?(?:(?P<next>第二天|次日)|(?P<side>之?前|之?后|以前"
    rf"|以后)的?(?:那)?第?(?P<count>{COUNT})个?(?P<unit>天|日|周|星期|礼拜|月)(?!以?前|以?后)"
    rf"|(?P<beside>之?前|之?后|以前|以后)的?(?:那个|第一个)?{WEEK}(?P<day>{WEEKDAY_NUMBER})"
    rf"|第?(?P<nth>{COUNT}|最后一|头一)个?(?P<what>天|日|{WEEK}(?:{WEEKDAY_NUMBER}|末)?))"
)
_UNITS: Final = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
}


def _anchored(cursor: Cursor, found: Found) -> Found:
    """Add what counts from the days: 中秋前两天, 五月的第一个星期一."""
    match = _ANCHOR.match(cursor.low, found.last)
    if match is None or not found.dated or found.within is not None:
        return found
    found = found.until(match.end())
    if match["next"]:
        return mapped(found, _beside("day", 1), kind="day")
    if match["side"]:
        unit, count = _UNITS[match["unit"]], chinese_number(match["count"])
        sign = -1 if "前" in match["side"] else 1
        return mapped(found, _beside(unit, sign * count), sure=unit == "day", kind="day")
    if match["beside"]:
        weekday = weekday_of(match["day"])
        return mapped(found, _weekday_beside(weekday, earlier="前" in match["beside"]), kind="day")
    if not match[0].lstrip("的").startswith(("第", "最后", "头")) or _is_day(found):
        return found.until(match.start())
    return _nth(found, match["nth"], match["what"])


def _is_day(found: Found) -> bool:
    if found.days is not None:
        return found.days[1] - found.days[0] <= ONE_DAY
    return found.name is not None and found.name.kind in {"day", "weekday", "feast", "holiday"}


def _beside(unit: str, count: int) -> Callable[[Days], Days | None]:
    def change(days: Days) -> Days | None:
        day = moved(days[0] if count < 0 else days[1] - ONE_DAY, unit, count)
        return None if day is None else around_day(day, unit)

    return change


def _weekday_beside(weekday: int, *, earlier: bool) -> Callable[[Days], Days | None]:
    def change(days: Days) -> Days:
        if earlier:
            first = days[0] - timedelta(days=(days[0].weekday() - weekday - 1) % 7 + 1)
        else:
            first = days[1] + timedelta(days=(weekday - days[1].weekday()) % 7)
        return first, first + ONE_DAY

    return change


def _nth(found: Found, nth: str, what: str) -> Found:
    number = -1 if nth == "最后一" else 1 if nth == "头一" else chinese_number(nth)
    if what in {"天", "日"}:
        return mapped(found, _steps(number, 1), kind="day")
    if what in {"周", "星期", "礼拜"}:
        return mapped(found, _steps(number, 7), sure=False)
    weekend = what[-1] == "末"
    weekday = 5 if weekend else weekday_of(what[-1])
    length = 2 if weekend else 1

    def change(days: Days) -> Days | None:
        month = days[0] if number > 0 else days[1] - ONE_DAY
        day = nth_weekday(month.year, month.month, weekday, number)
        if day is None or not days[0] <= day < days[1]:
            return None
        return day, day + length * ONE_DAY

    return mapped(found, change, sure=not weekend, kind="day")


def _steps(number: int, length: int) -> Callable[[Days], Days | None]:
    def change(days: Days) -> Days | None:
        shift = (number - 1) * length * ONE_DAY
        first = days[1] - length * ONE_DAY if number < 0 else days[0] + shift
        return (first, min(first + length * ONE_DAY, days[1])) if first < days[1] else None

    return change


# --- points --------------------------------------------------------------------------------------


def _about(cursor: Cursor, found: Found) -> Found:
    """Make what was said loosely unsure, with its clock time."""
    timed = _beside_day(cursor, found, found.last)
    if timed is None or timed.nothing or timed.within is None:
        return found.unsure()
    return replace(timed, within=loosely(timed.within)).unsure()


_LOOSE: Final = re.compile(r"大概|大约|差不多")
_ABOUT: Final = re.compile(r"左右|前后|上下")


def _point(cursor: Cursor, at: int) -> Found | None:
    found = read_chinese_day(cursor, at)
    loose = _LOOSE.match(cursor.low, at) if found is None else None
    if loose is not None:
        found = read_chinese_day(cursor, loose.end())
    if found is None or (loose and found.within is not None):
        return _alone(cursor, at)
    about = _ABOUT.match(cursor.low, found.last)
    if found.dated and not found.nothing and (loose or about):
        return _about(cursor, found.until(about.end() if about else found.last))
    if found.nothing or not found.dated:
        return found
    for gap in (0, 1):
        start = found.last + (gap and cursor.low.startswith(("的", " "), found.last))
        if gap and start == found.last:
            break
        added = _beside_day(cursor, found, start)
        if added is not None:
            return added
    return found


_LATE: Final = frozenset({"deep night", "late night", "after midnight"})


def _beside_day(cursor: Cursor, found: Found, start: int) -> Found | None:
    """Add the part of the day and the clock time that follow a day."""
    key = found.within.part if found.within is not None else None
    timed = read_clock(cursor, start, key)
    if timed is not None:
        return timed if timed.nothing else replace(found, within=timed.within, last=timed.last)
    part = read_part(cursor, start)
    if part is None or part.within is None:
        return _in_english(cursor, found, start)
    if key is not None and not (key == "night" and part.within.part in _LATE):
        return None
    return replace(found, within=part.within, last=part.last)


def _in_english(cursor: Cursor, found: Found, start: int) -> Found | None:
    """Add a clock time or part of the day in English: 昨天 3pm, 周五 night."""
    if found.within is not None or not cursor.low[start : start + 1].isascii():
        return None
    spoken = english_clocks.read_clock(cursor, start, bare=False)
    known = english_clocks.known_clock(spoken) if spoken and not spoken.foreign else None
    if spoken is not None and known is not None:
        return replace(found, within=known, last=spoken.last)
    part = english_clocks.read_part(cursor, start)
    return None if part is None else replace(found, within=part.within, last=part.last)


def _alone(cursor: Cursor, at: int) -> Found | None:
    timed = read_clock(cursor, at, None)
    if timed is not None:
        return timed
    return read_part(cursor, at)


# --- ranges and open ends ------------------------------------------------------------------------

_TO: Final = re.compile(r" ?(?:一直)?(?:到|至|—+|~|～|-|–)(?!期|了|达|底|处|手|账) ?")
_NOW: Final = re.compile(
    r"(?:一直)?(?:到|至)(?:现在|今天为止|如今|目前|今(?![天日年晚早]))(?:为止)?"
)
_BETWEEN: Final = re.compile(r"(?:之间|期间|为止|的?这段时间)")
_NUMBER_DAY: Final = re.compile(
    r"(?P<date>\d\d?|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?:号|日)"
)
_PREFIX: Final = re.compile(r"(?P<word>自从|自打|从打|打从|从|打|自|截止到?|截至到?|直到|到)(?=.)")
_AFTER: Final = re.compile(
    r"的?(?:(?P<until>为止)|(?P<since>以来|至今)|(?P<on>起(?!来|床|码|点)|开始(?=[，,。 ]|我|你"
    r"|就|每|都|在)|(?:以后|之后)开始)|(?P<before>之前|以前|前(?!几|两|台|面|者|后|半|夕))"
    r"|(?P<after>过后|之后|以后|后(?!来|面|半|者|续|天|年)))"
)
_AND: Final = re.compile(r"(?:和|与|跟)")


def read_chinese(cursor: Cursor, at: int) -> Read | None:
    """Read the expression of time that begins with the character at a position.

    Returns:
        Its end and its interval, or its end and None where it means none, or None where no
        expression begins.
    """
    prefix = _PREFIX.match(cursor.low, at)
    workday = _WORKDAY.match(cursor.low, at)
    if workday is not None:
        return _by_end(cursor, workday)
    found = _point(cursor, prefix.end() if prefix else at)
    if found is None:
        return None
    if found.nothing:
        return found.last, None
    word = prefix["word"] if prefix else ""
    if word in _UP_TO:
        return _until(cursor, found, word)
    return _range(cursor, found) or _suffixed(cursor, found, word)


def _until(cursor: Cursor, found: Found, word: str) -> Read | None:
    end = _AFTER.match(cursor.low, found.last)
    closed = end is not None and end["until"] is not None
    if word == "到" and not closed:
        return None
    return end.end() if end and closed else found.last, until(found, cursor.reading)


_UP_TO: Final = frozenset({"截止", "截止到", "截至", "截至到", "直到", "到"})
_SINCE: Final = frozenset({"自", "自从", "自打"})
Opening = Callable[[Found, Reading], Interval | None]


def _suffixed(cursor: Cursor, found: Found, word: str) -> Read | None:
    """Read what makes an end of a point: 之前, 以后, 以来, 起."""
    reading, match = cursor.reading, _AFTER.match(cursor.low, found.last)
    if match is None:
        if word in _SINCE:
            return found.last, since(found, reading)
        closed = resolve(found, reading)
        return None if word else (found.last, closed and Interval(*closed))
    opening = _opening(match, word, found, cursor)
    if opening is None:
        closed = resolve(found, reading)
        return None if word else (found.last, closed and Interval(*closed))
    return match.end(), opening(found, reading)


def _opening(match: re.Match[str], word: str, found: Found, cursor: Cursor) -> Opening | None:
    opening: Opening | None = None
    if match["since"] or word in _SINCE or (word and match["after"]):
        opening = since
    elif match["on"]:
        opening = from_on if word else None
    elif match["until"]:
        opening = until
    elif match["after"]:
        opening = after
    elif cursor.low[found.last - 1] in "底末尾":
        opening = _by_the_end
    else:
        opening = before
    return opening


def _by_the_end(found: Found, reading: Reading) -> Interval | None:
    """Read 月底前 as by the end of the month, not before its last days."""
    end = until(found, reading)
    weekly = found.name is not None and found.name.cycle == "week"
    return end and end._replace(sure=not weekly)


def _range(cursor: Cursor, first: Found) -> Read | None:
    """Read the second end of a range behind its first."""
    now = _NOW.match(cursor.low, first.last)
    if now is not None:
        return now.end(), since(first, cursor.reading)
    gap = _TO.match(cursor.low, first.last)
    joined = False
    if gap is None:
        gap, joined = _AND.match(cursor.low, first.last), True
    if gap is None:
        return None
    second = _second(cursor, gap.end(), first)
    if second is None:
        return None
    tail = _BETWEEN.match(cursor.low, second.last)
    if joined and (tail is None or not tail[0].startswith("之间")):
        return None
    if second.nothing:
        return second.last, None
    return (tail.end() if tail else second.last), span(first, second, cursor.reading)


def _second(cursor: Cursor, at: int, first: Found) -> Found | None:
    number = _NUMBER_DAY.match(cursor.low, at)
    if number is not None and first.within is None:
        return _same_month(number, first) or _point(cursor, at)
    key = first.within.part if first.within is not None else None
    if first.within is not None and first.within.instant:
        if key is None:
            key = "afternoon" if first.within.first >= 12 * 60 else "morning"
        timed = read_clock(cursor, at, key)
        if timed is not None and timed.within is not None:
            return _later(timed, first.within)
    return _point(cursor, at)


def _later(timed: Found, first: Within) -> Found:
    # 上午十点到两点 ends in the afternoon.
    within = timed.within
    if within is not None and within.first <= first.first and within.first < 12 * 60:
        within = within._replace(first=within.first + 720, end=within.end + 720)
    return replace(timed, within=within)


def _same_month(number: re.Match[str], first: Found) -> Found | None:
    day = chinese_number(number["date"])
    if first.days is not None and first.days[1] - first.days[0] == ONE_DAY:
        name = date_of(first.days[0].month, day)
        days = name.place(first.days[0].replace(month=1, day=1))
        return Found(number.end(), days=days) if days else void(number.end())
    if first.name is not None and first.name.month and first.name.kind == "day":
        return Found(number.end(), name=date_of(first.name.month, day))
    return None


# --- business words ------------------------------------------------------------------------------

_WORKDAY: Final = re.compile(r"(?P<day>今天|明天|后天)?(?:下班|收工)(?:之前|以前|前)")


def _by_end(cursor: Cursor, match: re.Match[str]) -> Read:
    reading = cursor.reading
    shift = {"明天": 1, "后天": 2}.get(match["day"] or "", 0)
    day = reading.today + shift * ONE_DAY
    closed = resolve(Found(match.end(), days=(day, day + ONE_DAY)), reading)
    if closed is None or reading.tense == "past":
        return match.end(), None
    return match.end(), Interval(reading.now, closed.end, sure=False)
