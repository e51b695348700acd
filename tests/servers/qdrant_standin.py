"""A stand-in for a Qdrant server: its engine in one process, behind the REST calls that we make.

    python -m tests.servers.qdrant_standin --folder F --port P [--key K] [--version V]
        [--global-idf]

The engine is Qdrant Edge, with its write-ahead log: what was acknowledged survives a SIGKILL. A
call, a condition or an option that isn't known is refused with a sentence, never passed over.
Collections are one shard each. What a server optimises by itself is optimised here at the start.

Faults are set by `POST /faults` and hold until they are used up or their time is over:
{"status": 503, "seconds": 2} answers so; {"delay_s": 1, "seconds": 5} waits before it works;
{"drop": true, "count": 1} works and then breaks the connection off. With "path" only calls whose
method and path hold it are meant. `DELETE /faults` ends all. `GET /calls` counts calls by method
and route, `DELETE /calls` forgets them. `--global-idf` ignores an IDF corpus, as 1.18 does.
"""

import argparse
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import qdrant_edge as edge
from aiohttp import web

from tests.servers.qdrant_faults import Faults, failed, ok
from tests.servers.qdrant_shapes import (
    BadRequestError,
    filter_of,
    know,
    limit_of,
    operation_of,
    order_of,
    point_json,
    query_of,
    schema_of,
    shard_config,
)

__all__ = ["Standin", "main"]

BODY_BYTES_MAX: Final = 32 * 1024 * 1024  # as a server takes by default


@dataclass
class Collection:
    """A collection that is open.

    Args:
        folder: Where it lies.
        config: As it was asked for, as JSON.
        shard: The engine.
    """

    folder: Path
    config: dict[str, Any]
    shard: edge.EdgeShard
    indexes: dict[str, Any] = field(default_factory=dict)

    def update(self, operation: edge.UpdateOperation) -> None:
        """Apply a change; what the engine doesn't take is a bad request."""
        try:
            self.shard.update(operation)
        except Exception as error:
            if type(error) is not Exception:  # the engine raises nothing more exact
                raise
            raise BadRequestError(str(error)) from error


