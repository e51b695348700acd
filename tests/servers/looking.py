"""What the tests of servers look at: files, processes, and texts that can be found in files."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

__all__ = ["ROOT", "TEXTS", "WAIT_S", "holds", "is_alive", "until"]

ROOT: Final = Path(__file__).resolve().parents[2]
WAIT_S: Final = 60.0
TEXTS: Final = pytest.mark.parametrize(
    "text", ["qzjxkvwphgmbfycdlunr", "春江潮水连海平月共生滟随波千里何处无"], ids=["en", "zh"]
)
"""Texts that no compression shortens, so that a search of files finds them where they are."""


def holds(folder: Path, text: str) -> bool:
    """Tell whether a file under a folder holds a text."""
    wanted = text.encode()
    return any(wanted in file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110 - files and processes send no events
            await asyncio.sleep(0.1)


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits to be reaped doesn't."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
