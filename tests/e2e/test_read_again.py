"""A cross-encoder behind a search: it reads the hits, and a search does without it as well."""

from pathlib import Path
from typing import Final

import pytest

from eunoe.schemas.errors import Unavailable
from eunoe.schemas.limits import CROSS_ENCODER_TEXTS_MAX
from tests.support.cross_encoding import WordCrossEncoder
from tests.support.memories import cheap_tools, open_memory

SAID: Final = {
    "en": [f"Note {number}: the boiler needs part {number}." for number in range(70)],
    "zh": [f"第{number}条：锅炉需要{number}号零件。" for number in range(70)],
}
QUESTION: Final = {"en": "which part does the boiler need", "zh": "锅炉需要什么零件"}
YESTERDAY: Final = {"en": "What did we talk about yesterday?", "zh": "我们昨天聊了什么？"}
both = pytest.mark.parametrize("language", ["en", "zh"])


async def ask(
    place: Path, language: str, reader: WordCrossEncoder | None, question: str, *, limit: int = 3
) -> list[tuple[str, bool]]:
    """Search in a store of many like turns; (id, whether it was read) of each hit."""
    messages = [
        {"id": f"t{number}", "content": text, "session_id": "s"}
        for number, text in enumerate(SAID[language])
    ]
    async with open_memory(place, tools=cheap_tools(cross_encoder=reader)) as memory:
        await memory.add(messages, user_id="ana")
        hits = await memory.search(question, user_id="ana", limit=limit)
    return [(hit.id, "read" in hit.why) for hit in hits]


@both
async def test_a_search_is_read_again(tmp_path: Path, language: str) -> None:
    """The reader gets the question and the best hits, more than are shown; the limit holds."""
    reader = WordCrossEncoder()
    hits = await ask(tmp_path, language, reader, QUESTION[language])
    ((question, texts),) = reader.calls
    assert question == QUESTION[language]
    assert 3 < len(texts) <= CROSS_ENCODER_TEXTS_MAX
    assert [was_read for _, was_read in hits] == [True] * 3


@both
async def test_a_search_does_without_a_reader_that_is_away(tmp_path: Path, language: str) -> None:
    """Its hits are the first of those that the reader would have got."""
    away = WordCrossEncoder(Unavailable("The model can't be had now."))
    hits = await ask(tmp_path / "away", language, away, QUESTION[language])
    assert len(away.calls) == 1
    wide = CROSS_ENCODER_TEXTS_MAX
    without = await ask(tmp_path / "without", language, None, QUESTION[language], limit=wide)
    assert len(hits) == 3
    assert hits == without[:3]


@both
async def test_a_time_alone_is_not_read(tmp_path: Path, language: str) -> None:
    """The turns of a time come in order, and there is no question to read them with."""
    reader = WordCrossEncoder()
    await ask(tmp_path, language, reader, YESTERDAY[language])
    assert reader.calls == []
