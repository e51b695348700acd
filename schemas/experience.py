"""What is learnt without being stated: how often something happened, and under which pseudonym.

A point holds counts and nothing else: no user id, no event id, no text. Its pseudonym changes by
the month and its domain says which pool it belongs to. Its place in time is the minute, plus
nanoseconds that tell it from others of the minute: the same event always makes the same place, so
a repeat overwrites itself.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, Literal

from .errors import Rejected
from .limits import (
    EXPERIENCE_COUNT_MAX,
    EXPERIENCE_PSEUDONYMS_MAX,
    EXPERIENCE_ROWS_MAX,
    POOL_USERS_MIN,
)

__all__ = [
    "DAY",
    "DOMAINS",
    "GENERAL",
    "MINUTE_NS",
    "UNITS",
    "DayCount",
    "ExperienceKind",
    "ExperiencePoint",
    "Pool",
    "PoolFigure",
    "Total",
    "Unit",
    "begin_of",
    "check_domain",
    "check_pseudonyms",
    "check_totals",
    "is_dated",
    "minute_ns",
    "minutes_ns",
    "moment_of",
    "month_of",
    "months",
    "pool_of",
    "stamp_ns",
    "whole_days",
]

DOMAINS: Final = ("general", "support-dialogue", "operation-paths", "error-feedback")
"""The business domains. Each is a pool that is stored apart; there are no others, so that neither
a tag's values grow with what producers write nor a text of theirs gets in."""
GENERAL: Final = DOMAINS[0]
"""Of what names no domain, or one that isn't there."""

Unit = Literal["minute", "hour", "day"]
"""Over what counts are added up, in UTC."""
UNITS: Final[dict[Unit, timedelta]] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
}
DAY: Final = UNITS["day"]
MINUTE_NS: Final = 60_000_000_000

_PSEUDONYM: Final = re.compile(r"[0-9a-f]{32}")
_ORIGIN: Final = datetime(1970, 1, 1, tzinfo=UTC)
_END: Final = datetime(2262, 1, 1, tzinfo=UTC)
_STAMP_MAX: Final = 2**63 - 2  # the last nanosecond that a time-series store takes, in 2262
_MICROSECOND: Final = timedelta(microseconds=1)
_MICROSECOND_NS: Final = 1_000
_NO_PSEUDONYM: Final = "A pseudonym has 32 hexadecimal digits."


class ExperienceKind(StrEnum):
    """What is counted."""

    MEMORY_CREATED = "memory-created"
    MEMORY_TOUCHED = "memory-touched"
    SEARCH = "search"
    HIT_SERVED = "hit-served"
    CONFIRMATION = "confirmation"
    HIT_USED = "hit-used"
    TASK_OUTCOME = "task-outcome"


@dataclass(frozen=True, slots=True)
class ExperiencePoint:
    """How often one kind of thing happened by one event; domain to `at_ns` tell it from others.

    Args:
        domain: One of `DOMAINS`.
        kind: What is counted.
        pseudonym: 32 hexadecimal digits, of an owner in a month.
        at_ns: Nanoseconds since 1970: the minute, and what tells it from others of the minute.
        count: How often, from 1.
        succeeded: How many of these went well, where that is known.

    Raises:
        Rejected: A value isn't that.
    """

    domain: str
    kind: ExperienceKind
    pseudonym: str
    at_ns: int
    count: int
    succeeded: int = 0

    def __post_init__(self) -> None:
        """Check every value: nothing else can get into a store."""
        check_domain(self.domain)
        if not _PSEUDONYM.fullmatch(self.pseudonym):
            raise Rejected(_NO_PSEUDONYM)
        if not 0 <= self.at_ns <= _STAMP_MAX:
            message = "The time of experience lies between 1970 and 2262."
            raise Rejected(message)
        if not 0 <= self.succeeded <= self.count <= EXPERIENCE_COUNT_MAX or self.count < 1:
            message = f"A count of experience is a number from 1 to {EXPERIENCE_COUNT_MAX}."
            raise Rejected(message)


@dataclass(frozen=True, slots=True, order=True)
class Total:
    """A sum over some pseudonyms.

    Args:
        start: Of the minute, hour or day, in UTC.
        domain: Whose pool.
        kind: What is counted.
        count: How often.
        succeeded: How many of these went well, where that is known.
    """

    start: datetime
    domain: str
    kind: ExperienceKind
    count: int
    succeeded: int


@dataclass(frozen=True, slots=True)
class DayCount:
    """What an engine says of a day in a domain, before it is masked; for `pool_of`.

    Args:
        day: When it begins, in UTC.
        kind: What is counted; None for any kind at all.
        users: How many pseudonyms stand behind it; within a day these are users.
        count: How often.
        succeeded: How many of these went well.
    """

    day: datetime
    kind: ExperienceKind | None
    users: int
    count: int
    succeeded: int


@dataclass(frozen=True, slots=True)
class PoolFigure:
    """A figure of a pool.

    Args:
        kind: What is counted.
        count: How often.
        user_days: Users behind it, added up over the days.
        share: Of the user-days with anything at all, those with this; from 0 to 1.
        success: Which part of the count went well, from 0 to 1.
    """

    kind: ExperienceKind
    count: int
    user_days: int
    share: float
    success: float


