"""The AsyncAPI 3.0 document: channels from the topics table, messages from the contract.

Written for version 3.0.0 of the specification and version 0.5.0 of its Kafka bindings. It is
JSON, which every tool that takes YAML takes: no YAML library is a dependency of this project.
Operations are described from inside: Eunoe sends what its façade and writer append, and receives
what its writer and projections read.
"""

import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import orjson

from eunoe.schemas.cloudevents import encode
from eunoe.schemas.events import (
    PAYLOADS,
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
from eunoe.schemas.limits import ID_CHARACTERS_MAX
from eunoe.schemas.persons import alias_of, person_id
from eunoe.schemas.topics import (
    COMMANDS,
    DEAD_LETTERS,
    JOURNAL,
    KEYS,
    PARTITIONS,
    RECALLS,
    TOPICS,
    TURNS,
    WRITER_GROUP,
    Retention,
    Topic,
)
from eunoe.streams.letters import Letter
from eunoe.streams.projections import ERASURE_GROUP

__all__ = ["document"]

PROJECT: Final = Path(__file__).parents[2] / "pyproject.toml"
ASYNCAPI: Final = "3.0.0"
KAFKA_BINDING: Final = "0.5.0"
WEEK_MS: Final = timedelta(days=7) // timedelta(milliseconds=1)

JSON: Final = "application/json"
BYTES: Final = "application/octet-stream"
JOURNAL_RECORD: Final = "journal-record.v1"
TOMBSTONE: Final = "tombstone"
DEAD_LETTER: Final = "dead-letter.v1"
WRAPPED_KEY: Final = "wrapped-key.v1"

MESSAGES: Final[dict[Topic, tuple[str, ...]]] = {
    TURNS: (EventType.TURN_ADDED.value,),
    COMMANDS: (
        EventType.SET_TIMEZONE.value,
        EventType.FORGET.value,
        EventType.BIND.value,
        EventType.UNBIND.value,
    ),
    JOURNAL: (JOURNAL_RECORD, TOMBSTONE),
    KEYS: (WRAPPED_KEY, TOMBSTONE),
    DEAD_LETTERS: (DEAD_LETTER,),
    RECALLS: (EventType.RECALLED.value,),
}

RETENTION: Final[dict[Retention, tuple[str, dict[str, Any]]]] = {
    Retention.UNTIL_JOURNALED: (
        "kept without a time limit, deleted below the writer's committed offset",
        {"cleanup.policy": ["delete"], "retention.ms": -1},
    ),
    Retention.COMPACTED: (
        "compacted: the newest record of a key stays, a tombstone removes its key",
        {"cleanup.policy": ["compact"]},
    ),
    Retention.TOMBSTONES_ONLY: (
        "kept for ever, but for records whose key a tombstone names; each key is used once",
        {"cleanup.policy": ["compact"]},
    ),
    Retention.WEEK: (
        "kept for seven days",
        {"cleanup.policy": ["delete"], "retention.ms": WEEK_MS},
    ),
}

OPERATIONS: Final[tuple[tuple[str, str, Topic, str | None, str], ...]] = (
    ("sendTurns", "send", TURNS, None, "`add` and `import` append turns."),
    ("receiveTurns", "receive", TURNS, WRITER_GROUP, "The writer decides turns."),
    ("sendCommands", "send", COMMANDS, None, "`forget` and `set_timezone` append commands."),
    ("receiveCommands", "receive", COMMANDS, WRITER_GROUP, "The writer carries commands out."),
    ("sendJournal", "send", JOURNAL, None, "One record per accepted event; tombstones."),
    ("receiveJournal", "receive", JOURNAL, ERASURE_GROUP, "Stores and erasures apply records."),
    ("sendRecalls", "send", RECALLS, None, "Searches leave the ids of what they served."),
)
"""Name, action, topic, consumer group that commits, and what happens; stores keep their own
markers, so the group of the journal is that of erasures."""

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "ce_specversion": {"const": "1.0", "description": "CloudEvents 1.0; another is refused."},
    "ce_id": {
        "description": "The producer's id, unique with the source within a tenant and user.",
        "minLength": 1,
        "maxLength": ID_CHARACTERS_MAX,
    },
    "ce_source": {
        "description": "The producer, such as chat.",
        "minLength": 1,
        "maxLength": ID_CHARACTERS_MAX,
    },
    "ce_type": {"description": "What the value is; the version is the last part."},
    "ce_time": {
        "description": "When it was said or done: ISO 8601 with an offset.",
        "format": "date-time",
    },
    "ce_partitionkey": {"description": "The record key again: tenant/owner, percent-encoded."},
    "ce_tenantid": {
        "description": "Whose installation; an extension attribute.",
        "minLength": 1,
        "maxLength": ID_CHARACTERS_MAX,
    },
    "ce_userid": {
        "description": "Whose memory; an extension attribute.",
        "minLength": 1,
        "maxLength": ID_CHARACTERS_MAX,
    },
    "content-type": {"const": JSON, "description": "Of the value."},
}
"""The headers of the CloudEvents Kafka binding, in the order in which they are written."""

