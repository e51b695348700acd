"""What fails outside of Eunoe ends in one sentence, loses nothing acknowledged, and can be mended.

A full disk is a small one that is mounted where this process may, else a bound on the size of
files. A read-only folder is mounted so for the superuser, who is not held up by permissions.
"""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self

import orjson
import pytest

from eunoe.infra.settings import Settings
from eunoe.schemas.errors import Damaged, EunoeError, FolderHeld, Rejected, Unavailable
from tests.properties.histories import LINES, QUESTIONS
from tests.support.faults import (
    HARMS,
    Answer,
    command,
    copy_store,
    environment,
    fill,
    harm,
    read_only,
    shortage,
    small_disk,
)
from tests.support.memories import cheap_tools, open_memory
from tests.support.straining import USER, text_of
from tests.support.tools import SetClock

pytestmark = pytest.mark.timeout(300)

SEED: Final = int(os.environ.get("EUNOE_FAULT_SEED") or random.SystemRandom().randrange(10**6))
COMMANDS: Final = (
    ("list",),
    ("search", "Lisbon Nora moved"),
    ("add", "我住在上海。", "--id", "new"),
    ("forget", "t3", "--yes"),
)
UNAVAILABLE: Final = 3
DAMAGED: Final = 4


@pytest.fixture(name="original", scope="module")
def make_original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store that has heard both languages and forgotten something, and is closed."""
    place = tmp_path_factory.mktemp("original")

    async def live() -> None:
        async with open_memory(place) as memory:
            said = [{"id": f"t{number}", "content": text} for number, text in enumerate(LINES)]
            await memory.add(said, user_id=USER, session_id="s")
            await memory.forget(["t1", "t17"], user_id=USER)

    asyncio.run(live())
    return place


@pytest.fixture(name="place")
def copy_original(original: Path, tmp_path: Path) -> Path:
    """Return a copy of the store, to be damaged."""
    place = tmp_path / "place"
    copy_store(original, place)
    return place


def state(place: Path) -> tuple[str, dict[str, str]]:
    """Open a store, settle, and return the user's digest and turns."""

    async def read() -> tuple[str, dict[str, str]]:
        async with open_memory(place) as memory:
            await memory.settled()
            turns = await memory.list(user_id=USER, kinds=["turn"], limit=1000)
            found = {turn.id: turn.text for turn in turns}
            assert len(found) == len(turns)
            return await memory.digest(user_id=USER), found

    return asyncio.run(read())


