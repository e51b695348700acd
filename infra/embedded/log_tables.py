"""Tables and statements of the embedded log; blocking, for the log's own threads.

Offsets come from a counter that moves in the same transaction as the records, so that no deletion
lets one be used again. Keys of deleted sealed records are noted in `shredding` in the transaction
that deletes the records, and destroyed after it; whatever a crash left there is destroyed when the
log is opened.
"""

import sqlite3
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import uuid4

from ...schemas.errors import Damaged, Rejected
from ...schemas.ports import Headers
from .database import check_format, transaction, truncate_wal

__all__ = [
    "ROLE",
    "Place",
    "Row",
    "State",
    "Victims",
    "bound_to",
    "delete",
    "first_offset",
    "insert",
    "look",
    "moment_of",
    "pack",
    "pack_headers",
    "prepare",
    "read_commit",
    "read_counters",
    "select",
    "stamp_of",
    "unpack",
    "unpack_headers",
    "vacuum",
    "write_commits",
]

ROLE: Final = "event log"

_FORMAT: Final = 1
_SCHEMA: Final = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT",
    "CREATE TABLE topics (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
    """CREATE TABLE counters (
        topic INTEGER NOT NULL REFERENCES topics,
        partition INTEGER NOT NULL,
        next INTEGER NOT NULL,
        PRIMARY KEY (topic, partition)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE records (
        topic INTEGER NOT NULL REFERENCES topics,
        partition INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        key BLOB NOT NULL,
        tombstone INTEGER NOT NULL,
        stamp INTEGER NOT NULL,
        key_id BLOB,
        headers BLOB,
        value BLOB,
        PRIMARY KEY (topic, partition, offset)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX records_by_key ON records (topic, partition, key, offset, tombstone)",
    """CREATE TABLE commits (
        name TEXT NOT NULL,
        topic INTEGER NOT NULL REFERENCES topics,
        partition INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        PRIMARY KEY (name, topic, partition)
    ) STRICT, WITHOUT ROWID""",
    "CREATE TABLE shredding (key_id BLOB PRIMARY KEY) STRICT, WITHOUT ROWID",
)
_ORIGIN: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LENGTH: Final = struct.Struct(">I")
_NO_VALUE: Final = 0xFFFFFFFF
_CUT_SHORT: Final = f"A record of the {ROLE} is cut short."


class Place(NamedTuple):
    """A partition of a topic, by the topic's number."""

    topic: int
    partition: int


class Row(NamedTuple):
    """A record as it stands in the table.

    Args:
        place: Topic and partition.
        offset: Place in the partition.
        key: Record key.
        tombstone: 1 where the value is None.
        stamp: Microseconds since 1970, UTC.
        key_id: The key that `value` is sealed under, or None where it is plain.
        headers: Packed; None where there are none, or where they are sealed with the value.
        value: Plain, or sealed together with the headers, or None.
    """

    place: Place
    offset: int
    key: bytes
    tombstone: int
    stamp: int
    key_id: bytes | None
    headers: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class State:
    """What a log's file says when it is opened.

    Args:
        epoch: Made with the file.
        topics: Number of each topic.
        counters: The offset that the next record of each partition gets.
        shredding: Keys whose records are gone and that still have to be destroyed.
    """

    epoch: str
    topics: Mapping[str, int]
    counters: dict[Place, int]
    shredding: Sequence[bytes]


class Victims(NamedTuple):
    """Which records of a topic to delete: a condition on the table `records`."""

    condition: str
    parameters: tuple[int, ...]

    @classmethod
    def below(cls, place: Place, offset: int) -> "Victims":
        """Return those below an offset."""
        return cls("topic = ? AND partition = ? AND offset < ?", (*place, offset))

    @classmethod
    def older(cls, topic: int, stamp: int) -> "Victims":
        """Return those with an earlier timestamp."""
        return cls("topic = ? AND stamp < ?", (topic, stamp))

    @classmethod
    def superseded(cls, topic: int) -> "Victims":
        """Return tombstones, and those that are not the newest of their key."""
        return cls(
            "topic = ? AND (tombstone OR EXISTS (SELECT 1 FROM records AS newer "
            "WHERE newer.topic = records.topic AND newer.partition = records.partition "
            "AND newer.key = records.key AND newer.offset > records.offset))",
            (topic,),
        )


