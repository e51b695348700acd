"""A worker of the cluster: processors, their lanes, health and metrics, until a signal comes."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, Final

from .infra.cluster import ClusterEngines, open_cluster, tls_of
from .infra.health import HealthServer, Metrics
from .infra.settings import Settings
from .infra.wiring import Tools
from .schemas.errors import EunoeError, Rejected, Unavailable
from .schemas.limits import FLUSH_S_MAX, HOUSEKEEPING_S, SAMPLE_S, STOP_S_MAX
from .schemas.ports import LogRecord
from .schemas.topics import INGRESS, JOURNAL, RECALLS, WRITER_GROUP
from .streams import experience
from .streams.app import Broker, Group, Processor, chosen
from .streams.consumer import Bury
from .streams.context import Sessions, Turns
from .streams.lanes import Processing
from .streams.letters import Letters
from .streams.preparation import Ports
from .streams.projections import Journal
from .streams.routing import Router
from .streams.serving import Served
from .streams.writer import Writer

__all__ = ["PROCESSORS", "Worker", "work"]

PROCESSORS: Final = ("writer", "experience")
LIBRARIES: Final = ("faust", "mode", "aiokafka")


async def work(
    settings: Settings,
    only: Sequence[str] = (),
    *,
    tools: Tools | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Run processors until SIGINT or SIGTERM.

    Args:
        settings: With a cluster's servers.
        only: Names of processors; none means all.
        tools: What to replace, such as the encoder.
        tell: Called with what a person wants to know.

    Raises:
        Rejected: A setting or a topic is wrong, or there is no such processor.
        Unavailable: A server can't be reached, or the group was lost.
        Damaged: An invariant is broken.
    """
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # health says it in sentences
    told_to_end = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # from here on it ends well, opening or open
        asyncio.get_running_loop().add_signal_handler(number, told_to_end.set)
    async with AsyncExitStack() as stack:
        engines = await open_cluster(settings, tools or Tools())
        stack.push_async_callback(engines.stack.aclose)
        worker = Worker(engines, only, turns_searchable=settings.turns_searchable)
        port = await worker.start()
        stack.push_async_callback(worker.stop)
        names = ", ".join(group.processor.name for group in worker.groups)
        tell(f"Working: {names}. Health: http://127.0.0.1:{port}/healthz")
        await worker.ended(told_to_end)
        tell("Ending.")


