"""`eunoe import`: what each line comes to, whatever is in the file."""

import io
import json
import re
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

import eunoe
from eunoe.cli import commands, importer, importing, lines
from eunoe.schemas.errors import NotFound, Rejected, Unavailable
from eunoe.schemas.events import event_id
from tests.unit.eunoe.fake_memory import ITEM, RESULTS, FakeMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GOOD = {"role": "user", "content": "hello", "time": "2024-05-06T09:00:00+08:00"}


@dataclass
class Store:
    """Just enough of a memory: same id and content once, other content a dead letter."""

    turns: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    letters: list[Any] = field(default_factory=list)
    waiting: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    batches: list[list[str]] = field(default_factory=list)
    clock: datetime = datetime(2025, 1, 1, tzinfo=UTC)

    async def __call__(self, call: str, arguments: dict[str, Any]) -> object:
        """Answer a call."""
        handler: Callable[[dict[str, Any]], object] = getattr(self, call)
        return handler(arguments)

    def add(self, arguments: dict[str, Any]) -> list[str]:
        """Refuse the whole if one message has no text."""
        self.clock += timedelta(seconds=1)
        messages: Sequence[dict[str, Any]] = arguments["messages"]
        for place, message in enumerate(messages):
            if not isinstance(message.get("content"), str) or not message["content"]:
                text = f"Message {place} can't be taken: no text. Nothing of this call was stored."
                raise Rejected(text)
        self.batches.append([message["id"] for message in messages])
        self.waiting += (
            (arguments["user_id"], arguments["source"], {"time": self.clock.isoformat()} | message)
            for message in messages
        )
        return self.batches[-1]

    def settled(self, _: dict[str, Any]) -> None:
        """Decide what waits."""
        for user, source, message in self.waiting:
            known = self.turns.setdefault((user, source, message["id"]), message)
            if known != message:
                refused = RESULTS["dead_letters"][0].model_copy(
                    update={
                        "event_id": str(event_id("default", user, source, message["id"])),
                        "reason": "The id was used for another text.",
                        "first_seen": self.clock,
                    }
                )
                self.letters.append(refused)
        self.waiting = []

    def get(self, arguments: dict[str, Any]) -> object:
        """Find a turn."""
        source, name = arguments["id"]
        found = self.turns.get((arguments["user_id"], source, name))
        if found is None:
            message = "No such id."
            raise NotFound(message)
        return ITEM.model_copy(update={"said_at": datetime.fromisoformat(found["time"])})

    def stats(self, _: dict[str, Any]) -> object:
        """Count."""
        return RESULTS["stats"].model_copy(update={"turns": len(self.turns)})

    def dead_letters(self, _: dict[str, Any]) -> list[Any]:
        """List what was refused."""
        return list(self.letters)


