"""The stand-in for Qdrant says so where it doesn't know or take something."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers import qdrant
from tests.servers.qdrant import Qdrant

pytestmark = pytest.mark.server

CONFIG = {"vectors": {"dense": {"size": 2, "distance": "Dot"}}, "sparse_vectors": {"terms": {}}}
POINT = {"id": "00000000-0000-0000-0000-000000000001", "vector": {"dense": [1.0, 0.0]}}


def make(server: Qdrant) -> None:
    """Make a collection with a point."""
    httpx.put(f"{server.url}/collections/c", json=CONFIG).raise_for_status()
    assert update(server, {"upsert": {"points": [POINT]}}).is_success


def update(server: Qdrant, *operations: dict[str, Any]) -> httpx.Response:
    """Send operations."""
    url = f"{server.url}/collections/c/points/batch?wait=true"
    return httpx.post(url, json={"operations": operations})


def count(server: Qdrant, **body: Any) -> Any:
    """Count points."""
    answer = httpx.post(f"{server.url}/collections/c/points/count", json=body)
    return answer.json()["result"]["count"]


@pytest.mark.parametrize("path", ["/telemetry", "/collections/c/facet", "/collections/c/snapshots"])
def test_an_unknown_call_is_never_a_success(own_qdrant: Qdrant, path: str) -> None:
    """A call that the stand-in doesn't have is answered 501, with a sentence that names it."""
    answer = httpx.post(f"{own_qdrant.url}{path}", json={})
    assert answer.status_code == 501
    assert path in answer.json()["status"]["error"]


def test_what_isnt_known_in_a_call_is_refused(own_qdrant: Qdrant) -> None:
    """Fields, conditions and operations that it would have to pass over are bad requests."""
    make(own_qdrant)
    unknown: list[dict[str, Any]] = [
        {"clear_payload": {"points": [POINT["id"]]}},
        {"upsert": {"points": [POINT], "update_mode": "insert_only"}},
        {"delete": {"filter": {"min_should": {}}}},
        {"delete": {"filter": {"must": [{"key": "a", "match": {"text": "b"}}]}}},
        {"delete": {"filter": {"must": [{"key": "a", "geo_radius": {}}]}}},
    ]
    for operation in unknown:
        answer = update(own_qdrant, {"delete": {"points": [POINT["id"]]}}, operation)
        assert answer.status_code == 400, operation
        assert "doesn't know" in answer.json()["status"]["error"]
    assert count(own_qdrant) == 1
    points = f"{own_qdrant.url}/collections/c/points"
    for call in ("", "/scroll", "/count", "/batch", "/query/batch"):
        answer = httpx.post(f"{points}{call}", json={"shard_key": "a"})
        assert answer.status_code == 400, call
        assert "doesn't know shard_key" in answer.json()["status"]["error"]


def test_what_a_server_refuses_is_refused(own_qdrant: Qdrant) -> None:
    """Vectors of another length, doubled terms, no points and unknown collections are errors."""
    make(own_qdrant)
    wide = POINT | {"vector": {"dense": [1.0, 0.0, 0.0]}}
    assert update(own_qdrant, {"upsert": {"points": [wide]}}).status_code == 400
    doubled = POINT | {"vector": {"terms": {"indices": [1, 1], "values": [1.0, 1.0]}}}
    assert update(own_qdrant, {"upsert": {"points": [doubled]}}).status_code == 422
    search = {"query": [1.0, 0.0], "using": "dense", "limit": 0}
    points = f"{own_qdrant.url}/collections/c/points"
    answer = httpx.post(f"{points}/query/batch", json={"searches": [search]})
    assert answer.status_code == 422
    assert httpx.post(f"{points}/scroll", json={"limit": 0}).status_code == 422
    assert httpx.get(f"{own_qdrant.url}/collections/d").status_code == 404
    assert httpx.put(f"{own_qdrant.url}/collections/c", json=CONFIG).status_code == 409
    for alias, status in (("c", 409), ("a", 200)):
        create = {"create_alias": {"alias_name": alias, "collection_name": "c"}}
        answer = httpx.post(f"{own_qdrant.url}/collections/aliases", json={"actions": [create]})
        assert answer.status_code == status, "no alias is called as a collection"
    assert httpx.put(f"{own_qdrant.url}/collections/a", json=CONFIG).status_code == 400


def test_a_condition_inserts_where_nothing_is(own_qdrant: Qdrant) -> None:
    """As on a server, a conditional upsert that is refused says it is done, and one may insert."""
    make(own_qdrant)
    never = {"must": [{"key": "a", "match": {"value": "b"}}]}
    other = POINT | {"id": "00000000-0000-0000-0000-000000000002", "payload": {"new": "yes"}}
    again = POINT | {"payload": {"new": "yes"}}
    answer = update(own_qdrant, {"upsert": {"points": [again, other], "update_filter": never}})
    assert answer.json()["result"][0]["status"] == "completed"
    is_new = {"must": [{"key": "new", "match": {"value": "yes"}}]}
    assert (count(own_qdrant), count(own_qdrant, filter=is_new)) == (2, 1)


def test_what_was_acknowledged_is_there_after_a_kill(own_qdrant: Qdrant) -> None:
    """Points, collections and aliases outlive a SIGKILL that comes right after the answer."""
    make(own_qdrant)
    alias = {"create_alias": {"alias_name": "a", "collection_name": "c"}}
    httpx.post(f"{own_qdrant.url}/collections/aliases", json={"actions": [alias]})
    own_qdrant.kill()
    own_qdrant.start()
    assert count(own_qdrant) == 1
    assert httpx.get(f"{own_qdrant.url}/collections/a").is_success


def test_another_starts_on_its_folder(tmp_path: Path) -> None:
    """A server that was stopped leaves everything to the next one on the same folder."""
    with qdrant.running(tmp_path) as server:
        make(server)
    with qdrant.running(tmp_path) as server:
        assert count(server) == 1
