"""The episodic store of the embedded runtime: Qdrant Edge, the engine in-process.

The shard keeps no write-ahead log of its own: the journal is the log, and the markers move
only after a flush (docs/decisions/0003). Vectors are float16 and compared by dot product, so
that what the engine holds is bit for bit what the journal holds.

The engine blocks; everything runs in one thread of the store's own, in the order of the calls.
Only a look-up of a few points by id, while that thread is idle, runs in the event loop: it takes
less time than the way to a thread and back.
"""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final, Self, TypeVar
from uuid import UUID

import qdrant_edge as edge

from ...schemas.errors import Damaged, Unavailable
from ...schemas.ports import Applied, EpisodicQuery, MemoryPoint, PointHit, Stored, Vectors
from ...schemas.records import Box, Decision, Erasure
from .points import (
    DENSE,
    TURN,
    box_of,
    decision_values,
    empty_point,
    memory_of,
    memory_point,
    owner_filter,
    search_requests,
    shard_config,
    turn_points,
)
from .shard_files import (
    SHARD_BYTES_NEW,
    Seal,
    damaged,
    holes_of,
    read_markers,
    read_seal,
    require_room,
    size_of,
    system_reason,
    write_markers,
    write_seal,
)

__all__ = ["EdgeEpisodes"]

