"""What is left out where the cluster's libraries can't be installed, and a whole cluster."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.servers.fixtures import server_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    import eunoe
    from tests.support.clustering import Cluster

# TiKV's client has wheels for CPython 3.11 alone: elsewhere there is no cluster. A CI run names the
# modules that are missing then.
collect_ignore_glob = [] if find_spec("tikv_client") else ["test_*.py"]


@pytest.fixture(name="cluster")
def give_cluster() -> "Iterator[Cluster]":
    """Give a cluster with servers of its own."""
    from tests.support.clustering import cluster_in  # noqa: PLC0415 - needs what may be missing

    with server_folder("cluster") as folder, cluster_in(folder) as cluster:
        yield cluster


@pytest.fixture(name="memory")
async def give_memory(cluster: "Cluster") -> "AsyncIterator[eunoe.Memory]":
    """Give the façade of a cluster with topics."""
    from eunoe.infra.kafka_topics import apply  # noqa: PLC0415 - needs what may be missing

    assert cluster.settings.cluster is not None
    await apply(cluster.settings.cluster)
    async with cluster.memory() as memory:
        yield memory
