"""A store that is written anew with another encoder tells the same, and the old one stays."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

import eunoe
from eunoe.reembedding import reembed
from eunoe.schemas.errors import EncoderMismatch, Rejected
from tests.support.memories import cheap_tools, everything_readable, open_memory, settings_in
from tests.support.tools import START, WordEncoder

USERS: Final = ("ana", "安娜")
TALK: Final = {
    "ana": (
        "My sister Nora moved to Lisbon in May.",
        "I live in Porto.",
        "My favourite colour is green.",
        "My sister Nora moved to Lisbon in May.",
        "Remember that the blue notebook is in the second drawer.",
        "I live in Berlin.",
        "thanks, that helps",
    ),
    "安娜": (
        "我妹妹五月搬到了三亚。",
        "我住在杭州。",
        "我最喜欢的颜色是绿色。",
        "我妹妹五月搬到了三亚。",
        "记住:蓝色笔记本在第二个抽屉里。",
        "我住在上海。",
        "好的",
    ),
}
FORGOTTEN: Final = 4
"""Which of a user's turns is forgotten."""
GONE: Final = {"ana": "drawer", "安娜": "抽屉"}
QUESTIONS: Final = {
    "ana": ("Where do I live?", "Berlin", "Where did Nora move?", "Lisbon"),
    "安娜": ("我住在哪里?", "上海", "妹妹搬到了哪里?", "三亚"),
}
NEW: Final = "other-64"


async def tell(memory: eunoe.Memory, timezone: str | None = None) -> None:
    """Tell a memory both conversations, with a turn forgotten and maybe a time zone set."""
    for user in USERS:
        for number, text in enumerate(TALK[user]):
            message = {
                "content": text,
                "id": f"t{number}",
                "session_id": f"s{number // 4}",
                "time": START + timedelta(hours=number),
            }
            await memory.add(message, user_id=user)
            if number == 1 and timezone is not None:
                await memory.set_timezone(timezone, user_id=user)
        await memory.forget(f"t{FORGOTTEN}", user_id=user)


async def pictures(memory: eunoe.Memory) -> dict[str, tuple[str, str]]:
    """Return each user's digest, and all that the user can list."""
    return {
        user: (
            await memory.digest(user_id=user),
            "\n".join(
                one.model_dump_json(exclude={"last_accessed", "created_at"})
                for one in await memory.list(user_id=user, limit=1000)
            ),
        )
        for user in USERS
    }


async def written_anew(place: Path, *, times: int = 1) -> list[int]:
    """Write the store anew into `place`/new; returns what was told on the way."""
    told: list[int] = []
    settings = replace(settings_in(place), encoder="unused: the tools bring it")
    for _ in range(times):
        tools = cheap_tools(encoder=WordEncoder(NEW))
        done = await reembed(settings, place / "new", tools=tools, tell=told.append)
        assert (done.users, done.encoder) == (len(USERS), NEW)
    return told


def open_new(place: Path) -> eunoe.Memory:
    """Open the new store with its encoder."""
    settings = replace(settings_in(place), folder=place / "new")
    return eunoe.open(settings, serve=False, tools=cheap_tools(encoder=WordEncoder(NEW)))


@pytest.mark.parametrize("times", [1, 2])
async def test_the_new_store_tells_the_same(tmp_path: Path, times: int) -> None:
    """Digests and lists are equal, also when it is run again, as after an interruption."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
        before = await pictures(memory)
    told = await written_anew(tmp_path, times=times)
    assert told
    assert max(told) == told[len(told) // times - 1]
    async with open_new(tmp_path) as memory:
        assert await pictures(memory) == before


async def test_time_zones_come_along(tmp_path: Path) -> None:
    """Commands are published again too, in their place; the lists stay as they were."""
    async with open_memory(tmp_path) as memory:
        await tell(memory, "Asia/Shanghai")
        before = await pictures(memory)
    await written_anew(tmp_path)
    async with open_new(tmp_path) as memory:
        for user in USERS:
            (zone,) = await memory.history("timezone", user_id=user)
            assert "Asia/Shanghai" in zone.model_dump_json()
        after = await pictures(memory)
    assert {user: lists for user, (_, lists) in after.items()} == {
        user: lists for user, (_, lists) in before.items()
    }


@pytest.mark.parametrize("user", USERS)
async def test_the_new_store_answers(tmp_path: Path, user: str) -> None:
    """Exact answers and the other search find in the new store what was said in the old."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
    await written_anew(tmp_path)
    exact, value, question, word = QUESTIONS[user]
    async with open_new(tmp_path) as memory:
        assert value in (await memory.search(exact, user_id=user))[0].text
        hits = await memory.search(question, user_id=user)
        assert word in hits[0].text
        assert all(hit.score > 0 for hit in hits)


@pytest.mark.parametrize("user", USERS)
async def test_what_was_forgotten_does_not_come_back(tmp_path: Path, user: str) -> None:
    """A forgotten turn is in no part of the new store, and a late copy of it stays out."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
    await written_anew(tmp_path)
    async with open_new(tmp_path) as memory:
        again = {"content": TALK[user][FORGOTTEN], "id": f"t{FORGOTTEN}"}
        await memory.add(again, user_id=user)
        questions = [TALK[user][FORGOTTEN], QUESTIONS[user][0]]
        assert GONE[user] not in await everything_readable(memory, user, questions)


async def test_the_old_store_is_only_read(tmp_path: Path) -> None:
    """It opens with its own encoder as before, with the same state, and takes events again."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
        before = await pictures(memory)
    await written_anew(tmp_path)
    async with open_memory(tmp_path, process=False) as memory:
        assert await pictures(memory) == before
    async with open_memory(tmp_path) as memory:
        message = {"content": "I live in Oslo.", "time": START + timedelta(days=1)}
        await memory.add(message, user_id="ana")
        assert "Oslo" in (await memory.search("Where do I live?", user_id="ana"))[0].text
    async with open_new(tmp_path) as memory:
        assert await pictures(memory) == before


async def test_neither_store_opens_with_the_others_encoder(tmp_path: Path) -> None:
    """Vectors of two encoders never meet in one store."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
    await written_anew(tmp_path)
    new = replace(settings_in(tmp_path), folder=tmp_path / "new")
    for settings, name in ((new, "test-64"), (settings_in(tmp_path), NEW)):
        tools = cheap_tools(encoder=WordEncoder(name))
        with pytest.raises(EncoderMismatch):
            async with eunoe.open(settings, serve=False, tools=tools):
                pytest.fail("a store opened with another encoder")


async def test_one_folder_is_refused(tmp_path: Path) -> None:
    """A store is never written over itself, and an empty folder is no store."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
    settings = settings_in(tmp_path)
    with pytest.raises(Rejected, match="another folder"):
        await reembed(settings, settings.folder, tell=print)
    with pytest.raises(Rejected, match="no store"):
        await reembed(replace(settings, folder=tmp_path / "none"), tmp_path / "new", tell=print)
