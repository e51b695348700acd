"""What a question says about time, and what times a turn is about; both languages in pairs."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from eunoe.schemas.limits import ABOUT_MAX
from eunoe.schemas.ports import Interval
from eunoe.streams.moments import Asked, about, read_question
from eunoe.streams.times import SessionOrdinal

ZONE: Final = ZoneInfo("Asia/Shanghai")
NOW: Final = datetime(2024, 6, 15, 22, tzinfo=ZONE)
"""A Saturday."""


def seconds(text: str | None) -> float | None:
    """Return a local time in seconds since 1970; None stays None."""
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=ZONE).timestamp()


def interval(start: str | None, end: str | None) -> Interval:
    """Return an interval of local times."""
    return seconds(start), seconds(end)


def read(question: str) -> Asked:
    """Read a question asked at `NOW`."""
    return read_question(question, NOW, ZONE)


def names(*pairs: tuple[str, str, object]) -> pytest.MarkDecorator:
    """Parametrize over the two languages: (English, Chinese, what both mean)."""
    rows = [(text, meant) for english, chinese, meant in pairs for text in (english, chinese)]
    return pytest.mark.parametrize(("question", "meant"), rows)


YESTERDAY: Final = interval("2024-06-14", "2024-06-15")
UNSURE_DAYS: Final = interval("2024-06-09", "2024-06-14")


@names(
    ("What did I say yesterday?", "我昨天说了什么?", YESTERDAY),
    ("What did I do in 2023?", "2023年我做了什么?", interval("2023-01-01", "2024-01-01")),
    ("What happened before May 3?", "五月三号之前发生了什么?", interval(None, "2024-05-03")),
    (
        "Compare June 3, 2024 with June 7, 2024.",
        "比较一下2024年6月3号和2024年6月7号。",
        interval("2024-06-03", "2024-06-08"),
    ),
)
def test_a_sure_time_filters(question: str, meant: Interval) -> None:
    """A sure interval is one to filter by; several are one from the first to the last."""
    asked = read(question)
    assert (asked.within, asked.near) == (meant, None)


@names(
    ("What will I cook tomorrow?", "明天我要煮什么菜?", interval("2024-06-16", "2024-06-17")),
    ("When is choir this week?", "这周合唱团几点?", interval("2024-06-10", "2024-06-17")),
)
def test_a_time_that_is_not_over_lifts(question: str, meant: Interval) -> None:
    """What was said before such a time tells of it too, so that it is no filter."""
    asked = read(question)
    assert (asked.within, asked.near, asked.past) == (None, meant, None)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("上上个周末的星期天我说了什么?", interval("2024-06-02", "2024-06-03")),
        ("上周的周三我说了什么?", interval("2024-06-05", "2024-06-06")),
        ("上个月的15号我说了什么?", interval("2024-05-15", "2024-05-16")),
    ],
)
def test_a_time_in_a_time_is_read_within_it(question: str, meant: Interval) -> None:
    """In Chinese the wider time stands first, and 的 joins them; in English they are one."""
    assert read(question).within == meant


@names(
    ("What did I say a few days ago?", "几天前我说了什么?", UNSURE_DAYS),
    ("What did I do recently?", "最近我做了什么?", interval("2024-05-16", "2024-06-15T22:00")),
    ("What did I do a month ago?", "一个月前我做了什么?", interval("2024-04-30", "2024-05-31")),
)
def test_an_unsure_time_lifts(question: str, meant: Interval) -> None:
    """An interval that isn't sure is one to lift by, and filters nothing."""
    asked = read(question)
    assert (asked.within, asked.near) == (None, meant)


@names(
    (
        "Was it yesterday or a few days ago that I met Nora?",
        "我是昨天还是几天前见的诺拉?",
        YESTERDAY,
    ),
)
def test_of_sure_and_unsure_the_sure_count(question: str, meant: Interval) -> None:
    """Beside a sure expression an unsure one says nothing."""
    asked = read(question)
    assert (asked.within, asked.near) == (meant, None)


@names(
    ("Where do I live?", "我住在哪里?", None),
    ("What is my favourite tea?", "我最喜欢的茶是什么?", None),
    ("", "", None),
)
def test_without_a_time_nothing_is_asked(question: str, meant: None) -> None:
    """A question that names no time is all content: no interval, no past, no session."""
    assert read(question) == Asked(content=question)
    assert meant is None


@names(
    (
        "What did I say at 3 pm yesterday?",
        "昨天下午三点我说了什么?",
        interval("2024-06-14T14:00", "2024-06-14T17:00"),
    ),
    (
        "What did I say yesterday at 3:15 pm?",
        "昨天下午三点一刻我说了什么?",
        interval("2024-06-14T14:15", "2024-06-14T16:16"),
    ),
    (
        "What did I say yesterday at noon?",
        "昨天中午我说了什么?",
        interval("2024-06-14T11:00", "2024-06-14T14:00"),
    ),
)
def test_a_short_time_is_widened(question: str, meant: Interval) -> None:
    """Less than the shortest part of a day is widened by an hour to both sides, and it isn't."""
    assert read(question).within == meant


