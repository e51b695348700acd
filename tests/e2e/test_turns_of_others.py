"""A caller who asks without a break leaves the event loop to others as well."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import eunoe
from tests.support.memories import open_memory

CALLS: dict[str, Callable[[eunoe.Memory], Awaitable[object]]] = {
    "search": lambda memory: memory.search("Where do I live? 我住在哪里？", user_id="ana"),
    "get": lambda memory: memory.get("m1", user_id="ana"),
    "profile": lambda memory: memory.profile(user_id="ana"),
    "context": lambda memory: memory.context("我住在哪里？", user_id="ana", budget_tokens=100),
}
REPEATS = 20


@pytest.mark.parametrize("name", CALLS)
async def test_others_have_a_turn_between_calls(tmp_path: Path, name: str) -> None:
    """Whatever a call does without a thread, each call gives way once."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with open_memory(tmp_path) as memory:
        await memory.add({"content": "I moved to Oslo. 我住在奥斯陆。", "id": "m1"}, user_id="ana")
        await CALLS[name](memory)
        waiting = asyncio.create_task(other())
        for _ in range(REPEATS):
            await CALLS[name](memory)
        waiting.cancel()
    assert turns >= REPEATS