OPTIONAL: Final = frozenset(("ce_partitionkey", "content-type"))
"""What is written but not asked for when an event is read."""

MOMENT: Final = datetime.fromisoformat("2026-05-07T17:30:00.250000+08:00")
PERSON: Final = person_id("+8613800138000", "9f3a", MOMENT)
PHONE: Final = alias_of("phone", "+8613800138000")
EXAMPLES: Final[dict[EventType, dict[str, Payload]]] = {
    EventType.TURN_ADDED: {
        "english": Turn(role="user", content="I moved to Porto in May.", session_id="s-1"),
        "chinese": Turn(role="user", content="我五月搬到了杭州。", name="安娜", session_id="s-1"),
    },
    EventType.SET_TIMEZONE: {"shanghai": SetTimezone(timezone="Asia/Shanghai")},
    EventType.FORGET: {
        "one-turn": Forget(event_ids=(UUID("c9d30d4e-ba55-595d-9e16-1f3a2cba2d43"),))
    },
    EventType.RECALLED: {
        "one-search": Recalled(
            served_at=MOMENT,
            searches=(
                Answered(moment=MOMENT, ids=(UUID("c9d30d4e-ba55-595d-9e16-1f3a2cba2d43"),)),
            ),
        )
    },
    EventType.BIND: {
        "phone": Bind(
            alias=PHONE,
            person=PERSON,
            registered_phone="+8613800138000",
            first_used_at=MOMENT,
        )
    },
    EventType.UNBIND: {"phone": Unbind(alias=PHONE, person=PERSON)},
}


def document() -> dict[str, Any]:
    """Return the AsyncAPI document, as it stands beside the folder of this script."""
    return {
        "asyncapi": ASYNCAPI,
        "info": {
            "title": "Eunoe",
            "version": tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"],
            "license": {"name": "MIT"},
            "description": (
                "The topics of Eunoe's log and the messages on them. The embedded log has the "
                "topics, keys, partitions and retention that the Kafka bindings describe, in a "
                "file. The schema of a payload is JSON Schema 2020-12 and stands in a file of "
                "its own."
            ),
        },
        "defaultContentType": JSON,
        "channels": {topic.name: _channel(topic) for topic in TOPICS},
        "operations": _operations(),
        "components": {"messages": _messages(), "schemas": _schemas()},
    }


def _channel(topic: Topic) -> dict[str, Any]:
    kept, configuration = RETENTION[topic.retention]
    sealed = (
        "Values and headers are sealed by the log, each record under a key of its own."
        if topic.sealed_by_log
        else "Whoever appends seals; the log stores values as they come."
    )
    return {
        "address": topic.name,
        "description": f"{_sentence(topic.holds)} Key: {topic.key}. {_sentence(kept)} {sealed}",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in MESSAGES[topic]},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "partitions": PARTITIONS,
                "topicConfiguration": configuration,
                "bindingVersion": KAFKA_BINDING,
            }
        },
    }


