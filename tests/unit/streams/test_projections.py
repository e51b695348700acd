"""The journal and what follows it: order of steps, markers, and what a failure leaves."""

from collections.abc import Sequence
from typing import Final, cast

import pytest

from eunoe.schemas.errors import Damaged, Unavailable
from eunoe.schemas.ports import (
    Applied,
    EpisodicStore,
    IdentityStore,
    Keys,
    Log,
    LogRecord,
    NewRecord,
    Position,
    Stored,
    TopicPartition,
    WrappedKey,
)
from eunoe.schemas.records import JournalRecord
from eunoe.schemas.topics import COMMANDS, JOURNAL, TURNS, WRITER_GROUP
from eunoe.streams import projections
from eunoe.streams.projections import (
    ERASURE_GROUP,
    Erasures,
    Journal,
    decode_record,
    encode_record,
)
from tests.support.fakes import EPOCH, PARTITIONS, FailingOnce, ListLog, OpenKeys
from tests.support.records import ANA, BEN, erasure, ident, stored
from tests.support.tools import START

KEY: Final = WrappedKey(ident("key/t1"), ANA, b"")
GONE: Final = ident("key/t1")


class Follower:
    """A store that keeps records in a list, with a marker of its own per partition."""

    def __init__(self, name: str, steps: FailingOnce) -> None:
        self.name = name
        self.steps = steps
        self.records: list[JournalRecord] = []
        self.markers: dict[int, Applied] = {}

    async def apply(self, records: Sequence[Stored]) -> None:
        """Keep what lies beyond the marker."""
        self.steps.at(f"apply {self.name}")
        for one in records:
            marker = self.markers.get(one.position.partition)
            if marker is None or one.position.offset >= marker.offset:
                self.records.append(one.record)
                end = Applied(one.position.epoch, one.position.offset + 1)
                self.markers[one.position.partition] = end

    async def applied(self, partition: int) -> Applied | None:
        """Return the marker."""
        return self.markers.get(partition)

    async def flush(self) -> None:
        """Note that it was flushed."""
        self.steps.at(f"flush {self.name}")


class Spine:
    """A journal over ports in memory.

    Args:
        fails: The step that fails, once.
    """

    def __init__(self, fails: str | None = None) -> None:
        self.steps = FailingOnce(fails)
        self.log = ListLog(steps=self.steps)
        self.keys = OpenKeys(self.steps)
        self.identity = Follower("identity", self.steps)
        self.episodes = Follower("episodes", self.steps)
        self.journal = Journal(
            cast("Log", self.log),
            cast("Keys", self.keys),
            cast("IdentityStore", self.identity),
            cast("EpisodicStore", self.episodes),
            range(PARTITIONS),
        )

    @property
    def happened(self) -> list[str]:
        """What happened so far."""
        return self.steps.happened

    def events(self) -> tuple[list[object], list[object]]:
        """Return the event ids that each store holds, in order."""
        return (
            [one.event_id for one in self.identity.records],
            [one.event_id for one in self.episodes.records],
        )


def turn(name: str, owner: str = ANA) -> JournalRecord:
    """Return a turn's record."""
    return stored(0, name, owner=owner).record


def forget(*names: str) -> JournalRecord:
    """Return a forget's record: it destroys a key and names the journal's keys."""
    return erasure(0, names, keys=(GONE,)).record


# --- append ------------------------------------------------------------------------------------


async def test_keys_then_journal_then_stores() -> None:
    """No record is appended whose keys aren't durable, and none applied that isn't journaled."""
    spine = Spine()
    (one,) = await spine.journal.append([KEY], [turn("t1")])
    assert spine.happened == [
        "put",
        f"append {JOURNAL.name}",
        "apply identity",
        "apply episodes",
    ]
    assert one.record == turn("t1")
    assert spine.events() == ([ident("t1")], [ident("t1")])


async def test_records_are_keyed_by_event_and_placed_by_owner() -> None:
    """The key is used once, so that a tombstone removes one record; owners keep their order."""
    spine = Spine()
    records = [turn("a1"), turn("b1", BEN), turn("a2")]
    found = await spine.journal.append([], records)
    assert [one.position.partition for one in found] == [
        spine.log.partition_of(one.owner.encode()) for one in records
    ]
    lying = [one for part in spine.log.records.values() for one in part]
    assert {one.key for one in lying} == {str(one.event_id).encode() for one in records}


async def test_appending_nothing_touches_nothing() -> None:
    """A batch in which everything was a repeat calls no engine."""
    spine = Spine()
    assert await spine.journal.append([KEY], []) == []
    assert spine.happened == []


