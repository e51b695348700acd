"""Journal records: JSON and back without a loss, and nothing that isn't understood."""

from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

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
)

offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(timezones=offsets)
packed = st.binary(max_size=24)
ids = st.lists(st.uuids(), max_size=3).map(tuple)
shares = st.floats(0, 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
boxes = st.builds(Box, key_id=st.uuids(), sealed=packed)
sparse = st.builds(
    Sparse, indices=st.lists(st.integers(0, 2**32 - 1), max_size=4).map(tuple), weights=packed
)
points = st.builds(
    EpisodePoint,
    id=st.uuids(),
    start=st.integers(0, 9),
    end=st.integers(9, 99),
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
    reads=ids,
)
decisions = st.builds(
    Decision,
    action=st.sampled_from(["new", "touch"]),
    candidate=st.integers(0, 3),
    memory_id=st.uuids(),
    sources=ids,
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
    events=ids,
    appends=ids,
    keys=ids,
    points=ids,
    gaps=st.lists(
        st.builds(
            SessionGap,
            session=packed,
            positions=st.lists(st.integers(0, 9), max_size=2).map(tuple),
            size=st.integers(0, 9),
        ),
        max_size=2,
    ).map(tuple),
    memories=ids,
    puts=st.lists(st.builds(MemoryPut, candidate=candidates, decision=decisions), max_size=2).map(
        tuple
    ),
    contexts=st.lists(st.tuples(st.uuids(), st.integers(0, 3), candidates), max_size=2).map(tuple),
)
records = st.builds(
    JournalRecord,
    kind=st.sampled_from(["turn", "timezone", "forget", "correction", "binding"]),
    event_id=st.uuids(),
    owner=texts,
    ingress=st.builds(
        IngressPosition,
        topic=texts,
        partition=st.integers(0, 7),
        epoch=texts,
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
    speaker=st.lists(st.integers(0, 2**32 - 1), max_size=2).map(tuple),
    role=st.none() | st.sampled_from(["user", "assistant", "tool", "system"]),
    points=st.lists(points, max_size=2).map(tuple),
    candidates=st.lists(candidates, max_size=2).map(tuple),
    decisions=st.lists(decisions, max_size=2).map(tuple),
    statements=st.lists(statements, max_size=2).map(tuple),
    erasure=st.none() | erasures,
    binding=st.none() | st.builds(Binding, person=texts, bound=st.booleans()),
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(records)
def test_json_keeps_every_field(record: JournalRecord) -> None:
    """A record read back from the journal is the record that was decided."""
    text = record.model_dump_json()
    assert JournalRecord.model_validate_json(text) == record
    assert JournalRecord.model_validate_json(text).model_dump_json() == text


@given(packed)
def test_bytes_are_base64_in_json(sealed: bytes) -> None:
    """Bytes survive JSON whatever they are, and stay bytes in Python."""
    box = Box.model_validate({"key_id": "00000000-0000-0000-0000-000000000001", "sealed": sealed})
    assert box.sealed == sealed
    assert Box.model_validate_json(box.model_dump_json()) == box


@pytest.mark.parametrize("sealed", ["not base64!", "YQ=", "é"])
def test_damaged_base64_is_refused(sealed: str) -> None:
    """A truncated or foreign text is an error, never other bytes."""
    with pytest.raises(ValidationError):
        Box.model_validate({"key_id": "00000000-0000-0000-0000-000000000001", "sealed": sealed})


@pytest.mark.parametrize("change", [{"version": 2}, {"kind": "dream"}, {"novelty": 1}])
def test_a_record_of_another_form_is_refused(change: dict[str, Any]) -> None:
    """A newer version, an unknown kind or field is refused, not read halfway."""
    record = {
        "kind": "turn",
        "event_id": "00000000-0000-0000-0000-000000000001",
        "owner": "default/anna",
        "ingress": {"topic": "eunoe.turns.v1", "partition": 0, "epoch": "e", "offset": 0},
        "said_at": "2026-05-07T09:30:00+00:00",
        "recorded_at": "2026-05-07T09:30:01+00:00",
        "content": "",
        "producer": "",
        "box": None,
    }
    JournalRecord.model_validate(record)
    with pytest.raises(ValidationError):
        JournalRecord.model_validate(record | change)
