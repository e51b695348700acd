"""Opening the shard of the episodic store, and the engine's errors in our words."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import qdrant_edge as edge

from ...schemas.errors import Damaged, Unavailable
from .points import make_shard
from .shard_files import (
    SHARD_BYTES_NEW,
    Seal,
    damaged,
    drop_seal,
    first_line,
    holes_of,
    is_current,
    read_markers,
    read_seal,
    require_room,
    system_reason,
    write_markers,
)
from .shard_slots import SHARD, remove, settle

__all__ = ["MARKERS", "open_shard", "translated"]

Result = TypeVar("Result")
MARKERS: Final = "applied.json"
OPENING: Final = "opening"  # stands while the engine opens a shard that wasn't closed


def translated(work: Callable[[], Result]) -> Callable[[], Result]:
    """Return work that raises our errors in place of the engine's.

    Raises:
        Unavailable: The engine can't do it now.
        Damaged: The engine broke off.
    """

    def run() -> Result:
        try:
            return work()
        except OSError as error:
            message = f"The episodic store can't be used now: {error.strerror or error}."
            raise Unavailable(message) from error
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # of the engine; it has no other name
                message = f"The episodic store's engine broke off: {first_line(error)}."
                raise Damaged(message) from error
            if type(error) is not Exception:  # the engine raises nothing more exact
                raise
            message = f"The episodic store failed: {system_reason(error) or first_line(error)}."
            raise Unavailable(message) from error

    return run


def open_shard(folder: Path, dimension: int) -> tuple[edge.EdgeShard, Seal | None]:
    """Open the shard in a store's folder, or make it; returns it with its seal.

    One whose points an earlier version wrote is made anew: the journal fills it.

    Raises:
        Unavailable: The engine can't open the folder now.
        Damaged: The folder isn't what it was; the journal can rebuild it.
    """
    path = folder / SHARD
    opening = folder / OPENING

    def work() -> tuple[edge.EdgeShard, Seal | None]:
        settle(folder)
        if (folder / MARKERS).exists() and is_current(folder / MARKERS):
            read_markers(folder / MARKERS)
            require_room(folder, holes_of(path))
            seal = read_seal(folder, path)
            if seal is not None or not opening.exists():
                return _load(folder, is_sealed=seal is not None), seal
            # A process died of what a crash had left here: the journal makes it anew.
        # No markers: nothing was ever flushed, so what a crash left is made again.
        require_room(folder, SHARD_BYTES_NEW)
        (folder / MARKERS).unlink(missing_ok=True)
        drop_seal(folder)
        opening.unlink(missing_ok=True)
        remove(path)
        shard = make_shard(path, dimension)
        write_markers(folder / MARKERS, {})
        return shard, None

    return translated(work)()


def _load(folder: Path, *, is_sealed: bool) -> edge.EdgeShard:
    if not is_sealed:
        (folder / OPENING).touch()
    try:
        return edge.EdgeShard.load(str(folder / SHARD))
    except BaseException as error:
        is_engine = type(error) is Exception or type(error).__name__ == "PanicException"
        if not is_engine or system_reason(error):
            raise
        raise damaged(folder) from error
    finally:
        (folder / OPENING).unlink(missing_ok=True)
