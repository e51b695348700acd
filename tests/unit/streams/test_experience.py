"""What records count: a table of records and points, pseudonyms, domains, and what is passed by."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final

import pytest

from eunoe.schemas.cloudevents import encode
from eunoe.schemas.errors import Damaged, Rejected, Unavailable
from eunoe.schemas.events import Answered, Envelope, EventType, Recalled, Turn, split_owner
from eunoe.schemas.experience import (
    DOMAINS,
    GENERAL,
    ExperienceKind,
    ExperiencePoint,
    Pool,
    Total,
    Unit,
    minute_ns,
    month_of,
)
from eunoe.schemas.ports import LogRecord, OwnerKeys, Position, Stored
from eunoe.schemas.topics import MARK_HEADER, RECALLS
from eunoe.streams.asking import labels
from eunoe.streams.experience import decide, erase_owner, handle, pseudonyms_of, see, totals_of
from eunoe.streams.projections import encode_record
from tests.support.fakes import OpenOwnerKeys
from tests.support.records import (
    ANA,
    BEN,
    EPOCH,
    decision,
    erasure,
    ident,
    new,
    stored,
    touch,
    vector,
)
from tests.support.tools import START

CREATED: Final = ExperienceKind.MEMORY_CREATED
TOUCHED: Final = ExperienceKind.MEMORY_TOUCHED
SEARCH: Final = ExperienceKind.SEARCH
SERVED: Final = ExperienceKind.HIT_SERVED
ROW: Final = vector(1.0)


class SomeKeys:
    """`ports.OwnersKeys` of the owners that it names."""

    def __init__(self, *owners: str) -> None:
        self.owners = set(owners)

    async def known_owner(self, owner: str) -> OwnerKeys | None:
        """Return the keys of an owner who is there."""
        return keys_of(owner) if owner in self.owners else None


class ListStore:
    """`ports.ExperienceStore` as a mapping of places to counts.

    Args:
        refuses: A kind that it takes for wrong.
    """

    def __init__(self, refuses: ExperienceKind | None = None) -> None:
        self.points: dict[ExperiencePoint, int] = {}
        self.refuses = refuses
        self.away = False
        self.erased: list[str] = []

    async def write(self, points: Sequence[ExperiencePoint]) -> None:
        """Put points, or none where one is refused."""
        if self.away:
            message = "it is away"
            raise Unavailable(message)
        if any(one.kind is self.refuses for one in points):
            message = f"no {self.refuses}"
            raise Rejected(message)
        self.points |= {replace(one, count=1): one.count for one in points}

    async def totals(
        self, pseudonyms: Sequence[str], since: datetime, until: datetime, *, unit: Unit = "day"
    ) -> list[Total]:
        """Return each point of a pseudonym."""
        del since, until, unit
        return [
            Total(START, one.domain, one.kind, times, 0)
            for one, times in self.points.items()
            if one.pseudonym in pseudonyms
        ]

    async def pool(self, domain: str, since: datetime, until: datetime) -> Pool | None:
        """Have none."""
        raise NotImplementedError(domain, since, until)

    async def erase(self, pseudonyms: Sequence[str]) -> None:
        """Remove and note pseudonyms."""
        self.erased += pseudonyms
        self.points = {
            one: times for one, times in self.points.items() if one.pseudonym not in pseudonyms
        }

    async def close(self) -> None:
        """Hold nothing."""


def keys_of(owner: str) -> OpenOwnerKeys:
    """Return an owner's keys."""
    return OpenOwnerKeys(owner, count())


def journaled(one: Stored) -> LogRecord:
    """Return a journal record as it is read."""
    key = str(one.record.event_id).encode()
    return LogRecord(one.position, key, encode_record(one.record), (), START)


def recall(
    name: str, *searches: tuple[int, Sequence[str]], owner: str = ANA, now: datetime = START
) -> LogRecord:
    """Return what some searches served, each with the minute after `now`."""
    tenant_id, user_id = split_owner(owner)
    answered = tuple(
        Answered(moment=now + timedelta(minutes=minute), ids=tuple(map(ident, names)))
        for minute, names in searches
    )
    event = Envelope(
        id=name, source="eunoe", type=EventType.RECALLED, time=now, tenant_id=tenant_id,
        user_id=user_id, payload=Recalled(served_at=now, searches=answered),
    )  # fmt: skip
    headers, value = encode(event)
    return LogRecord(Position(RECALLS.name, 3, EPOCH, 0), owner.encode(), value, headers, START)


def points(record: LogRecord, owner: str = ANA) -> list[ExperiencePoint]:
    """Return what a record counts."""
    seen = see(record)
    return [] if seen is None else decide(seen, keys_of(owner))


def told(found: Sequence[ExperiencePoint]) -> list[tuple[ExperienceKind, int]]:
    """Return kinds and counts."""
    return [(one.kind, one.count) for one in found]


