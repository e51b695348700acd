"""What every log checks of a record before it takes it, and of an offset."""

from typing import Final

from ..schemas.errors import Rejected
from ..schemas.limits import RECORD_KEY_BYTES_MAX, REQUEST_BYTES_MAX
from ..schemas.ports import NewRecord
from ..schemas.topics import Retention, Topic

__all__ = ["check_offset", "check_size", "is_compacted", "keeps_own_time", "placing"]

_OFFSET_MAX: Final = 2**63 - 1


def check_size(record: NewRecord) -> None:
    """Check that a record isn't too long.

    Raises:
        Rejected: It is.
    """
    if len(record.key) > RECORD_KEY_BYTES_MAX:
        message = f"A record key may have {RECORD_KEY_BYTES_MAX} bytes at most."
        raise Rejected(message)
    headers = sum(len(name) + len(value) for name, value in record.headers)
    if len(record.value or b"") + headers > REQUEST_BYTES_MAX:
        message = f"A record may have {REQUEST_BYTES_MAX} bytes at most."
        raise Rejected(message)


def check_offset(offset: int) -> int:
    """Return an offset that can be one.

    Raises:
        Rejected: It can't.
    """
    if not 0 <= offset <= _OFFSET_MAX:
        message = "An offset lies between 0 and 2^63 - 1."
        raise Rejected(message)
    return offset


def placing(record: NewRecord) -> bytes:
    """Return what a record's partition is computed from."""
    return record.key if record.placed_by is None else record.placed_by


def keeps_own_time(topic: Topic) -> bool:
    """Tell whether a topic's records have the log's own time, whatever they bring."""
    return topic.retention is Retention.UNTIL_JOURNALED


def is_compacted(topic: Topic) -> bool:
    """Tell whether a topic is compacted: keys and tombstones say what goes from it."""
    return topic.retention in (Retention.COMPACTED, Retention.TOMBSTONES_ONLY)
