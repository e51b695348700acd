"""Values of experience: times, months, and what a pool may say."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.schemas.experience import (
    DAY,
    GENERAL,
    MINUTE_NS,
    UNITS,
    DayCount,
    ExperienceKind,
    Pool,
    PoolFigure,
    begin_of,
    is_dated,
    minute_ns,
    minutes_ns,
    moment_of,
    month_of,
    months,
    pool_of,
    stamp_ns,
    whole_days,
)
from eunoe.schemas.limits import POOL_USERS_MIN

MOMENTS: Final = st.builds(
    lambda second, zone: (datetime(1971, 1, 1, tzinfo=UTC) + second).astimezone(zone),
    st.timedeltas(timedelta(), timedelta(days=290 * 365)),
    st.sampled_from([UTC, timezone.max, timezone(timedelta(hours=-9.5))]),
)
DAY_0: Final = datetime(2024, 3, 30, tzinfo=UTC)
SEARCH: Final = ExperienceKind.SEARCH
SERVED: Final = ExperienceKind.HIT_SERVED


@given(MOMENTS)
def test_a_moment_lies_in_its_minute(moment: datetime) -> None:
    """Its minute begins at or before it, by less than a minute, in nanoseconds since 1970."""
    begin = moment_of(minute_ns(moment))
    assert timedelta() <= moment - begin < UNITS["minute"]
    assert minute_ns(moment) % MINUTE_NS == 0
    assert moment_of(stamp_ns(moment)) == moment


@given(MOMENTS, st.timedeltas(timedelta(), timedelta(days=900)))
def test_months_are_those_of_every_moment_between(since: datetime, length: timedelta) -> None:
    """Both ends' months are in it, none twice, in order, and neighbours follow each other."""
    found = months(since, since + length)
    assert found[0] == month_of(since)
    assert found[-1] == month_of(since + length)
    assert found == sorted(set(found))
    assert set(found) == {month_of(since + length * n / 100) for n in range(101)} | set(found)
    assert len(found) <= length.days // 28 + 2


def test_a_month_is_that_of_utc() -> None:
    """At the turn of a month the clock on the wall doesn't count."""
    moment = datetime(2024, 4, 1, 7, 59, tzinfo=timezone(timedelta(hours=8)))
    assert month_of(moment) == "2024-03"
    assert month_of(moment + timedelta(minutes=1)) == "2024-04"


@given(MOMENTS, MOMENTS)
def test_days_are_cut_and_minutes_widened(since: datetime, until: datetime) -> None:
    """Whole days lie inside of a time, whole minutes around it, both by less than one."""
    begin, end = whole_days(since, until)
    assert timedelta() <= begin - since < DAY
    assert timedelta() <= until - end < DAY
    assert begin == begin_of(begin, "day")
    assert end == begin_of(end, "day")
    start, stop = minutes_ns(since, until)
    assert timedelta() <= since - moment_of(start) < UNITS["minute"]
    assert timedelta() <= moment_of(stop) - until < UNITS["minute"]
    assert start % MINUTE_NS == stop % MINUTE_NS == 0


@pytest.mark.parametrize("year", [1, 1969, 2262, 9999])
def test_what_no_store_can_hold_is_not_dated(year: int) -> None:
    """Times that 64 bits of nanoseconds can't say are told apart, and cut as bounds."""
    moment = datetime(year, 6, 1, tzinfo=UTC)
    assert not is_dated(moment)
    assert 0 <= stamp_ns(moment) < 2**63
    assert is_dated(datetime(2024, 6, 1, tzinfo=UTC))


def day(
    number: int, kind: ExperienceKind | None, users: int, count: int = 0, succeeded: int = 0
) -> DayCount:
    """Return what an engine says of a day."""
    return DayCount(DAY_0 + timedelta(days=number), kind, users, count, succeeded)


def test_a_pool_leaves_out_days_and_kinds_of_few() -> None:
    """Each day and kind counts for itself; shares are of the days that count."""
    counts = [
        day(0, None, 10), day(0, SEARCH, 10, 30), day(0, SERVED, 4, 400),
        day(1, None, 4), day(1, SEARCH, 4, 4_000),
        day(2, None, 6), day(2, SEARCH, 5, 7), day(2, SERVED, 6, 8, 2),
    ]  # fmt: skip
    assert pool_of(GENERAL, counts) == Pool(
        GENERAL,
        days=2,
        user_days=16,
        figures=(
            PoolFigure(SEARCH, 37, 15, 15 / 16, 0.0),
            PoolFigure(SERVED, 8, 6, 6 / 16, 0.25),
        ),
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(ExperienceKind), st.integers(1, 9)),
        unique_by=lambda row: row[:2],
    )
)
def test_no_figure_of_a_pool_rests_on_few(rows: list[tuple[int, ExperienceKind, int]]) -> None:
    """Whatever happened, taking away all that few stand behind changes nothing of a pool."""
    counts = [day(number, kind, users, 3 * users) for number, kind, users in rows]
    counts += [
        day(number, None, max(users for other, _, users in rows if other == number))
        for number in {number for number, _, _ in rows}
    ]
    pool = pool_of(GENERAL, counts)
    assert pool == pool_of(GENERAL, [one for one in counts if one.users >= POOL_USERS_MIN])
    if pool is None:
        assert all(one.users < POOL_USERS_MIN for one in counts)
    else:
        assert all(one.user_days >= POOL_USERS_MIN for one in pool.figures)
        assert all(0 < one.share <= 1 for one in pool.figures)
