"""The writer: takes ingress events in order, decides, appends one record each, applies it.

Delivery: an event is journaled exactly once, since its identity is looked up in a state that
was brought to the journal's end before anything is decided; a repeat finds itself there. The
order of the steps is keys, journal, stores, commit; a crash between any two leaves at most keys
without a box, or records that catching up applies.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import orjson

from ..schemas.errors import Rejected
from ..schemas.events import Bind, Envelope, Forget, Recalled, SetTimezone, Turn, Unbind
from ..schemas.limits import CONTEXT_CHARACTERS_MAX, OWNERS_CACHED_MAX
from ..schemas.ports import LogRecord, MemoryPoint, OwnerKeys, Vectors, WrappedKey
from ..schemas.records import Candidate, Decision, JournalRecord, Statement
from . import deduplication, episodic
from .asking import labels
from .context import OpenTurn, Said, Sessions
from .erasure import Forgetter
from .extraction import summarise_context
from .identity import producer_hash, state
from .letters import Letters
from .moments import about
from .persons import Binder
from .preparation import Accepted, Encoded, Ports, Preparation
from .zones import TIMEZONE, UTC_ZONE, Zones

__all__ = ["Ports", "Writer"]

_KINDS: Final[dict[type, Literal["timezone", "forget", "binding"]]] = {
    SetTimezone: "timezone",
    Forget: "forget",
    Bind: "binding",
    Unbind: "binding",
}
"""What becomes of commands in the journal."""

Near = list[MemoryPoint]
"""Stored memories that a candidate may repeat."""


@dataclass(slots=True)
class _Batch:
    """What a batch decided so far and the stores don't hold yet."""

    records: list[JournalRecord] = field(default_factory=list)
    keys: list[WrappedKey] = field(default_factory=list)
    content: dict[UUID, bytes] = field(default_factory=dict)
    erased: set[UUID] = field(default_factory=set)
    memories: dict[str, dict[UUID, MemoryPoint]] = field(default_factory=dict)


