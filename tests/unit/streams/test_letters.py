"""Dead letters: what is kept of a refused event, for how long, and who can read it."""

from datetime import UTC, datetime, timedelta
from typing import Final, cast

import orjson
import pytest

from eunoe.schemas.cloudevents import encode
from eunoe.schemas.errors import Damaged, Rejected
from eunoe.schemas.events import Envelope, EventType, Turn, owner_key
from eunoe.schemas.ports import Keys, Log, LogRecord, NewRecord, Position
from eunoe.schemas.topics import DEAD_LETTERS, TURNS
from eunoe.streams.letters import KEPT, Letter, Letters
from tests.support.fakes import EPOCH, PARTITIONS, FailingOnce, ListLog, OpenKeys
from tests.support.tools import START, SetClock

SAID: Final = {
    "en": "I moved to Lisbon with the blue notebook.",
    "zh": "我带着蓝色笔记本搬到了里斯本。",
}
REASON: Final = Rejected("An event with this source and id is stored with other content.")
both = pytest.mark.parametrize("language", ["en", "zh"])


class Desk:
    """Letters over ports in memory."""

    def __init__(self) -> None:
        self.steps = FailingOnce()
        self.clock = SetClock(step=timedelta(0))
        self.log = ListLog(self.clock, self.steps)
        self.keys = OpenKeys(self.steps)
        self.letters = Letters(
            cast("Log", self.log), cast("Keys", self.keys), self.clock, PARTITIONS
        )

    async def bury(self, record: LogRecord, attempts: int = 1) -> Letter:
        """Bury a record; returns the letter as it lies in the log."""
        before = len(self.values())
        await self.letters.bury(record, REASON, attempts)
        assert len(self.values()) == before + 1
        return next(one for one in self.values() if one.first_seen == record.timestamp)

    def values(self) -> list[Letter]:
        """Return all letters."""
        return [
            Letter.model_validate_json(value or b"") for value in self.log.values(DEAD_LETTERS.name)
        ]


def event(text: str, user: str = "ana", producer: str = "e1") -> Envelope:
    """Return a turn's event."""
    return Envelope(
        id=producer,
        source="chat",
        type=EventType.TURN_ADDED,
        time=START,
        tenant_id="default",
        user_id=user,
        payload=Turn(role="user", content=text),
    )


def readable(one: Envelope, seen: datetime = START) -> LogRecord:
    """Return an event as the consumer reads it."""
    headers, value = encode(one)
    return LogRecord(Position(TURNS.name, 0, EPOCH, 5), one.owner.encode(), value, headers, seen)


def unreadable(text: str, key: str = "default/ana", seen: datetime = START) -> LogRecord:
    """Return a record that is no event."""
    return LogRecord(Position(TURNS.name, 0, EPOCH, 6), key.encode(), text.encode(), (), seen)


@both
async def test_a_readable_event_is_sealed_for_its_owner(language: str) -> None:
    """Content stands in the box alone; reason, attempts and identity lie beside it."""
    desk = Desk()
    one = event(SAID[language])
    letter = await desk.bury(readable(one), attempts=3)
    assert (letter.topic, letter.owner, letter.event_id) == (TURNS.name, one.owner, one.event_id)
    assert (letter.reason, letter.attempts, letter.first_seen) == (str(REASON), 3, START)
    assert letter.box is not None
    assert (letter.shared, letter.shared_key) == (None, None)
    assert SAID[language] in letter.box.sealed.decode()
    assert SAID[language] not in letter.model_copy(update={"box": None}).model_dump_json()
    assert desk.keys.present == {letter.box.key_id: one.owner}


@both
async def test_an_unreadable_record_has_a_key_of_tenant_and_day(language: str) -> None:
    """What can't be read belongs to nobody: its key is shared by the tenant's letters of a day."""
    desk = Desk()
    letter = await desk.bury(unreadable(SAID[language]))
    assert (letter.box, letter.event_id) == (None, None)
    assert letter.owner == "default/ana"
    assert letter.shared == SAID[language].encode()
    assert desk.keys.shared == {letter.shared_key}
    same = await desk.bury(unreadable("x", "default/ben", START + timedelta(seconds=1)))
    other = await desk.bury(unreadable("x", "acme/ana", START + timedelta(seconds=2)))
    desk.clock.moment += timedelta(days=1)
    later = await desk.bury(unreadable("x", seen=START + timedelta(seconds=3)))
    assert same.shared_key == letter.shared_key
    assert len({letter.shared_key, other.shared_key, later.shared_key}) == 3


async def test_a_key_that_is_no_text_is_no_error() -> None:
    """Whatever bytes a producer made the record key of, the letter is written."""
    desk = Desk()
    record = LogRecord(Position(TURNS.name, 0, EPOCH, 6), b"\xff\xfe", None, (), START)
    letter = await desk.bury(record)
    assert letter.shared == b""
    (found,) = await desk.letters.refused(None, show=True)
    assert found.original == ""


async def test_the_key_is_put_before_the_letter_is_appended() -> None:
    """A letter in the log can be opened: nothing is appended whose key isn't durable."""
    desk = Desk()
    await desk.bury(readable(event("tea")))
    assert desk.steps.happened == ["put", f"append {DEAD_LETTERS.name}"]


