"""The embedded log's reading side: rows to records, and waiting without polling."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from ...schemas.errors import Damaged
from ...schemas.ports import LogRecord, Position
from . import log_tables as tables
from .database import Database
from .log_sealer import LogSealer, SealedValue
from .log_tables import ROLE, Place, Row

__all__ = ["Arrivals", "Reader"]


class Arrivals:
    """Wakes those who wait for records of some partitions. For one event loop."""

    def __init__(self) -> None:
        self._waiters: dict[Place, set[asyncio.Future[None]]] = {}
        self._closed = False

    async def wait(self, places: Iterable[Place], timeout_s: float) -> None:
        """Wait for a record of any of these partitions, for the time to pass, or for the end."""
        if self._closed:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        groups = [self._waiters.setdefault(place, set()) for place in places]
        for group in groups:
            group.add(waiter)
        try:
            await asyncio.wait((waiter,), timeout=timeout_s)
        finally:
            for group in groups:
                group.discard(waiter)

    def wake(self, places: Iterable[Place]) -> None:
        """Wake those who wait for one of these partitions."""
        for place in places:
            for waiter in self._waiters.get(place, ()):
                if not waiter.done():
                    waiter.set_result(None)

    def close(self) -> None:
        """Wake everybody, and let nobody wait from now on."""
        self._closed = True
        self.wake(list(self._waiters))


class Reader:
    """Reads records in a thread of its own and opens those that are sealed.

    Args:
        database: The file, read-only.
        sealer: Opens values that the log sealed.
        names: Topics by number.
        epoch: Of the positions.
    """

    def __init__(
        self, database: Database, sealer: LogSealer, names: Mapping[int, str], epoch: str
    ) -> None:
        self._database = database
        self._sealer = sealer
        self._names = names
        self._epoch = epoch

    async def fetch(self, offsets: Mapping[Place, int], limit: int) -> list[LogRecord]:
        """Read from some partitions, each from an offset on.

        Args:
            offsets: The first offset wanted of each partition, in order of preference.
            limit: At most so many records of each topic.

        Raises:
            Damaged: A sealed record's key is gone though the record isn't.
        """
        select = partial(_select, offsets=offsets, limit=limit)
        orphans: set[tuple[Place, int]] = set()
        while True:
            rows = await self._database.run(select)
            records = await self._open(rows)
            # A deletion takes the records first, then their keys. So a record whose key is
            # missing has just been deleted, and if a second look finds it again, it's damage.
            missing = {
                (row.place, row.offset)
                for row, record in zip(rows, records, strict=True)
                if record is None
            }
            if missing & orphans:
                message = f"The key of a record of the {ROLE} is missing."
                raise Damaged(message)
            if not missing:
                return [record for record in records if record is not None]
            orphans = missing

    async def _open(self, rows: Sequence[Row]) -> list[LogRecord | None]:
        values = [
            (
                SealedValue(row.key_id, row.value or b""),
                tables.bound_to(self._names[row.place.topic], row.place.partition, row.key),
            )
            for row in rows
            if row.key_id is not None
        ]
        opened = iter(await self._sealer.open_values(values) if values else ())
        records: list[LogRecord | None] = []
        for row in rows:
            if row.key_id is None:
                value = row.value
                headers = tables.unpack_headers(row.headers) if row.headers else ()
            else:
                plain = next(opened)
                if plain is None:
                    records.append(None)
                    continue
                value, headers = tables.unpack(plain)
            place = row.place
            position = Position(self._names[place.topic], place.partition, self._epoch, row.offset)
            moment = tables.moment_of(row.stamp)
            records.append(LogRecord(position, row.key, value, headers, moment))
        return records


def _select(connection: sqlite3.Connection, offsets: Mapping[Place, int], limit: int) -> list[Row]:
    taken: Counter[int] = Counter()
    rows: list[Row] = []
    for place, offset in offsets.items():
        if taken[place.topic] < limit:
            found = tables.select(connection, place, offset, limit - taken[place.topic])
            taken[place.topic] += len(found)
            rows += found
    return rows
