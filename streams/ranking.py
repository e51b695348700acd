"""Ranking of what the engine found: meaning, words, near turns, session and speaker on one scale.

Pure functions over at most a few hundred candidates. Meaning and words are brought to one scale
among the candidates of the question and added: linear fusion, which beat fusion of ranks in every
comparison made. A turn of a talk is then lifted by the turns around it, which often hold the
question that it answers, by the best turn of its session, by a speaker named in the question, and
by names that the best matches brought up.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush, nlargest
from math import inf, sqrt
from operator import itemgetter
from typing import Final, NamedTuple

from .ranking_parameters import DEFAULTS, RankingParameters

__all__ = [
    "Candidate",
    "Place",
    "Ranked",
    "Ranking",
]

Session = str | bytes
Place = tuple[Session, int]
"""A session and a position in it."""

_SIGNALS: Final = (
    "dense",
    "sparse",
    "near",
    "next_to_near",
    "session",
    "speaker",
    "statement",
    "time",
    "linked",
)

_DISTANCES: Final = (1, -1, 2, -2)
"""Where the near turns of a turn are, the nearest first."""


class Candidate(NamedTuple):
    """A point that may answer the question.

    Args:
        id: Point; orders what ranks equal.
        dense: Cosine with the question; None where the dense part did not return it.
        sparse: BM25 with the owner's IDF, not negative; None where the sparse part did not.
        session: The talk that it stands in, in any form that compares; None for a memory.
        position: Rank in the session, from 0; None where unknown. Parts of one turn share it.
        speaker: Whether the question names who said it.
        timely: Whether it is of the time that the question means, where that isn't sure.
        factor: How far it counts, from 0 to 1, by what it is: see `ranking_parameters.weight`.
        states: The share of its turn that states something and doesn't ask.
    """

    id: str
    dense: float | None = None
    sparse: float | None = None
    session: Session | None = None
    position: int | None = None
    speaker: bool = False
    timely: bool = False
    factor: float = 1.0
    states: float = 1.0


class Ranked(NamedTuple):
    """A candidate with its place on the scale.

    Args:
        id: Point.
        score: From 0 to 1. Only what is best by every signal and stands among its equals gets 1;
            about 0.6 is usual for the first of a question.
        parts: The values of `signals`.
    """

    id: str
    score: float
    parts: tuple[float, ...]

    @property
    def signals(self) -> dict[str, float]:
        """What the score is made of: the share of each signal; together they are the score.

        They are "dense", "sparse", "near", "next_to_near", "session", "speaker", "statement",
        "time" and "linked"; those that gave nothing are left out. Made when asked for: most of what
        is ranked is never shown.
        """
        return {
            signal: round(share, _SHARE_DIGITS)
            for signal, share in zip(_SIGNALS, self.parts, strict=True)
            if share > 0.0
        }


_SHARE_DIGITS: Final = 4
_Scored = tuple[float, str, int, tuple[float, float, float]]
"""Negative score, id, number, and what is around it: near, next to near and session."""

_Talk = tuple[float, Session | None, float, list[int]]
"""What no score in it exceeds, the session, its best match, and its candidates' numbers."""

_FEW_TERMS: Final = 2
_CROWD: Final = 4
"""More others of a session than these lift a turn no further."""
_ROUNDING: Final = 1e-9
"""More than sums of a few numbers up to 4 are off."""


