"""What a producer is told: what the brokers acknowledged, and what they didn't."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from .schemas.errors import EunoeError, Rejected, Unavailable
from .schemas.events import Envelope, Turn

__all__ = ["NotAcknowledged", "Receipt", "receipts_of"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the brokers acknowledged.

    Args:
        id: The producer's, given or made.
        event_id: Eunoe's own, by which a turn is forgotten.
        partition: Of the topic.
        offset: In the partition; -1 where the brokers had it from an earlier try.
    """

    id: str
    event_id: UUID
    partition: int
    offset: int


class NotAcknowledged(Unavailable):
    """Some messages of a call weren't acknowledged; whether they are there is unknown.

    Attributes:
        receipts: Of those that were.
        left: The others as messages, with the ids and times that they have. Given to `turns`
            again they are the same events, so none counts twice. Empty for commands: give the
            same again, which changes nothing twice.
    """

    def __init__(
        self,
        sentence: str,
        receipts: Sequence[Receipt] = (),
        left: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(sentence)
        self.receipts = tuple(receipts)
        self.left = tuple(left)


def receipts_of(
    events: Sequence[Envelope],
    places: Sequence[tuple[int, int] | None],
    failure: EunoeError | None,
) -> list[Receipt]:
    """Return the receipts of a call's events, if all were acknowledged.

    Args:
        events: What was published.
        places: Partition and offset of each; None where it wasn't acknowledged.
        failure: Why the first of these wasn't.

    Raises:
        Rejected: The brokers take one never.
        NotAcknowledged: Some weren't acknowledged.
    """
    receipts = [
        Receipt(event.id, event.event_id, *place)
        for event, place in zip(events, places, strict=True)
        if place is not None
    ]
    missing = [index for index, place in enumerate(places) if place is None]
    if failure is None or not missing:
        return receipts
    told = _told(missing, len(events))
    if isinstance(failure, Rejected):
        message = f"{failure} {told}"
        raise Rejected(message) from failure
    left = [said for index in missing if (said := _message(events[index]))]
    again = "what `left` holds" if left else "the same"
    message = f"{failure} {told} Give {again} again: it counts once."
    raise NotAcknowledged(message, receipts, left) from failure


def _told(missing: Sequence[int], count: int) -> str:
    if count == 1:
        return "It wasn't acknowledged."
    if len(missing) == 1:
        return f"Message {missing[0]} of {count} wasn't acknowledged, all others were."
    return f"{len(missing)} of {count} messages weren't acknowledged, the first is {missing[0]}."


def _message(event: Envelope) -> dict[str, Any]:
    turn = event.payload
    if not isinstance(turn, Turn):
        return {}
    said = turn.model_dump(exclude={"agent_id"}, exclude_none=True)
    return {**said, "id": event.id, "time": event.time}