TWO: Final = stored(
    5, "t5", candidates=(), decisions=(decision("m1", ["t5"]), decision("m2", ["t5"]))
)
MIXED: Final = stored(
    6, "t6", decisions=(decision("m3", ["t6"]), decision("m1", ["t5", "t6"], action="touch"))
)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (journaled(new(1, "t1", "m1", ROW)), [(CREATED, 1)]),
        (journaled(touch(2, "t2", "m1", ["t1", "t2"])), [(TOUCHED, 1)]),
        (journaled(TWO), [(CREATED, 2)]),
        (journaled(MIXED), [(CREATED, 1), (TOUCHED, 1)]),
        (journaled(stored(3, "t3")), []),
        (journaled(erasure(4, ["t1"])), []),
        (recall("r1", (0, ["t1"])), [(SEARCH, 1), (SERVED, 1)]),
        (
            recall("r2", (0, ["t1", "t2"]), (3, ["t1"])),
            [(SEARCH, 1), (SERVED, 2), (SEARCH, 1), (SERVED, 1)],
        ),
    ],
    ids=["new", "touch", "two new", "both", "no memory", "erasure", "a search", "two searches"],
)
def test_what_a_record_counts(
    record: LogRecord, expected: list[tuple[ExperienceKind, int]]
) -> None:
    """Each effect of a record is one point, always the same one, with how often it happened."""
    assert told(points(record)) == expected
    assert points(record) == points(record)
    assert len({replace(one, count=1) for one in points(record)}) == len(expected)


