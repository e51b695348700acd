"""Persons on a cluster: aliases and persons in partitions, and processes, of their own."""

from datetime import datetime
from typing import Final

import pytest

import eunoe
from eunoe.persons import Alias
from eunoe.schemas.cloudevents import encode
from eunoe.schemas.errors import Rejected
from eunoe.schemas.events import Envelope, EventType, Turn
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import TURNS
from tests.integration.test_cluster import PATIENCE_S
from tests.support.clustering import Cluster

pytestmark = [pytest.mark.server, pytest.mark.timeout(480)]

PHONE: Final = "+86 138 0013 8000"
DEVICES: Final = ("5f1c9b02", "e03d5b6c")
SAID: Final = {
    DEVICES[0]: "I keep the spare key under the blue pot.",
    DEVICES[1]: "我把备用钥匙放在车库里。",
}


def record(user: str, text: str, ident: str) -> NewRecord:
    """Return a turn as another program publishes it, who knows no persons."""
    event = Envelope(
        id=ident,
        source="frontend",
        type=EventType.TURN_ADDED,
        time=datetime.fromisoformat("2024-06-15T22:00:00+08:00"),
        tenant_id="default",
        user_id=user,
        payload=Turn(role="user", content=text),
    )
    headers, value = encode(event)
    return NewRecord(TURNS.name, event.owner.encode(), value, headers)


async def publish(memory: eunoe.Memory, records: list[NewRecord]) -> None:
    """Publish turns, and wait until what they became under the persons' names is done."""
    await memory.runtime.engines.log.append(records)
    await memory.settled(timeout_s=PATIENCE_S)
    await memory.settled(timeout_s=PATIENCE_S)


async def texts(memory: eunoe.Memory, user: str) -> list[str]:
    """Return what a user said."""
    return [one.text for one in await memory.list(user_id=user, kinds=["turn"])]


async def test_persons_who_share_a_phone_have_records_of_their_own(
    cluster: Cluster, memory: eunoe.Memory
) -> None:
    """Two workers decide; what comes under a device is its person's, and a rebind changes that."""
    cluster.worker("writer")
    cluster.worker("writer")
    people = [await memory.register(phone=PHONE, device=one) for one in DEVICES]
    assert len(set(people)) == 2
    aliases = [Alias.of_device(one).name for one in DEVICES]
    phone = Alias.of_phone(PHONE).name
    await publish(
        memory,
        [
            *(record(alias, SAID[one], "t1") for alias, one in zip(aliases, DEVICES, strict=True)),
            record(phone, "whose?", "t2"),
        ],
    )
    for person, device, alias in zip(people, DEVICES, aliases, strict=True):
        assert await texts(memory, person) == await texts(memory, alias) == [SAID[device]]
    letters = await memory.dead_letters(user_id=phone)
    assert len({one.event_id for one in letters}) == 1  # twice, where a lane went meanwhile
    assert all("2 persons share this alias" in one.reason for one in letters)
    with pytest.raises(Rejected, match="2 persons share this alias"):
        await memory.add("whose?", user_id=phone)
    await memory.unbind(user_id=people[1], phone=PHONE)
    await memory.add("Who has the phone now?", user_id=phone)
    await publish(memory, [record(phone, "谁的电话？", "t3")])
    assert len(await texts(memory, people[0])) == 3
    assert len(await texts(memory, people[1])) == 1
    with pytest.raises(Rejected, match="as to a person"):
        await memory.bind(user_id="eva", alias=people[1])
    found = await memory.identity(user_id=phone)
    assert (found.user_id, found.phones) == (people[0], ("+8613800138000",))
    for worker in cluster.workers:
        assert worker.stop() == 0, worker.told


async def test_a_new_worker_knows_what_was_bound(cluster: Cluster, memory: eunoe.Memory) -> None:
    """A lane that opens elsewhere routes by the same bindings: they are in journal and store."""
    killed = cluster.worker("writer")
    person = await memory.register(phone=PHONE, device=DEVICES[0])
    await memory.add(SAID[DEVICES[0]], user_id=person)
    killed.kill()
    cluster.worker("writer")
    await publish(memory, [record(Alias.of_phone(PHONE).name, SAID[DEVICES[1]], "t1")])
    assert sorted(await texts(memory, person)) == sorted(SAID.values())
