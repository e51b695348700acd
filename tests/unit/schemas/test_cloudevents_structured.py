"""CloudEvents in structured mode: the whole event is one JSON object."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from eunoe.schemas.cloudevents import decode, encode
from eunoe.schemas.errors import Rejected
from eunoe.schemas.events import Envelope, EventType, Turn

SECRET = "xylophone"  # noqa: S105 - a word that no error message may repeat
STRUCTURED = (("content-type", b"application/cloudevents+json; charset=UTF-8"),)
TEXTS = ("I moved to Oslo 🏔", "我搬到了奥斯陆🏔")


def event_of(text: str) -> Envelope:
    """Return an event."""
    return Envelope(
        id="D1:3",
        source="聊天",
        type=EventType.TURN_ADDED,
        time=datetime(2026, 5, 7, 9, 30, tzinfo=UTC),
        tenant_id="a/b",
        user_id="安娜",
        payload=Turn(role="user", content=text, metadata={"place": "家", "n": [1, 2.5, None]}),
    )


def whole(text: str, **changes: Any) -> dict[str, Any]:
    """Return an event as the JSON object of structured mode."""
    event = event_of(text)
    return {
        "specversion": "1.0",
        "id": event.id,
        "source": event.source,
        "type": event.type.value,
        "time": "2026-05-07T09:30:00Z",
        "datacontenttype": "application/json",
        "partitionkey": event.owner,
        "tenantid": event.tenant_id,
        "userid": event.user_id,
        "data": event.payload.model_dump(exclude_none=True),
        **changes,
    }


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("escaped", [True, False])
def test_both_modes_are_the_same_event(text: str, escaped: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    """What structured mode says is what binary mode says."""
    value = json.dumps(whole(text), ensure_ascii=escaped).encode()
    assert decode(STRUCTURED, value) == decode(*encode(event_of(text))) == event_of(text)


@pytest.mark.parametrize("text", TEXTS)
def test_the_value_alone_counts(text: str) -> None:
    """Headers beside the content type don't change an event in structured mode."""
    value = json.dumps(whole(text)).encode()
    headers = (*STRUCTURED, ("ce_id", b"other"), ("ce_userid", b"other"))
    assert decode(headers, value) == event_of(text)


@pytest.mark.parametrize(
    "name", ["specversion", "id", "source", "type", "time", "tenantid", "userid", "data"]
)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_missing_is_named(name: str, text: str) -> None:
    """Every attribute that binary mode needs is needed here."""
    event = whole(text)
    del event[name]
    with pytest.raises(Rejected, match=name):
        decode(STRUCTURED, json.dumps(event).encode())


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"null",
        b'"xylophone"',
        b"\xff",
        json.dumps([whole(SECRET)]).encode(),
        json.dumps(whole(SECRET, id=7)).encode(),
        json.dumps(whole(SECRET, userid=None)).encode(),
        json.dumps(whole(SECRET, tenantid=["a"])).encode(),
        json.dumps(whole(SECRET, specversion="0.3")).encode(),
        json.dumps(whole(SECRET, type="eunoe.turn.added.v2")).encode(),
        json.dumps(whole(SECRET, time="yesterday")).encode(),
        json.dumps(whole(SECRET, data=SECRET)).encode(),
        json.dumps(whole(SECRET, data={"role": "user", "content": ""})).encode(),
        json.dumps(whole(SECRET, id="\ud800")).encode(),
        json.dumps(whole("x"))
        .encode()
        .replace(b'"n": ', b'"n": ' + b"[" * 300)
        .replace(b"null]", b"null]" + b"]" * 300),
    ],
)
def test_what_is_malformed_is_refused_without_its_content(value: bytes | None) -> None:
    """A value that is no event is refused; the sentence repeats none of it."""
    with pytest.raises(Rejected) as caught:
        decode(STRUCTURED, value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "form",
    [
        b"application/cloudevents",
        b"application/cloudevents-batch+json",
        b"application/cloudevents+avro",
    ],
)
@pytest.mark.parametrize("text", TEXTS)
def test_other_forms_are_refused(form: bytes, text: str) -> None:
    """One event as JSON is the only structured form that is read."""
    with pytest.raises(Rejected, match=r"application/cloudevents\+json"):
        decode((("content-type", form),), json.dumps(whole(text)).encode())
