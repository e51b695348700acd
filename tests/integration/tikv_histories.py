"""Random histories of two owners as journal records, and all that a store tells of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final
from uuid import UUID

from hypothesis import strategies as st

from eunoe.schemas.ports import IdentityStore, Stored, TurnFilter
from eunoe.schemas.records import Truth
from tests.support.records import (
    ANA,
    BEN,
    PARTITION,
    candidate,
    erasure,
    gap,
    ident,
    memory_put,
    new,
    statement,
    stored,
    touch,
    vector,
)

__all__ = ["Act", "World", "acts", "told", "turn"]

SESSIONS: Final = ("s1", "s2", "s\x00", "")
LABELS: Final = (b"chat", b"mail", b"cha", b"\x00\x01")
SLOTS: Final = (b"home", b"work", b"ho", b"home\x00")
TRUTHS: Final = (None, Truth(scope="organisation"), Truth(state="superseded"))
OTHERS: Final = ("default/an", "default/ana\x00")
PRODUCERS: Final = (b"p", b"q", b"p\x00")


def turn(number: int, owner: str = ANA) -> Stored:
    """Return a turn with a memory, a later chunk, a label and a statement."""
    name = f"{owner}/{number}"
    return new(
        number,
        name,
        f"{name}/m",
        vector(1.0),
        owner=owner,
        position=number,
        labels=LABELS[:1],
        reads=[f"{owner}/{number - 1}"],
        statements=(statement("home", "v", f"b{number}"),),
        chunks=[(name, vector(1.0), [1]), (f"{name}/1", vector(1.0), [1])],
    )


@dataclass(frozen=True, slots=True)
class Act:
    """One step of a history; `number` chooses among what is there by then."""

    kind: str
    owner: str
    number: int
    session: str
    minute: int
    truth: Truth | None
    labels: tuple[bytes, ...]
    slots: tuple[bytes, ...]
    speaker: tuple[int, ...]
    role: str
    chunks: int


acts: Final = st.builds(
    Act,
    kind=st.sampled_from(
        ["turn", "turn", "new", "new", "touch", "correction", "forget", "forget", "again", "repeat"]
    ),
    owner=st.sampled_from([ANA, ANA, ANA, BEN]),
    number=st.integers(0, 999),
    session=st.sampled_from([*SESSIONS, "s1", "s1"]),
    minute=st.integers(-50, 50),
    truth=st.sampled_from(TRUTHS),
    labels=st.lists(st.sampled_from(LABELS), max_size=2, unique=True).map(tuple),
    slots=st.lists(st.sampled_from(SLOTS), max_size=2).map(tuple),
    speaker=st.sampled_from([(), (7,), (7, 2**32 - 1)]),
    role=st.sampled_from(["user", "assistant"]),
    chunks=st.integers(0, 2),
)


@dataclass
class World:
    """Makes records of acts, from what a store tells of the acts before.

    Args:
        store: Applied all records that were made.
    """

    store: IdentityStore
    made: list[Stored] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=lambda: {ANA: [], BEN: []})
    memories: dict[str, list[str]] = field(default_factory=lambda: {ANA: [], BEN: []})
    turns: dict[str, str] = field(default_factory=dict)
    """The turn that made a memory."""
    offsets: "count[int]" = field(default_factory=count)

    async def records(self, act: Act) -> list[Stored]:
        """Return the records of an act; those of before come again as they were."""
        if act.kind == "repeat":
            return self.made[-1 - act.number % 5 :][: 1 + act.number % 3]
        record = await self._record(act, next(self.offsets))
        self.made.append(record)
        return [record]

    async def _record(self, act: Act, offset: int) -> Stored:
        names, memories = self.names[act.owner], self.memories[act.owner]
        if act.kind == "forget" and names:
            return await self._forget(act, offset)
        if act.kind == "again" and names:
            name = names[act.number % len(names)]  # as if its record came anew
        else:
            name = f"{act.owner}/{offset}"
            if act.kind != "correction" or not memories:  # only turns are sources of memories
                names.append(name)
        fields = await self._fields(act, name)
        if act.kind in {"touch", "correction"} and memories:
            memory = memories[act.number % len(memories)]
            sources = [self.turns[memory], names[act.number % len(names)]]
            one = touch(offset, name, memory, sources, truth=act.truth, confidence=0.25)
            if act.kind == "correction":
                fields |= {"kind": "correction", "session": None, "position": None, "labels": ()}
                fields |= {"points": (), "candidates": (), "role": None}
            return Stored(one.position, one.record.model_copy(update=fields))
        if act.kind == "new":
            memory = f"{act.owner}/m{offset}"
            memories.append(memory)
            self.turns[memory] = name
            reads = names[-3:-1]
            one = new(offset, name, memory, vector(1.0), reads=reads, truth=act.truth)
        else:
            one = stored(offset, name)
        return Stored(one.position, one.record.model_copy(update=fields))

    async def _fields(self, act: Act, name: str) -> dict[str, Any]:
        parts = [(f"{name}/{n}" if n else name, vector(1.0), [1]) for n in range(act.chunks + 1)]
        said = stored(0, name, minute=act.minute, chunks=parts)
        return {
            "owner": act.owner,
            "session": act.session.encode(),
            "position": await self.store.session_end(act.owner, act.session.encode()),
            "said_at": said.record.said_at,
            "labels": act.labels,
            "speaker": act.speaker,
            "role": act.role,
            "producer": PRODUCERS[act.number % len(PRODUCERS)],
            "points": said.record.points,
            "statements": tuple(
                statement(slot.decode(), "v", f"b{act.number}", matter=bytes([act.number % 3]))
                for slot in act.slots
            ),
        }

    async def _forget(self, act: Act, offset: int) -> Stored:
        names, memories = self.names[act.owner], self.memories[act.owner]
        first = act.number % len(names)
        gone = names[first::2][: 1 + act.number % 3]
        places = await self.store.places(act.owner, [ident(name) for name in gone])
        stood: dict[bytes, list[int]] = {}
        for place in places.values():
            stood.setdefault(place.session, []).append(place.position)
        gaps = []
        for session, positions in stood.items():
            size = await self.store.session_end(act.owner, session) - len(positions)
            gaps.append(gap(session.decode(), sorted(positions, reverse=True), max(size, 0)))
        left = [name for name in names if name not in gone] or ["nobody"]
        heir = left[act.number % len(left)]
        puts = [memory_put(one, vector(1.0), [heir], truth=act.truth) for one in memories[-1:]]
        context = candidate("m", vector(1.0), reads=left[:1])
        return erasure(
            offset,
            gone,
            owner=act.owner,
            gaps=tuple(gaps),
            memories=tuple(ident(one) for one in memories[:1]),
            puts=tuple(puts) if act.chunks else (),
            contexts=((ident(heir), 0, context),) if act.labels else (),
        )


async def told(store: IdentityStore, world: World) -> dict[str, Any]:
    """Return what a store answers to every question, about everybody."""
    found: dict[str, Any] = {
        "owners": sorted(await store.owners()),
        "applied": await store.applied(PARTITION),
    }
    names = [name for part in world.names.values() for name in part]
    points = [*names, *(f"{name}/{n}" for name in names for n in (1, 2))]
    points += [name for part in world.memories.values() for name in part]
    ids = [ident(name) for name in points]
    for owner in (ANA, BEN, *OTHERS):
        found |= {f"{owner}: {key}": value for key, value in (await _of(store, owner, ids)).items()}
    return found


async def _of(store: IdentityStore, owner: str, ids: Sequence[UUID]) -> dict[str, Any]:
    sessions = [one.encode() for one in SESSIONS]
    grid = [(session, n) for session in sessions for n in range(-1, 9)]
    filters = [
        TurnFilter(),
        *(TurnFilter(session=one) for one in sessions),
        *(TurnFilter(labels=(one,)) for one in LABELS),
        TurnFilter(labels=LABELS[:2]),
        TurnFilter(role="user", speaker=(7,)),
        TurnFilter(session=sessions[0], role="assistant", labels=LABELS[:1]),
    ]
    return {
        "turns": await store.turns(owner),
        "page": await store.turns(owner, after=3, limit=2),
        "newest": await store.turns(owner, after=2, limit=3, newest=True),
        "statements": await store.statements(owner),
        "some": await store.statements(owner, SLOTS[:2]),
        "candidates": await store.candidates(owner),
        "counts": await store.counts(owner),
        "ends": [await store.session_end(owner, one) for one in sessions],
        "ranks": [
            await store.session(owner, n, from_end=end) for end in (False, True) for n in range(5)
        ],
        "known": await store.known(owner, ids),
        "erased": await store.erased(owner, ids),
        "places": await store.places(owner, ids),
        "spots": await store.spots(owner, [one.bytes for one in ids]),
        "neighbours": await store.neighbours(owner, grid),
        "readers": [await store.readers(owner, ids[n::5]) for n in range(5)],
        "points": sorted(await store.points(owner, ids)),
        "produced": [await store.by_producer(owner, one) for one in PRODUCERS],
        "meant": [sorted(await store.points_of(owner, one)) for one in filters],
    }
