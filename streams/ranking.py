"""Ranking of what the engine found: meaning, words, near turns, session and speaker on one scale.

Pure functions over at most a few hundred candidates. Meaning and words are brought to one scale
among the candidates of the question and added: linear fusion, which beat fusion of ranks in every
comparison made. A turn of a talk is then lifted by the turns around it, which often hold the
question that it answers, by the best turn of its session, and by a speaker named in the question.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Final, NamedTuple

__all__ = [
    "DEFAULTS",
    "Candidate",
    "Place",
    "Ranked",
    "RankingParameters",
    "best_first",
    "is_unrelated",
    "rank",
    "wanted_places",
]

Session = str | bytes
Place = tuple[Session, int]
"""A session and a position in it."""

_SIGNALS: Final = ("dense", "sparse", "match", "near", "next_to_near", "session", "speaker")

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
    """

    id: str
    dense: float | None = None
    sparse: float | None = None
    session: Session | None = None
    position: int | None = None
    speaker: bool = False


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
        """What the score is made of, each from 0 to 1 and before its weight.

        They are "dense", "sparse", "match" (both together), "near", "next_to_near", "session" and
        "speaker". Made when asked for: most of what is ranked is never shown.
        """
        return dict(zip(_SIGNALS, self.parts, strict=True))


_Matches = tuple[list[float], list[float], list[float]]
"""What each candidate has by itself, each from 0 to 1: dense, sparse, match."""


@dataclass(frozen=True, slots=True)
class RankingParameters:
    """The constants of the ranking, in one place.

    The weights are rounded values from the middle of a plateau, not its highest point. They were
    looked for on LoCoMo (10 long talks, 1,982 questions), where each half of the talks was tried
    with what the other half preferred, and checked on MemoryBank (15 users with short messages,
    in English and in Chinese). The weight of `match` is 1.

    Args:
        part_limit: How many points to ask of the dense and of the sparse part each; 50, 100 and
            200 gave the same recall@10 within .005.
        dense_weight: Share of the cosine in `match`, the words have the rest; .17 to .33 is flat
            for an encoder that is weak alone.
        near_weight: Of the mean match of the two turns beside it; the largest gain on long talks.
        next_to_near_weight: Of the mean match of the two turns beyond those; half of the former.
        session_weight: Of the best match in its session; .4 to 1 is flat.
        speaker_weight: Of a named speaker; more harms questions that name the wrong person.
        lone_context: What stands for the near turns of a memory, as a share of its own match, so
            that it does not rank below turns for having none: relevant turns that were found had
            near turns of .4 to .6 of their own match.
        expand_limit: How many of the best matches get their near turns fetched; 5 gave the whole
            gain, in a store of 5,882 turns as well.
        dense_span_min: Least distance of cosines that is spread over the whole scale; what differs
            by less is noise of the encoder, as among a handful of points.
        dense_floor: Cosine under which meaning says nothing. It belongs to the encoder: this is
            for USE multilingual v3, see `is_unrelated`.
        sparse_floor: BM25 for each term of the question under which its words say nothing; a
            word of one turn among 10 has about 2, among 500 about 6.
    """

    part_limit: int = 64
    dense_weight: float = 0.26
    near_weight: float = 0.8
    next_to_near_weight: float = 0.4
    session_weight: float = 0.6
    speaker_weight: float = 0.15
    lone_context: float = 0.5
    expand_limit: int = 5
    dense_span_min: float = 0.1
    dense_floor: float = 0.24
    sparse_floor: float = 1.5


DEFAULTS: Final = RankingParameters()


def rank(candidates: Sequence[Candidate], parameters: RankingParameters = DEFAULTS) -> list[Ranked]:
    """Order candidates, best first.

    Args:
        candidates: Of one question and one owner, with distinct ids: what the two parts of the
            search returned, and the near turns fetched for `wanted_places`.
        parameters: Constants.

    Returns:
        Every candidate once, by descending score, then by id.
    """
    return list(best_first(candidates, parameters))


def best_first(
    candidates: Sequence[Candidate], parameters: RankingParameters = DEFAULTS
) -> Iterator[Ranked]:
    """Yield what `rank` returns, one by one: who shows ten needs no more made.

    Args:
        candidates: As for `rank`.
        parameters: Constants.
    """
    near_weight, next_weight = parameters.near_weight, parameters.next_to_near_weight
    session_weight, speaker_weight = parameters.session_weight, parameters.speaker_weight
    total = 1.0 + near_weight + next_weight + session_weight + speaker_weight
    lone_context = parameters.lone_context
    dense, sparse, matches = _matches(candidates, parameters)
    places, strengths = _context(candidates, matches)
    ordered = []
    for (point, _, _, session, position, is_named), cosine, words, match in zip(
        candidates, dense, sparse, matches, strict=True
    ):
        if session is None:
            near = next_to_near = lone_context * match
            strength = match
        else:
            near, next_to_near = _beside(places.get(session), position)
            strength = strengths[session]
        speaker = 1.0 if is_named else 0.0
        score = match + near_weight * near + next_weight * next_to_near
        score = (score + session_weight * strength + speaker_weight * speaker) / total
        parts = (cosine, words, match, near, next_to_near, strength, speaker)
        if not 0.0 < score < 1.0:  # by rounding
            score = min(1.0, max(0.0, score))
        # Negative, so that tuples compare as they shall stand: by descending score, then by id.
        ordered.append((-score, point, parts))
    ordered.sort()
    for score, point, parts in ordered:
        yield Ranked(point, -score, parts)


