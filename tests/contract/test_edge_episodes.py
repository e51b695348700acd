"""The episodic store's contract on Qdrant Edge."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from eunoe.infra.embedded.episodes import EdgeEpisodes
from eunoe.schemas.ports import EpisodicStore
from tests.contract.episodes_contract import EpisodesContract, NewStore
from tests.support.records import DIMENSION


class Place:
    """A folder with a store.

    Args:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @asynccontextmanager
    async def open(self) -> AsyncIterator[EpisodicStore]:
        """Open it."""
        self.path.mkdir(exist_ok=True)
        store = await EdgeEpisodes.open(self.path, DIMENSION)
        try:
            yield store
        finally:
            await store.close()


@pytest.fixture(name="new_store")
def make_stores(tmp_path: Path) -> NewStore:
    """Make stores, each in a folder of its own."""
    numbers = count()
    return lambda: Place(tmp_path / f"episodes-{next(numbers)}")


@pytest.fixture(name="store")
async def open_store(new_store: NewStore) -> AsyncIterator[EpisodicStore]:
    """Open a store."""
    async with new_store().open() as store:
        yield store


class TestEdgeEpisodes(EpisodesContract):
    """Qdrant Edge keeps the promises of `ports.EpisodicStore`."""
