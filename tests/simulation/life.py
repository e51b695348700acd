"""One life of the process that owns a store: it opens, its clients go on, and it ends.

Runs in a process of its own. What the world outside learns of it is one line of JSON for each
answer that a client got, written at once: what isn't there was not acknowledged.
"""

import asyncio
import os
import shutil
import subprocess
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, Final
from uuid import NAMESPACE_OID, UUID, uuid5

import orjson

import eunoe
from eunoe import commanding
from eunoe.infra.embedded.keys import SqliteKeys
from eunoe.infra.embedded.log import SqliteLog
from eunoe.infra.sealing import load_master_key, master_key_path
from eunoe.infra.wiring import STORE_FILE, Tools
from eunoe.schemas.errors import Fenced, NotFound, Rejected, Unavailable
from eunoe.schemas.events import owner_key
from eunoe.schemas.ports import LogRecord, NewRecord, TopicPartition
from eunoe.schemas.topics import JOURNAL, TURNS, WRITER_GROUP
from eunoe.streams import consumer, projections
from tests.simulation.faults import CRASHED, Crash, Faults
from tests.simulation.history import Add, Clash, Client, Forget, Look, Malformed, Operation, Zone
from tests.simulation.loop import SimulatedLoop
from tests.support.memories import cheap_tools, settings_in
from tests.support.tools import START

__all__ = ["BUGS", "FLUSHED", "IDLE", "REPORTS", "Life", "live"]

FLUSHED: Final = "flushed"
"""Folder beside the store's with the shard as it was last flushed."""
REPORTS: Final = "reports.jsonl"

IDLE: Final = "idle"
"""The step of a process that is killed while it has nothing to do."""
ATTEMPTS_MAX: Final = 200
CURRENT: Final[ContextVar[str | None]] = ContextVar("CURRENT", default=None)
"""The operation that a client is at: it names the command's id and time, in each attempt."""


