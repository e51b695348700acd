"""The journal and the stores that follow it: read, append, apply, catch up, flush.

Delivery: projections are pure puts behind markers; `catch_up` applies whatever lies beyond a
marker, so a crash between append and apply is harmless.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Final, Protocol

from pydantic import ValidationError

from ..schemas.errors import Damaged
from ..schemas.limits import BATCH_RECORDS_MAX, FLUSH_RECORDS
from ..schemas.ports import (
    Applied,
    EpisodicStore,
    IdentityStore,
    Keys,
    Log,
    LogReader,
    LogRecord,
    NewRecord,
    Stored,
    TopicPartition,
    WrappedKey,
)
from ..schemas.records import JournalRecord
from ..schemas.topics import INGRESS, JOURNAL, WRITER_GROUP
from .serving import Served

__all__ = [
    "ERASURE_GROUP",
    "Erasures",
    "Journal",
    "JournalReader",
    "Projection",
    "decode_record",
    "encode_record",
]

ERASURE_GROUP: Final = "eunoe-erasure"


class Projection(Protocol):
    """Anything that follows the journal."""

    async def apply(self, records: Sequence[Stored]) -> None:
        """Apply records, in order; those applied before change nothing."""
        ...

    async def applied(self, partition: int) -> Applied | None:
        """Return how far it is."""
        ...


class Erasures:
    """Carries an erasure into keys and log: shred, tombstone, compact, vacuum.

    Delivery: each step may be repeated; the marker moves only when all are done.

    Args:
        log: Where the journal and the ingress topics are.
        keys: Where the data keys are.
        served: What searches served; None where nobody searches.
        partitions: Those that this process writes: an alias's events lie in another one than what
            became of them.
    """

    def __init__(
        self,
        log: Log,
        keys: Keys,
        served: Served | None = None,
        partitions: Sequence[int] = (),
    ) -> None:
        self._log = log
        self._keys = keys
        self._served = served
        self._partitions = partitions
        self._trimmed: dict[tuple[str, int], int] = {}

    async def apply(self, records: Sequence[Stored]) -> None:
        """Carry out the erasures among these records."""
        for stored in records:
            erasure = stored.record.erasure
            if erasure is None:
                continue
            await self._keys.shred(erasure.keys)
            placed_by = stored.record.owner.encode()
            await self._log.append(
                [
                    NewRecord(JOURNAL.name, str(key).encode(), None, placed_by=placed_by)
                    for key in erasure.appends
                ]
            )
            await self._log.compact(JOURNAL.name)
            for partition in {stored.position.partition, *self._partitions}:
                await self.trim(partition)
            if self._served is not None:
                gone = {*erasure.events, *erasure.memories}
                await self._served.erase(stored.record.owner, gone)
            await self._log.vacuum()
            await self.mark(stored)

    async def applied(self, partition: int) -> Applied | None:
        """Return how far erasures are carried out."""
        offset = await self._log.committed(ERASURE_GROUP, JOURNAL.name, partition)
        return None if offset is None else Applied(self._log.epoch, offset)

    async def mark(self, stored: Stored) -> None:
        """Move the marker beyond a record."""
        place = TopicPartition(JOURNAL.name, stored.position.partition)
        await self._log.commit(ERASURE_GROUP, {place: stored.position.offset + 1})

    async def trim(self, partition: int) -> None:
        """Delete what is journaled from the ingress topics."""
        for topic in INGRESS:
            done = await self._log.committed(WRITER_GROUP, topic.name, partition)
            if done is not None and done != self._trimmed.get((topic.name, partition)):
                await self._log.delete_before(topic.name, partition, done)
                self._trimmed[topic.name, partition] = done


class JournalReader:
    """The journal as it is read: by the process that writes it, or beside that one.

    Args:
        log: Where it is.
        partitions: Which of its partitions are read.
    """

    def __init__(self, log: LogReader, partitions: Sequence[int]) -> None:
        self._reading = log
        self._partitions = partitions
        self.generation = 0
        """Odd while records are appended and applied; even and equal, nothing has changed."""

    async def read(self, partition: int, start: int) -> AsyncIterator[list[Stored]]:
        """Yield the journal's records from an offset on, in order, in batches."""
        offset = start
        while True:
            records = await self._reading.read(
                JOURNAL.name, partition, offset, limit=BATCH_RECORDS_MAX
            )
            if not records:
                return
            offset = records[-1].position.offset + 1
            if stored := [decode_record(one) for one in records if _is_written(one)]:
                yield stored

    async def record_at(self, owner: str, offset: int) -> JournalRecord | None:
        """Return the record of an owner at an offset, or None if it was erased."""
        partition = self._reading.partition_of(owner.encode())
        found = await self._reading.read(JOURNAL.name, partition, offset, limit=1)
        if not found or found[0].position.offset != offset or found[0].value is None:
            return None
        return decode_record(found[0]).record

    async def follow(self, projection: Projection, partition: int) -> AsyncIterator[list[Stored]]:
        """Apply to a projection what lies beyond its marker; yields what was applied.

        Raises:
            Damaged: The projection is ahead of the journal, or of another epoch.
        """
        start = await self._start(projection, partition)
        async for stored in self.read(partition, start):
            await projection.apply(stored)
            yield stored

    async def replay(self, projections: Sequence[Projection]) -> AsyncIterator[int]:
        """Bring projections to the journal's end; yields how many records each batch had.

        Raises:
            Damaged: A projection is ahead of the journal, or of another epoch.
        """
        for partition in self._partitions:
            for projection in projections:
                async for stored in self.follow(projection, partition):
                    yield len(stored)

    async def _start(self, projection: Projection, partition: int) -> int:
        applied = await projection.applied(partition)
        if applied is None:
            return 0
        _, end = await self._reading.bounds(JOURNAL.name, partition)
        if applied.epoch != self._reading.epoch or applied.offset > end:
            message = (
                "A store is ahead of the journal or belongs to another one: restore the whole "
                "folder from one backup, or remove the stores (identity.sqlite and episodes) to "
                "rebuild them."
            )
            raise Damaged(message)
        return applied.offset


