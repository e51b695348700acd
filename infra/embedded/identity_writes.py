"""How a journal record becomes rows of the identity store: pure puts, one record at a time."""

import sqlite3
from array import array
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from ...schemas.events import iso, owner_key, split_owner
from ...schemas.ports import Stored
from ...schemas.records import (
    Binding,
    Candidate,
    Decision,
    Erasure,
    JournalRecord,
    SessionGap,
)
from .database import check_format, transaction

__all__ = ["ROLE", "create", "write"]

PointRow = tuple[bytes, int, bytes, str, float, str, bool]
"""Point, owner, event, kind, confidence, scope, whether it is superseded."""

ROLE: Final = "identity store"
FORMAT: Final = 4
EPOCH_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
SCHEMA: Final = """
    -- The marker of an owner: records of the journal up to `applied` have had their effect.
    CREATE TABLE owners (number INTEGER PRIMARY KEY, owner TEXT NOT NULL UNIQUE, epoch TEXT
        NOT NULL, applied INTEGER NOT NULL);
    -- Where catching up begins.
    CREATE TABLE partitions (partition INTEGER PRIMARY KEY, epoch TEXT NOT NULL, low_water
        INTEGER NOT NULL);
    CREATE TABLE sessions (owner INTEGER NOT NULL, session BLOB NOT NULL, size INTEGER NOT
        NULL, PRIMARY KEY (owner, session)) WITHOUT ROWID;
    CREATE TABLE events (event_id BLOB PRIMARY KEY, owner INTEGER NOT NULL, content BLOB NOT
        NULL, producer BLOB NOT NULL, journal_offset INTEGER NOT NULL, session BLOB,
        position INTEGER, speaker BLOB, said_at TEXT NOT NULL, role TEXT, candidates INTEGER,
        names BLOB NOT NULL, states INTEGER NOT NULL, outdated INTEGER NOT NULL DEFAULT 0)
        WITHOUT ROWID;
    CREATE INDEX events_by_producer ON events (owner, producer);
    CREATE INDEX events_by_offset ON events (owner, journal_offset);
    CREATE INDEX events_by_place ON events (session, position, owner);
    -- Later chunks of turns, and memories: whose text they are.
    CREATE TABLE points (point_id BLOB PRIMARY KEY, owner INTEGER NOT NULL, event_id BLOB NOT
        NULL, kind TEXT NOT NULL, confidence REAL NOT NULL, scope TEXT NOT NULL,
        superseded INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX points_by_event ON points (event_id);
    CREATE INDEX points_by_owner ON points (owner, kind);
    CREATE TABLE statements (number INTEGER PRIMARY KEY, owner INTEGER NOT NULL, slot BLOB NOT
        NULL, matter BLOB NOT NULL, value BLOB NOT NULL, kind TEXT NOT NULL, box_key BLOB NOT
        NULL, box BLOB NOT NULL, event_id BLOB NOT NULL, said_at TEXT NOT NULL, said_us
        INTEGER NOT NULL, recorded_at TEXT NOT NULL, journal_offset INTEGER NOT NULL);
    CREATE INDEX statements_by_slot ON statements (owner, slot);
    CREATE INDEX statements_by_event ON statements (event_id);
    -- Which turns' summaries hold text of which turn.
    CREATE TABLE reads (read BLOB NOT NULL, event_id BLOB NOT NULL, owner INTEGER NOT NULL,
        PRIMARY KEY (read, event_id)) WITHOUT ROWID;
    CREATE INDEX reads_by_event ON reads (event_id);
    -- Sources and metadata of turns, hashed, to filter by.
    CREATE TABLE labels (owner INTEGER NOT NULL, label BLOB NOT NULL, event_id BLOB NOT NULL,
        PRIMARY KEY (owner, label, event_id)) WITHOUT ROWID;
    CREATE INDEX labels_by_event ON labels (event_id);
    CREATE TABLE erased (event_id BLOB NOT NULL, owner INTEGER NOT NULL,
        PRIMARY KEY (event_id, owner)) WITHOUT ROWID;
    -- Which person an alias stands for, or stood: the owner is the alias, `person_owner` the
    -- person's key. What has ended has no box.
    CREATE TABLE bindings (owner INTEGER NOT NULL, person TEXT NOT NULL, person_owner TEXT NOT
        NULL, bound INTEGER NOT NULL, event_id BLOB NOT NULL, box_key BLOB, box BLOB,
        PRIMARY KEY (owner, person)) WITHOUT ROWID;
    CREATE INDEX bindings_by_person ON bindings (person_owner, bound);
"""

