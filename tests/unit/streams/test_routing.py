"""Events in another partition than their owner's."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import pytest

from eunoe.schemas.cloudevents import encode
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.events import Envelope, EventType, Turn
from eunoe.schemas.ports import Log, LogRecord, NewRecord, Position
from eunoe.schemas.topics import TURNS
from eunoe.streams.routing import Router

NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)
HOME = {"ana": 0, "ben": 1}


class PlacingLog:
    """A log that knows where owners belong."""

    def __init__(self) -> None:
        self.appended: list[NewRecord] = []
        self.away = False

    def partition_of(self, placed_by: bytes) -> int:
        """Return the owner's partition."""
        return HOME[placed_by.decode().partition("/")[2]]

    async def append(self, records: Sequence[NewRecord]) -> list[Position]:
        """Take records."""
        if self.away:
            message = "Away."
            raise Unavailable(message)
        self.appended += records
        return []


def record(user: str, text: str, offset: int) -> LogRecord:
    """Return a turn in partition 0, whoever's it is."""
    event = Envelope(
        tenant_id="default",
        user_id=user,
        source="chat",
        type=EventType.TURN_ADDED,
        id=f"e{offset}",
        time=NOON,
        payload=Turn(role="user", content=text),
    )
    headers, value = encode(event)
    return LogRecord(Position(TURNS.name, 0, "e", offset), b"odd", value, headers, NOON)


class Writer:
    """Writes down what it is handed, and refuses an offset."""

    def __init__(self) -> None:
        self.handled: list[int] = []
        self.prepared: list[int] = []

    async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        """Refuse offset 3."""
        offsets = [one.position.offset for one in records]
        self.handled += offsets
        return [Rejected("No.") if one == 3 else None for one in offsets]

    async def prepare(self, records: Sequence[LogRecord]) -> None:
        """Write down."""
        self.prepared += [one.position.offset for one in records]


@pytest.mark.parametrize("text", ["I moved to Oslo.", "我搬到了上海。"])
async def test_an_event_that_lies_wrong_is_published_where_its_owners_writer_reads(
    text: str,
) -> None:
    """The copy is the event itself under its owner's key; the others keep their results."""
    log, writer = PlacingLog(), Writer()
    router = Router(cast("Log", log), writer.handle, writer.prepare)
    records = [record("ana", text, 1), record("ben", text, 2), record("ana", text, 3)]
    await router.prepare(records)
    results = await router.handle(records)
    assert writer.prepared == writer.handled == [1, 3]
    assert [one is not None for one in results] == [False, False, True]
    (moved,) = log.appended
    assert (moved.topic, moved.key) == (TURNS.name, b"default/ben")
    assert (moved.value, moved.headers) == (records[1].value, records[1].headers)


async def test_nothing_is_acknowledged_while_it_cannot_be_published() -> None:
    """The batch is tried again as a whole; the writer hasn't seen it."""
    log, writer = PlacingLog(), Writer()
    log.away = True
    router = Router(cast("Log", log), writer.handle, writer.prepare)
    with pytest.raises(Unavailable):
        await router.handle([record("ana", "Hi", 1), record("ben", "Hi", 2)])
    assert writer.handled == []


async def test_what_cannot_be_read_stays_with_the_writer() -> None:
    """It says why, and buries it where it lies."""
    log, writer = PlacingLog(), Writer()
    router = Router(cast("Log", log), writer.handle, writer.prepare)
    broken = LogRecord(Position(TURNS.name, 0, "e", 3), b"default/ben", b"{", (), NOON)
    assert [one is not None for one in await router.handle([broken])] == [True]
    assert log.appended == []
