"""The error tree: each root says what the caller does next.

    EunoeError
    ├── Rejected           the input is wrong: bury it, never retry
    │   ├── NotFound       no such id for this user
    │   ├── AmbiguousId    two sources share the id: name the source as well
    │   └── EncoderMismatch  the store was written with another encoder: re-embed
    ├── Unavailable        an engine or the folder can't be used now: wait, acknowledge nothing
    │   └── FolderHeld     another process owns the folder
    ├── Conflict           the state moved underneath: reload, decide again
    └── Damaged            an invariant is broken: stop, change nothing
        └── Fenced         another process took the store over: stop, it goes on

Adapters translate a vendor's error into one of these once, at the place where it arises.
"""

__all__ = [
    "AmbiguousId",
    "Conflict",
    "Damaged",
    "EncoderMismatch",
    "EunoeError",
    "Fenced",
    "FolderHeld",
    "NotFound",
    "Rejected",
    "Unavailable",
]


class EunoeError(Exception):
    """The root of everything that Eunoe raises on purpose; its text is a sentence."""


class Rejected(EunoeError):
    """The input can't be accepted, now or later; the text says what to change."""


class NotFound(Rejected):
    """No record of this user has the id."""


class AmbiguousId(Rejected):
    """More than one source uses the id; the text names them."""


class EncoderMismatch(Rejected):
    """The store holds vectors of another encoder; the text names the command that re-embeds."""


class Unavailable(EunoeError):
    """Something needed can't be reached now; nothing was acknowledged, so try again later."""


class FolderHeld(Unavailable):
    """Another process owns the data folder; the text names its process id."""


class Conflict(EunoeError):
    """Somebody else changed what was read; reload and decide again."""


class Damaged(EunoeError):
    """Stored data contradicts itself; going on could lose data, so the caller stops."""


class Fenced(Damaged):
    """Another process took the store over while this one still held it; this one must stop."""
