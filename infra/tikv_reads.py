"""What the identity store on TiKV tells: each call reads what was committed at one moment."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from ..schemas.limits import TIKV_READS_AT_ONCE, TIKV_SLOTS_SCANNED_MAX
from ..schemas.ports import (
    Applied,
    BindingRow,
    EventPlace,
    KnownEvent,
    Spot,
    StatementRow,
    TurnFilter,
)
from .tikv import Tikv
from .tikv_keys import OwnerKeys, Space, behind, texts_in
from .tikv_paging import Reading, each
from .tikv_rows import (
    CANDIDATE,
    PLACED,
    SIZE,
    Children,
    EventRow,
    Marker,
    PointRow,
    bindings_in,
    ids_in,
    microseconds,
    row_in,
    statement_in,
    unpack_partition,
)

__all__ = ["TikvReads"]

Points = dict[bytes, tuple[bytes, EventRow, PointRow | None]]
"""By point: the event it belongs to, that event's row, and its own where it isn't the event."""


class TikvReads:
    """The reading half of `IdentityStore` on TiKV.

    Args:
        tikv: Connected.
        space: Where this installation's keys are.
    """

    def __init__(self, tikv: Tikv, space: Space) -> None:
        self._tikv = tikv
        self._space = space

    async def applied(self, partition: int) -> Applied | None:
        """Return the partition's low-water position."""
        key = self._space.partition(partition)
        value = (await (await self._tikv.snapshot()).get([key])).get(key)
        return None if value is None else Applied(*unpack_partition(value))

    async def known(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, KnownEvent]:
        """Return those events that were accepted."""
        keys = self._space.owner(owner)
        rows = await _rows(await self._tikv.snapshot(), keys, [key.bytes for key in event_ids])
        return {
            UUID(bytes=key): KnownEvent(UUID(bytes=key), row.content, row.offset)
            for key, row in rows.items()
            if isinstance(row, EventRow)
        }

    async def erased(self, owner: str, event_ids: Sequence[UUID]) -> set[UUID]:
        """Return those events that a forget keeps out."""
        keys = self._space.owner(owner)
        asked = [keys.erased + key.bytes for key in event_ids]
        found = await (await self._tikv.snapshot()).get(asked)
        return {UUID(bytes=key[-16:]) for key in found}

    async def by_producer(self, owner: str, producer: bytes) -> list[EventPlace]:
        """Return the turns whose producer id has this keyed hash."""
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        start = keys.produced(producer)
        pairs = await snapshot.scan(start, behind(start))
        return await _places(snapshot, keys, [event for _, event in pairs])

    async def places(self, owner: str, point_ids: Sequence[UUID]) -> dict[UUID, EventPlace]:
        """Return where points stand."""
        points = await self._points(owner, [key.bytes for key in point_ids])
        places = {
            key: row.place(event, "turn" if point is None else point.kind)
            for key, (event, row, point) in points.items()
        }
        return {UUID(bytes=key): place for key, place in places.items() if place is not None}

    async def spots(self, owner: str, point_ids: Sequence[bytes]) -> dict[bytes, Spot]:
        """Return what a ranking needs of where points stand."""
        points = await self._points(owner, point_ids)
        spots = {key: row.spot(event, point) for key, (event, row, point) in points.items()}
        return {key: spot for key, spot in spots.items() if spot is not None}

    async def neighbours(
        self, owner: str, places: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Spot]:
        """Return the spots of the turns at (session, position) pairs that exist."""
        if not places:
            return {}
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        found = await snapshot.get([keys.place(*place) for place in dict.fromkeys(places)])
        events = [value[-PLACED.size :][:16] for value in found.values()]
        rows = await _rows(snapshot, keys, events)
        spots = [
            spot
            for event, row in rows.items()
            if isinstance(row, EventRow) and (spot := row.spot(event)) is not None
        ]
        return {(spot.session, spot.position): spot for spot in spots}

    async def session_end(self, owner: str, session: bytes) -> int:
        """Return the position that the session's next turn gets."""
        key = self._space.owner(owner).session(session)
        value = (await (await self._tikv.snapshot()).get([key])).get(key)
        return 0 if value is None else int(SIZE.unpack(value)[0])

    async def turns(
        self, owner: str, *, after: int = -1, limit: int = 100, newest: bool = False
    ) -> list[EventPlace]:
        """List turns in journal order, or newest first."""
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        if newest:
            start, end = keys.newest, keys.newest_turn(after)
        else:
            start, end = keys.turn(after + 1), behind(keys.turns)
        pairs = await snapshot.scan(start, end, limit=limit)
        return await _places(snapshot, keys, [event for _, event in pairs])

    async def statements(
        self, owner: str, slots: Sequence[bytes] | None = None
    ) -> list[StatementRow]:
        """Return statements in the order of truth within each matter."""
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        wanted = None if slots is None else set(slots)
        if wanted is None or len(wanted) > TIKV_SLOTS_SCANNED_MAX:
            starts = [keys.statements]
        else:
            starts = [keys.slot(slot) for slot in wanted]
        begin = len(keys.statements)
        rows = [
            (int.from_bytes(key[-4:]), statement_in(key[begin:], value))
            for key, value in await _scans(snapshot, starts)
        ]
        rows.sort(key=_order_of_truth)
        return [row for _, row in rows if wanted is None or row.slot in wanted]

    async def readers(self, owner: str, event_ids: Sequence[UUID]) -> set[UUID]:
        """Return the turns whose candidates' summaries hold text of any of these."""
        keys = self._space.owner(owner)
        asked = [keys.readers + key.bytes for key in event_ids]
        found = await (await self._tikv.snapshot()).get(asked)
        return {UUID(bytes=event) for value in found.values() for event in ids_in(value)}

    async def candidates(self, owner: str) -> list[tuple[UUID, int]]:
        """Return (event id, offset of the record that holds its candidates), in journal order."""
        keys = self._space.owner(owner)
        pairs = await (await self._tikv.snapshot()).scan(keys.candidates, behind(keys.candidates))
        found = (CANDIDATE.unpack(value) for _, value in pairs)
        return [(UUID(bytes=event), offset) for event, offset in found]

    async def points(self, owner: str, event_ids: Sequence[UUID]) -> list[UUID]:
        """Return the ids of every chunk of these turns."""
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        asked = [key.bytes for key in event_ids]
        rows = await _rows(snapshot, keys, asked)
        children = await _children(snapshot, keys, asked)
        turns = [
            key
            for key, row in rows.items()
            if isinstance(row, EventRow) and row.session is not None
        ]
        chunks = [chunk for one in children for chunk in one.chunks]
        return [UUID(bytes=key) for key in dict.fromkeys((*turns, *chunks))]

    async def points_of(self, owner: str, wanted: TurnFilter) -> list[bytes]:
        """Return the ids of all points whose turn is meant."""
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        turns = await _meant(snapshot, keys, wanted)
        children = await _children(snapshot, keys, turns)
        points = [point for one in children for point in (*one.chunks, *one.memories)]
        return [*turns, *points]

    async def session(self, owner: str, number: int, *, from_end: bool) -> bytes | None:
        """Return a session by its rank among those with turns, by their first turn."""
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        firsts: dict[bytes, tuple[int, int]] = {}
        for key, value in await snapshot.scan(keys.places, behind(keys.places)):
            session = key[len(keys.places) : -8]
            for _, said_us, offset in PLACED.iter_unpack(value):
                first = firsts.get(session, (said_us, offset))
                firsts[session] = (min(first[0], said_us), min(first[1], offset))
        ranked = sorted(firsts, key=firsts.__getitem__, reverse=from_end)
        return texts_in(ranked[number], 1)[0] if 0 <= number < len(ranked) else None

    async def bindings(self, owners: Sequence[str]) -> dict[str, tuple[BindingRow, ...]]:
        """Return what aliases among these owners are or were bound to, by person's id."""
        asked = {self._space.owner(owner).bindings: owner for owner in owners}
        found = await (await self._tikv.snapshot()).get(list(asked))
        return {asked[key]: bindings_in(value) for key, value in found.items()}

    async def aliases(self, owner: str) -> list[str]:
        """Return the user ids that stand for a person now, in order."""
        start = self._space.owner(owner).aliases(owner)
        keys = await (await self._tikv.snapshot()).scan_keys(start, behind(start))
        return sorted(texts_in(key[len(start) :], 1)[0].decode() for key in keys)

    async def owners(self) -> list[str]:
        """Return every owner, aliases included."""
        start = self._space.owners
        pairs = await (await self._tikv.snapshot()).scan(start, behind(start))
        return sorted(Marker.unpack(value).owner for _, value in pairs)

    async def counts(self, owner: str) -> dict[str, int]:
        """Return how many turns, memories and slots an owner has."""
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        turns = await snapshot.scan_keys(keys.turns, behind(keys.turns))
        children = await snapshot.scan(keys.kept, behind(keys.kept))
        statements = await snapshot.scan_keys(keys.statements, behind(keys.statements))
        begin = len(keys.statements)
        return {
            "turns": len(turns),
            "memories": sum(len(Children.unpack(value).memories) for _, value in children),
            "slots": len({texts_in(key[begin:], 1)[0] for key in statements}),
        }

    async def _points(self, owner: str, point_ids: Sequence[bytes]) -> Points:
        """Find points with the events they belong to: two reads, however many they are."""
        keys = self._space.owner(owner)
        snapshot = await self._tikv.snapshot()
        rows = await _rows(snapshot, keys, point_ids)
        missing = {row.event for row in rows.values() if isinstance(row, PointRow)} - rows.keys()
        rows |= await _rows(snapshot, keys, list(missing))
        found: Points = {}
        for key in point_ids:
            row = rows.get(key)
            if isinstance(row, EventRow):
                found[key] = (key, row, None)
            elif row is not None and isinstance(event := rows.get(row.event), EventRow):
                found[key] = (row.event, event, row)
        return found


