"""Search by time, by session and by what holds, without engines; both languages in pairs."""

from datetime import timedelta
from typing import Any, Final, cast

import pytest

from eunoe.schemas.limits import LISTED_TURNS_MAX
from eunoe.schemas.ports import Holding
from eunoe.streams.asking import Filters, project_hash
from eunoe.streams.ranking_parameters import DEFAULTS
from tests.support.recalling import NOW, World
from tests.support.records import ANA, ident

DAY: Final = timedelta(days=1)
MIDNIGHT: Final = NOW.replace(hour=0)
YESTERDAY: Final = ((MIDNIGHT - DAY).timestamp(), MIDNIGHT.timestamp())
TEA: Final = {"en": "What tea did I buy yesterday?", "zh": "我昨天买了什么茶?"}
ALONE: Final = {"en": "What did I say yesterday?", "zh": "我昨天说了什么?"}
UNSURE: Final = {"en": "What tea did I buy a few days ago?", "zh": "几天前我买了什么茶?"}
both = pytest.mark.parametrize("language", ["en", "zh"])


# --- intervals ---------------------------------------------------------------------------------


@both
async def test_a_sure_time_filters(language: str) -> None:
    """What was said in it answers, and better matches of another time don't."""
    world = World()
    world.turn("t-old", 5 * DAY, dense=0.9, sparse=12.0)
    world.turn("t-then", DAY, session="s2")
    assert await world.names(TEA[language]) == ["t-then"]
    (query,) = world.asked
    assert (query.within, query.near) == (YESTERDAY, None)


@both
async def test_where_nothing_of_that_time_answers_it_lifts(language: str) -> None:
    """Where nothing of a sure time has to do with the question, it is as if it weren't sure."""
    world = World()
    world.turn("t-best", 5 * DAY, dense=0.9, sparse=9.5, session="s1")
    world.turn("t-then", DAY, dense=0.1, sparse=None, session="s2")
    assert await world.names(TEA[language]) == ["t-best", "t-then"]
    first, second = world.asked
    assert (first.within, first.near) == (YESTERDAY, None)
    assert (second.within, second.near) == (None, YESTERDAY)
    assert second.near_limit == DEFAULTS.near_limit
    assert second.terms == first.terms
    found = await world.find(TEA[language])
    assert [("time" in one.signals) for one in found] == [False, True]


@both
async def test_an_unsure_time_lifts(language: str) -> None:
    """What stands in the interval comes before an equal of another time; both come."""
    world = World()
    world.turn("t-other", 40 * DAY, session="s1")
    world.turn("t-then", 4 * DAY, session="s2")
    assert await world.names(UNSURE[language]) == ["t-then", "t-other"]
    (query,) = world.asked
    assert query.within is None
    assert query.near is not None


@both
async def test_bounds_of_the_caller_hold_in_any_case(language: str) -> None:
    """`since` and `until` filter beside the time of the question, also when that only lifts."""
    since = (MIDNIGHT - DAY / 2).timestamp()
    filters = Filters(said=(since, None))
    world = World()
    world.turn("t-old", 3 * DAY, dense=0.9)
    world.turn("t-morning", DAY, session="s2")
    world.turn("t-evening", DAY / 2, session="s3")
    assert await world.names(TEA[language], filters=filters) == ["t-evening"]
    assert world.asked[-1].within == (since, YESTERDAY[1])
    world.points.pop(ident("t-evening").bytes)
    world.turn("t-today", DAY / 24, session="s4")
    assert await world.names(TEA[language], filters=filters) == ["t-today"]
    assert (world.asked[-1].within, world.asked[-1].near) == (filters.said, YESTERDAY)
    await world.names(UNSURE[language], filters=filters)
    assert world.asked[-1].within == filters.said


# --- lists -------------------------------------------------------------------------------------


@both
async def test_a_time_alone_is_a_list(language: str) -> None:
    """A time that is all that is asked gives its turns in order, without asking for meaning."""
    world = World()
    world.turn("t-3", DAY - timedelta(hours=3))
    world.turn("t-1", DAY, role="assistant")
    world.turn("t-2", DAY - timedelta(hours=1))
    world.turn("t-today", timedelta(hours=1))
    world.memory("m-1", "t-1", DAY)
    found = await world.find(ALONE[language])
    assert [world.points[one.point].name for one in found] == ["t-1", "t-2", "t-3"]
    assert {one.score for one in found} == {1.0}
    assert [one.signals for one in found] == [{"time": 1.0}] * 3
    assert world.asked == []
    ((interval, _, limit),) = world.listed
    assert (interval, limit) == (YESTERDAY, LISTED_TURNS_MAX)


