"""Terms: what a text is found by, in English, Chinese and a mix of both."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from eunoe.infra.terms import TermParameters, Terms

if TYPE_CHECKING:
    from eunoe.schemas import ports


@pytest.fixture
def terms() -> Terms:
    """Return terms with the documented constants."""
    return Terms()


def test_keeps_the_port(terms: Terms) -> None:
    """The class satisfies the port that the processors are written against."""
    port: ports.Terms = terms
    assert port.query("tea") == ["tea"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which dog did she walk?", "Walking the dogs again"),
        ("Oma's recipe?", "the recipe of Oma"),
        ("when did the café open", "CAFE opened"),
        ("the 3rd of 1,200", "3 of 1200"),
        ("Mother\u2019s cake", "a cake for mother"),
        ("我养了什么狗", "昨天给小狗洗澡"),
        ("陈晓雨的生日", "晓雨过生日"),
        ("买了新手机吗", "换了一部手机"),
        ("Rust 编译器", "用Rust写编译器"),
    ],
)
def test_shares_a_term(terms: Terms, question: str, text: str) -> None:
    """A question has every content word in common with a text in another form or script width."""
    assert set(terms.query(question)) & set(terms.document(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("walked", "walking"),
        ("dogs'", "dog"),
        ("don't", "DON\u2019T"),
        ("２０２４", "2024"),
        ("Zürich", "zurich"),
        ("4th", "4"),
        ("咖啡", "咖啡"),
    ],
)
def test_forms_fold_together(terms: Terms, one: str, other: str) -> None:
    """Forms of one word are one term."""
    assert terms.query(one) == terms.query(other)


@pytest.mark.parametrize("text", ["的了", "是的", "我", "张伟", "㐂", "\U00020bb7野家", "不"])
def test_only_chinese_has_terms(terms: Terms, text: str) -> None:
    """A text of only Chinese characters has terms, of only grammatical ones as well."""
    assert terms.query(text)
    assert terms.document(text)


@pytest.mark.parametrize(
    "text",
    ["who are you", "the", "привет мир", "नमस्ते दुनिया", "สวัสดี", "こんにちは", "한국어", "שלום"],
)
def test_other_scripts_have_terms(terms: Terms, text: str) -> None:
    """Stop words alone and other scripts give terms, and a text finds itself."""
    assert terms.query(text)
    assert set(terms.query(text)) == set(terms.document(text))


@pytest.mark.parametrize("text", ["", "   ", "?!…。，", "🙂👍", "'", "_"])
def test_nothing_to_find(terms: Terms, text: str) -> None:
    """A text without a letter or a digit has no terms."""
    assert terms.query(text) == []
    assert terms.document(text) == {}


@pytest.mark.parametrize(
    ("text", "absent"),
    [("I was at the zoo", {"i", "was", "at", "the"}), ("我在动物园的门口", {"我", "在", "的"})],
)
def test_stop_words_are_left_out(terms: Terms, text: str, absent: set[str]) -> None:
    """Words of grammar are no terms where there are others."""
    assert not absent & set(terms.document(text))


@pytest.mark.parametrize(("name", "pair"), [("李和平", "和平"), ("刘对", "刘对")])
def test_names_keep_grammatical_characters(terms: Terms, name: str, pair: str) -> None:
    """A name is found by its pairs even where one half carries grammar elsewhere."""
    assert pair in terms.document(name)


def test_the_weight_is_that_of_bm25() -> None:
    """The weight follows the formula: hand-computed for two uses in a text of three words."""
    terms = Terms(TermParameters(saturation=1.0, length_share=0.5, length_average=6.0))
    weights = terms.document("tea tea cup")
    damping = 1.0 * (0.5 + 0.5 * 3 / 6)
    assert weights["tea"] == pytest.approx(2 * 2.0 / (2 + damping))
    assert weights["cup"] == pytest.approx(1 * 2.0 / (1 + damping))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("red kite", "red kite over many quiet green hills"),
        ("红风筝", "红风筝飞过许多安静绿色山丘"),
    ],
)
def test_long_texts_weigh_less(terms: Terms, short: str, long: str) -> None:
    """The same word weighs less in a longer text."""
    common = set(terms.document(short)) & set(terms.document(long))
    assert common
    for term in common:
        assert terms.document(long)[term] < terms.document(short)[term]


@pytest.mark.parametrize("text", ["tea tea tea for two", "喝茶喝茶还是喝茶"])
def test_a_question_has_distinct_terms(terms: Terms, text: str) -> None:
    """Terms of a question come once, and are those of the document."""
    query = terms.query(text)
    assert len(query) == len(set(query))
    assert set(query) == set(terms.document(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [("dinner", "lunch"), ("bike", "bicycle"), ("mother", "mum"), ("price", "cost")],
)
def test_words_of_one_meaning_are_related(terms: Terms, one: str, other: str) -> None:
    """Each of two such words has the other, for the same share of what it counts itself."""
    (first,), (second,) = terms.query(one), terms.query(other)
    share = terms.related(first)[second]
    assert 0.0 < share < 1.0
    assert terms.related(second)[first] == share
    assert first not in terms.related(first)


@pytest.mark.parametrize("text", ["晚饭", "陈晓雨", "Aaron", "Girraween", "4471", "the"])
def test_names_numbers_and_chinese_have_no_related_words(terms: Terms, text: str) -> None:
    """Nobody else is meant by a name, and Chinese words share characters with their like."""
    assert all(not terms.related(term) for term in terms.query(text))


def test_reads_no_further_than_the_limit() -> None:
    """What stands after the limit adds no term."""
    assert Terms(TermParameters(text_length_max=4)).query("kite hill") == ["kite"]


@pytest.mark.parametrize(
    "text", ["We walked the dogs along the river today", "今天我们带着狗沿河散步"]
)
def test_is_fast(terms: Terms, text: str) -> None:
    """A thousand short texts take well under a second, on a slow machine as well."""
    start = time.perf_counter()
    for _ in range(1000):
        terms.document(text)
    assert time.perf_counter() - start < 1.0
