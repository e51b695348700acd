"""What held, for whom and when: from the journal to the answer, live, optimised and replayed.

No part of the product supersedes, lets expire or shares yet, so that corrections are written by
hand. Turns aren't searchable here: what was said stays said, and it is memories that hold.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

import eunoe
from eunoe.schemas.records import Truth
from tests.support.memories import cheap_tools, open_memory
from tests.support.tools import SetClock
from tests.support.truths import correct, kept, of_project, superseded, take_replayed

LANGUAGES: Final = ("en", "zh")
PHASES: Final = ("live", "optimised", "replayed")
both = pytest.mark.parametrize("language", LANGUAGES)


def day(month: int, number: int = 3) -> datetime:
    """Return nine o'clock of a day of 2024."""
    return datetime(2024, month, number, 9, tzinfo=UTC)


SAID: Final = {
    "en": {
        "old": (1, "Remember that the lead of the Orion team is Marta."),
        "new": (5, "Remember that the lead of the Orion team is Ivan."),
        "expiring": (2, "Remember that the lead of the Orion team is on holiday."),
        "ours": (2, "Remember that the lead of the Orion team likes crates."),
        "theirs": (2, "Remember that the lead of the Orion team hates boxes."),
        "company": (2, "Remember that the lead of the Orion team signs every invoice."),
        "faint": (2, "Remember that the lead of the Orion team may be Olga."),
        "gone": (2, "Remember that the lead of the Orion team is really Pablo."),
    },
    "zh": {
        "old": (1, "记住：猎户座团队的负责人是王芳。"),
        "new": (5, "记住：猎户座团队的负责人是李强。"),
        "expiring": (2, "记住：猎户座团队的负责人在休假。"),
        "ours": (2, "记住：猎户座团队的负责人喜欢木箱。"),
        "theirs": (2, "记住：猎户座团队的负责人讨厌纸盒。"),
        "company": (2, "记住：猎户座团队的负责人签所有发票。"),
        "faint": (2, "记住：猎户座团队的负责人也许是赵敏。"),
        "gone": (2, "记住：猎户座团队的负责人其实是周杰。"),
    },
}
"""What is said, with its month."""
PART: Final = {
    "en": {
        "old": "Marta", "expiring": "holiday", "ours": "crates", "theirs": "boxes",
        "company": "invoice", "faint": "Olga",
    },
    "zh": {
        "old": "王芳", "expiring": "休假", "ours": "木箱", "theirs": "纸盒",
        "company": "发票", "faint": "赵敏",
    },
}  # fmt: skip
PRESENT: Final = {"en": "lead of the Orion team", "zh": "猎户座团队的负责人"}
IN_MARCH: Final = {
    "en": "Who was the lead of the Orion team in March?",
    "zh": "三月份猎户座团队的负责人是谁？",
}
IN_JUNE: Final = {
    "en": "Who was the lead of the Orion team in June?",
    "zh": "六月份猎户座团队的负责人是谁？",
}
BEFORE: Final = {
    "en": "Who was the lead of the Orion team before?",
    "zh": "以前猎户座团队的负责人是谁？",
}
HOLDS: Final = {"new", "company", "faint"}
"""What answers at the end of the year, outside of projects."""
ASKED: Final[list[tuple[dict[str, str], dict[str, Any], set[str]]]] = [
    (PRESENT, {}, HOLDS),
    (PRESENT, {"now": day(5)}, HOLDS | {"expiring"}),
    # At the very moment it is over.
    (PRESENT, {"now": day(6)}, HOLDS),
    # What was superseded answers about the time in which it held, and about all that is past.
    (IN_MARCH, {}, {"old"}),
    (IN_JUNE, {}, HOLDS),
    (BEFORE, {}, HOLDS | {"old"}),
    # As it was known: before the change, at it, before anything was heard of.
    (PRESENT, {"as_of": day(4)}, HOLDS - {"new"} | {"old", "expiring"}),
    (PRESENT, {"as_of": day(5, 4)}, HOLDS | {"expiring"}),
    (PRESENT, {"as_of": day(7)}, HOLDS),
    (PRESENT, {"as_of": day(1, 1)}, set()),
    (IN_MARCH, {"as_of": day(5, 4)}, {"old"}),
    (IN_MARCH, {"as_of": day(4)}, {"old"}),
    (IN_JUNE, {"as_of": day(7)}, HOLDS),
    # Whose it is.
    (PRESENT, {"project_id": "orion"}, HOLDS | {"ours"}),
    (PRESENT, {"project_id": "kestrel"}, HOLDS | {"theirs"}),
    (PRESENT, {"project_id": "another"}, HOLDS),
    (PRESENT, {"project_id": "orion", "now": day(5)}, HOLDS | {"ours", "expiring"}),
    (BEFORE, {"project_id": "orion"}, HOLDS | {"ours", "old"}),
    # Filters bound further, and bring nothing back.
    (PRESENT, {"filters": {"session_id": "old"}}, set()),
    (IN_MARCH, {"filters": {"session_id": "old"}}, {"old"}),
    (PRESENT, {"filters": {"session_id": "theirs"}, "project_id": "orion"}, set()),
    (PRESENT, {"filters": {"session_id": "gone"}}, set()),
    (PRESENT, {"filters": {"metadata": {"name": "gone"}}}, set()),
    (PRESENT, {"filters": {"metadata": {"name": "new"}}}, {"new"}),
]
"""What is asked, under which bounds, and which memories answer."""

