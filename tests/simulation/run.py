"""The simulator: seeded histories with crashes, each compared with a history without them.

    python -m tests.simulation.run --seeds 100 --first 1

Every life of the owner of a store is a process of its own, forked from this one, which a crash
ends in the middle of a named step. At the end, for every seed: each acknowledged turn is there
once and in the journal once, what was forgotten is not, what had to be refused is a dead letter,
and each user's digest equals that of a history without crashes, of a history that never held what
was forgotten, and of a replay of the journal. One integer replays a history: --first N --seeds 1.
"""

import argparse
import asyncio
import gc
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson

from eunoe.replaying import replay
from eunoe.schemas.events import event_id
from eunoe.streams import questions, writer
from tests.properties.histories import memory_folder
from tests.simulation.faults import CRASHED, FIRST, OFTEN, STEPS, Crash
from tests.simulation.history import Client, History, Malformed, draw
from tests.simulation.life import BUGS, FLUSHED, IDLE, REPORTS, Life, live
from tests.support.memories import settings_in

__all__ = ["Outcome", "simulate"]

CRASHES_MIN: Final = 5
SLICES: Final = 7
LIVES_MAX: Final = 40
RARE: Final = "append recalls"
LIFE_S_MAX: Final = 120
RESULT: Final = "result.json"
SEEN_MIN: Final = 20
"""How often each step has to be crashed in a run of a thousand seeds."""
IMPORTED: Final = (questions, writer)
"""What the product imports late; here it comes before the first fork, for all."""


class Broken(Exception):
    """A promise that a history broke."""


@dataclass(slots=True)
class Outcome:
    """What a seed came to.

    Args:
        seed: Which.
        events: How many events its clients sent at least.
        crashes: The steps that ended a process, in order.
        trace: What determines the history: steps seen and simulated seconds, life by life.
        broken: Which promise was broken, and how; None if all was well.
    """

    seed: int
    events: int = 0
    crashes: list[str] = field(default_factory=list)
    trace: list[Any] = field(default_factory=list)
    broken: str | None = None


def simulate(seed: int, place: Path, bug: str | None = None) -> Outcome:
    """Live through one seed's history in a folder of its own.

    Args:
        seed: Any integer.
        place: An empty folder.
        bug: What is broken on purpose in the lives that crash.
    """
    outcome = Outcome(seed)
    try:
        dice = Random(seed)  # noqa: S311 - reproducible, not secret
        history = draw(dice)
        outcome.events = history.events
        crashed = _live_through(history, place / "crashed", dice, outcome, bug)
        _check(history.clients, crashed)
        calm = _live_once(history.clients, place / "calm", f"{seed}/calm")
        _check(history.clients, calm)
        never = _live_once(
            tuple(one.survivors() for one in history.clients), place / "never", f"{seed}/never"
        )
        _same("a history without crashes", crashed, calm)
        _same("a history that never held what was forgotten", crashed, never)
        _in_process(lambda: _replay(place / "crashed"), place / "crashed")
    except Broken as broken:
        outcome.broken = str(broken)
    return outcome


