"""The system's clock; the only place that reads it."""

from datetime import UTC, datetime

__all__ = ["SystemClock"]


class SystemClock:
    """`Clock` of the machine."""

    def now(self) -> datetime:
        """Return the present moment in UTC."""
        return datetime.now(UTC)
