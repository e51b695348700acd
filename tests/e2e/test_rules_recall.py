"""The rules that recall keeps, one test each, named after the rule; both languages are read.

One store with the real encoder and recogniser serves them all. What concerns truth and scopes
stands in `test_rules_recall_truth.py`, what concerns time in `test_rules_recall_time.py`. Rules
that the design decides otherwise are tested in the design's form.
"""

import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import Any, Final

import pytest

import eunoe
from eunoe.schemas.events import owner_key
from eunoe.schemas.limits import OVER_FETCH, SEARCH_LIMIT_MAX
from eunoe.schemas.ports import EpisodicQuery, PointHit
from eunoe.streams.ranking_parameters import DEFAULTS
from tests.support.house import (
    ADDRESS,
    CLAUSE,
    FOLDER,
    LANGUAGES,
    REPORT,
    RESTAURANT,
    TALK,
    ZONE,
    House,
    open_house,  # noqa: F401 - the fixture named house
    question,
    value,
)

pytestmark = pytest.mark.timeout(300)

both = pytest.mark.parametrize("language", LANGUAGES)
BOILER: Final = {
    "en": (
        "Remember that the boiler is serviced every October.",
        "The boiler made a noise again this morning.",
        "Tom knows somebody who repairs boilers.",
        "We had pancakes for breakfast.",
        "The train to Ghent was late.",
        "Nora plays the cello.",
    ),
    "zh": (
        "记住：锅炉每年十月检修。",
        "今天早上锅炉又响了。",
        "小王认识修锅炉的人。",
        "我们早饭吃了煎饼。",
        "去苏州的火车晚点了。",
        "诺拉会拉大提琴。",
    ),
}
"""Three things that hold one word, then three that don't."""
WORD: Final = {"en": "boiler", "zh": "锅炉"}
MEMORIES: Final = ("fact", "event", "commitment", "decision", "relation")


class Watch:
    """What the engine of a house was asked, and how many points it returned."""

    def __init__(self, house: House, patch: pytest.MonkeyPatch) -> None:
        self.queries: list[EpisodicQuery] = []
        self.returned: list[int] = []
        episodes = house.memory._memory.runtime.engines.episodes
        query = episodes.query

        async def watched(asked: EpisodicQuery) -> list[PointHit]:
            found = await query(asked)
            self.queries.append(asked)
            self.returned.append(len(found))
            return found

        patch.setattr(episodes, "query", watched)


def told(house: House, language: str) -> str:
    """Return a user who has said everything of `BOILER`, once."""
    user = f"{language}-boiler"
    if not house.memory.list(user_id=user, limit=1):
        house.say(user, *BOILER[language], session_id="s1")
    return user


# --- A2: search beside writing -----------------------------------------------------------------


@both
def test_a2_11_one_word_finds_all_that_holds_it(house: House, language: str) -> None:
    """A word finds every text that holds it before any other, best first, ten at most unasked.

    The order is that of the ranking, not of importance and last access; a word is matched by
    its stem, and in Chinese by its characters, not as a part of any other word.
    """
    user = told(house, language)
    hits = house.ask(user, WORD[language])
    texts = [hit.text for hit in hits]
    holding = [WORD[language] in text for text in texts]
    assert set(BOILER[language][:3]) <= set(texts)
    assert holding == sorted(holding, reverse=True)
    assert all(("sparse" in hit.why) == holds for hit, holds in zip(hits, holding, strict=True))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    bounded = house.ask(user, WORD[language], kinds=["turn"], filters={"session_id": "s1"})
    assert set(BOILER[language][:3]) <= {hit.text for hit in bounded}
    assert {hit.kind for hit in bounded} == {"turn"}
    assert house.ask(user, WORD[language], filters={"session_id": "another"}) == []
    house.say(f"{user}-many", *(f"{WORD[language]} {number}" for number in range(15)))
    assert len(house.ask(f"{user}-many", WORD[language])) == 10


@both
def test_a2_12_words_and_meaning_are_merged_without_doubles(house: House, language: str) -> None:
    """What only words or only meaning finds is in one list, each once, ordered, cut at the end."""
    asked = {
        "en": "Who mends the heating? The train was late.",
        "zh": "谁会修暖气？火车晚点了。",
    }[language]
    user = told(house, language)
    hits = house.ask(user, asked)
    by_words = [hit for hit in hits if "sparse" in hit.why]
    by_meaning = [hit for hit in hits if "sparse" not in hit.why and "dense" in hit.why]
    assert by_words
    assert by_meaning
    sources = [hit.sources[0] for hit in hits]
    assert len(sources) == len(set(sources))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert house.ask(user, asked, limit=3) == hits[:3]


