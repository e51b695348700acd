"""What is read of a collection of the episodic store on a Qdrant server, page by page."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from qdrant_client import models

from ..schemas.limits import NEAREST_PAGE, SCROLL_PAGE
from ..schemas.ports import MemoryPoint, Vectors
from .points import DENSE, memory_of
from .qdrant_calls import QdrantCalls
from .qdrant_words import WORDS
from .questions import SCORE_SLACK, owner_filter

__all__ = ["memory_in", "nearest", "retrieve", "scroll"]

EXACT: Final = models.SearchParams(exact=True)


async def retrieve(
    calls: QdrantCalls,
    collection: str,
    ids: Sequence[UUID],
    *,
    payload: bool | list[str],
    vectors: list[str] | None = None,
) -> list[models.Record]:
    """Return points by id, those that are there.

    Args:
        calls: To the server.
        collection: Its name or alias.
        ids: Any number.
        payload: All of it, or some of its fields.
        vectors: Which of them; None is none.
    """
    found: list[models.Record] = []
    for start in range(0, len(ids), SCROLL_PAGE):
        async with calls.call() as client:
            found += await client.retrieve(
                collection,
                [str(one) for one in ids[start : start + SCROLL_PAGE]],
                with_payload=payload,
                with_vectors=vectors or False,
            )
    return found


async def scroll(calls: QdrantCalls, collection: str, only: models.Filter) -> list[models.Record]:
    """Return all points that a filter holds of, without vectors."""
    found: list[models.Record] = []
    offset: Any = None
    while True:
        async with calls.call() as client:
            page, offset = await client.scroll(
                collection, only, limit=SCROLL_PAGE, offset=offset, with_payload=True
            )
        found += page
        if offset is None:
            return found


async def nearest(
    calls: QdrantCalls, collection: str, owner: str, vectors: Vectors, threshold: float
) -> list[list[MemoryPoint]]:
    """Return, for each row, every memory of the owner at or over a cosine, closest first."""
    rows: list[list[float]] = vectors.tolist()
    found: list[list[MemoryPoint]] = [[] for _ in rows]
    left, limit = list(range(len(rows))), NEAREST_PAGE
    while left:
        requests = [_nearest(owner, rows[row], threshold, limit) for row in left]
        answers = await calls.ask(collection, requests)
        for row, answer in zip(left, answers, strict=True):
            found[row] = [memory_in(one) for one in answer]
        # A full page may not be all.
        left, limit = [row for row in left if len(found[row]) == limit], limit * 4
    return found


def _nearest(owner: str, vector: list[float], threshold: float, limit: int) -> models.QueryRequest:
    return models.QueryRequest(
        query=vector,
        using=DENSE,
        filter=owner_filter(WORDS, owner, without_turns=True),
        limit=limit,
        score_threshold=threshold - SCORE_SLACK,
        with_payload=True,
        with_vector=[DENSE],
        params=EXACT,
    )


def memory_in(found: models.Record | models.ScoredPoint) -> MemoryPoint:
    """Return what a point says of a memory."""
    vector: Any = found.vector
    dense = vector.get(DENSE) if isinstance(vector, dict) else None
    return memory_of(UUID(str(found.id)), found.payload or {}, dense)
