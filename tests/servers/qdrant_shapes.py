"""The JSON of Qdrant's REST interface in the objects of its engine, for the stand-in.

Only what the adapter sends is known; anything else is refused, so that nothing is passed over.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge

__all__ = [
    "BadRequestError",
    "UnprocessableError",
    "filter_of",
    "know",
    "limit_of",
    "operation_of",
    "order_of",
    "point_json",
    "query_of",
    "schema_of",
    "shard_config",
]

TYPES: Final = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "float": edge.PayloadSchemaType.Float,
}
DATATYPES: Final = {
    "float16": edge.VectorStorageDatatype.Float16,
    "float32": edge.VectorStorageDatatype.Float32,
}
DISTANCES: Final = {"Dot": edge.Distance.Dot, "Cosine": edge.Distance.Cosine}


class BadRequestError(Exception):
    """The request can't be understood: 400."""


class UnprocessableError(Exception):
    """The request is understood and wrong: 422."""


def know(value: Mapping[str, Any], *names: str) -> None:
    """Refuse what has other fields than these."""
    unknown = set(value) - set(names)
    if unknown:
        message = f"The stand-in doesn't know {', '.join(sorted(unknown))}"
        raise BadRequestError(message)


def shard_config(config: Mapping[str, Any]) -> edge.EdgeConfig:
    """Return how the shard of a collection is made."""
    know(
        config,
        "vectors", "sparse_vectors", "shard_number", "hnsw_config", "strict_mode_config",
        "metadata",
    )  # fmt: skip
    hnsw: dict[str, Any] = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000}
    hnsw |= config.get("hnsw_config", {})
    know(hnsw, "m", "ef_construct", "full_scan_threshold", "payload_m")
    dense = {
        name: edge.EdgeVectorParams(
            size=one["size"],
            distance=DISTANCES[one["distance"]],
            datatype=DATATYPES[one.get("datatype", "float32")],
        )
        for name, one in config["vectors"].items()
    }
    sparse = {
        name: edge.EdgeSparseVectorParams(
            modifier=edge.Modifier.Idf if one.get("modifier") == "idf" else None,
            datatype=DATATYPES[one.get("index", {}).get("datatype", "float32")],
        )
        for name, one in config.get("sparse_vectors", {}).items()
    }
    return edge.EdgeConfig(
        vectors=dense, sparse_vectors=sparse, hnsw_config=edge.HnswIndexConfig(**hnsw)
    )


def schema_of(schema: str | Mapping[str, Any]) -> Any:
    """Return the type of an index."""
    if isinstance(schema, str):
        return TYPES[schema]
    know(schema, "type", "is_tenant")
    if schema["type"] != "keyword":
        message = f"The stand-in has no parameters for an index of {schema['type']}"
        raise BadRequestError(message)
    return edge.KeywordIndexParams(is_tenant=schema.get("is_tenant"))


def operation_of(operation: Mapping[str, Any]) -> edge.UpdateOperation:
    """Return one operation of a batch."""
    ((kind, values),) = operation.items()
    if kind == "upsert":
        return _points_of(values)
    if kind == "delete":
        know(values, "points", "filter")
        if "points" in values:
            return edge.UpdateOperation.delete_points(values["points"])
        return edge.UpdateOperation.delete_points_by_filter(filter_of(values["filter"]))
    if kind == "overwrite_payload":
        know(values, "payload", "points", "filter")
        if "points" in values:
            return edge.UpdateOperation.overwrite_payload(values["points"], values["payload"])
        only = filter_of(values["filter"])
        return edge.UpdateOperation.overwrite_payload_by_filter(only, values["payload"])
    message = f"The stand-in doesn't know the operation {kind}"
    raise BadRequestError(message)


def _points_of(values: Mapping[str, Any]) -> edge.UpdateOperation:
    know(values, "points", "update_filter")
    points = [
        edge.Point(one["id"], _vectors(one["vector"]), one.get("payload") or {})
        for one in values["points"]
    ]
    condition = filter_of(values["update_filter"]) if "update_filter" in values else None
    return edge.UpdateOperation.upsert_points(points, condition)


def _vectors(vectors: Mapping[str, Any]) -> Any:
    return {
        name: _sparse(one) if isinstance(one, dict) else [float(number) for number in one]
        for name, one in vectors.items()
    }


