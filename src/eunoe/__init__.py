"""Eunoe: long-term memory for personal AI agents.

The log is the memory; every store is a projection of it, and a deletion reaches the log too.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .infra.settings import Settings
    from .memory import Memory
    from .opening import open, open_sync  # noqa: A004 - the name that users know
    from .schemas.errors import (
        AmbiguousId,
        Conflict,
        Damaged,
        EncoderMismatch,
        EunoeError,
        Fenced,
        FolderHeld,
        NotFound,
        Rejected,
        Unavailable,
    )
    from .schemas.persons import alias_of, person_id

__all__ = [
    "AmbiguousId",
    "Conflict",
    "Damaged",
    "EncoderMismatch",
    "EunoeError",
    "Fenced",
    "FolderHeld",
    "Memory",
    "NotFound",
    "Rejected",
    "Settings",
    "Unavailable",
    "alias_of",
    "open",
    "open_sync",
    "person_id",
]

_HOMES = {
    "Memory": ".memory",
    "Settings": ".infra.settings",
    "alias_of": ".schemas.persons",
    "open": ".opening",
    "open_sync": ".opening",
    "person_id": ".schemas.persons",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import a public name at its first use: `eunoe --help` needs none of them."""
    from importlib import import_module  # noqa: PLC0415 - part of what is put off

    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES.get(name, ".schemas.errors"), __name__), name)
