"""Events in another partition than their owner's, and events of aliases."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any, cast
from uuid import UUID

import pytest

from eunoe.schemas.cloudevents import decode, encode
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.events import Bind, Envelope, EventType, Forget, Turn, Unbind, owner_key
from eunoe.schemas.persons import alias_of
from eunoe.schemas.ports import (
    BindingRow,
    IdentityStore,
    Keys,
    KnownEvent,
    Log,
    LogRecord,
    NewRecord,
    OwnerKeys,
    Position,
)
from eunoe.schemas.topics import COMMANDS, TURNS
from eunoe.streams.episodic import content_hash
from eunoe.streams.routing import ALIAS_HEADER, Router
from tests.support.fakes import OpenKeys, OpenOwnerKeys

NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)
PHONE = alias_of("phone", "+8613800138000")
HOME = {"ben": 1}
"""Everybody else is at home in partition 0."""


class PlacingLog:
    """A log that knows where owners belong."""

    def __init__(self) -> None:
        self.appended: list[NewRecord] = []
        self.away = False

    def partition_of(self, placed_by: bytes) -> int:
        """Return the owner's partition."""
        return HOME.get(placed_by.decode().partition("/")[2], 0)

    async def append(self, records: Sequence[NewRecord]) -> list[Position]:
        """Take records."""
        if self.away:
            message = "Away."
            raise Unavailable(message)
        self.appended += records
        return []

    @property
    def published(self) -> list[Envelope]:
        """The events that were taken."""
        return [decode(one.headers, one.value) for one in self.appended]


class House:
    """A router, with a writer that carries bindings out and writes down what it is handed."""

    def __init__(self) -> None:
        self.log = PlacingLog()
        self.rows: dict[str, dict[str, BindingRow]] = {}
        self.stored: dict[UUID, bytes] = {}
        self.asked = 0
        self.handled: list[int] = []
        self.prepared: list[int] = []
        self.released: list[int] = []
        self.refuse = 3
        self.fail_at: int | None = None
        self.router = Router(
            cast("Log", self.log),
            cast("IdentityStore", self),
            cast("Keys", OpenKeys()),
            self.handle,
            self.prepare,
            self.release,
        )

    async def bindings(self, owners: Sequence[str]) -> dict[str, tuple[BindingRow, ...]]:
        """Return what was bound."""
        self.asked += len(owners)
        return {one: tuple(self.rows[one].values()) for one in owners if one in self.rows}

    async def known(self, _: str, event_ids: Sequence[UUID]) -> dict[UUID, KnownEvent]:
        """Return what is stored."""
        return {
            key: KnownEvent(key, self.stored[key], 0) for key in event_ids if key in self.stored
        }

    async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        """Bind, unbind, and refuse one offset."""
        offsets = [one.position.offset for one in records]
        if self.fail_at in offsets:
            self.fail_at = None
            message = "Away."
            raise Unavailable(message)
        self.handled += offsets
        for record in records:
            try:
                event = decode(record.headers, record.value)
            except Rejected:
                continue
            if isinstance(event.payload, Bind | Unbind):
                self.bind(event.user_id, event.payload.person, isinstance(event.payload, Bind))
        return [Rejected("No.") if one == self.refuse else None for one in offsets]

    def bind(self, alias: str, person: str, bound: bool = True) -> None:  # noqa: FBT001, FBT002 - a fact
        """Let an alias be bound, or its binding have ended."""
        row = BindingRow(person, bound, UUID(int=0), None)
        self.rows.setdefault(owner_key("default", alias), {})[person] = row

    async def prepare(self, records: Sequence[LogRecord]) -> None:
        """Write down."""
        self.prepared += [one.position.offset for one in records]

    def release(self, records: Sequence[LogRecord]) -> None:
        """Write down."""
        self.released += [one.position.offset for one in records]


def turn(user: str, text: str, offset: int, ident: str | None = None) -> Envelope:
    """Return a turn of a user."""
    return Envelope(
        tenant_id="default",
        user_id=user,
        source="chat",
        type=EventType.TURN_ADDED,
        id=ident or f"e{offset}",
        time=NOON,
        payload=Turn(role="user", content=text),
    )


def lying(event: Envelope, offset: int, *, topic: str = TURNS.name) -> LogRecord:
    """Return an event as it lies in partition 0, whoever's it is."""
    headers, value = encode(event)
    return LogRecord(Position(topic, 0, "e", offset), b"odd", value, headers, NOON)


def record(user: str, text: str, offset: int) -> LogRecord:
    """Return a turn in partition 0."""
    return lying(turn(user, text, offset), offset)


