"""Hits read again together with the question, by a cross-encoder, and ordered anew.

Delivery: reads only. A model that can't be had now leaves the order as it was: an answer in a worse
order is better than none.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from ..schemas.errors import Unavailable
from ..schemas.limits import CROSS_ENCODER_S_MAX, CROSS_ENCODER_TEXTS_MAX
from ..schemas.ports import CrossEncoder
from ..schemas.results import Hit

__all__ = ["order_by_reading"]

_SHARE: Final = 0.5
"""Of the cross-encoder in the new score: it knows nothing of talks, speakers and times."""
_DIGITS: Final = 4


async def order_by_reading(
    cross_encoder: CrossEncoder, question: str, hits: Sequence[Hit]
) -> list[tuple[int, Hit]]:
    """Order the first hits anew, by their score and by how well each text answers.

    Args:
        cross_encoder: The reader.
        question: In any language.
        hits: Best first; those behind `CROSS_ENCODER_TEXTS_MAX` stay behind.

    Returns:
        Each hit with its former rank, best first. Their scores are the mean of both, the former
        one as a share of the best; `why` has the share of the reader as "read". All is as before
        if the reader is away or too slow.
    """
    first = hits[:CROSS_ENCODER_TEXTS_MAX]
    scores: list[float] = []
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(CROSS_ENCODER_S_MAX):
            scores = await cross_encoder.score(question, [hit.text for hit in first])
    ranked = list(enumerate(hits))
    if not scores:
        return ranked
    best = max(hit.score for hit in first) or 1.0
    read = [
        (rank, _read(hit, (1.0 - _SHARE) / best, _SHARE * score))
        for (rank, hit), score in zip(ranked[: len(first)], scores, strict=True)
    ]
    read.sort(key=lambda pair: (pair[1].tier != "active", -pair[1].score, pair[0]))
    least = min(hit.score for _, hit in read)
    behind = [
        (rank, hit.model_copy(update={"score": min(least, hit.score)}))
        for rank, hit in ranked[len(first) :]
    ]
    return [*read, *behind]


def _read(hit: Hit, scale: float, share: float) -> Hit:
    why = {signal: round(scale * part, _DIGITS) for signal, part in hit.why.items()}
    score = min(1.0, scale * hit.score + share)
    return hit.model_copy(update={"score": score, "why": why | {"read": round(share, _DIGITS)}})
