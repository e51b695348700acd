"""A process that dies while a shard is optimised: `python -m tests.contract.optimise_child …`.

Its words are FOLDER STEP: it applies `BEFORE`, flushes, optimises, applies and flushes `MEANWHILE`
while the copy is optimised, and ends itself at the step, as when it is killed. At a step of
"settle" that is when the store is closed; an opening goes through the same steps.
"""

import asyncio
import os
import sys
from functools import wraps
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from eunoe.infra.embedded import episodes, shard_slots
from eunoe.infra.embedded.episodes import EdgeEpisodes
from eunoe.infra.embedded.optimising import Optimiser, Rebuild
from eunoe.schemas.ports import Stored
from tests.support.records import DIMENSION, erasure, ident, new, stored, touch, vector

__all__ = ["BEFORE", "DIED", "MEANWHILE", "RECORDS", "STEPS"]

DIED: Final = 86
BEFORE: Final[tuple[Stored, ...]] = (
    *(stored(n, f"t{n}", chunks=[(f"t{n}", vector(1.0, n), [n % 3])]) for n in range(20)),
    new(20, "t20", "m1", vector(1.0, 2.0)),
    new(21, "t21", "m2", vector(2.0, 1.0)),
)
MEANWHILE: Final[tuple[Stored, ...]] = (
    new(22, "t22", "m3", vector(3.0, 1.0)),
    touch(23, "t23", "m1", ["t20", "t23"], importance=0.75),
    erasure(24, ["t3", "t21"], memories=(ident("m2"),)),
    stored(25, "t25", chunks=[("t25", vector(1.0, 9.0), [2])]),
)
RECORDS: Final = (*BEFORE, *MEANWHILE)
WITHIN: Final[dict[str, tuple[Any, str]]] = {
    "begin": (EdgeEpisodes, "_begin_copy"),
    "copy": (EdgeEpisodes, "_copy_on"),
    "run": (Rebuild, "run"),
    "load": (EdgeEpisodes, "_load_copy"),
    "level": (EdgeEpisodes, "_level"),
    "write": (EdgeEpisodes, "_write"),
    "switch": (episodes, "switch"),
    "end": (EdgeEpisodes, "_end_rebuild"),
    "remove": (EdgeEpisodes, "_remove_spare"),
    "close": (EdgeEpisodes, "_close"),
    "settle": (episodes, "settle"),
    "settle remove": (shard_slots, "remove"),
    "settle sync": (shard_slots, "durable_sync"),
    "settle rename": (Path, "rename"),
    "settle unlink": (Path, "unlink"),
    "seal": (episodes, "write_seal"),
}
STEPS: Final = (
    *(f"before {step}" for step in WITHIN),
    *(f"after {step}" for step in ("copy", "run", "write", "switch", "remove", "seal")),
    *(f"after settle {step}" for step in ("remove", "sync", "rename", "unlink")),
)
"""After the others nothing has changed when the next one begins."""


def die() -> None:
    """End this process at once."""
    os._exit(DIED)


def arm(step: str) -> None:
    """End this process at the step, from now on."""
    moment, _, name = step.partition(" ")
    owner, function = WITHIN[name]
    original: Any = getattr(owner, function)

    @wraps(original)
    def work(*given: Any, **named: Any) -> Any:
        if moment == "before":
            die()
        result = original(*given, **named)
        die()
        return result

    @wraps(original)
    async def wait(*given: Any, **named: Any) -> None:
        if moment == "before":
            die()
        await original(*given, **named)
        die()

    setattr(owner, function, wait if asyncio.iscoroutinefunction(original) else work)


async def main(folder: str, step: str) -> None:
    """Optimise, and die."""
    store = await EdgeEpisodes.open(Path(folder), DIMENSION)
    await store.apply(BEFORE)
    run = Optimiser.run

    async def run_and_write(optimiser: Optimiser) -> None:
        await run(optimiser)
        await store.apply(MEANWHILE)
        await store.flush()
        if step.partition(" ")[2] == "write":
            arm(step)

    _, name = step.split(" ", 1)
    is_late = name.startswith("settle")
    if not is_late and name != "write":
        arm(step)
    with patch.object(Optimiser, "run", run_and_write):
        await store.optimise()
    if is_late:
        arm(step)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
