"""The experience store of the embedded runtime: one SQLite file, a table for each domain.

The file is opened when it is first needed, so that no other part of a store waits for it or
fails with it. Everything blocks in the file's own thread.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, TypeVar

import orjson

from ...schemas.errors import EunoeError, Rejected, Unavailable
from ...schemas.experience import (
    DOMAINS,
    UNITS,
    DayCount,
    ExperienceKind,
    ExperiencePoint,
    Pool,
    Total,
    Unit,
    check_domain,
    check_pseudonyms,
    check_totals,
    minutes_ns,
    moment_of,
    pool_of,
    stamp_ns,
    whole_days,
)
from ...schemas.limits import EXPERIENCE_ROWS_MAX
from .database import Database, check_format, transaction, truncate_wal

__all__ = ["SqliteExperience"]

Result = TypeVar("Result")

ROLE: Final = "experience store"
FORMAT: Final = 1
_MILLISECOND_NS: Final = 1_000_000
_TABLES: Final = {domain: "points_" + domain.replace("-", "_") for domain in DOMAINS}
_SCHEMA: Final = (
    """CREATE TABLE {0} (
        pseudonym TEXT NOT NULL,
        kind TEXT NOT NULL,
        at_ns INTEGER NOT NULL,
        count INTEGER NOT NULL,
        succeeded INTEGER NOT NULL,
        PRIMARY KEY (pseudonym, kind, at_ns)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX {0}_by_time ON {0} (at_ns)",
)
_PUT: Final = (
    "INSERT INTO {0} VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
    " SET count = excluded.count, succeeded = excluded.succeeded"
)
_TOTALS: Final = (
    "SELECT at_ns / ?1, kind, sum(count), sum(succeeded) FROM {0}"
    " WHERE at_ns >= ?2 AND at_ns < ?3 AND pseudonym IN (SELECT value FROM json_each(?4))"
    " GROUP BY 1, 2 LIMIT ?5"
)
_DAYS: Final = (
    "SELECT at_ns / ?1, {1}, count(DISTINCT pseudonym), sum(count), sum(succeeded) FROM {0}"
    " WHERE at_ns >= ?2 AND at_ns < ?3 GROUP BY 1, 2"
)
_ERASE: Final = "DELETE FROM {0} WHERE pseudonym IN (SELECT value FROM json_each(?1))"


class SqliteExperience:
    """`ExperienceStore` on SQLite.

    Args:
        path: The file; its folder has to be there when it is first used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opening: asyncio.Task[Database] | None = None
        self._closed = False

    async def write(self, points: Sequence[ExperiencePoint]) -> None:
        """Put points, all or none, durably; see the port."""

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                for domain, table in _TABLES.items():
                    rows = [
                        (one.pseudonym, one.kind.value, one.at_ns, one.count, one.succeeded)
                        for one in points
                        if one.domain == domain
                    ]
                    connection.executemany(_PUT.format(table), rows)

        if points:
            await self._run(work)

    async def totals(
        self, pseudonyms: Sequence[str], since: datetime, until: datetime, *, unit: Unit = "day"
    ) -> list[Total]:
        """Add up what stands under some pseudonyms; see the port."""
        wanted = orjson.dumps(check_pseudonyms(pseudonyms)).decode()
        size = _nanoseconds(unit)
        bounds = (size, *minutes_ns(since, until), wanted, EXPERIENCE_ROWS_MAX + 1)

        def work(connection: sqlite3.Connection) -> list[Total]:
            return [
                Total(moment_of(start * size), domain, ExperienceKind(kind), count, succeeded)
                for domain, table in _TABLES.items()
                for start, kind, count, succeeded in connection.execute(
                    _TOTALS.format(table), bounds
                )
            ]

        return check_totals(await self._run(work))

    async def pool(self, domain: str, since: datetime, until: datetime) -> Pool | None:
        """Return what is known of a domain over all its users; see the port."""
        table = _TABLES[check_domain(domain)]
        size = _nanoseconds("day")
        bounds = (size, *map(stamp_ns, whole_days(since, until)))

        def work(connection: sqlite3.Connection) -> list[DayCount]:
            return [
                DayCount(moment_of(day * size), kind and ExperienceKind(kind), *counts)
                for column in ("NULL", "kind")
                for day, kind, *counts in connection.execute(_DAYS.format(table, column), bounds)
            ]

        return pool_of(domain, await self._run(work))

    async def erase(self, pseudonyms: Sequence[str]) -> None:
        """Remove everything under some pseudonyms, from the file's free pages too."""
        gone = orjson.dumps(check_pseudonyms(pseudonyms)).decode()

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                for table in _TABLES.values():
                    connection.execute(_ERASE.format(table), (gone,))
            truncate_wal(connection, ROLE)

        await self._run(work)

    async def close(self) -> None:
        """Finish what was handed in, and release the file; twice is no error."""
        self._closed = True
        if self._opening is not None:
            with suppress(EunoeError):  # who wanted it open was told
                await (await self._opening).close()

    async def _run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        if self._closed:
            message = f"The {ROLE} is closed."
            raise Unavailable(message)
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        try:
            # Shielded: who waits may be cancelled, and the next one needs the file all the same.
            database = await asyncio.shield(opening)
        except EunoeError:
            if self._opening is opening:
                self._opening = None  # the next call tries again
            raise
        return await database.run(work)

    async def _open(self) -> Database:
        database = await Database.open(self._path, ROLE)
        try:
            await database.run(_prepare)
        except Rejected as error:  # not of any point: until another version is there, it waits
            await database.close()
            raise Unavailable(str(error)) from error
        except BaseException:
            await database.close()
            raise
        return database


def _prepare(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        if check_format(connection, ROLE, FORMAT):
            for table in _TABLES.values():
                for statement in _SCHEMA:
                    connection.execute(statement.format(table))


def _nanoseconds(unit: Unit) -> int:
    return UNITS[unit] // timedelta(milliseconds=1) * _MILLISECOND_NS
