"""The rules that the spine keeps, one test each, named after the rule; both languages are read.

One store with the real encoder and recogniser serves them all; no socket may be connected
meanwhile. Rules that the design decides otherwise are tested in the design's form.
"""

import asyncio
import re
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np
import pytest

import eunoe
from eunoe.infra.vectors import normalise_rows
from eunoe.schemas.errors import EncoderMismatch
from eunoe.schemas.events import owner_key
from eunoe.schemas.ports import EpisodicQuery, Vectors
from eunoe.schemas.records import Candidate, EpisodePoint, JournalRecord
from eunoe.streams.deduplication import unpack
from tests.support.house import (
    ADDRESS,
    CLAUSE,
    FOLDER,
    LANGUAGES,
    MOVE,
    REPORT,
    RESTAURANT,
    TALK,
    TOOLS,
    ZONE,
    House,
    open_house,  # noqa: F401 - the fixture named house
    question,
    value,
)
from tests.support.memories import open_memory, settings_in
from tests.support.tools import START

pytestmark = pytest.mark.timeout(300)

both = pytest.mark.parametrize("language", LANGUAGES)
ISO_MICROSECONDS: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(\+|-)\d\d:\d\d$")


def points_of(record: JournalRecord) -> list[EpisodePoint | Candidate]:
    """Return everything of a record that has a vector."""
    return [*record.points, *record.candidates]


# --- A2: how facts are kept --------------------------------------------------------------------


@both
def test_a2_1_facts_are_kept_exactly_and_by_meaning(house: House, language: str) -> None:
    """A fact is a structured field with its exact value, and is also found by a vector."""
    assert value(language, FOLDER) in house.stated(language).values()
    asked = {"en": "in which directory do the backups go", "zh": "备份放在哪个目录"}[language]
    best = house.ask(language, asked, kinds=["turn"])[0]
    assert best.sources == (f"{language}{FOLDER}",)
    assert best.why["dense"] > 0


@both
def test_a2_2_a_memory_has_the_recommended_fields(house: House, language: str) -> None:
    """Time, source, content, summary, tags, importance, created_at and last_accessed are there."""
    (item,) = [one for one in house.kept(language) if one.sources == (f"{language}{RESTAURANT}",)]
    turn = house.memory.get(item.sources[0], user_id=language)
    assert item.text == TALK[language][RESTAURANT]
    assert TALK[language][REPORT] in (item.summary or "")
    assert item.tags
    assert 0 < item.importance <= 1
    assert START <= item.said_at <= item.created_at <= item.last_accessed
    assert (turn.source, turn.session_id) == ("chat", "s1")


@both
def test_a2_3_an_exact_fact_is_read_by_its_key(house: House, language: str) -> None:
    """A slot is read by its name, and answers a question without any vector."""
    slot = {"en": "default/backup folder", "zh": "default/备份文件夹"}[language]
    assert house.memory.get(slot, user_id=language).text == value(language, FOLDER)
    house.encoder.texts.clear()
    (hit,) = house.ask(language, question(language, FOLDER))
    assert (hit.id, hit.text, hit.kind) == (slot, value(language, FOLDER), "slot")
    assert hit.sources == (f"{language}{FOLDER}",)
    assert house.encoder.texts == []


@both
def test_a2_4_long_text_is_cut_into_chunks_with_a_vector_each(house: House, language: str) -> None:
    """What stands at the end of a long text is found, through a chunk of its own."""
    user = f"{language}-long"
    filler, end, asked = {
        "en": (
            "The minutes go on about chairs, windows and the colour of the carpet. ",
            "The spare key lies under the blue flower pot.",
            "Where is the spare key?",
        ),
        "zh": (
            "会议记录还谈到椅子、窗户和地毯的颜色。",
            "备用钥匙在蓝色花盆下面。",
            "备用钥匙在哪里?",
        ),
    }[language]
    (ident,) = house.say(user, filler * 60 + end)
    house.say(user, *TALK[language], session_id="s2")
    record = house.records(user)[0]
    assert len(record.points) > 1
    assert record.points[-1].end == len(filler * 60 + end)
    assert all(len(unpack(point.vector)) == house.encoder.dimension for point in record.points)
    assert house.ask(user, asked)[0].id == ident


