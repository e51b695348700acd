"""The façade's calls that look after a memory: counts, digests, refusals, checks, models."""

import asyncio

from .opened import TENANT, Opened
from .parameters import name_of
from .schemas import results
from .schemas.events import owner_key

__all__ = ["Upkeep"]


class Upkeep(Opened):
    """What an operator asks."""

    async def stats(self, *, user_id: str | None = None, tenant_id: str = TENANT) -> results.Stats:
        """Count what there is, for one user or, without a name, for the whole store."""
        owner = None if user_id is None else await self._owner(tenant_id, user_id)
        return await self.runtime.operator.stats(owner)

    async def digest(self, *, user_id: str, tenant_id: str = TENANT) -> str:
        """Return the digest of a user's state, 64 hexadecimal digits."""
        return await self.runtime.reader.digest(await self._owner(tenant_id, user_id))

    async def dead_letters(
        self, *, user_id: str | None = None, tenant_id: str = TENANT, show: bool = False
    ) -> list[results.DeadLetter]:
        """List refused events; with `show` the original is opened.

        They are kept under the user id that they came with: an alias is taken as it is.
        """
        owner = None
        if user_id is not None:
            owner = owner_key(name_of("tenant_id", tenant_id), name_of("user_id", user_id))
        return await self.runtime.letters.refused(owner, show=show)

    async def experience(
        self,
        *,
        user_id: str | None = None,
        tenant_id: str = TENANT,
        domain: str | None = None,
        days: int = 30,
    ) -> list[results.ExperienceFigure]:
        """Return a user's counts by day; without a name, by domain what five users or more did.

        Args:
            user_id: Whose; None means all users.
            tenant_id: The installation, of a user.
            domain: Only this one; None means all.
            days: So many days back.

        Raises:
            Rejected: There is no such domain, or these are too many days.
        """
        owner = None if user_id is None else await self._owner(tenant_id, user_id)
        return await self.runtime.experience.figures(owner, domain, days)

    async def doctor(self) -> list[results.Check]:
        """Check folder, keys, log, stores and writer."""
        return await self.runtime.operator.doctor(self.runtime.journal)

    async def optimise(self) -> None:
        """Rebuild the vector segments: faster search, deleted points vanish; takes seconds."""
        await self.runtime.engines.episodes.optimise()

    async def warm(self) -> None:
        """Load the models now instead of at the first use."""
        await asyncio.gather(
            self.runtime.engines.encoder.encode(["warm"]),
            self.runtime.engines.recogniser.recognise(["I met Ana in Oslo.", "我在北京见了安娜。"]),
        )