def _sparse(vector: Mapping[str, Any]) -> edge.SparseVector:
    know(vector, "indices", "values")
    indices, values = vector["indices"], vector["values"]
    if len(set(indices)) != len(indices) or len(values) != len(indices):
        message = "Validation error in JSON body: indices must be unique, and as many as values"
        raise UnprocessableError(message)
    return edge.SparseVector(indices, values)


def query_of(query: Mapping[str, Any], *, honours_idf: bool) -> edge.QueryRequest:
    """Return one query of a batch."""
    know(
        query,
        "query", "using", "filter", "limit", "params", "score_threshold", "with_payload",
        "with_vector",
    )  # fmt: skip
    params = query.get("params", {})
    know(params, "hnsw_ef", "exact", "idf")
    idf = None
    if "idf" in params and honours_idf:
        know(params["idf"], "corpus")
        idf = edge.IdfParams(corpus=filter_of(params["idf"]["corpus"]))
    asked = query["query"]
    if isinstance(asked, dict) and "nearest" in asked:
        know(asked, "nearest")
        asked = asked["nearest"]
    vector = _sparse(asked) if isinstance(asked, dict) else asked
    return edge.QueryRequest(
        query=edge.Query.Nearest(vector, using=query["using"]),
        filter=filter_of(query["filter"]) if "filter" in query else None,
        limit=limit_of(query),
        score_threshold=query.get("score_threshold"),
        with_payload=query.get("with_payload", False),
        with_vector=query.get("with_vector", False),
        params=edge.SearchParams(
            hnsw_ef=params.get("hnsw_ef"), exact=params.get("exact", False), idf=idf
        ),
    )


def limit_of(given: Mapping[str, Any]) -> int:
    """Return how many points are asked for."""
    limit = int(given.get("limit", 10))
    if limit < 1:
        message = (
            f"Validation error in JSON body: [limit: value {limit} invalid, must be 1 or more]"
        )
        raise UnprocessableError(message)
    return limit


def order_of(given: Mapping[str, Any]) -> edge.OrderBy:
    """Return in which order points come."""
    know(given, "key", "direction")
    directions = {"asc": edge.Direction.Asc, "desc": edge.Direction.Desc}
    return edge.OrderBy(given["key"], directions[given.get("direction", "asc")])


def filter_of(given: Mapping[str, Any]) -> edge.Filter:
    """Return a filter."""
    know(given, "must", "must_not", "should")
    parts: dict[str, Any] = {}
    for name, conditions in given.items():
        listed = conditions if isinstance(conditions, list) else [conditions]
        parts[name] = [_condition(one) for one in listed]
    return edge.Filter(**parts)


def _condition(given: Mapping[str, Any]) -> Any:
    if "key" in given:
        know(given, "key", "match", "range")
        if "match" in given:
            return edge.FieldCondition(key=given["key"], match=_match(given["match"]))
        know(given["range"], "gt", "gte", "lt", "lte")
        return edge.FieldCondition(key=given["key"], range=edge.RangeFloat(**given["range"]))
    if "has_id" in given:
        return edge.HasIdCondition({UUID(one) for one in given["has_id"]})
    if "is_empty" in given:
        return edge.IsEmptyCondition(given["is_empty"]["key"])
    return filter_of(given)


def _match(given: Mapping[str, Any]) -> Any:
    ((kind, value),) = given.items()
    if kind == "value":
        return edge.MatchValue(value=value)
    if kind == "any":
        return edge.MatchAny(any=value)
    if kind == "except":
        return edge.MatchExcept(value)
    message = f"The stand-in doesn't know the match {kind}"
    raise BadRequestError(message)


def point_json(found: edge.Record | edge.ScoredPoint) -> dict[str, Any]:
    """Return a point that was found, as JSON."""
    shown: dict[str, Any] = {"id": str(found.id)}
    if isinstance(found, edge.ScoredPoint):
        shown |= {"score": found.score, "version": found.version}
    if found.payload is not None:
        shown["payload"] = found.payload
    if isinstance(found.vector, dict):
        shown["vector"] = {name: _vector_json(one) for name, one in found.vector.items()}
    return shown


def _vector_json(vector: Any) -> Any:
    if isinstance(vector, edge.SparseVector):
        return {"indices": list(vector.indices), "values": list(vector.values)}
    return vector
