"""The rules of recall about time, one test each, named after the rule; both languages are read.

The caller sets the user's zone: no address and no coordinates are looked up on the path.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

import eunoe
from eunoe.schemas.events import owner_key
from tests.support.memories import cheap_tools, open_memory
from tests.support.tools import SetClock

LANGUAGES: Final = ("en", "zh")
both = pytest.mark.parametrize("language", LANGUAGES)
USER: Final = "ana"
SHANGHAI: Final = "Asia/Shanghai"
NOW: Final = datetime(2024, 6, 15, 14, tzinfo=UTC)
"""A Saturday, 22:00 in Shanghai."""
THINGS: Final = {
    "en": ("the kettle", "the ladder", "the violin", "the passport", "the umbrella", "the spade"),
    "zh": ("水壶", "梯子", "小提琴", "护照", "雨伞", "铁锹"),
}
SAID: Final = {"en": "We talked about {}.", "zh": "我们聊了{}。"}
WEDNESDAY: Final = {
    "en": "What did we talk about on Wednesday of last week?",
    "zh": "上周三我们聊了什么？",
}
"""English "last Wednesday" alone may be that of this week, so that it lifts and doesn't filter."""
YESTERDAY: Final = {"en": "What did we talk about yesterday?", "zh": "昨天我们聊了什么？"}


def at(text: str, zone: str = SHANGHAI) -> datetime:
    """Return a local moment of a zone."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


async def say(memory: eunoe.Memory, language: str, *moments: datetime) -> None:
    """Say a sentence without any time at each moment; its id is its number."""
    await memory.add(
        [
            {"id": str(number), "content": SAID[language].format(thing), "time": moment}
            for number, (thing, moment) in enumerate(zip(THINGS[language], moments, strict=False))
        ],
        user_id=USER,
    )


async def found(memory: eunoe.Memory, question: str, **bounds: Any) -> list[str]:
    """Search; the ids of the sources."""
    hits = await memory.search(question, user_id=USER, **bounds)
    return [hit.sources[0] for hit in hits]


@both
async def test_c5_1_the_users_zone_is_kept_and_anchors_time(tmp_path: Path, language: str) -> None:
    """The zone that was set is a field of the profile; before, the question's offset counts."""
    # Half an hour before and after midnight in Shanghai, both on the 14th in Greenwich.
    moments = (at("2024-06-14T23:30"), at("2024-06-15T00:30"))
    async with open_memory(tmp_path) as memory:
        await say(memory, language, *moments)
        assert await found(memory, YESTERDAY[language], now=NOW) == ["0", "1"]
        local = NOW.astimezone(ZoneInfo(SHANGHAI))
        assert await found(memory, YESTERDAY[language], now=local) == ["0"]
        await memory.set_timezone(SHANGHAI, user_id=USER)
        assert await found(memory, YESTERDAY[language], now=NOW) == ["0"]
        (field,) = await memory.profile(user_id=USER)
        assert (field.slot, field.value, field.kind) == ("timezone", SHANGHAI, "profile")


@both
async def test_c5_2_the_clock_is_the_users_before_anything_is_read(
    tmp_path: Path, language: str
) -> None:
    """The same instant is another day elsewhere, whatever offset the clock is given in."""
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone(SHANGHAI, user_id=USER)
        await say(memory, language, at("2024-06-14T12:00"), at("2024-06-15T12:00"))
        late = datetime(2024, 6, 15, 15, 59, tzinfo=UTC)
        for zone in ("UTC", "America/New_York", SHANGHAI):
            for clock, expected in ((late, ["0"]), (late + timedelta(minutes=1), ["1"])):
                now = clock.astimezone(ZoneInfo(zone))
                assert await found(memory, YESTERDAY[language], now=now) == expected


@both
async def test_c5_3_a_day_is_an_interval_to_its_last_instant(tmp_path: Path, language: str) -> None:
    """The example of the rule: from 00:00:00 to the end of 2024-06-05, local time, and no more."""
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone(SHANGHAI, user_id=USER)
        await say(
            memory,
            language,
            at("2024-06-04T23:59:59.999999"),
            at("2024-06-05T00:00:00"),
            at("2024-06-05T23:59:59.999999"),
            at("2024-06-06T00:00:00"),
            at("2024-06-12T12:00:00"),  # the Wednesday of this week
        )
        assert await found(memory, WEDNESDAY[language], now=NOW) == ["1", "2"]