@both
def test_a2_13_what_is_returned_is_capped(house: House, language: str) -> None:
    """At most as many come as are asked for, ten if nothing is said, and nobody asks for all."""
    user = f"{language}-capped"
    house.say(user, *(f"{BOILER[language][0]} {number}" for number in range(12)))
    for limit in (0, 1, 5):
        assert len(house.ask(user, WORD[language], limit=limit)) == limit
        block = house.memory.context(WORD[language], user_id=user, limit=limit)
        assert len(block.hits) <= limit
    assert len(house.ask(user, WORD[language])) == 10
    with pytest.raises(eunoe.Rejected, match=str(SEARCH_LIMIT_MAX)):
        house.ask(user, WORD[language], limit=SEARCH_LIMIT_MAX + 1)


# --- B3, B7: what is stored where, and how it is searched --------------------------------------


@both
def test_b3_1_exact_and_transactional_beside_searchable(house: House, language: str) -> None:
    """By user and id a row is read exactly, meaning is searched elsewhere; one truth feeds both."""
    turn = house.memory.get(f"{language}{CLAUSE}", user_id=language)
    assert turn.text == TALK[language][CLAUSE]
    with closing(sqlite3.connect(house.place / "data" / "identity.sqlite")) as file:
        plan = file.execute(
            "EXPLAIN QUERY PLAN SELECT * FROM events WHERE owner = 1 AND producer = x'00'"
        ).fetchall()
        tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master")}
    assert "SEARCH" in plan[0][-1]
    assert {"events", "statements", "sessions"} <= tables
    hits = house.ask(language, question(language, CLAUSE), kinds=["turn"])
    assert hits[0].id == turn.id


@both
def test_b3_2_loose_knowledge_is_a_vector_and_a_relation_is_told_apart(
    house: House, language: str
) -> None:
    """What was said is found by meaning; who belongs to whom is kept as a relation."""
    user = f"{language}-relations"
    text, asked = {
        "en": ("My aunt Vera lives with her husband Milan.", "Who is my aunt married to?"),
        "zh": ("我姑姑薇拉和她丈夫米兰住在一起。", "我姑姑和谁结了婚？"),
    }[language]
    house.say(user, text, BOILER[language][4])
    (relation,) = [one for one in house.kept(user) if one.kind == "relation"]
    assert relation.text.rstrip("。.") == text.rstrip("。.")
    (hit, *_) = house.ask(user, asked, kinds=["relation"])
    assert hit.id == relation.id
    assert hit.why["dense"] > 0


@both
def test_b3_3_exact_values_are_in_no_vector_store(house: House, language: str) -> None:
    """The vector store holds turns and memories only: no slot, preference or zone is a point."""
    user = f"{language}-exact"
    house.memory.set_timezone("Asia/Shanghai", user_id=user)
    engines = house.memory._memory.runtime.engines
    vector = house.run(engines.encoder.encode(["Asia/Shanghai"]))[0]

    def points() -> set[bytes]:
        query = EpisodicQuery(owner_key("default", user), vector, (), 1_000)
        return {hit.point_id for hit in house.run(engines.episodes.query(query))}

    assert house.stated(user) == {"timezone": "Asia/Shanghai"}
    assert points() == set()
    house.say(user, TALK[language][FOLDER])
    assert len(house.stated(user)) == 2
    made = {point.id.bytes for record in house.records(user) for point in record.points}
    made |= {
        decision.memory_id.bytes for record in house.records(user) for decision in record.decisions
    }
    assert points() == made
    shard = house.place / "data" / "episodes"
    files = [file for file in shard.rglob("*") if file.is_file()]
    assert files
    assert not any(value(language, FOLDER).encode() in file.read_bytes() for file in files)


@both
def test_b3_5_vectors_come_first_and_no_graph_is_needed(house: House, language: str) -> None:
    """The first turn of a user is found by its meaning; the store is vectors and SQLite alone."""
    user = f"{language}-first"
    (ident,) = house.say(user, TALK[language][CLAUSE])
    assert house.ask(user, question(language, CLAUSE))[0].sources == (ident,)
    house.run(house.memory._memory.runtime.experience.settled())
    names = {path.name for path in (house.place / "data").iterdir()}
    stores = {name for name in names if not name.endswith(("-wal", "-shm", ".json", ".lock"))}
    files = {f"{name}.sqlite" for name in ("identity", "keys", "log", "experience")}
    assert stores == {"episodes"} | files


