"""From producers in two languages through two workers to a search, and the same in one process."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from eunoe.infra.clock import SystemClock
from eunoe.infra.kafka_topics import apply
from eunoe.schemas.cloudevents import decode
from eunoe.schemas.topics import TURNS
from tests.integration.test_examples import PYTHON_CHAT, Command, install_javascript, run
from tests.soak.events import batch_of
from tests.support.clustering import Cluster
from tests.support.memories import cheap_tools, open_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eunoe.schemas.events import Envelope

__all__ = ["install_javascript"]  # a fixture

pytestmark = [pytest.mark.server, pytest.mark.timeout(480)]

BATCHES: Final = 6
SETTLE_S: Final = 180.0


def published_by(cluster: Cluster, command: Command, file: Path, seed: int) -> None:
    """Let an example publish batches, each its user's."""
    servers = cluster.settings.cluster
    assert servers is not None
    for number in range(BATCHES):
        batch = batch_of(seed, number)
        messages: Sequence[dict[str, Any]] = [
            {**one, "time": one["time"].isoformat()} for one in batch.messages
        ]
        lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in messages]
        file.write_text("".join(lines), encoding="utf-8")
        done = run(
            command,
            str(file),
            "--user",
            f"{seed}-{batch.user_id}",
            kafka=servers.kafka[0],
            namespace=servers.namespace,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [one["id"] for one in batch.messages]


async def test_both_producers_are_remembered_as_one_process_remembers_them(
    cluster: Cluster, javascript_chat: Command, tmp_path: Path
) -> None:
    """What Python and JavaScript published is found, with the ids and digests of one process."""
    assert cluster.settings.cluster is not None
    await apply(cluster.settings.cluster)
    for seed, command in ((1, PYTHON_CHAT), (2, javascript_chat)):
        published_by(cluster, command, tmp_path / "said.jsonl", seed)
    tools = cheap_tools(clock=SystemClock())
    async with cluster.memory() as memory, open_memory(tmp_path, tools=tools) as embedded:
        log = memory.runtime.engines.log
        events: list[Envelope] = []
        for partition in range(memory.runtime.engines.partitions):
            offset, _ = await log.bounds(TURNS.name, partition)
            while records := await log.read(TURNS.name, partition, offset, limit=100):
                events += [decode(one.headers, one.value) for one in records if not one.is_mark]
                offset = records[-1].position.offset + 1
        assert len(events) == 2 * BATCHES * len(batch_of(1, 0).messages)
        cluster.worker()  # now: what is journaled is deleted from the topic
        cluster.worker("writer")
        await embedded.runtime.publish(TURNS.name, events, wait=True)
        await memory.settled(timeout_s=SETTLE_S)
        for user in sorted({one.user_id for one in events}):
            assert await memory.digest(user_id=user) == await embedded.digest(user_id=user)
            for question in ("Which seats do I prefer?", "我搬到了哪里？"):
                there = await memory.search(question, user_id=user)
                here = await embedded.search(question, user_id=user)
                assert [(one.id, one.sources) for one in there] == [
                    (one.id, one.sources) for one in here
                ]
    for worker in cluster.workers:
        assert worker.stop() == 0, worker.told
