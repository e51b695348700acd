"""JSON Lines of messages: read one by one, and named so that a repeat is known again."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import orjson

from ..messages import is_field_like
from ..schemas.errors import Rejected
from ..schemas.limits import (
    LINE_BYTES_MAX,
)

__all__ = ["Line", "parse", "raw_lines"]

_BOM: Final = b"\xef\xbb\xbf"
_OF_THE_MESSAGE: Final = ("role", "content", "name", "id", "time", "session_id", "metadata")
_OF_THE_CALL: Final = ("user_id", "source", "agent_id")


@dataclass(frozen=True, slots=True)
class Line:
    """One message and where it stood.

    Args:
        number: Line number, from 1.
        message: As the façade's `add` takes it.
        user_id: Whose memory.
        source: The producer.
        agent_id: The agent.
    """

    number: int
    message: dict[str, Any]
    user_id: str
    source: str
    agent_id: str | None

    @property
    def call(self) -> tuple[str, str, str | None]:
        """What messages have in common that go into one `add`."""
        return self.user_id, self.source, self.agent_id


def raw_lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes | None]]:
    """Read a file line by line, in bounded memory.

    Args:
        file: The file.

    Yields:
        Line number from 1, bytes taken from the file, and the line without its end; None for
        a line over the bound.
    """
    number = 0
    while raw := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        taken = len(raw)
        if len(raw) <= LINE_BYTES_MAX or raw.endswith(b"\n"):
            yield number, taken, raw.removeprefix(_BOM).strip() if number == 1 else raw.strip()
            continue
        while not raw.endswith(b"\n") and (raw := file.readline(LINE_BYTES_MAX)):
            taken += len(raw)
        yield number, taken, None


def parse(raw: bytes | None, number: int, *, file: str, user_id: str | None) -> Line:
    """Read one line.

    A message without an id gets one of the file's name, the line's number and its content, so
    that the same file gives the same ids.

    Args:
        raw: The line.
        number: Its number.
        file: The file's name.
        user_id: The user of lines that name none.

    Returns:
        The message; what it says is left to `add` to judge.

    Raises:
        Rejected: It is no such line.
    """
    found = _object(raw)
    user = user_id if found.get("user_id") is None else found["user_id"]
    if user is None:
        message = "No user: add “user_id” to the line, or --user to the command."
        raise Rejected(message)
    for name in ("user_id", "source", "agent_id"):
        if not isinstance(found.get(name), str | None):
            message = f"“{name}” has to be text."
            raise Rejected(message)
    given = {name: found[name] for name in _OF_THE_MESSAGE if found.get(name) is not None}
    digest = hashlib.sha256(raw or b"").hexdigest()[:12]
    return Line(
        number=number,
        message={"id": f"{file}:{number}:{digest}"} | given,
        user_id=user,
        source="chat" if found.get("source") is None else found["source"],
        agent_id=found.get("agent_id"),
    )


def _object(raw: bytes | None) -> dict[str, Any]:
    if raw is None:
        message = f"The line is longer than {LINE_BYTES_MAX} bytes: send the text in parts."
        raise Rejected(message)
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        message = f"It is not JSON: {error}; each line must be one JSON object."
        raise Rejected(message) from error
    if not isinstance(found, dict):
        message = "It is JSON, but has to be an object with “role” and “content”."
        raise Rejected(message)
    if unknown := sorted(set(found) - {*_OF_THE_MESSAGE, *_OF_THE_CALL}):
        known = ", ".join((*_OF_THE_MESSAGE, *_OF_THE_CALL))
        told = f"Unknown key {unknown[0]!r}" if is_field_like(unknown[0]) else "Unknown key"
        message = f"{told}; known are {known}."
        raise Rejected(message)
    return found
