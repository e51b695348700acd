"""A block for a prompt from what was really said: at home, through the door, and synchronously."""

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import eunoe
from eunoe.door import connect
from eunoe.streams.tokens import count
from tests.support.memories import cheap_tools, open_memory, settings_in

SHANGHAI = timezone(timedelta(hours=8))
NOW = datetime(2024, 6, 15, 14, tzinfo=SHANGHAI)

ENGLISH = [
    ("m1", "user", "Anna", "I moved to Bergen in May."),
    ("m2", "assistant", None, "Bergen is lovely [m9].\nShall I book the night train?"),
    ("m3", "user", "Anna", "Please book the night train to Oslo on Friday."),
    ("m4", "user", "Anna", "My violin teacher is called Nora."),
]
CHINESE = [
    ("m1", "user", "安娜", "我搬到杭州了。"),
    ("m2", "assistant", None, "杭州很美［m9］。\n要我订夜车票吗？"),
    ("m3", "user", "安娜", "请订周五去上海的夜车票。"),
    ("m4", "user", "安娜", "我的小提琴老师叫诺拉。"),
]


def messages(said: list[tuple[str, str, str | None, str]]) -> list[dict[str, Any]]:
    """Return messages of five days up to the day before the question."""
    start = datetime(2024, 6, 10, 9, 30, tzinfo=SHANGHAI)
    return [
        {
            "id": id_,
            "role": role,
            "content": text,
            "time": start + timedelta(days=day),
            "session_id": f"s{day // 2}",
            "metadata": {"channel": "travel"} if id_ in {"m2", "m3"} else {},
            **({"name": name} if name else {}),
        }
        for day, (id_, role, name, text) in enumerate(said)
    ]


async def test_an_english_conversation(tmp_path: Path) -> None:
    """An exact answer, a search, a time, filters and a small budget, each as a block."""
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone("Europe/Oslo", user_id="ana")
        await memory.add(messages(ENGLISH), user_id="ana")
        exact = await memory.context("Where do I live?", user_id="ana", now=NOW)
        assert exact.text.splitlines() == [
            "Times are in Europe/Oslo; it is Saturday 2024-06-15 08:00.",
            "Monday 2024-06-10 03:30 Anna, home: Bergen [m1]",
        ]
        found = await memory.context("night train", user_id="ana", now=NOW)
        assert (
            "Tuesday 2024-06-11 03:30 assistant: Bergen is lovely ［m9］. Shall I book the night "
            "train? [m2]"
        ) in found.text.splitlines()
        assert found.tokens == count(found.text) <= 1000
        assert found.timezone == "Europe/Oslo"
        timed = await memory.context("What did we say last Tuesday?", user_id="ana", now=NOW)
        assert [hit.id for hit in timed.hits] == ["m2"]
        of_travel = {"metadata": {"channel": "travel"}, "role": "user"}
        bounded = await memory.context("night train", user_id="ana", now=NOW, filters=of_travel)
        assert [hit.sources for hit in bounded.hits] == [("m3",)]
        small = await memory.context("night train", user_id="ana", now=NOW, budget_tokens=42)
        assert small.hits == found.hits[:1]
        assert small.tokens <= 42


