"""How far the writers of a cluster are, as a process learns it that isn't one of them.

What a group has committed is done: decided and searchable, or refused with a dead letter. So a
caller waits for the group's offsets, and then looks for letters of its own events.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from .infra.cluster import ClusterEngines
from .schemas.errors import Rejected, Unavailable
from .schemas.limits import (
    LETTERS_PAGE,
    REFUSALS_KEPT_MAX,
    WAIT_EVERY_S,
    WAIT_EVERY_S_MAX,
)
from .schemas.ports import Position, TopicPartition
from .schemas.topics import DEAD_LETTERS, WRITER_GROUP
from .streams.letters import letter_of

__all__ = ["Following"]

BEHIND: Final = "no worker has decided it yet: see the workers' /healthz."


class Following:
    """Follows the writers' group and the dead letters.

    Args:
        engines: Of the cluster.
    """

    def __init__(self, engines: ClusterEngines) -> None:
        self._log = engines.log
        self._partitions = engines.partitions
        self._refusals: OrderedDict[Position, Rejected] = OrderedDict()
        self._read: dict[int, int] = {}
        self.trouble: str | None = None
        """Why somebody waits, or gave up waiting, or None."""
        self.failed: str | None = None
        """Nothing that this process does can fail for others."""

    async def start(self) -> None:
        """Begin to read letters at their present end: earlier ones are of events that are done."""
        for partition in range(self._partitions):
            _, self._read[partition] = await self._log.bounds(DEAD_LETTERS.name, partition)

    async def wait(self, positions: Sequence[Position]) -> list[tuple[Position, Rejected]]:
        """Wait until all positions are done; returns those that were refused, with the reason."""
        wanted: dict[TopicPartition, int] = {}
        for one in positions:
            place = TopicPartition(one.topic, one.partition)
            wanted[place] = max(wanted.get(place, -1), one.offset)
        pause = WAIT_EVERY_S
        while wanted:
            wanted = {
                place: offset
                for place, offset in wanted.items()
                if not await self._is_done(place, offset)
            }
            if wanted:
                self.trouble = BEHIND
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, WAIT_EVERY_S_MAX)
        self.trouble = None
        await self._read_letters({one.partition for one in positions})
        return [(one, self._refusals[one]) for one in positions if one in self._refusals]

    async def _is_done(self, place: TopicPartition, offset: int) -> bool:
        try:
            done = await self._log.committed(WRITER_GROUP, *place) or 0
            if done > offset:
                return True
            # The brokers' own records take offsets as well, and what was done is deleted: so it
            # counts whether a record is there that the group has still to read.
            rest = await self._log.read(*place, done, limit=1)
        except Unavailable:
            return False  # the caller's own bound ends the wait
        return not rest or rest[0].position.offset > offset

    async def _read_letters(self, partitions: AbstractSet[int]) -> None:
        for partition in partitions:
            offset = self._read[partition]
            while records := await self._log.read(
                DEAD_LETTERS.name, partition, offset, limit=LETTERS_PAGE
            ):
                for record in records:
                    letter = letter_of(record)
                    if letter.partition is None or letter.offset is None:
                        continue
                    place = Position(letter.topic, letter.partition, self._log.epoch, letter.offset)
                    self._refusals[place] = Rejected(letter.reason)
                    if len(self._refusals) > REFUSALS_KEPT_MAX:
                        self._refusals.popitem(last=False)
                offset = records[-1].position.offset + 1
            self._read[partition] = offset
