"""Reads one English expression of time at a position: points, ranges and open ends."""

import re
from dataclasses import replace
from typing import Final

from .english_anchors import skip_clause
from .english_clocks import Clock, known_clock, read_clock
from .english_points import possessive, read_bound, read_point
from .english_words import END, MONTH
from .named_days import ONE_DAY, date_of
from .time_cursor import Cursor
from .time_ranges import Interval, after, before, by, from_on, resolve, since, span, until
from .time_values import Found, Within, void

__all__ = ["Read", "read_english"]

Read = tuple[int, Interval | None]
"""Where an expression ends and what it means; None is nothing that can be known."""
_TO: Final = re.compile(r"(?: to | through | thru | until | till | ?[-–—~] ?)(?=[a-z0-9])")
_AND: Final = re.compile(r",? and (?=[a-z0-9])")
_NUMBER: Final = re.compile(
    r"(?:the )?(?P<date>\d\d?)(?:st|nd|rd|th)?(?![\d:/.]\d|[a-z\d]"
    rf"| ?[ap]\.?m)(?: of)?(?: (?P<month>{MONTH}))?",
    re.ASCII,
)
_CHANGED: Final = re.compile(
    r"(?:mov|shift|reschedul|postpon|chang|push|delay)(?:e|ed|es|ing|ped)?(?![a-z]).{0,40}$"
)
_ON: Final = re.compile(rf" (?:on|onwards?){END}")


def _range(cursor: Cursor, at: int, first: Found, *, joined: str) -> Read | None:
    """Read the second end of a range behind its first."""
    gap = (_AND if joined == "and" else _TO).match(cursor.low, first.last)
    if gap is None:
        return None
    second = _second(cursor, gap.end(), first)
    if second is None:
        return None
    if _CHANGED.search(cursor.low, 0, at) or second.nothing:
        return second.last, None
    first = _completed(first, second)
    return second.last, span(first, second, cursor.reading)


def _second(cursor: Cursor, at: int, first: Found) -> Found | None:
    number = _NUMBER.match(cursor.low, at)
    month = first.name.month if first.name else None
    if month is None and first.days and first.days[1] - first.days[0] == ONE_DAY:
        month = first.days[0].month
    if number is not None and number["month"] is None and month and first.within is None:
        name = date_of(month, int(number["date"]))
        if first.days is not None:
            days = name.place(first.days[0].replace(month=1, day=1))
            return Found(number.end(), days=days) if days else void(number.end())
        return Found(number.end(), name=name)
    second = read_point(cursor, at, bare_hour=True)
    if second is None or first.within is None or not second.nothing:
        return second
    clock = read_clock(cursor, at)
    key = first.within.part or ("afternoon" if first.within.first >= 12 * 60 else "morning")
    within = clock.beside("night" if key == "evening" else key) if clock else None
    return second if clock is None or within is None else Found(clock.last, within=within)


def _completed(first: Found, second: Found) -> Found:
    # "between 2 pm and 5 pm yesterday": the first is of the day that the second names.
    if first.within is not None and not first.dated and second.dated and second.within is not None:
        return replace(second, within=first.within)
    return first


def _day_range(cursor: Cursor, day: Found) -> Read | None:
    """Read the clock times between which something happened on a day."""
    gap = _BETWEEN.match(cursor.low, day.last)
    if gap is None or not day.dated or (day.within is not None and day.within.instant):
        return None
    key = day.within.part if day.within is not None else None
    first = _hour(cursor, gap.end(), key)
    joint = first and (_TO.match(cursor.low, first[0]) or _AND.match(cursor.low, first[0]))
    second = _hour(cursor, joint.end(), key) if joint else None
    if first is None or second is None:
        return None
    start, end = first[1], second[1]
    if end is not None and start is None:  # "from 2 to 5 pm"
        start = _hour_before(first[2], end)
    if start is None or end is None:
        return None
    head = replace(day, within=start)
    return second[0], span(head, Found(second[0], within=end), cursor.reading)


_BETWEEN: Final = re.compile(r",? (?:between|from) ")


def _hour(cursor: Cursor, at: int, key: str | None) -> tuple[int, Within | None, Clock] | None:
    clock = read_clock(cursor, at)
    if clock is None or clock.foreign:
        return None
    within = clock.beside(key) if key else known_clock(clock)
    return clock.last, within, clock


def _bare_first(cursor: Cursor, at: int) -> Read | None:
    """Read "the 3rd to the 7th of June" and "2 to 5 pm", whose first end is a bare number."""
    number = _NUMBER.match(cursor.low, at)
    if number is None or number["month"]:
        return None
    gap = _TO.match(cursor.low, number.end()) or _AND.match(cursor.low, number.end())
    if gap is None:
        return None
    second = read_point(cursor, gap.end(), bare_hour=True)
    if second is None or second.nothing:
        return None
    first = _numbered(int(number["date"]), number.end(), second)
    if first is None:
        return None
    dated = first.within is None
    second = second if dated else Found(second.last, within=second.within)
    return second.last, span(first, second, cursor.reading)


