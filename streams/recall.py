"""Search: exact slots first, else meaning, words and time, ranked with what stands around them.

Reads only; stored texts are never encoded again, and only hits are opened.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from ..schemas.limits import LISTED_TURNS_MAX, OVER_FETCH
from ..schemas.ports import (
    Encoder,
    EpisodicQuery,
    EpisodicStore,
    Holding,
    IdentityStore,
    Interval,
    Keys,
    OwnerKeys,
    PointHit,
    Spot,
    Terms,
    TurnFilter,
)
from .answers import Answer, Answers
from .asking import (
    ANYTHING,
    Question,
    bounds,
    meet,
    project_hash,
    related_terms,
    turn_filters,
)
from .candidates import Candidates, lies_in
from .links import links
from .ranking import Place, Ranked, Ranking
from .ranking_parameters import DEFAULTS
from .zones import UTC_ZONE, Zones

if TYPE_CHECKING:
    from .moments import Asked
    from .times import SessionOrdinal

__all__ = ["Found", "Recall"]

_PAUSE: Final = timedelta(minutes=30)
"""A session whose last turn is no older is the one in which is asked."""
_LISTED: Final = {"time": 1.0}
_NAMED: Final = 8
"""Of the turns that hold words of a name, how many are asked whether they hold the name."""


class Found(NamedTuple):
    """A point that answers, not yet opened.

    Args:
        point: The 16 bytes of the id of a turn's chunk or a memory.
        spot: Where its turn stands.
        score: From 0 to 1.
        signals: Shares of the score.
        outdated: Whether it states only what holds no more, and the present is asked about.
    """

    point: bytes
    spot: Spot
    score: float
    signals: dict[str, float]
    outdated: bool = False

    @property
    def point_id(self) -> UUID:
        """The id of the point."""
        return UUID(bytes=self.point)


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
        self._zones = Zones(keys, identity)
        self._answers = Answers(keys, identity)

    async def read(self, owner: str, question: Question) -> "Asked":
        """Read what a question says about time, in the user's zone."""
        from .moments import read_question  # noqa: PLC0415 - patterns that reading does without

        asked = read_question(question.text, question.now, UTC_ZONE)
        if asked.within is None and asked.near is None:
            return asked
        zone = await self._zones.at(owner, question.now)
        return read_question(question.text, question.now, zone)

    async def answers(self, owner: str, question: Question, asked: "Asked") -> list[Answer]:
        """Answer a question for an exact slot; empty where it asks none or none is known."""
        return await self._answers.find(owner, asked.content, past=asked.past, as_of=question.as_of)

    async def find(self, owner: str, question: Question, asked: "Asked") -> list[Found]:
        """Find turns and memories, best first, at most one for each turn.

        Args:
            owner: Whose.
            question: What is asked.
            asked: What it says about time.

        Returns:
            For a time alone, the turns of that time in order; of a time to come in which nothing
            was said yet, what names it. A sure time filters; where nothing of that time has to do
            with the question, it only lifts, as an unsure one does. Where nothing of a session that
            is asked for has, its turns in order.
        """
        keys = await self._keys.owner(owner)
        only = await self._only(owner, keys, question, asked)
        if only is not None and not only:
            return []
        holding = _holding(keys, question, asked)
        is_plain = asked.alone and not holding.verified
        if is_plain and self._finds_turns(question):
            listed = await self._listed(owner, question, asked, holding, only)
            if listed or not _is_to_come(asked, question.now):
                return listed
        query = await self._query(owner, keys, question, asked, holding)
        if only is not None:
            query = replace(query, only=only)
        if is_plain and _is_to_come(asked, question.now):
            return await self._ranked(query, question, floor=False)
        found = await self._ranked(query, question)
        if not found and asked.within is not None:
            lifted = replace(query, within=bounds(question), near=asked.within)
            found = await self._ranked(lifted, question)
        is_told = asked.session is not None and not holding.verified
        if not found and is_told and self._finds_turns(question):
            # What was said in a session is what was asked for, in whatever words.
            found = await self._listed(owner, question, asked, holding, only)
        return found

    async def _query(
        self, owner: str, keys: OwnerKeys, question: Question, asked: "Asked", holding: Holding
    ) -> EpisodicQuery:
        from .mentions import names  # noqa: PLC0415 - patterns that reading does without

        own = self._terms.query(question.text if asked.within is None else asked.content)
        hashed = tuple(dict.fromkeys(map(keys.term, own)))
        vector = None if holding.verified else (await self._encoder.encode([question.text]))[0]
        limit = max(DEFAULTS.part_limit, OVER_FETCH * question.limit)
        return EpisodicQuery(
            owner,
            vector,
            hashed,
            limit,
            question.kinds,
            within=meet(asked.within, bounds(question)),
            near=asked.near,
            near_limit=DEFAULTS.near_limit,
            holding=holding,
            # Where every term has to stand in the text, others in their place would only mislead.
            related=(
                ()
                if holding.verified
                else related_terms(keys, self._terms, own, names(question.text))
            ),
        )

    async def _ranked(
        self, query: EpisodicQuery, question: Question, *, floor: bool = True
    ) -> list[Found]:
        if query.vector is None and not query.terms:
            return []
        points = await self._episodes.query(query)
        spots = await self._identity.spots(query.owner, [point for point, *_ in points])
        from .mentions import asks_the_agent  # noqa: PLC0415 - patterns that reading does without

        by_agent = asks_the_agent(question.text)
        spots = await self._as_asked(query.owner, spots, by_agent=by_agent)
        maker = Candidates(query, in_project=question.project_id is not None)
        ranking = Ranking(maker.make(points, spots))
        if floor and (not points or await self._is_unrelated(ranking, query, question)):
            return []
        if self._finds_turns(question) and query.vector is not None:
            spots |= await self._link(ranking, maker, query, spots, by_agent=by_agent)
            near = await self._near(query, ranking.wanted_places(), spots)
            near = await self._as_asked(query.owner, near, by_agent=by_agent)
            ranking.add(maker.make([PointHit(one, None, None) for one in near], near))
            spots |= near
        holding = query.holding
        present = holding is None or (holding.past is None and holding.as_of is None)
        return _distinct(ranking.best_first(), spots, question.limit, present=present)

    async def _link(
        self,
        ranking: Ranking,
        maker: Candidates,
        query: EpisodicQuery,
        spots: Mapping[bytes, Spot],
        *,
        by_agent: bool,
    ) -> dict[bytes, Spot]:
        """Lift what holds names that the best matches brought up; return what is new of it."""
        found = await links(self._identity, self._episodes, query, ranking.best_matches())
        missing = [point for point in found.scores if point not in spots]
        new = await self._identity.spots(query.owner, missing) if missing else {}
        new = await self._as_asked(query.owner, new, by_agent=by_agent)
        ranking.add(maker.make([PointHit(one, None, None) for one in new], new))
        lifted: dict[str, float] = {}
        for point, score in found.scores.items():
            spot = spots.get(point) or new.get(point)
            if spot is not None and spot.event not in found.bringers:
                lifted[point.hex()] = score
        ranking.link(lifted)
        return new

    async def _is_unrelated(
        self, ranking: Ranking, query: EpisodicQuery, question: Question
    ) -> bool:
        """Tell whether nothing that was found has to do with the question, nor with its names."""
        from .intake import language  # noqa: PLC0415 - patterns that reading does without
        from .mentions import names  # noqa: PLC0415 - as above

        # A time or a filter says what is meant, beside meaning and words.
        is_bounded = query.only is not None or (query.within or query.near) is not None
        chance = self._encoder.chance(language(question.text))
        if not ranking.is_unrelated(len(query.terms), chance, bounded=is_bounded):
            return False
        # Whoever asks about Girraween means what was said of it, however little the rest is like.
        return not await self._is_named(query, names(question.text))

    async def _is_named(self, query: EpisodicQuery, called: Sequence[str]) -> bool:
        """Tell whether a turn has one of these names whole, and has it as a name."""
        keys = await self._keys.owner(query.owner)
        named = [frozenset(map(keys.term, self._terms.query(name))) for name in called]
        terms = tuple(dict.fromkeys(term for name in named for term in name))
        if not terms:
            return False
        hits = await self._episodes.query(
            replace(query, vector=None, terms=terms, related=(), limit=_NAMED)
        )
        points = [UUID(bytes=point) for point, *_ in hits]
        places = await self._identity.places(query.owner, points)
        return any(name <= set(place.names) for place in places.values() for name in named)

    async def _as_asked(
        self, owner: str, spots: dict[bytes, Spot], *, by_agent: bool
    ) -> dict[bytes, Spot]:
        """Let what the agent said count as the user's words do, where it is asked for."""
        if not spots or not by_agent:
            return spots
        places = await self._identity.places(owner, [UUID(bytes=point) for point in spots])
        own = {point.bytes for point, place in places.items() if place.role == "user"}
        return {
            point: spot._replace(states=spot.states // 2 if point in own else 2 * spot.states)
            for point, spot in spots.items()
        }

    async def _near(
        self, query: EpisodicQuery, wanted: Iterable[Place], spots: Mapping[bytes, Spot]
    ) -> dict[bytes, Spot]:
        if query.only is not None or (query.holding and query.holding.as_of is not None):
            return {}  # what was filtered out must not come back by standing near
        places = [(session, position) for session, position in wanted if isinstance(session, bytes)]
        found = await self._identity.neighbours(query.owner, places)
        return {
            spot.event: spot
            for spot in found.values()
            if spot.event not in spots and (query.within is None or lies_in(spot, query.within))
        }

    async def _only(
        self, owner: str, keys: OwnerKeys, question: Question, asked: "Asked"
    ) -> tuple[bytes, ...] | None:
        """Return the points that may be found, or None where no filter bounds them."""
        wanted = None
        if question.filters is not ANYTHING:
            wanted = turn_filters(keys, self._terms, question.filters)
        if asked.session is not None:
            session = await self._session(owner, asked.session, asked.within, question.now)
            if session is None or (wanted and wanted.session not in {None, session}):
                return ()
            wanted = replace(wanted or TurnFilter(), session=session)
        return None if wanted is None else tuple(await self._identity.points_of(owner, wanted))

    async def _session(
        self, owner: str, ordinal: "SessionOrdinal", within: Interval | None, now: datetime
    ) -> bytes | None:
        """Return the session that is meant: of those with turns in the time, or of all."""
        if within is not None:
            holding = Holding(at=now.timestamp())
            points = await self._episodes.said_within(owner, within, holding, LISTED_TURNS_MAX)
            spots = await self._identity.spots(owner, points)
            known = list(dict.fromkeys(spots[point].session for point in points if point in spots))
            number = -ordinal.number if ordinal.from_end else ordinal.number - 1
            return known[number] if -len(known) <= number < len(known) else None
        if not ordinal.from_end:
            return await self._identity.session(owner, ordinal.number - 1, from_end=False)
        newest = await self._identity.session(owner, 0, from_end=True)
        if newest is None:
            return None
        points = await self._identity.points_of(owner, TurnFilter(session=newest))
        spots = await self._identity.spots(owner, points)
        runs = any(spot.said_at >= now - _PAUSE for spot in spots.values())
        number = ordinal.number if runs else ordinal.number - 1
        return await self._identity.session(owner, max(number, 0), from_end=True)

    async def _listed(
        self,
        owner: str,
        question: Question,
        asked: "Asked",
        holding: Holding,
        only: tuple[bytes, ...] | None,
    ) -> list[Found]:
        """Return the turns of a time or session in order; the user's own, if not all fit."""
        interval = meet(asked.within or asked.near, bounds(question)) or (None, None)
        points = await self._episodes.said_within(owner, interval, holding, LISTED_TURNS_MAX, only)
        places = await self._identity.places(owner, [UUID(bytes=point) for point in points])
        spots = await self._identity.spots(owner, points)
        known = sorted(spots, key=lambda point: (spots[point].said_at, *spots[point][1:3]))
        if len(known) > question.limit:
            roles = {place.bytes: found.role for place, found in places.items()}
            own_first = sorted(known, key=lambda point: roles.get(point) != "user")
            shown = set(own_first[: question.limit])
            known = [point for point in known if point in shown]
        return [Found(point, spots[point], 1.0, _LISTED) for point in known]

    def _finds_turns(self, question: Question) -> bool:
        return self._turns_searchable and (question.kinds is None or "turn" in question.kinds)


def _holding(keys: OwnerKeys, question: Question, asked: "Asked") -> Holding:
    clock = question.as_of or question.now
    project = question.project_id
    return Holding(
        at=clock.timestamp(),
        past=asked.past,
        as_of=None if question.as_of is None else question.as_of.timestamp(),
        project=None if project is None else project_hash(keys, project),
        verified=question.filters.verified,
    )


def _is_to_come(asked: "Asked", now: datetime) -> bool:
    """Tell whether a sure time isn't over yet: plans for it were made before."""
    if asked.within is None:
        return False
    end = asked.within[1]
    return end is None or end > now.timestamp()


def _distinct(
    ranked: Iterable[Ranked], spots: Mapping[bytes, Spot], limit: int, *, present: bool
) -> list[Found]:
    """Keep the best point of each turn; what is faded comes after everything else.

    So does a turn of which nothing holds any more, where the present is asked about.
    """
    found: dict[bytes, Found] = {}
    faded: dict[bytes, Found] = {}
    for one in ranked:
        point = bytes.fromhex(one.id)
        spot = spots[point]
        if spot.event in found:
            continue
        is_outdated = present and spot.outdated == 1
        hit = Found(point, spot, one.score, one.signals, is_outdated)
        if is_outdated or spot.confidence < DEFAULTS.faded_below:
            faded.setdefault(spot.event, hit)
            continue
        found[spot.event] = hit
        if len(found) == limit:
            break
    last = [hit for event, hit in faded.items() if event not in found]
    return [*found.values(), *last][:limit]
