"""What is published in a soak: drawn from one integer, the same at each call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from eunoe.schemas.cloudevents import encode
from eunoe.schemas.events import Envelope, EventType, Turn, event_id, owner_key
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import TURNS
from tests.support.crashing import BATCH_EVENTS, batch

__all__ = [
    "BATCH",
    "Batch",
    "batch_of",
    "is_planted",
    "planted",
    "unreadable",
    "user_ids",
]

BATCH: Final = BATCH_EVENTS
USERS: Final = 40
TENANT: Final = "default"
PLANTED_EVERY: Final = 25
"""After so many batches something bad is published as well."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one user that are added together.

    Args:
        user_id: Whose.
        messages: As `add` takes them.
    """

    user_id: str
    messages: Sequence[dict[str, Any]]

    @property
    def event_ids(self) -> list[str]:
        """The ids of the events, as the journal has them."""
        return [str(event_id(TENANT, self.user_id, "chat", one["id"])) for one in self.messages]


def user_ids() -> list[str]:
    """Return every user."""
    return [f"user{number}" for number in range(USERS)]


def batch_of(seed: int, number: int) -> Batch:
    """Return the batch of a number."""
    return Batch(*batch(f"soak/{seed}", number, USERS))


def is_planted(number: int) -> bool:
    """Tell whether something bad is published after a batch."""
    return number % PLANTED_EVERY == PLANTED_EVERY - 1


def unreadable(number: int) -> str:
    """Return what is published after a batch and is no event."""
    return f"{{{number}"


def planted(seed: int, number: int) -> list[NewRecord]:
    """Return what has to become dead letters: no event, and a known id with other content."""
    known = batch_of(seed, number)
    owner = owner_key(TENANT, known.user_id).encode()
    first = known.messages[0]
    other = Envelope(
        id=first["id"],
        source="chat",
        type=EventType.TURN_ADDED,
        time=first["time"],
        tenant_id=TENANT,
        user_id=known.user_id,
        payload=Turn(role="user", content=f"Another content / 另外的内容 {number}"),
    )
    headers, value = encode(other)
    return [
        NewRecord(TURNS.name, owner, unreadable(number).encode()),
        NewRecord(TURNS.name, owner, value, headers),
    ]
