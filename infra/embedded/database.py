"""One SQLite file, one connection, one thread: what the embedded log and key log stand on.

Blocking work runs in the file's own thread; the event loop only waits. SQLite's errors are
translated here, once, into sentences that name the file's role and never its content.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self, TypeVar

from ...schemas.errors import Damaged, EunoeError, Fenced, Rejected, Unavailable
from ...schemas.limits import (
    BUSY_TIMEOUT_S,
    FILE_CACHE_KIB,
)

__all__ = ["Database", "check_format", "transaction", "translated", "truncate_wal"]

Result = TypeVar("Result")

_PAGE_BYTES: Final = 4_096
_WAL_BYTES: Final = 4_096_000  # of the write-ahead log before it's moved into the file
_PRIMARY_CODE: Final = 0xFF
_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_UNAVAILABLE: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the file is read-only",
    sqlite3.SQLITE_BUSY: "another process holds the file",
    sqlite3.SQLITE_LOCKED: "another connection holds the file",
    sqlite3.SQLITE_IOERR: "the disk is full or reported an error",
    sqlite3.SQLITE_CANTOPEN: "the file can't be opened",
    sqlite3.SQLITE_PERM: "access to the file is denied",
    sqlite3.SQLITE_NOMEM: "memory ran out",
    sqlite3.SQLITE_PROTOCOL: "the file's locks don't work here",
    sqlite3.SQLITE_NOLFS: "the file system can't hold a file of this size",
    sqlite3.SQLITE_INTERRUPT: "the work was interrupted",
}


_REMEDY: Final = "restore the whole folder from one backup"
_REMEDIES: Final = {
    "experience store": "remove experience.sqlite, and its counts begin anew at the next start",
    "identity store": (
        "remove identity.sqlite, and it is rebuilt from the journal at the next start"
    ),
}
"""What to do about a damaged file, by its role."""


def _malformed(role: str) -> Damaged:
    return Damaged(f"The {role} is malformed: {_REMEDIES.get(role, _REMEDY)}.")


def _translate(error: sqlite3.Error, role: str) -> EunoeError:
    remedy = _REMEDIES.get(role, _REMEDY)
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & _PRIMARY_CODE
    reason = _UNAVAILABLE.get(code)
    if reason is not None:
        return Unavailable(f"The {role} can't be used now: {reason}.")
    if code in _CORRUPT:
        return _malformed(role)
    # A broken constraint or statement: the text could quote values, so only the code is told.
    return Damaged(f"The {role} refused a statement (SQLite result {code}): {remedy}.")


@contextmanager
def translated(role: str) -> Generator[None, None, None]:
    """Turn SQLite's errors into ours.

    Args:
        role: What the file is, such as "event log".

    Raises:
        Unavailable: The disk is full, read-only, locked or failing.
        Damaged: The file is malformed, or a statement broke an invariant.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, role) from error
    except UnicodeDecodeError as error:  # the engine quotes damaged bytes in its own error
        raise _malformed(role) from error


class _Fenced(sqlite3.Connection):
    """A connection that knows which opening of the file it belongs to."""

    fence: int | None = None


def _check_fence(connection: sqlite3.Connection) -> None:
    fence = connection.fence if isinstance(connection, _Fenced) else None
    if fence is not None and connection.execute("SELECT number FROM fence").fetchone() != (fence,):
        message = "Another process has taken this store over: end this one; nothing was written."
        raise Fenced(message)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None, None, None]:
    """Run statements as one durable transaction; an error takes all of them back.

    Raises:
        Fenced: The file was opened for writing again since this connection was made.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        _check_fence(connection)
        yield
        connection.execute("COMMIT")
    except BaseException:
        # Some errors (a full disk) have rolled back already, and a failed rollback leaves a
        # transaction that the next BEGIN reports; the first error is the one to tell.
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def truncate_wal(connection: sqlite3.Connection, role: str) -> None:
    """Move the write-ahead log into the file and cut it to nothing.

    Raises:
        Unavailable: A reader kept it from being cut.
    """
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        message = f"The {role}'s write-ahead log is in use and can't be emptied now."
        raise Unavailable(message)


def check_format(connection: sqlite3.Connection, role: str, version: int) -> bool:
    """Mark a new file with its format, or check an old one's, and take the file over.

    Inside a transaction. Connections of earlier openings can't write from then on.

    Args:
        connection: The file.
        role: What it is.
        version: The format that this code writes, from 1.

    Returns:
        Whether the file is new.

    Raises:
        Rejected: Another version of Eunoe wrote it.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if found != version and (found or tables):
        message = (
            f"The {role} has format {found} and this version of Eunoe reads format {version}: "
            "use the version that wrote it."
        )
        raise Rejected(message)
    _raise_fence(connection)
    if found == 0:
        connection.execute(f"PRAGMA user_version = {version}")
    return bool(found == 0)


