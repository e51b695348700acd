"""Events and commands: what producers publish, and how they are identified.

An event is a CloudEvent 1.0. A producer chooses `source` and `id`, unique together within a
tenant and user; everything inside Eunoe derives from `event_id`.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import quote, unquote
from uuid import UUID, uuid5

import orjson
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from .limits import (
    ID_CHARACTERS_MAX,
    IDS_CACHED_MAX,
    RECALLS_QUEUED_MAX,
    SEARCH_LIMIT_MAX,
    TEXT_CHARACTERS_MAX,
)

__all__ = [
    "EUNOE",
    "PAYLOADS",
    "Answered",
    "Bind",
    "Envelope",
    "EventType",
    "Forget",
    "Identifier",
    "Payload",
    "Recalled",
    "Role",
    "SetTimezone",
    "Turn",
    "Unbind",
    "event_id",
    "iso",
    "moment",
    "owner_key",
    "split_owner",
]

EUNOE: Final = UUID("6c4bb1a6-6c02-5a0e-9d0c-0a8b1a3f7e52")
"""The namespace of every derived id."""

# Strict, or pydantic would take bytes for text, past whatever looks at texts before.
Identifier = Annotated[str, Field(strict=True, min_length=1, max_length=ID_CHARACTERS_MAX)]
Role = Literal["user", "assistant", "tool", "system"]


class EventType(StrEnum):
    """CloudEvent types; the version is the last part."""

    TURN_ADDED = "eunoe.turn.added.v1"
    SET_TIMEZONE = "eunoe.set-timezone.v1"
    FORGET = "eunoe.forget.v1"
    RECALLED = "eunoe.recalled.v1"
    BIND = "eunoe.bind.v1"
    UNBIND = "eunoe.unbind.v1"


class Turn(BaseModel):
    """One message of a conversation, as it was said (secrets already replaced)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    content: Annotated[str, Field(strict=True, min_length=1, max_length=TEXT_CHARACTERS_MAX)]
    name: Identifier | None = None
    session_id: Identifier | None = None
    agent_id: Identifier | None = None
    metadata: dict[str, Any] | None = None


class SetTimezone(BaseModel):
    """Command: the owner's time zone is this IANA name from now on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timezone: Identifier


class Forget(BaseModel):
    """Command: remove these turns and everything that rests on them. Can't be undone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    event_ids: Annotated[tuple[UUID, ...], Field(min_length=1)]


class Bind(BaseModel):
    """Command: an alias stands for a person. The event's user id is the alias.

    Args:
        alias: A user id that is no person's.
        person: Another user id of the same tenant.
        registered_phone: As it was registered, of a phone's alias.
        device: The fingerprint, of a device's alias.
        first_used_at: When the person first used it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    alias: Identifier
    person: Identifier
    registered_phone: Identifier | None = None
    device: Identifier | None = None
    first_used_at: AwareDatetime | None = None


class Unbind(BaseModel):
    """Command: an alias no longer stands for a person. The event's user id is the alias."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alias: Identifier
    person: Identifier


class Answered(BaseModel):
    """One search, by the ids of what it served; neither the question nor any text.

    Args:
        moment: When it was answered.
        ids: Event ids of turns and ids of memories, best first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    moment: AwareDatetime
    ids: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=SEARCH_LIMIT_MAX)]


class Recalled(BaseModel):
    """What an owner's searches of a few seconds served.

    Args:
        served_at: When the last of them was answered.
        searches: In the order in which they were answered.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    served_at: AwareDatetime
    searches: Annotated[tuple[Answered, ...], Field(min_length=1, max_length=RECALLS_QUEUED_MAX)]


Payload = Turn | SetTimezone | Forget | Recalled | Bind | Unbind

PAYLOADS: Final[
    dict[
        EventType,
        type[Turn] | type[SetTimezone] | type[Forget] | type[Recalled] | type[Bind] | type[Unbind],
    ]
] = {
    EventType.TURN_ADDED: Turn,
    EventType.SET_TIMEZONE: SetTimezone,
    EventType.FORGET: Forget,
    EventType.RECALLED: Recalled,
    EventType.BIND: Bind,
    EventType.UNBIND: Unbind,
}


class Envelope(BaseModel):
    """A decoded CloudEvent.

    Args:
        id: The producer's id, unique with `source` within a tenant and user.
        source: The producer, such as "chat".
        type: What `payload` is.
        time: When it was said or done, with its offset, from the producer or the runtime.
        tenant_id: Whose installation.
        user_id: Whose memory.
        payload: The data.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Identifier
    source: Identifier
    type: EventType
    time: AwareDatetime
    tenant_id: Identifier
    user_id: Identifier
    payload: Payload

    @field_validator("time")
    @classmethod
    def _offset_can_be_written(cls, moment: datetime) -> datetime:
        """Refuse what RFC 3339 can't say, and the journal therefore would not give back."""
        if (moment.utcoffset() or timedelta()) % timedelta(minutes=1):
            message = "the offset must be whole minutes"
            raise ValueError(message)
        return moment

    @model_validator(mode="after")
    def _payload_is_of_type(self) -> Self:
        if not isinstance(self.payload, PAYLOADS[self.type]):
            message = f"the payload isn't that of {self.type}"
            raise ValueError(message)  # noqa: TRY004 - pydantic turns this kind into its own
        if isinstance(self.payload, Bind | Unbind) and self.payload.alias != self.user_id:
            message = "the user id must be the alias"
            raise ValueError(message)
        return self

    @property
    def owner(self) -> str:
        """The partition key, `tenant/user`, each part percent-encoded."""
        return owner_key(self.tenant_id, self.user_id)

    @property
    def event_id(self) -> UUID:
        """The internal id that everything else derives from."""
        return event_id(self.tenant_id, self.user_id, self.source, self.id)


@lru_cache(IDS_CACHED_MAX)
def event_id(tenant_id: str, user_id: str, source: str, producer_id: str) -> UUID:
    """Derive the internal id of an event.

    The parts are joined as a JSON array, so that no choice of parts imitates another.

    Args:
        tenant_id: Tenant.
        user_id: User.
        source: The producer's name.
        producer_id: The producer's id.

    Returns:
        A version 5 UUID in the namespace `EUNOE`.
    """
    parts = orjson.dumps([tenant_id, user_id, source, producer_id])
    return uuid5(EUNOE, parts.decode())


@lru_cache(IDS_CACHED_MAX)
def owner_key(tenant_id: str, user_id: str) -> str:
    """Join tenant and user into the key that places records; no two pairs give one key."""
    return f"{quote(tenant_id, safe='')}/{quote(user_id, safe='')}"


def split_owner(owner: str) -> tuple[str, str]:
    """Undo `owner_key`: (tenant id, user id)."""
    tenant, _, user = owner.partition("/")
    return unquote(tenant), unquote(user)


def moment(text: str) -> datetime:
    """Read a moment as producers write it, ISO 8601; whether it has an offset is left open.

    Raises:
        ValueError: It is no moment.
    """
    if not text.isprintable():  # Python itself stops reading at a NUL
        message = "a moment is written in visible characters"
        raise ValueError(message)
    return datetime.fromisoformat(text)


def iso(moment: datetime) -> str:
    """Render a moment as ISO 8601 text with microseconds and offset."""
    return moment.isoformat(timespec="microseconds")
