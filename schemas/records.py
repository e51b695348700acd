"""Journal records: one per accepted event, holding the event and what was decided on it.

Whatever is not a pure function of the journal stands in the record: vectors, term hashes,
decisions, times, new absolute values. Texts stand in boxes; a box can be opened only while its
data key exists. Applying records to empty stores yields the state, without any clock, encoder
or model.
"""

import base64
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

__all__ = [
    "Binding",
    "Box",
    "Candidate",
    "Decision",
    "EpisodePoint",
    "Erasure",
    "IngressPosition",
    "JournalRecord",
    "MemoryKind",
    "MemoryPut",
    "MemoryScope",
    "Packed",
    "SessionGap",
    "Sparse",
    "Statement",
    "StatementKind",
    "Truth",
]

MemoryKind = Literal["fact", "event", "commitment", "decision", "relation"]
MemoryScope = Literal["private", "project", "organisation"]
StatementKind = Literal["slot", "preference", "profile"]


def _unpack(value: object) -> object:
    return base64.b64decode(value, validate=True) if isinstance(value, str) else value


def _pack(value: bytes) -> str:
    return base64.b64encode(value).decode()


Packed = Annotated[
    bytes, BeforeValidator(_unpack), PlainSerializer(_pack, return_type=str, when_used="json")
]
"""Bytes, base64 in JSON."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Box(_Record):
    """Sealed bytes.

    Args:
        key_id: The data key; absent from the key log, the box is closed for ever.
        sealed: 12 bytes of nonce, then AES-256-GCM ciphertext and tag.
    """

    key_id: UUID
    sealed: Packed


class Sparse(_Record):
    """A sparse vector over keyed 32-bit term hashes.

    Args:
        indices: Distinct hashes.
        weights: Little-endian float16, one per index: the document side of BM25.
    """

    indices: tuple[int, ...]
    weights: Packed


class IngressPosition(_Record):
    """Where the event stood in its ingress topic."""

    topic: str
    partition: int
    epoch: str
    offset: int


class EpisodePoint(_Record):
    """One chunk of a turn, as the episodic store finds it.

    Args:
        id: The point; the first chunk's is the event id itself.
        start: First character of the chunk in the turn's content.
        end: One past its last character.
        vector: Little-endian float16, L2-normalised, of the record's encoder.
        terms: The chunk's terms.
    """

    id: UUID
    start: int
    end: int
    vector: Packed
    terms: Sparse


class Truth(_Record):
    """Whether, when and where what a memory says holds.

    Args:
        state: "superseded" once something later holds in its place.
        changed_at: When the state was decided; None while it is active.
        valid_from: Since when it holds; None is open.
        valid_to: Until when it holds, exclusive; None is open.
        expires_at: From then on it answers nothing; None is never.
        scope: Whose it is: the user's own, a project's, an organisation's.
        project: Keyed hash of the project's id, for the scope "project".
        verified: Whether somebody vouches for it; who, stands in the box as "verified_by".
    """

    state: Literal["active", "superseded"] = "active"
    changed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    scope: MemoryScope = "private"
    project: Packed | None = None
    verified: bool = False


class Candidate(_Record):
    """Something worth keeping that a turn said, before any decision; kept for a later forget.

    Args:
        memory_id: The id the memory gets if it is new.
        kind: What it is.
        box: Sealed JSON: text, summary (what came before), tags.
        vector: As in `EpisodePoint`.
        terms: As in `EpisodePoint`.
        guard: Keyed hash of negation, numbers with units, dates and entities: a memory is
            never merged with one of another guard.
        speaker: Keyed hash of who said it.
        reads: Events whose text stands in the summary.
        about: As in `JournalRecord`, of its own text.
    """

    memory_id: UUID
    kind: MemoryKind
    box: Box
    vector: Packed
    terms: Sparse
    guard: Packed
    speaker: Packed
    reads: tuple[UUID, ...] = ()
    about: tuple[int, ...] = ()


class Decision(_Record):
    """What became of a candidate, as new absolute values of the memory `memory_id`.

    Args:
        action: "new" puts the candidate as a memory; "touch" means that it repeats one.
        candidate: Index into the record's candidates.
        memory_id: The memory that is put or touched.
        sources: All events that the memory rests on, oldest decision first.
        said_at: When its text was said.
        touched_at: When it was last said.
        created_at: When it was first decided.
        last_accessed: When it was last written or served.
        importance: From 0 to 1.
        confidence: From 0 to 1, at `touched_at`.
        truth: Whether, when and where it holds; None is what holds always and for the user.
    """

    action: Literal["new", "touch"]
    candidate: int
    memory_id: UUID
    sources: tuple[UUID, ...]
    said_at: datetime
    touched_at: datetime
    created_at: datetime
    last_accessed: datetime
    importance: float
    confidence: float
    truth: Truth | None = None


class Statement(_Record):
    """An exact value that the owner or a speaker stated; versions are ranks among these.

    Args:
        kind: Slot, preference or profile field.
        slot: Keyed hash of the slot's name.
        matter: Keyed hash of subject, slot name and condition: what the value is of.
        value: Keyed hash of the normalised value: equal values are one version.
        box: Sealed JSON: subject, slot, value, condition, text.
    """

    kind: StatementKind
    slot: Packed
    matter: Packed
    value: Packed
    box: Box


class MemoryPut(_Record):
    """A whole memory, put by a forget that decided the owner's turns anew."""

    candidate: Candidate
    decision: Decision


