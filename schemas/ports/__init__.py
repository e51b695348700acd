"""Ports: what the processors need from engines, with the promises each back-end keeps.

Every promise has a test in `tests/contract`, run unchanged on each back-end. All methods are
coroutines unless they only compute. Errors are `Rejected`, `Unavailable`, `Conflict` and
`Damaged`; nothing of a vendor's leaks.
"""

from .episodes import (
    ALWAYS,
    EpisodicQuery,
    EpisodicStore,
    Holding,
    MemoryPoint,
    PointHit,
)
from .experience import ExperienceStore, OwnersKeys
from .identity import (
    BindingRow,
    EventPlace,
    IdentityStore,
    KnownEvent,
    Spot,
    StatementRow,
    TurnFilter,
)
from .keys import (
    Keys,
    OwnerKeys,
    WrappedKey,
)
from .language import (
    Clock,
    CrossEncoder,
    Encoder,
    Entity,
    EntityKind,
    Recogniser,
    Terms,
    Vectors,
)
from .log import (
    Headers,
    Log,
    LogReader,
    LogRecord,
    NewRecord,
    Position,
    TopicPartition,
)
from .projected import Applied, Interval, Stored

__all__ = [
    "ALWAYS",
    "Applied",
    "BindingRow",
    "Clock",
    "CrossEncoder",
    "Encoder",
    "Entity",
    "EntityKind",
    "EpisodicQuery",
    "EpisodicStore",
    "EventPlace",
    "ExperienceStore",
    "Headers",
    "Holding",
    "IdentityStore",
    "Interval",
    "Keys",
    "KnownEvent",
    "Log",
    "LogReader",
    "LogRecord",
    "MemoryPoint",
    "NewRecord",
    "OwnerKeys",
    "OwnersKeys",
    "PointHit",
    "Position",
    "Recogniser",
    "Spot",
    "StatementRow",
    "Stored",
    "Terms",
    "TopicPartition",
    "TurnFilter",
    "Vectors",
    "WrappedKey",
]
