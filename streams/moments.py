"""Times in turns and in questions: what a text is about, and which turns a question means. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from ..schemas.limits import ABOUT_MAX
from ..schemas.ports import Interval
from .times import Parsed, SessionOrdinal, TimeSpan, parse

__all__ = ["Asked", "about", "read_question"]

_SHORT_S: Final = 3 * 3600.0
"""An interval shorter than the shortest part of a day: people remember the hour, not the minute."""
_WIDER_S: Final = 3600.0
_YEARS: Final = range(1_001, 8_999)
"""In which expressions of time are read: at the ends of the calendar most would lie beyond it."""
_FORMER: Final = re.compile(
    r"(?<![a-z])(?:used? to|previous(?:ly)?|former(?:ly)?|originally|in the past|back then"
    r"|at first|initially|before (?:that|this|the change|it changed)|no longer|old(?= \w+\?)"
    r"|before(?=[?.!\s]*$))"
    r"(?![a-z])|以前|原来|原先|曾经|从前|过去|之前(?=[的是住用在有做])|当初|起初|最初|改之前|换之前",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question says about time.

    Args:
        within: A sure interval: it filters.
        near: An unsure one: it lifts.
        past: The part of the past that the question is about, where what no longer holds answers.
        session: The session that it asks for.
        content: The question without its expressions of time.
        alone: Whether it asks for nothing but that time.
    """

    within: Interval | None = None
    near: Interval | None = None
    past: Interval | None = None
    session: SessionOrdinal | None = None
    content: str = ""
    alone: bool = False


def read_question(question: str, now: datetime, zone: ZoneInfo) -> Asked:
    """Read what a question says about time.

    Args:
        question: In English, Chinese or both.
        now: When it is asked; aware.
        zone: The user's.
    """
    found = _parsed(question, now, zone)
    spans = _composed(question, found.spans, zone)
    sure = [span for span in spans if span.sure]
    within = _hull(sure)
    near = None if sure else _hull(spans)
    interval = within or near
    is_over = interval is not None and _is_over(interval, now)
    past = interval if is_over else None
    if past is None and _FORMER.search(question):
        past = (None, now.timestamp())
    timed = interval is not None or found.ordinal is not None
    alone = timed and not found.rest
    if within is not None and not is_over and not alone:
        # "When is choir this week?": what was said before it tells of it as well.
        within, near = None, within
    return Asked(
        within=within,
        near=near,
        past=past,
        session=found.ordinal,
        content=_without(question, spans) if spans else question,
        alone=alone,
    )


def about(text: str, said_at: datetime, zone: ZoneInfo) -> list[tuple[int, int]]:
    """List the times that a turn names.

    Args:
        text: The turn's.
        said_at: When it was said; aware.
        zone: The user's, then.

    Returns:
        For each expression with a beginning and an end, where it begins in the text, and the
        middle of its interval in seconds since 1970.
    """
    return [
        (span.first, int((span.start.timestamp() + span.end.timestamp()) / 2))
        for span in _composed(text, _parsed(text, said_at, zone).spans, zone)
        if span.start is not None and span.end is not None
    ][:ABOUT_MAX]


def _parsed(text: str, now: datetime, zone: ZoneInfo) -> Parsed:
    return parse(text, now, zone) if now.year in _YEARS else Parsed((), None, None, text)


def _composed(text: str, spans: Sequence[TimeSpan], zone: ZoneInfo) -> list[TimeSpan]:
    """Read a time that stands in another within it: 上上个周末的星期天 is that weekend's."""
    read: list[TimeSpan] = []
    for span in spans:
        outer = read[-1] if read else None
        inner = None
        if outer is not None and outer.end is not None and text[outer.last : span.first] == "的":
            inside = parse(text[span.first : span.last], outer.end, zone, "past").spans
            inner = next((one for one in inside if _lies_in(one, outer)), None)
        if outer is None or inner is None:
            read.append(span)
        else:
            read[-1] = inner._replace(first=outer.first, last=span.last)
    return read


def _lies_in(inner: TimeSpan, outer: TimeSpan) -> bool:
    if inner.start is None or inner.end is None or outer.end is None:
        return False
    starts_later = outer.start is None or inner.start.timestamp() >= outer.start.timestamp()
    return starts_later and inner.end.timestamp() <= outer.end.timestamp()


def _hull(spans: Sequence[TimeSpan]) -> Interval | None:
    """Return the interval from the first beginning to the last end, as wide as people remember."""
    if not spans:
        return None
    starts = [span.start for span in spans]
    ends = [span.end for span in spans]
    start = None if None in starts else min(one.timestamp() for one in starts if one)
    end = None if None in ends else max(one.timestamp() for one in ends if one)
    if start is not None and end is not None and end - start < _SHORT_S:
        return start - _WIDER_S, end + _WIDER_S
    return start, end


def _is_over(interval: Interval, now: datetime) -> bool:
    end = interval[1]
    return end is not None and end <= (now + timedelta(days=1)).timestamp()


def _without(question: str, spans: Sequence[TimeSpan]) -> str:
    pieces, at = [], 0
    for span in spans:
        pieces.append(question[at : span.first])
        at = span.last
    return " ".join([*pieces, question[at:]])
