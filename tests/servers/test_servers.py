"""Each server for tests starts, does its work, keeps its data when it's killed, and ends."""

import asyncio
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
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
from tikv_client.asynchronous import (  # type: ignore[import-untyped]  # likewise
    TransactionClient,
)

from tests.servers import kafka, minitikv
from tests.servers.fixtures import Influxdb
from tests.servers.influxd import Influxd
from tests.servers.kafka import Kafka
from tests.servers.minitikv import MiniTikv
from tests.servers.process import ServerFailed

pytestmark = pytest.mark.server

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 40.0
TEXTS = pytest.mark.parametrize(
    "text", ["qzjxkvwphgmbfycdlunr", "春江潮水连海平月共生滟随波千里何处无"], ids=["en", "zh"]
)
"""Texts that no compression shortens, so that a search of files finds them where they are."""


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


async def put(address: str, **pairs: str | None) -> None:
    """Put or delete keys in one transaction."""
    client = await TransactionClient.connect([address])
    transaction = await client.begin(pessimistic=False)
    try:
        for key, value in pairs.items():
            if value is None:
                await transaction.delete(key.encode())
            else:
                await transaction.put(key.encode(), value.encode())
        await transaction.commit()
    except BaseException:
        await transaction.rollback()
        raise


async def get(address: str, key: str) -> str | None:
    """Read a key in a transaction of its own."""
    client = await TransactionClient.connect([address])
    transaction = await client.begin(pessimistic=False)
    try:
        value = await transaction.get(key.encode())
    finally:
        await transaction.rollback()
    return None if value is None else value.decode()


