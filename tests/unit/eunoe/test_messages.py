"""From what a caller gives to `add` to events: every message is valid, or none is taken."""

from collections import OrderedDict
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import pytest

from eunoe.messages import FIELDS, Origin, envelopes
from eunoe.schemas.errors import Rejected
from eunoe.schemas.events import Envelope, EventType, Turn
from eunoe.schemas.limits import (
    ID_CHARACTERS_MAX,
    MESSAGES_PER_ADD_MAX,
    METADATA_BYTES_MAX,
    TEXT_CHARACTERS_MAX,
)

NOW: Final = datetime(2024, 6, 15, 12, tzinfo=UTC)
SAID: Final = {"en": "I moved to Lisbon.", "zh": "我搬到了里斯本。"}
SECRET: Final = "xylophone"  # noqa: S105 - a word that no error message may repeat
both = pytest.mark.parametrize("language", ["en", "zh"])


def origin(**fields: Any) -> Origin:
    """Return what a call's messages share."""
    values: dict[str, Any] = {
        "tenant_id": "default",
        "user_id": "ana",
        "source": "chat",
        "session_id": "s1",
        "agent_id": "helper",
        "metadata": None,
        "now": NOW,
    }
    return Origin(**(values | fields))


def made(messages: object, **fields: Any) -> list[tuple[Envelope, Turn]]:
    """Return events with their turns."""
    found = []
    for event in envelopes(messages, origin(**fields)):
        assert isinstance(event.payload, Turn)
        found.append((event, event.payload))
    return found


@both
def test_a_text_is_a_message_of_the_user(language: str) -> None:
    """A bare text is said by the user, now, in the call's session, under an id of its own."""
    ((event, turn),) = made(SAID[language])
    assert (turn.role, turn.content, turn.name) == ("user", SAID[language], None)
    assert (turn.session_id, turn.agent_id, turn.metadata) == ("s1", "helper", None)
    assert (event.type, event.source, event.time) == (EventType.TURN_ADDED, "chat", NOW)
    assert (event.tenant_id, event.user_id) == ("default", "ana")
    assert UUID(event.id).version == 4


@both
def test_a_message_says_more(language: str) -> None:
    """Every field of a mapping counts, over what the call says."""
    ((event, turn),) = made(
        {
            "role": "assistant",
            "content": SAID[language],
            "name": "安娜",
            "id": "D1:3",
            "time": "2024-06-15T22:00:00+08:00",
            "session_id": "s2",
            "metadata": {"channel": "phone"},
        },
        metadata={"channel": "web"},
    )
    assert (turn.role, turn.content, turn.name) == ("assistant", SAID[language], "安娜")
    assert (turn.session_id, turn.metadata) == ("s2", {"channel": "phone"})
    assert event.id == "D1:3"
    assert event.time == datetime(2024, 6, 15, 22, tzinfo=timezone(timedelta(hours=8)))
    assert event.time.utcoffset() == timedelta(hours=8)


def test_what_a_message_leaves_out_is_the_calls() -> None:
    """Session, metadata and time of the call stand in where a message is silent."""
    ((event, turn),) = made({"content": "tea", "time": None}, metadata={"a": [1, None, "值"]})
    assert (turn.metadata, turn.session_id, event.time) == ({"a": [1, None, "值"]}, "s1", NOW)


@pytest.mark.parametrize(
    "messages",
    [
        ["one", {"content": "two"}],
        ("one", MappingProxyType({"content": "two"})),
        ["one", OrderedDict(content="two")],
    ],
)
def test_messages_come_in_any_list_and_stay_in_order(messages: object) -> None:
    """Lists, tuples and any mapping are taken; events stand in their order."""
    assert [turn.content for _, turn in made(messages)] == ["one", "two"]


def test_no_messages_are_no_events() -> None:
    """An empty list is no error."""
    assert made([]) == []


def test_messages_without_an_id_get_different_ones() -> None:
    """Two equal messages of a call are two events, unless their ids say otherwise."""
    assert len({event.id for event, _ in made(["tea", "tea", "tea"])}) == 3


def test_a_repeated_message_of_a_call_may_be_the_same() -> None:
    """One id twice with one content is a repeat, which the writer drops."""
    message = {"content": "tea", "id": "e1"}
    assert [event.id for event, _ in made([message, message])] == ["e1", "e1"]


