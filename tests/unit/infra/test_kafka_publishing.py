"""Events are handed over in order, within bounds, and every one is awaited."""

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from eunoe.infra.kafka_client import Names
from eunoe.infra.kafka_places import Places
from eunoe.infra.kafka_producing import Outgoing, Room
from eunoe.infra.kafka_publishing import Place, Publisher
from eunoe.infra.placement import partition_of
from eunoe.schemas.cloudevents import decode
from eunoe.schemas.errors import EunoeError, Rejected, Unavailable
from eunoe.schemas.events import Envelope, EventType, Turn
from eunoe.schemas.topics import TURNS

PARTITIONS = 8
ENGLISH = "I moved to Oslo last week"
CHINESE = "我上周搬到了奥斯陆"
AWAY = Unavailable("Kafka is away: see EUNOE_KAFKA.")


class Broker:
    """Sends nothing, and acknowledges in a later turn of the event loop.

    Args:
        room: What may be in flight.
        failures: What happens to the record of an index.
        ends_after: Records after which handing over fails.
    """

    def __init__(
        self,
        room: Room | None = None,
        failures: dict[int, EunoeError] | None = None,
        ends_after: int | None = None,
    ) -> None:
        self.records: list[Outgoing] = []
        self.flying = 0
        self.most = 0
        self._room = room or Room()
        self._failures = failures or {}
        self._ends_after = ends_after

    async def send(self, record: Outgoing) -> asyncio.Future[Any]:
        """Take a record."""
        if len(self.records) == self._ends_after:
            raise AWAY
        give = await self._room.take(1, record.size)
        index = len(self.records)
        self.records.append(record)
        self.flying += 1
        self.most = max(self.most, self.flying)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(self._answer, index, future, give)
        return future

    def _answer(self, index: int, future: asyncio.Future[Any], give: Any) -> None:
        self.flying -= 1
        give()
        if (failure := self._failures.get(index)) is None:
            future.set_result(SimpleNamespace(offset=100 + index))
        else:
            future.set_exception(failure)

    async def acknowledged(self, sent: asyncio.Future[Any]) -> int:
        """Wait."""
        return int((await asyncio.shield(sent)).offset)

    async def close(self) -> None:
        """Do nothing."""


def publisher(broker: Broker) -> Publisher:
    """Return a publisher of turns."""
    places = Places(Names("eunoe"), [TURNS], PARTITIONS, epoch="")
    return Publisher(broker, {TURNS.name: places}, wait_s=5.0)


def turns(count: int, text: str, user_id: str = "ana") -> list[Envelope]:
    """Return events."""
    return [
        Envelope(
            id=str(n),
            source="chat",
            type=EventType.TURN_ADDED,
            time=datetime(2024, 6, 15, tzinfo=UTC),
            tenant_id="default",
            user_id=user_id,
            payload=Turn(role="user", content=f"{text} {n}"),
        )
        for n in range(count)
    ]


@pytest.mark.parametrize(("text", "user"), [(ENGLISH, "ana"), (CHINESE, "安娜")])
async def test_events_lie_in_order_where_their_owner_belongs(text: str, user: str) -> None:
    """Key and partition are the owner's; headers and value decode to the same event."""
    broker, events = Broker(), turns(50, text, user)
    published = await publisher(broker).publish(TURNS.name, events)
    key = events[0].owner.encode()
    partition = partition_of(key, PARTITIONS)
    assert published.failure is None
    assert published.places == [Place(partition, 100 + n) for n in range(50)]
    assert {(one.topic, one.key, one.partition) for one in broker.records} == {
        (TURNS.name, key, partition)
    }
    assert [decode(one.headers, one.value) for one in broker.records] == events


async def test_what_is_in_flight_is_bounded_in_records() -> None:
    """However many events a call has, so many are in flight and no more."""
    broker = Broker(Room(records=7, size=1_000_000))
    published = await publisher(broker).publish(TURNS.name, turns(500, ENGLISH))
    assert (published.failure, len(broker.records), broker.most) == (None, 500, 7)


async def test_what_is_in_flight_is_bounded_in_bytes() -> None:
    """Large events wait for each other; one that is larger than the bound goes alone."""
    large = "搬" * 1_000  # 3 000 bytes
    broker = Broker(Room(records=1_000, size=10_000))
    await publisher(broker).publish(TURNS.name, turns(20, large))
    assert broker.most == 3
    alone = Broker(Room(records=1_000, size=2_000))
    await publisher(alone).publish(TURNS.name, turns(20, large))
    assert alone.most == 1


async def test_each_event_s_fate_is_known() -> None:
    """A failure in the middle leaves the places of all that were acknowledged."""
    broker = Broker(failures={3: AWAY})
    published = await publisher(broker).publish(TURNS.name, turns(6, ENGLISH))
    assert published.failure is AWAY
    assert [place is None for place in published.places] == [
        False, False, False, True, False, False,
    ]  # fmt: skip


async def test_after_a_failure_nothing_more_is_sent() -> None:
    """What comes after a failed event stays here, so that it can be given again in order."""
    broker = Broker(Room(records=2, size=1_000_000), failures={3: Rejected("Too large.")})
    published = await publisher(broker).publish(TURNS.name, turns(1_000, ENGLISH))
    assert isinstance(published.failure, Rejected)
    assert len(broker.records) < 10
    assert len(published.places) == 1_000
    assert published.places[2] is not None
    assert published.places[3] is None
    assert published.places[10:] == [None] * 990


async def test_what_cannot_be_handed_over_ends_the_call() -> None:
    """Events that were handed over before are awaited all the same."""
    broker = Broker(ends_after=4)
    published = await publisher(broker).publish(TURNS.name, turns(9, ENGLISH))
    assert published.failure is AWAY
    assert [place is None for place in published.places] == [False] * 4 + [True] * 5
