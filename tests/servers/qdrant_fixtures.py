"""Fixtures of a Qdrant server: one for the test session, and one of a test's own to kill."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import qdrant
from tests.servers.qdrant import Qdrant
from tests.support.places import memory_folder

__all__ = ["give_own_qdrant", "give_qdrant"]


@pytest.fixture(scope="session", name="qdrant_url")
def give_qdrant() -> Iterator[str]:
    """Give the URL of a server that the whole session uses: EUNOE_TEST_QDRANT, or the stand-in."""
    if given := os.environ.get("EUNOE_TEST_QDRANT"):
        yield given
        return
    with (
        tempfile.TemporaryDirectory(dir=memory_folder()) as folder,
        qdrant.running(Path(folder)) as server,
    ):
        yield server.url


@pytest.fixture(name="own_qdrant")
def give_own_qdrant(tmp_path: Path) -> Iterator[Qdrant]:
    """Give a stand-in of the test's own, with faults, to kill and start again."""
    with qdrant.running(tmp_path / "qdrant") as server:
        yield server
