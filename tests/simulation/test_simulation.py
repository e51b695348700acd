"""The simulator in small: a few fixed seeds, one of them replayed, and what is broken is found."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from tests.simulation.faults import STEPS
from tests.simulation.history import Clash, Forget, Malformed, Zone, draw
from tests.simulation.life import BUGS

pytestmark = pytest.mark.timeout(400)

ROOT: Final = Path(__file__).parents[2]
FIRST: Final = 11
SEEDS: Final = 3


def simulate(*words: str) -> tuple[int, list[dict[str, Any]]]:
    """Run the simulator; returns its exit code and what it said of each seed."""
    command = [sys.executable, "-m", "tests.simulation.run", "--json", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stderr
    return done.returncode, [json.loads(line) for line in lines]


def test_seeded_histories_keep_every_promise() -> None:
    """Crashed histories equal those without crashes, those that never held, and their replay."""
    code, found = simulate("--first", str(FIRST), "--seeds", str(SEEDS))
    assert [one["broken"] for one in found] == [None] * SEEDS
    assert code == 0
    assert all(one["events"] >= 200 and len(one["crashes"]) >= 5 for one in found)
    assert {step for one in found for step in one["crashes"]} <= {*STEPS, "idle"}


def test_one_integer_replays_a_history() -> None:
    """The same seed goes through the same steps, in the same order, and ends at the same ones."""
    words = ("--first", str(FIRST), "--seeds", "1")
    (_, (first,)), (_, (second,)) = simulate(*words), simulate(*words)
    assert first["trace"] == second["trace"]
    assert first["crashes"] == second["crashes"]


@pytest.mark.parametrize("bug", sorted(BUGS))
def test_a_broken_promise_is_found(bug: str) -> None:
    """With the code broken on purpose a seed fails, and the exit code says so."""
    code, found = simulate("--first", str(FIRST), "--seeds", "4", "--bug", bug)
    assert code == 1
    assert any(one["broken"] for one in found)


def test_histories_hold_what_they_promise() -> None:
    """Each history has 200 events of three users, and over some seeds every kind of command."""
    histories = [draw(Random(seed)) for seed in range(20)]  # noqa: S311 - reproducible, not secret
    assert all(one.events >= 200 and len(one.clients) >= 3 for one in histories)
    for kind in (Forget, Zone, Clash, Malformed):
        assert all(
            any(isinstance(step, kind) for client in one.clients for step in client.operations)
            for one in histories
        )
