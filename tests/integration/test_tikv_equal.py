"""Two back-ends of the identity store, one history: every answer is the same."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eunoe.infra.embedded.identity import SqliteIdentity
from tests.integration.tikv_histories import Act, World, acts, told
from tests.integration.tikv_places import Place
from tests.support.places import memory_folder

pytestmark = pytest.mark.server


async def compare(address: str, history: Sequence[Act]) -> None:
    """Apply a history to both, and compare what they tell."""
    with TemporaryDirectory(prefix="eunoe-", dir=memory_folder()) as folder:
        sqlite = await SqliteIdentity.open(Path(folder) / "identity.sqlite")
        try:
            async with Place(address).open() as tikv:
                world = World(sqlite)
                for act in history:
                    records = await world.records(act)
                    await sqlite.apply(records)
                    await tikv.apply(records)
                found, expected = await told(tikv, world), await told(sqlite, world)
            wrong = {
                key: (one, expected[key]) for key, one in found.items() if one != expected[key]
            }
            assert not wrong
        finally:
            await sqlite.close()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(acts, min_size=12, max_size=24))
def test_sqlite_and_tikv_tell_the_same(tikv_address: str, history: list[Act]) -> None:
    """Whatever was said, touched, corrected, repeated and forgotten, in whatever order."""
    asyncio.run(compare(tikv_address, history))
