"""The rules of recall about truth, scopes, structured data and measures, one test each.

States that no part of the product makes yet are written as corrections by hand. Cheap tools: what
is tested here isn't meaning. Rights of projects and organisations belong to a later wave.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

import pytest

import eunoe
from eunoe.infra.fastembed import FastembedEncoder
from eunoe.schemas.records import MemoryScope, Truth
from eunoe.streams.ranking_parameters import weight
from tests.support.memories import cheap_tools, open_memory
from tests.support.onnx_model import write_model
from tests.support.tools import SetClock, WordEncoder
from tests.support.truths import correct, kept, of_project, superseded

LANGUAGES: Final = ("en", "zh")
both = pytest.mark.parametrize("language", LANGUAGES)
TASKS: Final = Path(__file__).parents[2] / "benchmarks" / "sets" / "tasks"
USER: Final = "ana"
SAID: Final = {
    "en": (
        "Remember that the launch of Orion is planned for spring.",
        "Remember that the launch of Orion is planned for autumn.",
        "Remember that the launch of Orion needs three signatures.",
    ),
    "zh": (
        "记住：猎户座的发布定在春天。",
        "记住：猎户座的发布定在秋天。",
        "记住：猎户座的发布要三个人签字。",
    ),
}
PARTS: Final = {"en": ("spring", "autumn", "signatures"), "zh": ("春天", "秋天", "签字")}
ASKED: Final = {"en": "launch of Orion", "zh": "猎户座的发布"}
NAMES: Final = ("spring", "autumn", "signatures")


def day(month: int) -> datetime:
    """Return a day of 2024."""
    return datetime(2024, month, 3, 9, tzinfo=UTC)


@asynccontextmanager
async def launch(place: Path, language: str, **settings: Any) -> AsyncIterator[eunoe.Memory]:
    """Open a store whose memories are three sentences about one launch, a month apart."""
    clock = SetClock(day(1))
    opening = {"turns_searchable": False} | settings
    async with open_memory(place, tools=cheap_tools(clock=clock), **opening) as memory:
        for number, text in enumerate(SAID[language]):
            clock.moment = day(1 + number)
            message = {"id": NAMES[number], "content": text}
            await memory.add(message, user_id=USER, session_id=NAMES[number])
        clock.moment = day(12)
        yield memory


async def scores(memory: eunoe.Memory, language: str, **bounds: Any) -> dict[str, float]:
    """Ask about the launch; scores by name, best first."""
    hits = await memory.search(ASKED[language], user_id=USER, **bounds)
    return {hit.sources[0]: hit.score for hit in hits}


# --- A2, B3, B7 --------------------------------------------------------------------------------


@both
async def test_a2_10_writing_searching_and_changing_importance(
    tmp_path: Path, language: str
) -> None:
    """What is written is found by a word, and a decision sets its importance."""
    async with launch(tmp_path, language) as memory:
        part = PARTS[language][2]
        hits = await memory.search(f"{ASKED[language]} {part}", user_id=USER)
        assert hits[0].sources == ("signatures",)
        await correct(memory, USER, part, day(6), importance=0.9)
        item = await memory.get(str((await kept(memory, USER, part)).memory_id), user_id=USER)
        assert item.importance == 0.9
        others = [one for one in await memory.list(user_id=USER) if one.kind != "turn"]
        assert sorted(one.importance for one in others) == [0.5, 0.5, 0.9]


@both
async def test_b7_3_only_the_active_version_is_quoted(tmp_path: Path, language: str) -> None:
    """A superseded memory and its successor never stand together in hits or in a block.

    Its turn is still found where turns are searchable: as what was said then, with its date.
    """
    async with launch(tmp_path, language) as memory:
        await superseded(memory, USER, PARTS[language][0], day(2))
        assert set(await scores(memory, language)) == {"autumn", "signatures"}
        block = await memory.context(ASKED[language], user_id=USER)
        assert PARTS[language][1] in block.text
        assert PARTS[language][0] not in block.text


@both
async def test_b7_3_only_the_last_value_is_quoted(tmp_path: Path, language: str) -> None:
    """An exact value that was stated anew answers alone."""
    said, asked = {
        "en": (("I live in Porto.", "I live in Bergen."), "Where do I live?"),
        "zh": (("我住在苏州。", "我住在杭州。"), "我住在哪里？"),
    }[language]
    async with open_memory(tmp_path) as memory:
        await memory.add(list(said), user_id=USER)
        (hit,) = await memory.search(asked, user_id=USER)
        assert hit.text in said[1]


@both
async def test_b7_4_what_has_expired_is_left_out(tmp_path: Path, language: str) -> None:
    """From the moment of its expiry on, a memory answers nothing."""
    async with launch(tmp_path, language) as memory:
        await correct(memory, USER, PARTS[language][2], day(3), truth=Truth(expires_at=day(8)))
        assert "signatures" in await scores(memory, language, now=day(7))
        assert "signatures" not in await scores(memory, language, now=day(8))
        for bounds in ({"as_of": day(9)}, {"kinds": ["fact"]}, {"project_id": "orion"}):
            named: dict[str, Any] = bounds
            assert "signatures" not in await scores(memory, language, **named)


@both
async def test_b7_7_a_folder_with_a_model_is_the_encoder(tmp_path: Path, language: str) -> None:
    """Any folder with a model in the usual files encodes the store, and the store knows it."""
    model = write_model(tmp_path / "bytes-32")
    encoder = FastembedEncoder(str(model))
    async with open_memory(tmp_path, tools=cheap_tools(encoder=encoder)) as memory:
        await memory.add(list(SAID[language]), user_id=USER)
        hits = await memory.search(SAID[language][2], user_id=USER)
        assert hits[0].text.rstrip("。.") == SAID[language][2].rstrip("。.")
        assert hits[0].why["dense"] > 0
        assert (await memory.stats()).encoder == "fastembed:bytes-32"
    with pytest.raises(eunoe.Rejected, match="encoder"):
        async with open_memory(tmp_path, tools=cheap_tools()):
            pass


# --- B9: the set of tasks and its measures -----------------------------------------------------


def lines(name: str, language: str) -> list[dict[str, Any]]:
    """Return the lines of a set."""
    text = (TASKS / f"{name}_{language}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@both
def test_b9_1_a_hundred_tasks_each_with_its_memory_point(language: str) -> None:
    """Each task asks in its own words for what stands in turns of one life, or for nothing."""
    tasks = lines("tasks", language)
    turns = {turn["id"]: turn for turn in lines("lives", language)}
    assert len(tasks) >= 100
    assert len({(task["life"], task["question"]) for task in tasks}) == len(tasks)
    for task in tasks:
        assert bool(task["evidence"]) == (task["kind"] != "nothing")
        assert all(turns[one]["life"] == task["life"] for one in task["evidence"])
        said = {turns[one]["content"] for one in task["evidence"]}
        assert task["question"] not in said


def test_b9_2_recall_and_consistency_are_measured() -> None:
    """Recall counts the turns that are needed, consistency the hits that say what was said."""
    spec = spec_from_file_location("tasks", TASKS.parents[1] / "tasks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    row = {"kind": "single", "question": "?", "superseded": False}
    rows = [
        row | {"gold": ["a", "b"], "ranked": ["x", "a"], "consistent": [True, False]},
        row | {"gold": ["c"], "ranked": [*"vwxyz", "c"], "consistent": [True, True]},
        row | {"kind": "nothing", "gold": [], "ranked": [], "consistent": []},
    ]
    figures = module.figures_of(rows, "en")
    assert figures["recall@5 en"] == 0.25
    assert figures["any@5 en"] == 0.5
    assert figures["citation consistency en"] == 0.75
    assert figures["nothing for what was never said en"] == 1.0


# --- E4, E8: confidence, layers, scopes --------------------------------------------------------


@both
async def test_e4_4_confidence_and_layer_weigh_what_similarity_found(
    tmp_path: Path, language: str
) -> None:
    """Score is similarity times .7 + .3 confidence; a relation counts four sixths of a fact."""
    async with launch(tmp_path, language) as memory:
        before = await scores(memory, language)
        await correct(memory, USER, PARTS[language][2], day(4), confidence=0.5)
        after = await scores(memory, language)
        assert after["signatures"] == pytest.approx(0.85 * before["signatures"])
        assert after["spring"] == pytest.approx(before["spring"])
        assert min(before.values()) < max(before.values())
    relation, fact = (weight(one, 1.0, "private", in_project=False) for one in ("relation", "fact"))
    assert relation / fact == pytest.approx(0.4 / 0.6)
    kin = {"en": "My aunt Vera lives with her husband.", "zh": "我姑姑和她丈夫住在一起。"}[language]
    async with open_memory(tmp_path / "kin", turns_searchable=False) as memory:
        await memory.add(kin, user_id=USER)
        (hit,) = await memory.search(kin, user_id=USER)
        (turn,) = await memory.search(kin, user_id=USER, kinds=["relation"])
        assert hit.kind == turn.kind == "relation"
        assert hit.score <= 0.4 / 0.6


@both
@pytest.mark.parametrize("scope", ["private", "project", "organisation"])
async def test_e8_1_there_are_three_scopes(
    tmp_path: Path, language: str, scope: MemoryScope
) -> None:
    """A memory is the user's own, a project's or the organisation's, and comes back as such."""
    async with launch(tmp_path, language) as memory:
        part = PARTS[language][2]
        project = "orion" if scope == "project" else None
        await of_project(memory, USER, [part], day(4), scope=scope, project=project)
        truth = (await kept(memory, USER, part)).truth
        assert (truth.scope, truth.project is not None) == (scope, scope == "project")
        assert ("signatures" in await scores(memory, language)) == (scope != "project")
        assert "signatures" in await scores(memory, language, project_id="orion")


