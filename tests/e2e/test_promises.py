"""What a user relies on, one promise a test; `make mutants` breaks each and expects a failure."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import eunoe
from eunoe.infra.sealing import WRAPPED_BYTES
from eunoe.schemas.events import owner_key
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import DEAD_LETTERS, TURNS
from tests.support.memories import cheap_tools, open_memory
from tests.support.tools import SetClock

MORNING = datetime(2024, 6, 15, 9, tzinfo=UTC)
OWNER = owner_key("default", "ana")


def turn(number: int, content: str, **fields: str) -> dict[str, str]:
    """Return a message of the user, an hour after the one before."""
    said = (MORNING + timedelta(hours=number)).isoformat()
    return {"role": "user", "id": f"t{number}", "content": content, "time": said, **fields}


def bytes_under(folder: Path) -> list[bytes]:
    """Return what every file under a folder holds."""
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


async def test_every_turn_has_one_journal_record(tmp_path: Path) -> None:
    """Each accepted turn stands in the journal exactly once."""
    async with open_memory(tmp_path) as memory:
        turns = [turn(number, f"Remember that locker {number} is mine") for number in range(5)]
        await memory.add(turns, user_id="ana")
        journal = memory.runtime.journal
        partition = journal.log.partition_of(OWNER.encode())
        found = [one.record async for batch in journal.read(partition, 0) for one in batch]
        assert len({record.event_id for record in found}) == len(found) == len(turns)


async def test_the_same_event_is_stored_once(tmp_path: Path) -> None:
    """A repeat with the same identity and content changes nothing, in one call or another."""
    async with open_memory(tmp_path) as memory:
        await memory.add([turn(1, "I adopted a cat"), turn(1, "I adopted a cat")], user_id="ana")
        digest = await memory.digest(user_id="ana")
        await memory.add(turn(1, "I adopted a cat"), user_id="ana")
        assert await memory.digest(user_id="ana") == digest
        assert len(await memory.list(user_id="ana", kinds=["turn"])) == 1


async def test_an_id_with_other_content_is_refused(tmp_path: Path) -> None:
    """A known identity with other content is refused, kept as a dead letter, and not stored."""
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(1, "I adopted a cat"), user_id="ana")
        with pytest.raises(eunoe.Rejected, match="new id"):
            await memory.add(turn(1, "I adopted a dog"), user_id="ana")
        assert (await memory.get("t1", user_id="ana")).text == "I adopted a cat"
        assert len(await memory.dead_letters(user_id="ana")) == 1


async def test_tenants_see_nothing_of_each_other(tmp_path: Path) -> None:
    """The same user name, id and text under another tenant is found nowhere."""
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(1, "The violin teacher is Mr Ito"), user_id="ana", tenant_id="a")
        await memory.add(turn(2, "小提琴老师姓伊藤"), user_id="ana", tenant_id="a")
        await memory.add(turn(9, "I like tea"), user_id="ana", tenant_id="b")
        for question in ("violin teacher", "小提琴老师"):
            assert await memory.search(question, user_id="ana", tenant_id="a")
            hits = await memory.search(question, user_id="ana", tenant_id="b")
            assert {source for hit in hits for source in hit.sources} <= {"t9"}
        with pytest.raises(eunoe.NotFound):
            await memory.get("t1", user_id="ana", tenant_id="b")


async def test_what_was_said_again_is_one_memory(tmp_path: Path) -> None:
    """A memory said twice, even in one batch, is touched and not doubled."""
    async with open_memory(tmp_path) as memory:
        said = [turn(n, "Remember that the boiler code is under the mat") for n in range(4)]
        await memory.add(said[:2], user_id="ana")
        await memory.add(said[2:], user_id="ana")
        memories = [one for one in await memory.list(user_id="ana") if one.kind != "turn"]
        assert len(memories) == 1
        assert memories[0].sources == ("t0", "t1", "t2", "t3")


async def test_a_slot_holds_what_was_said_last(tmp_path: Path) -> None:
    """A statement that arrives late does not win over one that was said after it."""
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(5, "I live in Porto."), user_id="ana")
        await memory.add(turn(2, "I live in Oslo."), user_id="ana")
        fields = {one.slot: one for one in await memory.profile(user_id="ana")}
        assert (fields["home"].value, fields["home"].version) == ("Porto", 2)


async def test_a_forgotten_turn_takes_its_keys_along(tmp_path: Path) -> None:
    """After a forget no data key of the turn, its memory or its statements is left."""
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(1, "I live in Porto. Remember that Rui has the key."), user_id="ana")
        runtime = memory.runtime
        place = await runtime.reader.place(OWNER, "t1")
        assert place is not None
        record = await runtime.journal.record_at(OWNER, place.journal_offset)
        assert record is not None
        assert record.box is not None
        boxes = [(record.box, record.event_id)]
        boxes += [(one.box, one.memory_id) for one in record.candidates]
        boxes += [(one.box, record.event_id) for one in record.statements]
        assert len(boxes) > 1
        await memory.forget("t1", user_id="ana")
        assert await runtime.engines.keys.open_boxes(OWNER, boxes) == [None] * len(boxes)


async def test_forgetting_reaches_memories_and_slots(tmp_path: Path) -> None:
    """What rests only on a forgotten turn goes with it, and its journal record as well."""
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(1, "I live in Porto. Remember that Rui has the key."), user_id="ana")
        place = await memory.runtime.reader.place(OWNER, "t1")
        assert place is not None
        await memory.forget("t1", user_id="ana")
        assert await memory.list(user_id="ana") == []
        assert await memory.profile(user_id="ana") == []
        assert await memory.runtime.engines.episodes.memories(OWNER) == []
        assert await memory.runtime.journal.record_at(OWNER, place.journal_offset) is None


async def test_a_forgotten_event_stays_out(tmp_path: Path) -> None:
    """The same event, sent again after it was forgotten, is not stored."""
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(1, "Remember that Rui has the key"), user_id="ana")
        await memory.forget("t1", user_id="ana")
        await memory.add(turn(1, "Remember that Rui has the key"), user_id="ana")
        assert await memory.list(user_id="ana") == []


async def test_nothing_said_stands_in_plain_on_the_disk(tmp_path: Path) -> None:
    """Neither the log nor a store holds a word of what was said, before it is decided or after."""
    word = "Zanzibarischewurst"
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(1, f"My favourite food is {word}."), user_id="ana", wait=False)
        before = bytes_under(tmp_path)
        await memory.settled()
        await memory.runtime.journal.flush()
        after = bytes_under(tmp_path)
        needle = word.encode()
        assert not any(needle in one or needle.lower() in one for one in [*before, *after])
        assert await memory.search("favourite food", user_id="ana")


async def test_a_rebuild_reads_no_clock(tmp_path: Path) -> None:
    """Stores made anew years later hold the times of the journal and not the present."""
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(1, "Remember that Rui has the key"), user_id="ana")
        before = await memory.list(user_id="ana")
    data = tmp_path / "data"
    (data / "identity.sqlite").unlink()
    for path in sorted((data / "episodes").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    later = cheap_tools(clock=SetClock(datetime(2031, 1, 1, tzinfo=UTC)))
    async with open_memory(tmp_path, tools=later) as memory:
        assert await memory.list(user_id="ana") == before


async def test_journaled_events_leave_the_ingress_topics(tmp_path: Path) -> None:
    """What is journaled is deleted from ingress, and its sealing key with it."""
    async with open_memory(tmp_path) as memory:
        await memory.add(turn(1, "I like tea"), user_id="ana")
        runtime = memory.runtime
        await runtime.journal.flush()
        partition = runtime.engines.log.partition_of(OWNER.encode())
        first, end = await runtime.engines.log.bounds(TURNS.name, partition)
        assert first == end == 1


async def test_two_identical_adds_at_once_make_one_memory(tmp_path: Path) -> None:
    """Two callers who say the same at the same moment leave one memory."""
    async with open_memory(tmp_path) as memory:
        text = "Remember that the gate opens at seven"
        await asyncio.gather(
            *(memory.add({"role": "user", "content": text}, user_id="ana") for _ in range(4))
        )
        kinds = [one.kind for one in await memory.list(user_id="ana")]
        assert kinds.count("turn") == 4
        assert len(kinds) == 5


async def test_dead_letters_go_after_their_week(tmp_path: Path) -> None:
    """A refused event can be looked at for seven days; then letter and keys are gone."""
    clock = SetClock()
    async with open_memory(tmp_path, tools=cheap_tools(clock=clock)) as memory:
        await memory.add(turn(1, "the bicycle 自行车"), user_id="ana")
        with pytest.raises(eunoe.Rejected):
            await memory.add(turn(1, "another one"), user_id="ana")
        log = memory.runtime.engines.log
        await log.append([NewRecord(TURNS.name, OWNER.encode(), b"no event")])
        await memory.settled()
    clock.moment += timedelta(days=6)
    async with open_memory(tmp_path, tools=cheap_tools(clock=clock)) as memory:
        letters = await memory.dead_letters(user_id="ana", show=True)
        assert len(letters) == 2
        assert all(one.original for one in letters)
    clock.moment += timedelta(days=2)
    async with open_memory(tmp_path, tools=cheap_tools(clock=clock)) as memory:
        async with asyncio.timeout(30):
            while await memory.dead_letters():  # noqa: ASYNC110 - housekeeping tells nobody
                await asyncio.sleep(0.01)
    with closing(sqlite3.connect(tmp_path / "data" / "keys.sqlite")) as keys:
        empty = f"zeroblob({WRAPPED_BYTES})"
        left = keys.execute(f"SELECT count(*) FROM shared_keys WHERE wrapped <> {empty}")  # noqa: S608 - a constant
        assert left.fetchone() == (0,)


@pytest.mark.parametrize(
    ("texts", "question", "values"),
    [
        (
            ("I'm allergic to bee stings.", "I'm allergic to peanuts."),
            "What am I allergic to?",
            {"bee stings", "peanuts"},
        ),
        (("我对蜂毒过敏。", "我对花生过敏。"), "我对什么过敏?", {"蜂毒", "花生"}),
    ],
)
async def test_a_second_allergy_stands_beside_the_first(
    tmp_path: Path, texts: tuple[str, str], question: str, values: set[str]
) -> None:
    """A slot of which a person has several values answers with all of them."""
    async with open_memory(tmp_path) as memory:
        await memory.add([turn(n, text) for n, text in enumerate(texts)], user_id="ana")
        assert {hit.text for hit in await memory.search(question, user_id="ana")} == values
        profile = await memory.profile(user_id="ana")
        assert {one.value for one in profile if one.slot == "allergy"} == values
        await memory.forget("t1", user_id="ana")
        left = {hit.text for hit in await memory.search(question, user_id="ana")}
        assert len(left) == 1
        assert left < values


async def test_damage_that_housekeeping_finds_is_told(tmp_path: Path) -> None:
    """A dead letter that can't be read stops those who wait, in a sentence; closing still works."""
    async with open_memory(tmp_path) as memory:
        letter = NewRecord(DEAD_LETTERS.name, OWNER.encode(), b"no letter")
        await memory.runtime.engines.log.append([letter])

    async def go_on(memory: eunoe.Memory) -> None:
        async with asyncio.timeout(30):
            while True:
                await memory.add("I keep bees 养蜂", user_id="ana")

    async with open_memory(tmp_path) as memory:
        with pytest.raises(eunoe.Damaged, match="dead letter"):
            await go_on(memory)