def command(alias: str, person: str, offset: int, *, bound: bool = True) -> LogRecord:
    """Return a command that binds or unbinds."""
    payload: Any = (Bind if bound else Unbind)(alias=alias, person=person)
    kind = EventType.BIND if bound else EventType.UNBIND
    event = turn(alias, "x", offset).model_copy(update={"type": kind, "payload": payload})
    return lying(event, offset, topic=COMMANDS.name)


def sentences(results: Sequence[Rejected | None]) -> list[str]:
    """Return the refusals."""
    return [str(one) for one in results if one is not None]


@pytest.mark.parametrize("text", ["I moved to Oslo.", "我搬到了上海。"])
async def test_an_event_that_lies_wrong_is_published_where_its_owners_writer_reads(
    text: str,
) -> None:
    """The copy is the event itself under its owner's key; the others keep their results."""
    house = House()
    records = [record("ana", text, 1), record("ben", text, 2), record("ana", text, 3)]
    await house.router.prepare(records)
    results = await house.router.handle(records)
    assert house.prepared == house.handled == [1, 3]
    assert [one is not None for one in results] == [False, False, True]
    (moved,) = house.log.appended
    assert (moved.topic, moved.key) == (TURNS.name, b"default/ben")
    assert (moved.value, moved.headers) == (records[1].value, records[1].headers)


async def test_nothing_is_acknowledged_while_it_cannot_be_published() -> None:
    """The batch is tried again as a whole; the writer hasn't seen it."""
    house = House()
    house.log.away = True
    with pytest.raises(Unavailable):
        await house.router.handle([record("ana", "Hi", 1), record("ben", "Hi", 2)])
    assert house.handled == []


async def test_what_cannot_be_read_stays_with_the_writer() -> None:
    """It says why, and buries it where it lies."""
    house = House()
    broken = LogRecord(Position(TURNS.name, 0, "e", 3), b"default/ben", b"{", (), NOON)
    assert [one is not None for one in await house.router.handle([broken])] == [True]
    assert house.log.appended == []


@pytest.mark.parametrize("user", ["ben", "安" * 600])
async def test_what_is_malformed_is_published_nowhere(user: str) -> None:
    """Wherever it would belong, it is buried where it lies: another log might not take it."""
    house = House()
    good = record("ben", "Hi", 3)
    headers = tuple(
        (name, user.encode() if name == "ce_userid" else b"x" if name == "ce_time" else raw)
        for name, raw in good.headers
    )
    bad = LogRecord(good.position, good.key, good.value, headers, NOON)
    assert [one is not None for one in await house.router.handle([bad])] == [True]
    assert house.handled == [3]
    assert house.log.appended == []


@pytest.mark.parametrize("text", ["I moved to Oslo.", "我搬到了上海。"])
async def test_an_aliass_event_becomes_the_persons(text: str) -> None:
    """It is published under the person's name and key, with its own source, id and time."""
    house = House()
    house.bind(PHONE, "张伟")
    original = turn(PHONE, text, 1)
    records = [lying(original, 1), record("ana", text, 2)]
    await house.router.prepare(records)
    assert await house.router.handle(records) == [None, None]
    assert house.prepared == house.handled == [2]
    assert house.released == [1]
    (copy,) = house.log.published
    assert copy == original.model_copy(update={"user_id": "张伟"})
    assert house.log.appended[0].key == owner_key("default", "张伟").encode()
    assert copy.event_id != original.event_id


async def test_a_binding_counts_from_its_place_in_the_batch() -> None:
    """Events before it are nobody's, those behind it the person's; the same for its end."""
    house = House()
    records = [
        record("nick", "before", 1),
        command("nick", "ana", 2),
        record("nick", "between", 4),
        command("nick", "ana", 5, bound=False),
        record("nick", "behind", 6),
    ]
    await house.router.prepare(records)
    assert await house.router.handle(records) == [None] * 5
    assert house.handled == [1, 2, 5, 6]
    assert [(one.user_id, one.id) for one in house.log.published] == [("ana", "e4")]


async def test_a_batch_that_is_tried_again_does_nothing_anew() -> None:
    """What was decided before a failure stays decided, by the bindings of its time."""
    house = House()
    house.bind(PHONE, "ana")
    house.fail_at = 4
    records = [
        record(PHONE, "while bound", 1),
        command(PHONE, "ana", 2, bound=False),
        command(PHONE, "eva", 4),
        record(PHONE, "hers", 5),
    ]
    with pytest.raises(Unavailable):
        await house.router.handle(records)
    assert await house.router.handle(records) == [None] * 4
    assert house.handled == [2, 4]
    assert [(one.user_id, one.id) for one in house.log.published] == [("ana", "e1"), ("eva", "e5")]


