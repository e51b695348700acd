"""Who an alias stands for, and the commands that say it.

All bindings of an alias are decided by the writer of the alias's own partition, one after the
other: the order of its journal is theirs.

Delivery: a binding is one journal record; what it decides is put whole, so a repeat changes
nothing.
"""

from collections.abc import Sequence

from ..schemas.errors import Rejected
from ..schemas.events import Bind, Unbind, owner_key, split_owner
from ..schemas.limits import ALIAS_PERSONS_MAX
from ..schemas.persons import is_alias
from ..schemas.ports import BindingRow, IdentityStore, Keys, OwnerKeys, WrappedKey
from ..schemas.records import Binding, Erasure, JournalRecord

__all__ = ["Binder", "person_of", "persons_among"]


def person_of(user_id: str, rows: Sequence[BindingRow]) -> str:
    """Return the person that a user id means: the one that an alias is bound to, else itself.

    Args:
        user_id: As somebody gave it.
        rows: What it is or was bound to.

    Raises:
        Rejected: Several persons share the alias, or a phone number or device is bound to nobody.
    """
    persons = [row.person for row in rows if row.is_bound]
    if len(persons) == 1:
        return persons[0]
    if persons:
        message = (
            f"{len(persons)} persons share this alias: name the person, or a device that only one "
            "of them has."
        )
        raise Rejected(message)
    if is_alias(user_id):
        message = (
            "A phone number or a device alone is no person: register it or bind it to a person "
            "first, or name the person."
        )
        raise Rejected(message)
    return user_id


async def persons_among(identity: IdentityStore, owners: Sequence[str]) -> list[str]:
    """Return the owners that are no aliases, and the persons for whom the others stand, once each.

    Args:
        identity: Knows the bindings.
        owners: All of a store.
    """
    bindings = await identity.bindings(owners)
    persons: dict[str, None] = {}
    for owner in owners:
        tenant_id, user_id = split_owner(owner)
        bound = [row.person for row in bindings.get(owner, ()) if row.is_bound]
        if not bound and not is_alias(user_id):
            persons[owner] = None
        persons |= dict.fromkeys(owner_key(tenant_id, person) for person in bound)
    return list(persons)


class Binder:
    """Decides what aliases are bound to.

    Args:
        identity: Knows the bindings so far, and who has turns.
        keys: To read what was said of a binding before.
    """

    def __init__(self, identity: IdentityStore, keys: Keys) -> None:
        self._identity = identity
        self._keys = keys

    async def decide(
        self, base: JournalRecord, command: Bind | Unbind, keys: OwnerKeys
    ) -> tuple[JournalRecord, list[WrappedKey]]:
        """Return the command's whole record, with the keys of its box.

        Args:
            base: The record without the outcome.
            command: What to bind or unbind.
            keys: The alias's own.

        Raises:
            Rejected: It can't be done; the sentence says why.
        """
        rows = (await self._identity.bindings([base.owner])).get(base.owner, ())
        row = next((one for one in rows if one.person == command.person), None)
        if isinstance(command, Unbind):
            return _unbound(base, command, row), []
        if row is None and len(rows) >= ALIAS_PERSONS_MAX:
            message = f"An alias can't stand for more than {ALIAS_PERSONS_MAX} persons."
            raise Rejected(message)
        await self._check(base.owner, command)
        return await self._bound(base, command, keys, row)

    async def _check(self, owner: str, command: Bind) -> None:
        tenant_id, alias = split_owner(owner)
        person = owner_key(tenant_id, command.person)
        if command.person == alias:
            message = "An alias can't be bound to itself: name the person that it stands for."
            raise Rejected(message)
        others = (await self._identity.bindings([person])).get(person, ())
        if is_alias(command.person) or any(one.is_bound for one in others):
            message = (
                "The person is itself an alias: name the person that it stands for, or unbind it."
            )
            raise Rejected(message)
        if await self._identity.aliases(owner):
            message = (
                "Other ids are bound to this one as to a person, so it can't be an alias: unbind "
                "them first."
            )
            raise Rejected(message)
        if await self._identity.turns(owner, limit=1) or await self._identity.statements(owner):
            message = (
                "This id has turns or a time zone of its own as a user, so it can't be an alias: "
                "forget its turns first, or bind another id."
            )
            raise Rejected(message)

    async def _bound(
        self, base: JournalRecord, command: Bind, keys: OwnerKeys, row: BindingRow | None
    ) -> tuple[JournalRecord, list[WrappedKey]]:
        binding = Binding(person=command.person)
        update: dict[str, object] = {"binding": binding}
        said, known = command.model_dump_json(exclude_none=True), None
        if row is not None and row.box is not None:
            (plain,) = await self._keys.open_boxes(base.owner, [(row.box, row.event_id)])
            if plain is not None:
                known = Bind.model_validate_json(plain)
                given = command.model_dump(exclude_none=True)
                said = known.model_copy(update=given).model_dump_json(exclude_none=True)
                if said == plain.decode():
                    return base.model_copy(update=update), []  # what was said stays, with its box
            update["erasure"] = _shredded(row)
        box, key = keys.seal(said.encode(), base.event_id)
        return base.model_copy(update=update | {"box": box}), [key]


def _unbound(base: JournalRecord, command: Unbind, row: BindingRow | None) -> JournalRecord:
    if row is None or not row.is_bound:
        message = "This alias isn't bound to that person, so there is nothing to unbind."
        raise Rejected(message)
    binding = Binding(person=command.person, bound=False)
    return base.model_copy(update={"binding": binding, "erasure": _shredded(row)})


def _shredded(row: BindingRow) -> Erasure | None:
    """Let the keys go of what was said before: nobody needs to know it any more."""
    if row.box is None:
        return None
    return Erasure(events=(), appends=(), keys=(row.box.key_id,))
