"""Events on their way to Kafka from a program that only publishes: in order, bounded, awaited."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

from ..schemas.cloudevents import encode
from ..schemas.errors import EunoeError, Unavailable
from ..schemas.events import Envelope
from ..schemas.limits import PRODUCER_IN_FLIGHT_BYTES_MAX, PRODUCER_IN_FLIGHT_RECORDS_MAX
from ..schemas.ports import NewRecord
from ..schemas.topics import INGRESS
from .cluster_settings import ClusterSettings
from .kafka_admin import Admin
from .kafka_client import Client, Names
from .kafka_places import Places
from .kafka_producing import Outgoing, Room, Singles

__all__ = ["Place", "Published", "Publisher", "Sending"]


class Place(NamedTuple):
    """Where an acknowledged event lies; -1 where the broker had it already, from an earlier try."""

    partition: int
    offset: int


class Published(NamedTuple):
    """What became of the events of one call.

    Args:
        places: One for each event; None for one that wasn't acknowledged.
        failure: Why not, of the first that wasn't.
    """

    places: list[Place | None]
    failure: EunoeError | None


class Sending(Protocol):
    """What sends records; see `kafka_producing.Singles`."""

    async def send(self, record: Outgoing) -> asyncio.Future[Any]:
        """Hand a record over."""
        ...

    async def acknowledged(self, sent: asyncio.Future[Any]) -> int:
        """Wait until it is acknowledged; returns its offset."""
        ...

    async def close(self) -> None:
        """Deliver what was sent, and stop."""
        ...


class Publisher:
    """Publishes events, each acknowledged by every replica in sync. Use `open`.

    Args:
        sending: Sends records, with a bound on what is in flight.
        places: Of each topic.
        wait_s: For what is in flight when a call has failed.
    """

    def __init__(self, sending: Sending, places: Mapping[str, Places], wait_s: float) -> None:
        self._sending = sending
        self._places = places
        self._wait_s = wait_s

    @classmethod
    async def open(cls, settings: ClusterSettings) -> Self:
        """Look which partitions the topics have.

        Args:
            settings: Where the brokers are, and the namespace.

        Raises:
            Unavailable: Kafka can't be reached, the login is wrong, or a topic is missing; the
                sentence names the setting or the command.
        """
        names = Names(settings.namespace)
        client = await Client.connect(settings)
        try:
            wire = {one.name: names.topic(one.name) for one in INGRESS}
            shapes = await Admin(client).shapes(list(wire.values()))
        finally:
            await client.close()
        for name in wire.values():
            if name not in shapes:
                message = f"The topic {name} is missing in Kafka: run eunoe topics apply."
                raise Unavailable(message)
        places = {
            one.name: Places(names, [one], shapes[wire[one.name]][0], epoch="") for one in INGRESS
        }
        room = Room(PRODUCER_IN_FLIGHT_RECORDS_MAX, PRODUCER_IN_FLIGHT_BYTES_MAX)
        return cls(Singles(settings, room), places, settings.call_timeout_s)

    async def publish(self, topic: str, events: Sequence[Envelope]) -> Published:
        """Publish events of one topic, in order; after a failure no further one is sent.

        Args:
            topic: Its name in the table of topics.
            events: Validated.

        Returns:
            What was acknowledged. It doesn't raise: some of the events may be there.
        """
        sent: list[_Sent] = []
        unsent = await self._send(topic, events, sent)
        failure = await self._settle(sent) or unsent
        places = [one.place if one.is_there else None for one in sent]
        return Published(places + [None] * (len(events) - len(sent)), failure)

    async def _send(
        self, topic: str, events: Sequence[Envelope], sent: "list[_Sent]"
    ) -> EunoeError | None:
        settled = 0
        for event in events:
            while settled < len(sent) and sent[settled].is_there:
                settled += 1
            if settled < len(sent) and sent[settled].future.done():
                return None  # it failed, and says why to whoever waits for it
            headers, value = encode(event)
            record = NewRecord(topic, event.owner.encode(), value, headers)
            try:
                outgoing = self._places[topic].outgoing(record)
                future = await self._sending.send(outgoing)
            except EunoeError as error:
                return error
            sent.append(_Sent(outgoing.partition, future))
        return None

    async def _settle(self, sent: "Sequence[_Sent]") -> EunoeError | None:
        for one in sent:
            try:
                await self._sending.acknowledged(one.future)
            except EunoeError as error:
                # The others may be there a moment later, and their caller wants to know.
                await asyncio.wait([other.future for other in sent], timeout=self._wait_s)
                return error
        return None

    async def close(self) -> None:
        """Deliver what was sent, within a time limit, and disconnect."""
        await self._sending.close()


class _Sent(NamedTuple):
    partition: int
    future: asyncio.Future[Any]

    @property
    def is_there(self) -> bool:
        done = self.future.done() and not self.future.cancelled()
        return done and self.future.exception() is None

    @property
    def place(self) -> Place:
        return Place(self.partition, int(self.future.result().offset))