class Standin:
    """The server.

    Args:
        folder: Where everything lies.
        key: That requests have to bring; empty is none.
        version: That it says it is.
        honours_idf: Whether an IDF corpus is heeded.
    """

    def __init__(
        self, folder: Path, *, key: str = "", version: str = "1.20.0", honours_idf: bool = True
    ) -> None:
        self._folder = folder
        self._faults = Faults(key)
        self._version = version
        self._honours_idf = honours_idf
        self._operations = 0
        (folder / "collections").mkdir(parents=True, exist_ok=True)
        self._collections = {
            path.name: self._load(path)
            for path in sorted((folder / "collections").iterdir())
            if not path.name.endswith(".new")
        }
        aliases = folder / "aliases.json"
        self._aliases: dict[str, str] = json.loads(aliases.read_bytes()) if aliases.exists() else {}

    def app(self) -> web.Application:
        """Return what serves."""
        app = web.Application(middlewares=[self._faults.around], client_max_size=BODY_BYTES_MAX)
        points = "/collections/{name}/points"
        app.add_routes(
            [
                web.get("/", self._info),
                *self._faults.routes(),
                web.get("/aliases", self._get_aliases),
                web.post("/collections/aliases", self._change_aliases),
                web.get("/collections/{name}", self._get_collection),
                web.put("/collections/{name}", self._create),
                web.delete("/collections/{name}", self._delete_collection),
                web.put("/collections/{name}/index", self._create_index),
                web.post(points, self._retrieve),
                web.post(f"{points}/batch", self._batch),
                web.post(f"{points}/count", self._count),
                web.post(f"{points}/scroll", self._scroll),
                web.post(f"{points}/query/batch", self._query_batch),
                web.route("*", "/{rest:.*}", self._unknown),
            ]
        )
        return app

    def close(self) -> None:
        """Close every collection."""
        for one in self._collections.values():
            one.shard.flush()
            one.shard.close()

    async def _unknown(self, request: web.Request) -> web.Response:
        return failed(501, f"The stand-in doesn't know {request.method} {request.path}")

    async def _info(self, _: web.Request) -> web.Response:
        return web.json_response({"title": "stand-in", "version": self._version})

    # --- collections -----------------------------------------------------------------------

    def _load(self, path: Path) -> Collection:
        config = json.loads((path / "config.json").read_bytes())
        shard = edge.EdgeShard.load(str(path / "shard"))
        shard.optimize()
        indexes = {}
        if (path / "indexes.json").exists():
            indexes = json.loads((path / "indexes.json").read_bytes())
        return Collection(path, config, shard, indexes)

    def _find(self, request: web.Request) -> Collection:
        name = unquote(request.match_info["name"])
        return self._collections[self._aliases.get(name, name)]

    async def _get_collection(self, request: web.Request) -> web.Response:
        found = self._find(request)
        config = found.config
        names = ("vectors", "sparse_vectors", "shard_number")
        shown = {
            "params": {name: config[name] for name in names if name in config},
            "hnsw_config": {
                "m": 16,
                "ef_construct": 100,
                "full_scan_threshold": 10_000,
                **config.get("hnsw_config", {}),
            },
            "optimizer_config": {
                "deleted_threshold": 0.2,
                "vacuum_min_vector_number": 1000,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
            "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
            "metadata": config.get("metadata"),
        }
        info = found.shard.info()
        schema = {
            name: {
                "data_type": kind if isinstance(kind, str) else kind["type"],
                "points": 0,
                **({} if isinstance(kind, str) else {"params": kind}),
            }
            for name, kind in found.indexes.items()
        }
        result = {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": info.points_count,
            "segments_count": info.segments_count,
            "config": shown,
            "payload_schema": schema,
        }
        return ok(result)

    async def _create(self, request: web.Request) -> web.Response:
        name = unquote(request.match_info["name"])
        config = await _body(request)
        if name in self._collections:  # from here on nobody else has a turn
            return failed(409, f"Wrong input: Collection `{name}` already exists!")
        if name in self._aliases:
            return failed(400, f"Wrong input: Alias `{name}` already exists!")
        made = self._folder / "collections" / f"{name}.new"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        edge.EdgeShard.create(str(made / "shard"), shard_config(config)).close()
        (made / "config.json").write_text(json.dumps(config), encoding="utf-8")
        path = made.with_name(name)
        made.rename(path)
        self._collections[name] = self._load(path)
        return ok(True)  # noqa: FBT003 - a result in JSON

    async def _delete_collection(self, request: web.Request) -> web.Response:
        name = unquote(request.match_info["name"])
        found = self._collections.pop(name, None)
        if found is not None:
            found.shard.close()
            shutil.rmtree(found.folder)
            self._keep_aliases({k: v for k, v in self._aliases.items() if v != name})
        return ok(found is not None)

    async def _create_index(self, request: web.Request) -> web.Response:
        found = self._find(request)
        body = await _body(request, "field_name", "field_schema")
        name, schema = body["field_name"], body["field_schema"]
        found.update(edge.UpdateOperation.create_field_index(name, schema_of(schema)))
        found.shard.flush()
        found.indexes[name] = schema
        _write(found.folder / "indexes.json", found.indexes)
        return self._completed(request)

    async def _get_aliases(self, _: web.Request) -> web.Response:
        aliases = [
            {"alias_name": alias, "collection_name": name} for alias, name in self._aliases.items()
        ]
        return ok({"aliases": aliases})

    async def _change_aliases(self, request: web.Request) -> web.Response:
        aliases = dict(self._aliases)
        for action in (await _body(request, "actions"))["actions"]:
            (kind, values), *_ = action.items()
            if kind == "create_alias":
                if values["collection_name"] not in self._collections:
                    raise KeyError(values["collection_name"])
                if values["alias_name"] in self._collections:
                    return failed(409, f"Collection `{values['alias_name']}` already exists!")
                aliases[values["alias_name"]] = values["collection_name"]
            elif kind == "delete_alias":
                aliases.pop(values["alias_name"], None)
            else:
                message = f"The stand-in doesn't know the alias action {kind}"
                raise BadRequestError(message)
        self._keep_aliases(aliases)
        return ok(True)  # noqa: FBT003 - a result in JSON

    def _keep_aliases(self, aliases: dict[str, str]) -> None:
        _write(self._folder / "aliases.json", aliases)
        self._aliases = aliases

    # --- points ----------------------------------------------------------------------------

    async def _batch(self, request: web.Request) -> web.Response:
        found = self._find(request)
        body = await _body(request, "operations")
        operations = [operation_of(one) for one in body["operations"]]
        for one in operations:
            found.update(one)
        return ok([self._update_result(request) for _ in operations])

    async def _retrieve(self, request: web.Request) -> web.Response:
        found = self._find(request)
        body = await _body(request, "ids", "with_payload", "with_vector")
        records = found.shard.retrieve(
            body["ids"], body.get("with_payload", True), body.get("with_vector", False)
        )
        return ok([point_json(one) for one in records])

    async def _count(self, request: web.Request) -> web.Response:
        found = self._find(request)
        body = await _body(request, "filter", "exact")
        only = filter_of(body["filter"]) if "filter" in body else None
        count = found.shard.count(edge.CountRequest(exact=True, filter=only))
        return ok({"count": count})

    async def _scroll(self, request: web.Request) -> web.Response:
        found = self._find(request)
        body = await _body(
            request, "filter", "limit", "offset", "order_by", "with_payload", "with_vector"
        )
        order = body.get("order_by")
        page, following = found.shard.scroll(
            edge.ScrollRequest(
                offset=body.get("offset"),
                limit=limit_of(body),
                filter=filter_of(body["filter"]) if "filter" in body else None,
                with_payload=body.get("with_payload", True),
                with_vector=body.get("with_vector", False),
                order_by=order_of(order) if order else None,
            )
        )
        offset = None if following is None else str(following)
        return ok({"points": [point_json(one) for one in page], "next_page_offset": offset})

    async def _query_batch(self, request: web.Request) -> web.Response:
        found = self._find(request)
        queries = [
            query_of(one, honours_idf=self._honours_idf)
            for one in (await _body(request, "searches"))["searches"]
        ]
        try:
            answers = found.shard.query_batch(edge.QueryBatchRequest(queries=queries))
        except Exception as error:
            if type(error) is not Exception:  # the engine raises nothing more exact
                raise
            raise BadRequestError(str(error)) from error
        return ok([{"points": [point_json(one) for one in part]} for part in answers])

    def _completed(self, request: web.Request) -> web.Response:
        return ok(self._update_result(request))

    def _update_result(self, request: web.Request) -> dict[str, Any]:
        self._operations += 1
        is_awaited = request.query.get("wait") == "true"
        return {
            "operation_id": self._operations,
            "status": "completed" if is_awaited else "acknowledged",
        }


async def _body(request: web.Request, *names: str) -> dict[str, Any]:
    """Return a request's object; what isn't of these names is refused, unless none is given."""
    try:
        body = await request.json()
    except ValueError as error:
        message = "Format error in JSON body"
        raise BadRequestError(message) from error
    if not isinstance(body, dict):
        message = "Format error in JSON body: an object is expected"
        raise BadRequestError(message)
    if names:
        know(body, *names)
    return body


def _write(path: Path, value: object) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value), encoding="utf-8")
    temporary.replace(path)


def main() -> None:
    """Serve what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--key", default="")
    parser.add_argument("--version", default="1.20.0")
    parser.add_argument("--global-idf", action="store_true")
    given = parser.parse_args()
    standin = Standin(
        given.folder, key=given.key, version=given.version, honours_idf=not given.global_idf
    )
    try:
        web.run_app(standin.app(), host="127.0.0.1", port=given.port, print=None, access_log=None)
    finally:
        standin.close()


if __name__ == "__main__":
    main()
