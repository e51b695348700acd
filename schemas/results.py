"""What the façade returns; frozen, and JSON by pydantic for programs and other processes."""

from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = [
    "Check",
    "Context",
    "DeadLetter",
    "ExperienceFigure",
    "ForgetReport",
    "Hit",
    "Identity",
    "Item",
    "ProfileField",
    "Revision",
    "Stats",
]


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True)


class Hit(_Result):
    """One answer of a search.

    Args:
        id: The producer's id of a turn; a memory's own id; a slot's name.
        text: What was said, opened for this hit.
        score: From 0 to 1; hits come best first.
        sources: Producer's ids of the events it rests on, closest first.
        said_at: When it was said, with offset.
        confidence: From 0 to 1; 1 for turns.
        kind: "turn", "slot", "preference" or a memory kind.
        tier: "active"; "faded" for a memory of low confidence; "superseded" for a turn that states
            only what holds no more. The latter two come last.
        why: Signals and their shares of the score.
        role: Who said it, or of whose turn a memory or slot is; None where no turn says it.
        name: The speaker's name, if one was given.
    """

    id: str
    text: str
    score: float
    sources: tuple[str, ...]
    said_at: datetime
    confidence: float
    kind: str
    tier: str
    why: dict[str, float]
    role: str | None = None
    name: str | None = None


class Context(_Result):
    """What answers a question, as a block of text for a prompt.

    Args:
        text: A line that says zone and clock, then a line for each hit: exact answers first, then
            by time. Empty where nothing was found or no line fits.
        tokens: How many the text has, by the rule of `streams.tokens`.
        hits: Those that are in the text, best first.
        timezone: IANA name of the zone in which its times are.
    """

    text: str
    tokens: int
    hits: tuple[Hit, ...]
    timezone: str


class Item(_Result):
    """A turn, memory, slot or preference, whole.

    Args:
        id: As in `Hit`.
        kind: As in `Hit`.
        text: Its text.
        source: The producer, for turns.
        sources: Producer's ids that it rests on, closest first.
        said_at: When its text was said.
        created_at: When it was recorded.
        last_accessed: When it was last written or served.
        importance: From 0 to 1.
        confidence: From 0 to 1.
        summary: What came before, for memories.
        tags: Names and kind, for memories.
        role: Who spoke, for turns.
        name: The speaker's name.
        session_id: The session, for turns.
        metadata: As given to `add`.
    """

    id: str
    kind: str
    text: str
    source: str | None = None
    sources: tuple[str, ...] = ()
    said_at: datetime
    created_at: datetime
    last_accessed: datetime
    importance: float = 0.5
    confidence: float = 1.0
    summary: str | None = None
    tags: tuple[str, ...] = ()
    role: str | None = None
    name: str | None = None
    session_id: str | None = None
    metadata: dict[str, Any] | None = None


class Revision(_Result):
    """One step in the history of a turn, memory or slot.

    Args:
        at: When it was said.
        recorded_at: When it was decided.
        change: "added", "touched", "stated" or "superseded".
        text: The text or value at this step.
        sources: Producer's ids of the events that caused it.
        version: Rank in the order of truth, from 1, for slots.
    """

    at: datetime
    recorded_at: datetime
    change: str
    text: str
    sources: tuple[str, ...]
    version: int | None = None


class ProfileField(_Result):
    """The current value of a slot or preference.

    Args:
        slot: Name, such as "home" or "favourite/colour".
        value: Value, exactly as stated.
        subject: Whose it is; None is the user.
        condition: For whom, where or when it holds; None is always.
        kind: "slot", "preference" or "profile".
        version: Rank in the order of truth, from 1.
        said_at: When this version was last stated.
        sources: Producer's ids of the turns that state it, newest first.
        memories: Ids of the memories that came from the same turns.
    """

    slot: str
    value: str
    subject: str | None
    condition: str | None
    kind: str
    version: int
    said_at: datetime
    sources: tuple[str, ...]
    memories: tuple[str, ...] = ()


class Identity(_Result):
    """Who a person is, as far as it was registered.

    Args:
        user_id: The person's.
        phones: Registered numbers that are bound to the person, in E.164 form.
        devices: Fingerprints of devices that are.
        aliases: The user ids that stand for the person.
        first_used_at: When the first of them was first used, if that is known.
        timezone: IANA name of the person's zone; "UTC" where none was ever set.
    """

    user_id: str
    phones: tuple[str, ...]
    devices: tuple[str, ...]
    aliases: tuple[str, ...]
    first_used_at: datetime | None
    timezone: str


class ForgetReport(_Result):
    """What a forget removed and what was verified absent.

    Args:
        forgotten: Producer's ids of the turns.
        memories_removed: How many memories went.
        memories_changed: How many were decided anew from surviving turns.
        keys_shredded: How many data keys were destroyed.
        verified: Where the scan found nothing of it any more.
    """

    forgotten: tuple[str, ...]
    memories_removed: int
    memories_changed: int
    keys_shredded: int
    verified: tuple[str, ...]


class DeadLetter(_Result):
    """An event that was refused; `original` is opened only when asked for.

    Args:
        topic: Ingress topic.
        reason: A sentence.
        attempts: How often it was tried.
        first_seen: When.
        event_id: Internal id, where it could be read.
        original: The original value as text, if asked for and still there.
    """

    topic: str
    reason: str
    attempts: int
    first_seen: datetime
    event_id: str | None
    original: str | None = None


class Stats(_Result):
    """Counts of one user, or of the store where no user was named.

    Args:
        turns: Turns that can be found.
        memories: Memories.
        slots: Slots and preferences with a current value.
        waiting: Acknowledged events that are not decided yet.
        dead_letters: Refused events still kept.
        users: Users, where none was named.
        disk_bytes: Size of the folder; None on a cluster, whose servers know theirs.
        encoder: Encoder id of the store.
    """

    turns: int
    memories: int
    slots: int
    waiting: int
    dead_letters: int
    users: int | None
    disk_bytes: int | None
    encoder: str


class Check(_Result):
    """One line of `doctor`: what was looked at, whether it is well, and a sentence."""

    name: str
    ok: bool
    detail: str


class ExperienceFigure(_Result):
    """How often something happened: by a user on a day, or by all in a pool.

    Args:
        domain: The business domain.
        kind: What is counted, such as "search".
        count: How often.
        success: Which part of it went well, from 0 to 1; None where nothing can.
        day: The UTC day, of a user's own counts.
        days: Of a pool: how many days had enough users.
        user_days: Of a pool: users behind the count, added up over the days.
        share: Of a pool: these as a part of all user-days, from 0 to 1.
    """

    domain: str
    kind: str
    count: int
    success: float | None
    day: date | None = None
    days: int | None = None
    user_days: int | None = None
    share: float | None = None
