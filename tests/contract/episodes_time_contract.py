"""What every episodic store keeps of times and of bounds; fixtures as in `episodes_contract`.

The questions stand in a table and are asked of one small world: of a store that was just written,
of one that was optimised, and of one that was opened again.
"""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from eunoe.schemas.ports import EpisodicQuery, EpisodicStore, Holding, Interval
from tests.contract.episodes_contract import NewStore
from tests.support.records import ANA, BEN, erasure, ident, new, stored, vector
from tests.support.tools import START

__all__ = ["EpisodesTimeContract", "at", "names_of"]

EVER: Final = Holding(at=START.timestamp())
FAR: Final = 10_000
"""Minutes after everything that a question of the table is about."""
WORD: Final = 1
TILTED: Final = vector(1.0, 0.1)
"""A question to which no two of the closest points are equally close: which comes is no promise."""


def at(minute: float) -> float:
    """Return the moment so many minutes after `START`, in seconds since 1970."""
    return START.timestamp() + 60 * minute


def moment(minute: float) -> datetime:
    """Return the same as a datetime."""
    return START + timedelta(minutes=minute)


NAMES: Final = ("early", "noon", "noon/1", "late", "plan", "trip", "trip-turn", "ben")
BY_ID: Final = {ident(name).bytes: name for name in NAMES}
WORLD: Final = (
    stored(1, "late", minute=120, chunks=[("late", vector(0.0, 1.0), [WORD])]),
    stored(2, "early", minute=0, chunks=[("early", vector(1.0), [WORD])]),
    stored(
        3,
        "noon",
        minute=60,
        chunks=[("noon", vector(1.0, 1.0), [WORD]), ("noon/1", vector(1.0, 2.0), [WORD])],
    ),
    stored(
        4,
        "plan",
        minute=FAR,
        about=(int(at(60)), int(at(300))),
        chunks=[("plan", vector(0.0, 0.0, 1.0), [WORD])],
    ),
    new(
        5,
        "trip-turn",
        "trip",
        vector(0.0, 0.0, 0.0, 1.0),
        minute=FAR + 1,
        memory_said=moment(FAR + 1),
        memory_about=(int(at(300)),),
        chunks=[("trip-turn", vector(0.0, 0.0, 0.0, 0.0, 1.0), [WORD])],
    ),
    stored(6, "ben", owner=BEN, minute=60, chunks=[("ben", vector(1.0), [WORD])]),
)

WITHIN: Final[list[tuple[Interval, set[str]]]] = [
    ((at(60), at(120)), {"noon", "noon/1", "plan"}),
    ((at(0), at(60)), {"early"}),
    ((at(0), at(60) + 1), {"early", "noon", "noon/1", "plan"}),
    ((at(60) + 1, at(120) + 1), {"late"}),
    ((at(120), at(120)), set()),
    ((at(120), at(60)), set()),
    ((None, at(60)), {"early"}),
    ((at(FAR), None), {"plan", "trip", "trip-turn"}),
    ((at(300), at(301)), {"plan", "trip"}),
    ((at(200), at(300)), set()),
    ((None, None), {*NAMES} - {"ben"}),
    ((None, at(0)), set()),
]
"""Intervals, and what was said in them or is about a time in them."""


def query(**fields: Any) -> EpisodicQuery:
    """Return a question that finds everything that its further fields don't keep out."""
    values: dict[str, Any] = {"owner": ANA, "vector": vector(1.0), "terms": (WORD,), "limit": 50}
    return EpisodicQuery(**(values | fields))


def names_of(points: list[bytes]) -> list[str]:
    """Return the names of points of the world."""
    return [BY_ID[point] for point in points]


async def found(store: EpisodicStore, **fields: Any) -> set[str]:
    """Ask; the names of what is found, which has to be the same by meaning and by words."""
    united = await store.query(query(**fields))
    for part in ({"terms": ()}, {"vector": None}):
        hits = await store.query(query(**(fields | part)))
        assert {hit.point_id for hit in hits} == {hit.point_id for hit in united}
    return set(names_of([hit.point_id for hit in united]))


async def said(
    store: EpisodicStore, interval: Interval, *, as_of: float | None = None, limit: int = 50
) -> list[str]:
    """List the turns of an interval."""
    holding = Holding(at=at(0), as_of=as_of)
    return names_of(await store.said_within(ANA, interval, holding, limit))


async def timely(store: EpisodicStore, **fields: Any) -> dict[str, bool]:
    """Ask; what is found, and whether it was found in the interval `near`."""
    return {BY_ID[hit.point_id]: hit.timely for hit in await store.query(query(**fields))}