@both
async def test_c5_4_every_time_has_its_zone(tmp_path: Path, language: str) -> None:
    """Hits, items, fields and blocks carry times with offset; a block names the user's zone."""
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone(SHANGHAI, user_id=USER)
        await say(memory, language, at("2024-06-05T10:15"))
        times = [hit.said_at for hit in await memory.search(WEDNESDAY[language], user_id=USER)]
        for item in await memory.list(user_id=USER):
            times += [item.said_at, item.created_at, item.last_accessed]
            for step in await memory.history(item.id, user_id=USER):
                times += [step.at, step.recorded_at]
        times += [field.said_at for field in await memory.profile(user_id=USER)]
        assert len(times) >= 6
        assert all(moment.utcoffset() is not None for moment in times)
        block = await memory.context(WEDNESDAY[language], user_id=USER, now=NOW)
        assert block.timezone == SHANGHAI
        first, line = block.text.splitlines()
        assert SHANGHAI in first
        assert "2024-06-15 22:00" in first
        assert "2024-06-05 10:15" in line


@both
async def test_c5_5_a_request_finds_what_was_done_then(tmp_path: Path, language: str) -> None:
    """Of three contracts that went to one person, the one of that day is found."""
    sent, asked = {
        "en": (
            "I sent the contract for {} to Zhang.",
            "Resend the contract that I sent to Zhang on Wednesday of last week.",
        ),
        "zh": ("我把{}的合同发给张总了。", "上周三我把什么合同发给张总了？"),
    }[language]
    days = ("2024-05-29", "2024-06-05", "2024-06-12")
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone(SHANGHAI, user_id=USER)
        messages = [
            {"id": day, "content": sent.format(thing), "time": at(f"{day}T11:00")}
            for day, thing in zip(days, THINGS[language], strict=False)
        ]
        await memory.add(messages, user_id=USER)
        await say(memory, language, *(at(f"2024-05-2{number}T09:00") for number in range(6)))
        assert await found(memory, asked, now=NOW) == ["2024-06-05"]


@both
async def test_c5_6_a_reminder_is_of_the_time_that_it_names(tmp_path: Path, language: str) -> None:
    """Tomorrow at ten is read from the turn's own time in the user's zone, once."""
    reminder, asked = {
        "en": ("Remind me tomorrow at 10 am to call the bank.", "When do I call the bank today?"),
        "zh": ("提醒我明天上午十点给银行打电话。", "今天几点给银行打电话？"),
    }[language]
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone(SHANGHAI, user_id=USER)
        said = {"id": "r", "content": reminder, "time": at("2024-06-14T23:50")}
        await memory.add(said, user_id=USER)
        await say(memory, language, *(at(f"2024-06-0{number}T23:50") for number in range(1, 7)))
        journal = memory.runtime.journal
        partition = journal.log.partition_of(owner_key("default", USER).encode())
        records = [one.record async for some in journal.read(partition, 0) for one in some]
        (about,) = [one.about for one in records if reminder_of(one.about)]
        assert about == (int(at("2024-06-15T10:30").timestamp()),)
        assert "r" in await found(memory, asked, now=NOW)
        day_after = NOW + timedelta(days=1)
        bounds = {"since": at("2024-06-16T00:00"), "until": at("2024-06-17T00:00")}
        assert await found(memory, reminder, now=day_after, filters=bounds) == []


def reminder_of(about: tuple[int, ...]) -> bool:
    """Tell whether a turn names a time."""
    return bool(about)


@both
async def test_c5_8_another_zone_counts_from_when_it_is_set(tmp_path: Path, language: str) -> None:
    """The caller tells the new zone; questions from then on are read in it, earlier ones not."""
    clock = SetClock(at("2024-06-14T12:00"))
    async with open_memory(tmp_path, tools=cheap_tools(clock=clock)) as memory:
        await memory.set_timezone(SHANGHAI, user_id=USER)
        await say(memory, language, at("2024-06-14T23:30"), at("2024-06-15T00:30"))
        assert await found(memory, YESTERDAY[language], now=NOW) == ["0"]
        clock.moment = NOW - timedelta(hours=1)
        await memory.set_timezone("America/New_York", user_id=USER)
        assert await found(memory, YESTERDAY[language], now=NOW) == ["0", "1"]
        before = NOW - timedelta(hours=2)
        assert await found(memory, YESTERDAY[language], now=before) == ["0"]
        block = await memory.context(YESTERDAY[language], user_id=USER, now=NOW)
        assert block.timezone == "America/New_York"


