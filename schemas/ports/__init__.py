"""Ports: what the processors need from engines, with the promises each back-end keeps.

Every promise has a test in `tests/contract`, run unchanged on each back-end. All methods are
coroutines unless they only compute. Errors are `Rejected`, `Unavailable`, `Conflict` and
`Damaged`; nothing of a vendor's leaks.
"""

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
from .stores import (
    Applied,
    EpisodicQuery,
    EpisodicStore,
    EventPlace,
    IdentityStore,
    KnownEvent,
    MemoryPoint,
    PointHit,
    Spot,
    StatementRow,
    Stored,
)

__all__ = [
    "Applied",
    "Clock",
    "CrossEncoder",
    "Encoder",
    "Entity",
    "EntityKind",
    "EpisodicQuery",
    "EpisodicStore",
    "EventPlace",
    "Headers",
    "IdentityStore",
    "Keys",
    "KnownEvent",
    "Log",
    "LogReader",
    "LogRecord",
    "MemoryPoint",
    "NewRecord",
    "OwnerKeys",
    "PointHit",
    "Position",
    "Recogniser",
    "Spot",
    "StatementRow",
    "Stored",
    "Terms",
    "TopicPartition",
    "Vectors",
    "WrappedKey",
]
