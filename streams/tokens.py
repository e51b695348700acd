"""Tokens of a prompt: how many a text has, and where it is cut to have fewer. Pure.

No model's own tokens: the rule is the same everywhere, and anybody can count after it. A word is
one token, and a longer one than 24 letters and digits one for each 24 begun; so is each character
of Chinese, Japanese and Korean, and each mark, sign or emoji. Space is none.
"""

import re
from typing import Final

__all__ = ["WORD_CHARACTERS_MAX", "count", "cut"]

WORD_CHARACTERS_MAX: Final = 24
"""Letters and digits that are one token; `intake.chunk` has the same."""
_ELLIPSIS: Final = "…"
_CJK: Final = (
    r"\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u9fff"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
_TOKEN: Final = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]{{1,{WORD_CHARACTERS_MAX}}}|[^\w\s]|_")
_CHARACTER: Final = re.compile(f"[{_CJK}]")
_SENTENCE_END: Final = frozenset("。！？；…")
_SENTENCE_END_BEFORE_SPACE: Final = frozenset(".!?;")


def count(text: str) -> int:
    """Return how many tokens a text has."""
    return sum(1 for _ in _TOKEN.finditer(text))


def cut(text: str, tokens_max: int) -> str:
    """Cut a text that has too many tokens, and end it with “…”.

    Args:
        text: Any text.
        tokens_max: Most tokens of what is returned, “…” included.

    Returns:
        The text, if it fits; else its beginning, up to the end of a sentence in the second half
        of what fits, else of a word, else (where a word alone is too long) of a token.
    """
    tokens = [match.span() for match in _TOKEN.finditer(text)]
    if len(tokens) <= tokens_max:
        return text
    fitting = tokens_max - len(_ELLIPSIS)
    if fitting < 1:
        return ""
    return text[: tokens[_border(text, tokens, fitting) - 1][1]] + _ELLIPSIS


def _border(text: str, tokens: list[tuple[int, int]], fitting: int) -> int:
    """Return how many tokens, of those that fit, make whole sentences or at least whole words."""
    words = 0
    for kept in range(fitting, 0, -1):
        last, following = tokens[kept - 1], tokens[kept]
        if kept > fitting // 2 and _ends_sentence(text, last, following):
            return kept
        if not words and _ends_word(text, last, following):
            words = kept
    return words or fitting


def _ends_sentence(text: str, last: tuple[int, int], following: tuple[int, int]) -> bool:
    mark = text[last[0] : last[1]]
    spaced = last[1] < following[0]
    return mark in _SENTENCE_END or (spaced and mark in _SENTENCE_END_BEFORE_SPACE)


def _ends_word(text: str, last: tuple[int, int], following: tuple[int, int]) -> bool:
    spaced = last[1] < following[0]
    return spaced or any(_CHARACTER.match(text, one[0]) for one in (last, following))
