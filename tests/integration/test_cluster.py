"""The whole cluster: both runtimes alike, and engines that are away."""

import asyncio
import re
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

import eunoe
from eunoe.infra.clock import SystemClock
from eunoe.schemas.errors import EncoderMismatch, Rejected, Unavailable
from eunoe.schemas.events import owner_key
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import DEAD_LETTERS, TURNS
from tests.soak.events import batch_of, user_ids
from tests.support.clustering import Cluster, Worker
from tests.support.composing import ROOT
from tests.support.memories import cheap_tools, open_memory
from tests.support.tools import WordEncoder

pytestmark = [pytest.mark.server, pytest.mark.timeout(480)]

BATCHES: Final = 12
PATIENCE_S: Final = 150.0


def health(worker: Worker) -> tuple[int, list[str]]:
    """Return the status and the sentences of /healthz."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{worker.port}/healthz") as answer:
            return answer.status, orjson.loads(answer.read())["troubles"]
    except urllib.error.HTTPError as refused:
        return refused.code, orjson.loads(refused.read())["troubles"]


def told_metrics(worker: Worker) -> set[str]:
    """Return the names of what /metrics has figures of; of pools with the engine."""
    with urllib.request.urlopen(f"http://127.0.0.1:{worker.port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    figures = [one.rpartition(" ")[0] for one in lines if not one.startswith("#")]
    return {one if "engine=" in one else one.partition("{")[0] for one in figures}


async def soon(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not await asyncio.to_thread(holds):  # noqa: ASYNC110 - another process knows
            await asyncio.sleep(0.2)


def is_told(worker: Worker, words: str) -> Callable[[], bool]:
    """Return whether a worker says that it is unhealthy, and why."""

    def told() -> bool:
        status, troubles = health(worker)
        return status == 503 and any(words in one for one in troubles)

    return told


def is_well(worker: Worker) -> Callable[[], bool]:
    """Return whether a worker says that it is healthy."""
    return lambda: health(worker) == (200, [])


async def test_the_state_of_a_cluster_is_that_of_one_process(
    cluster: Cluster, memory: eunoe.Memory, tmp_path: Path
) -> None:
    """Ids, texts, hits and digests are equal on the same events, forgets included."""
    batches = [batch_of(7, number) for number in range(BATCHES)]
    users = sorted({one.user_id for one in batches})
    cluster.worker("writer")
    cluster.worker()
    tools = cheap_tools(clock=SystemClock())
    async with open_memory(tmp_path, tools=tools) as embedded:
        for batch in batches:
            messages: list[Any] = list(batch.messages)
            ids = await memory.add(messages, user_id=batch.user_id, wait=False)
            assert await embedded.add(messages, user_id=batch.user_id) == ids
        await memory.settled(timeout_s=PATIENCE_S * 2)
        for batch in batches[:3]:
            gone = [one["id"] for one in batch.messages[:2]]
            there = await memory.forget(gone, user_id=batch.user_id)
            here = await embedded.forget(gone, user_id=batch.user_id)
            assert (there.forgotten, there.memories_removed) == (
                here.forgotten,
                here.memories_removed,
            )
        for user in users:
            assert await memory.digest(user_id=user) == await embedded.digest(user_id=user)
            for question in ("Where does Nora live?", "妹妹去哪里结婚？"):
                there_hits = await memory.search(question, user_id=user)
                here_hits = await embedded.search(question, user_id=user)
                assert [one.id for one in there_hits] == [one.id for one in here_hits]
                assert [one.sources for one in there_hits] == [one.sources for one in here_hits]
    for worker in cluster.workers:
        assert worker.stop() == 0, worker.told


async def test_what_is_refused_is_told_to_who_waits(cluster: Cluster, memory: eunoe.Memory) -> None:
    """An id with other content is refused by the workers, and `add` raises why."""
    cluster.worker("writer")
    await memory.add({"content": "I moved to Oslo.", "id": "a"}, user_id="ana")
    with pytest.raises(Rejected, match="other content"):
        await memory.add({"content": "我搬到了上海。", "id": "a"}, user_id="ana")
    (letter,) = await memory.dead_letters(user_id="ana", show=True)
    assert "上海" in (letter.original or "")


async def test_another_encoder_is_refused(cluster: Cluster, memory: eunoe.Memory) -> None:
    """Vectors of two encoders can't be compared: who comes with another is told which it was."""
    del memory
    tools = cheap_tools(encoder=WordEncoder("another-64"), clock=SystemClock())
    with pytest.raises(EncoderMismatch, match=r"test-64 and not with another-64.*EUNOE_ENCODER"):
        async with eunoe.open(cluster.settings, tools=tools):
            pass


