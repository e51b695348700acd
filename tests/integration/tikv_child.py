"""A process that applies the turns of one owner again and again, until it is done or killed.

Usage: python -m tests.integration.tikv_child ADDRESS NAMESPACE COUNT BATCH
"""

import asyncio
import sys

from eunoe.infra.tikv import leave
from tests.integration.tikv_histories import turn
from tests.integration.tikv_places import opened

__all__ = ["main"]


async def main(address: str, namespace: str, count: int, batch: int) -> None:
    """Apply so many turns, in batches, from the first on; says when it begins and each step."""
    turns = [turn(number) for number in range(count)]
    async with opened(address, namespace, timeout_s=30.0) as store:
        print("ready", flush=True)
        for start in range(0, count, batch):
            await store.apply(turns[start : start + batch])
            print(start + batch, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    leave(0)
