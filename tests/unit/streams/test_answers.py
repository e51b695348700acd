"""Exact answers about the past: which version of a slot held when; both languages in pairs."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from eunoe.schemas.ports import Interval
from eunoe.streams.answers import Answers
from eunoe.streams.moments import read_question
from eunoe.streams.zones import UTC_ZONE
from tests.support.records import ANA
from tests.support.stating import Statements

both = pytest.mark.parametrize("language", ["en", "zh"])
NOW: Final = datetime(2024, 6, 15, tzinfo=UTC)
HOME: Final = {"en": "Where did I live?", "zh": "我住在哪里?"}
PRESENT: Final = {"en": "Where do I live?", "zh": "我住在哪里?"}
PLACES: Final = {"en": ("Porto", "Lisbon", "Braga"), "zh": ("杭州", "三亚", "北京")}


def year(number: int) -> datetime:
    """Return the beginning of a year."""
    return datetime(number, 1, 1, tzinfo=UTC)


async def moved(language: str, *, homes: int = 3) -> Statements:
    """Return who lived in the first place, from 2022 in the second, from 2024 in the third."""
    shelf = Statements()
    for number, place in enumerate(PLACES[language][:homes]):
        await shelf.state("home", place, year(2020 + 2 * number))
    return shelf


async def held(
    shelf: Statements, question: str, past: Interval | None, *, as_of: datetime | None = None
) -> list[str]:
    """Return the values that answer a question."""
    answers = Answers(shelf.keys, shelf.identity)
    found = await answers.find(ANA, question, past=past, as_of=as_of)
    return [one.content["value"] for one in found]


async def asked(shelf: Statements, question: str, **fields: Any) -> list[str]:
    """Return the values that answer a question as it stands, asked at `NOW`."""
    read = read_question(question, NOW, UTC_ZONE)
    return await held(shelf, read.content, read.past, **fields)


def span(start: datetime | None, end: datetime | None) -> Interval:
    """Return an interval in seconds since 1970."""
    return start.timestamp() if start else None, end.timestamp() if end else None


INSTANT: Final = timedelta(seconds=1)


@both
@pytest.mark.parametrize(
    ("past", "places"),
    [
        (span(year(2020), year(2021)), [0]),
        (span(year(2000), year(2001)), [0]),
        (span(year(2022), year(2023)), [1]),
        (span(year(2021), year(2022)), [0]),
        (span(year(2021), year(2022) + INSTANT), [0, 1]),
        (span(year(2023), year(2024)), [1]),
        (span(year(2024), year(2025)), [2]),
        (span(year(2021), year(2025)), [0, 1, 2]),
        (span(year(2023), None), [1, 2]),
        (span(year(2024), None), [2]),
        # Without a beginning: the last one stated in it, but for the present one.
        (span(None, NOW), [1]),
        (span(None, None), [1]),
        (span(None, year(2022) + INSTANT), [1]),
        (span(None, year(2022)), [0]),
        (span(None, year(2021)), [0]),
    ],
)
async def test_the_version_that_held_then(language: str, past: Interval, places: list[int]) -> None:
    """Each value holds until the next was stated, the first from ever; ends are exclusive."""
    shelf = await moved(language)
    expected = {PLACES[language][place] for place in places}
    found = await held(shelf, HOME[language], past)
    assert set(found) == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Where did I live in 2021?", 0),
        ("2021年我住在哪里?", 0),
        ("我2021年住在哪里?", 0),
        ("Where did I live in 2023?", 1),
        ("2023年我住在哪里?", 1),
        ("我2023年住在哪里?", 1),
        ("Where did I live last month?", 2),
        ("上个月我住在哪里?", 2),
        ("我上个月住在哪里?", 2),
        ("Where did I live before?", 1),
        ("Where did I use to live?", 1),
        ("我以前住在哪里?", 1),
        ("我之前住在哪里?", 1),
        ("Where do I live?", 2),
        ("我住在哪里?", 2),
    ],
)
async def test_questions_as_people_ask_them(question: str, place: int) -> None:
    """A year, a month or a word for the past chooses the version, wherever it stands."""
    language = "en" if question.isascii() else "zh"
    shelf = await moved(language)
    assert await asked(shelf, question) == [PLACES[language][place]]


@pytest.mark.parametrize("question", ["Where did I use to live?", "我以前住在哪里?"])
async def test_who_never_changed_has_nothing_before(question: str) -> None:
    """Where only one value was ever stated, what was before it isn't known."""
    language = "en" if question.isascii() else "zh"
    shelf = await moved(language, homes=1)
    assert await asked(shelf, question) == []
    await shelf.state("home", PLACES[language][0], year(2024))
    assert await asked(shelf, question) == []
    assert await asked(Statements(), question) == []


