"""What every key log keeps; a back-end's test class inherits `KeysContract`.

The back-end's module supplies two fixtures: `new_key_store`, which makes empty key logs, and
`keys`, one of them, open.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Final, Protocol
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.schemas.errors import Damaged, Unavailable
from eunoe.schemas.ports import Keys, WrappedKey
from eunoe.schemas.records import Box
from tests.contract.log_contract import each_example

__all__ = [
    "ANA",
    "BOB",
    "RECORD",
    "KeyStore",
    "KeysContract",
    "NewKeyStore",
    "opened",
    "sealed",
    "what_is_open_agrees",
]

ANA: Final = "default/ana"
BOB: Final = "默认/鲍勃"
RECORD: Final = UUID("12345678-1234-4234-8234-123456789abc")
PLAIN: Final = "the blue notebook 蓝色的笔记本".encode()


class KeyStore(Protocol):
    """A place that holds one key log."""

    def keys(self) -> AbstractAsyncContextManager[Keys]:
        """Open the key log that is there, made at the first time; leaving closes it."""
        ...


NewKeyStore = Callable[[], KeyStore]


async def sealed(keys: Keys, owner: str, plains: list[bytes]) -> list[Box]:
    """Seal texts for `RECORD` and put their keys."""
    owner_keys = await keys.owner(owner)
    pairs = [owner_keys.seal(plain, RECORD) for plain in plains]
    await keys.put([wrapped for _, wrapped in pairs])
    return [box for box, _ in pairs]


async def opened(keys: Keys, owner: str, boxes: list[Box]) -> list[bytes | None]:
    """Open boxes of `RECORD`."""
    return await keys.open_boxes(owner, [(box, RECORD) for box in boxes])


async def what_is_open_agrees(new_key_store: NewKeyStore, steps: list[tuple[str, int]]) -> None:
    """Check that what is open after these steps is what a model of them says."""
    store = new_key_store()
    boxes: list[Box] = []
    model: list[bytes | None] = []
    async with store.keys() as keys:
        for step, number in steps:
            if step == "seal":
                boxes += await sealed(keys, ANA, [b"%d" % number])
                model.append(b"%d" % number)
            elif step == "shred" and boxes:
                chosen = number % len(boxes)
                await keys.shred([boxes[chosen].key_id])
                model[chosen] = None
            elif step == "open":
                assert await opened(keys, ANA, boxes) == model
    async with store.keys() as keys:
        assert await opened(keys, ANA, boxes) == model


class KeysContract:
    """The promises of `Keys`."""

    # --- owners ----------------------------------------------------------------------------

    async def test_an_owner_keeps_its_keys(self, new_key_store: NewKeyStore) -> None:
        """Hashes and terms are the same at each use and after a restart."""
        store = new_key_store()
        async with store.keys() as keys:
            owner = await keys.owner(ANA)
            assert owner.owner == ANA
            before = owner.hash("kind", "text"), owner.term("term")
            again = await keys.owner(ANA)
            assert (again.hash("kind", "text"), again.term("term")) == before
        async with store.keys() as keys:
            owner = await keys.owner(ANA)
            assert (owner.hash("kind", "text"), owner.term("term")) == before

    async def test_tasks_that_meet_a_new_owner_get_the_same_keys(self, keys: Keys) -> None:
        """However many tasks use an owner first, one set of keys is made."""
        owners = await asyncio.gather(*(keys.owner(ANA) for _ in range(20)))
        assert len({owner.hash("kind", "text") for owner in owners}) == 1
        for owner in owners:
            box, wrapped = owner.seal(PLAIN, RECORD)
            await keys.put([wrapped])
            assert await opened(keys, ANA, [box]) == [PLAIN]

    async def test_hashes_tell_owners_and_kinds_apart(self, keys: Keys) -> None:
        """A hash has 16 bytes and says nothing across owners or kinds of use."""
        ana, bob = await keys.owner(ANA), await keys.owner(BOB)
        hashes = {one.hash(kind, "text") for one in (ana, bob) for kind in ("a", "b")}
        assert len(hashes) == 4
        assert {len(one) for one in hashes} == {16}
        assert ana.term("term") != bob.term("term")
        assert 0 <= ana.term("term") < 2**32

    @pytest.mark.parametrize(("kind", "text"), [("slot", "home"), ("词", "里斯本"), ("", "")])
    async def test_a_hash_takes_kind_and_text_apart(self, keys: Keys, kind: str, text: str) -> None:
        """What moves from the text into the kind is another hash, in any script."""
        owner = await keys.owner(ANA)
        whole = kind + text
        splits = {(whole[:place], whole[place:]) for place in range(len(whole) + 1)}
        assert len({owner.hash(*split) for split in splits}) == len(splits)

    # --- boxes -----------------------------------------------------------------------------

    @pytest.mark.parametrize("plain", [b"", PLAIN, b"\x00" * 100_000])
    async def test_a_box_opens_after_its_key_was_put(self, keys: Keys, plain: bytes) -> None:
        """Before it is None, after it the text; the box shows none of it."""
        owner = await keys.owner(ANA)
        box, wrapped = owner.seal(plain, RECORD)
        assert isinstance(wrapped, WrappedKey)
        assert (wrapped.key_id, wrapped.owner) == (box.key_id, ANA)
        assert not plain or plain not in box.sealed
        assert await opened(keys, ANA, [box]) == [None]
        await keys.put([wrapped])
        assert await opened(keys, ANA, [box]) == [plain]

    async def test_each_box_has_its_own_key(self, keys: Keys) -> None:
        """The same text sealed often has as many keys and as many forms."""
        owner = await keys.owner(ANA)
        pairs = [owner.seal(PLAIN, RECORD) for _ in range(200)]
        assert len({box.key_id for box, _ in pairs}) == 200
        assert len({box.sealed for box, _ in pairs}) == 200
        assert len({wrapped.wrapped for _, wrapped in pairs}) == 200

    async def test_put_is_durable(self, new_key_store: NewKeyStore) -> None:
        """Boxes open after a restart."""
        store = new_key_store()
        async with store.keys() as keys:
            boxes = await sealed(keys, ANA, [b"%d" % number for number in range(10)])
        async with store.keys() as keys:
            assert await opened(keys, ANA, boxes) == [b"%d" % number for number in range(10)]

    async def test_putting_twice_is_putting_once(self, keys: Keys) -> None:
        """A repeated batch changes nothing, as after a crash between keys and records."""
        box, wrapped = (await keys.owner(ANA)).seal(PLAIN, RECORD)
        await keys.put([wrapped])
        await keys.put([wrapped, wrapped])
        await keys.put([])
        assert await opened(keys, ANA, [box]) == [PLAIN]
        await keys.shred([box.key_id])
        assert await opened(keys, ANA, [box]) == [None]

    async def test_boxes_open_in_their_order(self, keys: Keys) -> None:
        """Texts and Nones stand where their boxes stood, repeats included."""
        boxes = await sealed(keys, ANA, [b"0", b"1", b"2", b"3"])
        await keys.shred([boxes[1].key_id])
        order = [boxes[3], boxes[1], boxes[0], boxes[3], boxes[2]]
        assert await opened(keys, ANA, order) == [b"3", None, b"0", b"3", b"2"]
        assert await opened(keys, ANA, order) == [b"3", None, b"0", b"3", b"2"]
        assert await opened(keys, ANA, []) == []

    @pytest.mark.parametrize("warm", [False, True])
    async def test_a_changed_box_is_damaged(self, keys: Keys, *, warm: bool) -> None:
        """A box that doesn't fit its key is no text and no erasure."""
        (box,) = await sealed(keys, ANA, [PLAIN])
        if warm:
            await opened(keys, ANA, [box])
        for wrong in (box.sealed[:-1] + bytes([box.sealed[-1] ^ 1]), box.sealed[:20], b""):
            with pytest.raises(Damaged):
                await opened(keys, ANA, [Box(key_id=box.key_id, sealed=wrong)])

    @pytest.mark.parametrize("warm", [False, True])
    async def test_a_box_of_another_record_is_damaged(self, keys: Keys, *, warm: bool) -> None:
        """A box that was moved to another record doesn't open there."""
        (box,) = await sealed(keys, ANA, [PLAIN])
        if warm:
            await opened(keys, ANA, [box])
        with pytest.raises(Damaged):
            await keys.open_boxes(ANA, [(box, uuid4())])

    @pytest.mark.parametrize("warm", [False, True])
    async def test_an_owners_keys_open_nothing_of_another(self, keys: Keys, *, warm: bool) -> None:
        """A box under another owner's name is damage, known owner or not, cached or not."""
        (box,) = await sealed(keys, ANA, [PLAIN])
        await keys.owner(BOB)
        if warm:
            await opened(keys, ANA, [box])
        for other in (BOB, "default/nobody"):
            with pytest.raises(Damaged):
                await opened(keys, other, [box])
        assert await opened(keys, ANA, [box]) == [PLAIN]

    async def test_a_key_under_another_owners_name_opens_nothing(self, keys: Keys) -> None:
        """A wrapped key that names another owner opens the box for neither of them."""
        await keys.owner(BOB)
        box, wrapped = (await keys.owner(ANA)).seal(PLAIN, RECORD)
        await keys.put([replace(wrapped, owner=BOB)])
        for owner in (BOB, ANA):
            with pytest.raises(Damaged):
                await opened(keys, owner, [box])

    async def test_opening_makes_no_owner(self, keys: Keys) -> None:
        """Boxes with keys that nobody put are closed, also for an owner that isn't known."""
        box = Box(key_id=uuid4(), sealed=bytes(60))
        assert await opened(keys, "default/nobody", [box]) == [None]

    # --- shredding -------------------------------------------------------------------------

    @pytest.mark.parametrize("warm", [False, True])
    async def test_a_shredded_key_opens_no_copy(
        self, new_key_store: NewKeyStore, *, warm: bool
    ) -> None:
        """No copy of the box opens after `shred` returned, now or after a restart."""
        store = new_key_store()
        async with store.keys() as keys:
            gone, stays = await sealed(keys, ANA, [PLAIN, b"stays"])
            if warm:
                assert await opened(keys, ANA, [gone, stays]) == [PLAIN, b"stays"]
            await keys.shred([gone.key_id])
            copy = Box(key_id=gone.key_id, sealed=bytes(gone.sealed))
            assert await opened(keys, ANA, [gone, copy, stays]) == [None, None, b"stays"]
        async with store.keys() as keys:
            assert await opened(keys, ANA, [gone, copy, stays]) == [None, None, b"stays"]

    async def test_a_key_read_while_it_is_shredded_is_gone(self, keys: Keys) -> None:
        """Who opens boxes in the middle of a shred keeps no key beyond it."""
        boxes = await sealed(keys, ANA, [b"%d" % number for number in range(100)])
        shredding = asyncio.create_task(keys.shred([box.key_id for box in boxes]))
        while not shredding.done():
            await opened(keys, ANA, boxes)
            await opened(keys, ANA, boxes[:3])
            await asyncio.sleep(0)
        await shredding
        assert await opened(keys, ANA, boxes) == [None] * len(boxes)

    async def test_shredding_what_isnt_there_is_no_error(self, keys: Keys) -> None:
        """An unknown id, a shredded one and none at all are the same."""
        (box,) = await sealed(keys, ANA, [PLAIN])
        await keys.shred([])
        await keys.shred([uuid4()])
        await keys.shred([box.key_id, box.key_id])
        await keys.shred([box.key_id])
        assert await opened(keys, ANA, [box]) == [None]

    async def test_openings_during_a_shred_bring_nothing_back(self, keys: Keys) -> None:
        """Whatever was being opened meanwhile, after `shred` returned the boxes are closed."""
        boxes = await sealed(keys, ANA, [b"%d" % number for number in range(50)])
        for start in range(0, 50, 5):
            shredded = boxes[start : start + 5]
            await asyncio.gather(
                opened(keys, ANA, boxes),
                keys.shred([box.key_id for box in shredded]),
                opened(keys, ANA, boxes),
            )
            found = await opened(keys, ANA, boxes)
            assert found[: start + 5] == [None] * (start + 5)
            assert found[start + 5 :] == [b"%d" % number for number in range(start + 5, 50)]

    @each_example
    @given(
        steps=st.lists(
            st.tuples(st.sampled_from(["seal", "shred", "open"]), st.integers(0, 9)), max_size=40
        )
    )
    def test_what_is_open_is_what_was_put_and_not_shredded(
        self, new_key_store: NewKeyStore, steps: list[tuple[str, int]]
    ) -> None:
        """After any sequence of seals, openings and shreds, and a restart, a model agrees."""
        asyncio.run(what_is_open_agrees(new_key_store, steps))

    # --- shared keys -----------------------------------------------------------------------

    async def test_a_shared_key_opens_what_it_sealed(self, new_key_store: NewKeyStore) -> None:
        """Several values under one name open, also after a restart."""
        store = new_key_store()
        async with store.keys() as keys:
            values = [await keys.seal_shared("default/2026-01-05", b"%d" % n) for n in range(3)]
        async with store.keys() as keys:
            values.append(await keys.seal_shared("default/2026-01-05", b"3"))
            found = [await keys.open_shared("default/2026-01-05", value) for value in values]
        assert found == [b"0", b"1", b"2", b"3"]

    async def test_a_shredded_shared_key_opens_nothing(self, keys: Keys) -> None:
        """All values of the name are closed, other names and later values are not."""
        one = await keys.seal_shared("one", PLAIN)
        other = await keys.seal_shared("other", PLAIN)
        await keys.shred_shared(["one", "never used"])
        assert await keys.open_shared("one", one) is None
        assert await keys.open_shared("other", other) == PLAIN
        later = await keys.seal_shared("one", b"later")
        assert await keys.open_shared("one", later) == b"later"
        assert await keys.open_shared("one", one) is None

    async def test_a_shredded_shared_key_stays_shredded(self, new_key_store: NewKeyStore) -> None:
        """After a restart too, and a name that was never used opens nothing."""
        store = new_key_store()
        async with store.keys() as keys:
            value = await keys.seal_shared("one", PLAIN)
            await keys.shred_shared(["one"])
        async with store.keys() as keys:
            assert await keys.open_shared("one", value) is None
            assert await keys.open_shared("never used", value) is None

    async def test_a_shared_value_is_bound_to_its_name(self, keys: Keys) -> None:
        """A value under another name, or a changed one, is damage."""
        value = await keys.seal_shared("one", PLAIN)
        await keys.seal_shared("other", PLAIN)
        for name, wrong in [("other", value), ("one", value[:-1]), ("one", b"short")]:
            with pytest.raises(Damaged):
                await keys.open_shared(name, wrong)

    async def test_tasks_share_one_shared_key(self, keys: Keys) -> None:
        """Values that are sealed at the same time are closed by one shredding."""
        values = await asyncio.gather(*(keys.seal_shared("one", PLAIN) for _ in range(10)))
        await keys.shred_shared(["one"])
        assert [await keys.open_shared("one", value) for value in values] == [None] * 10

    # --- close -----------------------------------------------------------------------------

    async def test_closed_keys_are_unavailable(self, new_key_store: NewKeyStore) -> None:
        """After `close`, which may be called twice, nothing opens that was open before."""
        async with new_key_store().keys() as keys:
            boxes = await sealed(keys, ANA, [PLAIN])
            await opened(keys, ANA, boxes)
            await keys.close()
            await keys.close()
            with pytest.raises(Unavailable):
                await opened(keys, ANA, boxes)
            with pytest.raises(Unavailable):
                await keys.owner(ANA)

    async def test_closed_keys_take_and_destroy_nothing(self, new_key_store: NewKeyStore) -> None:
        """After `close` no call returns as if it had been done."""
        store = new_key_store()
        async with store.keys() as keys:
            box, wrapped = (await keys.owner(ANA)).seal(PLAIN, RECORD)
            value = await keys.seal_shared("one", PLAIN)
            await keys.close()
            calls: list[Callable[[], Coroutine[Any, Any, object]]] = [
                lambda: keys.put([wrapped]),
                lambda: keys.shred([box.key_id]),
                lambda: keys.seal_shared("one", PLAIN),
                lambda: keys.open_shared("one", value),
                lambda: keys.shred_shared(["one"]),
            ]
            for call in calls:
                with pytest.raises(Unavailable):
                    await call()
        async with store.keys() as keys:
            assert await keys.open_shared("one", value) == PLAIN
