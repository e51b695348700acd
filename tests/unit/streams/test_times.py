"""Expressions of time: two tables of questions, one per language, and what no table shows well.

A line of a table holds a text, when and where it was asked, its tense, and the intervals that
docs/time.md gives it; a null is an open end.
"""

import json
import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from eunoe.streams.times import Parsed, SessionOrdinal, TimeSpan, parse
from eunoe.streams.times.lunar_calendar import (
    DONGZHI,
    LUNAR_YEARS,
    QINGMING,
    lunar_date,
    solar_term,
)

HERE = Path(__file__).parent
SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


def table(language: str) -> list[dict[str, Any]]:
    """Return the lines of a table."""
    text = (HERE / f"times_{language}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def instant(moment: str | datetime | None) -> datetime | None:
    """Return a moment in UTC: two datetimes of one zone compare by the wall clock."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return moment and moment.astimezone(UTC)


def read(line: dict[str, Any]) -> dict[str, Any]:
    """Return what is read from the text of a line, in the form of the line."""
    now, zone = datetime.fromisoformat(line["now"]), ZoneInfo(line["zone"])
    parsed = parse(line["text"], now, zone, line["tense"])
    return {
        "expect": [
            (line["text"][one.first : one.last], instant(one.start), instant(one.end), one.sure)
            for one in parsed.spans
        ],
        "ordinal": parsed.ordinal,
        "rule": parsed.rule,
    }


def wanted(line: dict[str, Any]) -> dict[str, Any]:
    """Return what a line says must be read."""
    ordinal = line.get("ordinal")
    return {
        "expect": [
            (one["expression"], instant(one["start"]), instant(one["end"]), one["sure"])
            for one in line["expect"]
        ],
        "ordinal": ordinal and SessionOrdinal(ordinal["number"], ordinal["from"] == "end"),
        "rule": line.get("rule"),
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_line_of_the_table(language: str) -> None:
    """Each text of the table means the intervals, the session and the rule that stand beside it."""
    wrong = [
        f"{line['text']}\n  read {read(line)}\n  not  {wanted(line)}"
        for line in table(language)
        if read(line) != wanted(line)
    ]
    assert not wrong, "\n".join(wrong)


def written(moment: datetime | None) -> str | None:
    """Return a moment in ISO form."""
    return None if moment is None else moment.isoformat()


def spans(
    text: str, now: str, zone: ZoneInfo = SHANGHAI, *, sunday: bool = False
) -> list[tuple[str | None, str | None, bool]]:
    """Return the intervals of a text, in ISO form."""
    parsed = parse(text, datetime.fromisoformat(now), zone, week_starts_sunday=sunday)
    return [(written(one.start), written(one.end), one.sure) for one in parsed.spans]


def days(text: str, now: str, zone: ZoneInfo = SHANGHAI) -> list[tuple[str, str, bool]]:
    """Return the intervals of a text as the days of their bounds."""
    return [
        ((start or "")[:10], (end or "")[:10], sure) for start, end, sure in spans(text, now, zone)
    ]


@pytest.mark.parametrize("tense", [None, "past", "future"])
def test_last_wednesday_in_chinese(tense: Any) -> None:
    """上周三 is Wednesday of the previous calendar week, whatever the tense."""
    now = datetime(2024, 6, 15, 22, tzinfo=SHANGHAI)
    (span,) = parse("我上周三说了什么？", now, SHANGHAI, tense).spans
    start, end = datetime(2024, 6, 5, tzinfo=SHANGHAI), datetime(2024, 6, 6, tzinfo=SHANGHAI)
    assert span == TimeSpan(start, end, sure=True, first=1, last=4)


PAIRS = [
    ("What did I say yesterday?", "我昨天说了什么？"),
    ("What did I say the day before yesterday?", "前天我说了什么？"),
    ("What did we discuss last week?", "上周我们讨论了什么？"),
    ("What did we discuss the week before last?", "上上周我们讨论了什么？"),
    ("What did I note last month?", "上个月我记了什么？"),
    ("What did I do on May 3?", "五月三号我做了什么？"),
    ("What did I do in May?", "五月我做了什么？"),
    ("What did I do in Q1?", "一季度我做了什么？"),
    ("What did I do last year?", "去年我做了什么？"),
    ("What did I say three weeks ago?", "三周前我说了什么？"),
    ("What did I say about three weeks ago?", "大概三周前我说了什么？"),
    ("What did I say half a year ago?", "半年前我说了什么？"),
    ("What did I say an hour ago?", "一小时前我说了什么？"),
    ("What did I say yesterday at 3 pm?", "昨天下午三点我说了什么？"),
    ("What did I say yesterday from 2 pm to 5 pm?", "昨天下午两点到五点我说了什么？"),
    ("What did I write last night?", "昨晚我写了什么？"),
    ("What did I write in the past 30 days?", "过去30天我写了什么？"),
    ("What did I do on Monday?", "周一我做了什么？"),
    ("What did I do over the weekend?", "周末我做了什么？"),
    ("What did I do since Monday?", "周一以来我做了什么？"),
    ("What did I do before May?", "五月之前我做了什么？"),
    ("What did I do from March to May?", "从三月到五月我做了什么？"),
    ("What did I do on Christmas Day?", "圣诞节我做了什么？"),
    ("What did I do at the Mid-Autumn Festival?", "中秋节我做了什么？"),
    ("What did I do the day before Christmas?", "圣诞节前一天我做了什么？"),
    ("What did I do on the first Monday of May?", "五月的第一个星期一我做了什么？"),
    ("What did I do on the last day of February?", "二月最后一天我做了什么？"),
    ("What did I do last summer?", "上个夏天我做了什么？"),
    ("What did I do in early May?", "五月上旬我做了什么？"),
    ("I'll pay by the end of the month.", "我月底前会付钱。"),
    ("I'll call next Monday.", "我下周一会打电话。"),
    ("I'll finish within three days.", "我三天之内会做完。"),
    ("I'll be away until Friday.", "到周五为止我都会不在。"),
    ("What did I say the day after my birthday?", "生日后第二天我说了什么？"),
    ("What did I say two weeks after the surgery?", "手术后两周我说了什么？"),
    ('She said "see you tomorrow".', "她说了“明天见”。"),
    ("Good morning, how are you?", "早上好，你怎么样？"),
]
EDGES_DIFFER = {"What did I do in early May?"}  # 上旬 is defined, "early" isn't


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
@pytest.mark.parametrize("now", ["2024-06-20T10:00:00+08:00", "2025-01-01T09:30:00+08:00"])
def test_both_languages_mean_the_same(english: str, chinese: str, now: str) -> None:
    """A question in English and the same in Chinese hold the same intervals."""
    one, other = spans(english, now), spans(chinese, now)
    if english in EDGES_DIFFER:
        one = [(start, end, True) for start, end, _ in one]
    assert one == other


# --- summer time ---------------------------------------------------------------------------------


def hours(text: str, now: str, zone: ZoneInfo) -> float:
    """Return how many real hours the one interval of a text has."""
    (span,) = parse(text, datetime.fromisoformat(now), zone, "past").spans
    assert span.start is not None
    assert span.end is not None
    return (span.end.astimezone(UTC) - span.start.astimezone(UTC)) / timedelta(hours=1)


@pytest.mark.parametrize("text", ["What did I say yesterday?", "昨天我说了什么？"])
def test_days_have_as_many_hours_as_they_have(text: str) -> None:
    """A day has 23 hours in spring, 25 in autumn, else 24."""
    assert hours(text, "2025-03-31T12:00:00+02:00", BERLIN) == 23
    assert hours(text, "2024-10-28T12:00:00+01:00", BERLIN) == 25
    assert hours(text, "2024-06-20T12:00:00+02:00", BERLIN) == 24


@pytest.mark.parametrize("text", ["In the last 12 hours I slept.", "过去12个小时我睡了。"])
def test_hours_elapse(text: str) -> None:
    """Twelve hours are twelve real ones, also through a night of one hour less."""
    assert hours(text, "2025-03-30T08:00:00+02:00", BERLIN) == 12


@pytest.mark.parametrize("text", ["I woke up yesterday at 2:30 am.", "昨天凌晨两点半我醒了。"])
def test_a_clock_time_that_does_not_exist(text: str) -> None:
    """It moves forward by the gap and is unsure."""
    (span,) = spans(text, "2025-03-31T12:00:00+02:00", BERLIN)
    assert span == ("2025-03-30T03:30:00+02:00", "2025-03-30T03:31:00+02:00", False)


@pytest.mark.parametrize("text", ["I woke up yesterday at 1:30 am.", "昨天凌晨一点半我醒了。"])
def test_a_clock_time_that_comes_twice(text: str) -> None:
    """It spans both, from the first start to the second end, and is unsure."""
    (span,) = spans(text, "2024-11-04T09:00:00-05:00", NEW_YORK)
    assert span == ("2024-11-03T01:30:00-04:00", "2024-11-03T01:31:00-05:00", False)


@pytest.mark.parametrize("text", ["What did I do on November 4?", "11月4号我做了什么？"])
def test_a_midnight_that_does_not_exist(text: str) -> None:
    """The day begins with the first instant that does."""
    zone = ZoneInfo("America/Sao_Paulo")
    (span,) = spans(text, "2018-11-20T09:00:00-02:00", zone)
    assert span == ("2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00", True)


@pytest.mark.parametrize("text", ["What did I do on 2011-12-30?", "2011年12月30日我做了什么？"])
def test_a_day_that_a_zone_skipped(text: str) -> None:
    """It gives nothing where the date line was moved over it, and a day elsewhere."""
    assert spans(text, "2012-01-10T09:00:00+14:00", ZoneInfo("Pacific/Apia")) == []
    assert days(text, "2012-01-10T09:00:00+08:00") == [("2011-12-30", "2011-12-31", True)]


# --- what the tables can't vary ------------------------------------------------------------------


def test_weeks_may_begin_on_sunday() -> None:
    """A locale can say so; Chinese weeks of the default begin on Monday."""
    now = "2024-06-20T10:00:00-04:00"
    text = "What did I do last week?"
    assert spans(text, now, NEW_YORK, sunday=True)[0][0] == "2024-06-09T00:00:00-04:00"
    assert spans(text, now, NEW_YORK)[0][0] == "2024-06-10T00:00:00-04:00"


@pytest.mark.parametrize(
    ("english", "chinese", "first"),
    [
        ("What did I say on Friday?", "周五我说了什么？", "2024-06-14"),
        ("I will call you on Friday.", "我周五要给你打电话。", "2024-06-21"),
        ("Did we meet in August?", "我们八月见过面吗？", "2023-08-01"),
        ("I'm going to move in August.", "我打算八月搬家。", "2024-08-01"),
    ],
)
def test_the_tense_is_guessed_from_the_verb(english: str, chinese: str, first: str) -> None:
    """Without a tense, did and 了 point back, will and 要 ahead."""
    for text in (english, chinese):
        ((start, _, sure),) = days(text, "2024-06-20T10:00:00+08:00")
        assert (start, sure) == (first, True)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What did we talk about last week?", ""),
        ("上周我们聊了什么？", ""),
        ("What did I say about the garden yesterday?", "garden"),
        ("关于花园，我昨天说了什么？", "花园"),
        ("What was the topic of our last session?", ""),
        ("上次我们聊了什么？", ""),
        ("Which restaurant did you recommend in May?", "restaurant recommend"),
        ("五月你推荐的餐厅是哪家？", "推荐 餐厅 家"),
    ],
)
def test_the_rest_is_what_is_asked_beside_the_time(text: str, rest: str) -> None:
    """An empty rest tells that a question has no other content."""
    now = datetime(2024, 6, 20, 10, tzinfo=SHANGHAI)
    assert parse(text, now, SHANGHAI, "past").rest == rest


def test_positions_are_those_of_the_text() -> None:
    """First and last cut the expression out of the text as it was written."""
    for text, expression in (
        ("I’ve met Ana — LAST\u00a0WEEK — in Rome.", "LAST\u00a0WEEK"),
        ("İzmir? We went there last May.", "last May"),
        ("我１０月３号见了她。", "１０月３号"),
    ):
        parsed = parse(text, datetime(2024, 6, 20, 10, tzinfo=SHANGHAI), SHANGHAI, "past")
        assert [text[one.first : one.last] for one in parsed.spans] == [expression]


@pytest.mark.parametrize(
    "text", ["", " ", "?", "。", "\x00", "\ud83d\ude00", "last", "周", "the", "上"]
)
def test_a_text_without_a_time(text: str) -> None:
    """It has no interval, no session and no rule."""
    parsed = parse(text, datetime(2024, 6, 20, tzinfo=UTC), SHANGHAI)
    assert (parsed.spans, parsed.ordinal, parsed.rule) == ((), None, None)


def test_a_moment_without_a_zone() -> None:
    """It is refused: the zone of the machine must not decide."""
    with pytest.raises(ValueError, match="aware"):
        parse("What did I say yesterday?", datetime(2024, 6, 20), SHANGHAI)  # noqa: DTZ001 - the point


HOSTILE = {
    text[:16]: (text * 10_000)[:10_000]
    for text in (
        "1", "last ", "周", "the ", "the day before ", "a week after ", "from ", "一",
        "from Monday to ", "周一", "上", "三点", "1/", "2024-", "'a", '"', "《", "monday and ",
        "every monday, ", "前一天", "一月", "the last time we ", "说什么", "要了", "for two ",
        " ", "3 am ", "初", "从周一到", "每周一、", "是", "就", "have i ", "the first of ",
        "two and a half ", "before my ", "\x00", "十几", "ed ", "sat n ", "2wks ago ", "yday", "u ",
        "in may to ", "'24 ", "first thing i said ", "上上回", "最开始那次", "two fridays ", "半拉",
        "上周 fri",
    )
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.timeout(10)
def test_hostile_texts_are_read(text: str) -> None:
    """Ten thousand characters of anything come back, with as many intervals as a text may have."""
    parsed = parse(text, datetime(2024, 6, 20, 10, tzinfo=SHANGHAI), SHANGHAI)
    assert isinstance(parsed, Parsed)
    assert len(parsed.spans) <= 64
    assert all(one.start is None or one.end is None or one.start < one.end for one in parsed.spans)


@pytest.mark.parametrize(
    "text",
    [
        "What did I say 9999 years ago?", "9999年前我说了什么？", "in 4000 years", "4000年后再说",
        "What did I say on 9999-12-31?", "9999年12月31日我说了什么？", "the next 4000 months",
        "0001-01-01", "What did I say in December 9999?", "10000 days ago", "9999天前我说了什么？",
    ],
)  # fmt: skip
def test_the_ends_of_the_calendar(text: str) -> None:
    """A count or date beyond what a calendar holds gives an interval or nothing, never an error."""
    for now in (datetime(2024, 6, 20, 10, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)):
        assert all(one.start or one.end for one in parse(text, now, SHANGHAI).spans)


@pytest.mark.parametrize("seed", range(4))
def test_cuts_of_questions(seed: int) -> None:
    """Beginnings and ends of questions, put together, give intervals that are in order."""
    draw = random.Random(seed)  # noqa: S311  # test data, not a secret
    texts = [line["text"] for language in ("en", "zh") for line in table(language)]
    for _ in range(300):
        one, other = draw.choice(texts), draw.choice(texts)
        text = one[: draw.randint(0, len(one))] + other[draw.randint(0, len(other)) :]
        now = datetime.fromtimestamp(draw.randint(-2_000_000_000, 4_000_000_000), UTC)
        zone = draw.choice([SHANGHAI, BERLIN, NEW_YORK, ZoneInfo("Pacific/Apia")])
        at = 0
        for span in parse(text, now, zone, draw.choice(["past", "future", None])).spans:
            assert at <= span.first < span.last <= len(text), text
            at = span.last
            if span.start and span.end:
                assert span.start.astimezone(UTC) < span.end.astimezone(UTC), text


# --- the calendar of China -----------------------------------------------------------------------


def test_lunar_new_years() -> None:
    """New Year's Days are those of almanacs, from 20 January to 21 February."""
    known = {
        1949: "1949-01-29", 1985: "1985-02-20", 2000: "2000-02-05", 2020: "2020-01-25",
        2023: "2023-01-22", 2024: "2024-02-10", 2025: "2025-01-29", 2033: "2033-01-31",
    }  # fmt: skip
    for year, day in known.items():
        assert lunar_date(year, 1, 1) == date.fromisoformat(day)
    for year in LUNAR_YEARS:
        first = lunar_date(year, 1, 1)
        assert first is not None
        assert date(year, 1, 20) <= first <= date(year, 2, 21)


def test_lunar_months() -> None:
    """Leap months are there in their years and in no others; a 30th day only in long months."""
    assert lunar_date(2023, 2, 1, leap=True) == date(2023, 3, 22)
    assert lunar_date(2024, 2, 1, leap=True) is None
    assert lunar_date(2033, 11, 1, leap=True) == date(2033, 12, 22)
    assert lunar_date(2025, 1, 0) == date(2025, 1, 28)
    assert lunar_date(2024, 12, 30) is None
    assert lunar_date(1899, 1, 1) is None


def test_solar_terms() -> None:
    """清明 is April 4 to 6 and 冬至 December 21 to 23, by China's calendar."""
    assert solar_term(QINGMING, 2024) == date(2024, 4, 4)
    assert solar_term(DONGZHI, 2023) == date(2023, 12, 22)
    assert solar_term(DONGZHI, 2101) is None
    for year in LUNAR_YEARS:
        assert solar_term(QINGMING, year) in {date(year, 4, day) for day in (4, 5, 6)}
        assert solar_term(DONGZHI, year) in {date(year, 12, day) for day in (21, 22, 23)}


@pytest.mark.parametrize(
    ("english", "chinese", "day"),
    [
        ("Easter", "复活节", "2024-03-31"),
        ("Thanksgiving", "感恩节", "2023-11-23"),
        ("Mother's Day", "母亲节", "2024-05-12"),
        ("Father's Day", "父亲节", "2024-06-16"),
        ("the Dragon Boat Festival", "端午节", "2024-06-10"),
        ("the Lantern Festival", "元宵节", "2024-02-24"),
        ("Chinese New Year's Eve", "除夕", "2024-02-09"),
        ("Valentine's Day", "情人节", "2024-02-14"),
        ("Halloween", "万圣节", "2023-10-31"),
    ],
)
def test_feasts(english: str, chinese: str, day: str) -> None:
    """A feast is the latest day that bears its name, in either language."""
    now = "2024-06-20T10:00:00+08:00"
    for text in (f"What did I do on {english}?", f"{chinese}我做了什么？"):
        assert [(start, sure) for start, _, sure in days(text, now)] == [(day, True)]


@pytest.mark.parametrize(
    ("text", "zone", "found"),
    [
        ("What did I do on Labor Day?", "America/Chicago", 1),
        ("What did I do on Labor Day?", "Europe/Berlin", 0),
        ("What did I do on Mother's Day?", "Europe/London", 0),
        ("母亲节我做了什么？", "Europe/London", 0),
        ("父亲节我做了什么？", "Australia/Sydney", 0),
        ("What did I do on Father's Day?", "Pacific/Auckland", 0),
    ],
)
def test_feasts_whose_day_hangs_on_the_country(text: str, zone: str, found: int) -> None:
    """Where the day of a name isn't known it gives nothing."""
    now = datetime(2024, 10, 20, 10, tzinfo=UTC)
    assert len(parse(text, now, ZoneInfo(zone), "past").spans) == found