def _live_through(
    history: History, place: Path, dice: Random, outcome: Outcome, bug: str | None
) -> dict[str, Any]:
    place.mkdir()
    clients = history.clients
    ends = [tuple(len(one.operations) * n // SLICES for one in clients) for n in range(SLICES + 1)]
    done = [0] * len(clients)
    slice_number = 1
    keeps_flushed = dice.random() < 0.15
    failures = dice.choice((0.0, 0.0, 0.01, 0.03))
    for number in range(LIVES_MAX):
        is_last = slice_number == SLICES and len(outcome.crashes) >= CRASHES_MIN
        life = Life(
            seed=f"{outcome.seed}/{number}",
            place=place,
            clients=clients,
            begin=tuple(done),
            end=tuple(map(max, done, ends[slice_number])),
            crash=None if is_last else _crash(dice, number),
            ending="checked" if is_last else dice.choice(("closed", "killed")),
            failures=failures,
            zombie=dice.random() < 0.15,
            keeps_flushed=keeps_flushed,
            bug=bug,
        )
        reports = _in_process(lambda: live(life), place)  # noqa: B023 - called at once
        outcome.trace.append([one for one in reports if "state" not in one])
        for report in reports:
            if "client" in report:
                done[report["client"]] = report["done"]
            if "crashed" in report:
                outcome.crashes.append(report["crashed"])
            if "state" in report:
                state: dict[str, Any] = report["state"]
                return state
        _damage(place, dice, is_crash=any("crashed" in one for one in reports), power=keeps_flushed)
        slice_number = min(SLICES, slice_number + 1)
    message = f"{LIVES_MAX} lives were not enough."
    raise Broken(message)


def _crash(dice: Random, number: int) -> Crash:
    moments = ("before", "after")
    if number == 0 and dice.random() < 0.5:
        return Crash(f"{dice.choice(moments)} {dice.choice(FIRST)}", 1)
    steps = [one for one in STEPS if not one.endswith(FIRST[:2])]
    # Few lives come as far as to publish what was served, so its crash is planned more often.
    step = dice.choice(steps + [one for one in steps if one.endswith(RARE)] * 2)
    is_often = step.partition(" ")[2] in OFTEN or step.startswith("before commit ")
    return Crash(step, dice.choice((1, 1, 2, 3, 5, 8)) if is_often else 1)


def _damage(place: Path, dice: Random, *, is_crash: bool, power: bool) -> None:
    """Do to the files what the end of a machine may do: tear the last write, lose the unflushed."""
    if not is_crash:
        return
    data = place / "data"
    for path in sorted(data.glob("*.sqlite-wal")):
        if path.stat().st_size and dice.random() < 0.3:
            with path.open("ab") as file:
                file.write(dice.randbytes(dice.randint(1, 4_000)))
    flushed = place / FLUSHED
    if power and flushed.exists() and dice.random() < 0.5:
        shard = data / "episodes" / "shard"
        shutil.rmtree(shard, ignore_errors=True)
        shutil.copytree(flushed, shard)


def _live_once(clients: Sequence[Client], place: Path, seed: str) -> dict[str, Any]:
    place.mkdir()
    life = Life(
        seed=seed,
        place=place,
        clients=tuple(clients),
        begin=(0,) * len(clients),
        end=tuple(len(one.operations) for one in clients),
        ending="checked",
    )
    reports = _in_process(lambda: live(life), place)
    return next(one["state"] for one in reports if "state" in one)


def _in_process(work: Callable[[], None], place: Path) -> list[dict[str, Any]]:
    """Do work in a process of its own; returns what it reported."""
    reports = place / REPORTS
    reports.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        signal.alarm(LIFE_S_MAX)
        try:
            work()
        except BaseException:  # noqa: BLE001 - the top of a process
            with reports.open("ab") as file:
                file.write(orjson.dumps({"failed": traceback.format_exc()}) + b"\n")
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    lines = reports.read_bytes().splitlines() if reports.exists() else []
    found = [orjson.loads(line) for line in lines]
    failed = next((one["failed"] for one in found if "failed" in one), None)
    code = os.waitstatus_to_exitcode(status)
    if failed is not None or code not in {0, CRASHED}:
        message = failed or f"A process ended with {code}."
        raise Broken(message)
    return found


def _replay(place: Path) -> None:
    into = place / "replayed"
    done = asyncio.run(replay(settings_in(place), into, tell=lambda _: None))
    if done.different:
        message = f"A replay differs for {done.different}."
        raise Broken(message)


def _check(clients: Sequence[Client], state: dict[str, Any]) -> None:
    for client, user in zip(clients, state["users"], strict=True):
        kept = sorted(client.kept)
        malformed = sum(isinstance(step, Malformed) for step in client.operations)
        if user["turns"] != kept or user["counted"] != len(kept):
            message = f"{client.user_id} has {user['counted']}, {user['turns']} and not {kept}."
            raise Broken(message)
        refused = sorted(
            str(event_id(client.tenant_id, client.user_id, "chat", one)) for one in client.refused
        )
        if user["malformed"] < malformed or user["refused"] != refused:
            message = f"{client.user_id}'s dead letters are not those of what was refused: {user}."
            raise Broken(message)
    twice = [one for one, times in Counter(state["journaled"]).items() if times > 1]
    if twice or state["trouble"] or state["waiting"]:
        message = f"Twice journaled: {twice}; trouble: {state['trouble']}, {state['waiting']}."
        raise Broken(message)


def _same(what: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    pairs = zip(one["users"], other["users"], strict=True)
    different = [n for n, (left, right) in enumerate(pairs) if left["digest"] != right["digest"]]
    if different:
        message = f"The state of the users {different} isn't that of {what}."
        raise Broken(message)


def _outcomes(
    seeds: Sequence[int], jobs: int, folder: Path | None, bug: str | None
) -> Iterator[Outcome]:
    """Simulate seeds, some at a time, each from a process of its own."""
    running: dict[int, tuple[int, Path]] = {}
    waiting = list(reversed(seeds))
    while waiting or running:
        while waiting and len(running) < jobs:
            seed = waiting.pop()
            place = Path(tempfile.mkdtemp(prefix=f"eunoe-sim-{seed}-", dir=folder))
            process = os.fork()
            if process == 0:
                found = simulate(seed, place, bug)
                fields = {name: getattr(found, name) for name in Outcome.__slots__}
                (place / RESULT).write_bytes(orjson.dumps(fields))
                os._exit(0)
            running[process] = (seed, place)
        process, _ = os.wait()
        seed, place = running.pop(process)
        try:
            yield Outcome(**orjson.loads((place / RESULT).read_bytes()))
        except FileNotFoundError:
            yield Outcome(seed, broken="The simulator itself ended.")
        shutil.rmtree(place, ignore_errors=True)


def main(words: Sequence[str] | None = None) -> int:
    """Simulate, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--first", type=int, help="the first seed; without it a random one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at a time")
    parser.add_argument("--disk", type=int, default=0, help="how many of them on the disk")
    parser.add_argument("--bug", choices=sorted(BUGS), help="break the code on purpose")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each seed")
    chosen = parser.parse_args(words)
    first = chosen.first if chosen.first is not None else int.from_bytes(os.urandom(4), "big")
    seeds = list(range(first, first + chosen.seeds))
    print(f"seeds {seeds[0]} to {seeds[-1]}", flush=True)
    gc.freeze()  # what is here already isn't copied into every process
    began = time.monotonic()
    crashed: Counter[str] = Counter()
    outcomes = []
    in_memory = memory_folder()  # crashes are injected, and no power is lost
    memory = None if in_memory is None else Path(in_memory)
    for part, folder in ((seeds[: chosen.disk], None), (seeds[chosen.disk :], memory)):
        for outcome in _outcomes(part, chosen.jobs, folder, chosen.bug):
            outcomes.append(outcome)
            crashed.update(outcome.crashes)
            _tell(outcome, as_json=chosen.json)
            if sys.stderr.isatty():
                print(f"\r{len(outcomes)} of {len(seeds)}", end="", file=sys.stderr)
    return _sum_up(outcomes, crashed, time.monotonic() - began)


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        fields = {name: getattr(outcome, name) for name in Outcome.__slots__}
        print(orjson.dumps(fields).decode(), flush=True)
    elif outcome.broken is not None:
        print(f"seed {outcome.seed} broke a promise (make sim SEED={outcome.seed} replays it):")
        print(f"  crashes: {', '.join(outcome.crashes)}\n{outcome.broken}", flush=True)


def _sum_up(outcomes: Sequence[Outcome], crashed: Counter[str], took_s: float) -> int:
    names = (*STEPS, IDLE)
    print("times that a process ended at each step:")
    for name in names:
        print(f"  {crashed[name]:6} {name}")
    events = sum(one.events for one in outcomes)
    broken = [one.seed for one in outcomes if one.broken is not None]
    print(
        f"{len(outcomes)} histories, {events} events, {crashed.total()} crashes, "
        f"{took_s:.0f} s: {len(broken)} broke a promise"
    )
    seldom = [name for name in names if crashed[name] < SEEN_MIN]
    if len(outcomes) >= 1_000 and seldom:
        print(f"crashed fewer than {SEEN_MIN} times: {', '.join(seldom)}")
        return 1
    return 1 if broken else 0


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets is part of what is replayed
        os.execve(  # noqa: S606 - this program again
            sys.executable,
            [sys.executable, "-m", "tests.simulation.run", *sys.argv[1:]],
            os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"},
        )
    sys.exit(main())
