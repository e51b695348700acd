"""Each server for tests starts, does its work, keeps its data when it's killed, and ends."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from aiokafka import (  # type: ignore[import-untyped]  # it ships no types
    AIOKafkaConsumer,
    AIOKafkaProducer,
)
from aiokafka.admin import (  # type: ignore[import-untyped]  # likewise
    AIOKafkaAdminClient,
    NewTopic,
)
from influxdb_client.client.influxdb_client_async import InfluxDBClientAsync

from tests.servers import kafka, minitikv
from tests.servers.fixtures import Influxdb
from tests.servers.influxd import Influxd
from tests.servers.kafka import Kafka
from tests.servers.looking import ROOT, TEXTS, WAIT_S, holds, is_alive, until
from tests.servers.process import ServerFailed

pytestmark = pytest.mark.server


async def make_topic(address: str, name: str, settings: dict[str, str] | None = None) -> None:
    """Make a topic of one partition."""
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, 1, 1, topic_configs=settings)])
    finally:
        await admin.close()


async def produce(address: str, topic: str, *records: tuple[bytes, bytes | None]) -> None:
    """Append records, each awaited."""
    producer = AIOKafkaProducer(bootstrap_servers=address)
    await producer.start()
    try:
        for key, value in records:
            await producer.send_and_wait(topic, value, key)
    finally:
        await producer.stop()


async def consume(address: str, topic: str, count: int) -> list[bytes | None]:
    """Read the first values of a topic as a member of a group that misses its dead within 2 s."""
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=address,
        group_id=f"group-{topic}",
        auto_offset_reset="earliest",
        session_timeout_ms=2_000,
        heartbeat_interval_ms=500,
    )
    await consumer.start()
    try:
        async with asyncio.timeout(WAIT_S):
            return [(await consumer.getone()).value for _ in range(count)]
    finally:
        await consumer.stop()


# --- Kafka -------------------------------------------------------------------------------------


@pytest.fixture(scope="module", name="broker")
def give_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Give a broker to these tests: each leaves it running, as it found it."""
    with kafka.running(tmp_path_factory.mktemp("kafka")) as server:
        yield server


@TEXTS
async def test_a_broker_takes_and_gives(kafka_address: str, text: str) -> None:
    """What a producer sent, a consumer of a group reads."""
    topic = f"test-{uuid4()}"
    await make_topic(kafka_address, topic)
    await produce(kafka_address, topic, (b"k", text.encode()))
    assert await consume(kafka_address, topic, 1) == [text.encode()]


async def test_a_broker_keeps_its_records_when_killed(broker: Kafka) -> None:
    """After SIGKILL it starts on its folder and port, and what was acknowledged is there."""
    await make_topic(broker.address, "kept")
    await produce(broker.address, "kept", (b"k", b"before"))
    address = broker.address
    broker.kill()
    assert not broker.is_running
    broker.start()
    assert broker.address == address
    await produce(address, "kept", (b"k", b"after"))
    assert await consume(address, "kept", 2) == [b"before", b"after"]


async def test_a_broker_stops_when_asked(broker: Kafka) -> None:
    """It shuts down in order, and starts again with its records."""
    await make_topic(broker.address, "stopped")
    await produce(broker.address, "stopped", (b"k", b"v"))
    broker.stop()
    assert not broker.is_running
    broker.start()
    assert await consume(broker.address, "stopped", 1) == [b"v"]


async def test_a_paused_broker_answers_later(broker: Kafka) -> None:
    """While it's paused nothing is acknowledged; when it goes on, what was sent is."""
    await make_topic(broker.address, "paused")
    producer = AIOKafkaProducer(bootstrap_servers=broker.address)
    await producer.start()
    try:
        await producer.send_and_wait("paused", b"before")
        broker.pause()
        sent = await producer.send("paused", b"v")
        done, _ = await asyncio.wait([sent], timeout=1)
        assert not done
        broker.resume()
        async with asyncio.timeout(WAIT_S):
            await sent
    finally:
        broker.resume()
        await producer.stop()


@TEXTS
async def test_a_broker_compacts_soon(broker: Kafka, text: str) -> None:
    """A tombstoned text is gone from the files once a record came after it."""
    settings = {
        "cleanup.policy": "compact",
        "segment.ms": "500",
        "max.compaction.lag.ms": "500",
        "delete.retention.ms": "0",
    }
    topic = f"compacted-{uuid4()}"
    await make_topic(broker.address, topic, settings)
    await produce(broker.address, topic, (b"k", text.encode()), (b"k", None))
    data = broker.folder / "data"
    assert holds(data, text)
    await asyncio.sleep(1)  # older than the segment may be
    await produce(broker.address, topic, (b"tick", b""))
    await until(lambda: not holds(data, text))


