"""Optimising a shard in a process of its own: the engine holds the interpreter for seconds.

The process is `python -m eunoe.infra.embedded.optimising FOLDER`, on a closed copy that nobody
else uses. It ends with the process that started it, however that ends: then the system tells it
by a signal, for while the engine is at work no code of ours runs there.
"""

import asyncio
import fcntl
import os
import select
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ...schemas.errors import Unavailable
from ...schemas.limits import (
    COLLECTED_MAX,
    ERRORS_BYTES_MAX,
    OPTIMISE_S_MAX,
    REASON_CHARACTERS_MAX,
)
from ...schemas.ports import Stored
from .points import Shard, optimise_shard
from .shard_files import system_reason
from .shard_slots import ShardCopy, sync

__all__ = ["Optimiser", "Rebuild", "main"]

NICENESS: Final = 10


class Rebuild:
    """A copy of the shard, on its way to take the shard's place.

    Args:
        place: Where the copy goes.
    """

    def __init__(self, place: Path) -> None:
        self.copy: ShardCopy | None = None
        self.shard: Shard | None = None
        """The copy while it is open; once it is used, the shard that it replaced."""
        self.lacking: list[Stored] = []
        """What was applied to the shard since the copy began, and not yet to the copy."""
        self.trouble: str | None = None
        self.over = asyncio.Event()
        self._optimiser = Optimiser(place)

    def collect(self, records: Sequence[Stored]) -> None:
        """Note what was applied to the shard; if it is too much, the copy is of no use."""
        if self.copy is None or self.trouble is not None:
            return
        self.lacking += records
        if len(self.lacking) > COLLECTED_MAX:
            self.lacking.clear()
            self.trouble = (
                f"The episodic store wasn't optimised and is as it was: more than {COLLECTED_MAX} "
                "turns came meanwhile; try again when less is written."
            )

    def give_up(self, trouble: str) -> None:
        """Say why it can't go on, and end the other process."""
        self.trouble = self.trouble or trouble
        self._optimiser.end()

    def check(self) -> None:
        """See whether it goes on.

        Raises:
            Unavailable: It doesn't.
        """
        if self.trouble is not None:
            raise Unavailable(self.trouble)

    async def run(self) -> None:
        """Optimise the copy in a process of its own.

        Raises:
            Unavailable: It failed or was given up.
        """
        try:
            await self._optimiser.run()
        except Unavailable:
            self.check()  # whoever gave it up has said why
            raise


class Optimiser:
    """The other process, seen from here.

    Args:
        shard: A closed shard that nobody else uses.
    """

    def __init__(self, shard: Path) -> None:
        self._shard = shard
        self._process: asyncio.subprocess.Process | None = None
        self._is_ended = False

    async def run(self) -> None:
        """Optimise the shard and bring it to the disk.

        Raises:
            Unavailable: It failed, was ended, or took longer than `OPTIMISE_S_MAX`.
        """
        ours, theirs = os.pipe()  # it hears the end of this process by the end of the pipe
        try:
            # -P: what lies in the working folder is not imported.
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", __name__, str(self._shard)),
                stdin=ours,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the process that started it
            )
            os.close(ours)
            ours = -1
            await self._wait(process)
        except OSError as error:
            raise _failed(error.strerror or str(error)) from error
        finally:
            os.close(theirs)
            if ours >= 0:
                os.close(ours)

    def end(self) -> None:
        """End the process, now or as soon as it is there; `run` is Unavailable."""
        self._is_ended = True
        if self._process is not None:
            _kill(self._process)

    async def _wait(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        if self._is_ended:
            _kill(process)
        errors = b""
        try:
            async with asyncio.timeout(OPTIMISE_S_MAX):
                errors = await _errors_of(process)
                await process.wait()
        except TimeoutError as error:
            message = f"it took longer than {OPTIMISE_S_MAX:g} s"
            raise _failed(message) from error
        finally:
            _kill(process)
            await process.wait()
        if process.returncode:
            raise _failed(_reason(process.returncode, errors))


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()


async def _errors_of(process: asyncio.subprocess.Process) -> bytes:
    """Read what it says of errors; the end is what counts."""
    errors = b""
    while process.stderr and (read := await process.stderr.read(ERRORS_BYTES_MAX)):
        errors = (errors + read)[-ERRORS_BYTES_MAX:]
    return errors


def _reason(code: int, errors: bytes) -> str:
    if code < 0:
        return f"its process was ended by {signal.Signals(-code).name}"
    said = [line for line in errors.decode(errors="replace").splitlines() if line.strip()]
    last = said[-1].rstrip(".")[:REASON_CHARACTERS_MAX] if said else f"exit status {code}"
    return system_reason(OSError(last)) or last


def _failed(reason: str) -> Unavailable:
    return Unavailable(f"The episodic store wasn't optimised and is as it was: {reason}.")


def main() -> None:
    """Optimise the shard in the folder that the command line names."""
    # The signal that the pipe's end sends ends this process, even in the middle of the engine.
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([0], [], [], 0)[0]:
        sys.exit("the process that started it has ended")
    os.nice(NICENESS)
    shard = Path(sys.argv[1])
    optimise_shard(shard)
    sync(shard)


if __name__ == "__main__":
    main()