async def test_an_event_that_its_former_person_has_is_not_anothers() -> None:
    """After a crash an event is read again; by then its alias may be somebody else's."""
    house = House()
    house.bind(PHONE, "ana", bound=False)
    house.bind(PHONE, "eva")
    again, other = turn(PHONE, "Hi", 1), turn(PHONE, "I live in Oslo.", 2, ident="e1")
    keys = cast("OwnerKeys", OpenOwnerKeys("default/ana", count()))
    under_ana = again.model_copy(update={"user_id": "ana"})
    house.stored[under_ana.event_id] = content_hash(keys, under_ana)
    assert await house.router.handle([lying(again, 1)]) == [None]
    assert house.log.appended == []
    assert house.handled == []
    assert await house.router.handle([lying(other, 2)]) == [None]  # the id is used anew
    assert [one.user_id for one in house.log.published] == ["eva"]


async def test_a_shared_alias_names_nobody() -> None:
    """Its events are refused with a sentence that says what to name instead."""
    house = House()
    house.bind(PHONE, "张伟-1")
    house.bind(PHONE, "张伟-2")
    (reason,) = sentences(await house.router.handle([record(PHONE, "你好", 1)]))
    assert "2 persons share" in reason
    assert "device" in reason
    assert house.log.appended == []
    assert house.handled == []


async def test_a_forget_under_an_alias_is_not_lost_silently() -> None:
    """Its ids are made of the alias and name nothing of the person's: its sender has to know."""
    house = House()
    house.bind(PHONE, "ana")
    said = turn(PHONE, "Hi", 1)
    payload = Forget(event_ids=(said.event_id,))
    event = said.model_copy(update={"type": EventType.FORGET, "payload": payload})
    (reason,) = sentences(await house.router.handle([lying(event, 2, topic=COMMANDS.name)]))
    assert "make them of the person's id" in reason
    assert house.log.appended == []


async def test_a_phone_number_alone_is_no_user() -> None:
    """An alias that is bound to nobody gets no memory of its own."""
    house = House()
    (reason,) = sentences(await house.router.handle([record(PHONE, "Hi", 1)]))
    assert "alone is no person" in reason
    assert house.handled == []


async def test_an_alias_is_resolved_once() -> None:
    """Should a person have become an alias meanwhile, its copies go round in no circle."""
    house = House()
    house.bind("ana", "eva")
    copy = record("ana", "Hi", 1)
    marked = LogRecord(
        copy.position, copy.key, copy.value, (*copy.headers, (ALIAS_HEADER, b"default/x")), NOON
    )
    (reason,) = sentences(await house.router.handle([marked]))
    assert "now an alias itself" in reason
    assert house.log.appended == []


async def test_an_alias_that_lies_wrong_is_resolved_in_its_own_partition() -> None:
    """Only there its bindings are decided: elsewhere they may be of yesterday."""
    house = House()
    house.bind("ben", "eva")
    await house.router.handle([record("ben", "Hi", 1), command("ben", "ana", 2)])
    assert [one.user_id for one in house.log.published] == ["ben", "ben"]
    assert house.handled == []


async def test_an_owner_is_asked_about_once() -> None:
    """What is known of an owner stays known until a command changes it."""
    house = House()
    for offset in range(10, 20):
        await house.router.handle([record("ana", "Hi", offset), record("eva", "Hi", offset + 20)])
    assert house.asked == 2
    await house.router.handle([command("ana", "x", 40), record("ana", "Hi", 41)])
    assert house.asked == 3


async def test_a_structured_event_is_resolved_too() -> None:
    """What other clients send as one JSON object goes the same way."""
    house = House()
    house.bind(PHONE, "ana")
    value = (
        '{"specversion":"1.0","id":"e1","source":"chat","type":"eunoe.turn.added.v1",'
        f'"time":"2024-06-15T12:00:00+00:00","tenantid":"default","userid":"{PHONE}",'
        '"data":{"role":"user","content":"你好"}}'
    ).encode()
    headers = (("content-type", b"application/cloudevents+json"),)
    lies = LogRecord(Position(TURNS.name, 0, "e", 1), b"x", value, headers, NOON)
    assert await house.router.handle([lies]) == [None]
    assert house.log.published == [turn("ana", "你好", 1)]