EVERY_MODE: Final[list[dict[str, Any]]] = [
    {},
    {"as_of": day(2, 4)},
    {"as_of": day(2, 4), "now": day(2, 4)},
    {"project_id": "orion"},
    {"filters": {"session_id": "gone"}},
    {"filters": {"metadata": {"name": "gone"}}},
    {"filters": {"role": "user", "since": day(2, 1), "until": day(2, 5)}},
    {"filters": {"verified": True}},
    {"kinds": ["turn"]},
    {"kinds": ["fact"]},
]


async def say(memory: eunoe.Memory, clock: SetClock, language: str, name: str) -> None:
    """Say one thing in its month, in a session of its own."""
    month, text = SAID[language][name]
    clock.moment = day(month)
    message = {"id": name, "content": text, "metadata": {"name": name}}
    await memory.add(message, user_id="ana", session_id=name)


async def change(memory: eunoe.Memory, language: str) -> None:
    """Correct what was kept."""
    part = PART[language]
    await superseded(memory, "ana", part["old"], day(5))
    await correct(memory, "ana", part["expiring"], day(2), truth=Truth(expires_at=day(6)))
    await of_project(memory, "ana", [part["ours"]], day(2), project="orion")
    await of_project(memory, "ana", [part["theirs"]], day(2), project="kestrel")
    await of_project(memory, "ana", [part["company"]], day(2), scope="organisation")
    await correct(memory, "ana", part["faint"], day(2), confidence=0.2)


@asynccontextmanager
async def world(
    place: Path, language: str, phase: str = "live", **settings: Any
) -> AsyncIterator[eunoe.Memory]:
    """Open a store in which everything was said, "gone" was forgotten, and the rest corrected."""
    clock = SetClock()
    opening = {"turns_searchable": False} | settings
    async with open_memory(place, tools=cheap_tools(clock=clock), **opening) as memory:
        for name in ("gone", *(name for name in SAID[language] if name != "gone")):
            await say(memory, clock, language, name)
            if name == "gone":
                await memory.forget("gone", user_id="ana")
        await change(memory, language)
        clock.moment = day(12)
        if phase == "optimised":
            await memory.optimise()
        if phase != "replayed":
            yield memory
    if phase == "replayed":
        await take_replayed(place)
        async with open_memory(place, tools=cheap_tools(clock=clock), **opening) as memory:
            yield memory


async def answers(memory: eunoe.Memory, question: str, **bounds: Any) -> list[str]:
    """Search; the names of what answers, best first. The block for a prompt must show the same."""
    hits = await memory.search(question, user_id="ana", **bounds)
    block = await memory.context(question, user_id="ana", **bounds)
    assert {hit.id for hit in block.hits} == {hit.id for hit in hits}
    return [hit.sources[0] for hit in hits]


@both
@pytest.mark.parametrize("phase", PHASES)
async def test_what_holds_answers(tmp_path: Path, language: str, phase: str) -> None:
    """Of eight memories those answer that held, for whom and as was known; no forgotten one."""
    async with world(tmp_path, language, phase) as memory:
        for question, bounds, expected in ASKED:
            found = await answers(memory, question[language], **bounds)
            assert set(found) == expected, (question[language], bounds)
            assert len(found) == len(expected)


@both
@pytest.mark.parametrize("phase", PHASES)
async def test_what_held_answers_beside_what_was_said_then(
    tmp_path: Path, language: str, phase: str
) -> None:
    """A time filters by what was said in it and by what held in it, whenever that was said."""
    lunch = {
        "en": "Remember that in March the lead of the Orion team came to lunch.",
        "zh": "记住：三月份猎户座团队的负责人来吃午饭了。",
    }[language]
    async with world(tmp_path, language, phase) as memory:
        message = {"id": "lunch", "content": lunch, "time": day(3, 10)}
        await memory.add(message, user_id="ana")
        assert set(await answers(memory, IN_MARCH[language])) == {"lunch", "old"}
        assert set(await answers(memory, IN_JUNE[language])) == HOLDS | {"lunch"}
        since = {"filters": {"since": day(3, 1)}}
        assert await answers(memory, IN_MARCH[language], **since) == ["lunch"]