def test_a_point_lies_in_the_minute_of_what_happened() -> None:
    """A memory counts when it was recorded, a search when it was answered, each in its month."""
    one = new(1, "t1", "m1", ROW)
    (created,) = points(journaled(one))
    assert 0 <= created.at_ns - minute_ns(one.record.recorded_at) < 60 * 10**9
    turn = datetime(2024, 3, 31, 23, 58, tzinfo=UTC)
    found = points(recall("r1", (0, ["t1"]), (2, ["t1"]), now=turn))
    minutes = [point.at_ns // (60 * 10**9) * 60 for point in found[::2]]
    assert minutes == [turn.timestamp(), turn.timestamp() + 120]
    assert found[0].pseudonym == found[1].pseudonym != found[2].pseudonym


@pytest.mark.parametrize("year", [1900, 2999])
def test_what_a_clock_places_nowhere_is_not_counted(year: int) -> None:
    """A moment that no store can hold makes no point, and the others of the event are kept."""
    off = recall("r1", (0, ["t1"]), now=datetime(year, 1, 1, tzinfo=UTC))
    assert points(off) == []


def test_a_pseudonym_rotates_and_tells_nobody() -> None:
    """It differs by owner and month, and neither of them stands in it."""
    march, april = START, START + timedelta(days=31)
    mine = pseudonyms_of(keys_of(ANA), march, april)
    assert [month_of(march), month_of(april)] == ["2024-03", "2024-04"]
    assert len(set(mine) | set(pseudonyms_of(keys_of(BEN), march, april))) == 4
    (created,) = points(journaled(new(1, "t1", "m1", ROW)))
    assert created.pseudonym == mine[0]


def test_the_place_in_the_minute_needs_the_keys() -> None:
    """The same event has another place with other keys, so nobody can try ids out."""
    seen = see(journaled(new(1, "t1", "m1", ROW)))
    assert seen is not None
    (mine,), (other,) = decide(seen, keys_of(ANA)), decide(seen, keys_of("another/key"))
    assert mine.at_ns != other.at_ns
    assert mine.at_ns // (60 * 10**9) == other.at_ns // (60 * 10**9)


@pytest.mark.parametrize("domain", DOMAINS)
def test_metadata_names_the_domain(domain: str) -> None:
    """The hash of a turn's metadata says which pool it belongs to; the metadata stays sealed."""
    marked = labels(keys_of(ANA), "chat", {"channel": "网页", "domain": domain})
    (point,) = points(journaled(new(1, "t1", "m1", ROW, labels=marked)))
    assert point.domain == domain


@pytest.mark.parametrize(
    "metadata", [None, {}, {"domain": "我的秘密"}, {"domain": 1}, {"other": DOMAINS[1]}]
)
def test_what_names_no_domain_is_general(metadata: dict[str, Any] | None) -> None:
    """Nothing else that a producer writes becomes a domain."""
    marked = labels(keys_of(ANA), "chat", metadata)
    (point,) = points(journaled(new(1, "t1", "m1", ROW, labels=marked)))
    assert point.domain == GENERAL


async def test_what_nobody_did_is_passed_by() -> None:
    """Tombstones and what the log itself needs count nothing and are refused by nobody."""
    record = journaled(new(1, "t1", "m1", ROW))
    passed = [
        replace(record, value=None),
        replace(record, value=b"", headers=((MARK_HEADER, b"tick"),)),
        replace(recall("r1", (0, ["t1"])), value=None),
    ]
    store = ListStore()
    assert await handle(passed, keys=SomeKeys(ANA), store=store) == [None] * 3
    assert not store.points


async def test_an_owner_without_keys_is_passed_by() -> None:
    """Whose keys are gone leaves nothing; the others of the batch are counted."""
    records = [
        journaled(new(1, "t1", "m1", ROW)),
        journaled(new(2, "b1", "m2", ROW, owner=BEN)),
        recall("r1", (0, ["b1"]), owner=BEN),
    ]
    store = ListStore()
    assert await handle(records, keys=SomeKeys(ANA), store=store) == [None] * 3
    assert store.points == dict.fromkeys(points(records[0]), 1)


async def test_what_is_no_recall_is_refused_alone() -> None:
    """A malformed recall and another event are refused; the rest is counted."""
    good = recall("r1", (0, ["t1"]))
    turn = Envelope(
        id="t", source="chat", type=EventType.TURN_ADDED, time=START, tenant_id="default",
        user_id="ana", payload=Turn(role="user", content="你好"),
    )  # fmt: skip
    headers, value = encode(turn)
    records = [
        replace(good, value=b"{"),
        replace(good, value=value, headers=headers),
        good,
    ]
    store = ListStore()
    first, second, third = await handle(records, keys=SomeKeys(ANA), store=store)
    assert isinstance(first, Rejected)
    assert isinstance(second, Rejected)
    assert third is None
    assert len(store.points) == 2


async def test_a_malformed_journal_is_damage() -> None:
    """It is never buried: the loop stops with a sentence that quotes nothing."""
    record = replace(
        journaled(stored(1, "t1")), value=b'{"owner": "default/ana", "text": "secret"}'
    )
    with pytest.raises(Damaged, match="offset 1") as caught:
        await handle([record], keys=SomeKeys(ANA), store=ListStore())
    assert "secret" not in str(caught.value)


async def test_a_refused_point_refuses_its_record() -> None:
    """Of a batch only the record whose point the store refuses is refused."""
    records = [
        journaled(new(1, "t1", "m1", ROW)),
        recall("r1", (0, ["t1"])),
        journaled(new(2, "t2", "m2", ROW)),
    ]
    store = ListStore(refuses=SERVED)
    refused = await handle(records, keys=SomeKeys(ANA), store=store)
    assert [one is None for one in refused] == [True, False, True]
    assert {one.kind for one in store.points} == {CREATED}
    assert len(store.points) == 2


async def test_a_store_that_is_away_is_told() -> None:
    """Nothing is refused: the same records come again, and then count once."""
    records = [journaled(new(1, "t1", "m1", ROW)), recall("r1", (0, ["t1", "t2"]))]
    store = ListStore()
    store.away = True
    with pytest.raises(Unavailable):
        await handle(records, keys=SomeKeys(ANA), store=store)
    store.away = False
    for _ in range(3):
        assert await handle(records, keys=SomeKeys(ANA), store=store) == [None, None]
    assert sorted(store.points.values()) == [1, 1, 2]


async def test_an_owner_takes_all_months_along() -> None:
    """Every month from the first record to the present is erased; others stay."""
    began = START - timedelta(days=100)
    records = [
        recall(f"r{n}", (0, ["t1"]), owner=owner, now=began + timedelta(days=25 * n))
        for n in range(5)
        for owner in (ANA, BEN)
    ]
    store = ListStore()
    keys = SomeKeys(ANA, BEN)
    await handle(records, keys=keys, store=store)
    assert await erase_owner(ANA, began, START, keys=keys, store=store) == 5
    left = await totals_of(ANA, began, START, unit="day", keys=keys, store=store)
    others = await totals_of(BEN, began, START, unit="day", keys=keys, store=store)
    assert (left, len(others)) == ([], 10)
    assert await erase_owner(ANA, START, began, keys=keys, store=store) == 1


async def test_without_keys_nothing_is_an_owners() -> None:
    """Whose keys are gone has no counts to read or to erase."""
    store, keys = ListStore(), SomeKeys(BEN)
    await handle([recall("r1", (0, ["t1"]))], keys=SomeKeys(ANA), store=store)
    assert await totals_of(ANA, START, START, unit="day", keys=keys, store=store) == []
    assert await erase_owner(ANA, START, START, keys=keys, store=store) == 0
    assert store.points
    assert not store.erased


def test_no_id_stands_in_a_point() -> None:
    """Neither user, event, memory nor any part of them is in what leaves."""
    record = new(1, "t1", "m1", ROW)
    shown = str(points(journaled(record)) + points(recall("r1", (0, ["t1", "t2"]))))
    for name in ("t1", "t2", "m1"):
        one = ident(name)
        assert str(one) not in shown
        assert one.hex not in shown
        assert one.hex[:12] not in shown
    assert "ana" not in shown
