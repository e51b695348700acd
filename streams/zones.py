"""The time zone of a user, as it was at a moment.

Delivery: reads only; a zone that is set later changes no interval that was read before.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson

from ..schemas.ports import IdentityStore, Keys, StatementRow
from .identity import slot_hash

__all__ = ["TIMEZONE", "UTC_ZONE", "Zones"]

UTC_ZONE: Final = ZoneInfo("UTC")

TIMEZONE: Final = "timezone"
"""The slot that holds a zone's IANA name."""
_HOUR: Final = timedelta(hours=1)
_OFFSETS_MAX: Final = range(-14, 13)
"""Hours behind UTC that a zone of the family Etc/GMT exists for."""


class Zones:
    """Reads zones of users.

    Args:
        keys: To open statements.
        identity: Where they stand.
        remembered: Of how many owners the statements are remembered: none, but for the writer, who
            alone changes them and says so by `drop` and `clear`.
    """

    def __init__(self, keys: Keys, identity: IdentityStore, *, remembered: int = 0) -> None:
        self._keys = keys
        self._identity = identity
        self._remembered = remembered
        self._rows: OrderedDict[str, list[StatementRow]] = OrderedDict()

    async def at(self, owner: str, moment: datetime) -> ZoneInfo:
        """Return the zone in which the user was at a moment.

        Args:
            owner: Whose.
            moment: Aware. Its own offset is taken where no zone was ever set: a producer that
                tells local times tells the zone as well.

        Returns:
            The zone that was set last by then; before any was set, the first; else that of the
            moment's offset, in whole hours; else UTC.
        """
        rows = await self._statements(owner)
        by_time = sorted(rows, key=lambda row: (row.said_at, row.journal_offset))
        # What a turn says of a zone is a slot; only a command sets the user's.
        by_time = [row for row in by_time if row.kind == "profile"]
        known = [row for row in by_time if row.said_at <= moment]
        for row in [*reversed(known), *by_time[len(known) :]]:
            zone = await self._zone(owner, row)
            if zone is not None:
                return zone
        return _of_offset(moment)

    def drop(self, owner: str) -> None:
        """Look again for an owner, whose statements have changed."""
        self._rows.pop(owner, None)

    def clear(self) -> None:
        """Look again for all."""
        self._rows.clear()

    async def _statements(self, owner: str) -> list[StatementRow]:
        if owner in self._rows:
            self._rows.move_to_end(owner)
            return self._rows[owner]
        keys = await self._keys.owner(owner)
        rows = await self._identity.statements(owner, [slot_hash(keys, TIMEZONE)])
        if self._remembered:
            self._rows[owner] = rows
            if len(self._rows) > self._remembered:
                self._rows.popitem(last=False)
        return rows

    async def _zone(self, owner: str, row: StatementRow) -> ZoneInfo | None:
        (plain,) = await self._keys.open_boxes(owner, [(row.box, row.event_id)])
        if plain is None:
            return None
        content = orjson.loads(plain)
        return None if content["subject"] else _named(content["value"])


def _named(name: str) -> ZoneInfo | None:
    """Return a zone by its IANA name; what somebody called his zone needn't be one."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _of_offset(moment: datetime) -> ZoneInfo:
    behind = -(moment.utcoffset() or timedelta())
    hours, rest = divmod(behind, _HOUR)
    if rest or hours == 0 or hours not in _OFFSETS_MAX:
        return UTC_ZONE
    return ZoneInfo(f"Etc/GMT{hours:+d}")
