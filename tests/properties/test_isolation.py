"""What an owner reads is what a store would tell that only this owner used.

Left out is what `Stats` says of the whole store: the events that wait, and the folder's size.

EUNOE_ISOLATION_OPERATIONS (10500) and EUNOE_ISOLATION_SEED set the form.
"""

import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from click.testing import CliRunner

import eunoe
from eunoe.cli import commands
from eunoe.door import RemoteMemory, connect
from eunoe.schemas.errors import NotFound
from eunoe.schemas.events import Envelope, event_id
from tests.properties.histories import LINES, QUESTIONS, in_folder
from tests.properties.isolating import (
    OWNERS,
    Diary,
    Operation,
    Owner,
    draw_operations,
    is_same,
    marker_of,
    message,
    perform,
)
from tests.support.memories import cheap_tools, settings_in
from tests.support.tools import START, SetClock

pytestmark = pytest.mark.timeout(600)

OPERATIONS: Final = int(os.environ.get("EUNOE_ISOLATION_OPERATIONS", "10500"))
SEED: Final = int(os.environ.get("EUNOE_ISOLATION_SEED") or random.SystemRandom().randrange(10**6))
ROUND: Final = 1500
"""Operations on one store; owners' ids are few, so that a longer round says little more."""
TOGETHER: Final = 12
"""Operations that are begun at the same time; those of one owner come one after the other."""
Told = dict[Owner, list[object]]


@asynccontextmanager
async def frozen_memory(place: Path, *, serve: bool = False) -> AsyncIterator[eunoe.Memory]:
    """Open a memory whose clock stands and whose commands are numbered for each owner.

    Moments and random ids would differ for an owner who is alone, and say nothing of the others.
    """
    counts: Counter[str] = Counter()

    def numbered(**fields: Any) -> Envelope:
        event = Envelope(**fields)
        counts[event.owner] += 1
        return event.model_copy(update={"id": f"command {counts[event.owner]}"})

    tools = cheap_tools(clock=SetClock(START, START - START))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eunoe.commanding.Envelope", numbered)
        async with eunoe.open(settings_in(place), serve=serve, tools=tools) as memory:
            yield memory


async def perform_together(
    memory: eunoe.Memory | RemoteMemory, operations: Sequence[Operation]
) -> Told:
    """Do operations of many owners side by side; returns what each of them was told, in order."""
    told: Told = {owner: [] for owner in OWNERS}

    async def in_turn(owner: Owner, own: Sequence[Operation]) -> None:
        for operation in own:
            told[owner].append(await perform(memory, operation))

    for start in range(0, len(operations), TOGETHER):
        batch = operations[start : start + TOGETHER]
        await asyncio.gather(
            *(in_turn(owner, [one for one in batch if one.owner == owner]) for owner in OWNERS)
        )
    return told


def final_reads(owner: Owner) -> list[Operation]:
    """Return every way of reading, to be tried at the end."""
    return [
        Operation(owner, "digest", {}),
        Operation(owner, "list", {"limit": 1000}),
        Operation(owner, "profile", {}),
        Operation(owner, "stats", {}),
        Operation(owner, "dead_letters", {"show": True}),
        *(Operation(owner, "search", {"query": line, "limit": 50}) for line in QUESTIONS),
        *(Operation(owner, "search", {"query": marker_of(other)}) for other in OWNERS),
    ]


def verify_alone(operations: Sequence[Operation], told: Sequence[object]) -> None:
    """Check that a store on which these are the only operations tells the same, call by call."""

    async def alone(place: Path) -> list[object]:
        async with frozen_memory(place) as memory:
            return [await perform(memory, operation) for operation in operations]

    for operation, found, expected in zip(operations, told, in_folder(alone), strict=True):
        assert is_same(found, expected), f"{operation}\n{found}\n{expected}"


def verify_own(owner: Owner, operations: Sequence[Operation], told: Sequence[object]) -> None:
    """Check what an owner was told against the model, and for words of others."""
    diary = Diary(owner)
    for operation, result in zip(operations, told, strict=True):
        diary.note(operation, result)
        text = json.dumps(result, ensure_ascii=False)
        others = [marker_of(other) for other in OWNERS if other != owner]
        assert [word for word in others if word in text] == [], operation
        if operation.call == "list" and isinstance(result, list):
            turns = [(one["source"], one["id"]) for one in result if one["kind"] == "turn"]
            assert sorted(turns) == sorted(diary.turns)
        elif operation.call == "stats" and isinstance(result, dict):
            assert (result["turns"], result["dead_letters"]) == (len(diary.turns), diary.refused)
        elif operation.call == "dead_letters" and isinstance(result, list):
            assert len(result) == diary.refused


def verify(operations: Sequence[Operation], told: Told) -> None:
    """Check every owner."""
    for owner in OWNERS:
        own = [one for one in operations if one.owner == owner]
        verify_own(owner, own, told[owner])
        verify_alone(own, told[owner])


