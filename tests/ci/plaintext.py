"""Search every file under a folder for a text as bytes, in each encoding that could hold it.

Usage: python tests/ci/plaintext.py FOLDER TEXT…

Exit 0: found nowhere. Exit 1: found; the files are named. Exit 2: there was nothing to search.
"""

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SHIFTS: Final = 3  # base64 of a text depends on where it begins in a group of three bytes


def needles(text: str) -> Iterator[tuple[str, bytes]]:
    """Yield (encoding, bytes) of every form in which a text could lie on the disk."""
    for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le"):
        yield encoding, text.encode(encoding)
    if not text.isascii():
        yield "gb18030", text.encode("gb18030")
        yield "JSON escapes", json.dumps(text)[1:-1].encode()
    for shift in range(SHIFTS):
        whole = base64.b64encode(b"\0" * shift + text.encode())
        # The first and the last group hold bits of the neighbours too.
        yield "base64", whole[4 if shift else 0 : -4]


def found(folder: Path, text: str) -> Iterator[str]:
    """Yield a sentence per file and encoding that holds the text, or has it in its name."""
    forms = list(needles(text))
    for file in files(folder):
        if text in file.name:
            yield f"{file} is named after it"
        content = file.read_bytes()
        for encoding, needle in forms:
            if needle in content:
                yield f"{file} holds it as {encoding}"


def files(folder: Path) -> list[Path]:
    """Return every regular file under a folder."""
    return sorted(file for file in folder.rglob("*") if file.is_file())


def main(folder: Path, texts: list[str]) -> int:
    """Search; returns the exit code."""
    if not any(file.stat().st_size for file in files(folder)):
        print(f"{folder} holds no data: nothing was searched.")
        return 2
    sentences = [sentence for text in texts for sentence in found(folder, text)]
    print("\n".join(sentences) or f"{len(files(folder))} files searched: nothing in plain text")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
