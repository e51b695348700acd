"""English as it is typed: short forms and misspellings are spelled out before a time is read.

A form that is no other word is always spelled out; one that is ("sat", "may", "mo") only where the
words beside it make it a time.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple

from .english_spellings import ALWAYS, UNITS
from .english_words import FOLLOWERS, MONTHS, WEEKDAYS

__all__ = ["Places", "spelled_out"]


class Places(NamedTuple):
    """Where the pieces of a text that were spelled out stand, in it and in the original.

    Args:
        typed: Of each piece its first and last place in the original.
        spelled: The same in the text that is read.
        firsts: The first places of `spelled`, to look them up.
    """

    typed: list[tuple[int, int]]
    spelled: list[tuple[int, int]]
    firsts: list[int]

    def original(self, at: int, *, last: bool = False) -> int:
        """Return where a place of the text that is read lies in the original.

        Args:
            at: The place.
            last: Whether it is the end of an expression; of a piece it then is the end.
        """
        # An end that touches the next piece doesn't belong to it.
        number = bisect_right(self.firsts, at - last) - 1
        if number < 0:
            return at
        (_, end), (first, stop) = self.typed[number], self.spelled[number]
        if at >= stop:
            return end + at - stop
        return end if last and at > first else self.typed[number][0]


_SHORTEST: Final = 2
"""A unit of one letter, or "mo", needs "ago" after it or "last" before it."""
_ATTACHED: Final = re.compile(r"(\d{1,3})([a-z]+)", re.ASCII)
_ISH: Final = re.compile(r"(\d{1,2})(am|pm)?ish", re.ASCII)
_WORD: Final = re.compile(r"'\d\d(?![\da-z])|[a-z0-9]+", re.ASCII)

_DAY_WORDS: Final = frozenset(WEEKDAYS) | frozenset(
    "mon tue tues wed weds thu thur thurs fri sat sun".split()
)
_MONTH_WORDS: Final = {name[:3]: name for name in MONTHS} | {name: name for name in MONTHS}
_MONTH_WORDS["sept"] = "september"
_SUBJECTS: Final = frozenset(
    "i we you u he she they it who that which which's cat dog kids mum mom dad people all them us"
    " someone everyone have has had was were be been got will would can could may might to".split()
)
"""Words that make a verb of the next: "they sat", "I last sat", "they will last"."""
_CHAT: Final = frozenset("u n abt b4 wat whats im ive r ur didnt wk".split())
_FOLLOWERS: Final = frozenset(FOLLOWERS) | _CHAT | {""}
_PARTS_OF_DAY: Final = frozenset(
    "morning morn afternoon arvo evening eve night nite am lunchtime".split()
)
_COUNTS: Final = frozenset(
    """last next past this few couple several half a an one two three four five six seven eight
    nine ten eleven twelve every each per of""".split()
)
_JOINS: Final = frozenset("and or n to till until through thru".split())


class _Words(NamedTuple):
    """The words of a text in lower case, and one of them that is looked at."""

    low: str
    words: list[re.Match[str]]
    at: int

    def beside(self, step: int) -> str:
        """Return a word so many places away; empty where a sign stands in between."""
        there = self.at + step
        if not 0 <= there < len(self.words):
            return ""
        first, second = sorted((self.at, there))
        for number in range(first, second):
            gap = self.low[self.words[number].end() : self.words[number + 1].start()]
            if gap not in {" ", "-", " - ", "–"}:
                return ""
        return self.words[there][0]


# --- weekdays and months -------------------------------------------------------------------------

_ON_A_DAY: Final = frozenset("on every last next past coming since until till".split())
_ON_NO_SUN: Final = _ON_A_DAY | frozenset("by before after from between for".split())


def _weekday(full: str) -> Callable[[_Words], str | None]:
    """Return what spells out "sat", "sun", "mon" and "wed", which are other words as well."""
    places = _ON_A_DAY if full == "sunday" else _ON_NO_SUN

    def spell(words: _Words) -> str | None:
        before, after, further = words.beside(-1), words.beside(1), words.beside(2)
        if after in _PARTS_OF_DAY:
            return None if before in _SUBJECTS or further == "after" else full
        joined = before in _JOINS and words.beside(-2) in _DAY_WORDS
        joins = after in _JOINS and further in _DAY_WORDS and before not in _SUBJECTS
        if joins or joined or before in _DAY_WORDS or after in _DAY_WORDS:
            return full if joins or after in _FOLLOWERS | _DAY_WORDS else None
        if before in {"last", "next"} and words.beside(-2) in _SUBJECTS - {"to"}:
            return None
        if full == "monday" and after in {"last", "next"} and further in {"week", "wk"}:
            return full
        if before == "this":
            return full if full != "sunday" and after in {"", "i", "we", "at"} else None
        gone = (after, further) == ("just", "gone") or after == "gone"
        opens = words.at == 0 and after in {"i", "we"}
        stands = before in places and after in _FOLLOWERS
        return full if gone or opens or stands else None

    return spell


def _plain_weekday(full: str) -> Callable[[_Words], str | None]:
    """Return what spells out "tue" and "thu": no other words, but "Thu" is a name."""

    def spell(words: _Words) -> str | None:
        return full if words.beside(1) in _FOLLOWERS | _PARTS_OF_DAY | _DAY_WORDS else None

    return spell


_IN_A_MONTH: Final = frozenset("in during early mid late".split())
_BOUND_BY: Final = frozenset("since until till before after by from between".split())
_PART_OF: Final = frozenset(
    "start beginning middle end early part week day month days weeks monday tuesday wednesday "
    "thursday friday saturday sunday weekend".split()
)
_AFTER_A_BOUND: Final = frozenset(["", "i", "we", "to", "and", "until", "till"])
_NO_VERBS: Final = _FOLLOWERS - frozenset(
    "be been have has not also only still even just do done will would can could must the a an"
    " you he she it they madness".split()
)
"""What may follow "the 3rd may" or "last may", where a verb would make a verb of it."""
_ON_A_DATE: Final = _BOUND_BY | {"on", "of", "around", "the", "to"}
_YEAR: Final = re.compile(r"(?:19|20)\d\d|'\d\d", re.ASCII)
_DATE: Final = re.compile(r"(?:[12]?\d|3[01])(?P<nth>st|nd|rd|th)?", re.ASCII)
_VERBS: Final = frozenset({"may", "march"})


def _month(word: str) -> Callable[[_Words], str | None]:
    """Return what gives a capital to "may", "april" and their kin where they are months."""
    name = _MONTH_WORDS[word].capitalize()

    def spell(words: _Words) -> str | None:
        before, after = words.beside(-1), words.beside(1)
        if _YEAR.fullmatch(after) or _dated(words, before, after) or _joined(words):
            return name
        if before in _IN_A_MONTH or (before == "of" and _is_part(words.beside(-2))):
            return name if after in _FOLLOWERS else None
        if before in {"last", "next"}:
            held = words.beside(-2) in _SUBJECTS | {"this", "that"}
            return name if not held and after in _NO_VERBS else None
        if before == "this":
            return name if word not in _VERBS and after in _NO_VERBS else None
        return name if before in _BOUND_BY and after in _AFTER_A_BOUND else None

    return spell


def _is_part(word: str) -> bool:
    """Tell whether something is a part of a month: its end, its 5th, its first week."""
    return word in _PART_OF or _DATE.fullmatch(word) is not None


def _dated(words: _Words, before: str, after: str) -> bool:
    """Tell whether a month stands in a date: on may 5, may 5th, on 5 may, the 5th may."""
    day = _DATE.fullmatch(after)
    if day is not None and (day["nth"] or before in _ON_A_DATE):
        return words.beside(2) in _FOLLOWERS or _YEAR.fullmatch(words.beside(2)) is not None
    day = _DATE.fullmatch(before)
    marked = day is not None and (day["nth"] or words.beside(-2) in _ON_A_DATE)
    return bool(marked) and after in _NO_VERBS


def _joined(words: _Words) -> bool:
    """Tell whether a month is joined with another: from jan to mar, march and april."""
    before, after = words.beside(-1), words.beside(1)
    held = before in _JOINS and words.beside(-2) in _MONTH_WORDS
    opened = words.beside(-3) in _IN_A_MONTH | {"from", "between"}
    opens = after in _JOINS and words.beside(2) in _MONTH_WORDS
    return (held and opened) or (opens and before in _IN_A_MONTH | {"from", "between"})


# --- units, parts of the day, years --------------------------------------------------------------


def _unit(full: str) -> Callable[[_Words], str | None]:
    """Return what spells out "mo" and "yr", which are other words as well, after a count."""

    def spell(words: _Words) -> str | None:
        before = words.beside(-1)
        return full if before.isdigit() or before in _COUNTS else None

    return spell


def _part(full: str) -> Callable[[_Words], str | None]:
    """Return what spells out "morn", "eve" and "am" after a day."""

    def spell(words: _Words) -> str | None:
        before, after = words.beside(-1), words.beside(1)
        known = before in _DAY_WORDS or ALWAYS.get(before, before) in {
            "yesterday", "tomorrow", "this",
        }  # fmt: skip
        return full if known and after in _FOLLOWERS - {"i", "not"} else None

    return spell


_AT_A_FEAST: Final = frozenset("on over during last this next before after since around".split())


def _feast(full: str) -> Callable[[_Words], str | None]:
    """Return what spells out "nye" and "cny", a surname and a currency, where a feast stands."""
    return lambda words: full if words.beside(-1) in _AT_A_FEAST else None


def _and(words: _Words) -> str | None:
    return "and" if words.beside(-1) and words.beside(1) else None


_NEEDING: Final[dict[str, Callable[[_Words], str | None]]] = {
    "sat": _weekday("saturday"),
    "sun": _weekday("sunday"),
    "mon": _weekday("monday"),
    "wed": _weekday("wednesday"),
    "tue": _plain_weekday("tuesday"),
    "thu": _plain_weekday("thursday"),
    **{
        word: _month(word)
        for word in ("may", "march", "mar", "april", "june", "august", "jan", "dec")
    },
    "mo": _unit("month"),
    "mos": _unit("months"),
    "yr": _unit("year"),
    "morn": _part("morning"),
    "eve": _part("evening"),
    "aft": _part("afternoon"),
    "am": _part("morning"),
    "nye": _feast("new year's eve"),
    "cny": _feast("chinese new year"),
    "n": _and,
}
_SEASONS: Final = frozenset({"spring", "summer", "autumn", "fall", "winter"})
_CENTURY: Final = 70


def _numbered(words: _Words) -> str | None:
    """Spell out what begins with a digit or an apostrophe: 2wks, 3h ago, 7ish, Sept '24."""
    word = words.words[words.at][0]
    before, after = words.beside(-1), words.beside(1)
    if word[0] == "'":
        of_season = before == "of" and words.beside(-2) in _SEASONS
        placed = of_season or before in _MONTH_WORDS or before in _SEASONS | {"in", "since"}
        value = int(word[1:])
        return str(value + (2000 if value < _CENTURY else 1900)) if placed else None
    loose = _ISH.fullmatch(word)
    if loose is not None:
        held = before in {"around", "about"}
        return f"{'' if held else 'around '}{loose[1]}{loose[2] or ''}"
    attached = _ATTACHED.fullmatch(word)
    unit = UNITS.get(attached[2]) if attached else None
    if attached is None or unit is None:
        return None
    short = len(attached[2]) < _SHORTEST or attached[2] == "mo"
    if short and after not in {"ago", "back"} and before not in {"last", "past", "next"}:
        return None
    return f"{attached[1]} {unit}"


