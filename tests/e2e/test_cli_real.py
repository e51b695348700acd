"""The command line as a person runs it: real processes, real stores, real models."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(300)

OWNER = """
import asyncio, sys
import eunoe

async def own() -> None:
    async with eunoe.open(sys.argv[1]) as memory:
        await memory.add("I keep bees on the roof.", user_id="ana", session_id="s")
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(own())
"""


INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from eunoe.cli.commands import main
main()
"""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, object]]:
        """JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Place:
    """A data folder and its keys."""

    root: Path

    @property
    def folder(self) -> Path:
        """The data folder."""
        return self.root / "data"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a command."""
        return os.environ | {
            "EUNOE_FOLDER": str(self.folder),
            "EUNOE_CONFIG_HOME": str(self.root / "config"),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }

    def run(self, *words: str, stdin: bytes = b"", code: int | None = 0) -> Done:
        """Run a command to its end; `code` is the exit code that is expected."""
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "eunoe.cli", *words],
            input=stdin,
            capture_output=True,
            env=self.environment,
            check=False,
            timeout=120,
        )
        found = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in found.err, found.err
        assert code is None or found.code == code, found
        return found


@pytest.fixture(name="place")
def fresh_place(tmp_path: Path) -> Place:
    """Give a folder that doesn't exist yet."""
    return Place(tmp_path)


@pytest.fixture(name="owned", scope="module")
def place_of_an_owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, int]]:
    """Give a folder that another process holds and serves, and that process's id."""
    place = Place(tmp_path_factory.mktemp("owned"))
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", OWNER, str(place.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=place.environment,
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        yield place, owner.pid
        owner.communicate(timeout=30)
        assert owner.returncode == 0


@pytest.mark.slow
def test_a_life_in_two_languages(place: Place) -> None:
    """Without any other process: add, search, list, show, history, forget, stats, doctor."""
    place.run("add", "I moved to Oslo in May", "-u", "ana", "--id", "e1", "--session", "s")
    place.run("add", "-", "-u", "ana", "--id", "z1", stdin="我的猫叫豆花，今年三岁。\n".encode())
    english = place.run("search", "Where did I move?", "-u", "ana", "--json").lines
    chinese = place.run("search", "我的猫叫什么名字？", "-u", "ana", "--json").lines
    assert "e1" in english[0]["sources"]  # type: ignore[operator]  # JSON
    assert "z1" in chinese[0]["sources"]  # type: ignore[operator]  # JSON
    turns = place.run("list", "-u", "ana", "--kind", "turn", "--json").lines
    assert [turn["id"] for turn in turns] == ["z1", "e1"]
    assert "我的猫叫豆花" in place.run("show", "z1", "-u", "ana").out
    assert "added" in place.run("history", "e1", "-u", "ana").out
    assert place.run("dead-letters", "--json").out == ""
    report = json.loads(place.run("forget", "z1", "--yes", "-u", "ana", "--json").out)
    assert report["forgotten"] == ["z1"]
    missing = place.run("show", "z1", "-u", "ana", "--json", code=1)
    assert json.loads(missing.err)["error"]["kind"] == "NotFound"
    found = json.loads(place.run("stats", "-u", "ana", "--json").out)
    assert found["turns"] == 1
    assert all(check["ok"] for check in place.run("doctor", "--json").lines)
    assert len(place.run("digest", "-u", "ana").out.strip()) >= 16


def test_beside_the_owner(owned: tuple[Place, int]) -> None:
    """While another process holds the folder, commands go through its door and see its state."""
    place, _ = owned
    for _ in range(2):  # the second is a repeat, and no conflict
        place.run("add", "我每周六下午去游泳。", "-u", "ana", "--id", "swim")
    found = place.run("search", "我什么时候游泳？", "-u", "ana", "--json").lines
    assert "swim" in found[0]["sources"]  # type: ignore[operator]  # JSON
    assert place.run("search", "我什么时候游泳？", "-u", "bob", "--json").lines == []
    texts = [turn["text"] for turn in place.run("list", "-u", "ana", "--json").lines]
    assert "I keep bees on the roof." in texts
    place.run("set-timezone", "Asia/Shanghai", "-u", "ana")
    assert json.loads(place.run("stats", "--json").out)["turns"] >= 2
    assert all(check["ok"] for check in place.run("doctor", "--json").lines)
    place.run("forget", "swim", "--yes", "-u", "ana")
    assert place.run("show", "swim", "-u", "ana", code=1).err
    for words in (["profile", "-u", "ana"], ["dead-letters"], ["digest", "-u", "ana"]):
        place.run(*words)


def test_commands_side_by_side(owned: tuple[Place, int]) -> None:
    """Several commands at once beside an owner all do their work."""
    place, _ = owned
    running = [
        subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "eunoe.cli", "add", f"Note {n}", "-u", "bo", "--id", f"n{n}"],
            env=place.environment,
        )
        for n in range(6)
    ]
    assert [process.wait(60) for process in running] == [0] * 6
    names = {turn["id"] for turn in place.run("list", "-u", "bo", "--kind", "turn", "--json").lines}
    assert names == {f"n{n}" for n in range(6)}