def holds(folder: Path, text: str) -> bool:
    """Tell whether a file under a folder holds a text."""
    wanted = text.encode()
    return any(wanted in file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110 - files and processes send no events
            await asyncio.sleep(0.1)


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits to be reaped doesn't."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


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


# --- TiKV --------------------------------------------------------------------------------------


@TEXTS
async def test_a_store_takes_and_gives(tikv_address: str, text: str) -> None:
    """What a transaction put, the next one reads."""
    key = f"test-{uuid4()}"
    await put(tikv_address, **{key: text})
    assert await get(tikv_address, key) == text


async def test_a_store_keeps_its_pairs_when_killed(own_tikv: MiniTikv) -> None:
    """After SIGKILL it starts on its folder and port, and what was committed is there."""
    await put(own_tikv.address, kept="value")
    address = own_tikv.address
    own_tikv.kill()
    own_tikv.start()
    assert own_tikv.address == address
    assert await get(address, "kept") == "value"


@TEXTS
async def test_garbage_is_gone_from_the_files(own_tikv: MiniTikv, text: str) -> None:
    """What was overwritten or deleted lies in the files until `gc`, and not after it."""
    overwritten, deleted = text[:9], text[9:]
    await put(own_tikv.address, overwritten=overwritten, deleted=deleted, kept="kept")
    await put(own_tikv.address, overwritten="new", deleted=None)
    for _ in range(2):  # they lie in the log, and after a start in a table
        assert holds(own_tikv.data, overwritten)
        assert holds(own_tikv.data, deleted)
        own_tikv.kill()
        own_tikv.start()
    own_tikv.command("gc")
    assert not holds(own_tikv.data, overwritten)
    assert not holds(own_tikv.data, deleted)
    for _ in range(2):
        values = [await get(own_tikv.address, key) for key in ("overwritten", "deleted", "kept")]
        assert values == ["new", None, "kept"]
        own_tikv.kill()
        own_tikv.start()


async def test_garbage_waits_for_a_live_transaction(own_tikv: MiniTikv) -> None:
    """`gc` refuses while a transaction holds a lock, and obeys when it has ended."""
    await put(own_tikv.address, locked="value")
    client = await TransactionClient.connect([own_tikv.address])
    transaction = await client.begin(pessimistic=True)
    await transaction.get_for_update(b"locked")
    with pytest.raises(ServerFailed, match="holds 1 locks"):
        own_tikv.command("gc")
    await transaction.rollback()
    own_tikv.command("gc")
    assert await get(own_tikv.address, "locked") == "value"


async def test_a_collection_that_was_cut_short_loses_nothing(own_tikv: MiniTikv) -> None:
    """Killed between the two renames, it finds its data in the old folder."""
    await put(own_tikv.address, kept="value")
    own_tikv.kill()
    own_tikv.data.joinpath("txn").rename(own_tikv.data / "txn.old")
    own_tikv.data.joinpath("txn.new").mkdir()
    own_tikv.start()
    assert await get(own_tikv.address, "kept") == "value"
    assert {folder.name for folder in own_tikv.data.glob("txn*")} == {"txn"}


async def test_conflicts_can_be_ordered(own_tikv: MiniTikv) -> None:
    """While they last each commit is a write conflict; when they end it's a commit."""
    own_tikv.command("conflicts 60")
    for _ in range(2):
        with pytest.raises(Exception, match=r"conflict: Some\(WriteConflict \{"):
            await put(own_tikv.address, key="value")
    own_tikv.command("conflicts 0")
    await put(own_tikv.address, key="value")
    assert await get(own_tikv.address, "key") == "value"


async def test_a_pause_can_be_ordered(own_tikv: MiniTikv) -> None:
    """While it lasts nothing is answered; when it ends everything is."""
    await put(own_tikv.address, key="value")
    own_tikv.command("pause 60")
    asked = asyncio.ensure_future(get(own_tikv.address, "key"))
    done, _ = await asyncio.wait([asked], timeout=0.5)
    assert not done
    own_tikv.command("pause 0")
    assert await asyncio.wait_for(asked, WAIT_S) == "value"


async def test_a_store_has_regions(own_tikv: MiniTikv) -> None:
    """A transaction may span regions, and a client finds keys after a split."""
    own_tikv.command("split 6d")
    await put(own_tikv.address, a="1", z="2")
    own_tikv.command("split 70")
    assert [await get(own_tikv.address, key) for key in "az"] == ["1", "2"]


def test_a_store_refuses_what_it_does_not_know(own_tikv: MiniTikv) -> None:
    """A command with a slip of the pen is an error, and not taken for done."""
    with pytest.raises(ServerFailed, match="gc, split HEXKEY"):
        own_tikv.command("collect")


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


LOADS_TIKV = """
import asyncio, os
from tikv_client.asynchronous import TransactionClient

async def commit():
    client = await TransactionClient.connect([os.environ["EUNOE_TEST_TIKV"]])
    for number in range(20):
        transaction = await client.begin(pessimistic=False)
        await transaction.put(b"leaving-%d" % number, b"value")
        await transaction.commit()

def test_it():
    '''It commits.'''
    asyncio.run(commit())
    assert os.environ["OUTCOME"] == "passed"
"""


@pytest.mark.parametrize("outcome", ["passed", "failed"])
@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_process_that_loaded_tikv_ends_well(
    tmp_path: Path, tikv_address: str, workers: str, outcome: str
) -> None:
    """Its exit code is pytest's, and both reports are whole; one in seven crashed without this."""
    tested = tmp_path / "test_it.py"
    tested.write_text(LOADS_TIKV, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    report = tmp_path / "report.xml"
    environment = os.environ | {
        "EUNOE_TEST_TIKV": tikv_address,
        "OUTCOME": outcome,
        "PYTHONPATH": str(ROOT),
    }
    plugins = ["-p", "tests.servers.leaving", "-p", "no:cacheprovider", "-n", workers]
    for _ in range(3):
        done = subprocess.run(  # noqa: S603 - our own interpreter, on a file written above
            [sys.executable, "-m", "pytest", *plugins, f"--junitxml={report}", str(tested)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert done.returncode == (0 if outcome == "passed" else 1), said
        assert f"= 1 {outcome} in " in done.stdout, said
        assert "Fatal" not in said
        suite: Any = ET.parse(report).getroot().find("testsuite")  # noqa: S314 - pytest wrote it
        assert (suite.get("tests"), suite.get("failures")) == ("1", str(done.returncode))
        report.unlink()


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