async def test_a_letter_lies_where_its_event_lay() -> None:
    """The record's key is that of the refused one, so an owner's letters share a partition."""
    desk = Desk()
    record = readable(event("tea"))
    await desk.bury(record)
    (found,) = [one for records in desk.log.records.values() for one in records]
    assert found.key == record.key


@both
async def test_letters_come_oldest_first_and_open_when_asked(language: str) -> None:
    """By the time they were first seen, whatever their partition; originals only on demand."""
    desk = Desk()
    for number, user in enumerate(("ana", "ben", "cleo", "dora")):
        seen = START - timedelta(minutes=number)
        await desk.bury(readable(event(SAID[language], user), seen))
    closed = await desk.letters.refused(None, show=False)
    assert [one.first_seen for one in closed] == sorted(one.first_seen for one in closed)
    assert [one.original for one in closed] == [None] * 4
    (shown,) = await desk.letters.refused(owner_key("default", "ben"), show=True)
    assert orjson.loads(shown.original or "")["content"] == SAID[language]
    assert shown.event_id == str(event("tea", "ben").event_id)


async def test_a_shredded_letter_shows_no_original() -> None:
    """After its key went, a letter still says why, and no longer what."""
    desk = Desk()
    letter = await desk.bury(readable(event("tea")))
    assert letter.box is not None
    await desk.keys.shred([letter.box.key_id])
    (found,) = await desk.letters.refused(None, show=True)
    assert (found.original, found.reason) == (None, str(REASON))


async def test_the_keys_of_an_owners_events_are_found() -> None:
    """A forget gets the data keys of letters that hold the events, of that owner alone."""
    desk = Desk()
    mine, other = event("tea"), event("milk", producer="e2")
    theirs = event("tea", "ben")
    letters = [
        await desk.bury(readable(one, START + timedelta(seconds=number)))
        for number, one in enumerate((mine, other, theirs))
    ]
    await desk.bury(unreadable("noise", seen=START + timedelta(minutes=1)))
    boxes = [one.box.key_id for one in letters if one.box is not None]
    asked = [mine.event_id, theirs.event_id]
    assert await desk.letters.keys_of(mine.owner, asked) == [boxes[0]]
    assert await desk.letters.keys_of(theirs.owner, asked) == [boxes[2]]
    assert await desk.letters.keys_of(mine.owner, []) == []


async def test_letters_go_after_seven_days_with_their_keys() -> None:
    """What is older than a week is deleted and can't be opened; the rest stays."""
    desk = Desk()
    old = await desk.bury(readable(event("tea"), desk.clock.moment))
    desk.clock.moment += KEPT
    young = await desk.bury(readable(event("milk", producer="e2"), desk.clock.moment))
    assert await desk.letters.expire() == 0
    desk.clock.moment += timedelta(seconds=1)
    assert await desk.letters.expire() == 1
    assert [one.letter_id for one in desk.values()] == [young.letter_id]
    assert old.box is not None
    assert young.box is not None
    assert set(desk.keys.present) == {young.box.key_id}


async def test_shared_keys_go_with_the_last_letter_of_their_day() -> None:
    """A key that several letters share is destroyed when none of them is kept."""
    desk = Desk()
    await desk.bury(unreadable("one", seen=desk.clock.moment))
    desk.clock.moment += timedelta(hours=2)
    await desk.bury(unreadable("two", "default/ben", desk.clock.moment))
    (name,) = desk.keys.shared
    desk.clock.moment += KEPT - timedelta(hours=1)
    assert await desk.letters.expire() == 1
    assert desk.keys.shared == {name}
    desk.clock.moment += timedelta(hours=2)
    assert await desk.letters.expire() == 1
    assert desk.keys.shared == set()


async def test_letters_of_many_pages_are_all_listed() -> None:
    """However many letters there are, each is listed once."""
    desk = Desk()
    moment = datetime(2024, 6, 15, tzinfo=UTC)
    for number in range(600):
        await desk.letters.bury(unreadable(f"{number}", f"default/u{number}", moment), REASON, 1)
    found = await desk.letters.refused(None, show=True)
    assert sorted(int(one.original or -1) for one in found) == list(range(600))


async def test_a_malformed_letter_is_damage() -> None:
    """What nobody of ours wrote into the topic is told in a sentence that repeats none of it."""
    desk = Desk()
    await desk.bury(unreadable("x"))
    await desk.log.append([NewRecord(DEAD_LETTERS.name, b"default/ana", b'{"said": "secret"}')])
    with pytest.raises(Damaged, match="malformed: restore") as caught:
        await desk.letters.refused(None, show=False)
    assert "secret" not in str(caught.value)


async def test_a_note_tells_all_but_the_original() -> None:
    """Who makes no keys writes a letter all the same: where it lay, and why it was refused."""
    desk = Desk()
    await desk.letters.note(unreadable("{"), Rejected("It is no recall."), 1)
    (letter,) = await desk.letters.refused(None, show=True)
    assert (letter.reason, letter.original) == ("It is no recall.", None)
    assert (desk.keys.present, desk.keys.shared) == ({}, set())
