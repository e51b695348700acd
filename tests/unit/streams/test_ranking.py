"""Ranking: the order of candidates and the floor, on small made-up searches."""

import random

import pytest

from eunoe.streams.ranking import Candidate, Ranked, Ranking
from eunoe.streams.ranking_parameters import DEFAULTS
from tests.support.ranked import rank

TOTAL = (
    1.0
    + DEFAULTS.near_weight
    + DEFAULTS.next_to_near_weight
    + DEFAULTS.session_weight
    + DEFAULTS.speaker_weight
    + DEFAULTS.statement_weight
)
"""What the weights of a question without a time add up to."""


def ids(ranked: list[Ranked]) -> list[str]:
    """Return the ids in order."""
    return [one.id for one in ranked]


def scores(ranked: list[Ranked]) -> dict[str, float]:
    """Return the score of each id."""
    return {one.id: one.score for one in ranked}


def some_candidates(seed: int, count: int = 60) -> list[Candidate]:
    """Return candidates of every kind: of one part, of both, of none, with and without a place."""
    draw = random.Random(seed)  # noqa: S311  # test data, not a secret
    return [
        Candidate(
            f"{number:03}",
            draw.choice([None, draw.uniform(-0.2, 0.8)]),
            draw.choice([None, draw.uniform(0.0, 20.0)]),
            draw.choice([None, "a", "b"]),
            draw.choice([None, number]),
            draw.random() < 0.5,
        )
        for number in range(count)
    ]


def test_nothing_gives_nothing() -> None:
    """No candidates rank to an empty list."""
    assert rank([]) == []
    assert Ranking([]).wanted_places() == []


@pytest.mark.parametrize("seed", range(5))
def test_one_scale(seed: int) -> None:
    """Scores and signals are from 0 to 1, best first, and every candidate comes once."""
    candidates = some_candidates(seed)
    ranked = rank(candidates)
    assert sorted(ids(ranked)) == [one.id for one in candidates]
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    for one in ranked:
        assert 0.0 <= one.score <= 1.0
        assert all(0.0 < value <= 1.0 for value in one.signals.values())
        assert sum(one.signals.values()) == pytest.approx(one.score, abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_order_of_arrival_does_not_matter(seed: int) -> None:
    """The same candidates in any order rank the same; equals are ordered by id."""
    candidates = [*some_candidates(seed), Candidate("zz", 0.1, 1.0), Candidate("yy", 0.1, 1.0)]
    shuffled = candidates.copy()
    random.Random(seed).shuffle(shuffled)  # noqa: S311  # test data, not a secret
    assert rank(candidates) == rank(shuffled)
    order = ids(rank(candidates))
    assert order.index("yy") + 1 == order.index("zz")


def test_best_of_everything_is_one() -> None:
    """What is best by every signal among its equals scores 1."""
    candidates = [Candidate(str(place), 0.9, 9.0, "s", place, speaker=True) for place in range(5)]
    assert scores(rank([*candidates, Candidate("far", 0.1, 0.0)]))["2"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Candidate("x", 0.6, 5.0), Candidate("a", 0.5, 5.0)),
        (Candidate("x", 0.5, 6.0), Candidate("a", 0.5, 5.0)),
        (Candidate("x", 0.5, 5.0), Candidate("a", None, 5.0)),
        (Candidate("x", 0.5, 5.0), Candidate("a", 0.5, None)),
        (Candidate("x", 0.5, 5.0, "s", 9, speaker=True), Candidate("a", 0.5, 5.0, "s", 3)),
    ],
)
def test_more_evidence_ranks_higher(better: Candidate, worse: Candidate) -> None:
    """With all else equal, more meaning, more words or a named speaker ranks higher."""
    others = [Candidate("m", 0.9, 9.0), Candidate("n", 0.0, 0.5)]
    order = ids(rank([worse, better, *others]))
    assert order.index("x") < order.index("a")


def test_near_turns_lift() -> None:
    """A turn beside a strong match ranks above an equal one alone, and nearer is more."""
    candidates = [
        Candidate("strong", 0.9, 9.0, "s", 10),
        Candidate("beside", 0.3, 1.0, "s", 11),
        Candidate("next", 0.3, 1.0, "s", 12),
        Candidate("apart", 0.3, 1.0, "s", 20),
    ]
    assert ids(rank(candidates)) == ["strong", "beside", "next", "apart"]


def test_another_session_is_not_near() -> None:
    """Positions count within a session only."""
    candidates = [
        Candidate("strong", 0.9, 9.0, "s", 10),
        Candidate("other", 0.3, 1.0, "t", 11),
    ]
    ranked = {one.id: one for one in rank(candidates)}
    assert "near" not in ranked["other"].signals


def test_a_fetched_turn_may_win_over_a_found_one() -> None:
    """A turn without scores of its own ranks by what stands around it."""
    candidates = [
        Candidate("before", 0.8, 9.0, "s", 4),
        Candidate("fetched", None, None, "s", 5),
        Candidate("after", 0.8, 9.0, "s", 6),
        Candidate("weak", 0.1, 0.5, "t", 1),
    ]
    assert ids(rank(candidates)) == ["after", "before", "fetched", "weak"]


