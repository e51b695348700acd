"""What every episodic store keeps of truth: what has expired, was superseded, belongs elsewhere.

Fixtures as in `episodes_contract`. As with times, a table of questions is asked of one small
world: just written, optimised, and opened again.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

from eunoe.schemas.ports import ALWAYS, EpisodicQuery, EpisodicStore, Holding
from eunoe.schemas.records import Truth
from tests.contract.episodes_contract import NewStore
from tests.contract.episodes_time_contract import at, moment
from tests.support.records import ANA, DIMENSION, ident, memory_put, new, stored, touch, vector
from tests.support.records import erasure as forget

__all__ = ["EpisodesTruthContract"]

OURS: Final = b"\xffproject-a"
THEIRS: Final = b"\x00project-b"
TERMS: Final = (1, 2)

TRUTHS: Final[dict[str, Truth | None]] = {
    "always": None,
    "expiring": Truth(expires_at=moment(60)),
    "old": Truth(
        state="superseded",
        changed_at=moment(50),
        valid_from=moment(10),
        valid_to=moment(20),
    ),
    "old-open": Truth(state="superseded", changed_at=moment(50)),
    "old-since": Truth(state="superseded", changed_at=moment(50), valid_from=moment(10)),
    "old-until": Truth(state="superseded", changed_at=moment(50), valid_to=moment(20)),
    "holds-later": Truth(valid_from=moment(500), valid_to=moment(600)),
    "ours": Truth(scope="project", project=OURS),
    "theirs": Truth(scope="project", project=THEIRS),
    "company": Truth(scope="organisation"),
    "vouched": Truth(verified=True),
    "vouched-half": Truth(verified=True),
    "vouched-old": Truth(state="superseded", changed_at=moment(50), verified=True),
    "recorded-later": None,
}
LATER_WORDS: Final = {"vouched-half": (1, 3)}
"""Terms of memories that haven't those of the question."""
BY_ID: Final = {ident(name).bytes: name for name in TRUTHS}
WORLD: Final = (
    *(
        new(
            number,
            f"turn/{name}",
            name,
            vector(1.0, number),
            truth=truth,
            created_at=moment(100 if name == "recorded-later" else 0),
            memory_terms=LATER_WORDS.get(name, TERMS),
            chunks=[(f"turn/{name}", vector(1.0), TERMS)],
        )
        for number, (name, truth) in enumerate(TRUTHS.items(), 1)
    ),
)

HOLDS: Final = {"always", "expiring", "holds-later", "company", "vouched", "vouched-half"}
"""What holds at first, outside of projects, and was recorded at once."""
NOW: Final = HOLDS | {"recorded-later"}
OPEN: Final = {"old-open", "vouched-old"}
"""What was superseded and may have held at any time."""
OLD: Final = OPEN | {"old", "old-since", "old-until"}

HOLDING: Final[list[tuple[dict[str, Any], set[str]]]] = [
    # Expiry: at exactly that moment it is over.
    ({"at": at(60) - 1e-3}, NOW),
    ({"at": at(60)}, NOW - {"expiring"}),
    ({"at": at(61)}, NOW - {"expiring"}),
    ({"at": at(60), "past": (None, None)}, NOW - {"expiring"} | OLD),
    # What was superseded answers where the past meets its validity; bounds that touch don't meet.
    ({"past": (None, None)}, NOW | OLD),
    ({"past": (at(10), at(20))}, NOW | OLD),
    ({"past": (at(15), at(16))}, NOW | OLD),
    ({"past": (at(0), at(10))}, NOW | OPEN | {"old-until"}),
    ({"past": (at(0), at(10) + 1)}, NOW | OLD),
    ({"past": (at(20), at(30))}, NOW | OPEN | {"old-since"}),
    ({"past": (at(20) - 1, at(30))}, NOW | OLD),
    ({"past": (None, at(10))}, NOW | OPEN | {"old-until"}),
    ({"past": (None, at(11))}, NOW | OLD),
    ({"past": (at(20), None)}, NOW | OPEN | {"old-since"}),
    ({"past": (at(19), None)}, NOW | OLD),
    # The state as it was: what was superseded later held then, what was recorded later wasn't.
    ({"as_of": at(100)}, NOW),
    ({"as_of": at(100) - 1}, HOLDS),
    ({"as_of": at(50)}, HOLDS),
    ({"as_of": at(50) - 1}, HOLDS | OLD),
    ({"as_of": at(0)}, HOLDS | OLD),
    ({"as_of": at(0) - 1}, set()),
    ({"as_of": at(49), "past": (at(20), at(30))}, HOLDS | OLD),
    ({"as_of": at(51), "past": (at(20), at(30))}, HOLDS | OPEN | {"old-since"}),
    ({"as_of": at(49), "project": OURS}, HOLDS | OLD | {"ours"}),
    # Whose it is.
    ({"project": OURS}, NOW | {"ours"}),
    ({"project": THEIRS}, NOW | {"theirs"}),
    ({"project": b"another"}, NOW),
    ({"project": None}, NOW),
    # Only what somebody vouches for, with every term of the question.
    ({"verified": True}, {"vouched"}),
    ({"verified": True, "past": (None, None)}, {"vouched", "vouched-old"}),
    ({"verified": True, "as_of": at(49)}, {"vouched", "vouched-old"}),
    ({"verified": True, "as_of": at(0) - 1}, set()),
]
"""What is asked for, and which memories answer."""

