"""Write one JSON Schema per event payload, for the envelope and for the journal record.

Usage:
    python docs/schemas/generate.py            write the files beside this script
    python docs/schemas/generate.py --check    exit 1 with a sentence if a file is stale
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from eunoe.schemas.events import PAYLOADS, Envelope
from eunoe.schemas.records import JournalRecord

FOLDER: Final = Path(__file__).parent


def schemas() -> dict[str, dict[str, Any]]:
    """Return every schema by file name.

    Payloads and the envelope say what is accepted; the journal record says what is stored.
    """
    tables = {f"{kind.value}.json": model.model_json_schema() for kind, model in PAYLOADS.items()}
    tables["envelope.json"] = Envelope.model_json_schema()
    tables["journal-record.v1.json"] = JournalRecord.model_json_schema(mode="serialization")
    return {name: _with_head(name, table) for name, table in sorted(tables.items())}


def render(schema: dict[str, Any]) -> str:
    """Render a schema as it stands in its file."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def stale() -> list[str]:
    """Return the names of files that are missing, out of date or left over."""
    wanted = {name: render(schema) for name, schema in schemas().items()}
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    return sorted(name for name in wanted | found if wanted.get(name) != found.get(name))


def write() -> None:
    """Write every schema and remove what no model stands behind."""
    wanted = schemas()
    for path in FOLDER.glob("*.json"):
        if path.name not in wanted:
            path.unlink()
    for name, schema in wanted.items():
        (FOLDER / name).write_text(render(schema), encoding="utf-8")


def main() -> int:
    """Write or check; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 if stale")
    if not parser.parse_args().check:
        write()
        return 0
    names = stale()
    if names:
        print(f"{', '.join(names)} in docs/schemas is not what the models say: run make schemas.")
    return 1 if names else 0


def _with_head(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:eunoe:schema:{name.removesuffix('.json')}",
    }
    return head | schema


if __name__ == "__main__":
    sys.exit(main())
