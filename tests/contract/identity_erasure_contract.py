"""What every identity store keeps of erasures; fixtures as in `identity_contract`."""

from datetime import timedelta

from eunoe.schemas.ports import IdentityStore
from tests.contract.identity_contract import NewStore, picture
from tests.support.records import (
    ANA,
    BEN,
    candidate,
    erasure,
    gap,
    ident,
    memory_put,
    new,
    statement,
    stored,
    vector,
)
from tests.support.tools import START

__all__ = ["IdentityErasureContract"]


class IdentityErasureContract:
    """An erasure takes what it names of its owner, and nothing else."""

    async def test_an_erasure_reaches_its_own_owner_only(self, store: IdentityStore) -> None:
        """One that names another owner's events and memories changes nothing of theirs."""
        await store.apply(
            [
                new(1, "t1", "m1", vector(1.0), statements=(statement("home", "a", "b1"),)),
                new(2, "t2", "m2", vector(0.0, 1.0), position=1, reads=["t1"]),
            ]
        )
        before = await picture(store, ANA)
        await store.apply([erasure(3, ["t1", "t2"], owner=BEN, memories=(ident("m1"),))])
        assert await picture(store, ANA) == before
        assert await store.readers(ANA, [ident("t1")]) == {ident("t2")}
        assert await store.erased(ANA, [ident("t1"), ident("t2")]) == set()

    async def test_an_erasure_leaves_only_the_marker(self, store: IdentityStore) -> None:
        """Turn, chunks, statements, reads and memories go; the event stays out by name."""
        await store.apply(
            [
                new(
                    1,
                    "t1",
                    "m1",
                    vector(1.0),
                    reads=["t0"],
                    chunks=[("t1", vector(1.0), [1]), ("t1/1", vector(1.0), [1])],
                    statements=(statement("home", "a", "b1"),),
                ),
                erasure(2, ["t1"], gaps=(gap("s1", [0], 0),), memories=(ident("m1"),)),
            ]
        )
        assert await store.places(ANA, [ident("t1"), ident("t1/1"), ident("m1")]) == {}
        assert await store.known(ANA, [ident("t1")]) == {}
        assert await store.readers(ANA, [ident("t0")]) == set()
        nothing = {"turns": 0, "memories": 0, "slots": 0}
        assert (await picture(store, ANA))[:4] == ([], [], [], nothing)
        assert await store.erased(ANA, [ident("t1"), ident("t2")]) == {ident("t1")}

    async def test_an_erasure_closes_the_gap(self, store: IdentityStore) -> None:
        """The later turns of the session move up, and no other session's."""
        await store.apply([stored(n, f"t{n}", position=n) for n in range(5)])
        await store.apply([stored(5, "u1", session="s2", position=0)])
        await store.apply([stored(6, "u2", session="s2", position=1)])
        await store.apply([erasure(7, ["t1", "t3"], gaps=(gap("s1", [3, 1], 3),))])
        turns = {one.event_id: one.position for one in await store.turns(ANA)}
        expected = {"t0": 0, "t2": 1, "t4": 2, "u1": 0, "u2": 1}
        assert turns == {ident(name): position for name, position in expected.items()}
        assert await store.session_end(ANA, b"s1") == 3

    async def test_a_rebuild_without_the_erased_is_the_same(self, new_store: NewStore) -> None:
        """A journal from which a tombstone took the erased turns yields the same store."""
        lived = [
            new(1, "t1", "m1", vector(1.0), position=0),
            new(2, "t2", "m2", vector(0.0, 1.0), position=1, reads=["t1"]),
            stored(3, "t3", position=2),
            erasure(4, ["t1"], gaps=(gap("s1", [0], 2),), memories=(ident("m1"),),
                    puts=(memory_put("m2", vector(0.0, 1.0), ["t2"]),),
                    contexts=((ident("t2"), 0, candidate("m2", vector(0.0, 1.0))),)),
            stored(5, "t4", position=2),
        ]  # fmt: skip
        async with new_store().open() as one, new_store().open() as other:
            await one.apply(lived)
            await other.apply(lived[1:])
            assert await picture(other, ANA) == await picture(one, ANA)
            assert await one.candidates(ANA) == [(ident("t2"), 4)]
            assert await one.readers(ANA, [ident("t1")]) == set()

    async def test_an_erased_session_may_be_absent(self, store: IdentityStore) -> None:
        """In a rebuild, an erasure of turns that never came back is no error."""
        await store.apply([erasure(4, ["t1"], gaps=(gap("s1", [0], 0),), memories=(ident("m1"),))])
        await store.apply([stored(5, "t2", position=0)])
        assert await store.session_end(ANA, b"s1") == 1

    async def test_a_put_memory_has_its_first_sources_place(self, store: IdentityStore) -> None:
        """A memory that a forget gave to another turn stands where that turn stands."""
        await store.apply(
            [
                new(1, "t1", "m1", vector(1.0), position=0),
                stored(2, "t2", position=1),
                erasure(
                    3,
                    ["t1"],
                    gaps=(gap("s1", [0], 1),),
                    memories=(ident("m1"),),
                    puts=(memory_put("m2", vector(1.0), ["t2"]),),
                ),
            ]
        )
        places = await store.places(ANA, [ident("m1"), ident("m2")])
        assert {key: place.event_id for key, place in places.items()} == {ident("m2"): ident("t2")}
        assert places[ident("m2")].said_at == START + timedelta(minutes=2)