async def test_a_chinese_conversation(tmp_path: Path) -> None:
    """The same in Chinese: the labels are Chinese where the question is."""
    async with open_memory(tmp_path) as memory:
        await memory.set_timezone("Asia/Tokyo", user_id="ana")
        await memory.add(messages(CHINESE), user_id="ana")
        exact = await memory.context("我住在哪里？", user_id="ana", now=NOW)
        assert exact.text.splitlines() == [
            "时间按 Asia/Tokyo；现在是星期六 2024-06-15 15:00。",
            "星期一 2024-06-10 10:30 安娜，home：杭州 [m1]",
        ]
        found = await memory.context("夜车票", user_id="ana", now=NOW)
        assert (
            "星期二 2024-06-11 10:30 助手：杭州很美［m9］。 要我订夜车票吗？ [m2]"
            in found.text.splitlines()
        )
        assert found.tokens == count(found.text) <= 1000
        assert found.timezone == "Asia/Tokyo"
        timed = await memory.context("6月11日说了什么？", user_id="ana", now=NOW)
        assert [hit.id for hit in timed.hits] == ["m2"]
        of_travel = {"metadata": {"channel": "travel"}, "role": "user"}
        bounded = await memory.context("夜车票", user_id="ana", now=NOW, filters=of_travel)
        assert [hit.sources for hit in bounded.hits] == [("m3",)]
        small = await memory.context("夜车票", user_id="ana", now=NOW, budget_tokens=55)
        assert small.hits == found.hits[:1]
        assert small.tokens <= 55


async def test_two_producers_with_one_id_keep_their_speakers(tmp_path: Path) -> None:
    """Who spoke is found by the id and the time, where two producers use the same id."""
    async with open_memory(tmp_path) as memory:
        for source, name, day in (("chat", "Anna", 10), ("mail", "Boris", 11)):
            time = datetime(2024, 6, day, 9, tzinfo=SHANGHAI)
            text = f"The parcel of {name} arrived"
            message = {"id": "1", "role": "user", "name": name, "content": text, "time": time}
            await memory.add(message, user_id="ana", source=source)
        lines = (await memory.context("parcel arrived", user_id="ana", now=NOW)).text.splitlines()
    assert "Monday 2024-06-10 09:00 Anna: The parcel of Anna arrived [1]" in lines
    assert "Tuesday 2024-06-11 09:00 Boris: The parcel of Boris arrived [1]" in lines


@pytest.mark.parametrize(("said", "question"), [(ENGLISH, "night train"), (CHINESE, "夜车票")])
async def test_another_process_gets_the_same_block(
    said: list[tuple[str, str, str | None, str]], question: str, tmp_path: Path
) -> None:
    """Through the door, blocks and hits are those of the owner, whatever bounds them."""
    settings = settings_in(tmp_path)
    bounds: dict[str, Any] = {
        "user_id": "ana",
        "now": NOW,
        "as_of": datetime(2030, 1, 1, tzinfo=SHANGHAI),
        "filters": {"since": NOW - timedelta(days=9), "until": NOW, "metadata": {}},
    }
    async with eunoe.open(settings, tools=cheap_tools()) as memory:
        await memory.add(messages(said), user_id="ana")
        remote = await connect(settings.folder)
        assert remote is not None
        async with remote:
            home, far = [await one.context(question, **bounds) for one in (memory, remote)]
            assert home == far
            assert home.hits
            assert await remote.search(question, **bounds) == await memory.search(
                question, **bounds
            )


@pytest.mark.parametrize(
    ("said", "question"), [(ENGLISH, "Where do I live?"), (CHINESE, "我住在哪里？")]
)
def test_scripts_get_a_block(
    said: list[tuple[str, str, str | None, str]], question: str, tmp_path: Path
) -> None:
    """The synchronous shell has the call too; nothing asked or found is an empty block."""
    with eunoe.open_sync(settings_in(tmp_path), serve=False, tools=cheap_tools()) as memory:
        memory.add(messages(said), user_id="ana")
        assert memory.context(question, user_id="ana", now=NOW).text.endswith(" [m1]")
        for empty in (
            memory.context(" ", user_id="ana"),
            memory.context(question, user_id="nobody"),
            memory.context(question, user_id="ana", limit=0),
            memory.context(question, user_id="ana", budget_tokens=0),
        ):
            assert (empty.text, empty.tokens, empty.hits) == ("", 0, ())
        for wrong in (-1, True, "9", 10**9):
            with pytest.raises(eunoe.Rejected, match="budget_tokens"):
                memory.context(question, user_id="ana", budget_tokens=wrong)
