"""Who writes a partition of the journal: one at a time, whatever a former writer still does."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types
from aiokafka.errors import ProducerFenced  # type: ignore[import-untyped]  # likewise

from eunoe.infra.kafka import KafkaLog
from eunoe.schemas.errors import Fenced, Rejected, Unavailable
from eunoe.schemas.ports import LogRecord, NewRecord, TopicPartition
from eunoe.schemas.topics import COMMANDS, JOURNAL, KEYS, TOPICS, TURNS
from tests.contract.log_contract import written
from tests.integration.kafka_store import KafkaStore, cluster_settings, give_log, installation
from tests.servers.fixtures import give_kafka, give_own_kafka
from tests.servers.kafka import Kafka

__all__ = ["give_kafka", "give_log", "give_own_kafka"]

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
CHILD_TIMEOUT_S: Final = 120
PARTITION: Final = 0
ROOT: Final = Path(__file__).resolve().parents[2]


@pytest.fixture
def store(kafka_address: str) -> Iterator[KafkaStore]:
    """Return an empty store with the topics of the table."""
    with installation(kafka_address, 2) as store:
        yield store


def journaled(log: KafkaLog, *numbers: int) -> list[NewRecord]:
    """Return a key and a journal record for each number."""
    place = next(b"%d" % n for n in range(100) if log.partition_of(b"%d" % n) == PARTITION)
    return [
        NewRecord(topic.name, b"data/%032d" % number, b"%d" % number, placed_by=place)
        for number in numbers
        for topic in (KEYS, JOURNAL)
    ]


async def journal(log: KafkaLog) -> list[LogRecord]:
    """Return what the journal's partition holds."""
    return written(await log.read(JOURNAL.name, PARTITION, 0, limit=10_000))


async def numbers(log: KafkaLog) -> list[int]:
    """Return the numbers of the journal's records; the key log has the same."""
    keys = written(await log.read(KEYS.name, PARTITION, 0, limit=10_000))
    found = [int(one.value or b"") for one in await journal(log)]
    assert [int(one.value or b"") for one in keys] == found
    return found


async def test_a_writers_append_is_read_by_everybody(log: KafkaLog, store: KafkaStore) -> None:
    """Keys and records of one append have positions, and another process reads them there."""
    async with log.fenced(PARTITION) as writer, store.open() as other:
        positions = await writer.append(journaled(log, 1, 2))
        for position in positions:
            (found,) = await other.read(*position[:2], position.offset, limit=1, wait_s=10)
            assert found.position == position
        assert await numbers(log) == [1, 2]


async def test_a_former_writer_is_refused(log: KafkaLog) -> None:
    """Once another opened the partition every write of the former one is `Fenced`, for ever."""
    async with log.fenced(PARTITION) as former:
        await former.append(journaled(log, 1))
        async with log.fenced(PARTITION) as writer:
            for _ in range(2):
                with pytest.raises(Fenced):
                    await former.append(journaled(log, 2))
            with pytest.raises(Fenced):
                await former.compact(JOURNAL.name)
            with pytest.raises(Fenced):
                await former.tick()
            with pytest.raises(Fenced):
                await former.commit("eunoe-erasure", {TopicPartition(JOURNAL.name, PARTITION): 1})
            with pytest.raises(Fenced):
                await former.delete_before(TURNS.name, PARTITION, 0)
            await writer.append(journaled(log, 3))
        assert await numbers(log) == [1, 3]


async def test_writers_of_other_partitions_go_on(log: KafkaLog) -> None:
    """A partition's writer is fenced by another of that partition only."""
    async with log.fenced(PARTITION) as writer, log.fenced(1):
        await writer.append(journaled(log, 1))
        assert await numbers(log) == [1]


async def test_a_writer_keeps_to_its_partition(log: KafkaLog) -> None:
    """A record that belongs elsewhere is refused, and keeps the others out."""
    async with log.fenced(1) as writer:
        with pytest.raises(Rejected, match="partition 1"):
            await writer.append(journaled(log, 1))
    assert await numbers(log) == []
    with pytest.raises(Rejected):
        async with log.fenced(2):
            pass


