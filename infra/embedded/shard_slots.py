"""Where the shard lies, and where the next one is built: two places, of which one is used.

An open engine knows its folder by name, so a folder is never renamed while it is open. A file that
is there or isn't says which place is used; it comes and goes in one step, so that a crash leaves
one shard or the other, and whatever the other place holds vanishes at the next opening.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..durable import sync as durable_sync
from .shard_files import data_of

__all__ = [
    "SECOND",
    "SHARD",
    "ShardCopy",
    "remove",
    "settle",
    "spare",
    "switch",
    "sync",
    "used",
    "write_out",
]

SHARD: Final = "shard"
SECOND: Final = "shard.second"
_SECOND_IS_USED: Final = "second-is-used"
_STEP_BYTES: Final = 4 * 1024 * 1024
_BLOCK_BYTES: Final = 1 << 18


def used(folder: Path) -> Path:
    """Return the place of the shard that is used."""
    return folder / (SECOND if (folder / _SECOND_IS_USED).exists() else SHARD)


def spare(folder: Path) -> Path:
    """Return the place that isn't used."""
    return folder / (SHARD if (folder / _SECOND_IS_USED).exists() else SECOND)


def switch(folder: Path) -> None:
    """Use the other place; durable when this returns."""
    mark = folder / _SECOND_IS_USED
    if mark.exists():
        mark.unlink()
    else:
        mark.touch()
    durable_sync(folder)


def settle(folder: Path) -> None:
    """Bring the shard that is used to `shard` and remove the other, while no engine is open.

    It may be broken off anywhere and done again.
    """
    first, second, mark = folder / SHARD, folder / SECOND, folder / _SECOND_IS_USED
    if mark.exists():
        if second.exists():
            remove(first)
            second.rename(first)
            durable_sync(folder)
        mark.unlink()
        durable_sync(folder)
    remove(second)


def remove(place: Path) -> None:
    """Remove a shard's folder, if it is there."""
    if place.exists():
        shutil.rmtree(place)


def sync(place: Path) -> None:
    """Bring every file and folder of a shard to the disk."""
    for path in (*place.rglob("*"), place, place.parent):
        durable_sync(path)


def write_out(place: Path) -> None:
    """Let the disk write what the files of an open shard hold; nothing relies on it."""
    with suppress(OSError):
        sync(place)


class ShardCopy:
    """A copy of a shard, made a step at a time; holes stay holes.

    The shard may be open, but nothing may be written to it until the copy is done.

    Args:
        source: The shard, flushed.
        target: Where the copy goes; what is there is removed.
    """

    def __init__(self, source: Path, target: Path) -> None:
        self._steps = _copied(source, target)
        self._trouble: OSError | None = None
        self._done = False

    def step(self) -> bool:
        """Copy some megabytes; returns whether that was all.

        Raises:
            OSError: The copy can't be made; it stays so.
        """
        self._go_on()
        if self._trouble is not None:
            raise self._trouble
        return self._done

    def finish(self) -> None:
        """Copy what is left. Trouble is for who calls `step`: whoever writes has no part in it."""
        while not self._done:
            self._go_on()

    def _go_on(self) -> None:
        try:
            self._done = self._done or next(self._steps, None) is None
        except OSError as error:
            self._trouble, self._done = error, True


def _copied(source: Path, target: Path) -> Iterator[int]:
    """Copy; yields the bytes of each step."""
    remove(target)
    target.mkdir()
    copied = 0
    for path in sorted(source.rglob("*")):  # folders come before what is in them
        to = target / path.relative_to(source)
        if path.is_dir():
            to.mkdir()
            continue
        for size in _copied_file(path, to):
            copied += size
            if copied >= _STEP_BYTES:
                yield copied
                copied = 0


def _copied_file(path: Path, to: Path) -> Iterator[int]:
    with path.open("rb", buffering=0) as source, to.open("wb", buffering=0) as target:
        size = os.fstat(source.fileno()).st_size
        target.truncate(size)
        for start, end in data_of(source.fileno(), size):
            for at in range(start, end, _BLOCK_BYTES):
                block = os.pread(source.fileno(), min(_BLOCK_BYTES, end - at), at)
                os.pwrite(target.fileno(), block, at)
                yield len(block)
