"""What searches served: noted without waiting, published in batches, bounded, erased, expired."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, cast
from uuid import UUID

import pytest

from eunoe.schemas.cloudevents import decode
from eunoe.schemas.errors import Unavailable
from eunoe.schemas.events import Envelope, Recalled
from eunoe.schemas.limits import (
    RECALL_IDS_QUEUED_MAX,
    RECALLS_BATCH,
    RECALLS_QUEUED_MAX,
    SEARCH_LIMIT_MAX,
)
from eunoe.schemas.ports import IdentityStore, Log, NewRecord, Spot
from eunoe.schemas.topics import RECALLS
from eunoe.streams import serving
from eunoe.streams.letters import KEPT
from eunoe.streams.recall import Found
from eunoe.streams.serving import Served
from tests.support.fakes import FailingOnce, ListLog
from tests.support.records import ANA, BEN, ident
from tests.support.tools import START, SetClock

APPEND: Final = f"append {RECALLS.name}"
TIMEOUT_S: Final = 60.0


def spot(event: UUID, kind: str = "turn") -> Spot:
    """Return where a turn or a memory stands."""
    return Spot(event.bytes, b"", 0, (), START.isoformat(), kind=kind)


def found(name: str, *, chunk: str | None = None, memory: str | None = None) -> Found:
    """Return a hit of a turn, of a later chunk of it, or of a memory that came from it."""
    point = ident(memory or chunk or name)
    return Found(point.bytes, spot(ident(name), "event" if memory else "turn"), 1.0, {})


async def until(is_so: Callable[[], bool]) -> None:
    """Let the tasks go on until something is so."""
    async with asyncio.timeout(TIMEOUT_S):
        while not is_so():  # noqa: ASYNC110 - what is looked at tells nobody
            await asyncio.sleep(0)


class Known:
    """An identity store that knows every point but some."""

    def __init__(self) -> None:
        self.gone: set[UUID] = set()

    async def spots(self, owner: str, point_ids: Sequence[bytes]) -> dict[bytes, Spot]:
        """Return the spots of what isn't gone."""
        del owner
        return {one: spot(UUID(bytes=one)) for one in point_ids if UUID(bytes=one) not in self.gone}


class Counter:
    """What serves, over ports in memory.

    Args:
        fails: The step that fails, once.
    """

    def __init__(self, fails: str | None = None) -> None:
        self.steps = FailingOnce(fails)
        self.clock = SetClock(step=timedelta(0))
        self.log = ListLog(self.clock, self.steps)
        self.identity = Known()
        self.served = Served(
            cast("Log", self.log), cast("IdentityStore", self.identity), self.clock
        )
        self.stop = self.served.start()

    def note(self, *names: str, owner: str = ANA, now: datetime = START) -> None:
        """Note a search that served turns."""
        self.served.note(owner, [found(name) for name in names], now)

    def events(self) -> list[Envelope]:
        """Return what was published."""
        return [
            decode(one.headers, one.value)
            for place in sorted(self.log.records)
            for one in self.log.records[place]
        ]

    def ids(self, owner: str = ANA) -> list[list[UUID]]:
        """Return the ids of an owner's published searches."""
        payloads = [one.payload for one in self.events() if one.owner == owner]
        return [
            list(search.ids)
            for one in payloads
            if isinstance(one, Recalled)
            for search in one.searches
        ]


async def test_the_searches_of_a_batch_are_one_event_of_each_owner() -> None:
    """Each owner's notes become one record under its key, in order, with each search's moment."""
    counter = Counter()
    later = START + timedelta(seconds=3)
    counter.note("t2", "t1")
    counter.note("b1", owner=BEN)
    counter.note("t3", now=later)
    await counter.stop()
    ana, ben = sorted(counter.events(), key=lambda one: one.owner)
    assert (ana.owner, ben.owner) == (ANA, BEN)
    assert isinstance(ana.payload, Recalled)
    assert ana.payload.served_at == ana.time == later
    assert [one.moment for one in ana.payload.searches] == [START, later]
    assert counter.ids() == [[ident("t2"), ident("t1")], [ident("t3")]]
    assert counter.ids(BEN) == [[ident("b1")]]
    assert counter.steps.happened == [APPEND]


async def test_turns_and_memories_are_named_by_their_own_ids() -> None:
    """A memory by its id, a turn by its event's, whichever chunk was found, each once."""
    counter = Counter()
    hits = [found("t1", memory="m1"), found("t1", chunk="t1/2"), found("t1"), found("t2")]
    counter.served.note(ANA, hits, START)
    await counter.stop()
    assert counter.ids() == [[ident("m1"), ident("t1"), ident("t2")]]


