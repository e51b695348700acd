"""Transactions on TiKV: what they tell apart, and what they take."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Final

import pytest

from eunoe.infra import tikv_draft
from eunoe.infra.tikv import Tikv
from eunoe.infra.tikv_errors import AlreadyThere, translated
from eunoe.infra.tikv_identity import TikvIdentity
from eunoe.infra.tikv_keys import Space
from eunoe.infra.tikv_rows import Marker
from eunoe.schemas.errors import Conflict, Rejected, Unavailable
from eunoe.schemas.ports import Applied, Stored, TurnFilter
from tests.integration.tikv_histories import turn
from tests.integration.tikv_places import new_namespace, opened
from tests.servers.minitikv import MiniTikv
from tests.support.records import (
    ANA,
    BEN,
    EPOCH,
    PARTITION,
    erasure,
    gap,
    ident,
    stored,
)

pytestmark = pytest.mark.server

MEGABYTE: Final = 1024 * 1024
MANY: Final = 5_000


@pytest.fixture(name="tikv")
async def connect(tikv_address: str) -> AsyncIterator[Tikv]:
    """Connect."""
    tikv = await Tikv.connect([tikv_address], 30.0)
    try:
        yield tikv
    finally:
        await tikv.close()


@pytest.fixture(name="namespace")
def make_namespace() -> str:
    """Return a namespace of the test's own."""
    return new_namespace()


@pytest.fixture(name="store")
async def open_store(tikv_address: str, namespace: str) -> AsyncIterator[TikvIdentity]:
    """Open a store."""
    async with opened(tikv_address, namespace, timeout_s=60.0) as store:
        yield store


async def value_of(tikv: Tikv, key: bytes) -> bytes | None:
    """Return a key's value now."""
    return (await (await tikv.snapshot()).get([key])).get(key)


async def fail_within(tikv: Tikv, key: bytes) -> None:
    """Fail in the middle of a transaction."""
    async with tikv.transaction() as transaction:
        await transaction.scan(key, key + b"\xff")
        raise ZeroDivisionError


# --- transactions ------------------------------------------------------------------------------


async def test_a_conflict_is_told_from_what_exists(tikv: Tikv, namespace: str) -> None:
    """Of two that write a key one is a `Conflict`; a key that was to be new is `AlreadyThere`."""
    one, two = (f"{namespace}/{name}".encode() for name in ("one", "two"))
    async with tikv.transaction() as first, tikv.transaction() as second:
        await first.get([one])
        await second.get([one])
        await first.commit({one: b"1"})
        with pytest.raises(Conflict) as caught:
            await second.commit({two: b"2", one: b"2"})
        assert not isinstance(caught.value, AlreadyThere)
    async with tikv.transaction() as third:
        with pytest.raises(AlreadyThere):
            await third.commit({two: b"3"}, new={one: b"3"})
    assert (await value_of(tikv, one), await value_of(tikv, two)) == (b"1", None)
    async with tikv.transaction() as fourth:
        await fourth.commit({one: None, two: b"4"})
    assert (await value_of(tikv, one), await value_of(tikv, two)) == (None, b"4")


async def test_what_is_not_committed_is_nothing(tikv: Tikv, namespace: str) -> None:
    """A transaction that is left, whether in peace or by an error, changes nothing."""
    key = f"{namespace}/key".encode()
    async with tikv.transaction() as transaction:
        assert await transaction.get([key]) == {}
    with pytest.raises(ZeroDivisionError):
        await fail_within(tikv, key)
    assert await value_of(tikv, key) is None


async def test_a_snapshot_is_of_one_moment(tikv: Tikv, namespace: str) -> None:
    """What is committed later isn't in it, by keys, by scans and by keys of scans."""
    keys = [f"{namespace}/{number:04}".encode() for number in range(40)]
    async with tikv.transaction() as transaction:
        await transaction.commit(dict.fromkeys(keys[::2], b"old"))
    snapshot = await tikv.snapshot()
    async with tikv.transaction() as transaction:
        await transaction.commit({**dict.fromkeys(keys, b"new"), keys[0]: None})
    end = keys[-1] + b"\x00"
    assert await snapshot.get(keys) == dict.fromkeys(keys[::2], b"old")
    assert await snapshot.scan(keys[0], end) == [(key, b"old") for key in keys[::2]]
    assert await snapshot.scan_keys(keys[0], end, limit=3) == keys[:6:2]
    assert await (await tikv.snapshot()).scan_keys(keys[0], end) == keys[1:]


