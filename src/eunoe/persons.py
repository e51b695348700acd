"""Which person a caller means, and the commands that make persons known."""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from .parameters import name_of
from .schemas.errors import Rejected
from .schemas.events import Bind, Envelope, EventType, Unbind, owner_key
from .schemas.limits import BINDINGS_CACHED_MAX
from .schemas.persons import alias_of, device_of, is_alias, person_id, phone_of
from .schemas.results import Identity
from .streams.persons import person_of
from .streams.reading import Reader
from .streams.zones import Zones

if TYPE_CHECKING:
    from .engines import AnyEngines

__all__ = ["Alias", "Persons"]

SOURCE: Final = "eunoe"
"""The producer of commands: the runtime itself."""


class Alias:
    """A user id that stands for a person, and what is said of it when it is bound.

    Args:
        name: The user id.
        phone: The number behind it, in E.164 form.
        device: The fingerprint behind it.
    """

    def __init__(self, name: str, phone: str | None = None, device: str | None = None) -> None:
        self.name = name
        self.phone = phone
        self.device = device

    @classmethod
    def of_phone(cls, phone: str) -> "Alias":
        """Return the alias of a phone number."""
        return cls(alias_of("phone", phone), phone=phone_of(phone))

    @classmethod
    def of_device(cls, device: str) -> "Alias":
        """Return the alias of a device."""
        return cls(alias_of("device", device), device=device_of(device))

    @classmethod
    def of(cls, phone: str | None, device: str | None, alias: str | None) -> "Alias":
        """Return the alias that a caller names by one of three ways.

        Raises:
            Rejected: It is named by none or by several, or can't be used.
        """
        given = [one is not None for one in (phone, device, alias)]
        if sum(given) != 1:
            message = "Give one of phone, device and alias: what stands for the person."
            raise Rejected(message)
        if phone is not None:
            return cls.of_phone(phone)
        return cls.of_device(device) if device is not None else cls(name_of("alias", alias))

    def bound(self, tenant_id: str, person: str, since: datetime, now: datetime) -> Envelope:
        """Return the command that binds it."""
        payload = Bind(
            alias=self.name,
            person=person,
            registered_phone=self.phone,
            device=self.device,
            first_used_at=since,
        )
        return _event(EventType.BIND, tenant_id, payload, now)

    def unbound(self, tenant_id: str, person: str, now: datetime) -> Envelope:
        """Return the command that unbinds it."""
        payload = Unbind(alias=self.name, person=person)
        return _event(EventType.UNBIND, tenant_id, payload, now)


class Persons:
    """Knows the persons of a store.

    Args:
        engines: Open ones.
    """

    def __init__(self, engines: "AnyEngines") -> None:
        self._identity = engines.identity
        self._expiry_s = engines.cache_expiry_s
        self._clock = engines.clock
        self._zones = Zones(engines.keys, engines.identity)
        self._ordinary: OrderedDict[str, float] = OrderedDict()
        self.registering = asyncio.Lock()
        """One registration at a time, or the same one twice at a time would be two persons."""

    async def named(self, tenant_id: str, user_id: str) -> str:
        """Return the user id of the person that a caller means.

        Only that an id is none of an alias is remembered, for a while: should it be bound
        meanwhile, there is nothing under it to be read, and the writer knows what to do with an
        event. What an alias stands for is asked each time.

        Raises:
            Rejected: Several persons share the alias, or it is bound to nobody.
        """
        owner = owner_key(tenant_id, user_id)
        now = asyncio.get_running_loop().time()
        if self._ordinary.get(owner, 0.0) > now:
            return user_id
        rows = (await self._identity.bindings([owner])).get(owner, ())
        if not rows and self._expiry_s and not is_alias(user_id):
            self._ordinary[owner] = now + self._expiry_s
            self._ordinary.move_to_end(owner)
            if len(self._ordinary) > BINDINGS_CACHED_MAX:
                self._ordinary.popitem(last=False)
        return person_of(user_id, rows)

    async def standing(self, tenant_id: str, alias: Alias) -> set[str]:
        """Return the persons that an alias stands for."""
        owner = owner_key(tenant_id, alias.name)
        rows = (await self._identity.bindings([owner])).get(owner, ())
        return {row.person for row in rows if row.is_bound}

    async def registration(
        self, tenant_id: str, phone: str, device: str, moment: datetime | None
    ) -> tuple[str, list[Envelope]]:
        """Return who registers, and the commands that bind what isn't bound yet.

        Raises:
            Rejected: Phone or device can't be used; or several persons registered with both.
        """
        aliases = (Alias.of_phone(phone), Alias.of_device(device))
        standing = [await self.standing(tenant_id, alias) for alias in aliases]
        both = sorted(set.intersection(*standing))
        now = self._clock.now()
        if moment is None and len(both) > 1:
            message = (
                f"{len(both)} persons registered with this phone on this device: give "
                "registered_at, as the one who is meant registered."
            )
            raise Rejected(message)
        if moment is None and both:
            return both[0], []
        since = moment or now
        person = await self.named(tenant_id, person_id(phone, device, since))
        commands = [
            alias.bound(tenant_id, person, since, now)
            for alias, persons in zip(aliases, standing, strict=True)
            if person not in persons
        ]
        return person, commands

    async def identity(self, reader: Reader, tenant_id: str, person: str) -> Identity:
        """Return who a person is."""
        owner = owner_key(tenant_id, person)
        found = await reader.aliases(owner)
        said = [Bind.model_validate(content) for _, content in found]
        firsts = [one.first_used_at for one in said if one.first_used_at is not None]
        zone = await self._zones.at(owner, self._clock.now())
        return Identity(
            user_id=person,
            phones=_distinct([one.registered_phone for one in said]),
            devices=_distinct([one.device for one in said]),
            aliases=tuple(alias for alias, _ in found),
            first_used_at=min(firsts, default=None),
            timezone=zone.key,
        )


def _distinct(values: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(sorted({one for one in values if one is not None}))


def _event(kind: EventType, tenant_id: str, payload: Bind | Unbind, now: datetime) -> Envelope:
    return Envelope(
        id=str(uuid.uuid4()),
        source=SOURCE,
        type=kind,
        time=now,
        tenant_id=tenant_id,
        user_id=payload.alias,
        payload=payload,
    )
