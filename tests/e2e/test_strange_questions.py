"""Strange questions: whatever is asked, whenever, hits or nothing come back, or a sentence.

One store that holds a little of both languages is asked; none may hang, which the time limit of
each test says, and after all of them the store still answers.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eunoe
from eunoe.opening import SyncMemory
from eunoe.schemas.limits import (
    ID_CHARACTERS_MAX,
    QUERY_CHARACTERS_MAX,
    TIME_SPANS_MAX,
)
from eunoe.schemas.results import Context, Hit
from eunoe.streams.tokens import count
from tests.support.memories import cheap_tools, settings_in
from tests.support.tools import START

pytestmark = pytest.mark.timeout(120)

USER: Final = "ana"
LIMIT: Final = 5
BUDGET: Final = 200
NOW: Final = START + timedelta(days=9)
SAID: Final = (
    "I live in Porto.",
    "The green folder is in the cellar.",
    "Yesterday we ate at Casa Azul with Tom.",
    "Remember that the boiler is serviced every October.",
    "My dentist appointment is on 12 March at 10.",
    "我住在上海。",
    "绿色的文件夹在地下室。",
    "昨天我们和小王在老城南餐厅吃饭。",
    "记住：锅炉每年十月检修。",
    "我三月十二号十点要看牙医。",
)
KINDS: Final = ("turn", "slot", "fact", "event", "commitment", "decision", "relation")

# No zone is set, so that the question's own offset matters.


@pytest.fixture(scope="module", name="memory")
def open_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncMemory]:
    """Open a store and tell it both languages, a turn a day."""
    place = tmp_path_factory.mktemp("strange")
    with eunoe.open_sync(settings_in(place), serve=False, tools=cheap_tools()) as memory:
        memory.add(
            [
                {
                    "id": f"t{number}",
                    "content": text,
                    "time": START + timedelta(days=number % 5),
                    "session_id": f"s{number // 5}",
                    "role": "assistant" if number % 5 == 4 else "user",
                    "metadata": {"channel": "phone" if number % 2 else "desk"},
                }
                for number, text in enumerate(SAID)
            ],
            user_id=USER,
        )
        yield memory
        assert all(check.ok for check in memory.doctor())
        for text in SAID:
            assert text in {hit.text for hit in memory.search(text, user_id=USER, limit=20)}


def ask(memory: SyncMemory, question: str, **bounds: Any) -> list[Hit]:
    """Ask for hits and for a block, and see that both are such as they must be."""
    hits: list[Hit] = memory.search(question, user_id=USER, limit=LIMIT, **bounds)
    block: Context = memory.context(
        question, user_id=USER, limit=LIMIT, budget_tokens=BUDGET, **bounds
    )
    assert len(hits) <= LIMIT
    assert all(0.0 <= hit.score <= 1.0 for hit in hits)
    assert all(set(hit.sources) <= {f"t{number}" for number in range(len(SAID))} for hit in hits)
    assert len({(hit.kind, hit.id) for hit in hits}) == len(hits)
    assert block.tokens == count(block.text) <= BUDGET
    assert {hit.id for hit in block.hits} <= {hit.id for hit in hits}
    assert bool(block.text) == bool(block.hits)
    return hits


NOTHING: Final = {"empty": "", "spaces": " \t\n\u3000\u00a0 "}
STRANGE: Final = {
    "stops": "...!?",
    "chinese stops": "？！。，、；：“”《》",
    "quotes": "\"' `´“”‘’«»",
    "joiners": "\u200b\u200c\u200d\u2060\ufeff",
    "right to left marks": "\u200f\u202e\u2066\u2069\u061c",
    "NUL": "\x00\x00",
    "controls": "".join(map(chr, range(1, 32))),
    "emoji": "🎈🎉👩‍👩‍👧‍👦🏳️‍🌈",
    "stop words": "what is the of and to that who are you",
    "chinese stop words": "的了吗呢是在那么什么",
    "russian": "Где лежит зелёная папка? Вчера вечером?",
    "japanese": "緑のフォルダーはどこですか。昨日の夜は？",
    "arabic": "أين المجلد الأخضر؟ أمس مساءً",
    "thai": "แฟ้มสีเขียวอยู่ที่ไหน เมื่อวานนี้",
    "german": "Wo ist der grüne Ordner, den ich gestern weggelegt habe?",
    "hebrew with marks": "\u202eאיפה התיקייה הירוקה\u202c?",
    "korean": "어제 초록색 폴더는 어디에 있었나요?",
    "operators": '"a" AND (b OR -c) * ? " \' ; -- %',
    "wildcards": "fold* NEAR/3 cell?r ^2.5 ~0.8 [1 TO 9} {!func}",
    "sql": "'; DROP TABLE events; -- ' OR 1=1 UNION SELECT * FROM keys",
    "a path": "../../../../etc/passwd\x00.jsonl",
    "a format": "%s %n {0} ${HOME} {{config}} $(id) `id`",
    "a pattern": "(a+)+$ (.*)*x \\1\\2 [[:alpha:]]{1,99999}",
    "a bomb of letters": "a" * 5_000 + "!",
    "a bomb of groups": "(" * 3_000 + ")" * 3_000,
    "a bomb of spaces": "what is my favourite " + " " * 4_000 + "colour of",
    "a bomb of Chinese": "我最喜欢的" * 1_500 + "是什么",
    "a bomb of combining marks": "Z" + "\u0301" * 5_000,
    "a bomb of digits": "9" * 9_000,
    "a bomb of ligatures": "\ufdfa" * 3_000,
    "surrogates": "the green \ud800 folder \udfff\udc00 绿色",
    "NUL inside": "green\x00folder 绿色\x00文件夹",
    "one letter": "x",
    "one character": "绿",
    "full width": "ＧＲＥＥＮ　ＦＯＬＤＥＲ　２０２４",
    "mathematical": "𝐠𝐫𝐞𝐞𝐧 𝒇𝒐𝒍𝒅𝒆𝒓",
    "the longest": ("the green folder 绿色的文件夹 " * 500)[:QUERY_CHARACTERS_MAX],
    "the longest Chinese": ("绿色的文件夹在哪里？" * 1_000)[:QUERY_CHARACTERS_MAX],
}
TIMES: Final = {
    "yesterday": "yesterday",
    "昨天": "昨天",
    "last year 99999": "What did I say in the year 99999?",
    "a century BC": "公元前三世纪我说了什么？",
    "year 0": "What happened on 0000-00-00T00:00:00Z?",
    "no such date": "What did I say on February 30, 2024? 二月三十号呢？",
    "the last day": "What did we say on 9999-12-31?",
    "the first day": "What did we say on 0001-01-01 at 00:00?",
    "many days ago": "What did I say 99999999999999999999 days ago?",
    "很多天前": "九千九百九十九万亿年前我说了什么？",
    "in many years": "in 9999999 years",
    "a negative": "-5 days ago, minus three weeks from now",
    "every time": "every day since forever until the end of time",
    "the session": "What did we say in our 999999999th session?",
    "上上次": "上" * 200 + "次聊天我们说了什么？",
    "上上周": "上" * 200 + "周五",
    "midnight": "at midnight on the 31st of this month at 25:61",
    "spans": ", ".join(f"on {day} March 20{year}" for day in range(1, 9) for year in range(20, 28)),
    "很多时间": "，".join(f"20{year}年3月{day}号" for day in range(1, 9) for year in range(20, 28)),
    "too many": "yesterday " * 900,
    "太多": "昨天" * 4_000,
}
CLOCKS: Final = {
    "first": datetime.min.replace(tzinfo=UTC),
    "first, ahead": datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    "first, behind": datetime.min.replace(tzinfo=timezone(timedelta(hours=-12))),
    "last": datetime.max.replace(tzinfo=UTC),
    "last, ahead": datetime.max.replace(tzinfo=timezone(timedelta(hours=14))),
    "last, behind": datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    "before 1970": datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    "year 200": datetime(200, 1, 1, tzinfo=UTC),
    "year 9799": datetime(9799, 12, 31, 23, 59, tzinfo=UTC),
    "Nepal": NOW.astimezone(timezone(timedelta(hours=5, minutes=45))),
    "by the second": NOW.astimezone(timezone(timedelta(hours=-3, seconds=-7))),
    "by the microsecond": NOW.astimezone(timezone(timedelta(microseconds=1))),
    "almost a day": NOW.astimezone(timezone(timedelta(hours=23, minutes=59))),
    "almost a day behind": NOW.astimezone(timezone(-timedelta(hours=23, minutes=59))),
}
WHEN: Final = (
    "What did I say yesterday?",
    "我昨天说了什么？",
    "What did we talk about in our last session?",
    "上次聊天我们说了什么？",
    "Where did I live before?",
    "我以前住在哪里？",
    "the green folder of last week",
    "绿色的文件夹",
)


def test_there_are_as_many_times_as_are_read() -> None:
    """The longest lists of times reach the bound of what is read of one question."""
    assert TIMES["spans"].count("on ") >= TIME_SPANS_MAX
    assert TIMES["很多时间"].count("号") >= TIME_SPANS_MAX


@pytest.mark.parametrize("question", NOTHING.values(), ids=NOTHING)
def test_what_asks_nothing_gets_nothing(memory: SyncMemory, question: str) -> None:
    """Of an empty question nothing is found and no block is written."""
    assert ask(memory, question, now=NOW) == []


@pytest.mark.parametrize("question", [*STRANGE.values(), *TIMES.values()], ids=[*STRANGE, *TIMES])
def test_a_strange_question_is_answered(memory: SyncMemory, question: str) -> None:
    """It gets hits or nothing, alone and with bounds."""
    for bounds in (
        {},
        {"filters": {"role": "user"}},
        {"as_of": NOW},
        {"filters": {"verified": True}},
    ):
        named: dict[str, Any] = bounds
        ask(memory, question, now=NOW, **named)
    ask(memory, question)


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_any_clock_is_taken(memory: SyncMemory, clock: datetime) -> None:
    """At the ends of the calendar and in odd zones questions are answered, with their times."""
    for question in WHEN:
        ask(memory, question, now=clock)
        ask(memory, question, now=clock, as_of=clock)
        bounds = {"since": clock - timedelta(0), "until": clock}
        ask(memory, question, now=clock, filters=bounds)


@pytest.mark.parametrize(
    "question",
    [
        "x" * (QUERY_CHARACTERS_MAX + 1),
        "绿" * (QUERY_CHARACTERS_MAX + 1),
        " " * (QUERY_CHARACTERS_MAX + 1),
        None,
        7,
        b"green folder",
        ["green folder"],
    ],
    ids=["long", "长", "long space", "none", "number", "bytes", "list"],
)
def test_what_is_no_question_is_refused(memory: SyncMemory, question: Any) -> None:
    """A text over its bound and what is no text are refused with a sentence."""
    for call in (memory.search, memory.context):
        with pytest.raises(eunoe.Rejected, match=f"at most {QUERY_CHARACTERS_MAX} characters"):
            call(question, user_id=USER)


def test_marks_inside_a_question_hide_nothing(memory: SyncMemory) -> None:
    """NUL, surrogates and marks of direction beside the words leave the answer what it is."""
    for question, answer in (("the green folder", SAID[1]), ("绿色的文件夹", SAID[6])):
        for strange in ("\x00 {} \x00", "\u202e{}\u202c", "\u200f {} \ud800", "'; -- {} %"):
            assert ask(memory, strange.format(question), now=NOW)[0].text == answer


clocks = st.datetimes(timezones=st.timezones() | st.just(UTC), allow_imaginary=False)
pieces = st.sampled_from([*SAID, *WHEN, *TIMES.values(), *STRANGE.values(), *NOTHING.values()]).map(
    lambda text: text[:80]
)
questions = st.one_of(
    st.text(max_size=200),
    st.lists(pieces | st.text(max_size=12), max_size=6).map(" ".join),
)
names = st.text(min_size=1, max_size=ID_CHARACTERS_MAX)
FLOATS: Final = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.text(max_size=20) | st.integers(-(2**63), 2**63 - 1) | FLOATS | st.booleans()
bounds_of_filters: st.SearchStrategy[Mapping[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "session_id": st.sampled_from(["s0", "s1"]) | names,
        "role": st.sampled_from(["user", "assistant", "tool", "system"]),
        "name": names,
        "source": st.just("chat") | names,
        "since": clocks,
        "until": clocks,
        "metadata": st.dictionaries(st.just("channel") | names, scalars, max_size=3),
        "verified": st.booleans(),
    },
)
asked = st.fixed_dictionaries(
    {"question": questions},
    optional={
        "now": clocks,
        "as_of": clocks,
        "kinds": st.lists(st.sampled_from(KINDS), max_size=3),
        "filters": bounds_of_filters,
        "project_id": names,
    },
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=asked)
def test_any_question_is_answered(memory: SyncMemory, asked: dict[str, Any]) -> None:
    """Any text with any clock and bounds gets hits within the bounds, or nothing."""
    bounds = dict(asked)
    hits = ask(memory, bounds.pop("question"), **bounds)
    filters = bounds.get("filters", {})
    kinds = bounds.get("kinds")
    assert kinds is None or all(
        hit.kind in kinds or ("slot" in kinds and hit.kind == "preference") for hit in hits
    )
    if filters.get("verified"):
        assert hits == []
    if "role" in filters:
        assert all(memory.get(hit.sources[0], user_id=USER).role == filters["role"] for hit in hits)
