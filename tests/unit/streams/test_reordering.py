"""Hits read by a cross-encoder: their order, their scores, and a reader that is away."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from eunoe.schemas.errors import Unavailable
from eunoe.schemas.limits import CROSS_ENCODER_TEXTS_MAX
from eunoe.schemas.results import Hit
from eunoe.streams import reordering
from eunoe.streams.reordering import order_by_reading
from tests.support.cross_encoding import WordCrossEncoder

TEXTS = {
    "en": ("Bo likes jazz", "the boiler is broken", "the boiler was repaired on Monday"),
    "zh": ("小王喜欢爵士乐", "锅炉坏了", "锅炉星期一修好了"),
}
QUESTION = {"en": "when was the boiler repaired", "zh": "锅炉什么时候修好的"}


def hit(text: str, score: float, tier: str = "active") -> Hit:
    """Return a turn that was found."""
    return Hit(
        id=text,
        text=text,
        score=score,
        sources=(text,),
        said_at=datetime(2024, 6, 15, tzinfo=UTC),
        confidence=1.0,
        kind="turn",
        tier=tier,
        why={"dense": score / 4, "sparse": 3 * score / 4},
    )


def found(language: str) -> list[Hit]:
    """Return hits in the reverse of the order that reading gives."""
    scores = (0.60, 0.59, 0.58)
    return [hit(text, score) for text, score in zip(TEXTS[language], scores, strict=True)]


class SlowReader(WordCrossEncoder):
    """A reader that never comes to an end."""

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Wait for ever."""
        await asyncio.Event().wait()
        return await super().score(question, texts)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_answers_better_comes_first(language: str) -> None:
    """Hits whose scores hardly differ are ordered by reading; their former ranks are told."""
    read = await order_by_reading(WordCrossEncoder(), QUESTION[language], found(language))
    assert [rank for rank, _ in read] == [2, 1, 0]
    assert [one.text for _, one in read] == list(reversed(TEXTS[language]))


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_shares_are_still_the_score(language: str) -> None:
    """With the reader's share the shares add up to the new score, from 0 to 1, best first."""
    read = await order_by_reading(WordCrossEncoder(), QUESTION[language], found(language))
    scores = [one.score for _, one in read]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    for _, one in read:
        assert one.why["read"] > 0.0
        assert sum(one.why.values()) == pytest.approx(one.score, abs=1e-3)


async def test_no_more_is_read_than_a_reader_takes() -> None:
    """Those behind the bound stay behind, and none of them scores more than one before it."""
    hits = [hit(f"boiler {number}", 0.9 - number / 100) for number in range(60)]
    reader = WordCrossEncoder()
    read = await order_by_reading(reader, "boiler 7", hits)
    assert [len(texts) for _, texts in reader.calls] == [CROSS_ENCODER_TEXTS_MAX]
    assert sorted(rank for rank, _ in read) == list(range(60))
    behind = list(range(CROSS_ENCODER_TEXTS_MAX, 60))
    assert [rank for rank, _ in read[CROSS_ENCODER_TEXTS_MAX:]] == behind
    scores = [one.score for _, one in read]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("tier", ["faded", "superseded"])
async def test_what_comes_last_stays_last(tier: str) -> None:
    """However well it answers, what is faded or superseded comes after the others."""
    hits = [hit("Bo likes jazz", 0.4), hit("the boiler was repaired on Monday", 0.9, tier)]
    read = await order_by_reading(WordCrossEncoder(), QUESTION["en"], hits)
    assert [rank for rank, _ in read] == [0, 1]


async def test_nothing_found_is_nothing_read() -> None:
    """Without hits there is no order."""
    assert await order_by_reading(WordCrossEncoder(), "boiler", []) == []


async def test_a_reader_that_is_away_changes_nothing() -> None:
    """An answer in the former order is better than none."""
    hits = found("en")
    away = WordCrossEncoder(Unavailable("The model can't be had now."))
    assert await order_by_reading(away, QUESTION["en"], hits) == list(enumerate(hits))


async def test_a_reader_that_is_slow_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question waits for it no longer than the bound."""
    monkeypatch.setattr(reordering, "CROSS_ENCODER_S_MAX", 0.01)
    hits = found("en")
    assert await order_by_reading(SlowReader(), QUESTION["en"], hits) == list(enumerate(hits))
