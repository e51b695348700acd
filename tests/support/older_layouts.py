"""Stores as earlier versions laid them out, to see that they are made anew."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

__all__ = ["FIRST_TABLES", "make_first_identity", "set_back_identity", "set_back_markers"]

FIRST_POINTS: Final = """
    CREATE TABLE points (point_id BLOB PRIMARY KEY, owner INTEGER NOT NULL, event_id BLOB NOT
        NULL, kind TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX points_by_event ON points (event_id);
    CREATE INDEX points_by_owner ON points (owner, kind);
"""
FIRST_TABLES: Final = f"""
    CREATE TABLE fence (number INTEGER NOT NULL) STRICT;
    CREATE TABLE owners (number INTEGER PRIMARY KEY, owner TEXT NOT NULL UNIQUE, epoch TEXT
        NOT NULL, applied INTEGER NOT NULL);
    CREATE TABLE partitions (partition INTEGER PRIMARY KEY, epoch TEXT NOT NULL, low_water
        INTEGER NOT NULL);
    CREATE TABLE sessions (owner INTEGER NOT NULL, session BLOB NOT NULL, size INTEGER NOT
        NULL, PRIMARY KEY (owner, session)) WITHOUT ROWID;
    CREATE TABLE events (event_id BLOB PRIMARY KEY, owner INTEGER NOT NULL, content BLOB NOT
        NULL, producer BLOB NOT NULL, journal_offset INTEGER NOT NULL, session BLOB,
        position INTEGER, speaker BLOB, said_at TEXT NOT NULL, role TEXT, candidates INTEGER)
        WITHOUT ROWID;
    CREATE INDEX events_by_producer ON events (owner, producer);
    CREATE INDEX events_by_offset ON events (owner, journal_offset);
    CREATE INDEX events_by_place ON events (session, position, owner);
    {FIRST_POINTS}
    CREATE TABLE statements (number INTEGER PRIMARY KEY, owner INTEGER NOT NULL, slot BLOB NOT
        NULL, matter BLOB NOT NULL, value BLOB NOT NULL, kind TEXT NOT NULL, box_key BLOB NOT
        NULL, box BLOB NOT NULL, event_id BLOB NOT NULL, said_at TEXT NOT NULL, said_us
        INTEGER NOT NULL, recorded_at TEXT NOT NULL, journal_offset INTEGER NOT NULL);
    CREATE INDEX statements_by_slot ON statements (owner, slot);
    CREATE INDEX statements_by_event ON statements (event_id);
    CREATE TABLE reads (read BLOB NOT NULL, event_id BLOB NOT NULL, owner INTEGER NOT NULL,
        PRIMARY KEY (read, event_id)) WITHOUT ROWID;
    CREATE INDEX reads_by_event ON reads (event_id);
    CREATE TABLE erased (event_id BLOB NOT NULL, owner INTEGER NOT NULL,
        PRIMARY KEY (event_id, owner)) WITHOUT ROWID;
    CREATE INDEX events_by_spot ON events (owner, event_id, session, position, speaker, said_at);
"""
"""What the first version made."""
FIRST_ROWS: Final = """
    INSERT INTO fence VALUES (7);
    INSERT INTO owners VALUES (1, 'default/ana', 'epoch-1', 4);
    INSERT INTO partitions VALUES (3, 'epoch-1', 5);
    INSERT INTO sessions VALUES (1, x'7331', 1);
    INSERT INTO events VALUES (x'00112233445566778899aabbccddeeff', 1, x'01', x'02', 4, x'7331',
        0, x'', '2024-03-01T09:00:00.000000+00:00', 'user', NULL);
    INSERT INTO points VALUES (x'ff112233445566778899aabbccddeeff', 1,
        x'00112233445566778899aabbccddeeff', 'fact');
    INSERT INTO erased VALUES (x'0f112233445566778899aabbccddeeff', 1);
"""


def make_first_identity(path: Path) -> None:
    """Make an identity file of the first version, with an owner's turn in it."""
    with closing(sqlite3.connect(path)) as file:
        file.executescript(FIRST_TABLES + FIRST_ROWS + "PRAGMA user_version = 1;")


def set_back_identity(path: Path) -> None:
    """Turn a closed identity file into one of the first version."""
    with closing(sqlite3.connect(path)) as file:
        file.executescript(
            "DROP TABLE labels; ALTER TABLE points RENAME TO now; DROP INDEX points_by_event;"
            " DROP INDEX points_by_owner;"
        )
        file.executescript(FIRST_POINTS)
        file.executescript(
            "INSERT INTO points SELECT point_id, owner, event_id, kind FROM now; DROP TABLE now;"
            " PRAGMA user_version = 1;"
        )


def set_back_markers(path: Path) -> None:
    """Give a closed episodic store's markers the first version's form: a plain mapping."""
    markers = json.loads(path.read_bytes())
    assert set(markers) == {"layout", "applied"}, "set the rest back as well"
    path.write_text(json.dumps(markers["applied"]), encoding="utf-8")
