"""The options that bound a question, why hits are there, and the block for a prompt."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import eunoe
from eunoe.cli import commands
from eunoe.parameters import moment_of
from eunoe.schemas.results import Context
from tests.unit.eunoe.fake_memory import HIT, RESULTS, FakeMemory

Run = Callable[..., Result]
MOMENT = moment_of("moment", "2024-06-15T22:00:00+08:00")
TEXT = "2024-06-15T22:00+08:00"


@pytest.fixture(name="run")
def runner_of_commands(fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command on a folder that the fake façade opens."""
    monkeypatch.setattr(eunoe, "open", lambda *_, **__: fake)
    words = ["--folder", str(folder), "--user", "ana"]

    def invoke(*more: str) -> Result:
        return CliRunner().invoke(commands, [*words, *more], prog_name="eunoe")

    return invoke


@pytest.mark.parametrize("command", ["search", "context"])
@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ([], {"filters": None, "kinds": None, "now": None, "as_of": None, "project_id": None}),
        (["--now", TEXT], {"now": MOMENT, "filters": None}),
        (["--as-of", TEXT], {"as_of": MOMENT}),
        (["--since", TEXT], {"filters": {"since": MOMENT}}),
        (["--until", "2024-06-15T14:00Z"], {"filters": {"until": MOMENT}}),
        (["--session", "会话"], {"filters": {"session_id": "会话"}}),
        (["--role", "user", "--name", "Anna"], {"filters": {"role": "user", "name": "Anna"}}),
        (["--source", "mail", "--verified"], {"filters": {"source": "mail", "verified": True}}),
        (
            ["--meta", "channel=work=home", "--meta", "频道=", "--meta", "n=3"],
            {"filters": {"metadata": {"channel": "work=home", "频道": "", "n": 3}}},
        ),
        (
            ["--meta", "a=true", "--meta", 'b="3"', "--meta", "c=[1]", "--meta", "d=null"],
            {"filters": {"metadata": {"a": True, "b": "3", "c": "[1]", "d": "null"}}},
        ),
        (["--project", "atlas", "--kind", "fact"], {"project_id": "atlas", "kinds": ("fact",)}),
    ],
)
def test_options_bound_the_question(
    command: str, words: list[str], arguments: dict[str, Any], run: Run, fake: FakeMemory
) -> None:
    """Each option is asked of the façade under its parameter's name; none is asked for nothing."""
    result = run(command, "我住在哪里？", *words)
    assert result.exit_code == 0, result.output
    name, found = fake.calls[-1]
    assert name == command
    assert arguments.items() <= found.items()
    assert found["query"] == "我住在哪里？"


@pytest.mark.parametrize("command", ["search", "context"])
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--now", "soon"], 1, "--now must be a time with an offset"),
        (["--as-of", "2024-06-15"], 1, "--as-of must be a time with an offset"),
        (["--since", "2024-06-15T22:00"], 1, "--since must be a time with an offset"),
        (["--until", "明天"], 1, "--until must be a time with an offset"),
        (["--meta", "work"], 2, "'work' is no KEY=VALUE"),
        (["--meta", "=x"], 2, "'=x' is no KEY=VALUE"),
        (["--limit", "none"], 2, "--limit"),
    ],
)
def test_bad_input_is_told_in_a_sentence(
    command: str, words: list[str], code: int, said: str, run: Run, fake: FakeMemory
) -> None:
    """What can't be read is refused by its option's name, before the memory is opened."""
    text, program = run(command, "q", *words), run("--json", command, "q", *words)
    assert text.exit_code == program.exit_code == code
    assert said in text.stderr
    error = json.loads(program.stderr)["error"]
    assert said in error["sentence"]
    assert error["sentence"].endswith(".")
    assert fake.calls == []


def test_why_is_a_column(run: Run, fake: FakeMemory) -> None:
    """With --why each line has signals and shares, the largest first, before the text."""

    async def found(*_: object) -> object:
        return [HIT.model_copy(update={"why": {"dense": 0.125, "sparse": 0.375}})]

    fake.behaviour = found
    (line,) = run("search", "q", "--why").stdout.splitlines()
    assert line == "0.50  2024-05-06  turn  t1, t0  sparse=0.38 dense=0.12  Grüße, 你好"
    assert "sparse" not in run("search", "q").stdout


def test_a_block_is_printed_as_it_is(run: Run, fake: FakeMemory) -> None:
    """A person gets the block alone, a program the whole result."""
    assert run("context", "q", "--budget", "50").stdout == RESULTS["context"].text + "\n"
    assert fake.calls[-1][1]["budget_tokens"] == 50
    document = json.loads(run("context", "q", "--json").stdout)
    assert document == RESULTS["context"].model_dump(mode="json")


def test_an_empty_block_prints_nothing(run: Run, fake: FakeMemory) -> None:
    """What goes into a prompt stays empty; the sentence for a person goes beside it."""

    async def nothing(*_: object) -> object:
        return Context(text="", tokens=0, hits=(), timezone="UTC")

    fake.behaviour = nothing
    found = run("context", "q")
    assert (found.exit_code, found.stdout) == (0, "")
    assert found.stderr.endswith(".\n")
    assert json.loads(run("context", "q", "--json").stdout)["text"] == ""
