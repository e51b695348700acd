"""Events go to the person that their alias stands for at their place in order, and to no other."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eunoe
from eunoe.schemas.cloudevents import encode
from eunoe.schemas.events import Bind, Envelope, EventType, Payload, Turn, Unbind, owner_key
from eunoe.schemas.persons import alias_of, is_alias
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import COMMANDS
from tests.properties.histories import LINES, in_folder
from tests.properties.test_rebuild import drop_stores
from tests.support.memories import open_memory
from tests.support.tools import START

pytestmark = pytest.mark.timeout(300)

bounded = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

PHONE: Final = alias_of("phone", "+8613800138000")
DEVICE: Final = alias_of("device", "指纹-1")
NAMES: Final = ("ana", "张伟", "nick", PHONE, DEVICE)
"""The first two are never bound; the third is an alias or a person, as it comes."""


@dataclass(frozen=True, slots=True)
class Act:
    """Something that happens under a name."""

    kind: str
    name: str
    person: str
    text: str


acts = st.lists(
    st.builds(
        Act,
        kind=st.sampled_from(["say", "say", "say", "bind", "bind", "unbind"]),
        name=st.sampled_from(NAMES),
        person=st.sampled_from(NAMES[:3]),
        text=st.sampled_from(LINES),
    ),
    min_size=5,
    max_size=25,
)


class World:
    """What should come of acts: plain dictionaries, one act after the other."""

    def __init__(self) -> None:
        self.bound: dict[str, set[str]] = {name: set() for name in NAMES}
        self.said: dict[str, list[str]] = {name: [] for name in NAMES}
        self.refused = 0

    def do(self, number: int, act: Act) -> None:
        """Let an act happen."""
        persons = self.bound[act.name]
        if act.kind == "say":
            if len(persons) > 1 or (not persons and is_alias(act.name)):
                self.refused += 1
            else:
                (person,) = persons or {act.name}
                self.said[person].append(f"t{number}")
        elif act.kind == "unbind":
            self.refused += act.person not in persons
            persons.discard(act.person)
        elif (
            act.name == act.person
            or self.bound[act.person]
            or any(act.name in others for others in self.bound.values())
            or self.said[act.name]
        ):
            self.refused += 1
        else:
            persons.add(act.person)


def record(number: int, act: Act) -> NewRecord:
    """Return an act as another program publishes it; all to one topic, so that it has one order."""
    payload: Payload = Turn(role="user", content=act.text)
    kind = EventType.TURN_ADDED
    if act.kind == "bind":
        kind, payload = EventType.BIND, Bind(alias=act.name, person=act.person)
    elif act.kind == "unbind":
        kind, payload = EventType.UNBIND, Unbind(alias=act.name, person=act.person)
    event = Envelope(
        id=f"t{number}",
        source="chat",
        type=kind,
        time=START,
        tenant_id="default",
        user_id=act.name,
        payload=payload,
    )
    headers, value = encode(event)
    return NewRecord(COMMANDS.name, event.owner.encode(), value, headers)


async def told(memory: eunoe.Memory) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Return what the stores hold under each name, and what each is bound to."""
    identity, reader = memory.runtime.engines.identity, memory.runtime.reader
    said, bound = {}, {}
    for name in NAMES:
        owner = owner_key("default", name)
        places = await identity.turns(owner)
        said[name] = list(await reader.producer_ids(owner, [one.event_id for one in places]))
        rows = (await identity.bindings([owner])).get(owner, ())
        bound[name] = {row.person for row in rows if row.is_bound}
    return said, bound


async def live(memory: eunoe.Memory, plan: Sequence[Act], cuts: Sequence[int]) -> World:
    """Publish acts in batches whose order the log keeps for each name, and say what is right.

    Names lie in partitions of their own, so between two names the order is that of the batches.
    """
    world = World()
    for start, end in zip([0, *cuts], [*cuts, len(plan)], strict=True):
        batch = list(enumerate(plan))[start:end]
        await memory.runtime.engines.log.append([record(*one) for one in batch])
        await memory.settled()
        await memory.settled()  # and what was published again under a person's name
        for one in batch:
            world.do(*one)
    return world


@bounded
@given(plan=acts)
def test_every_event_is_with_whom_its_alias_stands_for(plan: list[Act]) -> None:
    """Act by act: nobody has what isn't his, nothing is lost, and a rebuild comes to the same."""

    async def lived(place: Path) -> None:
        async with open_memory(place) as memory:
            world = await live(memory, plan, range(1, len(plan)))
            said, bound = await told(memory)
            assert said == world.said
            assert bound == world.bound
            assert len(await memory.dead_letters()) == world.refused
            digests = [await memory.runtime.reader.digest(owner_key("default", n)) for n in NAMES]
        drop_stores(place)
        async with open_memory(place) as memory:
            assert await told(memory) == (said, bound)
            again = [await memory.runtime.reader.digest(owner_key("default", n)) for n in NAMES]
            assert again == digests

    in_folder(lived)


@bounded
@given(plan=acts)
def test_a_batch_keeps_the_order_of_its_alias(plan: list[Act]) -> None:
    """All acts of one alias in one batch come to what they come to one by one."""
    own = [
        Act(one.kind, PHONE, "ana" if one.person == "nick" else one.person, one.text)
        for one in plan
    ]

    async def lived(place: Path) -> None:
        async with open_memory(place) as memory:
            world = await live(memory, own, [])
            said, bound = await told(memory)
            assert bound == world.bound
            assert len(await memory.dead_letters()) == world.refused
            assert {name: sorted(ids) for name, ids in said.items()} == {
                name: sorted(ids) for name, ids in world.said.items()
            }

    in_folder(lived)
