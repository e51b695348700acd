"""Write the golden files that don't exist yet; never touches one that does.

Usage, from the root of the repository: python -m tests.wire.add
"""

import json

from eunoe.schemas.cloudevents import encode
from eunoe.streams.projections import encode_record

from .test_golden import EVENTS, FOLDER, RECORDS


def main() -> None:
    """Write what is missing."""
    missing: dict[str, object] = {}
    for name, event in EVENTS.items():
        headers, value = encode(event)
        pairs = [[key, raw.decode()] for key, raw in headers]
        missing[name] = {"headers": pairs, "value": value.decode()}
    for name, record in RECORDS.items():
        missing[name] = {"value": encode_record(record).decode()}
    for name, golden in missing.items():
        if not (FOLDER / name).exists():
            text = json.dumps(golden, ensure_ascii=False, indent=2) + "\n"
            (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
