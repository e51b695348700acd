"""Writing a store anew with another encoder: every event is published again, in order.

The old store is only read. Events keep their identity and time and are decided anew with the
new encoder's vectors; what was forgotten stays out. Run again after a crash, it goes on: events
that are there already are not doubled.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from .infra.settings import Settings
from .infra.wiring import Tools
from .memory import Memory
from .recorded import RecordedEncoder
from .runtime import Runtime
from .schemas.cloudevents import encode
from .schemas.errors import Damaged, Rejected
from .schemas.events import Envelope, EventType, Forget, SetTimezone, split_owner
from .schemas.ports import NewRecord, Stored
from .schemas.topics import COMMANDS, TURNS
from .streams.context import OpenTurn

__all__ = ["Reembedded", "reembed"]


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What was done.

    Args:
        events: Events published to the new store.
        users: Users whose turns are there.
        encoder: Of the new store.
    """

    events: int
    users: int
    encoder: str


async def reembed(
    settings: Settings, into: Path, *, tools: Tools | None = None, tell: Callable[[int], None]
) -> Reembedded:
    """Write the store of `settings.folder` anew into another folder.

    Args:
        settings: The old folder, with the new encoder.
        into: The new folder: empty, missing, or of an interrupted run.
        tools: Replaces the new store's tools, as in `open`.
        tell: Called with the number of events after each batch.

    Raises:
        Rejected: The two folders are one, or the old one holds no store.
        Unavailable: A folder or an engine can't be used.
        Damaged: The new store ends up with other turns than the old.
    """
    if into == settings.folder:
        message = "Give another folder for the new store: the old one is only read."
        raise Rejected(message)
    recorded = RecordedEncoder.of(settings.folder)
    old = Memory(settings, serve=False, process=False, tools=Tools(encoder=recorded))
    new = Memory(replace(settings, folder=into), serve=False, tools=tools)
    async with old, new:
        events = 0
        async for batch in _events(old.runtime):
            await _publish(new, batch)
            events += len(batch)
            tell(events)
        await new.settled()
        owners = await _compare(old.runtime, new.runtime)
        return Reembedded(events, owners, new.runtime.engines.encoder.id)


async def _events(runtime: Runtime) -> AsyncIterator[list[Envelope]]:
    for partition in range(runtime.engines.partitions):
        async for stored in runtime.journal.read(partition, 0):
            yield [event for one in stored if (event := await _event(runtime, one)) is not None]


async def _event(runtime: Runtime, stored: Stored) -> Envelope | None:
    record = stored.record
    tenant_id, user_id = split_owner(record.owner)
    payload: SetTimezone | Forget
    if record.box is not None:
        (plain,) = await runtime.engines.keys.open_boxes(
            record.owner, [(record.box, record.event_id)]
        )
        if plain is None:
            return None  # erased between the listing and the opening
        turn = OpenTurn.model_validate_json(plain)
        return Envelope(
            id=turn.id,
            source=turn.source,
            type=EventType.TURN_ADDED,
            time=record.said_at,
            tenant_id=tenant_id,
            user_id=user_id,
            payload=turn.payload,
        )
    if record.erasure is not None:
        payload, kind = Forget(event_ids=record.erasure.events), EventType.FORGET
    else:
        statements = [(one.box, record.event_id) for one in record.statements]
        (plain,) = await runtime.engines.keys.open_boxes(record.owner, statements)
        if plain is None:
            return None
        payload, kind = SetTimezone(timezone=orjson.loads(plain)["value"]), EventType.SET_TIMEZONE
    return Envelope(
        id=str(record.event_id),
        source="eunoe-reembed",
        type=kind,
        time=record.said_at,
        tenant_id=tenant_id,
        user_id=user_id,
        payload=payload,
    )


async def _publish(memory: Memory, events: list[Envelope]) -> None:
    """Publish in order; a command waits for the turns before it, and they for it."""
    run: list[NewRecord] = []
    for event in events:
        headers, value = encode(event)
        is_turn = event.type is EventType.TURN_ADDED
        topic = TURNS.name if is_turn else COMMANDS.name
        if not is_turn and run:
            await memory.runtime.engines.log.append(run)
            run = []
            await memory.settled()
        run.append(NewRecord(topic, event.owner.encode(), value, headers))
        if not is_turn:
            await memory.runtime.engines.log.append(run)
            run = []
            await memory.settled()
    await memory.runtime.engines.log.append(run)
    await memory.settled()


async def _compare(old: Runtime, new: Runtime) -> int:
    owners = await old.engines.identity.owners()
    for owner in owners:
        before = (await old.engines.identity.counts(owner))["turns"]
        after = (await new.engines.identity.counts(owner))["turns"]
        if before != after:
            message = (
                f"The new store has {after} turns of a user where the old one has {before}: "
                "keep the old one, remove the new folder and run it again."
            )
            raise Damaged(message)
    return len(owners)
