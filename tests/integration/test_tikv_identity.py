"""The identity store's contract on TiKV."""

from collections.abc import AsyncIterator

import pytest

from eunoe.schemas.ports import IdentityStore
from tests.contract.identity_bindings_contract import IdentityBindingsContract
from tests.contract.identity_contract import IdentityContract, NewStore
from tests.contract.identity_erasure_contract import IdentityErasureContract
from tests.contract.identity_filters_contract import IdentityFiltersContract
from tests.integration.tikv_places import Place

pytestmark = pytest.mark.server


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
