"""What is learnt without being stated: journal and recalls become counts under pseudonyms.

A journal record counts the memories that its turn made and touched, a recall its searches and
what they served. An owner's pseudonym is a keyed hash of owner and UTC month, so that counts of
two months can't be told to be one person's without the owner's keys. The place within the minute
is a keyed hash of the event: nothing that leads back to it leaves.

A forget takes nothing away here: counts under a pseudonym hold no content. An owner who goes
altogether takes them along (`erase_owner`), before the keys that make the pseudonyms go.

Delivery: at least once; a point's place is made of its event, so a repeat overwrites itself.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from ..schemas.cloudevents import decode
from ..schemas.errors import Damaged, Rejected
from ..schemas.events import Recalled
from ..schemas.experience import (
    DOMAINS,
    GENERAL,
    MINUTE_NS,
    ExperienceKind,
    ExperiencePoint,
    Total,
    Unit,
    is_dated,
    minute_ns,
    month_of,
    months,
)
from ..schemas.ports import ExperienceStore, LogRecord, OwnerKeys, OwnersKeys
from ..schemas.records import Packed
from ..schemas.topics import JOURNAL, RECALLS
from .asking import labels

__all__ = [
    "DOMAIN_FIELD",
    "EXPERIENCE_GROUP",
    "Effect",
    "Seen",
    "decide",
    "erase_owner",
    "handle",
    "pseudonyms_of",
    "see",
    "totals_of",
]

EXPERIENCE_GROUP: Final = "eunoe-experience"
DOMAIN_FIELD: Final = "domain"
"""The field of a turn's metadata that names its business domain."""
_ACTIONS: Final = {
    "new": ExperienceKind.MEMORY_CREATED,
    "touch": ExperienceKind.MEMORY_TOUCHED,
}


@dataclass(frozen=True, slots=True)
class Effect:
    """What a record counts.

    Args:
        kind: What.
        moment: When.
        name: Tells it from the other effects of its event.
        count: How often.
    """

    kind: ExperienceKind
    moment: datetime
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What is looked at of a record; neither text nor vectors.

    Args:
        owner: Whose.
        event_id: Of the event.
        labels: Keyed hashes of its metadata, which may name a domain.
        effects: What it counts.
    """

    owner: str
    event_id: UUID
    labels: tuple[bytes, ...]
    effects: tuple[Effect, ...]


class _Decided(BaseModel):
    model_config = ConfigDict(frozen=True)

    action: str


class _Journaled(BaseModel):
    """The few fields of a journal record that count; the rest isn't even decoded."""

    model_config = ConfigDict(frozen=True)

    event_id: UUID
    owner: str
    recorded_at: AwareDatetime
    labels: tuple[Packed, ...] = ()
    decisions: tuple[_Decided, ...] = ()


def see(record: LogRecord) -> Seen | None:
    """Read what counts of a record.

    Args:
        record: Of the journal or of recalls.

    Returns:
        It, or None for what nobody did: tombstones and what the log itself needs.

    Raises:
        Rejected: It is no recall.
        Damaged: It is no journal record.
    """
    if record.value is None or record.is_mark:
        return None
    return _recalled(record) if record.position.topic == RECALLS.name else _journaled(record)


def decide(seen: Seen, keys: OwnerKeys) -> list[ExperiencePoint]:
    """Turn what a record counts into points: one for each effect, always the same.

    What a clock places before 1970 or after 2261 isn't counted.

    Args:
        seen: What the record counts.
        keys: The owner's.
    """
    domain = _domain(seen.labels, keys)
    return [
        ExperiencePoint(
            domain,
            one.kind,
            _pseudonym(keys, month_of(one.moment)),
            minute_ns(one.moment) + _within_minute(keys, seen.event_id, one),
            one.count,
        )
        for one in seen.effects
        if is_dated(one.moment)
    ]


async def handle(
    records: Sequence[LogRecord], *, keys: OwnersKeys, store: ExperienceStore
) -> list[Rejected | None]:
    """Write what records count; those of owners without keys are passed by.

    Args:
        records: Of the journal and of recalls, in order within each partition.
        keys: Makes the pseudonyms.
        store: Where to.

    Returns:
        For each None, or why it was refused.

    Raises:
        Unavailable: The store can't be used; the same records may come again.
        Damaged: The journal is malformed.
    """
    points: list[list[ExperiencePoint]] = []
    refused: list[Rejected | None] = []
    for record in records:
        try:
            points.append(await _points(record, keys))
            refused.append(None)
        except Rejected as error:
            points.append([])
            refused.append(error)
    try:
        await store.write([one for some in points for one in some])
    except Rejected:
        # One of them is to blame: each record by itself says which.
        alone = await asyncio.gather(*(_refusal(store, some) for some in points))
        return [before or now for before, now in zip(refused, alone, strict=True)]
    return refused


