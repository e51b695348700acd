"""Where the stores of tests lie."""

import shutil
from pathlib import Path
from typing import Final

__all__ = ["memory_folder"]

ROOM_BYTES: Final = 4 * 1024**3


def memory_folder() -> str | None:
    """Return a folder in memory that has room for stores, if there is one."""
    folder = "/dev/shm"  # noqa: S108 - each user of it makes a folder of its own there
    is_roomy = Path(folder).is_dir() and shutil.disk_usage(folder).free > ROOM_BYTES
    return folder if is_roomy else None
