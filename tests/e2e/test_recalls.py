"""What searches served stands in the log by ids, and goes with what is forgotten."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

import pytest

import eunoe
from eunoe.door import connect
from eunoe.infra.embedded.log import SqliteLog
from eunoe.schemas.cloudevents import decode
from eunoe.schemas.errors import Unavailable
from eunoe.schemas.events import (
    Answered,
    Envelope,
    EventType,
    Recalled,
    event_id,
    owner_key,
)
from eunoe.schemas.ports import NewRecord, Position
from eunoe.schemas.results import Hit
from eunoe.schemas.topics import COMMANDS, RECALLS, TURNS, Topic
from eunoe.streams import serving
from tests.support.memories import cheap_tools, open_memory, settings_in
from tests.support.tools import START

OWNER: Final = owner_key("default", "ana")
SAID: Final = {
    "en": ("The green folder is in the cellar", "The green folder has a zip", "I like tea"),
    "zh": ("绿色的文件夹在地下室", "绿色的文件夹有拉链", "我喜欢喝茶"),
}
ASKED: Final = {"en": "the green folder", "zh": "绿色的文件夹"}
both = pytest.mark.parametrize("language", ["en", "zh"])


@pytest.fixture(autouse=True)
def only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish when a test says so or the memory closes, however slow the machine is."""
    monkeypatch.setattr(serving, "RECALLS_EVERY_S", 86_400.0)


async def say(memory: eunoe.Memory, language: str) -> list[str]:
    """Store what is said in a language; returns the ids."""
    messages = [
        {"id": f"{language}-{number}", "content": text}
        for number, text in enumerate(SAID[language])
    ]
    return await memory.add(messages, user_id="ana")


async def recalls(memory: eunoe.Memory) -> list[Envelope]:
    """Return what stands in the log of the owner's searches."""
    log = memory.runtime.engines.log
    partition = log.partition_of(OWNER.encode())
    records = await log.read(RECALLS.name, partition, 0, limit=1_000)
    return [decode(one.headers, one.value) for one in records if one.key == OWNER.encode()]


def ids_in(events: Sequence[Envelope]) -> list[list[UUID]]:
    """Return the ids of each search."""
    payloads = [one.payload for one in events]
    return [
        list(search.ids) for one in payloads if isinstance(one, Recalled) for search in one.searches
    ]


def ids_of(hits: Sequence[Hit]) -> list[UUID]:
    """Return the internal ids of hits, in order."""
    return [
        event_id("default", "ana", "chat", one.id) if one.kind == "turn" else UUID(one.id)
        for one in hits
    ]


async def test_searches_in_both_languages_are_one_record(tmp_path: Path) -> None:
    """One record has the ids of each search's hits in order, and no text of it."""
    async with open_memory(tmp_path) as memory:
        hits = []
        for language in SAID:
            await say(memory, language)
            hits.append(await memory.search(ASKED[language], user_id="ana"))
        assert all(len(some) >= 2 for some in hits)
        assert await recalls(memory) == []
    async with open_memory(tmp_path, process=False) as memory:
        (event,) = await recalls(memory)
        assert ids_in([event]) == [ids_of(some) for some in hits]
        for text in (*ASKED.values(), *SAID["en"], *SAID["zh"]):
            assert text not in event.model_dump_json()


@both
async def test_a_forget_reaches_records_and_notes(tmp_path: Path, language: str) -> None:
    """After a forget neither a record nor a note names it; what others searched for stays."""
    async with open_memory(tmp_path) as memory:
        first, *_ = await say(memory, language)
        await memory.add({"id": "b", "content": SAID[language][0]}, user_id="ben")
        await memory.search(SAID[language][0], user_id="ben")
        gone = ids_of(await memory.search(SAID[language][0], user_id="ana", limit=1))
        await memory.runtime.served.publish()
        assert ids_in(await recalls(memory)) == [gone]
        await memory.search(ASKED[language], user_id="ana")
        assert memory.runtime.served.waiting == 1
        await memory.forget(first, user_id="ana")
        assert memory.runtime.served.waiting == 0
        assert await recalls(memory) == []
        await memory.search(ASKED[language], user_id="ana")
    async with open_memory(tmp_path, process=False) as memory:
        (left,) = ids_in(await recalls(memory))
        assert event_id("default", "ana", "chat", first) not in left
        assert set(gone).isdisjoint(left)
        log = memory.runtime.engines.log
        partition = log.partition_of(owner_key("default", "ben").encode())
        assert len(await log.read(RECALLS.name, partition, 0, limit=9)) >= 1


@both
async def test_a_search_answers_while_recalls_cannot_be_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    """The log refuses what searches served; they answer all the same, and the memory closes."""
    append = SqliteLog.append

    async def refuse(self: SqliteLog, records: Sequence[NewRecord]) -> list[Position]:
        if any(one.topic == RECALLS.name for one in records):
            message = "The log has no space left."
            raise Unavailable(message)
        return await append(self, records)

    monkeypatch.setattr(SqliteLog, "append", refuse)
    async with open_memory(tmp_path) as memory:
        await say(memory, language)
        before = await memory.search(ASKED[language], user_id="ana")
        with pytest.raises(Unavailable):
            await memory.runtime.served.publish()
        assert await memory.search(ASKED[language], user_id="ana") == before
        assert before
        (check,) = [one for one in await memory.doctor() if one.name == "recalls"]
        assert check.detail.startswith("2 searches wait to be published, 0 were given up")


async def test_a_search_through_the_door_is_noted_by_the_owner(tmp_path: Path) -> None:
    """Another process's search stands in the log as the owner's own does."""
    settings = settings_in(tmp_path)
    async with eunoe.open(settings, tools=cheap_tools()) as memory:
        await say(memory, "en")
        remote = await connect(settings.folder)
        assert remote is not None
        async with remote:
            hits = await remote.search(ASKED["en"], user_id="ana")
        await memory.runtime.served.publish()
        assert ids_in(await recalls(memory)) == [ids_of(hits)]


async def test_a_process_that_only_reads_publishes_nothing(tmp_path: Path) -> None:
    """Without processing nothing is appended to the store."""
    async with open_memory(tmp_path) as memory:
        await say(memory, "zh")
    async with open_memory(tmp_path, process=False) as memory:
        assert await memory.search(ASKED["zh"], user_id="ana")
    async with open_memory(tmp_path) as memory:
        assert await recalls(memory) == []


@pytest.mark.parametrize("topic", [TURNS, COMMANDS], ids=lambda topic: topic.name)
async def test_a_recall_among_what_is_decided_is_refused(tmp_path: Path, topic: Topic) -> None:
    """On a topic of the writer's it is a dead letter: neither journaled nor silently passed by."""
    event = Envelope(
        id="r1",
        source="elsewhere",
        type=EventType.RECALLED,
        time=START,
        tenant_id="default",
        user_id="ana",
        payload=Recalled(served_at=START, searches=(Answered(moment=START, ids=(UUID(int=1),)),)),
    )
    async with open_memory(tmp_path) as memory:
        await memory.runtime.publish(topic.name, [event], wait=False)
        await memory.settled()
        (letter,) = await memory.dead_letters(user_id="ana")
        assert (letter.topic, letter.event_id) == (topic.name, str(event.event_id))
        assert "its own topic" in letter.reason
        assert all(one.ok for one in await memory.doctor())
