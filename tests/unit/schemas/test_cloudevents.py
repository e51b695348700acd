"""CloudEvents in binary mode: what `encode` writes, and what `decode` refuses."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.schemas.cloudevents import decode, encode
from eunoe.schemas.errors import Rejected
from eunoe.schemas.events import (
    Answered,
    Bind,
    Envelope,
    EventType,
    Forget,
    Recalled,
    SetTimezone,
    Turn,
    Unbind,
)

SECRET = "xylophone"  # noqa: S105 - a word that no error message may repeat

ENVELOPE = Envelope(
    id="D1:3",
    source="chat",
    type=EventType.TURN_ADDED,
    time=datetime(2026, 5, 7, 9, 30, tzinfo=UTC),
    tenant_id="a/b",
    user_id="c",
    payload=Turn(role="user", content=f"I play the {SECRET}."),
)
HEADERS, VALUE = encode(ENVELOPE)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=8,
)
turns = st.builds(
    Turn,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    content=texts,
    name=st.none() | texts,
    session_id=st.none() | texts,
    agent_id=st.none() | texts,
    metadata=st.none() | st.dictionaries(texts, json_values, max_size=3),
)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(timezones=offsets)
ids = st.lists(st.uuids(), min_size=1, max_size=3).map(tuple)
answered = st.builds(Answered, moment=moments, ids=ids)
payloads = st.one_of(
    st.tuples(st.just(EventType.TURN_ADDED), turns),
    st.tuples(st.just(EventType.SET_TIMEZONE), st.builds(SetTimezone, timezone=texts)),
    st.tuples(
        st.just(EventType.FORGET),
        st.builds(Forget, event_ids=ids),
    ),
    st.tuples(
        st.just(EventType.RECALLED),
        st.builds(
            Recalled,
            served_at=moments,
            searches=st.lists(answered, min_size=1, max_size=3).map(tuple),
        ),
    ),
    st.tuples(
        st.just(EventType.BIND),
        st.builds(
            Bind,
            alias=texts,
            person=texts,
            registered_phone=st.none() | texts,
            device=st.none() | texts,
            first_used_at=st.none() | moments,
        ),
    ),
    st.tuples(st.just(EventType.UNBIND), st.builds(Unbind, alias=texts, person=texts)),
)


@st.composite
def envelopes(draw: st.DrawFn) -> Envelope:
    """Draw any valid event."""
    kind, payload = draw(payloads)
    return Envelope(
        id=draw(texts),
        source=draw(texts),
        type=kind,
        time=draw(moments),
        tenant_id=draw(texts),
        user_id=payload.alias if isinstance(payload, Bind | Unbind) else draw(texts),
        payload=payload,
    )


def _replaced(name: str, value: bytes | None) -> tuple[tuple[str, bytes], ...]:
    kept = tuple((key, old) for key, old in HEADERS if key != name)
    return kept if value is None else (*kept, (name, value))


@given(envelopes())
def test_decode_undoes_encode(event: Envelope) -> None:
    """Decoding what was encoded gives the same event, offset of its time included."""
    decoded = decode(*encode(event))
    assert decoded == event
    assert decoded.time.utcoffset() == event.time.utcoffset()
    assert decoded.event_id == event.event_id


@given(envelopes())
def test_encode_is_a_function_of_the_event(event: Envelope) -> None:
    """Encoding again gives the same bytes, so that a content hash means something."""
    assert encode(decode(*encode(event))) == encode(event)


def test_headers_are_those_of_the_kafka_binding() -> None:
    """Attributes are headers with the prefix `ce_`; the partition key is the owner."""
    attributes = dict(HEADERS)
    assert attributes["ce_specversion"] == b"1.0"
    assert attributes["ce_partitionkey"] == b"a%2Fb/c"
    assert attributes["content-type"] == b"application/json"
    assert all(name.startswith("ce_") or name == "content-type" for name in attributes)


@pytest.mark.parametrize(
    "name",
    ["ce_specversion", "ce_id", "ce_source", "ce_type", "ce_time", "ce_tenantid", "ce_userid"],
)
def test_a_missing_header_is_named(name: str) -> None:
    """Without a required attribute the event is refused, and the sentence names it."""
    with pytest.raises(Rejected, match=name):
        decode(_replaced(name, None), VALUE)


@pytest.mark.parametrize("version", [b"", b"0.3", b"1.1", b"2.0", b"\xff"])
def test_an_unknown_spec_version_is_refused(version: bytes) -> None:
    """Only CloudEvents 1.0 is read; another version might mean something else."""
    with pytest.raises(Rejected, match="ce_specversion"):
        decode(_replaced("ce_specversion", version), VALUE)


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    """A newer or misspelt type is refused, and the sentence lists what is known."""
    with pytest.raises(Rejected, match=r"eunoe\.turn\.added\.v1"):
        decode(_replaced("ce_type", b"eunoe.turn.added.v2"), VALUE)


@pytest.mark.parametrize("time", [b"yesterday", b"2026-05-07T09:30:00", b"", b"1778146200"])
def test_a_time_without_offset_is_refused(time: bytes) -> None:
    """The time must be ISO 8601 with an offset; nothing guesses a zone."""
    with pytest.raises(Rejected, match="time"):
        decode(_replaced("ce_time", time), VALUE)


@pytest.mark.parametrize("name", ["ce_id", "ce_source", "ce_userid", "ce_tenantid"])
@pytest.mark.parametrize("raw", [b"", b"\xff\xfe", b"\xed\xa0\x80", b"x" * 513])
def test_a_malformed_identity_is_refused(name: str, raw: bytes) -> None:
    """Empty, endless and undecodable identities (a lone surrogate too) are refused."""
    with pytest.raises(Rejected):
        decode(_replaced(name, raw), VALUE)


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"role":"user","content":""}',
        b'{"role":"owner","content":"xylophone"}',
        b'{"role":"user","content":"xylophone","extra":"xylophone"}',
        b'{"role":"user","content":"\xff"}',
        b'{"role":"user","content":"\\ud800"}',
    ],
)
def test_a_malformed_value_is_refused_without_its_content(value: bytes | None) -> None:
    """A value that isn't what the type says is refused; the sentence repeats none of it."""
    with pytest.raises(Rejected) as caught:
        decode(HEADERS, value)
    assert SECRET not in str(caught.value)


def test_forget_carries_internal_ids() -> None:
    """A forget names its turns by UUID, as text on the wire."""
    gone = UUID("c9d30d4e-ba55-595d-9e16-1f3a2cba2d43")
    event = ENVELOPE.model_copy(
        update={"type": EventType.FORGET, "payload": Forget(event_ids=(gone,))}
    )
    _, value = encode(event)
    assert value == b'{"event_ids":["c9d30d4e-ba55-595d-9e16-1f3a2cba2d43"]}'


@pytest.mark.parametrize("user", ["ana", "安娜"])
def test_a_binding_is_addressed_to_its_alias(user: str) -> None:
    """A command under the person's name would be decided by the wrong writer, and is refused."""
    headers, value = encode(
        ENVELOPE.model_copy(
            update={"type": EventType.BIND, "payload": Bind(alias="nick", person=user)}
        )
    )
    with pytest.raises(Rejected, match="the user id must be the alias"):
        decode(headers, value)
