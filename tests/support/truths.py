"""States of memories that no part of the product makes yet, written as journal records by hand."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from shutil import move, rmtree
from typing import Any, Final

import eunoe
from eunoe.replaying import replay
from eunoe.schemas.events import event_id, owner_key
from eunoe.schemas.ports import MemoryPoint
from eunoe.schemas.records import Decision, IngressPosition, JournalRecord, MemoryScope, Truth
from eunoe.streams.asking import project_hash
from tests.support.memories import settings_in

__all__ = ["TENANT", "correct", "corrected", "kept", "of_project", "superseded", "take_replayed"]

TENANT: Final = "default"


async def kept(memory: eunoe.Memory, user: str, part: str) -> MemoryPoint:
    """Return the one memory of a user whose text holds a part."""
    owner = owner_key(TENANT, user)
    points = await memory.runtime.engines.episodes.memories(owner)
    items = {str(one.memory_id): one for one in points}
    (found,) = [
        items[item.id]
        for item in await memory.list(user_id=user, limit=1000)
        if item.kind != "turn" and part in item.text
    ]
    return found


def corrected(user: str, old: MemoryPoint, at: datetime, values: dict[str, Any]) -> JournalRecord:
    """Return the record of a correction that gives a memory other values.

    Args:
        user: Whose.
        old: The memory.
        at: When it was decided.
        values: Fields of the decision: "truth", "confidence", "importance".
    """
    fields: dict[str, Any] = {
        name: getattr(old, name)
        for name in (
            "memory_id", "sources", "said_at", "touched_at", "created_at", "last_accessed",
            "importance", "confidence", "truth",
        )
    }  # fmt: skip
    decision = Decision(action="touch", candidate=0, **(fields | values))
    return JournalRecord(
        kind="correction",
        event_id=event_id(TENANT, user, "tests", f"{old.memory_id}/{at.isoformat()}"),
        owner=owner_key(TENANT, user),
        ingress=IngressPosition(topic="tests", partition=0, epoch="tests", offset=0),
        said_at=at,
        recorded_at=at,
        content=b"",
        producer=b"",
        box=None,
        decisions=(decision,),
    )


async def correct(
    memory: eunoe.Memory, user: str, part: str, at: datetime, **values: Any
) -> MemoryPoint:
    """Give the one memory whose text holds a part other values; returns it as it was."""
    old = await kept(memory, user, part)
    await memory.runtime.journal.append([], [corrected(user, old, at, values)])
    return old


async def superseded(
    memory: eunoe.Memory,
    user: str,
    part: str,
    at: datetime,
    *,
    since: datetime | None = None,
) -> MemoryPoint:
    """Let a memory no longer hold from a moment on: it held since it was said, or since another."""
    old = await kept(memory, user, part)
    truth = Truth(state="superseded", changed_at=at, valid_from=since or old.said_at, valid_to=at)
    return await correct(memory, user, part, at, confidence=0.7, truth=truth)


async def of_project(
    memory: eunoe.Memory,
    user: str,
    parts: Sequence[str],
    at: datetime,
    *,
    scope: MemoryScope = "project",
    project: str | None = None,
) -> None:
    """Let memories be a project's or the organisation's."""
    keys = await memory.runtime.engines.keys.owner(owner_key(TENANT, user))
    hashed = None if project is None else project_hash(keys, project)
    for part in parts:
        await correct(memory, user, part, at, truth=Truth(scope=scope, project=hashed))


async def take_replayed(place: Path) -> None:
    """Put stores that are made anew from the journal in the place of the live ones, closed now."""
    await replay(settings_in(place), place / "replayed", compare=False, tell=lambda _: None)
    data = place / "data"
    rmtree(data / "episodes")
    for leftover in data.glob("identity.sqlite*"):
        leftover.unlink()
    for name in ("episodes", "identity.sqlite"):
        move(place / "replayed" / name, data / name)
