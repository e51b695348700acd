"""The cluster's runtime: Faust for membership, assignment and lifecycle, and for nothing else.

One app (a consumer group) for each processor, several in a process. An agent only hands a record
over to its partition's lane; the lane's consumer loop is the same as in one process, and Faust is
told what was handled, in order within each partition. No table, no changelog, no web server.

Delivery: at least once. Faust commits the contiguous prefix of what was acknowledged; after a
rebalance it reads from there again.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import faust
import mode
from faust.exceptions import FaustError
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from yarl import URL

from ..schemas.errors import Damaged, EunoeError, Rejected, Unavailable
from ..schemas.limits import (
    ASSIGN_S_MAX,
    COMMIT_EVERY_S,
    COMMIT_RECORDS,
    STOP_S_MAX,
    STREAM_RECORDS_MAX,
)
from ..schemas.ports import Headers, LogRecord, Position, TopicPartition
from .lanes import Lanes, OpenLane

__all__ = ["Broker", "Group", "Processor", "chosen"]

CLIENT: Final = "eunoe"


@dataclass(frozen=True, slots=True)
class Broker:
    """How a group reaches the brokers.

    Args:
        addresses: "host:port".
        topic: Names a topic on the wire.
        group: Names a group on the wire.
        epoch: Of the log.
        session_timeout_s: Without a heartbeat for so long, a member is out.
        user: For SASL; "" goes without.
        password: For SASL.
        mechanism: Of SASL.
        tls: For encrypted connections; None goes without.
        folder: Empty, for what Faust wants to have on the disk.
    """

    addresses: Sequence[str]
    topic: Callable[[str], str]
    group: Callable[[str], str]
    epoch: str
    folder: str
    session_timeout_s: float
    user: str = ""
    password: str = ""
    mechanism: str = "PLAIN"
    tls: ssl.SSLContext | None = None


@dataclass(frozen=True, slots=True)
class Processor:
    """One processor: a consumer group of its own.

    Args:
        name: As `--only` takes it.
        group: Of the topics table.
        topics: What it reads.
        open_lane: Opens what one of its lanes needs.
    """

    name: str
    group: str
    topics: Sequence[str]
    open_lane: OpenLane


class _Thread(driver.AIOKafkaConsumerThread):
    """A consumer that never sees what a transaction took back.

    Faust reads uncommitted records unless it manages the transactions itself.
    """

    def _create_worker_consumer(self, transport: Any) -> Any:  # noqa: ANN401 - Faust's types
        consumer = super()._create_worker_consumer(transport)
        consumer._isolation_level = "read_committed"  # noqa: SLF001 - it is read when it starts
        return consumer


class _Consumer(driver.Consumer):
    def _new_consumer_thread(self) -> Any:  # noqa: ANN401 - Faust's types
        return _Thread(self, loop=self.loop, beacon=self.beacon)


class _Transport(driver.Transport):
    Consumer = _Consumer


class Group:
    """A processor's membership of its group, and its lanes.

    Args:
        broker: Where.
        processor: Which.
        seen: Called with a partition and what was acknowledged of it.
    """

    def __init__(
        self,
        broker: Broker,
        processor: Processor,
        seen: Callable[[int, Sequence[LogRecord]], None],
    ) -> None:
        self.processor = processor
        self.lanes = Lanes(
            processor.name,
            processor.group,
            processor.topics,
            processor.open_lane,
            self,
            broker.session_timeout_s,
            time.monotonic,
            self._failed,
            seen,
        )
        self.failure: asyncio.Future[EunoeError] = asyncio.get_running_loop().create_future()
        self._broker = broker
        self._names = {broker.topic(name): name for name in processor.topics}
        self._messages: dict[tuple[TopicPartition, int], Any] = {}
        self._began = time.monotonic()
        self._is_member = False
        self._app = self._made()

    async def start(self) -> None:
        """Join the group.

        Raises:
            Unavailable: The brokers can't be reached.
        """
        try:
            await self._app.start()
        except (FaustError, OSError, RuntimeError) as error:  # the client's own are of the last
            message = f"The group {self.processor.group} can't be joined now: check EUNOE_KAFKA."
            raise Unavailable(message) from error

    async def stop(self) -> None:
        """End the lanes and leave the group, within a bound whatever is in flight."""
        await self.lanes.revoke()
        await asyncio.wait([asyncio.ensure_future(self._app.stop())], timeout=STOP_S_MAX / 2)

    def acknowledge(self, records: Sequence[LogRecord]) -> None:
        """Acknowledge records, in order within each partition."""
        for record in records:
            position = record.position
            place = TopicPartition(position.topic, position.partition)
            event = self._messages.pop((place, position.offset), None)
            if event is not None:
                event.ack()

    def pause(self, place: TopicPartition) -> None:
        """Read no more of a partition for now."""
        self._app.consumer.pause_partitions({self._wire(place)})

    def resume(self, place: TopicPartition) -> None:
        """Read on."""
        self._app.consumer.resume_partitions({self._wire(place)})

    async def lag(self) -> dict[int, int]:
        """Return for each lane how many records it has to do, in flight or not yet read."""
        consumer = self._app.consumer
        lag = {lane.partition: lane.feed.in_flight for lane in self.lanes.open}
        for place in consumer.assignment():
            if place.partition not in lag:
                continue
            try:
                position = await consumer.position(place)
                end = consumer.highwater(place)
            except (FaustError, RuntimeError):
                continue  # the group is being assigned anew
            if position is not None and end is not None:
                lag[place.partition] += max(0, end - position)
        return lag

    @property
    def trouble(self) -> str | None:
        """Why the group isn't well as a whole, or None."""
        if self.failure.done():
            return f"{self.processor.name}: {self.failure.result()}"
        if self._app.crashed:
            return f"{self.processor.name}: the connection to the group broke."
        since = time.monotonic() - self._began
        if not self._is_member and since > ASSIGN_S_MAX:
            return f"{self.processor.name} waits to be let into its group since {since:.0f} s."
        return None

    async def ended(self) -> EunoeError:
        """Wait until it can't go on; returns why."""
        crashed = asyncio.ensure_future(self._app.wait_until_stopped())
        try:
            waiting: list[asyncio.Future[Any]] = [crashed, self.failure]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            crashed.cancel()
            with suppress(asyncio.CancelledError):
                await crashed
        if self.failure.done():
            return self.failure.result()
        return Unavailable(f"The group {self.processor.group} was left: check EUNOE_KAFKA.")

    def _failed(self, error: EunoeError) -> None:
        if not self.failure.done():
            self.failure.set_result(error)

    def _wire(self, place: TopicPartition) -> Any:  # noqa: ANN401 - Faust's types
        return TP(self._broker.topic(place.topic), place.partition)

    def _made(self) -> faust.App:
        broker = self._broker
        urls = [URL(f"kafka://{address}") for address in broker.addresses]
        app = faust.App(
            broker.group(self.processor.group),
            broker=urls,
            **_credentials(broker),
            broker_client_id=f"{CLIENT}-{uuid4().hex[:8]}",
            autodiscover=False,
            broker_commit_every=COMMIT_RECORDS,
            broker_commit_interval=COMMIT_EVERY_S,
            broker_heartbeat_interval=min(3.0, broker.session_timeout_s / 3),
            broker_request_timeout=max(40.0, broker.session_timeout_s + 10),
            broker_session_timeout=broker.session_timeout_s,
            broker_rebalance_timeout=broker.session_timeout_s,
            consumer_auto_offset_reset="earliest",
            agent_supervisor=mode.CrashingSupervisor,
            # Nothing is kept in tables; Faust makes its folder all the same.
            datadir=broker.folder,
            store="memory://",
            stream_buffer_maxsize=STREAM_RECORDS_MAX,
            stream_wait_empty=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            web_enabled=False,
        )
        app.transport = _Transport(urls, app)
        app.on_partitions_assigned.connect(self._assigned)
        app.on_partitions_revoked.connect(self._revoked)
        for wire, plain in self._names.items():
            topic = app.topic(
                wire,
                key_type=bytes,
                value_type=bytes,
                key_serializer="raw",
                value_serializer="raw",
            )
            app.agent(topic, name=f"{self.processor.name}-{plain}", concurrency=1)(self._handing())
        return app

    def _handing(self) -> Callable[[Any], Any]:
        async def hand(stream: Any) -> None:  # noqa: ANN401 - Faust's types
            events: AsyncIterator[Any] = stream.noack().events()
            async for event in events:
                self._hand(event)

        return hand

    def _hand(self, event: Any) -> None:  # noqa: ANN401 - Faust's types
        record = self._record(event.message)
        place = TopicPartition(record.position.topic, record.position.partition)
        if self.lanes.hand(record):
            self._messages[place, record.position.offset] = event

    def _record(self, message: Any) -> LogRecord:  # noqa: ANN401 - Faust's types
        position = Position(
            self._names[message.topic], message.partition, self._broker.epoch, message.offset
        )
        return LogRecord(
            position,
            message.key or b"",
            message.value,
            _headers(message.headers),
            datetime.fromtimestamp(message.timestamp, UTC),
        )

    async def _assigned(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - Faust's types
        (_, assigned), _ = given, named
        self._is_member = True
        places = [TopicPartition(self._names[one.topic], one.partition) for one in assigned]
        try:
            await self.lanes.assign(places)
        except Damaged as error:
            self._failed(error)

    async def _revoked(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - Faust's types
        del given, named  # a rebalance takes all away
        self._messages.clear()
        await self.lanes.revoke()


def _headers(headers: Any) -> Headers:  # noqa: ANN401 - Faust has a mapping or pairs
    if not headers:
        return ()
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return tuple((name, bytes(value or b"")) for name, value in pairs)


def _credentials(broker: Broker) -> dict[str, Any]:
    if broker.user:
        mechanism = broker.mechanism
        return {
            "broker_credentials": faust.SASLCredentials(
                username=broker.user,
                password=broker.password,
                ssl_context=broker.tls,
                mechanism=mechanism,
            )
        }
    if broker.tls is not None:
        return {"broker_credentials": faust.SSLCredentials(context=broker.tls)}
    return {}


def chosen(processors: Mapping[str, Processor], only: Sequence[str]) -> list[Processor]:
    """Return the processors of these names; none named means all.

    Raises:
        Rejected: There is no processor of a name.
    """
    unknown = [name for name in only if name not in processors]
    if unknown:
        message = f"There is no processor {unknown[0]!r}: take some of {', '.join(processors)}."
        raise Rejected(message)
    return [one for name, one in processors.items() if not only or name in only]
