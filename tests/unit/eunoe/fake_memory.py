"""A façade that notes its calls and gives well-formed results, for the door and the commands."""

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Self

import orjson

from eunoe import door, door_remote, door_wire
from eunoe.schemas.results import (
    Check,
    Context,
    DeadLetter,
    ExperienceFigure,
    ForgetReport,
    Hit,
    Identity,
    Item,
    ProfileField,
    Revision,
    Stats,
)

WHEN = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=timezone(timedelta(hours=8)))
ITEM = Item(
    id="t1",
    kind="turn",
    text="我喜欢喝咖啡",
    sources=("t1",),
    said_at=WHEN,
    created_at=WHEN,
    last_accessed=WHEN,
    metadata={"deep": [1, None, {"x": 0.5}]},
)
HIT = Hit(
    id="t1",
    text="Grüße, 你好",
    score=0.5,
    sources=("t1", "t0"),
    said_at=WHEN,
    confidence=1.0,
    kind="turn",
    tier="active",
    why={"dense": 0.25},
)
RESULTS: dict[str, Any] = {
    "add": ["t1", "t2"],
    "search": [HIT],
    "context": Context(
        text="时间按 UTC。\nGrüße, 你好 [t1]", tokens=12, hits=(HIT,), timezone="Asia/Shanghai"
    ),
    "get": ITEM,
    "list": [ITEM, ITEM],
    "history": [
        Revision(at=WHEN, recorded_at=WHEN, change="added", text="x", sources=("t1",), version=1)
    ],
    "profile": [
        ProfileField(
            slot="home",
            value="Oslo",
            subject=None,
            condition=None,
            kind="slot",
            version=2,
            said_at=WHEN,
            sources=("t1",),
        )
    ],
    "set_timezone": None,
    "forget": ForgetReport(
        forgotten=("t1",),
        memories_removed=1,
        memories_changed=0,
        keys_shredded=3,
        verified=("log",),
    ),
    "stats": Stats(
        turns=1,
        memories=2,
        slots=3,
        waiting=0,
        dead_letters=0,
        users=None,
        disk_bytes=9,
        encoder="e",
    ),
    "settled": None,
    "digest": "abc",
    "dead_letters": [
        DeadLetter(
            topic="t",
            reason="A sentence.",
            attempts=1,
            first_seen=WHEN,
            event_id=None,
            original="{",
        )
    ],
    "experience": [
        ExperienceFigure(
            domain="general", kind="search", count=7, success=None, days=2, user_days=11, share=0.5
        ),
        ExperienceFigure(
            domain="general", kind="task-outcome", count=4, success=0.75, day=WHEN.date()
        ),
    ],
    "register": "2f7d1a9c04be5638",
    "bind": None,
    "unbind": None,
    "identity": Identity(
        user_id="2f7d1a9c04be5638",
        phones=("+8613800138000",),
        devices=("指纹-1",),
        aliases=("device:1", "phone:1"),
        first_used_at=WHEN,
        timezone="Asia/Shanghai",
    ),
    "doctor": [Check(name="folder", ok=True, detail="It is well.")],
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "add": {"messages": [{"role": "user", "content": "x", "time": WHEN.isoformat()}]},
    "search": {"query": "q", "now": WHEN, "as_of": WHEN.astimezone(UTC), "kinds": ["turn"]},
    "context": {"query": "q", "now": WHEN, "budget_tokens": 50, "filters": {"verified": True}},
    "get": {"id": ("chat", "t1")},
    "list": {"kinds": ["turn"], "limit": 3},
    "history": {"id": "t1"},
    "set_timezone": {"timezone": "Asia/Shanghai"},
    "forget": {"ids": [("chat", "t1"), "t2"]},
    "dead_letters": {"show": True},
    "experience": {"domain": "general", "days": 3},
    "settled": {"timeout_s": 5.0},
    "register": {"phone": "+8613800138000", "device": "指纹-1", "registered_at": WHEN},
    "bind": {"phone": "+8613900139000"},
    "unbind": {"device": "指纹-1"},
}
WITHOUT_USER = {"settled", "doctor", "register"}


class FakeMemory:
    """A façade that notes its calls; `behaviour` may replace what they do."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.finished: list[str] = []
        self.opened = 0
        self.behaviour: Callable[[str, dict[str, Any]], Awaitable[object]] | None = None

    async def __aenter__(self) -> Self:
        """Note that it was opened."""
        self.opened += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        """Note that it was closed."""
        self.opened -= 1

    def __getattr__(self, call: str) -> Callable[..., Awaitable[object]]:
        """Answer any call of the façade."""
        if call not in RESULTS:
            raise AttributeError(call)

        async def answer(*values: object, **named: object) -> object:
            bound = inspect.signature(door_remote.CALLS[call]).bind(None, *values, **named)
            arguments = {name: value for name, value in bound.arguments.items() if name != "self"}
            self.calls.append((call, arguments))
            if self.behaviour is None:
                return RESULTS[call]
            result = await self.behaviour(call, arguments)
            self.finished.append(call)
            return result

        return answer


def arguments_of(call: str) -> dict[str, Any]:
    """Give well-formed arguments of a call."""
    user = {} if call in WITHOUT_USER else {"user_id": "ana"}
    return ARGUMENTS.get(call, {}) | user


@contextlib.asynccontextmanager
async def served(fake: FakeMemory, folder: Path) -> AsyncIterator[door.RemoteMemory]:
    """Serve a façade and connect to it."""
    async with await door.serve(fake, folder):
        remote = await door.connect(folder)
        assert remote is not None
        async with remote:
            yield remote


async def raw_ask(folder: Path, frame: bytes) -> dict[str, dict[str, str]]:
    """Send a frame as it is and return the answer."""
    reader, writer = await asyncio.open_unix_connection(folder / "door.sock")
    await door_wire.write_frame(writer, frame)
    answer = await door_wire.read_frame(reader)
    writer.close()
    assert answer is not None
    found: dict[str, dict[str, str]] = orjson.loads(answer)
    return found
