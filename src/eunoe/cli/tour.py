"""What the demo does: a small conversation, questions in two languages, a proof of forgetting."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files as resources
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Final

import orjson

from .rendering import field_row, plain, report_text, table
from .traces import Trace, files, find_words, rare_words

if TYPE_CHECKING:
    from ..schemas.results import ForgetReport, ProfileField
    from .running import AnyMemory

__all__ = ["Answer", "Said", "Tour", "take_tour"]

_USER: Final = "mira"
_INDENT: Final = "   "
_HITS: Final = 5
_QUESTIONS: Final = (
    "Where do I live now?",
    "What am I allergic to?",
    "Who wants to work with us on the gauge network?",
    "我的猫叫什么名字？",
    "我喝咖啡加糖吗？",
    "成都的行程改到什么时候了？",
)
_LAST_TURN: Final = "en-27"
_LAST_QUESTION: Final = "How often did I fail my driving test?"


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the caller, and the question that asks for them."""

    text: str
    question: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The best answer to a question, or what stands in its place."""

    question: str
    text: str | None
    sources: tuple[str, ...] = ()
    day: str | None = None
    score: float | None = None


@dataclass(slots=True)
class Tour:
    """Everything the demo found out.

    Args:
        turns: Turns of the conversation, by language.
        answers: Questions in both languages and their best answers.
        profile: Slots and preferences.
        told: The text that is forgotten.
        words: Its words that nothing else holds, which are searched for.
        files: Files that were searched.
        plain_before: Words found in plain before forgetting.
        before: The answer to its question before forgetting.
        forgotten: What the forget did.
        plain_after: Words found in plain after forgetting.
        after: The answer to its question after forgetting.
        problems: Sentences; empty if everything held.
    """

    turns: dict[str, int] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    profile: "list[ProfileField]" = field(default_factory=list)
    told: str = ""
    words: list[str] = field(default_factory=list)
    files: int = 0
    plain_before: list[Trace] = field(default_factory=list)
    before: Answer | None = None
    forgotten: "ForgetReport | None" = None
    plain_after: list[Trace] = field(default_factory=list)
    after: Answer | None = None
    problems: list[str] = field(default_factory=list)


async def take_tour(
    memory: "AnyMemory", folder: Path, said: Said | None, tell: Callable[[str], None]
) -> Tour:
    """Go through the demo on a fresh memory.

    Args:
        memory: The façade.
        folder: Its data folder.
        said: The caller's words; None means those of a turn of the bundled conversation.
        tell: Prints lines for a person.

    Returns:
        What was found out.
    """
    messages = [orjson.loads(line) for line in _bundle().splitlines()]
    if said is None:
        told = next(message for message in messages if message["id"] == _LAST_TURN)
        question = _LAST_QUESTION
    else:
        told = {"id": "said", "role": "user", "content": said.text}
        question = said.question
    others = [message for message in messages if message is not told]
    guide = _Guide(memory, folder, tell)
    await guide.remember(others)
    await guide.ask()
    await guide.show_profile()
    known = " ".join(message["content"] for message in others)
    await guide.say(told, question, known)
    await guide.forget(told, question)
    return guide.tour


class _Guide:
    """Does each part of the tour, tells it and notes what came out."""

    def __init__(self, memory: "AnyMemory", folder: Path, tell: Callable[[str], None]) -> None:
        self._memory = memory
        self._folder = folder
        self._tell = tell
        self.tour = Tour()

    async def remember(self, messages: Sequence[Mapping[str, str]]) -> None:
        languages = ("zh" if message["id"].startswith("zh") else "en" for message in messages)
        self.tour.turns = dict(Counter(languages))
        await self._memory.add(messages, user_id=_USER)
        days = len({message["time"][:10] for message in messages})
        counts = f"{self.tour.turns['en']} English and {self.tour.turns['zh']} Chinese"
        self._tell(f"1. Mira said {counts} turns on {days} days; they are remembered.\n")

    async def ask(self) -> None:
        self._tell("2. She asks in both languages. Every answer names the turn that it rests on.")
        for question in _QUESTIONS:
            answer = await self._answer(question)
            self.tour.answers.append(answer)
            self._tell(_told(answer))
            if answer.text is None:
                self.tour.problems.append(f"Nothing was found for “{question}”.")

    async def show_profile(self) -> None:
        self.tour.profile = await self._memory.profile(user_id=_USER)
        self._tell("\n3. What holds of her now, exact and versioned:")
        self._tell(indent(table(map(field_row, self.tour.profile)), _INDENT))

    async def say(self, told: Mapping[str, str], question: str, known: str) -> None:
        """Remember what will be forgotten, and see that it is found, and nowhere in plain."""
        tour = self.tour
        tour.told = told["content"]
        rare = rare_words(tour.told, known)
        # A word that the folder holds before the text came proves nothing, such as a column's.
        there = {trace.word for trace in find_words(self._folder, rare)}
        tour.words = [word for word in rare if word not in there]
        if not tour.words:
            tour.problems.append("The text has no word of its own to search for; say a rarer one.")
        await self._memory.add(told, user_id=_USER)
        tour.before = await self._answer(question, resting_on=told["id"])
        self._tell(f"\n4. She said: “{plain(tour.told)}”")
        self._tell(_told(tour.before))
        if tour.before.text is None:
            tour.problems.append(f"“{question}” didn't find what was said.")
        tour.plain_before = self._search("before")

    async def forget(self, told: Mapping[str, str], question: str) -> None:
        """Forget it, and see that it is gone."""
        tour = self.tour
        tour.forgotten = await self._memory.forget([told["id"]], user_id=_USER)
        self._tell("\n5. She wants it forgotten.")
        self._tell(indent(report_text(tour.forgotten), _INDENT))
        tour.after = await self._answer(question, resting_on=told["id"])
        if tour.after.text is None:
            self._tell(f"{_INDENT}{plain(question)}\n{_INDENT}  – It isn't found any more.")
        else:
            self._tell(_told(tour.after))
            tour.problems.append(f"“{question}” still finds what was forgotten.")
        tour.plain_after = self._search("after")

    def _search(self, when: str) -> list[Trace]:
        searched = files(self._folder)
        self.tour.files = len(searched)
        found = find_words(self._folder, self.tour.words)
        words = ", ".join(map(plain, self.tour.words))
        verdict = "none" if not found else ", ".join(f"{t.word} in {t.file}" for t in found)
        self._tell(
            f"{_INDENT}{len(searched)} files searched for {words} "
            f"as UTF-8 and UTF-16: {verdict} found in plain."
        )
        self.tour.problems += (
            f"“{trace.word}” stands in plain in {trace.file} {when} forgetting." for trace in found
        )
        return found

    async def _answer(self, question: str, resting_on: str | None = None) -> Answer:
        hits = await self._memory.search(question, user_id=_USER, limit=_HITS)
        for hit in hits:
            if resting_on is None or resting_on in hit.sources:
                day = hit.said_at.date().isoformat()
                return Answer(question, hit.text, hit.sources, day, round(hit.score, 3))
        return Answer(question, None)


def _told(answer: Answer) -> str:
    if answer.text is None:
        return f"{_INDENT}{plain(answer.question)}\n{_INDENT}  – Nothing is found."
    source = f"{answer.day}, {', '.join(answer.sources)}, score {answer.score:.2f}"
    return f"{_INDENT}{plain(answer.question)}\n{_INDENT}  – {plain(answer.text)}  [{source}]"


def _bundle() -> str:
    return (resources("eunoe") / "demo.jsonl").read_text("utf-8")
