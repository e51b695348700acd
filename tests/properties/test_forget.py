"""Forgetting turns yields the state of a history that never held them (design, section 8)."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests.properties.histories import (
    LINES,
    QUESTIONS,
    USER,
    Plan,
    Said,
    feed,
    in_folder,
    live,
    plans,
    survivors,
)
from tests.support.memories import everything_readable, open_memory

pytestmark = pytest.mark.timeout(300)

bounded = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CONTENT_MIN = 8
"""Characters from which a text is no mere "ok", so that finding it means something."""


def shape(*texts: str, forget: tuple[tuple[str, ...], ...], session: str | None = "s1") -> Plan:
    """Return a plan of user turns in one session, then forgets one after the other."""
    said = tuple(
        Said(number, text, "user", None, session, number) for number, text in enumerate(texts)
    )
    first, *later = forget
    return Plan(((said, first), *(((), gone) for gone in later)))


# t1 touches the memory of t0, whose text goes: t1's own text has to take its place.
TOUCHED = shape(LINES[3], LINES[4], LINES[8], forget=(("t0",),))
TOUCHED_TWICE = shape(LINES[3], LINES[4], LINES[4], forget=(("t1",), ("t0",)))
# The summaries of t2 and t3 read t0 and t1.
READ = shape(LINES[3], LINES[14], LINES[13], LINES[12], forget=(("t0",), ("t2",)))
# A value stated, changed, and stated again: the middle one goes, and the versions close up.
RESTATED = shape(LINES[8], LINES[9], LINES[8], LINES[17], forget=(("t1",),))
ALL = shape(*LINES[:6], forget=(tuple(f"t{number}" for number in range(6)),))


@bounded
@given(plan=plans())
@example(plan=TOUCHED)
@example(plan=TOUCHED_TWICE)
@example(plan=READ)
@example(plan=RESTATED)
@example(plan=ALL)
def test_forgetting_yields_the_history_without(plan: Plan) -> None:
    """After any forgets the digest is that of a fresh store that was fed only the survivors."""

    async def lived(place: Path) -> str:
        async with open_memory(place) as memory:
            await live(memory, plan)
            return await memory.digest(user_id=USER)

    async def fresh(place: Path) -> str:
        async with open_memory(place) as memory:
            await feed(memory, survivors(plan))
            return await memory.digest(user_id=USER)

    assert in_folder(lived) == in_folder(fresh)


@bounded
@given(plan=plans())
@example(plan=TOUCHED)
@example(plan=READ)
@example(plan=RESTATED)
def test_a_forgotten_text_is_read_nowhere(plan: Plan) -> None:
    """No list, item, summary, history, profile or search shows a text that was forgotten."""
    kept = survivors(plan)
    gone = {one.text for call, _ in plan.steps for one in call} - {one.text for one in kept}
    left = "\n".join(one.text for one in kept)
    hidden = [text for text in gone if len(text) >= CONTENT_MIN and text not in left]

    async def lived(place: Path) -> str:
        async with open_memory(place) as memory:
            await live(memory, plan)
            return await everything_readable(memory, USER, [*QUESTIONS, *hidden])

    readable = in_folder(lived)
    assert [text for text in hidden if text in readable] == []
    assert all(one.text in readable for one in kept)