def _numbered(value: int, last: int, second: Found) -> Found | None:
    """Return the day or hour of a bare number before a date or a clock time."""
    month = second.name.month if second.name else None
    if second.days and second.within is None and second.days[1] - second.days[0] == ONE_DAY:
        month = second.days[0].month
    if month:
        return Found(last, name=date_of(month, value))
    within = second.within
    if within is None or not within.instant:
        return None
    start = _hour_before(Clock(last, value, None, None), within)
    return start and replace(second, within=start, last=last)


def _hour_before(clock: Clock, end: Within) -> Within | None:
    """Return the hour of the dial that lies before a clock time: from 2 to 5 pm."""
    start = clock.beside("afternoon" if end.first > _NOON else "morning")
    if start is not None and start.first >= end.first:
        start = start._replace(first=start.first - _NOON, end=start.end - _NOON)
    return start


_NOON: Final = 12 * 60


_OPEN: Final = {
    "since": since,
    "until": until,
    "till": until,
    "before": before,
    "prior to": before,
    "on or before": until,
    "no later than": by,
    "after": after,
    "by": by,
}
_PREFIX: Final = re.compile(
    r"(?:(?:ever )?(?P<word>since)|(?<!i )(?<!we )(?<!you )up (?:to|until)"
    r"|(?P<bound>until|till|on or before"
    r"|no later than|before|after|by"
    r"|prior to)|(?P<from>from)|(?P<between>between)) (?:on )?",
    re.ASCII,
)
_UNKNOWN: Final = re.compile(
    r"(?:my|our|his|her|their|your|i|we|you|he|she|they|it|the|a|an|that|this|[a-z]+ing)(?![a-z])",
    re.ASCII,
)
_CLOSELY: Final = frozenset("just shortly right soon well long immediately not".split())
"""Before these two words a date is near, and no bound."""
_PHRASAL: Final = frozenset(
    "look looked looking named take takes took run ask asked asking".split()
)


def read_english(cursor: Cursor, at: int) -> Read | None:
    """Read the expression of time that begins with the word at a position.

    Returns:
        Its end and its interval, or its end and None where it means none, or None where no
        expression begins.
    """
    prefix = _PREFIX.match(cursor.low, at)
    read = None
    if prefix is not None and (prefix["from"] or prefix["between"]):
        read = _two_ends(cursor, at, prefix)
    elif prefix is not None:
        read = _one_end(cursor, at, prefix)
    return _plainly(cursor, at) if read is None else read


def _plainly(cursor: Cursor, at: int) -> Read | None:
    """Read a point, or a range that no preposition opens."""
    numbered = _bare_first(cursor, at) if cursor.low[at].isdigit() else None
    if numbered is not None:
        return numbered
    found = read_point(cursor, at)
    if found is None:
        return None
    if found.nothing:
        return found.last, None
    ranged = _range(cursor, at, found, joined="to") or _day_range(cursor, found)
    if ranged is not None:
        return ranged
    found = possessive(cursor, found)
    closed = resolve(found, cursor.reading)
    return found.last, closed and Interval(*closed)


def _two_ends(cursor: Cursor, at: int, prefix: re.Match[str]) -> Read | None:
    """Read what "from" and "between" open."""
    start = prefix.end()
    bare = _bare_first(cursor, start)
    if bare is not None:
        return bare
    found = read_point(cursor, start)
    if found is None:
        return None
    joined = "and" if prefix["between"] else "to"
    if found.nothing:  # then so is what it is joined with
        gap = (_AND if joined == "and" else _TO).match(cursor.low, found.last)
        second = read_point(cursor, gap.end()) if gap else None
        return (second or found).last, None
    ranged = _range(cursor, at, found, joined=joined)
    tail = _ON.match(cursor.low, found.last) if prefix["from"] else None
    if ranged is None and tail is not None:
        return tail.end(), from_on(found, cursor.reading)
    return ranged


def _one_end(cursor: Cursor, at: int, prefix: re.Match[str]) -> Read | None:
    """Read what since, until, before, after and by open."""
    word = prefix["word"] or prefix["bound"] or "until"
    whole = read_bound(cursor, word, at) if word in {"by", "before"} else None
    if whole is not None:
        closed = resolve(whole, cursor.reading)
        return whole.last, closed and Interval(*closed)
    found = read_point(cursor, prefix.end())
    if found is None:
        return _hanging(cursor, at, prefix.end(), word)
    found = possessive(cursor, found)
    closely = word in {"before", "after"} and cursor.word_before(at) in _CLOSELY
    if found.nothing or closely:
        return found.last, None
    return found.last, _OPEN[word](found, cursor.reading)


def _hanging(cursor: Cursor, at: int, start: int, word: str) -> Read | None:
    """Give up a clause that hangs on what isn't a date: "before my exam on Friday"."""
    if word == "by" or not _UNKNOWN.match(cursor.low, start):
        return None
    if word == "after" and cursor.word_before(at) in _PHRASAL:
        return None
    return skip_clause(cursor, start).last, None
