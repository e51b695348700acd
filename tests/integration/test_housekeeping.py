"""What a worker of the cluster does by the clock."""

from datetime import timedelta

import pytest
from qdrant_client import AsyncQdrantClient

from eunoe.infra.clock import SystemClock
from eunoe.infra.cluster import open_cluster
from eunoe.infra.kafka_topics import apply
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import RECALLS
from eunoe.worker import Worker
from tests.support.clustering import Cluster
from tests.support.memories import cheap_tools
from tests.support.records import ANA, erasure

pytestmark = [pytest.mark.server, pytest.mark.timeout(480)]


async def test_what_is_due_goes(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recalls go after a week, and gravestones that no late writer needs; others stay."""
    monkeypatch.setattr("eunoe.infra.qdrant.QDRANT_GRAVE_S", 0.0)
    servers = cluster.settings.cluster
    assert servers is not None
    await apply(servers)
    clock = SystemClock()
    engines = await open_cluster(cluster.settings, cheap_tools(clock=clock))
    client = AsyncQdrantClient(url=servers.qdrant, check_compatibility=False)
    try:
        key = ANA.encode()
        place = RECALLS.name, engines.log.partition_of(key)
        await engines.log.append(
            [
                NewRecord(RECALLS.name, key, b"sealed", timestamp=clock.now() - timedelta(days=age))
                for age in (7.5, 6.5)
            ]
        )
        episodes = engines.episodes
        await episodes.apply([erasure(1, ["t1"])])
        await episodes.flush()
        await episodes.apply([erasure(2, ["t2"])])
        assert (await client.count(episodes.collection)).count == 3
        assert len(await engines.log.read(*place, 0, limit=10)) == 2
        worker = Worker(engines, (), turns_searchable=True)
        await worker.keep_house()
        await worker.stop()
        (left,) = await engines.log.read(*place, 0, limit=10)
        assert clock.now() - left.timestamp < timedelta(days=7)
        assert (await client.count(episodes.collection)).count == 2, (
            "a marker, and what it precedes"
        )
    finally:
        await client.close()
        await engines.stack.aclose()
