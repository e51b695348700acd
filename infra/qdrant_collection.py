"""The collection of the episodic store on a Qdrant server: made, checked, and its alias switched.

What everybody asks is an alias; the collection behind it has the alias's name, a point and a
number. No namespace has a point in it, so no installation's alias is another's collection. Another
one is filled beside it and takes its place in one step. IDF is computed by the shard, and a shard's
write-ahead log is what keeps markers behind what they speak of: so a collection is one shard, and
what spreads reads is replicas (with a write consistency of all of them, so that each has what was
acknowledged).
"""

import asyncio
import re
from typing import Final
from uuid import uuid4

from qdrant_client import models

from ..schemas.errors import EncoderMismatch, Rejected, Unavailable
from ..schemas.limits import AGAIN_S
from .points import DENSE, INDEXES, TENANT, TERMS, NewPoint
from .qdrant_calls import HttpStatus, QdrantCalls
from .qdrant_words import WORDS, point_struct
from .qdrant_writes import BURIED, MARKER

__all__ = ["LAYOUT", "behind", "beside", "check_idf", "ensure", "numbered", "switch"]

LAYOUT: Final = 2
"""Of the points: as in the embedded store."""
INDEX_TYPES: Final = {
    name: models.PayloadSchemaType(kind)
    for name, kind in {**INDEXES, BURIED: "float", MARKER: "integer"}.items()
}
TENANT_INDEX: Final = models.KeywordIndexParams(
    type=models.KeywordIndexType.KEYWORD, is_tenant=True
)
M, PAYLOAD_M, EF_CONSTRUCT, FULL_SCAN_KIB = 0, 16, 100, 20_000
VERSION_MIN: Final = "1.19"  # the first that computes IDF over an owner's points
ABSENT: Final = frozenset((404,))
TAKEN: Final = frozenset((400, 409))
UNREADY_MAX: Final = 20  # looks at a collection that somebody else is making


async def behind(calls: QdrantCalls, alias: str) -> str | None:
    """Return the collection behind an alias, or None."""
    async with calls.call() as client:
        found = await client.get_aliases()
    return next((one.collection_name for one in found.aliases if one.alias_name == alias), None)


async def beside(calls: QdrantCalls, alias: str) -> str:
    """Return the name of the collection that may take the place of the one behind an alias."""
    used = await behind(calls, alias)
    number = re.fullmatch(re.escape(alias) + r"\.(\d+)", used or "")
    return numbered(alias, int(number[1]) + 1 if number else 1)


def numbered(alias: str, number: int) -> str:
    """Return the name of an alias's collection, counted from 1."""
    return f"{alias}.{number}"


async def ensure(calls: QdrantCalls, collection: str, dimension: int) -> None:
    """Make a collection with its indexes where they are missing, and check what is there.

    Raises:
        EncoderMismatch: It holds vectors of another length.
        Rejected: It has other settings.
    """
    info = await _look(calls, collection)
    if info is None:
        await _make(calls, collection, dimension)
        info = await _look_again(calls, collection)
    _check(collection, info, dimension)
    for name, kind in INDEX_TYPES.items():
        index = info.payload_schema.get(name)
        if index is None:
            await _index(calls, collection, name, kind)
        elif index.data_type != kind or (name == TENANT and not _is_tenant(index)):
            raise _other(collection, f"another index on {name}", f"one of type {kind.value}")


async def switch(calls: QdrantCalls, alias: str, collection: str) -> str | None:
    """Let an alias mean a collection, in one step; returns what it meant before."""
    before = await behind(calls, alias)
    create = models.CreateAlias(collection_name=collection, alias_name=alias)
    actions: list[models.AliasOperations] = [models.CreateAliasOperation(create_alias=create)]
    if before is not None:
        delete = models.DeleteAlias(alias_name=alias)
        actions.insert(0, models.DeleteAliasOperation(delete_alias=delete))
    async with calls.call() as client:
        await client.update_collection_aliases(change_aliases_operations=actions)
    return before


async def check_idf(calls: QdrantCalls, collection: str, dimension: int, now: float) -> None:
    """See that the server computes IDF over the points that it is told to; it may ignore it.

    A few points of an owner that nobody is are put, asked, and removed. What a crash leaves of them
    vanishes with old gravestones.

    Raises:
        Rejected: It doesn't.
    """
    rare, often = f"eunoe/probe/{uuid4()}", f"eunoe/probe/{uuid4()}"
    zeros = [0.0] * dimension
    points = [
        point_struct(NewPoint(uuid4(), zeros, [term], [1.0], {}), {TENANT: owner, BURIED: now})
        for owner, term in ((rare, 1), (rare, 2), (rare, 2), (often, 1), (often, 1))
    ]
    ids = models.PointIdsList(points=[one.id for one in points])
    put = models.UpsertOperation(upsert=models.PointsList(points=points))
    try:
        await calls.update(collection, [put])
        found = await calls.ask(collection, [_probe(rare, corpus) for corpus in (rare, often)])
    finally:
        await calls.update(collection, [models.DeleteOperation(delete=ids)])
    scores = [points[0].score for points in found if points]
    if len(scores) != len(found) or not scores[0] > scores[1]:
        async with calls.call() as client:
            version = (await client.info()).version
        message = (
            f"Qdrant at {calls.url} is {version} and doesn't compute IDF over an owner's points: "
            f"EUNOE_QDRANT must name a server of version {VERSION_MIN} or later."
        )
        raise Rejected(message)


