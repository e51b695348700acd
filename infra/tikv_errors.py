"""What errors of TiKV's client mean: bare `Exception`s that differ by their text alone."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from ..schemas.errors import Conflict, EunoeError, Rejected, Unavailable
from ..schemas.limits import REASON_CHARACTERS_MAX

__all__ = ["UNDONE", "AlreadyThere", "Locked", "TooLong", "Unreachable", "translated"]


class AlreadyThere(Conflict):
    """A key that was to be new is there."""

    def __init__(self) -> None:
        super().__init__("A key that was to be new is in TiKV already: read it, decide again.")


class Locked(Unavailable):
    """Another transaction's lock stands in the way; it goes, or is resolved within seconds."""

    def __init__(self) -> None:
        super().__init__(
            "A transaction of another process, perhaps of a dead one, holds a key in TiKV; its "
            "lock goes within seconds: try again."
        )


class _Overtaken(Conflict):
    def __init__(self) -> None:
        super().__init__("Another process wrote the same keys in TiKV: read them, decide again.")


class _TooLarge(Rejected):
    def __init__(self) -> None:
        super().__init__("A value is larger than TiKV takes (raft-entry-max-size).")


class Unreachable(Unavailable):
    """The client is of no use any more, or the server isn't there."""


class TooLong(Exception):
    """An answer is longer than the client takes."""


SOURCE: Final = re.compile(r"\[[^\]]*\.rs:\d+\]:\s*")
"""A place in the client's own source, which tells a user nothing."""
EXISTS: Final = ("AlreadyExist",)
CONFLICTS: Final = ("WriteConflict", "Deadlock", "TxnNotFound", "TxnLockNotFound")
LOCKED: Final = ("ResolveLock", "Failed to resolve lock", "KeyIsLocked")
TOO_LARGE: Final = ("raft_entry_too_large", "RaftEntryTooLarge")
TOO_LONG: Final = ("message length too large",)
UNDONE: Final = (*EXISTS, *CONFLICTS, *LOCKED, *TOO_LARGE)
"""Texts of errors after which it is certain that nothing was committed."""
MEANINGS: Final[tuple[tuple[tuple[str, ...], Callable[[], Exception]], ...]] = (
    (TOO_LONG, TooLong),
    (EXISTS, AlreadyThere),
    (CONFLICTS, _Overtaken),
    (LOCKED, Locked),
    (TOO_LARGE, _TooLarge),
)
"""What an error means whose text holds one of these; of two, the first."""


def translated(error: BaseException, endpoints: Sequence[str]) -> BaseException:
    """Return what an error of the vendor's means; they differ by their text alone."""
    if not isinstance(error, Exception) or isinstance(error, EunoeError | TooLong):
        return error
    text = str(error)
    for signs, meaning in MEANINGS:
        if any(sign in text for sign in signs):
            return meaning()
    return Unreachable(
        f"TiKV at {', '.join(endpoints)} can't be used now: see that it runs there (EUNOE_TIKV). "
        f"Its client says: {SOURCE.sub('', text)[:REASON_CHARACTERS_MAX]}"
    )
