"""Finding names in a process of its own: what runs there, and the frames that it speaks.

The process is `python -m eunoe.infra.recogniser_child PARENT`. It says `GREETING`, then answers
each question in turn: texts come on standard input, names go to standard output, and nothing
touches a file. It ends with the process that started it, however that ends, even in the middle
of a batch: a thread waits for the end of its input and looks whether its parent is still there.

A frame is the length of its body, four bytes, the highest first, and the body, which is JSON.
"""

import os
import select
import signal
import struct
import sys
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, get_args

import orjson

from ..schemas.errors import Unavailable
from ..schemas.limits import PARENT_EVERY_S, RECOGNISER_FRAME_BYTES_MAX
from ..schemas.ports import Entity, EntityKind
from .recogniser import TextRecogniser

__all__ = ["GREETING", "Malformed", "main", "pack", "read_frame", "unpack_names"]

GREETING: Final = "eunoe recogniser 1"
_LENGTH: Final = struct.Struct(">I")
_KINDS: Final[dict[str, EntityKind]] = {kind: kind for kind in get_args(EntityKind)}
_INPUT: Final = 0
_OUTPUT: Final = 1


class Malformed(Exception):
    """The other side has ended, or says what it can't mean."""


def pack(body: object) -> bytes:
    """Make a frame.

    Raises:
        Malformed: It would be longer than `RECOGNISER_FRAME_BYTES_MAX`.
    """
    packed = orjson.dumps(body)
    if len(packed) > RECOGNISER_FRAME_BYTES_MAX:
        message = "A frame is too long."
        raise Malformed(message)
    return _LENGTH.pack(len(packed)) + packed


def read_frame(read: Callable[[int], bytes]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Read a frame and return its body.

    Args:
        read: Returns up to so many bytes, at least one unless the other side has ended.

    Raises:
        Malformed: There is no whole frame, or it is longer than `RECOGNISER_FRAME_BYTES_MAX`.
    """
    (length,) = _LENGTH.unpack(_read_exactly(read, _LENGTH.size))
    if length > RECOGNISER_FRAME_BYTES_MAX:
        message = "A frame is too long."
        raise Malformed(message)
    try:
        return orjson.loads(_read_exactly(read, length))
    except orjson.JSONDecodeError as error:
        message = "A frame isn't JSON."
        raise Malformed(message) from error


def unpack_names(rows: object, texts: Sequence[str]) -> list[list[Entity]]:
    """Return the names that an answer gives for the texts of its question.

    Raises:
        Malformed: They aren't names in these texts.
    """
    try:
        return [
            [_entity(text, *row) for row in names]
            for text, names in zip(texts, rows, strict=True)  # type: ignore[call-overload]  # checked by doing it
        ]
    except (TypeError, ValueError, KeyError) as error:
        message = "An answer holds what is no name."
        raise Malformed(message) from error


def _entity(text: str, kind: str, start: int, end: int) -> Entity:
    if not 0 <= start < end <= len(text):
        message = "A name stands outside of its text."
        raise ValueError(message)
    return Entity(text[start:end], _KINDS[kind], start, end)


def _read_exactly(read: Callable[[int], bytes], count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = read(count - len(data))
        if not part:
            message = "The other side has ended."
            raise Malformed(message)
        data += part
    return bytes(data)


def main() -> None:
    """Answer questions until the process that started this one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent to decide
    output = os.dup(_OUTPUT)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _OUTPUT)  # whatever a library prints must not look like an answer
    os.close(nowhere)
    questions: SimpleQueue[list[str]] = SimpleQueue()
    Thread(target=_listen, args=(questions, int(sys.argv[1])), daemon=True).start()
    finder = TextRecogniser()
    _write(output, pack(GREETING))
    while True:
        texts = questions.get()
        try:
            found = finder.find(texts)
        except Unavailable as error:
            _write(output, pack({"unavailable": str(error)}))
            continue
        names = [[(one.kind, one.start, one.end) for one in entities] for entities in found]
        _write(output, pack({"found": names}))


def _listen(questions: "SimpleQueue[list[str]]", parent: int) -> None:
    """Hand over questions; end the process with its parent, or when it isn't understood."""

    def read(count: int) -> bytes:
        # A process that the parent forked may hold the pipe open after the parent's end.
        while not select.select([_INPUT], [], [], PARENT_EVERY_S)[0]:
            if os.getppid() != parent:
                return b""
        return os.read(_INPUT, count)

    try:
        while True:
            texts = read_frame(read)
            if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
                break
            questions.put(texts)
    except Malformed:
        pass  # the end of the input is one, too
    finally:
        os._exit(0)  # the other thread may be in the middle of a batch that nobody waits for


def _write(output: int, frame: bytes) -> None:
    left = memoryview(frame)
    while left:
        left = left[os.write(output, left) :]


if __name__ == "__main__":
    main()
