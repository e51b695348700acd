"""What the identity store's values in TiKV hold: their bytes, and what a port makes of them. Pure.

Numbers are big-endian. A *string* is its length in bytes (4) and its bytes. The keys are in
`tikv_keys`; one format, which is stored, stands for both.

```text
marker      applied offset(8) half: offset(8), unit(4), cursor(8); string(owner) string(epoch)
partition   low water(8) string(epoch)
event       'e' offset(8) position(8) candidates(8) states(4) outdated(1) lengths(2 each) of
            content, producer, session (FFFF: none), speaker, said, role; then these, one behind the
            other, and the names; these and speaker are one 4-byte hash after the other, said is
            ISO 8601
point       'p' event(16) confidence(8, a double) superseded(1) string(kind) string(scope)
children    counts(4 each) of chunks, memories, reads, labels, statements; ids of the first three,
            16 bytes each; strings of the others: labels, and the statements' keys behind OWNER
place       event(16) said(8, microseconds since 1970) offset(8): of each turn there
reader set  ids, 16 bytes each
candidate   event(16) offset of the record that holds its candidates(8)
turn        event(16)
session     size(8)
bindings    of each person: strings person, event(16), '1' while bound or '0', box key(16) and
            sealed, both empty where there is no box
statement   box key(16) event(16) recorded, said, kind, value, sealed: strings
```
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, cast
from uuid import UUID

from ..schemas.ports import BindingRow, EventPlace, Spot, StatementRow
from ..schemas.records import Box, MemoryScope
from .tikv_keys import texts_in

__all__ = [
    "CANDIDATE",
    "PLACED",
    "SIZE",
    "Children",
    "EventRow",
    "Half",
    "Marker",
    "PointRow",
    "bindings_in",
    "ids_in",
    "microseconds",
    "pack_bindings",
    "pack_partition",
    "pack_statement",
    "row_in",
    "statement_in",
    "strings_in",
    "unpack_partition",
]

MARKER: Final = struct.Struct(">qqIq")
EVENT: Final = struct.Struct(">cqqqiB6H")
POINT: Final = struct.Struct(">c16sdB")
COUNTS: Final = struct.Struct(">5I")
PLACED: Final = struct.Struct(">16sqq")
"""A turn at a place: event, said, journal offset."""
CANDIDATE: Final = struct.Struct(">16sq")
SIZE: Final = struct.Struct(">q")
LENGTH: Final = struct.Struct(">I")
NONE: Final = 0xFFFF
NEVER: Final = -1
ID_BYTES: Final = 16
EPOCH_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


class Half(NamedTuple):
    """How far a record is applied whose effects are more than one transaction takes.

    Args:
        offset: Of the record.
        unit: Which of its units comes next.
        cursor: Where that one goes on.
    """

    offset: int
    unit: int
    cursor: int


class Marker(NamedTuple):
    """How far an owner's rows are, and whose they are."""

    owner: str
    epoch: str
    applied: int = NEVER
    half: Half | None = None

    def pack(self) -> bytes:
        """Return the value."""
        head = MARKER.pack(self.applied, *(self.half or (NEVER, 0, 0)))
        return head + _strings(self.owner.encode(), self.epoch.encode())

    @classmethod
    def unpack(cls, value: bytes) -> "Marker":
        """Read a value."""
        applied, *half = MARKER.unpack_from(value)
        owner, epoch = strings_in(value, MARKER.size)
        is_whole = half[0] == NEVER
        return cls(owner.decode(), epoch.decode(), applied, None if is_whole else Half(*half))