@pytest.fixture(name="store")
def an_empty_store(fake: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Let the fake façade behave like a store."""
    store = Store()
    fake.behaviour = store
    monkeypatch.setattr(eunoe, "open", lambda *_, **__: fake)
    return store


def write(folder: Path, *lines_: object, name: str = "talk.jsonl") -> Path:
    """Write a file, a line each: bytes as they are, anything else as JSON."""
    file = folder / name
    raw = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines_)
    file.write_bytes(b"".join(line + b"\n" for line in raw))
    return file


def run(folder: Path, file: Path | str, *words: str, stdin: bytes | None = None) -> Result:
    """Import a file for the user ana, as a program."""
    arguments = ["import", str(file), "--folder", str(folder / "data"), "--json", "-u", "ana"]
    return CliRunner().invoke(commands, [*arguments, *words], input=stdin)


def told(result: Result) -> tuple[int, int, list[int]]:
    """Read what the import said: added, already there, numbers of bad lines."""
    found = json.loads(result.stdout)
    return found["added"], found["already"], [bad["line"] for bad in found["bad"]]


def test_a_file_is_imported_once(folder: Path, store: Store) -> None:
    """The same file again adds nothing, with or without ids and times in its lines."""
    file = write(folder, GOOD, GOOD | {"id": "a"}, {"role": "user", "content": "x"}, GOOD)
    first, second = run(folder, file), run(folder, file)
    assert first.exit_code == second.exit_code == 0
    assert told(first) == (4, 0, [])
    assert told(second) == (0, 4, [])
    assert len(store.turns) == 4


def test_ids_come_from_name_line_and_content(folder: Path, store: Store) -> None:
    """A message without an id gets one that says where it stood and what it held."""
    file = write(folder, GOOD, GOOD | {"content": "other"})
    run(folder, file)
    assert all(re.fullmatch(r"talk\.jsonl:\d:[0-9a-f]{12}", name) for _, _, name in store.turns)
    write(folder, GOOD, GOOD | {"content": "changed"})
    assert told(run(folder, file)) == (1, 1, [])


def test_bad_lines_stop_nothing(folder: Path, store: Store) -> None:
    """Each bad line is told by its number and a sentence; all others are added."""
    bad: list[object] = [
        b"{",
        b"[1]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'{"role":"user","content":"\\ud800"}',
        b'{"role":"user","content":"\xed\xa0\x80"}',
        b'{"a":' * 3000 + b"1" + b"}" * 3000,
        b'{"role":"user","content":NaN}',
        GOOD | {"timestamp": 5},
        GOOD | {"user_id": 5},
        GOOD | {"source": ["x"]},
        GOOD | {"content": ""},
        GOOD | {"content": None},
        {"role": "user"},
    ]
    result = run(folder, write(folder, GOOD, *bad, GOOD))
    assert result.exit_code == 1
    assert told(result) == (2, 0, list(range(2, len(bad) + 2)))
    for one in json.loads(result.stdout)["bad"]:
        assert one["reason"].endswith(".")
        assert "\n" not in one["reason"]
    assert json.loads(result.stdout)["bad"][-1]["reason"] == "No text."
    assert len(store.turns) == 2


def test_odd_lines_are_still_messages(folder: Path, store: Store) -> None:
    """A mark at the head, CRLF, blanks, empty lines, a doubled key, no last line end: all fine."""
    good = json.dumps(GOOD).encode()
    twice = b'{"role":"user","role":"user","content":"a","content":"b"}'
    file = folder / "odd.jsonl"
    file.write_bytes(
        b"\xef\xbb\xbf" + good + b"\r\n\n  \n\t" + good + b" \n" + twice + b"\n" + good
    )
    result = run(folder, file)
    assert result.exit_code == 0
    assert told(result) == (4, 0, [])
    assert [turn["content"] for turn in store.turns.values()][2] == "b"


def test_a_line_may_be_long_but_not_endless(
    folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of 10 MB is a message; one over the bound is told, and the next one is read."""
    assert store.turns == {}
    long = GOOD | {"content": "x" * 10_000_000}
    assert told(run(folder, write(folder, GOOD, long, GOOD))) == (3, 0, [])
    monkeypatch.setattr(lines, "LINE_BYTES_MAX", 200)
    over = [GOOD | {"content": "y" * size} for size in (199, 200, 201, 399, 400, 401, 5000)]
    result = run(folder, write(folder, GOOD, *over, GOOD, name="other"))
    assert told(result) == (2, 0, [2, 3, 4, 5, 6, 7, 8])


def test_lines_name_user_source_agent_and_metadata(
    folder: Path, fake: FakeMemory, store: Store
) -> None:
    """What belongs to the call is taken from the line, and lines of one call go together."""
    assert store.turns == {}
    rest = {"source": "mail", "agent_id": "bot", "metadata": {"k": [1]}}
    file = write(folder, GOOD, GOOD | {"user_id": "bo"} | rest, GOOD, GOOD | {"user_id": "bo"})
    assert told(run(folder, file)) == (4, 0, [])
    calls = [arguments for call, arguments in fake.calls if call == "add"]
    assert [(call["user_id"], call["source"], len(call["messages"])) for call in calls] == [
        ("ana", "chat", 2),
        ("bo", "mail", 1),
        ("bo", "chat", 1),
    ]
    assert calls[1]["agent_id"] == "bot"
    assert calls[1]["messages"][0]["metadata"] == {"k": [1]}
    assert all(call["wait"] is False for call in calls)


def test_the_rest_of_a_refused_batch_is_added_in_order(folder: Path, store: Store) -> None:
    """One refused message among hundreds costs only itself, and the order stays."""
    many = [GOOD | {"id": f"m{n:03}"} for n in range(450)]
    for place in (0, 7, 8, 199, 200, 449):
        many[place] |= {"content": ""}
    result = run(folder, write(folder, *many))
    assert told(result) == (444, 0, [1, 8, 9, 200, 201, 450])
    taken = [name for batch in store.batches for name in batch]
    assert taken == sorted(taken)
    assert len(taken) == 444


def test_what_is_refused_later_is_told_by_line(folder: Path, store: Store) -> None:
    """A message that the writer buries is a bad line too; older dead letters are not."""
    file = write(folder, GOOD | {"id": "a"})
    run(folder, file)
    clash = write(folder, GOOD, GOOD | {"id": "a", "content": "other"}, name="clash")
    assert told(run(folder, clash)) == (1, 0, [2])
    assert len(store.letters) == 1
    assert told(run(folder, file)) == (0, 1, [])
    both = write(folder, GOOD | {"id": "b"}, GOOD | {"id": "b", "content": "other"}, name="both")
    assert told(run(folder, both)) == (1, 0, [2])


def test_standard_input_is_a_file_too(folder: Path, store: Store) -> None:
    """“-” reads standard input; its messages are known again as well."""
    raw = json.dumps(GOOD).encode()
    assert told(run(folder, "-", stdin=raw)) == (1, 0, [])
    assert told(run(folder, "-", stdin=raw)) == (0, 1, [])
    assert [name.split(":")[0] for _, _, name in store.turns] == ["-"]


def test_nothing_is_imported_from_nothing(folder: Path, store: Store) -> None:
    """An empty file is well; a missing one is wrong usage."""
    assert told(run(folder, write(folder))) == (0, 0, [])
    assert run(folder, folder / "missing").exit_code == 2
    assert store.turns == {}


def test_the_backlog_is_bounded(
    folder: Path, fake: FakeMemory, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import waits now and then until what it handed over is decided."""
    monkeypatch.setattr(importer, "_BATCH_LINES", 2)
    assert store.waiting == []
    run(folder, write(folder, *(GOOD | {"id": str(n)} for n in range(61))))
    calls = [call for call, _ in fake.calls if call in {"add", "settled"}]
    longest = max(len(part.split()) for part in " ".join(calls).split("settled"))
    assert longest == importer._BATCHES_IN_FLIGHT


def test_an_owner_that_fails_ends_the_import(folder: Path, fake: FakeMemory, store: Store) -> None:
    """When the memory becomes unavailable the import stops with exit code 3."""

    async def fail(call: str, arguments: dict[str, Any]) -> object:
        if call == "add":
            message = "The disk is full."
            raise Unavailable(message)
        return await store(call, arguments)

    fake.behaviour = fail
    result = run(folder, write(folder, GOOD))
    assert result.exit_code == 3
    assert "The disk is full." in result.stderr


def test_a_person_is_told_in_words(folder: Path, store: Store) -> None:
    """Without --json: bad lines on standard error, one line of sums on standard output."""
    file = write(folder, GOOD, b"{", GOOD)
    words = ["import", str(file), "--folder", str(folder), "-u", "ana"]
    result = CliRunner().invoke(commands, words)
    assert result.stdout == "3 lines: 2 added, 0 already there, 1 bad.\n"
    assert result.stderr.startswith("Line 2: It is not JSON")
    assert len(store.turns) == 2


def test_the_bar_is_for_terminals(
    folder: Path, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    """The progress bar is shown only to a person at a terminal, and counts the file's bytes."""
    assert store.turns == {}

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    from eunoe.cli.options import Options  # noqa: PLC0415 - only here

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    file = write(folder, GOOD)
    for as_json in (False, True):
        with (
            file.open("rb") as opened,
            importing._progress(Options(as_json=as_json), opened) as advance,
        ):
            advance(file.stat().st_size)
        if as_json:
            assert terminal.getvalue() == ""
        else:
            assert "100%" in terminal.getvalue()
            terminal.truncate(0)
            terminal.seek(0)
