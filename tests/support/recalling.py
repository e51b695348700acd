"""Turns and memories of one owner that play both stores, for tests of what searches them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast
from uuid import UUID

from eunoe.infra.terms import Terms
from eunoe.schemas.ports import (
    Encoder,
    EpisodicQuery,
    EpisodicStore,
    EventPlace,
    Holding,
    IdentityStore,
    Interval,
    Keys,
    OwnerKeys,
    PointHit,
    Spot,
    StatementRow,
    TurnFilter,
)
from eunoe.streams.asking import Question
from eunoe.streams.recall import Found, Recall
from tests.support.fakes import OpenKeys
from tests.support.records import ANA, ident
from tests.support.tools import START, WordEncoder

__all__ = ["NOW", "Point", "World"]

NOW: Final = START + timedelta(days=10)
"""When is asked: 2024-03-11, a Monday, 09:00 UTC."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the world: a turn's first chunk, or a memory of a turn."""

    name: str
    spot: Spot
    role: str
    dense: float | None
    sparse: float | None
    words: str | None
    """What it says; None says whatever is asked for."""
    names: str
    """The names in it."""


class World:
    """Turns and memories of one owner, which plays both stores."""

    def __init__(self) -> None:
        self.keys = OpenKeys()
        self.points: dict[bytes, Point] = {}
        self.asked: list[EpisodicQuery] = []
        self.listed: list[tuple[Interval, Holding, int]] = []
        self.looked_beside = 0

    def turn(self, name: str, ago: timedelta, **fields: Any) -> None:
        """Say something, so long before `NOW`."""
        self._put(name, name, ago, "turn", fields)

    def memory(self, name: str, turn: str, ago: timedelta, **fields: Any) -> None:
        """Remember something of a turn."""
        self._put(name, turn, ago, "fact", fields)

    def _put(self, name: str, turn: str, ago: timedelta, kind: str, fields: dict[str, Any]) -> None:
        spot = Spot(
            ident(turn).bytes,
            fields.get("session", "s1").encode(),
            fields.get("position", len(self.points)),
            (),
            (NOW - ago).isoformat(),
            kind=kind,
            confidence=fields.get("confidence", 1.0),
            scope=fields.get("scope", "private"),
            states=fields.get("states", 100),
        )
        self.points[ident(name).bytes] = Point(
            name,
            spot,
            fields.get("role", "user"),
            fields.get("dense", 0.8),
            fields.get("sparse", 9.0),
            fields.get("words"),
            fields.get("names", ""),
        )

    # The episodic store.

    async def query(self, query: EpisodicQuery) -> list[PointHit]:
        """Find what the query's bounds leave, with the scores that the points were given."""
        self.asked.append(query)
        keys = await self.keys.owner(ANA)
        return [
            PointHit(
                point, one.dense, one.sparse, query.near is not None and _is_in(one, query.near)
            )
            for point, one in self.points.items()
            if (one.dense is not None or one.sparse is not None)
            and (query.within is None or _is_in(one, query.within))
            and (query.only is None or point in query.only)
            and (query.kinds is None or one.spot.kind in query.kinds)
            and (query.vector is not None or one.words is None or _says(one, keys, query))
        ]

    async def said_within(
        self,
        owner: str,
        interval: Interval,
        holding: Holding,
        limit: int,
        only: Sequence[bytes] | None = None,
    ) -> list[bytes]:
        """List turns, oldest first."""
        assert owner == ANA
        self.listed.append((interval, holding, limit))
        found = [
            point
            for point, one in self.points.items()
            if one.spot.kind == "turn" and _is_in(one, interval)
            if only is None or point in only
        ]
        return sorted(found, key=lambda point: self.points[point].spot.said)[:limit]

    # The identity store.

    async def statements(self, owner: str, slots: Sequence[bytes]) -> list[StatementRow]:
        """Know of no slot, and of no zone."""
        del owner, slots
        return []

    async def spots(self, owner: str, point_ids: Iterable[bytes]) -> dict[bytes, Spot]:
        """Return spots."""
        assert owner == ANA
        return {point: self.points[point].spot for point in point_ids if point in self.points}

    async def places(self, owner: str, point_ids: Iterable[UUID]) -> dict[UUID, EventPlace]:
        """Return places."""
        assert owner == ANA
        keys = await self.keys.owner(owner)
        return {
            point: EventPlace(
                one.spot.event_id,
                one.spot.kind,
                one.spot.session,
                one.spot.position,
                (),
                one.spot.said_at,
                one.role,
                0,
                tuple(keys.term(term) for term in Terms().query(one.names)),
            )
            for point in point_ids
            if (one := self.points.get(point.bytes)) is not None
        }

    async def neighbours(
        self, owner: str, places: Sequence[tuple[bytes, int]]
    ) -> Mapping[tuple[bytes, int], Spot]:
        """Return the turns that stand there."""
        assert owner == ANA
        self.looked_beside += 1
        turns = [one.spot for one in self.points.values() if one.spot.kind == "turn"]
        return {
            (spot.session, spot.position): spot
            for spot in turns
            if (spot.session, spot.position) in places
        }

    async def points_of(self, owner: str, wanted: TurnFilter) -> list[bytes]:
        """Return the points of the turns that are meant; labels stand at none."""
        assert owner == ANA
        return [
            point
            for point, one in self.points.items()
            if wanted.session in {None, one.spot.session}
            and wanted.role in {None, one.role}
            and not wanted.labels
        ]

    async def session(self, owner: str, number: int, *, from_end: bool) -> bytes | None:
        """Return a session by its rank."""
        assert owner == ANA
        turns = sorted(self.points.values(), key=lambda one: one.spot.said)
        sessions = list(dict.fromkeys(one.spot.session for one in turns))
        if from_end:
            sessions.reverse()
        return sessions[number] if number < len(sessions) else None

    # Searching.

    async def find(
        self, text: str, *, limit: int = 10, turns_searchable: bool = True, **fields: Any
    ) -> list[Found]:
        """Search at `NOW`."""
        recall = Recall(
            cast("Keys", self.keys),
            cast("IdentityStore", self),
            cast("EpisodicStore", self),
            cast("Encoder", WordEncoder()),
            Terms(),
            turns_searchable=turns_searchable,
        )
        question = Question(text, NOW, limit, **fields)
        return await recall.find(ANA, question, await recall.read(ANA, question))

    async def names(self, text: str, **fields: Any) -> list[str]:
        """Search; the names of what is found."""
        return [self.points[one.point].name for one in await self.find(text, **fields)]


def _is_in(one: Point, interval: Interval) -> bool:
    start, end = interval
    said = one.spot.said_at.timestamp()
    return (start is None or said >= start) and (end is None or said < end)


def _says(one: Point, keys: OwnerKeys, query: EpisodicQuery) -> bool:
    terms = {keys.term(term) for term in Terms().document(one.words or "")}
    return not terms.isdisjoint([*query.terms, *(term for term, _ in query.related)])
