"""Identity stores on TiKV for tests, each in a namespace of its own."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from uuid import uuid4

from eunoe.infra.tikv_identity import TikvIdentity

__all__ = ["Place", "new_namespace", "opened"]


def new_namespace() -> str:
    """Return a namespace that nobody else has."""
    return f"t{uuid4().hex}"


@asynccontextmanager
async def opened(
    address: str, namespace: str, *, timeout_s: float = 10.0
) -> AsyncIterator[TikvIdentity]:
    """Open a store, and close it whatever happens."""
    store = await TikvIdentity.open([address], namespace, timeout_s=timeout_s)
    try:
        yield store
    finally:
        await store.close()


class Place:
    """A namespace with a store.

    Args:
        address: Of the placement driver.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._namespace = new_namespace()

    def open(self) -> AbstractAsyncContextManager[TikvIdentity]:
        """Open it."""
        return opened(self._address, self._namespace)
