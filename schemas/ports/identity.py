"""The port of the identity store: who the owner is, and where turns stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from ..records import Box, MemoryScope
from .projected import Applied, Stored

__all__ = [
    "BindingRow",
    "EventPlace",
    "IdentityStore",
    "KnownEvent",
    "Spot",
    "StatementRow",
    "TurnFilter",
]


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
        names: Keyed term hashes of the names in its text.
    """

    event_id: UUID
    kind: str
    session: bytes
    position: int
    speaker: tuple[int, ...]
    said_at: datetime
    role: str
    journal_offset: int
    names: tuple[int, ...] = ()


class Spot(NamedTuple):
    """What a search needs of an `EventPlace`: it looks at hundreds and shows ten.

    Args:
        event: The 16 bytes of `event_id`.
        session: As there.
        position: As there.
        speaker: As there.
        said: `said_at` as ISO 8601 text.
        states: As in `JournalRecord`, of its turn.
        outdated: Whether 1: of the memories that its turn states none holds any more.
        kind: As there.
        confidence: Of a memory, from 0 to 1; 1 for a turn.
        scope: Of a memory; a turn is the user's own.
    """

    event: bytes
    session: bytes
    position: int
    speaker: tuple[int, ...]
    said: str
    states: int = 100
    outdated: int = 0
    kind: str = "turn"
    confidence: float = 1.0
    scope: MemoryScope = "private"

    @property
    def event_id(self) -> UUID:
        """The turn that the point's text came from."""
        return UUID(bytes=self.event)

    @property
    def said_at(self) -> datetime:
        """When it was said."""
        return datetime.fromisoformat(self.said)


@dataclass(frozen=True, slots=True)
class TurnFilter:
    """Which turns are meant; what is None or empty bounds nothing.

    Args:
        session: Keyed hash.
        role: Who spoke.
        speaker: Keyed term hashes of the speaker's name.
        labels: Keyed hashes that all have to stand at the turn.
    """

    session: bytes | None = None
    role: str | None = None
    speaker: tuple[int, ...] = ()
    labels: tuple[bytes, ...] = ()


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


class BindingRow(NamedTuple):
    """That an alias stands for a person, or did.

    Args:
        person: The person's user id, of the alias's tenant.
        is_bound: Whether it does now.
        event_id: The command that said it last.
        box: Its box, with what was registered; None once it has ended.
    """

    person: str
    is_bound: bool
    event_id: UUID
    box: Box | None


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

    async def points_of(self, owner: str, wanted: TurnFilter) -> list[bytes]:
        """Return the 16 bytes of the ids of all points whose turn is meant, memories as well."""
        ...

    async def session(self, owner: str, number: int, *, from_end: bool) -> bytes | None:
        """Return a session by its rank, from 0, among those with turns, by their first turn."""
        ...

    async def bindings(self, owners: Sequence[str]) -> dict[str, tuple[BindingRow, ...]]:
        """Return what aliases among these owners are or were bound to, by person's id."""
        ...

    async def aliases(self, owner: str) -> list[str]:
        """Return the user ids that stand for a person now, in order."""
        ...

    async def owners(self) -> list[str]:
        """Return every owner, aliases included."""
        ...

    async def counts(self, owner: str) -> dict[str, int]:
        """Return how many turns, memories and slots an owner has."""
        ...

    async def close(self) -> None:
        """Release the file."""
        ...
