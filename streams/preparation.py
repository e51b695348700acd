"""What is done with turns before anything is decided: decode, recognise, extract, encode.

It depends on the turns alone, so it is done while those before are being decided.

Delivery: works on nothing that lasts; what isn't here is made when it is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..schemas.cloudevents import decode
from ..schemas.errors import Rejected
from ..schemas.events import Envelope, Turn
from ..schemas.ports import (
    Clock,
    Encoder,
    EpisodicStore,
    IdentityStore,
    Keys,
    LogRecord,
    OwnerKeys,
    Position,
    Recogniser,
    Terms,
    Vectors,
)
from . import episodic
from .intake import replace_secrets
from .projections import Journal

__all__ = ["Accepted", "Encoded", "Ports", "Preparation"]

Accepted = tuple[LogRecord, Envelope, Turn, OwnerKeys]
"""A turn that is new, with its record and its owner's keys."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What the writer works with.

    Args:
        cleans: Whether turns come from producers that may not have replaced secrets.
    """

    journal: Journal
    keys: Keys
    identity: IdentityStore
    episodes: EpisodicStore
    encoder: Encoder
    recogniser: Recogniser
    terms: Terms
    clock: Clock
    cleans: bool = False


@dataclass(frozen=True, slots=True)
class Encoded:
    """A draft with its texts and their vectors, float32 of shape (texts, dimension)."""

    draft: episodic.Draft
    texts: list[str]
    vectors: Vectors


class Preparation:
    """Works ahead on turns.

    Args:
        ports: Engines.
    """

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._events: dict[Position, Envelope | Rejected] = {}
        self._encoded: dict[Position, Encoded] = {}

    async def prepare(self, records: Sequence[LogRecord]) -> None:
        """Work ahead on records, but for turns that are known already.

        Raises:
            Unavailable: An engine is away; what isn't prepared is made when it is asked for.
        """
        turns: dict[str, list[tuple[LogRecord, Envelope, Turn]]] = {}
        for record in records:
            event = self._events[record.position] = self._decoded(record)
            if isinstance(event, Envelope) and isinstance(event.payload, Turn):
                turns.setdefault(event.owner, []).append((record, event, event.payload))
        accepted: list[Accepted] = []
        for owner, said in turns.items():
            known = await self._ports.identity.known(
                owner, [event.event_id for _, event, _ in said]
            )
            keys = await self._ports.keys.owner(owner)
            accepted += [(*one, keys) for one in said if one[1].event_id not in known]
        for one in await self._encode(accepted):
            self._encoded[one.draft.position] = one

    def event(self, record: LogRecord) -> Envelope | Rejected:
        """Return the event of a record, or why it is none."""
        return self._events.get(record.position) or self._decoded(record)

    async def encoded(self, accepted: Sequence[Accepted]) -> list[Encoded]:
        """Return turns encoded, in order."""
        missing = [one for one in accepted if one[0].position not in self._encoded]
        made = {one.draft.position: one for one in await self._encode(missing)}
        return [
            self._encoded.get(record.position) or made[record.position] for record, *_ in accepted
        ]

    def release(self, records: Sequence[LogRecord]) -> None:
        """Drop what was kept of records that are done."""
        for record in records:
            self._events.pop(record.position, None)
            self._encoded.pop(record.position, None)

    def _decoded(self, record: LogRecord) -> Envelope | Rejected:
        event = _decode(record)
        if not self._ports.cleans or isinstance(event, Rejected):
            return event
        turn = event.payload
        if not isinstance(turn, Turn):
            return event
        content, _ = replace_secrets(turn.content)
        return event.model_copy(update={"payload": turn.model_copy(update={"content": content})})

    async def _encode(self, accepted: Sequence[Accepted]) -> list[Encoded]:
        if not accepted:
            return []
        contents = [turn.content for *_, turn, _ in accepted]
        entities = await self._ports.recogniser.recognise(contents)
        drafts = [
            episodic.draft(event, turn, record.position, keys, names)
            for (record, event, turn, keys), names in zip(accepted, entities, strict=True)
        ]
        texts = [episodic.texts(draft) for draft in drafts]
        distinct = list(dict.fromkeys(text for group in texts for text in group))
        vectors = await self._ports.encoder.encode(distinct)
        rows = {text: row for row, text in enumerate(distinct)}
        return [
            Encoded(draft, group, vectors[[rows[text] for text in group]])
            for draft, group in zip(drafts, texts, strict=True)
        ]


def _decode(record: LogRecord) -> Envelope | Rejected:
    try:
        return decode(record.headers, record.value)
    except Rejected as refusal:
        return refusal