class Journal(JournalReader):
    """Appends records and keeps the stores at the journal's end.

    Args:
        log: The log.
        keys: The key log.
        identity: Who the owners are.
        episodes: What happened.
        partitions: Those of the journal that this process writes.
        served: What searches served, which a forget reaches too; None where nobody searches.
    """

    def __init__(
        self,
        log: Log,
        keys: Keys,
        identity: IdentityStore,
        episodes: EpisodicStore,
        partitions: Sequence[int],
        *,
        served: Served | None = None,
    ) -> None:
        super().__init__(log, partitions)
        self.log = log
        self._keys = keys
        self._episodes = episodes
        self._erasures = Erasures(log, keys, served, partitions)
        self._projections: tuple[Projection, ...] = (identity, episodes, self._erasures)
        self._newest: dict[int, Stored] = {}
        """The newest record of each partition that was applied since the last flush."""
        self._unflushed = 0

    async def append(
        self, keys: Sequence[WrappedKey], records: Sequence[JournalRecord]
    ) -> list[Stored]:
        """Append keys, then records, durably; then apply the records to every store.

        Raises:
            Unavailable: An engine failed; what was appended is applied by `catch_up`.
        """
        if not records:
            return []
        self.generation |= 1  # until all is applied; after a failure, until `catch_up`
        staged = await self._keys.stage(keys)
        appended = [
            NewRecord(
                JOURNAL.name,
                str(record.event_id).encode(),
                encode_record(record),
                placed_by=record.owner.encode(),
            )
            for record in records
        ]
        positions = await self.log.append([*staged, *appended])
        stored = [Stored(*pair) for pair in zip(positions[len(staged) :], records, strict=True)]
        for projection in self._projections:
            await projection.apply(stored)
        self.generation += 1
        self._note(stored)
        if self._unflushed >= FLUSH_RECORDS:
            await self.flush()
        return stored

    async def catch_up(self) -> int:
        """Bring every store to the journal's end; returns how many records were applied.

        Raises:
            Damaged: A store is ahead of the journal, or of another epoch.
        """
        applied = 0
        self.generation |= 1
        for partition in self._partitions:
            for projection in self._projections:
                async for stored in self.follow(projection, partition):
                    applied += len(stored)
                    self._note(stored)
                    if self._unflushed >= FLUSH_RECORDS:  # a long rebuild goes on after a crash
                        await self._episodes.flush()
                        self._unflushed = 0
        self.generation += 1
        return applied

    async def flush(self) -> None:
        """Make the stores durable and delete journaled events from the ingress topics.

        Records may be appended meanwhile; they are left for the next time.

        Raises:
            Unavailable: A store or the log can't be used now; what is left is done the next time.
        """
        newest = dict(self._newest)
        await self._episodes.flush()
        for stored in newest.values():
            await self._erasures.mark(stored)
        for partition in self._partitions:  # also where events were only published elsewhere
            await self._erasures.trim(partition)
        self._newest = {key: one for key, one in self._newest.items() if newest.get(key) is not one}
        self._unflushed = 0

    def _note(self, stored: Sequence[Stored]) -> None:
        self._newest |= {one.position.partition: one for one in stored}
        self._unflushed += len(stored)


def _is_written(record: LogRecord) -> bool:
    """Tell a record of the writer's from tombstones and from what the log itself needs."""
    return record.value is not None and not record.is_mark


def encode_record(record: JournalRecord) -> bytes:
    """Encode a record as JSON."""
    return record.model_dump_json(exclude_defaults=True).encode()


def decode_record(record: LogRecord) -> Stored:
    """Decode a journal record.

    Raises:
        Damaged: It is not what the writer wrote.
    """
    try:
        return Stored(record.position, JournalRecord.model_validate_json(record.value or b""))
    except ValidationError as error:
        message = (
            f"The journal record at offset {record.position.offset} is malformed: restore the "
            "whole folder from one backup."
        )
        raise Damaged(message) from error