class Writer:
    """The command side of an event-sourced aggregate, for all owners of its partitions.

    Args:
        ports: Engines.
        sessions: What was last said in each session.
        letters: Refused events, which a forget reaches too.
        turns_searchable: Whether turns get points in the episodic store.
    """

    def __init__(
        self, ports: Ports, sessions: Sessions, letters: Letters, *, turns_searchable: bool
    ) -> None:
        self._ports = ports
        self._turns_searchable = turns_searchable
        self._sessions = sessions
        self._zones = Zones(ports.keys, ports.identity, remembered=OWNERS_CACHED_MAX)
        self._forgetter = Forgetter(
            ports.journal,
            ports.identity,
            ports.episodes,
            ports.keys,
            sessions,
            letters,
            ports.encoder.duplicate_threshold,
        )
        self._binder = Binder(ports.identity, ports.keys)
        self._behind = False
        self._preparation = Preparation(ports)

    async def prepare(self, records: Sequence[LogRecord]) -> None:
        """Decode, extract and encode records before their turn; see `consumer.Prepare`."""
        await self._preparation.prepare(records)

    def release(self, records: Sequence[LogRecord]) -> None:
        """Drop what was prepared for records that aren't handed over."""
        self._preparation.release(records)

    async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        """Decide records; see `consumer.Handle`."""
        if self._behind:
            await self._ports.journal.catch_up()
            self._sessions.clear()
            self._zones.clear()
        self._behind = True  # until this batch is applied whole
        decoded = [(record, self._preparation.event(record)) for record in records]
        results: list[Rejected | None] = []
        for turns, run in groupby(decoded, key=lambda pair: _is_turn(pair[1])):
            if turns:
                results += await self._turns(list(run))
                continue
            for record, event in run:
                results.append(await self._command(record, event))
        self._behind = False
        self._preparation.release(records)
        return results

    async def _turns(
        self, events: Sequence[tuple[LogRecord, Envelope | Rejected]]
    ) -> list[Rejected | None]:
        batch = _Batch()
        results: list[Rejected | None] = [None] * len(events)
        accepted: list[Accepted] = []
        await self._look_up([event for _, event in events if isinstance(event, Envelope)], batch)
        for index, (record, event) in enumerate(events):
            if not isinstance(event, Envelope) or not isinstance(event.payload, Turn):
                continue
            keys = await self._ports.keys.owner(event.owner)
            results[index], is_new = self._identify(event, keys, batch)
            if is_new:
                accepted.append((record, event, event.payload, keys))
        drafts = await self._preparation.encoded(accepted)
        near = await self._near(drafts)
        for encoded in drafts:
            await self._decide(encoded, near[encoded.draft.event.event_id], batch)
        await self._ports.journal.append(batch.keys, batch.records)
        return results

    async def _look_up(self, events: Sequence[Envelope], batch: _Batch) -> None:
        """Learn which events are known, and which are to stay out, with one question an owner."""
        asked: dict[str, list[UUID]] = {}
        for event in events:
            asked.setdefault(event.owner, []).append(event.event_id)
        identity = self._ports.identity
        for known in await asyncio.gather(*(identity.known(*one) for one in asked.items())):
            batch.content |= {key: one.content for key, one in known.items()}
        for erased in await asyncio.gather(*(identity.erased(*one) for one in asked.items())):
            batch.erased |= erased

    @staticmethod
    def _identify(event: Envelope, keys: OwnerKeys, batch: _Batch) -> tuple[Rejected | None, bool]:
        """Return (why it is refused, whether it is new)."""
        key = event.event_id
        content = episodic.content_hash(keys, event)
        before = batch.content.get(key)
        if before is None:
            batch.content[key] = content
            # What was forgotten stays out, however late it comes again.
            return None, key not in batch.erased
        if before != content:
            message = (
                "An event with this source and id is stored with other content: "
                "send what changed under a new id."
            )
            return Rejected(message), False
        return None, False

    async def _near(self, drafts: Sequence[Encoded]) -> dict[UUID, list[Near]]:
        """Find what the candidates of a batch may repeat, in one question for each owner."""
        rows: dict[str, list[tuple[UUID, Vectors]]] = {}
        for one in drafts:
            event = one.draft.event
            rows.setdefault(event.owner, []).extend(
                (event.event_id, deduplication.unpack(episodic.pack(vector)))
                for vector in one.vectors[len(one.draft.spans) :]
            )
        near: dict[UUID, list[Near]] = {one.draft.event.event_id: [] for one in drafts}
        threshold = self._ports.encoder.duplicate_threshold

        async def find(owner: str, pairs: Sequence[tuple[UUID, Vectors]]) -> None:
            vectors = np.stack([vector for _, vector in pairs])
            found = await self._ports.episodes.nearest(owner, vectors, threshold)
            for (event_id, _), memories in zip(pairs, found, strict=True):
                near[event_id].append(memories)

        await asyncio.gather(*(find(owner, pairs) for owner, pairs in rows.items() if pairs))
        return near

    async def _decide(self, encoded: Encoded, near: Sequence[Near], batch: _Batch) -> None:
        draft = encoded.draft
        event, turn, keys = draft.event, draft.turn, draft.keys
        owner = event.owner
        position = await self._sessions.end(owner, draft.session)
        before = await self._sessions.tail(owner, draft.session, position)
        self._sessions.add(owner, draft.session, event.event_id, turn)
        content = OpenTurn(source=event.source, id=event.id, payload=turn)
        box, key = keys.seal(content.model_dump_json(exclude_none=True).encode(), event.event_id)
        batch.keys.append(key)
        recorded_at = self._ports.clock.now()
        times = await self._times(event, turn)
        candidates = self._candidates(encoded, before, times, batch)
        decisions = self._decisions(encoded, candidates, near, recorded_at, batch)
        rendered = encoded.texts[: len(draft.spans)]
        batch.records.append(
            JournalRecord(
                kind="turn",
                event_id=event.event_id,
                owner=owner,
                ingress=episodic.ingress(draft.position),
                said_at=event.time,
                recorded_at=recorded_at,
                content=draft.content,
                producer=producer_hash(keys, event.id),
                box=box,
                encoder=self._ports.encoder.id,
                language=draft.language,
                session=draft.session,
                position=position,
                speaker=tuple(keys.term(one) for one in self._ports.terms.query(turn.name or "")),
                role=turn.role,
                names=episodic.name_terms(draft, self._ports.terms),
                about=tuple(dict.fromkeys(middle for _, middle in times)),
                states=episodic.states(turn),
                labels=labels(keys, event.source, turn.metadata),
                points=(
                    episodic.points(draft, rendered, encoded.vectors, self._ports.terms)
                    if self._turns_searchable
                    else ()
                ),
                candidates=candidates,
                decisions=decisions,
                statements=_statements(draft, batch),
            )
        )

    async def _times(self, event: Envelope, turn: Turn) -> list[tuple[int, int]]:
        if not about(turn.content, event.time, UTC_ZONE):
            return []  # in no zone, so that most turns need no look at the user's
        zone = await self._zones.at(event.owner, event.time)
        return about(turn.content, event.time, zone)

    def _candidates(
        self,
        encoded: Encoded,
        before: Sequence[Said],
        times: Sequence[tuple[int, int]],
        batch: _Batch,
    ) -> tuple[Candidate, ...]:
        draft = encoded.draft
        if not draft.extracted.proposals:
            return ()
        summary = summarise_context(
            [(one.speaker, one.text) for one in before], CONTEXT_CHARACTERS_MAX
        )
        candidates = []
        first = len(draft.spans)
        for index, proposal in enumerate(draft.extracted.proposals):
            key_id = episodic.memory_id(draft.event.event_id, index)
            content = {"text": proposal.text, "summary": summary, "tags": proposal.tags}
            box, key = draft.keys.seal(orjson.dumps(content), key_id)
            batch.keys.append(key)
            terms = self._ports.terms.document(encoded.texts[first + index])
            candidates.append(
                Candidate(
                    memory_id=key_id,
                    kind=proposal.kind,
                    box=box,
                    vector=episodic.pack(encoded.vectors[first + index]),
                    terms=episodic.sparse(draft.keys, terms),
                    guard=draft.guards[index],
                    speaker=draft.speaker,
                    reads=tuple(one.event_id for one in before),
                    about=tuple(
                        dict.fromkeys(
                            middle
                            for first, middle in times
                            if proposal.start <= first < proposal.end
                        )
                    ),
                )
            )
        return tuple(candidates)

    def _decisions(
        self,
        encoded: Encoded,
        candidates: Sequence[Candidate],
        near: Sequence[Near],
        recorded_at: datetime,
        batch: _Batch,
    ) -> tuple[Decision, ...]:
        draft = encoded.draft
        threshold = self._ports.encoder.duplicate_threshold
        pending = batch.memories.setdefault(draft.event.owner, {})
        decisions = []
        for index, (candidate, stored) in enumerate(zip(candidates, near, strict=True)):
            existing = {memory.memory_id: memory for memory in stored} | pending
            decision = deduplication.decide(
                existing.values(),
                candidate,
                index=index,
                event_id=draft.event.event_id,
                role=draft.turn.role,
                said_at=draft.event.time,
                recorded_at=recorded_at,
                threshold=threshold,
            )
            deduplication.apply(existing, candidate, decision)
            pending[decision.memory_id] = existing[decision.memory_id]
            decisions.append(decision)
        return tuple(decisions)

    async def _command(self, record: LogRecord, event: Envelope | Rejected) -> Rejected | None:
        if isinstance(event, Rejected):
            return event
        if isinstance(event.payload, Recalled):
            return Rejected("A recall is no command: publish it to its own topic.")
        keys = await self._ports.keys.owner(event.owner)
        batch = _Batch()
        await self._look_up([event], batch)
        refused, is_new = self._identify(event, keys, batch)
        if not is_new:
            return refused
        base = JournalRecord(
            kind=_KINDS[type(event.payload)],
            event_id=event.event_id,
            owner=event.owner,
            ingress=episodic.ingress(record.position),
            said_at=event.time,
            recorded_at=self._ports.clock.now(),
            content=episodic.content_hash(keys, event),
            producer=producer_hash(keys, event.id),
            box=None,
        )
        if isinstance(event.payload, Forget):
            await self._forgetter.forget(base, event.payload, keys)
            self._zones.drop(base.owner)
        elif isinstance(event.payload, SetTimezone):
            return await self._set_timezone(base, event.payload, keys)
        elif isinstance(event.payload, Bind | Unbind):
            return await self._bind(base, event.payload, keys)
        return None

    async def _bind(
        self, base: JournalRecord, command: Bind | Unbind, keys: OwnerKeys
    ) -> Rejected | None:
        try:
            record, fresh = await self._binder.decide(base, command, keys)
        except Rejected as refusal:
            return refusal
        await self._ports.journal.append(fresh, [record])
        return None

    async def _set_timezone(
        self, base: JournalRecord, command: SetTimezone, keys: OwnerKeys
    ) -> Rejected | None:
        try:
            ZoneInfo(command.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return Rejected("The time zone must be an IANA name such as Asia/Shanghai.")
        statement, key = state(
            keys, base.event_id, kind="profile", slot=TIMEZONE, value=command.timezone
        )
        record = base.model_copy(update={"statements": (statement,)})
        await self._ports.journal.append([key], [record])
        self._zones.drop(base.owner)
        return None


def _statements(draft: episodic.Draft, batch: _Batch) -> tuple[Statement, ...]:
    statements = []
    for stated in draft.extracted.statements:
        statement, key = state(
            draft.keys,
            draft.event.event_id,
            kind=stated.kind,
            slot=stated.slot,
            value=stated.value,
            subject=stated.subject or draft.turn.name,
            condition=stated.condition,
            text=stated.text,
        )
        statements.append(statement)
        batch.keys.append(key)
    return tuple(statements)


def _is_turn(event: Envelope | Rejected) -> bool:
    return isinstance(event, Envelope) and isinstance(event.payload, Turn)
