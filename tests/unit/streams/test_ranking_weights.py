"""Ranking by time, and by what a point is: confidence, scope and layer."""

import random

import pytest

from eunoe.streams.ranking import Candidate
from eunoe.streams.ranking_parameters import DEFAULTS, RankingParameters, weight
from tests.support.ranked import rank

SCOPES = ("private", "project", "organisation")


def some_candidates(seed: int) -> list[Candidate]:
    """Return candidates of every kind, of the time that is meant and not, that count or don't."""
    draw = random.Random(seed)  # noqa: S311 - test data, not a secret
    return [
        Candidate(
            f"{number:03}",
            draw.choice([None, draw.uniform(-0.2, 0.8)]),
            draw.choice([None, draw.uniform(0.0, 20.0)]),
            draw.choice([None, "a", "b"]),
            draw.choice([None, number]),
            speaker=draw.random() < 0.5,
            timely=draw.random() < 0.3,
            factor=draw.choice([0.0, 1.0, draw.random()]),
        )
        for number in range(60)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_shares_are_the_score(seed: int) -> None:
    """What each signal gave adds up to the score, from 0 to 1, whatever a candidate is."""
    for one in rank(some_candidates(seed)):
        assert 0.0 <= one.score <= 1.0
        assert all(part >= 0.0 for part in one.parts)
        assert sum(one.parts) == pytest.approx(one.score, abs=1e-9)


def scores(candidates: list[Candidate]) -> dict[str, float]:
    """Return the score of each id."""
    return {one.id: one.score for one in rank(candidates)}


# --- time --------------------------------------------------------------------------------------


def test_what_is_of_the_time_is_lifted() -> None:
    """Of equals the one that stands in the interval comes first, by the weight of time."""
    made = rank([Candidate("a", 0.5, 5.0), Candidate("x", 0.5, 5.0, timely=True)])
    assert [one.id for one in made] == ["x", "a"]
    share, match = made[0].signals["time"], made[0].parts[0] / DEFAULTS.dense_weight
    assert made[0].score - made[1].score == pytest.approx(share, abs=1e-4)
    assert share == pytest.approx(DEFAULTS.time_weight * match, abs=1e-4)


def test_a_question_without_a_time_has_no_share_for_it() -> None:
    """Where nothing is timely, scores are as if there were no such signal."""
    plain = [Candidate("a", 0.5, 5.0), Candidate("b", 0.4, 1.0, "s", 3)]
    ranked = {one.id: one for one in rank(plain)}
    assert "time" not in ranked["a"].signals
    timed = {one.id: one for one in rank([*plain, Candidate("t", timely=True)])}
    share = timed["t"].signals["time"]
    assert share > 0.0
    for name in ("a", "b"):
        assert "time" not in timed[name].signals
        assert timed[name].score == pytest.approx((1.0 - share) * ranked[name].score, abs=1e-4)


def test_time_lifts_within_a_talk_and_alone() -> None:
    """Turns of a talk and memories without one are lifted by the same share."""
    for place in ((None, None), ("s", 3)):
        one = Candidate("one", 0.5, 5.0, *place)
        other = one._replace(id="other", timely=True)
        made = {two.id: two for two in rank([one, other])}
        share = made["other"].signals["time"]
        assert share > 0.0
        assert made["other"].score - made["one"].score == pytest.approx(share, abs=1e-4)


def test_time_lifts_what_has_hardly_any_match() -> None:
    """A timely turn of weak match passes a stronger one of another time, but not any."""
    weak = Candidate("weak", 0.3, 3.0, "s", 1, timely=True)
    middle = Candidate("middle", 0.5, 5.0, "t", 1)
    best = Candidate("best", 0.9, 30.0, "u", 1)
    assert [*scores([weak, middle, best])] == ["best", "weak", "middle"]


# --- what a point is ---------------------------------------------------------------------------


def test_a_factor_scales_a_score_and_its_shares() -> None:
    """What counts half has half the score, and so has each of its signals."""
    whole = Candidate("whole", 0.5, 5.0, speaker=True, timely=True)
    half = whole._replace(id="half", factor=0.5)
    ranked = {one.id: one for one in rank([whole, half])}
    assert ranked["half"].score == pytest.approx(0.5 * ranked["whole"].score)
    halves = [0.5 * part for part in ranked["whole"].parts]
    assert ranked["half"].parts == pytest.approx(halves)


def test_what_counts_nothing_comes_last() -> None:
    """A factor of 0 hides nothing: the point comes, with a score of 0 and no signals."""
    candidates = [Candidate("n", 0.9, 9.0, factor=0.0), Candidate("a", 0.2, 0.1)]
    *_, last = rank(candidates)
    assert (last.id, last.score, last.signals) == ("n", 0.0, {})


def test_a_factor_is_no_match() -> None:
    """What counts little lifts the turns around it as much as if it counted whole."""
    beside = Candidate("beside", 0.3, 1.0, "s", 11)
    strong = Candidate("strong", 0.9, 9.0, "s", 10)
    whole = scores([beside, strong])["beside"]
    assert scores([beside, strong._replace(factor=0.1)])["beside"] == pytest.approx(whole)


def test_a_turn_counts_whole() -> None:
    """Outside of projects a turn and a sure memory of the user's own count 1."""
    for kind in ("turn", "fact", "event", "commitment", "decision"):
        assert weight(kind, 1.0, "private", in_project=False) == pytest.approx(1.0)


@pytest.mark.parametrize("in_project", [False, True])
def test_confidence_orders_and_never_hides(in_project: bool) -> None:  # noqa: FBT001 - a table's column
    """More confidence counts more; without any the base is left."""
    for scope in SCOPES:
        made = [weight("fact", one / 10, scope, in_project=in_project) for one in range(11)]
        assert made == sorted(made)
        assert made[0] == pytest.approx(DEFAULTS.confidence_base * made[-1])
        assert 0.0 < made[0] < made[-1] <= 1.0


@pytest.mark.parametrize(
    ("scope", "in_project", "expected"),
    [
        ("private", False, 1.0),
        ("private", True, DEFAULTS.private_in_project),
        ("project", True, 1.0),
        ("project", False, 1.0),
        ("organisation", True, DEFAULTS.organisation_weight),
        ("organisation", False, DEFAULTS.organisation_weight),
    ],
)
def test_scopes(scope: str, in_project: bool, expected: float) -> None:  # noqa: FBT001 - a table's column
    """In a project its own memories come first, then the user's, then the organisation's."""
    assert weight("fact", 1.0, scope, in_project=in_project) == pytest.approx(expected)


@pytest.mark.parametrize("in_project", [False, True])
def test_relations_count_less_than_facts(in_project: bool) -> None:  # noqa: FBT001 - a table's column
    """Facts and relations stand to each other as the rule says, whatever else they are."""
    for scope in SCOPES:
        fact, relation = (
            weight(kind, 0.4, scope, in_project=in_project) for kind in ("fact", "relation")
        )
        assert relation / fact == pytest.approx(0.4 / 0.6)


def test_weights_belong_to_the_parameters() -> None:
    """Other parameters give other factors."""
    other = RankingParameters(private_in_project=0.5, confidence_base=0.2, relation_weight=0.1)
    made = weight("relation", 0.5, "private", in_project=True, parameters=other)
    assert made == pytest.approx(0.5 * 0.6 * 0.1)
