"""Write the golden files that don't exist yet; never touches one that does.

Usage, from the root of the repository: python -m tests.wire.add
"""

import json

from eunoe.schemas.cloudevents import encode
from eunoe.schemas.events import Envelope
from eunoe.streams.projections import encode_record

from .test_golden import EVENTS, FOLDER, RECORDS, STRUCTURED


def main() -> None:
    """Write what is missing."""
    missing: dict[str, object] = {}
    for name, event in EVENTS.items():
        headers, value = encode(event)
        pairs = [[key, raw.decode()] for key, raw in headers]
        missing[name] = {"headers": pairs, "value": value.decode()}
    for name, event in STRUCTURED.items():
        pairs = [["content-type", "application/cloudevents+json"]]
        missing[name] = {"headers": pairs, "value": _whole(event)}
    for name, record in RECORDS.items():
        missing[name] = {"value": encode_record(record).decode()}
    for name, golden in missing.items():
        if not (FOLDER / name).exists():
            text = json.dumps(golden, ensure_ascii=False, indent=2) + "\n"
            (FOLDER / name).write_text(text, encoding="utf-8")


def _whole(event: Envelope) -> str:
    """Return an event as one JSON object, as another client writes it."""
    headers, value = encode(event)
    attributes = {
        name.removeprefix("ce_"): raw.decode() for name, raw in headers if name != "content-type"
    }
    whole = {**attributes, "datacontenttype": "application/json", "data": json.loads(value)}
    return json.dumps(whole, ensure_ascii=False)


if __name__ == "__main__":
    main()