@pytest.mark.parametrize(
    "fails", ["put", f"append {JOURNAL.name}", "apply identity", "apply episodes"]
)
async def test_a_failed_append_is_mended_by_catching_up(fails: str) -> None:
    """Wherever an engine fails: what is journaled reaches every store once, the rest none."""
    spine = Spine(fails)
    with pytest.raises(Unavailable):
        await spine.journal.append([KEY], [turn("t1"), turn("t2")])
    journaled = len(spine.log.values(JOURNAL.name))
    assert journaled == (0 if fails in {"put", f"append {JOURNAL.name}"} else 2)
    await spine.journal.catch_up()
    expected = [ident("t1"), ident("t2")][:journaled]
    assert spine.events() == (expected, expected)


# --- catch up ----------------------------------------------------------------------------------


async def test_each_store_catches_up_from_its_own_marker() -> None:
    """A store that is behind gets what it lacks, and one that isn't gets nothing twice."""
    spine = Spine()
    await spine.journal.append([], [turn("t1"), turn("t2")])
    partition = spine.log.partition_of(ANA.encode())
    spine.episodes.records, spine.episodes.markers = [], {partition: Applied(EPOCH, 1)}
    assert await spine.journal.catch_up() >= 1
    assert spine.events() == ([ident("t1"), ident("t2")], [ident("t2")])


async def test_catching_up_twice_is_once() -> None:
    """New stores get everything, at the second time nothing new."""
    spine = Spine()
    await spine.journal.append([], [turn("t1"), turn("b1", BEN)])
    for one in (spine.identity, spine.episodes):
        one.records, one.markers = [], {}
    for _ in range(2):
        await spine.journal.catch_up()
        for events in spine.events():
            assert sorted(map(str, events)) == sorted(map(str, (ident("t1"), ident("b1"))))


@pytest.mark.parametrize("marker", [Applied("another", 0), Applied(EPOCH, 9)])
async def test_a_store_of_another_journal_is_damage(marker: Applied) -> None:
    """A store that is ahead, or of another epoch, stops everything before it is written to."""
    spine = Spine()
    await spine.journal.append([], [turn("t1")])
    before = list(spine.happened)
    spine.identity.markers = {spine.log.partition_of(ANA.encode()): marker}
    with pytest.raises(Damaged, match="restore"):
        await spine.journal.catch_up()
    assert spine.happened == before


async def test_reading_leaves_tombstones_out() -> None:
    """Many records come in order, in batches; a tombstone is no record."""
    spine = Spine()
    await spine.journal.append([], [turn(f"t{n}") for n in range(150)])
    gone = str(ident("t3")).encode()
    await spine.log.append([NewRecord(JOURNAL.name, gone, None, placed_by=ANA.encode())])
    partition = spine.log.partition_of(ANA.encode())
    batches = [batch async for batch in spine.journal.read(partition, 2)]
    assert len(batches) > 1
    found = [one.record.event_id for batch in batches for one in batch]
    assert found == [ident(f"t{n}") for n in range(2, 150)]


async def test_a_record_is_found_at_its_offset_only() -> None:
    """Where a record was erased, the next one isn't taken for it."""
    spine = Spine()
    await spine.journal.append([], [turn("t1"), turn("t2")])
    found = await spine.journal.record_at(ANA, 1)
    assert found == turn("t2")
    place = TopicPartition(JOURNAL.name, spine.log.partition_of(ANA.encode()))
    spine.log.records[place] = spine.log.records[place][1:]
    assert await spine.journal.record_at(ANA, 0) is None
    assert await spine.journal.record_at(ANA, 2) is None


# --- erasures ----------------------------------------------------------------------------------

STEPS: Final = (
    "shred",
    f"append {JOURNAL.name}",
    f"compact {JOURNAL.name}",
    "vacuum",
    f"commit {ERASURE_GROUP}",
)


async def told(spine: Spine) -> Stored:
    """Journal a turn and the forget of it, without carrying the erasure out."""
    records = [turn("t1"), turn("t2"), forget("t1")]
    await spine.keys.put([KEY])
    positions = await spine.log.append(
        [
            NewRecord(
                JOURNAL.name,
                str(one.event_id).encode(),
                encode_record(one),
                placed_by=one.owner.encode(),
            )
            for one in records
        ]
    )
    return Stored(positions[-1], records[-1])


async def test_an_erasure_reaches_keys_then_log_then_marker() -> None:
    """Keys go first, the marker moves last, and only the turn's record and key are gone."""
    spine = Spine()
    one = await told(spine)
    spine.happened.clear()
    erasures = Erasures(cast("Log", spine.log), cast("Keys", spine.keys))
    await erasures.apply([one])
    assert tuple(spine.happened) == STEPS
    assert spine.keys.shredded == [GONE]
    left = [JournalRecord.model_validate_json(raw or b"") for raw in spine.log.values(JOURNAL.name)]
    assert [record.kind for record in left] == ["turn", "forget"]
    partition = one.position.partition
    assert await erasures.applied(partition) == Applied(EPOCH, one.position.offset + 1)


