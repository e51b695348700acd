"""Dead letters: what was refused, sealed, with the reason, for seven days.

An event that could be read is sealed under a key of its owner's, so that forgetting reaches it;
what could not be read is sealed under a key per tenant and day.

Delivery: the log confirms the letter before the event is acknowledged.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from ..schemas.cloudevents import decode
from ..schemas.errors import Damaged, Rejected
from ..schemas.events import Envelope, iso, split_owner
from ..schemas.limits import (
    LETTER_ORIGINAL_BYTES_MAX,
    LETTERS_PAGE,
)
from ..schemas.ports import Clock, Keys, Log, LogRecord, NewRecord
from ..schemas.records import Box, Packed
from ..schemas.results import DeadLetter
from ..schemas.topics import DEAD_LETTERS

__all__ = ["KEPT", "Letter", "Letters", "letter_of"]

KEPT: Final = timedelta(days=7)


class Letter(BaseModel):
    """The value of a dead letter; texts only in the box or the sealed bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: str
    owner: str
    reason: str
    attempts: int
    first_seen: datetime
    event_id: UUID | None = None
    partition: int | None = None
    offset: int | None = None
    letter_id: UUID
    box: Box | None = None
    shared_key: str | None = None
    shared: Packed | None = None


class Letters:
    """Writes and lists dead letters.

    Args:
        log: Where they stand.
        keys: Seals and opens them.
        clock: For their age.
        partitions: Of the topic.
    """

    def __init__(self, log: Log, keys: Keys, clock: Clock, partitions: int) -> None:
        self._log = log
        self._keys = keys
        self._clock = clock
        self._partitions = partitions

    async def bury(self, record: LogRecord, reason: Rejected, attempts: int) -> None:
        """Write a dead letter; returns when the log has it.

        Of an original that is too long for a letter only the beginning is kept, and the reason
        says so: whatever the log took, its letter must fit, or the consumer could never go on.

        Args:
            record: As it was read.
            reason: Why it was refused.
            attempts: How often it was tried.
        """
        event = _readable(record)
        letter_id = uuid4()
        owner = event.owner if event else record.key.decode(errors="replace")
        letter = Letter(
            topic=record.position.topic,
            owner=owner,
            reason=str(reason),
            attempts=attempts,
            first_seen=record.timestamp,
            event_id=event.event_id if event else None,
            partition=record.position.partition,
            offset=record.position.offset,
            letter_id=letter_id,
        )
        plain = record.value or b""
        if len(plain) > LETTER_ORIGINAL_BYTES_MAX:
            plain = plain[:LETTER_ORIGINAL_BYTES_MAX]
            told = f"{reason} The original was cut to its first {LETTER_ORIGINAL_BYTES_MAX} bytes."
            letter = letter.model_copy(update={"reason": told})
        if event is not None:
            keys = await self._keys.owner(event.owner)
            box, key = keys.seal(plain, letter_id)
            await self._keys.put([key])
            letter = letter.model_copy(update={"box": box})
        else:
            name = _shared_name(owner, self._clock.now())
            sealed = await self._keys.seal_shared(name, plain)
            letter = letter.model_copy(update={"shared_key": name, "shared": sealed})
        await self._append(record, letter)

    async def note(self, record: LogRecord, reason: Rejected, attempts: int) -> None:
        """Write a dead letter without the original, which holds no content but ids.

        For those who make no keys: only a partition's writer does on a cluster.

        Args:
            record: As it was read.
            reason: Why it was refused.
            attempts: How often it was tried.
        """
        letter = Letter(
            topic=record.position.topic,
            owner=record.key.decode(errors="replace"),
            reason=str(reason),
            attempts=attempts,
            first_seen=record.timestamp,
            partition=record.position.partition,
            offset=record.position.offset,
            letter_id=uuid4(),
        )
        await self._append(record, letter)

    async def refused(self, owner: str | None, *, show: bool) -> list[DeadLetter]:
        """List letters, oldest first.

        Args:
            owner: Whose; None means all.
            show: Whether to open the originals.
        """
        letters = [one for _, one in await self._all() if owner in (None, one.owner)]
        letters.sort(key=lambda letter: letter.first_seen)
        return [
            DeadLetter(
                topic=letter.topic,
                reason=letter.reason,
                attempts=letter.attempts,
                first_seen=letter.first_seen,
                event_id=None if letter.event_id is None else str(letter.event_id),
                original=await self._original(letter) if show else None,
            )
            for letter in letters
        ]

    async def keys_of(self, owner: str, events: Iterable[UUID]) -> list[UUID]:
        """Return the data keys of letters that hold any of these events."""
        wanted = set(events)
        return [
            letter.box.key_id
            for _, letter in await self._all()
            if letter.owner == owner and letter.event_id in wanted and letter.box is not None
        ]

    async def expire(self) -> int:
        """Delete letters written more than seven days ago, and the shared keys of those days."""
        before = self._clock.now() - KEPT
        letters = await self._all()
        old = [one for buried, one in letters if buried < before]
        if not old:
            return 0
        gone = await self._log.expire(DEAD_LETTERS.name, before)
        await self._keys.shred([one.box.key_id for one in old if one.box is not None])
        kept = {one.shared_key for buried, one in letters if buried >= before}
        names = {one.shared_key for one in old if one.shared_key is not None}
        await self._keys.shred_shared(sorted(names - kept))
        return gone

    async def _append(self, record: LogRecord, letter: Letter) -> None:
        value = letter.model_dump_json(exclude_none=True).encode()
        await self._log.append([NewRecord(DEAD_LETTERS.name, record.key, value)])

    async def _all(self) -> list[tuple[datetime, Letter]]:
        """Return every letter with when it was written.

        Raises:
            Damaged: One isn't what `bury` wrote.
        """
        letters = []
        for partition in range(self._partitions):
            offset, _ = await self._log.bounds(DEAD_LETTERS.name, partition)
            while records := await self._log.read(
                DEAD_LETTERS.name, partition, offset, limit=LETTERS_PAGE
            ):
                letters += [(one.timestamp, letter_of(one)) for one in records if one.value]
                offset = records[-1].position.offset + 1
        return letters

    async def _original(self, letter: Letter) -> str | None:
        plain = None
        if letter.box is not None:
            (plain,) = await self._keys.open_boxes(letter.owner, [(letter.box, letter.letter_id)])
        elif letter.shared_key is not None and letter.shared is not None:
            plain = await self._keys.open_shared(letter.shared_key, letter.shared)
        return None if plain is None else plain.decode(errors="replace")


def letter_of(record: LogRecord) -> Letter:
    """Read a dead letter.

    Raises:
        Damaged: It isn't what `Letters.bury` wrote.
    """
    try:
        return Letter.model_validate_json(record.value or b"")
    except ValidationError:
        message = (
            f"The dead letter at offset {record.position.offset} is malformed: restore the whole "
            "folder from one backup."
        )
        raise Damaged(message) from None  # the cause would quote what is there


def _readable(record: LogRecord) -> Envelope | None:
    try:
        return decode(record.headers, record.value)
    except Rejected:
        return None


def _shared_name(owner: str, now: datetime) -> str:
    tenant, _ = split_owner(owner)
    return orjson.dumps(["dead-letters", tenant, iso(now)[:10]]).decode()
