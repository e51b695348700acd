"""The identity store of the embedded runtime: one SQLite file.

It is a projection of the journal. Effects and markers of a batch are one transaction, so a
killed process leaves either all of it or nothing, and the marker always tells the truth.

Scans and writes block in a thread of their own. Look-ups by key (at most a few hundred rows)
run in the event loop: they take less time than the way to a thread and back.
"""

import sqlite3
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Self
from uuid import UUID

from ...schemas.events import split_owner
from ...schemas.limits import (
    IDENTITY_CACHE_KIB,
    OWNERS_CACHED_MAX,
    SMALL_TURNS_MAX,
)
from ...schemas.ports import (
    Applied,
    BindingRow,
    EventPlace,
    KnownEvent,
    Spot,
    StatementRow,
    Stored,
    TurnFilter,
)
from .database import Database, transaction, truncate_wal
from .identity_rows import (
    ABSENT,
    ALIASES,
    ALL_SPOTS,
    BINDINGS,
    NEIGHBOURS,
    PLACE_COLUMNS,
    PLACES_STEP,
    SESSIONS,
    SPOT_COLUMNS,
    SPOTS,
    VALUES_MAX,
    VALUES_STEP,
    Row,
    binding_of,
    marked,
    padded,
    place_of,
    points_query,
    spot_of,
    spots_of,
    statement_of,
)
from .identity_writes import ROLE, create, write
from .spot_cache import SpotCache

__all__ = ["SqliteIdentity"]


