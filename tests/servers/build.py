"""Build the servers that tests need: `make servers`, or `python -m tests.servers.build NAME …`.

What is built is kept in the user's cache (see `binaries`), so that a second run costs nothing. A
build happens in a folder beside its place and is renamed when it is whole: what has the name of a
server is a server. Two builds at the same time wait for each other.
"""

import base64
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.servers import binaries
from tests.servers.kafka import CLASSES, Kafka
from tests.servers.process import ServerFailed

__all__ = ["main"]

INFLUXD_MODULE: Final = "github.com/influxdata/influxdb/v2/cmd/influxd"
FLUX_MODULE: Final = "github.com/influxdata/flux"
FLUX_ENVIRONMENT: Final = {
    # The Rust part has its own toolchain file, for a compiler that isn't there.
    "RUSTUP_TOOLCHAIN": "stable",
    # Nobody debugs it, and arithmetic is checked by those who make it.
    "CARGO_INCREMENTAL": "0",
    "CARGO_PROFILE_DEV_DEBUG": "false",
    "CARGO_PROFILE_DEV_DEBUG_ASSERTIONS": "false",
    "CARGO_PROFILE_DEV_OVERFLOW_CHECKS": "false",
}
TOOLS: Final = {
    "java": "Java 17 or newer (on Debian: openjdk-17-jre-headless)",
    "mvn": "Maven (on Debian: maven)",
    "go": "Go 1.23 or newer",
    "cargo": "Rust with cargo",
    "gcc": "a C compiler (on Debian: gcc)",
    "pkg-config": "pkg-config (on Debian: pkg-config)",
}
CLUSTER_ID: Final = base64.urlsafe_b64encode(b"eunoe-test-kafka").decode().rstrip("=")
LOG_LINES: Final = 30


class BuildFailed(RuntimeError):
    """A server can't be built; the sentence says what is missing or what a tool said."""


def main(names: list[str]) -> int:
    """Build the servers that are named, or all; returns the exit code."""
    unknown = [name for name in names if name not in RECIPES]
    if unknown:
        print(f"There is no server {' or '.join(unknown)}: {', '.join(RECIPES)} can be built.")
        return 2
    failed = False
    for name in names or RECIPES:
        place, tools, recipe = RECIPES[name]
        try:
            build(name, place(), tools, recipe)
            if name == "kafka":
                record_classes()
        except BuildFailed as failure:
            print(f"{name}: {failure}", flush=True)
            failed = True
    return int(failed)


def build(
    name: str, place: Path, tools: tuple[str, ...], recipe: Callable[[Path, Path], None]
) -> None:
    """Build one server unless it is there.

    Raises:
        BuildFailed: A tool is missing, or fails.
    """
    with alone(place):
        if place.is_dir():
            say(name, f"is there: {place}")
            return
        if missing := [TOOLS[tool] for tool in tools if shutil.which(tool) is None]:
            message = f"can't be built without {' and '.join(missing)}: install it, and try again."
            raise BuildFailed(message)
        began = time.monotonic()
        work = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=place.parent))
        try:
            whole = work / "whole"
            whole.mkdir()
            recipe(work, whole)
            whole.rename(place)
        finally:
            remove(work)
        say(name, f"took {time.monotonic() - began:.0f} s: {place}")


def kafka(work: Path, whole: Path) -> None:
    """Gather the broker's jars, which are Maven artefacts, and format a folder with them."""
    say("kafka", "fetching 43 MB of jars")
    pom = binaries.HERE / "kafka" / "pom.xml"
    libs = f"-DoutputDirectory={whole / 'libs'}"
    copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", libs]
    call(["mvn", "-q", "-B", "-f", str(pom), *copy], whole)
    say("kafka", "formatting an empty folder, which each broker starts from")
    configuration = work / "format.properties"
    general = (binaries.HERE / "kafka" / "format.properties").read_text(encoding="utf-8")
    configuration.write_text(f"{general}log.dirs={whole / 'formatted'}\n", encoding="utf-8")
    format_it = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(configuration)]
    call(["java", "-cp", f"{whole / 'libs'}/*", *format_it], whole)


class Recorded(Kafka):
    """A broker that leaves its classes in a file when it ends, for those that start after it."""

    def _command(self) -> list[str]:
        java, *options = super()._command()
        return [java, f"-XX:ArchiveClassesAtExit={self.folder / CLASSES}", *options]