@pytest.fixture(name="expected", scope="module")
def read_original(original: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the digest of the store."""
    place = tmp_path_factory.mktemp("read") / "place"
    copy_store(original, place)
    return state(place)[0]


def refusal(place: Path) -> EunoeError:
    """Open a store that can't be opened or read; returns what is said."""
    with pytest.raises(EunoeError) as caught:
        state(place)
    assert is_sentence(str(caught.value)), caught.value
    return caught.value


def is_sentence(text: str) -> bool:
    """Tell whether a text is one line that ends as a sentence does."""
    return text.count("\n") == 0 and text.endswith((".", "NEW-FOLDER")) and len(text) > 20


def verify_refused(answer: Answer, code: int) -> None:
    """Check that a command ended with a code and one sentence."""
    assert answer.code == code, answer
    assert is_sentence(answer.err.removesuffix("\n")), answer
    assert answer.out == ""


class Strained:
    """A process that uses a store and says what was acknowledged; see `tests.support.straining`.

    Args:
        place: Where the store is.
        seed: Of its steps.
    """

    def __init__(self, place: Path, seed: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "tests.support.straining", str(place), str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(place),
            text=True,
        )
        self.added: set[str] = set()
        self.forgotten: set[str] = set()
        self.tried: set[str] = set()
        self.sentences: list[str] = []
        assert self._answer() == {"open": True}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        if self._process.poll() is None:
            self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def kill(self) -> None:
        """Kill it."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        """Let it close the store and end well."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0

    def ask(self, *words: object) -> dict[str, Any]:
        """Have a line answered."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def step(self) -> None:
        """Have it take a step, and note what was acknowledged."""
        answer = self.ask("step")
        self.added |= set(answer.get("added", ()))
        self.forgotten |= {answer["forgot"]} if "forgot" in answer else set()
        self.tried |= {answer["tried"]} if "tried" in answer else set()
        if "error" in answer:
            assert answer["error"] == Unavailable.__name__, answer
            assert is_sentence(answer["sentence"]), answer
            self.sentences.append(answer["sentence"])

    def verify(self, turns: dict[str, str]) -> None:
        """Check that everything acknowledged is there, and nothing that wasn't."""
        certain = self.added - self.forgotten
        assert certain - self.tried <= set(turns) <= certain
        assert all(text == text_of(int(ident[1:])) for ident, text in turns.items())

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the process ended by itself: {self._process.wait()}"
        answer: dict[str, Any] = json.loads(line)
        return answer


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_a_full_disk_loses_nothing(tmp_path: Path, number: int) -> None:
    """A disk that fills at some moment stops, and what was acknowledged is there when it's mended.

    The even ones go on in the same process, the odd ones are killed while the disk is full.
    """
    print(f"EUNOE_FAULT_SEED={SEED}, number {number}")
    dice = random.Random(f"{SEED}/{number}")  # noqa: S311 - reproducible, not secret
    with small_disk(tmp_path / "disk") as is_mounted:
        place = tmp_path / "disk"
        with Strained(place, number + 1) as process:
            for _ in range(dice.randrange(3, 20)):
                process.step()
            filler = None
            if is_mounted and number != 4:  # one is bounded in any case
                left = dice.choice([0, 4096, 200_000, 1_000_000, 16_900_000])
                filler = fill(place, left)
            else:
                process.ask("free", dice.choice([0, 4096, 100_000]))
            for _ in range(120):
                process.step()
                if len(process.sentences) > 3:
                    break
            assert process.sentences, "nothing filled the disk"
            if number % 2:
                process.kill()
            if filler is not None:
                filler.unlink()
            if number % 2 == 0:
                process.ask("lift")
                for _ in range(5):
                    process.step()
                found = process.ask("read")
                process.verify(found["turns"])
                process.end()
                assert state(place) == (found["digest"], found["turns"])
            process.verify(state(place)[1])


@pytest.mark.slow
def test_commands_on_a_full_disk(original: Path, tmp_path: Path, expected: str) -> None:
    """Each command on a full disk ends with a sentence; afterwards the store is what it was."""
    disk = tmp_path / "disk"
    with small_disk(disk) as is_mounted:
        copy_store(original, disk / "place")
        for left in (0, 300_000, 20_000_000):
            with shortage(disk, left, is_mounted=is_mounted) as more:
                for words in COMMANDS:
                    answer = command(disk / "place", *words, "--user", USER, **more)
                    verify_refused(answer, UNAVAILABLE)
        assert state(disk / "place")[0] == expected


@pytest.mark.slow
def test_a_new_store_on_a_full_disk(tmp_path: Path) -> None:
    """A store that couldn't be made is made when there is room, in the same folder."""
    disk = tmp_path / "disk"
    with small_disk(disk) as is_mounted:
        for left in (0, 30_000, 300_000, 20_000_000):
            with shortage(disk, left, is_mounted=is_mounted) as more:
                answer = command(disk, *COMMANDS[2], "--user", USER, **more)
                verify_refused(answer, UNAVAILABLE)
        assert state(disk)[1] == {}


def test_a_read_only_folder(place: Path, expected: str) -> None:
    """A folder that can't be written is refused with a sentence, here and by each command."""
    with read_only(place) as is_read_only:
        assert is_read_only or os.geteuid() == 0
        if is_read_only:
            found = refusal(place)
            assert isinstance(found, Unavailable)
            for words in COMMANDS:
                verify_refused(command(place, *words, "--user", USER), UNAVAILABLE)
        else:
            answer = command(place, str(place), module="tests.support.nobody")
            verify_refused(answer, UNAVAILABLE)
    assert state(place)[0] == expected


@pytest.mark.parametrize("how", HARMS)
@pytest.mark.parametrize("name", ["log.sqlite", "keys.sqlite", "store.json"])
def test_what_only_a_backup_mends(
    name: str, how: str, place: Path, original: Path, expected: str
) -> None:
    """A damaged log, key log or store file is refused; the backup's file brings all back."""
    file = place / "data" / name
    harm(file, how)
    size = file.stat().st_size
    found = refusal(place)
    assert isinstance(found, Damaged)
    assert "backup" in str(found)
    verify_refused(command(place, "list", "--user", USER), DAMAGED)
    for side in ("-wal", "-shm"):
        file.with_name(name + side).unlink(missing_ok=True)
    assert file.stat().st_size == size  # nothing was made in its place
    shutil.copy(original / "data" / name, file)
    assert state(place)[0] == expected


@pytest.mark.parametrize("name", ["log.sqlite", "keys.sqlite"])
def test_a_missing_file_is_not_made_anew(
    name: str, place: Path, original: Path, expected: str
) -> None:
    """Without its log or its keys a store is refused, and no empty one takes their place."""
    (place / "data" / name).unlink()
    assert "backup" in str(refusal(place))
    assert not (place / "data" / name).exists()
    shutil.copy(original / "data" / name, place / "data" / name)
    assert state(place)[0] == expected


@pytest.mark.parametrize("how", HARMS)
def test_a_damaged_identity_store_can_be_rebuilt(how: str, place: Path, expected: str) -> None:
    """The sentence says to remove it, and without it the next start comes to the same."""
    file = place / "data" / "identity.sqlite"
    harm(file, how)
    if how == "empty":  # as good as removed
        assert state(place)[0] == expected
        return
    found = refusal(place)
    assert isinstance(found, Damaged)
    assert "remove identity.sqlite" in str(found)
    verify_refused(command(place, "list", "--user", USER), DAMAGED)
    for left in place.joinpath("data").glob("identity.sqlite*"):
        left.unlink()
    assert state(place)[0] == expected


@pytest.mark.slow
def test_every_damaged_file_of_the_episodic_store_is_noticed(place: Path, expected: str) -> None:
    """Whatever happens to a file of a closed store is noticed before the engine reads it."""
    episodes = place / "data" / "episodes"
    files = [file for file in sorted(episodes.rglob("*")) if file.is_file()]
    assert len(files) > 20
    for file in files:
        whole = file.with_name("whole")
        _ = shutil.move(file, whole)
        for how in (*HARMS, "gone"):
            if how != "gone":
                shutil.copy(whole, file)
                harm(file, how)
            if how == "gone" and file.name in {"applied.json", "seal.json"}:
                continue  # as good as a new store, and as after a crash
            if file.exists() and file.read_bytes() == whole.read_bytes():
                continue  # zeroes in a hole
            assert "remove the folder" in str(refusal(place)), (file, how)
        _ = shutil.move(whole, file)
    verify_refused_and_rebuilt(place, files[-1], expected)


def verify_refused_and_rebuilt(place: Path, file: Path, expected: str) -> None:
    """Damage a file, see a command refused, and do what its sentence says."""
    harm(file, "half")
    verify_refused(command(place, "search", "Nora", "--user", USER), DAMAGED)
    shutil.rmtree(place / "data" / "episodes")
    assert state(place)[0] == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["mutable_id_tracker.mappings", "tracker.dat", "status.dat", "segment.json"]
)
def test_damage_after_a_crash_is_survived(name: str, place: Path, expected: str) -> None:
    """Without a seal the engine may abort; the start after that rebuilds the store by itself."""
    episodes = place / "data" / "episodes"
    (episodes / "seal.json").unlink()
    for file in episodes.rglob(name):
        harm(file, "garbage")
    answer = command(place, "digest", "--user", USER)
    if answer.code > 0:
        assert answer.code in {UNAVAILABLE, DAMAGED}, answer
        assert "Traceback" not in answer.err
        assert is_sentence(answer.err.splitlines()[-1])
        shutil.rmtree(episodes)
    answer = command(place, "digest", "--user", USER)
    assert (answer.code, answer.out.strip()) == (0, expected)


