"""What the writer decides on events, over stores that are plain dictionaries."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

import orjson
import pytest

from eunoe.infra.terms import Terms
from eunoe.schemas.cloudevents import encode
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.events import Envelope, EventType, Payload, SetTimezone, Turn, iso
from eunoe.schemas.ports import (
    Encoder,
    EpisodicStore,
    IdentityStore,
    Keys,
    KnownEvent,
    LogRecord,
    MemoryPoint,
    Position,
    Spot,
    StatementRow,
    Vectors,
    WrappedKey,
)
from eunoe.schemas.records import Box, JournalRecord
from eunoe.schemas.topics import COMMANDS, TURNS
from eunoe.streams.context import OpenTurn, Sessions, Turns
from eunoe.streams.deduplication import apply, cosine, unpack
from eunoe.streams.identity import slot_hash
from eunoe.streams.writer import Ports, Writer
from eunoe.streams.zones import TIMEZONE
from tests.support.fakes import EPOCH, OpenKeys
from tests.support.tools import START, SetClock, WordEncoder, WordRecogniser

if TYPE_CHECKING:
    from eunoe.streams.letters import Letters
    from eunoe.streams.projections import Journal

FACT: Final = {"en": "My sister Nora moved to Lisbon in May.", "zh": "我妹妹五月搬到了三亚。"}
TOLD: Final = {"en": ("sister", "Nora", "Lisbon"), "zh": ("妹妹", "五月", "三亚")}
SMALL_TALK: Final = {"en": "thanks, that helps", "zh": "好的"}
both = pytest.mark.parametrize("language", ["en", "zh"])


class House:
    """Journal and stores as dictionaries, and the writer over them.

    Args:
        turns_searchable: Whether turns get points.
        failures: How many appends fail before one works.
        cleans: Whether turns may come with secrets.
    """

    def __init__(
        self, *, turns_searchable: bool = True, failures: int = 0, cleans: bool = False
    ) -> None:
        self.failures = failures
        self.records: list[JournalRecord] = []
        self.put: list[WrappedKey] = []
        self.held: dict[str, dict[UUID, MemoryPoint]] = {}
        self.out: set[UUID] = set()
        self.caught_up = 0
        self.encoder = WordEncoder()
        self.keys = OpenKeys()
        ports = Ports(
            journal=cast("Journal", self),
            keys=cast("Keys", self.keys),
            identity=cast("IdentityStore", self),
            episodes=cast("EpisodicStore", self),
            encoder=cast("Encoder", self.encoder),  # its constants are the class's
            recogniser=WordRecogniser(),
            terms=Terms(),
            clock=SetClock(START + timedelta(days=1)),
            cleans=cleans,
        )
        sessions = Sessions(cast("IdentityStore", self), cast("Turns", self))
        self.writer = Writer(
            ports, sessions, cast("Letters", self), turns_searchable=turns_searchable
        )

    async def handle(self, *events: Envelope | LogRecord) -> list[Rejected | None]:
        """Hand events over as one batch."""
        batch = [
            arrived(one, number) if isinstance(one, Envelope) else one
            for number, one in enumerate(events)
        ]
        return await self.writer.handle(batch)

    def turns(self) -> list[JournalRecord]:
        """Return the journal's turns."""
        return [one for one in self.records if one.kind == "turn"]

    # The journal.

    async def append(
        self, keys: Sequence[WrappedKey], records: Sequence[JournalRecord]
    ) -> list[object]:
        """Journal records and apply them, or fail."""
        if self.failures and records:
            self.failures -= 1
            message = "the log is away"
            raise Unavailable(message)
        self.put += keys
        await self.keys.put(keys)
        for record in records:
            self.records.append(record)
            memories = self.held.setdefault(record.owner, {})
            for decision in record.decisions:
                apply(memories, record.candidates[decision.candidate], decision)
        return []

    async def catch_up(self) -> int:
        """Count the calls."""
        self.caught_up += 1
        return 0

    # The identity store.

    async def known(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, KnownEvent]:
        """Return what was journaled."""
        return {
            one.event_id: KnownEvent(one.event_id, one.content, offset)
            for offset, one in enumerate(self.records)
            if one.owner == owner and one.event_id in event_ids
        }

    async def erased(self, owner: str, event_ids: Sequence[UUID]) -> set[UUID]:
        """Return what stays out."""
        del owner
        return self.out & set(event_ids)

    async def session_end(self, owner: str, session: bytes) -> int:
        """Count a session's turns."""
        return sum((one.owner, one.session) == (owner, session) for one in self.records)

    async def neighbours(
        self, owner: str, places: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Spot]:
        """Return turns by their places."""
        found = {
            (one.session or b"", one.position or 0): one
            for one in self.turns()
            if one.owner == owner
        }
        return {
            place: Spot(found[place].event_id.bytes, *place, (), iso(found[place].said_at))
            for place in places
            if place in found
        }

    async def statements(
        self, owner: str, slots: Sequence[bytes] | None = None
    ) -> list[StatementRow]:
        """Return what was journaled of slots."""
        return [
            StatementRow(
                kind=one.kind,
                slot=one.slot,
                matter=one.matter,
                value=one.value,
                box=one.box,
                event_id=record.event_id,
                said_at=record.said_at,
                recorded_at=record.recorded_at,
                journal_offset=number,
            )
            for number, record in enumerate(self.records)
            for one in record.statements
            if record.owner == owner and (slots is None or one.slot in slots)
        ]

    # The episodic store, and what opens turns.

    async def nearest(
        self, owner: str, vectors: Vectors, threshold: float
    ) -> list[list[MemoryPoint]]:
        """Return close memories."""
        memories = self.held.get(owner, {}).values()
        return [
            [one for one in memories if cosine(one.vector, row) >= threshold] for row in vectors
        ]

    async def open(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, OpenTurn]:
        """Open turns."""
        return {
            one.event_id: OpenTurn.model_validate_json(one.box.sealed)
            for one in self.turns()
            if one.owner == owner and one.event_id in event_ids and one.box is not None
        }


