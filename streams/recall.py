"""Search: exact slots first, else meaning and words, ranked with what stands around them.

Reads only; stored texts are never encoded again, and only hits are opened.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from ..schemas.ports import (
    Encoder,
    EpisodicQuery,
    EpisodicStore,
    IdentityStore,
    Keys,
    PointHit,
    Spot,
    StatementRow,
    Terms,
)
from .identity import Version, normalise, slot_hash, versions
from .ranking import DEFAULTS, Candidate, Place, Ranked, Ranking
from .stated import AskedSlot

__all__ = ["Answer", "Found", "Recall"]


class Found(NamedTuple):
    """A point that answers, not yet opened.

    Args:
        point: The 16 bytes of the id of a turn's chunk or a memory.
        spot: Where its turn stands.
        score: From 0 to 1.
        signals: Shares of the score.
    """

    point: bytes
    spot: Spot
    score: float
    signals: dict[str, float]

    @property
    def point_id(self) -> UUID:
        """The id of the point."""
        return UUID(bytes=self.point)


@dataclass(frozen=True, slots=True)
class Answer:
    """An exact answer: the current version of a matter, opened."""

    version: Version
    content: dict[str, Any]


class Recall:
    """Finds what answers a question.

    Args:
        keys: Keys of owners.
        identity: Slots, and where turns stand.
        episodes: Turns and memories.
        encoder: Of the store.
        terms: Splits the question into words.
        turns_searchable: Whether turns are found.
    """

    def __init__(
        self,
        keys: Keys,
        identity: IdentityStore,
        episodes: EpisodicStore,
        encoder: Encoder,
        terms: Terms,
        *,
        turns_searchable: bool,
    ) -> None:
        self._turns_searchable = turns_searchable
        self._keys = keys
        self._identity = identity
        self._episodes = episodes
        self._encoder = encoder
        self._terms = terms

    async def answers(self, owner: str, question: str) -> list[Answer]:
        """Answer a question for an exact slot; empty where it asks none or none is known."""
        from .questions import asked_slots  # noqa: PLC0415 - patterns that reading does without

        asked = asked_slots(question)
        if not asked:
            return []
        keys = await self._keys.owner(owner)
        hashes = {slot_hash(keys, one.slot): one for one in asked}
        rows = await self._identity.statements(owner, list(hashes))
        found = []
        for slot, group in groupby(sorted(rows, key=_slot), key=_slot):
            current = await self._current(owner, list(group))
            found += _of_subject(current, hashes[slot])
        return sorted(found, key=lambda answer: answer.content["condition"] or "")

    async def _current(self, owner: str, rows: Sequence[StatementRow]) -> list[Answer]:
        newest = [
            versions(list(group))[-1] for _, group in groupby(rows, key=lambda row: row.matter)
        ]
        boxes = [(version.rows[-1].box, version.rows[-1].event_id) for version in newest]
        opened = await self._keys.open_boxes(owner, boxes)
        return [
            Answer(version, orjson.loads(plain))
            for version, plain in zip(newest, opened, strict=True)
            if plain is not None
        ]

    async def find(
        self, owner: str, question: str, *, limit: int, kinds: tuple[str, ...] | None
    ) -> list[Found]:
        """Find turns and memories, best first, at most one for each turn.

        Args:
            owner: Whose.
            question: In any language.
            limit: At most so many.
            kinds: "turn" and memory kinds; None means all.
        """
        keys = await self._keys.owner(owner)
        hashed = tuple(dict.fromkeys(keys.term(term) for term in self._terms.query(question)))
        vector = (await self._encoder.encode([question]))[0]
        points = await self._episodes.query(
            EpisodicQuery(owner, vector, hashed, max(DEFAULTS.part_limit, limit), kinds)
        )
        spots = await self._identity.spots(owner, [point for point, _, _ in points])
        named = frozenset(hashed)
        ranking = Ranking(_candidates(points, spots, named))
        if ranking.is_unrelated(len(hashed)):
            return []
        if self._turns_searchable and (kinds is None or "turn" in kinds):
            near = await self._near(owner, ranking.wanted_places(), spots)
            ranking.add(_candidates([PointHit(one, None, None) for one in near], near, named))
            spots |= near
        return _distinct(ranking.best_first(), spots, limit)

    async def _near(
        self, owner: str, wanted: Iterable[Place], spots: Mapping[bytes, Spot]
    ) -> dict[bytes, Spot]:
        places = [(session, position) for session, position in wanted if isinstance(session, bytes)]
        found = await self._identity.neighbours(owner, places)
        return {spot.event: spot for spot in found.values() if spot.event not in spots}


def _candidates(
    hits: Iterable[PointHit], spots: Mapping[bytes, Spot], named: frozenset[int]
) -> list[Candidate]:
    """Put hits and spots together; a point without a spot was erased meanwhile."""
    return [
        Candidate(
            point.hex(),
            dense,
            sparse,
            spot[1],
            spot[2],
            bool(spot[3]) and not named.isdisjoint(spot[3]),
        )
        for point, dense, sparse in hits
        if (spot := spots.get(point)) is not None
    ]


def _distinct(ranked: Iterable[Ranked], spots: Mapping[bytes, Spot], limit: int) -> list[Found]:
    """Keep the best point of each turn."""
    found: dict[bytes, Found] = {}
    for one in ranked:
        point = bytes.fromhex(one.id)
        spot = spots[point]
        if spot.event not in found:
            found[spot.event] = Found(point, spot, one.score, one.signals)
            if len(found) == limit:
                break
    return list(found.values())


def _of_subject(answers: Sequence[Answer], asked: AskedSlot) -> list[Answer]:
    """Keep the answers about whom the question asks; "my" may mean the only one there is."""
    subjects = {answer.content["subject"] for answer in answers}
    wanted = asked.subject
    if wanted is None and None not in subjects and len(subjects) == 1:
        return list(answers)
    return [answer for answer in answers if _name(answer.content["subject"]) == _name(wanted)]


def _name(subject: str | None) -> str | None:
    return None if subject is None else normalise(subject)


def _slot(row: StatementRow) -> bytes:
    """Group by slot; rows come by matter, and one slot may have several."""
    return row.slot
