"""What is used of Faust, and what it does that we guard against."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import faust
import mode
import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types
from aiokafka.admin import (  # type: ignore[import-untyped]  # likewise
    AIOKafkaAdminClient,
    NewTopic,
)

from eunoe.schemas.errors import Rejected
from eunoe.schemas.ports import LogRecord
from eunoe.streams.app import Broker, Group, Processor
from eunoe.streams.lanes import Processing

pytestmark = [pytest.mark.server, pytest.mark.timeout(120)]

PARTITIONS: Final = 2
WAIT_S: Final = 40.0
NAMES: Final = iter(range(1_000))


@pytest.fixture(name="topic")
async def make_topic(kafka_address: str) -> AsyncIterator[str]:
    """Make a topic of the test's own."""
    name = f"faust{next(NAMES)}-{id(object())}.turns"
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka_address)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, PARTITIONS, 1)])
        yield name
        await admin.delete_topics([name])
    finally:
        await admin.close()


@pytest.fixture(name="folder")
def make_folder() -> Iterator[str]:
    """Give Faust a folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield folder


async def publish(address: str, topic: str, values: Sequence[bytes], *, commits: bool) -> None:
    """Publish values to partition 0 in one transaction, which is committed or taken back."""
    producer = AIOKafkaProducer(bootstrap_servers=address, transactional_id=f"{topic}-{commits}")
    await producer.start()
    try:
        await producer.begin_transaction()
        for value in values:
            await producer.send_and_wait(topic, value, partition=0)
        if commits:
            await producer.commit_transaction()
        else:
            await producer.abort_transaction()
    finally:
        await producer.stop()


async def committed(address: str, group: str, topic: str) -> int | None:
    """Return what a group has committed of partition 0."""
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        found = await admin.list_consumer_group_offsets(group)
    finally:
        await admin.close()
    places = {(place.topic, place.partition): one.offset for place, one in found.items()}
    offset = places.get((topic, 0))
    return None if offset is None else int(offset)


async def soon(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(WAIT_S):
        while not holds():  # noqa: ASYNC110 - Faust tells nobody
            await asyncio.sleep(0.05)


async def test_what_a_transaction_took_back_reaches_no_lane(
    kafka_address: str, topic: str, folder: str
) -> None:
    """Faust reads uncommitted records by itself; our consumer of it doesn't."""
    await publish(kafka_address, topic, [b"kept 1"], commits=True)
    await publish(kafka_address, topic, [b"taken back"], commits=False)
    await publish(kafka_address, topic, [b"kept 2"], commits=True)
    handled: list[bytes | None] = []

    @asynccontextmanager
    async def open_lane(partition: int) -> AsyncIterator[Processing]:
        del partition

        async def handle(records: Sequence[LogRecord]) -> list[Rejected | None]:
            handled.extend(one.value for one in records)
            return [None] * len(records)

        async def bury(record: LogRecord, reason: Rejected, attempts: int) -> None:
            raise AssertionError((record, reason, attempts))

        yield Processing(handle, bury)

    broker = Broker([kafka_address], str, str, "e", folder, 6.0)
    group = Group(broker, Processor("reader", f"{topic}-reader", [topic], open_lane), _nothing)
    await group.start()
    try:
        await soon(lambda: len(handled) >= 2)
    finally:
        await group.stop()
    assert handled == [b"kept 1", b"kept 2"]


async def test_faust_commits_past_what_is_not_acknowledged(
    kafka_address: str, topic: str, folder: str
) -> None:
    """That is why a lane acknowledges in order. Where this fails, upstream has mended #606."""
    await publish(kafka_address, topic, [b"%d" % number for number in range(10)], commits=True)
    held: list[Any] = []
    app = faust.App(
        f"{topic}-raw",
        broker=f"kafka://{kafka_address}",
        datadir=folder,
        autodiscover=False,
        agent_supervisor=mode.CrashingSupervisor,
        broker_commit_interval=0.2,
        consumer_auto_offset_reset="earliest",
        stream_wait_empty=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
    )

    async def agent(stream: Any) -> None:
        async for event in stream.noack().events():
            held.append(event)  # noqa: PERF401 - each as it comes: the stream never ends

    channel = app.topic(topic, key_serializer="raw", value_serializer="raw")
    app.agent(channel, name="raw", concurrency=1)(agent)
    await app.start()
    try:
        await soon(lambda: len(held) == 10)
        held[5].ack()  # 0 to 4 are in flight
        found: list[int | None] = [None]
        async with asyncio.timeout(WAIT_S):
            while found[-1] is None:
                await asyncio.sleep(0.3)
                found.append(await committed(kafka_address, f"{topic}-raw", topic))
    finally:
        await app.stop()
    assert found[-1] == 6


def _nothing(partition: int, records: Sequence[LogRecord]) -> None:
    del partition, records