@both
async def test_e8_2_personal_data_is_isolated(tmp_path: Path, language: str) -> None:
    """Whatever project another user asks in, nothing of this user's own comes."""
    async with launch(tmp_path, language, turns_searchable=True) as memory:
        await of_project(memory, USER, [PARTS[language][2]], day(4), project="orion")
        for project in (None, "orion", USER, "default/ana"):
            for text in SAID[language]:
                hits = await memory.search(text, user_id="ben", project_id=project)
                assert hits == []


@both
async def test_e8_3_a_project_shows_what_is_its_own_at_once(tmp_path: Path, language: str) -> None:
    """As soon as a memory is given to a project or taken from it, searches follow."""
    async with launch(tmp_path, language) as memory:
        part = PARTS[language][2]
        for month, project in ((4, "orion"), (5, "kestrel"), (6, "orion")):
            await of_project(memory, USER, [part], day(month), project=project)
            for asked in ("orion", "kestrel"):
                found = await scores(memory, language, project_id=asked)
                assert ("signatures" in found) == (asked == project)


@both
async def test_e8_4_nothing_said_becomes_the_organisations_by_itself(
    tmp_path: Path, language: str
) -> None:
    """What a user or an agent says is kept as the user's own, in whatever words."""
    more = {
        "en": "Remember for the whole company: expenses are due on Fridays. Org-wide rule!",
        "zh": "记住，这是全公司的规定：报销单周五交。",
    }[language]
    async with launch(tmp_path, language) as memory:
        await memory.add([more, {"role": "assistant", "content": more}], user_id=USER)
        (owner,) = await memory.runtime.engines.identity.owners()
        memories = await memory.runtime.engines.episodes.memories(owner)
        assert len(memories) >= 4
        assert {one.truth.scope for one in memories} == {"private"}


