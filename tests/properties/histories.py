"""Random histories of one user: what was said, in which sessions, and what was forgotten."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

import eunoe
from tests.support.places import memory_folder
from tests.support.tools import START

__all__ = [
    "LINES",
    "QUESTIONS",
    "USER",
    "Plan",
    "Said",
    "feed",
    "in_folder",
    "live",
    "memory_folder",
    "plans",
    "survivors",
    "turns",
]

Result = TypeVar("Result")
MEMORY: Final = memory_folder()
"""Where stores of examples lie: nothing here loses its power, so nothing waits for a disk."""
USER: Final = "ana"
LINES: Final = (
    "I prefer aisle seats on long flights.",
    "I prefer aisle seats on long flights",
    "I prefer window seats on short trips.",
    "My sister Nora moved to Lisbon in May.",
    "My sister Nora moved to Lisbon in May!",
    "My sister Nora moved to Lisbon in June.",
    "My favourite colour is green.",
    "My favourite colour is blue.",
    "I live in Porto.",
    "I live in Berlin now.",
    "Remember that the boiler is serviced every October.",
    "Remember that the boiler gets serviced every October.",
    "We decided to use Postgres for the Orion project. I have to tell Marta on Friday.",
    "I have an appointment with Doctor Weber on Monday at 9.",
    "thanks, that helps",
    "ok",
    "我对花生过敏。",
    "我住在上海。",
    "我搬到了杭州。",
    "我妹妹下个月结婚。",
    "我妹妹下个月要结婚。",
    "记住:周报每周五下午交。",
    "我正在读《三体》。",
    "好的",
)
"""Near duplicates, exact repeats (a line is drawn again), slots, preferences, small talk."""
QUESTIONS: Final = [
    "What is my favourite colour?",
    "Where do I live?",
    "Lisbon Nora moved",
    "aisle seats flights",
    "boiler October",
    "我住在哪里?",
    "妹妹结婚",
]


@dataclass(frozen=True, slots=True)
class Said:
    """A turn of a history; `number` makes its id."""

    number: int
    text: str
    role: str
    name: str | None
    session: str | None
    time_min: int

    @property
    def ident(self) -> str:
        """The producer's id."""
        return f"t{self.number}"

    def message(self) -> dict[str, Any]:
        """Return what `add` takes."""
        return {
            "id": self.ident,
            "role": self.role,
            "content": self.text,
            "name": self.name,
            "session_id": self.session,
            "time": START + timedelta(minutes=self.time_min),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """Turns in calls to `add`, and after each call the turns that are forgotten then."""

    steps: tuple[tuple[tuple[Said, ...], tuple[str, ...]], ...]


@st.composite
def turns(draw: st.DrawFn, least: int = 4, most: int = 25) -> list[Said]:
    """Draw turns of one or two sessions; their times go on, but now and then one comes late."""
    sessions = draw(st.sampled_from([("s1",), ("s1", "s2"), ("s1", None)]))
    lines = draw(st.lists(st.sampled_from(LINES), min_size=least, max_size=most))
    said = []
    for number, text in enumerate(lines):
        late = draw(st.sampled_from([0, 0, 0, 0, 2000]))
        said.append(
            Said(
                number,
                text,
                draw(st.sampled_from(["user", "user", "user", "assistant"])),
                draw(st.sampled_from([None, None, None, "Ben"])),
                draw(st.sampled_from(sessions)),
                10 * number - late,
            )
        )
    return said


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw a history with one to three forgets in it."""
    said = draw(turns())
    steps = []
    known: list[str] = []
    while said:
        size = draw(st.integers(1, max(1, len(said))))
        call, said = tuple(said[:size]), said[size:]
        known += [one.ident for one in call]
        gone: tuple[str, ...] = ()
        if not said or draw(st.booleans()):
            gone = tuple(draw(st.lists(st.sampled_from(known), unique=True, max_size=6)))
            known = [ident for ident in known if ident not in gone]
        steps.append((call, gone))
    return Plan(tuple(steps))


def survivors(plan: Plan) -> list[Said]:
    """Return the turns that no forget of a plan names, in order."""
    gone = {ident for _, forgotten in plan.steps for ident in forgotten}
    return [one for call, _ in plan.steps for one in call if one.ident not in gone]


async def feed(
    memory: eunoe.Memory, said: Sequence[Said], *, user: str = USER, wait: bool = True
) -> None:
    """Add turns in one call."""
    await memory.add([one.message() for one in said], user_id=user, wait=wait)


async def live(memory: eunoe.Memory, plan: Plan) -> None:
    """Go through a plan: add, forget, add, forget."""
    for call, gone in plan.steps:
        await feed(memory, call)
        if gone:
            await memory.forget(list(gone), user_id=USER)


def in_folder(work: Callable[[Path], Awaitable[Result]]) -> Result:
    """Run a coroutine function with a folder of its own, which is then removed."""

    async def run() -> Result:
        with TemporaryDirectory(prefix="eunoe-", dir=MEMORY) as name:
            return await work(Path(name))

    return asyncio.run(run())