@both
def test_b7_1_few_candidates_then_the_best(
    house: House, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By words and by meaning in one request, with so many points of each at most."""
    user = f"{language}-many"
    if not house.memory.list(user_id=user, limit=1):
        house.say(user, *(f"{BOILER[language][number % 6]} ({number})" for number in range(150)))
    watch = Watch(house, monkeypatch)
    hits = house.ask(user, WORD[language], limit=5)
    assert len(hits) == 5
    (query,) = [one for one in watch.queries if one.vector is not None]
    assert query.terms
    assert query.limit == DEFAULTS.part_limit == 64
    assert watch.returned[0] <= 2 * DEFAULTS.part_limit
    assert all(WORD[language] in hit.text for hit in hits)


@both
def test_b7_2_a_prompt_has_each_thing_once_in_the_order_of_time(
    house: House, language: str
) -> None:
    """In the block a memory and its turn are one line, and lines go by time."""
    block = house.memory.context(WORD[language], user_id=told(house, language))
    lines = block.text.splitlines()[1:]
    holding = [line for line in lines if WORD[language] in line]
    assert len(holding) == 3
    cited = [line.rpartition("[")[2] for line in lines]
    assert len(cited) == len(set(cited))
    times = {hit.sources[0]: hit.said_at for hit in block.hits}
    shown = [times[one.rstrip("]").split(",")[0]] for one in cited]
    assert shown == sorted(shown)


@both
def test_b7_4_question_kinds_user_and_number_bound_a_search(house: House, language: str) -> None:
    """A search takes kinds, a user and a number, and orders by a score that has the cosine."""
    user = told(house, language)
    memories = house.ask(user, WORD[language], kinds=list(MEMORIES), limit=5)
    assert memories
    assert {hit.kind for hit in memories} <= set(MEMORIES)
    turns = house.ask(user, WORD[language], kinds=["turn"], limit=5)
    assert {hit.kind for hit in turns} == {"turn"}
    assert len(turns) == 5
    assert all(hit.why["dense"] > 0 for hit in turns[:3])
    assert [hit.score for hit in turns] == sorted((hit.score for hit in turns), reverse=True)


@both
def test_b7_5_users_and_kinds_never_mix(house: House, language: str) -> None:
    """Another user's texts aren't found, nor another kind's, however well they fit."""
    user = told(house, language)
    other = f"{user}-other"
    house.say(other, BOILER[language][4])
    for text in BOILER[language][:3]:
        assert text not in {hit.text for hit in house.ask(other, text, limit=50)}
        assert house.ask(user, text, kinds=["decision"]) == []


@both
def test_b7_6_a_hit_says_what_kind_when_and_how_near(house: House, language: str) -> None:
    """A hit carries text, kind, times and score; when it was recorded is told by its id."""
    user = told(house, language)
    for hit in house.ask(user, WORD[language], limit=3):
        item = house.memory.get(hit.id, user_id=user)
        assert (hit.text, hit.kind, hit.said_at) == (item.text, item.kind, item.said_at)
        assert hit.said_at <= item.created_at
        assert 0 < hit.score <= 1
        assert sum(hit.why.values()) == pytest.approx(hit.score, abs=1e-3)


# --- B9: smoke tests ---------------------------------------------------------------------------


@both
def test_b9_1_the_example_is_answered_in_other_words(house: House, language: str) -> None:
    """Of a rejected plan, budget and decision are found however the question is worded."""
    user = f"{language}-plan"
    text, amount, *asked = {
        "en": (
            "I rejected the plan with the 200,000 budget for the trade fair.",
            "200,000",
            "What became of the trade fair plan?",
            "How much money was in the proposal for the fair that I turned down?",
            "Did I approve the budget for the trade fair?",
        ),
        "zh": (
            "我否决了展会那个20万预算的方案。",
            "20万",
            "展会的方案后来怎么样了？",
            "我没批准的那个展会提案要多少钱？",
            "展会的预算我同意了吗？",
        ),
    }[language]
    (ident, *_) = house.say(user, text, *BOILER[language], *TALK[language])
    for wording in asked:
        hits = house.ask(user, wording, limit=5)
        (hit,) = [hit for hit in hits if ident in hit.sources]
        assert amount in hit.text
        assert {"en": "rejected", "zh": "否决"}[language] in hit.text


@both
def test_b9_6_tasks_in_a_row_do_not_mix(house: House, language: str) -> None:
    """Two tasks of a user have contexts of their own, and past ones are found from a later one."""
    user = f"{language}-tickets"
    tickets = {
        "en": ("Ticket 4711: the printer on floor 3 jams.", "Ticket 4712: VPN drops every hour."),
        "zh": ("工单4711：三楼的打印机卡纸。", "工单4712：VPN每小时断一次。"),
    }[language]
    asked = {"en": "What was wrong with the printer?", "zh": "打印机出了什么问题？"}[language]
    first, second = (
        house.say(user, text, session_id=f"task-{number}")[0] for number, text in enumerate(tickets)
    )
    assert house.ask(user, asked)[0].sources == (first,)
    bounded = house.ask(user, asked, filters={"session_id": "task-1"})
    assert {hit.sources for hit in bounded} <= {(second,)}
    kept = [one for one in house.kept(user) if second in one.sources]
    assert all(tickets[0] not in (one.summary or "") for one in kept)


@both
def test_b9_7_an_hour_later_other_words_find_it(house: House, language: str) -> None:
    """After an hour the same matter is recalled in other words."""
    user = f"{language}-hour"
    (ident,) = house.say(user, TALK[language][REPORT], session_id="s1")
    house.say(user, *BOILER[language], session_id="s2")
    house.clock.moment += timedelta(hours=1)
    assert house.ask(user, question(language, REPORT))[0].sources == (ident,)


# --- D16, E4: exact first, then candidates, filters, order -------------------------------------


@both
def test_d16_1_exact_answers_come_before_vectors(
    house: House, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slot that answers stops the search; where none does, the engine is asked."""
    watch = Watch(house, monkeypatch)
    (hit,) = house.ask(language, question(language, ADDRESS))
    assert hit.text == value(language, ADDRESS)
    assert watch.queries == []
    assert house.ask(language, question(language, RESTAURANT))
    assert len([one for one in watch.queries if one.vector is not None]) == 1


@both
def test_d16_2_plain_questions_cost_no_vector(
    house: House, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions for exact values, and for the turns of a time, encode nothing at all."""
    watch = Watch(house, monkeypatch)
    house.encoder.texts.clear()
    for number in (FOLDER, ADDRESS, ZONE):
        assert house.ask(language, question(language, number))
    listed = house.ask(
        language, {"en": "What did we talk about today?", "zh": "我们今天聊了什么？"}[language]
    )
    assert {hit.kind for hit in listed} <= {"turn"}
    assert house.encoder.texts == []
    assert watch.queries == []


@both
def test_e4_1_a_fact_is_found_by_its_key_and_by_its_value(house: House, language: str) -> None:
    """By the name of its slot, by its value, and by neither for another user."""
    slot = {"en": "default/backup folder", "zh": "default/备份文件夹"}[language]
    exact = value(language, FOLDER)
    assert house.memory.get(slot, user_id=language).text == exact
    assert exact in house.ask(language, exact)[0].text
    nobody = f"{language}-nobody"
    assert house.ask(nobody, exact) == []
    with pytest.raises(eunoe.NotFound):
        house.memory.get(slot, user_id=nobody)


@both
def test_e4_2_three_points_are_fetched_for_each_that_is_wanted(
    house: House, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vector part returns three times what is wanted, and never too few to choose from."""
    watch = Watch(house, monkeypatch)
    for limit in (5, 10, 40):
        house.ask(language, question(language, REPORT), limit=limit)
    assert OVER_FETCH == 3
    by_meaning = [query for query in watch.queries if query.vector is not None]
    assert [query.limit for query in by_meaning] == [64, 64, 120]


@both
def test_e4_3_metadata_is_filtered_in_sqlite(
    house: House, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Session, role and metadata become points by SQL; the engine is asked about those alone."""
    user = f"{language}-filters"
    text = BOILER[language][1]
    messages = [
        {"content": f"{text} {number}", "id": f"f{number}", "metadata": {"tag": f"tag{number % 2}"}}
        for number in range(6)
    ]
    house.memory.add(messages, user_id=user)
    watch = Watch(house, monkeypatch)
    for filters, wanted in (
        ({"metadata": {"tag": "tag1"}}, {"f1", "f3", "f5"}),
        ({"metadata": {"tag": "tag9"}}, set()),
        ({"role": "assistant"}, set()),
        ({"since": house.clock.moment}, set()),
    ):
        named: dict[str, Any] = {"filters": filters}
        hits = house.ask(user, WORD[language], **named)
        assert {hit.sources[0] for hit in hits} == wanted
    (bounded, *others) = watch.queries
    assert bounded.only is not None
    assert len(bounded.only) >= 3
    assert all(query.within is not None for query in others)