def record_classes() -> None:
    """Run a broker once and keep its classes, which are tied to the place of its jars.

    Raises:
        BuildFailed: It doesn't run.
    """
    classes = binaries.kafka() / CLASSES
    if classes.exists():
        return
    say("kafka", "running it once, so that it starts faster")
    with tempfile.TemporaryDirectory(prefix=".kafka-", dir=binaries.cache()) as folder:
        try:
            with Recorded(Path(folder)).session() as broker:
                broker.stop()
        except ServerFailed as failure:
            raise BuildFailed(str(failure)) from None
        if (recorded := Path(folder) / CLASSES).exists():  # not every Java can
            recorded.rename(classes)


def minitikv(work: Path, whole: Path) -> None:
    """Compile our stand-in for TiKV and its placement driver."""
    say("minitikv", "compiling; the first time takes a minute or two")
    sources = binaries.HERE / "minitikv"
    flags = ["-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", str(whole / "minitikv")]
    call(["go", "build", *flags, "."], sources, {"CGO_ENABLED": "0"})
    del work


def influxd(work: Path, whole: Path) -> None:
    """Compile the InfluxDB server: a Go module with a part in Rust."""
    say("influxd", "fetching its modules; all of it takes about six minutes")
    call(["go", "mod", "init", "influxd-for-tests"], work)
    call(["go", "get", f"{INFLUXD_MODULE}@v{binaries.INFLUXD_VERSION}"], work)
    call(["go", "mod", "download", FLUX_MODULE], work)
    flux_folder, version = call(
        ["go", "list", "-m", "-f", "{{.Dir}} {{.Version}}", FLUX_MODULE], work
    ).split()
    say("influxd", "compiling its Rust part")
    libflux = rust_part(Path(flux_folder), work)
    (work / "flux.pc").write_text(
        f"Name: flux\nVersion: {version.removeprefix('v')}\nDescription: libflux\n"
        f"Cflags: -I{libflux}/include\n"
        f"Libs: -L{libflux}/target/debug -lflux -lpthread -ldl -lm\n",
        encoding="utf-8",
    )
    say("influxd", "compiling its Go part")
    linked = f"-ldflags=-s -w -X main.version=v{binaries.INFLUXD_VERSION}"
    flags = ["-tags", "sqlite_foreign_keys,sqlite_json", "-gcflags=all=-l -dwarf=false", linked]
    output = ["-o", str(whole / "influxd"), INFLUXD_MODULE]
    call(["go", "build", *flags, *output], work, {"PKG_CONFIG_PATH": str(work)})


def rust_part(source: Path, work: Path) -> Path:
    """Compile libflux in a copy of its sources; returns the folder of the library's workspace."""
    flux = work / "flux"
    shutil.copytree(source, flux)
    for path in (flux, *flux.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)  # modules are kept read-only
    # It denies every warning, and a newer compiler has more of them.
    lenient = work / "lenient"
    lenient.write_text('#!/bin/sh\nexec "$@" --cap-lints allow\n', encoding="utf-8")
    lenient.chmod(0o755)
    library = ["--locked", "-p", "flux", "--lib", "--crate-type", "staticlib"]
    environment = {
        **FLUX_ENVIRONMENT,
        "RUSTUP_TOOLCHAIN": os.environ.get("RUSTUP_TOOLCHAIN", "stable"),
        "RUSTC_WORKSPACE_WRAPPER": str(lenient),
        "CARGO_TARGET_DIR": str(flux / "libflux" / "target"),
    }
    call(["cargo", "rustc", "-q", *library], flux / "libflux", environment)
    return flux / "libflux"


def call(command: list[str], folder: Path, more: Mapping[str, str] | None = None) -> str:
    """Run a tool; returns what it printed.

    Raises:
        BuildFailed: It ended with an error; the sentence holds the end of what it printed.
    """
    environment = os.environ | (more or {})
    done = subprocess.run(  # noqa: S603 - tools that build, with arguments of our own
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()[-LOG_LINES:]
        shown = " ".join(command)
        message = "\n".join([f"`{shown}` ended with {done.returncode}:", *said])
        raise BuildFailed(message)
    return done.stdout


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Hold the lock of one server's place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / f".{place.name}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remove(folder: Path) -> None:
    """Remove a folder whose parts may be read-only."""
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


def say(name: str, sentence: str) -> None:
    """Print a line of progress, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {name}: {sentence}", flush=True)


RECIPES: Final[
    dict[str, tuple[Callable[[], Path], tuple[str, ...], Callable[[Path, Path], None]]]
] = {
    "kafka": (binaries.kafka, ("java", "mvn"), kafka),
    "minitikv": (binaries.minitikv, ("go",), minitikv),
    "influxd": (binaries.influxd, ("go", "cargo", "gcc", "pkg-config"), influxd),
}
"""Where each server lies, what builds it, and how; the slowest comes last."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
