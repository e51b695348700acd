"""The collector of TiKV's garbage, as it is built for its image, against the stand-in for TiKV."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from tests.servers.ports import Port
from tests.support.composing import ROOT

SOURCES: Final = ROOT / "deploy" / "tikv-gc"
SAID: Final = re.compile(r"Versions before (\S+) may go")
ROUND_S_MAX: Final = 60

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]


@pytest.fixture(scope="module", name="program")
def give_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the program, built; without Go its tests are skipped, and fail in CI."""
    go = shutil.which("go")
    if go is None:
        message = "There is no Go 1.23 or newer to build deploy/tikv-gc with."
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    program = tmp_path_factory.mktemp("built") / "tikv-gc"
    command = [go, "build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", str(program), "."]
    environment = os.environ | {"CGO_ENABLED": "0"}
    subprocess.run(command, cwd=SOURCES, env=environment, check=True)  # noqa: S603 - our own sources
    yield program
    program.unlink()


def run(program: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the program to its end."""
    return subprocess.run(  # noqa: S603 - our own program
        [str(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=ROUND_S_MAX,
    )


def test_a_round_moves_the_point_and_says_so(
    program: Path, tikv_address: str, tmp_path: Path
) -> None:
    """The point is as old as was asked for, never goes back, and the round counts as health."""
    beat = str(tmp_path / "beat")
    assert run(program, "-healthy", "-beat", beat).returncode == 1
    points = []
    for keep in ("10m", "1m", "10m"):
        done = run(program, "-once", "-pd", tikv_address, "-keep", keep, "-beat", beat)
        assert done.returncode == 0, done.stderr
        said = SAID.search(done.stdout)
        assert said is not None, done.stdout
        points.append(datetime.fromisoformat(said[1]))
    assert points == sorted(points)
    assert datetime.now(UTC) - points[0] >= timedelta(minutes=10)
    assert datetime.now(UTC) - points[-1] >= timedelta(minutes=1)
    assert run(program, "-healthy", "-beat", beat).returncode == 0


def test_a_round_that_is_old_is_no_health(program: Path, tmp_path: Path) -> None:
    """Three rounds missed count as unwell."""
    beat = tmp_path / "beat"
    beat.touch()
    long_ago = datetime.now(UTC).timestamp() - 3_600
    os.utime(beat, (long_ago, long_ago))
    done = run(program, "-healthy", "-beat", str(beat), "-every", "5m")
    assert done.returncode == 1
    assert "no round has succeeded for 1h0m" in done.stderr


def test_too_young_a_point_is_refused(program: Path) -> None:
    """A point that might cut a living transaction off isn't taken."""
    done = run(program, "-once", "-keep", "5s")
    assert done.returncode == 1
    assert "-keep must be at least 1m0s" in done.stderr


def test_a_driver_that_is_away_fails_the_round(program: Path, tmp_path: Path) -> None:
    """Nothing is touched while nobody answers, and a loop ends when it is told to."""
    beat = tmp_path / "beat"
    port = Port()
    nobody = f"127.0.0.1:{port.number}"
    looping = subprocess.Popen(  # noqa: S603 - our own program
        [str(program), "-pd", nobody, "-beat", str(beat)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert looping.stderr is not None
        for line in looping.stderr:
            if "it is tried again" in line:
                break
        looping.send_signal(signal.SIGTERM)
        assert looping.wait(ROUND_S_MAX) == 0
    finally:
        looping.kill()
        looping.communicate()
        port.release()
    assert not beat.exists()