async def _rows(
    reading: Reading, keys: OwnerKeys, ids: Iterable[bytes]
) -> dict[bytes, EventRow | PointRow]:
    found = await reading.get([keys.ids + key for key in dict.fromkeys(ids)])
    return {key[-16:]: row_in(value) for key, value in found.items()}


async def _children(reading: Reading, keys: OwnerKeys, events: Iterable[bytes]) -> list[Children]:
    found = await reading.get([keys.kept + key for key in dict.fromkeys(events)])
    return [Children.unpack(value) for value in found.values()]


async def _places(reading: Reading, keys: OwnerKeys, events: Sequence[bytes]) -> list[EventPlace]:
    rows = await _rows(reading, keys, events)
    found = [(event, rows.get(event)) for event in events]
    places = [row.place(event) for event, row in found if isinstance(row, EventRow)]
    return [place for place in places if place is not None]


async def _scans(reading: Reading, starts: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    found = await each(starts, lambda start: reading.scan(start, behind(start)), TIKV_READS_AT_ONCE)
    return [pair for pairs in found for pair in pairs]


async def _meant(reading: Reading, keys: OwnerKeys, wanted: TurnFilter) -> list[bytes]:
    """Return the turns that a filter means: the narrowest order first, then what the rows say."""
    events: list[bytes]
    if wanted.labels:
        starts = [keys.labelled(label) for label in wanted.labels]
        found = [{key[-16:] for key in await reading.scan_keys(one, behind(one))} for one in starts]
        events = sorted(set.intersection(*found))
    elif wanted.session is not None:
        start = keys.session_places(wanted.session)
        pairs = await reading.scan(start, behind(start))
        events = [event for _, value in pairs for event, *_ in PLACED.iter_unpack(value)]
    else:
        events = [event for _, event in await reading.scan(keys.turns, behind(keys.turns))]
    is_narrowed = bool(wanted.labels) and wanted.session is not None
    if wanted.role is None and not wanted.speaker and not is_narrowed:
        return events
    rows = await _rows(reading, keys, events)
    return [key for key in events if _is_meant(rows.get(key), wanted)]


def _is_meant(row: EventRow | PointRow | None, wanted: TurnFilter) -> bool:
    return (
        isinstance(row, EventRow)
        and row.session is not None
        and wanted.session in {None, row.session}
        and wanted.role in {None, row.role}
        and wanted.speaker in {(), row.speaker}
    )


def _order_of_truth(numbered: tuple[int, StatementRow]) -> tuple[bytes, int, int, int]:
    number, row = numbered
    return row.matter, microseconds(row.said_at), row.journal_offset, number
