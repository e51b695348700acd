"""Names in texts, by the real models."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eunoe.infra.recogniser import TextRecogniser


@pytest.fixture(scope="module", name="recogniser")
def shared_recogniser() -> TextRecogniser:
    """Load the models once."""
    return TextRecogniser()


def kinds(recogniser: TextRecogniser, text: str) -> dict[str, str]:
    """Return the names of a text with their kinds."""
    (found,) = recogniser.find([text])
    return {one.name: one.kind for one in found}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I met Angela Merkel in Berlin.", {"Angela Merkel": "person", "Berlin": "place"}),
        ("我昨天在上海见了张伟。", {"上海": "place", "张伟": "person"}),
        ("She joined the Harbour Light Foundation.", {"Harbour Light Foundation": "organization"}),
        ("他去年进了复旦大学。", {"复旦大学": "organization"}),
        ("The Blue Heron project needs a lead.", {"Blue Heron": "project"}),
        ("蓝鹭项目缺一个负责人。", {"蓝鹭项目": "project"}),
        ("Zelthar wrote the report.", {"Zelthar": "person"}),
        ("老魏写了报告，欧阳雪看过了。", {"老魏": "person", "欧阳雪": "person"}),
        ("今天读完了《边城》。", {"边城": "work"}),
        ("我和Michael在用OpenTelemetry", {"Michael": "other", "OpenTelemetry": "other"}),
    ],
)
def test_names_are_found_with_their_kind(
    recogniser: TextRecogniser, text: str, names: dict[str, str]
) -> None:
    """Known and unknown names, in either language and in a mix."""
    found = kinds(recogniser, text)
    assert {name: found.get(name) for name in names} == names


@pytest.mark.parametrize(
    "text",
    [
        "Filed it on Monday.",
        "We'll see what happens.",
        "Thanks, that helps!",
        "今天好累，什么都不想干。",
        "方便的话发我一下文件",
        "",
    ],
)
def test_everyday_words_are_no_names(recogniser: TextRecogniser, text: str) -> None:
    """A capital at the beginning and a common word make no name."""
    assert kinds(recogniser, text) == {}


def test_a_mixed_text_goes_to_both(recogniser: TextRecogniser) -> None:
    """An English clause in Chinese text is read by the English model."""
    found = kinds(recogniser, "他说 I will never go back to Berlin with Anna again，真的吗，王老师")
    assert {"Berlin", "Anna", "王老师"} <= found.keys()


def test_nothing_is_written_to_the_standard_streams(capfd: pytest.CaptureFixture[str]) -> None:
    """Loading the models is silent."""
    TextRecogniser().find(["I met Ana.", "我见了张伟。"])
    assert capfd.readouterr() == ("", "")


async def test_recognising_leaves_the_loop_free(recogniser: TextRecogniser) -> None:
    """The work blocks a thread of its own; one list per text comes back."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    found = await recogniser.recognise(["I met Ana in Lisbon.", "", "我在上海"])
    ticking.cancel()
    assert [bool(one) for one in found] == [True, False, True]
    assert ticks > 0


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=120))
def test_any_text_gives_ordered_names_without_overlaps(
    recogniser: TextRecogniser, text: str
) -> None:
    """Each name is the text at its place."""
    (found,) = recogniser.find([text])
    assert all(text[one.start : one.end] == one.name for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_a_long_text_is_read_in_pieces(recogniser: TextRecogniser) -> None:
    """Names keep their places however far behind they stand."""
    text = "And so it went on and on. " * 200 + "I met Angela Merkel in Berlin."
    (found,) = recogniser.find([text])
    assert "Angela Merkel" in {one.name for one in found}
    assert all(text[one.start : one.end] == one.name for one in found)
