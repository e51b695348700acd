"""Journal records for contract suites, made by hand: no keys, no encoder."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import NAMESPACE_OID, UUID, uuid5

import numpy as np

from eunoe.schemas.ports import Position, Stored, Vectors
from eunoe.schemas.records import (
    Box,
    Candidate,
    Decision,
    EpisodePoint,
    Erasure,
    IngressPosition,
    JournalRecord,
    MemoryPut,
    SessionGap,
    Sparse,
    Statement,
)
from eunoe.schemas.topics import JOURNAL, TURNS
from tests.support.tools import START

__all__ = [
    "ANA",
    "BEN",
    "DIMENSION",
    "EPOCH",
    "PARTITION",
    "box",
    "candidate",
    "decision",
    "erasure",
    "gap",
    "ident",
    "memory_put",
    "new",
    "statement",
    "stored",
    "touch",
    "vector",
]

ANA: Final = "default/ana"
BEN: Final = "default/ben"
DIMENSION: Final = 8
EPOCH: Final = "epoch-1"
PARTITION: Final = 3


def ident(name: str) -> UUID:
    """Return an id that a name stands for."""
    return uuid5(NAMESPACE_OID, name)


def box(name: str) -> Box:
    """Return a box; its bytes can be told from another's."""
    return Box(key_id=ident(f"key/{name}"), sealed=name.encode())


def vector(*weights: float) -> Vectors:
    """Return an L2-normalised vector that begins with these weights."""
    row = np.zeros(DIMENSION, dtype=np.float32)
    row[: len(weights)] = weights
    return (row / np.linalg.norm(row)).astype(np.float32)


def sparse(terms: Sequence[int]) -> Sparse:
    """Return terms of weight 1."""
    return Sparse(indices=tuple(terms), weights=np.ones(len(terms), dtype="<f2").tobytes())


def point(name: str, row: Vectors, terms: Sequence[int]) -> EpisodePoint:
    """Return a chunk."""
    packed = row.astype("<f2").tobytes()
    return EpisodePoint(id=ident(name), start=0, end=9, vector=packed, terms=sparse(terms))


def candidate(name: str, row: Vectors, *, reads: Sequence[str] = (), **fields: Any) -> Candidate:
    """Return a candidate whose memory id is that of its name."""
    values: dict[str, Any] = {
        "memory_id": ident(name),
        "kind": "fact",
        "box": box(name),
        "vector": row.astype("<f2").tobytes(),
        "terms": sparse([1]),
        "guard": b"guard",
        "speaker": b"speaker",
        "reads": tuple(ident(one) for one in reads),
    }
    return Candidate(**(values | fields))


def decision(memory: str, sources: Sequence[str], **fields: Any) -> Decision:
    """Return a decision on a memory."""
    values: dict[str, Any] = {
        "action": "new",
        "candidate": 0,
        "memory_id": ident(memory),
        "sources": tuple(ident(one) for one in sources),
        "said_at": START,
        "touched_at": START,
        "created_at": START,
        "last_accessed": START,
        "importance": 0.5,
        "confidence": 1.0,
    }
    return Decision(**(values | fields))


def statement(slot: str, value: str, box_name: str, **fields: Any) -> Statement:
    """Return a statement; slot and matter have one hash."""
    values: dict[str, Any] = {
        "kind": "slot",
        "slot": slot.encode(),
        "matter": slot.encode(),
        "value": value.encode(),
        "box": box(box_name),
    }
    return Statement(**(values | fields))


