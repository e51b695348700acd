"""What docker-compose.yml says, read in two ways: by rules of our own, and by Docker's client.

The client is asked where `docker compose` is installed; it needs no engine for that. The reader of
our own knows as much of the format as the file uses: merge keys, profiles, `${NAME:-default}` and
`${NAME:?sentence}`.
"""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml  # type: ignore[import-untyped]  # it ships no types

__all__ = [
    "EXAMPLE",
    "PROFILES",
    "ROOT",
    "Refused",
    "example",
    "limits",
    "published",
    "readers",
    "secrets",
    "services",
    "volumes",
]

ROOT: Final = Path(__file__).resolve().parents[2]
COMPOSE: Final = ROOT / "docker-compose.yml"
EXAMPLE: Final = ROOT / ".env.example"
PROFILES: Final = ("infra", "all", "split")
VARIABLE: Final = re.compile(r"\$(?:\$|\{(\w+)(?::([-?])([^}]*))?\})")
UNITS: Final = {"k": 2**10, "m": 2**20, "g": 2**30}

Service = dict[str, Any]


class Refused(Exception):
    """The file can't be used with these variables; the text is the reason."""


def readers() -> list[str]:
    """Return the ways in which the file can be read here."""
    return ["ours", "client"] if _client() else ["ours"]


def example() -> dict[str, str]:
    """Return the variables of .env.example."""
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def secrets() -> dict[str, str]:
    """Return the variables of .env.example, those that are empty there filled in."""
    key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    return {name: value or key for name, value in example().items()}


def services(reader: str, profile: str, variables: Mapping[str, str]) -> dict[str, Service]:
    """Return the services of a profile.

    Args:
        reader: One of `readers`.
        profile: Its name.
        variables: What .env would say.

    Raises:
        Refused: A variable that is needed isn't there.
    """
    if reader == "client":
        return _by_client(profile, variables)["services"]  # type: ignore[no-any-return]  # JSON
    whole = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    return {
        name: _filled(one, variables)
        for name, one in whole["services"].items()
        if profile in one["profiles"]
    }


def volumes(reader: str, profile: str, variables: Mapping[str, str]) -> set[str]:
    """Return the names of the volumes that the file declares."""
    if reader == "client":
        return set(_by_client(profile, variables)["volumes"])
    return set(yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["volumes"])


def limits(service: Service) -> tuple[float, float]:
    """Return how many cores and bytes a service may take."""
    found = service["deploy"]["resources"]["limits"]
    memory = str(found["memory"])
    unit = UNITS.get(memory[-1].lower())
    return float(found["cpus"]), float(memory[:-1]) * unit if unit else float(memory)


def published(service: Service) -> list[tuple[str, int]]:
    """Return the addresses on which a service's ports are published, and the ports."""
    ports = []
    for one in service.get("ports") or []:
        if isinstance(one, str):
            host, _, rest = one.rpartition(":")[0].rpartition(":")
            ports.append((host, int(rest)))
        else:
            ports.append((one.get("host_ip", ""), int(one["published"])))
    return ports


@cache
def _client() -> str | None:
    docker = shutil.which("docker")
    if docker is None:
        return None
    answered = subprocess.run(  # noqa: S603 - Docker's own client
        [docker, "compose", "version"], capture_output=True, check=False
    )
    return docker if answered.returncode == 0 else None


def _by_client(profile: str, variables: Mapping[str, str]) -> Any:
    docker = _client()
    assert docker is not None
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".env") as file:
        file.writelines(f"{name}={value}\n" for name, value in variables.items())
        file.flush()
        start = [docker, "compose", "--file", str(COMPOSE), "--env-file", file.name]
        answered = subprocess.run(  # noqa: S603 - Docker's own client
            [*start, "--profile", profile, "config", "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": str(Path(docker).parent), "HOME": str(Path.home())},
        )
    if answered.returncode:
        raise Refused(answered.stderr)
    return json.loads(answered.stdout)


def _filled(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(one, variables) for name, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, variables) for one in value]
    if isinstance(value, str):
        return VARIABLE.sub(lambda found: _value(found, variables), value)
    return value


def _value(found: "re.Match[str]", variables: Mapping[str, str]) -> str:
    name, kind, rest = found.groups()
    if name is None:
        return "$"
    value = variables.get(name, "")
    if value or kind is None:
        return value
    if kind == "?":
        message = f"required variable {name} is missing a value: {rest}"
        raise Refused(message)
    return str(rest)