async def test_a_zombies_open_transaction_is_never_read(log: KafkaLog, store: KafkaStore) -> None:
    """What a former writer appended and didn't commit is aborted, and it can't commit it later."""
    zombie = AIOKafkaProducer(
        bootstrap_servers=store.settings.kafka[0],
        transactional_id=f"{store.settings.namespace}-journal-{PARTITION}",
    )
    await zombie.start()
    try:
        await zombie.begin_transaction()
        name = f"{store.settings.namespace}.journal.v1"
        lost = await zombie.send_and_wait(name, b"7", key=b"data/7", partition=PARTITION)
        assert await numbers(log) == []
        async with log.fenced(PARTITION) as writer:
            await writer.append(journaled(log, 1))
            with pytest.raises(ProducerFenced):
                await zombie.commit_transaction()
            assert await numbers(log) == [1]
            assert (await journal(log))[0].position.offset > lost.offset
    finally:
        await zombie.stop()


async def test_a_killed_writer_leaves_nothing_half(log: KafkaLog, store: KafkaStore) -> None:
    """A process that dies in a transaction leaves its committed records, and no other."""
    child = [sys.executable, "-m", "tests.integration.kafka_child"]
    place = [store.settings.kafka[0], store.settings.namespace, str(PARTITION)]
    ended = await asyncio.to_thread(
        subprocess.run,
        [*child, *place],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        timeout=CHILD_TIMEOUT_S,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    async with log.fenced(PARTITION) as writer:
        assert await numbers(log) == [1]
        await writer.append(journaled(log, 3))
        assert await numbers(log) == [1, 3]


async def test_a_waiting_writer_is_heard_by_a_reader(log: KafkaLog) -> None:
    """A read that waits ends with a transaction's commit, and has all of it."""
    _, end = await log.bounds(JOURNAL.name, PARTITION)
    reading = asyncio.create_task(log.read(JOURNAL.name, PARTITION, end, limit=10, wait_s=30))
    async with log.fenced(PARTITION) as writer:
        await writer.append(journaled(log, 1, 2, 3))
    assert [one.value for one in await reading] == [b"1", b"2", b"3"]


async def test_ticks_are_marks_of_every_topic_that_needs_them(log: KafkaLog) -> None:
    """A tick is one marked record in each ingress and compacted topic, which readers can tell."""
    places = [TopicPartition(topic.name, PARTITION) for topic in TOPICS]
    before = {place: (await log.bounds(*place))[1] for place in places}
    async with log.fenced(PARTITION) as writer:
        await writer.tick()
        await writer.tick()
    for place in places:
        found = await log.read(*place, before[place], limit=10)
        assert all(one.is_mark for one in found)
        needs_them = place.topic in {one.name for one in (TURNS, COMMANDS, JOURNAL, KEYS)}
        assert len(found) == (2 if needs_them else 0)


# --- brokers that are away ---------------------------------------------------------------------


async def write_on(log: KafkaLog, count: int) -> None:
    """Journal numbers, as a lane does: after trouble it reads before it decides again."""
    async with log.fenced(PARTITION) as writer:
        done = 0
        while done < count:
            try:
                found = written(await writer.read(JOURNAL.name, PARTITION, 0, limit=10_000))
                done = len(found)
                while done < count:
                    await writer.append(journaled(log, done))
                    done += 1
            except Unavailable as error:
                assert "EUNOE_KAFKA" in str(error)  # noqa: PT017 - and it goes on
                await asyncio.sleep(0.1)


@pytest.mark.parametrize("way", ["killed", "paused"])
async def test_nothing_is_twice_or_lost_when_the_broker_goes(own_kafka: Kafka, way: str) -> None:
    """With the broker away in the middle, each number is journaled once, with its key, in order."""
    settings = cluster_settings(own_kafka.address, partitions=1, call_timeout_s=2.0)
    patient = cluster_settings(own_kafka.address, namespace=settings.namespace, partitions=1)
    await KafkaStore(patient, TOPICS).make()
    log = await KafkaLog.open(settings)
    try:
        writing = asyncio.create_task(write_on(log, 150))
        for _ in range(2):
            await asyncio.sleep(1.0)
            if way == "killed":
                await asyncio.to_thread(own_kafka.kill)
                await asyncio.sleep(3.0)
                await asyncio.to_thread(own_kafka.start)
            else:
                own_kafka.pause()
                await asyncio.sleep(3.0)
                own_kafka.resume()
        await writing
        assert await numbers(log) == list(range(150))
    finally:
        await log.close()


async def test_what_was_acknowledged_survives_the_broker(own_kafka: Kafka) -> None:
    """Single records, groups of them and offsets are there after a SIGKILL of the broker."""
    settings = cluster_settings(own_kafka.address, partitions=1)
    place = TopicPartition(TURNS.name, 0)
    async with KafkaStore(settings, TOPICS).open() as log:
        for number in range(20):
            await log.append([NewRecord(TURNS.name, b"a", b"%d" % number)])
        await log.append([NewRecord(TURNS.name, b"a", b"%d" % n) for n in range(20, 30)])
        await log.commit("eunoe-erasure", {place: 7})
        await asyncio.to_thread(own_kafka.kill)
        waiting = asyncio.create_task(log.append([NewRecord(TURNS.name, b"a", b"30")]))
        await asyncio.sleep(0.5)
        await asyncio.to_thread(own_kafka.start)
        await waiting
        found = [one.value for one in written(await log.read(*place, 0, limit=100))]
        assert found == [b"%d" % number for number in range(31)]
        assert await log.committed("eunoe-erasure", *place) == 7


async def test_a_broker_that_stays_away_is_told(own_kafka: Kafka) -> None:
    """Appends, reads and commits are Unavailable in time, and the sentence names EUNOE_KAFKA."""
    settings = cluster_settings(own_kafka.address, partitions=1)
    await KafkaStore(settings, TOPICS).make()
    hasty = cluster_settings(
        own_kafka.address, namespace=settings.namespace, partitions=1, call_timeout_s=1.0
    )
    log = await KafkaLog.open(hasty)
    record = NewRecord(TURNS.name, b"a", b"value")
    await log.append([record])
    await asyncio.to_thread(own_kafka.kill)
    for call in (
        lambda: log.append([record]),
        lambda: log.append([record, record]),
        lambda: log.read(TURNS.name, 0, 0, limit=1),
        lambda: log.bounds(TURNS.name, 0),
        lambda: log.commit("eunoe-erasure", {TopicPartition(TURNS.name, 0): 1}),
        lambda: log.fenced(0).__aenter__(),
    ):
        with pytest.raises(Unavailable, match="EUNOE_KAFKA"):
            await call()
    await log.close()
    await asyncio.to_thread(own_kafka.start)


async def test_a_producer_that_dies_in_a_transaction_holds_nobody_up(
    log: KafkaLog, store: KafkaStore
) -> None:
    """Its records are never read, and readers pass them when its time is over.

    Until then a consumer gets nothing that came later, and who wrote it waits for it.
    """
    name = f"{store.settings.namespace}.turns.v1"
    dead = AIOKafkaProducer(
        bootstrap_servers=store.settings.kafka[0],
        transactional_id=f"{store.settings.namespace}-producer-dead",
        transaction_timeout_ms=1_000,
    )
    await dead.start()
    await dead.begin_transaction()
    await dead.send_and_wait(name, b"lost", key=b"a", partition=0)
    place = next(b"%d" % n for n in range(100) if log.partition_of(b"%d" % n) == 0)
    (position,) = await log.append([NewRecord(TURNS.name, b"a", b"kept", placed_by=place)])
    assert await log.poll({TopicPartition(TURNS.name, 0): 0}, limit=10, wait_s=0) == []
    found = await log.read(TURNS.name, 0, 0, limit=10)
    assert [(one.value, one.position) for one in found] == [(b"kept", position)]
    await dead.stop()
