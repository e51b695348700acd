"""What every encoder, recogniser, splitter into terms and clock keeps.

A test class inherits `EncoderContract` (or `ThreadedEncoderContract`, for what blocks),
`RecogniserContract` (or `ThreadedRecogniserContract`), `TermsContract` or `ClockContract`, and
its module supplies the fixture `encoder`, `recogniser`, `terms` or `clock`; for encoders also
`new_encoder`, which makes further ones like it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import pairwise
from typing import Final, TypeVar, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eunoe.schemas.limits import QUERY_CHARACTERS_MAX
from eunoe.schemas.ports import Clock, Encoder, Entity, EntityKind, Recogniser, Terms, Vectors

__all__ = [
    "ClockContract",
    "EncoderContract",
    "RecogniserContract",
    "TermsContract",
    "ThreadedEncoderContract",
    "ThreadedRecogniserContract",
]

Result = TypeVar("Result")

TEXTS: Final = {
    "english": "Nora moved to Lisbon in May with her two dogs.",
    "chinese": "诺拉五月带着两只狗搬到了里斯本。",
    "mixed": "我和 Nora 在用 Rust 写编译器, it's fun。",
    "emoji": "🎈👩‍👩‍👧‍👦🇵🇹",
    "emoji-in-english": "So happy 🎉 about Lisbon 🇵🇹!",
    "emoji-in-chinese": "太开心了🎉里斯本🇵🇹！",
    "empty": "",
    "spaces": " \n\t ",
    "long-english": "Nora walks her dogs along the river. " * (QUERY_CHARACTERS_MAX // 37),
    "long-chinese": "诺拉带着狗沿着河边散步。" * (QUERY_CHARACTERS_MAX // 12),
}
"""By name; what callers send: whole turns, chunks and questions up to their bound."""

SAID: Final = ("english", "chinese", "mixed", "emoji-in-english", "emoji-in-chinese")
"""Texts that say something; no two of them say the same in the same words."""

SHORTEST: Final = 1e-8
"""A row shorter than this is left as it is."""
EQUAL: Final = 1e-6
"""Far under the float16 that vectors are stored in; engines sum in different orders."""
TICKS_MIN: Final = 20
"""More than a call could let pass that blocks the loop and only yields to it before and after."""
WORK: Final = [f"{TEXTS['english']} {TEXTS['chinese']} {number}" for number in range(200)]

unicode_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
any_text = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,  # what is tested holds no text between calls
        HealthCheck.differing_executors,  # the same test runs on each implementation
    ],
)


async def ticks_during(call: Callable[[], Awaitable[Result]]) -> tuple[int, Result]:
    """Return how often the event loop ran another task during a call, and the result."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    try:
        result = await call()
        return ticks, result
    finally:
        ticking.cancel()


def check_table(vectors: Vectors, rows: int, encoder: Encoder) -> None:
    """Check the form of what `encode` returned."""
    assert vectors.shape == (rows, encoder.dimension)
    assert vectors.dtype == np.dtype(np.float32)


