"""Experience beside the writer: it catches up, counts once, and holds up nobody."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

import eunoe
from eunoe import experiencing
from eunoe.door import connect
from eunoe.infra.embedded.experience import SqliteExperience
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.events import owner_key
from eunoe.schemas.experience import DOMAINS, ExperiencePoint
from eunoe.schemas.limits import EXPERIENCE_DAYS_MAX
from eunoe.schemas.ports import NewRecord, TopicPartition
from eunoe.schemas.topics import JOURNAL, RECALLS
from eunoe.streams.experience import EXPERIENCE_GROUP
from tests.support.memories import cheap_tools, open_memory, settings_in
from tests.support.tools import START, SetClock

both = pytest.mark.parametrize("language", ["en", "zh"])
OWNER: Final = owner_key("default", "ana")
SAID: Final = {
    "en": ("My sister Nora moved to Lisbon in May.", "Remember that the boiler is serviced."),
    "zh": ("我妹妹上个月搬到了里斯本。", "记住:锅炉每年十月检修。"),
}
ASKED: Final = {"en": "Lisbon", "zh": "里斯本"}


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count at once what comes one by one."""
    monkeypatch.setattr(experiencing, "EXPERIENCE_WAIT_S", 0.0)


async def say(memory: eunoe.Memory, language: str, user: str = "ana") -> list[str]:
    """Store what is said in a language; returns the ids."""
    messages = [
        {"id": f"{language}-{number}", "content": text}
        for number, text in enumerate(SAID[language])
    ]
    return await memory.add(messages, user_id=user)


async def known(memory: eunoe.Memory, user: str = "ana") -> dict[str, int]:
    """Return what is counted of a user, once everything is."""
    await memory.runtime.served.publish()
    await memory.runtime.experience.settled()
    found: dict[str, int] = {}
    for one in await memory.experience(user_id=user):
        found[one.kind] = found.get(one.kind, 0) + one.count
    return found


async def line_of(memory: eunoe.Memory) -> tuple[bool, str]:
    """Return what `doctor` says of it."""
    (check,) = [one for one in await memory.doctor() if one.name == "experience"]
    return check.ok, check.detail


@both
async def test_use_is_counted(tmp_path: Path, language: str) -> None:
    """Memories that are made and touched, searches, and what they serve, each user's apart."""
    async with open_memory(tmp_path) as memory:
        await say(memory, language)
        await memory.add(SAID[language][0], user_id="ana")
        hits = await memory.search(ASKED[language], user_id="ana")
        assert await known(memory) == {
            "memory-created": len(SAID[language]),
            "memory-touched": 1,
            "search": 1,
            "hit-served": len(hits),
        }
        assert await known(memory, "ben") == {}
        assert await line_of(memory) == (True, "at most 0 records wait to be counted")


@both
async def test_what_is_read_again_counts_once(tmp_path: Path, language: str) -> None:
    """With all offsets lost, everything is read again and the counts are the same."""
    async with open_memory(tmp_path) as memory:
        await say(memory, language)
        await memory.search(ASKED[language], user_id="ana")
        before = await known(memory)
        assert len(before) == 3
    async with open_memory(tmp_path, process=False) as memory:
        engines = memory.runtime.engines
        places = [
            TopicPartition(topic.name, number)
            for topic in (JOURNAL, RECALLS)
            for number in range(8)
        ]
        await engines.log.commit(EXPERIENCE_GROUP, dict.fromkeys(places, 0))
    async with open_memory(tmp_path) as memory:
        assert await known(memory) == before


@both
async def test_what_a_closing_memory_publishes_is_counted_at_the_next_opening(
    tmp_path: Path, language: str
) -> None:
    """Nothing is lost where it was behind when the process ended."""
    async with open_memory(tmp_path) as memory:
        await say(memory, language)
        await memory.search(ASKED[language], user_id="ana")
    async with open_memory(tmp_path) as memory:
        found = await known(memory)
        assert (found["search"], found["memory-created"]) == (1, len(SAID[language]))


