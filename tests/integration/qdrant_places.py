"""Collections of a Qdrant server for tests, each of a test's own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

from qdrant_client import AsyncQdrantClient, models

from eunoe.infra.qdrant import QdrantEpisodes
from eunoe.infra.qdrant_calls import QdrantCalls
from eunoe.infra.qdrant_collection import behind
from tests.support.records import DIMENSION
from tests.support.tools import SetClock

__all__ = ["Place", "open_store"]


async def open_store(url: str, alias: str, **options: Any) -> QdrantEpisodes:
    """Open a store with settings that suit a test, some of them replaced."""
    given: dict[str, Any] = {"key": "", "timeout_s": 20.0, "connections_max": 4}
    dimension = options.pop("dimension", DIMENSION)
    return await QdrantEpisodes.open(url, alias, dimension, **(given | options))


class Place:
    """A collection of a server, and its alias.

    Args:
        url: Of the server.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.alias = f"test-{uuid4().hex[:16]}"
        self.clock = SetClock(step=timedelta())

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncIterator[QdrantEpisodes]:
        """Open it, made at the first time; leaving closes it."""
        store = await open_store(self.url, self.alias, clock=self.clock, **options)
        try:
            yield store
        finally:
            await store.close()

    async def points(self) -> list[models.Record]:
        """Return everything that lies in it, whatever it is."""
        async with self._client() as client:
            page, following = await client.scroll(self.alias, limit=10_000, with_payload=True)
        assert following is None
        return page

    async def remove(self) -> None:
        """Remove it."""
        calls = QdrantCalls(self.url, key="", timeout_s=20.0, connections_max=1)
        collection = await behind(calls, self.alias)
        await calls.close()
        if collection is not None:
            async with self._client() as client:
                await client.delete_collection(collection)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[AsyncQdrantClient]:
        client = AsyncQdrantClient(url=self.url, check_compatibility=False)
        try:
            yield client
        finally:
            await client.close()
