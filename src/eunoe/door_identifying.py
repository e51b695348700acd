"""The client's side of the door: the façade's calls that say who is who."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeVar

from pydantic import TypeAdapter

from .schemas.results import Identity

__all__ = ["RemoteIdentifying"]

Answer = TypeVar("Answer")

IDENTITY: Final = TypeAdapter(Identity)
NOTHING: Final[TypeAdapter[None]] = TypeAdapter(None)
TEXT: Final = TypeAdapter(str)


class RemoteIdentifying:
    """The calls of `Identifying`, asked of the process that owns the folder."""

    async def register(
        self,
        *,
        phone: str,
        device: str,
        registered_at: datetime | None = None,
        tenant_id: str = "default",
    ) -> str:
        """Do as `Memory.register`."""
        return await self._ask("register", locals(), TEXT)

    async def bind(
        self,
        *,
        user_id: str,
        phone: str | None = None,
        device: str | None = None,
        alias: str | None = None,
        tenant_id: str = "default",
    ) -> None:
        """Do as `Memory.bind`."""
        await self._ask("bind", locals(), NOTHING)

    async def unbind(
        self,
        *,
        user_id: str,
        phone: str | None = None,
        device: str | None = None,
        alias: str | None = None,
        tenant_id: str = "default",
    ) -> None:
        """Do as `Memory.unbind`."""
        await self._ask("unbind", locals(), NOTHING)

    async def identity(self, *, user_id: str, tenant_id: str = "default") -> Identity:
        """Do as `Memory.identity`."""
        return await self._ask("identity", locals(), IDENTITY)

    async def _ask(
        self, call: str, named: Mapping[str, object], answer: TypeAdapter[Answer]
    ) -> Answer:
        raise NotImplementedError