class SqliteIdentity:
    """`IdentityStore` on SQLite.

    Args:
        writer: The connection for writes and scans, with a thread of its own.
        reader: A read-only connection for look-ups in the event loop.
    """

    def __init__(self, writer: Database, reader: Database) -> None:
        self._writer = writer
        self._reader = reader
        self._numbers: dict[str, int] = {}
        self._spots = SpotCache()
        self._writes = 0
        self._unbound: set[str] = set()
        self._unbound_writes = 0
        """Who stands for nobody, as of so many writes."""

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open or make the file.

        Raises:
            Unavailable: The file can't be opened or written.
            Damaged: It is no SQLite file.
            Rejected: Another version of Eunoe wrote it.
        """
        writer = await Database.open(path, ROLE)
        try:
            await writer.run(create)
            reader = await Database.open(path, ROLE, read_only=True, cache_kib=IDENTITY_CACHE_KIB)
            return cls(writer, reader)
        except BaseException:
            await writer.close()
            raise

    async def apply(self, records: Sequence[Stored]) -> None:
        """Apply records of the journal, in order; see the port."""

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                for stored in records:
                    write(connection, stored)
            self._writes += 1  # here, and not by a caller who may be cancelled meanwhile

        await self._writer.run(work)

    async def applied(self, partition: int) -> Applied | None:
        """Return the partition's low-water position."""
        rows = self._read(
            "SELECT epoch, low_water FROM partitions WHERE partition = ?", (partition,)
        )
        return Applied(*rows[0]) if rows else None

    async def known(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, KnownEvent]:
        """Return those events that were accepted."""
        rows = self._by_ids(
            "SELECT event_id, content, journal_offset FROM events WHERE +owner = ?"
            " AND event_id IN ({})",
            owner,
            event_ids,
        )
        return {UUID(bytes=row[0]): KnownEvent(UUID(bytes=row[0]), row[1], row[2]) for row in rows}

    async def erased(self, owner: str, event_ids: Sequence[UUID]) -> set[UUID]:
        """Return those events that a forget keeps out."""
        rows = self._by_ids(
            "SELECT event_id FROM erased WHERE +owner = ? AND event_id IN ({})", owner, event_ids
        )
        return {UUID(bytes=row[0]) for row in rows}

    async def by_producer(self, owner: str, producer: bytes) -> list[EventPlace]:
        """Return the turns whose producer id has this keyed hash."""
        rows = self._read(
            f"SELECT {PLACE_COLUMNS} FROM events e"  # noqa: S608 - a constant
            " WHERE e.owner = ? AND e.producer = ? AND e.session IS NOT NULL"
            " ORDER BY +e.journal_offset",  # or SQLite would walk all of an owner's rows in order
            (self._number(owner), producer),
        )
        return [place_of(row) for row in rows]

    async def places(self, owner: str, point_ids: Sequence[UUID]) -> dict[UUID, EventPlace]:
        """Return where points stand."""
        if not point_ids:
            return {}
        number, points = self._number(owner), [point.bytes for point in point_ids]
        turns = self._by_values(
            f"SELECT {PLACE_COLUMNS} FROM events e"  # noqa: S608 - constants
            " WHERE +e.owner = ? AND e.event_id IN ({}) AND e.session IS NOT NULL",
            number,
            points,
        )
        known = {row[0] for row in turns}
        missing = [point for point in points if point not in known]
        others = self._others(f"{PLACE_COLUMNS}, p.kind", number, missing)
        found = {UUID(bytes=row[0]): place_of(row) for row in turns}
        return found | {UUID(bytes=row[-1]): place_of(row, row[-2]) for row in others}

    async def spots(self, owner: str, point_ids: Sequence[bytes]) -> dict[bytes, Spot]:
        """Return what a ranking needs of where points stand."""
        everything = self._all_spots(owner)
        if everything is None:
            # Values bound one by one would take as long as the look-up itself.
            values = (self._number(owner), b"".join(point_ids), len(point_ids))
            found = spots_of(self._read(SPOTS, values))
        else:
            found = {point: everything[point] for point in point_ids if point in everything}
        if len(found) < len(point_ids):
            missing = [point for point in point_ids if point not in found]
            columns = f"{SPOT_COLUMNS}, p.kind, p.confidence, p.scope"
            for row in self._others(columns, self._number(owner), missing):
                found[row[-1]] = spot_of(row[:-1])
        return found

    async def neighbours(
        self, owner: str, places: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Spot]:
        """Return the spots of the turns at (session, position) pairs that exist."""
        if not places:
            return {}
        everything = self._spots.find(owner, self._writes)
        if everything is not None:
            wanted = set(places)
            near = [spot for spot in everything.values() if (spot[1], spot[2]) in wanted]
            return {(spot.session, spot.position): spot for spot in near}
        wanted_places = padded(places, PLACES_STEP)
        sql = marked(NEIGHBOURS, "(?,?)", len(wanted_places))
        rows = self._read(sql, (*chain.from_iterable(wanted_places), self._number(owner)))
        return {(row[1], row[2]): spot_of(row) for row in rows}

    async def session_end(self, owner: str, session: bytes) -> int:
        """Return the position that the session's next turn gets."""
        rows = self._read(
            "SELECT size FROM sessions WHERE owner = ? AND session = ?",
            (self._number(owner), session),
        )
        return int(rows[0][0]) if rows else 0

    async def turns(
        self, owner: str, *, after: int = -1, limit: int = 100, newest: bool = False
    ) -> list[EventPlace]:
        """List turns in journal order, or newest first."""
        order = "DESC" if newest else "ASC"
        sql = (
            f"SELECT {PLACE_COLUMNS} FROM events e"  # noqa: S608 - constants
            " WHERE e.owner = ? AND e.journal_offset > ? AND e.session IS NOT NULL"
            f" ORDER BY e.journal_offset {order} LIMIT ?"
        )
        rows = await self._scan(sql, (self._number(owner), after, limit))
        return [place_of(row) for row in rows]

    async def statements(
        self, owner: str, slots: Sequence[bytes] | None = None
    ) -> list[StatementRow]:
        """Return statements in the order of truth within each matter."""
        columns = (
            "kind, slot, matter, value, box_key, box, event_id, said_at, recorded_at,"
            " journal_offset"
        )
        order = "ORDER BY matter, said_us, journal_offset, number"
        if slots is None:
            sql = f"SELECT {columns} FROM statements WHERE owner = ? {order}"  # noqa: S608 - constants
            rows = await self._scan(sql, (self._number(owner),))
        else:
            rows = self._by_values(
                f"SELECT {columns} FROM statements WHERE owner = ? AND slot IN ({{}}) {order}",  # noqa: S608 - constants
                self._number(owner),
                slots,
            )
        return [statement_of(row) for row in rows]

    async def readers(self, owner: str, event_ids: Sequence[UUID]) -> set[UUID]:
        """Return the turns whose candidates' summaries hold text of any of these."""
        rows = self._by_ids(
            "SELECT event_id FROM reads WHERE +owner = ? AND read IN ({})", owner, event_ids
        )
        return {UUID(bytes=row[0]) for row in rows}

    async def candidates(self, owner: str) -> list[tuple[UUID, int]]:
        """Return (event id, offset of the record that holds its candidates), in journal order."""
        sql = (
            "SELECT event_id, candidates FROM events WHERE owner = ? AND candidates IS NOT NULL"
            " ORDER BY journal_offset"
        )
        rows = await self._scan(sql, (self._number(owner),))
        return [(UUID(bytes=row[0]), row[1]) for row in rows]

    async def points(self, owner: str, event_ids: Sequence[UUID]) -> list[UUID]:
        """Return the ids of every chunk of these turns."""
        turns = self._by_ids(
            "SELECT event_id FROM events WHERE +owner = ? AND event_id IN ({})"
            " AND session IS NOT NULL",
            owner,
            event_ids,
        )
        chunks = self._by_ids(
            "SELECT point_id FROM points WHERE +owner = ? AND kind = 'turn' AND event_id IN ({})",
            owner,
            event_ids,
        )
        return [UUID(bytes=row[0]) for row in dict.fromkeys((*turns, *chunks))]

    async def points_of(self, owner: str, wanted: TurnFilter) -> list[bytes]:
        """Return the ids of all points whose turn is meant."""
        sql, values = points_query(self._number(owner), wanted)
        rows = await self._scan(sql, values)
        return [row[0] for row in rows]

    async def session(self, owner: str, number: int, *, from_end: bool) -> bytes | None:
        """Return a session by its rank among those with turns, by their first turn."""
        order = "DESC" if from_end else "ASC"
        sql = SESSIONS.format(order=order)
        rows = await self._scan(sql, (self._number(owner), number))
        return rows[0][0] if rows else None

    async def bindings(self, owners: Sequence[str]) -> dict[str, tuple[BindingRow, ...]]:
        """Return what aliases among these owners are or were bound to, by person's id."""
        writes = self._writes  # before anything is read: what is read while it grows isn't kept
        if self._unbound_writes != writes:
            self._unbound.clear()
            self._unbound_writes = writes
        found: dict[str, tuple[BindingRow, ...]] = {}
        for owner in dict.fromkeys(owners):
            if owner in self._unbound:
                continue
            number = self._number(owner)
            rows = [] if number == ABSENT else self._read(BINDINGS, (number,))
            if rows:
                found[owner] = tuple(binding_of(row) for row in rows)
            elif len(self._unbound) < OWNERS_CACHED_MAX:
                self._unbound.add(owner)
        return found

    async def aliases(self, owner: str) -> list[str]:
        """Return the user ids that stand for a person now, in order."""
        rows = self._read(ALIASES, (owner,))
        return sorted(split_owner(row[0])[1] for row in rows)

    async def owners(self) -> list[str]:
        """Return every owner, aliases included."""
        return [row[0] for row in self._read("SELECT owner FROM owners ORDER BY owner", ())]

    async def counts(self, owner: str) -> dict[str, int]:
        """Return how many turns, memories and slots an owner has."""
        number = self._number(owner)
        sql = (
            "SELECT (SELECT count(*) FROM events WHERE owner = ?1 AND session IS NOT NULL),"
            " (SELECT count(*) FROM points WHERE owner = ?1 AND kind <> 'turn'),"
            " (SELECT count(DISTINCT slot) FROM statements WHERE owner = ?1)"
        )
        rows = await self._scan(sql, (number,))
        turns, memories, slots = rows[0]
        return {"turns": turns, "memories": memories, "slots": slots}

    async def vacuum(self) -> None:
        """Make what was deleted vanish from the write-ahead log; the file overwrites it."""
        await self._writer.run(lambda connection: truncate_wal(connection, ROLE))

    async def close(self) -> None:
        """Release the file."""
        await self._reader.close()
        await self._writer.close()

    def _number(self, owner: str) -> int:
        if owner not in self._numbers:
            rows = self._read("SELECT number FROM owners WHERE owner = ?", (owner,))
            if not rows:
                return ABSENT
            if len(self._numbers) >= OWNERS_CACHED_MAX:
                self._numbers.clear()
            self._numbers[owner] = rows[0][0]
        return self._numbers[owner]

    def _read(self, sql: str, values: Sequence[object]) -> list[Row]:
        return self._reader.look_up(lambda reader: reader.execute(sql, values).fetchall())

    async def _scan(self, sql: str, values: Sequence[object]) -> list[Row]:
        return await self._writer.run(lambda writer: writer.execute(sql, values).fetchall())

    def _all_spots(self, owner: str) -> dict[bytes, Spot] | None:
        """Return the spots of all turns of an owner, if they are few."""
        spots = self._spots.find(owner, self._writes)
        if spots is None and not self._spots.is_large(owner):
            rows = self._read(ALL_SPOTS, (owner, SMALL_TURNS_MAX + 1))
            if len(rows) > SMALL_TURNS_MAX:
                self._spots.remember_large(owner)
                return None
            spots = spots_of(rows)
            self._spots.remember(owner, spots)
        return spots

    def _others(self, columns: str, number: int, points: Sequence[bytes]) -> list[Row]:
        """Find where later chunks and memories stand; rows end with the point's id.

        A turn's first point isn't among them: it has the event's own id.
        """
        return self._by_values(
            f"SELECT {columns}, p.point_id FROM points p"  # noqa: S608 - constants
            " JOIN events e ON e.event_id = p.event_id"
            " WHERE +p.owner = ? AND p.point_id IN ({})",
            number,
            points,
        )

    def _by_ids(self, sql: str, owner: str, ids: Sequence[UUID]) -> list[Row]:
        return self._by_values(sql, self._number(owner), [key.bytes for key in ids])

    def _by_values(self, sql: str, number: int, values: Sequence[bytes]) -> list[Row]:
        rows: list[Row] = []
        for start in range(0, len(values), VALUES_MAX):
            part = padded(values[start : start + VALUES_MAX], VALUES_STEP)
            rows += self._read(marked(sql, "?", len(part)), (number, *part))
        return rows
