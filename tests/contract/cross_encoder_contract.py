"""What every cross-encoder keeps.

A test class inherits `CrossEncoderContract` (or `ThreadedCrossEncoderContract`, for what blocks),
and its module supplies the fixture `cross_encoder`.
"""

import asyncio
from typing import Final

import pytest

from eunoe.schemas.errors import Rejected
from eunoe.schemas.limits import CROSS_ENCODER_TEXTS_MAX
from eunoe.schemas.ports import CrossEncoder
from tests.contract.language_contract import EQUAL, TEXTS, TICKS_MIN, ticks_during

__all__ = ["CrossEncoderContract", "ThreadedCrossEncoderContract"]

ASKED: Final = {
    "en": (
        "Where did Nora move?",
        ("Nora did move to Lisbon.", "The soup is cold again.", "It rained a lot."),
    ),
    "zh": (
        "诺拉搬到了哪里？",
        ("诺拉五月搬到了里斯本。", "汤又凉了。", "昨天下了大雨。"),
    ),
}
"""A question in each language; the first text answers it, in words of its own."""

QUESTION: Final = "Where did Nora move, 诺拉搬到了哪里?"


def apart(one: list[float], other: list[float]) -> float:
    """Return how far two lists of scores are apart at most."""
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


class CrossEncoderContract:
    """The promises of `ports.CrossEncoder` on what comes back."""

    def test_it_says_what_it_is(self, cross_encoder: CrossEncoder) -> None:
        """Id and languages are there, and of their form."""
        assert cross_encoder.id.strip() == cross_encoder.id != ""
        assert cross_encoder.languages
        assert all(
            len(one) == 2 and one.islower() and one.isascii() for one in cross_encoder.languages
        )

    async def test_no_texts_have_no_scores(self, cross_encoder: CrossEncoder) -> None:
        """An empty call gives an empty list."""
        assert await cross_encoder.score(QUESTION, []) == []

    @pytest.mark.parametrize("language", ASKED)
    async def test_what_answers_is_closest(
        self, cross_encoder: CrossEncoder, language: str
    ) -> None:
        """In each language that it says it knows, the text that answers has the highest score."""
        if language not in cross_encoder.languages:
            pytest.skip(f"{cross_encoder.id} says that it doesn't know {language}")
        question, texts = ASKED[language]
        scores = await cross_encoder.score(question, texts)
        assert scores[0] > max(scores[1:])

    @pytest.mark.parametrize("name", TEXTS)
    async def test_any_text_has_a_score(self, cross_encoder: CrossEncoder, name: str) -> None:
        """A text of any script, empty or long, has one score from 0 to 1, as question as well."""
        (first,) = await cross_encoder.score(QUESTION, [TEXTS[name]])
        (second,) = await cross_encoder.score(TEXTS[name], [QUESTION])
        assert 0.0 <= first <= 1.0
        assert 0.0 <= second <= 1.0

    async def test_scores_stand_in_the_order_of_the_texts(
        self, cross_encoder: CrossEncoder
    ) -> None:
        """Backwards given, backwards scored; a repeat has its score again."""
        texts = [*TEXTS.values(), *TEXTS.values()]
        scores = await cross_encoder.score(QUESTION, texts)
        backwards = await cross_encoder.score(QUESTION, texts[::-1])
        assert len(set(scores)) > 3
        assert apart(scores, backwards[::-1]) < EQUAL
        assert apart(scores[: len(TEXTS)], scores[len(TEXTS) :]) < EQUAL

    async def test_a_text_has_one_score_in_any_batch(self, cross_encoder: CrossEncoder) -> None:
        """Alone and among others a text's score is the same."""
        texts = list(TEXTS.values())
        together = await cross_encoder.score(QUESTION, texts)
        alone = [(await cross_encoder.score(QUESTION, [text]))[0] for text in texts]
        assert apart(together, alone) < EQUAL

    async def test_too_many_texts_are_refused(self, cross_encoder: CrossEncoder) -> None:
        """As many as the bound are scored; one more is refused with a sentence that says it."""
        texts = [f"Nora {number}, 诺拉" for number in range(CROSS_ENCODER_TEXTS_MAX)]
        assert len(await cross_encoder.score(QUESTION, texts)) == CROSS_ENCODER_TEXTS_MAX
        with pytest.raises(Rejected, match=str(CROSS_ENCODER_TEXTS_MAX)):
            await cross_encoder.score(QUESTION, [*texts, "one more"])

    async def test_tasks_may_score_at_once(self, cross_encoder: CrossEncoder) -> None:
        """Searches share a cross-encoder: each gets the scores of its own question."""
        expected = [await cross_encoder.score(*asked) for asked in ASKED.values()]
        calls = (cross_encoder.score(*asked) for _ in range(4) for asked in ASKED.values())
        found = await asyncio.gather(*calls)
        assert all(
            apart(one, other) < EQUAL for one, other in zip(found, expected * 4, strict=True)
        )


class ThreadedCrossEncoderContract(CrossEncoderContract):
    """All promises; a stand-in that computes at once keeps the others only."""

    async def test_scoring_leaves_the_loop_free(self, cross_encoder: CrossEncoder) -> None:
        """While texts are scored, other tasks of the event loop go on."""
        texts = [TEXTS["long-english"]] * (CROSS_ENCODER_TEXTS_MAX // 2)
        await cross_encoder.score(QUESTION, ["warm", "热身"])
        ticks, scores = await ticks_during(lambda: cross_encoder.score(QUESTION, texts))
        assert len(scores) == len(texts)
        assert ticks >= TICKS_MIN