@both
@pytest.mark.parametrize(
    ("day", "hours"), [("2024-03-31", 23), ("2024-10-27", 25)], ids=["short", "long"]
)
async def test_c5_9_a_day_of_changed_clocks_is_whole(
    tmp_path: Path, language: str, day: str, hours: int
) -> None:
    """A day of 23 or 25 hours is found from its first to its last instant, and nothing beside."""
    berlin = "Europe/Berlin"
    start = at(f"{day}T00:00", berlin).astimezone(UTC)
    end = start + timedelta(hours=hours)
    instant = timedelta(microseconds=1)
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone(berlin, user_id=USER)
        await say(
            memory,
            language,
            start - instant,
            start,
            start + timedelta(hours=2, minutes=30),
            end - instant,
            end,
        )
        now = end + timedelta(hours=9)
        assert await found(memory, YESTERDAY[language], now=now) == ["1", "2", "3"]


@both
@pytest.mark.parametrize(
    ("now", "day"),
    [
        ("2024-06-27T09:00", "2024-07-03"),
        ("2024-06-28T00:30", "2024-07-03"),  # in Greenwich it is still the 27th
        ("2024-12-27T09:00", "2025-01-01"),
        ("2024-02-24T09:00", "2024-02-28"),
        ("2024-02-28T09:00", "2024-03-06"),
    ],
)
async def test_c7_t03_next_wednesday_lies_in_the_next_month(
    tmp_path: Path, language: str, now: str, day: str
) -> None:
    """Over the end of a month and a year, next Wednesday is the right local day."""
    asked = {"en": "What do I have next Wednesday?", "zh": "下周三我有什么事？"}[language]
    planned = {"en": "The lease is signed on {}.", "zh": "{}签租约。"}[language]
    wednesday = datetime.fromisoformat(day)
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone(SHANGHAI, user_id=USER)
        messages = [
            {
                "id": str(shift),
                "content": planned.format((wednesday + timedelta(days=shift)).date().isoformat()),
                "time": at(now) - timedelta(days=20),
            }
            for shift in (-7, -1, 0, 1, 7)
        ]
        await memory.add(messages, user_id=USER)
        clock = at(now).astimezone(UTC)
        assert await found(memory, asked, now=clock) == ["0"]


@both
async def test_c7_t07_the_zone_changes_on_a_journey(tmp_path: Path, language: str) -> None:
    """The field follows, with its history; relative dates are read where the user is now.

    What was said before keeps the time that it named where it was said.
    """
    clock = SetClock(at("2024-06-13T12:00"))
    tomorrow = {"en": "Tomorrow the piano is tuned.", "zh": "明天给钢琴调音。"}[language]
    today = {"en": "What do I have today?", "zh": "我今天有什么事？"}[language]
    async with open_memory(tmp_path, tools=cheap_tools(clock=clock)) as memory:
        await memory.set_timezone(SHANGHAI, user_id=USER)
        said = {"id": "piano", "content": tomorrow, "time": at("2024-06-14T23:00")}
        await memory.add(said, user_id=USER)
        clock.moment = NOW - timedelta(hours=1)
        await memory.set_timezone("Pacific/Auckland", user_id=USER)
        (field,) = await memory.profile(user_id=USER)
        assert (field.value, field.version) == ("Pacific/Auckland", 2)
        steps = await memory.history("timezone", user_id=USER)
        assert [step.text for step in steps] == [SHANGHAI, "Pacific/Auckland"]
        # In Auckland it is Sunday already; the piano's day was Saturday.
        assert NOW.astimezone(ZoneInfo("Pacific/Auckland")).day == 16
        assert await found(memory, today, now=NOW) == []
        assert await found(memory, today, now=NOW - timedelta(hours=2)) == ["piano"]
        await say(memory, language, at("2024-06-16T01:00", "Pacific/Auckland"))
        assert await found(memory, today, now=NOW) == ["0"]
