"""What every call of the façade stands on: the processors of an open memory, and who is meant."""

import asyncio
import uuid

from .commanding import command_event
from .parameters import TENANT, name_of, seconds_of
from .runtime import Runtime
from .schemas.errors import Unavailable
from .schemas.events import Envelope, Forget, SetTimezone, owner_key
from .schemas.limits import SETTLE_TIMEOUT_S
from .schemas.topics import COMMANDS

__all__ = ["TENANT", "Opened"]


class Opened:
    """The part of `Memory` that its calls share.

    Args:
        process: Whether events are decided here.
    """

    def __init__(self, *, process: bool) -> None:
        self._process = process
        self._opened: Runtime | None = None

    @property
    def runtime(self) -> Runtime:
        """The processors behind the façade, for tools of ours.

        Raises:
            Unavailable: The memory is not open.
        """
        if self._opened is None:
            message = "The memory is not open: use it inside an async with block."
            raise Unavailable(message)
        return self._opened

    async def settled(self, *, timeout_s: float = SETTLE_TIMEOUT_S) -> None:
        """Wait until everything acknowledged so far is decided and searchable.

        Args:
            timeout_s: Longest wait in seconds.

        Raises:
            Unavailable: It took longer; the sentence says why the writer waits, if it does.
        """
        longest_s = seconds_of("timeout_s", timeout_s)
        if not self._process:
            return
        await self.runtime.wait(await self.runtime.ends(), longest_s)

    async def _person(self, tenant_id: str, user_id: str) -> str:
        """Return the user id of the person that a caller means, who may be named by an alias."""
        # A call may be answered without any thread or socket: who asks again and again would let
        # nobody else have a turn, not even the writer.
        await asyncio.sleep(0)
        tenant, user = name_of("tenant_id", tenant_id), name_of("user_id", user_id)
        return await self.runtime.persons.named(tenant, user)

    async def _owner(self, tenant_id: str, user_id: str) -> str:
        return owner_key(tenant_id, await self._person(tenant_id, user_id))

    async def _command(
        self, tenant_id: str, user_id: str, payload: SetTimezone | Forget
    ) -> uuid.UUID:
        person = await self._person(tenant_id, user_id)
        now = self.runtime.engines.clock.now()
        event = command_event(payload, tenant_id=tenant_id, user_id=person, now=now)
        await self._commands([event])
        return event.event_id

    async def _commands(self, events: list[Envelope]) -> None:
        await self.settled()
        await self.runtime.publish(COMMANDS.name, events, wait=self._process)
