"""Servers are built once and whole, and whoever lacks one is told what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import binaries
from tests.servers.build import BuildFailed, build, main
from tests.servers.ports import Port

ROOT = Path(__file__).resolve().parents[2]


def write(_: Path, whole: Path) -> None:
    """Build a server that is one file."""
    (whole / "server").write_text("built", encoding="utf-8")


def test_a_server_is_built_once(tmp_path: Path) -> None:
    """What is there is left as it is, and no recipe runs."""
    place = tmp_path / "cache" / "thing-1"
    build("thing", place, (), write)
    assert (place / "server").read_text(encoding="utf-8") == "built"

    def refuse(_: Path, __: Path) -> None:
        pytest.fail("it was built a second time")

    build("thing", place, (), refuse)


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Half a build is never taken for a server, nor kept."""
    place = tmp_path / "cache" / "thing-1"

    def fail(work: Path, whole: Path) -> None:
        write(work, whole)
        (whole / "closed").mkdir(mode=0o500)  # as in a module's folder
        message = "the compiler ended"
        raise BuildFailed(message)

    with pytest.raises(BuildFailed, match="the compiler ended"):
        build("thing", place, (), fail)
    assert [file for file in place.parent.iterdir() if file.suffix != ".lock"] == []


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Maven and Java aren't there, one sentence says so and nothing is begun."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildFailed, match=r"without Java 17.* and Maven .*: install it"):
        build("kafka", tmp_path / "cache" / "kafka-1", ("java", "mvn"), write)
    assert not (tmp_path / "cache" / "kafka-1").exists()


def test_an_unknown_server_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A slip of the pen builds nothing, and is answered with what can be built."""
    assert main(["kafak"]) == 2
    assert "kafka, minitikv, influxd" in capsys.readouterr().out


def test_the_broker_has_one_version() -> None:
    """Its cache is named for the version that Maven fetches."""
    pom = (binaries.HERE / "kafka" / "pom.xml").read_text(encoding="utf-8")
    assert f"<version>{binaries.KAFKA_VERSION}</version>" in pom


@pytest.mark.parametrize(
    ("ci", "code", "said"), [("true", 1, "1 error"), ("", 0, "1 skipped")], ids=["ci", "elsewhere"]
)
def test_a_server_that_is_not_built_fails_ci(tmp_path: Path, ci: str, code: int, said: str) -> None:
    """Without its server a test fails in CI and is skipped elsewhere, each with the command."""
    tested = ROOT / "tests" / "servers" / "test_servers.py"
    name = f"{tested}::test_influxdb_takes_and_gives"
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "CI": ci}
    environment.pop("EUNOE_TEST_INFLUXDB", None)
    done = subprocess.run(  # noqa: S603 - our own tests, by our own interpreter
        [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", name],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout
    assert "run make servers" in done.stdout


def test_ports_are_held_apart() -> None:
    """A port is nobody else's until it's given back."""
    ports = [Port() for _ in range(5)]
    assert len({port.number for port in ports}) == 5
    assert all(port.number < 32_768 for port in ports)
    for port in ports:
        port.release()
    again = Port()
    assert again.number == ports[0].number
    again.release()
