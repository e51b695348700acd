"""A rebuild equals what it rebuilds; a repeat is once; users don't disturb each other."""

import asyncio
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import eunoe
from tests.properties.histories import (
    USER,
    Plan,
    Said,
    feed,
    in_folder,
    live,
    plans,
    turns,
)
from tests.properties.test_forget import ALL, READ, RESTATED, TOUCHED, TOUCHED_TWICE
from tests.support.memories import everything_readable, open_memory

pytestmark = pytest.mark.timeout(300)

bounded = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
USERS = ("ana", "ben", "安娜")


def drop_stores(place: Path) -> None:
    """Remove every projection of a closed store; log and keys stay."""
    data = place / "data"
    shutil.rmtree(data / "episodes")
    for file in data.glob("identity.sqlite*"):
        file.unlink()


@bounded
@given(plan=plans())
@example(plan=TOUCHED)
@example(plan=TOUCHED_TWICE)
@example(plan=READ)
@example(plan=RESTATED)
@example(plan=ALL)
def test_a_rebuild_equals_what_it_rebuilds(plan: Plan) -> None:
    """Stores made anew from log and keys hold the same, forgets included, in every detail."""

    async def read(memory: eunoe.Memory) -> tuple[str, str]:
        return await memory.digest(user_id=USER), await everything_readable(memory, USER, [])

    async def lived(place: Path) -> None:
        async with open_memory(place) as memory:
            await live(memory, plan)
            before = await read(memory)
        drop_stores(place)
        async with open_memory(place) as memory:
            assert await read(memory) == before

    in_folder(lived)


@bounded
@given(first=turns(2, 8), plan=plans())
def test_life_goes_on_after_a_rebuild(first: list[Said], plan: Plan) -> None:
    """Turns and forgets after a rebuild come to what they come to without one."""
    earlier = [
        Said(one.number + 100, one.text, one.role, one.name, one.session, one.time_min - 500)
        for one in first
    ]

    async def lived(place: Path, *, rebuilt: bool) -> str:
        async with open_memory(place) as memory:
            await feed(memory, earlier)
            await memory.forget(earlier[0].ident, user_id=USER)
        if rebuilt:
            drop_stores(place)
        async with open_memory(place) as memory:
            await live(memory, plan)
            return await memory.digest(user_id=USER)

    assert in_folder(lambda place: lived(place, rebuilt=True)) == in_folder(
        lambda place: lived(place, rebuilt=False)
    )


@bounded
@given(said=turns(), cut=st.integers(1, 25))
def test_the_same_batch_twice_is_once(said: list[Said], cut: int) -> None:
    """Sent again, whole or in part, at the same moment or later, events change nothing."""

    async def once(place: Path) -> str:
        async with open_memory(place) as memory:
            await feed(memory, said)
            return await memory.digest(user_id=USER)

    async def twice(place: Path) -> str:
        async with open_memory(place) as memory:
            await asyncio.gather(feed(memory, said), feed(memory, said))
            await feed(memory, said[:cut])
            assert (await memory.stats(user_id=USER)).turns == len(said)
            return await memory.digest(user_id=USER)

    assert in_folder(twice) == in_folder(once)


@bounded
@given(
    histories=st.tuples(turns(2, 10), turns(2, 10), turns(2, 10)),
    choices=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=15),
)
def test_users_in_any_interleaving_are_the_same(
    histories: tuple[list[Said], ...], choices: list[tuple[int, int]]
) -> None:
    """How users' turns lie between each other's changes nothing of what each of them has."""

    async def interleaved(place: Path) -> list[str]:
        left = [list(said) for said in histories]
        async with open_memory(place) as memory:
            for user, size in [*choices, *((user, 25) for user in range(3))]:
                call, left[user] = left[user][:size], left[user][size:]
                await feed(memory, call, user=USERS[user], wait=False)
            await memory.settled()
            return [await memory.digest(user_id=user) for user in USERS]

    async def in_turn(place: Path) -> list[str]:
        async with open_memory(place) as memory:
            for user, said in zip(USERS, histories, strict=True):
                await feed(memory, said, user=user)
            return [await memory.digest(user_id=user) for user in USERS]

    assert in_folder(interleaved) == in_folder(in_turn)