class EncoderContract:
    """The promises of `ports.Encoder` on what comes back."""

    def test_it_says_what_it_is(self, encoder: Encoder) -> None:
        """Id, dimension, languages and threshold are there, and of their form."""
        assert encoder.id.strip() == encoder.id != ""
        assert encoder.dimension > 0
        assert encoder.languages
        assert all(len(one) == 2 and one.islower() and one.isascii() for one in encoder.languages)
        assert 0.0 < encoder.duplicate_threshold <= 1.0

    async def test_it_knows_what_comes_by_chance(self, encoder: Encoder) -> None:
        """After a first text it gives a cosine for any language, which a better one can exceed."""
        await encoder.encode([WORK[0]])
        for language in ("en", "zh", "fr", "und"):
            assert 0.0 < encoder.chance(language) < 1.0

    async def test_no_texts_have_no_rows(self, encoder: Encoder) -> None:
        """An empty call gives an empty table, of the dimension still."""
        vectors = await encoder.encode([])
        check_table(vectors, 0, encoder)

    @pytest.mark.parametrize("name", TEXTS)
    async def test_any_text_has_a_normalised_row(self, encoder: Encoder, name: str) -> None:
        """A text of any script, empty or long, has one finite row of length one (or of none)."""
        vectors = await encoder.encode([TEXTS[name]])
        check_table(vectors, 1, encoder)
        assert np.isfinite(vectors).all()
        length = float(np.linalg.norm(vectors[0]))
        assert abs(length - 1.0) < EQUAL or length < SHORTEST
        assert name not in SAID or length > SHORTEST

    async def test_many_texts_have_a_row_each(self, encoder: Encoder) -> None:
        """Rows stand in the order of the texts, repeats included."""
        texts = [*TEXTS.values(), *WORK[:20], *TEXTS.values()]
        vectors = await encoder.encode(texts)
        check_table(vectors, len(texts), encoder)
        first, last = vectors[: len(TEXTS)], vectors[-len(TEXTS) :]
        assert np.abs(first - last).max() < EQUAL
        for place, text in enumerate(WORK[:20], len(TEXTS)):
            alone = (await encoder.encode([text]))[0]
            assert int(np.argmax(vectors @ alone)) == place

    async def test_a_text_has_one_vector_in_any_batch(self, encoder: Encoder) -> None:
        """Alone, among others and in another order, a text's vector is the same."""
        if not encoder.batch_invariant:
            pytest.skip(f"{encoder.id} says that its vectors depend on the batch")
        texts = list(TEXTS.values())
        together = await encoder.encode(texts)
        backwards = (await encoder.encode(texts[::-1]))[::-1]
        alone = np.concatenate([await encoder.encode([text]) for text in texts])
        assert np.abs(together - alone).max() < EQUAL
        assert np.abs(together - backwards).max() < EQUAL

    async def test_different_texts_have_different_vectors(self, encoder: Encoder) -> None:
        """Texts in either language are told apart: no two of them fall together."""
        vectors = await encoder.encode([TEXTS[name] for name in SAID])
        cosines = vectors @ vectors.T - np.eye(len(SAID), dtype=np.float32)
        assert float(cosines.max()) < 0.99

    async def test_one_id_means_the_same_vectors(
        self, encoder: Encoder, new_encoder: Callable[[], Encoder]
    ) -> None:
        """Another encoder of the same id, as after a restart, gives the same vectors."""
        other = new_encoder()
        assert (other.id, other.dimension) == (encoder.id, encoder.dimension)
        texts = [TEXTS[name] for name in SAID]
        difference = await encoder.encode(texts) - await other.encode(texts)
        assert np.abs(difference).max() < EQUAL

    async def test_tasks_may_encode_at_once(self, encoder: Encoder) -> None:
        """The writer and a search share an encoder: each gets its own texts' rows."""
        texts = [TEXTS[name] for name in SAID]
        expected = await encoder.encode(texts)
        calls = (encoder.encode([text]) for _ in range(4) for text in texts)
        found = np.concatenate(await asyncio.gather(*calls))
        assert np.abs(found - np.concatenate([expected] * 4)).max() < EQUAL


class ThreadedEncoderContract(EncoderContract):
    """All promises of `ports.Encoder`; a stand-in that computes at once keeps the others only."""

    async def test_encoding_leaves_the_loop_free(self, encoder: Encoder) -> None:
        """While texts are encoded, other tasks of the event loop go on."""
        await encoder.encode(["warm", "热身"])
        ticks, vectors = await ticks_during(lambda: encoder.encode(WORK))
        assert len(vectors) == len(WORK)
        assert ticks >= TICKS_MIN


class RecogniserContract:
    """The promises of `ports.Recogniser` on what comes back."""

    async def test_no_texts_have_no_lists(self, recogniser: Recogniser) -> None:
        """An empty call gives an empty list."""
        assert await recogniser.recognise([]) == []

    async def test_each_text_has_a_list(self, recogniser: Recogniser) -> None:
        """One list per text, in the order of the texts, empty where there is no name."""
        texts = ["", "Nora met Marta in Lisbon.", "", "我读完了《边城》。", "🎈", " \n"]
        found = await recogniser.recognise(texts)
        assert [bool(entities) for entities in found] == [False, True, False, True, False, False]

    @pytest.mark.parametrize("name", TEXTS)
    async def test_names_stand_where_they_say(self, recogniser: Recogniser, name: str) -> None:
        """`text[start:end] == name`, ordered by start, without overlaps, each of a known kind."""
        (found,) = await recogniser.recognise([TEXTS[name]])
        check_entities(TEXTS[name], found)

    @any_text
    @given(
        pieces=st.lists(
            st.sampled_from(
                "Nora |Marta Silva |in Lisbon|张伟|《边城》|在上海|🎈|👩‍👩‍👧‍👦|. |。|, said |\n|"
                "the Blue Heron project|蓝鹭项目|é|Rust|I'll |诺拉".split("|")
            ),
            max_size=12,
        )
    )
    def test_names_of_any_mix_stand_where_they_say(
        self, recogniser: Recogniser, pieces: list[str]
    ) -> None:
        """However English, Chinese and emoji are mixed, places are right and none overlap."""
        text = "".join(pieces)
        (found,) = asyncio.run(_recognised(recogniser, text))
        check_entities(text, found)

    async def test_tasks_may_recognise_at_once(self, recogniser: Recogniser) -> None:
        """Each of several calls gets the names of its own text."""
        texts = ["Nora met Marta in Lisbon.", "我读完了《边城》。", "Nothing here.", "没有名字。"]
        expected = [await recogniser.recognise([text]) for text in texts]
        calls = (recogniser.recognise([text]) for _ in range(4) for text in texts)
        assert await asyncio.gather(*calls) == expected * 4


