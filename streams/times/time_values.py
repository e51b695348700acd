"""What a parser of times gives, and what its readers hand to each other."""

from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

from .calendars import MINUTES_OF_DAY, Days, Instants
from .named_days import Name, Picked

__all__ = [
    "PARTS",
    "Found",
    "Parsed",
    "SessionOrdinal",
    "TimeSpan",
    "Within",
    "clock",
    "hour_in_part",
    "loosely",
    "part",
    "picked",
    "void",
]


class TimeSpan(NamedTuple):
    """An interval that an expression of a text means.

    Args:
        start: Its first instant, in the user's zone; None is open. Two instants of a zone compare
            by the wall clock: on a day of 25 hours compare them in UTC.
        end: The first instant that no longer belongs; None is open.
        sure: Whether most careful speakers would draw this interval, or one inside it.
        first: Where the expression begins in the text.
        last: The character after its last.
    """

    start: datetime | None
    end: datetime | None
    sure: bool
    first: int
    last: int


class SessionOrdinal(NamedTuple):
    """A session by its number.

    Args:
        number: 1 is the first, or the last; 0 from the end is the running one.
        from_end: From which side it is counted.
    """

    number: int
    from_end: bool


class Parsed(NamedTuple):
    """What a text says about time.

    Args:
        spans: Its intervals, in order of the text.
        ordinal: The session it asks for.
        rule: What recurs, as "weekly:fri".
        rest: The text without all that and without the frame of a question about a time; all of
            it where there is nothing of that.
    """

    spans: tuple[TimeSpan, ...]
    ordinal: SessionOrdinal | None
    rule: str | None
    rest: str


class Within(NamedTuple):
    """A clock time or a part of the day.

    Args:
        first: Its first minute after midnight; from 1440 on it lies on the next day.
        end: The minute after its last.
        sure: Whether its bounds are.
        instant: Whether it is a clock time: a range ends with its first minute.
        zone: Whose clock, if not the user's.
        part: The key of the part of the day that it is, or lies in.
    """

    first: int
    end: int
    sure: bool = True
    instant: bool = False
    zone: ZoneInfo | timezone | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a reader found: exactly one of days, name, instants and within, or several at once.

    Args:
        last: The character after its last.
        days: Days that are fixed.
        name: A bare name of days, for the tense to decide.
        instants: Fixed instants; None in them is open.
        within: A clock time or part of the day, on the days or alone.
        sure: Whether what is fixed is sure.
        nothing: Whether these words are read and mean no time that can be known.
        possessive: Whether it ends in 's.
    """

    last: int
    days: Days | None = None
    name: Name | None = None
    instants: Instants | None = None
    within: Within | None = None
    sure: bool = True
    nothing: bool = False
    possessive: bool = False

    @property
    def dated(self) -> bool:
        """Whether it says which days."""
        return self.days is not None or self.name is not None

    def until(self, last: int) -> "Found":
        """Return the same with another end."""
        return replace(self, last=last)

    def unsure(self) -> "Found":
        """Return the same, unsure."""
        name = None if self.name is None else replace(self.name, sure=False)
        return replace(self, sure=False, name=name)


def void(last: int) -> Found:
    """Return words that are read and mean nothing."""
    return Found(last, nothing=True)


def picked(last: int, choice: Picked | None) -> Found:
    """Return days that were picked, or nothing where there are none."""
    return void(last) if choice is None else Found(last, days=choice.days, sure=choice.sure)


Part = Literal[
    "small hours", "morning", "early morning", "noon", "afternoon", "evening", "dusk", "night",
    "late night", "deep night", "after midnight",
]  # fmt: skip
PARTS: Final[dict[str, tuple[int, int, bool]]] = {
    # First hour, end, sure.
    "small hours": (0, 5, True),
    "morning": (5, 12, True),
    "early morning": (5, 8, True),
    "noon": (11, 14, True),
    "afternoon": (12, 18, True),
    "evening": (17, 24, True),
    "dusk": (17, 20, True),
    "night": (18, 29, True),
    "late night": (21, 29, True),
    "deep night": (22, 29, False),
    "after midnight": (24, 29, False),
}
_HALF_DAY: Final = 12
_NIGHTS: Final = frozenset({"night", "late night", "deep night", "after midnight"})
_LATE: Final = frozenset({"evening", "dusk"})
_DAWN: Final = 5
"""Up to this hour a clock time of a night lies on the next day."""


def part(key: str) -> Within:
    """Return a part of the day."""
    first, end, sure = PARTS[key]
    return Within(60 * first, 60 * end, sure, part=key)


def clock(hour: int, minute: int | None, *, sure: bool = True, of: str | None = None) -> Within:
    """Return the hour, or the minute if one is named."""
    first = 60 * hour + (minute or 0)
    return Within(first, first + (60 if minute is None else 1), sure, instant=True, part=of)


def hour_in_part(key: str, hour: int, minute: int | None) -> Within | None:
    """Return the clock time that an hour of the twelve means in a part of the day.

    Returns:
        One after midnight for the small numbers of a night, unsure. None where no speaker would
        put that hour into that part.
    """
    small = hour % _HALF_DAY
    if hour > _HALF_DAY:
        return clock(hour, minute, of=key) if hour <= MINUTES_OF_DAY // 60 else None
    if key in _LATE and small < _DAWN - 1:
        return None
    if key in _NIGHTS and small <= _DAWN:
        return clock(small + 2 * _HALF_DAY, minute, sure=False, of=key)
    if key in _NIGHTS | _LATE | {"afternoon"} or (key == "noon" and small < _DAWN):
        return clock(small + _HALF_DAY, minute, of=key)
    return clock(small if key == "small hours" else hour, minute, of=key)


def loosely(within: Within) -> Within:
    """Return half an hour to either side of a clock time, unsure; a part stays."""
    if not within.instant:
        return within._replace(sure=False)
    return within._replace(first=within.first - 30, end=within.first + 30, sure=False)
