"""When a candidate repeats a memory, and when it is a new one."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from eunoe.schemas.ports import MemoryPoint
from eunoe.schemas.records import Candidate, Decision, Truth
from eunoe.streams.deduplication import (
    AGENT_IMPORTANCE,
    IMPORTANCE,
    apply,
    cosine,
    decide,
    unpack,
)
from tests.support.records import candidate, decision, ident, vector
from tests.support.tools import START

THRESHOLD = 0.9
LATER = START + timedelta(hours=1)
AT = vector(0.9, (1 - 0.9**2) ** 0.5)
"""A vector whose cosine to the first axis is about the threshold."""


def memories(*made: Candidate, **values: Any) -> dict[UUID, MemoryPoint]:
    """Return memories that were made of candidates, by turns named after their ids."""
    found: dict[UUID, MemoryPoint] = {}
    for one in made:
        new = decision("m", ["t1"], **values).model_copy(update={"memory_id": one.memory_id})
        apply(found, one, new)
    return found


def decided(
    existing: dict[UUID, MemoryPoint], one: Candidate, *, role: str = "user", event: str = "t2"
) -> Decision:
    """Decide a candidate that is said an hour later, and recorded two hours after."""
    return decide(
        existing.values(),
        one,
        index=0,
        event_id=ident(event),
        role=role,
        said_at=LATER,
        recorded_at=LATER + timedelta(hours=2),
        threshold=THRESHOLD,
    )


def test_without_memories_a_candidate_is_new() -> None:
    """A new memory has its turn as only source, and the writer's time."""
    found = decided({}, candidate("m2", vector(1.0)))
    assert (found.action, found.memory_id) == ("new", ident("m2"))
    assert found.sources == (ident("t2"),)
    assert found.said_at == found.touched_at == LATER
    assert found.created_at == found.last_accessed == LATER + timedelta(hours=2)
    assert (found.importance, found.confidence) == (IMPORTANCE, 1.0)


@pytest.mark.parametrize(("role", "importance"), [("user", 0.5), ("assistant", AGENT_IMPORTANCE)])
def test_what_the_agent_says_starts_lower(role: str, importance: float) -> None:
    """A memory that only the agent stated is less important."""
    assert decided({}, candidate("m2", vector(1.0)), role=role).importance == importance


def test_a_repeat_touches() -> None:
    """A repeat adds its source and times, and leaves text, first time and importance."""
    existing = memories(candidate("m1", vector(1.0)), confidence=0.5, importance=0.7)
    found = decided(existing, candidate("m2", vector(1.0)))
    assert (found.action, found.memory_id) == ("touch", ident("m1"))
    assert found.sources == (ident("t1"), ident("t2"))
    assert (found.said_at, found.touched_at) == (START, LATER)
    assert (found.created_at, found.last_accessed) == (START, LATER + timedelta(hours=2))
    assert (found.importance, found.confidence) == (0.7, 1.0)


def test_an_agents_repeat_confirms_nothing() -> None:
    """What the agent repeats touches, and raises no confidence."""
    existing = memories(candidate("m1", vector(1.0)), confidence=0.5)
    found = decided(existing, candidate("m2", vector(1.0)), role="assistant")
    assert (found.action, found.confidence) == ("touch", 0.5)


@pytest.mark.parametrize(
    ("difference", "action"),
    [
        ({"guard": b"other"}, "new"),
        ({"kind": "event"}, "new"),
        ({"speaker": b"other"}, "new"),
        ({}, "touch"),
    ],
)
def test_guard_kind_and_speaker_keep_apart(difference: dict[str, Any], action: str) -> None:
    """However close two texts are, another guard, kind or speaker makes another memory."""
    existing = memories(candidate("m1", vector(1.0)))
    assert decided(existing, candidate("m2", vector(1.0), **difference)).action == action


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    "truth",
    [
        Truth(state="superseded", changed_at=START),
        Truth(expires_at=LATER),
        Truth(scope="project", project=b"p"),
        Truth(scope="organisation"),
        Truth(verified=True),
    ],
    ids=["superseded", "expiring", "project", "organisation", "verified"],
)
def test_a_repeat_changes_no_truth(truth: Truth, role: str) -> None:
    """A memory that doesn't simply hold for the user isn't touched by what a turn repeats."""
    existing = memories(candidate("m1", vector(1.0)))
    existing = {key: replace(one, truth=truth) for key, one in existing.items()}
    assert decided(existing, candidate("m2", vector(1.0)), role=role).action == "new"


def test_an_agents_echo_is_of_any_speaker() -> None:
    """What the agent repeats of somebody makes no second memory."""
    existing = memories(candidate("m1", vector(1.0)))
    echo = candidate("m2", vector(1.0), speaker=b"agent")
    assert decided(existing, echo, role="assistant").action == "touch"


def test_the_threshold_itself_repeats() -> None:
    """A cosine at the threshold touches; one under it is new."""
    existing = memories(candidate("m1", vector(1.0)))
    score = cosine(unpack(candidate("m1", vector(1.0)).vector), unpack(candidate("x", AT).vector))
    for threshold, action in ((score, "touch"), (score + 1e-5, "new")):
        found = decide(
            existing.values(),
            candidate("m2", AT),
            index=0,
            event_id=ident("t2"),
            role="user",
            said_at=LATER,
            recorded_at=LATER,
            threshold=threshold,
        )
        assert found.action == action


def test_the_closest_is_touched_and_of_equals_the_lowest_id() -> None:
    """The order in which a store returns memories decides nothing."""
    near, same, twin = (candidate("a", AT), *(candidate(x, vector(1.0)) for x in ("b", "c")))
    for order in ((near, same, twin), (twin, near, same), (same, twin, near)):
        found = decided(memories(*order), candidate("m2", vector(1.0)))
        assert found.memory_id == min(ident("b"), ident("c"))


def test_one_turn_is_one_source() -> None:
    """A turn that says a thing twice stands among the sources once."""
    existing = memories(candidate("m1", vector(1.0)))
    assert decided(existing, candidate("m2", vector(1.0)), event="t1").sources == (ident("t1"),)


def test_a_late_repeat_takes_no_time_back() -> None:
    """A repeat that was said earlier leaves the later `touched_at`."""
    existing = memories(candidate("m1", vector(1.0)), touched_at=LATER + timedelta(days=1))
    found = decided(existing, candidate("m2", vector(1.0)))
    assert found.touched_at == LATER + timedelta(days=1)
