"""Search without engines: exact answers by slot, and what of the found points is shown."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, cast
from uuid import UUID

import pytest

from eunoe.infra.terms import Terms
from eunoe.schemas.ports import (
    EpisodicQuery,
    EpisodicStore,
    EventPlace,
    IdentityStore,
    Keys,
    PointHit,
    Spot,
    StatementRow,
)
from eunoe.streams import questions
from eunoe.streams.answers import Answer
from eunoe.streams.asking import Question
from eunoe.streams.identity import state
from eunoe.streams.recall import Found, Recall
from eunoe.streams.stated import AskedSlot
from tests.support.fakes import OpenKeys
from tests.support.memories import cheap_tools
from tests.support.records import ANA, ident
from tests.support.tools import START

HOME: Final = {"en": "Where do I live?", "zh": "我住在哪里?"}
PLACES: Final = {"en": ("Porto", "Lisbon"), "zh": ("杭州", "三亚")}
both = pytest.mark.parametrize("language", ["en", "zh"])


class Shelf:
    """Statements and points of one owner, which plays both stores."""

    def __init__(self) -> None:
        self.keys = OpenKeys()
        self.rows: list[StatementRow] = []
        self.hits: list[PointHit] = []
        self.spots_by_id: dict[bytes, Spot] = {}
        self.asked: list[EpisodicQuery] = []

    def recall(self, *, turns_searchable: bool = True) -> Recall:
        """Return the search over this."""
        return Recall(
            cast("Keys", self.keys),
            cast("IdentityStore", self),
            cast("EpisodicStore", self),
            cheap_tools().encoder or pytest.fail("cheap tools have an encoder"),
            Terms(),
            turns_searchable=turns_searchable,
        )

    async def say(
        self, slot: str, value: str, *, subject: str | None = None, condition: str | None = None
    ) -> None:
        """State a value, later than all before."""
        number = len(self.rows)
        event_id = ident(f"event/{number}")
        made, key = state(
            await self.keys.owner(ANA),
            event_id,
            kind="slot",
            slot=slot,
            value=value,
            subject=subject,
            condition=condition,
        )
        await self.keys.put([key])
        row = StatementRow(
            kind="slot",
            slot=made.slot,
            matter=made.matter,
            value=made.value,
            box=made.box,
            event_id=event_id,
            said_at=START,
            recorded_at=START,
            journal_offset=number,
        )
        self.rows.append(row)

    async def statements(self, owner: str, slots: Sequence[bytes]) -> list[StatementRow]:
        """Return rows as the port promises: of a matter together, in the order of truth."""
        assert owner == ANA
        found = [row for row in self.rows if row.slot in slots]
        return sorted(found, key=lambda row: (row.matter, row.journal_offset))

    def put(self, name: str, turn: str, dense: float | None, sparse: float | None = None) -> None:
        """Put a point that every query finds."""
        point = ident(name)
        kind = "turn" if name.startswith("t") else "fact"
        self.hits.append(PointHit(point.bytes, dense, sparse))
        self.spots_by_id[point.bytes] = Spot(
            ident(turn).bytes, turn.encode(), 0, (), START.isoformat(), kind=kind
        )

    async def query(self, query: EpisodicQuery) -> list[PointHit]:
        """Find every point."""
        self.asked.append(query)
        return self.hits

    async def spots(self, owner: str, point_ids: Sequence[bytes]) -> dict[bytes, Spot]:
        """Return spots."""
        assert owner == ANA
        return {point: spot for point, spot in self.spots_by_id.items() if point in point_ids}

    async def places(self, owner: str, point_ids: Sequence[UUID]) -> dict[UUID, EventPlace]:
        """Know of no names."""
        assert owner == ANA
        del point_ids
        return {}

    async def neighbours(
        self, owner: str, places: Sequence[tuple[bytes, int]]
    ) -> Mapping[tuple[bytes, int], Spot]:
        """Have no neighbours."""
        assert owner == ANA
        del places
        return {}


async def values(shelf: Shelf, question: str) -> list[str]:
    """Ask; the values of the answers."""
    return [one.content["value"] for one in await answers(shelf, question)]


async def answers(shelf: Shelf, question: str) -> list[Answer]:
    """Ask for an exact answer."""
    recall = shelf.recall()
    asked = Question(question, START, 10)
    return await recall.answers(ANA, asked, await recall.read(ANA, asked))


async def find(
    shelf: Shelf, question: str, *, limit: int = 10, kinds: tuple[str, ...] | None = None
) -> list[Found]:
    """Search."""
    recall = shelf.recall()
    asked = Question(question, START, limit, kinds)
    return await recall.find(ANA, asked, await recall.read(ANA, asked))


# --- exact answers -----------------------------------------------------------------------------


@both
async def test_the_current_value_answers(language: str) -> None:
    """Of a matter's versions only the last one is the answer, with its number."""
    shelf = Shelf()
    for place in PLACES[language]:
        await shelf.say("home", place)
    (answer,) = await answers(shelf, HOME[language])
    assert (answer.content["value"], answer.version.number) == (PLACES[language][-1], 2)