@pytest.mark.parametrize("fails", STEPS)
async def test_an_erasure_that_stops_half_way_is_carried_out_again(fails: str) -> None:
    """Until every step is done the marker stays before the forget, and catching up ends it."""
    spine = Spine()
    one = await told(spine)
    spine.steps.step = fails
    erasures = Erasures(cast("Log", spine.log), cast("Keys", spine.keys))
    with pytest.raises(Unavailable):
        await erasures.apply([one])
    assert await erasures.applied(one.position.partition) is None
    await spine.journal.catch_up()
    assert GONE not in spine.keys.present
    assert len(spine.log.values(JOURNAL.name)) == 2
    marker = await erasures.applied(one.position.partition)
    assert marker == Applied(EPOCH, one.position.offset + 1)


async def test_records_without_an_erasure_cost_nothing() -> None:
    """Turns pass an erasure's projection by without a write."""
    steps = FailingOnce()
    erasures = Erasures(cast("Log", ListLog(steps=steps)), cast("Keys", OpenKeys(steps)))
    await erasures.apply([stored(1, "t1"), stored(2, "t2")])
    assert steps.happened == []


# --- flush -------------------------------------------------------------------------------------


async def test_a_flush_precedes_marker_and_trim() -> None:
    """Ingress events are deleted only after the stores that rest on them are durable."""
    spine = Spine()
    await spine.journal.append([], [turn("t1")])
    spine.happened.clear()
    await spine.journal.flush()
    assert spine.happened == ["flush episodes", f"commit {ERASURE_GROUP}"]
    spine.happened.clear()
    await spine.journal.flush()
    assert spine.happened == ["flush episodes"]


async def test_ingress_is_trimmed_below_the_writers_offset() -> None:
    """What the writer has committed goes, of turns and commands; what comes after stays."""
    spine = Spine()
    for topic in (TURNS, COMMANDS):
        await spine.log.append([NewRecord(topic.name, ANA.encode(), b"%d" % n) for n in range(3)])
    partition = spine.log.partition_of(ANA.encode())
    await spine.log.commit(WRITER_GROUP, {TopicPartition(TURNS.name, partition): 2})
    await spine.journal.append([], [turn("t1")])
    await spine.journal.flush()
    assert spine.log.values(TURNS.name) == [b"2"]
    assert spine.log.values(COMMANDS.name) == [b"0", b"1", b"2"]


async def test_what_is_applied_during_a_flush_is_left_for_the_next() -> None:
    """Its points aren't durable yet, so the marker stays before it."""
    spine = Spine()
    await spine.journal.append([], [turn("t1")])
    flush = spine.episodes.flush

    async def flush_late() -> None:
        await flush()
        await spine.journal.append([], [turn("t2")])

    spine.episodes.flush = flush_late  # type: ignore[method-assign]  # once
    await spine.journal.flush()
    spine.episodes.flush = flush  # type: ignore[method-assign]  # as it was
    partition = spine.log.partition_of(ANA.encode())
    place = (ERASURE_GROUP, JOURNAL.name, partition)
    assert await spine.log.committed(*place) == 1
    await spine.journal.flush()
    assert await spine.log.committed(*place) == 2


async def test_a_failed_flush_moves_no_marker() -> None:
    """Unless the episodic store is durable nothing is trimmed, and the next flush does it."""
    spine = Spine("flush episodes")
    await spine.journal.append([], [turn("t1")])
    spine.happened.clear()
    with pytest.raises(Unavailable):
        await spine.journal.flush()
    assert spine.happened == []
    await spine.journal.flush()
    assert spine.happened == ["flush episodes", f"commit {ERASURE_GROUP}"]


async def test_many_records_flush_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many applied records the store is flushed without anybody's asking."""
    monkeypatch.setattr(projections, "FLUSH_RECORDS", 3)
    spine = Spine()
    await spine.journal.append([], [turn("t1"), turn("t2")])
    assert "flush episodes" not in spine.happened
    await spine.journal.append([], [turn("t3")])
    assert "flush episodes" in spine.happened


# --- the form of a record ----------------------------------------------------------------------


@pytest.mark.parametrize("record", [turn("t1"), forget("t1")], ids=lambda one: one.kind)
def test_a_record_survives_its_encoding(record: JournalRecord) -> None:
    """What is read back is what was written."""
    position = Position(JOURNAL.name, 0, EPOCH, 7)
    read = decode_record(LogRecord(position, b"k", encode_record(record), (), START))
    assert read == Stored(position, record)


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"version": 2}', "这是一个记录".encode(), b"\xff"])
def test_a_malformed_record_is_damage_without_its_content(raw: bytes) -> None:
    """The sentence names the offset, and nothing of what lies there."""
    position = Position(JOURNAL.name, 0, EPOCH, 7)
    with pytest.raises(Damaged, match="offset 7") as caught:
        decode_record(LogRecord(position, b"k", raw, (), START))
    assert "记录" not in str(caught.value)
