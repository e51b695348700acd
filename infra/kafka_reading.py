"""Reading from any offsets, at once or waiting for a first record."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, Final

from ..schemas.errors import Rejected, Unavailable
from ..schemas.limits import KAFKA_AGAIN_S, KAFKA_LONG_FETCH_S
from ..schemas.ports import LogRecord, TopicPartition
from .kafka_client import Client, WirePlace
from .kafka_places import Places
from .kafka_requests import Fetched, Requests
from .log_checks import check_offset

__all__ = ["Reading"]

_VISIBLE_S: Final = 0.003
"""Between two looks whether readers see a transaction already."""

_SHARED_S: Final = 0.05
"""How long one of several brokers holds a request back: another may have something."""


class Reading:
    """The reading half of the log.

    Args:
        client: The connections.
        requests: Over them.
        places: Topics, partitions and epoch.
        waiting_max: How many reads may wait at the brokers, each on a connection of its own.
    """

    def __init__(
        self, client: Client, requests: Requests, places: Places, waiting_max: int
    ) -> None:
        self._client = client
        self._requests = requests
        self._places = places
        self._polls = 0
        self._closing = asyncio.Event()
        self._running: set[asyncio.Task[dict[WirePlace, Fetched]]] = set()
        self._own: dict[WirePlace, int] = {}
        """What this process wrote ends here, and isn't below the last stable offset yet."""
        self._free = [f"waiting {number}" for number in range(waiting_max)]

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closing.is_set()

    def check_open(self) -> None:
        """Check that the log wasn't closed.

        Raises:
            Unavailable: It was.
        """
        if self.is_closed:
            message = "The log is closed."
            raise Unavailable(message)

    async def read(
        self, place: TopicPartition, offset: int, *, limit: int, wait_s: float
    ) -> list[LogRecord]:
        """Read one partition, as far as the limit or its end; see the port."""
        records, is_behind = await self._poll({place: offset}, limit, wait_s, is_whole=True)
        while is_behind and records and len(records) < limit:
            following = {place: records[-1].position.offset + 1}
            more, is_behind = await self._poll(following, limit - len(records), 0.0, is_whole=True)
            records += more
        return records

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset that may exist, and the last stable one; see the port."""
        self.check_open()
        wire = self._places.wire(topic, partition)
        deadline = asyncio.get_running_loop().time() + self._client.call_timeout_s
        while True:
            first, end = await self._requests.bounds(*wire)
            if not self._hides_own(wire, end):
                return first, end
            await self._look_again(deadline)

    def expect(self, places: Mapping[WirePlace, int]) -> None:
        """Let reads and bounds tell of what this process wrote as far as these offsets.

        A transaction is durable, and its producer told so, a moment before readers see it.
        """
        for wire, offset in places.items():
            self._own[wire] = max(offset + 1, self._own.get(wire, 0))

    async def poll(
        self, offsets: Mapping[TopicPartition, int], *, limit: int, wait_s: float
    ) -> list[LogRecord]:
        """Read several partitions; see the port. Each call prefers another one."""
        return (await self._poll(offsets, limit, wait_s, is_whole=False))[0]

    def close(self) -> None:
        """End waiting reads with no records."""
        self._closing.set()
        for task in self._running:
            task.cancel()

    async def finished(self) -> None:
        """Wait until no request is on its way."""
        if self._running:
            await asyncio.wait(self._running)

    async def _poll(
        self,
        offsets: Mapping[TopicPartition, int],
        limit: int,
        wait_s: float,
        *,
        is_whole: bool,
    ) -> tuple[list[LogRecord], bool]:
        """Return records, and whether more are there already.

        With `is_whole` what this process wrote belongs to it, though it be invisible yet.
        """
        self.check_open()
        if limit < 1:
            message = "A read needs a limit of at least one record."
            raise Rejected(message)
        places = {self._places.wire(*place): place for place in offsets}
        pairs = [(self._places.wire(*place), check_offset(at)) for place, at in offsets.items()]
        self._polls += 1
        turn = self._polls % len(pairs) if pairs else 0
        starts = dict(pairs[turn:] + pairs[:turn])
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait_s
        visible_until = loop.time() + self._client.call_timeout_s
        while not self.is_closed:
            began = loop.time()
            held_s = min(max(deadline - began, 0.0), KAFKA_LONG_FETCH_S)
            found = await self._fetched(starts, limit, held_s)
            records = self._taken(places, starts, found, limit)
            hides = is_whole and any(self._hides_own(at, one.end) for at, one in found.items())
            if records:
                return records, hides or any(one.following < one.end for one in found.values())
            if hides:
                await self._look_again(visible_until)
                continue
            before, starts = starts, {one: found[one].following for one in starts if one in found}
            if starts != before and starts.keys() == before.keys():
                continue  # something was stepped over: what follows is looked at at once
            now = loop.time()
            if now >= deadline:
                break
            if now - began < held_s / 2:  # an offset beyond the end isn't waited for over there
                await self._pause(min(deadline - now, KAFKA_AGAIN_S))
        return [], False

    def _hides_own(self, wire: WirePlace, end: int) -> bool:
        own = self._own.get(wire)
        if own is None or end >= own:
            self._own.pop(wire, None)
            return False
        return True

    async def _look_again(self, deadline: float) -> None:
        if asyncio.get_running_loop().time() > deadline:
            message = "Kafka doesn't end a transaction in time: see EUNOE_KAFKA."
            raise Unavailable(message)
        await asyncio.sleep(_VISIBLE_S)

    def _taken(
        self,
        places: Mapping[WirePlace, TopicPartition],
        starts: Mapping[WirePlace, int],
        found: Mapping[WirePlace, Fetched],
        limit: int,
    ) -> list[LogRecord]:
        records: list[LogRecord] = []
        taken: Counter[str] = Counter()
        for wire in starts:
            place = places[wire]
            if wire in found:
                chosen = found[wire].records[: limit - taken[place.topic]]
                taken[place.topic] += len(chosen)
                records += [self._places.record(*place, one) for one in chosen]
        return records

    async def _fetched(
        self, starts: Mapping[WirePlace, int], limit: int, held_s: float
    ) -> dict[WirePlace, Fetched]:
        """Fetch; where the broker may wait, over a connection that nobody else uses meanwhile."""
        if not held_s or not self._free or not starts:
            if held_s:
                await self._pause(min(held_s, KAFKA_AGAIN_S))
            work = self._requests.fetch(starts, limit=limit)
            return await self._unless_closed(work, starts)
        held_s = held_s if self._client.is_one_node else min(held_s, _SHARED_S)
        connection = self._free.pop()
        try:
            work = self._requests.fetch(starts, limit=limit, wait_s=held_s, group=connection)
            return await self._unless_closed(work, starts)
        finally:
            self._free.append(connection)

    async def _unless_closed(
        self, work: Coroutine[Any, Any, dict[WirePlace, Fetched]], starts: Mapping[WirePlace, int]
    ) -> dict[WirePlace, Fetched]:
        task = asyncio.create_task(work)
        self._running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if not self.is_closed or not task.cancelled():
                raise
            return {one: Fetched([], start, start) for one, start in starts.items()}
        finally:
            task.cancel()
            self._running.discard(task)

    async def _pause(self, pause_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._closing.wait()