@both
@pytest.mark.parametrize("phase", PHASES)
async def test_what_faded_comes_last_and_is_labelled(
    tmp_path: Path, language: str, phase: str
) -> None:
    """A memory of low confidence is found behind everything else, and says that it faded."""
    question = PRESENT[language] + {"en": " may be Olga", "zh": "也许是赵敏"}[language]
    async with world(tmp_path, language, phase) as memory:
        hits = await memory.search(question, user_id="ana")
        assert [hit.tier for hit in hits] == [*["active"] * (len(hits) - 1), "faded"]
        assert hits[-1].sources == ("faint",)
        assert hits[-1].score == max(hit.score for hit in hits)
        block = await memory.context(question, user_id="ana")
        marked = {"en": "(faded)", "zh": "（已淡忘）"}[language]
        (line,) = [line for line in block.text.splitlines() if marked in line]
        assert line.endswith("[faint]")
        alone = await memory.search(question, user_id="ana", limit=1)
        assert alone[0].tier == "active"


@both
async def test_an_organisation_counts_less(tmp_path: Path, language: str) -> None:
    """What is the organisation's has three tenths of what it had as the user's own."""
    scores = []
    async with world(tmp_path, language) as memory:
        for truth in (Truth(scope="organisation"), Truth()):
            await correct(memory, "ana", PART[language]["company"], day(7), truth=truth)
            hits = await memory.search(PRESENT[language], user_id="ana")
            scores += [hit.score for hit in hits if hit.sources == ("company",)]
        assert scores[0] == pytest.approx(0.3 * scores[1])
        assert scores[1] > 0


@both
@pytest.mark.parametrize("phase", PHASES)
async def test_a_forgotten_memory_answers_in_no_mode(
    tmp_path: Path, language: str, phase: str
) -> None:
    """Present, past, as it was, in projects, by filters, by time alone: it is in no store."""
    said = SAID[language]["gone"][1]
    async with world(tmp_path, language, phase, turns_searchable=True) as memory:
        for question in (said, PRESENT[language], IN_MARCH[language], BEFORE[language]):
            for bounds in EVERY_MODE:
                hits = await memory.search(question, user_id="ana", limit=50, **bounds)
                assert all(hit.text != said and hit.sources != ("gone",) for hit in hits)
        listed = await memory.search(
            {"en": "What did I say on 3 February?", "zh": "二月三号我说了什么？"}[language],
            user_id="ana",
            now=day(2, 5),
        )
        assert listed
        assert "gone" not in {source for hit in listed for source in hit.sources}


@both
async def test_a_turn_of_what_was_superseded_is_still_found(tmp_path: Path, language: str) -> None:
    """Where turns are searchable, what was said stays said: as a turn, last and labelled."""
    async with world(tmp_path, language, turns_searchable=True) as memory:
        hits = await memory.search(PRESENT[language], user_id="ana", limit=50)
        (old,) = [hit for hit in hits if hit.sources == ("old",)]
        assert (old.kind, old.said_at.date()) == ("turn", day(1).date())
        tiers = [hit.tier for hit in hits]
        assert old.tier == "superseded"
        assert tiers == sorted(tiers, key=lambda tier: tier != "active")
        then = await memory.search(BEFORE[language], user_id="ana", limit=50)
        assert {hit.tier for hit in then if hit.sources == ("old",)} == {"active"}
        kinds = ["fact", "event", "decision", "commitment", "relation"]
        hits = await memory.search(PRESENT[language], user_id="ana", limit=50, kinds=kinds)
        assert "old" not in {source for hit in hits for source in hit.sources}


@both
async def test_repeating_changes_no_truth(tmp_path: Path, language: str) -> None:
    """Said again, what is a project's, expired or superseded stays so; the repeat is the user's."""
    async with world(tmp_path, language) as memory:
        names = ("old", "expiring", "ours", "theirs", "company")
        points = {name: await kept(memory, "ana", PART[language][name]) for name in names}
        roles = ("user", "assistant", "user", "assistant", "user")
        again = [
            {"id": f"{name}-again", "content": SAID[language][name][1], "role": role}
            for name, role in zip(names, roles, strict=True)
        ]
        await memory.add(again, user_id="ana", session_id="again")
        (owner,) = await memory.runtime.engines.identity.owners()
        ids = [one.memory_id for one in points.values()]
        now = await memory.runtime.engines.episodes.memories(owner, ids)
        assert {one.memory_id: one.truth for one in now} == {
            one.memory_id: one.truth for one in points.values()
        }
        hits = await memory.search(PRESENT[language], user_id="ana", limit=50)
        found = {hit.sources[0] for hit in hits}
        assert {f"{name}-again" for name in names} <= found
        assert {"old", "expiring", "ours", "theirs"}.isdisjoint(found)
