"""Where the servers that tests need lie once `make servers` has built them.

Each lies in a folder of its own under the user's cache, named for its version (or for its sources
and recipe, where they are ours), so that one build serves every checkout.
"""

import hashlib
import os
from pathlib import Path
from typing import Final

__all__ = [
    "HERE",
    "INFLUXD_VERSION",
    "MissingServer",
    "built",
    "cache",
    "influxd",
    "kafka",
    "minitikv",
]

HERE: Final = Path(__file__).resolve().parent
INFLUXD_VERSION: Final = "2.7.12"
KAFKA_VERSION: Final = "4.1.1"  # a test holds that kafka/pom.xml says the same


class MissingServer(RuntimeError):
    """A server hasn't been built; the sentence says how to build it."""


def cache() -> Path:
    """Return the folder that holds every built server; it need not exist."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "eunoe-servers"


def kafka() -> Path:
    """Return the folder for the broker: its jars in `libs`, an empty data folder in `formatted`."""
    recipe = _digest(HERE / "kafka" / "format.properties", HERE / "kafka" / "pom.xml")
    return cache() / f"kafka-{KAFKA_VERSION}-{recipe}"


def influxd() -> Path:
    """Return the folder for the InfluxDB server; the program is `influxd` in it."""
    return cache() / f"influxd-{INFLUXD_VERSION}"


def minitikv() -> Path:
    """Return the folder for the stand-in for TiKV; the program is `minitikv` in it."""
    sources = HERE / "minitikv"
    files = sorted(file for file in sources.iterdir() if file.suffix in {".go", ".mod", ".sum"})
    return cache() / f"minitikv-{_digest(*files)}"


def built(folder: Path) -> Path:
    """Return a folder of these, if its server has been built.

    Raises:
        MissingServer: It hasn't.
    """
    if not folder.is_dir():
        name = folder.name.partition("-")[0]
        message = f"{name} isn't built: run make servers ({folder} would hold it)."
        raise MissingServer(message)
    return folder


def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]
