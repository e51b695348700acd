"""What went wrong in other memory systems, as scenarios; each is named after what happened."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import eunoe
from eunoe.infra.embedded.episodes import EdgeEpisodes
from eunoe.schemas.errors import EncoderMismatch, NotFound, Rejected, Unavailable
from eunoe.schemas.results import Item
from tests.support.memories import cheap_tools, everything_readable, open_memory
from tests.support.tools import START, WordEncoder

FACT = {"en": "My sister Nora moved to Lisbon in May.", "zh": "我妹妹五月搬到了三亚。"}
both = pytest.mark.parametrize("language", ["en", "zh"])
ECHOES = 668


async def kept(memory: eunoe.Memory, user: str, tenant: str = "default") -> list[Item]:
    """Return a user's memories."""
    items = await memory.list(user_id=user, tenant_id=tenant, limit=1000)
    return [item for item in items if item.kind != "turn"]


@both
async def test_a_recalled_memory_that_is_read_back_668_times_stays_one(
    tmp_path: Path, language: str
) -> None:
    """An agent that repeats what was recalled, in every reply, adds no second memory."""
    async with open_memory(tmp_path) as memory:
        await memory.add(FACT[language], user_id="ana", session_id="s1")
        recalled = (await memory.search(FACT[language], user_id="ana"))[0].text
        echo = {"role": "assistant", "content": recalled}
        for _ in range(2):
            await memory.add([echo] * (ECHOES // 2), user_id="ana", session_id="s1")
        (item,) = await kept(memory, "ana")
        assert item.text == FACT[language]
        assert len(item.sources) == ECHOES + 1
        assert (await memory.stats(user_id="ana")).memories == 1


@both
async def test_two_identical_adds_at_the_same_moment_are_one_memory(
    tmp_path: Path, language: str
) -> None:
    """Neither of two equal statements that arrive together is a memory beside the other."""
    async with open_memory(tmp_path) as memory:
        one, other = await asyncio.gather(
            *(memory.add(FACT[language], user_id="ana") for _ in range(2))
        )
        (item,) = await kept(memory, "ana")
        assert set(item.sources) == {*one, *other}


async def test_deleting_everything_of_one_user_leaves_other_tenants(tmp_path: Path) -> None:
    """A forget of all that a user has takes nothing of anybody else, of whatever tenant."""
    async with open_memory(tmp_path) as memory:
        others = [("default", "ben"), ("other", "ana"), ("default/ana", "x"), ("default", "ana/x")]
        for tenant, user in (("default", "ana"), *others):
            messages = [{"content": text, "id": name} for name, text in FACT.items()]
            await memory.add(messages, user_id=user, tenant_id=tenant)
        before = [await memory.digest(user_id=user, tenant_id=tenant) for tenant, user in others]
        mine = [one.id for one in await memory.list(user_id="ana", kinds=["turn"])]
        await memory.forget(mine, user_id="ana")
        assert await memory.list(user_id="ana") == []
        assert await memory.search(FACT["en"], user_id="ana") == []
        after = [await memory.digest(user_id=user, tenant_id=tenant) for tenant, user in others]
        assert after == before
        assert len(await kept(memory, "ben")) == len(FACT)
        assert len(await kept(memory, "ana", "other")) == len(FACT)


@both
async def test_forget_that_says_success_has_deleted(tmp_path: Path, language: str) -> None:
    """When `forget` returns nothing is left, and what it can't find it doesn't call forgotten."""
    async with open_memory(tmp_path) as memory:
        (ident,) = await memory.add(FACT[language], user_id="ana", session_id="s1")
        await memory.add("ok", user_id="ana", session_id="s1")
        report = await memory.forget(ident, user_id="ana")
        assert (report.forgotten, report.memories_removed) == ((ident,), 1)
        assert FACT[language] not in await everything_readable(memory, "ana", [FACT[language]])
        for gone in (ident, "never there"):
            with pytest.raises(NotFound):
                await memory.forget(gone, user_id="ana")


async def test_what_was_just_acknowledged_can_be_forgotten(tmp_path: Path) -> None:
    """An event that is durable and not yet decided is no unknown id for a forget."""
    async with open_memory(tmp_path) as memory:
        (ident,) = await memory.add(FACT["en"], user_id="ana", wait=False)
        report = await memory.forget(ident, user_id="ana")
        assert report.forgotten == (ident,)
        await memory.settled()
        assert await memory.list(user_id="ana") == []


async def test_writes_that_are_stuck_are_no_green_health(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a store refuses, `settled` and `doctor` say so; afterwards nothing is lost."""
    stuck = asyncio.Event()
    apply = EdgeEpisodes.apply

    async def refuse(self: EdgeEpisodes, records: Any) -> None:
        if not stuck.is_set():
            message = "The episodic store has no space left."
            raise Unavailable(message)
        await apply(self, records)

    monkeypatch.setattr(EdgeEpisodes, "apply", refuse)
    async with open_memory(tmp_path) as memory:
        (ident,) = await memory.add(FACT["en"], user_id="ana", wait=False)
        with pytest.raises(Unavailable, match="no space left"):
            await memory.settled(timeout_s=0.3)
        (writer,) = [check for check in await memory.doctor() if check.name == "writer"]
        assert not writer.ok
        assert "no space left" in writer.detail
        assert (await memory.stats()).waiting == 1
        stuck.set()
        await memory.settled()
        assert all(check.ok for check in await memory.doctor())
        assert [one.id for one in await memory.list(user_id="ana", kinds=["turn"])] == [ident]
        assert len(await kept(memory, "ana")) == 1


@pytest.mark.parametrize("name", ["李雷", "老城南餐厅", "青鸟计划"])
async def test_chinese_text_has_keywords(tmp_path: Path, name: str) -> None:
    """A name of only Chinese characters has terms, and finds its turn by words."""
    async with open_memory(tmp_path) as memory:
        (ident, _) = await memory.add(
            [f"昨天跟我提到{name}的是同事。", "天气不错,适合散步。"], user_id="ana"
        )
        assert memory.runtime.engines.terms.document(name)
        assert memory.runtime.engines.terms.query(name)
        best = (await memory.search(name, user_id="ana"))[0]
        assert best.sources == (ident,)
        assert best.why["sparse"] > 0


async def test_a_changed_encoder_is_refused_with_the_command_that_re_embeds(
    tmp_path: Path,
) -> None:
    """A store that was written with another encoder isn't searched; nothing in it changes."""
    async with open_memory(tmp_path) as memory:
        await memory.add(FACT["en"], user_id="ana")
        before = await memory.digest(user_id="ana")
    with pytest.raises(EncoderMismatch, match="reembed --into") as refused:
        async with open_memory(tmp_path, tools=cheap_tools(encoder=WordEncoder("other-64"))):
            pass
    assert "test-64" in str(refused.value)
    assert "other-64" in str(refused.value)
    async with open_memory(tmp_path) as memory:
        assert await memory.digest(user_id="ana") == before


@pytest.mark.parametrize("time", ["2024-06-15T03:00:00", datetime(2024, 6, 15, 3), "03:00", 3])  # noqa: DTZ001 - the fault
async def test_an_unlabelled_time_is_refused(tmp_path: Path, time: Any) -> None:
    """Nobody guesses the zone of a time: what has no offset is refused, with the whole call."""
    async with open_memory(tmp_path) as memory:
        with pytest.raises(Rejected, match="ISO 8601 with an offset"):
            await memory.add(
                ["The door opened.", {"content": "Someone is here.", "time": time}], user_id="ana"
            )
        assert await memory.list(user_id="ana") == []
        night = datetime.fromisoformat("2024-06-15T03:00:00+08:00")
        (ident,) = await memory.add([{"content": "Door opened.", "time": night}], user_id="ana")
        said_at = (await memory.get(ident, user_id="ana")).said_at
        assert said_at.isoformat() == "2024-06-15T03:00:00+08:00"


@pytest.mark.parametrize(
    "visits",
    [
        ("Doctor Weber measured 140 on March 3.", "Doctor Weber measured 150 on June 9."),
        ("李医生3月3日量的血压是140。", "李医生6月9日量的血压是150。"),
    ],
)
async def test_a_dated_record_is_not_overwritten_by_the_next_visits(
    tmp_path: Path, visits: tuple[str, str]
) -> None:
    """Two visits, as like as they sound, are two memories, each with its own text and time."""
    async with open_memory(tmp_path) as memory:
        for visit in visits:
            await memory.add(visit, user_id="ana")
        items = await kept(memory, "ana")
        assert {item.text for item in items} == set(visits)
        assert all(len(item.sources) == 1 for item in items)
        assert len({item.said_at for item in items}) == len(items)
        assert min(item.said_at for item in items) >= START
