"""docker-compose.yml, .env.example and the settings fit each other, and what runs is confined."""

import re
from typing import Final

import pytest

from eunoe.infra.cluster_settings import VARIABLES
from eunoe.infra.settings import Settings
from tests.support.composing import (
    EXAMPLE,
    PROFILES,
    ROOT,
    Refused,
    example,
    limits,
    published,
    readers,
    secrets,
    services,
    volumes,
)

OURS: Final = ("topics", "worker", "writer", "experience")
ONE_SHOT: Final = frozenset(("topics",))
LOOPBACK: Final = "127.0.0.1"
NEEDED: Final = {VARIABLES[name] for name in ("kafka", "tikv", "qdrant", "influxdb")} | {
    "EUNOE_MASTER_KEY",
    VARIABLES["qdrant_key"],
    VARIABLES["influxdb_token"],
    VARIABLES["connections_max"],
    VARIABLES["write_window_s"],
    VARIABLES["cache_expiry_s"],
    VARIABLES["metrics_port"],
}

pytestmark = [
    pytest.mark.parametrize("reader", readers()),
    pytest.mark.parametrize("profile", PROFILES),
]


def known() -> set[str]:
    """Return every variable that Eunoe reads."""
    source = (ROOT / "infra" / "settings.py").read_text(encoding="utf-8")
    return set(VARIABLES.values()) | set(re.findall(r"EUNOE_[A-Z_]+[A-Z]", source))


def test_every_variable_is_one_that_eunoe_reads(reader: str, profile: str) -> None:
    """No container gets a variable that nobody knows, and none lacks one that it needs."""
    for name, service in services(reader, profile, secrets()).items():
        given = {one for one in service.get("environment") or {} if one.startswith("EUNOE_")}
        assert given <= known(), name
        if name in OURS:
            assert given >= NEEDED, name
        else:
            assert not given, name
    assert {one for one in example() if one.startswith("EUNOE_")} <= known()
    named = re.findall(r"EUNOE_\w+", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert set(named) <= known()


def test_what_a_container_gets_is_taken(
    reader: str, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment of each of our containers makes settings of a cluster."""
    for name, service in services(reader, profile, secrets()).items():
        if name not in OURS:
            continue
        for variable in known():
            monkeypatch.delenv(variable, raising=False)
        for variable, value in service["environment"].items():
            monkeypatch.setenv(variable, str(value))
        cluster = Settings.from_env().cluster
        assert cluster is not None
        assert cluster.kafka == ("kafka:9092",)
        assert cluster.tikv == ("pd:2379",)
        assert (cluster.qdrant, cluster.influxdb) == ("http://qdrant:6333", "http://influxdb:8086")
        assert cluster.replication == 1


def test_the_example_names_what_is_asked_for(reader: str, profile: str) -> None:
    """Each variable of docker-compose.yml stands in .env.example under its sentence, none else."""
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"\$\{(\w+)", text)) == set(example())
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    for name in example():
        at = next(at for at, line in enumerate(lines) if line.startswith(f"{name}="))
        assert lines[at - 1].startswith("# "), name
    assert services(reader, profile, secrets())


def test_no_secret_has_a_default(reader: str, profile: str) -> None:
    """What opens something is refused with a sentence while it is empty, by every profile."""
    empty = [name for name, value in example().items() if not value]
    assert set(empty) == {
        "EUNOE_MASTER_KEY",
        "EUNOE_QDRANT_KEY",
        "EUNOE_INFLUXDB_TOKEN",
        "INFLUXDB_PASSWORD",
    }
    for name in empty:
        if profile == "infra" and name == "EUNOE_MASTER_KEY" and reader == "ours":
            continue  # the servers don't have it; Docker's client asks for it all the same
        with pytest.raises(Refused, match=rf"(?s){name}.*as .env.example says"):
            services(reader, profile, secrets() | {name: ""})


def test_images_are_pinned(reader: str, profile: str) -> None:
    """No image is whatever is newest today."""
    for name, service in services(reader, profile, secrets()).items():
        image, _, tag = service["image"].rpartition(":")
        assert image, name
        assert re.fullmatch(r"v?\d+\.\d+\.\d+", tag), name


def test_ports_are_published_on_loopback(reader: str, profile: str) -> None:
    """Nobody but this machine reaches a server."""
    for name, service in services(reader, profile, secrets()).items():
        assert {host for host, _ in published(service)} <= {LOOPBACK}, name
        assert service.get("network_mode") is None, name


def test_what_runs_for_long_is_watched_and_comes_back(reader: str, profile: str) -> None:
    """Each has a health check, limits, and a restart policy; what ends by itself has no policy."""
    for name, service in services(reader, profile, secrets()).items():
        cores, memory = limits(service)
        assert cores > 0, name
        assert memory > 0, name
        if name in ONE_SHOT:
            assert service["restart"] == "no"
            continue
        assert service["restart"] == "unless-stopped", name
        assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name


def test_data_lies_in_named_volumes(reader: str, profile: str) -> None:
    """Each server's data has a name; nothing of ours has any."""
    declared, used = volumes(reader, profile, secrets()), set[str]()
    for name, service in services(reader, profile, secrets()).items():
        for one in service.get("volumes") or []:
            source = one.split(":")[0] if isinstance(one, str) else one["source"]
            assert name not in OURS
            if not source.startswith(("./", "/")):
                used.add(source)
    assert used == {
        "kafka",
        "pd",
        "tikv",
        "qdrant",
        "qdrant-snapshots",
        "influxdb",
        "influxdb-config",
    }
    assert used <= declared


def test_our_containers_are_confined(reader: str, profile: str) -> None:
    """They aren't root, write nowhere but to a bounded /tmp, and have no capabilities."""
    for name, service in services(reader, profile, secrets()).items():
        assert service["security_opt"] == ["no-new-privileges:true"], name
        if name in OURS or name == "tikv-gc":
            assert service["user"] == "10001:10001", name
            assert service["read_only"] is True, name
            assert service["cap_drop"] == ["ALL"], name
            assert "size=" in service["tmpfs"][0], name


def test_everybody_waits_for_what_it_needs(reader: str, profile: str) -> None:
    """A worker starts once the topics are made and every server is well."""
    healthy, done = "service_healthy", "service_completed_successfully"
    expected = {
        "tikv": {"pd": healthy},
        "tikv-gc": {"tikv": healthy},
        "topics": {"kafka": healthy},
        "worker": {
            "topics": done,
            "kafka": healthy,
            "tikv": healthy,
            "qdrant": healthy,
            "influxdb": healthy,
        },
    }
    expected |= dict.fromkeys(("writer", "experience"), expected["worker"])
    for name, service in services(reader, profile, secrets()).items():
        waits = service.get("depends_on") or {}
        found = {other: one["condition"] for other, one in waits.items()}
        assert found == expected.get(name, {}), name
