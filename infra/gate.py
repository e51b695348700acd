"""How many requests one process has under way to a server at a time, and how many wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Gate"]


class Gate:
    """Lets so many requests in as there are connections, and counts who waits.

    Args:
        limit: How many.
    """

    def __init__(self, limit: int) -> None:
        self._free = asyncio.Semaphore(limit)
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many requests wait for a connection at this moment."""
        return self._waiting

    @asynccontextmanager
    async def inside(self) -> AsyncIterator[None]:
        """Wait for a free connection and hold it."""
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()
