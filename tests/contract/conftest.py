"""Fixtures for the contracts of ports."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(name="tmp_path")
def folder_on_disk() -> Iterator[Path]:
    """Make a folder on the disk, where others have one in memory: back-ends are meant for disks."""
    with tempfile.TemporaryDirectory(prefix="eunoe-") as name:
        yield Path(name).resolve()
