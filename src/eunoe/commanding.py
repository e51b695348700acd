"""What the façade does to a memory by commands: their events, and which turns a forget means."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from .parameters import name_of
from .schemas.errors import Rejected
from .schemas.events import Envelope, EventType, Forget, SetTimezone
from .schemas.ports import EventPlace
from .streams.reading import Ident, Reader

__all__ = ["command_event", "turns_to_forget"]

SOURCE: Final = "eunoe"
"""The producer of commands: the runtime itself."""


def command_event(
    payload: SetTimezone | Forget,
    *,
    tenant_id: str,
    user_id: str,
    now: datetime,
    source: str = SOURCE,
) -> Envelope:
    """Return a command as an event with an id of its own.

    Args:
        payload: What is to be done.
        tenant_id: The installation.
        user_id: Whose memory.
        now: When it was asked for.
        source: The producer.

    Raises:
        Rejected: Tenant or user can't be names.
    """
    is_forget = isinstance(payload, Forget)
    return Envelope(
        id=str(uuid.uuid4()),
        source=source,
        type=EventType.FORGET if is_forget else EventType.SET_TIMEZONE,
        time=now,
        tenant_id=name_of("tenant_id", tenant_id),
        user_id=name_of("user_id", user_id),
        payload=payload,
    )


async def turns_to_forget(
    reader: Reader, owner: str, idents: Sequence[Ident]
) -> tuple[uuid.UUID, ...]:
    """Return the turns that ids name, each once.

    Raises:
        NotFound: An id is unknown.
        Rejected: An id is a memory's, and the sentence names its turns; or there is no id.
    """
    places = [await _turn_to_forget(reader, owner, one) for one in idents]
    if not places:
        message = "Nothing to forget: give at least one id."
        raise Rejected(message)
    return tuple(dict.fromkeys(place.event_id for place in places))


async def _turn_to_forget(reader: Reader, owner: str, ident: Ident) -> EventPlace:
    place = await reader.place(owner, ident)
    if place is not None:
        return place
    item = await reader.get(owner, ident)
    turns = ", ".join(item.sources)
    message = (
        f"{item.id} is a {item.kind} and not a turn: forget the turns that it came from, {turns}."
    )
    raise Rejected(message)