def bound_to(topic: str, partition: int, key: bytes) -> bytes:
    """Return what a sealed value is bound to: its topic, partition and record key."""
    return b"%b\x00%d\x00%b" % (topic.encode(), partition, key)


def stamp_of(moment: datetime) -> int:
    """Return microseconds since 1970; the time has to be aware."""
    return (moment - _ORIGIN) // _MICROSECOND


def moment_of(stamp: int) -> datetime:
    """Return the time of a stamp, in UTC.

    Raises:
        Damaged: There is no such time.
    """
    try:
        return _ORIGIN + stamp * _MICROSECOND
    except OverflowError as error:
        message = "The event log is malformed: restore the whole folder from one backup."
        raise Damaged(message) from error


def pack_headers(headers: Headers) -> bytes:
    """Write headers as pairs of length-prefixed names and values."""
    parts: list[bytes] = []
    for name, value in headers:
        label = name.encode()
        parts += (_LENGTH.pack(len(label)), label, _LENGTH.pack(len(value)), value)
    return b"".join(parts)


def unpack_headers(packed: bytes) -> Headers:
    """Read what `pack_headers` wrote.

    Raises:
        Damaged: It wasn't that.
    """
    parts: list[bytes] = []
    start = 0
    whole = len(packed)
    while start < whole:  # in line: every turn comes through here, with a dozen headers
        body = start + _LENGTH.size
        start = body + int.from_bytes(packed[start:body], "big")
        if body > whole or start > whole:
            raise Damaged(_CUT_SHORT)
        parts.append(packed[body:start])
    return tuple(
        (name.decode(), value) for name, value in zip(parts[::2], parts[1::2], strict=True)
    )


def pack(value: bytes | None, headers: Headers) -> bytes:
    """Write a value and its headers as the bytes that are sealed."""
    if value is None:
        return _LENGTH.pack(_NO_VALUE) + pack_headers(headers)
    return _LENGTH.pack(len(value)) + value + pack_headers(headers)


def unpack(packed: bytes) -> tuple[bytes | None, Headers]:
    """Read what `pack` wrote.

    Raises:
        Damaged: It wasn't that.
    """
    if packed[: _LENGTH.size] == _LENGTH.pack(_NO_VALUE):
        return None, unpack_headers(packed[_LENGTH.size :])
    value, start = _take(packed, 0)
    return value, unpack_headers(packed[start:])


def _take(packed: bytes, start: int) -> tuple[bytes, int]:
    body = start + _LENGTH.size
    end = body + int.from_bytes(packed[start:body], "big")
    if end > len(packed) or body > len(packed):
        raise Damaged(_CUT_SHORT)
    return packed[body:end], end


def prepare(connection: sqlite3.Connection, topics: Iterable[str], partitions: int) -> State:
    """Make the tables of a new file, add topics that are new, and read the state.

    Args:
        connection: The file, with the right to write.
        topics: Names.
        partitions: Of every topic.

    Raises:
        Rejected: The file has another partition count or format.
    """
    with transaction(connection):
        if check_format(connection, ROLE, _FORMAT):
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.executemany(
                "INSERT INTO facts VALUES (?, ?)",
                [("epoch", uuid4().hex), ("partitions", partitions), ("unswept", 0)],
            )
        facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
        if facts["partitions"] != partitions:
            message = (
                f"The {ROLE} was made with {facts['partitions']} partitions, not {partitions}, "
                "and keeps them: set the old number, or copy the store into a new one."
            )
            raise Rejected(message)
        connection.executemany(
            "INSERT INTO topics (name) VALUES (?) ON CONFLICT (name) DO NOTHING",
            [(name,) for name in topics],
        )
        connection.execute(
            "INSERT INTO counters SELECT number, value, 0 FROM topics, json_each(?) WHERE true "
            "ON CONFLICT (topic, partition) DO NOTHING",
            (str(list(range(partitions))),),
        )
    return look(connection)


def look(connection: sqlite3.Connection) -> State:
    """Read the state of a file that somebody has prepared."""
    facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
    return State(
        epoch=facts["epoch"],
        topics=dict(connection.execute("SELECT name, number FROM topics").fetchall()),
        counters=read_counters(connection),
        shredding=_shredding(connection),
    )


