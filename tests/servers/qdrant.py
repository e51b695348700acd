"""A Qdrant server for tests: a stand-in over the same engine, as a process of its own.

No server binary is to be had from package registries. The adapter's tests run against a real one
where EUNOE_TEST_QDRANT names it; what needs faults, kills or other versions runs on the stand-in.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import httpx

from tests.servers.process import Server

__all__ = ["Qdrant", "running"]

ROOT: Final = Path(__file__).parents[2]
PROGRAM: Final = "import sys; sys.path.insert(0, {root!r}); from {module} import main; main()"
MODULE: Final = "tests.servers.qdrant_standin"


class Qdrant(Server):
    """The stand-in, seen from a test.

    Args:
        folder: Where it keeps everything.
        options: Of its command line, beside the folder and the port.
    """

    name: ClassVar[str] = "qdrant"

    def __init__(self, folder: Path, options: list[str]) -> None:
        super().__init__(folder)
        self._options = options

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{self.address}"

    def fault(self, **values: Any) -> None:
        """Let something go wrong from now on; see the stand-in."""
        httpx.post(f"{self.url}/faults", json=values).raise_for_status()

    def heal(self) -> None:
        """End everything that goes wrong."""
        httpx.delete(f"{self.url}/faults").raise_for_status()

    def calls(self) -> dict[str, int]:
        """Return how often each call was made, and begin to count anew."""
        counted: dict[str, int] = httpx.get(f"{self.url}/calls").json()["result"]
        httpx.delete(f"{self.url}/calls").raise_for_status()
        return counted

    def _command(self) -> list[str]:
        program = PROGRAM.format(root=str(ROOT), module=MODULE)
        place = ["--folder", str(self.folder), "--port", str(self.port)]
        return [sys.executable, "-c", program, *place, *self._options]

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/calls", timeout=1.0).is_success
        except httpx.HTTPError:
            return False


@contextmanager
def running(
    folder: Path, *, key: str = "", version: str = "1.20.0", honours_idf: bool = True
) -> Iterator[Qdrant]:
    """Run the stand-in; leaving ends it.

    Args:
        folder: Where it keeps everything.
        key: That requests have to bring.
        version: That it says it is.
        honours_idf: Whether it heeds an IDF corpus.
    """
    options = ["--key", key, "--version", version] + ([] if honours_idf else ["--global-idf"])
    with Qdrant(folder, options).session() as server:
        yield server
