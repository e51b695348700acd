"""What every identity store keeps of filters, sessions and spots.

Fixtures as in `identity_contract`.
"""

from datetime import timedelta, timezone
from typing import Any, Final

from eunoe.schemas.ports import IdentityStore, Spot, Stored, TurnFilter
from eunoe.schemas.records import Truth
from tests.contract.identity_contract import NewStore
from tests.support.records import (
    ANA,
    BEN,
    candidate,
    decision,
    erasure,
    gap,
    ident,
    memory_put,
    new,
    stored,
    touch,
    vector,
)

__all__ = ["IdentityFiltersContract"]

CHAT: Final = b"label-chat"
MAIL: Final = b"label-mail"
RED: Final = b"label-red"
WORLD: Final = (
    new(
        1,
        "t1",
        "m1",
        vector(1.0),
        labels=(CHAT, RED),
        chunks=[("t1", vector(1.0), [1]), ("t1/1", vector(1.0), [1])],
    ),
    stored(2, "t2", position=1, role="assistant", speaker=(), labels=(CHAT,)),
    stored(3, "t3", session="s2", role="user", speaker=(7,), labels=(MAIL, RED)),
    stored(4, "t4", session="s2", position=1, role="tool", speaker=(9, 7), labels=()),
    stored(5, "b1", owner=BEN, labels=(CHAT, RED)),
    erasure(6, ["t9"]),
)
NAMES: Final = ("t1", "t1/1", "m1", "t2", "t3", "t4", "b1")
BY_ID: Final = {ident(name).bytes: name for name in NAMES}
FIRST: Final = {"t1", "t1/1", "m1"}
MEANT: Final[list[tuple[dict[str, Any], set[str]]]] = [
    ({}, {*NAMES} - {"b1"}),
    ({"session": b"s1"}, FIRST | {"t2"}),
    ({"session": b"s3"}, set()),
    ({"role": "user"}, FIRST | {"t3"}),
    ({"role": "assistant"}, {"t2"}),
    ({"role": "system"}, set()),
    ({"speaker": (7, 2**32 - 1)}, FIRST),
    ({"speaker": (7,)}, {"t3"}),
    ({"speaker": (7, 9)}, set()),
    ({"speaker": (9, 7)}, {"t4"}),
    ({"labels": (CHAT,)}, FIRST | {"t2"}),
    ({"labels": (RED,)}, FIRST | {"t3"}),
    ({"labels": (CHAT, RED)}, FIRST),
    ({"labels": (RED, MAIL)}, {"t3"}),
    ({"labels": (CHAT, MAIL)}, set()),
    ({"labels": (b"label-blue",)}, set()),
    ({"session": b"s1", "role": "assistant"}, {"t2"}),
    ({"session": b"s2", "role": "user", "speaker": (7,), "labels": (MAIL, RED)}, {"t3"}),
    ({"session": b"s1", "role": "user", "speaker": (7,), "labels": (MAIL, RED)}, set()),
    ({"role": "user", "labels": (CHAT,)}, FIRST),
]
"""Filters, and the points whose turn is meant."""


async def meant(store: IdentityStore, owner: str = ANA, **fields: Any) -> set[str]:
    """Return the names of the points that a filter means; each has to come once."""
    points = await store.points_of(owner, TurnFilter(**fields))
    assert len(points) == len(set(points))
    return {BY_ID[point] for point in points}


async def sessions(store: IdentityStore, owner: str = ANA, *, from_end: bool = False) -> list[str]:
    """Return an owner's sessions by rank; beyond the last there is none."""
    found: list[str] = []
    while (one := await store.session(owner, len(found), from_end=from_end)) is not None:
        found.append(one.decode())
    assert await store.session(owner, len(found) + 5, from_end=from_end) is None
    return found


async def spot_of(store: IdentityStore, name: str, owner: str = ANA) -> Spot:
    """Return the spot of one point."""
    point = ident(name).bytes
    return (await store.spots(owner, [point]))[point]


