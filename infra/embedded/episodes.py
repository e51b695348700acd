"""The episodic store of the embedded runtime: Qdrant Edge, the engine in-process.

The shard keeps no write-ahead log of its own: the journal is the log, and the markers move
only after a flush (docs/decisions/0003). Vectors are float16 and compared by dot product, so
that what the engine holds is bit for bit what the journal holds.

The engine blocks; everything runs in one thread of the store's own, in the order of the calls.
"""

import asyncio
import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, Self, TypeVar
from uuid import UUID

import orjson
import qdrant_edge as edge

from ...schemas.errors import Damaged, Unavailable
from ...schemas.ports import Applied, EpisodicQuery, MemoryPoint, PointHit, Stored, Vectors
from ...schemas.records import Box, Decision, Erasure
from .points import (
    DENSE,
    TERMS,
    TURN,
    box_of,
    decision_values,
    memory_of,
    memory_point,
    owner_filter,
    turn_points,
)

__all__ = ["EdgeEpisodes"]

Result = TypeVar("Result")
MARKERS: Final = "applied.json"
SHARD: Final = "shard"
NEAREST_PAGE: Final = 32  # near duplicates asked for at a time
SCROLL_PAGE: Final = 512
SCORE_SLACK: Final = 1e-3  # the engine sums in another order than numpy


class EdgeEpisodes:
    """`EpisodicStore` on Qdrant Edge.

    Args:
        folder: The store's folder: the shard and the markers.
        shard: The open engine.
    """

    def __init__(self, folder: Path, shard: edge.EdgeShard) -> None:
        self._folder = folder
        self._shard = shard
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eunoe-episodes")
        self._durable = _read_markers(folder / MARKERS)
        self._pending: dict[int, Applied] = dict(self._durable)
        self._closed = False

    @classmethod
    async def open(cls, folder: Path, dimension: int) -> Self:
        """Open or make the store.

        Args:
            folder: Its folder.
            dimension: Length of the vectors.

        Raises:
            Unavailable: The engine can't open the folder.
        """
        return cls(folder, await asyncio.to_thread(_open_shard, folder, dimension))

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
        return await self._run(partial(self._boxes, owner, event_ids)) if event_ids else {}

    async def memories(
        self, owner: str, memory_ids: Sequence[UUID] | None = None
    ) -> list[MemoryPoint]:
        """Return memories by id, or all of an owner's, ordered by id."""
        if memory_ids is not None and not memory_ids:
            return []
        if memory_ids is None:
            found = await self._run(partial(self._scroll, owner))
        elif not memory_ids:
            return []
        else:
            found = await self._run(partial(self._retrieve, owner, memory_ids))
        points = [memory_of(one) for one in found if (one.payload or {})["kind"] != TURN]
        return sorted(points, key=lambda point: point.memory_id)

    async def optimise(self) -> None:
        """Rebuild segments; holds the interpreter for seconds."""
        await self._run(self._shard.optimize)
        await self.flush()

    async def close(self) -> None:
        """Flush and release the folder; twice is no error."""
        if self._closed:
            return
        await self.flush()
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._thread, self._shard.close)
        self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], Result]) -> Result:
        if self._closed:
            message = "The episodic store is closed."
            raise Unavailable(message)
        return await asyncio.get_running_loop().run_in_executor(self._thread, _translated(work))

    def _apply(self, records: Sequence[Stored]) -> None:
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
        _write_markers(self._folder / MARKERS, pending)
        self._durable = pending

    def _query(self, query: EpisodicQuery) -> list[PointHit]:
        only = owner_filter(query.owner, query.kinds)
        dense: dict[bytes, float] = {}
        sparse: dict[bytes, float] = {}
        if query.vector is not None:
            nearest = edge.Query.Nearest(query.vector.tolist(), using=DENSE)
            dense = self._scores(nearest, only, query.limit)
        if query.terms:
            indices = list(query.terms)
            vector = edge.SparseVector(indices, [1.0] * len(indices))
            idf = edge.SearchParams(idf=edge.IdfParams(corpus=owner_filter(query.owner, None)))
            sparse = self._scores(edge.Query.Nearest(vector, using=TERMS), only, query.limit, idf)
        hits = [PointHit(point, score, sparse.pop(point, None)) for point, score in dense.items()]
        hits += [PointHit(point, None, score) for point, score in sparse.items()]
        return hits

    def _scores(
        self,
        query: edge.Query,
        only: edge.Filter,
        limit: int,
        params: edge.SearchParams | None = None,
    ) -> dict[bytes, float]:
        request = edge.QueryRequest(
            query=query, filter=only, limit=limit, with_payload=False, params=params
        )
        # Reading `id` makes a UUID each time, so it is read once.
        return {_uuid(found.id).bytes: found.score for found in self._shard.query(request)}

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
        except Exception as error:
            if type(error) is not Exception:  # the engine raises nothing more exact
                raise
            message = f"The episodic store failed: {_first_line(error)}."
            raise Unavailable(message) from error

    return run


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")[:200]


def _open_shard(folder: Path, dimension: int) -> edge.EdgeShard:
    path = folder / SHARD
    vectors = edge.EdgeVectorParams(
        size=dimension,
        distance=edge.Distance.Dot,
        datatype=edge.VectorStorageDatatype.Float16,
    )
    config = edge.EdgeConfig(
        vectors={DENSE: vectors},
        sparse_vectors={
            TERMS: edge.EdgeSparseVectorParams(
                modifier=edge.Modifier.Idf, datatype=edge.VectorStorageDatatype.Float16
            )
        },
        payload_memory=edge.Memory.Cached,
        wal_enabled=False,
    )

    def work() -> edge.EdgeShard:
        if (folder / MARKERS).exists():
            return edge.EdgeShard.load(str(path))
        # No markers: nothing was ever flushed, so what a crash left is made again.
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        shard = edge.EdgeShard.create(str(path), config)
        for field in ("owner", "kind"):
            shard.update(
                edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Keyword)
            )
        shard.flush()
        _write_markers(folder / MARKERS, {})
        return shard

    return _translated(work)()


def _read_markers(path: Path) -> dict[int, Applied]:
    try:
        rows = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        message = f"The episodic store's markers can't be read: remove {path.parent} to rebuild it."
        raise Damaged(message) from error
    return {int(partition): Applied(*row) for partition, row in rows.items()}


def _write_markers(path: Path, markers: dict[int, Applied]) -> None:
    temporary = path.with_suffix(".new")
    rows = {str(partition): list(row) for partition, row in markers.items()}
    with temporary.open("wb") as file:
        file.write(orjson.dumps(rows))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