OUTDATED: Final = (
    "UPDATE events SET outdated = CASE WHEN EXISTS (SELECT 1 FROM points p"
    " WHERE p.event_id = ?1 AND p.owner = ?2 AND p.kind <> 'turn' AND NOT p.superseded)"
    " THEN 0 ELSE ?3 END WHERE event_id = ?1 AND owner = ?2"
)
"""A turn that only repeated a memory has none of its own, and goes with that one."""
SPOTS: Final = """
    CREATE INDEX IF NOT EXISTS events_by_spot
    ON events (owner, event_id, session, position, speaker, said_at, states, outdated)
"""
"""All that a search asks of where turns stand, an owner's side by side."""


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file, or check an old one's format."""
    with transaction(connection):
        is_emptied = _drop_older(connection)
        if check_format(connection, ROLE, FORMAT) or is_emptied:
            for statement in SCHEMA.split(";"):
                connection.execute(statement)
        connection.execute(SPOTS)  # files of before it was thought of get it now


def _drop_older(connection: sqlite3.Connection) -> bool:
    """Empty a file of an earlier format, but for its fence: the journal fills it anew."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not 0 < version < FORMAT:
        return False
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    for (name,) in tables:
        if name != "fence":
            connection.execute(f'DROP TABLE "{name}"')
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    return True


def write(connection: sqlite3.Connection, stored: Stored) -> None:
    """Put one record's effects and move the markers, inside the caller's transaction.

    Delivery: a record at or below its owner's marker changes nothing.
    """
    record, position = stored.record, stored.position
    number, applied = _owner(connection, record.owner, position.epoch)
    if position.offset > applied:
        if record.kind == "turn":
            _put_turn(connection, number, stored)
        else:
            _put_event(connection, number, stored)
        _touch_points(connection, number, record)
        _put_statements(connection, number, stored)
        if record.binding is not None:
            _put_binding(connection, number, record, record.binding)
        if record.erasure is not None:
            _erase(connection, number, record.erasure, position.offset)
        connection.execute(
            "UPDATE owners SET applied = ?, epoch = ? WHERE number = ?",
            (position.offset, position.epoch, number),
        )
    connection.execute(
        "INSERT INTO partitions VALUES (?1, ?2, ?3) ON CONFLICT (partition) DO UPDATE"
        " SET epoch = ?2, low_water = max(low_water, ?3)",
        (position.partition, position.epoch, position.offset + 1),
    )


def _owner(connection: sqlite3.Connection, owner: str, epoch: str) -> tuple[int, int]:
    row = connection.execute(
        "SELECT number, applied FROM owners WHERE owner = ?", (owner,)
    ).fetchone()
    if row is None:
        cursor = connection.execute(
            "INSERT INTO owners (owner, epoch, applied) VALUES (?, ?, -1)", (owner, epoch)
        )
        return cursor.lastrowid or 0, -1
    return int(row[0]), int(row[1])


def _put_session(connection: sqlite3.Connection, owner: int, record: JournalRecord) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)",
        (owner, record.session, (record.position or 0) + 1),
    )


def _put_event(connection: sqlite3.Connection, owner: int, stored: Stored) -> None:
    record, offset = stored.record, stored.position.offset
    connection.execute(
        "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        (
            record.event_id.bytes,
            owner,
            record.content,
            record.producer,
            offset,
            record.session,
            record.position,
            array("I", record.speaker).tobytes(),
            iso(record.said_at),
            record.role,
            offset if record.candidates else None,
            array("I", record.names).tobytes(),
            record.states,
        ),
    )


def _put_turn(connection: sqlite3.Connection, owner: int, stored: Stored) -> None:
    record = stored.record
    _put_session(connection, owner, record)
    _put_event(connection, owner, stored)
    event = record.event_id.bytes
    chunks = [
        (point.id.bytes, owner, event, "turn", 1.0, "private", False) for point in record.points[1:]
    ]
    memories = [
        _memory_row(owner, event, record.candidates[decision.candidate], decision)
        for decision in record.decisions
        if decision.action == "new"
    ]
    _put_points(connection, [*chunks, *memories])
    connection.executemany(
        "INSERT OR REPLACE INTO labels VALUES (?, ?, ?)",
        [(owner, label, event) for label in record.labels],
    )
    _put_reads(
        connection,
        {(read, record.event_id) for one in record.candidates for read in one.reads},
        owner,
    )


def _memory_row(owner: int, event: bytes, candidate: Candidate, decision: Decision) -> PointRow:
    point = decision.memory_id.bytes
    kind, is_gone = candidate.kind, _is_superseded(decision)
    return point, owner, event, kind, decision.confidence, _scope(decision), is_gone


def _scope(decision: Decision) -> str:
    return "private" if decision.truth is None else decision.truth.scope


def _is_superseded(decision: Decision) -> bool:
    return decision.truth is not None and decision.truth.state == "superseded"


def _put_points(connection: sqlite3.Connection, rows: Iterable[PointRow]) -> None:
    connection.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def _touch_points(connection: sqlite3.Connection, owner: int, record: JournalRecord) -> None:
    touched = [decision for decision in record.decisions if decision.action == "touch"]
    connection.executemany(
        "UPDATE points SET confidence = ?, scope = ?, superseded = ?"
        " WHERE point_id = ? AND owner = ?",
        [
            (one.confidence, _scope(one), _is_superseded(one), one.memory_id.bytes, owner)
            for one in touched
        ],
    )
    timed = [one for one in record.decisions if one.action == "new" and one.truth is not None]
    _mark_outdated(connection, owner, [*touched, *timed])


def _mark_outdated(
    connection: sqlite3.Connection, owner: int, decisions: Iterable[Decision]
) -> None:
    """Mark turns of whose memories none holds any more, and unmark the others."""
    connection.executemany(
        OUTDATED,
        [
            (source.bytes, owner, _is_superseded(decision))
            for decision in decisions
            for source in decision.sources
        ],
    )


def _put_reads(
    connection: sqlite3.Connection, pairs: Iterable[tuple[UUID, UUID]], owner: int
) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO reads VALUES (?, ?, ?)",
        [(read.bytes, event.bytes, owner) for read, event in pairs],
    )


def _put_statements(connection: sqlite3.Connection, owner: int, stored: Stored) -> None:
    record = stored.record
    said_us = (record.said_at - EPOCH_START) // MICROSECOND
    connection.executemany(
        "INSERT INTO statements (owner, slot, matter, value, kind, box_key, box, event_id, said_at,"
        " said_us, recorded_at, journal_offset) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                owner,
                one.slot,
                one.matter,
                one.value,
                one.kind,
                one.box.key_id.bytes,
                one.box.sealed,
                record.event_id.bytes,
                iso(record.said_at),
                said_us,
                iso(record.recorded_at),
                stored.position.offset,
            )
            for one in record.statements
        ],
    )


def _put_binding(
    connection: sqlite3.Connection, owner: int, record: JournalRecord, binding: Binding
) -> None:
    if binding.bound and record.box is None:
        return  # what was said before stays
    tenant_id, _ = split_owner(record.owner)
    connection.execute(
        "INSERT OR REPLACE INTO bindings VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            owner,
            binding.person,
            owner_key(tenant_id, binding.person),
            binding.bound,
            record.event_id.bytes,
            None if record.box is None else record.box.key_id.bytes,
            None if record.box is None else record.box.sealed,
        ),
    )


def _erase(connection: sqlite3.Connection, owner: int, erasure: Erasure, offset: int) -> None:
    # Always with the owner: a forget may name ids that are another's.
    events = [(event.bytes, owner) for event in erasure.events]
    connection.executemany("DELETE FROM events WHERE event_id = ? AND owner = ?", events)
    for gap in erasure.gaps:
        _close_gap(connection, owner, gap)
    for table in ("statements", "points", "reads", "labels"):
        connection.executemany(
            # The sign keeps SQLite from walking all of an owner's rows instead.
            f"DELETE FROM {table} WHERE event_id = ? AND +owner = ?",  # noqa: S608 - constants
            events,
        )
    connection.executemany("INSERT OR IGNORE INTO erased VALUES (?, ?)", events)
    connection.executemany(
        "DELETE FROM points WHERE point_id = ? AND owner = ?",
        [(memory.bytes, owner) for memory in erasure.memories],
    )
    _put_points(
        connection,
        [
            _memory_row(owner, put.decision.sources[0].bytes, put.candidate, put.decision)
            for put in erasure.puts
        ],
    )
    _mark_outdated(connection, owner, [put.decision for put in erasure.puts])
    resealed = {event for event, _, _ in erasure.contexts}
    connection.executemany(
        "UPDATE events SET candidates = ? WHERE event_id = ? AND owner = ?",
        [(offset, event.bytes, owner) for event in resealed],
    )
    connection.executemany(
        "DELETE FROM reads WHERE event_id = ? AND owner = ?",
        [(event.bytes, owner) for event in resealed],
    )
    _put_reads(
        connection,
        {(read, event) for event, _, one in erasure.contexts for read in one.reads},
        owner,
    )


def _close_gap(connection: sqlite3.Connection, owner: int, gap: SessionGap) -> None:
    """Move the later turns of a session up: positions stay ranks, in a rebuild as well."""
    connection.execute(
        "UPDATE sessions SET size = ? WHERE owner = ? AND session = ?",
        (gap.size, owner, gap.session),
    )
    connection.executemany(
        "UPDATE events SET position = position - 1"
        " WHERE owner = ? AND session = ? AND position > ?",
        [(owner, gap.session, position) for position in gap.positions],
    )
