"""The whole order of candidates, for tests of the ranking."""

from collections.abc import Sequence

from eunoe.streams.ranking import Candidate, Ranked, Ranking

__all__ = ["rank"]


def rank(candidates: Sequence[Candidate]) -> list[Ranked]:
    """Order candidates, best first."""
    return list(Ranking(candidates).best_first())
