"""The statements of the embedded key log: its form, and its rows of wrapped data keys."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from ...schemas.errors import Damaged, Rejected, Unavailable
from ...schemas.ports import WrappedKey
from ..sealing import WRAPPED_BYTES, SealingKey
from .database import check_format, transaction, truncate_wal

__all__ = ["EMPTY", "ROLE", "check_master", "overwrite", "prepare", "put", "wrapped"]

ROLE: Final = "key log"
_FORMAT: Final = 1
_VALUES_MAX: Final = 512  # in one statement
_VALUES_STEP: Final = 16
EMPTY: Final = bytes(WRAPPED_BYTES)
_CHECK_PLAIN: Final = b"eunoe key log"
_CHECK: Final = b"check"
_SCHEMA: Final = (
    "CREATE TABLE checks (name BLOB PRIMARY KEY, sealed BLOB NOT NULL) STRICT",
    """CREATE TABLE owners (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        wrapping BLOB NOT NULL,
        hashing BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE data_keys (
        number INTEGER PRIMARY KEY,
        key_id BLOB NOT NULL UNIQUE,
        owner INTEGER NOT NULL REFERENCES owners,
        wrapped BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE shared_keys (
        number INTEGER PRIMARY KEY,
        key_id BLOB NOT NULL UNIQUE,
        name TEXT NOT NULL,
        wrapped BLOB NOT NULL
    ) STRICT""",
    "CREATE INDEX shared_keys_by_name ON shared_keys (name)",
)

# An owner that is gone is none of the asker's either: a key of nobody mustn't count as shredded.
_WRAPPED: Final = (
    "SELECT key_id, name, wrapped FROM data_keys LEFT JOIN owners ON owners.number = owner "
    "WHERE key_id IN"
)


def prepare(connection: sqlite3.Connection, master: SealingKey) -> None:
    """Make the tables of a new file, or check an old one's format and master key.

    Raises:
        Unavailable: Another master key belongs to it.
        Damaged: It has lost its check value.
        Rejected: Another version of Eunoe wrote it.
    """
    # Statement journals would copy wrapped keys into the system's folder of temporary files.
    connection.execute("PRAGMA temp_store = MEMORY")
    with transaction(connection):
        if check_format(connection, ROLE, _FORMAT):
            for statement in _SCHEMA:
                connection.execute(statement)
            sealed = master.seal(_CHECK_PLAIN, _CHECK)
            connection.execute("INSERT INTO checks VALUES (?, ?)", (_CHECK, sealed))
            return
    check_master(connection, master)


def check_master(connection: sqlite3.Connection, master: SealingKey) -> None:
    """Check that a file was made with this master key.

    Raises:
        Unavailable: It was made with another.
        Damaged: It has lost its check value.
    """
    row = connection.execute("SELECT sealed FROM checks WHERE name = ?", (_CHECK,)).fetchone()
    if row is None:
        message = f"The {ROLE} has lost its check value: restore it from a backup."
        raise Damaged(message)
    try:
        master.open(row[0], _CHECK)
    except Damaged:
        message = (
            "The master key is not the one that this store was made with: give the right key "
            "file or setting. Nothing was changed."
        )
        raise Unavailable(message) from None


def put(connection: sqlite3.Connection, keys: Sequence[WrappedKey]) -> None:
    """Append wrapped keys; those that are there already, shredded or not, stay as they are.

    Raises:
        Rejected: A key names an owner who has no keys here.
    """
    numbers: dict[str, int] = {}
    for owner in {key.owner for key in keys}:
        row = connection.execute("SELECT number FROM owners WHERE name = ?", (owner,)).fetchone()
        if row is None:
            message = "A wrapped key names an owner who has no keys here."
            raise Rejected(message)
        numbers[owner] = row[0]
    rows = [(key.key_id.bytes, numbers[key.owner], key.wrapped) for key in keys]
    with transaction(connection):
        connection.executemany(
            "INSERT INTO data_keys (key_id, owner, wrapped) VALUES (?, ?, ?) "
            "ON CONFLICT (key_id) DO NOTHING",
            rows,
        )


def wrapped(
    connection: sqlite3.Connection, key_ids: Sequence[bytes]
) -> Iterator[tuple[bytes, str | None, bytes]]:
    """Yield (key id, owner, wrapped key) of those that are there, ids as their 16 bytes."""
    values = list(dict.fromkeys(key_ids))
    for start in range(0, len(values), _VALUES_MAX):
        part = values[start : start + _VALUES_MAX]
        # Repeated up to a multiple, so that few statements are compiled.
        part += part[-1:] * (-len(part) % _VALUES_STEP)
        marks = ",".join("?" * len(part))
        yield from connection.execute(f"{_WRAPPED} ({marks})", part).fetchall()


def overwrite(
    connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[bytes, bytes | str]]
) -> None:
    """Overwrite wrapped keys in place, in the write-ahead log too.

    Args:
        connection: The file.
        statement: Takes the new bytes and what tells the rows.
        rows: Values of the statement.

    Raises:
        Unavailable: A reader is in the way: do it again.
    """
    with transaction(connection):
        connection.executemany(statement, rows)
    # Also when nothing was found: an earlier shred may have failed between the two steps.
    truncate_wal(connection, ROLE)