@both
def test_a2_5_only_the_nearest_few_are_returned(house: House, language: str) -> None:
    """A search returns at most as many as were asked for, the nearest first."""
    hits = house.ask(language, question(language, RESTAURANT), limit=3)
    assert len(hits) == 3
    assert hits[0].sources == (f"{language}{RESTAURANT}",)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@both
def test_a2_6_other_words_of_one_meaning_find_the_same(house: House, language: str) -> None:
    """Two wordings of one wish find the one sentence."""
    other = {
        "en": "attach the average of the previous year to my weekly report",
        "zh": "每周的报告里加上上一年的均值",
    }[language]
    for asked in (question(language, REPORT), other):
        assert house.ask(language, asked)[0].sources == (f"{language}{REPORT}",)


def test_a2_7_sqlite_and_a_light_vector_search_are_enough(house: House) -> None:
    """The whole store is a folder with SQLite files and one in-process vector engine."""
    house.run(house.memory._memory.runtime.experience.settled())
    names = {path.name.removesuffix("-wal").removesuffix("-shm")
             for path in (house.place / "data").iterdir()}  # fmt: skip
    databases = {"log.sqlite", "keys.sqlite", "identity.sqlite", "experience.sqlite"}
    assert names == databases | {"episodes", "store.json", "owner.lock"}
    for name in databases:
        assert (house.place / "data" / name).read_bytes()[:15] == b"SQLite format 3"


@both
def test_a2_8_stored_texts_are_not_encoded_by_a_query(house: House, language: str) -> None:
    """A query encodes itself and nothing that is stored."""
    house.encoder.texts.clear()
    assert house.ask(language, question(language, RESTAURANT))
    assert house.encoder.texts == [question(language, RESTAURANT)]


@both
def test_a2_9_each_memory_fills_the_minimal_table(house: House, language: str) -> None:
    """Every memory has an id of its own, text, tags, sources, importance and both times."""
    kept = house.kept(language)
    assert kept
    assert len({item.id for item in kept}) == len(kept)
    for item in kept:
        row = (item.id, item.text, item.sources, item.importance)
        assert all(row)
        assert isinstance(item.tags, tuple)
        assert item.created_at.utcoffset() is not None
        assert item.last_accessed.utcoffset() is not None
        assert house.memory.get(item.id, user_id=language) == item


@both
def test_a2_14_a_new_memory_starts_with_the_present_and_one_half(
    house: House, language: str
) -> None:
    """created_at and last_accessed are the writer's time, importance is 0.5."""
    user = f"{language}-insert"
    before = house.clock.moment
    house.say(user, TALK[language][RESTAURANT])
    (item,) = house.kept(user)
    assert item.importance == 0.5
    assert before <= item.created_at == item.last_accessed < house.clock.moment


# --- A3, B6: what is kept ----------------------------------------------------------------------


@both
def test_a3_1_a_standing_order_is_kept_at_once(house: House, language: str) -> None:
    """An explicit preference or order stands in the profile when `add` returns."""
    user = f"{language}-orders"
    orders = {
        "en": ("Please never send copies by default.", "I prefer meetings after 3 pm."),
        "zh": ("默认不要抄送任何人。", "别再问我用什么格式,一律用PDF。"),
    }[language]
    for count, text in enumerate(orders, 1):
        (ident,) = house.say(user, text)
        profile = house.memory.profile(user_id=user)
        assert len(profile) == count
        assert [one.kind for one in profile if ident in one.sources] == ["preference"]


SMALL_TALK: Final = {
    "en": ("ok thanks", "The weather is nice.", "Hm, go on.", "What do you mean?"),
    "zh": ("好的,谢谢", "天气不错。", "嗯,继续。", "什么意思?"),
}


@both
def test_a3_4_ordinary_sentences_become_no_memory(house: House, language: str) -> None:
    """Small talk stays a turn: no memory, no slot, no preference."""
    user = f"{language}-chat"
    house.say(user, *SMALL_TALK[language])
    assert house.kept(user) == []
    assert house.stated(user) == {}
    assert house.memory.stats(user_id=user).turns == len(SMALL_TALK[language])