def _raise_fence(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS fence (number INTEGER NOT NULL) STRICT")
    (last,) = connection.execute("SELECT max(number) FROM fence").fetchone()
    connection.execute("DELETE FROM fence")
    fence = (last or 0) + 1
    connection.execute("INSERT INTO fence VALUES (?)", (fence,))
    if isinstance(connection, _Fenced):
        connection.fence = fence


def _connect(
    path: Path, role: str, *, read_only: bool, cache_kib: int, page_bytes: int
) -> sqlite3.Connection:
    # SQLite gives its side files the permissions of the main file, so that one is made first.
    if not read_only and not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(
        path,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        factory=_Fenced,
    )
    try:
        connection.execute(f"PRAGMA page_size = {page_bytes}")  # of a new file
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            message = f"The {role} can't keep a write-ahead log on this file system."
            raise Unavailable(message)  # noqa: TRY301 - the connection is closed below
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_BYTES // page_bytes}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute(f"PRAGMA cache_size = -{cache_kib}")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


class Database:
    """A SQLite file (WAL, synchronous=FULL, secure_delete=ON) and the thread that works on it.

    Args:
        role: What the file is, for threads' names and error sentences.
        connection: Used by the thread only.
        executor: The thread.
    """

    def __init__(
        self, role: str, connection: sqlite3.Connection, executor: ThreadPoolExecutor
    ) -> None:
        self._role = role
        self._connection = connection
        self._executor = executor
        self._closed = False

    @classmethod
    async def open(
        cls,
        path: Path,
        role: str,
        *,
        read_only: bool = False,
        cache_kib: int = FILE_CACHE_KIB,
        page_bytes: int = _PAGE_BYTES,
    ) -> Self:
        """Open the file, made if it isn't there.

        Args:
            path: The file; its folder has to be there.
            role: What it is, in words.
            read_only: Whether to refuse writes through this connection.
            cache_kib: How much of the file the connection may keep in memory, in KiB.
            page_bytes: Of a new file: larger where rows are.

        Raises:
            Unavailable: It can't be opened.
            Damaged: It is no SQLite file.
        """
        executor = ThreadPoolExecutor(1, thread_name_prefix=role.replace(" ", "-"))

        def connect() -> sqlite3.Connection:
            with translated(role):
                return _connect(
                    path, role, read_only=read_only, cache_kib=cache_kib, page_bytes=page_bytes
                )

        try:
            connection = await asyncio.get_running_loop().run_in_executor(executor, connect)
        except OSError as error:
            executor.shutdown(wait=False)
            message = f"The {role} can't be opened: {error.strerror}."
            raise Unavailable(message) from error
        except BaseException:
            executor.shutdown(wait=False)
            raise
        return cls(role, connection, executor)

    @property
    def role(self) -> str:
        """What the file is."""
        return self._role

    async def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run blocking work in the file's thread, after all work that was handed in before.

        Args:
            work: Called with the connection.

        Raises:
            Unavailable: The file was closed, or can't be used now.
            Damaged: The file is malformed.
        """
        if self._closed:
            message = f"The {self._role} is closed."
            raise Unavailable(message)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._work, work)

    def look_up(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run a look-up by key in the calling thread: it takes less time than the way to another.

        Only for a read-only connection that `run` isn't used on.
        """
        if self._closed:
            message = f"The {self._role} is closed."
            raise Unavailable(message)
        return self._work(work)

    def _work(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:  # as `translated`, which takes longer than a look-up's own Python
            return work(self._connection)
        except sqlite3.Error as error:
            raise _translate(error, self._role) from error
        except UnicodeDecodeError as error:
            raise _malformed(self._role) from error

    async def close(self) -> None:
        """Finish the work that was handed in, then release the file; twice is no error."""
        if self._closed:
            return
        self._closed = True
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._executor, self._connection.close)
        finally:
            self._executor.shutdown(wait=False)
