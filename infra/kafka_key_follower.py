"""Keeps the table of wrapped keys at the end of the key log's topic."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from ..schemas.errors import EunoeError, Unavailable
from ..schemas.limits import BACKOFF_S_FIRST, BACKOFF_S_MAX, KEYS_STALE_S, POLL_S
from ..schemas.ports import Log, LogRecord, Position, TopicPartition
from ..schemas.topics import KEYS
from .kafka_key_table import KeyTable

__all__ = ["KeyFollower"]

_LOADED: Final = 10_000
"""Records read at a time."""


class KeyFollower:
    """Reads some partitions of the key log, first to their ends and then on and on.

    Args:
        log: Where the topic is.
        partitions: Which of it.
    """

    def __init__(self, log: Log, partitions: Sequence[int]) -> None:
        self._log = log
        self._offsets = dict.fromkeys(partitions, 0)
        self._following: asyncio.Task[None] | None = None
        self._read_at = 0.0
        self._failure: EunoeError | None = None
        self.table = KeyTable()

    async def load(self) -> None:
        """Read every partition to its end, from the beginning.

        Raises:
            Unavailable: Kafka can't be reached.
            Damaged: A record isn't one of the key log.
        """
        self._read_at = asyncio.get_running_loop().time()
        await self.catch_up()

    def follow(self) -> None:
        """Read on from now on, in the background."""
        self._following = asyncio.create_task(self._follow())

    def check(self) -> None:
        """Check that what is here can be relied on.

        Raises:
            EunoeError: Following ended with it.
        """
        if self._failure is not None:
            raise type(self._failure)(str(self._failure))

    async def catch_up(self, partitions: Iterable[int] | None = None) -> None:
        """Read partitions to where they end now; None takes all.

        Raises:
            Unavailable: Kafka can't be reached.
            Damaged: A record isn't one of the key log.
        """
        for partition in self._offsets if partitions is None else partitions:
            if partition in self._offsets:
                _, end = await self._log.bounds(KEYS.name, partition)
                await self._read_to(partition, end)

    async def reach(self, positions: Sequence[Position]) -> None:
        """Read as far as these positions of what was appended."""
        ends: dict[int, int] = {}
        for one in positions:
            if one.partition in self._offsets:
                ends[one.partition] = max(one.offset + 1, ends.get(one.partition, 0))
        for partition, end in ends.items():
            await self._read_to(partition, end)

    async def close(self) -> None:
        """End, and forget all keys."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})
        self.table = KeyTable()

    async def _read_to(self, partition: int, end: int) -> None:
        while (start := self._offsets[partition]) < end:
            records = await self._log.read(KEYS.name, partition, start, limit=_LOADED)
            if not records:
                # Nothing but what readers don't see: an aborted transaction, or its mark.
                self._offsets[partition] = max(end, self._offsets[partition])
            self._apply(records)

    def _apply(self, records: Sequence[LogRecord]) -> None:
        # Others may have read the same meanwhile; within a partition each counts once, in order.
        new = []
        for one in records:
            if one.position.offset >= self._offsets[one.position.partition]:
                self._offsets[one.position.partition] = one.position.offset + 1
                new.append(one)
        self.table.apply(new)

    async def _follow(self) -> None:
        pause = BACKOFF_S_FIRST
        loop = asyncio.get_running_loop()
        while True:
            offsets = {TopicPartition(KEYS.name, one): at for one, at in self._offsets.items()}
            try:
                if loop.time() - self._read_at > KEYS_STALE_S:
                    await self._reload()
                else:
                    self._apply(await self._log.poll(offsets, limit=_LOADED, wait_s=POLL_S))
            except Unavailable:
                await asyncio.sleep(pause)
                pause = min(2 * pause, BACKOFF_S_MAX)
                continue
            except EunoeError as error:
                self._failure = error
                return
            pause = BACKOFF_S_FIRST
            self._read_at = loop.time()

    async def _reload(self) -> None:
        # So long away, tombstones may have come and gone: only the whole topic says what is left.
        fresh = KeyFollower(self._log, list(self._offsets))
        await fresh.load()
        # Others read on here meanwhile: what they have come to know must not be unknown again, and
        # what they read from there on must not leave a gap.
        while behind := [one for one, at in self._offsets.items() if fresh._offsets[one] < at]:
            for partition in behind:
                await fresh._read_to(partition, self._offsets[partition])
        self.table, self._offsets = fresh.table, fresh._offsets
