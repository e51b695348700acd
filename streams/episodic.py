"""What a turn is before anything is decided: its chunks, its candidates, its statements.

Delivery: pure; the same event gives the same draft, up to the encoder's batches.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

import numpy as np
import orjson

from ..schemas.events import Envelope, Turn
from ..schemas.limits import (
    CHUNK_OVERLAP_TOKENS,
    CHUNK_TOKENS_MAX,
    NAME_TERMS_MAX,
    READ_CHARACTERS_MAX,
)
from ..schemas.ports import Entity, OwnerKeys, Position, Terms, Vectors
from ..schemas.records import EpisodePoint, IngressPosition, Sparse
from .extraction import Extracted, extract, guard
from .intake import chunk, language
from .tokens import count

__all__ = [
    "Draft",
    "chunk_id",
    "content_hash",
    "draft",
    "ingress",
    "memory_id",
    "name_terms",
    "pack",
    "points",
    "render",
    "session_hash",
    "sparse",
    "states",
    "texts",
]

NOBODY: Final = ""
_STATED_TOKENS: Final = 8
"""From so many on a turn counts as stating something in full; 7 to 10 is flat on eleven sets."""
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")
END_MARKS: Final = " .!;,~。！；，…～"


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn with everything about it that depends on nothing else.

    Args:
        event: The event.
        turn: Its payload.
        position: Its place in the ingress topic.
        keys: The owner's keys.
        content: See `content_hash`.
        session: See `session_hash`.
        language: Main language.
        spans: Chunks as (start, end) in the content.
        extracted: Proposals and statements.
        guards: One per proposal.
        speaker: Keyed hash of who spoke.
        names: What the content calls by a name, each once.
    """

    event: Envelope
    turn: Turn
    position: Position
    keys: OwnerKeys
    content: bytes
    session: bytes
    language: str
    spans: tuple[tuple[int, int], ...]
    extracted: Extracted
    guards: tuple[bytes, ...]
    speaker: bytes
    names: tuple[str, ...]


def draft(
    event: Envelope, turn: Turn, position: Position, keys: OwnerKeys, entities: Sequence[Entity]
) -> Draft:
    """Extract what a turn holds; pure.

    Args:
        event: The event.
        turn: Its payload.
        position: Its place in the ingress topic.
        keys: The owner's keys.
        entities: Names in the turn's content.
    """
    found = list(entities)
    extracted = extract(turn.content, found, speaker=turn.name, role=turn.role)
    guards = []
    for proposal in extracted.proposals:
        inside = [one for one in found if proposal.start <= one.start < proposal.end]
        guards.append(keys.hash("guard", guard(proposal.text, inside)))
    return Draft(
        event=event,
        turn=turn,
        position=position,
        keys=keys,
        content=content_hash(keys, event),
        session=session_hash(keys, event, turn),
        language=language(turn.content),
        spans=tuple(chunk(turn.content, CHUNK_TOKENS_MAX, CHUNK_OVERLAP_TOKENS)),
        extracted=extracted,
        guards=tuple(guards),
        speaker=keys.hash("speaker", (turn.name or NOBODY).casefold()),
        names=tuple(dict.fromkeys(one.name for one in found)),
    )


def texts(drafted: Draft) -> list[str]:
    """Return what the encoder gets: the chunks, then the proposals."""
    content = drafted.turn.content
    chunks = [render(drafted.turn, content[start:end]) for start, end in drafted.spans]
    # A full stop more or less moves a vector further than another word does.
    proposals = [one.text.strip().rstrip(END_MARKS) for one in drafted.extracted.proposals]
    return [*chunks, *(render(drafted.turn, one) for one in proposals)]


def states(turn: Turn) -> int:
    """Return how much a turn states, in percent; half where it isn't the user's.

    It is the share that doesn't ask, and less where that is of few words: what a turn asks answers
    nothing, "Don't even joke" hardly more, and what an agent says about its user it was told.
    """
    sentences = [
        one for one in _SENTENCE.findall(turn.content[:READ_CHARACTERS_MAX]) if one.strip()
    ]
    whole = sum(map(len, sentences))
    stated = [one for one in sentences if "?" not in one and "？" not in one]
    share = sum(map(len, stated)) / whole if whole else 0.0
    said = min(1.0, count("".join(stated)) / _STATED_TOKENS)
    return round(100 * share * said * (1.0 if turn.role == "user" else 0.5))


def render(turn: Turn, text: str) -> str:
    """Return the text as encoder and terms see it: with the name of who speaks, if known."""
    return f"{turn.name}: {text}" if turn.name else text


def points(
    drafted: Draft, rendered: Sequence[str], vectors: Vectors, terms: Terms
) -> tuple[EpisodePoint, ...]:
    """Make the points of a turn's chunks.

    Args:
        drafted: The turn.
        rendered: The chunks' texts as encoded.
        vectors: float32, shape (chunks, dimension).
        terms: Splits texts into words.
    """
    return tuple(
        EpisodePoint(
            id=chunk_id(drafted.event.event_id, index),
            start=start,
            end=end,
            vector=pack(vectors[index]),
            terms=sparse(drafted.keys, terms.document(rendered[index])),
        )
        for index, (start, end) in enumerate(drafted.spans)
    )


def sparse(keys: OwnerKeys, weights: dict[str, float]) -> Sparse:
    """Hash terms with the owner's key; colliding terms add their weights."""
    hashed: dict[int, float] = {}
    for term, weight in weights.items():
        number = keys.term(term)
        hashed[number] = hashed.get(number, 0.0) + weight
    packed = np.asarray(list(hashed.values()), dtype="<f2").tobytes()
    return Sparse(indices=tuple(hashed), weights=packed)


def name_terms(drafted: Draft, terms: Terms) -> tuple[int, ...]:
    """Hash the terms of the names in a turn, each once, in their order."""
    known = [term for name in drafted.names for term in terms.query(name)]
    return tuple(dict.fromkeys(map(drafted.keys.term, known)))[:NAME_TERMS_MAX]


def pack(vector: Vectors) -> bytes:
    """Return a vector as little-endian float16."""
    return vector.astype("<f2").tobytes()


def chunk_id(event_id: UUID, index: int) -> UUID:
    """Return the point id of a chunk; the first has the event's."""
    return event_id if index == 0 else uuid5(event_id, f"chunk/{index}")


def memory_id(event_id: UUID, index: int) -> UUID:
    """Return the id that a turn's candidate gets if it becomes a memory."""
    return uuid5(event_id, f"memory/{index}")


def content_hash(keys: OwnerKeys, event: Envelope) -> bytes:
    """Hash what a repeat of the event must have the same; not its time, which may be ours."""
    content = event.payload.model_dump(mode="json")
    body = orjson.dumps([event.type.value, content], option=orjson.OPT_SORT_KEYS)
    return keys.hash("content", body.decode())


def session_hash(keys: OwnerKeys, event: Envelope, turn: Turn) -> bytes:
    """Hash the session; turns without one share one per source and day."""
    name = [turn.session_id] if turn.session_id else ["day", event.time.date().isoformat()]
    return keys.hash("session", orjson.dumps([event.source, *name]).decode())


def ingress(position: Position) -> IngressPosition:
    """Return a log position as records hold it."""
    return IngressPosition(
        topic=position.topic,
        partition=position.partition,
        epoch=position.epoch,
        offset=position.offset,
    )
