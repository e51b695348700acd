"""The port of the episodic store: what happened, by meaning, by words and by time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from ..records import Box, Truth
from .language import Vectors
from .projected import Applied, Interval, Stored

__all__ = ["ALWAYS", "EpisodicQuery", "EpisodicStore", "Holding", "MemoryPoint", "PointHit"]

ALWAYS: Final = Truth()
"""Of what holds always, and for the user."""


@dataclass(frozen=True, slots=True)
class Holding:
    """Which memories may answer; turns always may, but for `as_of` and `verified`.

    Args:
        at: The question's clock, in seconds since 1970: what has expired by then is left out.
        past: The interval that the question is about: what was superseded answers as well, if it
            held at some time in it. None leaves out all that is superseded.
        as_of: Only what was recorded by then, with the state that it had; None is all.
        project: Keyed hash of the project in which it is asked; None is outside. What belongs to
            another project is left out.
        verified: Whether only what somebody vouches for may answer, and of that only what has
            every term of the query.
    """

    at: float
    past: Interval | None = None
    as_of: float | None = None
    project: bytes | None = None
    verified: bool = False


@dataclass(frozen=True, slots=True)
class EpisodicQuery:
    """One question to the episodic store.

    Args:
        owner: Whose.
        vector: L2-normalised, float32, shape (dimension,); None skips the dense part.
        terms: Keyed hashes of the question's terms; empty skips the sparse part.
        limit: How many points each part returns.
        kinds: "turn" and memory kinds; None means all.
        within: Only what was said in the interval, or is about a time in it; None is ever.
        near: Both parts are asked for this interval as well, `near_limit` points each.
        near_limit: See `near`.
        only: The 16 bytes of the ids of the points that may be found; None means all.
        holding: Which memories may answer; None means all.
        related: Further terms of the sparse part, with what each counts where one of `terms`
            counts 1; without `terms` they are not asked for.
    """

    owner: str
    vector: Vectors | None
    terms: tuple[int, ...]
    limit: int
    kinds: tuple[str, ...] | None = None
    within: Interval | None = None
    near: Interval | None = None
    near_limit: int = 0
    only: tuple[bytes, ...] | None = None
    holding: Holding | None = None
    related: tuple[tuple[int, float], ...] = ()


class PointHit(NamedTuple):
    """A point that a query found; scores are those of the engine.

    Args:
        point_id: The 16 bytes of the point's id; most of what is found is never shown.
        dense: Cosine, or None where only the sparse part found it.
        sparse: BM25 with the owner's IDF, or None.
        timely: Whether it was found in the interval `near` of the query.
    """

    point_id: bytes
    dense: float | None
    sparse: float | None
    timely: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """A memory as the episodic store holds it; see `Candidate` and `Decision` for the fields.

    Args:
        vector: float32 from float16, shape (dimension,); None where it wasn't asked for.
    """

    memory_id: UUID
    kind: str
    box: Box
    guard: bytes
    speaker: bytes
    sources: tuple[UUID, ...]
    said_at: datetime
    touched_at: datetime
    created_at: datetime
    last_accessed: datetime
    importance: float
    confidence: float
    truth: Truth = ALWAYS
    vector: Vectors | None = field(default=None, compare=False)


class EpisodicStore(Protocol):
    """What happened: turns and memories by meaning and by words.

    Promises:
        * `apply` may be repeated for any suffix of the journal and gives the same state.
        * `query` and `nearest` are exact, see all that `apply` returned for, and never
          return another owner's point.
        * IDF is computed over the owner's points only.
        * After `flush` returned, `applied` names a position that survives a power loss.
    """

    async def apply(self, records: Sequence[Stored]) -> None:
        """Apply journal records of one partition, in order."""
        ...

    async def flush(self) -> None:
        """Make everything applied durable, then move the markers."""
        ...

    async def applied(self, partition: int) -> Applied | None:
        """Return the partition's durable low-water position."""
        ...

    async def query(self, query: EpisodicQuery) -> list[PointHit]:
        """Find points; the union of the dense and the sparse part, unordered."""
        ...

    async def said_within(
        self,
        owner: str,
        interval: Interval,
        holding: Holding,
        limit: int,
        only: Sequence[bytes] | None = None,
    ) -> list[bytes]:
        """Return the first points of the turns that were said in an interval, oldest first.

        Of `holding` only `as_of` matters: turns don't expire. `only` as in `EpisodicQuery`.
        """
        ...

    async def nearest(
        self, owner: str, vectors: Vectors, threshold: float
    ) -> list[list[MemoryPoint]]:
        """Return, for each row, every memory of the owner at or over a cosine.

        Args:
            owner: Whose.
            vectors: L2-normalised, float32, shape (texts, dimension).
            threshold: Cosine.

        Returns:
            A list for each row, closest first, with vectors.
        """
        ...

    async def turn_boxes(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, Box]:
        """Return the boxes of turns."""
        ...

    async def memories(
        self, owner: str, memory_ids: Sequence[UUID] | None = None
    ) -> list[MemoryPoint]:
        """Return memories by id, or all of an owner's, without vectors, ordered by id."""
        ...

    async def optimise(self) -> None:
        """Rebuild segments: faster queries, and deleted points vanish."""
        ...

    async def close(self) -> None:
        """Flush and release the folder."""
        ...