def event(producer: str, payload: Payload | str, *, user: str = "ana", **fields: Any) -> Envelope:
    """Return an event; a text is a turn of the user in the session "s1"."""
    if isinstance(payload, str):
        payload = Turn(role="user", content=payload, session_id=fields.pop("session", "s1"))
    kinds = {Turn: EventType.TURN_ADDED, SetTimezone: EventType.SET_TIMEZONE}
    values: dict[str, Any] = {
        "id": producer,
        "source": "chat",
        "type": kinds.get(type(payload), EventType.FORGET),
        "time": START,
        "tenant_id": "default",
        "user_id": user,
        "payload": payload,
    }
    return Envelope(**(values | fields))


def arrived(one: Envelope, offset: int = 0) -> LogRecord:
    """Return an event as the consumer reads it."""
    headers, value = encode(one)
    topic = TURNS if one.type is EventType.TURN_ADDED else COMMANDS
    position = Position(topic.name, 0, EPOCH, offset)
    return LogRecord(position, one.owner.encode(), value, headers, START)


# --- one record an event -----------------------------------------------------------------------


@both
async def test_a_turn_is_one_record(language: str) -> None:
    """The record holds where the event came from, what it was, when, and in whose session."""
    house = House()
    one = event("e1", FACT[language])
    assert await house.handle(one) == [None]
    (record,) = house.records
    assert (record.kind, record.event_id, record.owner) == ("turn", one.event_id, one.owner)
    assert (record.ingress.topic, record.ingress.offset) == (TURNS.name, 0)
    assert (record.said_at, record.recorded_at) == (START, START + timedelta(days=1))
    assert (record.encoder, record.language, record.role) == ("test-64", language, "user")
    assert record.position == 0
    assert [point.id for point in record.points] == [one.event_id]
    assert record.box is not None
    assert OpenTurn.model_validate_json(record.box.sealed).payload == one.payload


@both
async def test_a_text_stands_in_boxes_only(language: str) -> None:
    """Outside of its boxes a record shows nothing of what was said."""
    house = House()
    await house.handle(event("secret-id", FACT[language]))
    shown = house.records[0].model_dump(mode="json")

    def without_boxes(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: without_boxes(one) for key, one in node.items() if key != "sealed"}
        return [without_boxes(one) for one in node] if isinstance(node, list) else node

    text = orjson.dumps(without_boxes(shown)).decode()
    assert str(house.records[0].event_id) in text
    for word in (*TOLD[language], "secret-id", "chat"):
        assert word not in text


async def test_every_box_has_its_key_put() -> None:
    """Whatever a record seals (turn, candidates, statements) can be opened once it is journaled."""
    house = House()
    await house.handle(event("e1", FACT["en"]), event("e2", "My favourite colour is green."))
    boxes: list[Box | None] = []
    for record in house.records:
        boxes += [record.box, *(one.box for one in record.candidates)]
        boxes += [one.box for one in record.statements]
    assert {box.key_id for box in boxes if box is not None} == {key.key_id for key in house.put}
    assert len(boxes) > 2


