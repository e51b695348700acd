"""The only loop that acknowledges: hand over, retry what may heal, bury what cannot, commit.

While the handler is at some records, those that come next are read and prepared, two batches of
them where there is so much to do: names are found in one while the other is encoded. They are
handed over, and acknowledged, strictly after the ones before.

Delivery: at least once. A record's offset is committed only after the handler returned for it
and, where it was refused, after the log confirmed the dead letter. A handler is therefore
called again for records whose commit a crash prevented, and has to make that harmless.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ..schemas.errors import Conflict, Damaged, EunoeError, Rejected, Unavailable
from ..schemas.limits import (
    BACKOFF_S_FIRST,
    BACKOFF_S_MAX,
    BATCH_RECORDS_MAX,
    BATCHES_AHEAD_MAX,
    REFUSALS_KEPT_MAX,
)
from ..schemas.ports import LogRecord, Position, TopicPartition
from .feeding import Feed

__all__ = ["Bury", "Consumer", "Handle", "Prepare", "Progress"]

Result = TypeVar("Result")

Handle = Callable[[Sequence[LogRecord]], Awaitable[list[Rejected | None]]]
"""Takes records in order, returns for each None or why it was refused; raises `Unavailable` or
`Conflict` to be called again with the same records."""
Prepare = Callable[[Sequence[LogRecord]], Awaitable[None]]
"""Works ahead on records that `Handle` gets later, as far as nothing depends on those before;
what it can't do, the handler does."""
Bury = Callable[[LogRecord, Rejected, int], Awaitable[None]]
"""Writes the dead letter of (record, reason, attempts); returns when the log has it."""


class Progress:
    """How far a consumer is, for callers who wait for their own records."""

    def __init__(self) -> None:
        self._done: dict[TopicPartition, int] = {}
        self._refusals: OrderedDict[tuple[TopicPartition, int], Rejected] = OrderedDict()
        self._changed = asyncio.Event()
        self._failure: EunoeError | None = None
        self.retries = 0
        """How often something was tried again."""
        self.trouble: str | None = None
        """Why the consumer waits now, or None."""

    def advance(
        self,
        offsets: dict[TopicPartition, int],
        refusals: Iterable[tuple[TopicPartition, int, Rejected]] = (),
    ) -> None:
        """Tell that everything below these offsets is done."""
        for partition, offset, reason in refusals:
            self._refusals[partition, offset] = reason
            if len(self._refusals) > REFUSALS_KEPT_MAX:
                self._refusals.popitem(last=False)
        self._done |= offsets
        self._wake()

    @property
    def failed(self) -> str | None:
        """Why the consumer stopped, or None."""
        return None if self._failure is None else str(self._failure)

    def fail(self, failure: EunoeError) -> None:
        """Tell everybody who waits that the consumer has stopped."""
        self._failure = failure
        self._wake()

    async def wait(self, positions: Sequence[Position]) -> list[tuple[Position, Rejected]]:
        """Wait until all positions are done.

        Returns:
            Those that were refused, with the reason.

        Raises:
            EunoeError: The consumer stopped before.
        """
        for position in positions:
            partition = TopicPartition(position.topic, position.partition)
            while self._done.get(partition, 0) <= position.offset:
                if self._failure is not None:
                    raise self._failure
                await self._changed.wait()
        refused = []
        for position in positions:
            place = (TopicPartition(position.topic, position.partition), position.offset)
            if (reason := self._refusals.get(place)) is not None:
                refused.append((position, reason))
        return refused

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


@dataclass(slots=True)
class _Batch:
    """Records on their way to the handler.

    Args:
        before: The batch that comes before, unless that was handed over.
    """

    before: "_Batch | None"
    read: asyncio.Event = field(default_factory=asyncio.Event)
    is_full: bool = False
    handed_over: asyncio.Event = field(default_factory=asyncio.Event)

    async def turn(self) -> None:
        """Wait until this one may be read: early only where records are waiting anyway.

        Else it would be small, and those that come a moment later would wait for the next.
        """
        if self.before is not None:
            await self.before.read.wait()
            if not self.before.is_full:
                await self.before.handed_over.wait()
            self.before = None