Result = TypeVar("Result")
MARKERS: Final = "applied.json"
SHARD: Final = "shard"
OPENING: Final = "opening"  # stands while the engine opens a shard that wasn't closed
NEAREST_PAGE: Final = 32  # near duplicates asked for at a time
SCROLL_PAGE: Final = 512
LOOKED_UP_MAX: Final = 64  # points that the event loop looks up itself
SCORE_SLACK: Final = 1e-3  # the engine sums in another order than numpy
COPIES: Final = 4  # of a turn's sealed text, at most: as base64, and in its memories


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
        return cls(folder, dimension, *await asyncio.to_thread(_open_shard, folder, dimension))

    @property
    def shard(self) -> edge.EdgeShard:
        """The engine, for a benchmark that asks it alone."""
        return self._shard

    async def apply(self, records: Sequence[Stored]) -> None:
        """Apply records of the journal, in order; see the port."""
        await self._run(partial(self._apply, records))

    async def flush(self) -> None:
        """Make everything applied durable, then move the markers."""
        await self._run(self._flush)

    async def applied(self, partition: int) -> Applied | None:
        """Return the partition's durable low-water position."""
        return self._durable.get(partition)

    async def query(self, query: EpisodicQuery) -> list[PointHit]:
        """Find points; the union of the dense and the sparse part, unordered."""
        return await self._run(partial(self._query, query))

    async def nearest(self, owner: str, vector: Vectors, threshold: float) -> list[MemoryPoint]:
        """Return every memory of the owner at or over a cosine, closest first."""
        return await self._run(partial(self._nearest, owner, vector, threshold))

    async def turn_boxes(self, owner: str, event_ids: Sequence[UUID]) -> dict[UUID, Box]:
        """Return the boxes of turns."""
        if not event_ids:
            return {}
        return await self._look_up(partial(self._boxes, owner, event_ids), len(event_ids))

    async def memories(
        self, owner: str, memory_ids: Sequence[UUID] | None = None
    ) -> list[MemoryPoint]:
        """Return memories by id, or all of an owner's, ordered by id."""
        if memory_ids is not None and not memory_ids:
            return []
        if memory_ids is None:
            found = await self._run(partial(self._scroll, owner))
        else:
            look = partial(self._retrieve, owner, memory_ids)
            found = await self._look_up(look, len(memory_ids))
        points = [memory_of(one) for one in found if (one.payload or {})["kind"] != TURN]
        return sorted(points, key=lambda point: point.memory_id)

    async def optimise(self) -> None:
        """Rebuild segments; holds the interpreter for seconds."""
        await self._run(self._optimise)
        await self.flush()

    async def close(self) -> None:
        """Flush and release the folder; twice is no error."""
        if self._closed:
            return
        try:
            await self.flush()
        finally:
            self._closed = True
            close = _translated(self._close)
            await asyncio.get_running_loop().run_in_executor(self._thread, close)
            self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], Result]) -> Result:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._alone, work)

    async def _look_up(self, work: Callable[[], Result], count: int) -> Result:
        """Look points up by id: here, if the engine is idle and the thread would be a detour."""
        self._check_open()
        if count > LOOKED_UP_MAX or not self._engine.acquire(blocking=False):
            return await self._run(work)
        try:
            return _translated(work)()
        finally:
            self._engine.release()

    def _check_open(self) -> None:
        if self._closed:
            message = "The episodic store is closed."
            raise Unavailable(message)

    def _alone(self, work: Callable[[], Result]) -> Result:
        with self._engine:
            return _translated(work)()

    def _close(self) -> None:
        self._shard.close()
        if self._pending == self._durable:
            write_seal(self._folder, self._folder / SHARD, self._seal)

    def _optimise(self) -> None:
        require_room(self._folder, size_of(self._folder / SHARD))
        self._seal = None
        self._shard.optimize()

    def _apply(self, records: Sequence[Stored]) -> None:
        boxes = (stored.record.box for stored in records)
        require_room(self._folder, COPIES * sum(len(box.sealed) for box in boxes if box))
        self._seal = None
        puts: dict[UUID, edge.Point] = {}
        for stored in records:
            record = stored.record
            for point in turn_points(record):
                puts[UUID(str(point.id))] = point
            for decision in record.decisions:
                if decision.action == "new":
                    candidate = record.candidates[decision.candidate]
                    puts[decision.memory_id] = memory_point(record.owner, candidate, decision)
                else:
                    self._upsert(puts)
                    self._touch(decision)
            if record.erasure is not None:
                self._upsert(puts)
                self._erase(record.owner, record.erasure)
        self._upsert(puts)
        for stored in records:
            position = stored.position
            self._pending[position.partition] = Applied(position.epoch, position.offset + 1)

    def _upsert(self, puts: dict[UUID, edge.Point]) -> None:
        if puts:
            self._shard.update(edge.UpdateOperation.upsert_points(list(puts.values())))
            puts.clear()

    def _touch(self, decision: Decision) -> None:
        # A touch of a memory that a later record removed finds nothing, in a rebuild.
        if self._shard.retrieve([str(decision.memory_id)], False, False):  # noqa: FBT003 - the engine's signature
            self._shard.update(
                edge.UpdateOperation.set_payload(
                    [str(decision.memory_id)], decision_values(decision)
                )
            )

    def _erase(self, owner: str, erasure: Erasure) -> None:
        gone: list[edge.PointId] = [str(point) for point in (*erasure.points, *erasure.memories)]
        if gone:
            # The engine only marks points as deleted; so what they hold is overwritten first.
            # It stays in segments that were optimised, until they are optimised again.
            self._shard.update(
                edge.UpdateOperation.upsert_points(
                    [empty_point(one, self._dimension) for one in gone]
                )
            )
            self._shard.update(edge.UpdateOperation.delete_points(gone))
        self._upsert(
            {
                put.decision.memory_id: memory_point(owner, put.candidate, put.decision)
                for put in erasure.puts
            }
        )

    def _flush(self) -> None:
        pending = dict(self._pending)
        if pending == self._durable:
            return
        self._shard.flush()
        write_markers(self._folder / MARKERS, pending)
        self._durable = pending

    def _query(self, query: EpisodicQuery) -> list[PointHit]:
        requests = search_requests(query)
        found = self._shard.query_batch(edge.QueryBatchRequest(queries=requests))
        # Reading `id` makes a UUID each time, so it is read once.
        scores = [{_uuid(one.id).bytes: one.score for one in part} for part in found]
        dense = {} if query.vector is None else scores[0]
        sparse = scores[-1] if query.terms else {}
        hits = [PointHit(point, score, sparse.pop(point, None)) for point, score in dense.items()]
        hits += [PointHit(point, None, score) for point, score in sparse.items()]
        return hits

    def _nearest(self, owner: str, vector: Vectors, threshold: float) -> list[MemoryPoint]:
        limit = NEAREST_PAGE
        while True:
            request = edge.QueryRequest(
                query=edge.Query.Nearest(vector.tolist(), using=DENSE),
                filter=owner_filter(owner, kinds=None, without_turns=True),
                limit=limit,
                score_threshold=threshold - SCORE_SLACK,
                with_payload=True,
                with_vector=True,
                params=edge.SearchParams(exact=True),
            )
            found = self._shard.query(request)
            if len(found) < limit:
                return [memory_of(one) for one in found]
            limit *= 4

    def _boxes(self, owner: str, ids: Sequence[UUID]) -> dict[UUID, Box]:
        found: dict[UUID, Box] = {}
        for one in self._shard.retrieve([str(one) for one in ids], True, False):  # noqa: FBT003 - the engine's signature
            payload = one.payload  # the engine makes it anew each time
            if payload and payload["owner"] == owner:
                found[_uuid(one.id)] = box_of(payload)
        return found

    def _retrieve(self, owner: str, ids: Sequence[UUID]) -> list[edge.Record]:
        found = self._shard.retrieve([str(one) for one in ids], True, False)  # noqa: FBT003 - the engine's signature
        return [one for one in found if one.payload and one.payload["owner"] == owner]

    def _scroll(self, owner: str) -> list[edge.Record]:
        only = owner_filter(owner, None, without_turns=True)
        found: list[edge.Record] = []
        offset = None
        while True:
            page, offset = self._shard.scroll(
                edge.ScrollRequest(filter=only, limit=SCROLL_PAGE, offset=offset, with_payload=True)
            )
            found += page
            if offset is None:
                return found