class EventRow(NamedTuple):
    """An accepted event; a turn where it has a session."""

    content: bytes
    producer: bytes
    offset: int
    session: bytes | None
    position: int
    speaker: tuple[int, ...]
    said: str
    role: str | None
    candidates: int | None
    states: int
    outdated: int
    names: tuple[int, ...]

    def pack(self) -> bytes:
        """Return the value."""
        tail = (
            self.content,
            self.producer,
            self.session or b"",
            _packed(self.speaker),
            self.said.encode(),
            (self.role or "").encode(),
        )
        lengths = [len(one) for one in tail]
        if self.session is None:
            lengths[2] = NONE
        candidates = NEVER if self.candidates is None else self.candidates
        head = EVENT.pack(
            b"e", self.offset, self.position, candidates, self.states, self.outdated, *lengths
        )
        return head + b"".join((*tail, _packed(self.names)))

    @classmethod
    def unpack(cls, value: bytes) -> "EventRow":
        """Read a value."""
        _, offset, position, candidates, states, outdated, *lengths = EVENT.unpack_from(value)
        tail, start = [], EVENT.size
        for length in lengths:
            end = start if length == NONE else start + length
            tail.append(value[start:end])
            start = end
        content, producer, session, speaker, said, role = tail
        return cls(
            content,
            producer,
            offset,
            None if lengths[2] == NONE else session,
            position,
            _hashes(speaker),
            said.decode(),
            role.decode() or None,
            None if candidates == NEVER else candidates,
            states,
            outdated,
            _hashes(value[start:]),
        )

    def spot(self, event: bytes, point: "PointRow | None" = None) -> Spot | None:
        """Return what a search needs of where the turn, or a point of it, stands."""
        if self.session is None:
            return None
        one = Spot(
            event, self.session, self.position, self.speaker, self.said, self.states, self.outdated
        )
        if point is None:
            return one
        return one._replace(kind=point.kind, confidence=point.confidence, scope=point.scope)

    def place(self, event: bytes, kind: str = "turn") -> EventPlace | None:
        """Return where the turn stands."""
        if self.session is None:
            return None
        return EventPlace(
            UUID(bytes=event),
            kind,
            self.session,
            self.position,
            self.speaker,
            datetime.fromisoformat(self.said),
            self.role or "",
            self.offset,
            self.names,
        )


class PointRow(NamedTuple):
    """A later chunk of a turn, or a memory."""

    event: bytes
    kind: str
    confidence: float = 1.0
    scope: MemoryScope = "private"
    is_superseded: bool = False

    def pack(self) -> bytes:
        """Return the value."""
        head = POINT.pack(b"p", self.event, self.confidence, self.is_superseded)
        return head + _strings(self.kind.encode(), self.scope.encode())

    @classmethod
    def unpack(cls, value: bytes) -> "PointRow":
        """Read a value."""
        _, event, confidence, superseded = POINT.unpack_from(value)
        kind, scope = strings_in(value, POINT.size)
        known = cast("MemoryScope", scope.decode())
        return cls(event, kind.decode(), confidence, known, bool(superseded))


@dataclass(slots=True)
class Children:
    """What came from an event and goes with it.

    Args:
        chunks: Later points of a turn.
        memories: Those whose text it is.
        reads: Events whose text stands in its candidates' summaries.
        labels: To filter by.
        statements: Their keys, behind the owner's prefix.
    """

    chunks: dict[bytes, None] = field(default_factory=dict)
    memories: dict[bytes, None] = field(default_factory=dict)
    reads: dict[bytes, None] = field(default_factory=dict)
    labels: dict[bytes, None] = field(default_factory=dict)
    statements: dict[bytes, None] = field(default_factory=dict)

    def pack(self) -> bytes | None:
        """Return the value, or None where there are none."""
        ids = (self.chunks, self.memories, self.reads)
        others = (self.labels, self.statements)
        counts = [len(one) for one in (*ids, *others)]
        if not any(counts):
            return None
        joined = b"".join(key for part in ids for key in part)
        return COUNTS.pack(*counts) + joined + _strings(*(one for part in others for one in part))

    @classmethod
    def unpack(cls, value: bytes | None) -> "Children":
        """Read a value."""
        if value is None:
            return cls()
        chunks, memories, reads, labels, _ = COUNTS.unpack_from(value)
        end = COUNTS.size + ID_BYTES * (chunks + memories + reads)
        ids = ids_in(value[COUNTS.size : end])
        rest = strings_in(value, end)
        return cls(
            dict.fromkeys(ids[:chunks]),
            dict.fromkeys(ids[chunks : chunks + memories]),
            dict.fromkeys(ids[chunks + memories :]),
            dict.fromkeys(rest[:labels]),
            dict.fromkeys(rest[labels:]),
        )


