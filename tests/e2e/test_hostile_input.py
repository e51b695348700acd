"""Hostile input: whatever comes through a door, the store says what it takes, and takes no harm."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

import eunoe
from eunoe.schemas.events import event_id, owner_key
from eunoe.schemas.limits import REQUEST_BYTES_MAX
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import COMMANDS, TURNS
from tests.support.hostile import EVE, Case, assert_sentence, headers, judge
from tests.support.hostile_fields import FIELD_CLASSES
from tests.support.hostile_texts import TEXT_CLASSES
from tests.support.hostile_wire import WIRE_CLASSES
from tests.support.memories import open_memory

CLASSES = {**TEXT_CLASSES, **FIELD_CLASSES, **WIRE_CLASSES}
ANA = "ana"
KEPT = ("The green folder is in the cellar", "绿色的文件夹在地下室")
AFTER = ("The violin teacher is Mr Ito", "小提琴老师姓伊藤")


async def add_kept(memory: eunoe.Memory) -> str:
    """Store what must not change; returns the digest of its user."""
    messages = [{"id": f"kept-{number}", "content": text} for number, text in enumerate(KEPT)]
    await memory.add(messages, user_id=ANA)
    return await memory.digest(user_id=ANA)


async def assert_at_work(memory: eunoe.Memory) -> None:
    """The store is well, and for the hostile user too an ordinary turn is stored and found."""
    assert [check for check in await memory.doctor() if not check.ok] == []
    assert memory.runtime.progress.failed is None
    for user in (ANA, EVE):
        for number, text in enumerate(AFTER):
            name = f"after-{number}"
            await memory.add({"id": name, "content": text}, user_id=user)
            assert (await memory.get(("chat", name), user_id=user)).text == text
            hits = await memory.search(text, user_id=user, limit=50)
            assert name in {source for hit in hits for source in hit.sources}


async def rebuilt_digests(place: Path, users: list[str]) -> dict[str, str]:
    """Return what the users' digests are after the stores were made anew from the journal."""
    (place / "data" / "identity.sqlite").unlink()
    for path in sorted((place / "data" / "episodes").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    async with open_memory(place) as memory:
        return {user: await memory.digest(user_id=user) for user in users}


@pytest.mark.parametrize("make", CLASSES.values(), ids=CLASSES)
async def test_every_input_is_stored_refused_or_buried(
    make: Callable[[], list[Case]], tmp_path: Path
) -> None:
    """Accepted, refused and buried are all that was sent, id by id, and nothing else changed."""
    cases = make()
    assert len(cases) >= 100
    async with open_memory(tmp_path) as memory:
        kept = await add_kept(memory)
        account = await judge(memory, cases)
        assert await memory.digest(user_id=ANA) == kept
        await assert_at_work(memory)
        users = sorted({ANA, EVE} | {user for user, *_ in account.stored})
        digests = {user: await memory.digest(user_id=user) for user in users}
    assert await rebuilt_digests(tmp_path, users) == digests


def test_there_are_enough_classes() -> None:
    """At least 25 classes of input are named, and no name twice."""
    assert len(CLASSES) == len(TEXT_CLASSES) + len(FIELD_CLASSES) + len(WIRE_CLASSES) >= 25


async def test_the_longest_record_is_buried_too(tmp_path: Path) -> None:
    """A record as long as the log takes has a letter that fits, and the writer goes on."""
    async with open_memory(tmp_path) as memory:
        kept = await add_kept(memory)
        pairs = headers(EVE, "long")
        room = REQUEST_BYTES_MAX - sum(len(name) + len(value) for name, value in pairs)
        value = (KEPT[1] * (room // len(KEPT[1].encode()))).encode()
        key = owner_key("default", EVE).encode()
        await memory.runtime.engines.log.append([NewRecord(TURNS.name, key, value, pairs)])
        await memory.settled()
        (letter,) = await memory.dead_letters(user_id=EVE, show=True)
        assert_sentence(letter.reason, KEPT)
        assert letter.original is not None
        assert letter.original.startswith(KEPT[1])
        assert await memory.digest(user_id=ANA) == kept
        await assert_at_work(memory)


async def test_a_forget_on_the_wire_reaches_its_own_user_only(tmp_path: Path) -> None:
    """A forget that names the event of another user removes nothing of that user's."""
    async with open_memory(tmp_path) as memory:
        kept = await add_kept(memory)
        named = event_id("default", ANA, "chat", "kept-0")
        value = orjson.dumps({"event_ids": [str(named)]})
        pairs = headers(EVE, "hostile", ce_type=b"eunoe.forget.v1")
        key = owner_key("default", EVE).encode()
        await memory.runtime.engines.log.append([NewRecord(COMMANDS.name, key, value, pairs)])
        await memory.settled()
        assert await memory.digest(user_id=ANA) == kept


@pytest.mark.parametrize("ids", [("kept-0",), (("chat", "kept-0"),), ["kept-0"], "kept-0"])
async def test_one_id_is_forgotten_however_it_is_given(ids: object, tmp_path: Path) -> None:
    """An id alone, in a tuple, in a list or with its source names the same turn."""
    async with open_memory(tmp_path) as memory:
        await add_kept(memory)
        report = await memory.forget(ids, user_id=ANA)  # type: ignore[arg-type]  # any of its forms
        assert report.forgotten == ("kept-0",)
        assert [item.id for item in await memory.list(user_id=ANA, kinds=["turn"])] == ["kept-1"]


async def test_two_texts_in_a_tuple_are_source_and_id(tmp_path: Path) -> None:
    """A tuple of three ids is three ids; of two it is a pair, as the documentation says."""
    async with open_memory(tmp_path) as memory:
        await add_kept(memory)
        await memory.add({"id": "kept-2", "content": KEPT[0]}, user_id=ANA)
        with pytest.raises(eunoe.NotFound):
            await memory.forget(("kept-0", "kept-1"), user_id=ANA)
        every = ("kept-0", "kept-1", "kept-2")
        assert (await memory.forget(every, user_id=ANA)).forgotten == every
        assert await memory.list(user_id=ANA) == []
