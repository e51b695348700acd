"""CloudEvents 1.0 in binary mode of the Kafka protocol binding: attributes as headers.

Header names and the content type are those of the binding (CloudEvents Kafka Protocol Binding
1.0.2, section 3.2); tenant and user are extension attributes. What other clients send in
structured mode (section 3.3), the whole event as one JSON object, is read as well.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import orjson
from pydantic import ValidationError

from .errors import Rejected
from .events import PAYLOADS, Envelope, EventType, Turn, iso, moment
from .metadata import metadata_fault

__all__ = ["CONTENT_TYPE", "Headers", "decode", "describe", "encode"]

CONTENT_TYPE: Final = b"application/json"
STRUCTURED: Final = b"application/cloudevents"
"""What the content type of an event in structured mode begins with."""
SPEC_VERSION: Final = b"1.0"

Headers = tuple[tuple[str, bytes], ...]

_FAULTS_TOLD_MAX: Final = 5
_ATTRIBUTES: Final = frozenset("specversion id source type time tenantid userid".split())
_FIELDS: Final = frozenset(
    name for model in (Envelope, *PAYLOADS.values()) for name in model.model_fields
)
_RULES: Final = {
    "datetime_object_invalid": "must be a moment with an offset",
    "extra_forbidden": "must be left out",
    "missing": "must be given",
    "uuid_parsing": "must be a UUID",
}
"""For pydantic's own sentences, where they quote the input or don't say what to do."""


def encode(event: Envelope) -> tuple[Headers, bytes]:
    """Encode an event as (headers, value)."""
    headers = (
        ("ce_specversion", SPEC_VERSION),
        ("ce_id", event.id.encode()),
        ("ce_source", event.source.encode()),
        ("ce_type", event.type.value.encode()),
        ("ce_time", iso(event.time).encode()),
        ("ce_partitionkey", event.owner.encode()),
        ("ce_tenantid", event.tenant_id.encode()),
        ("ce_userid", event.user_id.encode()),
        ("content-type", CONTENT_TYPE),
    )
    return headers, orjson.dumps(event.payload.model_dump(mode="json", exclude_none=True))


def decode(headers: Headers, value: bytes | None) -> Envelope:
    """Decode (headers, value) into an event.

    Raises:
        Rejected: An attribute is missing or wrong, the type is unknown, or the value isn't
            what the type says; the sentence names the attribute, never its content.
    """
    attributes = dict(headers)
    if attributes.get("content-type", b"").lower().startswith(STRUCTURED):
        attributes, value = _opened(attributes["content-type"], value)
    if attributes.get("ce_specversion") != SPEC_VERSION:
        message = 'The header ce_specversion must be "1.0": send a CloudEvent.'
        raise Rejected(message)
    try:
        event_type = EventType(_text(attributes, "ce_type"))
    except ValueError:
        known = ", ".join(EventType)
        message = f"The header ce_type names an unknown event; known are {known}."
        raise Rejected(message) from None
    try:
        event = Envelope(
            id=_text(attributes, "ce_id"),
            source=_text(attributes, "ce_source"),
            type=event_type,
            time=moment(_text(attributes, "ce_time")),
            tenant_id=_text(attributes, "ce_tenantid"),
            user_id=_text(attributes, "ce_userid"),
            payload=PAYLOADS[event_type].model_validate(orjson.loads(value or b"")),
        )
    except ValidationError as error:
        message = f"The event {event_type} is malformed: {describe(error)}."
        raise Rejected(message) from None
    except orjson.JSONDecodeError:
        message = f"The value of the event {event_type} must be JSON."
        raise Rejected(message) from None
    except ValueError:
        message = "The header ce_time must be ISO 8601 with an offset."
        raise Rejected(message) from None
    if isinstance(event.payload, Turn) and event.payload.metadata is not None:
        fault = metadata_fault(event.payload.metadata)
        if fault is not None:
            message = f"The event {event_type} is malformed: {fault}."
            raise Rejected(message)
    return event


def _opened(content_type: bytes, value: bytes | None) -> tuple[dict[str, bytes], bytes]:
    """Return an event in structured mode as (headers, value) of binary mode.

    Raises:
        Rejected: It isn't one event as a JSON object, or an attribute isn't a text.
    """
    form = content_type.lower().partition(b";")[0].strip()
    try:
        whole = orjson.loads(value or b"") if form == STRUCTURED + b"+json" else None
    except orjson.JSONDecodeError:
        whole = None
    if not isinstance(whole, dict) or "data" not in whole:
        message = (
            "An event in structured mode must be one JSON object with data, and its content-type "
            "application/cloudevents+json."
        )
        raise Rejected(message)
    try:
        data = orjson.dumps(whole["data"])
    except TypeError:
        message = "The data of an event in structured mode are nested too deeply."
        raise Rejected(message) from None
    if not all(isinstance(one, str) for name, one in whole.items() if name in _ATTRIBUTES):
        message = "Every CloudEvents attribute must be a text."
        raise Rejected(message)
    return {f"ce_{name}": one.encode() for name, one in whole.items() if name in _ATTRIBUTES}, data


def describe(error: ValidationError) -> str:
    """Say what pydantic found in an event, by field and rule and without the input.

    A name that is no field's is input too, and stays out: a dead letter's reason isn't sealed.
    """
    found = list(dict.fromkeys(_faults(error)))
    told = found[:_FAULTS_TOLD_MAX]
    if len(found) > len(told):
        told.append(f"and {len(found) - len(told)} more")
    return "; ".join(told)


def _faults(error: ValidationError) -> Iterator[str]:
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        known = [str(part) for part in item["loc"] if isinstance(part, int) or part in _FIELDS]
        where = ".".join(known) or ("an unknown field" if item["loc"] else "value")
        rule = _RULES.get(item["type"], item["msg"].removeprefix("Value error, "))
        yield f"{where}: {rule}"


def _text(attributes: Mapping[str, bytes], name: str) -> str:
    raw = attributes.get(name)
    if raw is None:
        message = f"The header {name} is missing: send every CloudEvents attribute as a header."
        raise Rejected(message)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        message = f"The header {name} must be UTF-8."
        raise Rejected(message) from None
