"""Statements of the identity store, and how its rows become what the port returns. Pure."""

from array import array
from collections.abc import Sequence
from datetime import datetime
from functools import cache, partial
from itertools import repeat
from typing import Any, Final, TypeVar
from uuid import UUID

from ...schemas.ports import BindingRow, EventPlace, Spot, StatementRow, TurnFilter
from ...schemas.records import Box

__all__ = [
    "ABSENT",
    "ALIASES",
    "ALL_SPOTS",
    "BINDINGS",
    "NEIGHBOURS",
    "PLACES_STEP",
    "PLACE_COLUMNS",
    "SESSIONS",
    "SPOTS",
    "SPOT_COLUMNS",
    "VALUES_MAX",
    "VALUES_STEP",
    "Row",
    "binding_of",
    "marked",
    "padded",
    "place_of",
    "points_query",
    "spot_of",
    "spots_of",
    "statement_of",
]

Item = TypeVar("Item")
Row = tuple[Any, ...]

ABSENT: Final = -1  # no owner has this number
VALUES_MAX: Final = 512  # in one statement
VALUES_STEP: Final = 32  # values are repeated up to a multiple, so that few statements are compiled
PLACES_STEP: Final = 8  # likewise
# Look-ups by id write `+owner`: it keeps SQLite from walking all of an owner's rows instead.
PLACE_COLUMNS: Final = (
    "e.event_id, e.session, e.position, e.speaker, e.said_at, e.role, e.journal_offset, e.names"
)
SPOT_COLUMNS: Final = (
    "e.event_id, e.session, e.position, e.speaker, e.said_at, e.states, e.outdated"
)
SPOTS: Final = (
    "WITH RECURSIVE cut (start) AS (SELECT 1 UNION ALL SELECT start + 16 FROM cut LIMIT ?3)"  # noqa: S608 - constants
    f" SELECT {SPOT_COLUMNS} FROM cut CROSS JOIN events e INDEXED BY events_by_spot"
    " WHERE e.owner = ?1 AND e.event_id = substr(?2, cut.start, 16) AND e.session IS NOT NULL"
)
"""The spots of turns whose ids stand one after the other in one value."""
ALL_SPOTS: Final = (
    f"SELECT {SPOT_COLUMNS} FROM events e INDEXED BY events_by_spot"  # noqa: S608 - constants
    " WHERE e.owner = (SELECT number FROM owners WHERE owner = ?) AND e.session IS NOT NULL LIMIT ?"
)
NEIGHBOURS: Final = (
    "WITH wanted (session, position) AS (VALUES {})"  # noqa: S608 - constants
    # Without the name SQLite takes an index by owner, and walks all of an owner's rows.
    f" SELECT {SPOT_COLUMNS} FROM wanted w CROSS JOIN events e INDEXED BY events_by_place"
    " WHERE e.session = w.session AND e.position = w.position AND e.owner = ?"
)
POINTS: Final = (
    "WITH t AS (SELECT e.event_id FROM events e WHERE {conditions}) SELECT event_id FROM t"
    " UNION ALL SELECT p.point_id FROM t CROSS JOIN points p ON p.event_id = t.event_id"
    " WHERE p.owner = ?"
)
LABELLED: Final = (
    "EXISTS (SELECT 1 FROM labels l WHERE l.owner = e.owner AND l.label = ?"
    " AND l.event_id = e.event_id)"
)
SESSIONS: Final = (
    "SELECT session FROM events WHERE owner = ? AND session IS NOT NULL GROUP BY session"
    " ORDER BY min(julianday(said_at)) {order}, min(journal_offset) {order} LIMIT 1 OFFSET ?"
)
"""Talks by their first turn."""
BINDINGS: Final = (
    "SELECT person, bound, event_id, box_key, box FROM bindings WHERE owner = ? ORDER BY person"
)
ALIASES: Final = (
    "SELECT o.owner FROM bindings b JOIN owners o ON o.number = b.owner"
    " WHERE b.person_owner = ? AND b.bound"
)


@cache
def marked(sql: str, mark: str, count: int) -> str:
    """Put marks into a statement; of each statement there are few counts, see `_padded`."""
    return sql.format(",".join([mark] * count))


def padded(values: Sequence[Item], step: int) -> Sequence[Item]:
    """Repeat the last value up to a multiple of the step."""
    return [*values, *[values[-1]] * (-len(values) % step)]


def spots_of(rows: Sequence[Row]) -> dict[bytes, Spot]:
    """Return the spots of turns by event id."""
    if not rows:
        return {}
    events, sessions, positions, packed, *rest = zip(*rows, strict=True)
    speakers = [_hashes(one) if one else () for one in packed]
    # Made column by column and without the class's own code, which takes three times as long.
    constants = map(repeat, ("turn", 1.0, "private"))
    columns = zip(events, sessions, positions, speakers, *rest, *constants, strict=False)
    return dict(zip(events, map(partial(tuple.__new__, Spot), columns), strict=True))


def spot_of(row: Row) -> Spot:
    """Return the spot in a row."""
    event, session, position, speaker, *rest = row
    return Spot(event, session, position, _hashes(speaker), *rest)


def points_query(owner: int, wanted: TurnFilter) -> tuple[str, list[Any]]:
    """Return the statement, with its values, that finds the points of the turns that are meant."""
    conditions = ["e.owner = ?", "e.session IS NOT NULL"]
    values: list[Any] = [owner]
    asked: dict[str, Any] = {
        "e.session = ?": wanted.session,
        "e.role = ?": wanted.role,
        "e.speaker = ?": array("I", wanted.speaker).tobytes() or None,
    }
    for condition, value in asked.items():
        if value is not None:
            conditions.append(condition)
            values.append(value)
    for label in wanted.labels:
        conditions.append(LABELLED)
        values.append(label)
    return POINTS.format(conditions=" AND ".join(conditions)), [*values, owner]


def _hashes(packed: bytes | None) -> tuple[int, ...]:
    return tuple(array("I", packed)) if packed else ()


def place_of(row: Row, kind: str = "turn") -> EventPlace:
    """Return the place in a row."""
    event_id, session, position, speaker, said_at, role, offset, names = row[:8]
    return EventPlace(
        UUID(bytes=event_id),
        kind,
        session,
        position,
        _hashes(speaker),
        datetime.fromisoformat(said_at),
        role,
        offset,
        _hashes(names),
    )


def statement_of(row: Row) -> StatementRow:
    """Return the statement in a row."""
    kind, slot, matter, value, box_key, box, event_id, said_at, recorded_at, offset = row
    return StatementRow(
        kind=kind,
        slot=slot,
        matter=matter,
        value=value,
        box=Box(key_id=UUID(bytes=box_key), sealed=box),
        event_id=UUID(bytes=event_id),
        said_at=datetime.fromisoformat(said_at),
        recorded_at=datetime.fromisoformat(recorded_at),
        journal_offset=offset,
    )


def binding_of(row: Row) -> BindingRow:
    """Return the binding in a row."""
    person, bound, event_id, box_key, sealed = row
    box = None if sealed is None else Box(key_id=UUID(bytes=box_key), sealed=sealed)
    return BindingRow(person, bool(bound), UUID(bytes=event_id), box)
