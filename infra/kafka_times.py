"""Times of records: Kafka counts milliseconds since 1970."""

from datetime import UTC, datetime, timedelta
from typing import Final

from ..schemas.errors import Rejected

__all__ = ["milliseconds", "moment_of"]

_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds(moment: datetime) -> int:
    """Return a moment as Kafka writes it.

    Raises:
        Rejected: It has no time zone, or lies before 1970.
    """
    if moment.tzinfo is None:
        message = "A record's time needs a time zone."
        raise Rejected(message)
    stamp = (moment - _START) // _MILLISECOND
    if stamp < 0:
        message = "A record's time can't lie before 1970."
        raise Rejected(message)
    return stamp


def moment_of(stamp: int) -> datetime:
    """Return the moment of a number of milliseconds."""
    return _START + stamp * _MILLISECOND
