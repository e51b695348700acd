"""The promises of `ports.ExperienceStore`, run unchanged on each back-end."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from random import Random
from typing import Any, Final, Protocol

import pytest

from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.experience import (
    DOMAINS,
    GENERAL,
    ExperienceKind,
    ExperiencePoint,
    Pool,
    PoolFigure,
    Total,
    Unit,
)
from eunoe.schemas.limits import EXPERIENCE_PSEUDONYMS_MAX, POOL_USERS_MIN
from eunoe.schemas.ports import ExperienceStore
from tests.support.experiencing import MIDNIGHT, next_days, point, pseudonym

__all__ = ["ExperienceContract", "ExperiencePlace"]

SEARCH: Final = ExperienceKind.SEARCH
DAY_MINUTES: Final = 24 * 60
USERS: Final = tuple(f"user {number}" for number in range(POOL_USERS_MIN))


class ExperiencePlace(Protocol):
    """Where a store keeps its points."""

    def open(self) -> AbstractAsyncContextManager[ExperienceStore]:
        """Open the store, again and again."""
        ...


async def counts(
    store: ExperienceStore, *names: str, days: int = 400, unit: Unit = "day"
) -> list[Total]:
    """Return the totals of names from `MIDNIGHT` on."""
    begin, end = next_days(days)
    return await store.totals([pseudonym(name) for name in names], begin, end, unit=unit)


def total(count: int, *, minute: int = 0, **fields: Any) -> Total:
    """Return a total of searches."""
    values: dict[str, Any] = {"domain": GENERAL, "kind": SEARCH, "succeeded": 0}
    return Total(MIDNIGHT + timedelta(minutes=minute), count=count, **(values | fields))


class ExperienceContract:
    """Needs the fixtures `place`, empty, and `store`, open there."""

    async def test_counts_are_added_up_by_minute_hour_and_day(self, store: ExperienceStore) -> None:
        """Sums are those of the unit that is asked for, in UTC, ordered by time."""
        minutes = (0, 0, 1, 61, DAY_MINUTES)
        await store.write(
            [point("ana", f"e{n}", minute=minute, count=n + 1) for n, minute in enumerate(minutes)]
        )
        assert await counts(store, "ana", unit="minute") == [
            total(3), total(3, minute=1), total(4, minute=61), total(5, minute=DAY_MINUTES)
        ]  # fmt: skip
        assert await counts(store, "ana", unit="hour") == [
            total(6), total(4, minute=60), total(5, minute=DAY_MINUTES)
        ]  # fmt: skip
        assert await counts(store, "ana") == [total(10), total(5, minute=DAY_MINUTES)]

    async def test_only_the_time_that_is_asked_for_counts(self, store: ExperienceStore) -> None:
        """The first moment is in, the last is out, and a unit that is cut keeps its beginning."""
        await store.write([point("ana", f"e{n}", minute=n) for n in (0, 10, 20, 30)])
        begin = MIDNIGHT + timedelta(minutes=10)
        end = MIDNIGHT + timedelta(minutes=30)
        who = [pseudonym("ana")]
        assert await store.totals(who, begin, end, unit="hour") == [total(2)]
        assert await store.totals(who, begin, begin) == []
        assert await store.totals(who, end, begin) == []
        assert await store.totals([], begin, end) == []

    async def test_a_repeat_overwrites_itself(self, store: ExperienceStore) -> None:
        """The same place, however often and with whatever count, is one point: the last one."""
        for count in (4, 4, 4, 7):
            await store.write([point("ana", count=count), point("ben", count=count)])
        await store.write([point("ana", count=2), point("ana", count=9)])
        assert await counts(store, "ana") == [total(9)]
        assert await counts(store, "ben") == [total(7)]

    async def test_events_of_a_minute_stand_side_by_side(self, store: ExperienceStore) -> None:
        """What differs in event, kind, domain or pseudonym overwrites nothing."""
        others = [
            point("ana", "e2"),
            point("ana", kind=ExperienceKind.HIT_SERVED, count=3),
            point("ana", domain=DOMAINS[1]),
            point("ben", count=8),
        ]
        await store.write([point("ana"), *others])
        assert await counts(store, "ana") == [
            total(3, kind=ExperienceKind.HIT_SERVED),
            total(2),
            total(1, domain=DOMAINS[1]),
        ]
        assert await counts(store, "ben") == [total(8)]
        assert sum(one.count for one in await counts(store, "ana", "ben")) == 14

    @pytest.mark.parametrize("kind", ExperienceKind)
    async def test_every_kind_is_kept(self, store: ExperienceStore, kind: ExperienceKind) -> None:
        """Each kind, also those that nothing makes yet, comes back with both of its counts."""
        await store.write([point("ana", kind=kind, count=4, succeeded=3)])
        assert await counts(store, "ana") == [total(4, kind=kind, succeeded=3)]

    @pytest.mark.parametrize("seed", range(4))
    async def test_batches_repeats_and_order_change_nothing(
        self, store: ExperienceStore, seed: int
    ) -> None:
        """However points are split, repeated and mixed, the totals are those of each once."""
        dice = Random(seed)  # noqa: S311 - reproducible, not secret
        names = ("ana", "ben", "安娜")
        points = [
            point(
                dice.choice(names), f"e{n}", minute=dice.randrange(3 * DAY_MINUTES),
                kind=dice.choice(list(ExperienceKind)), domain=dice.choice(DOMAINS),
                count=dice.randint(1, 9),
            )
            for n in range(120)
        ]  # fmt: skip
        sent = points + dice.choices(points, k=80)
        dice.shuffle(sent)
        while sent:
            size = dice.randint(1, 60)
            await store.write(sent[:size])
            del sent[:size]
        for name in names:
            expected: dict[tuple[object, ...], int] = {}
            for one in points:
                if one.pseudonym == pseudonym(name):
                    day = (one.at_ns - point("").at_ns) // (DAY_MINUTES * 60_000_000_000)
                    key = (MIDNIGHT + timedelta(days=max(day, 0)), one.domain, one.kind)
                    expected[key] = expected.get(key, 0) + one.count
            found = await counts(store, name)
            assert {(one.start, one.domain, one.kind): one.count for one in found} == expected

    async def test_a_pool_is_what_five_users_stand_behind(self, store: ExperienceStore) -> None:
        """Fewer users give nothing; the fifth gives counts, and shares of all of them."""
        for number, name in enumerate(USERS):
            assert await store.pool(GENERAL, *next_days(1)) is None
            await store.write([point(name, f"{name}/{n}", minute=n) for n in range(number + 1)])
        await store.write([point("one more", kind=ExperienceKind.HIT_SERVED)])
        figure = PoolFigure(SEARCH, count=15, user_days=5, share=5 / 6, success=0.0)
        assert await store.pool(GENERAL, *next_days(1)) == Pool(GENERAL, 1, 6, (figure,))

    async def test_a_figure_of_few_is_left_out(self, store: ExperienceStore) -> None:
        """What only four of five do is in no pool, though the other figures are."""
        outcome = ExperienceKind.TASK_OUTCOME
        await store.write([point(name, kind=outcome, count=4, succeeded=3) for name in USERS])
        await store.write([point(name) for name in USERS[1:]])
        figure = PoolFigure(outcome, count=20, user_days=5, share=1.0, success=0.75)
        assert await store.pool(GENERAL, *next_days(1)) == Pool(GENERAL, 1, 5, (figure,))

    async def test_a_pool_is_made_of_whole_days_with_enough_users(
        self, store: ExperienceStore
    ) -> None:
        """Days of few users and days that are cut are not in it, so no difference tells of few."""
        for day in range(3):
            names = USERS if day != 1 else USERS[:4]
            minute = day * DAY_MINUTES + 600
            await store.write([point(name, f"d{day}", minute=minute) for name in names])
        begin, end = next_days(3)
        figure = PoolFigure(SEARCH, count=10, user_days=10, share=1.0, success=0.0)
        assert await store.pool(GENERAL, begin, end) == Pool(GENERAL, 2, 10, (figure,))
        inside = timedelta(minutes=1)
        assert await store.pool(GENERAL, begin + inside, end - inside) is None
        first = await store.pool(GENERAL, begin, end - inside)
        assert first is not None
        assert first.days == 1

    async def test_pseudonyms_of_two_months_are_not_two_users(self, store: ExperienceStore) -> None:
        """Three users at the turn of a month have six pseudonyms, and are still three."""
        for day in (1, 2):
            await store.write(
                [
                    point(f"{name} in month {day}", minute=day * DAY_MINUTES + minute)
                    for name in USERS[:3]
                    for minute in range(3)
                ]
            )
        assert await store.pool(GENERAL, *next_days(4)) is None

    async def test_domains_stand_apart(self, store: ExperienceStore) -> None:
        """A pool knows nothing of another domain, and users don't add up over domains."""
        await store.write([point(name, domain=DOMAINS[1]) for name in USERS])
        await store.write([point(name, domain=DOMAINS[2]) for name in USERS[:4]])
        await store.write([point(USERS[4], domain=DOMAINS[3])])
        found = [await store.pool(domain, *next_days(1)) for domain in DOMAINS]
        assert [pool is not None for pool in found] == [False, True, False, False]

    async def test_erasing_takes_one_and_leaves_the_others(self, store: ExperienceStore) -> None:
        """Nothing of an erased pseudonym is left in totals or pools; twice is no error."""
        everything = [
            point(name, f"{kind}/{n}", minute=n * DAY_MINUTES, kind=kind, domain=domain)
            for name in (*USERS, "ana")
            for n in range(2)
            for kind in (SEARCH, ExperienceKind.MEMORY_CREATED, ExperienceKind.TASK_OUTCOME)
            for domain in DOMAINS
        ]
        await store.write(everything)
        before = await counts(store, *USERS)
        for _ in range(2):
            await store.erase([pseudonym("ana"), pseudonym("never there")])
        assert await counts(store, "ana") == []
        assert await counts(store, *USERS) == before
        await store.erase([pseudonym(USERS[0])])
        assert [await store.pool(domain, *next_days(2)) for domain in DOMAINS] == [None] * 4
        await store.write([point("ana")])
        assert await counts(store, "ana") == [total(1)]

    async def test_what_was_written_is_there_again(
        self, place: ExperiencePlace, store: ExperienceStore
    ) -> None:
        """Another opening finds the points, and repeats overwrite those of the one before."""
        await store.write([point("ana", count=2), point("ana", "e2")])
        await store.close()
        async with place.open() as again:
            await again.write([point("ana", count=2)])
            assert await counts(again, "ana") == [total(3)]

    async def test_what_is_no_point_gets_nowhere(self, store: ExperienceStore) -> None:
        """No value of a point can be a name or a text, and bounds are told."""
        refused: list[dict[str, Any]] = [
            {"domain": "ana@example.org"},
            {"domain": "我的地址"},
            {"pseudonym": "ana"},
            {"pseudonym": pseudonym("ana").upper()},
            {"pseudonym": f"{pseudonym('ana')}\n"},
            {"at_ns": -1},
            {"at_ns": 2**63},
            {"count": 0},
            {"count": 2**40},
            {"count": 1, "succeeded": 2},
        ]
        for fields in refused:
            with pytest.raises(Rejected):
                point("ana", **fields)
        begin, end = next_days(1)
        with pytest.raises(Rejected, match="domain"):
            await store.pool('general") |> drop()', begin, end)
        for name in ('"', "ana", f'{pseudonym("ana")}" or true or "'):
            with pytest.raises(Rejected, match="hexadecimal"):
                await store.totals([name], begin, end)
            with pytest.raises(Rejected, match="hexadecimal"):
                await store.erase([name])
        many = [pseudonym(str(n)) for n in range(EXPERIENCE_PSEUDONYMS_MAX + 1)]
        with pytest.raises(Rejected, match=f"{EXPERIENCE_PSEUDONYMS_MAX}"):
            await store.totals(many, begin, end)

    async def test_nothing_is_written_of_nothing(self, store: ExperienceStore) -> None:
        """No points are no error, and an empty store answers."""
        await store.write([])
        assert await counts(store, "ana") == []
        assert await store.pool(GENERAL, *next_days(30)) is None
        await store.erase([])

    async def test_a_closed_store_says_so(self, store: ExperienceStore) -> None:
        """After closing, once or twice, every call is told that it is closed."""
        points: list[ExperiencePoint] = [point("ana")]
        await store.write(points)
        await store.close()
        await store.close()
        for call in (
            store.write(points),
            store.totals([pseudonym("ana")], *next_days(1)),
            store.pool(GENERAL, *next_days(1)),
            store.erase([pseudonym("ana")]),
        ):
            with pytest.raises(Unavailable, match="closed"):
                await call
