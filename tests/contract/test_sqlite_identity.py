"""The identity store's contract on SQLite."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from eunoe.infra.embedded.identity import SqliteIdentity
from eunoe.schemas.ports import Applied, IdentityStore
from tests.contract.identity_bindings_contract import IdentityBindingsContract
from tests.contract.identity_contract import IdentityContract, NewStore
from tests.contract.identity_erasure_contract import IdentityErasureContract
from tests.contract.identity_filters_contract import IdentityFiltersContract
from tests.support.records import ANA, EPOCH, PARTITION, ident, stored


class Place:
    """A file with a store.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @asynccontextmanager
    async def open(self) -> AsyncIterator[IdentityStore]:
        """Open it."""
        store = await SqliteIdentity.open(self.path)
        try:
            yield store
        finally:
            await store.close()


@pytest.fixture(name="new_store")
def make_stores(tmp_path: Path) -> NewStore:
    """Make stores, each in a file of its own."""
    numbers = count()
    return lambda: Place(tmp_path / f"identity-{next(numbers)}.sqlite")


@pytest.fixture(name="store")
async def open_store(new_store: NewStore) -> AsyncIterator[IdentityStore]:
    """Open a store."""
    async with new_store().open() as store:
        yield store


class TestSqliteIdentity(
    IdentityContract, IdentityErasureContract, IdentityFiltersContract, IdentityBindingsContract
):
    """SQLite keeps the promises of `ports.IdentityStore`."""


async def test_a_batch_is_one_transaction(store: IdentityStore) -> None:
    """Where one record of a batch can't be written, none is, and no marker moves."""
    await store.apply([stored(1, "t1")])
    torn = stored(3, "t3", position=2**70)  # no SQLite integer
    with pytest.raises(OverflowError):
        await store.apply([stored(2, "t2", position=1), torn])
    assert [place.event_id for place in await store.turns(ANA)] == [ident("t1")]
    assert await store.applied(PARTITION) == Applied(EPOCH, 2)
    await store.apply([stored(2, "t2", position=1)])
    assert await store.session_end(ANA, b"s1") == 2
