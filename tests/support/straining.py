"""A process that uses a store while its parent takes resources away from it.

`python -m tests.support.straining FOLDER SEED` opens the store under FOLDER with cheap tools and
answers each line of standard input with a line of JSON:

    step            adds, settles or forgets; {"added": ids}, {"forgot": id}, {"settled": true}
    free BYTES      files may grow by so many bytes and no more; {"limit": bytes}
    files           no more files may be open than are
    lift            files may grow again, and more may be open
    settle          waits until all is decided
    read            {"turns": {id: text}, "digest": …}

What an operation raises on purpose is answered as {"error": class, "sentence": text}. It ends
with its input. It may also be given the numbers of open files that it may have:
`… FOLDER SEED FILES`.
"""

import asyncio
import json
import random
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import eunoe
from eunoe.schemas.errors import EunoeError, Unavailable
from tests.properties.histories import LINES
from tests.support.memories import open_memory

__all__ = ["USER", "Strained", "text_of"]

USER: Final = "ana"
PATIENCE_S: Final = 1.5
"""How long a step waits for what the writer can't do now."""


def text_of(number: int) -> str:
    """Return the text of the turn with a number; long enough to fill a disk soon."""
    padding = "padding 填充 " * (number * 37 % 120)
    return f"{LINES[number % len(LINES)]} ({number}) {padding}".rstrip()


class Strained:
    """Does what its parent says.

    Args:
        memory: Open.
        place: Where its files are.
        seed: Of the steps.
    """

    def __init__(self, memory: eunoe.Memory, place: Path, seed: str) -> None:
        self._memory = memory
        self._place = place
        self._dice = random.Random(seed)  # noqa: S311 - reproducible, not secret
        self._numbers = iter(range(int(seed) * 100_000, sys.maxsize))
        self._known: list[str] = []

    async def answer(self, words: list[str]) -> dict[str, Any]:
        """Answer one line."""
        try:
            return await getattr(self, f"_{words[0]}")(*words[1:])  # type: ignore[no-any-return]  # each gives one
        except EunoeError as error:
            return {"error": type(error).__name__, "sentence": str(error)}

    async def _step(self) -> dict[str, Any]:
        chosen = self._dice.random()
        if chosen < 0.7 or not self._known:
            return await self._add()
        if chosen < 0.85:
            return await self._settle()
        ident = self._known.pop(self._dice.randrange(len(self._known)))
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._memory.forget(ident, user_id=USER)
        except TimeoutError:
            return {"tried": ident}
        except EunoeError as error:
            return {"tried": ident, "error": type(error).__name__, "sentence": str(error)}
        return {"forgot": ident}

    async def _add(self) -> dict[str, Any]:
        numbers = [next(self._numbers) for _ in range(self._dice.randrange(1, 8))]
        said = [{"id": f"t{one}", "content": text_of(one), "session_id": "s"} for one in numbers]
        ids = await self._memory.add(said, user_id=USER, wait=False)
        self._known += ids
        return {"added": ids}

    async def _settle(self) -> dict[str, Any]:
        try:
            await self._memory.settled(timeout_s=PATIENCE_S)
        except Unavailable as error:
            if "there is more to do" in str(error):  # nothing is wrong: the machine is busy
                return {"settled": False}
            raise
        return {"settled": True}

    async def _free(self, size: str) -> dict[str, Any]:
        limit = max(file.stat().st_size for file in self._growing()) + int(size)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        return {"limit": limit}

    async def _files(self) -> dict[str, Any]:
        count = _open_files()
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, most))
        return {"limit": count}

    async def _lift(self) -> dict[str, Any]:
        limits = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        return {"limit": None}

    async def _read(self) -> dict[str, Any]:
        await self._memory.settled()
        turns = await self._memory.list(user_id=USER, kinds=["turn"], limit=1000)
        found = {one.id: one.text for one in turns}
        return {"turns": found, "digest": await self._memory.digest(user_id=USER)}

    def _growing(self) -> Iterator[Path]:
        return self._place.rglob("*.sqlite*")


def _open_files() -> int:
    return max(int(one.name) for one in Path("/dev/fd").iterdir())


async def main(place: str, seed: str, files: str = "") -> None:
    """Open the store and answer lines."""
    if files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(files), int(files)))
    try:
        async with open_memory(Path(place)) as memory:
            strained = Strained(memory, Path(place), seed)
            print(json.dumps({"open": True}), flush=True)
            while line := await asyncio.to_thread(sys.stdin.readline):
                print(json.dumps(await strained.answer(line.split())), flush=True)
    except EunoeError as error:
        print(json.dumps({"error": type(error).__name__, "sentence": str(error)}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
