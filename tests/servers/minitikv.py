"""A stand-in for TiKV and its placement driver, true to their protocol, for tests.

Percolator transactions, MVCC, locks with their expiry and live splits of regions are real; Raft,
asynchronous commits and collecting garbage by itself are not there. Its sources lie in `minitikv/`.
"""

import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.servers import binaries
from tests.servers.process import Server, ServerFailed

__all__ = ["MiniTikv", "running"]

COMMAND_S_MAX: Final = 30.0


class MiniTikv(Server):
    """One store and one placement driver on one port; its data lies in its folder.

    A client that was connected to it is dead for good after it was killed or stopped: connect anew.

    Args:
        folder: Of its data and log.
        splits: Keys at which the key space is split into regions from the start.
    """

    name = "minitikv"
    start_s_max = 20.0
    takes_commands = True

    def __init__(self, folder: Path, splits: Sequence[bytes] = ()) -> None:
        self._program = binaries.built(binaries.minitikv()) / "minitikv"
        super().__init__(folder)
        self._splits = tuple(splits)

    @property
    def data(self) -> Path:
        """The folder of its data."""
        return self.folder / "data"

    def command(self, line: str) -> None:
        """Have it do something, and wait until it has been done.

        Args:
            line: `gc`: remove what no snapshot after now can see, from the files as well.
                `split HEX`: split the region that holds a key.
                `conflicts SECONDS`: answer every commit with a write conflict for that long.
                `pause SECONDS`: answer nothing for that long; 0 ends it, as it does for conflicts.

        Raises:
            ServerFailed: It refuses, with its reason, or doesn't do it in time.
        """
        stdin = self.process.stdin
        assert stdin is not None
        stdin.write(line + "\n")
        stdin.flush()
        answer = self._line(COMMAND_S_MAX)
        if answer != "OK":
            message = f"minitikv answers {answer or 'nothing'!r} to {line!r}."
            raise ServerFailed(message)

    def _line(self, wait_s: float) -> str:
        stdout = self.process.stdout
        assert stdout is not None
        if not select.select([stdout], [], [], wait_s)[0]:
            return ""
        return stdout.readline().strip()

    def _command(self) -> list[str]:
        split = ["-split", ",".join(key.hex() for key in self._splits)] if self._splits else []
        places = ["-listen", self.address, "-data", str(self.data)]
        return [str(self._program), "-stdin", *places, *split]

    def _answers(self) -> bool:
        return self._line(0.05) == f"READY {self.address}"


@contextmanager
def running(folder: Path, *, splits: Sequence[bytes] = ()) -> Iterator[MiniTikv]:
    """Run a store on a folder, and end it whatever happens.

    Args:
        folder: As in `MiniTikv`.
        splits: As in `MiniTikv`.

    Yields:
        The store, which answers.

    Raises:
        MissingServer: It isn't built.
        ServerFailed: It doesn't start; the sentence holds the end of its log.
    """
    with MiniTikv(folder, splits).session() as server:
        yield server
