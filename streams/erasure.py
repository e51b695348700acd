"""Forgetting turns: the owner's state afterwards equals that of a history without them.

The narrow way: turns that proposed nothing and that no summary reads are only removed. The
whole way: every candidate of the owner's surviving turns is decided anew, in journal order, with
the same `decide` as at first; the new absolute values are the forget's outcome. Summaries that
held an erased text are made anew and sealed under new keys.

Delivery: the outcome is one journal record; stores, keys and log follow it behind markers
(`projections.Erasures`), so a crash at any step is finished by catching up.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import orjson

from ..schemas.errors import Damaged
from ..schemas.events import Forget
from ..schemas.limits import CONTEXT_CHARACTERS_MAX
from ..schemas.ports import (
    EpisodicStore,
    EventPlace,
    IdentityStore,
    Keys,
    MemoryPoint,
    OwnerKeys,
    WrappedKey,
)
from ..schemas.records import (
    Candidate,
    Decision,
    Erasure,
    JournalRecord,
    MemoryPut,
    SessionGap,
)
from .context import Sessions
from .deduplication import SCORE_SLACK, apply, decide, unpack
from .extraction import summarise_context
from .letters import Letters
from .projections import Journal

__all__ = ["Anew", "Forgetter", "Proposed", "decide_anew"]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A surviving turn's candidates, as they stand now.

    Args:
        record: The turn's own journal record.
        candidates: Its candidates, summaries made anew where they had to be.
    """

    record: JournalRecord
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Anew:
    """The owner's memories decided anew."""

    decisions: Mapping[UUID, Decision]
    candidates: Mapping[UUID, Candidate]