@both
async def test_e8_5_in_a_project_three_scopes_are_merged_by_weight(
    tmp_path: Path, language: str
) -> None:
    """In a project its own count 1, the user's .7, the organisation's .3; outside 1 and .3."""
    _, autumn, signatures = PARTS[language]
    async with launch(tmp_path, language) as memory:
        plain = await scores(memory, language)
        await of_project(memory, USER, [autumn], day(4), project="orion")
        await of_project(memory, USER, [signatures], day(4), scope="organisation")
        inside = await scores(memory, language, project_id="orion")
        for name, share in (("autumn", 1.0), ("spring", 0.7), ("signatures", 0.3)):
            assert inside[name] == pytest.approx(share * plain[name])
        assert next(iter(inside)) == "autumn"
        assert list(inside)[-1] == "signatures"
        outside = await scores(memory, language)
        assert set(outside) == {"spring", "signatures"}


# --- E9: structured data without vectors -------------------------------------------------------

CROPS: Final = {
    "en": (
        ("cotton", "curled leaves", "aphids", "Spray soap water", "north"),
        ("cotton", "curled leaves", "red spider mites", "Release predatory mites", "north"),
        ("wheat", "curled leaves", "aphids", "Sow flower strips", "south"),
    ),
    "zh": (
        ("棉花", "卷叶", "蚜虫", "喷肥皂水", "北方"),
        ("棉花", "卷叶", "红蜘蛛", "放捕食螨", "北方"),
        ("小麦", "卷叶", "蚜虫", "种花带", "南方"),
    ),
}
FIELDS: Final = ("crop_type", "symptom", "disease", "remedy", "region")