async def test_nothing_found_is_nothing_to_tell() -> None:
    """A search without hits leaves no note, and without notes nothing is appended."""
    counter = Counter()
    counter.note()
    await counter.served.publish()
    await counter.stop()
    assert counter.steps.happened == []


async def test_what_was_not_started_or_has_ended_notes_nothing() -> None:
    """A process that only reads publishes nothing, nor does one that has closed."""
    counter = Counter()
    idle = Served(cast("Log", counter.log), cast("IdentityStore", counter.identity), counter.clock)
    idle.note(ANA, [found("t1")], START)
    await counter.stop()
    counter.note("t1")
    assert (idle.waiting, counter.served.waiting) == (0, 0)


async def test_a_full_batch_is_published_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many searches the publication doesn't wait for its time."""
    monkeypatch.setattr(serving, "RECALLS_EVERY_S", 100 * TIMEOUT_S)
    counter = Counter()
    for _ in range(RECALLS_BATCH):
        counter.note("t1")
    await until(lambda: APPEND in counter.steps.happened)
    assert len(counter.ids()) == RECALLS_BATCH
    await counter.stop()


async def test_a_note_is_published_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single search is published by the clock, without another that pushes it."""
    monkeypatch.setattr(serving, "RECALLS_EVERY_S", 0.0)
    counter = Counter()
    counter.note("t1")
    await until(lambda: APPEND in counter.steps.happened)
    assert counter.ids() == [[ident("t1")]]
    await counter.stop()


async def test_a_log_that_is_away_loses_nothing_within_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What could not be published waits for the next time, says why, and keeps its order."""
    monkeypatch.setattr(serving, "RECALLS_EVERY_S", 0.0)
    counter = Counter(fails=APPEND)
    counter.note("t1")
    await until(lambda: "is away" in (counter.served.trouble or ""))
    counter.note("t2")
    await until(lambda: counter.served.trouble is None)
    await counter.stop()
    assert counter.ids() == [[ident("t1")], [ident("t2")]]
    assert counter.served.dropped == 0


async def test_beyond_the_bound_the_oldest_searches_go() -> None:
    """No more searches wait than the bound says; what is dropped is counted."""
    counter = Counter(fails=APPEND)
    counter.note("old-1")
    counter.note("old-2")
    with pytest.raises(Unavailable):
        await counter.served.publish()
    for _ in range(RECALLS_QUEUED_MAX - 1):
        counter.note("t1")
    assert (counter.served.waiting, counter.served.dropped) == (RECALLS_QUEUED_MAX, 1)
    await counter.stop()
    assert counter.ids()[:2] == [[ident("old-2")], [ident("t1")]]