def key_file(place: Path) -> Path:
    """Return the store's master key file."""
    (found,) = place.joinpath("config").rglob("*.key")
    return found


@pytest.mark.parametrize("how", ["missing", "wrong", "malformed", "open to others"])
def test_a_master_key_that_cannot_be_used(how: str, place: Path, expected: str) -> None:
    """Without its key a store says so and changes nothing; with it all is there."""
    file = key_file(place)
    content = file.read_bytes()
    other = b"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=\n"
    if how == "missing":
        file.unlink()
    elif how == "open to others":
        file.chmod(0o640)
    else:
        file.write_bytes(other if how == "wrong" else b"no key\n")
    found = refusal(place)
    assert isinstance(found, Unavailable)
    assert "master key" in str(found)
    verify_refused(command(place, "list", "--user", USER), UNAVAILABLE)
    file.write_bytes(content)
    file.chmod(0o600)
    assert state(place)[0] == expected


@pytest.mark.slow
def test_too_few_open_files(place: Path, expected: str) -> None:
    """However few files a process may have open, it works or says a sentence."""
    ends = set()
    for files in (8, 11, 14, 17, 20, 22, 24, 26, 40):
        answer = command(place, str(place), "1", str(files), module="tests.support.straining")
        assert answer.code == 0, answer
        (line,) = answer.out.splitlines()
        told = json.loads(line)
        ends.add(told.get("error", "open"))
        assert "error" not in told or is_sentence(told["sentence"]), told
    assert ends == {"open", Unavailable.__name__}
    assert state(place)[0] == expected


