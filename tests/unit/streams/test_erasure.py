"""What a forget decides: the owner's memories anew, and what goes with the turns."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.schemas.errors import Damaged
from eunoe.schemas.events import Forget
from eunoe.schemas.ports import (
    EpisodicStore,
    EventPlace,
    IdentityStore,
    Keys,
    MemoryPoint,
    OwnerKeys,
    Vectors,
    WrappedKey,
)
from eunoe.schemas.records import Candidate, Decision, Erasure, JournalRecord
from eunoe.streams.deduplication import AGENT_IMPORTANCE, IMPORTANCE, apply, decide
from eunoe.streams.erasure import Forgetter, Proposed, decide_anew
from tests.support.fakes import OpenKeys
from tests.support.records import (
    ANA,
    DIMENSION,
    candidate,
    decision,
    ident,
    statement,
    stored,
    vector,
)
from tests.support.tools import START

if TYPE_CHECKING:
    from eunoe.streams.context import Sessions
    from eunoe.streams.letters import Letters
    from eunoe.streams.projections import Journal

THRESHOLD: Final = 0.9
TEA: Final = vector(1.0)
MILK: Final = vector(0.0, 1.0)
NEAR_TEA: Final = vector(1.0, 0.3)
"""Its cosine to tea is .958."""


def proposed(number: int, name: str, *made: Candidate, **fields: Any) -> Proposed:
    """Return a turn that proposed candidates; said and journaled at its number."""
    return Proposed(stored(number, name, **fields).record, made)


def says(number: int, name: str, row: Vectors, **fields: Any) -> Proposed:
    """Return a turn that proposed one candidate, whose memory would be named after the turn."""
    role = fields.pop("role", "user")
    return proposed(number, name, candidate(f"{name}/0", row, **fields), role=role)


def memories(*turns: Proposed) -> dict[UUID, tuple[UUID, ...]]:
    """Decide anew; the sources of each memory."""
    anew = decide_anew(turns, THRESHOLD)
    assert set(anew.candidates) == set(anew.decisions)
    return {key: one.sources for key, one in anew.decisions.items()}


def named(**sources: Sequence[str]) -> dict[UUID, tuple[UUID, ...]]:
    """Return expected memories: name of the turn whose candidate it is, and its sources."""
    return {
        ident(f"{name}/0"): tuple(ident(one) for one in several)
        for name, several in sources.items()
    }


TABLE: Final[dict[str, tuple[tuple[Proposed, ...], dict[UUID, tuple[UUID, ...]]]]] = {
    "nobody said anything": ((), {}),
    "a turn without candidates": ((proposed(1, "t1"),), {}),
    "one memory": ((says(1, "t1", TEA),), named(t1=["t1"])),
    "two memories": (
        (says(1, "t1", TEA), says(2, "t2", MILK)),
        named(t1=["t1"], t2=["t2"]),
    ),
    "a repeat touches": (
        (says(1, "t1", TEA), says(2, "t2", NEAR_TEA)),
        named(t1=["t1", "t2"]),
    ),
    "a repeat whose first is gone is new": ((says(2, "t2", NEAR_TEA),), named(t2=["t2"])),
    "each repeat adds its turn": (
        (says(1, "t1", TEA), says(2, "t2", MILK), says(3, "t3", TEA), says(4, "t4", TEA)),
        named(t1=["t1", "t3", "t4"], t2=["t2"]),
    ),
    "another guard is another memory": (
        (says(1, "t1", TEA), says(2, "t2", TEA, guard=b"other")),
        named(t1=["t1"], t2=["t2"]),
    ),
    "another speaker is another memory": (
        (says(1, "t1", TEA), says(2, "t2", TEA, speaker=b"other")),
        named(t1=["t1"], t2=["t2"]),
    ),
    "another kind is another memory": (
        (says(1, "t1", TEA), says(2, "t2", TEA, kind="event")),
        named(t1=["t1"], t2=["t2"]),
    ),
    "an agent's echo is no second memory": (
        (says(1, "t1", TEA), says(2, "t2", TEA, speaker=b"agent", role="assistant")),
        named(t1=["t1", "t2"]),
    ),
    "the journal's order counts, not when it was said": (
        (says(9, "t9", TEA), says(2, "t2", TEA)),
        named(t9=["t9", "t2"]),
    ),
    "a turn that says it twice is one source": (
        (proposed(1, "t1", candidate("t1/0", TEA), candidate("t1/1", NEAR_TEA)),),
        named(t1=["t1"]),
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_memories_are_decided_anew(case: str) -> None:
    """The state is that of a history of these turns, and of no others."""
    turns, expected = TABLE[case]
    assert memories(*turns) == expected


def test_a_repeat_leaves_absolute_values() -> None:
    """The last decision on a memory holds all its values: first said, last said, by whom."""
    turns = (says(1, "t1", TEA), says(2, "t2", TEA), says(7, "t7", TEA))
    (found,) = decide_anew(turns, THRESHOLD).decisions.values()
    assert found.action == "touch"
    assert (found.said_at, found.touched_at) == (
        turns[0].record.said_at,
        turns[2].record.said_at,
    )
    assert found.created_at == turns[0].record.recorded_at
    assert found.last_accessed == turns[2].record.recorded_at


@pytest.mark.parametrize(("role", "importance"), [("user", IMPORTANCE), ("tool", AGENT_IMPORTANCE)])
def test_the_first_that_stays_sets_the_importance(role: str, importance: float) -> None:
    """When the person's turn is gone, the agent's repeat is an agent's memory."""
    turns = (says(2, "t2", TEA, role=role), says(3, "t3", TEA, role="assistant"))
    (found,) = decide_anew(turns, THRESHOLD).decisions.values()
    assert found.importance == importance