async def test_ids_are_bounded_as_searches_are() -> None:
    """Long answers push the oldest out before there are many searches."""
    counter = Counter()
    long = [f"t{number}" for number in range(SEARCH_LIMIT_MAX + 1)]
    for _ in range(RECALL_IDS_QUEUED_MAX // SEARCH_LIMIT_MAX + 3):
        counter.note(*long)
    assert counter.served.waiting == RECALL_IDS_QUEUED_MAX // SEARCH_LIMIT_MAX
    assert counter.served.dropped == 3
    await counter.stop()
    assert {len(one) for one in counter.ids()} == {SEARCH_LIMIT_MAX}


async def test_a_log_that_stays_away_keeps_nobody_from_closing() -> None:
    """Closing tries once and gives up; it raises nothing."""
    counter = Counter(fails=APPEND)
    counter.note("t1")
    await counter.stop()
    assert counter.events() == []


async def test_what_is_gone_when_it_is_published_is_left_out() -> None:
    """A search that ends after the forget of what it found names only what is left."""
    counter = Counter()
    counter.note("t1", "t2")
    counter.note("t1")
    counter.identity.gone = {ident("t1")}
    await counter.stop()
    assert counter.ids() == [[ident("t2")]]


async def test_a_forget_drops_notes_that_name_what_is_gone() -> None:
    """Of the owner's waiting notes those go that name it; others' stay, whatever they name."""
    counter = Counter()
    counter.note("t1", "t2")
    counter.note("t2")
    counter.note("t1", owner=BEN)
    await counter.served.erase(ANA, {ident("t1")})
    await counter.stop()
    assert (counter.ids(), counter.ids(BEN)) == ([[ident("t2")]], [[ident("t1")]])


async def test_a_forget_deletes_records_that_name_what_is_gone() -> None:
    """The record goes from the log; those of others and of other turns stay, with their time."""
    counter = Counter()
    other = next(
        owner
        for owner in (f"default/u{number}" for number in range(100))
        if counter.log.partition_of(owner.encode()) == counter.log.partition_of(ANA.encode())
    )
    for name, owner in (("t1", other), ("t2", ANA), ("t1", ANA), ("t3", ANA)):
        counter.note(name, owner=owner)
        await counter.served.publish()
        counter.clock.moment += timedelta(hours=1)
    before = {one.id for one in counter.events()}
    await counter.served.erase(ANA, {ident("t1"), ident("m1")})
    assert sorted(counter.ids()) == sorted([[ident("t2")], [ident("t3")]])
    assert counter.ids(other) == [[ident("t1")]]
    assert len({one.id for one in counter.events()} & before) == 3
    hours = {one.timestamp - START for records in counter.log.records.values() for one in records}
    assert hours == {timedelta(hours=hour) for hour in (0, 1, 3)}
    await counter.stop()


async def test_a_forget_without_such_a_record_writes_nothing() -> None:
    """Looking is all that is done where no record names what is gone."""
    counter = Counter()
    counter.note("t2")
    await counter.served.publish()
    counter.steps.happened.clear()
    await counter.served.erase(ANA, {ident("t1")})
    assert counter.steps.happened == []
    await counter.stop()


@pytest.mark.parametrize("fails", [APPEND, f"delete {RECALLS.name}"])
async def test_an_erasure_that_stops_half_way_can_be_done_again(fails: str) -> None:
    """After a failure the same call ends it; nothing of the rest is lost."""
    counter = Counter()
    for name in ("t2", "t1"):
        counter.note(name)
        await counter.served.publish()
    counter.steps.step = fails
    with pytest.raises(Unavailable):
        await counter.served.erase(ANA, {ident("t1")})
    await counter.served.erase(ANA, {ident("t1")})
    assert [ident("t1")] not in counter.ids()
    assert [ident("t2")] in counter.ids()
    assert {one.id for one in counter.events()} == {counter.events()[0].id}
    await counter.stop()


async def test_a_publication_that_is_just_done_keeps_nobody_from_closing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Closing ends though a publication does in the very step before it is waited for."""
    monkeypatch.setattr(serving, "RECALLS_EVERY_S", 0.0)
    waits = 0
    shield = asyncio.shield

    def counted(work: "asyncio.Future[None]") -> "asyncio.Future[None]":
        nonlocal waits
        waits += 1
        assert waits < 9, "closing goes round and gives nobody a turn"
        return shield(work)

    monkeypatch.setattr(asyncio, "shield", counted)
    counter = Counter()
    append = counter.log.append
    appending = asyncio.Event()
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def slow(records: Sequence[NewRecord]) -> object:
        appending.set()
        await done
        return await append(records)

    counter.log.append = slow  # type: ignore[method-assign,assignment] # a log that is slow
    counter.note("t1")
    await appending.wait()
    closing = asyncio.ensure_future(counter.stop())
    asyncio.get_running_loop().call_soon(done.set_result, None)  # one step behind the closing's
    await closing
    assert counter.ids() == [[ident("t1")]]


async def test_a_forget_waits_for_the_publication_that_is_going_on() -> None:
    """A record that was looked up before the stores forgot is in the log when it is searched."""
    counter = Counter()
    looked_up, go_on = asyncio.Event(), asyncio.Event()
    append = counter.log.append

    async def slow(records: Sequence[NewRecord]) -> object:
        looked_up.set()
        await go_on.wait()
        return await append(records)

    counter.log.append = slow  # type: ignore[method-assign,assignment] # a log that is slow
    counter.note("t1")
    publishing = asyncio.create_task(counter.served.publish())
    await looked_up.wait()
    erasing = asyncio.create_task(counter.served.erase(ANA, {ident("t1")}))
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(publishing, erasing)
    assert counter.events() == []
    await counter.stop()


async def test_an_owners_record_that_cannot_be_read_goes_with_a_forget() -> None:
    """What doesn't say what it names is taken to name it."""
    counter = Counter()
    await counter.log.append([NewRecord(RECALLS.name, ANA.encode(), b"{}")])
    await counter.served.erase(ANA, {ident("t1")})
    assert counter.log.values(RECALLS.name) == []
    await counter.stop()


async def test_records_go_after_their_week() -> None:
    """What is older than seven days is deleted, and nothing younger."""
    counter = Counter()
    counter.note("t1")
    await counter.served.publish()
    counter.clock.moment += KEPT
    counter.note("t2")
    await counter.served.publish()
    assert await counter.served.expire() == 0
    counter.clock.moment += timedelta(seconds=1)
    assert await counter.served.expire() == 1
    assert counter.ids() == [[ident("t2")]]
    await counter.stop()