class Forgetter:
    """Decides forgets and hands them to the journal.

    Args:
        journal: Where records are read from and the outcome is appended.
        identity: Where turns stand.
        episodes: Which memories there are.
        keys: To seal summaries anew.
        sessions: What stands before a turn.
        letters: Refused events, whose keys go with the turn of the same identity.
        threshold: Of the encoder, for deciding anew.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the ports of one command
        self,
        journal: Journal,
        identity: IdentityStore,
        episodes: EpisodicStore,
        keys: Keys,
        sessions: Sessions,
        letters: Letters,
        threshold: float,
    ) -> None:
        self._journal = journal
        self._identity = identity
        self._episodes = episodes
        self._keys = keys
        self._sessions = sessions
        self._letters = letters
        self._threshold = threshold

    async def forget(self, base: JournalRecord, command: Forget, keys: OwnerKeys) -> None:
        """Decide a forget and append its outcome.

        Args:
            base: The record of the command, without the outcome.
            command: What to forget.
            keys: The owner's keys.

        Raises:
            Damaged: A turn that is known has no journal record.
        """
        owner = base.owner
        asked = tuple(dict.fromkeys(command.event_ids))
        places = await self._identity.places(owner, asked)
        erased = {key: place for key, place in places.items() if place.event_id == key}
        records = [await self._record(owner, place) for place in erased.values()]
        readers = await self._identity.readers(owner, list(erased)) - set(erased)
        fresh: list[WrappedKey] = []
        erasure = Erasure(
            events=asked,
            appends=tuple(erased),
            keys=(
                *(key for record in records for key in _keys_of(record)),
                *await self._letters.keys_of(owner, asked),
            ),
            points=tuple(await self._identity.points(owner, list(erased))),
            gaps=await self._gaps(owner, list(erased.values())),
        )
        if readers or any(record.candidates for record in records):
            erasure = await self._whole(owner, keys, erasure, readers, fresh)
        await self._journal.append(fresh, [base.model_copy(update={"erasure": erasure})])
        self._sessions.drop(owner)

    async def _record(self, owner: str, place: EventPlace) -> JournalRecord:
        record = await self._journal.record_at(owner, place.journal_offset)
        if record is None:
            message = f"The journal has no record at offset {place.journal_offset} any more."
            raise Damaged(message)
        return record

    async def _gaps(self, owner: str, places: Sequence[EventPlace]) -> tuple[SessionGap, ...]:
        gaps = []
        for session in sorted({place.session for place in places}):
            positions = sorted(
                (place.position for place in places if place.session == session), reverse=True
            )
            size = await self._identity.session_end(owner, session) - len(positions)
            gaps.append(SessionGap(session=session, positions=tuple(positions), size=size))
        return tuple(gaps)

    async def _whole(
        self,
        owner: str,
        keys: OwnerKeys,
        erasure: Erasure,
        readers: set[UUID],
        fresh: list[WrappedKey],
    ) -> Erasure:
        gone = set(erasure.events)
        proposed: list[Proposed] = []
        contexts: list[tuple[UUID, int, Candidate]] = []
        shredded = list(erasure.keys)
        for event_id, offset in await self._identity.candidates(owner):
            found = await self._proposed(owner, event_id, offset)
            if event_id in gone:
                # Candidates that an earlier forget sealed anew stand in that forget's record.
                shredded += [one.box.key_id for one in found.candidates]
                continue
            if event_id in readers:
                shredded += [one.box.key_id for one in found.candidates]
                found = await self._resealed(owner, keys, found, gone, fresh)
                contexts += [(event_id, n, one) for n, one in enumerate(found.candidates)]
            proposed.append(found)
        anew = await asyncio.to_thread(decide_anew, proposed, self._threshold)
        current = {one.memory_id: one for one in await self._episodes.memories(owner)}
        return erasure.model_copy(
            update={
                "keys": tuple(dict.fromkeys(shredded)),
                "memories": tuple(sorted(set(current) - set(anew.decisions))),
                "puts": _changed(current, anew),
                "contexts": tuple(contexts),
            }
        )

    async def _proposed(self, owner: str, event_id: UUID, offset: int) -> Proposed:
        place = (await self._identity.places(owner, [event_id]))[event_id]
        record = await self._record(owner, place)
        if offset == place.journal_offset:
            return Proposed(_without_load(record), record.candidates)
        later = await self._journal.record_at(owner, offset)
        if later is None or later.erasure is None:
            message = f"The journal has no record at offset {offset} any more."
            raise Damaged(message)
        kept = tuple(one for key, _, one in later.erasure.contexts if key == event_id)
        return Proposed(_without_load(record), kept)

    async def _resealed(
        self,
        owner: str,
        keys: OwnerKeys,
        found: Proposed,
        gone: set[UUID],
        fresh: list[WrappedKey],
    ) -> Proposed:
        event_id = found.record.event_id
        place = (await self._identity.places(owner, [event_id]))[event_id]
        before = await self._sessions.before(owner, place.session, place.position, without=gone)
        summary = summarise_context(
            [(one.speaker, one.text) for one in before], CONTEXT_CHARACTERS_MAX
        )
        boxes = [(one.box, one.memory_id) for one in found.candidates]
        candidates = []
        for candidate, plain in zip(
            found.candidates, await self._keys.open_boxes(owner, boxes), strict=True
        ):
            if plain is None:
                message = f"A candidate of the event {event_id} can't be opened any more."
                raise Damaged(message)
            content = orjson.loads(plain) | {"summary": summary}
            box, key = keys.seal(orjson.dumps(content), candidate.memory_id)
            fresh.append(key)
            reads = tuple(one.event_id for one in before)
            candidates.append(candidate.model_copy(update={"box": box, "reads": reads}))
        return Proposed(found.record, tuple(candidates))


def decide_anew(proposed: Sequence[Proposed], threshold: float) -> Anew:
    """Fold the candidates of turns, in journal order, into memories; pure.

    Args:
        proposed: Turns in journal order.
        threshold: Cosine from which two texts say the same.
    """
    memories: dict[UUID, MemoryPoint] = {}
    decisions: dict[UUID, Decision] = {}
    candidates: dict[UUID, Candidate] = {}
    ids: list[UUID] = []
    total = sum(len(turn.candidates) for turn in proposed)
    first = next((one for turn in proposed for one in turn.candidates), None)
    width = 0 if first is None else len(unpack(first.vector))
    rows = np.empty((total, width), dtype=np.float32)
    for turn in proposed:
        for index, candidate in enumerate(turn.candidates):
            vector = unpack(candidate.vector)
            near = np.flatnonzero(rows[: len(ids)] @ vector >= threshold - SCORE_SLACK)
            decision = decide(
                [memories[ids[row]] for row in near],
                candidate,
                index=index,
                event_id=turn.record.event_id,
                role=turn.record.role or "user",
                said_at=turn.record.said_at,
                recorded_at=turn.record.recorded_at,
                threshold=threshold,
            )
            apply(memories, candidate, decision)
            if decision.action == "new":
                rows[len(ids)] = vector
                ids.append(decision.memory_id)
                candidates[decision.memory_id] = candidate
            decisions[decision.memory_id] = decision
    return Anew(decisions, candidates)


def _without_load(record: JournalRecord) -> JournalRecord:
    """Return a record without what deciding anew doesn't read: an owner's are held all at once."""
    load = {"box": None, "points": (), "candidates": (), "decisions": (), "statements": ()}
    return record.model_copy(update=load)


def _keys_of(record: JournalRecord) -> list[UUID]:
    boxes = [
        record.box,
        *(one.box for one in record.candidates),
        *(one.box for one in record.statements),
    ]
    return [box.key_id for box in boxes if box is not None]


def _changed(current: Mapping[UUID, MemoryPoint], anew: Anew) -> tuple[MemoryPut, ...]:
    puts = []
    for key, decision in sorted(anew.decisions.items()):
        candidate = anew.candidates[key]
        before = current.get(key)
        if before is None or not _equal(before, candidate, decision):
            puts.append(
                MemoryPut(
                    candidate=candidate,
                    decision=decision.model_copy(update={"action": "new"}),
                )
            )
    return tuple(puts)


def _equal(before: MemoryPoint, candidate: Candidate, decision: Decision) -> bool:
    return before.box == candidate.box and (
        before.sources,
        before.said_at,
        before.touched_at,
        before.created_at,
        before.last_accessed,
        before.importance,
        before.confidence,
    ) == (
        decision.sources,
        decision.said_at,
        decision.touched_at,
        decision.created_at,
        decision.last_accessed,
        decision.importance,
        decision.confidence,
    )