def test_the_candidate_of_a_memory_is_its_firsts() -> None:
    """A memory's text stays that of the turn that made it, however often it is repeated."""
    first, again = candidate("t1/0", TEA), candidate("t2/0", NEAR_TEA)
    anew = decide_anew((proposed(1, "t1", first), proposed(2, "t2", again)), THRESHOLD)
    assert anew.candidates == {ident("t1/0"): first}


rows = st.lists(
    st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any), min_size=1, max_size=14
)


@settings(max_examples=150, deadline=None)
@given(rows=rows, roles=st.randoms(use_true_random=False))
def test_it_is_the_fold_of_decide(rows: list[list[int]], roles: Any) -> None:
    """Looking only at near memories decides what a look at all of them decides."""
    turns = [
        says(n, f"t{n}", vector(*row), role=roles.choice(["user", "user", "assistant"]))
        for n, row in enumerate(rows)
    ]
    state: dict[UUID, MemoryPoint] = {}
    expected: dict[UUID, Decision] = {}
    for turn in turns:
        (one,) = turn.candidates
        made = decide(
            list(state.values()),
            one,
            index=0,
            event_id=turn.record.event_id,
            role=turn.record.role or "user",
            said_at=turn.record.said_at,
            recorded_at=turn.record.recorded_at,
            threshold=THRESHOLD,
        )
        apply(state, one, made)
        expected[made.memory_id] = made
    assert decide_anew(turns, THRESHOLD).decisions == expected


# --- the command -----------------------------------------------------------------------------