async def test_answers_of_many_megabytes_come_in_parts(tikv: Tikv, namespace: str) -> None:
    """What is longer than one answer may be is read whole, by keys and by scans."""
    values = {f"{namespace}/{n:02}".encode(): bytes([n]) * MEGABYTE for n in range(6)}
    for key, value in values.items():
        async with tikv.transaction() as transaction:
            await transaction.commit({key: value})
    snapshot = await tikv.snapshot()
    assert await snapshot.get([*values]) == values
    assert dict(await snapshot.scan(min(values), max(values) + b"\x00")) == values


async def test_too_large_a_value_is_rejected(tikv: Tikv, namespace: str) -> None:
    """One that TiKV itself refuses is `Rejected`, leaves nothing, and the client goes on."""
    key = f"{namespace}/key".encode()
    async with tikv.transaction() as transaction:
        with pytest.raises(Rejected, match="larger than TiKV takes"):
            await transaction.commit({key: b"x" * 9 * MEGABYTE})
    assert await value_of(tikv, key) is None


async def test_nobody_at_the_address_is_unavailable() -> None:
    """A wrong address is `Unavailable`, and the sentence names the setting."""
    with pytest.raises(Unavailable, match="EUNOE_TIKV") as caught:
        await Tikv.connect(["127.0.0.1:1"], 10.0)
    assert ".rs:" not in str(caught.value), "nothing of the client's source"


def test_an_unknown_error_is_unavailable() -> None:
    """An error that nobody knows makes the caller wait, and never loses anything."""
    assert isinstance(translated(RuntimeError("what is this?"), ["host:1"]), Unavailable)


def test_a_process_leaves_with_its_code_and_its_words() -> None:
    """`leave` ends a process that used the client with the code and all that it printed."""
    program = (
        "import sys; from eunoe.infra.tikv import leave; print('said', end='');"
        " print('warned', end='', file=sys.stderr); leave(7)"
    )
    ended = subprocess.run(  # noqa: S603 - our own program, by our own interpreter
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "said", "warned")


# --- the store ---------------------------------------------------------------------------------


async def test_a_newer_format_is_refused(tikv: Tikv, tikv_address: str, namespace: str) -> None:
    """What a newer Eunoe wrote is refused when it is opened, and by who has it open already."""
    async with opened(tikv_address, namespace) as store:
        await store.apply([turn(0)])
        async with tikv.transaction() as transaction:
            await transaction.commit({Space(namespace).format: b"2"})
        with pytest.raises(Rejected, match="EUNOE_NAMESPACE"):
            await store.apply([turn(1)])
        with pytest.raises(Rejected, match="EUNOE_NAMESPACE"):
            await TikvIdentity.open([tikv_address], namespace, timeout_s=10.0)
        assert len(await store.turns(ANA)) == 1


async def test_many_may_open_at_once(tikv_address: str, namespace: str) -> None:
    """An empty namespace is made once, whoever comes first."""
    stores = await asyncio.gather(
        *(TikvIdentity.open([tikv_address], namespace, timeout_s=30.0) for _ in range(6))
    )
    for number, store in enumerate(stores):
        await store.apply([turn(number)])
        await store.close()