class IdentityFiltersContract:
    """The store tells which points a filter means, and where what they say stands."""

    # --- points of turns -------------------------------------------------------------------

    async def test_a_filter_means_turns_with_all_their_points(self, new_store: NewStore) -> None:
        """Each field alone and together: the turns that fit, with later chunks and memories."""
        place = new_store()
        async with place.open() as store:
            await store.apply(WORLD)
            for fields, expected in MEANT:
                assert await meant(store, **fields) == expected, fields
        async with place.open() as store:
            for fields, expected in MEANT:
                assert await meant(store, **fields) == expected, fields

    async def test_filters_never_mean_another_owners_turns(self, store: IdentityStore) -> None:
        """Equal sessions, roles, speakers and labels of two owners stay apart."""
        await store.apply(WORLD)
        assert await meant(store, BEN, session=b"s1") == {"b1"}
        assert await meant(store, BEN, labels=(CHAT,)) == {"b1"}
        assert await meant(store, BEN, labels=(MAIL,)) == set()
        for other in ("other/ana", "default/an"):
            for fields, _ in MEANT:
                assert await meant(store, other, **fields) == set()

    async def test_no_filter_means_what_was_erased(self, store: IdentityStore) -> None:
        """After a forget no filter finds the turn's points; what the forget puts has its turn's."""
        await store.apply(WORLD)
        put = memory_put("m1", vector(1.0), ["t3"])
        await store.apply([erasure(7, ["t1"], memories=(ident("m1"),), puts=(put,))])
        assert await meant(store) == {"m1", "t2", "t3", "t4"}
        assert await meant(store, labels=(CHAT,)) == {"t2"}
        assert await meant(store, labels=(MAIL,)) == {"m1", "t3"}
        assert await meant(store, labels=(CHAT, RED)) == set()
        assert await meant(store, BEN, labels=(CHAT, RED)) == {"b1"}

    async def test_labels_vanish_with_a_forget(self, store: IdentityStore) -> None:
        """The labels of a forgotten turn don't come back with a turn of the same name."""
        await store.apply(WORLD)
        await store.apply([erasure(7, ["t1", "b1"], memories=(ident("m1"),))])
        await store.apply([stored(8, "t1", position=2, labels=(MAIL,))])
        assert await meant(store, labels=(MAIL,)) == {"t1", "t3"}
        assert await meant(store, labels=(RED,)) == {"t3"}
        assert await meant(store, labels=(CHAT,)) == {"t2"}
        assert await meant(store, BEN, labels=(CHAT,)) == {"b1"}, "another owner's forget"

    async def test_thousands_of_points_come(self, store: IdentityStore) -> None:
        """A filter may mean more turns than fit into one look-up."""
        turns = [stored(n, f"x{n}", position=n, labels=(CHAT,)) for n in range(1_200)]
        await store.apply(turns)
        found = await store.points_of(ANA, TurnFilter(labels=(CHAT,)))
        assert set(found) == {ident(f"x{n}").bytes for n in range(1_200)}

    # --- sessions --------------------------------------------------------------------------

    async def test_sessions_are_ranked_by_their_first_turn(self, store: IdentityStore) -> None:
        """The session that began first is the first, whatever came in first; both ends agree."""
        await store.apply(
            [
                stored(1, "t1", session="late", minute=90),
                stored(2, "t2", session="early", minute=10),
                stored(3, "t3", session="middle", minute=50),
                stored(4, "t4", session="early", minute=500, position=1),
                stored(5, "b1", owner=BEN, session="ben", minute=0),
            ]
        )
        assert await sessions(store) == ["early", "middle", "late"]
        assert await sessions(store, from_end=True) == ["late", "middle", "early"]
        assert await sessions(store, BEN) == ["ben"]
        assert await sessions(store, "default/an") == []
        await store.apply([stored(6, "t6", session="late", minute=-5, position=1)])
        assert await sessions(store) == ["late", "early", "middle"]

    async def test_sessions_of_one_moment_are_ranked_as_they_came(
        self, store: IdentityStore
    ) -> None:
        """Of sessions that began at the same time the one that came in first is the first."""
        names = ("z", "a", "m")
        await store.apply(
            [stored(n, f"t{n}", session=name, minute=7) for n, name in enumerate(names, 1)]
        )
        assert await sessions(store) == [*names]
        assert await sessions(store, from_end=True) == [*reversed(names)]

    async def test_moments_of_any_offset_are_compared(self, store: IdentityStore) -> None:
        """A session begins when its first turn was said, in whatever zone it was told."""
        one, other = (stored(n, f"t{n}", session=f"s{n}").record.said_at for n in (1, 2))
        tokyo = one.astimezone(timezone(timedelta(hours=9)))
        lima = other.astimezone(timezone(timedelta(hours=-5)))
        await store.apply(
            [
                stored(1, "t1", session="first", said_at=tokyo),
                stored(2, "t2", session="second", said_at=lima),
            ]
        )
        assert await sessions(store) == ["first", "second"]

    async def test_an_erased_session_has_no_rank(self, store: IdentityStore) -> None:
        """A session whose turns were all erased doesn't count; one that lost its first does."""
        await store.apply(
            [
                stored(1, "t1", session="gone", minute=0),
                stored(2, "t2", session="short", minute=10),
                stored(3, "t3", session="whole", minute=20),
                stored(4, "t4", session="short", minute=30, position=1),
            ]
        )
        gaps = (gap("gone", [0], 0), gap("short", [0], 1))
        await store.apply([erasure(5, ["t1", "t2"], gaps=gaps)])
        assert await sessions(store) == ["whole", "short"]
        assert await sessions(store, from_end=True) == ["short", "whole"]

    # --- spots -----------------------------------------------------------------------------

    async def test_a_spot_says_how_far_a_memory_counts(self, store: IdentityStore) -> None:
        """Confidence and scope are those of the last decision, a touch's as well; a turn has 1."""
        project = Truth(scope="project", project=b"p")
        await store.apply([new(1, "t1", "m1", vector(1.0), confidence=0.5, truth=project)])
        one = await spot_of(store, "m1")
        assert (one.kind, one.confidence, one.scope) == ("fact", 0.5, "project")
        turn = await spot_of(store, "t1")
        assert (turn.kind, turn.confidence, turn.scope) == ("turn", 1.0, "private")
        for number, truth, confidence, scope in (
            (2, Truth(scope="organisation"), 0.75, "organisation"),
            (3, None, 0.25, "private"),
        ):
            sources = ["t1", f"t{number}"]
            values = {"truth": truth, "confidence": confidence, "position": number}
            await store.apply([touch(number, f"t{number}", "m1", sources, **values)])
            spot = await spot_of(store, "m1")
            assert (spot.confidence, spot.scope) == (confidence, scope)
            assert spot.event == ident("t1").bytes

    async def test_a_turn_of_which_nothing_holds_is_outdated(self, store: IdentityStore) -> None:
        """It is when all its memories are superseded, and no longer once one holds again."""
        gone = Truth(state="superseded")
        first = new(1, "t1", "m1", vector(1.0))
        second = decision("m2", ["t1"]).model_copy(update={"candidate": 1})
        two = first.record.model_copy(
            update={
                "candidates": (*first.record.candidates, candidate("m2", vector(1.0))),
                "decisions": (*first.record.decisions, second),
            }
        )
        again = touch(2, "t2", "m1", ["t1", "t2"], position=1)
        await store.apply([Stored(first.position, two), again])
        steps = (
            ("m1", gone, {"t1": 0, "t2": 1}),
            ("m2", gone, {"t1": 1, "t2": 1}),
            ("m1", None, {"t1": 0, "t2": 0}),
        )
        for number, (memory, truth, expected) in enumerate(steps, 3):
            sources = ["t1", "t2"] if memory == "m1" else ["t1"]
            values = {"truth": truth, "position": number}
            await store.apply([touch(number, f"c{number}", memory, sources, **values)])
            assert {name: (await spot_of(store, name)).outdated for name in expected} == expected

    async def test_a_touch_reaches_its_own_owner_only(self, store: IdentityStore) -> None:
        """One that names another owner's memory changes nothing of it."""
        await store.apply([new(1, "t1", "m1", vector(1.0), confidence=0.5)])
        await store.apply([touch(2, "b1", "m1", ["b1"], owner=BEN, confidence=0.1)])
        assert (await spot_of(store, "m1")).confidence == 0.5

    async def test_a_forget_puts_confidence_and_scope(self, store: IdentityStore) -> None:
        """What a forget gives to another turn has the values that it decided."""
        truth = Truth(scope="organisation")
        put = memory_put("m2", vector(1.0), ["t2"], confidence=0.25, truth=truth)
        await store.apply(
            [
                new(1, "t1", "m1", vector(1.0)),
                stored(2, "t2", position=1),
                erasure(3, ["t1"], gaps=(gap("s1", [0], 1),), memories=(ident("m1"),), puts=(put,)),
            ]
        )
        spot = await spot_of(store, "m2")
        assert (spot.event, spot.confidence, spot.scope) == (
            ident("t2").bytes,
            0.25,
            "organisation",
        )
        assert await store.spots(ANA, [ident("m1").bytes]) == {}