class House:
    """What a forget looks at, as plain dictionaries: some turns of one owner.

    Args:
        turns: Journal records with their offsets, by event id.
        reads: Which turns' summaries hold text of which turn.
        memories: What the episodic store holds.
        letters: Data keys of dead letters, by event id.
    """

    def __init__(
        self,
        turns: Sequence[Any],
        *,
        reads: dict[UUID, set[UUID]] | None = None,
        memories: Sequence[MemoryPoint] = (),
        letters: dict[UUID, UUID] | None = None,
    ) -> None:
        self.turns = {one.record.event_id: one for one in turns}
        self.reads = reads or {}
        self.held = {one.memory_id: one for one in memories}
        self.buried = letters or {}
        self.appended: list[tuple[list[WrappedKey], list[JournalRecord]]] = []
        self.dropped: list[str] = []

    def forgetter(self) -> Forgetter:
        """Return the forgetter of this house, which plays every port."""
        return Forgetter(
            cast("Journal", self),
            cast("IdentityStore", self),
            cast("EpisodicStore", self),
            cast("Keys", OpenKeys()),
            cast("Sessions", self),
            cast("Letters", self),
            THRESHOLD,
        )

    async def forget(self, *names: str) -> Erasure:
        """Forget turns; returns what was decided."""
        command = stored(99, "command", kind="forget", box=None, session=None, role=None, chunks=[])
        asked = Forget(event_ids=tuple(ident(name) for name in names))
        await self.forgetter().forget(command.record, asked, cast("OwnerKeys", None))
        ((_, (record,)),) = self.appended
        assert record.erasure is not None
        return record.erasure

    async def append(self, keys: list[WrappedKey], records: list[JournalRecord]) -> None:
        """Note what is journaled."""
        self.appended.append((keys, records))

    async def record_at(self, owner: str, offset: int) -> JournalRecord | None:
        """Return a record by its offset."""
        assert owner == ANA
        found = (one.record for one in self.turns.values() if one.position.offset == offset)
        return next(found, None)

    async def places(self, owner: str, ids: Sequence[UUID]) -> dict[UUID, EventPlace]:
        """Return the places of turns that are there."""
        assert owner == ANA
        return {key: self._place(key) for key in ids if key in self.turns}

    def _place(self, key: UUID) -> EventPlace:
        one = self.turns[key]
        said_at: datetime = one.record.said_at
        session, position = one.record.session or b"", one.record.position or 0
        return EventPlace(key, "turn", session, position, (), said_at, "user", one.position.offset)

    async def readers(self, owner: str, ids: Sequence[UUID]) -> set[UUID]:
        """Return who reads any of these."""
        assert owner == ANA
        return {reader for key in ids for reader in self.reads.get(key, set())}

    async def points(self, owner: str, ids: Sequence[UUID]) -> list[UUID]:
        """Return the chunks of turns."""
        assert owner == ANA
        return [point.id for key in ids for point in self.turns[key].record.points]

    async def session_end(self, owner: str, session: bytes) -> int:
        """Return how many turns a session has."""
        assert owner == ANA
        return sum(one.record.session == session for one in self.turns.values())

    async def candidates(self, owner: str) -> list[tuple[UUID, int]]:
        """Return turns with candidates, in journal order."""
        assert owner == ANA
        found = sorted(self.turns.values(), key=lambda one: one.position.offset)
        return [
            (one.record.event_id, one.position.offset) for one in found if one.record.candidates
        ]

    async def memories(self, owner: str) -> list[MemoryPoint]:
        """Return what is held."""
        assert owner == ANA
        return list(self.held.values())

    async def keys_of(self, owner: str, events: Sequence[UUID]) -> list[UUID]:
        """Return the keys of dead letters."""
        assert owner == ANA
        return [self.buried[key] for key in events if key in self.buried]

    def drop(self, owner: str) -> None:
        """Note whose sessions are forgotten."""
        self.dropped.append(owner)


def turn(number: int, name: str, *made: Candidate, **fields: Any) -> Any:
    """Return a stored turn with candidates, each decided as new."""
    decided = tuple(
        decision("any", [name], candidate=index).model_copy(update={"memory_id": one.memory_id})
        for index, one in enumerate(made)
    )
    return stored(number, name, candidates=made, decisions=decided, **fields)


def held(one: Candidate, name: str, number: int) -> MemoryPoint:
    """Return the memory that a turn's candidate made, as the store holds it."""
    record = stored(number, name).record
    made = decide(
        (),
        one,
        index=0,
        event_id=ident(name),
        role="user",
        said_at=record.said_at,
        recorded_at=record.recorded_at,
        threshold=THRESHOLD,
    )
    return apply({}, one, made)


async def test_a_turn_without_candidates_is_only_removed() -> None:
    """The narrow way: nothing is decided anew, and memories are looked at by nobody."""
    house = House([turn(1, "t1"), turn(2, "t2", candidate("m2", TEA), position=1)])
    erasure = await house.forget("t1")
    assert (erasure.events, erasure.appends) == ((ident("t1"),), (ident("t1"),))
    assert erasure.points == (ident("t1"),)
    assert (erasure.memories, erasure.puts, erasure.contexts) == ((), (), ())
    assert house.dropped == [ANA]


