"""Random histories: a Qdrant server answers as the engine in the process does.

What the server is given comes in batches of any size, and again afterwards, late and in pieces,
from another writer; the engine in the process is given each record once, in order.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.infra.embedded.episodes import EdgeEpisodes
from eunoe.schemas.ports import EpisodicQuery, EpisodicStore, Holding, Stored
from eunoe.schemas.records import Truth
from tests.contract.episodes_time_contract import at, moment
from tests.integration.qdrant_places import open_store
from tests.support.places import memory_folder
from tests.support.records import DIMENSION, erasure, ident, memory_put, new, stored, touch, vector

pytestmark = [pytest.mark.server, pytest.mark.timeout(480)]

RUNS: Final = count()
SESSION: Final = uuid4().hex[:12]
ROWS: Final = [vector(1.0), vector(1.0, 1.0), vector(0.0, 1.0, 0.2), vector(0.3, 0.1, 1.0)]
TRUTHS: Final = [
    None,
    Truth(verified=True),
    Truth(expires_at=moment(20)),
    Truth(state="superseded", changed_at=moment(5), valid_from=moment(1), valid_to=moment(5)),
    Truth(scope="project", project=b"project"),
]
HOLDINGS: Final = [
    None,
    Holding(at=at(10)),
    Holding(at=at(30), past=(at(2), at(4))),
    Holding(at=at(10), as_of=at(4), project=b"project"),
    Holding(at=at(10), verified=True),
]
rows = st.sampled_from(ROWS)
terms = st.lists(st.integers(1, 6), max_size=3, unique=True)
memory = st.integers(0, 3)
Step = dict[str, Any]


def steps() -> st.SearchStrategy[list[Step]]:
    """Return histories: turns, new memories, touches and forgets."""
    turn = {"row": rows, "terms": terms, "about": st.booleans()}
    made = {
        "memory": memory,
        "truth": st.sampled_from(TRUTHS),
        "value": st.sampled_from([0.1, 0.9]),
    }
    kinds: list[st.SearchStrategy[Step]] = [
        st.fixed_dictionaries({"kind": st.just("turn"), **turn}),
        st.fixed_dictionaries({"kind": st.just("new"), **turn, **made}),
        st.fixed_dictionaries({"kind": st.just("touch"), **turn, **made}),
        st.fixed_dictionaries(
            {
                "kind": st.just("forget"),
                "turns": st.lists(st.integers(0, 11), max_size=3, unique=True),
                "memories": st.lists(memory, max_size=2, unique=True),
                "puts": st.lists(st.tuples(memory, rows, st.sampled_from(TRUTHS)), max_size=1),
            }
        ),
    ]
    return st.lists(st.one_of(kinds), min_size=1, max_size=12)


def record(run: str, number: int, step: Step) -> Stored:
    """Return the journal record of a step; everything in it is of this run alone."""
    owner, name = f"default/{run}", f"{run}/t{number}"
    if step["kind"] == "forget":
        return erasure(
            number,
            [f"{run}/t{one}" for one in step["turns"]],
            owner=owner,
            memories=tuple(ident(f"{run}/m{one}") for one in step["memories"]),
            puts=tuple(
                memory_put(f"{run}/m{one}", row, [name], truth=truth)
                for one, row, truth in step["puts"]
            ),
        )
    chunks = [(name, step["row"], step["terms"])]
    about = (int(at(number)),) if step["about"] else ()
    if step["kind"] == "turn":
        return stored(number, name, owner=owner, chunks=chunks, about=about)
    one, values = f"{run}/m{step['memory']}", {"truth": step["truth"], "confidence": step["value"]}
    if step["kind"] == "touch":
        return touch(number, name, one, [name], owner=owner, row=step["row"], **values)
    return new(
        number, name, one, step["row"], owner=owner, chunks=chunks, about=about,
        memory_terms=step["terms"], **values,
    )  # fmt: skip


async def told(store: EpisodicStore, run: str) -> dict[str, Any]:
    """Return all that a store tells of a run's owner, scores apart."""
    owner = f"default/{run}"
    said: dict[str, Any] = {}
    for number, holding in enumerate(HOLDINGS):
        for interval in (None, (at(2), at(7))):
            hits = await store.query(
                EpisodicQuery(owner, ROWS[1], (1, 2, 3), 50, within=interval, holding=holding)
            )
            key = f"{number} {interval}"
            said[f"{key} meaning"] = {h.point_id: h.dense for h in hits if h.dense is not None}
            said[f"{key} words"] = {h.point_id: h.sparse for h in hits if h.sparse is not None}
    turns = [ident(f"{run}/t{number}") for number in range(1, 13)]
    said["memories"] = await store.memories(owner)
    said["boxes"] = await store.turn_boxes(owner, turns)
    said["said"] = await store.said_within(owner, (at(1), at(9)), Holding(at=at(0)), 50)
    near = await store.nearest(owner, ROWS[2][None], 0.5)
    said["near"] = [{one.memory_id for one in row} for row in near]
    return said


def batches(records: Sequence[Stored], cuts: Sequence[int]) -> list[Sequence[Stored]]:
    """Cut records into batches."""
    places = sorted({0, len(records), *(cut % len(records) for cut in cuts)})
    return [records[a:b] for a, b in zip(places, places[1:], strict=False)]


async def compare(url: str, history: list[Step], cuts: list[int], late: list[int]) -> None:
    """Give both stores a history, the server some of it again, and compare what they tell."""
    run = f"{SESSION}-{next(RUNS)}"
    records = [record(run, number, step) for number, step in enumerate(history, 1)]
    server = await open_store(url, f"histories-{SESSION}")
    zombie = await open_store(url, f"histories-{SESSION}")
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        engine = await EdgeEpisodes.open(Path(folder), DIMENSION)
        for one in records:
            await engine.apply([one])
        for batch in batches(records, cuts):
            await server.apply(batch)
        for start, length in zip(late[::2], late[1::2], strict=False):
            await zombie.apply(records[start % len(records) :][: length + 1])
        for one in records[:-1]:  # all but the last comes late, one by one
            await zombie.apply([one])
        expected, found = await told(engine, run), await told(server, run)
        await engine.close()
    await zombie.close()
    await server.close()
    for name, value in expected.items():
        is_scored = name.endswith(("meaning", "words"))
        assert found[name] == (pytest.approx(value, abs=1e-4) if is_scored else value), name


@settings(max_examples=25, deadline=None)
@given(
    history=steps(),
    cuts=st.lists(st.integers(0, 11), max_size=3),
    late=st.lists(st.integers(0, 11), max_size=6),
)
def test_a_server_answers_as_the_engine_does(
    qdrant_url: str, history: list[Step], cuts: list[int], late: list[int]
) -> None:
    """However a history is cut into batches, and whatever of it comes again, answers are alike."""
    asyncio.run(compare(qdrant_url, history, cuts, late))


def test_the_histories_hold_something() -> None:
    """A run's ids are its own, so that one example can't help another."""
    step = {"kind": "turn", "row": ROWS[0], "terms": [1], "about": False}
    first, second = record("a", 1, step), record("b", 1, step)
    assert first.record.owner != second.record.owner
    assert first.record.event_id != second.record.event_id
    assert isinstance(first.record.event_id, UUID)
