"""The recogniser in a process of its own: while it reads, this one has its interpreter to itself.

spaCy and jieba hold the interpreter's lock nearly all the time. The other process is started at
the first text, keeps the models so that this one needn't load them, and is started again if it
dies. Where it can't be started, names are found in this process: the same ones.
"""

import os
import select
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from typing import IO, Any, Final, cast

from ..schemas.errors import Unavailable
from ..schemas.limits import (
    BATCH_RECORDS_MAX,
    READ_CHARACTERS_MAX,
    RECOGNISE_S_MAX,
    RECOGNISER_START_S_MAX,
    RECOGNISER_STARTS_MAX,
)
from ..schemas.ports import Entity
from . import recogniser_child
from .recogniser import TextRecogniser
from .recogniser_child import GREETING, Malformed, pack, read_frame, unpack_names

__all__ = ["ProcessRecogniser"]

READ_BYTES: Final = 65_536  # what a pipe holds


class ProcessRecogniser(TextRecogniser):
    """`ports.Recogniser` over spaCy and jieba in a process of its own.

    A thread of this process waits for the other one. Texts pass over a pipe and no file.
    """

    def __init__(self) -> None:
        """Start nothing yet."""
        super().__init__()
        self._child: _Child | None = None
        self._failures = 0
        """How often in a row the other process gave no answer."""

    def find(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Find the names in each text; blocks; one thread at a time.

        Names behind the first 50 000 characters of a text are not looked for.

        Raises:
            Unavailable: No English model is installed.
        """
        found: list[list[Entity]] = []
        for start in range(0, len(texts), BATCH_RECORDS_MAX):
            found += self._find(texts[start : start + BATCH_RECORDS_MAX])
        return found

    async def close(self) -> None:
        """End the thread and the process; what runs is finished first."""
        await super().close()
        self._end()

    def _find(self, texts: Sequence[str]) -> list[list[Entity]]:
        read = [text[:READ_CHARACTERS_MAX] for text in texts]
        while self._failures < RECOGNISER_STARTS_MAX:
            try:
                if self._child is None:
                    self._child = _Child()
                answer = self._child.ask(read)
                self._failures = 0
            except (OSError, Malformed):
                self._end()
                self._failures += 1
            except TypeError:
                break  # a lone surrogate is no Unicode and can't be sent
            else:
                return answer
        return super().find(texts)

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """The other process, seen from here; blocks.

    Raises:
        OSError: It can't be started.
        Malformed: What was started is something else.
    """

    def __init__(self) -> None:
        if getattr(sys, "frozen", False) or not sys.executable:
            message = "There is no interpreter that could be started."
            raise OSError(message)
        # -P: what lies in the working folder is not imported.
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-m", recogniser_child.__name__, str(os.getpid())],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the process that started it
        )
        # Also when nobody closes it, and at the latest when the interpreter ends.
        self.end = weakref.finalize(self, _end, process)
        self._questions = cast("IO[bytes]", process.stdin).fileno()
        self._answers = cast("IO[bytes]", process.stdout).fileno()
        os.set_blocking(self._questions, False)
        try:
            self._hear_greeting()
        except BaseException:
            self.end()
            raise

    def ask(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Find the names in each text.

        Raises:
            OSError, Malformed: It died, was silent for `RECOGNISE_S_MAX`, or talks nonsense.
            TypeError: A text holds a lone surrogate.
            Unavailable: It says that it can't.
        """
        deadline = time.monotonic() + RECOGNISE_S_MAX
        left = memoryview(pack(list(texts)))
        while left:
            _wait(self._questions, select.POLLOUT, deadline)
            left = left[os.write(self._questions, left) :]
        match self._read_answer(deadline):
            case {"found": rows}:
                return unpack_names(rows, texts)
            case {"unavailable": str(sentence)}:
                raise Unavailable(sentence)
            case _:
                message = "An answer is none."
                raise Malformed(message)

    def _hear_greeting(self) -> None:
        if self._read_answer(time.monotonic() + RECOGNISER_START_S_MAX) != GREETING:
            message = "Another program was started."
            raise Malformed(message)

    def _read_answer(self, deadline: float) -> Any:  # noqa: ANN401 - whatever JSON holds
        def read(count: int) -> bytes:
            _wait(self._answers, select.POLLIN, deadline)
            return os.read(self._answers, min(count, READ_BYTES))

        return read_frame(read)


def _wait(pipe: int, event: int, deadline: float) -> None:
    """Wait until a pipe can be used, or its other end is closed."""
    waiting = select.poll()
    waiting.register(pipe, event)
    if not waiting.poll(max(0.0, 1e3 * (deadline - time.monotonic()))):
        message = "The recogniser's process is silent."
        raise TimeoutError(message)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process now: it holds nothing that could be lost."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()