async def test_b6_1_turns_stay_out_of_the_vector_store_if_so_set(tmp_path: Path) -> None:
    """By default a turn is found as an episode; set so, the vector store holds only memories."""
    kept, chat = "My sister Nora moved to Lisbon in May.", "the trams rattle there"
    for searchable in (True, False):
        place = tmp_path / str(searchable)
        async with open_memory(place, turns_searchable=searchable) as memory:
            ids = await memory.add([kept, chat], user_id="ana", session_id="s1")
            kinds = {hit.kind for hit in await memory.search("Nora Lisbon", user_id="ana")}
            everything = EpisodicQuery(owner_key("default", "ana"), _one(64), (), 50)
            points = await memory.runtime.engines.episodes.query(everything)
            memories = [item for item in await memory.list(user_id="ana") if item.kind != "turn"]
            assert [item.text for item in memories] == [kept]
            assert len(points) == len(memories) + (2 if searchable else 0)
            assert ("turn" in kinds) == searchable
            assert kinds
            # Whatever the vector store holds, what was said can be read.
            assert [(await memory.get(one, user_id="ana")).text for one in ids] == [kept, chat]


def _one(dimension: int) -> Vectors:
    vector = np.zeros(dimension, dtype=np.float32)
    vector[0] = 1.0
    return vector


@both
def test_b6_3_raw_logs_stand_apart_from_the_vector_store(house: House, language: str) -> None:
    """The journal keeps every turn word for word, sealed; the vector store has no plain text."""
    records = [record for record in house.records(language) if record.kind == "turn"]
    assert len(records) == len(TALK[language])
    assert [house.memory.get(f"{language}{n}", user_id=language).text for n in range(10)] == [
        *TALK[language]
    ]
    house.run(house.memory._memory.runtime.journal.flush())
    words = ("Casa Azul", "/srv/backup", "老城南", "华星科技")
    for path in (house.place / "data").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert [word for word in words if word.encode() in content] == [], path.name


# --- D1, D2: two layers, and when they are written ---------------------------------------------


@both
def test_d1_2_what_was_done_is_episodic(house: House, language: str) -> None:
    """What was done on some day is found by meaning, with when, where and by whom it was said."""
    best = house.ask(language, question(language, RESTAURANT))[0]
    turn = house.memory.get(best.sources[0], user_id=language)
    assert (turn.role, turn.session_id, turn.source) == ("user", "s1", "chat")
    assert best.said_at == turn.said_at >= START


@both
def test_d1_3_name_employer_and_tools_are_known(house: House, language: str) -> None:
    """Name and employer are exact fields; the usual tools are a fact that is kept."""
    stated = house.stated(language)
    expected = {"en": ("Iris Novak", "Fabrikam"), "zh": ("林晓", "华星科技")}[language]
    assert (stated["name"], stated["employer"]) == expected
    assert TALK[language][TOOLS] in [item.text for item in house.kept(language)]


@both
def test_d1_4_a_certain_fact_needs_no_fuzzy_match(house: House, language: str) -> None:
    """The time zone is read exactly, whether it was said or set, and no vector is compared."""
    house.encoder.texts.clear()
    (hit,) = house.ask(language, question(language, ZONE))
    assert (hit.kind, hit.text) == ("slot", value(language, ZONE))
    user = f"{language}-zone"
    house.memory.set_timezone("Asia/Shanghai", user_id=user)
    (hit,) = house.ask(user, question(language, ZONE))
    assert (hit.kind, hit.text) == ("profile", "Asia/Shanghai")
    assert house.encoder.texts == []


@both
def test_d1_5_recall_goes_to_vectors_and_look_up_to_keys(house: House, language: str) -> None:
    """A question for what was mentioned is answered by meaning, one for a field by its value."""
    recalled = house.ask(language, question(language, RESTAURANT))[0]
    assert recalled.sources == (f"{language}{RESTAURANT}",)
    assert recalled.why["dense"] > 0
    (looked_up,) = house.ask(language, question(language, ADDRESS))
    assert looked_up.text == value(language, ADDRESS)
    assert looked_up.why == {"slot": 1.0}


@both
def test_d1_6_exact_fields_name_their_memories(house: House, language: str) -> None:
    """A profile field cites the turn that states it and the memory of the same turn."""
    (home,) = [one for one in house.memory.profile(user_id=language) if one.slot == "home"]
    assert home.sources == (f"{language}{MOVE}",)
    (linked,) = home.memories
    assert house.memory.get(linked, user_id=language).sources == home.sources