async def test_another_master_key_is_refused(cluster: Cluster, memory: eunoe.Memory) -> None:
    """A process with another key neither reads nor writes, and the sentence is about the key."""
    cluster.worker("writer")
    await memory.add({"content": "I moved to Oslo.", "id": "a"}, user_id="ana")
    settings = replace(cluster.settings, master_key=b64encode(bytes(32)).decode())
    with pytest.raises(Unavailable, match="master key"):
        async with eunoe.open(settings, tools=cheap_tools(clock=SystemClock())):
            pass


async def test_an_event_with_a_foreign_hash_finds_its_owner(
    cluster: Cluster, memory: eunoe.Memory
) -> None:
    """What another client placed by another hash is decided by the owner's own writer."""
    from eunoe.infra.kafka import KafkaLog  # noqa: PLC0415 - needs the cluster's libraries

    log = memory.runtime.engines.log
    assert isinstance(log, KafkaLog)
    await memory.add({"content": "I moved to Oslo.", "id": "a"}, user_id="ana", wait=False)
    (read,) = await _turns_of(memory, "ana")  # while nobody has journaled it, and deleted it
    cluster.worker("writer")
    wrong = next(
        f"key{number}".encode()
        for number in range(100)
        if log.partition_of(f"key{number}".encode()) != log.partition_of(b"default/ben")
    )
    headers = tuple((name, b"ben" if value == b"ana" else value) for name, value in read.headers)
    await log.append([NewRecord(TURNS.name, wrong, read.value, headers)])
    await soon_found(memory, "ben")
    assert [one.text for one in await memory.list(user_id="ben", kinds=["turn"])] == [
        "I moved to Oslo."
    ]


async def _turns_of(memory: eunoe.Memory, user: str) -> list[Any]:
    log = memory.runtime.engines.log
    owner = owner_key("default", user).encode()
    records = await log.read(TURNS.name, log.partition_of(owner), 0, limit=100)
    return [one for one in records if one.key == owner]


async def soon_found(memory: eunoe.Memory, user: str) -> None:
    """Wait until a user has a turn."""
    async with asyncio.timeout(PATIENCE_S):
        while not await memory.list(user_id=user, kinds=["turn"]):  # noqa: ASYNC110 - likewise
            await asyncio.sleep(0.2)


async def test_a_partition_waits_while_tikv_answers_conflicts(
    cluster: Cluster, memory: eunoe.Memory
) -> None:
    """Nothing acknowledged is lost; health says why it waits, and is well again by itself."""
    worker = cluster.worker("writer")
    await memory.add({"content": "我搬到了上海。", "id": "a"}, user_id="ana")
    cluster.servers["tikv"].command("conflicts 60")
    await memory.add({"content": "I moved to Oslo.", "id": "b"}, user_id="ana", wait=False)
    await soon(is_told(worker, "waits"))
    await memory.settled(timeout_s=PATIENCE_S)
    await soon(is_well(worker))
    assert {one.text for one in await memory.list(user_id="ana", kinds=["turn"])} == {
        "我搬到了上海。",
        "I moved to Oslo.",
    }