@dataclass(frozen=True, slots=True)
class Pool:
    """What is known of a domain over all its users, masked.

    Args:
        domain: One of `DOMAINS`.
        days: How many days had enough users.
        user_days: Users of these days, added up.
        figures: By kind.
    """

    domain: str
    days: int
    user_days: int
    figures: tuple[PoolFigure, ...]


def pool_of(domain: str, counts: Iterable[DayCount]) -> Pool | None:
    """Mask the counts of days: what fewer than five users stand behind isn't there.

    A day's count of a kind gets in if that many users stand behind it on that day; so no
    difference of two pools says anything about fewer.

    Args:
        domain: Whose.
        counts: Of every day, and of every day and kind.

    Returns:
        The pool, or None where nothing is left.
    """
    enough = [one for one in counts if one.users >= POOL_USERS_MIN]
    days = [one.users for one in enough if one.kind is None]
    user_days = sum(days)
    figures = []
    for kind in ExperienceKind:
        of_kind = [one for one in enough if one.kind is kind]
        if not of_kind:
            continue
        count = sum(one.count for one in of_kind)
        users = sum(one.users for one in of_kind)
        success = sum(one.succeeded for one in of_kind) / count
        figures.append(PoolFigure(kind, count, users, users / user_days, success))
    return Pool(domain, len(days), user_days, tuple(figures)) if days else None


def check_pseudonyms(pseudonyms: Iterable[str]) -> list[str]:
    """Return pseudonyms, each once, or refuse them.

    Raises:
        Rejected: One isn't such, or these are too many.
    """
    distinct = sorted(set(pseudonyms))
    if len(distinct) > EXPERIENCE_PSEUDONYMS_MAX:
        message = f"At most {EXPERIENCE_PSEUDONYMS_MAX} pseudonyms are looked at in one call."
        raise Rejected(message)
    if not all(_PSEUDONYM.fullmatch(one) for one in distinct):
        raise Rejected(_NO_PSEUDONYM)
    return distinct


def check_domain(domain: str) -> str:
    """Return a domain, or refuse it.

    Raises:
        Rejected: There is no such domain.
    """
    if domain not in DOMAINS:
        message = f"The domain of experience must be one of {', '.join(DOMAINS)}."
        raise Rejected(message)
    return domain


def check_totals(totals: Collection[Total]) -> list[Total]:
    """Return totals in order, or refuse to return so many.

    Raises:
        Rejected: They are over the bound.
    """
    if len(totals) > EXPERIENCE_ROWS_MAX:
        message = (
            f"There are more than {EXPERIENCE_ROWS_MAX} sums: ask for less time, or for hours or "
            "days instead of minutes."
        )
        raise Rejected(message)
    return sorted(totals)


def is_dated(moment: datetime) -> bool:
    """Tell whether a store can hold something of a moment: from 1970 to 2261."""
    return _ORIGIN <= moment < _END


def stamp_ns(moment: datetime) -> int:
    """Return nanoseconds since 1970, cut to what a store can hold; the moment has to be aware."""
    return min(max(0, (moment - _ORIGIN) // _MICROSECOND * _MICROSECOND_NS), _STAMP_MAX)


def moment_of(stamp: int) -> datetime:
    """Return the moment of nanoseconds since 1970, in UTC."""
    return _ORIGIN + stamp // _MICROSECOND_NS * _MICROSECOND


def minute_ns(moment: datetime) -> int:
    """Return when a moment's minute begins, in nanoseconds since 1970."""
    return (moment - _ORIGIN) // UNITS["minute"] * MINUTE_NS


def month_of(moment: datetime) -> str:
    """Return the UTC month of an aware moment, as "2024-03"."""
    return moment.astimezone(UTC).strftime("%Y-%m")


def months(since: datetime, until: datetime) -> list[str]:
    """Return the UTC months from that of one aware moment to that of another, both included."""
    first, last = since.astimezone(UTC), until.astimezone(UTC)
    begin, end = (one.year * 12 + one.month - 1 for one in (first, last))
    return [f"{number // 12:04}-{number % 12 + 1:02}" for number in range(begin, end + 1)]


def whole_days(since: datetime, until: datetime) -> tuple[datetime, datetime]:
    """Cut a time to the whole UTC days in it; the end is before the beginning where none is."""
    begin = _ORIGIN - (_ORIGIN - since) // DAY * DAY
    return begin, _ORIGIN + (until - _ORIGIN) // DAY * DAY


def minutes_ns(since: datetime, until: datetime) -> tuple[int, int]:
    """Return a time as nanoseconds since 1970, widened to whole minutes.

    Points are scattered over their minute, so nothing smaller can be asked for.
    """
    whole = -(-(until - _ORIGIN) // UNITS["minute"]) * UNITS["minute"]
    return stamp_ns(begin_of(since, "minute")), stamp_ns(_ORIGIN + whole)


def begin_of(moment: datetime, unit: Unit) -> datetime:
    """Return when the minute, hour or day of an aware moment begins, in UTC."""
    return _ORIGIN + (moment - _ORIGIN) // UNITS[unit] * UNITS[unit]