class SessionGap(_Record):
    """Where erased turns stood in a session; the later ones move up.

    Args:
        session: Keyed hash.
        positions: Ranks of the erased turns before the forget, highest first.
        size: How many turns the session has afterwards.
    """

    session: Packed
    positions: tuple[int, ...]
    size: int


class Erasure(_Record):
    """What a forget removes, and the new absolute values of what stays.

    Args:
        events: Event ids that stay out for ever.
        appends: Journal keys that get a tombstone.
        keys: Data keys that are shredded.
        points: Chunks of the erased turns.
        gaps: Where they stood.
        memories: Memories that are removed.
        puts: Memories that are put, with everything they now hold.
        contexts: Candidates whose summary held an erased text, sealed anew: (event id, index,
            candidate).
    """

    events: tuple[UUID, ...]
    appends: tuple[UUID, ...]
    keys: tuple[UUID, ...]
    points: tuple[UUID, ...] = ()
    gaps: tuple[SessionGap, ...] = ()
    memories: tuple[UUID, ...] = ()
    puts: tuple[MemoryPut, ...] = ()
    contexts: tuple[tuple[UUID, int, Candidate], ...] = ()


class Binding(_Record):
    """Whether an alias stands for a person; the alias is the record's owner.

    What was registered, phone and device and when, stands in the record's box; without one, a
    binding that was there says nothing new, and what was said before stays.

    Args:
        person: The person's user id, of the same tenant.
        bound: False ends it.
    """

    person: str
    bound: bool = True


class JournalRecord(_Record):
    """One accepted event and what was decided on it.

    Args:
        version: Of this form.
        kind: What the event was; a "correction" only decides on memories that are there.
        event_id: The event; also the record's key in the journal.
        owner: Partition key, `tenant/user`.
        ingress: Where the event came from.
        said_at: The event's own time.
        recorded_at: When the writer decided.
        content: Keyed hash of type and payload: a repeat must have the same.
        producer: Keyed hash of the producer's id.
        box: Sealed JSON: source, id and payload of the event.
        encoder: Id of the encoder of all vectors; None where there are none.
        language: Main language of the text, "en" or "zh" or "und".
        session: Keyed hash of source and session id.
        position: Rank in the session, from 0.
        speaker: Keyed term hashes of the speaker's name.
        role: Who spoke.
        names: Keyed term hashes of the names in the text.
        about: The middles of the intervals that the text names, in seconds since 1970.
        states: How much the text states, in percent: the share that doesn't ask, less where that
            is of few words; half where it isn't the user who speaks.
        labels: Keyed hashes of its source and of the scalars of its metadata, to filter by.
        points: Chunks of a turn.
        candidates: What extraction proposed.
        decisions: One per candidate.
        statements: Slots, preferences and profile fields.
        erasure: Of a forget; of a binding that ends or is said anew, the keys of its boxes.
        binding: Only for a binding.
    """

    version: Literal[1] = 1
    kind: Literal["turn", "timezone", "forget", "correction", "binding"]
    event_id: UUID
    owner: str
    ingress: IngressPosition
    said_at: datetime
    recorded_at: datetime
    content: Packed
    producer: Packed
    box: Box | None
    encoder: str | None = None
    language: str = "und"
    session: Packed | None = None
    position: int | None = None
    speaker: tuple[int, ...] = ()
    role: Literal["user", "assistant", "tool", "system"] | None = None
    names: tuple[int, ...] = ()
    about: tuple[int, ...] = ()
    states: int = 100
    labels: tuple[Packed, ...] = ()
    points: tuple[EpisodePoint, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    decisions: tuple[Decision, ...] = ()
    statements: tuple[Statement, ...] = ()
    erasure: Erasure | None = None
    binding: Binding | None = None
