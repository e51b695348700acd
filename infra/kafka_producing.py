"""What is written to Kafka: single records, and transactions that are all or nothing.

aiokafka repeats what a broker didn't acknowledge for as long as the producer lives, and an
idempotent producer's repeats are no second records. So a time limit here ends the caller's wait
and not the record: what a timed-out call appended is unknown, and the room that it takes is given
back when the broker has said so.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types
from aiokafka import errors as faults

from ..schemas.errors import Fenced, Rejected, Unavailable
from ..schemas.limits import (
    KAFKA_BATCH_BYTES,
    KAFKA_IN_FLIGHT_BYTES_MAX,
    KAFKA_IN_FLIGHT_RECORDS_MAX,
    KAFKA_MESSAGE_BYTES_MAX,
    KAFKA_SETTLE_S_MAX,
    KAFKA_TRANSACTION_S_MAX,
)
from .cluster_settings import ClusterSettings
from .kafka_client import KafkaError, connect_options, meaning

__all__ = ["Outgoing", "Room", "Singles", "Transactions"]

_MINE_NO_MORE: Final = (
    faults.ProducerFenced,
    faults.InvalidProducerEpoch,
    faults.InvalidProducerIdMapping,
    faults.InvalidTxnState,
    faults.OutOfOrderSequenceNumber,
    faults.UnknownProducerId,
)
_UNKNOWN: Final = (
    "Kafka didn't answer in time, see EUNOE_KAFKA: whether it has the records is unknown."
)


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

    async def take(self, records: int, size: int) -> Callable[[], None]:
        """Wait for room; returns what gives it back, which may be called once."""
        wanted = [min(records, self._most[0]), min(size, self._most[1])]
        if self._line or not self._fits(wanted):
            turn = asyncio.get_running_loop().create_future()
            self._line.append((wanted, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._give(wanted)
                self._next()
                raise
        else:
            self._subtract(wanted)
        return lambda: self._give(wanted)

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


def _producer(settings: ClusterSettings, **more: Any) -> AIOKafkaProducer:  # noqa: ANN401 - its options
    return AIOKafkaProducer(
        **connect_options(settings),
        acks="all",
        enable_idempotence=True,
        max_batch_size=KAFKA_BATCH_BYTES,
        max_request_size=KAFKA_MESSAGE_BYTES_MAX,
        **more,
    )


async def _started(producer: AIOKafkaProducer, settings: ClusterSettings) -> None:
    try:
        async with asyncio.timeout(settings.call_timeout_s):
            await producer.start()
    except (KafkaError, TimeoutError) as error:
        await _dropped(producer)
        raise meaning(error, settings) from error
    except BaseException:
        await _dropped(producer)
        raise


async def _dropped(producer: AIOKafkaProducer) -> None:
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
    # It leaves failures behind that nobody will ask for, and Python would tell of each.
    waiters = [
        batch._drain_waiter  # noqa: SLF001 - likewise
        for batches in producer._message_accumulator._batches.values()  # noqa: SLF001 - likewise
        for batch in batches
    ]
    manager = producer._txn_manager  # noqa: SLF001 - likewise
    for waiter in (*waiters, manager and manager._transaction_waiter):  # noqa: SLF001 - likewise
        if waiter is not None and waiter.done():
            _noted(waiter)


async def _sent(producer: AIOKafkaProducer, record: Outgoing) -> asyncio.Future[Any]:
    future: asyncio.Future[Any] = await producer.send(
        record.topic,
        record.value,
        record.key,
        record.partition,
        record.timestamp_ms,
        list(record.headers),
    )
    return future


def _noted(future: asyncio.Future[Any]) -> None:
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
            future = await _sent(producer, record)
        except BaseException:
            give()
            raise
        future.add_done_callback(_noted)
        future.add_done_callback(lambda _: give())
        return future

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._settings.call_timeout_s):
                yield
        except KafkaError as error:
            if not isinstance(error, faults.MessageSizeTooLargeError):
                await self._give_up()
            raise meaning(error, self._settings) from error
        except TimeoutError:
            raise Unavailable(_UNKNOWN) from None

    async def close(self) -> None:
        """Deliver what was sent, within a time limit, and stop."""
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=self._settings.call_timeout_s)
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(TimeoutError, KafkaError):
                async with asyncio.timeout(self._settings.call_timeout_s):
                    await producer.flush()
            await _dropped(producer)

    async def _running(self) -> AIOKafkaProducer:
        if self._producer is not None:
            return self._producer
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> AIOKafkaProducer:
        try:
            producer = _producer(self._settings)
            await _started(producer, self._settings)
            self._producer = producer
            return producer
        finally:
            self._starting = None

    async def _give_up(self) -> None:
        # Its numbering of records may have a gap now, which the broker wouldn't take.
        producer, self._producer = self._producer, None
        if producer is not None:
            await _dropped(producer)


class Transactions:
    """One transactional producer: one transaction at a time, in the order of the calls.

    Whoever opens another with the same id fences this one. Use `open`.

    Args:
        producer: Started.
        settings: Where the brokers are.
        lost: What is said when the broker takes nothing from this producer any more.
    """

    def __init__(self, producer: AIOKafkaProducer, settings: ClusterSettings, lost: str) -> None:
        self._producer = producer
        self._settings = settings
        self._lost = lost
        self._is_lost = False
        self._turn = asyncio.Lock()
        self._unsettled: asyncio.Task[None] | None = None
        """The end of a transaction that the broker hasn't confirmed in time."""
        self._tasks: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(
        cls,
        settings: ClusterSettings,
        transactional_id: str,
        *,
        lost: str,
        timeout_s: float = KAFKA_TRANSACTION_S_MAX,
    ) -> "Transactions":
        """Open the producer: fences a former one, and settles what that left open.

        Args:
            settings: Where the brokers are.
            transactional_id: Of which there is one producer at a time.
            lost: The sentence of `Fenced`.
            timeout_s: After which the broker aborts a transaction whose producer is gone.

        Raises:
            Unavailable: Kafka can't be reached, or didn't answer in time.
        """
        producer = _producer(
            settings,
            transactional_id=transactional_id,
            transaction_timeout_ms=int(timeout_s * 1_000),
        )
        await _started(producer, settings)
        return cls(producer, settings, lost)

    @property
    def is_usable(self) -> bool:
        """Whether nothing is left of a call that failed."""
        return not self._is_lost and self._unsettled is None

    async def append(self, records: Sequence[Outgoing]) -> list[int]:
        """Append records in one transaction; returns their offsets.

        A caller that is cancelled doesn't stop the transaction.

        Raises:
            Fenced: Another producer took over, or the broker gave the transaction up.
            Unavailable: Kafka can't be reached, or didn't answer in time. Whether the records are
                there is settled before the next call appends anything.
            Rejected: A record is larger than its topic takes; none is there.
        """
        offsets: list[int] = await self._shielded(self._appended(records))
        return offsets

    async def settle(self) -> None:
        """Wait until the fate of every call that failed is known.

        Raises:
            Fenced: Likewise.
            Unavailable: It isn't yet.
        """
        if self._unsettled is not None or self._is_lost:
            await self._shielded(self._in_turn())

    async def close(self) -> None:
        """Finish the transaction that is on its way, within a time limit, and stop."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._settings.call_timeout_s)
        await _dropped(self._producer)
        if self._unsettled is not None:
            self._unsettled.cancel()
            await asyncio.wait({self._unsettled})

    async def _shielded(self, work: Any) -> Any:  # noqa: ANN401 - of any result
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        _noted(task)

    async def _in_turn(self) -> None:
        async with self._turn:
            await self._settled()

    async def _settled(self) -> None:
        if self._is_lost:
            raise Fenced(self._lost)
        if self._unsettled is None:
            return
        await asyncio.wait({self._unsettled}, timeout=self._settings.call_timeout_s)
        if not self._unsettled.done():
            raise Unavailable(_UNKNOWN)
        ended, self._unsettled = self._unsettled, None
        if ended.exception() is not None:
            self._is_lost = True
            raise Fenced(self._lost) from ended.exception()

    async def _appended(self, records: Sequence[Outgoing]) -> list[int]:
        async with self._turn:
            await self._settled()
            try:
                async with asyncio.timeout(self._settings.call_timeout_s):
                    await self._producer.begin_transaction()
                    futures = []
                    for record in records:
                        futures.append(await _sent(self._producer, record))
                        futures[-1].add_done_callback(_noted)
                    done = await asyncio.gather(*futures)
            except (KafkaError, TimeoutError, AssertionError) as error:
                raise self._aborted(error) from error
            await self._end(self._producer.commit_transaction)
            return [one.offset for one in done]

    def _aborted(self, error: Exception) -> Exception:
        if isinstance(error, (*_MINE_NO_MORE, AssertionError)) or self._is_broken():
            self._is_lost = True
            return Fenced(self._lost)
        # Nobody waits for it but the next call: while no broker answers it can't end.
        self._unsettled = asyncio.create_task(self._abort())
        if isinstance(error, TimeoutError):
            return Unavailable("Kafka didn't answer in time, see EUNOE_KAFKA.")
        told = meaning(error, self._settings)
        if isinstance(told, Rejected):
            self._is_lost = True  # the numbering has a gap, which the broker wouldn't take
        return told

    async def _abort(self) -> None:
        await self._producer.abort_transaction()

    async def _end(self, end: Callable[[], Awaitable[None]]) -> None:
        ending = asyncio.ensure_future(end())
        await asyncio.wait({ending}, timeout=self._settings.call_timeout_s)
        if not ending.done():
            self._unsettled = ending
            raise Unavailable(_UNKNOWN)
        error = ending.exception()
        if error is not None:
            self._is_lost = True
            raise Fenced(self._lost) from error

    def _is_broken(self) -> bool:
        sender = self._producer._sender.sender_task  # noqa: SLF001 - it tells nobody else
        return sender is None or sender.done()
