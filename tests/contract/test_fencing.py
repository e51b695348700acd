"""A zombie, which still holds files that another process has taken over, writes nothing more."""

from pathlib import Path
from uuid import uuid4

import pytest

from eunoe.infra.embedded.identity import SqliteIdentity
from eunoe.infra.embedded.keys import SqliteKeys
from eunoe.schemas.errors import Fenced
from eunoe.schemas.ports import NewRecord, TopicPartition
from tests.contract.log_contract import JOURNAL, PLAIN_INGRESS
from tests.contract.sqlite_store import MASTER, SqliteStore
from tests.support.records import ANA, stored


async def test_a_zombie_appends_commits_and_deletes_nothing(tmp_path: Path) -> None:
    """Every write of a log that was opened again since is refused; the new owner's go on."""
    store = SqliteStore(tmp_path)
    record = NewRecord(JOURNAL.name, b"key", b"value")
    async with store.open() as zombie:
        (first,) = await zombie.append([record])
        place = TopicPartition(JOURNAL.name, first.partition)
        async with store.open() as owner:
            (second,) = await owner.append([record])
            with pytest.raises(Fenced):
                await zombie.append([record])
            with pytest.raises(Fenced):
                await zombie.append([NewRecord(PLAIN_INGRESS.name, b"key", b"value")])
            with pytest.raises(Fenced):
                await zombie.commit("group", {place: 1})
            with pytest.raises(Fenced):
                await zombie.delete_before(*place, second.offset + 1)
            (third,) = await owner.append([record])
            kept = await owner.read(*place, 0, limit=10)
            assert [one.position for one in kept] == [first, second, third]
            assert await owner.committed("group", *place) is None


async def test_a_zombie_changes_no_key(tmp_path: Path) -> None:
    """Keys that a zombie would put or shred are refused, so no slot is used twice."""
    path = tmp_path / "keys.sqlite"
    zombie = await SqliteKeys.open(path, master=MASTER)
    box, key = (await zombie.owner(ANA)).seal(b"plain", record := uuid4())
    await zombie.put([key])
    owner = await SqliteKeys.open(path, master=MASTER)
    late, late_key = (await zombie.owner(ANA)).seal(b"late", record)
    with pytest.raises(Fenced):
        await zombie.put([late_key])
    with pytest.raises(Fenced):
        await zombie.shred([box.key_id])
    with pytest.raises(Fenced):
        await zombie.sealer.seal_values([(b"value", b"bound")])
    assert await owner.open_boxes(ANA, [(box, record), (late, record)]) == [b"plain", None]
    await owner.close()
    await zombie.close()


async def test_a_zombie_applies_nothing(tmp_path: Path) -> None:
    """An identity store that was opened again since takes no more records."""
    path = tmp_path / "identity.sqlite"
    zombie = await SqliteIdentity.open(path)
    owner = await SqliteIdentity.open(path)
    with pytest.raises(Fenced):
        await zombie.apply([stored(0, "t0")])
    await owner.apply([stored(0, "t0")])
    assert (await owner.counts(ANA))["turns"] == 1
    await owner.close()
    await zombie.close()
