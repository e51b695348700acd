"""The episodic store's contract on qdrant-client's local mode, which is another engine.

It is written in Python and compares every point, so that it shows whether the adapter asks the
right questions, whatever the stand-in makes of them. It has no aliases that outlive it, no indexes
and no settings: the collection is made by hand, and opening a store isn't tested here.
"""

import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from qdrant_client import AsyncQdrantClient, models

from eunoe.infra.qdrant import QdrantEpisodes
from eunoe.infra.qdrant_calls import QdrantCalls
from eunoe.schemas.ports import EpisodicStore
from tests.contract.episodes_contract import EpisodesContract, NewStore
from tests.contract.episodes_time_contract import EpisodesTimeContract
from tests.contract.episodes_truth_contract import EpisodesTruthContract
from tests.support.records import DIMENSION
from tests.support.tools import SetClock

pytestmark = pytest.mark.server

NAME = "local-1"


class LocalCalls(QdrantCalls):
    """Calls to the local mode, which has no REST interface.

    Args:
        client: Of the local mode; it stays open.
    """

    def __init__(self, client: AsyncQdrantClient) -> None:
        super().__init__("local", key="", timeout_s=60.0, connections_max=1, client=client)
        self._local = client

    async def _ask(
        self, collection: str, requests: list[models.QueryRequest]
    ) -> list[list[models.ScoredPoint]]:
        found = await self._local.query_batch_points(collection, requests)
        return [one.points for one in found]

    async def update(self, collection: str, operations: list[models.UpdateOperation]) -> None:
        """Do several things in order."""
        await self._local.batch_update_points(collection, operations)

    async def close(self) -> None:
        """Leave the client open: it is all that remembers."""


class LocalPlace:
    """A collection in memory."""

    def __init__(self) -> None:
        self._client: AsyncQdrantClient | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[EpisodicStore]:
        """Open it, made at the first time."""
        if self._client is None:
            self._client = await make_collection()
        calls = LocalCalls(self._client)
        store = QdrantEpisodes(calls, NAME, NAME, DIMENSION, SetClock())
        try:
            yield store
        finally:
            await store.close()


async def make_collection() -> AsyncQdrantClient:
    """Make a collection as the adapter does, as far as the local mode knows the settings."""
    client = AsyncQdrantClient(":memory:")
    dense = models.VectorParams(
        size=DIMENSION, distance=models.Distance.DOT, datatype=models.Datatype.FLOAT16
    )
    terms = models.SparseVectorParams(modifier=models.Modifier.IDF)
    await client.create_collection(
        NAME, vectors_config={"dense": dense}, sparse_vectors_config={"terms": terms}
    )
    return client


@pytest.fixture(name="new_store")
def make_stores() -> Iterator[NewStore]:
    """Make stores, each in memory of its own."""
    with warnings.catch_warnings():
        # It says of what it doesn't heed that it doesn't heed it.
        warnings.simplefilter("ignore", UserWarning)
        yield LocalPlace


@pytest.fixture(name="store")
async def open_one(new_store: NewStore) -> AsyncIterator[EpisodicStore]:
    """Open a store."""
    async with new_store().open() as store:
        yield store


class TestLocalQdrant(EpisodesContract, EpisodesTimeContract, EpisodesTruthContract):
    """The adapter keeps the promises of `ports.EpisodicStore` on an engine that isn't Qdrant's."""