def test_a_strong_session_lifts() -> None:
    """Of two equal turns the one whose session has a strong match ranks higher."""
    candidates = [
        Candidate("strong", 0.9, 9.0, "s", 0),
        Candidate("x", 0.3, 1.0, "s", 50),
        Candidate("a", 0.3, 1.0, "t", 50),
    ]
    assert ids(rank(candidates)) == ["strong", "x", "a"]


def test_parts_of_one_turn_are_not_near_each_other() -> None:
    """Two points of one turn share a place and do not lift each other; the better one counts."""
    alone = [Candidate("one", 0.9, 9.0, "s", 3), Candidate("n", 0.2, 1.0, "s", 4)]
    both = [*alone, Candidate("two", 0.1, 0.5, "s", 3)]
    near = {one.id: one.signals["near"] for one in rank(both)}
    assert near["one"] == near["two"]
    assert near["n"] == pytest.approx(0.5 * DEFAULTS.near_weight / TOTAL, abs=1e-4)


@pytest.mark.parametrize("place", [(None, None), (None, 3), ("s", None), (b"s", 3)])
def test_a_place_may_be_unknown(place: tuple[str | bytes | None, int | None]) -> None:
    """Memories have no session, and some turns no position: they rank all the same."""
    candidates = [Candidate("m", 0.9, 9.0, *place), Candidate("n", 0.2, 1.0, "s", 4)]
    assert ids(rank(candidates)) == ["m", "n"]


def test_a_memory_is_not_punished() -> None:
    """A memory ranks above a turn of the same match that stands alone in its session."""
    candidates = [Candidate("turn", 0.8, 8.0, "s", 1), Candidate("memory", 0.8, 8.0)]
    assert ids(rank(candidates)) == ["memory", "turn"]


def test_noise_is_not_spread_over_the_scale() -> None:
    """Cosines that hardly differ hardly change the order given by the words."""
    candidates = [Candidate("words", 0.500, 2.0), Candidate("noise", 0.501, 1.0)]
    ranked = {one.id: one for one in rank(candidates)}
    assert ranked["words"].signals["dense"] > 0.9 * DEFAULTS.dense_weight / TOTAL
    assert ranked["words"].score > ranked["noise"].score


def test_wanted_places_are_near_and_unknown() -> None:
    """Places within two of the best matches, nearest first; none known, negative or repeated."""
    candidates = [
        Candidate("best", 0.9, 9.0, "s", 1),
        Candidate("second", 0.8, 8.0, "s", 2),
        Candidate("memory", 0.7, 7.0),
    ]
    assert Ranking(candidates).wanted_places() == [("s", 0), ("s", 3), ("s", 4)]


def test_wanted_places_are_few() -> None:
    """Only the best matches are expanded: the limit bounds the second request."""
    candidates = [Candidate(f"{at:04}", 0.9, 9.0 - at / 99, "s", at * 10) for at in range(99)]
    wanted = Ranking(candidates).wanted_places()
    assert len(wanted) == 4 * DEFAULTS.expand_limit - 2
    assert max(position for _, position in wanted) == 10 * (DEFAULTS.expand_limit - 1) + 2


@pytest.mark.parametrize(
    ("dense", "sparse", "unrelated"),
    [
        (0.1, None, True),
        (0.1, 2.0, True),
        (0.1, 9.0, False),
        (0.5, None, False),
        (None, 0.1, False),
        (None, None, True),
    ],
)
def test_the_floor(dense: float | None, sparse: float | None, unrelated: bool) -> None:  # noqa: FBT001  # an expected value
    """Weak meaning with weak words is unrelated; either one strong is not."""
    assert Ranking([Candidate("a", dense, sparse)]).is_unrelated(3, 0.24) is unrelated


def test_the_chunks_of_a_long_turn_are_one_turn_of_a_small_store() -> None:
    """One of many turns is near by chance; one of a few, each of many chunks, was meant."""
    many = [Candidate(f"{n:02}", 0.3, None, "s", n) for n in range(30)]
    few = [one._replace(position=n % 3) for n, one in enumerate(many)]
    assert Ranking(many).is_unrelated(3, 0.24, bounded=False)
    assert not Ranking(few).is_unrelated(3, 0.24, bounded=False)


def test_nothing_found_is_unrelated() -> None:
    """A search that found nothing is under the floor."""
    assert Ranking([]).is_unrelated(0, 0.24)
    assert Ranking([Candidate("a", 0.0)]).is_unrelated(0, 0.24)


def test_chance_belongs_to_the_encoder() -> None:
    """What comes by chance with another encoder is another cosine."""
    found = [Candidate("a", 0.5)]
    assert Ranking(found).is_unrelated(3, 0.6)
    assert not Ranking(found).is_unrelated(3, 0.4)