@both
async def test_a_question_for_no_slot_has_no_answer(language: str) -> None:
    """What asks for no slot, or for one that nobody stated, is left to the other search."""
    shelf = Shelf()
    await shelf.say("home", PLACES[language][0])
    no_slot = {"en": "What happened on Monday at work?", "zh": "周一上班发生了什么事?"}
    not_stated = {"en": "What is my name?", "zh": "我叫什么?"}
    assert await values(shelf, no_slot[language]) == []
    assert await values(shelf, not_stated[language]) == []


async def test_two_slots_whose_matters_interleave_are_two_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows come ordered by matter, so slots take turns; each slot is answered as a whole.

    Seen piece by piece, a slot might look as if only Nora had it, and "my" would mean her.
    """
    shelf = Shelf()
    for number in range(6):
        for slot in ("home", "job"):
            await shelf.say(slot, f"{slot} {number}", condition=f"case {number}")
            await shelf.say(slot, "Nora's", subject="Nora", condition=f"case {number}")
    slots = [row.slot for row in await shelf.statements(ANA, [row.slot for row in shelf.rows])]
    changes = sum(before != after for before, after in pairwise(slots))
    assert changes > 1, "the matters of the two slots must interleave, or this tests nothing"

    def both_slots(question: str, *, past: bool) -> tuple[AskedSlot, ...]:
        assert (question, past) == ("both", False)
        return AskedSlot(None, "home"), AskedSlot(None, "job")

    monkeypatch.setattr(questions, "asked_slots", both_slots)
    expected = sorted(f"{slot} {number}" for number in range(6) for slot in ("home", "job"))
    assert sorted(await values(shelf, "both")) == expected


@both
async def test_conditions_are_answers_of_their_own(language: str) -> None:
    """What holds always comes first, then each condition's current value."""
    shelf = Shelf()
    first, last = PLACES[language]
    await shelf.say("home", last, condition="in winter")
    await shelf.say("home", first)
    await shelf.say("home", first, condition="in autumn")
    assert await values(shelf, HOME[language]) == [first, first, last]


async def test_my_may_mean_the_only_one_there_is() -> None:
    """In a talk where everybody has a name, "my" is answered if one subject alone has the slot."""
    shelf = Shelf()
    await shelf.say("home", "Porto", subject="Nora")
    assert await values(shelf, HOME["en"]) == ["Porto"]
    await shelf.say("home", "Lisbon", subject="Marta")
    assert await values(shelf, HOME["en"]) == []
    assert await values(shelf, "Where does Marta live?") == ["Lisbon"]
    await shelf.say("home", "杭州")
    assert await values(shelf, HOME["zh"]) == ["杭州"]


async def test_a_shredded_statement_is_no_answer() -> None:
    """What can't be opened any more is left out."""
    shelf = Shelf()
    await shelf.say("home", "Porto")
    await shelf.keys.shred([shelf.rows[0].box.key_id])
    assert await values(shelf, HOME["en"]) == []


# --- the other search --------------------------------------------------------------------------


async def test_a_turn_is_shown_once() -> None:
    """Chunks and memories of one turn are one hit: its best point."""
    shelf = Shelf()
    shelf.put("t1", "t1", 0.9, 3.0)
    shelf.put("t1/1", "t1", 0.8, 2.0)
    shelf.put("m1", "t1", 0.7, 1.0)
    shelf.put("t2", "t2", 0.6, 1.0)
    found = await find(shelf, "tea in Lisbon")
    assert [one.spot.event_id for one in found] == [ident("t1"), ident("t2")]
    assert found[0].score >= found[1].score


@pytest.mark.parametrize("limit", [1, 3])
async def test_no_more_than_the_limit_is_shown(limit: int) -> None:
    """The best come, and never more than asked for."""
    shelf = Shelf()
    for number in range(5):
        shelf.put(f"t{number}", f"t{number}", 0.9 - number / 10, 5.0 - number)
    found = await find(shelf, "tea in Lisbon", limit=limit)
    assert [one.spot.event_id for one in found] == [ident(f"t{n}") for n in range(limit)]


@pytest.mark.parametrize("question", ["tea in Lisbon tea", "里斯本的茶"])
async def test_a_question_is_hashed_under_the_owners_keys(question: str) -> None:
    """The store is asked with keyed hashes, each once, of the owner and the kinds asked for."""
    shelf = Shelf()
    await find(shelf, question, kinds=("fact",))
    (query,) = shelf.asked
    keys = await shelf.keys.owner(ANA)
    expected = [keys.term(term) for term in Terms().query(question)]
    assert query.terms == tuple(expected)
    assert (query.owner, query.kinds) == (ANA, ("fact",))
    assert query.limit >= 10


async def test_a_point_that_was_erased_meanwhile_is_left_out() -> None:
    """A point that the identity store knows no more is no hit."""
    shelf = Shelf()
    shelf.put("t1", "t1", 0.9, 3.0)
    shelf.put("t2", "t2", 0.8, 2.0)
    del shelf.spots_by_id[ident("t1").bytes]
    found = await find(shelf, "tea in Lisbon")
    assert [one.point_id for one in found] == [ident("t2")]
