"""Publish a conversation to Eunoe, one message a line: a text, or JSON as `add` takes it."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from typing import IO, Any

import eunoe.producer
from eunoe import EunoeError

AT_ONCE = 100


async def publish(lines: IO[str], user_id: str, session_id: str | None) -> None:
    """Publish what is read, and print the id of each message that the brokers acknowledged."""
    async with eunoe.producer.open(source="chat-frontend") as producer:
        for messages in batches(lines):
            receipts = await producer.turns(messages, user_id=user_id, session_id=session_id)
            for receipt in receipts:
                print(receipt.id, flush=True)


def batches(lines: IO[str]) -> Iterator[list[Any]]:
    """Yield messages: from a terminal one by one, else several at a time."""
    size = 1 if lines.isatty() else AT_ONCE
    batch: list[Any] = []
    for line in map(str.strip, lines):
        if line:
            batch.append(json.loads(line) if line.startswith("{") else line)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def main() -> int:
    """Read the arguments; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default="-", help="the conversation; - reads the input")
    parser.add_argument("--user", default="ana", help="whose memory")
    parser.add_argument("--session", help="the conversation's id")
    given = parser.parse_args()
    try:
        if given.file == "-":
            asyncio.run(publish(sys.stdin, given.user, given.session))
        else:
            with open(given.file, encoding="utf-8") as lines:  # noqa: PTH123 - a stream, as stdin
                asyncio.run(publish(lines, given.user, given.session))
    except (EunoeError, OSError, json.JSONDecodeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
