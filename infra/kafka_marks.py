"""Records that the log on Kafka needs for itself: opening records and ticks.

An opening record stands at the head of each partition of a compacted topic and names the epoch:
it is never tombstoned, because a consumer's commit stalls on a head that was compacted away. A
tick makes the active segment roll, without which an idle partition is never compacted. Both carry
the header `MARK_HEADER`; who reads a topic passes over them.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import orjson

from ..schemas.topics import MARK_HEADER, Retention, Topic
from .kafka_producing import Outgoing

__all__ = ["OPENING_KEYS", "epoch_of", "needs_ticks", "opening", "tick"]

OPENING_KEYS: Final = (b"opening/1", b"opening/2")
_TICK_KEY: Final = b"tick"
_OPENING: Final = ((MARK_HEADER, b"opening"),)
_TICK: Final = ((MARK_HEADER, b"tick"),)


def needs_ticks(topic: Topic) -> bool:
    """Tell whether what was deleted of a topic leaves the disk only when a segment rolls."""
    return topic.retention is not Retention.WEEK


def opening(name: str, partition: int, epoch: str, keys: Iterable[bytes]) -> list[Outgoing]:
    """Return the opening records of a partition.

    Args:
        name: The topic's on the wire.
        partition: Which.
        epoch: Of the whole log.
        keys: Those of `OPENING_KEYS` that it lacks.
    """
    value = orjson.dumps({"epoch": epoch})
    return [Outgoing(name, partition, key, value, _OPENING, None) for key in keys]


def tick(name: str, partition: int) -> Outgoing:
    """Return a tick."""
    return Outgoing(name, partition, _TICK_KEY, b"", _TICK, None)


def epoch_of(records: Sequence[tuple[bytes, bytes | None]]) -> str | None:
    """Return the epoch that the first opening record among (key, value) pairs names."""
    for key, value in records:
        if key in OPENING_KEYS and value is not None:
            return str(orjson.loads(value)["epoch"])
    return None
