"""The identity store's contract on TiKV."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from eunoe.infra.tikv_identity import TikvIdentity
from eunoe.schemas.ports import IdentityStore
from tests.contract.identity_bindings_contract import IdentityBindingsContract
from tests.contract.identity_contract import IdentityContract, NewStore
from tests.contract.identity_erasure_contract import IdentityErasureContract
from tests.contract.identity_filters_contract import IdentityFiltersContract

pytestmark = pytest.mark.server


class Place:
    """A namespace with a store.

    Args:
        address: Of the placement driver.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.namespace = f"t{uuid4().hex}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[IdentityStore]:
        """Open it."""
        store = await TikvIdentity.open(
            [self.address], self.namespace, timeout_s=10.0, cache_expiry_s=60.0
        )
        try:
            yield store
        finally:
            await store.close()


@pytest.fixture(name="new_store")
def make_stores(tikv_address: str) -> NewStore:
    """Make stores, each in a namespace of its own."""
    return lambda: Place(tikv_address)


@pytest.fixture(name="store")
async def open_store(new_store: NewStore) -> AsyncIterator[IdentityStore]:
    """Open a store."""
    async with new_store().open() as store:
        yield store


class TestTikvIdentity(
    IdentityContract, IdentityErasureContract, IdentityFiltersContract, IdentityBindingsContract
):
    """TiKV keeps the promises of `ports.IdentityStore`."""
