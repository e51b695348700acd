"""The engine's files, seen from outside: room to write, and a seal on a shard that is closed.

The engine maps its files into memory. On a full disk that ends the process with a bus error, as
does a file that was cut short; other damage makes it abort, or leaves points out without a word.
So it writes only while there is room, and a shard that was closed is opened only if its files are
still what they were. After a crash there is no seal, and the journal mends what wasn't flushed.
"""

import errno
import os
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import orjson

from ...schemas.errors import Damaged, Rejected, Unavailable
from ...schemas.limits import (
    REASON_CHARACTERS_MAX,
)
from ...schemas.ports import Applied
from ..durable import replace_file

__all__ = [
    "ROOM_BYTES_MIN",
    "SHARD_BYTES_NEW",
    "Seal",
    "damaged",
    "data_of",
    "drop_seal",
    "first_line",
    "holes_of",
    "is_current",
    "read_markers",
    "read_seal",
    "require_room",
    "size_of",
    "system_reason",
    "write_markers",
    "write_seal",
]

Seal = Mapping[str, tuple[int, int]]
"""Size and checksum of each file, by its path from the shard."""

ROOM_BYTES_MIN: Final = 16 * 1024 * 1024
"""What has to be free on the disk, in bytes, beyond what is about to be written."""
SHARD_BYTES_NEW: Final = 48 * 1024 * 1024
"""What making a shard may take, in bytes, where reading a hole takes room (tmpfs)."""
LAYOUT: Final = 2
"""Of the points: 2 has times and truth in the payload."""
_SEAL: Final = "seal.json"
_BLOCK_BYTES: Final = 1 << 18
_EMPTY: Final = bytes(_BLOCK_BYTES)
_SMALL_BYTES: Final = 1 << 16
"""Opening a shard changes files of up to so many bytes, and none that are larger."""
_SYSTEM_CODE: Final = re.compile(r"os error (\d+)")
_WITHOUT_MEANS: Final = frozenset(
    (
        errno.EACCES,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EPERM,
        errno.EROFS,
    )
)
"""System errors that say nothing of the shard: what it needs isn't there now."""


def damaged(folder: Path) -> Damaged:
    """Return the error that says what to do about damage."""
    return Damaged(
        f"The episodic store is damaged: remove the folder {folder}, and it is rebuilt from the "
        "journal at the next start."
    )


def require_room(folder: Path, size: int = 0) -> None:
    """Check that the engine may write.

    Args:
        folder: On the disk in question.
        size: What is about to be written, in bytes.

    Raises:
        Unavailable: The disk is full, or nearly so.
    """
    free = shutil.disk_usage(folder).free
    if free < ROOM_BYTES_MIN + size:
        message = (
            f"The episodic store can't be used now: the disk is full or nearly so, with {free} "
            f"bytes free of the {ROOM_BYTES_MIN + size} that are needed."
        )
        raise Unavailable(message)


def size_of(shard: Path) -> int:
    """Return what a shard's files take of the disk, in bytes."""
    return sum(path.stat().st_blocks * 512 for _, path in _files(shard))


def holes_of(shard: Path) -> int:
    """Return what a shard's files may still take of the disk without growing, in bytes."""
    found = (path.stat() for _, path in _files(shard))
    return sum(max(0, one.st_size - one.st_blocks * 512) for one in found)


def read_seal(folder: Path, shard: Path) -> Seal | None:
    """Check a shard against its seal, which has to be written anew when it is closed.

    Args:
        folder: Where the seal is.
        shard: The engine's folder.

    Returns:
        The seal, or None where the shard wasn't closed.

    Raises:
        Damaged: A file isn't what it was.
    """
    try:
        rows = orjson.loads((folder / _SEAL).read_bytes())
        seal = {str(name): (int(size), int(check)) for name, (size, check) in rows.items()}
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError) as error:
        raise damaged(folder) from error
    if {name: _look(path) for name, path in _files(shard)} != seal:
        raise damaged(folder)
    (folder / _SEAL).unlink()
    return seal


def drop_seal(folder: Path) -> None:
    """Remove the seal of a shard that is made anew: it says nothing of the new one."""
    (folder / _SEAL).unlink(missing_ok=True)


def write_seal(folder: Path, shard: Path, known: Seal | None) -> None:
    """Note what the files of a closed shard are.

    Args:
        folder: Where the seal goes.
        shard: The engine's folder.
        known: The seal with which a shard was opened to which nothing was written.
    """
    seal = {
        name: known[name]
        if known and name in known and known[name][0] == path.stat().st_size > _SMALL_BYTES
        else _look(path)
        for name, path in _files(shard)
    }
    temporary = folder / f"{_SEAL}.new"
    # Without a seal the next start only checks less.
    with suppress(OSError):
        temporary.write_bytes(orjson.dumps(seal))
        temporary.replace(folder / _SEAL)


def system_reason(error: BaseException) -> str | None:
    """Return what the system lacks, where that is why the engine failed."""
    codes = [int(code) for code in _SYSTEM_CODE.findall(str(error))]
    return next((os.strerror(code) for code in codes if code in _WITHOUT_MEANS), None)


def first_line(error: BaseException) -> str:
    """Return the beginning of what an error says, as part of a sentence."""
    return str(error).partition("\n")[0].rstrip(".")[:REASON_CHARACTERS_MAX]


def read_markers(path: Path) -> dict[int, Applied]:
    """Read how far the store is, by partition.

    Raises:
        Damaged: The file isn't what was written.
    """
    try:
        rows = orjson.loads(path.read_bytes())["applied"]
        return {
            int(partition): Applied(str(epoch), int(offset))
            for partition, (epoch, offset) in rows.items()
        }
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise damaged(path.parent) from error


def is_current(path: Path) -> bool:
    """Tell whether the points are laid out as this version writes them, by the markers' file.

    Raises:
        Damaged: The file isn't what was written.
        Rejected: A newer version wrote it.
    """
    try:
        layout = orjson.loads(path.read_bytes()).get("layout", 1)
        is_newer = layout > LAYOUT
    except (ValueError, TypeError, AttributeError) as error:
        raise damaged(path.parent) from error
    if is_newer:
        message = "The episodic store is of a newer version: install the one that wrote it."
        raise Rejected(message)
    return bool(layout == LAYOUT)


def write_markers(path: Path, markers: Mapping[int, Applied]) -> None:
    """Write how far the store is, durably."""
    rows = {str(partition): list(row) for partition, row in markers.items()}
    replace_file(path, orjson.dumps({"layout": LAYOUT, "applied": rows}))


def _files(shard: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(shard.rglob("*")):
        if path.is_file():
            yield path.relative_to(shard).as_posix(), path


def data_of(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield where an open file holds data, as (start, end); what lies between is empty.

    Args:
        descriptor: Of the file.
        size: Its size in bytes.
    """
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:  # ENXIO: nothing but a hole is left
                yield end, size  # this disk doesn't tell
            return
        yield start, end


def _look(path: Path) -> tuple[int, int]:
    # Most of a file is a hole: what is empty is skipped, whether it is one or was written.
    check = at = 0
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        for start, end in data_of(file.fileno(), size):
            at = max(at, start - start % _BLOCK_BYTES)
            while at < end:
                block = os.pread(file.fileno(), _BLOCK_BYTES, at)
                if block != _EMPTY[: len(block)]:
                    check = zlib.crc32(block, check ^ at)
                at += _BLOCK_BYTES
    return size, check
