"""Fixtures for the tests of the package itself."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.eunoe.fake_memory import FakeMemory


@pytest.fixture(name="folder")
def short_folder() -> Iterator[Path]:
    """Make a folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="eu-") as name:
        yield Path(name)


@pytest.fixture(name="fake")
def fake_memory() -> FakeMemory:
    """Make a façade."""
    return FakeMemory()
