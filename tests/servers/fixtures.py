"""Fixtures of servers: one of each kind for a test session, and one of a test's own to kill.

A server starts when the first test asks for it. Where the environment names a server
(EUNOE_TEST_KAFKA, EUNOE_TEST_TIKV, EUNOE_TEST_INFLUXDB with _TOKEN and _ORG), the session uses that
one, and tests keep apart by topics, keys and buckets of their own. Where a server isn't built, its
tests are skipped with the command that builds it; in CI they fail with it.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.servers import influxd, kafka, minitikv
from tests.servers.binaries import MissingServer
from tests.servers.influxd import Influxd
from tests.servers.kafka import Kafka
from tests.servers.minitikv import MiniTikv
from tests.support.places import memory_folder

__all__ = [
    "Influxdb",
    "give_influxdb",
    "give_kafka",
    "give_own_influxd",
    "give_own_kafka",
    "give_own_tikv",
    "give_tikv",
    "give_up",
    "server_folder",
]


@dataclass(frozen=True, slots=True)
class Influxdb:
    """Where InfluxDB is, and what opens it.

    Args:
        url: Its address.
        token: Opens everything.
        org: The organisation that tests write for.
    """

    url: str
    token: str = field(repr=False)
    org: str


@pytest.fixture(scope="session", name="kafka_address")
def give_kafka() -> Iterator[str]:
    """Give the address of a broker that the whole session uses."""
    if given := os.environ.get("EUNOE_TEST_KAFKA"):
        yield given
        return
    with server_folder("kafka") as folder, kafka.running(folder) as server:
        yield server.address


@pytest.fixture(scope="session", name="tikv_address")
def give_tikv() -> Iterator[str]:
    """Give the address of a placement driver that the whole session uses."""
    if given := os.environ.get("EUNOE_TEST_TIKV"):
        yield given
        return
    with server_folder("tikv") as folder, minitikv.running(folder) as server:
        yield server.address


@pytest.fixture(scope="session", name="influxdb_server")
def give_influxdb() -> Iterator[Influxdb]:
    """Give an InfluxDB that the whole session uses."""
    if given := os.environ.get("EUNOE_TEST_INFLUXDB"):
        token = os.environ.get("EUNOE_TEST_INFLUXDB_TOKEN", "")
        yield Influxdb(given, token, os.environ.get("EUNOE_TEST_INFLUXDB_ORG", "eunoe"))
        return
    with server_folder("influxdb") as folder, influxd.running(folder) as server:
        yield Influxdb(server.url, server.token, server.org)


@pytest.fixture(name="own_kafka")
def give_own_kafka() -> Iterator[Kafka]:
    """Give a broker of the test's own, to kill or to pause."""
    with server_folder("kafka") as folder, kafka.running(folder) as server:
        yield server


@pytest.fixture(name="own_tikv")
def give_own_tikv() -> Iterator[MiniTikv]:
    """Give a store of the test's own, to kill, to pause or to command."""
    with server_folder("tikv") as folder, minitikv.running(folder) as server:
        yield server


@pytest.fixture(name="own_influxd")
def give_own_influxd() -> Iterator[Influxd]:
    """Give an InfluxDB of the test's own, to kill or to pause."""
    with server_folder("influxdb") as folder, influxd.running(folder) as server:
        yield server


@contextmanager
def server_folder(name: str) -> Iterator[Path]:
    """Give a folder for a server's data; what isn't built is given up with a sentence."""
    # In memory where there is room: servers are killed in tests, but no power is lost.
    with tempfile.TemporaryDirectory(prefix=f"eunoe-{name}-", dir=memory_folder()) as folder:
        try:
            yield Path(folder)
        except MissingServer as missing:
            give_up(str(missing))


def give_up(sentence: str) -> None:
    """Skip a test whose server isn't built; in CI fail it."""
    if os.environ.get("CI", "").lower() in {"", "0", "false"}:
        pytest.skip(sentence)
    pytest.fail(sentence, pytrace=False)