@dataclass(frozen=True, slots=True)
class Life:
    """What one process does.

    Args:
        seed: Draws everything that happens in it.
        place: Folder with the store and the reports.
        clients: Whose.
        begin: The first operation of each client.
        end: One past the last operation of each client.
        crash: Where it ends; None means after its operations.
        ending: After its operations: "closed", "killed", or "checked" by reading everything.
        failures: Share of engine calls that fail for a moment.
        zombie: Whether the owner before it goes on writing.
        keeps_flushed: Whether the shard is copied whenever the engine has flushed it.
        bug: What is broken on purpose, of `BUGS`.
    """

    seed: str
    place: Path
    clients: tuple[Client, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    crash: Crash | None = None
    ending: str = "closed"
    failures: float = 0.0
    zombie: bool = False
    keeps_flushed: bool = False
    bug: str | None = None


class JumpingClock:
    """`ports.Clock` that jumps, forth and back by days; a client's command has its own time.

    It stays within the week after which dead letters go.

    Args:
        dice: Draws the jumps.
    """

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self._jump()

    def now(self) -> datetime:
        """Return the moment and go on."""
        current = CURRENT.get()
        if current is not None:
            return START + timedelta(minutes=int(current.rpartition("/")[2]))
        self._moment += timedelta(seconds=1)
        if self._dice.random() < 0.02:
            self._jump()
        return self._moment

    def _jump(self) -> None:
        self._moment = START + timedelta(hours=self._dice.uniform(0, 6 * 24))


async def _take_first(this: Any, records: Sequence[LogRecord]) -> None:
    place = TopicPartition(records[-1].position.topic, records[-1].position.partition)
    await this._log.commit(WRITER_GROUP, {place: records[-1].position.offset + 1})
    await CONSUMER_TAKE(this, records)


async def _catch_up_nothing(_: Any) -> int:
    return 0


CONSUMER_TAKE: Final = consumer.Consumer._take
BUGS: Final[Mapping[str, Sequence[tuple[Any, str, Any]]]] = {
    "acknowledge-first": ((consumer.Consumer, "_take", _take_first),),
    "never-catch-up": ((projections.Journal, "catch_up", _catch_up_nothing),),
}
"""What can be broken on purpose, to see that it is found."""


def live(life: Life) -> None:
    """Live; never returns. The exit code is 0, or that of a crash, or 1 with a report."""
    descriptor = os.open(life.place / REPORTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def report(**fields: object) -> None:
        os.write(descriptor, orjson.dumps(fields) + b"\n")

    try:
        dice = Random(life.seed)  # noqa: S311 - reproducible, not secret
        replaced: Sequence[tuple[Any, str, Any]] = (
            (os, "urandom", dice.randbytes),
            (projections, "FLUSH_RECORDS", dice.choice((3, 10, 40, 2_000))),
            (consumer, "BATCH_RECORDS_MAX", dice.choice((1, 5, 64, 64))),
            (commanding, "uuid", SimpleNamespace(uuid4=_command_id, UUID=UUID)),
            *(() if life.bug is None else BUGS[life.bug]),
        )
        for owner, name, value in replaced:
            setattr(owner, name, value)
        faults = Faults(
            Random(f"{life.seed}/faults"),  # noqa: S311 - reproducible, not secret
            life.crash,
            life.failures,
            lambda step: report(crashed=step),
            _keep_flushed if life.keeps_flushed else lambda _: None,
        )
        faults.install()
        loop = SimulatedLoop(Random(f"{life.seed}/loop"))  # noqa: S311 - reproducible, not secret
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(_live(life, dice, report))
            report(ended_s=round(loop.time(), 6), steps=dict(sorted(faults.seen.items())))
    except BaseException:  # noqa: BLE001 - the top of a process; the report is its result
        report(failed=traceback.format_exc())
        os._exit(1)
    os._exit(0)


def _command_id() -> UUID:
    return uuid5(NAMESPACE_OID, CURRENT.get() or "")


def _keep_flushed(shard: Path) -> None:
    kept = shard.parents[2] / FLUSHED
    copy = kept.with_suffix(".new")
    shutil.rmtree(copy, ignore_errors=True)
    subprocess.run(["cp", "-r", "--sparse=always", shard, copy], check=True)  # noqa: S603, S607 - own paths
    shutil.rmtree(kept, ignore_errors=True)
    copy.rename(kept)


async def _live(life: Life, dice: Random, report: Callable[..., None]) -> None:
    settings = settings_in(life.place)
    tools = cheap_tools(clock=JumpingClock(dice))
    async with AsyncExitStack() as stack:
        zombie = await _open_zombie(settings, stack) if life.zombie else None
        memory = await _open(settings, tools, stack)
        names = [f"{one.tenant_id}/{one.user_id}" for one in life.clients]
        runs = [
            _run(memory, client, name, life.begin[index], life.end[index], index, report)
            for index, (client, name) in enumerate(zip(life.clients, names, strict=True))
        ]
        late = asyncio.create_task(_send_again(memory, life, Random(f"{life.seed}/late")))  # noqa: S311 - reproducible
        if zombie is not None:
            await _write_as_zombie(zombie, life.clients[0])
        await asyncio.gather(*runs)
        await late
        await memory.settled()
        if life.ending == "killed":
            report(crashed=IDLE)
            os._exit(CRASHED)
        if life.ending == "checked":
            while memory.runtime.served.waiting:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(1)
            await memory.runtime.experience.settled()
            report(state=await _state(memory, life.clients))


async def _open(settings: eunoe.Settings, tools: Tools, stack: AsyncExitStack) -> eunoe.Memory:
    for _ in range(ATTEMPTS_MAX):
        try:
            return await stack.enter_async_context(eunoe.open(settings, serve=False, tools=tools))
        except Unavailable:
            await asyncio.sleep(1)
    message = "It can't be opened."
    raise AssertionError(message)


async def _run(  # noqa: PLR0913, PLR0917 - one client of one life
    memory: eunoe.Memory,
    client: Client,
    name: str,
    begin: int,
    end: int,
    index: int,
    report: Callable[..., None],
) -> None:
    for number in range(begin, end):
        CURRENT.set(f"{name}/{number}")
        await _insist(memory, client, client.operations[number])
        report(client=index, done=number + 1)


async def _insist(memory: eunoe.Memory, client: Client, step: Operation) -> None:
    for _ in range(ATTEMPTS_MAX):
        try:
            await _do(memory, client, step)
        except Unavailable:
            await asyncio.sleep(0.5)
        else:
            return
    message = f"No attempt came through: {step}"
    raise AssertionError(message)


async def _do(memory: eunoe.Memory, client: Client, step: Operation) -> None:
    whose: dict[str, Any] = {"user_id": client.user_id, "tenant_id": client.tenant_id}
    if isinstance(step, Add):
        await memory.add([one.message() for one in step.turns], wait=step.wait, **whose)
    elif isinstance(step, Clash):
        try:
            await memory.add(step.turn.message(), **whose)
        except Rejected:
            return
        message = f"It was taken with another content: {step}"
        raise AssertionError(message)
    elif isinstance(step, Malformed):
        key = owner_key(client.tenant_id, client.user_id).encode()
        await memory.runtime.engines.log.append([NewRecord(TURNS.name, key, step.value)])
    elif isinstance(step, Forget):
        await _forget(memory, step, whose)
    elif isinstance(step, Zone):
        await memory.set_timezone(step.name, **whose)
    elif isinstance(step, Look):
        await memory.search(step.question, **whose)
        await memory.list(limit=5, **whose)


async def _forget(memory: eunoe.Memory, step: Forget, whose: dict[str, Any]) -> None:
    try:
        await memory.forget(list(step.idents), **whose)
    except NotFound:
        # An attempt before, whose answer got lost, has done it; then nothing of it is left.
        await memory.settled()
    for ident in step.idents:
        try:
            await memory.get(ident, **whose)
        except NotFound:
            continue
        message = f"It is forgotten and there: {ident}"
        raise AssertionError(message)


async def _send_again(memory: eunoe.Memory, life: Life, dice: Random) -> None:
    """Deliver late and doubled what clients were told is taken, in any order."""
    acknowledged = [
        (client, step)
        for client, begin in zip(life.clients, life.begin, strict=True)
        for step in client.operations[:begin]
        if isinstance(step, Add)
    ]
    for client, step in dice.choices(acknowledged, k=3) if acknowledged else ():
        await asyncio.sleep(dice.choice((0.0, 0.1, 2.0)))
        await _insist(memory, client, replace(step, wait=False))


async def _open_zombie(settings: eunoe.Settings, stack: AsyncExitStack) -> SqliteLog | None:
    file = settings.folder / STORE_FILE
    facts: dict[str, Any] = orjson.loads(file.read_bytes()) if file.exists() else {}
    if facts.get("epoch") is None:
        return None  # no process has opened it to the end yet
    path = master_key_path(settings.config_home, facts["id"])
    master = load_master_key(path, create=False)
    keys = await SqliteKeys.open(settings.folder / "keys.sqlite", master=master)
    stack.push_async_callback(keys.close)
    log = await SqliteLog.open(
        settings.folder / "log.sqlite",
        partitions=facts["partitions"],
        sealer=keys.sealer,
        clock=JumpingClock(Random(0)),  # noqa: S311 - reproducible, not secret
    )
    stack.push_async_callback(log.close)
    return log


async def _write_as_zombie(log: SqliteLog, client: Client) -> None:
    key = owner_key(client.tenant_id, client.user_id).encode()
    partition = log.partition_of(key)
    writes: Sequence[Callable[[], Any]] = (
        lambda: log.append([NewRecord(TURNS.name, key, b"{}")]),
        lambda: log.append([NewRecord(JOURNAL.name, b"zombie", b"{}", placed_by=key)]),
        lambda: log.commit(WRITER_GROUP, {TopicPartition(TURNS.name, partition): 10**6}),
        lambda: log.delete_before(JOURNAL.name, partition, 10**6),
    )
    for write in writes:
        for attempt in count():
            try:
                await write()
            except Unavailable:
                if attempt > ATTEMPTS_MAX:
                    raise
                continue
            except Fenced:
                break
            message = "A zombie wrote."
            raise AssertionError(message)


async def _state(memory: eunoe.Memory, clients: Sequence[Client]) -> dict[str, Any]:
    """Read everything that is compared: digests, ids, journal, letters, checks."""
    CURRENT.set(None)
    runtime = memory.runtime
    journaled: list[str] = []
    for partition in range(runtime.engines.partitions):
        async for stored in runtime.journal.read(partition, 0):
            journaled += [str(one.record.event_id) for one in stored]
    users = []
    for client in clients:
        whose: dict[str, Any] = {"user_id": client.user_id, "tenant_id": client.tenant_id}
        items = await memory.list(kinds=["turn"], limit=1_000, **whose)
        letters = await memory.dead_letters(show=True, **whose)
        readable = {one.event_id for one in letters if one.event_id and one.original}
        users.append(
            {
                "digest": await memory.digest(**whose),
                "turns": sorted(one.id for one in items),
                "counted": (await memory.stats(**whose)).turns,
                "refused": sorted(readable),
                "malformed": sum(one.event_id is None for one in letters),
            }
        )
    checks = [one.detail for one in await memory.doctor() if not one.ok]
    waiting = (await memory.stats()).waiting
    return {"users": users, "journaled": journaled, "trouble": checks, "waiting": waiting}
