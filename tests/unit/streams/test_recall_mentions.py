"""Search for what a question names and for whose words it asks; both languages in pairs."""

from datetime import timedelta
from typing import Final

import pytest

from eunoe.infra.terms import Terms
from eunoe.streams.asking import Filters
from eunoe.streams.ranking_parameters import DEFAULTS
from tests.support.recalling import World
from tests.support.records import ANA

HOUR: Final = timedelta(hours=1)
NAMED: Final = {
    "en": (
        "We're at Girraween now. Which pitch is ours?",
        "Site 14 at Girraween, by the wash block.",
    ),
    "zh": ("到 Girraween 了，我们是哪个位子？", "Girraween 订的是 14 号，靠洗衣房。"),
}
UNNAMED: Final = {"en": "which pitch is ours", "zh": "我们是哪个位子？"}
OTHERS: Final = {"en": "We had pancakes for breakfast.", "zh": "早饭吃了煎饼。"}
TOLD: Final = {"en": "What did you recommend?", "zh": "你推荐了什么？"}
SAID: Final = {"en": "What did I recommend to Tom?", "zh": "我给小王推荐了什么？"}
ENGINEER: Final = {
    "en": ("Who is our engineer, and what can't he eat?", "Wei", "Wei can't have peanuts."),
    "zh": ("我们的工程师不能吃什么？", "韦杰", "韦杰花生过敏。"),
}
both = pytest.mark.parametrize("language", ["en", "zh"])


def _large(language: str, named: bool) -> World:  # noqa: FBT001 - what is tried
    """Make a store that is large enough for chance, of turns that are like no question."""
    world = World()
    for number in range(DEFAULTS.floor_candidates + 6):
        words = NAMED[language][1] if named and not number else OTHERS[language]
        name = "Girraween" if named and not number else ""
        world.turn(f"t{number}", HOUR * number, dense=0.25, sparse=1.0, words=words, names=name)
    return world


@both
async def test_a_name_that_was_said_is_answered(language: str) -> None:
    """What a question names was spoken of, so that it finds, however little else is alike."""
    assert await _large(language, named=True).names(NAMED[language][0])


@both
async def test_a_name_that_nobody_said_changes_nothing(language: str) -> None:
    """Where the name was never said, and for a question without any, the floor decides."""
    assert await _large(language, named=False).names(NAMED[language][0]) == []
    assert await _large(language, named=True).names(UNNAMED[language]) == []


async def test_words_of_a_name_that_are_no_name_change_nothing() -> None:
    """A title of common words isn't spoken of where one of them was said."""
    world = _large("en", named=False)
    world.turn("t-peace", HOUR, dense=0.25, sparse=1.0, words="Peace at last.", names="")
    world.turn("t-war", HOUR, dense=0.25, sparse=1.0, words="War is over.", names="War")
    assert await world.names("Who wrote War and Peace?") == []


@both
async def test_the_agents_own_words_answer_what_it_said(language: str) -> None:
    """Asked what the agent said, its turn comes before the user's; otherwise the user's does."""
    world = World()
    world.turn("t-user", HOUR, session="s1")
    world.turn("t-agent", HOUR, session="s2", role="assistant", states=50)
    assert await world.names(TOLD[language]) == ["t-agent", "t-user"]
    assert await world.names(SAID[language]) == ["t-user", "t-agent"]


@both
async def test_a_name_that_the_best_brought_up_leads_on(language: str) -> None:
    """What one turn calls by a name is told by another, which comes before its equals."""
    question, name, told = ENGINEER[language]
    world = World()
    world.turn("t-engineer", HOUR, session="s1", names=name, words=OTHERS[language])
    world.turn("t-other", HOUR, session="s2", dense=0.3, sparse=1.0, words=OTHERS[language])
    world.turn("t-told", HOUR, session="s3", dense=0.3, sparse=1.0, words=told)
    found = await world.find(question)
    assert [one.spot.session for one in found] == [b"s1", b"s3", b"s2"]
    assert [("linked" in one.signals) for one in found] == [False, True, False]
    _, again = world.asked
    assert (again.vector, again.limit) == (None, DEFAULTS.linked_limit)


@both
async def test_a_name_of_the_question_leads_nowhere(language: str) -> None:
    """What the question names itself was asked for already: there is no second look."""
    question, name, told = ENGINEER[language]
    world = World()
    world.turn("t-engineer", HOUR, session="s1", names=name, words=told)
    await world.find(f"{name}: {question}")
    assert len(world.asked) == 1


async def test_a_question_asks_for_words_of_the_same_meaning() -> None:
    """The first look asks for them, the look for names doesn't, nor does a question for terms."""
    world = World()
    world.turn("t1", HOUR, words="Lunch was with Wei.", names="Wei")
    world.turn("t2", HOUR * 2, words="Wei can't have peanuts.", dense=None, sparse=6.0)
    (term,) = Terms().query("lunch")
    lunch = (await world.keys.owner(ANA)).term(term)
    await world.names("Who came to dinner?")
    first, *others = world.asked
    assert 0.0 < dict(first.related)[lunch] < 1.0
    assert others
    assert all(not one.related for one in others)
    world.asked.clear()
    await world.names("Who came to dinner?", filters=Filters(verified=True))
    assert all(not one.related for one in world.asked)