def spelled_out(plain: str, low: str) -> tuple[str, str, Places | None]:
    """Spell out the short forms and misspellings of a text.

    Args:
        plain: Of simple blanks and quotes.
        low: The same in lower case.

    Returns:
        Both so spelled, and where the pieces stand; None where there are none.
    """
    matches = list(_WORD.finditer(low))
    pieces: list[str] = []
    lowered: list[str] = []
    places = Places([], [], [])
    at = length = 0
    for number, match in enumerate(matches):
        spelled = _spelled(plain, low, matches, number)
        if spelled is None:
            continue
        first, last = match.span()
        length += first - at
        pieces += [plain[at:first], spelled]
        lowered += [low[at:first], spelled.lower()]
        places.typed.append((first, last))
        places.spelled.append((length, length + len(spelled)))
        places.firsts.append(length)
        at, length = last, length + len(spelled)
    if not pieces:
        return plain, low, None
    return "".join([*pieces, plain[at:]]), "".join([*lowered, low[at:]]), places


def _spelled(plain: str, low: str, matches: list[re.Match[str]], number: int) -> str | None:
    word = matches[number][0]
    always = ALWAYS.get(word)
    if always is not None:
        return always
    need = _NEEDING.get(word)
    if need is not None:
        namesake = word in _MONTH_WORDS or word in {"tue", "thu"}
        if namesake and not plain[matches[number].start()].islower():
            return None  # a capital is judged where names are read
        return need(_Words(low, matches, number))
    if word[0] > "9" or word.isdigit():
        return None
    return _numbered(_Words(low, matches, number))
