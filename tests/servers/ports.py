"""Ports for servers of tests, so that test runs that share a machine never take each other's."""

import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import Final, TextIO

__all__ = ["Port"]

# Below where systems take the ports of outgoing connections from (32768 on Linux): a server that
# was killed finds its port free when it starts again.
FIRST: Final = 20_000
LAST: Final = 31_999
STRIDE: Final = 37  # processes that start together have neighbouring ids


class Port:
    """A free port of loopback, ours until `release` or the end of the process.

    Attributes:
        number: The port.
    """

    def __init__(self) -> None:
        self.number, self._lock = _reserve()

    def release(self) -> None:
        """Give it back; a second time does nothing."""
        self._lock.close()


def _reserve() -> tuple[int, TextIO]:
    folder = Path(tempfile.gettempdir()) / f"eunoe-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    count = LAST - FIRST + 1
    for step in range(count):
        number = FIRST + (os.getpid() * STRIDE + step) % count
        if (lock := _locked(folder / str(number))) is not None:
            if _is_free(number):
                return number, lock
            lock.close()
    message = f"No port from {FIRST} to {LAST} is free."
    raise RuntimeError(message)


def _locked(file: Path) -> TextIO | None:
    lock = file.open("w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def _is_free(number: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", number))
        except OSError:
            return False
    return True
