"""One owner's rows as one transaction reads and changes them; nothing is written before it commits.

Each key is read once, and what was changed is read as changed, so that the records of a batch see
each other's effects.
"""

from collections.abc import Iterable

from ..schemas.errors import Rejected
from ..schemas.limits import TIKV_MUTATIONS_MAX, TIKV_VALUE_BYTES_MAX
from .tikv_keys import OwnerKeys
from .tikv_paging import Reading
from .tikv_rows import Children, EventRow, PointRow, row_in

__all__ = ["Draft"]


class Draft:
    """What a transaction read and is going to write.

    Args:
        reading: The transaction, or a snapshot of its moment.
        keys: Of the owner.
    """

    def __init__(self, reading: Reading, keys: OwnerKeys) -> None:
        self._reading = reading
        self._read: dict[bytes, bytes | None] = {}
        self.keys = keys
        self.written: dict[bytes, bytes | None] = {}
        """Values by key; None deletes."""

    @property
    def is_full(self) -> bool:
        """Whether the transaction should take no more."""
        return len(self.written) >= TIKV_MUTATIONS_MAX

    async def load(self, keys: Iterable[bytes]) -> None:
        """Read keys that will be asked for, all at once."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._read]
        if missing:
            found = await self._reading.get(missing)
            self._read |= {key: found.get(key) for key in missing}

    async def value(self, key: bytes) -> bytes | None:
        """Return a value as it is now."""
        if key in self.written:
            return self.written[key]
        if key not in self._read:
            await self.load([key])
        return self._read[key]

    async def scan(
        self, start: bytes, end: bytes, limit: int
    ) -> tuple[list[tuple[bytes, bytes]], bytes | None]:
        """Return a page of a range as it is now.

        Returns:
            Keys with their values, in order; and the page's last key, there or deleted here, or
            None where no page follows.
        """
        page: dict[bytes, bytes | None] = dict(await self._reading.scan(start, end, limit=limit))
        last = max(page) if len(page) == limit else None
        page |= {
            key: value
            for key, value in self.written.items()
            if start <= key < end and (last is None or key <= last)
        }
        return [(key, value) for key in sorted(page) if (value := page[key]) is not None], last

    def put(self, key: bytes, value: bytes | None) -> None:
        """Change a value; None deletes it.

        Raises:
            Rejected: Key or value is larger than TiKV takes.
        """
        if value is not None and len(value) > TIKV_VALUE_BYTES_MAX:
            message = (
                f"A row of the identity store would have {len(value)} bytes, and may have "
                f"{TIKV_VALUE_BYTES_MAX}: one event holds too much."
            )
            raise Rejected(message)
        self.written[self.keys.require(key)] = value

    async def event(self, event: bytes) -> EventRow | None:
        """Return an event."""
        row = await self._row(event)
        return row if isinstance(row, EventRow) else None

    async def point(self, point: bytes) -> PointRow | None:
        """Return a later chunk or a memory."""
        row = await self._row(point)
        return row if isinstance(row, PointRow) else None

    def put_row(self, key: bytes, row: EventRow | PointRow) -> None:
        """Put an event or a point under its id."""
        self.put(self.keys.ids + key, row.pack())

    async def children(self, event: bytes) -> Children:
        """Return what came from an event."""
        return Children.unpack(await self.value(self.keys.kept + event))

    def put_children(self, event: bytes, children: Children) -> None:
        """Say what came from an event."""
        self.put(self.keys.kept + event, children.pack())

    async def _row(self, key: bytes) -> EventRow | PointRow | None:
        value = await self.value(self.keys.ids + key)
        return None if value is None else row_in(value)
