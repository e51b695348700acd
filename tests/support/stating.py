"""Statements of an owner without an engine, for what answers from them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from eunoe.schemas.ports import IdentityStore, Keys, StatementRow
from eunoe.streams.identity import state
from tests.support.fakes import OpenKeys
from tests.support.records import ANA, ident
from tests.support.tools import START

__all__ = ["Statements"]


class Statements:
    """Statements that play the identity store, with the keys that open them."""

    def __init__(self) -> None:
        self.open_keys = OpenKeys()
        self.rows: list[StatementRow] = []

    @property
    def keys(self) -> Keys:
        """The keys."""
        return cast("Keys", self.open_keys)

    @property
    def identity(self) -> IdentityStore:
        """This, as the store."""
        return cast("IdentityStore", self)

    async def state(
        self,
        slot: str,
        value: str,
        said_at: datetime = START,
        *,
        recorded_at: datetime | None = None,
        **fields: Any,
    ) -> StatementRow:
        """State a value; where nothing else is said, it is recorded an hour after it was said."""
        number = len(self.rows)
        kind = fields.pop("kind", "slot")
        made, key = state(
            await self.open_keys.owner(ANA),
            ident(f"event/{number}"),
            kind=kind,
            slot=slot,
            value=value,
            **fields,
        )
        await self.open_keys.put([key])
        row = StatementRow(
            kind=kind,
            slot=made.slot,
            matter=made.matter,
            value=made.value,
            box=made.box,
            event_id=ident(f"event/{number}"),
            said_at=said_at,
            recorded_at=recorded_at or said_at + timedelta(hours=1),
            journal_offset=number,
        )
        self.rows.append(row)
        return row

    async def statements(
        self, owner: str, slots: Sequence[bytes] | None = None
    ) -> list[StatementRow]:
        """Return rows as the port promises: of a matter together, in the order of truth."""
        assert owner == ANA
        found = [row for row in self.rows if slots is None or row.slot in slots]
        return sorted(found, key=lambda row: (row.matter, row.said_at, row.journal_offset))
