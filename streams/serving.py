"""What searches served, published to `eunoe.recalls.v1` in batches that no search waits for.

Notes wait in memory, up to a bound, for a few seconds; then each owner's become one event. What
isn't published is lost by design: the notes of the last seconds when the process dies, and the
oldest when the log is away for longer. Only ids are published, and of these only what is still
there.

Delivery: at most once from a search to the log. An erasure may append a record of others once
more; the event's id is the same.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID, uuid4

from pydantic import ValidationError

from ..schemas.cloudevents import encode
from ..schemas.errors import EunoeError
from ..schemas.events import Answered, Envelope, EventType, Recalled, split_owner
from ..schemas.limits import (
    BATCH_RECORDS_MAX,
    RECALL_IDS_QUEUED_MAX,
    RECALLS_BATCH,
    RECALLS_CLOSE_S_MAX,
    RECALLS_EVERY_S,
    RECALLS_QUEUED_MAX,
    SEARCH_LIMIT_MAX,
)
from ..schemas.ports import Clock, IdentityStore, Log, LogRecord, NewRecord
from ..schemas.topics import RECALLS
from .letters import KEPT

if TYPE_CHECKING:
    from .recall import Found

__all__ = ["Served"]

SOURCE: Final = "eunoe"
"""The producer of these events."""


class _Note(NamedTuple):
    """What a search served; ids as 16 bytes, since the search's own time is spent on them."""

    owner: str
    moment: datetime
    ids: tuple[bytes, ...]