class ThreadedRecogniserContract(RecogniserContract):
    """All promises of `ports.Recogniser`; a stand-in that computes at once keeps the others."""

    async def test_recognising_leaves_the_loop_free(self, recogniser: Recogniser) -> None:
        """While names are looked for, other tasks of the event loop go on."""
        await recogniser.recognise(["Nora is warm.", "张伟热身。"])
        ticks, found = await ticks_during(lambda: recogniser.recognise(WORK))
        assert len(found) == len(WORK)
        assert ticks >= TICKS_MIN


async def _recognised(recogniser: Recogniser, text: str) -> list[list[Entity]]:
    return await recogniser.recognise([text])


def check_entities(text: str, found: list[Entity]) -> None:
    """Check one text's names against their promises."""
    assert all(text[one.start : one.end] == one.name != "" for one in found)
    assert all(one.kind in get_args(EntityKind) for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


class TermsContract:
    """The promises of `ports.Terms`."""

    @pytest.mark.parametrize(
        "text", ["里斯本", "我", "的了", "是的", "不", "诺拉五月搬到了里斯本。"]
    )
    def test_only_chinese_has_terms(self, terms: Terms, text: str) -> None:
        """A text of only Chinese characters has terms, both ways."""
        assert terms.query(text)
        assert terms.document(text)

    @pytest.mark.parametrize("text", ["Lisbon", "Nora moved to Lisbon in May.", "who are you"])
    def test_only_english_has_terms(self, terms: Terms, text: str) -> None:
        """The same in English, stop words alone included."""
        assert terms.query(text)
        assert terms.document(text)

    @pytest.mark.parametrize("name", TEXTS)
    def test_terms_are_the_same_each_time(self, terms: Terms, name: str) -> None:
        """The same text gives the same terms, weights and order, whatever came between."""
        text = TEXTS[name]
        before = terms.query(text), list(terms.document(text).items())
        for other in TEXTS.values():
            terms.document(other)
        assert (terms.query(text), list(terms.document(text).items())) == before

    @any_text
    @given(text=unicode_texts)
    def test_a_text_is_found_by_its_own_words(self, terms: Terms, text: str) -> None:
        """What a question asks for is what a document of the same words holds."""
        query = terms.query(text)
        assert set(query) <= set(terms.document(text))
        assert len(query) == len(set(query))

    @any_text
    @given(text=unicode_texts)
    def test_terms_are_plain_strings_with_weights(self, terms: Terms, text: str) -> None:
        """Every term is a text to be hashed, and every weight positive and finite."""
        for term, weight in terms.document(text).items():
            assert isinstance(term, str)
            assert term.encode()
            assert 0.0 < weight < float("inf")

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("Where did Nora move?", TEXTS["english"]),
            ("诺拉搬到了哪里？", TEXTS["chinese"]),
            ("Rust 编译器", TEXTS["mixed"]),
        ],
    )
    def test_a_question_shares_a_term(self, terms: Terms, question: str, text: str) -> None:
        """A question in either language meets the text that answers it."""
        assert set(terms.query(question)) & set(terms.document(text))

    @pytest.mark.parametrize("text", ["", " \n\t ", "🎈", "?!…。，"])
    def test_nothing_has_no_terms(self, terms: Terms, text: str) -> None:
        """A text without a letter or digit is no error and has no terms."""
        assert terms.query(text) == []
        assert terms.document(text) == {}


class ClockContract:
    """The promise of `ports.Clock`."""

    def test_now_is_aware_and_in_utc(self, clock: Clock) -> None:
        """Each moment has a zone, and its offset is none."""
        for _ in range(3):
            assert clock.now().utcoffset() == timedelta(0)

    def test_moments_can_be_compared_and_kept(self, clock: Clock) -> None:
        """A moment survives its way through text, microseconds included."""
        moment = clock.now()
        assert type(moment).fromisoformat(moment.isoformat(timespec="microseconds")) == moment
        assert clock.now() >= moment
