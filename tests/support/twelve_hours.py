"""Twelve hours of load in one process, in minutes: `python -m tests.support.twelve_hours FOLDER`.

The loop's time is simulated; encoder, recogniser and stores are the real ones. The store holds
3,000 turns when it begins. One session goes on all the time, with a turn each minute, a search
after each third, everything read every half hour, and a turn forgotten every hour. After the
first hour, which fills caches, and after each of the twelve that follow, the resident memory is
printed as a line of JSON.
"""

import asyncio
import gc
import json
import os
import sys
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

import eunoe
from eunoe.infra.wiring import Tools
from tests.simulation.loop import SimulatedLoop
from tests.support.memories import settings_in
from tests.support.tools import START

__all__ = ["HOURS"]

HOURS: Final = 12
TURN_S: Final = 60
BEFORE: Final = 3_000
PEOPLE: Final = ("Ana", "Tom", "Mira", "王芳", "李强")
PLACES: Final = ("Lisbon", "Oslo", "北京", "苏州", "Kyoto")
SHAPES: Final = (
    "I met {person} in {place} and we talked about plan {number}.",
    "haha, that sounds lovely, tell me more about {number}",
    "我和{person}去了{place}，聊到第{number}件事。",
    "好的，没问题，我再想想 {number}。",
    "Remember that {person} wants box {number} sent to {place}.",
    "我住在{place}，门牌是{number}号。",
)
QUESTIONS: Final = (
    "Where do I live?",
    "Who wants a box?",
    "我和谁去了北京?",
    "plan {number}",
    "第{number}件事",
)


class LoopClock:
    """`ports.Clock` with the loop's time."""

    def now(self) -> datetime:
        """Return the moment."""
        return START + timedelta(seconds=asyncio.get_running_loop().time())


def resident_bytes() -> int:
    """Return what the process has in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def turn(dice: Random, number: int) -> dict[str, str]:
    """Make up a turn."""
    text = dice.choice(SHAPES).format(
        person=dice.choice(PEOPLE), place=dice.choice(PLACES), number=number
    )
    role = dice.choice(("user", "user", "assistant"))
    return {"id": f"t{number}", "role": role, "content": text}


async def hour(memory: eunoe.Memory, dice: Random, first: int) -> None:
    """Live through an hour."""
    for number in range(first, first + 3_600 // TURN_S):
        await asyncio.sleep(TURN_S)
        await memory.add(turn(dice, number), session_id="one", user_id="ana")
        if number % 3 == 0:
            question = dice.choice(QUESTIONS).format(number=dice.randrange(number + 1))
            await memory.search(question, user_id="ana")
        if number % 30 == 0:
            await memory.list(user_id="ana")
            await memory.profile(user_id="ana")
    await memory.forget(f"t{first}", user_id="ana")


async def main(place: str) -> None:
    """Live through all hours."""
    dice = Random(12)  # noqa: S311 - reproducible, not secret
    async with eunoe.open(
        settings_in(Path(place)), serve=False, tools=Tools(clock=LoopClock())
    ) as memory:
        before = [turn(dice, number) for number in range(BEFORE)]
        await memory.add(before, session_id="one", user_id="ana")
        for number in range(1 + HOURS):
            await hour(memory, dice, BEFORE + number * 3_600 // TURN_S)
            turns = (await memory.stats(user_id="ana")).turns
            print(json.dumps({"resident_bytes": resident_bytes(), "turns": turns}), flush=True)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(Random(0))) as runner:  # noqa: S311 - as above
        runner.run(main(sys.argv[1]))
