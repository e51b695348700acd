"""The identity rules: what `event_id` and `owner_key` promise (design: events, identity)."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from eunoe.schemas.events import (
    EUNOE,
    PAYLOADS,
    Bind,
    Envelope,
    EventType,
    Forget,
    Recalled,
    SetTimezone,
    Turn,
    Unbind,
    event_id,
    iso,
    owner_key,
    split_owner,
)
from eunoe.schemas.limits import ID_CHARACTERS_MAX

identifiers = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
quadruples = st.tuples(identifiers, identifiers, identifiers, identifiers)

ENVELOPE = Envelope(
    id="D1:3",
    source="chat",
    type=EventType.TURN_ADDED,
    time=datetime(2026, 5, 7, 9, 30, tzinfo=UTC),
    tenant_id="default",
    user_id="anna",
    payload=Turn(role="user", content="I moved to Hangzhou."),
)


def test_event_id_is_a_constant_of_its_parts() -> None:
    """The derived id never changes between releases: everything stored hangs on it."""
    assert UUID("6c4bb1a6-6c02-5a0e-9d0c-0a8b1a3f7e52") == EUNOE
    expected = UUID("5513af68-51c6-5441-b5d3-3c524cd252eb")
    assert event_id("default", "anna", "chat", "D1:3") == expected
    assert ENVELOPE.event_id == expected


@given(quadruples, quadruples)
def test_different_identities_have_different_ids(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    """Two identities share an event id only if all four parts are equal."""
    assert (event_id(*one) == event_id(*other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b", "c", "d"), ("a", "b", "cd", "")),
        (("a/b", "c", "s", "1"), ("a", "b/c", "s", "1")),
        (('a","b', "c", "s", "1"), ("a", 'b","c', "s", "1")),
        (("a|b", "c", "s", "1"), ("a", "b|c", "s", "1")),
        (("a", "b", "chat:1", "2"), ("a", "b", "chat", "1:2")),
        (("a", "b", "s", "1"), ("a", "b", "1", "s")),
    ],
)
def test_no_separator_imitates_another_identity(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    """Slashes, quotes, bars and colons inside a part don't move the border between parts."""
    assert event_id(*one) != event_id(*other)


def test_owner_keys_of_slashed_names_differ() -> None:
    """Tenant "a/b" with user "c" is not tenant "a" with user "b/c"."""
    assert owner_key("a/b", "c") != owner_key("a", "b/c")
    assert owner_key("a%2Fb", "c") != owner_key("a/b", "c")


def test_owner_key_has_one_slash() -> None:
    """The key stays `tenant/user`, so that any reader can split it."""
    assert owner_key("公司/甲", "a%b/c").count("/") == 1


@given(identifiers, identifiers)
def test_split_owner_undoes_owner_key(tenant_id: str, user_id: str) -> None:
    """An owner key holds exactly its tenant and its user."""
    assert split_owner(owner_key(tenant_id, user_id)) == (tenant_id, user_id)


@given(st.tuples(identifiers, identifiers), st.tuples(identifiers, identifiers))
def test_owner_keys_are_injective(one: tuple[str, str], other: tuple[str, str]) -> None:
    """No two pairs of tenant and user share a partition key."""
    assert (owner_key(*one) == owner_key(*other)) == (one == other)


@pytest.mark.parametrize("name", ["id", "source", "tenant_id", "user_id"])
@pytest.mark.parametrize("value", ["", "x" * (ID_CHARACTERS_MAX + 1), "\ud800", 7, None])
def test_identity_parts_are_bounded_unicode(name: str, value: object) -> None:
    """Empty, endless, undecodable and non-text identities are refused where they enter."""
    with pytest.raises(ValidationError):
        Envelope.model_validate(dict(ENVELOPE) | {name: value})


def test_time_needs_an_offset() -> None:
    """A moment without an offset is refused: its place in the order would be a guess."""
    naive = ENVELOPE.time.replace(tzinfo=None)
    with pytest.raises(ValidationError):
        Envelope.model_validate(dict(ENVELOPE) | {"time": naive})


def test_content_is_unicode() -> None:
    """A lone surrogate can't be encoded, so it never gets into a turn."""
    with pytest.raises(ValidationError):
        Turn(role="user", content="broken \udcff text")


def test_unknown_fields_are_refused() -> None:
    """A misspelt field is an error, not a silent loss."""
    with pytest.raises(ValidationError):
        Turn.model_validate({"role": "user", "content": "hi", "sesion_id": "1"})


def test_events_are_frozen() -> None:
    """What was decoded stays what was said."""
    with pytest.raises(ValidationError):
        ENVELOPE.user_id = "bert"  # type: ignore[misc]  # the case: the field is read-only


def test_every_type_has_a_payload_and_a_version() -> None:
    """Each event type names its payload, and ends in its version."""
    assert set(PAYLOADS) == set(EventType)
    assert set(PAYLOADS.values()) == {Turn, SetTimezone, Forget, Recalled, Bind, Unbind}
    assert all(kind.value.rpartition(".")[2] == "v1" for kind in EventType)


def test_iso_keeps_offset_and_microseconds() -> None:
    """Rendered moments have a fixed width and can be read back."""
    moment = datetime.fromisoformat("2026-05-07T17:30:00+08:00")
    assert iso(moment) == "2026-05-07T17:30:00.000000+08:00"
    assert datetime.fromisoformat(iso(moment)) == moment