@both
async def test_of_many_the_users_own_come(language: str) -> None:
    """Where not all fit, the user's own turns come before what others said, still in order."""
    world = World()
    for hour in range(12):
        role = "user" if hour in {4, 7, 11} else "assistant"
        world.turn(f"t-{hour:02}", DAY - timedelta(hours=hour), role=role)
    assert await world.names(ALONE[language], limit=3) == ["t-04", "t-07", "t-11"]
    assert await world.names(ALONE[language], limit=2) == ["t-04", "t-07"]
    assert await world.names(ALONE[language], limit=5) == ["t-00", "t-01", "t-04", "t-07", "t-11"]
    assert len(await world.names(ALONE[language], limit=12)) == 12


@both
async def test_a_list_is_bounded_by_filters(language: str) -> None:
    """Role, session, and the caller's own interval bound a list as they bound a search."""
    world = World()
    world.turn("t-1", DAY, role="assistant")
    world.turn("t-2", DAY / 2)
    assert await world.names(ALONE[language], filters=Filters(role="user")) == ["t-2"]
    assert await world.names(ALONE[language], filters=Filters(source="mail")) == []
    until = Filters(said=(None, (NOW - DAY).timestamp() + 1))
    assert await world.names(ALONE[language], filters=until) == ["t-1"]
    assert world.listed[-1][0] == (YESTERDAY[0], (NOW - DAY).timestamp() + 1)


@both
@pytest.mark.parametrize(
    "fields",
    [{"kinds": ("fact",)}, {"turns_searchable": False}, {"filters": Filters(verified=True)}],
)
async def test_what_finds_no_turns_lists_none(language: str, fields: dict[str, Any]) -> None:
    """Where turns aren't asked for, a time alone searches what is."""
    world = World()
    world.turn("t-1", DAY)
    world.memory("m-1", "t-1", DAY)
    await world.names(ALONE[language], **fields)
    assert world.listed == []
    assert all(query.within == YESTERDAY for query in world.asked[:1])


# --- sessions ----------------------------------------------------------------------------------

LAST: Final = {"en": "What did we talk about last time?", "zh": "上次我们聊了什么?"}
BEFORE_LAST: Final = {
    "en": "What did we talk about in the session before last?",
    "zh": "上上次我们聊了什么?",
}
FIRST: Final = {
    "en": "What did we talk about in the first session?",
    "zh": "第一次对话里我们聊了什么?",
}


def talks(pause: timedelta) -> World:
    """Return three talks; the last turn of the last one was said so long ago."""
    world = World()
    world.turn("t-a", 9 * DAY, session="a")
    world.turn("t-b", 5 * DAY, session="b")
    world.turn("t-c", 2 * DAY, session="c")
    world.turn("t-c-last", pause, session="c", role="assistant")
    return world


@both
@pytest.mark.parametrize(
    ("pause", "last", "before_last"),
    [
        (timedelta(minutes=1), ["t-b"], ["t-a"]),
        (timedelta(minutes=30), ["t-b"], ["t-a"]),
        (timedelta(minutes=31), ["t-c", "t-c-last"], ["t-b"]),
        (DAY, ["t-c", "t-c-last"], ["t-b"]),
    ],
)
async def test_last_time_is_before_the_running_talk(
    language: str, pause: timedelta, last: list[str], before_last: list[str]
) -> None:
    """While a talk runs, the last one is that before it; once it paused, it is itself the last."""
    world = talks(pause)
    assert await world.names(LAST[language]) == last
    assert await world.names(BEFORE_LAST[language]) == before_last
    assert await world.names(FIRST[language]) == ["t-a"]


SECOND_OF_A_DAY: Final = {
    "en": "What did we talk about yesterday in our second session?",
    "zh": "昨天第二次聊天我们说了什么?",
}


@both
async def test_a_session_of_a_time_is_counted_within_it(language: str) -> None:
    """Beside a time, a session's number is its rank among those of that time."""
    world = World()
    world.turn("t-old", 9 * DAY, session="old")
    world.turn("t-first", timedelta(hours=30), session="first")
    world.turn("t-second", timedelta(hours=20), session="second")
    world.turn("t-today", timedelta(hours=1), session="today")
    assert await world.names(SECOND_OF_A_DAY[language]) == ["t-second"]


@both
async def test_a_session_is_told_where_nothing_in_it_is_like_the_question(language: str) -> None:
    """Asked in other words than its own, a session's turns come in order, and no other's."""
    question = {"en": "What was my worry in the first session?", "zh": "第一次聊天我担心什么？"}
    world = World()
    for number in range(3):
        world.turn(f"t-{number}", (9 - number) * DAY / 9, session="a", dense=0.1, sparse=None)
    world.turn("t-other", DAY / 9, session="b", dense=0.1, sparse=None)
    assert await world.names(question[language]) == ["t-0", "t-1", "t-2"]


@both
async def test_a_session_that_there_is_not_has_no_turns(language: str) -> None:
    """Without a talk, or with only the running one, there was no last time."""
    world = World()
    assert await world.names(LAST[language]) == []
    assert await world.names(FIRST[language]) == []
    world.turn("t-1", timedelta(minutes=5))
    assert await world.names(LAST[language]) == []
    assert await world.names(FIRST[language]) == ["t-1"]


