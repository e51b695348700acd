"""Tokens: how many a text has, and where it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.streams.tokens import count, cut


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t\u3000", 0),
        ("I moved to Oslo", 4),
        ("I moved to Oslo.", 5),
        ("我搬到奥斯陆了", 7),
        ("我搬到奥斯陆了。", 8),
        ("我搬到 Oslo 了", 5),
        ("カタカナ ひらがな 한국어", 11),
        ("Saturday 2024-06-15 22:00", 9),
        ("[D1:3]", 5),
        ("snake_case", 3),
        ("x" * 24, 1),
        ("x" * 25, 2),
        ("😀😀", 2),
        ("\U00020000\u3400", 2),
        ("naïve Привет", 2),
    ],
)
def test_the_rule_of_counting(text: str, tokens: int) -> None:
    """A word, a character of Chinese, Japanese or Korean, and a mark are a token each."""
    assert count(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens_max", "expected"),
    [
        ("One two three four five", 5, "One two three four five"),
        ("One two three four five", 4, "One two three…"),
        ("One. Two three four five six", 6, "One. Two three four…"),
        ("One two three. Four five six", 6, "One two three.…"),
        ("一二三四五六七", 4, "一二三…"),
        ("一二。三四五六七", 5, "一二。…"),
        ("一二三四五六七", 1, ""),
        ("one two", 0, ""),
        ("pi is 3.1415 or so", 5, "pi is…"),
        ("x" * 100, 3, "x" * 48 + "…"),
    ],
)
def test_a_text_is_cut_at_a_border(text: str, tokens_max: int, expected: str) -> None:
    """What fits is kept; else a sentence's end in the second half, else a word's, ends it."""
    assert cut(text, tokens_max) == expected


@given(st.text(), st.integers(min_value=0, max_value=40))
def test_a_cut_text_fits_and_is_a_beginning(text: str, tokens_max: int) -> None:
    """No text has more tokens than it may, and what stands before “…” began the text."""
    found = cut(text, tokens_max)
    assert count(found) <= tokens_max
    assert found in {text, ""} or text.startswith(found.removesuffix("…"))


@given(st.text(), st.text())
def test_tokens_of_two_texts_add_up(one: str, other: str) -> None:
    """A space between two texts makes no token and joins none."""
    assert count(f"{one} {other}") == count(one) + count(other)
