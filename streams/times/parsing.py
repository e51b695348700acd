"""Reads expressions of time in English and Chinese. Pure: the moment is passed in.

What each expression means stands in docs/time.md; this module knows no more than that page.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from ...schemas.limits import (
    TIME_CHARACTERS_MAX,
    TIME_SPANS_MAX,
    TIME_TRIES_MAX,
)
from .chinese_frames import (
    CHINESE_EMPTY,
    CHINESE_NOT_TIMES,
    chinese_ordinal,
    chinese_rule,
    chinese_tense,
)
from .chinese_times import CHINESE_STARTS, read_chinese, read_chinese_day
from .english_frames import (
    ENGLISH_EMPTY,
    ENGLISH_NOT_TIMES,
    english_ordinal,
    english_rule,
    english_tense,
)
from .english_points import ENGLISH_STARTS, read_day
from .english_times import read_english
from .english_typed import Places, spelled_out
from .named_days import Reading, Tense
from .time_cursor import MASK, Cursor
from .time_values import Found, Parsed, SessionOrdinal, TimeSpan

__all__ = ["TIME_CHARACTERS_MAX", "Parsed", "SessionOrdinal", "TimeSpan", "parse"]


_PLAIN: Final = (
    *zip("０１２３４５６７８９：／，．（）", "0123456789:/,.()", strict=True),
    *(("’", "'"), ("‘", "'"), ("ʼ", "'"), ("\t", " "), ("\n", " "), ("\r", " ")),
    *(("\u00a0", " "), ("\u3000", " ")),
)
_QUOTED: Final = re.compile(
    r"\"[^\"\x00]{1,400}\"|“[^”]{1,400}”|「[^」]{1,400}」|『[^』]{1,400}』|《[^》]{1,200}》"
    r"|〈[^〉]{1,200}〉|(?<![A-Za-z0-9])'[^'\x00]{2,200}'(?![A-Za-z0-9])"
)
_NUMERALS: Final = "零〇一二两三四五六七八九十百廿"
_TOKEN: Final = re.compile(
    rf"(?<![a-z0-9])[a-z]+|(?<![a-z0-9/:.])\d+|(?<![{_NUMERALS}])[{_NUMERALS}]"
    rf"|[{''.join(sorted(CHINESE_STARTS - set(_NUMERALS)))}]"
)
_LATIN: Final = re.compile(r"[a-z]")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff〇]")
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz")
_CHINESE_HEADS: Final = frozenset({"utc", "gmt", "q"})
_WORD: Final = re.compile(r"[a-z0-9][a-z0-9'-]*", re.IGNORECASE | re.ASCII)
_THAT_DAY: Final = re.compile(
    r"(?<![a-z])(?:that|the same|that same) (?:day|night|evening|morning|afternoon)(?![a-z])"
    r"|(?:那|当)[天晚](?!真)"
)
"""A day that is pointed at: a bare part of a day belongs to it, not to today."""


def parse(
    text: str,
    now: datetime,
    zone: ZoneInfo,
    tense: Tense | None = None,
    *,
    week_starts_sunday: bool = False,
) -> Parsed:
    """Read what a text says about time.

    Args:
        text: A question or a turn, in English, Chinese or both.
        now: When it was asked or said; aware.
        zone: The user's.
        tense: Of its main verb; None is guessed from the text.
        week_starts_sunday: Whether the user's weeks begin on Sunday.

    Returns:
        Intervals in the zone, half open; what can't be decided gives none.

    Raises:
        ValueError: `now` is naive: where it was asked would be the machine's affair.
    """
    if now.tzinfo is None:
        message = "now has no zone: pass an aware datetime."
        raise ValueError(message)
    plain = _plain(text[:TIME_CHARACTERS_MAX])
    low = _lower(plain)
    chinese = _CHINESE.search(low) is not None
    latin = _LATIN.search(low) is not None
    places: Places | None = None
    if latin:
        plain, low, places = spelled_out(plain, low)
    guessed = tense or (chinese_tense(low) if chinese else None)
    guessed = guessed or (english_tense(low) if latin else None)
    here = now.astimezone(zone)
    low = _without(low, (match.span() for match in _quotes(low)))
    if latin:
        low = _without(low, (match.span() for match in ENGLISH_NOT_TIMES.finditer(low)))
    if chinese:
        low = _without(low, (match.span() for match in CHINESE_NOT_TIMES.finditer(low)))
    taken: list[tuple[int, int]] = []
    rule = chinese_rule(low) if chinese else None
    rule = rule or (english_rule(low) if latin else None)
    if rule is not None:
        taken += rule[1]
        low = _without(low, rule[1])
    session = chinese_ordinal(low) if chinese else None
    session = session or (english_ordinal(low) if latin else None)
    if session is not None:
        taken.append(session[1])
        low = _without(low, [session[1]])
    elsewhere = session is not None or _THAT_DAY.search(low) is not None
    reading = Reading(here, here.date(), zone, guessed, week_starts_sunday, elsewhere)
    spans = tuple(_spans(Cursor(plain, low, reading, _read_day, chinese)))
    taken += [(one.first, one.last) for one in spans]
    if places is not None:
        spans = tuple(_placed(one, places) for one in spans)
        taken = [
            (places.original(first), places.original(last, last=True)) for first, last in taken
        ]
    rest = _rest(text, sorted(taken)) if taken else text
    return Parsed(spans, session and session[0], rule and rule[0], rest)


def _placed(span: TimeSpan, places: Places) -> TimeSpan:
    first, last = places.original(span.first), places.original(span.last, last=True)
    return span._replace(first=first, last=last)


def _plain(text: str) -> str:
    for written, plain in _PLAIN:
        text = text.replace(written, plain)
    return text


def _lower(text: str) -> str:
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in text)


def _quotes(low: str) -> Iterator[re.Match[str]]:
    """Yield what is quoted, unless all of the text is."""
    whole = len(low.strip(" .?!。？！"))
    for match in _QUOTED.finditer(low):
        if match.end() - match.start() < whole:
            yield match


def _without(low: str, places: Iterable[tuple[int, int]]) -> str:
    """Mask places of a text; of two that overlap the first."""
    pieces, at = [], 0
    for first, last in sorted(places):
        if first >= at:
            pieces += [low[at:first], MASK * (last - first)]
            at = last
    return "".join([*pieces, low[at:]]) if pieces else low


def _read_day(cursor: Cursor, at: int) -> Found | None:
    if at < len(cursor.low) and (cursor.low[at] > "\u3000" or cursor.low[at].isdigit()):
        found = read_chinese_day(cursor, at) if cursor.chinese else None
        if found is not None:
            return found
    return read_day(cursor, at)


def _spans(cursor: Cursor) -> Iterator[TimeSpan]:
    after = tries = spans = 0
    monday = cursor
    if cursor.chinese:
        monday = replace(cursor, reading=cursor.reading._replace(sunday=False))  # Chinese weeks
    for token in _TOKEN.finditer(cursor.low):
        at = token.start()
        word = token[0]
        letters = word[0] in _LETTERS
        if at < after or (letters and word not in ENGLISH_STARTS):
            continue
        tries += 1
        if tries > TIME_TRIES_MAX or spans == TIME_SPANS_MAX:
            return
        read = None
        if cursor.chinese and (not letters or word in _CHINESE_HEADS):
            read = read_chinese(monday, at)
        if read is None and word[0] < "\u3000":
            read = read_english(cursor, at)
        if read is None:
            continue
        last, interval = read
        after = max(last, at + 1)
        if interval is not None:
            spans += 1
            yield TimeSpan(*interval, at, last)


def _rest(text: str, taken: list[tuple[int, int]]) -> str:
    """Return the words that neither tell a time nor only ask about one."""
    pieces, at = [], 0
    for first, last in taken:
        if first >= at:
            pieces.append(text[at:first])
            at = last
        at = max(at, last)
    left = " ".join([*pieces, text[at:]])
    words = _WORD.sub(lambda word: "" if word[0].lower() in ENGLISH_EMPTY else word[0], left)
    return " ".join(_PUNCTUATION.sub(" ", CHINESE_EMPTY.sub(" ", words)).split())


_PUNCTUATION: Final = re.compile(r"[^\w'%&@#+-]+")
