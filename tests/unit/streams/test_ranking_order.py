"""Ranking session by session gives the order that scoring everything and sorting gives."""

import random
from collections.abc import Sequence
from itertools import islice

import pytest

from eunoe.streams.ranking import Candidate, Ranking
from eunoe.streams.ranking_parameters import DEFAULTS
from tests.support.ranked import rank


def score_of(one: Candidate, candidates: Sequence[Candidate]) -> float:
    """Return a score by the definition, everything looked at for each candidate."""
    cosines = [other.dense for other in candidates if other.dense is not None]
    words = [other.sparse for other in candidates if other.sparse is not None]
    high, best = max(cosines, default=0.0), max(words, default=0.0) or 1.0
    span = max(high - min(cosines, default=0.0), DEFAULTS.dense_span_min)

    def match(other: Candidate) -> float:
        dense = 0.0 if other.dense is None else 1.0 - (high - other.dense) / span
        sparse = 0.0 if other.sparse is None else other.sparse / best
        return DEFAULTS.dense_weight * dense + (1.0 - DEFAULTS.dense_weight) * sparse

    def around(distance: int) -> float:
        if one.session is None:
            return DEFAULTS.lone_context * match(one)
        if one.position is None:
            return 0.0
        places = {one.position - distance, one.position + distance}
        sums = [
            max((match(two) for two in others if two.position == place), default=0.0)
            for place in sorted(places)
        ]
        return sum(sums) / 2.0

    others = [two for two in candidates if two.session == one.session]
    strength = match(one) if one.session is None else max(match(two) for two in others)
    total = match(one) + DEFAULTS.near_weight * around(1) + DEFAULTS.next_to_near_weight * around(2)
    total += DEFAULTS.session_weight * strength + DEFAULTS.speaker_weight * one.speaker
    total += DEFAULTS.statement_weight * one.states
    weights = DEFAULTS.near_weight + DEFAULTS.next_to_near_weight + DEFAULTS.session_weight
    weights += DEFAULTS.speaker_weight + DEFAULTS.statement_weight
    if any(two.timely for two in candidates):
        total += DEFAULTS.time_weight * one.timely
        weights += DEFAULTS.time_weight
    return one.factor * total / (1.0 + weights)


def some_candidates(draw: random.Random) -> list[Candidate]:
    """Return candidates in few or many sessions, with and without names and a time, many equal."""
    named = draw.choice([0.0, 0.1, 0.5])
    timely = draw.choice([0.0, 0.0, 0.2])
    sessions = [None, *range(draw.choice([1, 5, 100]))]
    return [
        Candidate(
            f"{number:03}",
            draw.choice([None, 0.5, draw.uniform(-0.2, 0.8)]),
            draw.choice([None, 0.0, 5.0, draw.uniform(0.0, 20.0)]),
            None if (session := draw.choice(sessions)) is None else f"s{session}",
            draw.choice([None, draw.randrange(30)]),
            draw.random() < named,
            draw.random() < timely,
            draw.choice([1.0, 1.0, draw.random()]),
            draw.choice([1.0, 0.0, 0.37]),
        )
        for number in range(draw.choice([1, 2, 20, 130]))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_session_by_session_is_all_at_once(seed: int) -> None:
    """Scores are those of the definition, and no later session holds a better candidate."""
    candidates = some_candidates(random.Random(seed))  # noqa: S311 - test data, not a secret
    ranked = rank(candidates)
    expected = {one.id: score_of(one, candidates) for one in candidates}
    assert {one.id: one.score for one in ranked} == pytest.approx(expected)
    assert ranked == sorted(ranked, key=lambda one: (-one.score, one.id))


@pytest.mark.parametrize("seed", range(20))
def test_the_first_ten_are_the_first_ten(seed: int) -> None:
    """Who takes ten gets those that stand first when all are ranked."""
    candidates = some_candidates(random.Random(seed))  # noqa: S311 - test data, not a secret
    assert [*islice(Ranking(candidates).best_first(), 10)] == rank(candidates)[:10]


@pytest.mark.parametrize("seed", range(20))
def test_near_turns_may_come_later(seed: int) -> None:
    """Turns that were added without scores rank as if they had been there from the start."""
    found = some_candidates(random.Random(seed))  # noqa: S311 - test data, not a secret
    near = [Candidate(f"near {n}", None, None, f"s{n % 3}", n) for n in range(9)]
    ranking = Ranking(found)
    ranking.add(near)
    assert [*ranking.best_first()] == rank([*found, *near])