async def test_without_searchable_turns_there_are_no_points() -> None:
    """Where turns aren't to be found they get no point; their memories do."""
    house = House(turns_searchable=False)
    await house.handle(event("e1", FACT["en"]))
    (record,) = house.records
    assert record.points == ()
    assert record.candidates


# --- identity ----------------------------------------------------------------------------------


@both
async def test_a_repeat_is_no_second_record(language: str) -> None:
    """The same event again, in a batch or later, is acknowledged and changes nothing."""
    house = House()
    one = event("e1", FACT[language])
    assert await house.handle(one, one) == [None, None]
    assert await house.handle(one) == [None]
    assert len(house.records) == 1


async def test_a_repeat_without_a_time_of_its_own_is_the_same() -> None:
    """The time may be the runtime's: it is no part of what must be equal."""
    house = House()
    await house.handle(event("e1", FACT["en"]))
    later = event("e1", FACT["en"], time=START + timedelta(hours=5))
    assert await house.handle(later) == [None]
    assert len(house.records) == 1


@pytest.mark.parametrize("together", [True, False])
async def test_a_known_id_with_other_content_is_refused(*, together: bool) -> None:
    """What was first stands; the other is refused at its own place, and repeats none of it."""
    house = House()
    one, other = event("e1", FACT["en"]), event("e1", FACT["zh"])
    if together:
        first, second = await house.handle(one, other)
    else:
        (first,), (second,) = await house.handle(one), await house.handle(other)
    assert first is None
    assert isinstance(second, Rejected)
    assert "三亚" not in str(second)
    assert [record.event_id for record in house.records] == [one.event_id]


async def test_one_id_of_two_sources_or_users_is_two_events() -> None:
    """Only tenant, user, source and id together make an event the same."""
    house = House()
    events = [
        event("e1", FACT["en"]),
        event("e1", FACT["en"], source="mail"),
        event("e1", FACT["en"], user="ben"),
        event("e1", FACT["en"], tenant_id="acme"),
    ]
    assert await house.handle(*events) == [None] * 4
    assert len({record.event_id for record in house.records}) == 4


async def test_what_was_forgotten_stays_out() -> None:
    """A late copy of a forgotten event is acknowledged and not journaled."""
    house = House()
    one = event("e1", FACT["en"])
    house.out = {one.event_id}
    assert await house.handle(one, event("e2", FACT["zh"])) == [None, None]
    assert [record.event_id for record in house.records] == [event("e2", "x").event_id]


async def test_a_malformed_event_is_refused_at_its_place() -> None:
    """Results stand in the order of the records; what can be read is decided all the same."""
    house = House()
    noise = LogRecord(Position(TURNS.name, 0, EPOCH, 1), b"k", b"noise", (), START)
    results = await house.handle(event("e1", FACT["en"]), noise, event("e2", FACT["zh"]))
    assert [isinstance(one, Rejected) for one in results] == [False, True, False]
    assert len(house.records) == 2


# --- sessions ----------------------------------------------------------------------------------


async def test_positions_count_up_per_session_and_owner() -> None:
    """Ranks go on from the store's, in a batch as between batches, each session for itself."""
    house = House()
    await house.handle(event("e1", "tea"), event("e2", "milk", session="s2"), event("e3", "salt"))
    await house.handle(event("e4", "rice"), event("e5", "oil", user="ben"))
    positions = [record.position for record in house.turns()]
    assert positions == [0, 0, 1, 2, 0]


@both
async def test_a_candidate_reads_what_came_before(language: str) -> None:
    """The turns before, of the same session only, are named as read by the summary."""
    house = House()
    before = [event(f"b{number}", f"{SMALL_TALK[language]} {number}") for number in range(3)]
    elsewhere = event("x", SMALL_TALK[language], session="s2")
    await house.handle(*before, elsewhere)
    await house.handle(event("e1", FACT[language]))
    (candidate,) = house.records[-1].candidates
    assert candidate.reads == tuple(one.event_id for one in before[1:])
    summary = orjson.loads(candidate.box.sealed)["summary"]
    assert f"{SMALL_TALK[language]} 2" in summary


# --- decisions ---------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("together", [True, False])
async def test_what_is_said_again_is_one_memory(language: str, *, together: bool) -> None:
    """A repeat touches what the store holds, or what this very batch has just decided."""
    house = House()
    one, again = event("e1", FACT[language]), event("e2", FACT[language])
    if together:
        await house.handle(one, again)
    else:
        await house.handle(one)
        await house.handle(again)
    first, second = (record.decisions[0] for record in house.records)
    assert (first.action, second.action) == ("new", "touch")
    assert second.memory_id == first.memory_id
    assert second.sources == (one.event_id, again.event_id)