@names(
    ("What did I say yesterday?", "我昨天说了什么?", YESTERDAY),
    ("What did I say today?", "我今天说了什么?", interval("2024-06-15", "2024-06-16")),
    ("What did I do a few days ago?", "几天前我做了什么?", UNSURE_DAYS),
    ("Where did I live in 2023?", "2023年我住在哪里?", interval("2023-01-01", "2024-01-01")),
    ("Where did I live before May 3?", "五月三号之前我住在哪里?", interval(None, "2024-05-03")),
    ("What will I do tomorrow?", "明天我要做什么?", None),
    ("What will I do next week?", "下周我要做什么?", None),
    ("What will I do in 2025?", "2025年我要做什么?", None),
)
def test_a_time_that_is_over_is_the_past(question: str, meant: Interval | None) -> None:
    """What no longer holds answers for an interval that is over today; one ahead has no past."""
    assert read(question).past == meant


FORMER: Final = (None, NOW.timestamp())


@names(
    ("Where did I use to live?", "我以前住在哪里?", FORMER),
    ("Where did I live before?", "我之前住在哪里?", FORMER),
    ("What was my previous email?", "我原来的邮箱是什么?", FORMER),
    ("Where did I originally live?", "我最初住在哪里?", FORMER),
    ("Where did I live in the past?", "我过去住在哪里?", FORMER),
    ("What is my old email?", "我从前的邮箱是什么?", FORMER),
    ("Which phone did I have back then?", "我当初用的是哪个手机?", FORMER),
    ("What did I drink before the change?", "换之前我喝什么?", FORMER),
    ("How old am I?", "我多大了?", None),
    ("What is the oldest tea?", "最老的茶是什么?", None),
    ("Which unused tickets are left?", "剩下哪些票?", None),
    ("Tell me about my trip to Rome.", "说说我的罗马之行。", None),
    ("What should I do before I travel?", "出门前我该做什么?", None),
)
def test_words_for_the_past(question: str, meant: Interval | None) -> None:
    """Words that ask for what was before mean all the past; words that only look so don't."""
    asked = read(question)
    assert asked.past == meant
    assert asked.near is None


@names(
    ("Where did I use to live in 2023?", "我2023年以前住在哪里?", "2024-01-01"),
)
def test_an_interval_goes_before_words_for_the_past(question: str, meant: str) -> None:
    """Where an interval is named the past is that of the interval, and not all of it."""
    past = read(question).past
    assert past is not None
    assert past != FORMER
    assert past[1] is not None
    assert past[1] <= (seconds(meant) or 0)


@names(
    (
        "What did we talk about in the first session?",
        "第一次对话里我们聊了什么?",
        SessionOrdinal(1, from_end=False),
    ),
    (
        "What did we talk about last time?",
        "上次我们聊了什么?",
        SessionOrdinal(1, from_end=True),
    ),
    (
        "What did we talk about in the session before last?",
        "上上次我们聊了什么?",
        SessionOrdinal(2, from_end=True),
    ),
)
def test_a_session_is_asked_for(question: str, meant: SessionOrdinal) -> None:
    """A session by its number is no interval, and alone it asks for nothing else."""
    asked = read(question)
    assert (asked.session, asked.within, asked.near, asked.past) == (meant, None, None, None)
    assert asked.alone
    assert asked.content == question


@names(
    ("What did I say yesterday?", "我昨天说了什么?", True),
    ("What did we discuss a few days ago?", "几天前我们讨论了什么?", True),
    ("Yesterday?", "昨天?", True),
    ("What tea did I buy yesterday?", "我昨天买了什么茶?", False),
    ("What did Nora say yesterday about the boat?", "诺拉昨天说船怎么了?", False),
    ("What did I say about the boat?", "关于船我说了什么?", False),
    ("What did I say?", "我说了什么?", False),
)
def test_whether_a_time_is_all_that_is_asked(question: str, meant: bool) -> None:  # noqa: FBT001 - a table's column
    """Alone is a time beside which nothing but the frame of a question stands."""
    assert read(question).alone is meant


@names(
    (
        "What tea did I buy yesterday at the market?",
        "我昨天在市场买了什么茶?",
        ("yesterday", "昨天"),
    ),
    ("In 2023, where did I live?", "2023年我住在哪里?", ("2023", "2023年")),
    (
        "On May 3, 2024 and May 9, 2024 I ran.",
        "2024年5月3号和2024年5月9号我跑了步。",
        ("May", "5月"),
    ),
)
def test_the_content_is_without_the_time(question: str, meant: tuple[str, str]) -> None:
    """Everything else of the question stays, in order; the expressions of time don't."""
    content = read(question).content
    assert not any(one in content for one in meant)
    rest = iter(question)
    assert all(character in rest for character in content if character != " ")
    assert len(content.strip()) >= 5