@pytest.mark.slow
def test_commands_at_once_without_an_owner(place: Place) -> None:
    """Commands that are started together on a free folder take turns and lose nothing."""
    running = [
        subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "eunoe.cli", "add", f"Note {n}", "-u", "bo", "--id", f"n{n}"],
            env=place.environment,
        )
        for n in range(3)
    ]
    assert [process.wait(120) for process in running] == [0] * 3
    names = {turn["id"] for turn in place.run("list", "-u", "bo", "--kind", "turn", "--json").lines}
    assert names == {"n0", "n1", "n2"}


def test_import_twice_with_bad_lines(owned: tuple[Place, int], tmp_path: Path) -> None:
    """Bad lines are told by number; the rest is there once, however often it is imported."""
    place, _ = owned
    good = [
        {"role": "user", "content": f"Letter number {n} 第{n}封信", "session_id": "post"}
        for n in range(30)
    ]
    lines = [json.dumps(one, ensure_ascii=False).encode() for one in good]
    lines[5:5] = [b"{", b"\xff", b'{"role":"king","content":"x"}', b'{"role":"user","content":""}']
    file = tmp_path / "post.jsonl"
    file.write_bytes(b"\n".join(lines))
    words = ["import", str(file), "-u", "cy", "--json"]
    first = json.loads(place.run(*words, code=1).out)
    assert [bad["line"] for bad in first["bad"]] == [6, 7, 8, 9]
    assert (first["added"], first["already"]) == (30, 0)
    second = json.loads(place.run(*words, code=1).out)
    assert (second["added"], second["already"]) == (0, 30)
    listed = place.run("list", "-u", "cy", "--kind", "turn", "--limit", "500", "--json").lines
    assert len(listed) == 30


def test_import_refused_afterwards(owned: tuple[Place, int]) -> None:
    """An id used for another text is told by its line, and is a dead letter."""
    place, _ = owned
    time = "2024-05-06T09:00:00+08:00"
    one = {"role": "user", "content": "one", "id": "x", "time": time}
    raw = json.dumps(one) + "\n" + json.dumps(one | {"content": "two"})
    done = place.run("import", "-", "-u", "dee", "--json", stdin=raw.encode(), code=1)
    found = json.loads(done.out)
    assert (found["added"], [bad["line"] for bad in found["bad"]]) == (1, [2])
    assert place.run("dead-letters", "-u", "dee", "--json").lines


@pytest.mark.slow
def test_a_stopped_owner_is_told_soon(owned: tuple[Place, int]) -> None:
    """While the owner is stopped a command ends with exit code 3, and doctor says why."""
    place, owner = owned
    os.kill(owner, signal.SIGSTOP)
    try:
        assert "stopped" in place.run("list", "-u", "ana", code=3).err
        assert "stopped" in place.run("doctor", code=1).out
    finally:
        os.kill(owner, signal.SIGCONT)
    place.run("list", "-u", "ana")


def test_a_killed_owner_is_replaced(place: Place) -> None:
    """After kill -9 of the owner the next command opens the folder and finds what was added."""
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", OWNER, str(place.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=place.environment,
    ) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        owner.kill()
    texts = [turn["text"] for turn in place.run("list", "-u", "ana", "--json").lines]
    assert "I keep bees on the roof." in texts


def test_interrupted_work_ends_with_130(place: Place) -> None:
    """Ctrl-C during an import ends the command soon, without a traceback."""
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-c", INTERRUPTIBLE, "import", "-", "-u", "ana"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=place.environment,
    ) as command:
        assert command.stdin is not None
        assert command.stderr is not None
        command.stdin.write(b'{"role":"user","content":"x"}\n')
        command.stdin.flush()
        while not (place.folder / "door.sock").exists():
            assert command.poll() is None
        command.send_signal(signal.SIGINT)
        time.sleep(1)  # its input ends only after the signal has come
        command.stdin.close()
        assert command.wait(30) == 130
        assert b"Traceback" not in command.stderr.read()


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--say", "My parrot Zorblatix sings in the bath", "--ask", "Who sings in the bath?"],
        ["--say", "我的鹦鹉叫左布拉蒂", "--ask", "我的鹦鹉叫什么名字？"],
    ],
    ids=["bundled", "English", "Chinese"],
)
def test_the_demo_proves_itself(words: list[str], place: Place) -> None:
    """The tour ends well on the real memory, with the caller's words as well."""
    found = json.loads(place.run("demo", "--json", *words).out)
    assert found["problems"] == []
    sources = [answer["sources"][0] for answer in found["answers"]]
    assert sources == ["en-29", "en-07", "en-24", "zh-03", "zh-06", "zh-24"]
    assert found["before"]["text"]
    assert found["after"]["text"] is None
    assert found["seconds"] < 60
    assert not place.folder.exists()