def wanted_places(
    candidates: Sequence[Candidate], parameters: RankingParameters = DEFAULTS
) -> list[Place]:
    """List the near turns that are worth fetching before `rank`.

    A turn that neither part returned may be the answer to one that it did: fetched ones join the
    candidates, with their scores where the engine gives them and without where it does not.

    Args:
        candidates: What the two parts of the search returned.
        parameters: Constants.

    Returns:
        Places up to two turns from the `expand_limit` best matches, those of the best first,
        without repeats and without the places of candidates; some may not exist.
    """
    _, _, matches = _matches(candidates, parameters)
    # The few that reach the last of the best are ordered, ties by id; the many needn't be.
    limit = parameters.expand_limit
    least = min(nlargest(limit, matches), default=0.0)
    best = sorted(
        (-match, one.id, one.session, one.position)
        for one, match in zip(candidates, matches, strict=True)
        if match >= least
    )[:limit]
    sessions = {session for _, _, session, _ in best}
    known = {(one[3], one[4]) for one in candidates if one[3] in sessions}
    wanted: dict[Place, None] = {}
    for _, _, session, position in best:
        if session is None or position is None:
            continue
        for distance in _DISTANCES:
            place = (session, position + distance)
            if place[1] >= 0 and place not in known:
                wanted[place] = None
    return list(wanted)


def is_unrelated(
    candidates: Iterable[Candidate],
    term_count: int,
    parameters: RankingParameters = DEFAULTS,
) -> bool:
    """Tell whether nothing that was found has to do with the question.

    The evidence is absolute, unlike that of `rank`, whose best candidate is near the top of the
    scale in any case. The floor is low on purpose: it takes what nobody has spoken about, such as
    general knowledge, and leaves what is only near the subject to whoever reads the results. Do
    not ask where the question names a time: its words then say little, and the time says the rest.

    Args:
        candidates: What the two parts of the search returned.
        term_count: Distinct terms of the question.
        parameters: Constants.

    Returns:
        True if no cosine reaches `dense_floor` and no BM25 reaches `sparse_floor` times
        `term_count`. Without any cosine, as where the dense part was skipped, the words decide
        alone and any match of one is enough.
    """
    found = list(candidates)
    floor = parameters.dense_floor
    if any(one.dense is not None and one.dense >= floor for one in found):
        return False
    sparse = max((one.sparse for one in found if one.sparse is not None), default=0.0)
    cosines = [one.dense for one in found if one.dense is not None]
    if not cosines:
        return sparse <= 0.0
    return not (sparse > 0.0 and sparse >= parameters.sparse_floor * term_count)


def _matches(candidates: Sequence[Candidate], parameters: RankingParameters) -> _Matches:
    """Return the match of each candidate.

    Cosines are spread from the worst to the best that came back (min-max), since encoders use
    different parts of their scale; BM25 has a true zero, so it is only divided by the best.
    What a part did not return has at most the worst of what it did: 0.
    """
    cosines = [one.dense for one in candidates]
    words = [one.sparse for one in candidates]
    returned = [cosine for cosine in cosines if cosine is not None]
    high = max(returned, default=0.0)
    span = max(high - min(returned, default=0.0), parameters.dense_span_min)
    # Without any word in common the quotient is 0 whatever it is divided by.
    best = max((score for score in words if score is not None), default=0.0) or 1.0
    share = parameters.dense_weight
    rest = 1.0 - share
    dense = [0.0 if cosine is None else 1.0 - (high - cosine) / span for cosine in cosines]
    sparse = [0.0 if score is None else score / best for score in words]
    pairs = zip(dense, sparse, strict=True)
    return dense, sparse, [share * cosine + rest * score for cosine, score in pairs]


def _context(
    candidates: Sequence[Candidate], matches: Sequence[float]
) -> tuple[dict[Session, dict[int, float]], dict[Session, float]]:
    """Return the best match at each position of each session, and in each session."""
    places: dict[Session, dict[int, float]] = {}
    strengths: dict[Session, float] = {}
    for (_, _, _, session, position, _), match in zip(candidates, matches, strict=True):
        if session is None:
            continue
        if match >= strengths.get(session, 0.0):
            strengths[session] = match
        if position is not None:
            positions = places.get(session)
            if positions is None:
                places[session] = positions = {}
            if match >= positions.get(position, 0.0):
                positions[position] = match
    return places, strengths


def _beside(positions: Mapping[int, float] | None, position: int | None) -> tuple[float, float]:
    """Return the mean match of the two turns beside, and of the two beyond; a missing one is 0."""
    if positions is None or position is None or len(positions) == 1:
        return 0.0, 0.0
    match = positions.get
    near = match(position - 1, 0.0) + match(position + 1, 0.0)
    beyond = match(position - 2, 0.0) + match(position + 2, 0.0)
    return near / 2.0, beyond / 2.0
