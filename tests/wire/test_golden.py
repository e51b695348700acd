"""Golden files: what is on the wire and in the journal can be read for ever.

One file per event type and version, and one per version of the journal record. A file is added
with a new version (`python -m tests.wire.add` writes what is missing) and
NEVER edited: it stands for bytes that lie in somebody's log. If a test
here fails, the code is wrong, or it needs a new version beside the old one.
"""

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

from eunoe.schemas.cloudevents import decode, encode
from eunoe.schemas.events import (
    Answered,
    Bind,
    Envelope,
    EventType,
    Forget,
    Payload,
    Recalled,
    SetTimezone,
    Turn,
    Unbind,
)
from eunoe.schemas.records import (
    Binding,
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
    Truth,
)
from eunoe.streams.projections import encode_record

FOLDER: Final = Path(__file__).parent
MOMENT: Final = datetime.fromisoformat("2026-05-07T17:30:00.250000+08:00")
ONE: Final = UUID("00000000-0000-4000-8000-000000000001")
TWO: Final = UUID("00000000-0000-4000-8000-000000000002")
THREE: Final = UUID("00000000-0000-4000-8000-000000000003")


def _event(kind: EventType, payload: Payload) -> Envelope:
    return Envelope(
        id="D1:3",
        source="chat/家",
        type=kind,
        time=MOMENT,
        tenant_id="a/b",
        user_id="安娜",
        payload=payload,
    )


EVENTS: Final = {
    "eunoe.turn.added.v1.json": _event(
        EventType.TURN_ADDED,
        Turn(
            role="user",
            content="我上周三搬到杭州了。 Call me Anna 🎈",
            name="Anna",
            session_id="s-1",
            agent_id="helper",
            metadata={"channel": "phone", "tags": ["move", 3, 0.5, True]},
        ),
    ),
    "eunoe.set-timezone.v1.json": _event(
        EventType.SET_TIMEZONE, SetTimezone(timezone="Asia/Shanghai")
    ),
    "eunoe.forget.v1.json": _event(EventType.FORGET, Forget(event_ids=(ONE, TWO))),
    "eunoe.recalled.v1.json": _event(
        EventType.RECALLED,
        Recalled(
            served_at=MOMENT,
            searches=(
                Answered(moment=MOMENT, ids=(TWO, ONE)),
                Answered(moment=MOMENT, ids=(THREE,)),
            ),
        ),
    ),
    "eunoe.bind.v1.json": _event(
        EventType.BIND,
        Bind(
            alias="安娜",
            person="2f7d1a9c04be5638",
            registered_phone="+8613800138000",
            device="指纹-1",
            first_used_at=MOMENT,
        ),
    ),
    "eunoe.unbind.v1.json": _event(
        EventType.UNBIND, Unbind(alias="安娜", person="2f7d1a9c04be5638")
    ),
}

BOX: Final = Box(key_id=TWO, sealed=bytes(range(32)))
VECTOR: Final = bytes.fromhex("003c00b8")  # float16: 1, -0.5
TERMS: Final = Sparse(indices=(7, 4294967295), weights=bytes.fromhex("003c0038"))

CANDIDATE: Final = Candidate(
    memory_id=THREE,
    kind="event",
    box=BOX,
    vector=VECTOR,
    terms=TERMS,
    guard=b"\x04" * 16,
    speaker=b"\x05" * 16,
    reads=(TWO,),
)
DECISION: Final = Decision(
    action="new",
    candidate=0,
    memory_id=THREE,
    sources=(ONE,),
    said_at=MOMENT,
    touched_at=MOMENT,
    created_at=MOMENT,
    last_accessed=MOMENT,
    importance=0.5,
    confidence=1.0,
)

TRUTH: Final = Truth(
    state="superseded",
    changed_at=MOMENT,
    valid_from=MOMENT,
    valid_to=MOMENT,
    expires_at=MOMENT,
    scope="project",
    project=b"\x0a" * 16,
    verified=True,
)


def _ingress(topic: str, offset: int) -> IngressPosition:
    return IngressPosition(topic=topic, partition=3, epoch="e1", offset=offset)


def _record(**fields: Any) -> JournalRecord:
    common = {
        "said_at": MOMENT,
        "recorded_at": MOMENT,
        "content": b"\x01" * 16,
        "producer": b"\x02" * 16,
    }
    return JournalRecord(**(common | fields))


def _turn(offset: int, **fields: Any) -> JournalRecord:
    ingress, session = _ingress("eunoe.turns.v1", offset), b"\x03" * 16
    return _record(
        kind="turn",
        event_id=ONE,
        owner="a%2Fb/anna",
        ingress=ingress,
        box=BOX,
        session=session,
        **fields,
    )


