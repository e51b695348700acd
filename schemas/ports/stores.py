"""The ports of the stores: identity and episodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from ..records import Box, JournalRecord
from .language import Vectors
from .log import Position

__all__ = [
    "Applied",
    "EpisodicQuery",
    "EpisodicStore",
    "EventPlace",
    "IdentityStore",
    "KnownEvent",
    "MemoryPoint",
    "PointHit",
    "Spot",
    "StatementRow",
    "Stored",
]


@dataclass(frozen=True, slots=True)
class Stored:
    """A journal record with its place, as projections take it."""

    position: Position
    record: JournalRecord


class Applied(NamedTuple):
    """How far a projection is: every journal record below `offset` has had its effect."""

    epoch: str
    offset: int


class KnownEvent(NamedTuple):
    """What the identity store knows of an accepted event."""

    event_id: UUID
    content: bytes
    journal_offset: int


class EventPlace(NamedTuple):
    """Where a point's turn stands in its session.

    Args:
        event_id: The turn that the point's text came from.
        kind: "turn" or the kind of the memory that the point is.
        session: Keyed hash; turns without a session share one per source and day.
        position: Rank among the session's surviving turns, from 0.
        speaker: Keyed term hashes of the speaker's name.
        said_at: When.
        role: Who spoke.
        journal_offset: Where its record stands.
    """

    event_id: UUID
    kind: str
    session: bytes
    position: int
    speaker: tuple[int, ...]
    said_at: datetime
    role: str
    journal_offset: int


class Spot(NamedTuple):
    """What a search needs of an `EventPlace`: it looks at hundreds and shows ten.

    Args:
        event: The 16 bytes of `event_id`.
        session: As there.
        position: As there.
        speaker: As there.
        said: `said_at` as ISO 8601 text.
        kind: As there.
    """

    event: bytes
    session: bytes
    position: int
    speaker: tuple[int, ...]
    said: str
    kind: str = "turn"

    @property
    def event_id(self) -> UUID:
        """The turn that the point's text came from."""
        return UUID(bytes=self.event)

    @property
    def said_at(self) -> datetime:
        """When it was said."""
        return datetime.fromisoformat(self.said)


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A statement as stored: the record's part and when it was said.

    Rows of one matter come ordered by `said_at`, then by journal offset: the order of truth.
    """

    kind: str
    slot: bytes
    matter: bytes
    value: bytes
    box: Box
    event_id: UUID
    said_at: datetime
    recorded_at: datetime
    journal_offset: int


class IdentityStore(Protocol):
    """Who the owner is: events by identity, places in sessions, statements, markers.

    Promises:
        * `apply` puts the effects and `applied/<owner>` in one transaction; a record at or
          below the owner's marker changes nothing.
        * Reads see all that `apply` returned for.
        * Nothing of one owner is reachable through another owner's name.
    """

    async def apply(self, records: Sequence[Stored]) -> None:
        """Apply journal records of one partition, in order."""
        ...

    async def applied(self, partition: int) -> Applied | None:
        """Return the partition's low-water position."""
        ...

    async def known(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, KnownEvent]:
        """Return those events that were accepted."""
        ...

    async def erased(self, owner: str, event_ids: Sequence[UUID]) -> set[UUID]:
        """Return those events that a forget keeps out."""
        ...

    async def by_producer(self, owner: str, producer: bytes) -> list[EventPlace]:
        """Return the turns whose producer id has this keyed hash (one per source)."""
        ...

    async def places(self, owner: str, point_ids: Sequence[UUID]) -> dict[UUID, EventPlace]:
        """Return where points stand; a turn's first chunk has the turn's own id."""
        ...

    async def spots(self, owner: str, point_ids: Sequence[bytes]) -> dict[bytes, Spot]:
        """Return the spots of the points that `places` knows, by the 16 bytes of their ids."""
        ...

    async def neighbours(
        self, owner: str, places: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Spot]:
        """Return the spots of the turns at (session, position) pairs that exist."""
        ...

    async def session_end(self, owner: str, session: bytes) -> int:
        """Return the position that the session's next turn gets."""
        ...

    async def turns(
        self, owner: str, *, after: int = -1, limit: int = 100, newest: bool = False
    ) -> list[EventPlace]:
        """List turns in journal order (or newest first) with a journal offset over `after`."""
        ...

    async def statements(
        self, owner: str, slots: Sequence[bytes] | None = None
    ) -> list[StatementRow]:
        """Return statements (of some slots) in the order of truth within each matter."""
        ...

    async def readers(self, owner: str, event_ids: Sequence[UUID]) -> set[UUID]:
        """Return the turns with candidates whose summary holds text of any of these."""
        ...

    async def candidates(self, owner: str) -> list[tuple[UUID, int]]:
        """Return (event id, offset of the record that holds its candidates), in journal order."""
        ...

    async def points(self, owner: str, event_ids: Sequence[UUID]) -> list[UUID]:
        """Return the ids of every chunk of these turns."""
        ...

    async def owners(self) -> list[str]:
        """Return every owner."""
        ...

    async def counts(self, owner: str) -> dict[str, int]:
        """Return how many turns, memories and slots an owner has."""
        ...

    async def close(self) -> None:
        """Release the file."""
        ...


@dataclass(frozen=True, slots=True)
class EpisodicQuery:
    """One question to the episodic store.

    Args:
        owner: Whose.
        vector: L2-normalised, float32, shape (dimension,); None skips the dense part.
        terms: Keyed hashes of the question's terms; empty skips the sparse part.
        limit: How many points each part returns.
        kinds: "turn" and memory kinds; None means all.
    """

    owner: str
    vector: Vectors | None
    terms: tuple[int, ...]
    limit: int
    kinds: tuple[str, ...] | None = None


class PointHit(NamedTuple):
    """A point that a query found; scores are those of the engine.

    Args:
        point_id: The 16 bytes of the point's id; most of what is found is never shown.
        dense: Cosine, or None where only the sparse part found it.
        sparse: BM25 with the owner's IDF, or None.
    """

    point_id: bytes
    dense: float | None
    sparse: float | None


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
