"""Faults of resources for tests: a full disk, a read-only folder, damaged files; and commands."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = [
    "HARMS",
    "Answer",
    "command",
    "copy_store",
    "environment",
    "fill",
    "harm",
    "read_only",
    "shortage",
    "small_disk",
]

DISK_BYTES: Final = 400 * 1024 * 1024
COMMANDING: Final = "tests.support.commanding"
BLOCK_BYTES: Final = 1 << 20
HARMS: Final = ("empty", "half", "zeroed head", "garbage")
"""What `harm` can do to a file."""


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int
    out: str
    err: str


def environment(place: Path) -> dict[str, str]:
    """Return the environment of a process that uses the store under a folder."""
    return os.environ | {
        "EUNOE_FOLDER": str(place / "data"),
        "EUNOE_CONFIG_HOME": str(place / "config"),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }


def command(place: Path, *words: str, module: str = COMMANDING, **more: str) -> Answer:
    """Run a command on the store under a folder to its end, with cheap tools.

    Args:
        place: The folder.
        words: Of the command.
        module: Instead of the command line.
        more: Of the environment.
    """
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", module, *words],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=environment(place) | more,
        check=False,
        timeout=120,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def _mount(*words: str) -> bool:
    if os.geteuid() or shutil.which("mount") is None:
        return False
    done = subprocess.run(  # noqa: S603 - constants and a folder of the test's own
        ["mount", *words],  # noqa: S607 - wherever it is
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def _unmount(place: Path) -> None:
    subprocess.run(["umount", str(place)], check=True)  # noqa: S603, S607 - as above


@contextmanager
def small_disk(place: Path) -> Iterator[bool]:
    """Mount a small disk on a folder; gives False where this process may not."""
    place.mkdir()
    if not _mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(place)):
        yield False
        return
    try:
        yield True
    finally:
        _unmount(place)


def fill(place: Path, left: int) -> Path:
    """Fill a disk; returns the file that has to go to lift the fault.

    Args:
        place: On the disk.
        left: About how many bytes to leave free.
    """
    filler = place / "filler"
    status = os.statvfs(place)
    size = max(0, status.f_bavail * status.f_frsize - left)
    with filler.open("wb") as file:
        while size > 0:
            try:
                size -= os.write(file.fileno(), bytes(min(size, BLOCK_BYTES)))
            except OSError:
                break
    return filler


@contextmanager
def shortage(disk: Path, left: int, *, is_mounted: bool) -> Iterator[dict[str, str]]:
    """Let a disk be full, or give what bounds the files of commands where it can't be.

    Args:
        disk: Where the store is.
        left: About how many bytes are left.
        is_mounted: Whether it is a disk of its own.
    """
    if not is_mounted:
        yield {"EUNOE_FILE_BYTES": str(min(left, 20_000))}
        return
    filler = fill(disk, left)
    yield {}
    filler.unlink()


@contextmanager
def read_only(place: Path) -> Iterator[bool]:
    """Make a folder read-only, for the superuser too; gives False where that can't be done."""
    if os.geteuid():
        data = place / "data"
        data.chmod(0o500)
        try:
            yield True
        finally:
            data.chmod(0o700)
        return
    if not _mount("--bind", str(place), str(place)):
        yield False
        return
    try:
        yield _mount("-o", "remount,bind,ro", str(place))
    finally:
        _unmount(place)


def copy_store(source: Path, target: Path) -> None:
    """Copy the folder of a closed store; what is empty in a file stays a hole."""
    shutil.copytree(source, target, copy_function=_copy_with_holes)


def _copy_with_holes(source: str, target: str) -> None:
    with Path(source).open("rb") as old, Path(target).open("wb") as new:
        while block := old.read(BLOCK_BYTES):
            if block.count(0) == len(block):
                new.seek(len(block), os.SEEK_CUR)
            else:
                new.write(block)
        new.truncate(old.tell())
    shutil.copystat(source, target)


def harm(file: Path, how: str) -> None:
    """Damage a file, as a failing disk or a mistake would."""
    size = file.stat().st_size
    with file.open("r+b") as opened:
        if how == "empty":
            opened.truncate(0)
        elif how == "half":
            opened.truncate(size // 2)
        elif how == "zeroed head":
            opened.write(bytes(min(4096, size)))
        elif how == "garbage":
            opened.seek(size // 3)
            length = min(65_536, size - 2 * (size // 3))
            opened.write(random.Random(how).randbytes(length))  # noqa: S311 - no secret