@both
async def test_a_value_that_came_back_is_two_versions(language: str) -> None:
    """Before the present stands the one in between, though the first is the present again."""
    shelf = await moved(language, homes=2)
    first, second = PLACES[language][:2]
    await shelf.state("home", first, year(2024))
    assert await held(shelf, HOME[language], span(None, NOW)) == [second]
    assert await held(shelf, HOME[language], span(year(2020), year(2021))) == [first]
    assert await held(shelf, HOME[language], span(year(2023), None)) == [second, first]


@both
async def test_a_late_statement_counts_from_when_it_was_said(language: str) -> None:
    """The order of truth decides what held when, and not the order of arrival."""
    first, second, third = PLACES[language]
    shelf = Statements()
    await shelf.state("home", third, year(2024))
    await shelf.state("home", first, year(2020))
    await shelf.state("home", second, year(2022))
    assert await held(shelf, HOME[language], span(year(2023), year(2024))) == [second]
    assert await held(shelf, HOME[language], span(None, NOW)) == [second]


@both
async def test_as_of_leaves_out_what_was_recorded_later(language: str) -> None:
    """Answers are those of what was known then, the present and the one before it as well."""
    shelf = await moved(language)
    first, second, third = PLACES[language]
    hour = timedelta(hours=1)  # in which a statement is recorded
    question = HOME[language]
    for as_of, now, before in (
        (year(2020) + hour - INSTANT, [], []),
        (year(2020) + hour, [first], []),
        (year(2022) + hour - INSTANT, [first], []),
        (year(2022) + hour, [second], [first]),
        (year(2024) + hour, [third], [second]),
    ):
        assert await held(shelf, PRESENT[language], None, as_of=as_of) == now
        assert await held(shelf, question, span(None, NOW), as_of=as_of) == before
    early = year(2022) + hour
    assert await held(shelf, question, span(year(2023), year(2025)), as_of=early) == [second]


@both
async def test_each_condition_has_its_own_past(language: str) -> None:
    """Versions are those of one matter: another condition's or subject's change none of them."""
    first, second, third = PLACES[language]
    shelf = Statements()
    await shelf.state("home", first, year(2020))
    await shelf.state("home", second, year(2022), condition="in winter")
    await shelf.state("home", third, year(2024))
    await shelf.state("home", "Faro", year(2021), subject="Marta")
    assert await held(shelf, HOME[language], span(None, NOW)) == [first]
    assert await held(shelf, HOME[language], span(year(2022), year(2023))) == [first, second]


async def test_a_forgotten_version_leaves_no_gap() -> None:
    """What can't be opened answers nothing, and nothing answers in its place."""
    shelf = await moved("en")
    await shelf.open_keys.shred([shelf.rows[1].box.key_id])
    assert await held(shelf, HOME["en"], span(None, NOW)) == []
    assert await held(shelf, HOME["en"], span(year(2020), year(2021))) == ["Porto"]


@pytest.mark.parametrize(
    "question",
    ["What happened in 2021?", "2021年发生了什么?", "What was my name in 2021?", "2021年我叫什么?"],
)
async def test_what_asks_for_no_known_slot_has_no_answer(question: str) -> None:
    """A question about the past that asks for no slot, or for one nobody stated, has none."""
    assert await asked(await moved("en"), question) == []