@both
async def test_a_forget_takes_no_count_away_and_leaves_no_gap_to_wait_for(
    tmp_path: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offsets stay good over a compaction, also where what went was the newest and not yet read."""
    async with open_memory(tmp_path) as memory:
        ids = await say(memory, language)
        await memory.search(ASKED[language], user_id="ana")
        before = await known(memory)
        # It reads once more at most: not the tombstones, which stand behind the forget.
        monkeypatch.setattr(experiencing, "EXPERIENCE_WAIT_S", 3_600.0)
        await memory.add("ok", user_id="ana")
        await memory.forget(ids, user_id="ana")
    monkeypatch.setattr(experiencing, "EXPERIENCE_WAIT_S", 0.0)
    later = cheap_tools(clock=SetClock(START + timedelta(hours=1)))
    async with open_memory(tmp_path, tools=later) as memory:
        async with asyncio.timeout(60):
            assert await known(memory) == before
        assert await line_of(memory) == (True, "at most 0 records wait to be counted")
        await say(memory, "en" if language == "zh" else "zh")
        async with asyncio.timeout(60):
            found = await known(memory)
        assert found["memory-created"] > before["memory-created"]


async def test_a_store_of_counts_that_is_away_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it can't be written, turns are decided and found, doctor says why; then it goes on."""
    write = SqliteExperience.write
    is_away = True

    async def away(self: SqliteExperience, points: Sequence[ExperiencePoint]) -> None:
        if is_away:
            message = "The experience store can't be used now: the disk is full."
            raise Unavailable(message)
        await write(self, points)

    monkeypatch.setattr(SqliteExperience, "write", away)
    async with open_memory(tmp_path) as memory:
        await say(memory, "zh")
        assert await memory.search(ASKED["zh"], user_id="ana")
        async with asyncio.timeout(60):
            while (await line_of(memory))[0]:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.01)
        assert await line_of(memory) == (
            False, "The experience store can't be used now: the disk is full."
        )  # fmt: skip
        await say(memory, "en")
        is_away = False
        async with asyncio.timeout(60):
            assert (await known(memory))["memory-created"] == 4
        assert (await line_of(memory))[0]


async def test_a_damaged_store_of_counts_stops_nobody(tmp_path: Path) -> None:
    """A malformed file ends the loop alone, and doctor says what to do; without it all is well."""
    async with open_memory(tmp_path) as memory:
        await say(memory, "zh")
        assert await known(memory)
    file = tmp_path / "data" / "experience.sqlite"
    for leftover in file.parent.glob("experience.sqlite*"):
        leftover.unlink()
    file.write_bytes(b"counts, but not these" * 1_000)
    async with open_memory(tmp_path) as memory:
        await say(memory, "en")
        assert await memory.search(ASKED["en"], user_id="ana")
        async with asyncio.timeout(60):
            while (await line_of(memory))[0]:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.01)
        assert "remove experience.sqlite" in (await line_of(memory))[1]
        await memory.add("The kettle is red", user_id="ana")
        await memory.settled()
    file.unlink()
    async with open_memory(tmp_path) as memory:
        await memory.add("Remember that the kettle is red.", user_id="ana")
        assert (await known(memory))["memory-created"] >= 1


async def test_it_holds_up_no_closing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory closes though the loop would wait for an hour, and nothing is lost by it."""
    monkeypatch.setattr(experiencing, "EXPERIENCE_WAIT_S", 3_600.0)
    async with asyncio.timeout(100):
        async with open_memory(tmp_path) as memory:
            for number in range(20):
                await memory.add(f"Remember that box {number} is red.", user_id="ana")
    monkeypatch.setattr(experiencing, "EXPERIENCE_WAIT_S", 0.0)
    later = cheap_tools(clock=SetClock(START + timedelta(hours=1)))
    async with open_memory(tmp_path, tools=later) as memory:
        async with asyncio.timeout(60):
            found = await known(memory)
        assert sum(found.values()) == 20


async def test_a_recall_that_cannot_be_read_is_a_dead_letter(tmp_path: Path) -> None:
    """It is buried with a reason, and those behind it are counted."""
    async with open_memory(tmp_path) as memory:
        await say(memory, "en")
        await memory.runtime.engines.log.append([NewRecord(RECALLS.name, OWNER.encode(), b"{")])
        await memory.search(ASKED["en"], user_id="ana")
        assert (await known(memory))["search"] == 1
        (letter,) = await memory.dead_letters()
        assert letter.topic == RECALLS.name


async def test_beside_an_owner_it_can_be_asked(tmp_path: Path) -> None:
    """Another process is given the same figures through the door."""
    settings = settings_in(tmp_path)
    clock = SetClock(step=timedelta(milliseconds=1))
    async with eunoe.open(settings, tools=cheap_tools(clock=clock)) as memory:
        for user in ("ana", "ben", "安娜", "小王", "eve"):
            await say(memory, "zh", user)
        await known(memory)
        clock.moment = datetime.combine(START.date(), START.timetz()) + timedelta(days=1)
        remote = await connect(settings.folder)
        assert remote is not None
        async with remote:
            figures = await remote.experience()
            assert [one.count for one in figures] == [10]
            assert await remote.experience(domain=DOMAINS[1]) == []
            assert await remote.experience(user_id="ana") == await memory.experience(user_id="ana")


REFUSED: Final[list[dict[str, Any]]] = [
    {"days": 0},
    {"days": True},
    {"days": 1.5},
    {"days": EXPERIENCE_DAYS_MAX + 1},
    {"domain": "我的"},
    {"domain": ["general"]},
    {"user_id": ""},
    {"user_id": "ana", "tenant_id": ""},
]


@pytest.mark.parametrize("given", REFUSED)
async def test_what_cannot_be_asked_is_refused(tmp_path: Path, given: dict[str, Any]) -> None:
    """Days, domain and names are checked with a sentence."""
    async with open_memory(tmp_path, process=False) as memory:
        with pytest.raises(Rejected, match=r"\.$"):
            await memory.experience(**given)
