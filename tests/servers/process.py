"""A server of a test: one process on loopback that is started, killed, paused and started again."""

import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, ClassVar, Final, Self

from tests.servers.ports import Port

__all__ = ["Server", "ServerFailed"]

LOG_LINES: Final = 25
POLL_S: Final = 0.02
STOP_S_MAX: Final = 30.0

# The kernel kills a server when the thread that started it ends, which is how none outlives a test
# process that was killed. So all are started by one thread that ends with the process.
_SPAWNER: Final = ThreadPoolExecutor(1, thread_name_prefix="spawner")


class ServerFailed(RuntimeError):
    """A server didn't start or didn't answer; the sentence holds the end of its log."""


class Server(ABC):
    """One server process and its folder. It is started by `running` of the module that names it.

    Args:
        folder: Holds its data and its log, and is made where it's missing. A server that is started
            on the folder of another finds the other's data.

    Attributes:
        folder: As given.
        port: Its port on loopback, the same after each start.
    """

    name: ClassVar[str]
    start_s_max: ClassVar[float] = 60.0
    takes_commands: ClassVar[bool] = False

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._port = Port()
        self.port = self._port.number
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        """Its host and port, as clients take them."""
        return f"127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """The file that it writes its log to."""
        return self.folder / f"{self.name}.log"

    @property
    def process(self) -> subprocess.Popen[str]:
        """Its process.

        Raises:
            ServerFailed: It has been stopped or killed, or was never started.
        """
        if self._process is None:
            message = f"{self.name} isn't running: start() it first."
            raise ServerFailed(message)
        return self._process

    @property
    def is_running(self) -> bool:
        """Whether its process is there; a paused one is."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start it on its folder and port, and wait until it answers.

        Raises:
            ServerFailed: It ended, or doesn't answer in time; nothing is left running.
        """
        if self.is_running:
            return self
        with self.log.open("a", encoding="utf-8") as log:
            self._process = spawn(self._command(), log, takes_commands=self.takes_commands)
        try:
            self._wait()
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """Ask it to end, and wait; one that doesn't in time is killed."""
        if self.is_running:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(STOP_S_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._reap()

    def kill(self) -> None:
        """Kill it, as a crash would, and wait until it has gone."""
        if self.is_running:
            self.process.kill()
        self._reap()

    def pause(self) -> None:
        """Halt its process: connections stay, and nothing answers."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process go on."""
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Kill it, and give its port back."""
        self.kill()
        self._port.release()

    @contextmanager
    def session(self) -> Iterator[Self]:
        """Start it, and end it whatever happens."""
        try:
            yield self.start()
        finally:
            self.close()

    @abstractmethod
    def _command(self) -> list[str]:
        """Return the command line that starts it."""

    @abstractmethod
    def _answers(self) -> bool:
        """Tell whether it answers by now."""

    def _wait(self) -> None:
        until = time.monotonic() + self.start_s_max
        while not self._answers():
            code = self.process.poll()
            if code is not None:
                raise ServerFailed(self._complaint(f"ended with code {code} as it started"))
            if time.monotonic() > until:
                wait = f"didn't answer within {self.start_s_max:.0f} s"
                raise ServerFailed(self._complaint(wait))
            time.sleep(POLL_S)

    def _complaint(self, what: str) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([f"{self.name} {what}. Its log ends:", *lines[-LOG_LINES:]])

    def _reap(self) -> None:
        if self._process is None:
            return
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process = None


def spawn(command: list[str], log: IO[str], *, takes_commands: bool) -> subprocess.Popen[str]:
    """Start a process that dies with ours, out of reach of the keyboard's interrupt."""
    if setpriv := shutil.which("setpriv"):  # Linux has it; elsewhere only a killed run leaves any
        command = [setpriv, "--pdeathsig", "KILL", "--", *command]
    return _SPAWNER.submit(
        lambda: subprocess.Popen(  # noqa: S603 - servers of our own, by their paths
            command,
            stdin=subprocess.PIPE if takes_commands else subprocess.DEVNULL,
            stdout=subprocess.PIPE if takes_commands else log,
            stderr=log,
            text=True,
            bufsize=1 if takes_commands else -1,
            start_new_session=True,
        )
    ).result()
