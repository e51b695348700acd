"""Apache Kafka 4.1.1 for tests: one process that is broker and controller (KRaft)."""

import shutil
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.servers import binaries
from tests.servers.ports import Port
from tests.servers.process import Server

__all__ = ["CLASSES", "Kafka", "running"]

JAVA: Final = (
    "java",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
)
HEAP: Final = ("-Xms128m", "-Xmx512m")
CLASSES: Final = "classes.jsa"
"""The broker's classes as the virtual machine has them in memory: it starts in half the time."""
ANSWER_S_MAX: Final = 1.0

PROPERTIES: Final[Mapping[str, str]] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    # There is one broker, so there is one copy of everything.
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    # A topic that nobody made is a mistake that tests shall see.
    "auto.create.topics.enable": "false",
    # A group forms at once, and misses a dead member after a second where it wants to.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    # Compaction, retention and deletion as soon as the topics' own settings allow them.
    "log.cleaner.backoff.ms": "200",
    "log.cleaner.dedupe.buffer.size": "16777216",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
    "log.segment.delete.delay.ms": "200",
    # A broker that was killed and comes back is let in when its old session is over.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # Few threads: machines that run tests are small.
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "4",
    "num.recovery.threads.per.data.dir": "1",
}
"""What every broker of a test is started with, unless the test says otherwise."""


class Kafka(Server):
    """One broker.

    Args:
        folder: Of its data, configuration and log.
        properties: Of the broker, over `PROPERTIES`.
        user: Where given, clients have to log in (SASL_PLAINTEXT, PLAIN) with this name
        password: and this password.
    """

    name = "kafka"
    start_s_max = 90.0  # four seconds where nothing else runs, thirty on a machine under load

    def __init__(
        self,
        folder: Path,
        properties: Mapping[str, str] | None = None,
        user: str | None = None,
        password: str = "secret",  # noqa: S107 - of a server that lives as long as a test
    ) -> None:
        self._files = binaries.built(binaries.kafka())
        super().__init__(folder)
        self._controller = Port()
        login = {} if user is None else _login(user, password)
        self._properties = {**PROPERTIES, **self._places(user is not None), **login}
        self._properties |= properties or {}

    def _places(self, has_login: bool) -> dict[str, str]:  # noqa: FBT001 - private, one caller
        protocol = "SASL_PLAINTEXT" if has_login else "PLAINTEXT"
        own, controller = f"{protocol}://{self.address}", f"127.0.0.1:{self._controller.number}"
        return {
            "log.dirs": str(self.folder / "data"),
            "listeners": f"{own},CONTROLLER://{controller}",
            "advertised.listeners": own,
            "controller.quorum.voters": f"1@{controller}",
            "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,{protocol}:{protocol}",
            "inter.broker.listener.name": protocol,
        }

    def close(self) -> None:
        """Kill it, and give its ports back."""
        super().close()
        self._controller.release()

    def _command(self) -> list[str]:
        configuration = self.folder / "server.properties"
        lines = [f"{key}={value}\n" for key, value in self._properties.items()]
        configuration.write_text("".join(lines), encoding="utf-8")
        if not (data := self.folder / "data").exists():
            shutil.copytree(self._files / "formatted", data)
        java = [*JAVA, *HEAP]
        if (classes := self._files / CLASSES).exists():
            java.append(f"-XX:SharedArchiveFile={classes}")
        return [*java, "-cp", f"{self._files / 'libs'}/*", "kafka.Kafka", str(configuration)]

    def _answers(self) -> bool:
        # It opens its listener when it has joined its own cluster. ApiVersions is what every
        # client asks first, before it logs in: key 18, version 0, correlation 1, no client's name.
        request = struct.pack(">hhih", 18, 0, 1, -1)
        try:
            with socket.create_connection(("127.0.0.1", self.port), ANSWER_S_MAX) as asked:
                asked.sendall(struct.pack(">i", len(request)) + request)
                return len(asked.recv(4)) == 4  # the length of its answer
        except OSError:
            return False


def _login(user: str, password: str) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    known = f'username="{user}" password="{password}" user_{user}="{password}"'
    return {
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{module} {known};",
    }


@contextmanager
def running(
    folder: Path,
    *,
    properties: Mapping[str, str] | None = None,
    user: str | None = None,
    password: str = "secret",  # noqa: S107 - of a server that lives as long as a test
) -> Iterator[Kafka]:
    """Run a broker on a folder, and end it whatever happens.

    Args:
        folder: As in `Kafka`.
        properties: As in `Kafka`.
        user: As in `Kafka`.
        password: As in `Kafka`.

    Yields:
        The broker, which answers.

    Raises:
        MissingServer: It isn't built.
        ServerFailed: It doesn't start; the sentence holds the end of its log.
    """
    with Kafka(folder, properties, user, password).session() as server:
        yield server
