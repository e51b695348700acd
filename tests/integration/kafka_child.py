"""A writer that commits one transaction, appends the next, and kills itself before its end."""

import asyncio
import os
import signal
import sys

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types

__all__: list[str] = []


async def play(address: str, namespace: str, partition: int) -> None:
    """Write, and die."""
    producer = AIOKafkaProducer(
        bootstrap_servers=address, transactional_id=f"{namespace}-journal-{partition}"
    )
    await producer.start()
    for number in (1, 2):
        await producer.begin_transaction()
        for topic in ("keys", "journal"):
            await producer.send_and_wait(
                f"{namespace}.{topic}.v1",
                b"%d" % number,
                key=b"data/%032d" % number,
                partition=partition,
            )
        if number == 1:
            await producer.commit_transaction()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1], sys.argv[2], int(sys.argv[3])))
