"""`eunoe demo`: what it searches for, and that it notices when a memory doesn't keep its word."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

import eunoe
from eunoe.cli import commands, touring, traces
from tests.unit.eunoe.fake_memory import RESULTS, FakeMemory

BUNDLE = Path(eunoe.cli.__path__[0]).parent / "demo.jsonl"


@pytest.mark.parametrize(
    ("text", "known", "words"),
    [
        ("My parrot is Zorblat, she is old", "my parrot", ["Zorblat"]),
        ("我的鹦鹉叫做左布拉", "鹦鹉", ["我的鹦鹉叫做左布拉"]),
        ("我爱Zorblat和左布拉吗", "", ["Zorblat", "我爱", "和左布拉吗"]),
        ("a an the 12345 我", "", []),
        ("Grüße an naïve Ωμέγα", "", ["Grüße", "naïve", "Ωμέγα"]),
    ],
)
def test_words_by_which_a_text_can_be_told(text: str, known: str, words: list[str]) -> None:
    """Words of four letters and Chinese runs of two characters count, but for familiar ones."""
    assert traces.rare_words(text, known) == words


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("word", "stored"),
    [
        ("Zorblat", "my Zorblat."),
        ("Zorblat", "zorblat"),
        ("左布拉", "叫左布拉"),
        ("叫做左布拉", "…左布拉…"),
        ("左布", "左布"),
    ],
)
def test_words_are_found_wherever_they_stand(
    word: str, stored: str, encoding: str, tmp_path: Path
) -> None:
    """A word is found in any file, in any of three encodings, in part if it is Chinese."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "empty").touch()
    file = tmp_path / "deep" / "wal"
    file.write_bytes(b"\x00\xff\x01" + stored.encode(encoding) + b"\x00" * 5000)
    assert traces.find_words(tmp_path, [word, "absent", "不在"]) == [traces.Trace(word, "deep/wal")]
    file.write_bytes(b"\x00\xff\x01")
    assert traces.find_words(tmp_path, [word]) == []


def test_names_of_files_count(tmp_path: Path) -> None:
    """A word in a file's name is found too."""
    (tmp_path / "Zorblat.json").touch()
    assert traces.find_words(tmp_path, ["Zorblat"]) == [traces.Trace("Zorblat", "Zorblat.json")]


def test_the_bundled_conversation_is_well_formed() -> None:
    """Ids are unique, times have an offset and rise in a session, both languages are there."""
    messages = [orjson.loads(line) for line in BUNDLE.read_bytes().splitlines()]
    assert len({message["id"] for message in messages}) == len(messages)
    assert {message["role"] for message in messages} == {"user", "assistant"}
    english = [message for message in messages if message["id"].startswith("en")]
    chinese = [message for message in messages if message["id"].startswith("zh")]
    assert len(english) >= 40
    assert len(chinese) >= 30
    assert len(english) + len(chinese) == len(messages)
    assert all(message["time"][-6] in "+-" for message in messages)
    for session in {message["session_id"] for message in messages}:
        times = [message["time"] for message in messages if message["session_id"] == session]
        assert times == sorted(times)


class Shop:
    """A memory that finds everything by its words, and may break a promise."""

    def __init__(self, folder: Path, breaks: str) -> None:
        self.folder = folder
        self.breaks = breaks
        self.texts: dict[str, str] = {}

    async def __call__(self, call: str, arguments: dict[str, Any]) -> object:
        """Answer a call."""
        if call == "add":
            given = arguments["messages"]
            for message in given if isinstance(given, list) else [given]:
                self.texts[message["id"]] = message["content"]
            if self.breaks == "plain before":
                (self.folder / "log").write_text("\n".join(self.texts.values()), "utf-16")
        elif call == "forget":
            if self.breaks == "plain after":
                (self.folder / "wal").write_text(self.texts[arguments["ids"][0]], "utf-8")
            if self.breaks != "keeps":
                del self.texts[arguments["ids"][0]]
        elif call == "search":
            return [] if self.breaks == "finds nothing" else self._hits(arguments["query"])
        return RESULTS[call]

    def _hits(self, query: str) -> list[Any]:
        def shared(text: str) -> int:
            pairs = {query[place : place + 2] for place in range(len(query) - 1)}
            return sum(pair in text for pair in pairs)

        best = sorted(self.texts, key=lambda name: -shared(self.texts[name]))[:5]
        hit = RESULTS["search"][0]
        return [
            hit.model_copy(update={"id": name, "text": self.texts[name], "sources": (name,)})
            for name in best
        ]


