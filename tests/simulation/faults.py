"""Faults: a process that ends at a named step, engines that fail for a moment.

Installed into a process of its own, which is thrown away: classes are changed in place. A crash
is `os._exit` in the middle of the step, so nothing is closed, flushed or rolled back, as when the
process is killed.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from eunoe.infra import sealing, wiring
from eunoe.infra.embedded import database, episodes
from eunoe.infra.embedded.episodes import EdgeEpisodes
from eunoe.infra.embedded.experience import SqliteExperience
from eunoe.infra.embedded.identity import SqliteIdentity
from eunoe.infra.embedded.keys import SqliteKeys
from eunoe.infra.embedded.log import SqliteLog
from eunoe.infra.embedded.log_sealer import LogSealer
from eunoe.schemas.errors import Unavailable
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import (
    COMMANDS,
    DEAD_LETTERS,
    JOURNAL,
    RECALLS,
    TURNS,
    WRITER_GROUP,
)
from eunoe.streams.experience import EXPERIENCE_GROUP

__all__ = ["CRASHED", "FIRST", "OFTEN", "STEPS", "Crash", "Faults"]

CRASHED: Final = 137
"""Exit code of a process that a crash ended."""
APPENDS: Final = {
    TURNS.name: "append turns",
    COMMANDS.name: "append commands",
    JOURNAL.name: "append journal",
    DEAD_LETTERS.name: "append dead letter",
    RECALLS.name: "append recalls",
}
OFTEN: Final = (
    "seal log values",
    "append turns",
    "put data keys",
    "append journal",
    "apply identity",
    "apply episodes",
    "put points",
    "commit writer",
    "commit experience",
    "write experience",
    "shred log values",
    "trim ingress",
    "write markers",
)
"""Steps that every stretch of a history goes through many times."""
SELDOM: Final = (
    "make owner keys",
    "append commands",
    "append dead letter",
    "append recalls",
    "append tombstones",
    "make master key",
    "make store file",
    "touch point",
    "erase points",
    "flush episodes",
    "shred data keys",
    "compact journal",
    "vacuum log",
    "commit erasure",
)
TRANSACTIONS: Final = (
    "commit event log",
    "commit key log",
    "commit identity store",
    "commit experience store",
)
FIRST: Final = ("make master key", "make store file", "make owner keys")
"""Steps of a store's first life only."""
STEPS: Final = (
    *(f"{moment} {step}" for step in (*OFTEN, *SELDOM) for moment in ("before", "after")),
    *(f"before {step}" for step in TRANSACTIONS),
)
"""Every step that can be crashed. SQLite's own commits have a "before" only: what comes after
them is the step that called for them."""
FAILING: Final = frozenset(OFTEN[:6]) | {
    "commit writer",
    "commit experience",
    "write experience",
    "shred data keys",
    "append tombstones",
}
"""Steps at which an engine may be away for a moment, before or after it has done its work."""


class Crash(NamedTuple):
    """Where a process ends: at the n-th time it comes to a step, from 1."""

    step: str
    time: int


class Faults:
    """What goes wrong in one process.

    Args:
        dice: Draws the failures.
        crash: Where it ends; None means nowhere.
        failures: Share of calls that an engine fails.
        report: Called with the step that the process ends at.
        flushed: Called with the shard's folder when the engine has flushed it.
    """

    def __init__(
        self,
        dice: Random,
        crash: Crash | None,
        failures: float,
        report: Callable[[str], None],
        flushed: Callable[[Path], None],
    ) -> None:
        self._dice = dice
        self._crash = crash
        self._failures = failures
        self._report = report
        self._flushed = flushed
        self.seen: Counter[str] = Counter()

    def at(self, step: str) -> None:
        """Come to a step; the process may end here."""
        self.seen[step] += 1
        if self._crash is not None and (step, self.seen[step]) == self._crash:
            self._report(step)
            os._exit(CRASHED)

    def install(self) -> None:
        """Change the classes of this process."""
        self._around(SqliteLog, "append", _appended)
        self._around(SqliteLog, "commit", _committed)
        self._around(SqliteLog, "compact", lambda *_: "compact journal")
        self._around(SqliteLog, "delete_before", lambda *_: "trim ingress")
        self._around(SqliteLog, "vacuum", lambda *_: "vacuum log")
        self._around(LogSealer, "seal_values", lambda *_: "seal log values")
        self._around(LogSealer, "shred_values", lambda *_: "shred log values")
        self._around(SqliteKeys, "put", lambda *_: "put data keys")
        self._around(SqliteKeys, "shred", lambda *_: "shred data keys")
        self._around(SqliteExperience, "write", lambda *_: "write experience")
        self._around(SqliteIdentity, "apply", lambda *_: "apply identity")
        self._around(EdgeEpisodes, "apply", lambda *_: "apply episodes")
        self._around(EdgeEpisodes, "flush", lambda *_: "flush episodes")
        self._within(SqliteKeys, "_make_owner", "make owner keys")
        self._within(EdgeEpisodes, "_upsert", "put points")
        self._within(EdgeEpisodes, "_touch", "touch point")
        self._within(EdgeEpisodes, "_remove", "erase points")
        self._within(sealing, "_make_master_key", "make master key")
        self._within(wiring, "_write_store", "make store file")
        self._watch_markers()
        self._watch_commits()

    def _around(self, owner: Any, method: str, name: Callable[..., str]) -> None:
        original: Callable[..., Awaitable[Any]] = getattr(owner, method)

        @wraps(original)
        async def wrapped(this: object, *given: Any, **named: Any) -> Any:
            step = name(*given)
            self.at(f"before {step}")
            self._fail(step)
            result = await original(this, *given, **named)
            self.at(f"after {step}")
            self._fail(step)
            return result

        setattr(owner, method, wrapped)

    def _within(self, owner: Any, function: str, step: str) -> None:
        original: Callable[..., Any] = getattr(owner, function)

        @wraps(original)
        def wrapped(*given: Any, **named: Any) -> Any:
            self.at(f"before {step}")
            result = original(*given, **named)
            self.at(f"after {step}")
            return result

        setattr(owner, function, wrapped)

    def _fail(self, step: str) -> None:
        if step in FAILING and self._dice.random() < self._failures:
            message = f"The engine is away for a moment, at: {step}."
            raise Unavailable(message)

    def _watch_markers(self) -> None:
        self._within(episodes, "write_markers", "write markers")
        module: Any = episodes
        original = module.write_markers

        def wrapped(path: Path, markers: Any) -> None:
            self._flushed(path.parent / episodes.SHARD)
            original(path, markers)

        module.write_markers = wrapped

    def _watch_commits(self) -> None:
        module: Any = database
        original = module._connect

        @wraps(original)
        def wrapped(path: Path, role: str, **named: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = original(path, role, **named)

            def trace(statement: str) -> None:
                if statement == "COMMIT":
                    self.at(f"before commit {role}")

            if not named["read_only"]:
                connection.set_trace_callback(trace)
            return connection

        module._connect = wrapped


def _appended(records: Sequence[NewRecord]) -> str:
    if not records or (records[0].topic == JOURNAL.name and records[0].value is None):
        return "append tombstones"
    return APPENDS[records[0].topic]


def _committed(group: str, _: object) -> str:
    groups = {WRITER_GROUP: "commit writer", EXPERIENCE_GROUP: "commit experience"}
    return groups.get(group, "commit erasure")
