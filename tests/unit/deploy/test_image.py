"""The image: what it holds, as whom it runs, and how its health is told."""

import asyncio
import re
import shlex
from importlib.metadata import requires
from typing import Final

import pytest
from packaging.requirements import Requirement

from deploy import healthy
from deploy.locked import needed, part
from eunoe.infra.health import HealthServer, Metrics
from tests.support.composing import ROOT

PROJECT: Final = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
LOCK: Final = (ROOT / "requirements.lock").read_text(encoding="utf-8")
IMAGES: Final = ("Dockerfile", "deploy/tikv-gc/Dockerfile")


def instructions(name: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile, continued lines joined, comments left out."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    joined = text.replace("\\\n", " ").splitlines()
    pairs = [line.split(maxsplit=1) for line in joined if line.strip()]
    return [(word, rest) for word, rest in pairs]


def closure(name: str, extras: set[str]) -> set[str]:
    """Return what a distribution that is installed here needs, by what it says itself."""
    found: set[str] = set()
    waiting = [(name, one) for one in ("", *extras)]
    seen = set(waiting)
    while waiting:
        owner, extra = waiting.pop()
        for text in requires(owner) or []:
            one = Requirement(text)
            if one.marker is not None and not one.marker.evaluate({"extra": extra}):
                continue
            found.add(re.sub(r"[-_.]+", "-", one.name).lower())
            more = {(one.name, asked) for asked in ("", *one.extras)} - seen
            seen |= more
            waiting += sorted(more)
    return found


def test_an_image_has_what_the_extras_need_and_no_more() -> None:
    """What is cut out of the lock is what the packages ask for; development tools stay out."""
    found = needed(PROJECT, LOCK, ["cluster"])
    assert found >= closure("eunoe", {"cluster"})
    assert found - closure("eunoe", {"cluster"}) <= {"colorama"}  # of Windows
    assert not found & {"pytest", "ruff", "mypy", "pyright", "uv", "fastembed", "onnxruntime"}
    assert needed(PROJECT, LOCK, []) < found < needed(PROJECT, LOCK, ["cluster", "models"])


def test_every_file_of_an_image_has_a_hash() -> None:
    """Each entry that is cut out is pinned and names hashes."""
    text = part(PROJECT, LOCK, ["cluster"])
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) >= len(needed(PROJECT, LOCK, ["cluster"]))
    for entry in entries:
        assert re.match(r"[\w.-]+==", entry), entry[:40]
        assert "--hash=sha256:" in entry, entry[:40]


def test_an_extra_that_isnt_there_is_refused() -> None:
    """A slip in the name of an extra doesn't make an image without it."""
    with pytest.raises(ValueError, match="There is no extra clutser"):
        part(PROJECT, LOCK, ["clutser"])
    with pytest.raises(ValueError, match=r"lacks .*aiokafka"):
        part(PROJECT, LOCK.replace("\naiokafka==", "\nother=="), ["cluster"])


@pytest.mark.parametrize("name", IMAGES)
def test_images_are_built_on_versions_and_run_as_nobody(name: str) -> None:
    """Every base has a version, and the last stage has a user by number who isn't root."""
    found = instructions(name)
    stages = [at for at, (word, _) in enumerate(found) if word == "FROM"]
    for at in stages:
        base = found[at][1].split()[0]
        assert base == "scratch" or re.search(r":\d+\.\d+", base), base
    last = dict(found[stages[-1] :])
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last["USER"])
    assert "ENTRYPOINT" in last


def test_a_process_of_eunoe_is_started_and_watched() -> None:
    """The image runs Python 3.11, starts `eunoe`, and asks /healthz for its health."""
    found = instructions("Dockerfile")
    bases = [rest.split()[0] for word, rest in found if word == "FROM"]
    assert {base.partition("-")[0] for base in bases} == {"python:3.11"}
    assert dict(found)["ENTRYPOINT"] == '["eunoe"]'
    assert dict(found)["WORKDIR"] == "/tmp"  # noqa: S108 - Faust makes a folder where it is started
    assert 'CMD ["python", "/opt/eunoe/healthy.py"]' in dict(found)["HEALTHCHECK"]
    installs = [rest for word, rest in found if word == "RUN" and "-r " in rest]
    assert len(installs) == 1
    assert installs[0].count("--require-hashes") == installs[0].count(" -r ") == 2


def test_what_is_copied_is_there_and_isnt_ignored() -> None:
    """Each file that a build copies exists, and .dockerignore lets it in, and nothing else."""
    copied = {
        source
        for word, rest in instructions("Dockerfile")
        if word == "COPY" and "--from" not in rest
        for source in shlex.split(rest)[:-1]
    }
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    assert {line[1:] for line in lines if line.startswith("!")} == copied
    for source in copied:
        assert (ROOT / source).exists(), source


@pytest.mark.parametrize("trouble", ["writer, partition 3 waits: 硬盘满了。", None])
async def test_health_is_told_with_its_sentences(
    trouble: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check fails while anything is wrong and says what, in whatever language it was told."""
    server = await HealthServer.start(0, Metrics(), lambda: [trouble] if trouble else [])
    monkeypatch.setenv("EUNOE_METRICS_PORT", str(server.port))
    try:
        code = await asyncio.to_thread(healthy.main)
    finally:
        await server.close()
    assert code == (1 if trouble else 0)
    assert capsys.readouterr().out == f"{trouble or 'healthy'}\n"
    assert await asyncio.to_thread(healthy.main) == 1
    assert "doesn't answer" in capsys.readouterr().out
