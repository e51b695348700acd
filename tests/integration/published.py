"""What lies on a topic, read back."""

from eunoe.infra.placement import partition_of
from eunoe.schemas.cloudevents import decode
from eunoe.schemas.events import Envelope
from eunoe.schemas.ports import LogRecord
from tests.integration.kafka_store import KafkaStore

__all__ = ["decoded", "read_all"]


async def read_all(store: KafkaStore, topic: str) -> list[LogRecord]:
    """Return all records of a topic."""
    found: list[LogRecord] = []
    async with store.open() as log:
        for partition in range(log.partitions):
            offset, end = await log.bounds(topic, partition)
            while offset < end:
                records = await log.read(topic, partition, offset, limit=1_000)
                found += records
                offset = records[-1].position.offset + 1 if records else end
    return found


def decoded(record: LogRecord, partitions: int) -> Envelope:
    """Return the event of a record, which has its owner's key and lies in that key's partition."""
    event = decode(record.headers, record.value)
    assert record.key == event.owner.encode()
    assert record.position.partition == partition_of(record.key, partitions)
    return event
