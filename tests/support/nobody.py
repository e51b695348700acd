"""A process without the superuser's rights that lists a store: `python -m tests.support.nobody …`.

Where no folder can be mounted read-only, this is who can't use it. Argument: the folder that holds
data and keys.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

from eunoe.schemas.errors import EunoeError
from tests.support.memories import open_memory

__all__ = ["NOBODY"]

NOBODY: Final = 65_534
UNAVAILABLE: Final = 3


async def main(place: str) -> int:
    """Give up the rights, then open the store; returns the exit code that a command would have."""
    memory = open_memory(Path(place))
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    try:
        async with memory:
            return 0
    except EunoeError as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