class Served:
    """Notes what searches served, and publishes it behind their backs.

    Args:
        log: Where to.
        identity: Knows what is still there.
        clock: For the age of records.
    """

    def __init__(self, log: Log, identity: IdentityStore, clock: Clock) -> None:
        self._log = log
        self._identity = identity
        self._clock = clock
        self._notes: deque[_Note] = deque()
        self._ids = 0
        self._some = asyncio.Event()
        self._many = asyncio.Event()
        self._publishing: asyncio.Task[None] | None = None
        self._is_open = False
        self.dropped = 0
        """Searches whose notes were given up since the start."""
        self.trouble: str | None = None
        """Why nothing can be published now, or None."""

    @property
    def waiting(self) -> int:
        """Searches that wait to be published."""
        return len(self._notes)

    def note(self, owner: str, found: "Sequence[Found]", now: datetime) -> None:
        """Note what a search served; waits for nothing and raises nothing.

        Args:
            owner: Whose.
            found: Best first.
            now: When it was answered.
        """
        if not self._is_open or not found:
            return
        ids = tuple(
            dict.fromkeys(one.spot.event if one.spot.kind == "turn" else one.point for one in found)
        )
        self._keep([_Note(owner, now, ids[:SEARCH_LIMIT_MAX])])

    def start(self) -> Callable[[], Awaitable[None]]:
        """Start noting and publishing; returns what publishes the rest and ends it."""
        self._is_open = True
        return partial(self._end, asyncio.create_task(self._run(), name="eunoe-recalls"))

    async def publish(self) -> None:
        """Publish what waits; one publication at a time, so it may be the one that is going on.

        Raises:
            EunoeError: The log or the store can't be used; everything waits on.
        """
        if self._publishing is None or self._publishing.done():
            self._publishing = asyncio.create_task(self._publish())
        # Shielded: whoever asked for it may be cancelled, and it must not end half-way.
        await asyncio.shield(self._publishing)

    async def erase(self, owner: str, gone: AbstractSet[UUID]) -> None:
        """Remove every note and record of an owner that names one of these ids.

        The stores must be without them by now: what is published from here on is looked up there.
        Records before the last that goes are appended again, as a log deletes from its
        beginning only.

        Args:
            owner: Whose.
            gone: Event ids and ids of memories.
        """
        if self._publishing is not None:
            await asyncio.wait([self._publishing])
        points = {key.bytes for key in gone}
        kept = [one for one in self._notes if one.owner != owner or points.isdisjoint(one.ids)]
        self._take()
        self._keep(kept)
        names = partial(_names, owner=owner.encode(), gone=gone)
        partition = self._log.partition_of(owner.encode())
        begin, end = await self._log.bounds(RECALLS.name, partition)
        last: int | None = None
        async for records in self._read(partition, begin, end):
            last = max((one.position.offset for one in records if names(one)), default=last)
        if last is None:
            return
        async for records in self._read(partition, begin, last + 1):
            await self._log.append([_again(one) for one in records if not names(one)])
        await self._log.delete_before(RECALLS.name, partition, last + 1)

    async def expire(self) -> int:
        """Delete records that are more than seven days old; returns how many."""
        return await self._log.expire(RECALLS.name, self._clock.now() - KEPT)

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(RECALLS_EVERY_S):
                    await self._many.wait()
            try:
                await self.publish()
            except EunoeError as error:
                self.trouble = str(error)
                await asyncio.sleep(RECALLS_EVERY_S)
            else:
                self.trouble = None

    async def _end(self, running: "asyncio.Task[None]") -> None:
        self._is_open = False
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        with suppress(EunoeError, TimeoutError):
            async with asyncio.timeout(RECALLS_CLOSE_S_MAX):
                # One that is done isn't waited for: that would give nobody else a turn, for ever.
                while self._is_publishing or self._notes:
                    await self.publish()
        if self._publishing is not None:
            self._publishing.cancel()

    @property
    def _is_publishing(self) -> bool:
        return self._publishing is not None and not self._publishing.done()

    async def _publish(self) -> None:
        notes = self._take()
        try:
            of_owner: dict[str, list[_Note]] = {}
            for one in notes:
                of_owner.setdefault(one.owner, []).append(one)
            records = [await self._records(*theirs) for theirs in of_owner.items()]
            await self._log.append([record for some in records for record in some])
        except BaseException:
            self._keep([*notes, *self._take()])
            raise

    async def _records(self, owner: str, notes: Sequence[_Note]) -> list[NewRecord]:
        """Return the record of an owner's notes, or none where nothing of them is left.

        Looked up now and not when it was noted: a search may end after the forget of what it
        found.
        """
        ids = {key for one in notes for key in one.ids}
        there = await self._identity.spots(owner, list(ids))
        searches = [
            Answered(moment=one.moment, ids=left)
            for one in notes
            if (left := tuple(UUID(bytes=key) for key in one.ids if key in there))
        ]
        if not searches:
            return []
        tenant_id, user_id = split_owner(owner)
        event = Envelope(
            id=str(uuid4()),
            source=SOURCE,
            type=EventType.RECALLED,
            time=searches[-1].moment,
            tenant_id=tenant_id,
            user_id=user_id,
            payload=Recalled(served_at=searches[-1].moment, searches=tuple(searches)),
        )
        headers, value = encode(event)
        return [NewRecord(RECALLS.name, owner.encode(), value, headers)]

    def _take(self) -> list[_Note]:
        notes = list(self._notes)
        self._notes.clear()
        self._ids = 0
        self._some.clear()
        self._many.clear()
        return notes

    def _keep(self, notes: Sequence[_Note]) -> None:
        for one in notes:
            self._notes.append(one)
            self._ids += len(one.ids)
        while len(self._notes) > RECALLS_QUEUED_MAX or self._ids > RECALL_IDS_QUEUED_MAX:
            self._ids -= len(self._notes.popleft().ids)
            self.dropped += 1
        if self._notes:
            self._some.set()
        if len(self._notes) >= RECALLS_BATCH:
            self._many.set()

    async def _read(self, partition: int, begin: int, end: int) -> AsyncIterator[list[LogRecord]]:
        offset = begin
        while offset < end:
            found = await self._log.read(RECALLS.name, partition, offset, limit=BATCH_RECORDS_MAX)
            records = [one for one in found if one.position.offset < end]
            if not records:
                return
            offset = records[-1].position.offset + 1
            yield records


def _names(record: LogRecord, *, owner: bytes, gone: AbstractSet[UUID]) -> bool:
    """Tell whether a record is the owner's and names one of these ids, or can't be read."""
    if record.key != owner:
        return False
    try:
        recalled = Recalled.model_validate_json(record.value or b"")
    except ValidationError:
        return True
    return any(not gone.isdisjoint(one.ids) for one in recalled.searches)


def _again(record: LogRecord) -> NewRecord:
    return NewRecord(
        RECALLS.name, record.key, record.value, record.headers, timestamp=record.timestamp
    )