def read_counters(connection: sqlite3.Connection) -> dict[Place, int]:
    """Return the offset that the next record of each partition gets."""
    rows = connection.execute("SELECT topic, partition, next FROM counters")
    return {Place(topic, partition): following for topic, partition, following in rows}


def insert(
    connection: sqlite3.Connection, rows: Sequence[Row], counters: Mapping[Place, int]
) -> None:
    """Append rows and move the counters, in one transaction."""
    with transaction(connection):
        connection.executemany(
            "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*row.place, *row[1:]) for row in rows],
        )
        connection.executemany(
            "UPDATE counters SET next = ? WHERE topic = ? AND partition = ?",
            [(following, *place) for place, following in counters.items()],
        )


def select(connection: sqlite3.Connection, place: Place, offset: int, limit: int) -> list[Row]:
    """Read up to `limit` rows from an offset on."""
    rows = connection.execute(
        "SELECT offset, key, tombstone, stamp, key_id, headers, value FROM records "
        "WHERE topic = ? AND partition = ? AND offset >= ? ORDER BY offset LIMIT ?",
        (*place, offset, limit),
    )
    return [Row(place, *row) for row in rows]


def first_offset(connection: sqlite3.Connection, place: Place) -> int | None:
    """Return the lowest offset there is, or None in an empty partition."""
    row = connection.execute(
        "SELECT min(offset) FROM records WHERE topic = ? AND partition = ?", place
    ).fetchone()
    found: int | None = row[0]
    return found


def write_commits(connection: sqlite3.Connection, group: str, offsets: Mapping[Place, int]) -> None:
    """Store the next offsets to read of a group, in one transaction."""
    with transaction(connection):
        connection.executemany(
            "INSERT INTO commits VALUES (?, ?, ?, ?) "
            "ON CONFLICT (name, topic, partition) DO UPDATE SET offset = excluded.offset",
            [(group, *place, offset) for place, offset in offsets.items()],
        )


def read_commit(connection: sqlite3.Connection, group: str, place: Place) -> int | None:
    """Return the next offset to read of a group, or None."""
    row = connection.execute(
        "SELECT offset FROM commits WHERE name = ? AND topic = ? AND partition = ?",
        (group, *place),
    ).fetchone()
    return None if row is None else row[0]


def delete(
    connection: sqlite3.Connection, victims: Victims, shredded: Iterable[bytes]
) -> tuple[int, list[bytes]]:
    """Delete records and note the keys that have to be destroyed next.

    Args:
        connection: The file.
        victims: Which records.
        shredded: Noted keys that are destroyed by now.

    Returns:
        How many records went, and every key that is noted and not yet destroyed.
    """
    with transaction(connection):
        connection.executemany(
            "DELETE FROM shredding WHERE key_id = ?", [(key_id,) for key_id in shredded]
        )
        # The condition is one of the constants of `Victims`; all values are bound.
        connection.execute(
            "INSERT INTO shredding SELECT key_id FROM records "  # noqa: S608 - a constant
            f"WHERE {victims.condition} AND key_id IS NOT NULL",
            victims.parameters,
        )
        removed = connection.execute(
            f"DELETE FROM records WHERE {victims.condition}",  # noqa: S608 - a constant
            victims.parameters,
        ).rowcount
        if removed:
            connection.execute("UPDATE facts SET value = 1 WHERE name = 'unswept'")
    return removed, _shredding(connection)


def vacuum(connection: sqlite3.Connection) -> None:
    """Empty the write-ahead log, and write the file anew if records were deleted.

    `secure_delete` overwrites deleted rows, but not the copies that the b-tree left where it
    moved rows between pages; only a rewritten file is sure to be without them. The work is one
    copy of the file at most, and none where nothing was deleted since the last time.
    """
    (unswept,) = connection.execute("SELECT value FROM facts WHERE name = 'unswept'").fetchone()
    if unswept:
        connection.execute("VACUUM")
    truncate_wal(connection, ROLE)
    if unswept:
        # Last, so that a crash in between makes the next call do it all again.
        connection.execute("UPDATE facts SET value = 0 WHERE name = 'unswept'")


def _shredding(connection: sqlite3.Connection) -> list[bytes]:
    return [key_id for (key_id,) in connection.execute("SELECT key_id FROM shredding")]