def tour(
    folder: Path, fake: FakeMemory, patch: pytest.MonkeyPatch, breaks: str, *words: str
) -> Result:
    """Take the tour on a memory that breaks a promise."""

    @contextmanager
    def fresh(_: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(folder=folder)

    fake.behaviour = Shop(folder, breaks)
    patch.setattr(touring, "_fresh", fresh)
    patch.setattr(eunoe, "open", lambda *_, **__: fake)
    return CliRunner().invoke(commands, ["demo", *words])


OWN = ("--say", "我的鹦鹉叫左布拉，住在 Qwexham", "--ask", "我的鹦鹉叫什么")


@pytest.mark.parametrize("words", [(), OWN], ids=["bundled", "own"])
def test_the_tour_ends_well(
    words: tuple[str, ...], folder: Path, fake: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory that keeps its promises is shown in both languages and said to be proved."""
    (folder / "schema").write_text("parrot")
    result = tour(folder, fake, monkeypatch, "", *words)
    assert result.exit_code == 0, result.output
    assert "Where do I live now?" in result.stdout
    assert "我的猫叫什么名字？" in result.stdout
    assert "Proved:" in result.stdout
    assert (words[1] if words else "Gdynia") in result.stdout


@pytest.mark.parametrize("words", [(), OWN], ids=["bundled", "own"])
@pytest.mark.parametrize(
    ("breaks", "sentence"),
    [
        ("plain before", "before forgetting"),
        ("plain after", "after forgetting"),
        ("keeps", "still finds"),
        ("finds nothing", "didn't find"),
    ],
)
def test_the_tour_notices_a_broken_promise(
    words: tuple[str, ...],
    breaks: str,
    sentence: str,
    folder: Path,
    fake: FakeMemory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Plain text on the disk, an answer that stays, or one that never came: exit code 1."""
    result = tour(folder, fake, monkeypatch, breaks, *words)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert "Proved:" not in result.stdout


def test_the_tour_is_one_document_for_a_program(
    folder: Path, fake: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --json the tour prints one JSON document that holds everything it found."""
    result = tour(folder, fake, monkeypatch, "", "--json", *OWN)
    found = json.loads(result.stdout)
    assert found["words"] == ["Qwexham", "我的鹦鹉叫左布拉", "住在"][: len(found["words"])]
    assert found["before"]["sources"] == ["said"]
    assert found["after"]["text"] is None
    assert found["problems"] == found["plain_before"] == found["plain_after"] == []


def test_a_text_without_a_word_of_its_own_proves_nothing(
    folder: Path, fake: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If nothing of the text can be searched for, the tour says so and fails."""
    result = tour(folder, fake, monkeypatch, "", "--say", "I am 12", "--ask", "I am 12")
    assert result.exit_code == 1
    assert "rarer" in result.stderr


def test_say_and_ask_belong_together() -> None:
    """One without the other is wrong usage."""
    assert CliRunner().invoke(commands, ["demo", "--say", "x"]).exit_code == 2


def test_the_demo_keeps_off_a_folder_in_use(folder: Path) -> None:
    """A folder that holds something is refused."""
    (folder / "mine").touch()
    result = CliRunner().invoke(commands, ["demo", "--folder", str(folder)])
    assert result.exit_code == 1
    assert "isn't empty" in result.stderr
