"""What every episodic store keeps; a back-end's test class inherits `EpisodesContract`.

The back-end's module supplies two fixtures: `new_store`, which makes empty stores of vectors of
`DIMENSION` that can be opened again, and `store`, one of them, open.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Protocol
from uuid import UUID

import numpy as np

from eunoe.schemas.ports import (
    Applied,
    EpisodicQuery,
    EpisodicStore,
    MemoryPoint,
    PointHit,
    Vectors,
)
from eunoe.streams.deduplication import cosine
from tests.support.records import (
    ANA,
    BEN,
    DIMENSION,
    EPOCH,
    PARTITION,
    box,
    erasure,
    ident,
    memory_put,
    new,
    stored,
    touch,
    vector,
)
from tests.support.tools import START

__all__ = ["EpisodesContract", "EpisodesPlace"]

LATER = START + timedelta(days=1)


class EpisodesPlace(Protocol):
    """A place that holds one episodic store."""

    def open(self) -> AbstractAsyncContextManager[EpisodicStore]:
        """Open the store that is there, made at the first time; leaving closes it."""
        ...


NewStore = Callable[[], EpisodesPlace]


def asked(
    owner: str = ANA,
    *,
    row: Vectors | None = None,
    terms: tuple[int, ...] = (),
    kinds: tuple[str, ...] | None = None,
    limit: int = 100,
) -> EpisodicQuery:
    """Return a question."""
    return EpisodicQuery(owner, row, terms, limit, kinds)


async def found(store: EpisodicStore, query: EpisodicQuery) -> dict[str, PointHit]:
    """Ask; hits by point id."""
    return {str(UUID(bytes=one.point_id)): one for one in await store.query(query)}


async def picture(store: EpisodicStore, owner: str) -> tuple[object, ...]:
    """Return all that a store tells of an owner."""
    hits = await store.query(asked(owner, row=vector(1.0), terms=(1, 2)))
    (near,) = await store.nearest(owner, vector(1.0)[None], -1.0)
    events = [ident(f"t{number}") for number in range(10)]
    return (
        sorted(hits),
        await store.memories(owner),
        {one.memory_id for one in near},
        await store.turn_boxes(owner, events),
    )


def _kept(row: Vectors) -> Vectors:
    """Return a vector as records hold it."""
    return row.astype("<f2").astype(np.float32)


class EpisodesContract:
    """The promises of `ports.EpisodicStore`."""

    # --- apply -----------------------------------------------------------------------------

    async def test_a_turn_has_its_box_and_is_found(self, store: EpisodicStore) -> None:
        """An applied turn is found by meaning and by words at once, and its box comes back."""
        await store.apply([stored(1, "t1", chunks=[("t1", vector(1.0), [5])])])
        assert await store.turn_boxes(ANA, [ident("t1"), ident("t2")]) == {ident("t1"): box("t1")}
        (hit,) = await store.query(asked(row=vector(1.0, 1.0), terms=(5,)))
        assert hit.point_id == ident("t1").bytes
        assert hit.dense is not None
        assert abs(hit.dense - 2**-0.5) < 1e-3
        assert hit.sparse is not None
        assert hit.sparse > 0

    async def test_related_terms_find_and_count_less(self, store: EpisodicStore) -> None:
        """What holds only a related term is found, after what holds one of the question's own."""
        turns = [("own", [5]), ("both", [5, 6]), ("related", [6]), ("neither", [7])]
        rows = [
            stored(number, name, chunks=[(name, vector(1.0), terms)])
            for number, (name, terms) in enumerate(turns, 1)
        ]
        await store.apply(rows)
        plain = await found(store, asked(terms=(5,)))
        wide = await found(store, replace(asked(terms=(5,)), related=((6, 0.5),)))
        assert plain.keys() == {str(ident("own")), str(ident("both"))}
        assert wide.keys() == {*plain, str(ident("related"))}
        scores = {name: wide[str(ident(name))].sparse or 0.0 for name in ("both", "own", "related")}
        assert scores["both"] > scores["own"] > scores["related"] > 0.0
        assert abs(scores["related"] - scores["own"] / 2) < 1e-3
        assert not await store.query(replace(asked(), related=((6, 0.5),)))

    async def test_a_memory_comes_back_whole(self, store: EpisodicStore) -> None:
        """Every field of a memory is that of its candidate and decision."""
        row = vector(1.0, 2.0, 3.0)
        one = new(1, "t1", "m1", row, memory_kind="event")
        await store.apply([one])
        made, decided = one.record.candidates[0], one.record.decisions[0]
        (memory,) = await store.memories(ANA)
        assert memory == MemoryPoint(
            memory_id=ident("m1"),
            kind="event",
            box=made.box,
            guard=made.guard,
            speaker=made.speaker,
            sources=decided.sources,
            said_at=decided.said_at,
            touched_at=decided.touched_at,
            created_at=decided.created_at,
            last_accessed=decided.last_accessed,
            importance=0.5,
            confidence=1.0,
        )
        ((near,),) = await store.nearest(ANA, row[None], 0.9)
        assert near.vector is not None
        assert near.vector.dtype == np.float32
        expected = np.frombuffer(made.vector, dtype="<f2").astype(np.float32)
        assert np.array_equal(near.vector, expected)

    async def test_a_touch_sets_absolute_values(self, store: EpisodicStore) -> None:
        """A touch sets what the decision says, applied once or twice; the text stays."""
        values = {"touched_at": LATER, "last_accessed": LATER, "importance": 0.6}
        records = [new(1, "t1", "m1", vector(1.0)), touch(2, "t2", "m1", ["t1", "t2"], **values)]
        await store.apply(records)
        await store.apply(records[1:])
        (memory,) = await store.memories(ANA)
        assert memory.sources == (ident("t1"), ident("t2"))
        assert (memory.touched_at, memory.last_accessed, memory.importance) == (LATER, LATER, 0.6)
        assert (memory.said_at, memory.box) == (START, box("m1"))

    async def test_a_touch_of_what_is_gone_is_no_error(self, store: EpisodicStore) -> None:
        """In a rebuild a memory's first turn may be erased: the touch then makes nothing."""
        await store.apply([touch(2, "t2", "m1", ["t1", "t2"])])
        assert await store.memories(ANA) == []

    async def test_any_suffix_may_be_applied_again(self, store: EpisodicStore) -> None:
        """Applying the journal's end again, from wherever, gives the same state."""
        records = [
            new(1, "t1", "m1", vector(1.0)),
            touch(2, "t2", "m1", ["t1", "t2"]),
            new(3, "t3", "m3", vector(0.0, 1.0)),
            erasure(4, ["t1"], memories=(ident("m1"),),
                    puts=(memory_put("t2/0", vector(1.0), ["t2"]),)),
            touch(5, "t5", "t2/0", ["t2", "t5"]),
        ]  # fmt: skip
        await store.apply(records)
        before = await picture(store, ANA)
        for start in range(len(records)):
            await store.apply(records[start:])
            assert await picture(store, ANA) == before
        for one in records:
            await store.apply([one])
        assert await picture(store, ANA) == before

    async def test_an_erasure_removes_and_puts(self, store: EpisodicStore) -> None:
        """Erased chunks and memories are found no more, and what the forget puts is."""
        chunks = [("t1", vector(1.0), [1]), ("t1/1", vector(0.0, 1.0), [2])]
        put = memory_put("m2", vector(1.0), ["t2"], confidence=0.25)
        gone = (ident("t1"), ident("t1/1"))
        await store.apply(
            [
                new(1, "t1", "m1", vector(1.0), chunks=chunks),
                stored(2, "t2", chunks=[("t2", vector(0.0, 0.0, 1.0), [3])]),
                erasure(3, ["t1"], points=gone, memories=(ident("m1"),), puts=(put,)),
            ]
        )
        hits = await found(store, asked(row=vector(1.0), terms=(1, 2, 3)))
        assert set(hits) == {str(ident("t2")), str(ident("m2"))}
        (memory,) = await store.memories(ANA)
        assert (memory.memory_id, memory.confidence) == (ident("m2"), 0.25)
        assert set(await store.turn_boxes(ANA, [ident("t1"), ident("t2")])) == {ident("t2")}

    # --- owners ----------------------------------------------------------------------------

    async def test_owners_never_mix(self, store: EpisodicStore) -> None:
        """No query, look-up or list of one owner returns another's point."""
        await store.apply([new(1, "t1", "m1", vector(1.0))])
        for other in (BEN, "other/ana", "default/an", "default/anaa"):
            query = asked(other, row=vector(1.0), terms=(1,))
            assert await store.query(query) == []
            assert await store.nearest(other, vector(1.0)[None], -1.0) == [[]]
            assert await store.turn_boxes(other, [ident("t1")]) == {}
            assert await store.memories(other) == []
            assert await store.memories(other, [ident("m1")]) == []

    async def test_idf_is_the_owners_own(self, store: EpisodicStore) -> None:
        """A word that is rare for the owner weighs much, however often others say it."""
        mine = [
            stored(1, "t1", chunks=[("t1", vector(1.0), [1])]),
            stored(2, "t2", chunks=[("t2", vector(1.0), [2])]),
            stored(3, "t3", chunks=[("t3", vector(1.0), [2])]),
        ]
        await store.apply(mine)
        before = await found(store, asked(terms=(1,)))
        await store.apply(
            [
                stored(n, f"b{n}", owner=BEN, chunks=[(f"b{n}", vector(1.0), [1])])
                for n in range(4, 40)
            ]
        )
        assert await found(store, asked(terms=(1,))) == before

    # --- query -----------------------------------------------------------------------------

    async def test_the_parts_are_united(self, store: EpisodicStore) -> None:
        """What only one part found has no score of the other; without a part there is none."""
        await store.apply(
            [
                stored(1, "t1", chunks=[("t1", vector(1.0), [1])]),
                stored(2, "t2", chunks=[("t2", vector(0.0, 1.0), [2])]),
            ]
        )
        dense = await found(store, asked(row=vector(1.0), limit=1))
        assert set(dense) == {str(ident("t1"))}
        assert dense[str(ident("t1"))].sparse is None
        words = await found(store, asked(terms=(2,)))
        assert set(words) == {str(ident("t2"))}
        assert words[str(ident("t2"))].dense is None
        both = await found(store, asked(row=vector(1.0), terms=(2,), limit=1))
        assert set(both) == {str(ident("t1")), str(ident("t2"))}
        assert await store.query(asked()) == []

    async def test_kinds_bound_a_query(self, store: EpisodicStore) -> None:
        """Only points of the kinds asked for come back."""
        await store.apply([new(1, "t1", "m1", vector(1.0), memory_kind="event")])
        for kinds, expected in ((("turn",), "t1"), (("event",), "m1"), (("event", "fact"), "m1")):
            hits = await found(store, asked(row=vector(1.0), terms=(1,), kinds=kinds))
            assert set(hits) == {str(ident(expected))}
        assert await store.query(asked(row=vector(1.0), terms=(1,), kinds=("fact",))) == []

    async def test_nearest_returns_all_over_the_threshold(self, store: EpisodicStore) -> None:
        """Every memory at or over the cosine comes, closest first; turns never do."""
        count = 150
        await store.apply(
            [new(n, f"t{n}", f"m{n}", vector(1.0, n / count)) for n in range(1, count)]
        )
        row = vector(1.0)
        (close,) = await store.nearest(ANA, row[None], 0.9)
        (memories,) = await store.nearest(ANA, row[None], -1.0)
        scores = [cosine(one.vector, row) for one in memories]
        assert len(memories) == count - 1
        assert all(a >= b - 1e-3 for a, b in zip(scores, scores[1:], strict=False))
        expected = {one.memory_id for one in memories if cosine(one.vector, row) >= 0.9}
        assert expected <= {one.memory_id for one in close}
        assert all(cosine(one.vector, row) > 0.89 for one in close)

    async def test_memories_are_ordered_by_id(self, store: EpisodicStore) -> None:
        """Memories come by id, all or some; turns and unknown ids are left out."""
        await store.apply([new(n, f"t{n}", f"m{n}", vector(1.0, n)) for n in range(20)])
        everything = [one.memory_id for one in await store.memories(ANA)]
        assert everything == sorted(ident(f"m{n}") for n in range(20))
        some = await store.memories(ANA, [ident("m3"), ident("t3"), ident("no"), ident("m1")])
        assert [one.memory_id for one in some] == sorted([ident("m3"), ident("m1")])
        assert await store.memories(ANA, []) == []

    async def test_a_query_is_exact(self, store: EpisodicStore) -> None:
        """The closest points by cosine come, with their cosines, in segments old and new."""
        chance = np.random.default_rng(11)
        rows = {f"t{n}": vector(*chance.standard_normal(DIMENSION)) for n in range(400)}
        turns = [
            stored(n, name, chunks=[(name, row, [1])]) for n, (name, row) in enumerate(rows.items())
        ]
        await store.apply(turns[:300])
        await store.apply(
            [stored(1_000 + n, f"u{n}", owner=BEN, chunks=[(f"u{n}", vector(1.0), [1])])
             for n in range(50)]
        )  # fmt: skip
        await store.optimise()
        await store.apply(turns[300:])
        for _ in range(5):
            asking = vector(*chance.standard_normal(DIMENSION))
            cosines = {ident(name).bytes: cosine(_kept(row), asking) for name, row in rows.items()}
            hits = await store.query(asked(row=asking, limit=20))
            worst = sorted(cosines.values())[-20]
            assert len(hits) == 20
            assert min(cosines[hit.point_id] for hit in hits) >= worst - 1e-5
            assert all(abs((hit.dense or 0) - cosines[hit.point_id]) < 1e-3 for hit in hits)

    async def test_a_rare_word_weighs_more(self, store: EpisodicStore) -> None:
        """Of words with one weight, the one that fewer points have scores higher."""
        await store.apply(
            [stored(n, f"t{n}", chunks=[(f"t{n}", vector(1.0), [7 if n % 5 else 5, 9])])
             for n in range(20)]
        )  # fmt: skip
        scores = []
        for term, count in ((5, 4), (7, 16), (9, 20)):
            hits = await store.query(asked(terms=(term,)))
            assert len(hits) == count
            scores.append(max(hit.sparse or 0.0 for hit in hits))
        assert scores[0] > scores[1] > scores[2] >= 0

    async def test_each_part_has_the_limit(self, store: EpisodicStore) -> None:
        """Both parts return as many points as were asked for, found by both or by one."""
        await store.apply(
            [stored(n, f"t{n}", chunks=[(f"t{n}", vector(1.0, n), [n // 10])])
             for n in range(30)]
        )  # fmt: skip
        hits = await store.query(asked(row=vector(1.0), terms=(2,), limit=5))
        assert sum(hit.dense is not None for hit in hits) == 5
        assert sum(hit.sparse is not None for hit in hits) == 5
        assert len({hit.point_id for hit in hits}) == len(hits) == 10

    async def test_idf_forgets_what_was_erased(self, new_store: NewStore) -> None:
        """After an erasure, words weigh what they weigh in a store that never had the turns."""
        kept = [stored(n, f"t{n}", chunks=[(f"t{n}", vector(1.0), [n % 2])]) for n in range(10)]
        gone = [f"x{n}" for n in range(10)]
        lost = [
            stored(20 + n, name, chunks=[(name, vector(1.0), [1])]) for n, name in enumerate(gone)
        ]
        async with new_store().open() as one, new_store().open() as other:
            await one.apply([*kept, *lost, erasure(40, gone)])
            await other.apply(kept)
            for term in (0, 1):
                found = await one.query(asked(terms=(term,)))
                expected = await other.query(asked(terms=(term,)))
                assert sorted(found) == sorted(expected)

    # --- durability ------------------------------------------------------------------------

    async def test_the_marker_moves_with_a_flush(self, store: EpisodicStore) -> None:
        """`applied` names only what a flush made durable, and not what was merely applied."""
        assert await store.applied(PARTITION) is None
        await store.apply([stored(4, "t1")])
        assert await store.applied(PARTITION) is None
        await store.flush()
        assert await store.applied(PARTITION) == Applied(EPOCH, 5)
        await store.apply([stored(9, "t2")])
        assert await store.applied(PARTITION) == Applied(EPOCH, 5)
        assert await store.applied(PARTITION + 1) is None

    async def test_everything_survives_reopening(self, new_store: NewStore) -> None:
        """A store that is closed and opened again tells the same, optimised or not."""
        place = new_store()
        async with place.open() as store:
            await store.apply([new(1, "t1", "m1", vector(1.0)), touch(2, "t2", "m1", ["t1", "t2"])])
            before = await picture(store, ANA)
        async with place.open() as store:
            assert await picture(store, ANA) == before
            assert await store.applied(PARTITION) == Applied(EPOCH, 3)
            await store.optimise()
            assert await picture(store, ANA) == before
        async with place.open() as store:
            assert await picture(store, ANA) == before