async def test_owners_in_a_batch_share_no_memory() -> None:
    """The same sentence of two users is two memories, though they are decided together."""
    house = House()
    await house.handle(event("e1", FACT["en"]), event("e1", FACT["en"], user="ben"))
    assert [record.decisions[0].action for record in house.records] == ["new", "new"]


async def test_a_batch_is_encoded_in_one_call() -> None:
    """Each distinct text is encoded once, and each turn gets the vector of its own text."""
    house = House()
    texts = ["tea", "milk", "tea"]
    await house.handle(*(event(f"e{number}", text) for number, text in enumerate(texts)))
    assert house.encoder.calls == [["tea", "milk"]]
    expected = await WordEncoder().encode(texts)
    for record, row in zip(house.turns(), expected, strict=True):
        assert cosine(unpack(record.points[0].vector), row) > 0.999


# --- commands ----------------------------------------------------------------------------------


async def test_a_command_stands_between_the_turns_around_it() -> None:
    """What came before a command is journaled before it, what came after, after it."""
    house = House()
    results = await house.handle(
        event("e1", "tea"),
        event("c1", SetTimezone(timezone="Asia/Shanghai")),
        event("e2", "milk"),
    )
    assert results == [None, None, None]
    assert [record.kind for record in house.records] == ["turn", "timezone", "turn"]


async def test_a_time_zone_is_a_statement() -> None:
    """The record holds no turn, and the zone as a profile field."""
    house = House()
    await house.handle(event("c1", SetTimezone(timezone="Asia/Shanghai")))
    (record,) = house.records
    (statement,) = record.statements
    assert (record.box, record.points, statement.kind) == (None, (), "profile")
    assert statement.slot == slot_hash(await house.keys.owner(record.owner), TIMEZONE)
    assert orjson.loads(statement.box.sealed)["value"] == "Asia/Shanghai"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "东八区", "../../etc/passwd", "UTC+8"])
async def test_an_unknown_time_zone_is_refused(zone: str) -> None:
    """Only IANA names are taken; nothing is journaled for another."""
    house = House()
    (refused,) = await house.handle(event("c1", SetTimezone(timezone=zone)))
    assert isinstance(refused, Rejected)
    assert house.records == []


async def test_a_repeated_command_is_carried_out_once() -> None:
    """A command has an identity like any other event."""
    house = House()
    one = event("c1", SetTimezone(timezone="Asia/Shanghai"))
    assert await house.handle(one, one) == [None, None]
    assert len(house.records) == 1


# --- failures ----------------------------------------------------------------------------------


async def test_after_a_failure_the_stores_catch_up_first() -> None:
    """The same batch is taken again from a state at the journal's end, and decided the same."""
    house = House(failures=1)
    events = (event("e1", FACT["en"]), event("e2", FACT["en"]))
    with pytest.raises(Unavailable):
        await house.handle(*events)
    assert (house.records, house.caught_up) == ([], 0)
    assert await house.handle(*events) == [None, None]
    assert house.caught_up == 1
    assert [record.position for record in house.records] == [0, 1]
    assert [record.decisions[0].action for record in house.records] == ["new", "touch"]
    assert house.records[1].candidates[0].reads == (events[0].event_id,)
    await house.handle(event("e3", "tea"))
    assert house.caught_up == 1


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("my key is sk-abcdEFGH1234567890abcd ok", "my key is [secret:api-key] ok"),
        ("wifi 密码是abc12345，记一下", "wifi 密码是[secret:password]，记一下"),
    ],
)
async def test_a_secret_that_a_producer_published_is_not_journaled(said: str, kept: str) -> None:
    """What a plain client sends is cleaned before it is sealed, and a repeat is the same event."""
    house = House(cleans=True)
    assert await house.handle(event("e1", said)) == [None]
    (record,) = house.turns()
    assert record.box is not None
    assert orjson.loads(record.box.sealed)["payload"]["content"] == kept
    assert await house.handle(event("e1", said)) == [None]
    assert await house.handle(event("e1", kept)) == [None]
    assert len(house.turns()) == 1


async def test_a_zone_that_is_set_holds_for_the_next_turn() -> None:
    """What the writer remembers of zones is what it has decided, and nothing older."""
    house = House()
    await house.handle(event("e1", "Let us meet at 9 am tomorrow."))
    await house.handle(event("z1", SetTimezone(timezone="Asia/Shanghai")))
    await house.handle(event("e2", "Let us meet at 9 am tomorrow."))
    first, second = house.turns()
    assert first.about
    assert first.about != second.about
