"""What every identity store keeps of aliases and persons.

Fixtures as in `identity_contract`.
"""

from typing import Final

import pytest

from eunoe.schemas.ports import BindingRow, IdentityStore, Stored
from eunoe.schemas.records import Binding, Erasure
from tests.contract.identity_contract import NewStore
from tests.support.records import ANA, BEN, box, ident, stored

__all__ = ["IdentityBindingsContract"]

PHONE: Final = "default/phone%3A1"
DEVICE: Final = "default/设备"


def binding(
    offset: int, name: str, person: str, *, owner: str = PHONE, bound: bool = True
) -> Stored:
    """Return a binding of an alias, or its end."""
    one = stored(offset, name, owner=owner)
    erasure = None if bound else Erasure(events=(), appends=(), keys=())
    update = {
        "kind": "binding",
        "binding": Binding(person=person, bound=bound),
        "box": box(name) if bound else None,
        "erasure": erasure,
        "session": None,
        "position": None,
        "role": None,
        "points": (),
    }
    return Stored(one.position, one.record.model_copy(update=update))


def row(name: str, person: str, *, bound: bool = True) -> BindingRow:
    """Return what a store tells of a binding."""
    return BindingRow(person, bound, ident(name), box(name) if bound else None)


class IdentityBindingsContract:
    """The promises of `ports.IdentityStore` on aliases."""

    async def test_an_alias_and_its_person_find_each_other(self, store: IdentityStore) -> None:
        """A binding is told of the alias with its box, and with the person; of nobody else."""
        await store.apply([binding(1, "b1", "安娜"), binding(2, "b2", "安娜", owner=DEVICE)])
        found = await store.bindings([PHONE, DEVICE, ANA, "default/nobody"])
        assert found == {PHONE: (row("b1", "安娜"),), DEVICE: (row("b2", "安娜"),)}
        person = "default/%E5%AE%89%E5%A8%9C"
        assert await store.aliases(person) == ["phone:1", "设备"]
        assert await store.aliases(ANA) == await store.aliases(PHONE) == []
        assert await store.bindings([]) == await store.bindings([person]) == {}
        assert await store.turns(PHONE) == []

    async def test_an_alias_may_be_shared(self, store: IdentityStore) -> None:
        """Every person that an alias stands for is told, in the order of their ids."""
        await store.apply([binding(1, "b1", "ben"), binding(2, "b2", "ana")])
        assert await store.bindings([PHONE]) == {PHONE: (row("b2", "ana"), row("b1", "ben"))}
        assert await store.aliases(ANA) == await store.aliases(BEN) == ["phone:1"]

    async def test_a_binding_ends_and_begins_anew(self, store: IdentityStore) -> None:
        """What has ended is told as such, without its box, and no longer with the person."""
        await store.apply([binding(1, "b1", "ana"), binding(2, "b2", "ana", bound=False)])
        assert await store.bindings([PHONE]) == {PHONE: (row("b2", "ana", bound=False),)}
        assert await store.aliases(ANA) == []
        await store.apply([binding(3, "b3", "ana")])
        assert await store.bindings([PHONE]) == {PHONE: (row("b3", "ana"),)}
        assert await store.aliases(ANA) == ["phone:1"]

    async def test_a_binding_is_seen_by_who_asked_before_it(self, store: IdentityStore) -> None:
        """That a user id stood for nobody when it was asked about says nothing of later."""
        await store.apply([stored(1, "t1", owner=PHONE), stored(2, "t2", owner=DEVICE)])
        assert await store.bindings([PHONE, DEVICE]) == {}
        await store.apply([binding(3, "b3", "安娜")])
        assert await store.bindings([PHONE, DEVICE]) == {PHONE: (row("b3", "安娜"),)}
        await store.apply([binding(4, "b4", "ana", owner=DEVICE)])
        found = await store.bindings([PHONE, DEVICE])
        assert found == {PHONE: (row("b3", "安娜"),), DEVICE: (row("b4", "ana"),)}

    async def test_a_binding_that_says_nothing_new_keeps_its_box(
        self, store: IdentityStore
    ) -> None:
        """A record without a box leaves what was said before, with the event that said it."""
        again = binding(2, "b2", "ana")
        silent = Stored(again.position, again.record.model_copy(update={"box": None}))
        await store.apply([binding(1, "b1", "ana"), silent])
        assert await store.bindings([PHONE]) == {PHONE: (row("b1", "ana"),)}

    async def test_a_repeated_binding_changes_nothing(self, store: IdentityStore) -> None:
        """A record at or below the alias's marker binds nothing again."""
        records = [binding(1, "b1", "ana"), binding(2, "b2", "ana", bound=False)]
        await store.apply(records)
        await store.apply(records[:1])
        assert await store.bindings([PHONE]) == {PHONE: (row("b2", "ana", bound=False),)}
        assert await store.aliases(ANA) == []

    async def test_tenants_have_their_own_aliases(self, store: IdentityStore) -> None:
        """The same alias under two tenants stands for two persons."""
        await store.apply([binding(1, "b1", "ana"), binding(2, "b2", "ana", owner="b/phone%3A1")])
        assert await store.aliases("b/ana") == ["phone:1"]
        await store.apply([binding(3, "b3", "ana", bound=False)])
        assert await store.aliases("b/ana") == ["phone:1"]
        assert await store.aliases(ANA) == []

    @pytest.mark.parametrize("person", ["a\x00b", "a", "a\x00", "/", "安 娜"])
    async def test_any_name_may_be_a_persons(self, store: IdentityStore, person: str) -> None:
        """Names that begin alike, or hold zeros and slashes, stay apart."""
        await store.apply([binding(1, "b1", person), binding(2, "b2", f"{person}b")])
        rows = (await store.bindings([PHONE]))[PHONE]
        assert [one.person for one in rows] == [person, f"{person}b"]

    async def test_bindings_survive_reopening(self, new_store: NewStore) -> None:
        """A store that is opened again tells the same."""
        place = new_store()
        async with place.open() as store:
            await store.apply([binding(1, "b1", "ana"), binding(2, "b2", "ben")])
            before = await store.bindings([PHONE]), await store.aliases(BEN)
        async with place.open() as store:
            assert (await store.bindings([PHONE]), await store.aliases(BEN)) == before