def pseudonyms_of(keys: OwnerKeys, since: datetime, until: datetime) -> list[str]:
    """Return an owner's pseudonyms of every month from `since` to `until`."""
    return [_pseudonym(keys, month) for month in months(since, until)]


async def totals_of(
    owner: str,
    since: datetime,
    until: datetime,
    *,
    unit: Unit,
    keys: OwnersKeys,
    store: ExperienceStore,
) -> list[Total]:
    """Add up what is known of one owner; an owner without keys has nothing.

    Raises:
        Rejected: It would be too much at once.
    """
    theirs = await keys.known_owner(owner)
    if theirs is None or since >= until:
        return []
    return await store.totals(pseudonyms_of(theirs, since, until), since, until, unit=unit)


async def erase_owner(
    owner: str, since: datetime, until: datetime, *, keys: OwnersKeys, store: ExperienceStore
) -> int:
    """Remove all that is known of an owner who goes altogether.

    It has to come before the owner's keys are destroyed: without them nobody can say any more
    which counts are theirs. Doing it twice is harmless.

    Args:
        owner: Who.
        since: When the owner's first record was made.
        until: The present.
        keys: Makes the pseudonyms.
        store: Where from.

    Returns:
        How many pseudonyms were erased; none if the keys are gone.
    """
    theirs = await keys.known_owner(owner)
    if theirs is None:
        return 0
    pseudonyms = pseudonyms_of(theirs, since, max(since, until))
    await store.erase(pseudonyms)
    return len(pseudonyms)


async def _points(record: LogRecord, keys: OwnersKeys) -> list[ExperiencePoint]:
    seen = see(record)
    if seen is None or not seen.effects:
        return []
    theirs = await keys.known_owner(seen.owner)
    return [] if theirs is None else decide(seen, theirs)


async def _refusal(store: ExperienceStore, points: Sequence[ExperiencePoint]) -> Rejected | None:
    try:
        await store.write(points)
    except Rejected as error:
        return error
    return None


def _journaled(record: LogRecord) -> Seen:
    try:
        found = _Journaled.model_validate_json(record.value or b"")
    except ValidationError:
        message = (
            f"The {JOURNAL.name} record at offset {record.position.offset} is malformed: restore "
            "the whole folder from one backup."
        )
        raise Damaged(message) from None  # the cause would quote what is there
    actions = [one.action for one in found.decisions]
    effects = [
        Effect(kind, found.recorded_at, kind.value, actions.count(action))
        for action, kind in _ACTIONS.items()
        if action in actions
    ]
    return Seen(found.owner, found.event_id, found.labels, tuple(effects))


def _recalled(record: LogRecord) -> Seen:
    event = decode(record.headers, record.value)
    if not isinstance(event.payload, Recalled):
        message = f"The topic {RECALLS.name} holds what searches served, and no {event.type}."
        raise Rejected(message)
    return Seen(event.owner, event.event_id, (), tuple(_effects(event.payload)))


def _effects(payload: Recalled) -> Iterator[Effect]:
    for number, one in enumerate(payload.searches):
        yield Effect(ExperienceKind.SEARCH, one.moment, f"search {number}", 1)
        yield Effect(ExperienceKind.HIT_SERVED, one.moment, f"hits {number}", len(one.ids))


def _domain(found: Sequence[bytes], keys: OwnerKeys) -> str:
    """Return the domain that hashes of metadata name; the metadata itself stays sealed."""
    if not found:
        return GENERAL
    known = set(found)
    named = (one for one in DOMAINS if labels(keys, "", {DOMAIN_FIELD: one})[-1] in known)
    return next(named, GENERAL)


def _pseudonym(keys: OwnerKeys, month: str) -> str:
    return keys.hash("experience", orjson.dumps([keys.owner, month]).decode()).hex()


def _within_minute(keys: OwnerKeys, event_id: UUID, effect: Effect) -> int:
    """Return nanoseconds within the minute; two of 1,000 events share some in one of 120,000."""
    name = orjson.dumps([str(event_id), effect.name]).decode()
    return int.from_bytes(keys.hash("experience place", name)[:8], "big") % MINUTE_NS
