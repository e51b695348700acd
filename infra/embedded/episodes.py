"""The episodic store of the embedded runtime: Qdrant Edge, the engine in-process.

The shard keeps no write-ahead log of its own: the journal is the log, and the markers move
only after a flush (docs/decisions/0003). Vectors are float16 and compared by dot product, so
that what the engine holds is bit for bit what the journal holds.

The engine blocks; everything runs in one thread of the store's own, in the order of the calls.
Only a search, or a look-up of a few points by id, runs in the event loop while that thread is
idle: the engine holds the interpreter meanwhile, and the way to a thread and back takes time.
Optimising takes seconds: a copy of the shard is optimised in a process of its own, is given what
was applied meanwhile, and takes the shard's place.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final, Self, TypeVar
from uuid import UUID

import qdrant_edge as edge

from ...schemas.errors import Damaged, Unavailable
from ...schemas.limits import LEVELLED_AT_A_TIME, LOOKED_UP_MAX
from ...schemas.ports import (
    Applied,
    EpisodicQuery,
    Holding,
    Interval,
    MemoryPoint,
    PointHit,
    Stored,
    Vectors,
)
from ...schemas.records import Box, Decision
from ..points import TRUTH, NewPoint, Touch, changes_of, decision_values
from .optimising import Rebuild
from .points import (
    boxes_in,
    edge_point,
    empty_point,
    memories_in,
    some_memories_in,
    words_in,
)
from .queries import found_in, nearest_in, said_in
from .shard_files import (
    Seal,
    read_markers,
    require_room,
    size_of,
    write_markers,
    write_seal,
)
from .shard_opening import MARKERS, open_shard, translated
from .shard_slots import SHARD, ShardCopy, remove, settle, spare, switch, used, write_out

__all__ = ["SHARD", "EdgeEpisodes"]

Result = TypeVar("Result")
COPIES: Final = 4  # of a turn's sealed text, at most: as base64, and in its memories
CLOSED: Final = "The episodic store is closed."


class EdgeEpisodes:
    """`EpisodicStore` on Qdrant Edge.

    Args:
        folder: The store's folder: the shard and the markers.
        dimension: Length of the vectors.
        shard: The open engine.
        seal: With which the shard was opened.
    """

    def __init__(
        self, folder: Path, dimension: int, shard: edge.EdgeShard, seal: Seal | None = None
    ) -> None:
        self._folder = folder
        self._dimension = dimension
        self._shard = shard
        self._seal = seal
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eunoe-episodes")
        self._durable = read_markers(folder / MARKERS)
        self._pending: dict[int, Applied] = dict(self._durable)
        self._closed = False
        self._engine = Lock()  # whoever has it is in the engine
        self._rebuild: Rebuild | None = None

    @classmethod
    async def open(cls, folder: Path, dimension: int) -> Self:
        """Open or make the store.

        Args:
            folder: Its folder.
            dimension: Length of the vectors.

        Raises:
            Unavailable: The engine can't open the folder now.
            Damaged: The folder isn't what it was; the journal can rebuild it.
        """
        return cls(folder, dimension, *await asyncio.to_thread(open_shard, folder, dimension))

    @property
    def shard(self) -> edge.EdgeShard:
        """The engine, for a benchmark that asks it alone."""
        return self._shard

    async def apply(self, records: Sequence[Stored]) -> None:
        """Apply records of the journal, in order; see the port."""
        await self._run(partial(self._apply, records))
        if self._rebuild is not None and self._rebuild.trouble is not None:
            self._rebuild.give_up(self._rebuild.trouble)

    async def flush(self) -> None:
        """Make everything applied durable, then move the markers."""
        if self._pending != self._durable:
            # The engine holds the interpreter while the disk writes: so there is little left to.
            await asyncio.to_thread(write_out, used(self._folder))
        await self._run(self._flush)

    async def applied(self, partition: int) -> Applied | None:
        """Return the partition's durable low-water position."""
        return self._durable.get(partition)

    async def query(self, query: EpisodicQuery) -> list[PointHit]:
        """Find points; the union of the dense and the sparse part, unordered."""
        return await self._look_up(partial(self._ask, found_in, query))

    async def said_within(
        self,
        owner: str,
        interval: Interval,
        holding: Holding,
        limit: int,
        only: Sequence[bytes] | None = None,
    ) -> list[bytes]:
        """Return the first points of the turns said in an interval, oldest first."""
        return await self._run(partial(self._ask, said_in, owner, interval, holding, limit, only))

    async def nearest(
        self, owner: str, vectors: Vectors, threshold: float
    ) -> list[list[MemoryPoint]]:
        """Return, for each row, every memory of the owner at or over a cosine, closest first."""
        return await self._run(partial(self._ask, nearest_in, owner, vectors, threshold))

    async def turn_boxes(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, Box]:
        """Return the boxes of turns."""
        if not event_ids:
            return {}
        look = partial(self._ask, boxes_in, owner, event_ids)
        return await (self._look_up if len(event_ids) <= LOOKED_UP_MAX else self._run)(look)

    async def memories(
        self, owner: str, memory_ids: Sequence[UUID] | None = None
    ) -> list[MemoryPoint]:
        """Return memories by id, or all of an owner's, ordered by id."""
        if memory_ids is None:
            found = await self._run(partial(self._ask, memories_in, owner))
        elif memory_ids:
            look = partial(self._ask, some_memories_in, owner, memory_ids)
            found = await (self._look_up if len(memory_ids) <= LOOKED_UP_MAX else self._run)(look)
        else:
            return []
        return sorted(found, key=lambda point: point.memory_id)

    async def optimise(self) -> None:
        """Rebuild segments in a process of its own; other calls go on, and are collected.

        Raises:
            Unavailable: It can't be done now, or too much is written meanwhile; the store is as
                it was.
        """
        self._check_open()
        if self._rebuild is not None:
            message = "The episodic store is being optimised already."
            raise Unavailable(message)
        rebuild = self._rebuild = Rebuild(spare(self._folder))
        try:
            await self.flush()
            await self._run(partial(self._begin_copy, rebuild))
            while not await self._run(partial(self._copy_on, rebuild)):
                pass
            await rebuild.run()
            await self._run(partial(self._load_copy, rebuild))
            while not await self._run(partial(self._level, rebuild)):
                pass
        finally:
            try:
                await self._run(partial(self._end_rebuild, rebuild))
                await self._run(self._remove_spare)
            finally:
                self._rebuild = None
                rebuild.over.set()

    async def close(self) -> None:
        """Flush and release the folder; twice is no error."""
        if self._closed:
            return
        if self._rebuild is not None:
            self._rebuild.give_up(CLOSED)
            await self._rebuild.over.wait()
        try:
            await self.flush()
        finally:
            self._closed = True
            close = translated(self._close)
            await asyncio.get_running_loop().run_in_executor(self._thread, close)
            self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], Result]) -> Result:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._alone, work)

    async def _look_up(self, work: Callable[[], Result]) -> Result:
        """Ask something short: here, if the engine is idle and the thread would be a detour.

        The engine holds the interpreter while it searches, so that nothing else could run anyway.
        """
        self._check_open()
        if not self._engine.acquire(blocking=False):
            return await self._run(work)
        try:
            return translated(work)()
        finally:
            self._engine.release()

    def _ask(self, question: Callable[..., Result], *given: object) -> Result:
        return question(self._shard, *given)  # the one that is used when its turn comes

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable(CLOSED)

    def _alone(self, work: Callable[[], Result]) -> Result:
        with self._engine:
            return translated(work)()

    def _close(self) -> None:
        self._shard.close()
        settle(self._folder)
        if self._pending == self._durable:
            write_seal(self._folder, self._folder / SHARD, self._seal)

    def _begin_copy(self, rebuild: Rebuild) -> None:
        shard = used(self._folder)
        require_room(self._folder, 2 * size_of(shard))  # a copy, and its new segments
        self._seal = None
        self._harden()
        rebuild.copy = ShardCopy(shard, spare(self._folder))

    def _copy_on(self, rebuild: Rebuild) -> bool:
        rebuild.check()
        return rebuild.copy is None or rebuild.copy.step()

    def _load_copy(self, rebuild: Rebuild) -> None:
        rebuild.check()
        rebuild.shard = edge.EdgeShard.load(str(spare(self._folder)))

    def _level(self, rebuild: Rebuild) -> bool:
        """Give the copy what it lacks, and when that is all, put it in the shard's place."""
        rebuild.check()
        shard = rebuild.shard
        if shard is None:
            return True
        lacking = rebuild.lacking[:LEVELLED_AT_A_TIME]
        if lacking:
            self._write(shard, lacking)
            del rebuild.lacking[: len(lacking)]
            if rebuild.lacking:
                return False
            shard.flush()
        switch(self._folder)
        self._shard, rebuild.shard = shard, self._shard
        return True

    def _end_rebuild(self, rebuild: Rebuild) -> None:
        rebuild.copy = None
        if rebuild.shard is not None:
            with suppress(Unavailable, Damaged):  # nobody uses it any more
                translated(rebuild.shard.close)()

    def _remove_spare(self) -> None:
        with suppress(OSError):  # what stays vanishes at the next opening
            remove(spare(self._folder))

    def _apply(self, records: Sequence[Stored]) -> None:
        self._seal = None
        if self._rebuild is not None and self._rebuild.copy is not None:
            self._rebuild.copy.finish()  # before anything changes
        self._write(self._shard, records)
        for stored in records:
            position = stored.position
            self._pending[position.partition] = Applied(position.epoch, position.offset + 1)
        if self._rebuild is not None:
            self._rebuild.collect(records)

    def _write(self, shard: edge.EdgeShard, records: Sequence[Stored]) -> None:
        boxes = (stored.record.box for stored in records)
        require_room(self._folder, COPIES * sum(len(box.sealed) for box in boxes if box))
        puts: dict[UUID, edge.Point] = {}
        for stored in records:
            for change in changes_of(stored.record):
                if isinstance(change, NewPoint):
                    puts[change.id] = edge_point(change)
                    continue
                self._upsert(shard, puts)
                if isinstance(change, Touch):
                    self._touch(shard, change.decision)
                else:
                    self._remove(shard, change.ids)
        self._upsert(shard, puts)

    def _upsert(self, shard: edge.EdgeShard, puts: dict[UUID, edge.Point]) -> None:
        if puts:
            shard.update(edge.UpdateOperation.upsert_points(list(puts.values())))
            puts.clear()

    def _touch(self, shard: edge.EdgeShard, decision: Decision) -> None:
        key: list[edge.PointId] = [str(decision.memory_id)]
        found = shard.retrieve(key, True, False)  # noqa: FBT003 - the engine's signature
        if not found:
            return  # a later record removed the memory, in a rebuild
        values = decision_values(decision)
        if decision.truth is not None and decision.truth.verified:
            values["words"] = words_in(shard, decision.memory_id)
        shard.update(edge.UpdateOperation.set_payload(key, values))
        stale = [name for name in TRUTH if name in (found[0].payload or {}) and name not in values]
        if stale:
            shard.update(edge.UpdateOperation.delete_payload(key, stale))

    def _remove(self, shard: edge.EdgeShard, ids: Sequence[UUID]) -> None:
        gone: list[edge.PointId] = [str(point) for point in ids]
        if gone:
            # The engine only marks points as deleted; so what they hold is overwritten first.
            # It stays in segments that were optimised, until they are optimised again.
            empty = [empty_point(one, self._dimension) for one in gone]
            shard.update(edge.UpdateOperation.upsert_points(empty))
            shard.update(edge.UpdateOperation.delete_points(gone))

    def _flush(self) -> None:
        if self._pending != self._durable:
            self._harden()

    def _harden(self) -> None:
        pending = dict(self._pending)
        self._shard.flush()
        write_markers(self._folder / MARKERS, pending)
        self._durable = pending
