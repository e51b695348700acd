"""The episodic store's contract on a Qdrant server, and what holds on a server alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from uuid import uuid4

import pytest

from eunoe.infra.qdrant import QdrantEpisodes
from eunoe.schemas.ports import EpisodicStore
from tests.contract.episodes_contract import EpisodesContract, NewStore
from tests.contract.episodes_time_contract import EpisodesTimeContract
from tests.contract.episodes_truth_contract import EpisodesTruthContract
from tests.servers.qdrant_fixtures import give_own_qdrant, give_qdrant
from tests.support.records import DIMENSION

__all__ = ["give_own_qdrant", "give_qdrant"]

pytestmark = pytest.mark.server


class Place:
    """A collection of a server.

    Args:
        url: Of the server.
        alias: Of the collection.
    """

    def __init__(self, url: str, alias: str) -> None:
        self.url = url
        self.alias = alias

    @asynccontextmanager
    async def open(self) -> AsyncIterator[EpisodicStore]:
        """Open it."""
        store = await QdrantEpisodes.open(
            self.url, self.alias, DIMENSION, key="", timeout_s=20.0, connections_max=4
        )
        try:
            yield store
        finally:
            await store.close()


@pytest.fixture(name="new_store")
def make_stores(qdrant_url: str) -> NewStore:
    """Make stores, each on a collection of its own."""
    numbers = count()
    run = f"test-{uuid4().hex[:12]}"
    return lambda: Place(qdrant_url, f"{run}-{next(numbers)}")


@pytest.fixture(name="store")
async def open_store(new_store: NewStore) -> AsyncIterator[EpisodicStore]:
    """Open a store."""
    async with new_store().open() as store:
        yield store


class TestQdrantEpisodes(EpisodesContract, EpisodesTimeContract, EpisodesTruthContract):
    """A Qdrant server keeps the promises of `ports.EpisodicStore`."""