@both
def test_d2_1_each_fragment_is_extracted_at_once(house: House, language: str) -> None:
    """A new project, a time preference and a permission are kept when their turn is added."""
    user = f"{language}-events"
    fragments = {
        "en": (
            "Our new project is called Bluefin.",
            "I prefer meetings after 3 pm.",
            "You are allowed to use Slack for reminders.",
        ),
        "zh": ("我们的新项目叫青鸟计划。", "会议请安排在下午三点以后。", "允许你读取我的邮箱。"),
    }[language]
    for text in fragments:
        (ident,) = house.say(user, text, session_id="s1")
        rests_on = [item.sources for item in house.kept(user)]
        rests_on += [one.sources for one in house.memory.profile(user_id=user)]
        assert (ident,) in rests_on
        assert all(len(sources) == 1 for sources in rests_on)


@both
def test_d2_2_a_memory_tells_what_came_before_and_when(house: House, language: str) -> None:
    """Each memory has a short summary of the turns before it, and memories order by time."""
    kept = house.kept(language)
    for item in kept:
        number = int(item.sources[0].removeprefix(language))
        for before in TALK[language][max(0, number - 2) : number]:
            assert before[:20] in (item.summary or "")
    times = [item.said_at for item in kept]
    assert times == sorted(times, reverse=True)


@both
def test_d2_3_without_anything_named_nothing_is_kept(house: House, language: str) -> None:
    """A turn without names, times or cues becomes no memory; it is found as a turn all the same."""
    user = f"{language}-nothing"
    text = {"en": "It went a bit slower than before.", "zh": "比之前慢了一点。"}[language]
    (ident,) = house.say(user, text)
    assert house.kept(user) == []
    assert [hit.kind for hit in house.ask(user, text)] == ["turn"]
    assert house.memory.get(ident, user_id=user).text == text


@both
def test_d2_4_no_topic_is_lost_over_another(house: House, language: str) -> None:
    """Details of topic A are kept though topic B follows, in one long turn and in many turns."""
    details = {
        "en": (
            "Project Kestrel has a budget of 40,000 euros.",
            "Doctor Weber wants to see my blood test on Monday.",
            "My sister Nora gets married in Lisbon in May.",
            "Remember that the boiler is serviced every October.",
        ),
        "zh": (
            "红隼项目的预算是四万元。",
            "李医生周一要看我的验血报告。",
            "我妹妹五月在三亚结婚。",
            "记住:锅炉每年十月检修。",
        ),
    }[language]
    asked = {"en": "budget of Project Kestrel", "zh": "红隼项目的预算"}[language]
    one_turn, many_turns = f"{language}-turn", f"{language}-session"
    house.say(one_turn, " ".join(details), session_id="s1")
    chat = SMALL_TALK[language]
    for detail in details:
        house.say(many_turns, detail, *chat, session_id="s1")
    for user in (one_turn, many_turns):
        texts = " ".join(item.text for item in house.kept(user))
        assert all(detail.rstrip("。") in texts for detail in details)
    assert details[0] in house.ask(many_turns, asked)[0].text


# --- E5, E6, E11: times, vectors, no network ---------------------------------------------------


@both
def test_e5_1_times_come_from_the_runtime(house: House, language: str) -> None:
    """No date that a text names moves the times of what is kept: they are the caller's or ours."""
    user = f"{language}-time"
    text = {
        "en": "On 2019-05-01 at 10:00 Nora signed the lease with Tom.",
        "zh": "2019年5月1日10点小王签了租约。",
    }[language]
    given = START - timedelta(days=3)
    before = house.clock.moment
    house.memory.add([{"content": text, "id": "ours"}], user_id=user, metadata={"time": "2001"})
    house.memory.add([{"content": text, "id": "given", "time": given}], user_id=user)
    ours, told = (house.memory.get(one, user_id=user) for one in ("ours", "given"))
    assert before <= ours.said_at < house.clock.moment
    assert told.said_at == given
    assert before < told.created_at < house.clock.moment
    for item in house.kept(user):
        assert item.said_at in (ours.said_at, given)


