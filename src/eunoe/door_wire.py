"""What goes through the door: length-prefixed JSON frames, and how values travel in them.

A frame is four bytes of length, big-endian, then so many bytes of JSON. A request is
`{"call": name, "arguments": {name: value}}`; its answer is `{"result": …}` or
`{"error": {"kind": class of schemas.errors, "sentence": text}}`, and while it is being worked
out, `{"busy": true}` now and then. Moments travel as ISO 8601 with offset; an id that names its
source travels as `{"source": …, "id": …}`, so that it stays apart from two ids in a row.
"""

import hashlib
import os
import stat
import struct
import tempfile
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from .schemas import errors
from .schemas.errors import EunoeError, Rejected
from .schemas.limits import REQUEST_BYTES_MAX

__all__ = [
    "BUSY",
    "PING",
    "PROTOCOL",
    "Id",
    "Place",
    "check_size",
    "error_answer",
    "error_of",
    "is_private",
    "pack_arguments",
    "places",
    "read_frame",
    "unpack_arguments",
    "write_frame",
]

Id = str | tuple[str, str]
"""The producer's id, or (source, id)."""

PING: Final = "ping"
PROTOCOL: Final = 1
BUSY: Final = b'{"busy":true}'

_LENGTH: Final = struct.Struct(">I")
_SOCKET: Final = "door.sock"
_PATH_BYTES_MAX: Final = 100  # sun_path holds 108 bytes on Linux, 104 on macOS
_MOMENTS: Final = ("now", "as_of", "expires_at", "registered_at")
_ERRORS: Final[dict[str, type[EunoeError]]] = {
    name: getattr(errors, name) for name in errors.__all__
}


class Place(NamedTuple):
    """Where a door may be: its socket, and whether that is in a directory of its own."""

    path: Path
    hidden: bool


def places(folder: Path) -> tuple[Place, ...]:
    """Tell where the door of a data folder may be, the first choice first.

    Args:
        folder: The data folder.

    Returns:
        A socket in the folder, if its path is short enough for the system, and one in a
        private directory under the temporary one, named by a hash of the folder's path.
    """
    absolute = folder.resolve()
    digest = hashlib.sha256(f"{os.geteuid()}:".encode() + os.fsencode(absolute)).hexdigest()[:24]
    hidden = Path(tempfile.gettempdir()) / f"eunoe-{digest}" / _SOCKET
    both = Place(absolute / _SOCKET, hidden=False), Place(hidden, hidden=True)
    return tuple(place for place in both if len(os.fsencode(place.path)) <= _PATH_BYTES_MAX)


def is_private(directory: Path) -> bool:
    """Tell whether a directory is ours and closed to everybody else."""
    try:
        found = directory.lstat()
    except OSError:
        return False
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return ours and stat.S_IMODE(found.st_mode) & 0o077 == 0


async def read_frame(reader: StreamReader) -> bytes | None:
    """Read one frame.

    Args:
        reader: The connection.

    Returns:
        The JSON text, or None when the other side went away.

    Raises:
        Rejected: The frame is over the bound; the connection can't be used any more.
    """
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        check_size(length)
        return await reader.readexactly(length)
    except (IncompleteReadError, OSError):
        return None


async def write_frame(writer: StreamWriter, frame: bytes) -> None:
    """Write one frame and wait until the connection has taken it.

    Raises:
        OSError: The other side went away.
    """
    writer.write(_LENGTH.pack(len(frame)) + frame)
    await writer.drain()


def check_size(length: int) -> None:
    """Refuse a frame over the bound.

    Raises:
        Rejected: It is.
    """
    if length > REQUEST_BYTES_MAX:
        message = (
            f"A request or answer of {length} bytes is over the bound of {REQUEST_BYTES_MAX}; "
            "send or ask for less at once."
        )
        raise Rejected(message)


def pack_arguments(call: str, arguments: Mapping[str, object]) -> bytes:
    """Render a request.

    Args:
        call: Name of the call.
        arguments: Its arguments by name.

    Returns:
        A frame.

    Raises:
        Rejected: A value has no JSON form, or the frame is over the bound.
    """
    plain = dict(arguments)
    if "id" in plain:
        plain["id"] = _pack_id(plain["id"])
    match plain.get("ids"):
        case tuple() as pair:  # as in the façade: a pair is one id, a list holds several
            plain["ids"] = _pack_id(pair)
        case list(ids):
            plain["ids"] = [_pack_id(one) for one in ids]
    try:
        frame = orjson.dumps({"call": call, "arguments": plain}, default=_plain)
    except TypeError as error:
        message = f"The arguments of {call} can't be written as JSON: {error}."
        raise Rejected(message) from error
    check_size(len(frame))
    return frame


def unpack_arguments(frame: bytes) -> tuple[str, dict[str, object]]:
    """Read a request.

    Args:
        frame: A frame.

    Returns:
        Name of the call and its arguments by name.

    Raises:
        Rejected: It is no request.
    """
    try:
        request = orjson.loads(frame)
    except orjson.JSONDecodeError as error:
        message = f"The request is not JSON: {error}."
        raise Rejected(message) from error
    match request:
        case {"call": str(call), "arguments": dict(arguments)}:
            return call, _unpacked(arguments)
    message = "A request holds a call and its arguments by name."
    raise Rejected(message)


def error_answer(error: EunoeError) -> bytes:
    """Render an error as an answer."""
    kind = next(cls.__name__ for cls in type(error).__mro__ if cls.__name__ in _ERRORS)
    sentence = str(error).encode(errors="replace").decode()
    return orjson.dumps({"error": {"kind": kind, "sentence": sentence}})


def error_of(kind: str, sentence: str) -> EunoeError:
    """Build the error that an answer names; an unknown kind becomes the root."""
    return _ERRORS.get(kind, EunoeError)(sentence)


def _unpacked(arguments: dict[str, object]) -> dict[str, object]:
    if "id" in arguments:
        arguments["id"] = _unpack_id(arguments["id"])
    match arguments.get("ids"):
        case list(ids):
            arguments["ids"] = [_unpack_id(one) for one in ids]
        case dict() as pair:
            arguments["ids"] = _unpack_id(pair)
    for name in _MOMENTS:
        if isinstance(text := arguments.get(name), str):
            arguments[name] = _moment(name, text)
    return arguments


def _moment(name: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        message = f"{name} is no ISO 8601 moment."
        raise Rejected(message) from error


def _pack_id(value: object) -> object:
    match value:
        case str(id_):
            return id_
        case [str(source), str(id_)]:
            return {"source": source, "id": id_}
    message = "An id is a text, or a pair (source, id) of texts."
    raise Rejected(message)


def _unpack_id(value: object) -> object:
    match value:
        case {"source": str(source), "id": str(id_)}:
            return source, id_
    return value


def _plain(value: object) -> object:
    """Turn what orjson can't write, but JSON has a form for, into that form."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | AbstractSet):
        return list(value)
    raise TypeError(type(value).__name__)
