"""The embedded log's writing side: calls that wait together are committed together."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ...schemas.errors import EunoeError, Unavailable
from ...schemas.limits import (
    GROUP_RECORDS_MAX,
)
from ...schemas.ports import NewRecord, Position
from ...schemas.topics import Topic
from . import log_tables as tables
from .database import Database
from .log_sealer import LogSealer, SealedValue
from .log_tables import ROLE, Place, Row

__all__ = ["Appender", "Entry"]


class Entry(NamedTuple):
    """A record that was checked.

    Args:
        topic: Where to.
        place: The same by number, with the partition.
        record: What.
        stamp: When, in microseconds since 1970.
    """

    topic: Topic
    place: Place
    record: NewRecord
    stamp: int


class _Call(NamedTuple):
    entries: Sequence[Entry]
    positions: asyncio.Future[list[Position]]


class Appender:
    """Appends records; calls that come during a transaction share the next one.

    A call's records are all in one transaction, so each call is all or nothing. Only `append`
    and its committer touch the counters, and there is one committer at a time.

    Args:
        database: The file.
        sealer: Seals values of topics that are `sealed_by_log`.
        counters: The offset that the next record of each partition gets; kept up to date.
        epoch: Of the positions.
        appended: Called with the places of records that are durable.
    """

    def __init__(
        self,
        database: Database,
        sealer: LogSealer,
        counters: dict[Place, int],
        epoch: str,
        appended: Callable[[Iterable[Place]], None],
    ) -> None:
        self._database = database
        self._sealer = sealer
        self._counters = counters
        self._epoch = epoch
        self._appended = appended
        self._calls: deque[_Call] = deque()
        self._committer: asyncio.Task[None] | None = None
        # False while the file may know more than the counters: its thread goes on when the
        # committer is cancelled.
        self._certain = True

    async def append(self, entries: Sequence[Entry]) -> list[Position]:
        """Append records durably; returns their positions in order.

        Raises:
            Unavailable: The file can't be written now.
        """
        call = _Call(entries, asyncio.get_running_loop().create_future())
        self._calls.append(call)
        if self._committer is None:
            # A task of its own, so that a caller who is cancelled doesn't stop the others.
            self._committer = asyncio.create_task(self._commit_calls())
            self._committer.add_done_callback(self._ended)
        return await call.positions

    async def finish(self) -> None:
        """Wait until every call that was made is committed or has failed."""
        if self._committer is not None:
            await asyncio.wait((self._committer,))

    async def _commit_calls(self) -> None:
        group: list[_Call] = []
        try:
            while self._calls:
                group = self._take_group()
                try:
                    await self._commit(group)
                except EunoeError as error:
                    for call in group:
                        _fail(call, error)
        finally:
            self._stop(group)

    def _ended(self, committer: asyncio.Task[None]) -> None:
        # A task that is cancelled before its first step has no chance to clean up.
        if self._committer is committer:
            self._stop(())

    def _stop(self, group: Iterable[_Call]) -> None:
        # Only a cancelled or broken committer leaves calls behind; they mustn't wait on.
        self._committer = None
        message = f"The {ROLE}'s writer was stopped; whether it appended is unknown."
        for call in (*group, *self._calls):
            _fail(call, Unavailable(message))
        self._calls.clear()

    def _take_group(self) -> list[_Call]:
        group = [self._calls.popleft()]
        size = len(group[0].entries)
        while self._calls and size + len(self._calls[0].entries) <= GROUP_RECORDS_MAX:
            group.append(self._calls.popleft())
            size += len(group[-1].entries)
        return group

    async def _commit(self, group: Sequence[_Call]) -> None:
        entries = [entry for call in group for entry in call.entries]
        sealed = await self._seal(entries)
        if not self._certain:
            self._counters.update(await self._database.run(tables.read_counters))
        counters: dict[Place, int] = {}
        rows: list[Row] = []
        for index, entry in enumerate(entries):
            offset = counters.get(entry.place, self._counters[entry.place])
            counters[entry.place] = offset + 1
            rows.append(_row(entry, offset, sealed.get(index)))
        self._certain = False
        await self._database.run(lambda connection: tables.insert(connection, rows, counters))
        self._certain = True
        self._counters.update(counters)
        offsets = iter([row.offset for row in rows])
        for call in group:
            positions = [
                Position(entry.topic.name, entry.place.partition, self._epoch, next(offsets))
                for entry in call.entries
            ]
            if not call.positions.done():
                call.positions.set_result(positions)
        self._appended(counters)

    async def _seal(self, entries: Sequence[Entry]) -> dict[int, SealedValue]:
        # Keys are durable before the records: a crash between them leaves keys of nothing.
        indices: list[int] = []
        values: list[tuple[bytes, bytes]] = []
        for index, (topic, place, record, _) in enumerate(entries):
            if topic.sealed_by_log and (record.value is not None or record.headers):
                indices.append(index)
                plain = tables.pack(record.value, record.headers)
                values.append((plain, tables.bound_to(topic.name, place.partition, record.key)))
        if not values:
            return {}
        return dict(zip(indices, await self._sealer.seal_values(values), strict=True))


def _row(entry: Entry, offset: int, sealed: SealedValue | None) -> Row:
    record = entry.record
    if sealed is None:
        key_id = None
        headers = tables.pack_headers(record.headers) if record.headers else None
        value = record.value
    else:
        key_id, value = sealed
        headers = None
    tombstone = int(record.value is None)
    return Row(entry.place, offset, record.key, tombstone, entry.stamp, key_id, headers, value)


def _fail(call: _Call, error: EunoeError) -> None:
    # Each call gets an exception of its own: a shared one would gather all their tracebacks.
    if not call.positions.done():
        call.positions.set_exception(type(error)(str(error)))