@both
def test_e5_2_times_are_iso_text_with_microseconds(house: House, language: str) -> None:
    """Times stand as ISO 8601 text with microseconds and offset, in TEXT columns."""
    identity = house.place / "data" / "identity.sqlite"
    with closing(sqlite3.connect(f"file:{identity}?mode=ro", uri=True)) as connection:
        for table, columns in (("events", ["said_at"]), ("statements", ["said_at", "recorded_at"])):
            kinds = {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table})")}
            assert [kinds[column] for column in columns] == ["TEXT"] * len(columns)
            for column in columns:
                rows = connection.execute(f"SELECT {column} FROM {table}").fetchall()  # noqa: S608 - names of ours
                assert rows
                assert all(ISO_MICROSECONDS.match(row[0]) for row in rows)
    moment = datetime.fromisoformat("2024-06-15T22:00:00.123456+08:00")
    user = f"{language}-iso"
    house.memory.add([{"content": TALK[language][0], "id": "a", "time": moment}], user_id=user)
    said_at = house.memory.get("a", user_id=user).said_at
    assert said_at == moment
    assert said_at.utcoffset() == timedelta(hours=8)


@both
def test_e5_3_the_latest_change_is_the_really_latest(house: House, language: str) -> None:
    """Of several changes the one said last holds, in whatever order they arrive."""
    user = f"{language}-latest"
    said, asked = {
        "en": ("My default payment clause is {} days.", "What is my default payment clause?"),
        "zh": ("我的默认付款条款是{}天。", "我的默认付款条款是什么?"),
    }[language]
    for days, minute in ((45, 0), (60, 2), (30, 1)):
        moment = START + timedelta(minutes=minute, microseconds=1)
        content = {"content": said.format(days), "id": f"d{days}", "time": moment}
        house.memory.add([content], user_id=user)
    (hit,) = house.ask(user, asked)
    assert hit.text.startswith("60")
    assert hit.sources == ("d60",)
    steps = house.memory.history(hit.id, user_id=user)
    assert [step.sources for step in steps] == [("d45",), ("d30",), ("d60",)]
    assert [step.change for step in steps] == ["superseded", "superseded", "stated"]


@both
def test_e6_1_every_vector_has_length_one(house: House, language: str) -> None:
    """Vectors of turns, chunks and memories are L2-normalised; one of length 0 is left alone."""
    rows = [unpack(one.vector) for record in house.records(language) for one in points_of(record)]
    assert len(rows) > len(TALK[language])
    assert np.allclose(np.linalg.norm(np.stack(rows), axis=1), 1.0, atol=1e-3)
    short = np.full((1, 4), 1e-9, dtype=np.float32)
    assert np.array_equal(normalise_rows(short), short)


@both
def test_e6_2_the_same_text_keeps_its_vector(house: House, language: str) -> None:
    """A text has one vector, alone or in a batch, whatever its raw length; encoders are named."""
    texts = list(TALK[language])
    together = house.run(house.encoder.encode(texts))
    alone = np.concatenate([house.run(house.encoder.encode([text])) for text in texts])
    assert np.allclose(np.sum(together * alone, axis=1), 1.0, atol=1e-5)
    assert np.allclose(normalise_rows(3 * together), together, atol=1e-6)
    encoders = {record.encoder for record in house.records(language) if record.kind == "turn"}
    assert encoders == {house.encoder.id}


def test_e6_2_another_encoder_is_refused(tmp_path: Path) -> None:
    """Vectors of another encoder are never compared with the store's."""

    async def work() -> None:
        async with open_memory(tmp_path) as memory:
            await memory.add("I live in Porto.", user_id="ana")
        with pytest.raises(EncoderMismatch):
            async with eunoe.open(settings_in(tmp_path), serve=False):
                pass

    asyncio.run(work())


@both
def test_e11_1_without_a_network_everything_works(house: House, language: str) -> None:
    """What was asked three days ago is recalled, and reading and writing connect to nothing."""
    house.clock.moment += timedelta(days=3)
    user = f"{language}-offline"
    (ident,) = house.say(user, TALK[language][CLAUSE])
    assert house.ask(user, question(language, CLAUSE))[0].sources == (ident,)
    best = house.ask(language, question(language, CLAUSE))[0]
    assert best.sources == (f"{language}{CLAUSE}",)
    assert house.clock.moment - best.said_at > timedelta(days=3)
    assert house.connected == []
