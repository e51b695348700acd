"""The façade's calls that say who is who."""

from datetime import datetime

from .opened import TENANT, Opened
from .parameters import moment_of, name_of
from .persons import Alias
from .schemas.results import Identity

__all__ = ["Identifying"]


class Identifying(Opened):
    """Persons, and the phones and devices that stand for them."""

    async def register(
        self,
        *,
        phone: str,
        device: str,
        registered_at: datetime | None = None,
        tenant_id: str = TENANT,
    ) -> str:
        """Make a person known by a phone and a device; returns the person's user id.

        Registering the same again gives the same person. A phone that another device registered
        belongs to another person as well: it is shared from then on, and no longer enough to say
        who is meant. That a phone or device is somebody's is for the caller to verify before.

        Args:
            phone: A number with its country code, such as "+86 138 0013 8000".
            device: The fingerprint that the device's own front end made.
            registered_at: When the person registered; the present by default. Given, it decides
                who is meant: another moment is another person.
            tenant_id: The installation.

        Raises:
            Rejected: Phone, device or moment can't be used; or several persons registered with
                both, and registered_at must say which.
            Unavailable: It can't be stored or decided now.
        """
        tenant = name_of("tenant_id", tenant_id)
        moment = moment_of("registered_at", registered_at)
        persons = self.runtime.persons
        async with persons.registering:
            await self.settled()
            person, commands = await persons.registration(tenant, phone, device, moment)
            if commands:
                await self._commands(commands)
        return person

    async def bind(
        self,
        *,
        user_id: str,
        phone: str | None = None,
        device: str | None = None,
        alias: str | None = None,
        tenant_id: str = TENANT,
    ) -> None:
        """Let a phone, a device or another user id stand for a person from now on.

        A new phone or a second device keeps the person. That it is the person's is for the caller
        to verify before.

        Args:
            user_id: The person, or what stands for the person already.
            phone: As in `register`; or
            device: as in `register`; or
            alias: another user id that has nothing of its own.
            tenant_id: The installation.

        Raises:
            Rejected: It has turns of its own, is itself a person's id, or can't be used.
        """
        one = Alias.of(phone, device, alias)
        person = await self._person(tenant_id, user_id)
        await self.settled()
        if person not in await self.runtime.persons.standing(tenant_id, one):
            now = self.runtime.engines.clock.now()
            await self._commands([one.bound(tenant_id, person, now, now)])

    async def unbind(
        self,
        *,
        user_id: str,
        phone: str | None = None,
        device: str | None = None,
        alias: str | None = None,
        tenant_id: str = TENANT,
    ) -> None:
        """Let a phone, a device or another user id no longer stand for a person.

        What was said through it stays the person's. What was registered with it is destroyed.

        Args:
            user_id: The person.
            phone: As in `register`; or
            device: as in `register`; or
            alias: another user id.
            tenant_id: The installation.

        Raises:
            Rejected: It isn't bound to the person.
        """
        one = Alias.of(phone, device, alias)
        person = await self._person(tenant_id, user_id)
        now = self.runtime.engines.clock.now()
        await self._commands([one.unbound(tenant_id, person, now)])

    async def identity(self, *, user_id: str, tenant_id: str = TENANT) -> Identity:
        """Return who a person is: phones, devices, first use, time zone.

        Args:
            user_id: The person, or what stands for the person.
            tenant_id: The installation.

        Raises:
            Rejected: Several persons share the alias, or it is bound to nobody.
        """
        person = await self._person(tenant_id, user_id)
        runtime = self.runtime
        return await runtime.persons.identity(runtime.reader, tenant_id, person)
