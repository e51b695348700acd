"""What was last said in each session: the context that a candidate is kept with.

Delivery: a bounded cache over the stores; nothing rests on it but speed.
"""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from ..schemas.events import Turn
from ..schemas.limits import CONTEXT_TURNS, SESSIONS_CACHED_MAX
from ..schemas.ports import EpisodicStore, IdentityStore, Keys
from .projections import JournalReader

__all__ = ["OpenTurn", "Said", "Sessions", "Turns", "said"]


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as context: its event, who spoke, and what."""

    event_id: UUID
    speaker: str
    text: str


class OpenTurn(BaseModel):
    """What the box of a turn holds.

    Args:
        source: The producer.
        id: The producer's id.
        payload: The turn.
    """

    model_config = ConfigDict(frozen=True)

    source: str
    id: str
    payload: Turn


class Sessions:
    """Where sessions end, and their last turns, newest last.

    It is the writer's, who alone changes them: so it need not look again.

    Args:
        identity: Where turns stand.
        turns: Opens them.
    """

    def __init__(self, identity: IdentityStore, turns: "Turns") -> None:
        self._identity = identity
        self._turns = turns
        self._tails: OrderedDict[tuple[str, bytes], tuple[Said, ...]] = OrderedDict()
        self._ends: OrderedDict[tuple[str, bytes], int] = OrderedDict()

    async def end(self, owner: str, session: bytes) -> int:
        """Return the position that the session's next turn gets."""
        place = (owner, session)
        if place not in self._ends:
            self._ends[place] = await self._identity.session_end(owner, session)
            if len(self._ends) > SESSIONS_CACHED_MAX:
                self._ends.popitem(last=False)
        self._ends.move_to_end(place)
        return self._ends[place]

    async def before(
        self, owner: str, session: bytes, position: int, *, without: Collection[UUID] = ()
    ) -> tuple[Said, ...]:
        """Return the last turns before a position, but for some, from the stores."""
        event_ids: list[UUID] = []
        while position > 0 and len(event_ids) < CONTEXT_TURNS:
            position -= 1
            found = await self._identity.neighbours(owner, [(session, position)])
            near = [UUID(bytes=one.event) for one in found.values()]
            event_ids += [event for event in near if event not in without]
        event_ids.reverse()
        turns = await self._turns.open(owner, event_ids)
        return tuple(said(key, turns[key].payload) for key in event_ids if key in turns)

    async def tail(self, owner: str, session: bytes, position: int) -> tuple[Said, ...]:
        """Return the turns before the session's next position."""
        place = (owner, session)
        if place not in self._tails:
            self._tails[place] = await self.before(owner, session, position)
            if len(self._tails) > SESSIONS_CACHED_MAX:
                self._tails.popitem(last=False)
        self._tails.move_to_end(place)
        return self._tails[place]

    def add(self, owner: str, session: bytes, event_id: UUID, turn: Turn) -> None:
        """Take a turn that was just decided, after `end` and `tail` of its session."""
        place = (owner, session)
        tail = self._tails.get(place, ())
        self._tails[place] = (*tail, said(event_id, turn))[-CONTEXT_TURNS:]
        self._ends[place] += 1

    def clear(self) -> None:
        """Forget all, after a batch that failed half-way."""
        self._tails.clear()
        self._ends.clear()

    def drop(self, owner: str) -> None:
        """Forget an owner's sessions, after an erasure."""
        for held in (self._tails, self._ends):
            for place in [place for place in held if place[0] == owner]:
                del held[place]


def said(event_id: UUID, turn: Turn) -> Said:
    """Return a turn as context."""
    return Said(event_id, turn.name or turn.role, turn.content)


class Turns:
    """Opens turns: from the episodic store, else (where turns aren't searchable) the journal.

    Args:
        keys: To open boxes.
        identity: Where turns stand.
        episodes: Where their boxes are.
        journal: Where their records are.
    """

    def __init__(
        self, keys: Keys, identity: IdentityStore, episodes: EpisodicStore, journal: JournalReader
    ) -> None:
        self._keys = keys
        self._identity = identity
        self._episodes = episodes
        self._journal = journal

    async def open(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, OpenTurn]:
        """Open turns by event id; those that are gone are left out."""
        boxes = await self._episodes.turn_boxes(owner, event_ids)
        if len(boxes) < len(event_ids):
            missing = [event for event in event_ids if event not in boxes]
            places = await self._identity.places(owner, missing)
            for event, place in places.items():
                record = await self._journal.record_at(owner, place.journal_offset)
                if record is not None and record.box is not None:
                    boxes[event] = record.box
        plain = await self._keys.open_boxes(owner, [(box, event) for event, box in boxes.items()])
        return {
            event: OpenTurn.model_validate_json(content)
            for event, content in zip(boxes, plain, strict=True)
            if content is not None
        }