def test_the_zone_decides() -> None:
    """Yesterday is that of the user's zone, in both languages."""
    now = datetime(2024, 6, 15, 1, tzinfo=UTC)
    for question in ("What did I say yesterday?", "我昨天说了什么?"):
        here = read_question(question, now, ZoneInfo("UTC")).within
        there = read_question(question, now, ZoneInfo("America/New_York")).within
        assert here == (
            datetime(2024, 6, 14, tzinfo=UTC).timestamp(),
            datetime(2024, 6, 15, tzinfo=UTC).timestamp(),
        )
        assert there == (
            datetime(2024, 6, 13, 4, tzinfo=UTC).timestamp(),
            datetime(2024, 6, 14, 4, tzinfo=UTC).timestamp(),
        )


ENDS: Final = (
    datetime.min.replace(tzinfo=UTC),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    datetime.max.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
)
"""The calendar's."""


@pytest.mark.parametrize("now", ENDS)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/New_York"])
@pytest.mark.parametrize(
    "text",
    [
        "What did I say yesterday?",
        "我昨天说了什么?",
        "What will I do next year?",
        "明年我要做什么?",
        "What did I say last century?",
        "我去年说了什么?",
        "What did we talk about last time?",
        "上次我们聊了什么?",
    ],
)
def test_at_the_ends_of_the_calendar_no_time_is_read(text: str, zone: str, now: datetime) -> None:
    """Yesterday may not exist there: such a clock is a producer's error, and must stop nothing."""
    assert read_question(text, now, ZoneInfo(zone)) == Asked(content=text)
    assert about(text, now, ZoneInfo(zone)) == []


@pytest.mark.parametrize(
    "now", [datetime(1001, 1, 1, tzinfo=UTC), datetime(8998, 12, 31, tzinfo=UTC)]
)
@pytest.mark.parametrize(("english", "chinese"), [("yesterday", "昨天"), ("next year", "明年")])
def test_far_from_the_ends_times_are_read(english: str, chinese: str, now: datetime) -> None:
    """All other years are as this one."""
    for text in (english, chinese):
        assert len(about(text, now, ZONE)) == 1
        assert read_question(text, now, ZONE).alone


# --- what a turn is about ----------------------------------------------------------------------


def middles(text: str, said_at: datetime = NOW) -> list[tuple[int, str]]:
    """Return where the times of a text begin, and their middles as local times."""
    return [
        (first, datetime.fromtimestamp(middle, ZONE).isoformat(timespec="minutes")[:16])
        for first, middle in about(text, said_at, ZONE)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I flew on May 3 and came back on May 10.",
            [(10, "2024-05-03T12:00"), (33, "2024-05-10T12:00")],
        ),
        ("我五月三号飞走,五月十号回来。", [(1, "2024-05-03T12:00"), (8, "2024-05-10T12:00")]),
        ("The dentist is tomorrow.", [(15, "2024-06-16T12:00")]),
        ("明天看牙医。", [(0, "2024-06-16T12:00")]),
        ("I moved here in 2023.", [(16, "2023-07-02T12:00")]),
        ("我2023年搬来的。", [(1, "2023-07-02T12:00")]),
        ("I met her a few days ago.", [(10, "2024-06-11T12:00")]),
        ("我几天前见过她。", [(1, "2024-06-11T12:00")]),
        ("I lived here until yesterday.", []),
        ("昨天之前我住在这里。", []),
        ("I like tea.", []),
        ("我喜欢茶。", []),
        ("", []),
    ],
)
def test_a_turn_is_about_the_middles_of_its_times(
    text: str, expected: list[tuple[int, str]]
) -> None:
    """Each interval with both ends counts, sure or not, by its middle, in order of the text."""
    assert middles(text) == expected


@pytest.mark.parametrize(("word", "between"), [("on June {}, 2024", ", "), ("2024年6月{}号", "、")])
def test_a_turn_is_about_no_more_than_the_bound(word: str, between: str) -> None:
    """Of a long list of days the first so many count."""
    days = range(1, ABOUT_MAX + 5)
    text = "Away: " + between.join(word.format(day) for day in days)
    expected = [f"2024-06-{day:02}T12:00" for day in days][:ABOUT_MAX]
    assert [middle for _, middle in middles(text)] == expected


@pytest.mark.parametrize("text", ["I was there on May 3.", "我五月三号在那儿。"])
def test_what_a_turn_is_about_depends_on_when_it_was_said(text: str) -> None:
    """A bare date is read as seen from the turn, and not from today."""
    ((_, before),) = middles(text, NOW - timedelta(days=365))
    ((_, after),) = middles(text)
    assert (before, after) == ("2023-05-03T12:00", "2024-05-03T12:00")
