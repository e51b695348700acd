"""What is asked of Kafka's brokers: records, bounds, times, groups' offsets, deletion.

Requests are made one by one, over aiokafka's own, and no consumer stands behind them: a read from
any offset is one round trip, it waits only where it is told to, and it says how far it came, so
that control records, aborted transactions and what compaction took away are stepped over.
"""

import asyncio
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from aiokafka.consumer.fetcher import (  # type: ignore[import-untyped]  # it ships no types
    READ_COMMITTED,
    PartitionRecords,
)
from aiokafka.errors import (  # type: ignore[import-untyped]  # likewise
    OffsetOutOfRangeError,
    UnknownMemberIdError,
)
from aiokafka.protocol.admin import (  # type: ignore[import-untyped]  # likewise
    DeleteRecordsRequest,
)
from aiokafka.protocol.commit import (  # type: ignore[import-untyped]  # likewise
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from aiokafka.protocol.fetch import FetchRequest  # type: ignore[import-untyped]  # likewise
from aiokafka.protocol.offset import OffsetRequest  # type: ignore[import-untyped]  # likewise
from aiokafka.record.memory_records import (  # type: ignore[import-untyped]  # likewise
    MemoryRecords,
)

from ..schemas.errors import Conflict, Unavailable
from ..schemas.limits import (
    KAFKA_FETCH_BYTES_MAX,
    KAFKA_FETCH_BYTES_MIN,
    KAFKA_FETCH_RECORD_BYTES,
)
from .kafka_client import QUICK, Client, WirePlace, check

__all__ = ["Fetched", "Requests", "WireRecord"]

_LATEST: Final = -1
_EARLIEST: Final = -2
_NO_MEMBER: Final = ""
_NO_GENERATION: Final = -1
_KEPT_MS: Final = 100 * 365 * 24 * 3_600 * 1_000
"""How long the offsets of a group without members stay: for ever, as a store's marker does."""
_NO_OFFSET: Final = -1


class WireRecord(NamedTuple):
    """A record as it came; the timestamp is in milliseconds since 1970."""

    offset: int
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_ms: int


class Fetched(NamedTuple):
    """What a partition had.

    Args:
        records: In offset order.
        following: Where the next read goes on; beyond what was stepped over.
        end: The last stable offset.
    """

    records: list[WireRecord]
    following: int
    end: int


class _Response(NamedTuple):
    code: int
    stable: int
    aborted: Any
    data: bytes


class Requests:
    """Requests to the brokers, each with the client's time limit.

    Args:
        client: The connections.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def fetch(
        self,
        starts: Mapping[WirePlace, int],
        *,
        limit: int,
        wait_s: float = 0.0,
        group: Any = QUICK,  # noqa: ANN401 - aiokafka's
    ) -> dict[WirePlace, Fetched]:
        """Fetch records of several partitions.

        Args:
            starts: The first offset wanted of each.
            limit: At most so many records of each.
            wait_s: How long the brokers may wait for a first record.
            group: The connection; one that waits answers nobody else meanwhile.

        Raises:
            Unavailable: No answer came in time.
        """
        return await self._client.again(lambda: self._fetch(starts, limit, wait_s, group))

    async def _fetch(
        self,
        starts: Mapping[WirePlace, int],
        limit: int,
        wait_s: float,
        group: Any,  # noqa: ANN401 - aiokafka's
    ) -> dict[WirePlace, Fetched]:
        nodes: dict[int, dict[str, list[tuple[int, int, int]]]] = {}
        size = max(KAFKA_FETCH_BYTES_MIN, limit * KAFKA_FETCH_RECORD_BYTES)
        size = min(size, KAFKA_FETCH_BYTES_MAX)
        for place, offset in starts.items():
            topics = nodes.setdefault(self._client.leader(*place), {})
            topics.setdefault(place.topic, []).append((place.partition, offset, size))
        wait_ms = int(wait_s * 1_000)
        answers = await asyncio.gather(
            *(
                self._client.ask(
                    node,
                    FetchRequest(
                        wait_ms, 1, KAFKA_FETCH_BYTES_MAX, READ_COMMITTED, list(topics.items())
                    ),
                    group=group,
                )
                for node, topics in nodes.items()
            )
        )
        fetched: dict[WirePlace, Fetched] = {}
        for answer in answers:
            for topic, partitions in answer.topics:
                for partition, code, _, stable, *_, aborted, _, data in partitions:
                    place = WirePlace(topic, partition)
                    response = _Response(code, stable, aborted, data or b"")
                    fetched[place] = await self._parsed(place, starts[place], response, limit)
        return fetched

    async def _parsed(
        self, place: WirePlace, start: int, response: _Response, limit: int
    ) -> Fetched:
        try:
            check(response.code)
        except OffsetOutOfRangeError:
            first, end = await self._bounds(place)
            return Fetched([], max(first, start), end)
        batches = MemoryRecords(response.data)
        found = PartitionRecords(
            place,
            batches,
            response.aborted,
            start,
            key_deserializer=None,
            value_deserializer=None,
            check_crcs=True,
            isolation_level=READ_COMMITTED,
        )
        records = [
            WireRecord(one.offset, one.key or b"", one.value, tuple(one.headers), one.timestamp)
            for one in islice(found, limit)
        ]
        return Fetched(records, found.next_fetch_offset, response.stable)

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset that may exist, and the last stable offset."""
        return await self._client.again(lambda: self._bounds(WirePlace(topic, partition)))

    async def _bounds(self, place: WirePlace) -> tuple[int, int]:
        first, end = await asyncio.gather(
            self._offset(place, _EARLIEST), self._offset(place, _LATEST)
        )
        return min(first, end), end

    async def _offset(self, place: WirePlace, timestamp: int) -> int:
        request = OffsetRequest(-1, READ_COMMITTED, [(place.topic, [(place.partition, timestamp)])])
        answer = await self._client.ask(self._client.leader(*place), request)
        ((_, ((_, code, _, offset),)),) = answer.topics
        check(code)
        return int(offset)

    async def first_since(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """Return the first offset whose record isn't older, or None."""
        place = WirePlace(topic, partition)
        found = await self._client.again(lambda: self._offset(place, max(timestamp_ms, 0)))
        return None if found == _NO_OFFSET else found

    async def commit(self, group: str, offsets: Mapping[WirePlace, int]) -> None:
        """Store offsets of a group that has no members.

        Raises:
            Conflict: It has some, and they alone commit for it.
        """
        topics: dict[str, list[tuple[int, int, str]]] = {}
        for place, offset in offsets.items():
            topics.setdefault(place.topic, []).append((place.partition, offset, ""))
        request = OffsetCommitRequest(
            group, _NO_GENERATION, _NO_MEMBER, _KEPT_MS, list(topics.items())
        )

        async def attempt() -> None:
            answer = await self._client.ask(await self._client.coordinator(group), request)
            for _, partitions in answer.topics:
                for _, code in partitions:
                    check(code)

        try:
            await self._client.again(attempt)
        except Unavailable as error:
            if isinstance(error.__cause__, UnknownMemberIdError):
                message = f"The group {group} has members, who alone commit its offsets."
                raise Conflict(message) from error
            raise

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return a group's next offset, or None."""
        request = OffsetFetchRequest(group, [(topic, [partition])])

        async def attempt() -> int:
            answer = await self._client.ask(await self._client.coordinator(group), request)
            check(answer.error_code)
            ((_, ((_, offset, _, code),)),) = answer.topics
            check(code)
            return int(offset)

        found = await self._client.again(attempt)
        return None if found == _NO_OFFSET else found

    async def delete_before(self, topic: str, partition: int, offset: int) -> None:
        """Delete what lies below an offset, which isn't beyond the end."""
        timeout_ms = int(self._client.call_timeout_s * 1_000)
        request = DeleteRecordsRequest([(topic, [(partition, offset)])], timeout_ms)

        async def attempt() -> None:
            answer = await self._client.ask(self._client.leader(topic, partition), request)
            for _, partitions, *_tags in answer.topics:
                for one in partitions:
                    check(one[2])

        await self._client.again(attempt)