def _probe(owner: str, corpus: str) -> models.QueryRequest:
    return models.QueryRequest(
        query=models.SparseVector(indices=[1], values=[1.0]),
        using=TERMS,
        filter=WORDS.every([WORDS.equals(TENANT, owner)]),
        params=models.SearchParams(
            idf=models.IdfCorpusParams(corpus=WORDS.every([WORDS.equals(TENANT, corpus)]))
        ),
        limit=1,
    )


async def _look(calls: QdrantCalls, collection: str) -> models.CollectionInfo | None:
    try:
        async with calls.call(tell=ABSENT) as client:
            return await client.get_collection(collection)
    except HttpStatus:
        return None


async def _look_again(calls: QdrantCalls, collection: str) -> models.CollectionInfo:
    """Look at a collection that somebody else may be making: it answers errors until it is made."""
    for _ in range(UNREADY_MAX):
        try:
            async with calls.call() as client:
                return await client.get_collection(collection)
        except Unavailable:
            await asyncio.sleep(AGAIN_S)
    async with calls.call() as client:
        return await client.get_collection(collection)


async def _make(calls: QdrantCalls, collection: str, dimension: int) -> None:
    vectors = models.VectorParams(
        size=dimension, distance=models.Distance.DOT, datatype=models.Datatype.FLOAT16
    )
    terms = models.SparseVectorParams(
        modifier=models.Modifier.IDF,
        index=models.SparseIndexParams(datatype=models.Datatype.FLOAT16),
    )
    try:
        async with calls.call(tell=TAKEN) as client:
            await client.create_collection(
                collection,
                vectors_config={DENSE: vectors},
                sparse_vectors_config={TERMS: terms},
                shard_number=1,
                # A graph for each owner and none for all; up to so many KiB of an owner's vectors
                # are compared one by one, which is exact.
                hnsw_config=models.HnswConfigDiff(
                    m=M,
                    payload_m=PAYLOAD_M,
                    ef_construct=EF_CONSTRUCT,
                    full_scan_threshold=FULL_SCAN_KIB,
                ),
                # Some fields that are asked for have no index: they come after others that have.
                strict_mode_config=models.StrictModeConfig(enabled=False),
                metadata={"layout": LAYOUT},
            )
    except HttpStatus:
        return  # somebody else has just made it


async def _index(
    calls: QdrantCalls, collection: str, name: str, kind: models.PayloadSchemaType
) -> None:
    schema = TENANT_INDEX if name == TENANT else kind
    async with calls.call() as client:
        await client.create_payload_index(collection, name, schema, wait=True)


def _check(collection: str, info: models.CollectionInfo, dimension: int) -> None:
    params, hnsw = info.config.params, info.config.hnsw_config
    dense = params.vectors.get(DENSE) if isinstance(params.vectors, dict) else None
    terms = (params.sparse_vectors or {}).get(TERMS)
    if dense is None or terms is None:
        raise _other(collection, "other vectors", f"{DENSE} and {TERMS}")
    if dense.size != dimension:
        message = (
            f"The Qdrant collection {collection} holds vectors of {dense.size} numbers, and the "
            f"encoder makes {dimension}: use the encoder that filled it, or let EUNOE_NAMESPACE "
            "name another installation and re-embed into that."
        )
        raise EncoderMismatch(message)
    found = {
        "layout": ((info.config.metadata or {}).get("layout"), LAYOUT),
        "distance": (dense.distance, models.Distance.DOT),
        "datatype": (dense.datatype, models.Datatype.FLOAT16),
        "modifier": (terms.modifier, models.Modifier.IDF),
        "shard_number": (params.shard_number, 1),
        "hnsw m": (hnsw.m, M),
        "hnsw payload_m": (hnsw.payload_m, PAYLOAD_M),
    }
    for name, (is_, needs) in found.items():
        if is_ != needs:
            raise _other(collection, f"{name} {_plain(is_)}", _plain(needs))


def _plain(value: object) -> object:
    return getattr(value, "value", value)


def _is_tenant(index: models.PayloadIndexInfo) -> bool:
    return isinstance(index.params, models.KeywordIndexParams) and bool(index.params.is_tenant)


def _other(collection: str, has: str, needs: object) -> Rejected:
    return Rejected(
        f"The Qdrant collection {collection} has {has} and needs {needs}: remove it, and the "
        "journal fills a new one, or let EUNOE_NAMESPACE name another installation."
    )
