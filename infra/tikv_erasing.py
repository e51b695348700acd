"""What a journal record changes, in units that may fall into several transactions.

Most records fit into one. A forget of thousands of turns, or of one at the start of a long session,
doesn't: it is cut between units, or within one at its cursor, and the owner's marker says how far
it is. Each transaction moves the marker with what it changes, so that whoever goes on, this process
or another, does each unit once.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from ..schemas.ports import Stored
from ..schemas.records import Erasure, SessionGap
from .tikv_draft import Draft
from .tikv_effects import (
    add_place,
    drop_event,
    drop_point,
    drop_reads,
    mark_outdated,
    memory_row,
    put_point,
    put_reads,
    put_record,
    remove_place,
)
from .tikv_keys import behind, number_in
from .tikv_rows import CANDIDATE, PLACED, SIZE, Children, Half

__all__ = ["write"]

Item = TypeVar("Item")
Unit = Callable[[int], Awaitable[int | None]]
"""Does a part from a cursor on; returns where it goes on, or None when all is done."""

GROUP: Final = 64  # of ids whose rows are read together


async def write(draft: Draft, stored: Stored, half: Half | None) -> Half | None:
    """Put one record's effects, or as many of them as the transaction takes.

    Args:
        draft: Takes the changes.
        stored: The record.
        half: Where an earlier transaction left it; None begins.

    Returns:
        Where the next transaction goes on; None when the record is done.
    """
    units = _units(draft, stored)
    unit, cursor = (half.unit, half.cursor) if half is not None else (0, 0)
    while unit < len(units):
        if draft.is_full:
            return Half(stored.position.offset, unit, cursor)
        following = await units[unit](cursor)
        unit, cursor = (unit + 1, 0) if following is None else (unit, following)
    return None


def _units(draft: Draft, stored: Stored) -> list[Unit]:
    async def add(_: int) -> None:
        await put_record(draft, stored)

    erasure = stored.record.erasure
    if erasure is None:
        return [add]
    return [add, *_erasing(draft, erasure, stored.position.offset)]


def _erasing(draft: Draft, erasure: Erasure, offset: int) -> list[Unit]:
    events = [event.bytes for event in erasure.events]
    memories = [memory.bytes for memory in erasure.memories]
    resealed: dict[bytes, dict[bytes, None]] = {}
    for event, _, candidate in erasure.contexts:
        reads = resealed.setdefault(event.bytes, {})
        reads |= {read.bytes: None for read in candidate.reads}

    async def erase(part: Sequence[bytes]) -> None:
        await _erase_events(draft, part)

    async def drop(part: Sequence[bytes]) -> None:
        await draft.load(draft.keys.ids + memory for memory in part)
        for memory in part:
            await drop_point(draft, memory)

    async def put(part: Sequence[int]) -> None:
        puts = [erasure.puts[number] for number in part]
        await draft.load(draft.keys.ids + one.decision.memory_id.bytes for one in puts)
        for one in puts:
            event = one.decision.sources[0].bytes
            row = memory_row(event, one.candidate.kind, one.decision)
            await put_point(draft, one.decision.memory_id.bytes, row)

    async def mark(part: Sequence[int]) -> None:
        await mark_outdated(draft, [erasure.puts[number].decision for number in part])

    async def reseal(part: Sequence[bytes]) -> None:
        for event in part:
            await _reseal(draft, event, list(resealed[event]), offset)

    return [
        _in_groups(events, erase),
        *(_closing(draft, gap) for gap in erasure.gaps),
        _in_groups(memories, drop),
        _in_groups(range(len(erasure.puts)), put),
        _in_groups(range(len(erasure.puts)), mark),
        _in_groups(list(resealed), reseal),
    ]


def _in_groups(items: Sequence[Item], work: Callable[[Sequence[Item]], Awaitable[None]]) -> Unit:
    async def do(cursor: int) -> int | None:
        await work(items[cursor : cursor + GROUP])
        return cursor + GROUP if cursor + GROUP < len(items) else None

    return do


async def _erase_events(draft: Draft, events: Sequence[bytes]) -> None:
    keys = draft.keys
    await draft.load(key + event for event in events for key in (keys.ids, keys.kept))
    rows = [await draft.event(event) for event in events]
    children = [await draft.children(event) for event in events]
    await draft.load(
        [
            *(
                keys.place(row.session, row.position)
                for row in rows
                if row and row.session is not None
            ),
            *(keys.ids + point for one in children for point in (*one.chunks, *one.memories)),
            *(keys.readers + read for one in children for read in one.reads),
        ]
    )
    for event, one in zip(events, children, strict=True):
        await drop_event(draft, event)
        await _drop_children(draft, event, one)
        draft.put(keys.erased + event, b"1")


async def _drop_children(draft: Draft, event: bytes, children: Children) -> None:
    keys = draft.keys
    for point in (*children.chunks, *children.memories):
        draft.put(keys.ids + point, None)
    await drop_reads(draft, event)
    for label in children.labels:
        draft.put(keys.labelled(label) + event, None)
    for statement in children.statements:
        draft.put(keys.prefix + statement, None)
    if children.pack() is not None:
        draft.put(keys.kept + event, None)


def _closing(draft: Draft, gap: SessionGap) -> Unit:
    """Move the later turns of a session up: positions stay ranks, in a rebuild as well.

    They move down, the lowest first, so that what is behind the cursor hasn't moved yet.
    """

    async def close(cursor: int) -> int | None:
        keys = draft.keys
        size = keys.session(gap.session)
        if await draft.value(size) is not None:
            draft.put(size, SIZE.pack(gap.size))
        if not gap.positions:
            return None
        start = max(cursor, min(gap.positions) + 1)
        end = behind(keys.session_places(gap.session))
        pairs, last = await draft.scan(keys.place(gap.session, start), end, GROUP)
        turns = [(number_in(key), value) for key, value in pairs]
        await draft.load(keys.ids + event for _, value in turns for event, *_ in _placed(value))
        for position, value in turns:
            await _move(draft, gap, position, value)
        return None if last is None else number_in(last) + 1

    return close


async def _move(draft: Draft, gap: SessionGap, position: int, value: bytes) -> None:
    target = position
    for gone in gap.positions:
        target -= target > gone
    for event, said_us, offset in _placed(value):
        row = await draft.event(event)
        if row is not None and target != position:
            draft.put_row(event, row._replace(position=target))
            await remove_place(draft, gap.session, position, event)
            await add_place(draft, gap.session, target, PLACED.pack(event, said_us, offset))


def _placed(value: bytes) -> list[tuple[bytes, int, int]]:
    return list(PLACED.iter_unpack(value))


async def _reseal(draft: Draft, event: bytes, reads: Sequence[bytes], offset: int) -> None:
    """Say where an event's candidates are now, and whose text they hold."""
    row = await draft.event(event)
    if row is not None:
        draft.put_row(event, row._replace(candidates=offset))
        draft.put(draft.keys.candidate(row.offset), CANDIDATE.pack(event, offset))
    await drop_reads(draft, event)
    await put_reads(draft, event, reads)
