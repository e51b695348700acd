"""Transactions on Kafka: all records of a call or none, from one producer of an id at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types
from aiokafka import errors as faults

from ..schemas.errors import Fenced, Rejected, Unavailable
from ..schemas.limits import KAFKA_TRANSACTION_S_MAX
from .cluster_settings import ClusterSettings
from .kafka_client import KafkaError, WirePlace, meaning
from .kafka_producing import UNKNOWN, Outgoing, dropped, noted, producer_of, sent_by, started

__all__ = ["Expect", "Transactions", "ends"]

_MINE_NO_MORE: Final = (
    faults.IllegalOperation,
    faults.ProducerFenced,
    faults.InvalidProducerEpoch,
    faults.InvalidProducerIdMapping,
    faults.InvalidTxnState,
    faults.OutOfOrderSequenceNumber,
    faults.UnknownProducerId,
)
Expect = Callable[[Mapping[WirePlace, int]], None]


def ends(records: Sequence[Outgoing], offsets: Sequence[int]) -> dict[WirePlace, int]:
    """Return the last offset of each partition that these records went to."""
    last: dict[WirePlace, int] = {}
    for record, offset in zip(records, offsets, strict=True):
        place = WirePlace(record.topic, record.partition)
        last[place] = max(offset, last.get(place, 0))
    return last


def _nothing(_: Mapping[WirePlace, int]) -> None:
    """Expect nothing: nobody reads what is appended here."""


class Transactions:
    """One transactional producer: one transaction at a time, in the order of the calls.

    Whoever opens another with the same id fences this one. Use `open`.

    Args:
        producer: Started.
        settings: Where the brokers are.
        lost: What is said when the broker takes nothing from this producer any more.
        expect: Told the last offset of each partition before a transaction is committed.
    """

    def __init__(
        self, producer: AIOKafkaProducer, settings: ClusterSettings, lost: str, expect: Expect
    ) -> None:
        self._expect = expect
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
        expect: Expect = _nothing,
        timeout_s: float = KAFKA_TRANSACTION_S_MAX,
    ) -> "Transactions":
        """Open the producer: fences a former one, and settles what that left open.

        Args:
            settings: Where the brokers are.
            transactional_id: Of which there is one producer at a time.
            lost: The sentence of `Fenced`.
            expect: Told the last offset of each partition before a transaction is committed.
            timeout_s: After which the broker aborts a transaction whose producer is gone.

        Raises:
            Unavailable: Kafka can't be reached, or didn't answer in time.
        """
        producer = producer_of(
            settings,
            transactional_id=transactional_id,
            transaction_timeout_ms=int(timeout_s * 1_000),
        )
        await started(producer, settings)
        return cls(producer, settings, lost, expect)

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
        await dropped(self._producer)
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
        noted(task)

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
            raise Unavailable(UNKNOWN)
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
                    done = await self._sent(records)
            except (KafkaError, TimeoutError, AssertionError, faults.IllegalOperation) as error:
                raise self._aborted(error) from error
            offsets = [int(one.offset) for one in done]
            self._expect(ends(records, offsets))
            await self._end(self._producer.commit_transaction)
            return offsets

    async def _sent(self, records: Sequence[Outgoing]) -> list[Any]:
        futures: list[asyncio.Future[Any]] = []
        try:
            for record in records:
                futures.append(await sent_by(self._producer, record))
                futures[-1].add_done_callback(noted)
        except faults.IllegalOperation:
            # aiokafka takes nothing more for a transaction that has failed: a record that it took
            # before says why.
            await asyncio.gather(*futures)
            raise
        return await asyncio.gather(*futures)

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
            raise Unavailable(UNKNOWN)
        error = ending.exception()
        if error is not None:
            self._is_lost = True
            raise Fenced(self._lost) from error

    def _is_broken(self) -> bool:
        sender = self._producer._sender.sender_task  # noqa: SLF001 - it tells nobody else
        return sender is None or sender.done()