class Consumer:
    """Feeds one handler, strictly in order within each partition.

    What the log itself needs (ticks, opening records) is acknowledged and handed to nobody.

    Args:
        feed: Where from.
        handle: The processor.
        bury: Writes dead letters.
        progress: Told after each commit.
        prepare: Works ahead; None does without.
    """

    def __init__(
        self,
        feed: Feed,
        handle: Handle,
        bury: Bury,
        progress: Progress,
        *,
        prepare: Prepare | None = None,
    ) -> None:
        self._feed = feed
        self._handle = handle
        self._bury = bury
        self._progress = progress
        self._prepare = prepare

    async def run(self) -> None:
        """Consume until cancelled.

        Raises:
            Damaged: An invariant is broken; everybody who waits is told.
        """
        try:
            self._progress.advance(await self._insist(self._feed.start))
            await self._go_on()
        except EunoeError as error:
            self._progress.fail(error)
            raise
        except Exception as error:  # the top of the worker: a bug must not look like silence
            failure = Damaged(f"The {self._feed.group} stopped: {type(error).__name__}.")
            self._progress.fail(failure)
            raise failure from error

    async def _go_on(self) -> None:
        ahead: deque[tuple[_Batch, asyncio.Task[list[LogRecord]]]] = deque()
        batch: _Batch | None = None
        try:
            while True:
                while len(ahead) < BATCHES_AHEAD_MAX:
                    batch = _Batch(batch)
                    ahead.append((batch, asyncio.create_task(self._next(batch))))
                first, preparing = ahead[0]
                records = await preparing
                ahead.popleft()
                first.handed_over.set()
                await self._take(records)
        finally:
            for _, task in ahead:
                task.cancel()

    async def _next(self, batch: _Batch) -> list[LogRecord]:
        await batch.turn()
        records = await self._insist(self._feed.next)
        batch.is_full = len(records) >= BATCH_RECORDS_MAX
        batch.read.set()
        if self._prepare is not None and (events := [one for one in records if not one.is_mark]):
            # An engine that is away is the handler's affair, which tries again until it is back.
            with suppress(Unavailable, Conflict):
                await self._prepare(events)
        return records

    async def _take(self, records: Sequence[LogRecord]) -> None:
        events = [one for one in records if not one.is_mark]
        results, attempts = await self._healed(events) if events else ([], 0)
        refusals = []
        for record, refused in zip(events, results, strict=True):
            if refused is not None:
                await self._insist(partial(self._buried, record, refused, attempts))
                refusals.append((_place(record), record.position.offset, refused))
        offsets = {_place(one): one.position.offset + 1 for one in records}
        await self._insist(partial(self._feed.commit, offsets))
        self._progress.advance(offsets, refusals)

    async def _buried(self, record: LogRecord, refused: Rejected, attempts: int) -> None:
        try:
            await self._bury(record, refused, attempts)
        except Rejected as error:
            # What was refused isn't acknowledged without its letter, whoever is to blame for that.
            message = f"A dead letter can't be written: {error}"
            raise Unavailable(message) from error

    async def _healed(self, records: Sequence[LogRecord]) -> tuple[list[Rejected | None], int]:
        attempts = 0

        async def attempt() -> list[Rejected | None]:
            nonlocal attempts
            attempts += 1
            return await self._handle(records)

        return await self._insist(attempt), attempts

    async def _insist(self, call: Callable[[], Awaitable[Result]]) -> Result:
        pause = BACKOFF_S_FIRST
        trouble: str | None = None
        while True:
            try:
                result = await call()
            except (Unavailable, Conflict) as error:
                # Nothing is acknowledged: the same records again, until the engine is back.
                self._progress.trouble = trouble = str(error)
                self._progress.retries += 1
                await asyncio.sleep(pause)
                pause = min(2 * pause, BACKOFF_S_MAX)
            else:
                if trouble is not None:  # and not what keeps another call
                    self._progress.trouble = None
                return result


def _place(record: LogRecord) -> TopicPartition:
    return TopicPartition(record.position.topic, record.position.partition)