async def test_a_broker_can_ask_for_a_password(tmp_path: Path) -> None:
    """With a user, it lets in who knows the password and nobody else."""
    with kafka.running(tmp_path, user="eunoe", password="right") as server:  # noqa: S106 - a test's

        def producer(password: str) -> AIOKafkaProducer:
            return AIOKafkaProducer(
                bootstrap_servers=server.address,
                security_protocol="SASL_PLAINTEXT",
                sasl_mechanism="PLAIN",
                sasl_plain_username="eunoe",
                sasl_plain_password=password,
            )

        known = producer("right")
        await known.start()
        await known.stop()
        stranger = producer("wrong")
        with pytest.raises(Exception, match=r"SaslAuthentication|Unable to bootstrap"):
            await stranger.start()
        await stranger.stop()


def test_a_broker_that_cannot_start_says_why(tmp_path: Path) -> None:
    """The error holds the end of its log, and no process is left."""
    server = Kafka(tmp_path, {"process.roles": "nonsense"})
    with pytest.raises(ServerFailed, match=r"(?s)ended with code 1.*nonsense"):
        server.start()
    assert not server.is_running
    server.close()


# --- InfluxDB ----------------------------------------------------------------------------------


async def points(server: Influxdb | Influxd, bucket: str) -> list[float]:
    """Return all values of a bucket."""
    query = f'from(bucket: "{bucket}") |> range(start: 0) |> sort(columns: ["_time"])'
    async with InfluxDBClientAsync(server.url, server.token, server.org) as client:
        tables = await client.query_api().query(query)
        return [record.values["_value"] for table in tables for record in table.records]


async def write(server: Influxdb | Influxd, bucket: str, value: float) -> None:
    """Write one point."""
    async with InfluxDBClientAsync(server.url, server.token, server.org) as client:
        await client.write_api().write(bucket, record=f"test value={value}")


async def test_influxdb_takes_and_gives(influxdb_server: Influxdb) -> None:
    """What was written to the installation's bucket, a query reads."""
    bucket = "eunoe"
    before = len(await points(influxdb_server, bucket))
    await write(influxdb_server, bucket, 1.5)
    assert len(await points(influxdb_server, bucket)) == before + 1


async def test_influxdb_keeps_its_points_when_killed(own_influxd: Influxd) -> None:
    """After SIGKILL it starts on its folder and port, and what was acknowledged is there."""
    await write(own_influxd, own_influxd.bucket, 1.5)
    own_influxd.kill()
    own_influxd.start()
    assert await points(own_influxd, own_influxd.bucket) == [1.5]


# --- The end -----------------------------------------------------------------------------------


def test_no_server_outlives_a_failed_test(tmp_path: Path) -> None:
    """Whatever is raised while a server runs, its process has gone after it."""
    pids: list[int] = []

    def fail() -> None:
        with minitikv.running(tmp_path) as server:
            pids.append(server.process.pid)
            server.pause()
            message = "a test failed"
            raise KeyError(message)

    with pytest.raises(KeyError):
        fail()
    assert [is_alive(pid) for pid in pids] == [False]


STARTS_ONE = """
import sys, time
from pathlib import Path
from tests.servers import {module}
with {module}.running(Path(sys.argv[1])) as server:
    print(server.process.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("module", ["influxd", "minitikv"])
async def test_no_server_outlives_a_killed_run(tmp_path: Path, module: str) -> None:
    """When the process of the tests is killed, the kernel ends its servers."""
    with subprocess.Popen(  # noqa: S603, ASYNC220 - our own interpreter; nothing else runs here
        [sys.executable, "-c", STARTS_ONE.format(module=module), str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        try:
            assert run.stdout is not None
            pid = int(run.stdout.readline())
            assert is_alive(pid)
        finally:
            run.kill()
    await until(lambda: not is_alive(pid))


def test_an_interrupt_ends_the_servers(tmp_path: Path) -> None:
    """Control-C in the run of the tests ends the server through its context."""
    run = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", STARTS_ONE.format(module="minitikv"), str(tmp_path)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        run.send_signal(signal.SIGINT)
        run.wait(WAIT_S)
    assert not is_alive(pid)
