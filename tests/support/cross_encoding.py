"""A cheap, deterministic stand-in for a cross-encoder: no model, no thread."""

from collections.abc import Sequence

import numpy as np

from eunoe.schemas.errors import Rejected
from eunoe.schemas.limits import CROSS_ENCODER_TEXTS_MAX
from tests.support.tools import WordEncoder

__all__ = ["WordCrossEncoder"]


class WordCrossEncoder:
    """`ports.CrossEncoder` over the words and character bigrams that question and text share.

    Args:
        refusal: What each call raises, as an engine that is away does.
    """

    id: str = "test-words"
    languages: frozenset[str] = frozenset(("en", "zh"))

    def __init__(self, refusal: Exception | None = None) -> None:
        self.refusal = refusal
        self.calls: list[tuple[str, list[str]]] = []
        """What was scored, call by call."""

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score texts by their cosine; computes at once, in the event loop."""
        self.calls.append((question, list(texts)))
        if self.refusal is not None:
            raise self.refusal
        if len(texts) > CROSS_ENCODER_TEXTS_MAX:
            message = f"A cross-encoder scores at most {CROSS_ENCODER_TEXTS_MAX} texts at a time."
            raise Rejected(message)
        rows = await WordEncoder().encode([question, *texts])
        cosines = np.clip(rows[1:] @ rows[0], -1.0, 1.0)
        return [(1.0 + float(one)) / 2.0 for one in cosines]

    async def close(self) -> None:
        """Hold nothing, release nothing."""
