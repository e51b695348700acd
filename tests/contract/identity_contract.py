"""What every identity store keeps; a back-end's test class inherits `IdentityContract`.

The back-end's module supplies two fixtures: `new_store`, which makes empty stores that can be
opened again, and `store`, one of them, open.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from itertools import groupby
from typing import Protocol

from eunoe.schemas.ports import Applied, EventPlace, IdentityStore, Spot, StatementRow
from tests.support.records import (
    ANA,
    BEN,
    EPOCH,
    PARTITION,
    erasure,
    gap,
    ident,
    new,
    statement,
    stored,
    vector,
)

__all__ = ["IdentityContract", "IdentityPlace", "NewStore", "picture"]


class IdentityPlace(Protocol):
    """A place that holds one identity store."""

    def open(self) -> AbstractAsyncContextManager[IdentityStore]:
        """Open the store that is there, made at the first time; leaving closes it."""
        ...


NewStore = Callable[[], IdentityPlace]


async def picture(store: IdentityStore, owner: str) -> tuple[object, ...]:
    """Return all that a store tells of an owner."""
    turns = await store.turns(owner)
    return (
        turns,
        await store.statements(owner),
        await store.candidates(owner),
        await store.counts(owner),
        await store.points(owner, [place.event_id for place in turns]),
        [await store.session_end(owner, session) for session in (b"s1", b"s2")],
    )


def spot(place: EventPlace) -> Spot:
    """Return what a spot has of a place."""
    event = place.event_id.bytes
    said = place.said_at.isoformat(timespec="microseconds")
    return Spot(event, place.session, place.position, place.speaker, said, 100, 0, place.kind)


def _matter(row: StatementRow) -> bytes:
    return row.matter


class IdentityContract:
    """The promises of `ports.IdentityStore`."""

    # --- apply and markers -----------------------------------------------------------------

    async def test_reads_see_what_was_applied(self, store: IdentityStore) -> None:
        """An applied turn is known, placed and listed, with every field."""
        one = stored(4, "t1", position=0)
        await store.apply([one])
        (place,) = await store.turns(ANA)
        assert place.event_id == ident("t1")
        assert (place.kind, place.session, place.position) == ("turn", b"s1", 0)
        assert (place.speaker, place.role) == ((7, 2**32 - 1), "user")
        assert place.names == (11, 2**32 - 2)
        assert (place.said_at, place.journal_offset) == (one.record.said_at, 4)
        known = (await store.known(ANA, [ident("t1"), ident("t2")]))[ident("t1")]
        assert (known.content, known.journal_offset) == (b"t1", 4)
        assert await store.by_producer(ANA, b"t1") == [place]
        assert await store.places(ANA, [ident("t1"), ident("no")]) == {ident("t1"): place}
        assert await store.owners() == [ANA]

    async def test_applied_twice_is_once(self, store: IdentityStore) -> None:
        """A record at or below its owner's marker changes nothing."""
        home = statement("home", "a", "b1")
        records = [
            new(1, "t1", "m1", vector(1.0), position=0, statements=(home,)),
            stored(2, "t2", position=1, statements=(home,)),
            erasure(3, ["t1"], gaps=(gap("s1", [0], 1),), memories=(ident("m1"),)),
            stored(4, "t3", position=1),
        ]
        await store.apply(records)
        before = await picture(store, ANA)
        for record in records:
            await store.apply([record])
            assert await picture(store, ANA) == before
        await store.apply(records)
        assert await picture(store, ANA) == before

    async def test_the_low_water_is_the_next_offset(self, store: IdentityStore) -> None:
        """`applied` names the offset after the last record; offsets may have gaps."""
        assert await store.applied(PARTITION) is None
        await store.apply([stored(4, "t1"), stored(9, "t2", position=1)])
        assert await store.applied(PARTITION) == Applied(EPOCH, 10)
        assert await store.applied(PARTITION + 1) is None

    async def test_a_marker_is_of_one_owner(self, store: IdentityStore) -> None:
        """Owners run side by side: one's higher offset takes nothing from another's lower one."""
        await store.apply([stored(5, "t1")])
        await store.apply([stored(3, "t2", owner=BEN)])
        assert len(await store.turns(BEN)) == 1
        assert await store.applied(PARTITION) == Applied(EPOCH, 6)

    async def test_everything_survives_reopening(self, new_store: NewStore) -> None:
        """A store that is opened again tells the same."""
        place = new_store()
        async with place.open() as store:
            await store.apply([new(1, "t1", "m1", vector(1.0)), stored(2, "t2", position=1)])
            before = await picture(store, ANA), await store.applied(PARTITION)
        async with place.open() as store:
            assert (await picture(store, ANA), await store.applied(PARTITION)) == before

    # --- owners ----------------------------------------------------------------------------

    async def test_owners_never_mix(self, store: IdentityStore) -> None:
        """Nothing of one owner is reachable through another's name, whatever key is asked for."""
        one = new(
            1,
            "t1",
            "m1",
            vector(1.0),
            reads=["t0"],
            statements=(statement("home", "a", "b1"),),
            chunks=[("t1", vector(1.0), [1]), ("t1/1", vector(1.0), [1])],
        )
        await store.apply([one, erasure(2, ["t9"])])
        for other in (BEN, "other/ana", "default/anna", "default%2Fana"):
            assert await store.known(other, [ident("t1")]) == {}
            assert await store.erased(other, [ident("t9")]) == set()
            assert await store.by_producer(other, b"t1") == []
            asked = [ident("t1"), ident("t1/1"), ident("m1")]
            assert await store.places(other, asked) == {}
            assert await store.spots(other, [point.bytes for point in asked]) == {}
            assert await store.neighbours(other, [(b"s1", 0)]) == {}
            assert await store.readers(other, [ident("t0")]) == set()
            assert await store.points(other, []) == []
            nothing = {"turns": 0, "memories": 0, "slots": 0}
            assert await picture(store, other) == ([], [], [], nothing, [], [0, 0])

    async def test_owners_with_equal_hashes_stay_apart(self, store: IdentityStore) -> None:
        """Two owners' turns under one session, producer and slot hash are each one's own."""
        await store.apply(
            [
                stored(1, "a", statements=(statement("home", "x", "b1"),), producer=b"p"),
                stored(
                    2, "b", owner=BEN, statements=(statement("home", "y", "b2"),), producer=b"p"
                ),
            ]
        )
        for owner, name, value in ((ANA, "a", b"x"), (BEN, "b", b"y")):
            assert [one.event_id for one in await store.by_producer(owner, b"p")] == [ident(name)]
            near = await store.neighbours(owner, [(b"s1", 0)])
            assert [one.event for one in near.values()] == [ident(name).bytes]
            assert [one.value for one in await store.statements(owner, [b"home"])] == [value]
            assert await store.session_end(owner, b"s1") == 1

    async def test_every_owner_is_listed(self, store: IdentityStore) -> None:
        """Owners come once each, and are counted each for itself."""
        await store.apply(
            [
                new(1, "t1", "m1", vector(1.0), statements=(statement("home", "a", "b1"),)),
                stored(2, "t2", position=1, statements=(statement("home", "b", "b2"),)),
                stored(3, "u1", owner=BEN, statements=(statement("work", "c", "b3"),)),
            ]
        )
        assert sorted(await store.owners()) == [ANA, BEN]
        assert await store.counts(ANA) == {"turns": 2, "memories": 1, "slots": 1}
        assert await store.counts(BEN) == {"turns": 1, "memories": 0, "slots": 1}
        for other in ("other/ana", "default/anna"):
            assert await store.statements(other, [b"home"]) == []
            assert await store.turns(other, newest=True) == []

    # --- places ----------------------------------------------------------------------------

    async def test_chunks_and_memories_have_their_turns_place(self, store: IdentityStore) -> None:
        """A later chunk and a memory stand where the turn stands that their text came from."""
        chunks = [("t1", vector(1.0), [1]), ("t1/1", vector(1.0), [1])]
        await store.apply([new(1, "t1", "m1", vector(1.0), chunks=chunks, memory_kind="event")])
        places = await store.places(ANA, [ident("t1"), ident("t1/1"), ident("m1")])
        assert {place.event_id for place in places.values()} == {ident("t1")}
        assert places[ident("t1/1")].kind == "turn"
        assert places[ident("m1")].kind == "event"
        assert await store.points(ANA, [ident("t1")]) == [ident("t1"), ident("t1/1")]

    async def test_spots_are_what_places_say(self, store: IdentityStore) -> None:
        """A spot is there for each point that has a place, in any number, and says the same."""
        chunks = [("t0", vector(1.0), [1]), ("t0/1", vector(1.0), [1])]
        turns = [stored(n, f"t{n}", position=n) for n in range(1, 600)]
        await store.apply([new(0, "t0", "m0", vector(1.0), chunks=chunks, position=0), *turns])
        asked = [ident(name) for name in ("m0", "t0/1", "no", *(f"t{n}" for n in range(600)))]
        places = await store.places(ANA, asked)
        assert set(places) == {*asked} - {ident("no")}
        spots = await store.spots(ANA, [point.bytes for point in asked])
        assert spots == {point.bytes: spot(place) for point, place in places.items()}
        for point, place in places.items():
            one = spots[point.bytes]
            assert (one.event_id, one.said_at) == (place.event_id, place.said_at)
        assert await store.spots(ANA, []) == {}

    async def test_sessions_grow_and_have_neighbours(self, store: IdentityStore) -> None:
        """The next position of a session is its size; what doesn't exist is left out."""
        await store.apply([stored(n, f"t{n}", position=n) for n in range(3)])
        assert await store.session_end(ANA, b"s1") == 3
        assert await store.session_end(ANA, b"none") == 0
        asked = [(b"s1", -1), (b"s1", 1), (b"s1", 3), (b"none", 0)]
        places = await store.places(ANA, [ident("t1")])
        assert await store.neighbours(ANA, asked) == {(b"s1", 1): spot(places[ident("t1")])}
        assert await store.neighbours(ANA, []) == {}

    async def test_turns_are_listed_in_journal_order(self, store: IdentityStore) -> None:
        """Pages go on behind an offset; newest first is the other way round; commands are none."""
        await store.apply([stored(n, f"t{n}", minute=-n, position=n) for n in range(1, 6)])
        await store.apply([erasure(6, ["none"])])
        offsets = [one.journal_offset for one in await store.turns(ANA, after=1, limit=2)]
        assert offsets == [2, 3]
        newest = [one.journal_offset for one in await store.turns(ANA, limit=2, newest=True)]
        assert newest == [5, 4]

    async def test_newest_first_has_the_same_bound(self, store: IdentityStore) -> None:
        """`after` bounds the newest too: of later offsets, the last ones come, backwards."""
        await store.apply([stored(n, f"t{n}", position=n) for n in range(1, 6)])
        found = await store.turns(ANA, after=2, limit=2, newest=True)
        assert [one.journal_offset for one in found] == [5, 4]
        found = await store.turns(ANA, after=4, newest=True)
        assert [one.journal_offset for one in found] == [5]

    async def test_a_producers_id_may_be_of_several_sources(self, store: IdentityStore) -> None:
        """Events whose producer ids are equal come all, one per source."""
        await store.apply([stored(n, f"t{n}", position=n, producer=b"p") for n in (1, 2)])
        await store.apply([stored(3, "t3", position=3, producer=b"q")])
        found = await store.by_producer(ANA, b"p")
        assert {one.event_id for one in found} == {ident("t1"), ident("t2")}

    async def test_readers_and_candidates_are_found(self, store: IdentityStore) -> None:
        """Who read a turn is known, and candidates come in journal order, not that of ids."""
        await store.apply(
            [
                new(1, "t1", "m1", vector(1.0), position=0, reads=["t0"]),
                new(2, "t2", "m2", vector(1.0), position=1, reads=["t0", "t1"]),
                stored(3, "t3", position=2),
                new(4, "t4", "m4", vector(1.0), position=3, reads=["t2", "t3"]),
            ]
        )
        assert await store.readers(ANA, [ident("t0")]) == {ident("t1"), ident("t2")}
        assert await store.readers(ANA, [ident("t1"), ident("t3")]) == {ident("t2"), ident("t4")}
        assert await store.readers(ANA, [ident("t4")]) == set()
        expected = [(ident(name), offset) for name, offset in (("t1", 1), ("t2", 2), ("t4", 4))]
        assert await store.candidates(ANA) == expected

    async def test_however_many_are_asked_for(self, store: IdentityStore) -> None:
        """Thousands of ids, places or slots in one call find what a few find."""
        await store.apply(
            [
                stored(n, f"t{n}", position=n, statements=(statement(f"s{n}", "a", f"b{n}"),))
                for n in range(5)
            ]
        )
        names = [ident(f"none{n}") for n in range(2_500)] + [ident(f"t{n}") for n in range(5)]
        expected = {ident(f"t{n}") for n in range(5)}
        assert set(await store.known(ANA, names)) == expected
        assert set(await store.places(ANA, names)) == expected
        places = [(b"s1", n) for n in range(2_500)]
        assert set(await store.neighbours(ANA, places)) == {(b"s1", n) for n in range(5)}
        rows = await store.statements(ANA, [f"s{n}".encode() for n in range(2_500)])
        assert {row.event_id for row in rows} == expected

    # --- statements ------------------------------------------------------------------------

    async def test_a_late_statement_falls_into_its_place(self, store: IdentityStore) -> None:
        """Statements of a matter come by when they were said, then by journal offset."""
        said = ((1, "a", 10), (2, "b", 30), (3, "c", 20), (4, "d", 30), (5, "e", -10))
        await store.apply(
            [
                stored(n, f"t{n}", minute=minute, position=n, statements=(
                    statement("home", value, f"b{n}"),))
                for n, value, minute in said
            ]
        )  # fmt: skip
        rows = await store.statements(ANA, [b"home"])
        assert [row.value for row in rows] == [b"e", b"a", b"c", b"b", b"d"]
        assert await store.statements(ANA) == rows
        assert await store.statements(ANA, [b"work"]) == []

    async def test_matters_of_a_slot_are_each_in_order(self, store: IdentityStore) -> None:
        """One slot may have several matters: the rows of each stand together, in its order."""
        said = ((1, "mine", 30), (2, "theirs", 20), (3, "mine", 10), (4, "theirs", 40))
        await store.apply(
            [
                stored(n, f"t{n}", minute=minute, position=n, statements=(
                    statement("home", f"v{n}", f"b{n}", matter=matter.encode()),))
                for n, matter, minute in said
            ]
        )  # fmt: skip
        rows = await store.statements(ANA, [b"home"])
        runs = [(matter, [row.value for row in run]) for matter, run in groupby(rows, _matter)]
        assert sorted(runs) == [(b"mine", [b"v3", b"v1"]), (b"theirs", [b"v2", b"v4"])]

    async def test_a_statement_keeps_every_field(self, store: IdentityStore) -> None:
        """Kind, hashes, box and times are those of the record, never the store's own."""
        one = stored(1, "t1", statements=(statement("home", "a", "b1", kind="preference"),))
        await store.apply([one])
        (row,) = await store.statements(ANA)
        made = one.record.statements[0]
        assert (row.kind, row.slot, row.matter) == ("preference", made.slot, made.matter)
        assert (row.value, row.box, row.event_id) == (made.value, made.box, ident("t1"))
        assert row.said_at == one.record.said_at
        assert row.recorded_at == one.record.recorded_at == row.said_at + timedelta(hours=1)