class Ranking:
    """Candidates of one question on one scale.

    Cosines are spread from the worst to the best that came back (min-max), since encoders use
    different parts of their scale; BM25 has a true zero, so it is only divided by the best.
    What a part did not return has at most the worst of what it did: 0.

    Args:
        candidates: Of one question and one owner, with distinct ids: what the two parts of the
            search returned.
        parameters: Constants; no weight is negative.
    """

    def __init__(
        self, candidates: Sequence[Candidate], parameters: RankingParameters = DEFAULTS
    ) -> None:
        self._candidates = list(candidates)
        self._parameters = parameters
        self._time = parameters.time_weight if any(map(itemgetter(6), candidates)) else 0.0
        self._total = (
            1.0
            + parameters.near_weight
            + parameters.next_to_near_weight
            + parameters.session_weight
            + parameters.speaker_weight
            + parameters.statement_weight
            + self._time
        )
        self._linked: dict[str, float] = {}
        self._link = 0.0
        cosines = [one[1] for one in candidates]
        words = [one[2] for one in candidates]
        returned = [cosine for cosine in cosines if cosine is not None]
        high = max(returned, default=0.0)
        self._cosine = high if returned else None
        self._words = max([score for score in words if score is not None], default=0.0)
        span = max(high - min(returned, default=0.0), parameters.dense_span_min)
        # Without any word in common the quotient is 0 whatever it is divided by.
        best = self._words or 1.0
        share = parameters.dense_weight
        rest = 1.0 - share
        # What each candidate has by itself, each from 0 to 1.
        self._dense = dense = [
            0.0 if cosine is None else 1.0 - (high - cosine) / span for cosine in cosines
        ]
        self._sparse = sparse = [0.0 if score is None else score / best for score in words]
        self._matches = [
            share * cosine + rest * score for cosine, score in zip(dense, sparse, strict=True)
        ]

    def is_unrelated(self, term_count: int, chance: float, *, bounded: bool = True) -> bool:
        """Tell whether nothing that was found has to do with the question.

        The evidence is absolute, unlike that of `best_first`, whose first is near the top of the
        scale in any case. Of a large store something is near any question by chance, so that
        more is asked for: the three best have to say something together.

        Args:
            term_count: Distinct terms of the question.
            chance: Cosine up to which texts in its language come by chance: `Encoder.chance`.
            bounded: Whether only a part of the store was asked, as a time or a session.

        Returns:
            True if no cosine reaches `chance` and no BM25 reaches `sparse_floor` times
            `term_count`; or, of a large store, if the evidence is under `floor`. Without any
            cosine, as where the dense part was skipped, the words decide alone and any match of
            one is enough.
        """
        parameters = self._parameters
        if self._cosine is None:
            return self._words <= 0.0
        words = 0.0 < self._words >= parameters.sparse_floor * term_count
        is_small = self._turn_count() < parameters.floor_candidates
        if is_small and term_count <= _FEW_TERMS and self._words > 0.0:
            return False  # a word or two are meant as they stand, however common among so few
        if self._cosine < chance and not words:
            return True
        if bounded or is_small:
            return False
        together = max(parameters.floor_shared * term_count, parameters.floor_together)
        if self._words >= min(parameters.floor_told * term_count, together):
            return False  # words that were said together, whatever the encoder knows of them
        evidence = partial(self._evidence, chance, sqrt(max(term_count, 1)))
        best = nlargest(3, map(evidence, self._candidates))
        return sum(best) / len(best) < parameters.floor

    def _turn_count(self) -> int:
        """Count the turns of the candidates: a long one has many chunks, and is one to find."""
        return len({one[0] if one[4] is None else (one[3], one[4]) for one in self._candidates})

    def _evidence(self, chance: float, length: float, one: Candidate) -> float:
        meaning = 0.0 if one.dense is None else max(0.0, one.dense - chance) / (1.0 - chance)
        return meaning + self._parameters.floor_words * (one.sparse or 0.0) / length

    def wanted_places(self) -> list[Place]:
        """List the near turns that are worth fetching before the ranking.

        A turn that neither part returned may be the answer to one that it did: `add` them.

        Returns:
            Places up to two turns from the `expand_limit` best matches, those of the best first,
            without repeats and without the places of candidates; some may not exist.
        """
        best = self._best_matches()
        sessions = {session for _, _, session, _ in best}
        known = {(one[3], one[4]) for one in self._candidates if one[3] in sessions}
        wanted: dict[Place, None] = {}
        for _, _, session, position in best:
            if session is None or position is None:
                continue
            for distance in _DISTANCES:
                place = (session, position + distance)
                if place[1] >= 0 and place not in known:
                    wanted[place] = None
        return list(wanted)

    def best_matches(self) -> list[str]:
        """List the `expand_limit` points that match best by themselves, the best first.

        Those that match less than `linked_share` of the first are left out: the names in them have
        little to do with the question.
        """
        best = self._best_matches()
        least = -best[0][0] * self._parameters.linked_share if best else 0.0
        return [point for match, point, _, _ in best if -match >= least]

    def _best_matches(self) -> list[tuple[float, str, Session | None, int | None]]:
        candidates, matches = self._candidates, self._matches
        # The few that reach the last of the best are ordered, ties by id; the many needn't be.
        limit = self._parameters.expand_limit
        least = min(sorted(matches)[-limit:], default=0.0)
        best = [
            (-match, one[0], one[3], one[4])
            for one, match in zip(candidates, matches, strict=True)
            if match >= least
        ]
        return sorted(best)[:limit]

    def link(self, scores: Mapping[str, float]) -> None:
        """Lift candidates that hold names of the best matches: what one turn names, another tells.

        Args:
            scores: BM25 of those names by point; counts as a share of the best of the question's
                own words, and as the whole from there on.
        """
        best = self._words or max(scores.values(), default=0.0)
        self._linked = {point: min(1.0, score / best) for point, score in scores.items() if score}
        self._link = self._parameters.linked_weight if self._linked else 0.0
        self._total += self._link

    def add(self, more: Sequence[Candidate]) -> None:
        """Take turns that were fetched beside, for `wanted_places` or `link`, without scores."""
        nothing = [0.0] * len(more)
        self._candidates += more
        self._dense += nothing
        self._sparse += nothing
        self._matches += nothing

    def best_first(self) -> Iterator[Ranked]:
        """Yield every candidate once, by descending score, then by id.

        One by one: who shows ten needs no more made.

        Sessions are looked at one after the other, from the highest score that any of their
        candidates could have. As soon as the best so far is above that, it is the next.
        """
        scored: list[_Scored] = []
        for bound, session, strength, members in self._talks():
            while scored and -scored[0][0] > bound:
                yield self._ranked(heappop(scored))
            if session is None:
                self._score_lone(members, scored)
            else:
                self._score_talk(members, strength, scored)
        while scored:
            yield self._ranked(heappop(scored))

    def _talks(self) -> list[_Talk]:
        """Group the candidates by session, the highest bound first.

        No turn has more than its session's best match, by itself or around it. What has no session
        comes first, in any order.
        """
        parameters, matches = self._parameters, self._matches
        is_named = any(map(itemgetter(5), self._candidates))
        speaker = parameters.speaker_weight if is_named else 0.0
        around = parameters.near_weight + parameters.next_to_near_weight
        beside = max(parameters.near_weight, parameters.next_to_near_weight) / 2.0
        # By how many stand around a turn: none, one, and so on; the last for all that are more.
        weights = [
            1.0 + parameters.session_weight + min(around, beside * others)
            for others in range(_CROWD + 1)
        ]
        rest = speaker + parameters.statement_weight + self._time + self._link
        talks: defaultdict[Session | None, list[int]] = defaultdict(list)
        for number, one in enumerate(self._candidates):
            talks[one[3]].append(number)
        total, match_of = self._total, matches.__getitem__
        found: list[_Talk] = []
        for session, members in talks.items():
            others = len(members) - 1
            strength = max(map(match_of, members)) if others else matches[members[0]]
            bound = weights[min(_CROWD, others)] * strength + rest
            bound = bound / total + _ROUNDING
            found.append((inf if session is None else bound, session, strength, members))
        found.sort(key=itemgetter(0), reverse=True)
        return found

    def _score_talk(self, members: Sequence[int], strength: float, scored: list[_Scored]) -> None:
        candidates, matches = self._candidates, self._matches
        near_weight = self._parameters.near_weight
        next_weight = self._parameters.next_to_near_weight
        session_share = self._parameters.session_weight * strength
        speaker_weight, total = self._parameters.speaker_weight, self._total
        time_weight, statement_weight = self._time, self._parameters.statement_weight
        places = self._places(members)
        at = places.get
        has_others = len(places) > 1
        linked, link = self._linked, self._link
        for number in members:
            point, _, _, _, position, is_named, is_timely, factor, states = candidates[number]
            near = next_to_near = 0.0
            if has_others and position is not None:
                # The mean match of the two turns beside, and of the two beyond.
                near = (at(position - 1, 0.0) + at(position + 1, 0.0)) / 2.0
                next_to_near = (at(position - 2, 0.0) + at(position + 2, 0.0)) / 2.0
            score = matches[number] + near_weight * near + next_weight * next_to_near
            score += session_share + statement_weight * states
            if is_named:
                score += speaker_weight
            if is_timely:
                score += time_weight
            if link and point in linked:
                score += link * linked[point]
            score = factor * score / total
            if not 0.0 < score < 1.0:  # by rounding
                score = min(1.0, max(0.0, score))
            # Negative, so that tuples compare as they shall stand: by score, then by id.
            heappush(scored, (-score, point, number, (near, next_to_near, strength)))

    def _places(self, members: Sequence[int]) -> dict[int, float]:
        """Return the best match at each position of a session."""
        candidates, matches = self._candidates, self._matches
        places: dict[int, float] = {}
        for number in members:
            position, match = candidates[number][4], matches[number]
            if position is not None and match >= places.get(position, 0.0):
                places[position] = match
        return places

    def _score_lone(self, members: Sequence[int], scored: list[_Scored]) -> None:
        parameters = self._parameters
        for number in members:
            one, match = self._candidates[number], self._matches[number]
            near = parameters.lone_context * match
            score = match + parameters.near_weight * near + parameters.next_to_near_weight * near
            score += parameters.session_weight * match
            score += parameters.speaker_weight * one.speaker + self._time * one.timely
            score += parameters.statement_weight * one.states
            score += self._link * self._linked.get(one.id, 0.0)
            score = min(1.0, max(0.0, one.factor * score / self._total))
            heappush(scored, (-score, one.id, number, (near, near, match)))

    def _ranked(self, scored: _Scored) -> Ranked:
        score, point, number, (near, next_to_near, session) = scored
        one, parameters = self._candidates[number], self._parameters
        scale = one.factor / self._total
        parts = (
            scale * (parameters.dense_weight * self._dense[number]),
            scale * ((1.0 - parameters.dense_weight) * self._sparse[number]),
            scale * (parameters.near_weight * near),
            scale * (parameters.next_to_near_weight * next_to_near),
            scale * (parameters.session_weight * session),
            scale * (parameters.speaker_weight * one.speaker),
            scale * (parameters.statement_weight * one.states),
            scale * (self._time * one.timely),
            scale * (self._link * self._linked.get(one.id, 0.0)),
        )
        return Ranked(point, -score, parts)
