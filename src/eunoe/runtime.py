"""The processors of an embedded store, put together over its engines."""

import asyncio
import dataclasses
import gc
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from .experiencing import Experience
from .operator import Operator
from .persons import Persons
from .schemas.cloudevents import encode
from .schemas.errors import EunoeError, Rejected, Unavailable
from .schemas.events import Envelope
from .schemas.limits import CROSS_ENCODER_TEXTS_MAX, HOUSEKEEPING_S, SETTLE_TIMEOUT_S
from .schemas.ports import LogRecord, NewRecord, Position, TopicPartition
from .schemas.results import Hit
from .schemas.topics import INGRESS, WRITER_GROUP
from .streams.asking import ANYTHING, Question
from .streams.consumer import Consumer, Progress
from .streams.context import Sessions, Turns
from .streams.feeding import LogFeed
from .streams.letters import Letters
from .streams.projections import Journal
from .streams.reading import Reader
from .streams.recall import Recall
from .streams.reordering import order_by_reading
from .streams.routing import Router
from .streams.serving import Served

if TYPE_CHECKING:
    from .engines import AnyEngines, AnyProgress
    from .streams.writer import Writer

__all__ = ["Runtime"]


class Runtime:
    """Journal, readers and the writer's loop of one store.

    Args:
        engines: Open ones, of a folder or of a cluster.
        progress: How far the writer is, here or elsewhere.
        turns_searchable: Whether turns themselves are found.
    """

    def __init__(
        self, engines: "AnyEngines", progress: "AnyProgress", *, turns_searchable: bool
    ) -> None:
        self.engines = engines
        self.progress = progress
        keys, identity, episodes = engines.keys, engines.identity, engines.episodes
        self.served = Served(engines.log, identity, engines.clock)
        self.journal = Journal(
            engines.log,
            keys,
            identity,
            episodes,
            range(engines.partitions),
            served=self.served,
        )
        self._turns_searchable = turns_searchable
        self._has_settled = False
        self._turns = Turns(keys, identity, episodes, self.journal)
        self.reader = Reader(keys, identity, episodes, self._turns, self.journal)
        self.recall = Recall(
            keys,
            identity,
            episodes,
            engines.encoder,
            engines.terms,
            turns_searchable=turns_searchable,
        )
        self.letters = Letters(engines.log, keys, engines.clock, engines.partitions)
        self.experience = Experience(engines, self.letters)
        self.persons = Persons(engines)
        self.operator = Operator(engines, self.letters, self.progress, self.served, self.experience)

    def _writer(self) -> "Writer":
        from .streams.preparation import Ports  # noqa: PLC0415 - as the writer
        from .streams.writer import Writer  # noqa: PLC0415 - patterns that reading saves

        engines = self.engines
        ports = Ports(
            self.journal,
            engines.keys,
            engines.identity,
            engines.episodes,
            engines.encoder,
            engines.recogniser,
            engines.terms,
            engines.clock,
        )
        sessions = Sessions(engines.identity, self._turns)
        return Writer(ports, sessions, self.letters, turns_searchable=self._turns_searchable)

    async def search(self, owner: str, question: Question) -> list[Hit]:
        """Find what answers a question: an exact slot, else turns and memories, best first."""
        asked = await self.recall.read(owner, question)
        if question.filters == ANYTHING and (question.kinds is None or "slot" in question.kinds):
            answers = await self.recall.answers(owner, question, asked)
            if answers:
                return (await self.reader.slot_hits(owner, answers))[: question.limit]
        reader = None if asked.alone else self.engines.cross_encoder
        wide = question
        if reader is not None:
            limit = max(question.limit, CROSS_ENCODER_TEXTS_MAX)
            wide = dataclasses.replace(question, limit=limit)
        found = await self.recall.find(owner, wide, asked)
        hits = await self.reader.hits(owner, found)
        if reader is not None and len(hits) == len(found):  # or one was erased meanwhile
            read = await order_by_reading(reader, question.text, hits)
            found, hits = [found[rank] for rank, _ in read], [hit for _, hit in read]
        found, hits = found[: question.limit], hits[: question.limit]
        self.served.note(owner, found, self.engines.clock.now())
        self._settle()
        return hits

    def _settle(self) -> None:
        """Let the garbage collector go through what opening and the first search have made.

        It would do so within the next hundred searches, and one of them would wait for it ten
        times as long as it takes itself; the first, which loads models, hardly notices.
        """
        if not self._has_settled:
            self._has_settled = True
            if gc.isenabled():
                gc.collect()

    async def publish(
        self, topic: str, events: Sequence[Envelope], *, wait: bool
    ) -> list[Position]:
        """Append events to an ingress topic, all or none; they are durable when this returns.

        Args:
            topic: Its name.
            events: Validated.
            wait: Whether to wait until they are decided.

        Raises:
            Rejected: The first that was refused.
            Unavailable: Nothing was stored; or deciding takes too long, and everything is.
        """
        records = []
        for event in events:
            headers, value = encode(event)
            records.append(NewRecord(topic, event.owner.encode(), value, headers))
        positions = await self.engines.log.append(records)
        if wait:
            refused = await self.wait(positions, SETTLE_TIMEOUT_S)
            if refused:
                raise refused[0][1]
        return positions

    async def ends(self) -> list[Position]:
        """Return the last position of each ingress partition."""
        log = self.engines.log
        ends = []
        for topic in INGRESS:
            for partition in range(self.engines.partitions):
                _, end = await log.bounds(topic.name, partition)
                ends.append(Position(topic.name, partition, log.epoch, end - 1))
        return ends

    async def wait(
        self, positions: Sequence[Position], longest_s: float
    ) -> list[tuple[Position, Rejected]]:
        """Wait until positions are decided; returns those that were refused.

        Raises:
            Unavailable: It took longer; the sentence says why the writer waits, if it does.
        """
        try:
            async with asyncio.timeout(longest_s):
                return await self.progress.wait(positions)
        except TimeoutError:
            trouble = self.progress.trouble or "there is more to do: wait longer."
            message = f"It is stored, but not decided after {longest_s:g} s: {trouble}"
            raise Unavailable(message) from None

    def start(self, progress: Progress) -> Callable[[], Awaitable[None]]:
        """Start deciding; returns what ends it.

        Args:
            progress: Told how far it is: the one that callers wait for.
        """
        places = [
            TopicPartition(topic.name, partition)
            for topic in INGRESS
            for partition in range(self.engines.partitions)
        ]
        engines, writer = self.engines, _LateWriter(self._writer)
        router = Router(
            engines.log,
            engines.identity,
            engines.keys,
            writer.handle,
            writer.prepare,
            writer.release,
        )
        consumer = Consumer(
            LogFeed(engines.log, WRITER_GROUP, places),
            router.handle,
            self.letters.bury,
            progress,
            prepare=router.prepare,
        )
        writing = asyncio.create_task(consumer.run(), name="eunoe-writer")
        keeping = asyncio.create_task(self._keep_house(progress), name="eunoe-housekeeping")
        counting = asyncio.create_task(self.experience.run(), name="eunoe-experience")
        return partial(_end, (keeping, counting, writing), self.served.start())

    async def _keep_house(self, progress: Progress) -> None:
        """Do what is due by the clock: dead letters and recalls go after their week."""
        while True:
            try:
                await self.letters.expire()
                await self.served.expire()
            except Unavailable:
                pass  # the next round does it
            except EunoeError as error:
                progress.fail(error)  # who waits has to know, as when the writer stops
                raise
            await asyncio.sleep(HOUSEKEEPING_S)


class _LateWriter:
    """The writer, made when there is a first event, in a thread.

    Its patterns take a third of a second to compile, and who only asks does without.
    """

    def __init__(self, make: "Callable[[], Writer]") -> None:
        self._make = make
        self._making: asyncio.Task[Writer] | None = None

    async def prepare(self, records: Sequence[LogRecord]) -> None:
        await (await self._made()).prepare(records)

    async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        return await (await self._made()).handle(records)

    def release(self, records: Sequence[LogRecord]) -> None:
        making = self._making
        if making is not None and making.done() and not making.cancelled():
            making.result().release(records)

    async def _made(self) -> "Writer":
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(self._make))
        # Shielded: who waits may be cancelled, and the next one needs the writer all the same.
        return await asyncio.shield(self._making)


async def _end(
    tasks: "Sequence[asyncio.Task[None]]", end_serving: Callable[[], Awaitable[None]]
) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError, EunoeError):  # whoever waited was told already
            await task
    await end_serving()
