"""Decoding undoes encoding, for every journal record that the writer may write."""

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.schemas.cloudevents import decode, encode
from eunoe.schemas.events import Envelope, EventType, Forget, SetTimezone, Turn
from eunoe.schemas.ports import LogRecord, Position
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
from eunoe.schemas.topics import JOURNAL
from eunoe.streams.projections import decode_record, encode_record

bounded = settings(max_examples=60, deadline=None)

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(min_value=datetime(1900, 1, 1), timezones=zones)  # noqa: DTZ001 - Hypothesis adds the zone
packed = st.binary(max_size=24)
hashes = st.integers(0, 2**32 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
shares = st.floats(0, 1)


def several(one: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    """Draw a tuple."""
    return st.lists(one, max_size=most).map(tuple)


boxes = st.builds(Box, key_id=st.uuids(), sealed=packed)
sparse = st.builds(Sparse, indices=several(hashes), weights=packed)
points = st.builds(
    EpisodePoint,
    id=st.uuids(),
    start=st.integers(0, 9),
    end=st.integers(0, 9),
    vector=packed,
    terms=sparse,
)
candidates = st.builds(
    Candidate,
    memory_id=st.uuids(),
    kind=st.sampled_from(["fact", "event", "commitment", "decision", "relation"]),
    box=boxes,
    vector=packed,
    terms=sparse,
    guard=packed,
    speaker=packed,
    reads=several(st.uuids()),
)
decisions = st.builds(
    Decision,
    action=st.sampled_from(["new", "touch"]),
    candidate=st.integers(0, 8),
    memory_id=st.uuids(),
    sources=several(st.uuids()),
    said_at=moments,
    touched_at=moments,
    created_at=moments,
    last_accessed=moments,
    importance=shares,
    confidence=shares,
)
statements = st.builds(
    Statement,
    kind=st.sampled_from(["slot", "preference", "profile"]),
    slot=packed,
    matter=packed,
    value=packed,
    box=boxes,
)
erasures = st.builds(
    Erasure,
    events=several(st.uuids()),
    appends=several(st.uuids()),
    keys=several(st.uuids()),
    points=several(st.uuids()),
    gaps=several(
        st.builds(
            SessionGap, session=packed, positions=several(st.integers(0, 9)), size=st.integers(0, 9)
        )
    ),
    memories=several(st.uuids()),
    puts=several(st.builds(MemoryPut, candidate=candidates, decision=decisions), 2),
    contexts=several(st.tuples(st.uuids(), st.integers(0, 8), candidates), 2),
)
records = st.builds(
    JournalRecord,
    kind=st.sampled_from(["turn", "timezone", "forget"]),
    event_id=st.uuids(),
    owner=texts,
    ingress=st.builds(
        IngressPosition, topic=texts, partition=st.integers(0, 7), epoch=texts,
        offset=st.integers(0, 2**40),
    ),
    said_at=moments,
    recorded_at=moments,
    content=packed,
    producer=packed,
    box=st.none() | boxes,
    encoder=st.none() | texts,
    language=st.sampled_from(["en", "zh", "und"]),
    session=st.none() | packed,
    position=st.none() | st.integers(0, 99),
    speaker=several(hashes),
    role=st.sampled_from([None, "user", "assistant", "tool", "system"]),
    points=several(points, 2),
    candidates=several(candidates, 2),
    decisions=several(decisions, 2),
    statements=several(statements, 2),
    erasure=st.none() | erasures,
)  # fmt: skip

payloads = st.one_of(
    st.builds(
        Turn,
        role=st.sampled_from(["user", "assistant", "tool", "system"]),
        content=texts,
        name=st.none() | texts,
        session_id=st.none() | texts,
        agent_id=st.none() | texts,
        metadata=st.none() | st.dictionaries(texts, st.integers(-9, 9) | texts, max_size=3),
    ),
    st.builds(SetTimezone, timezone=texts),
    st.builds(Forget, event_ids=st.lists(st.uuids(), min_size=1, max_size=3).map(tuple)),
)
TYPES = {
    Turn: EventType.TURN_ADDED,
    SetTimezone: EventType.SET_TIMEZONE,
    Forget: EventType.FORGET,
}


@bounded
@given(record=records)
def test_a_journal_record_survives_the_journal(record: JournalRecord) -> None:
    """A record that is read from the journal equals the one that was written."""
    place = Position(JOURNAL.name, 3, "epoch", 17)
    written = LogRecord(place, b"key", encode_record(record), (), record.recorded_at)
    stored = decode_record(written)
    assert stored.record == record
    assert stored.position == place
    assert encode_record(stored.record) == written.value


@bounded
@given(payload=payloads, parts=st.tuples(texts, texts, texts, texts), time=moments)
def test_an_event_survives_the_wire(
    payload: Turn | SetTimezone | Forget, parts: tuple[str, str, str, str], time: datetime
) -> None:
    """An event that is decoded equals the one that was encoded, its identity included."""
    ident, source, tenant, user = parts
    event = Envelope(
        id=ident,
        source=source,
        type=TYPES[type(payload)],
        time=time,
        tenant_id=tenant,
        user_id=user,
        payload=payload,
    )
    found = decode(*encode(event))
    assert found == event
    assert found.event_id == event.event_id