VOUCHED: Final[list[tuple[tuple[int, ...], set[str]]]] = [
    ((1,), {"vouched", "vouched-half"}),
    ((3,), {"vouched-half"}),
    ((1, 3), {"vouched-half"}),
    ((1, 2), {"vouched"}),
    ((1, 2, 3), set()),
    ((4,), set()),
    ((2**32 - 1,), set()),
]
"""Terms of a question for what is verified, and what answers."""
MOMENTS: Final = (
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2024, 3, 1, 9, 0, 0, 123_457, tzinfo=UTC),
    datetime(2024, 2, 29, 23, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    datetime(2199, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
)


def holding(**fields: Any) -> Holding:
    """Return what is asked for; the clock stands at `START` where nothing else is said."""
    values: dict[str, Any] = {"at": at(0)}
    return Holding(**(values | fields))


async def found(
    store: EpisodicStore, wanted: Holding | None, *, terms: tuple[int, ...] = TERMS
) -> set[str]:
    """Ask for memories by meaning and by words; the names of those that answer."""
    query = EpisodicQuery(ANA, vector(1.0), terms, 50, kinds=("fact",), holding=wanted)
    return {BY_ID[hit.point_id] for hit in await store.query(query)}


async def truth_of(store: EpisodicStore, name: str = "always") -> Truth:
    """Return a memory's truth."""
    (memory,) = await store.memories(ANA, [ident(name)])
    return memory.truth


class EpisodesTruthContract:
    """The store lets answer what held, as it was known, for whom it is asked."""

    async def test_what_holds_answers(self, store: EpisodicStore) -> None:
        """Of a world with every truth, those memories answer that hold as is asked for."""
        await store.apply(WORLD)
        for fields, expected in HOLDING:
            assert await found(store, holding(**fields)) == expected, fields

    async def test_without_bounds_everything_answers(self, store: EpisodicStore) -> None:
        """Where nothing is said of holding, all memories are found."""
        await store.apply(WORLD)
        assert await found(store, None) == {*TRUTHS}

    async def test_verified_needs_every_term(self, store: EpisodicStore) -> None:
        """One term that a memory hasn't keeps it out, found by meaning or by words."""
        await store.apply(WORLD)
        for terms, expected in VOUCHED:
            assert await found(store, holding(verified=True), terms=terms) == expected, terms

    async def test_turns_hold_always(self, store: EpisodicStore) -> None:
        """Truth bounds memories alone; `as_of` bounds turns by when they were recorded."""
        one = stored(1, "t1", minute=0, chunks=[("t1", vector(1.0), TERMS)])
        await store.apply([one])
        query = EpisodicQuery(ANA, vector(1.0), TERMS, 50)
        for fields, is_found in (
            ({"at": at(10**6)}, True),
            ({"past": (at(0), at(1))}, True),
            ({"project": OURS}, True),
            ({"as_of": at(60)}, True),
            ({"as_of": at(60) - 1}, False),
            ({"verified": True}, False),
        ):
            hits = await store.query(replace(query, holding=holding(**fields)))
            assert [hit.point_id for hit in hits] == [ident("t1").bytes] * is_found

    # --- truth comes back ------------------------------------------------------------------

    async def test_truth_comes_back_as_given(self, store: EpisodicStore) -> None:
        """Each memory has the truth of its decision; without one it holds always."""
        await store.apply(WORLD)
        memories = {BY_ID[one.memory_id.bytes]: one for one in await store.memories(ANA)}
        truths = {name: memory.truth for name, memory in memories.items()}
        assert truths == {name: truth or ALWAYS for name, truth in TRUTHS.items()}
        (near,) = await store.nearest(ANA, vector(1.0)[None], -1.0)
        assert {one.memory_id: one.truth for one in near} == {
            one.memory_id: one.truth for one in memories.values()
        }

    async def test_moments_come_back_to_the_microsecond(self, store: EpisodicStore) -> None:
        """Every moment of a truth is the instant that was given."""
        for number, given in enumerate(MOMENTS):
            truth = Truth(
                state="superseded",
                changed_at=given,
                valid_from=given,
                valid_to=given,
                expires_at=given,
            )
            await store.apply([new(number, f"t{number}", "always", vector(1.0), truth=truth)])
            assert await truth_of(store) == truth

    # --- changes ---------------------------------------------------------------------------

    async def test_a_touch_changes_truth_and_takes_it_away(self, store: EpisodicStore) -> None:
        """What a touch says of truth replaces all that stood there; without it, all holds again."""
        superseded = Truth(state="superseded", changed_at=moment(50), valid_to=moment(50))
        moved = Truth(scope="project", project=OURS)
        steps: list[tuple[Truth | None, bool]] = [
            (superseded, False),
            (moved, False),
            (Truth(expires_at=moment(-1)), False),
            (Truth(expires_at=moment(1)), True),
            (None, True),
        ]
        await store.apply([new(1, "t1", "always", vector(1.0), memory_terms=TERMS)])
        for number, (truth, holds) in enumerate(steps, 2):
            one = touch(number, f"t{number}", "always", ["t1", f"t{number}"], truth=truth)
            for _ in range(2):
                await store.apply([one])
                assert await truth_of(store) == (truth or ALWAYS)
                assert (await found(store, holding()) == {"always"}) is holds
        assert await found(store, holding(project=OURS)) == {"always"}

    async def test_a_touch_may_verify(self, store: EpisodicStore) -> None:
        """A memory that a touch makes verified is found by its own terms, until one unmakes it."""
        turns = [new(1, "t1", "always", vector(1.0), memory_terms=(1, 2))]
        await store.apply(turns)
        wanted = holding(verified=True)
        assert await found(store, wanted) == set()
        await store.apply([touch(2, "t2", "always", ["t1", "t2"], truth=Truth(verified=True))])
        assert await found(store, wanted) == {"always"}
        assert await found(store, wanted, terms=(1, 2, 3)) == set()
        await store.apply([touch(3, "t3", "always", ["t1", "t3"], truth=None)])
        assert await found(store, wanted) == set()
        assert await truth_of(store) == ALWAYS

    async def test_in_one_batch_as_one_by_one(self, new_store: NewStore) -> None:
        """A memory that is made, changed and freed within one batch is as if it came slowly."""
        records = [
            new(1, "t1", "always", vector(1.0), memory_terms=TERMS),
            touch(2, "t2", "always", ["t1", "t2"], truth=Truth(verified=True)),
            new(3, "t3", "ours", vector(0.0, 1.0), truth=TRUTHS["ours"], memory_terms=TERMS),
            touch(4, "t4", "ours", ["t3", "t4"], truth=TRUTHS["old"]),
            touch(5, "t5", "always", ["t1", "t5"], truth=TRUTHS["expiring"]),
        ]
        async with new_store().open() as one, new_store().open() as other:
            await one.apply(records)
            for record in records:
                await other.apply([record])
            assert await one.memories(ANA) == await other.memories(ANA)
            assert await truth_of(one) == TRUTHS["expiring"]
            for fields, _ in HOLDING:
                assert await found(one, holding(**fields)) == await found(other, holding(**fields))

    async def test_a_forget_puts_truth(self, store: EpisodicStore) -> None:
        """A memory that a forget makes anew has the truth that its decision says."""
        put = memory_put("always", vector(1.0), ["t2"], truth=TRUTHS["old"])
        await store.apply([new(1, "t1", "ours", vector(1.0), truth=TRUTHS["ours"])])
        await store.apply([forget(2, ["t1"], memories=(ident("ours"),), puts=(put,))])
        assert await truth_of(store) == TRUTHS["old"]
        assert await found(store, holding()) == set()
        assert await found(store, holding(past=(at(15), at(16)))) == {"always"}

    async def test_truth_survives(self, new_store: NewStore) -> None:
        """After optimising and after reopening the same answers, and truth is the same."""
        place = new_store()
        async with place.open() as store:
            await store.apply(WORLD)
            await store.optimise()
            await self._look(store)
            filling = [stored(1_000 + n, f"fill/{n}", minute=n) for n in range(4 * DIMENSION)]
            await store.apply(filling)
            await self._look(store)
        async with place.open() as store:
            await self._look(store)
            await store.optimise()
            await self._look(store)

    async def _look(self, store: EpisodicStore) -> None:
        for fields, expected in HOLDING:
            assert await found(store, holding(**fields)) == expected, fields
        memories = await store.memories(ANA)
        assert {BY_ID[one.memory_id.bytes]: one.truth for one in memories} == {
            name: truth or ALWAYS for name, truth in TRUTHS.items()
        }