def test_one_id_with_two_contents_is_refused() -> None:
    """It could be stored in part only, so the call is refused as a whole."""
    with pytest.raises(Rejected, match="Message 1"):
        made([{"content": "tea", "id": "e1"}, {"content": SECRET, "id": "e1"}])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("My password is hunter2secret!", "My password is [secret:password]"),
        ("我的密码是 hunter2secret", "我的密码是 [secret:password]"),
        ("key: sk-abcdefghijklmnop1234", "[secret:api-key]"),
    ],
)
def test_secrets_are_replaced_before_anything_keeps_them(text: str, shown: str) -> None:
    """The event holds a typed placeholder where the caller gave a secret."""
    ((_, turn),) = made({"content": text})
    assert shown in turn.content
    assert "hunter2" not in turn.content
    assert "abcdefghijklmnop" not in turn.content


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (7, "must be a text or a mapping"),
        (None, "must be a text or a mapping"),
        (["tea"], "must be a text or a mapping"),
        ({}, "content is missing"),
        ({"role": "user"}, "content is missing"),
        ({"content": ""}, "content"),
        ("", "content"),
        ({"content": 7}, "content"),
        ({"content": None}, "content"),
        ({"content": ["tea"]}, "content"),
        ({"content": "broken \udcff text"}, "content"),
        ({"content": "x" * (TEXT_CHARACTERS_MAX + 1)}, "content"),
        ({"content": "tea", "role": "owner"}, "role"),
        ({"content": "tea", "name": ""}, "name"),
        ({"content": "tea", "name": "x" * (ID_CHARACTERS_MAX + 1)}, "name"),
        ({"content": "tea", "id": ""}, "id"),
        ({"content": "tea", "id": 7}, "id"),
        ({"content": "tea", "id": "x" * (ID_CHARACTERS_MAX + 1)}, "id"),
        ({"content": "tea", "session_id": ""}, "session_id"),
        ({"content": "tea", "sesion_id": "s1"}, "sesion_id"),
        ({"content": "tea", 7: "s1"}, "unknown field"),
        ({"content": "tea", "time": "yesterday"}, "ISO 8601"),
        ({"content": "tea", "time": "2024-06-15T22:00:00"}, "ISO 8601"),
        ({"content": "tea", "time": NOW.replace(tzinfo=None)}, "ISO 8601"),
        ({"content": "tea", "time": 1718452800}, "ISO 8601"),
        ({"content": "tea", "metadata": "text"}, "metadata"),
        ({"content": "tea", "metadata": [1]}, "metadata"),
        ({"content": "tea", "metadata": {"a": object()}}, "metadata"),
        ({"content": "tea", "metadata": {"a": float("nan")}}, "metadata"),
        ({"content": "tea", "metadata": {"a": "x" * METADATA_BYTES_MAX}}, "metadata"),
        ({"content": "tea", "metadata": {"a": "值" * (METADATA_BYTES_MAX // 3)}}, "metadata"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_one_bad_message_keeps_the_call_out(message: object, said: str) -> None:
    """The sentence names the message by its index and says that nothing was stored."""
    with pytest.raises(Rejected) as caught:
        made(["one", message, "three"])
    assert "Message 1 " in str(caught.value)
    assert "Nothing of this call was stored" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        {"content": f"{SECRET} \ud800"},
        {"content": "tea", "role": SECRET},
        {"content": "tea", "name": SECRET * 100},
        {"content": "tea", "id": SECRET * 100},
        {"content": "tea", "time": SECRET},
        {"content": "tea", "metadata": SECRET},
        {"content": "tea", "metadata": {SECRET: object()}},
        {"content": "tea", f"the {SECRET} that I play": "yes"},
    ],
)
def test_a_refusal_repeats_nothing_that_was_said(message: object) -> None:
    """Names of fields and rules are told, values never."""
    with pytest.raises(Rejected) as caught:
        made([message])
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("messages", [7, None, b"tea", object(), 1.5, {"tea"}])
def test_what_is_no_message_at_all_is_refused(messages: object) -> None:
    """Neither a number nor a set nor bytes is taken for messages."""
    with pytest.raises(Rejected):
        made(messages)


def test_a_call_has_a_bound() -> None:
    """More messages than one call takes are refused, and the sentence says how many may come."""
    assert len(envelopes(["tea"] * MESSAGES_PER_ADD_MAX, origin())) == MESSAGES_PER_ADD_MAX
    with pytest.raises(Rejected, match=str(MESSAGES_PER_ADD_MAX)):
        made(["tea"] * (MESSAGES_PER_ADD_MAX + 1))


def test_metadata_is_plain_json_afterwards() -> None:
    """What is kept is what JSON gives back: a caller's later changes don't reach it."""
    metadata: dict[str, Any] = {"tags": ["move"], "n": 1}
    ((_, turn),) = made({"content": "tea", "metadata": metadata})
    metadata["tags"].append("later")
    assert turn.metadata == {"tags": ["move"], "n": 1}


def test_the_known_fields_are_told() -> None:
    """A misspelt field's sentence lists what could have been meant."""
    with pytest.raises(Rejected) as caught:
        made({"content": "tea", "sesion_id": "s1"})
    assert all(name in str(caught.value) for name in FIELDS)