async def test_a_worker_tells_every_metric_that_operators_read_of(
    cluster: Cluster, memory: eunoe.Memory
) -> None:
    """What the table of metrics names has figures, and each engine with a pool its own."""
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(eunoe_\w+)` \|", page, flags=re.MULTILINE))
    assert "eunoe_pool_waiting" in documented
    wanted = {f"{one}_count" if one.endswith("_seconds") else one for one in documented}
    wanted -= {"eunoe_pool_waiting"}
    wanted |= {f'eunoe_pool_waiting{{engine="{one}"}}' for one in ("influxdb", "qdrant")}
    worker = cluster.worker()
    await memory.add({"content": "我搬到了上海。", "id": "a"}, user_id="ana")
    await memory.runtime.engines.log.append([NewRecord(TURNS.name, b"default/ana", b"{")])
    await soon(lambda: wanted <= told_metrics(worker))


async def test_the_writer_waits_while_qdrant_is_away_and_experience_while_influxdb_is(
    cluster: Cluster, memory: eunoe.Memory
) -> None:
    """Each processor waits for its own engine alone, and loses nothing."""
    worker = cluster.worker()
    await memory.add({"content": "I moved to Oslo.", "id": "a"}, user_id="ana")
    await asyncio.to_thread(cluster.servers["influxdb"].kill)
    await memory.add({"content": "I like tea.", "id": "b"}, user_id="ana")  # the writer goes on
    await soon(is_told(worker, "EUNOE_INFLUXDB"))
    await asyncio.to_thread(cluster.servers["influxdb"].start)
    await soon(is_well(worker))
    await asyncio.to_thread(cluster.servers["qdrant"].kill)
    await memory.add({"content": "我喜欢喝茶。", "id": "c"}, user_id="ana", wait=False)
    await soon(is_told(worker, "EUNOE_QDRANT"))
    await asyncio.to_thread(cluster.servers["qdrant"].start)
    await memory.settled(timeout_s=PATIENCE_S)
    await soon(is_well(worker))
    found = await memory.search("喝茶", user_id="ana")
    assert "我喜欢喝茶。" in [one.text for one in found]


async def test_an_event_waits_while_its_dead_letter_cannot_be_written(
    cluster: Cluster, memory: eunoe.Memory
) -> None:
    """Its partition stands still, the others go on, and the letter is there in the end."""
    log = memory.runtime.engines.log
    worker = cluster.worker("writer")
    await memory.add({"content": "I moved to Oslo.", "id": "a"}, user_id="ana")
    # No letter fits, but the broker's own marks of transactions do, which nothing goes on without.
    await cluster.set_topic(DEAD_LETTERS.name, {"max.message.bytes": "200"})
    await log.append([NewRecord(TURNS.name, b"default/ana", b"{")])
    await soon(is_told(worker, "dead letter"))
    other = next(
        user
        for user in user_ids()
        if log.partition_of(owner_key("default", user).encode()) != log.partition_of(b"default/ana")
    )
    await memory.add({"content": "我搬到了上海。", "id": "b"}, user_id=other)
    assert await memory.dead_letters() == []
    await cluster.set_topic(DEAD_LETTERS.name, {"max.message.bytes": "67108864"})
    await memory.settled(timeout_s=PATIENCE_S)
    assert len(await memory.dead_letters()) == 1
    await soon(is_well(worker))


async def test_a_worker_ends_in_time_whatever_stands_still(
    cluster: Cluster, memory: eunoe.Memory
) -> None:
    """With work in flight and a store that answers nothing it ends well, and nothing is lost."""
    await memory.add({"content": "I moved to Oslo.", "id": "a"}, user_id="ana", wait=False)
    (read,) = await _turns_of(memory, "ana")  # while nobody has journaled it, and deleted it
    worker = cluster.worker("writer")
    await memory.settled(timeout_s=PATIENCE_S)
    cluster.servers["tikv"].pause()
    try:
        await memory.runtime.engines.log.append(
            [NewRecord(TURNS.name, read.key, read.value, read.headers)]
        )
        await soon(is_told(worker, "EUNOE_TIKV"))
        assert await asyncio.to_thread(worker.stop) == 0, worker.told
    finally:
        cluster.servers["tikv"].resume()
    cluster.worker("writer")
    await memory.add({"content": "我搬到了上海。", "id": "b"}, user_id="ana")
    assert len(await memory.list(user_id="ana", kinds=["turn"])) == 2