@both
async def test_a_session_asked_for_and_another_filtered_by_share_nothing(language: str) -> None:
    """The filter of a session bounds the session that the question asks for."""
    world = talks(DAY)
    assert await world.names(FIRST[language], filters=Filters(session_id="c")) == []
    assert await world.names(FIRST[language], filters=Filters(role="user")) == ["t-a"]
    assert await world.names(FIRST[language], filters=Filters(role="tool")) == []


# --- what else is found ------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["tea in Lisbon", "里斯本的茶"])
async def test_what_is_faded_comes_last(question: str) -> None:
    """A memory of low confidence comes after everything else, however well it matches."""
    world = World()
    world.memory("m-faded", "t-x", DAY, dense=0.95, sparse=20.0, confidence=0.29, session="s9")
    world.memory("m-sure", "t-y", DAY, dense=0.5, sparse=4.0, confidence=0.3, session="s8")
    world.turn("t-1", DAY, dense=0.6, sparse=5.0)
    names = await world.names(question)
    assert names[-1] == "m-faded"
    assert set(names) == {"m-faded", "m-sure", "t-1"}
    assert "m-faded" not in await world.names(question, limit=2)
    assert await world.names(question, kinds=("fact",)) == ["m-sure", "m-faded"]


@pytest.mark.parametrize("question", ["tea in Lisbon", "里斯本的茶"])
async def test_a_turn_with_a_faded_memory_is_shown_once(question: str) -> None:
    """The turn itself is shown in place of its faded memory, and not both."""
    world = World()
    world.turn("t-1", DAY, dense=0.5, sparse=4.0)
    world.memory("m-1", "t-1", DAY, dense=0.95, sparse=20.0, confidence=0.1)
    assert await world.names(question) == ["t-1"]


@both
async def test_near_turns_come_back_only_where_nothing_is_filtered(language: str) -> None:
    """What a filter, a time or `as_of` left out must not come back by standing near."""
    world = World()
    world.turn("t-hit", DAY, position=5)
    world.turn("t-near", DAY, position=6, role="assistant", dense=None, sparse=None)
    question = {"en": "What tea did I buy?", "zh": "我买了什么茶?"}[language]
    assert await world.names(question) == ["t-hit", "t-near"]
    assert world.looked_beside == 1
    assert await world.names(question, filters=Filters(role="user")) == ["t-hit"]
    assert await world.names(question, as_of=NOW) == ["t-hit"]
    assert await world.names(question, kinds=("fact", "event")) == []
    assert world.looked_beside == 1


@both
async def test_near_turns_are_of_the_time_asked_for(language: str) -> None:
    """Of the turns beside a hit only those come that were said in the interval that filters."""
    world = World()
    world.turn("t-hit", NOW - MIDNIGHT + timedelta(hours=1), position=5)
    world.turn("t-near", NOW - MIDNIGHT + timedelta(hours=2), position=4, dense=None, sparse=None)
    world.turn("t-today", NOW - MIDNIGHT, position=6, dense=None, sparse=None)
    assert await world.names(TEA[language]) == ["t-hit", "t-near"]


@both
async def test_what_holds_is_asked_for(language: str) -> None:
    """The store is told clock, past, project, and whether only what is vouched for counts."""
    world = World()
    world.turn("t-1", DAY)
    keys = await world.keys.owner(ANA)
    question = {"en": "What tea did I use to buy?", "zh": "我以前买什么茶?"}[language]
    await world.names(question, project_id="花园")
    assert world.asked[-1].holding == Holding(
        at=NOW.timestamp(),
        past=(None, NOW.timestamp()),
        project=project_hash(cast("Any", keys), "花园"),
    )
    await world.names(TEA[language], as_of=NOW - DAY, filters=Filters(verified=True))
    holding = world.asked[-1].holding
    assert holding is not None
    then = (NOW - DAY).timestamp()
    assert (holding.at, holding.as_of, holding.past) == (then, then, YESTERDAY)
    assert (holding.verified, holding.project) == (True, None)
    assert {query.vector is None for query in world.asked[1:]} == {True}


@pytest.mark.parametrize("question", ["tea in Lisbon", "里斯本的茶"])
async def test_scope_and_confidence_order(question: str) -> None:
    """Of equals the project's own comes first in it, then the user's, then the organisation's."""
    world = World()
    scopes = (
        ("m-company", "organisation", 1.0),
        ("m-own", "private", 1.0),
        ("m-doubtful", "private", 0.5),
        ("m-project", "project", 1.0),
    )
    for name, scope, confidence in scopes:
        world.memory(name, f"t/{name}", DAY, scope=scope, confidence=confidence, session=name)
    assert await world.names(question, project_id="p") == [
        "m-project",
        "m-own",
        "m-doubtful",
        "m-company",
    ]
    outside = await world.names(question)
    assert outside[-2:] == ["m-doubtful", "m-company"]
