"""What the rules for Chinese names work on: tagged tokens, and how common a word is."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

__all__ = ["ALL_HAN", "HAN", "NAME_CHARACTERS_MAX", "NAME_CHARACTERS_MIN", "Frequency", "Token"]

HAN: Final = r"\u4e00-\u9fff"  # for use inside a character class
ALL_HAN: Final = re.compile(rf"[{HAN}]+")
NAME_CHARACTERS_MIN: Final = 2
NAME_CHARACTERS_MAX: Final = 4

Frequency = Callable[[str], int]
"""How often a dictionary counts a word; 0 for one it doesn't have."""


class Token(NamedTuple):
    """A tagged token; `tag` is one of ICTCLAS, as jieba gives it."""

    text: str
    tag: str
    start: int

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)
