"""The constants of the ranking, in one place, and how far a point counts by what it is. Pure."""

from dataclasses import dataclass
from typing import Final

__all__ = ["DEFAULTS", "RankingParameters", "weight"]


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
        near_limit: How many points of an unsure interval to ask of each part.
        dense_weight: Share of the cosine in `match`, the words have the rest; .38 to .5 is flat
            where daily lives are told, .33 to .42 in long talks.
        near_weight: Of the mean match of the two turns beside it; the largest gain on long talks.
        next_to_near_weight: Of the mean match of the two turns beyond those; half of the former.
        session_weight: Of the best match in its session; .4 to 1 is flat.
        speaker_weight: Of a named speaker; more harms questions that name the wrong person.
        statement_weight: Of a turn that states something and asks nothing, by the one whose words
            are asked for; .8 to 1.2 is flat on seven sets, .4 gave .02 to .05 less where an agent
            chats along.
        time_weight: Of standing in the interval of an unsure expression of time; it counts only
            where the question has one.
        linked_weight: Of holding names that the best matches hold and the question doesn't; .2 to
            .5 is flat.
        linked_share: Of the best match, what another needs for its names to be asked for.
        linked_limit: How many points to ask for by those names; 8 to 32 gave the same.
        relation_weight: What a relation counts, where other memories and turns count 1: the rule
            gives facts .6 and relations .4.
        private_in_project: What the user's own counts, asked in a project.
        organisation_weight: What an organisation's counts, in a project and outside.
        confidence_base: What a memory without any confidence counts; the rest goes with it.
        lone_context: What stands for the near turns of a memory, as a share of its own match, so
            that it does not rank below turns for having none: relevant turns that were found had
            near turns of .4 to .6 of their own match.
        expand_limit: How many of the best matches get their near turns fetched, and are asked for
            names; 5 gave the whole gain, in a store of 5,882 turns as well.
        dense_span_min: Least distance of cosines that is spread over the whole scale; what differs
            by less is noise of the encoder, as among a handful of points.
        floor: Evidence, by meaning above what comes by chance and by words, that the three best of
            a large store need on average: the highest that loses 2 % of the answers, in the mean of
            seven sets (benchmarks/tasks.py with both of its sets, MemoryBank, LoCoMo).
        floor_words: Share of BM25, over the root of the number of terms, in the evidence.
        floor_told: BM25 of the best, for each term, from which the words alone are enough.
        floor_shared: The same for a question of more words, of which it needs `floor_together`.
        floor_together: BM25 of two rare words together, or of several that aren't.
        floor_candidates: Under so many turns a store is too small for chance to count.
        faded_below: Confidence under which a memory comes after all others, and is labelled.
        sparse_floor: BM25 for each term of the question under which its words say nothing; a
            word of one turn among 10 has about 2, among 500 about 6.
    """

    part_limit: int = 64
    near_limit: int = 24
    dense_weight: float = 0.42
    near_weight: float = 0.8
    next_to_near_weight: float = 0.4
    session_weight: float = 0.6
    speaker_weight: float = 0.15
    statement_weight: float = 1.0
    time_weight: float = 0.8
    linked_weight: float = 0.35
    linked_share: float = 0.5
    linked_limit: int = 16
    relation_weight: float = 0.4 / 0.6
    private_in_project: float = 0.7
    organisation_weight: float = 0.3
    confidence_base: float = 0.7
    lone_context: float = 0.5
    expand_limit: int = 5
    dense_span_min: float = 0.1
    sparse_floor: float = 1.5
    floor: float = 0.13
    floor_words: float = 0.03
    floor_told: float = 2.8
    floor_shared: float = 1.7
    floor_together: float = 7.0
    floor_candidates: int = 24
    faded_below: float = 0.3


DEFAULTS: Final = RankingParameters()


def weight(
    kind: str,
    confidence: float,
    scope: str,
    *,
    in_project: bool,
    parameters: RankingParameters = DEFAULTS,
) -> float:
    """Return how far a point counts by what it is: confidence times scope times layer.

    Args:
        kind: "turn" or a memory kind.
        confidence: From 0 to 1; it orders, and never hides.
        scope: Of a memory: "private", "project" or "organisation".
        in_project: Whether the question is asked in a project.
        parameters: Constants.
    """
    rest = 1.0 - parameters.confidence_base
    factor = parameters.confidence_base + rest * confidence
    if scope == "organisation":
        factor *= parameters.organisation_weight
    elif in_project and scope == "private":
        factor *= parameters.private_in_project
    return factor * parameters.relation_weight if kind == "relation" else factor
