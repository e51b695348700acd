"""The AsyncAPI document says what the topics table and the contract say.

That it is current is checked with the JSON Schemas, in `tests/test_tidy.py`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from eunoe.schemas.cloudevents import decode as decode_event
from eunoe.schemas.cloudevents import encode
from eunoe.schemas.errors import Rejected
from eunoe.schemas.events import PAYLOADS, EventType
from eunoe.schemas.topics import (
    COMMANDS,
    INGRESS,
    JOURNAL,
    PARTITIONS,
    RECALLS,
    TOPICS,
    TURNS,
    Retention,
)
from eunoe.streams.letters import KEPT, Letter

DOCS: Final = Path(__file__).resolve().parents[3] / "docs"
DOCUMENT: Final[dict[str, Any]] = json.loads((DOCS / "asyncapi.json").read_text(encoding="utf-8"))
EXAMPLES: Final = [
    pytest.param(kind, example, id=f"{kind.value}-{example['name']}")
    for kind in EventType
    for example in DOCUMENT["components"]["messages"][kind.value]["examples"]
]


def references(node: object) -> Iterator[str]:
    """Yield every `$ref` under a node."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def resolve(reference: str, document: Any, folder: Path) -> Any:
    """Follow a reference into its file and to its place there; a KeyError if it leads nowhere."""
    file, _, pointer = reference.partition("#")
    found = json.loads((folder / file).read_text(encoding="utf-8")) if file else document
    for part in pointer.split("/")[1:]:
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return found


def headers_of(example: dict[str, Any]) -> tuple[tuple[str, bytes], ...]:
    """Return an example's headers as they are on the wire."""
    return tuple((name, text.encode()) for name, text in example["headers"].items())


def test_the_required_fields_are_there() -> None:
    """Version, title, and for each channel, operation and message what AsyncAPI 3 asks for."""
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert DOCUMENT["info"]["title"]
    assert DOCUMENT["info"]["version"]
    for channel in DOCUMENT["channels"].values():
        assert channel["address"]
        assert channel["messages"]
    for operation in DOCUMENT["operations"].values():
        assert operation["action"] in {"send", "receive"}
        assert operation["channel"]["$ref"].startswith("#/channels/")
        # The messages of an operation must be those of its own channel, by reference.
        place = f"{operation['channel']['$ref']}/messages/"
        assert operation["messages"]
        assert all(one["$ref"].startswith(place) for one in operation["messages"])
    for message in DOCUMENT["components"]["messages"].values():
        assert message["payload"]
        assert message["contentType"]


def test_every_reference_resolves() -> None:
    """No `$ref` leads nowhere, neither in the document nor in the files that it names."""
    for reference in references(DOCUMENT):
        assert resolve(reference, DOCUMENT, DOCS)
    files = {one.partition("#")[0] for one in references(DOCUMENT)} - {""}
    assert files == {f"schemas/{kind.value}.json" for kind in EventType} | {
        "schemas/journal-record.v1.json"
    }
    for file in files:
        schema = json.loads((DOCS / file).read_text(encoding="utf-8"))
        for reference in references(schema):
            assert resolve(reference, schema, DOCS / "schemas")


def test_every_topic_is_a_channel() -> None:
    """Channels are the topics table: name, key, what it holds, retention and sealing."""
    assert list(DOCUMENT["channels"]) == [topic.name for topic in TOPICS]
    for topic in TOPICS:
        channel = DOCUMENT["channels"][topic.name]
        assert channel["address"] == topic.name
        assert topic.key in channel["description"]
        assert topic.holds[1:] in channel["description"]
        assert ("sealed by the log" in channel["description"]) == topic.sealed_by_log


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_kafka_bindings_follow_the_table(topic: Any) -> None:
    """Partitions and cleanup policy are those of the topic's retention."""
    binding = DOCUMENT["channels"][topic.name]["bindings"]["kafka"]
    assert (binding["topic"], binding["partitions"]) == (topic.name, PARTITIONS)
    kept = {
        Retention.UNTIL_JOURNALED: {"cleanup.policy": ["delete"], "retention.ms": -1},
        Retention.COMPACTED: {"cleanup.policy": ["compact"]},
        Retention.TOMBSTONES_ONLY: {"cleanup.policy": ["compact"]},
        Retention.WEEK: {
            "cleanup.policy": ["delete"],
            "retention.ms": KEPT.total_seconds() * 1000,
        },
    }
    assert binding["topicConfiguration"] == kept[topic.retention]


def test_every_event_type_is_a_message_of_its_ingress_topic() -> None:
    """Turns, recalls and commands have a topic each, and no event type is left out."""
    turns = {EventType.TURN_ADDED.value}
    assert set(DOCUMENT["channels"][TURNS.name]["messages"]) == turns
    recalls = {EventType.RECALLED.value}
    assert set(DOCUMENT["channels"][RECALLS.name]["messages"]) == recalls
    commands = {kind.value for kind in EventType} - turns - recalls
    assert set(DOCUMENT["channels"][COMMANDS.name]["messages"]) == commands


def test_ingress_and_journal_are_sent_and_received() -> None:
    """Both directions of the topics that a program outside may meet; recalls are only sent yet."""
    found = {
        (one["action"], resolve(one["channel"]["$ref"], DOCUMENT, DOCS)["address"])
        for one in DOCUMENT["operations"].values()
    }
    topics = (*INGRESS, JOURNAL)
    both = {(action, topic.name) for action in ("send", "receive") for topic in topics}
    assert found == {*both, ("send", RECALLS.name)}


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_every_example_is_a_valid_event(kind: EventType, example: dict[str, Any]) -> None:
    """An example is read as an event of its message, and written again it is the same."""
    event = decode_event(headers_of(example), orjson.dumps(example["payload"]))
    assert (event.type, type(event.payload)) == (kind, PAYLOADS[kind])
    headers, value = encode(event)
    assert headers == headers_of(example)
    assert orjson.loads(value) == example["payload"]


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_headers_are_those_that_are_written(kind: EventType, example: dict[str, Any]) -> None:
    """The header schema names what `encode` writes, in order, with the constants it writes."""
    schema = DOCUMENT["components"]["messages"][kind.value]["headers"]
    assert list(schema["properties"]) == list(example["headers"])
    constants = {name: one["const"] for name, one in schema["properties"].items() if "const" in one}
    assert set(constants) == {"ce_specversion", "ce_type", "content-type"}
    assert constants.items() <= example["headers"].items()


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_required_headers_are_those_that_are_asked_for(
    kind: EventType, example: dict[str, Any]
) -> None:
    """Without a required header the event is refused, and without another it isn't."""
    required = set(DOCUMENT["components"]["messages"][kind.value]["headers"]["required"])
    refused = set()
    for name in example["headers"]:
        kept = tuple(pair for pair in headers_of(example) if pair[0] != name)
        try:
            decode_event(kept, orjson.dumps(example["payload"]))
        except Rejected:
            refused.add(name)
    assert refused == required


def test_a_dead_letter_is_described_by_its_model() -> None:
    """The dead letter's schema has the fields of what is written."""
    letter = DOCUMENT["components"]["schemas"]["Letter"]
    assert set(letter["properties"]) == set(Letter.model_fields)