RECORDS: Final = {
    "journal-record.v1.forget.json": _record(
        kind="forget",
        event_id=TWO,
        owner="a%2Fb/anna",
        ingress=_ingress("eunoe.commands.v1", 7),
        box=None,
        erasure=Erasure(
            events=(ONE,),
            appends=(ONE,),
            keys=(THREE,),
            points=(ONE,),
            gaps=(SessionGap(session=b"\x03" * 16, positions=(5, 2), size=9),),
            memories=(THREE,),
            puts=(MemoryPut(candidate=CANDIDATE, decision=DECISION),),
            contexts=((TWO, 0, CANDIDATE),),
        ),
    ),
    "journal-record.v1.correction.json": _record(
        kind="correction",
        event_id=TWO,
        owner="a%2Fb/anna",
        ingress=_ingress("eunoe.commands.v1", 8),
        box=None,
        decisions=(DECISION.model_copy(update={"action": "touch", "truth": TRUTH}),),
    ),
    "journal-record.v1.binding.json": _record(
        kind="binding",
        event_id=TWO,
        owner="a%2Fb/phone%3A1",
        ingress=_ingress("eunoe.commands.v1", 9),
        box=BOX,
        binding=Binding(person="2f7d1a9c04be5638"),
    ),
    "journal-record.v1.unbinding.json": _record(
        kind="binding",
        event_id=THREE,
        owner="a%2Fb/phone%3A1",
        ingress=_ingress("eunoe.commands.v1", 10),
        box=None,
        erasure=Erasure(events=(), appends=(), keys=(TWO,)),
        binding=Binding(person="2f7d1a9c04be5638", bound=False),
    ),
    "journal-record.v1.timed-turn.json": _turn(
        42,
        position=6,
        role="assistant",
        about=(1_718_000_000,),
        states=45,
        labels=(b"\x09" * 8,),
        candidates=(CANDIDATE.model_copy(update={"about": (1_718_000_000,)}),),
    ),
    "journal-record.v1.named-turn.json": _turn(
        43,
        position=7,
        role="user",
        names=(9, 4_294_967_295),
        candidates=(CANDIDATE,),
    ),
    "journal-record.v1.turn.json": _turn(
        41,
        encoder="usem3-1",
        language="zh",
        position=5,
        speaker=(9,),
        role="user",
        points=(EpisodePoint(id=ONE, start=0, end=12, vector=VECTOR, terms=TERMS),),
        candidates=(CANDIDATE,),
        decisions=(DECISION,),
        statements=(
            Statement(
                kind="slot",
                slot=b"\x06" * 16,
                matter=b"\x08" * 16,
                value=b"\x07" * 16,
                box=BOX,
            ),
        ),
    ),
}


STRUCTURED: Final = {f"structured.{name}": event for name, event in EVENTS.items()}
"""The same events as other clients send them: one JSON object each (CloudEvents 1.0, JSON format,
Kafka binding 3.3)."""


def _read(name: str) -> dict[str, Any]:
    golden: dict[str, Any] = json.loads((FOLDER / name).read_bytes())
    return golden


def test_every_event_type_has_a_golden_file() -> None:
    """No event type or record goes out without a file that pins its form."""
    assert {f"{kind.value}.json" for kind in EventType} <= set(EVENTS)
    pinned = set(EVENTS) | set(STRUCTURED) | set(RECORDS)
    assert {path.name for path in FOLDER.glob("*.json")} == pinned


@pytest.mark.parametrize("name", sorted(EVENTS | STRUCTURED))
def test_golden_event_decodes_to_what_it_meant(name: str) -> None:
    """Bytes written by any earlier release, or by another client, decode to the same event."""
    golden = _read(name)
    headers = tuple((key, value.encode()) for key, value in golden["headers"])
    assert decode(headers, golden["value"].encode()) == (EVENTS | STRUCTURED)[name]


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_event_encodes_to_golden_bytes(name: str) -> None:
    """The same event gives the same headers and value, byte by byte, in every release."""
    golden = _read(name)
    headers, value = encode(EVENTS[name])
    assert [[key, raw.decode()] for key, raw in headers] == golden["headers"]
    assert value.decode() == golden["value"]


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_golden_record_reads_and_writes_alike(name: str) -> None:
    """A journal record of any earlier release is read as it was meant, and written alike.

    Fields at their defaults are left out when it's written, so that later releases may add some.
    """
    value = _read(name)["value"]
    assert JournalRecord.model_validate_json(value) == RECORDS[name]
    written, golden = json.loads(encode_record(RECORDS[name])), json.loads(value)
    assert _holds(golden, written)


def _holds(golden: object, written: object) -> bool:
    """Tell whether every field that is written stands in the golden form alike."""
    if isinstance(golden, dict) and isinstance(written, dict):
        return all(key in golden and _holds(golden[key], one) for key, one in written.items())
    if isinstance(golden, list) and isinstance(written, list):
        return len(golden) == len(written) and all(map(_holds, golden, written))
    return golden == written
