"""From what a caller gives to `add` to events: all messages are valid, or none is taken."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError

from .schemas.cloudevents import describe
from .schemas.errors import Rejected
from .schemas.events import Envelope, EventType, Turn, moment
from .schemas.limits import (
    MESSAGES_PER_ADD_MAX,
    TEXT_CHARACTERS_MAX,
    TOLD_CHARACTERS_MAX,
)
from .schemas.metadata import metadata_fault
from .streams.intake import replace_secrets

__all__ = ["Message", "Origin", "envelopes", "is_field_like"]

Message = str | Mapping[str, Any]
"""One message: a text said by the user, or role, content and, if known, name, id, time,
session_id, metadata."""

FIELDS: Final = frozenset(("role", "content", "name", "id", "time", "session_id", "metadata"))


@dataclass(frozen=True, slots=True)
class Origin:
    """What the messages of one call share.

    Args:
        tenant_id: Tenant.
        user_id: Whose memory.
        source: The producer.
        session_id: Session of messages that name none.
        agent_id: The agent.
        metadata: For messages that bring none.
        now: Time of messages that bring none.
    """

    tenant_id: str
    user_id: str
    source: str
    session_id: str | None
    agent_id: str | None
    metadata: Mapping[str, Any] | None
    now: datetime


def envelopes(messages: object, origin: Origin) -> list[Envelope]:
    """Turn messages into events, secrets replaced by typed placeholders.

    Args:
        messages: One or several.
        origin: What they share.

    Raises:
        Rejected: A message can't be taken; the sentence names it by its index.
    """
    if isinstance(messages, str | Mapping):
        several: Sequence[object] = [messages]
    elif isinstance(messages, Sequence):
        several = messages
    else:
        message = "The messages must be a text, a mapping, or a list of these."
        raise Rejected(message)
    if len(several) > MESSAGES_PER_ADD_MAX:
        message = (
            f"One call takes at most {MESSAGES_PER_ADD_MAX} messages and this one has "
            f"{len(several)}: send them in several calls."
        )
        raise Rejected(message)
    events: list[Envelope] = []
    first: dict[str, int] = {}
    for index, one in enumerate(several):
        event = _envelope(index, one, origin)
        events.append(event)
        before = first.setdefault(event.id, index)
        if events[before].payload != event.payload:  # it could only be stored in part
            reason = f"message {before} has the same id and other content: give it its own id"
            raise _rejected(index, reason)
    return events


def _envelope(index: int, message: object, origin: Origin) -> Envelope:
    fields = _fields(index, message)
    name, session_id = fields.get("id"), fields.get("session_id")  # empty is given, and refused
    try:
        content = fields["content"]
        if isinstance(content, str) and len(content) <= TEXT_CHARACTERS_MAX:
            content, _ = replace_secrets(content)
        turn = Turn(
            role=fields.get("role", "user"),
            content=content,
            name=fields.get("name"),
            session_id=origin.session_id if session_id is None else session_id,
            agent_id=origin.agent_id,
            metadata=_metadata(index, fields.get("metadata"), origin.metadata),
        )
        return Envelope(
            id=str(uuid.uuid4()) if name is None else name,
            source=origin.source,
            type=EventType.TURN_ADDED,
            time=_time(index, fields.get("time"), origin.now),
            tenant_id=origin.tenant_id,
            user_id=origin.user_id,
            payload=turn,
        )
    except ValidationError as error:
        raise _rejected(index, describe(error)) from None


def _fields(index: int, message: object) -> Mapping[str, Any]:
    if isinstance(message, str):
        return {"content": message}
    if not isinstance(message, Mapping):
        raise _rejected(index, "it must be a text or a mapping with role and content")
    if "content" not in message:
        raise _rejected(index, "content is missing: give role and content")
    unknown = sorted(str(name) for name in set(message) - FIELDS)
    if unknown:
        known = ", ".join(sorted(FIELDS))
        told = f"unknown field {unknown[0]!r}" if is_field_like(unknown[0]) else "unknown field"
        raise _rejected(index, f"{told}; known are {known}")
    return message


def is_field_like(name: str) -> bool:
    """Say whether an unknown field's name may be repeated: it looks like a name, and no text."""
    return name.isascii() and name.isidentifier() and len(name) <= TOLD_CHARACTERS_MAX


def _time(index: int, value: object, now: datetime) -> datetime:
    if value is None:
        return now
    said = value
    if isinstance(value, str):
        try:
            said = moment(value)
        except ValueError:
            said = None
    if not isinstance(said, datetime) or said.tzinfo is None:
        raise _rejected(
            index, "time must be ISO 8601 with an offset, such as 2024-06-15T22:00:00+08:00"
        )
    return said


def _metadata(
    index: int, value: object, of_the_call: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return a message's metadata, as JSON gives it back; an empty object is none."""
    metadata = of_the_call if value is None or value == {} else value
    if metadata is None:
        return None
    fault = metadata_fault(metadata)
    if fault is not None:
        raise _rejected(index, fault)
    plain: dict[str, Any] = json.loads(json.dumps(metadata))
    return plain


def _rejected(index: int, reason: str) -> Rejected:
    return Rejected(f"Message {index} can't be taken: {reason}. Nothing of this call was stored.")
