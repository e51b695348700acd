"""Large records, and those that are too large, on a real broker."""

from collections.abc import Iterator

import pytest

from eunoe.infra.kafka import KafkaLog
from eunoe.schemas.errors import Fenced, Rejected
from eunoe.schemas.limits import LINE_BYTES_MAX
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import JOURNAL, TURNS
from tests.contract.log_contract import values
from tests.integration.kafka_store import KafkaStore, give_log, installation, set_topic
from tests.servers.fixtures import give_kafka

__all__ = ["give_kafka", "give_log"]

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
SMALL_BYTES = 100_000


@pytest.fixture
def store(kafka_address: str) -> Iterator[KafkaStore]:
    """Return an empty installation."""
    with installation(kafka_address, 1) as store:
        yield store


def turn(size: int) -> NewRecord:
    """Return a record of a size."""
    return NewRecord(TURNS.name, b"default/ana", bytes(size))


async def narrow(store: KafkaStore) -> None:
    """Let the topics take small records only, as an operator may while processes run."""
    for topic in (TURNS, JOURNAL):
        await set_topic(store, topic.name, max_message_bytes=str(SMALL_BYTES))


async def test_the_longest_texts_come_back(log: KafkaLog) -> None:
    """A record as large as the longest line, alone and among others, is read as it was."""
    large = turn(LINE_BYTES_MAX)
    await log.append([large])
    await log.append([turn(1), large, turn(2)])
    found = await log.read(TURNS.name, 0, 0, limit=10)
    assert [len(one or b"") for one in values(found)] == [LINE_BYTES_MAX, 1, LINE_BYTES_MAX, 2]


async def test_what_a_topic_doesnt_take_is_rejected_alone(log: KafkaLog, store: KafkaStore) -> None:
    """The sentence names the topic's setting, nothing of the call is there, and others go on."""
    await narrow(store)
    for records in ([turn(2 * SMALL_BYTES)], [turn(1), turn(2 * SMALL_BYTES)]):
        with pytest.raises(Rejected, match=r"max\.message\.bytes"):
            await log.append(records)
        await log.append([turn(10)])
        await log.append([turn(11), turn(12)])
    found = await log.read(TURNS.name, 0, 0, limit=20)
    assert [len(one or b"") for one in values(found)] == [10, 11, 12] * 2


async def test_a_writer_whose_record_is_too_large_ends(log: KafkaLog, store: KafkaStore) -> None:
    """It is told why, nothing of the call is there, and the partition can be opened again."""
    await narrow(store)
    small = NewRecord(JOURNAL.name, b"1", b"small")
    async with log.fenced(0) as writer:
        await writer.append([small])
        with pytest.raises(Rejected, match=r"max\.message\.bytes"):
            await writer.append([small, NewRecord(JOURNAL.name, b"2", bytes(2 * SMALL_BYTES))])
        with pytest.raises(Fenced):
            await writer.append([small])
    async with log.fenced(0) as writer:
        await writer.append([small])
        assert values(await writer.read(JOURNAL.name, 0, 0, limit=20)) == [b"small"] * 2
