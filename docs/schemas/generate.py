"""Write the JSON Schemas of payloads, envelope and journal record, and docs/asyncapi.json.

Usage:
    python docs/schemas/generate.py            write the files
    python docs/schemas/generate.py --check    exit 1 with a sentence if a file is stale
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from asyncapi import document

from eunoe.schemas.events import PAYLOADS, Envelope
from eunoe.schemas.records import JournalRecord

FOLDER: Final = Path(__file__).parent
DOCUMENT: Final = FOLDER.parent / "asyncapi.json"


def schemas() -> dict[str, dict[str, Any]]:
    """Return every schema by file name.

    Payloads and the envelope say what is accepted; the journal record says what is stored.
    """
    tables = {f"{kind.value}.json": model.model_json_schema() for kind, model in PAYLOADS.items()}
    tables["envelope.json"] = Envelope.model_json_schema()
    tables["journal-record.v1.json"] = JournalRecord.model_json_schema(mode="serialization")
    return {name: _with_head(name, table) for name, table in sorted(tables.items())}


def render(schema: dict[str, Any]) -> str:
    """Render a schema or the document as it stands in its file."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def wanted() -> dict[Path, str]:
    """Return every generated file's text by its path."""
    files = {FOLDER / name: render(schema) for name, schema in schemas().items()}
    return files | {DOCUMENT: render(document())}


def stale() -> list[str]:
    """Return the names of files that are missing, out of date or left over."""
    texts = wanted()
    paths = {*FOLDER.glob("*.json"), *(path for path in [DOCUMENT] if path.exists())}
    found = {path: path.read_text(encoding="utf-8") for path in paths}
    return sorted(
        path.relative_to(FOLDER.parent).as_posix()
        for path in texts | found
        if texts.get(path) != found.get(path)
    )


def write() -> None:
    """Write every file and remove the schemas that no model stands behind."""
    texts = wanted()
    for path in FOLDER.glob("*.json"):
        if path not in texts:
            path.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Write or check; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 if stale")
    if not parser.parse_args().check:
        write()
        return 0
    names = stale()
    if names:
        print(f"{', '.join(names)} in docs is not what the models say: run make schemas.")
    return 1 if names else 0


def _with_head(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:eunoe:schema:{name.removesuffix('.json')}",
    }
    return head | schema


if __name__ == "__main__":
    sys.exit(main())
