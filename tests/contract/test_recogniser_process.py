"""The recogniser in a process of its own: the same names, whatever happens to the process."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

import pytest

from eunoe.infra import recogniser_process
from eunoe.infra.recogniser import TextRecogniser
from eunoe.infra.recogniser_child import GREETING, Malformed, pack, read_frame, unpack_names
from eunoe.infra.recogniser_process import ProcessRecogniser
from eunoe.infra.settings import Settings
from eunoe.infra.wiring import ClosingEncoder, Tools, open_engines
from eunoe.schemas.errors import Unavailable
from eunoe.schemas.limits import (
    BATCH_RECORDS_MAX,
    READ_CHARACTERS_MAX,
    RECOGNISER_FRAME_BYTES_MAX,
)
from eunoe.schemas.ports import Entity
from tests.contract.language_contract import ThreadedRecogniserContract
from tests.support.tools import WordEncoder

ROOT: Final = Path(__file__).resolve().parents[2]
GONE_S_MAX: Final = 30.0
ENGLISH: Final = (
    "I met Angela Merkel in Berlin.",
    "She joined the Harbour Light Foundation.",
    "The Blue Heron project needs a lead, said Zelthar.",
    "haha, that sounds lovely",
    "",
    "Nora 🎈 moved to Lisbon 🇵🇹, and Marta to Oslo.",
)
CHINESE: Final = (
    "我昨天在上海见了张伟。",
    "他去年进了复旦大学，老魏写了报告。",
    "蓝鹭项目缺一个负责人，欧阳雪说的。",
    "好的，没问题，我再想想。",
    "今天读完了《边城》🎈。",
    "我和 Michael 在用 OpenTelemetry, it was never easy for Anna",
)
TEXTS: Final = {"english": ENGLISH, "chinese": CHINESE}
LANGUAGES: Final = pytest.mark.parametrize("language", TEXTS)


@pytest.fixture(scope="module", name="here")
def recognise_here() -> Iterator[Callable[[list[str]], list[list[Entity]]]]:
    """Find names in this process."""
    recogniser = TextRecogniser()
    yield recogniser.find
    asyncio.run(recogniser.close())


@pytest.fixture(name="recogniser")
async def open_recogniser() -> AsyncIterator[ProcessRecogniser]:
    """Make a recogniser whose process is started by the first text."""
    recogniser = ProcessRecogniser()
    yield recogniser
    await recogniser.close()


Here = Callable[[list[str]], list[list[Entity]]]


class TestProcessRecogniser(ThreadedRecogniserContract):
    """spaCy and jieba in a process of their own keep the port's promises."""

    @pytest.fixture(scope="class", name="recogniser")
    @classmethod
    def make_recogniser(cls) -> Iterator[ProcessRecogniser]:
        """Make one; its models are loaded once."""
        recogniser = ProcessRecogniser()
        yield recogniser
        assert pid_of(recogniser), "it fell back to this process"
        asyncio.run(recogniser.close())


def pid_of(recogniser: ProcessRecogniser) -> int | None:
    """Return the id of the other process, if there is one."""
    child = recogniser._child
    found = child.end.peek() if child else None
    return found[2][0].pid if found else None


def is_there(pid: int) -> bool:
    """Tell whether a process runs; one that only waits for its parent's last look doesn't."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until_gone(pid: int) -> None:
    """Wait for a process's end."""
    deadline = time.monotonic() + GONE_S_MAX
    while is_there(pid):
        assert time.monotonic() < deadline, f"the process {pid} is still there"
        time.sleep(0.02)


def signalled(monkeypatch: pytest.MonkeyPatch, number: signal.Signals, times: int) -> list[int]:
    """Stop the other process before it gets a question, and signal it when it has it.

    Args:
        monkeypatch: To get between.
        number: The signal.
        times: How many processes are signalled.

    Returns:
        The ids of those that were, filled later.
    """
    stopped: set[int] = set()
    ended: list[int] = []
    ask = recogniser_process._Child.ask
    read = recogniser_process._Child._read_answer

    def ask_stopped(child: Any, texts: Any) -> Any:
        if len(ended) < times:
            stopped.add(child.end.peek()[2][0].pid)
            os.kill(child.end.peek()[2][0].pid, signal.SIGSTOP)
        return ask(child, texts)

    def read_signalled(child: Any, deadline: float) -> Any:
        pid = child.end.peek()[2][0].pid
        if pid in stopped:
            ended.append(pid)
            os.kill(pid, number)
        return read(child, deadline)

    monkeypatch.setattr(recogniser_process._Child, "ask", ask_stopped)
    monkeypatch.setattr(recogniser_process._Child, "_read_answer", read_signalled)
    return ended