@pytest.mark.slow
def test_no_more_open_files(place: Path, expected: str) -> None:
    """A process that may open no more files goes on or says a sentence, and loses nothing."""
    with Strained(place, 1) as process:
        assert process.ask("read")["digest"] == expected
        while not process.forgotten:  # what is imported when it's first needed is there by now
            process.step()
        process.ask("files")
        for _ in range(25):
            process.step()
        process.ask("lift")
        found = process.ask("read")
        process.end()
    assert state(place) == (found["digest"], found["turns"])
    process.verify({ident: text for ident, text in found["turns"].items() if len(ident) > 5})


@pytest.mark.parametrize("words", [("list", "--user", USER), ("--version",), ("--help",)])
def test_output_that_finds_no_room(words: tuple[str, ...], place: Path) -> None:
    """What can't be printed is told as a sentence, before a command runs as well as after."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "tests.support.commanding", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(place),
            check=False,
            timeout=60,
        )
    verify_refused(Answer(done.returncode, "", done.stderr.decode()), UNAVAILABLE)


def test_no_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home folder is told which variable to set."""

    def fail() -> Path:
        message = "Could not determine home directory."
        raise RuntimeError(message)

    monkeypatch.setattr(Path, "home", fail)
    with pytest.raises(Rejected, match="set HOME"):
        Settings.from_env()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["log.sqlite", "keys.sqlite", "identity.sqlite"])
def test_damage_anywhere_ends_in_a_sentence(name: str, original: Path, tmp_path: Path) -> None:
    """Whichever bytes of a file are changed, nothing but a sentence says that it can't be read."""
    dice = random.Random(f"{SEED}/{name}")  # noqa: S311 - reproducible, not secret
    print(f"EUNOE_FAULT_SEED={SEED}")
    sentences: list[str] = []
    size = (original / "data" / name).stat().st_size
    for number in range(10):
        place = tmp_path / str(number)
        copy_store(original, place)
        with (place / "data" / name).open("r+b") as file:
            # The first hits the file's head, which can't go unnoticed; the others may.
            file.seek(dice.randrange(size) if number else 0)
            file.write(dice.randbytes(dice.choice([60, 500, 4096])))
        try:
            state(place)
        except EunoeError as error:
            sentences.append(str(error))
        assert sentences, "a file without its head was read"
        shutil.rmtree(place)
    assert all(is_sentence(one) for one in sentences), sentences