def _operations() -> dict[str, Any]:
    operations: dict[str, Any] = {}
    for name, action, topic, group, summary in OPERATIONS:
        operations[name] = {
            "action": action,
            "channel": {"$ref": f"#/channels/{_pointer(topic.name)}"},
            "summary": summary,
            "messages": [
                {"$ref": f"#/channels/{_pointer(topic.name)}/messages/{_pointer(message)}"}
                for message in MESSAGES[topic]
            ],
        }
        if group is not None:
            operations[name]["bindings"] = {
                "kafka": {
                    "groupId": {"type": "string", "enum": [group]},
                    "bindingVersion": KAFKA_BINDING,
                }
            }
    return operations


def _messages() -> dict[str, Any]:
    events = {kind.value: _event(kind) for kind in EventType}
    return events | {
        JOURNAL_RECORD: {
            "name": JOURNAL_RECORD,
            "title": "Journal record",
            "contentType": JSON,
            "payload": {"$ref": f"schemas/{JOURNAL_RECORD}.json"},
            "bindings": _keyed("The event id."),
        },
        TOMBSTONE: {
            "name": TOMBSTONE,
            "title": "Tombstone",
            "summary": "A record without a value: its key goes at the next compaction.",
            "contentType": BYTES,
            "payload": {"type": "null"},
            "bindings": _keyed("The key that goes."),
        },
        WRAPPED_KEY: {
            "name": WRAPPED_KEY,
            "title": "Wrapped key",
            "summary": "A data key, sealed by its owner's key.",
            "contentType": BYTES,
            "payload": {"type": "string", "format": "binary"},
            "bindings": _keyed("The key's id."),
        },
        DEAD_LETTER: {
            "name": DEAD_LETTER,
            "title": "Dead letter",
            "contentType": JSON,
            "payload": {"$ref": "#/components/schemas/Letter"},
            "bindings": _keyed("The key of the record that was refused."),
        },
    }


def _event(kind: EventType) -> dict[str, Any]:
    return {
        "name": kind.value,
        "title": PAYLOADS[kind].__name__,
        "summary": (PAYLOADS[kind].__doc__ or "").partition("\n")[0],
        "contentType": JSON,
        "headers": {
            "type": "object",
            "required": [name for name in HEADERS if name not in OPTIONAL],
            "properties": {
                name: {"type": "string"} | schema | _of_type(name, kind)
                for name, schema in HEADERS.items()
            },
        },
        "payload": {"$ref": f"schemas/{kind.value}.json"},
        "bindings": _keyed("tenant/owner, each part percent-encoded."),
        "examples": [_example(kind, name, one) for name, one in EXAMPLES[kind].items()],
    }


def _of_type(name: str, kind: EventType) -> dict[str, Any]:
    return {"const": kind.value} if name == "ce_type" else {}


def _example(kind: EventType, name: str, payload: Payload) -> dict[str, Any]:
    event = Envelope(
        id="D1:3",
        source="chat",
        type=kind,
        time=MOMENT,
        tenant_id="default",
        user_id=payload.alias if isinstance(payload, Bind | Unbind) else "anna",
        payload=payload,
    )
    headers, value = encode(event)
    return {
        "name": name,
        "headers": {key: raw.decode() for key, raw in headers},
        "payload": orjson.loads(value),
    }


def _schemas() -> dict[str, Any]:
    letter = Letter.model_json_schema(
        mode="serialization", ref_template="#/components/schemas/{model}"
    )
    return {**letter.pop("$defs"), "Letter": letter}


def _keyed(description: str) -> dict[str, Any]:
    return {
        "kafka": {
            "key": {"type": "string", "description": description},
            "bindingVersion": KAFKA_BINDING,
        }
    }


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _pointer(name: str) -> str:
    """Escape a name as a part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