class EpisodesTimeContract:
    """The store finds by time what was said or is about it, and what it is bounded to."""

    async def test_an_interval_filters(self, store: EpisodicStore) -> None:
        """Found is what was said in it or is about a time in it; its end isn't part of it."""
        await store.apply(WORLD)
        for interval, expected in WITHIN:
            assert await found(store, within=interval) == expected, interval

    async def test_an_interval_is_one_bound_among_others(self, store: EpisodicStore) -> None:
        """Kinds and ids bound what an interval leaves, and the other way round."""
        await store.apply(WORLD)
        asked: dict[str, Any] = {"within": (at(300), at(301))}
        assert await found(store, kinds=("turn",), **asked) == {"plan"}
        assert await found(store, kinds=("fact",), **asked) == {"trip"}
        assert await found(store, only=(ident("trip").bytes, ident("late").bytes), **asked) == {
            "trip"
        }

    async def test_near_is_united_with_the_rest(self, store: EpisodicStore) -> None:
        """What is closest comes, and beside it the closest of the interval; which, is told."""
        await store.apply(WORLD)
        asked: dict[str, Any] = {"terms": (), "near": (at(120), at(400)), "vector": TILTED}
        assert await timely(store, limit=1, near_limit=1, **asked) == {"early": False, "late": True}
        assert await timely(store, limit=1, near_limit=3, **asked) == {
            "early": False,
            "late": True,
            "plan": True,
            "trip": True,
        }
        assert await timely(store, limit=50, near_limit=0, **asked) == dict.fromkeys(
            {*NAMES} - {"ben"}, False
        )

    async def test_near_says_which_are_timely(self, store: EpisodicStore) -> None:
        """What the whole search finds as well is timely if the interval's own search found it."""
        await store.apply(WORLD)
        for part in ({}, {"terms": ()}, {"vector": None}):
            hits = await timely(store, near=(at(60), at(120)), near_limit=50, **part)
            assert hits == {name: name in {"noon", "noon/1", "plan"} for name in hits}
            assert set(hits) == {*NAMES} - {"ben"}
        assert not any((await timely(store)).values())

    async def test_near_adds_nothing_that_is_left_out(self, store: EpisodicStore) -> None:
        """An interval that lifts brings back nothing that an interval that filters left out."""
        await store.apply(WORLD)
        asked: dict[str, Any] = {"near": (at(0), at(121)), "near_limit": 50}
        hits = await timely(store, within=(at(60), at(120)), **asked)
        assert hits == {"noon": True, "noon/1": True, "plan": True}
        assert await timely(store, within=(at(300), at(301)), **asked) == {
            "plan": True,
            "trip": False,
        }
        assert set(await timely(store, kinds=("fact",), **asked)) == {"trip"}
        assert set(await timely(store, only=(ident("late").bytes,), **asked)) == {"late"}

    async def test_only_bounds_to_points(self, store: EpisodicStore) -> None:
        """Of the ids named only the owner's own points are found; of none, nothing."""
        await store.apply(WORLD)
        ids = tuple(ident(name).bytes for name in ("noon/1", "trip", "ben", "nobody"))
        assert await found(store, only=ids) == {"noon/1", "trip"}
        assert await found(store, only=ids[2:]) == set()
        assert await found(store, only=()) == set()

    async def test_turns_of_a_time_come_in_order(self, store: EpisodicStore) -> None:
        """Listed are the first points of turns, oldest first, however they came in."""
        await store.apply(WORLD)
        assert await said(store, (None, None)) == ["early", "noon", "late", "plan", "trip-turn"]
        assert await said(store, (at(0), at(120))) == ["early", "noon"]
        assert await said(store, (at(0) + 1, at(120) + 1)) == ["noon", "late"]
        assert await said(store, (None, at(60))) == ["early"]
        assert await said(store, (at(FAR), None)) == ["plan", "trip-turn"]
        assert await said(store, (at(200), at(400))) == []

    async def test_the_first_of_a_time_come(self, store: EpisodicStore) -> None:
        """Where not all fit, the oldest come."""
        await store.apply(WORLD)
        for limit in (1, 2, 4):
            expected = ["early", "noon", "late", "plan"][:limit]
            assert await said(store, (None, None), limit=limit) == expected

    async def test_a_list_is_as_it_was(self, store: EpisodicStore) -> None:
        """Turns that were recorded after `as_of` aren't listed; recorded is later than said."""
        await store.apply(WORLD)
        assert await said(store, (None, None), as_of=at(120)) == ["early", "noon"]
        assert await said(store, (None, None), as_of=at(120) - 1) == ["early"]
        assert await said(store, (None, None), as_of=at(0)) == []

    async def test_a_list_is_of_one_owner(self, store: EpisodicStore) -> None:
        """No other owner's turn is listed, and what was erased isn't."""
        await store.apply(WORLD)
        theirs = await store.said_within(BEN, (None, None), EVER, 50)
        assert names_of(theirs) == ["ben"]
        assert await store.said_within("default/an", (None, None), EVER, 50) == []
        only = [ident(name).bytes for name in ("late", "noon", "ben")]
        some = await store.said_within(ANA, (None, None), EVER, 50, only)
        assert names_of(some) == ["noon", "late"]
        gone = (ident("noon"), ident("noon/1"))
        await store.apply([erasure(9, ["noon"], points=gone)])
        assert await said(store, (None, at(FAR))) == ["early", "late"]
        assert await found(store, within=(at(60), at(120))) == {"plan"}

    async def test_times_survive(self, new_store: NewStore) -> None:
        """After optimising and after reopening every interval finds what it found before."""
        place = new_store()
        async with place.open() as store:
            await store.apply(WORLD)
            before = await self._everything(store)
            await store.optimise()
            assert await self._everything(store) == before
        async with place.open() as store:
            assert await self._everything(store) == before
            await store.apply(WORLD)
            assert await self._everything(store) == before

    async def _everything(self, store: EpisodicStore) -> list[object]:
        """Ask what the tests above ask; the answers that are known are compared at once."""
        for interval, expected in WITHIN:
            assert await found(store, within=interval) == expected
        listed: list[object] = [
            await said(store, interval, as_of=as_of)
            for interval, _ in WITHIN
            for as_of in (None, at(120))
        ]
        asked: dict[str, Any] = {"terms": (), "near": (at(60), at(301)), "vector": TILTED}
        near = await timely(store, near_limit=3, limit=2, **asked)
        return [*listed, near, await found(store, only=(ident("trip").bytes, UUID(int=0).bytes))]
