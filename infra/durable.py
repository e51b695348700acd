"""Small files and names that have to be on the disk before anything rests on them."""

import os
from pathlib import Path

__all__ = ["replace_file", "sync"]


def sync(path: Path) -> None:
    """Bring a file, or the names that a folder holds, to the disk.

    Raises:
        OSError: It can't be opened, or the disk failed.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Put a file in the place of another: after a power loss one of the two is there, whole.

    Args:
        path: Its folder has to be there; nobody else writes it meanwhile.
        content: All of it; only this user may read it.

    Raises:
        OSError: It can't be written; the old one stays.
    """
    temporary = path.with_name(f"{path.name}.new")
    try:
        with open(temporary, "wb", opener=_private) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)  # the name itself survives only then


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