@asynccontextmanager
async def farm(place: Path, language: str) -> AsyncIterator[tuple[eunoe.Memory, WordEncoder]]:
    """Open a store with rows of a table: a sentence each, and the fields beside it."""
    encoder = WordEncoder()
    async with open_memory(place, tools=cheap_tools(encoder=encoder)) as memory:
        for number, row in enumerate(CROPS[language]):
            fields = dict(zip(FIELDS, row, strict=True)) | {"verified_by": f"Dr. Wen {number}"}
            text = {
                "en": "Remember: {crop_type} with {disease} ({symptom}): {remedy}.",
                "zh": "记住：{crop_type}有{disease}（{symptom}）：{remedy}。",
            }[language].format(**fields)
            message = {"id": f"row{number}", "content": text, "metadata": fields}
            await memory.add(message, user_id=USER)
        for number, row in enumerate(CROPS[language]):
            await correct(memory, USER, row[3], day(4 + number), truth=Truth(verified=True))
        encoder.calls.clear()
        yield memory, encoder


@both
async def test_e9_1_fields_are_asked_for_exactly(tmp_path: Path, language: str) -> None:
    """By crop, symptom and region the remedy is found, without relations and without vectors."""
    async with farm(tmp_path, language) as (memory, encoder):
        crop, symptom, disease, _, region = CROPS[language][0]
        fields = {"crop_type": crop, "symptom": symptom, "region": region}
        filters = {"verified": True, "metadata": fields}
        hits = await memory.search(f"{crop} {disease}", user_id=USER, filters=filters)
        assert [hit.sources for hit in hits] == [("row0",)]
        assert (await memory.get("row0", user_id=USER)).metadata == {
            **dict(zip(FIELDS, CROPS[language][0], strict=True)),
            "verified_by": "Dr. Wen 0",
        }
        elsewhere = filters | {"metadata": fields | {"region": "?"}}
        assert await memory.search(crop, user_id=USER, filters=elsewhere) == []
        assert encoder.calls == []


@both
async def test_e9_2_rows_have_the_fields_of_the_table(tmp_path: Path, language: str) -> None:
    """Each field is kept as it was given, and each is one to filter by; the id is the row's."""
    async with farm(tmp_path, language) as (memory, _):
        for number, row in enumerate(CROPS[language]):
            kept_row = await memory.get(f"row{number}", user_id=USER)
            fields = dict(zip(FIELDS, row, strict=True)) | {"verified_by": f"Dr. Wen {number}"}
            assert kept_row.metadata == fields
            for name, content in fields.items():
                hits = await memory.search(
                    kept_row.text, user_id=USER, filters={"metadata": {name: content}}
                )
                assert f"row{number}" in {hit.sources[0] for hit in hits}
                for hit in hits:
                    other = (await memory.get(hit.sources[0], user_id=USER)).metadata
                    assert (other or {})[name] == content


@both
async def test_e9_3_near_neighbours_are_not_mixed(tmp_path: Path, language: str) -> None:
    """What needs every word of the question finds aphids or mites, never one for the other."""
    async with farm(tmp_path, language) as (memory, encoder):
        for number in (0, 1):
            crop, _, disease, remedy, _ = CROPS[language][number]
            hits = await memory.search(
                f"{crop} {disease}", user_id=USER, filters={"verified": True}
            )
            assert [hit.sources for hit in hits] == [(f"row{number}",)]
            assert remedy in hits[0].text
        assert encoder.calls == []


@both
async def test_e9_4_a_record_names_who_verified_it(tmp_path: Path, language: str) -> None:
    """From a verified hit one comes to the name of who vouches for it."""
    async with farm(tmp_path, language) as (memory, _):
        hits = await memory.search(CROPS[language][0][2], user_id=USER, filters={"verified": True})
        assert {hit.sources[0] for hit in hits} == {"row0", "row2"}
        for hit in hits:
            source = await memory.get(hit.sources[0], user_id=USER)
            assert (source.metadata or {})["verified_by"] == f"Dr. Wen {hit.sources[0][-1]}"