def test_a_second_opener_is_told_of_the_first(place: Path, expected: str) -> None:
    """Neither another process nor the same one opens a folder twice; the first goes on."""
    with Strained(place, 1) as process:
        found = refusal(place)
        assert isinstance(found, FolderHeld)
        assert str(process.pid) in str(found)
        verify_refused(command(place, "list", "--user", USER), UNAVAILABLE)
        assert process.ask("read")["digest"] == expected
        process.end()

    async def twice() -> str:
        async with open_memory(place) as memory:
            with pytest.raises(FolderHeld, match=str(os.getpid())):
                async with open_memory(place):
                    pass
            return await memory.digest(user_id=USER)

    assert asyncio.run(twice()) == expected


@pytest.mark.parametrize("version", [0, 44, 99])
@pytest.mark.parametrize("name", ["log.sqlite", "keys.sqlite", "identity.sqlite", "store.json"])
def test_another_format_is_left_alone(name: str, version: int, place: Path, expected: str) -> None:
    """A file of an older or newer format is refused, whatever else it holds, and not changed."""
    file = place / "data" / name
    former = file.read_bytes()
    if name == "store.json":
        fields = orjson.loads(former) | {"format": version, "more": True}
        file.write_bytes(orjson.dumps(fields))
    else:
        with file.open("r+b") as opened:  # where SQLite keeps its user_version
            opened.seek(60)
            opened.write(version.to_bytes(4, "big"))
    changed = file.read_bytes()
    found = refusal(place)
    assert isinstance(found, Rejected)
    assert f"format {version} " in str(found)
    verify_refused(command(place, "list", "--user", USER), 1)
    assert file.read_bytes() == changed
    file.write_bytes(former)
    assert state(place)[0] == expected


@pytest.mark.parametrize("deep", [False, True])
def test_a_folder_that_is_a_file(tmp_path: Path, *, deep: bool) -> None:
    """A file where the folder, or one above it, should be is named in a sentence."""
    (tmp_path / "data").write_text("text")
    place = tmp_path / "data" if deep else tmp_path
    assert isinstance(refusal(place), Unavailable)
    if deep:
        verify_refused(command(place, "list", "--user", USER), UNAVAILABLE)
    assert (tmp_path / "data").read_text() == "text"


def test_stores_ahead_of_a_restored_log(place: Path, original: Path, expected: str) -> None:
    """An older log under newer stores is refused; without the stores it is what it was then."""

    async def go_on() -> None:
        async with open_memory(place) as memory:
            await memory.add(list(QUESTIONS), user_id=USER, session_id="later")

    asyncio.run(go_on())
    shutil.copy(original / "data" / "log.sqlite", place / "data" / "log.sqlite")
    found = refusal(place)
    assert isinstance(found, Damaged)
    assert "identity.sqlite and episodes" in str(found)
    verify_refused(command(place, "list", "--user", USER), DAMAGED)
    shutil.rmtree(place / "data" / "episodes")
    for left in place.joinpath("data").glob("identity.sqlite*"):
        left.unlink()
    assert state(place)[0] == expected


def test_a_clock_far_in_the_past(place: Path, expected: str) -> None:
    """With a clock before everything that was said, nothing is lost and life goes on."""

    async def live() -> list[str]:
        clock = SetClock(datetime(1970, 1, 1, tzinfo=UTC), timedelta(seconds=1))
        async with open_memory(place, tools=cheap_tools(clock=clock)) as memory:
            assert await memory.digest(user_id=USER) == expected
            await memory.add(["My brother Tom lives in Riga.", "我弟弟住在苏州。"], user_id=USER)
            await memory.forget("t3", user_id=USER)
            hits = await memory.search("brother Tom Riga", user_id=USER)
            hits += await memory.search("弟弟 苏州", user_id=USER)
            assert not await memory.dead_letters()
            return [hit.text for hit in hits]

    texts = asyncio.run(live())
    assert "My brother Tom lives in Riga." in texts
    assert "我弟弟住在苏州。" in texts
    assert len(state(place)[1]) == len(LINES) - 2 - 1 + 2
