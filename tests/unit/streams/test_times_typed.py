"""Times as people type them: short forms, misspellings and two languages in one expression."""

import runpy
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from eunoe.streams.moments import read_question
from eunoe.streams.times import SessionOrdinal, parse

ZONE: Final = ZoneInfo("Asia/Shanghai")
NOW: Final = datetime(2026, 3, 23, 10, tzinfo=ZONE)
"""A Monday."""
BENCHMARK: Final = Path(__file__).parents[3] / "benchmarks" / "times.py"
FIRST: Final = SessionOrdinal(1, from_end=False)
LAST: Final = SessionOrdinal(1, from_end=True)


def days(text: str) -> list[tuple[str, str]]:
    """Return the intervals of a question asked at `NOW`, the seconds left out."""
    spans = parse(text, NOW, ZONE).spans
    return [(str(one.start)[:13], str(one.end)[:13]) for one in spans]


def night(day: int) -> list[tuple[str, str]]:
    """Return the night of a day of that March."""
    return [(f"2026-03-{day:02} 18", f"2026-03-{day + 1:02} 05")]


def day(number: int) -> list[tuple[str, str]]:
    """Return a day of that March."""
    return [(f"2026-03-{number:02} 00", f"2026-03-{number + 1:02} 00")]


TYPED: Final = [
    ("what did i say yday", "昨儿个我说啥了", day(22)),
    ("what did i tell u the day b4 yday", "前儿个我跟你说了啥", day(21)),
    ("remind me tmrw", "明儿提醒我", day(24)),
    ("what was i raging about two weeks ago tonight?", None, night(9)),
    ("who was i studyin w two wks ago today", "俩礼拜前的今天我跟谁在学习", day(9)),
    ("a week ago yesterday i named a book", None, day(15)),
    ("what did i get on sat n how much", "周六我买了啥花了多少", day(21)),
    ("what did i eat sat nite", "周六晚上我吃了啥", night(21)),
    ("last thurs i met who", "上周四我见了谁", day(19)),
    ("the friday before last what did i cook", "上上周五我做了啥菜", day(13)),
    ("two fridays ago i told you a name", "上上周五我跟你说过个名字", day(13)),
    ("the 3rd of march what did i pay", "三月三号我付了多少", day(3)),
    ("what did i do on 3rd", None, day(3)),
    ("what did i do back in may", "五月我做了啥", [("2025-05-01 00", "2025-06-01 00")]),
    ("3 mo ago i bought what", "仨月前我买了啥", [("2025-12-08 00", "2026-01-08 00")]),
    ("half a month ago i named it", "半拉月前我说过啥", [("2026-03-01 00", "2026-03-16 00")]),
    ("20mins ago i gave you a code", "二十分钟前我给你个号", [("2026-03-23 09", "2026-03-23 09")]),
    ("what did i say this morn", "今儿早上我说了啥", [("2026-03-23 05", "2026-03-23 12")]),
    ("in Sept '24 i lived where", "24年9月我住哪儿", [("2024-09-01 00", "2024-10-01 00")]),
    ("last Friday 晚上 i said what", "上周 Friday 晚上我说了啥", night(20)),
    ("what did i do yesterday 下午三点", "昨天 3pm 我记了啥", [("2026-03-22 15", "2026-03-22 16")]),
    ("what is on next month 5号", "下个月5号我有啥事", [("2026-04-05 00", "2026-04-06 00")]),
    ("what did i drink since sat", "打周六起我喝了几杯", [("2026-03-21 00", "2026-03-23 10")]),
]


@pytest.mark.parametrize(("english", "chinese", "meant"), TYPED)
def test_typed_times_mean_what_they_stand_for(
    english: str, chinese: str | None, meant: list[tuple[str, str]]
) -> None:
    """A short or spoken form gives the interval of the full one, in both languages."""
    assert days(english) == meant
    assert chinese is None or days(chinese) == meant


@pytest.mark.parametrize(
    "text",
    [
        "the dog sat down", "when i last sat an exam", "is this sun cream good",
        "they wed in church",
        "you may be right", "since april left i am alone", "june in accounts told me so",
        "how long will this last may i ask", "hr want me in", "mo from work", "i owe 300 cny",
        "bill nye on tv", "on 3rd street", "what is a 20m race", "SAT in maths", "last min change",
        "我猫叫六月", "我朋友六月的生日是哪天", "前儿媳来了", "大半个西瓜", "仨人去的", "擦黑板",
        "打五点的车", "一早就知道", "方才华", "小半碗饭", "个把人来过",
    ],
)  # fmt: skip
def test_other_words_that_are_typed_so_are_no_times(text: str) -> None:
    """A short form that is another word here gives nothing."""
    parsed = parse(text, NOW, ZONE)
    assert (parsed.spans, parsed.ordinal, parsed.rule) == ((), None, None)


@pytest.mark.parametrize(
    ("text", "session"),
    [
        ("the first time i texted u what did i want", FIRST),
        ("头一次跟你说话那天我叫你啥", FIRST),
        ("first thing i ever told you", FIRST),
        ("最开始那次我问了你什么", FIRST),
        ("when we first talked what was i on about", FIRST),
        ("第一回跟你聊天我说了啥", FIRST),
        ("last time we talked abt tea", LAST),
        ("上回你说啥了", LAST),
        ("上上回你给我讲的笑话再讲一遍", SessionOrdinal(2, from_end=True)),
        ("two convos ago", SessionOrdinal(2, from_end=True)),
        ("the first time i texted mum", None),
        ("第一次跟妈妈聊天是什么时候", None),
        ("last time i talked to anna", None),
        ("第一次去罗马是哪年", None),
    ],
)
def test_talks_are_told_from_other_firsts(text: str, session: SessionOrdinal | None) -> None:
    """A talk with whom is asked counts as a session; one with somebody else doesn't."""
    assert parse(text, NOW, ZONE).ordinal == session


@pytest.mark.parametrize(
    "text",
    [
        "In our first chat, where did we eat in the evening?",
        "第一次聊天那天，晚上我们去谁家吃饭",
        "what did we eat that day in the evening",
        "那天我们出去了，晚上吃了什么",
    ],
)
def test_a_part_of_another_day_is_not_of_today(text: str) -> None:
    """Beside a session or a day that is pointed at, a bare part of the day adds no interval."""
    asked = read_question(text, NOW, ZONE)
    assert (asked.within, asked.near) == (None, None)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("u said it yday, no?", "yday"),
        ("wat did i eat sat nite", "sat nite"),
        ("我tmr 早上走", "tmr 早上"),
    ],
)
def test_positions_are_those_of_what_was_typed(text: str, expression: str) -> None:
    """First and last cut the typed form out of the text, though it was spelled out."""
    spans = parse(text, NOW, ZONE).spans
    assert [text[one.first : one.last] for one in spans] == [expression]


def test_the_sets_are_read_as_well_as_they_were() -> None:
    """Of each set most lines are right, and what is no time is hardly ever taken for one."""
    found = runpy.run_path(str(BENCHMARK))["figures"](tells=False)
    for language in ("en", "zh"):
        assert found[f"right {language}"] >= 0.97
        assert found[f"right {language} typed"] >= 0.97
        assert found[f"right {language} typed, held out"] >= 0.94
        assert found[f"false hits {language} typed"] == 0
        assert found[f"false hits {language} typed, held out"] == 0
