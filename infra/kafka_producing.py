"""What is written to Kafka record by record, and what every producer has in common.

aiokafka repeats what a broker didn't acknowledge for as long as the producer lives, and an
idempotent producer's repeats are no second records. So a time limit here ends the caller's wait
and not the record: what a timed-out call appended is unknown, and the room that it takes is given
back when the broker has said so.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types
from aiokafka import errors as faults

from ..schemas.errors import Unavailable
from ..schemas.limits import (
    KAFKA_BATCH_BYTES,
    KAFKA_IN_FLIGHT_BYTES_MAX,
    KAFKA_IN_FLIGHT_RECORDS_MAX,
    KAFKA_MESSAGE_BYTES_MAX,
    KAFKA_SETTLE_S_MAX,
)
from .cluster_settings import ClusterSettings
from .kafka_client import KafkaError, connect_options, meaning

__all__ = [
    "UNKNOWN",
    "Outgoing",
    "Room",
    "Singles",
    "dropped",
    "noted",
    "producer_of",
    "sent_by",
    "started",
]

UNKNOWN: Final = (
    "Kafka didn't answer in time, see EUNOE_KAFKA: whether it has the records is unknown."
)
_CLOSED: Final = "The log was closed before Kafka took the records: they aren't there."


class Outgoing(NamedTuple):
    """A record on its way; the timestamp is in milliseconds, None takes the time of now."""

    topic: str
    partition: int
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_ms: int | None

    @property
    def size(self) -> int:
        """Bytes of what the caller gave."""
        headers = sum(len(name) + len(value) for name, value in self.headers)
        return len(self.key) + len(self.value or b"") + headers


class Room:
    """How much may be in flight: records, and their bytes. Callers wait in line.

    Args:
        records: At most so many.
        size: At most so many bytes; what is larger goes alone.
    """

    def __init__(
        self, records: int = KAFKA_IN_FLIGHT_RECORDS_MAX, size: int = KAFKA_IN_FLIGHT_BYTES_MAX
    ) -> None:
        self._free = [records, size]
        self._most = (records, size)
        self._line: deque[tuple[list[int], asyncio.Future[None]]] = deque()
        self._is_closed = False

    async def take(self, records: int, size: int) -> Callable[[], None]:
        """Wait for room; returns what gives it back, which may be called once.

        Raises:
            Unavailable: It was closed.
        """
        if self._is_closed:
            raise Unavailable(_CLOSED)
        wanted = [min(records, self._most[0]), min(size, self._most[1])]
        if self._line or not self._fits(wanted):
            turn = asyncio.get_running_loop().create_future()
            self._line.append((wanted, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    self._give(wanted)
                self._next()
                raise
        else:
            self._subtract(wanted)
        return lambda: self._give(wanted)

    def close(self) -> None:
        """Refuse whoever stands in line, and whoever comes.

        Else they would be let in while a log closes, and open a producer that nobody closes.
        """
        self._is_closed = True
        for _, turn in self._line:
            if not turn.done():
                turn.set_exception(Unavailable(_CLOSED))

    def _fits(self, wanted: Sequence[int]) -> bool:
        return all(free >= one for free, one in zip(self._free, wanted, strict=True))

    def _subtract(self, wanted: Sequence[int]) -> None:
        self._free = [free - one for free, one in zip(self._free, wanted, strict=True)]

    def _give(self, wanted: Sequence[int]) -> None:
        self._free = [free + one for free, one in zip(self._free, wanted, strict=True)]
        self._next()

    def _next(self) -> None:
        while self._line:
            wanted, turn = self._line[0]
            if turn.done():
                self._line.popleft()
                continue
            if not self._fits(wanted):
                return
            self._line.popleft()
            self._subtract(wanted)
            turn.set_result(None)


def producer_of(settings: ClusterSettings, **more: Any) -> AIOKafkaProducer:  # noqa: ANN401 - its options
    """Return a producer whose repeats make no second records; it isn't started."""
    return AIOKafkaProducer(
        **connect_options(settings),
        acks="all",
        enable_idempotence=True,
        max_batch_size=KAFKA_BATCH_BYTES,
        max_request_size=KAFKA_MESSAGE_BYTES_MAX,
        **more,
    )


async def started(producer: AIOKafkaProducer, settings: ClusterSettings) -> None:
    """Start a producer, or drop it.

    Raises:
        Unavailable: No broker answers in time.
    """
    try:
        async with asyncio.timeout(settings.call_timeout_s):
            await producer.start()
    except (KafkaError, TimeoutError) as error:
        await dropped(producer)
        raise meaning(error, settings) from error
    except BaseException:
        await dropped(producer)
        raise