def stored(  # noqa: PLR0913 - the parts of a record that tests vary
    offset: int,
    name: str,
    *,
    owner: str = ANA,
    minute: int | None = None,
    session: str | None = "s1",
    position: int | None = 0,
    chunks: Sequence[tuple[str, Vectors, Sequence[int]]] | None = None,
    epoch: str = EPOCH,
    **fields: Any,
) -> Stored:
    """Return a turn's record at an offset; other kinds by `fields`.

    Args:
        offset: In the journal.
        name: Of the event; the producer's hash and the content's are its bytes.
        owner: Whose.
        minute: When it was said, after `START`; None means the offset.
        session: Which.
        position: Rank in the session.
        chunks: (name, vector, terms); None means one, of the event's name.
        epoch: Of the log.
        fields: Of the record.
    """
    said_at: datetime = START + timedelta(minutes=offset if minute is None else minute)
    if chunks is None:
        chunks = [(name, vector(1.0), [1])]
    values: dict[str, Any] = {
        "kind": "turn",
        "event_id": ident(name),
        "owner": owner,
        "ingress": IngressPosition(topic=TURNS.name, partition=PARTITION, epoch=epoch, offset=0),
        "said_at": said_at,
        "recorded_at": said_at + timedelta(hours=1),
        "content": name.encode(),
        "producer": name.encode(),
        "box": box(name),
        "encoder": "test",
        "session": None if session is None else session.encode(),
        "position": position,
        "speaker": (7, 2**32 - 1),
        "names": (11, 2**32 - 2),
        "role": "user",
        "points": tuple(point(*chunk) for chunk in chunks),
    }
    record = JournalRecord(**(values | fields))
    return Stored(Position(JOURNAL.name, PARTITION, epoch, offset), record)


def new(offset: int, name: str, memory: str, row: Vectors, **fields: Any) -> Stored:
    """Return a turn that makes a memory.

    Args:
        offset: As for `stored`.
        name: Of the turn.
        memory: The memory's name.
        row: Its vector.
        fields: Of the turn; of the memory `memory_kind`, `reads`, `memory_terms`, `memory_about`,
            and as its decision sets them `truth`, `confidence`, `memory_said` and `created_at`.
    """
    made = {"kind": fields.pop("memory_kind", "fact"), "reads": fields.pop("reads", ())}
    made["about"] = fields.pop("memory_about", ())
    if "memory_terms" in fields:
        made["terms"] = sparse(fields.pop("memory_terms"))
    names = ("truth", "confidence", "created_at")
    decided = {field: fields.pop(field) for field in names if field in fields}
    if "memory_said" in fields:
        decided["said_at"] = fields.pop("memory_said")
    return stored(
        offset,
        name,
        candidates=(candidate(memory, row, **made),),
        decisions=(decision(memory, [name], **decided),),
        **fields,
    )


def touch(offset: int, name: str, memory: str, sources: Sequence[str], **values: Any) -> Stored:
    """Return a turn that touches a memory; `values` are those of its decision."""
    row = values.pop("row", vector(1.0))
    owner = values.pop("owner", ANA)
    position = values.pop("position", 0)
    return stored(
        offset,
        name,
        owner=owner,
        position=position,
        candidates=(candidate(f"{name}/0", row),),
        decisions=(decision(memory, sources, action="touch", **values),),
    )


def gap(session: str, positions: Sequence[int], size: int) -> SessionGap:
    """Return where erased turns stood."""
    return SessionGap(session=session.encode(), positions=tuple(positions), size=size)


def memory_put(memory: str, row: Vectors, sources: Sequence[str], **values: Any) -> MemoryPut:
    """Return a memory that a forget puts."""
    return MemoryPut(candidate=candidate(memory, row), decision=decision(memory, sources, **values))


def erasure(offset: int, names: Sequence[str], *, owner: str = ANA, **fields: Any) -> Stored:
    """Return a forget of some turns."""
    gone = tuple(ident(name) for name in names)
    values: dict[str, Any] = {"events": gone, "appends": gone, "keys": (), "points": gone}
    return stored(
        offset,
        f"forget/{offset}",
        owner=owner,
        chunks=[],
        kind="forget",
        session=None,
        position=None,
        role=None,
        box=None,
        erasure=Erasure(**(values | fields)),
    )