class Worker:
    """The processors of one process.

    Args:
        engines: Of the cluster.
        only: Names of processors; none means all.
        turns_searchable: Whether turns themselves are found.
    """

    def __init__(
        self, engines: ClusterEngines, only: Sequence[str], *, turns_searchable: bool
    ) -> None:
        self._engines = engines
        self._turns_searchable = turns_searchable
        self._metrics = Metrics()
        self._told: Mapping[str, set[int]] = {name: set() for name in PROCESSORS}
        self._stack = AsyncExitStack()
        self._sampling: asyncio.Task[None] | None = None
        self._observers: list[Callable[[Sequence[LogRecord]], None]] = []
        self._letters = Letters(engines.log, engines.keys, engines.clock, engines.partitions)
        self._served = Served(engines.log, engines.identity, engines.clock)
        servers = engines.servers
        broker = Broker(
            servers.kafka,
            engines.names.topic,
            engines.names.group,
            engines.log.epoch,
            self._stack.enter_context(TemporaryDirectory(prefix="eunoe-worker-")),
            servers.session_timeout_s,
            servers.kafka_user if servers.kafka_security.startswith("SASL") else "",
            servers.kafka_password,
            servers.kafka_mechanism,
            tls_of(servers),
        )
        self.groups = [
            Group(broker, one, partial(self._seen, one.name))
            for one in chosen(self._processors(), only)
        ]

    async def start(self) -> int:
        """Join the groups; returns the port of /healthz.

        Raises:
            Unavailable: The brokers can't be reached, or the port is taken.
        """
        server = await HealthServer.start(
            self._engines.servers.metrics_port, self._metrics, self.troubles
        )
        self._stack.push_async_callback(server.close)
        for group in self.groups:
            self._stack.push_async_callback(group.stop)
            await group.start()
        self._sampling = asyncio.create_task(self._sample(), name="eunoe-sampling")
        self._stack.push_async_callback(_ended, self._sampling)
        return server.port

    async def stop(self) -> None:
        """End all, within a bound whatever is in flight."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stack.aclose(), STOP_S_MAX)

    async def ended(self, told: asyncio.Event) -> None:
        """Wait until it is told to end.

        Raises:
            EunoeError: A group can't go on.
        """
        ends = [asyncio.create_task(group.ended()) for group in self.groups]
        signalled = asyncio.create_task(told.wait())
        try:
            watched: list[asyncio.Task[Any]] = [signalled, *ends]
            if self._sampling is not None:
                watched.append(self._sampling)  # it never ends well
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            for one in ends:
                if one.done() and not told.is_set():
                    raise one.result()
            if self._sampling is not None and self._sampling.done():
                self._sampling.result()
        finally:
            for task in (signalled, *ends):
                task.cancel()

    def troubles(self) -> list[str]:
        """Return what is wrong, in sentences; nothing means healthy."""
        found = [group.trouble for group in self.groups]
        found += [lane.trouble for group in self.groups for lane in group.lanes.open]
        return [one for one in found if one is not None]

    def _processors(self) -> dict[str, Processor]:
        topics = {"writer": INGRESS, "experience": (JOURNAL, RECALLS)}
        groups = {"writer": WRITER_GROUP, "experience": experience.EXPERIENCE_GROUP}
        lanes = {"writer": self._writer, "experience": self._experience}
        return {
            name: Processor(name, groups[name], [one.name for one in topics[name]], lanes[name])
            for name in PROCESSORS
        }

    @asynccontextmanager
    async def _writer(self, partition: int) -> AsyncIterator[Processing]:
        engines = self._engines
        async with engines.lane(partition) as (log, keys):
            served = Served(log, engines.identity, engines.clock)
            identity, episodes = engines.identity, engines.episodes
            journal = Journal(log, keys, identity, episodes, [partition], served=served)
            await journal.catch_up()
            turns = Turns(keys, identity, episodes, journal)
            # A key that lies wrong says another partition, which the lane's own log doesn't write.
            letters = Letters(engines.log, keys, engines.clock, engines.partitions)
            ports = Ports(
                journal,
                keys,
                identity,
                episodes,
                engines.encoder,
                engines.recogniser,
                engines.terms,
                engines.clock,
                cleans=True,
            )
            writer = Writer(
                ports,
                Sessions(identity, turns),
                letters,
                turns_searchable=self._turns_searchable,
            )

            async def keep() -> None:
                while True:
                    await asyncio.sleep(engines.servers.tick_s)
                    with suppress(Unavailable):  # the next round does it
                        await journal.flush()
                        await log.tick()

            router = Router(
                engines.log, identity, engines.keys, writer.handle, writer.prepare, writer.release
            )
            try:
                yield Processing(
                    router.handle, self._counted("writer", letters.bury), router.prepare, keep
                )
            finally:
                with suppress(EunoeError, TimeoutError):  # the next lane does it
                    await asyncio.wait_for(journal.flush(), FLUSH_S_MAX)

    @asynccontextmanager
    async def _experience(self, partition: int) -> AsyncIterator[Processing]:
        del partition
        engines = self._engines
        handle = partial(experience.handle, keys=engines.keys, store=engines.experience)
        yield Processing(handle, self._counted("experience", self._letters.note))

    def _counted(self, processor: str, bury: Bury) -> Bury:
        async def buried(record: LogRecord, reason: Rejected, attempts: int) -> None:
            await bury(record, reason, attempts)
            self._metrics.dead_letters.labels(processor, record.position.partition).inc()

        return buried

    def _seen(self, processor: str, partition: int, records: Sequence[LogRecord]) -> None:
        now = self._engines.clock.now()
        latency = self._metrics.latency.labels(processor, partition)
        for record in records:
            latency.observe(max(0.0, (now - record.timestamp).total_seconds()))
        for observer in self._observers:
            observer(records)

    def observe(self, observer: Callable[[Sequence[LogRecord]], None]) -> None:
        """Tell somebody what was acknowledged, as it is."""
        self._observers.append(observer)

    async def _sample(self) -> None:
        since = HOUSEKEEPING_S  # at once: a worker that is started again and again does it too
        while True:
            for group in self.groups:
                await self._sample_group(group)
            self._metrics.waiting.labels("qdrant").set(self._engines.episodes.waiting)
            self._metrics.waiting.labels("influxdb").set(self._engines.experience.waiting)
            await asyncio.sleep(SAMPLE_S)
            since += SAMPLE_S
            if since >= HOUSEKEEPING_S:
                since = 0.0
                await self.keep_house()

    async def keep_house(self) -> None:
        """Do what is due by the clock: letters and recalls of a week ago go, and gravestones.

        Every worker does it, and of several at once none does harm.
        """
        with suppress(Unavailable):  # the next round does it
            await self._letters.expire()
            await self._served.expire()
            await self._engines.episodes.optimise()

    async def _sample_group(self, group: Group) -> None:
        metrics, name = self._metrics, group.processor.name
        lag = await group.lag()
        for lane in group.lanes.open:
            metrics.lag.labels(name, lane.partition).set(lag.get(lane.partition, 0))
            metrics.in_flight.labels(name, lane.partition).set(lane.feed.in_flight)
            metrics.retries.labels(name, lane.partition).set(lane.progress.retries)
        told, here = self._told[name], {lane.partition for lane in group.lanes.open}
        metrics.forget(name, sorted(told - here))
        told.clear()
        told.update(here)


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, EunoeError):
        await task