def row_in(value: bytes) -> EventRow | PointRow:
    """Read what stands under an id: an event, or a point of another event."""
    return EventRow.unpack(value) if value[:1] == b"e" else PointRow.unpack(value)


def ids_in(value: bytes) -> list[bytes]:
    """Read ids that stand one behind the other."""
    return [value[start : start + ID_BYTES] for start in range(0, len(value), ID_BYTES)]


def strings_in(value: bytes, start: int = 0) -> list[bytes]:
    """Read the strings from a place to the end."""
    found = []
    while start < len(value):
        (length,) = LENGTH.unpack_from(value, start)
        start += LENGTH.size + length
        found.append(value[start - length : start])
    return found


def _packed(hashes: tuple[int, ...]) -> bytes:
    return struct.pack(f">{len(hashes)}I", *hashes)


def _hashes(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(packed) // 4}I", packed)


def _strings(*values: bytes) -> bytes:
    return b"".join(LENGTH.pack(len(value)) + value for value in values)


def microseconds(moment: datetime) -> int:
    """Return microseconds since 1970."""
    return (moment - EPOCH_START) // MICROSECOND


def pack_partition(epoch: str, low_water: int) -> bytes:
    """Return the value of a partition."""
    return SIZE.pack(low_water) + _strings(epoch.encode())


def unpack_partition(value: bytes) -> tuple[str, int]:
    """Read a partition's (epoch, low water)."""
    (epoch,) = strings_in(value, SIZE.size)
    return epoch.decode(), SIZE.unpack_from(value)[0]


def pack_statement(
    box: Box, event: bytes, times: tuple[str, str], kind: str, value: bytes
) -> bytes:
    """Return the value of a statement; `times` are when it was recorded and when it was said."""
    strings = (times[0].encode(), times[1].encode(), kind.encode(), value, box.sealed)
    return box.key_id.bytes + event + _strings(*strings)


def pack_bindings(rows: Iterable[BindingRow]) -> bytes:
    """Return the value of an alias's bindings."""
    parts: list[bytes] = []
    for row in rows:
        box = (b"", b"") if row.box is None else (row.box.key_id.bytes, row.box.sealed)
        parts += [row.person.encode(), row.event_id.bytes, b"1" if row.is_bound else b"0", *box]
    return _strings(*parts)


def bindings_in(value: bytes | None) -> tuple[BindingRow, ...]:
    """Read the value of an alias's bindings."""
    parts = iter(strings_in(value or b""))
    return tuple(
        BindingRow(
            person.decode(),
            bound == b"1",
            UUID(bytes=event),
            Box(key_id=UUID(bytes=key), sealed=sealed) if key else None,
        )
        for person, event, bound, key, sealed in zip(*[parts] * 5, strict=True)
    )


def statement_in(key: bytes, value: bytes) -> StatementRow:
    """Read a statement from its key, behind the table's prefix, and its value."""
    slot, matter = texts_in(key, 2)
    recorded, said, kind, hashed, sealed = strings_in(value, 2 * ID_BYTES)
    return StatementRow(
        kind=kind.decode(),
        slot=slot,
        matter=matter,
        value=hashed,
        box=Box(key_id=UUID(bytes=value[:ID_BYTES]), sealed=sealed),
        event_id=UUID(bytes=value[ID_BYTES : 2 * ID_BYTES]),
        said_at=datetime.fromisoformat(said.decode()),
        recorded_at=datetime.fromisoformat(recorded.decode()),
        journal_offset=int.from_bytes(key[-12:-4]) - (1 << 63),
    )