async def test_who_is_always_overtaken_gets_a_conflict(
    own_tikv: MiniTikv, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that meets conflicts again and again is given up, and can be done later."""
    monkeypatch.setattr("eunoe.infra.tikv_identity.TIKV_TRIES_MAX", 3)
    async with opened(own_tikv.address, namespace, timeout_s=30.0) as store:
        await store.apply([turn(0)])
        own_tikv.command("conflicts 60")
        with pytest.raises(Conflict):
            await store.apply([turn(1)])
        assert len(await store.turns(ANA)) == 1
        own_tikv.command("conflicts 0")
        await store.apply([turn(1)])
        assert len(await store.turns(ANA)) == 2


@pytest.mark.slow
async def test_an_owner_of_thousands_of_turns_is_read_whole(store: TikvIdentity) -> None:
    """Pages of TiKV bound nothing: every order, filter and look-up tells of all turns."""
    labels = (b"chat",)
    turns = [stored(n, f"t{n}", position=n, labels=labels) for n in range(MANY)]
    await store.apply(turns)
    events = [ident(f"t{n}") for n in range(MANY)]
    assert [one.event_id for one in await store.turns(ANA, limit=MANY)] == events
    newest = await store.turns(ANA, limit=MANY - 1, newest=True)
    assert [one.event_id for one in newest] == events[:0:-1]
    assert len(await store.turns(ANA, after=MANY - 3, limit=MANY)) == 2
    points = {event.bytes for event in events}
    for wanted in (TurnFilter(), TurnFilter(session=b"s1"), TurnFilter(labels=labels)):
        assert {*await store.points_of(ANA, wanted)} == points
    assert {*await store.spots(ANA, [*points])} == points
    assert (await store.counts(ANA))["turns"] == MANY
    assert await store.applied(PARTITION) == Applied(EPOCH, MANY)


@pytest.mark.parametrize("size", [1, 40, 4_000])
async def test_a_large_forget_may_take_several_transactions(
    store: TikvIdentity, namespace: str, tikv: Tikv, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """However small they are, the outcome is that of one, and the marker moves when all is done."""
    monkeypatch.setattr(tikv_draft, "TIKV_MUTATIONS_MAX", size)
    await store.apply([turn(number) for number in range(200)])
    gone = [number for number in range(200) if number % 3 == 0]
    await store.apply([_forget(200, gone, 200), turn(201, BEN)])
    left = [number for number in range(200) if number % 3]
    await _require(store, left)
    marker = Marker.unpack(await value_of(tikv, Space(namespace).owner(ANA).marker) or b"")
    assert marker == Marker(ANA, EPOCH, 200)


async def test_a_forget_that_was_cut_short_goes_on(
    store: TikvIdentity, tikv_address: str, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled again and again, and taken over by others, it does each part once."""
    await store.apply([turn(number) for number in range(150)])
    monkeypatch.setattr(tikv_draft, "TIKV_MUTATIONS_MAX", 60)
    gone, left = [*range(0, 150, 2)], [*range(1, 150, 2)]
    forget = _forget(150, gone, 150)
    async with opened(tikv_address, namespace, timeout_s=60.0) as other:
        for number in range(8):
            task = asyncio.ensure_future((store, other)[number % 2].apply([forget]))
            await asyncio.wait({task}, timeout=0.03 * number)
            task.cancel()
            await asyncio.wait({task})
        await asyncio.gather(store.apply([forget]), other.apply([forget]))
    await _require(store, left)


def _forget(offset: int, gone: list[int], count: int) -> Stored:
    names = [f"{ANA}/{number}" for number in gone]
    return erasure(
        offset,
        names,
        gaps=(gap("s1", gone[::-1], count - len(gone)),),
        memories=tuple(ident(f"{name}/m") for name in names),
    )


async def _require(store: TikvIdentity, left: list[int]) -> None:
    turns = await store.turns(ANA, limit=1_000)
    assert [one.event_id for one in turns] == [ident(f"{ANA}/{number}") for number in left]
    assert [one.position for one in turns] == [*range(len(left))]
    near = await store.neighbours(ANA, [(b"s1", number) for number in range(len(left) + 5)])
    assert [near[b"s1", n].event_id for n in range(len(left))] == [one.event_id for one in turns]
    assert len(near) == len(left)
    assert await store.session_end(ANA, b"s1") == len(left)
    assert await store.counts(ANA) == {"turns": len(left), "memories": len(left), "slots": 1}
    assert len(await store.points_of(ANA, TurnFilter(labels=(b"chat",)))) == 3 * len(left)
    assert len(await store.statements(ANA)) == len(left)