# --- the same names ----------------------------------------------------------------------------


@LANGUAGES
async def test_names_are_those_found_here(
    language: str, recogniser: ProcessRecogniser, here: Here
) -> None:
    """One text, a batch, and more than a batch have the names that this process finds."""
    texts = list(TEXTS[language])
    expected = here(texts)
    assert any(expected)
    assert await recogniser.recognise(texts) == expected
    assert await recogniser.recognise(texts[:1]) == expected[:1]
    count = 1 + 2 * BATCH_RECORDS_MAX // len(texts)
    assert await recogniser.recognise(texts * count) == expected * count
    assert pid_of(recogniser) is not None


@LANGUAGES
async def test_a_text_over_the_bound_has_the_names_found_here(
    language: str, recogniser: ProcessRecogniser, here: Here
) -> None:
    """Of a text only the beginning is sent; nothing else was read of it before."""
    text = " ".join(chain.from_iterable([TEXTS[language]] * 2))
    long = text + "\n" * (READ_CHARACTERS_MAX - len(text) - 4) + text
    assert await recogniser.recognise([long, text]) == here([long, text])


@pytest.mark.parametrize("text", ["Ana \ud800 met Tom in Oslo.", "安娜\udfff在北京见了张伟。"])
async def test_a_lone_surrogate_has_the_outcome_that_it_has_here(
    text: str, recogniser: ProcessRecogniser
) -> None:
    """What is no Unicode can't be sent: it fails, or is read, as in this process."""
    outcomes = []
    for find in (TextRecogniser().find, recogniser.find):
        try:
            outcomes.append(str(find([text])))
        except UnicodeError as error:
            outcomes.append(type(error).__name__)
    assert outcomes[0] == outcomes[1]


# --- however it ends ---------------------------------------------------------------------------