def _uuid(point: int | str | UUID) -> UUID:
    return point if isinstance(point, UUID) else UUID(str(point))


def _translated(work: Callable[[], Result]) -> Callable[[], Result]:
    def run() -> Result:
        try:
            return work()
        except OSError as error:
            message = f"The episodic store can't be used now: {error.strerror or error}."
            raise Unavailable(message) from error
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # of the engine; it has no other name
                message = f"The episodic store's engine broke off: {_first_line(error)}."
                raise Damaged(message) from error
            if type(error) is not Exception:  # the engine raises nothing more exact
                raise
            message = f"The episodic store failed: {system_reason(error) or _first_line(error)}."
            raise Unavailable(message) from error

    return run


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0].rstrip(".")[:200]


def _open_shard(folder: Path, dimension: int) -> tuple[edge.EdgeShard, Seal | None]:
    path = folder / SHARD
    opening = folder / OPENING

    def work() -> tuple[edge.EdgeShard, Seal | None]:
        if (folder / MARKERS).exists():
            read_markers(folder / MARKERS)
            require_room(folder, holes_of(path))
            seal = read_seal(folder, path)
            if seal is not None or not opening.exists():
                return _load(folder, is_sealed=seal is not None), seal
            # A process died of what a crash had left here: the journal makes it anew.
        # No markers: nothing was ever flushed, so what a crash left is made again.
        require_room(folder, SHARD_BYTES_NEW)
        (folder / MARKERS).unlink(missing_ok=True)
        opening.unlink(missing_ok=True)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        shard = edge.EdgeShard.create(str(path), shard_config(dimension))
        for field in ("owner", "kind"):
            shard.update(
                edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Keyword)
            )
        shard.flush()
        write_markers(folder / MARKERS, {})
        return shard, None

    return _translated(work)()


def _load(folder: Path, *, is_sealed: bool) -> edge.EdgeShard:
    if not is_sealed:
        (folder / OPENING).touch()
    try:
        shard = edge.EdgeShard.load(str(folder / SHARD))
    except BaseException as error:
        (folder / OPENING).unlink(missing_ok=True)
        is_engine = type(error) is Exception or type(error).__name__ == "PanicException"
        if not is_engine or system_reason(error):
            raise
        raise damaged(folder) from error
    (folder / OPENING).unlink(missing_ok=True)
    return shard
