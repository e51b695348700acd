"""The episodic store of the cluster: a Qdrant server.

Reads go to an alias, and so see whatever collection has been switched to. Writes and markers go to
the collection that stood behind the alias when the store was opened: a marker must never speak of
what went elsewhere. `flush` sees that the alias still means it, else the store is `Fenced`, and
whoever opens it anew goes on from the other collection's markers.

A refused write is answered as a done one, so nothing here relies on an answer: what is late or
comes again is refused by its condition, and a marker is read back.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self
from uuid import UUID

from qdrant_client import models

from ..schemas.errors import Damaged, Fenced, Unavailable
from ..schemas.limits import QDRANT_GRAVE_S
from ..schemas.ports import (
    Applied,
    Clock,
    EpisodicQuery,
    Holding,
    Interval,
    MemoryPoint,
    PointHit,
    Stored,
    Vectors,
)
from ..schemas.records import Box
from .clock import SystemClock
from .points import TENANT, TERMS, TURN, box_of
from .qdrant_calls import QdrantCalls
from .qdrant_collection import behind, beside, check_idf, ensure, numbered, switch
from .qdrant_reads import memory_in, nearest, retrieve, scroll
from .qdrant_words import WORDS, search_requests, terms_in
from .qdrant_writes import (
    APPLIED,
    BURIED,
    EPOCH,
    MARKER,
    PARTITION,
    KnownPoint,
    marker_id,
    marker_operation,
    placed,
    requests_of,
    states_of,
    touched,
)
from .questions import hits_of, owner_filter, said_filter

__all__ = ["QdrantEpisodes"]

BY_SAID: Final = models.OrderBy(key="said", direction=models.Direction.ASC)


class QdrantEpisodes:
    """`EpisodicStore` on a Qdrant server.

    Args:
        calls: To the server.
        alias: What is asked.
        collection: What is written to.
        dimension: Length of the vectors.
        clock: For the age of gravestones.
    """

    def __init__(
        self, calls: QdrantCalls, alias: str, collection: str, dimension: int, clock: Clock
    ) -> None:
        self._calls = calls
        self._alias = alias
        self._collection = collection
        self._dimension = dimension
        self._clock = clock
        self._pending: dict[int, Applied] = {}
        self._durable: dict[int, Applied] = {}
        self._epochs: set[tuple[int, str]] = set()
        self._closed = False

    @classmethod
    async def open(  # noqa: PLR0913 - each is a setting of its own
        cls,
        url: str,
        collection: str,
        dimension: int,
        *,
        key: str,
        timeout_s: float,
        connections_max: int,
        clock: Clock | None = None,
        spare: bool = False,
    ) -> Self:
        """Open the store, or make it.

        Args:
            url: Of the server.
            collection: Its alias; the collection behind it has a number as well.
            dimension: Length of the vectors.
            key: API key; empty is none.
            timeout_s: After which a call counts as failed.
            connections_max: At a time.
            clock: The system's where none is given.
            spare: Whether to open the collection that may take the place of the one in use, as
                `switch` does; nothing else sees it before.

        Raises:
            Unavailable: The server can't be used now.
            Rejected: The server is too old, or the collection has other settings.
            EncoderMismatch: It holds vectors of another length.
        """
        clock = clock or SystemClock()
        calls = QdrantCalls(url, key=key, timeout_s=timeout_s, connections_max=connections_max)
        try:
            used = await (beside if spare else behind)(calls, collection)
            name = used or numbered(collection, 1)
            await ensure(calls, name, dimension)
            await check_idf(calls, name, dimension, clock.now().timestamp())
            if used is None:
                await switch(calls, collection, name)
        except BaseException:
            await calls.close()
            raise
        return cls(calls, name if spare else collection, name, dimension, clock)

    @property
    def collection(self) -> str:
        """The collection that is written to."""
        return self._collection

    @property
    def waiting(self) -> int:
        """How many requests wait for a connection at this moment."""
        return self._calls.waiting

    async def apply(self, records: Sequence[Stored]) -> None:
        """Apply records of the journal, in order; see the port.

        It takes one request, and one more where memories are touched that the batch didn't make;
        more where a batch is larger than a request may be. What was written when it breaks off
        stays: the records come again, and what is there already is refused.
        """
        self._check_open()
        if not records:
            return
        last = records[-1].position
        await self._check_epoch(last.partition, last.epoch)
        changes = placed(records)
        known = await self._known(touched(changes))
        now = self._clock.now().timestamp()
        for operations in requests_of(states_of(changes, known), self._dimension, now):
            await self._calls.update(self._collection, operations)
        applied = Applied(last.epoch, last.offset + 1)
        before = self._pending.get(last.partition)
        if before is None or before.epoch != applied.epoch or before.offset < applied.offset:
            self._pending[last.partition] = applied

    async def flush(self) -> None:
        """Move the markers on to everything that was applied.

        Raises:
            Fenced: Another collection has taken this one's place, or another log fills it.
        """
        self._check_open()
        moved = {
            partition: applied
            for partition, applied in self._pending.items()
            if self._durable.get(partition) != applied
        }
        if not moved:
            return
        await self._calls.update(
            self._collection,
            [marker_operation(one, applied, self._dimension) for one, applied in moved.items()],
        )
        found = await self._markers(moved)
        for partition, applied in moved.items():
            marker = found.get(partition)
            if marker is None or marker.epoch != applied.epoch or marker.offset < applied.offset:
                raise self._fenced()
        await self._check_alias()
        self._durable |= moved

    async def applied(self, partition: int) -> Applied | None:
        """Return the partition's durable low-water position."""
        return (await self._markers([partition])).get(partition)

    async def query(self, query: EpisodicQuery) -> list[PointHit]:
        """Find points; the union of the dense and the sparse part, unordered."""
        found = await self._calls.ask(self._alias, search_requests(query))
        scores = [{UUID(str(one.id)).bytes: one.score for one in part} for part in found]
        return hits_of(query, scores)

    async def said_within(
        self,
        owner: str,
        interval: Interval,
        holding: Holding,
        limit: int,
        only: Sequence[bytes] | None = None,
    ) -> list[bytes]:
        """Return the first points of the turns said in an interval, oldest first."""
        if limit < 1:
            return []  # the server doesn't take it
        async with self._calls.call() as client:
            page, _ = await client.scroll(
                self._alias,
                said_filter(WORDS, owner, interval, holding, only),
                limit=limit,
                order_by=BY_SAID,
                with_payload=False,
            )
        return [UUID(str(one.id)).bytes for one in page]

    async def nearest(
        self, owner: str, vectors: Vectors, threshold: float
    ) -> list[list[MemoryPoint]]:
        """Return, for each row, every memory of the owner at or over a cosine, closest first."""
        return await nearest(self._calls, self._alias, owner, vectors, threshold)

    async def turn_boxes(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, Box]:
        """Return the boxes of turns."""
        found = await retrieve(self._calls, self._alias, event_ids, payload=[TENANT, "box"])
        payloads = {UUID(str(one.id)): one.payload or {} for one in found}
        return {
            ident: box_of(payload)
            for ident, payload in payloads.items()
            if payload.get(TENANT) == owner and "box" in payload
        }

    async def memories(
        self, owner: str, memory_ids: Sequence[UUID] | None = None
    ) -> list[MemoryPoint]:
        """Return memories by id, or all of an owner's, ordered by id."""
        if memory_ids is None:
            only = owner_filter(WORDS, owner, without_turns=True)
            found = await scroll(self._calls, self._alias, only)
        else:
            found = [
                one
                for one in await retrieve(self._calls, self._alias, memory_ids, payload=True)
                if one.payload
                and one.payload.get(TENANT) == owner
                and one.payload.get("kind") != TURN
            ]
        return sorted(map(memory_in, found), key=lambda point: point.memory_id)

    async def optimise(self) -> None:
        """Remove gravestones that no late writer needs; the server rebuilds segments by itself.

        One may go when the marker of its partition has passed its position, so that no lane begins
        before it, and `QDRANT_GRAVE_S` after it was set: a request or a process that is still
        under way from before is given up long before that.
        """
        self._check_open()
        old = WORDS.up_to(BURIED, self._clock.now().timestamp() - QDRANT_GRAVE_S)
        filters = [WORDS.every([old, WORDS.lacks(PARTITION)])]  # what a probe left
        for partition, (epoch, offset) in (await self._all_markers()).items():
            passed = models.FieldCondition(key=APPLIED, range=models.Range(lt=offset))
            own = [WORDS.equals(PARTITION, partition), WORDS.equals(EPOCH, epoch)]
            filters.append(WORDS.every([old, *own, passed]))
        await self._calls.update(
            self._collection,
            [models.DeleteOperation(delete=models.FilterSelector(filter=one)) for one in filters],
        )

    async def switch(self, alias: str) -> str | None:
        """Let an alias mean this store's collection, in one step.

        Returns:
            What it meant before, for `drop`.
        """
        before = await switch(self._calls, alias, self._collection)
        self._alias = alias
        return before if before != self._collection else None

    async def drop(self, collection: str) -> None:
        """Remove a collection that an alias meant before."""
        async with self._calls.call() as client:
            await client.delete_collection(collection)

    async def close(self) -> None:
        """Flush and release the connections; twice is no error."""
        if self._closed:
            return
        try:
            await self.flush()
        finally:
            self._closed = True
            await self._calls.close()

    def _check_open(self) -> None:
        if self._closed:
            message = "The episodic store is closed."
            raise Unavailable(message)

    async def _check_epoch(self, partition: int, epoch: str) -> None:
        """See, once for each partition, that the collection isn't of another log."""
        if (partition, epoch) in self._epochs:
            return
        marker = await self.applied(partition)
        if marker is not None and marker.epoch != epoch:
            message = (
                f"The Qdrant collection {self._collection} was filled from another log: remove "
                "it, and the journal fills a new one, or let EUNOE_NAMESPACE name another "
                "installation."
            )
            raise Damaged(message)
        self._epochs.add((partition, epoch))

    async def _check_alias(self) -> None:
        if self._alias == self._collection:
            return  # a spare one, which no alias means yet
        if await behind(self._calls, self._alias) != self._collection:
            raise self._fenced()

    def _fenced(self) -> Fenced:
        return Fenced(
            f"The Qdrant collection {self._collection} isn't the one that is used any more, or "
            "another log fills it: start again, and the journal fills what is missing."
        )

    async def _known(self, memories: set[UUID]) -> Mapping[UUID, KnownPoint]:
        found = await retrieve(
            self._calls, self._collection, sorted(memories), payload=True, vectors=[TERMS]
        )
        return {
            UUID(str(one.id)): KnownPoint(one.payload, terms_in(one.vector))
            for one in found
            if one.payload and BURIED not in one.payload
        }

    async def _markers(self, partitions: Sequence[int] | Mapping[int, Any]) -> dict[int, Applied]:
        ids = [marker_id(one) for one in partitions]
        names = [MARKER, EPOCH, APPLIED]
        found = await retrieve(self._calls, self._collection, ids, payload=names)
        return _marked(found)

    async def _all_markers(self) -> dict[int, Applied]:
        of_markers = models.FieldCondition(key=MARKER, range=models.Range(gte=0))
        only = WORDS.every([of_markers])
        return _marked(await scroll(self._calls, self._collection, only))


def _marked(found: Sequence[models.Record]) -> dict[int, Applied]:
    payloads = [one.payload for one in found if one.payload and MARKER in one.payload]
    return {one[MARKER]: Applied(one[EPOCH], one[APPLIED]) for one in payloads}
