"""How a journal record becomes changes of an owner's rows: pure puts, one record at a time.

Each function changes a draft. What a forget takes away is in `tikv_erasing`.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from ..schemas.events import iso, owner_key, split_owner
from ..schemas.ports import BindingRow, Stored
from ..schemas.records import Binding, Decision, JournalRecord
from .tikv_draft import Draft
from .tikv_keys import OwnerKeys, text
from .tikv_rows import (
    CANDIDATE,
    PLACED,
    SIZE,
    EventRow,
    PointRow,
    bindings_in,
    ids_in,
    microseconds,
    pack_bindings,
    pack_statement,
)

__all__ = [
    "add_place",
    "drop_event",
    "drop_point",
    "drop_reads",
    "mark_outdated",
    "memory_row",
    "needed",
    "put_point",
    "put_reads",
    "put_record",
    "remove_place",
]


def needed(keys: OwnerKeys, record: JournalRecord) -> Iterator[bytes]:
    """Yield the keys that a record's effects begin with, to be read in one call."""
    event = record.event_id.bytes
    yield keys.ids + event
    if record.session is not None:
        yield keys.place(record.session, record.position or 0)
    if record.labels or record.statements or record.candidates or len(record.points) > 1:
        yield keys.kept + event
    for chunk in record.points[1:]:
        yield keys.ids + chunk.id.bytes
    for candidate in record.candidates:
        yield from (keys.readers + read.bytes for read in candidate.reads)
    if record.binding is not None:
        yield keys.bindings
    for decision in record.decisions:
        yield keys.ids + decision.memory_id.bytes
        if decision.action == "touch" or decision.truth is not None:
            yield from _of_events(keys, (source.bytes for source in decision.sources))


def _of_events(keys: OwnerKeys, events: Iterable[bytes]) -> Iterator[bytes]:
    for event in events:
        yield keys.ids + event
        yield keys.kept + event


async def put_record(draft: Draft, stored: Stored) -> None:
    """Put what a record adds: event, points, touched memories, statements."""
    record = stored.record
    event = record.event_id.bytes
    if record.kind == "turn" and record.session is not None:
        size = SIZE.pack((record.position or 0) + 1)
        draft.put(draft.keys.session(record.session), size)
    await _put_event(draft, stored)
    if record.kind == "turn":
        for chunk in record.points[1:]:
            await put_point(draft, chunk.id.bytes, PointRow(event, "turn"))
        for decision in record.decisions:
            if decision.action == "new":
                kind = record.candidates[decision.candidate].kind
                point = memory_row(event, kind, decision)
                await put_point(draft, decision.memory_id.bytes, point)
        await _put_labels(draft, event, record.labels)
        reads = {read.bytes: None for one in record.candidates for read in one.reads}
        await put_reads(draft, event, reads)
    await _touch_points(draft, record)
    await _put_statements(draft, stored)
    if record.binding is not None:
        await _put_binding(draft, record, record.binding)


async def _put_event(draft: Draft, stored: Stored) -> None:
    record, offset = stored.record, stored.position.offset
    event = record.event_id.bytes
    await drop_event(draft, event)
    row = EventRow(
        content=record.content,
        producer=record.producer,
        offset=offset,
        session=record.session,
        position=record.position or 0,
        speaker=record.speaker,
        said=iso(record.said_at),
        role=record.role,
        candidates=offset if record.candidates else None,
        states=record.states,
        outdated=0,
        names=record.names,
    )
    draft.put_row(event, row)
    if record.candidates:
        draft.put(draft.keys.candidate(offset), CANDIDATE.pack(event, offset))
    if record.session is not None:
        draft.put(draft.keys.turn(offset), event)
        draft.put(draft.keys.newest_turn(offset), event)
        draft.put(draft.keys.by_producer(record.producer, offset), event)
        placed = PLACED.pack(event, microseconds(record.said_at), offset)
        await add_place(draft, record.session, row.position, placed)


async def drop_event(draft: Draft, event: bytes) -> None:
    """Remove an event's row and its places in every order, if it is there."""
    row = await draft.event(event)
    if row is None:
        return
    keys = draft.keys
    draft.put(keys.ids + event, None)
    if row.candidates is not None:
        draft.put(keys.candidate(row.offset), None)
    if row.session is not None:
        draft.put(keys.turn(row.offset), None)
        draft.put(keys.newest_turn(row.offset), None)
        draft.put(keys.by_producer(row.producer, row.offset), None)
        await remove_place(draft, row.session, row.position, event)


async def add_place(draft: Draft, session: bytes, position: int, placed: bytes) -> None:
    """Let a turn stand at a place; others that stand there stay."""
    key = draft.keys.place(session, position)
    others = _places_in(await draft.value(key), placed[:16])
    draft.put(key, b"".join(sorted([*others, placed])))


async def remove_place(draft: Draft, session: bytes, position: int, event: bytes) -> None:
    """Let a turn no longer stand at a place."""
    key = draft.keys.place(session, position)
    draft.put(key, b"".join(_places_in(await draft.value(key), event)) or None)


