"""What a batch of records becomes for a Qdrant server, without one."""

from collections.abc import Iterator
from typing import Any

import pytest
from qdrant_client import models

from eunoe.infra import qdrant_writes
from eunoe.infra.qdrant_writes import KnownPoint, placed, requests_of, states_of, touched
from eunoe.schemas.ports import Applied, Stored
from eunoe.schemas.records import Truth
from tests.support.records import (
    DIMENSION,
    EPOCH,
    erasure,
    ident,
    memory_put,
    new,
    stored,
    touch,
    vector,
)


def requests(records: list[Stored]) -> list[list[models.UpdateOperation]]:
    """Return the requests of a batch that touches nothing older."""
    return list(requests_of(states_of(placed(records), {}), DIMENSION, 5.0))


def puts(operations: list[models.UpdateOperation]) -> Iterator[models.PointsList]:
    """Yield the upserts among operations."""
    for one in operations:
        if isinstance(one, models.UpsertOperation):
            assert isinstance(one.upsert, models.PointsList)
            yield one.upsert


def payloads(records: list[Stored]) -> dict[str, dict[str, Any]]:
    """Return the payloads that a batch puts, by point."""
    return {
        str(point.id): point.payload or {}
        for operations in requests(records)
        for put in puts(operations)
        for point in put.points
    }


def test_a_batch_writes_each_point_once() -> None:
    """Of several changes of a point the last state is written, at the last one's position."""
    records = [
        new(1, "t1", "m1", vector(1.0)),
        touch(2, "t2", "m1", ["t1", "t2"], importance=0.9, truth=Truth(verified=True)),
        touch(3, "t3", "m1", ["t1", "t2", "t3"], importance=0.8),
    ]
    (operations,) = requests(records)
    assert len(operations) == 1
    memory = payloads(records)[str(ident("m1"))]
    assert (memory["importance"], memory["applied"], memory["epoch"]) == (0.8, 3, EPOCH)
    assert "verified" not in memory
    assert "words" not in memory


def test_each_point_has_its_own_condition() -> None:
    """A point of an earlier record is compared with that record's position, not the batch's end."""
    (operations,) = requests([stored(4, "t4"), stored(7, "t7")])
    (put,) = puts(operations)
    assert put.update_filter is not None
    written = put.update_filter.model_dump(exclude_unset=True, exclude_none=True)
    bounds = {
        tuple(one["must"][0]["has_id"]): (one["must"][1], one["must"][2])
        for one in written["should"]
    }
    same_epoch = {"key": "epoch", "match": {"value": EPOCH}}
    assert bounds == {
        (str(ident(name)),): (same_epoch, {"key": "applied", "range": {"lt": float(offset)}})
        for name, offset in (("t4", 4), ("t7", 7))
    }


def test_what_is_removed_and_put_again_is_there() -> None:
    """Within one record a removal comes before what is put in the same place."""
    put = memory_put("m1", vector(1.0), ["t2"], confidence=0.25)
    records = [
        new(1, "t1", "m1", vector(1.0)),
        erasure(2, ["t1"], memories=(ident("m1"),), puts=(put,)),
    ]
    written = payloads(records)
    assert written[str(ident("m1"))]["confidence"] == 0.25
    assert written[str(ident("t1"))]["buried"] == 5.0


def test_only_what_is_older_is_asked_for() -> None:
    """A touch of a memory that the batch made or removed needs nothing of the server."""
    records = [
        new(1, "t1", "m1", vector(1.0)),
        touch(2, "t2", "m1", ["t1", "t2"]),
        touch(3, "t3", "old", ["t3"]),
        erasure(4, [], memories=(ident("gone"),)),
        touch(5, "t5", "gone", ["t5"]),
    ]
    assert touched(placed(records)) == {ident("old")}
    states = states_of(placed(records), {})
    assert ident("old") not in states
    assert states[ident("gone")].payload is None


def test_a_touch_of_an_older_memory_leaves_its_vectors() -> None:
    """What is known of it goes on, but for truth, and its terms are what it is verified by."""
    known = {ident("m1"): KnownPoint({"owner": "o", "kind": "fact", "state": "superseded"}, [7])}
    one = touch(9, "t9", "m1", ["t9"], truth=Truth(verified=True))
    state = states_of(placed([one]), known)[ident("m1")]
    assert state.point is None
    assert state.payload is not None
    assert (state.payload["kind"], state.payload["words"]) == ("fact", [7])
    assert "state" not in state.payload
    assert state.place == Applied(EPOCH, 9)


@pytest.mark.parametrize("bound", ["QDRANT_POINTS_A_PUT", "QDRANT_REQUEST_BYTES"])
def test_a_large_batch_is_several_requests(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    """No request is larger than it may be, and together they hold every point."""
    records = [stored(n, f"t{n}") for n in range(20)]
    whole = sum(one.size for one in states_of(placed(records), {}).values())
    monkeypatch.setattr(qdrant_writes, bound, 3 if bound == "QDRANT_POINTS_A_PUT" else whole // 7)
    made = requests(records)
    assert len(made) == 7 if bound == "QDRANT_POINTS_A_PUT" else len(made) >= 7
    assert payloads(records).keys() == {str(ident(f"t{n}")) for n in range(20)}


def test_a_point_that_is_larger_than_a_request_goes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't be divided is sent by itself."""
    monkeypatch.setattr(qdrant_writes, "QDRANT_REQUEST_BYTES", 1)
    assert [len(put.points) for one in requests([stored(1, "t1"), stored(2, "t2")])
            for put in puts(one)] == [1, 1]  # fmt: skip