def operations_of(seed: str, count: int) -> list[Operation]:
    """Return drawn operations, and every way of reading after them."""
    dice = random.Random(seed)  # noqa: S311 - reproducible, not secret
    return [
        *draw_operations(dice, count),
        *(read for owner in OWNERS for read in final_reads(owner)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(-(-OPERATIONS // ROUND)))
def test_each_owner_has_a_store_of_their_own(number: int) -> None:
    """Whatever others do at the same time, each call tells an owner what it would tell alone."""
    print(f"EUNOE_ISOLATION_SEED={SEED}, round {number}")
    operations = operations_of(f"{SEED}/{number}", min(ROUND, OPERATIONS - number * ROUND))

    async def lived(place: Path) -> Told:
        async with frozen_memory(place) as memory:
            return await perform_together(memory, operations)

    verify(operations, in_folder(lived))


@pytest.mark.slow
def test_the_door_keeps_owners_apart() -> None:
    """The same holds for what other processes ask of the one that owns the folder."""
    print(f"EUNOE_ISOLATION_SEED={SEED}")
    operations = operations_of(f"{SEED}/door", ROUND // 2)

    async def lived(place: Path) -> Told:
        async with frozen_memory(place, serve=True):
            remote = await connect(place / "data")
            assert remote is not None
            async with remote:
                return await perform_together(remote, operations)

    verify(operations, in_folder(lived))


def ask_command(folder: Path, owner: Owner, *words: str) -> list[dict[str, object]]:
    """Run a command for an owner; returns the values that it printed."""
    named = ["--folder", str(folder), "--tenant", owner.tenant, "--user", owner.user, "--json"]
    done = CliRunner().invoke(commands, [*words, *named], prog_name="eunoe")
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_commands_tell_an_owner_their_own() -> None:
    """stats, list and search print one owner's turns, whoever else said the same."""

    async def lived(place: Path) -> None:
        folder = place / "data"
        async with frozen_memory(place, serve=True) as memory:
            for number, owner in enumerate(OWNERS):
                said = [
                    message(owner, "chat", f"t{index}", line, marked=True)
                    for index, line in enumerate((3, 8, 19)[: number % 3 + 1])
                ]
                await memory.add(said, **owner.named)
            for number, owner in enumerate(OWNERS):
                count, word = number % 3 + 1, marker_of(owner)
                (stats,) = await asyncio.to_thread(ask_command, folder, owner, "stats")
                assert (stats["turns"], stats["users"]) == (count, None)
                listed = await asyncio.to_thread(ask_command, folder, owner, "list")
                assert len([one for one in listed if one["kind"] == "turn"]) == count
                for question in ("Nora Lisbon", "妹妹结婚", marker_of(OWNERS[number - 1])):
                    listed += await asyncio.to_thread(
                        ask_command, folder, owner, "search", question
                    )
                texts = [str(one["text"]) for one in listed if one["kind"] == "turn"]
                assert all(word in text for text in texts), (owner, texts)
                assert not any(marker_of(OWNERS[number - 1]) in str(one) for one in listed)

    in_folder(lived)


VICTIM: Final = OWNERS[0]
INTRUDERS: Final = OWNERS[1:]


async def idents_of(memory: eunoe.Memory, owner: Owner) -> list[str | tuple[str, str]]:
    """Return every id by which an owner's things can be named."""
    listed = await memory.list(**owner.named, limit=1000)
    turns = [one for one in listed if one.kind == "turn"]
    pairs = [(str(one.source), one.id) for one in turns]
    events = [str(eunoe_id(owner, pair)) for pair in pairs]
    memories = [one.id for one in listed if one.kind != "turn"]
    slots = [one.slot for one in await memory.profile(**owner.named)]
    assert turns, listed
    assert memories, listed
    assert slots, listed
    return [*(one.id for one in turns), *pairs, *events, *memories, *slots]


def eunoe_id(owner: Owner, pair: tuple[str, str]) -> UUID:
    """Return the internal id of a turn."""
    return event_id(*owner, *pair)


async def digests(memory: eunoe.Memory) -> dict[Owner, str]:
    """Return every owner's digest."""
    return {owner: await memory.digest(**owner.named) for owner in OWNERS}


@pytest.mark.parametrize("line", [3, 19], ids=["en", "zh"])
@pytest.mark.parametrize("through_the_door", [False, True], ids=["here", "door"])
def test_ids_of_others_are_not_found(line: int, *, through_the_door: bool) -> None:
    """Nobody gets, traces or forgets by an id of somebody else, and trying changes nothing."""

    async def try_all(asked: eunoe.Memory | RemoteMemory, ident: str | tuple[str, str]) -> None:
        for intruder in INTRUDERS:
            for call in (asked.get, asked.history, asked.forget):
                with pytest.raises(NotFound):
                    await call(ident, **intruder.named)
            with pytest.raises(NotFound):  # one of their own beside it stays as well
                await asked.forget(["own", ident], **intruder.named)

    async def lived(place: Path) -> None:
        async with frozen_memory(place, serve=through_the_door) as memory:
            said = [message(VICTIM, "mail", "t0", line, marked=True)]
            said += [message(VICTIM, "mail", "t1", 8 if line == 3 else 17, marked=False)]
            await memory.add(said, source="mail", **VICTIM.named)
            for intruder in INTRUDERS:
                await memory.add({"content": LINES[line], "id": "own"}, **intruder.named)
            before = await digests(memory)
            remote = await connect(place / "data") if through_the_door else None
            assert (remote is not None) == through_the_door
            for ident in await idents_of(memory, VICTIM):
                await try_all(remote or memory, ident)
            assert await digests(memory) == before
            if remote is not None:
                await remote.close()

    in_folder(lived)