@LANGUAGES
async def test_killed_in_a_batch_it_is_started_again(
    language: str, recogniser: ProcessRecogniser, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is asked again of a new process, and nothing of it is missing."""
    texts = list(TEXTS[language])
    await recogniser.recognise(texts)
    first = pid_of(recogniser)
    killed = signalled(monkeypatch, signal.SIGKILL, times=1)
    assert await recogniser.recognise(texts) == here(texts)
    assert killed == [first]
    assert pid_of(recogniser) not in {None, first}


@LANGUAGES
async def test_killed_again_and_again_names_are_found_here(
    language: str, recogniser: ProcessRecogniser, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the second death in a row this process does the work, from then on."""
    texts = list(TEXTS[language])
    killed = signalled(monkeypatch, signal.SIGKILL, times=2)
    assert await recogniser.recognise(texts) == here(texts)
    assert len(set(killed)) == 2
    assert await recogniser.recognise(texts) == here(texts)
    assert pid_of(recogniser) is None


async def test_one_that_is_silent_is_given_up(
    recogniser: ProcessRecogniser, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that doesn't answer in time is ended, and the batch has its names."""
    await recogniser.recognise(["warm", "热身"])
    first = pid_of(recogniser)
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(recogniser_process, "RECOGNISE_S_MAX", 0.0)
        assert await recogniser.recognise([*ENGLISH, *CHINESE]) == here([*ENGLISH, *CHINESE])
    assert not is_there(first)


async def test_ctrl_c_is_for_the_parent(recogniser: ProcessRecogniser, here: Here) -> None:
    """An interrupt leaves the process at its work: whoever started it decides."""
    await recogniser.recognise(["warm"])
    first = pid_of(recogniser)
    assert first is not None
    assert os.getpgid(first) != os.getpgid(0)
    os.kill(first, signal.SIGINT)
    assert await recogniser.recognise([*ENGLISH, *CHINESE]) == here([*ENGLISH, *CHINESE])
    assert pid_of(recogniser) == first


async def test_closing_ends_it() -> None:
    """After close it is gone; closing what never started is no error."""
    recogniser = ProcessRecogniser()
    await recogniser.recognise(["warm"])
    pid = pid_of(recogniser)
    assert pid is not None
    await recogniser.close()
    assert not is_there(pid)
    await ProcessRecogniser().close()


def test_it_ends_with_its_recogniser() -> None:
    """One that nobody closes ends the process when it is collected."""
    recogniser = ProcessRecogniser()
    recogniser.find(["warm"])
    pid = pid_of(recogniser)
    assert pid is not None
    del recogniser
    gc.collect()
    assert not is_there(pid)


PARENT: Final = """
import os, sys, threading, time
from eunoe.infra import recogniser_process
recogniser = recogniser_process.ProcessRecogniser()
recogniser.find(["warm", "热身"])
if sys.argv[1] == "forked" and not os.fork():
    time.sleep(60)  # holds the pipe open
    os._exit(0)
if sys.argv[1] == "busy":
    texts = ["I met Ana in Oslo. 我在北京见了安娜。" * 500] * 60
    threading.Thread(target=recogniser.find, args=(texts,)).start()
    time.sleep(0.2)
print(recogniser._child.end.peek()[2][0].pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("state", ["idle", "busy", "forked"])
def test_it_ends_when_its_parent_is_killed(state: str) -> None:
    """Whether it waits, is in a batch, or its pipe is held open by a fork: it is soon gone."""
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-c", PARENT, state],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_there(pid)
        parent.kill()
        parent.wait()
        wait_until_gone(pid)
        if state == "forked":
            os.killpg(parent.pid, signal.SIGKILL)


# --- where it can't be started -----------------------------------------------------------------


def refuse_to_fork(patch: pytest.MonkeyPatch) -> None:
    """Let the system allow no further process."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    patch.setattr(subprocess, "Popen", refuse)


BARRIERS: Final[dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "no fork": refuse_to_fork,
    "no interpreter": lambda patch: patch.setattr(sys, "executable", ""),
    "a missing one": lambda patch: patch.setattr(sys, "executable", "/nowhere/python"),
    "frozen": lambda patch: patch.setattr(sys, "frozen", True, raising=False),
    "another program": lambda patch: patch.setattr(sys, "executable", "/bin/echo"),
}


@pytest.mark.parametrize("barrier", BARRIERS)
async def test_without_a_process_names_are_found_here(
    barrier: str, recogniser: ProcessRecogniser, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none can be started, this process finds the same names, in both languages."""
    texts = [*ENGLISH, *CHINESE]
    with monkeypatch.context() as patch:
        BARRIERS[barrier](patch)
        assert await recogniser.recognise(texts) == here(texts)
    assert pid_of(recogniser) is None


# --- what they say to each other ---------------------------------------------------------------


def frames(data: bytes) -> Callable[[int], bytes]:
    """Return a reader of these bytes that gives a few at a time."""
    left = bytearray(data)

    def read(count: int) -> bytes:
        part = bytes(left[: min(count, 3)])
        del left[: len(part)]
        return part

    return read


@LANGUAGES
def test_a_frame_comes_back_as_it_was(language: str) -> None:
    """What is packed is read again, however small the pieces that come."""
    body = [*TEXTS[language], '\x00\x1f\\"🎈']
    assert read_frame(frames(pack(body))) == body


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x00",
        b"\x00\x00\x00\x05[1]",
        b"\x00\x00\x00\x03{]}",
        b"\x00\x00\x00\x02\xff\xfe",
        (RECOGNISER_FRAME_BYTES_MAX + 1).to_bytes(4, "big") + b"[]",
    ],
)
def test_a_malformed_frame_is_refused(data: bytes) -> None:
    """Cut short, no JSON, or longer than agreed: it isn't read."""
    with pytest.raises(Malformed):
        read_frame(frames(data))


def test_a_frame_over_the_bound_is_not_made() -> None:
    """The sender refuses it before the other side would."""
    with pytest.raises(Malformed):
        pack("一" * (RECOGNISER_FRAME_BYTES_MAX // 3 + 1))


@pytest.mark.parametrize(
    "rows",
    [
        None,
        [],
        [[], []],
        [None],
        [[["person"]]],
        [[["person", 0, 3, 4]]],
        [[["dragon", 0, 3]]],
        [[["person", -1, 3]]],
        [[["person", 0, 99]]],
        [[["person", 3, 3]]],
        [[["person", "0", 3]]],
        [[[["person"], 0, 3]]],
    ],
)
def test_an_answer_that_names_nothing_is_refused(rows: object) -> None:
    """Another count, an unknown kind, a place outside of the text: no names are made of it."""
    with pytest.raises(Malformed):
        unpack_names(rows, ["Ana met Tom."])


STAND_IN: Final = """#!{python}
import sys, time
sys.path.insert(0, {source!r})
from eunoe.infra.recogniser_child import GREETING, pack, read_frame
say = lambda data: (sys.stdout.buffer.write(data), sys.stdout.buffer.flush())
say(pack(GREETING))
read_frame(sys.stdin.buffer.raw.read)
say({answer})
time.sleep(60)
"""


def stand_in(folder: Path, answer: str) -> str:
    """Write a program that greets and then answers something."""
    program = folder / "interpreter"
    source = str(ROOT / "src")
    program.write_text(STAND_IN.format(python=sys.executable, source=source, answer=answer))
    program.chmod(0o700)
    return str(program)


@pytest.mark.parametrize(
    "answer",
    [
        "pack({'found': []})",
        "pack({'found': [[['person', 0, 10 ** 9]]] * 12})",
        "pack({'lost': 1})",
        "pack(['found'])",
        "bytes((0, 0, 0, 2)) + b'{]'",
        "b'\\xff' * 64",
    ],
)
async def test_a_malformed_answer_gives_no_names(
    answer: str,
    tmp_path: Path,
    recogniser: ProcessRecogniser,
    here: Here,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever answers nonsense is ended, and names are found without him."""
    texts = [*ENGLISH, *CHINESE]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", stand_in(tmp_path, answer))
        assert await recogniser.recognise(texts) == here(texts)
    assert pid_of(recogniser) is None


async def test_a_model_that_is_missing_is_told(
    tmp_path: Path, recogniser: ProcessRecogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process's sentence is raised as this one would, and it isn't started anew."""
    answer = "pack({'unavailable': 'No model.'})"
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, answer))
    with pytest.raises(Unavailable, match="No model"):
        await recogniser.recognise(["Ana", "安娜"])
    assert pid_of(recogniser) is not None


@pytest.mark.parametrize("question", [b"\x00\x00\x00\x02{]", b"\xff" * 8, pack({}), pack([1])])
def test_a_malformed_question_ends_it(question: bytes) -> None:
    """It answers nothing that it doesn't understand, and prints nothing about it."""
    ended = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-P", "-m", "eunoe.infra.recogniser_child", str(os.getpid())],
        input=question + pack(["Ana met Tom in Oslo."]),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout in {b"", pack(GREETING)}  # whether it came to greet before
    assert ended.stderr == b""


# --- what it has and hasn't --------------------------------------------------------------------


async def test_it_holds_nothing_of_the_store(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Opening starts nothing; once started it has two pipes and no file, and prints nothing."""
    settings = Settings(folder=tmp_path / "store", config_home=tmp_path / "config")
    encoder = cast("ClosingEncoder", WordEncoder())  # its constants are the class's
    engines = await open_engines(settings, Tools(encoder=encoder))
    async with engines.stack:
        recogniser = engines.recogniser
        assert isinstance(recogniser, ProcessRecogniser)
        assert pid_of(recogniser) is None
        assert any(await recogniser.recognise([*ENGLISH, *CHINESE]))
        pid = pid_of(recogniser)
        held = [os.readlink(f"/proc/{pid}/fd/{one}") for one in os.listdir(f"/proc/{pid}/fd")]  # noqa: PTH208, PTH115 - a handful of links
        assert not [path for path in held if str(tmp_path) in path]
        assert {path.split(":")[0] for path in held} <= {"pipe", "/dev/null"}
    assert pid is not None
    assert not is_there(pid)
    assert capfd.readouterr() == ("", "")


def test_this_process_loads_no_models() -> None:
    """What the other process has, this one needn't: neither spaCy nor jieba is imported."""
    code = (
        "import sys; from eunoe.infra.recogniser_process import ProcessRecogniser as P\n"
        "p = P(); assert all(p.find(['I met Ana in Oslo.', '我在北京见了安娜。']))\n"
        "print(sorted({'spacy', 'jieba'} & set(sys.modules)))"
    )
    ended = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("[]\n", "")
