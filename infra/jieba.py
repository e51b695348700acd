"""Names in Chinese text: jieba cuts and tags, the rules of `chinese_names` decide."""

import io
import logging
from collections.abc import Sequence
from contextlib import redirect_stderr

from ..schemas.ports import Entity
from .chinese_names import find_names
from .chinese_tokens import Token

__all__ = ["ChineseNames"]


class ChineseNames:
    """Finds names in Chinese text; blocks, and loads its dictionary at the first call."""

    def __init__(self) -> None:
        """Load nothing yet."""
        self._cutter: _Cutter | None = None

    def find(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Find the names in each text, ordered by start, without overlaps."""
        if self._cutter is None:
            self._cutter = _Cutter()
        cutter = self._cutter
        return [find_names(text, cutter.cut(text), cutter.frequency) for text in texts]


class _Cutter:
    """Cuts a text into tagged tokens with their places."""

    def __init__(self) -> None:
        with redirect_stderr(io.StringIO()):
            # Here, since the import alone takes a second and logs to standard error.
            import jieba  # noqa: PLC0415 - slow and noisy
            import jieba.posseg  # noqa: PLC0415 - the same

            jieba.setLogLevel(logging.CRITICAL)
            jieba.initialize()
        self._posseg = jieba.posseg
        self._frequencies: dict[str, int] = jieba.dt.FREQ

    def frequency(self, word: str) -> int:
        """How often jieba's dictionary counts the word; 0 for one it doesn't have."""
        return self._frequencies.get(word) or 0

    def cut(self, text: str) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        for pair in self._posseg.cut(text):
            start = text.find(pair.word, at)
            if start < 0:
                continue
            tokens.append(Token(pair.word, pair.flag, start))
            at = start + len(pair.word)
        return tokens