async def dropped(producer: AIOKafkaProducer) -> None:
    """Stop a producer: what it has not delivered by now goes."""
    with suppress(Exception):  # it is given up, whatever its state is
        async with asyncio.timeout(KAFKA_SETTLE_S_MAX):
            await producer.stop()
    sender = producer._sender.sender_task  # noqa: SLF001 - stop() waits for its batches for ever
    if sender is not None and not sender.done():
        sender.cancel()
        await asyncio.wait({sender}, timeout=KAFKA_SETTLE_S_MAX)
    with suppress(Exception):  # likewise
        await producer.client.close()
    # Who still waits for an acknowledgement is told that none comes.
    producer._message_accumulator.fail_all(faults.ProducerClosed())  # noqa: SLF001 - likewise
    # It leaves failures behind that nobody will ask for, and Python would tell of each.
    waiters = [
        batch._drain_waiter  # noqa: SLF001 - likewise
        for batches in producer._message_accumulator._batches.values()  # noqa: SLF001 - likewise
        for batch in batches
    ]
    manager = producer._txn_manager  # noqa: SLF001 - likewise
    for waiter in (*waiters, manager and manager._transaction_waiter):  # noqa: SLF001 - likewise
        if waiter is not None and waiter.done():
            noted(waiter)


async def sent_by(producer: AIOKafkaProducer, record: Outgoing) -> asyncio.Future[Any]:
    """Give a producer a record; returns what ends when the broker has acknowledged it."""
    future: asyncio.Future[Any] = await producer.send(
        record.topic,
        record.value,
        record.key,
        record.partition,
        record.timestamp_ms,
        list(record.headers),
    )
    return future


def noted(future: asyncio.Future[Any]) -> None:
    """Look at how something ended, so that Python doesn't say that nobody did."""
    # Its caller may have stopped waiting: then nobody asks what became of it.
    if not future.cancelled():
        future.exception()


class Singles:
    """Appends records one by one, each acknowledged by every replica in sync.

    Args:
        settings: Where the brokers are.
        room: What may be in flight.
    """

    def __init__(self, settings: ClusterSettings, room: Room) -> None:
        self._settings = settings
        self._room = room
        self._producer: AIOKafkaProducer | None = None
        self._starting: asyncio.Task[AIOKafkaProducer] | None = None
        self._dropping: set[asyncio.Task[None]] = set()

    async def append(self, record: Outgoing) -> int:
        """Append a record; returns its offset.

        Raises:
            Unavailable: Kafka can't be reached, or didn't answer in time.
            Rejected: The record is larger than the topic takes.
        """
        async with self._translated():
            done = await asyncio.shield(await self._send(record))
        return int(done.offset)

    async def send(self, record: Outgoing) -> asyncio.Future[Any]:
        """Hand a record over, and return what `acknowledged` waits for.

        Records of one partition that are handed over one after the other lie in that order.

        Raises:
            Unavailable: As `append`.
            Rejected: As `append`.
        """
        async with self._translated():
            return await self._send(record)

    async def acknowledged(self, sent: asyncio.Future[Any]) -> int:
        """Wait until a record that was handed over is acknowledged; returns its offset.

        Raises:
            Unavailable: As `append`.
            Rejected: As `append`.
        """
        async with self._translated():
            done = await asyncio.shield(sent)
        return int(done.offset)

    async def _send(self, record: Outgoing) -> asyncio.Future[Any]:
        give = await self._room.take(1, record.size)
        try:
            producer = await self._running()
            future = await sent_by(producer, record)
        except BaseException:
            give()
            raise
        future.add_done_callback(lambda done: self._ended(producer, give, done))
        return future

    def _ended(
        self, producer: AIOKafkaProducer, give: Callable[[], None], future: asyncio.Future[Any]
    ) -> None:
        give()
        noted(future)
        if future.cancelled() or future.exception() is None or self._producer is not producer:
            return
        # Its numbering of records may have a gap now, which the broker wouldn't take.
        self._producer = None
        task = asyncio.create_task(dropped(producer))
        self._dropping.add(task)
        task.add_done_callback(self._dropping.discard)

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._settings.call_timeout_s):
                yield
        except KafkaError as error:
            raise meaning(error, self._settings) from error
        except TimeoutError:
            raise Unavailable(UNKNOWN) from None

    async def close(self) -> None:
        """Deliver what was sent, within a time limit, and stop."""
        self._room.close()
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=self._settings.call_timeout_s)
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(TimeoutError, KafkaError):
                async with asyncio.timeout(self._settings.call_timeout_s):
                    await producer.flush()
            await dropped(producer)
        if self._dropping:
            await asyncio.wait(self._dropping)

    async def _running(self) -> AIOKafkaProducer:
        if self._producer is not None:
            return self._producer
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(noted)
        return await asyncio.shield(self._starting)

    async def _start(self) -> AIOKafkaProducer:
        try:
            producer = producer_of(self._settings)
            await started(producer, self._settings)
            self._producer = producer
            return producer
        finally:
            self._starting = None