def _places_in(value: bytes | None, but: bytes) -> list[bytes]:
    size = PLACED.size
    parts = [value[start : start + size] for start in range(0, len(value), size)] if value else []
    return [one for one in parts if not one.startswith(but)]


async def put_point(draft: Draft, point: bytes, row: PointRow) -> None:
    """Put a later chunk or a memory, and say with its event that it is there."""
    await drop_point(draft, point)
    draft.put_row(point, row)
    children = await draft.children(row.event)
    (children.chunks if row.kind == "turn" else children.memories)[point] = None
    draft.put_children(row.event, children)


async def drop_point(draft: Draft, point: bytes) -> None:
    """Remove a later chunk or a memory, if it is there."""
    row = await draft.point(point)
    if row is None:
        return
    draft.put(draft.keys.ids + point, None)
    children = await draft.children(row.event)
    children.chunks.pop(point, None)
    children.memories.pop(point, None)
    draft.put_children(row.event, children)


def memory_row(event: bytes, kind: str, decision: Decision) -> PointRow:
    """Return a memory as a decision has it."""
    scope = "private" if decision.truth is None else decision.truth.scope
    return PointRow(event, kind, decision.confidence, scope, _is_superseded(decision))


def _is_superseded(decision: Decision) -> bool:
    return decision.truth is not None and decision.truth.state == "superseded"


async def _put_labels(draft: Draft, event: bytes, labels: Sequence[bytes]) -> None:
    if labels:
        children = await draft.children(event)
        for label in labels:
            draft.put(draft.keys.labelled(label) + event, b"1")
            children.labels[label] = None
        draft.put_children(event, children)


async def put_reads(draft: Draft, event: bytes, reads: Collection[bytes]) -> None:
    """Say that candidates of an event hold text of others in their summaries."""
    if not reads:
        return
    children = await draft.children(event)
    for read in reads:
        key = draft.keys.readers + read
        readers = {*ids_in(await draft.value(key) or b""), event}
        draft.put(key, b"".join(sorted(readers)))
        children.reads[read] = None
    draft.put_children(event, children)


async def drop_reads(draft: Draft, event: bytes) -> None:
    """Say that candidates of an event hold no other's text any more."""
    children = await draft.children(event)
    for read in children.reads:
        key = draft.keys.readers + read
        readers = {*ids_in(await draft.value(key) or b"")} - {event}
        draft.put(key, b"".join(sorted(readers)) or None)
    if children.reads:
        children.reads.clear()
        draft.put_children(event, children)


async def _touch_points(draft: Draft, record: JournalRecord) -> None:
    touched = [one for one in record.decisions if one.action == "touch"]
    for decision in touched:
        point = decision.memory_id.bytes
        row = await draft.point(point)
        if row is not None:
            draft.put_row(point, memory_row(row.event, row.kind, decision))
    timed = [one for one in record.decisions if one.action == "new" and one.truth is not None]
    await mark_outdated(draft, [*touched, *timed])


async def mark_outdated(draft: Draft, decisions: Sequence[Decision]) -> None:
    """Mark turns of whose memories none holds any more, and unmark the others.

    A turn that only repeated a memory has none of its own, and goes with that one.
    """
    sources = [source.bytes for decision in decisions for source in decision.sources]
    await draft.load(_of_events(draft.keys, sources))
    children = {source: await draft.children(source) for source in sources}
    memories = (key for one in children.values() for key in one.memories)
    await draft.load(draft.keys.ids + key for key in memories)
    for decision in decisions:
        is_gone = _is_superseded(decision)
        for source in decision.sources:
            row = await draft.event(source.bytes)
            if row is None:
                continue
            points = [await draft.point(key) for key in children[source.bytes].memories]
            holds = any(one is not None and not one.is_superseded for one in points)
            outdated = 0 if holds else int(is_gone)
            if row.outdated != outdated:
                draft.put_row(source.bytes, row._replace(outdated=outdated))


async def _put_statements(draft: Draft, stored: Stored) -> None:
    record, offset = stored.record, stored.position.offset
    if not record.statements:
        return
    event = record.event_id.bytes
    children = await draft.children(event)
    said_us = microseconds(record.said_at)
    times = (iso(record.recorded_at), iso(record.said_at))
    for rank, one in enumerate(record.statements):
        key = draft.keys.statement(one.slot, one.matter, said_us, offset, rank)
        draft.put(key, pack_statement(one.box, event, times, one.kind, one.value))
        children.statements[key[len(draft.keys.prefix) :]] = None
    draft.put_children(event, children)


async def _put_binding(draft: Draft, record: JournalRecord, binding: Binding) -> None:
    """Say what an alias is bound to, and with the person that it is: in one transaction."""
    if binding.bound and record.box is None:
        return  # what was said before stays
    keys = draft.keys
    tenant_id, alias = split_owner(record.owner)
    rows = {one.person: one for one in bindings_in(await draft.value(keys.bindings))}
    rows[binding.person] = BindingRow(binding.person, binding.bound, record.event_id, record.box)
    draft.put(keys.bindings, pack_bindings(rows[person] for person in sorted(rows)))
    person = owner_key(tenant_id, binding.person)
    draft.put(keys.aliases(person) + text(alias.encode()), b"1" if binding.bound else None)