async def test_a_memory_goes_with_its_only_turn() -> None:
    """The whole way: a memory that no surviving turn makes is removed, others aren't touched."""
    tea, milk = candidate("m1", TEA), candidate("m2", MILK)
    house = House(
        [turn(1, "t1", tea), turn(2, "t2", milk, position=1)],
        memories=[held(tea, "t1", 1), held(milk, "t2", 2)],
    )
    erasure = await house.forget("t1")
    assert erasure.memories == (ident("m1"),)
    assert erasure.puts == ()


async def test_a_repeat_becomes_the_memory() -> None:
    """When the first turn goes, what repeated it is put as a new memory, with its own text."""
    tea, again = candidate("m1", TEA), candidate("m2", NEAR_TEA)
    touched = apply({held(tea, "t1", 1).memory_id: held(tea, "t1", 1)}, again, decision(
        "m1", ["t1", "t2"], action="touch", touched_at=START + timedelta(minutes=2)))  # fmt: skip
    house = House([turn(1, "t1", tea), turn(2, "t2", again, position=1)], memories=[touched])
    erasure = await house.forget("t1")
    assert erasure.memories == (ident("m1"),)
    (put,) = erasure.puts
    assert (put.candidate, put.decision.action) == (again, "new")
    assert put.decision.sources == (ident("t2"),)


async def test_every_key_of_a_turn_is_shredded() -> None:
    """Box, candidates, statements, and the dead letter of the same identity lose their keys."""
    one = turn(1, "t1", candidate("m1", TEA), statements=(statement("home", "a", "s1"),))
    letter = ident("key/letter")
    house = House([one, turn(2, "t2", position=1)], letters={ident("t1"): letter})
    erasure = await house.forget("t1")
    boxes = {one.record.box.key_id, *(part.box.key_id for part in one.record.candidates)}
    boxes |= {part.box.key_id for part in one.record.statements}
    assert set(erasure.keys) == boxes | {letter}
    assert len(erasure.keys) == 4


async def test_a_letter_is_reached_though_its_event_was_never_accepted() -> None:
    """Forgetting an id that only a dead letter has destroys the letter's key all the same."""
    letter = ident("key/letter")
    house = House([turn(1, "t1")], letters={ident("t9"): letter})
    erasure = await house.forget("t9")
    assert (erasure.keys, erasure.events, erasure.appends) == ((letter,), (ident("t9"),), ())


async def test_gaps_name_ranks_highest_first_per_session() -> None:
    """Where turns stood is told per session, from the end, with the size that remains."""
    turns = [turn(n, f"t{n}", position=n) for n in range(4)]
    other = turn(9, "u1", session="s2", position=0)
    erasure = await House([*turns, other]).forget("t1", "t3", "u1")
    gaps = {gap.session: (gap.positions, gap.size) for gap in erasure.gaps}
    assert gaps == {b"s1": ((3, 1), 2), b"s2": ((0,), 0)}


async def test_an_id_that_is_named_twice_is_forgotten_once() -> None:
    """Repeats within a command change nothing."""
    erasure = await House([turn(1, "t1"), turn(2, "t2", position=1)]).forget("t1", "t1")
    assert erasure.events == (ident("t1"),)
    assert [gap.positions for gap in erasure.gaps] == [(0,)]


async def test_a_known_turn_without_a_record_is_damage() -> None:
    """A place that names a record which isn't there stops the forget before it is journaled."""
    house = House([turn(1, "t1")])

    async def nothing(owner: str, offset: int) -> None:
        del owner, offset

    house.record_at = nothing  # type: ignore[method-assign]  # the case: the record is gone
    with pytest.raises(Damaged):
        await house.forget("t1")
    assert house.appended == []


def test_rows_are_as_wide_as_the_encoder() -> None:
    """Vectors of any dimension are folded: the width is that of what was journaled."""
    row = np.zeros(3, dtype=np.float32)
    row[0] = 1.0
    assert len(row) != DIMENSION
    assert len(memories(says(1, "t1", row), says(2, "t2", row))) == 1
