"""A question with everything that bounds its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import orjson

from ..schemas.errors import Rejected
from ..schemas.limits import LABELS_MAX
from ..schemas.metadata import metadata_fault
from ..schemas.ports import Interval, OwnerKeys, Terms, TurnFilter

__all__ = [
    "ANYTHING",
    "Filters",
    "Question",
    "Scalar",
    "bounds",
    "labels",
    "meet",
    "project_hash",
    "related_terms",
    "turn_filters",
]

Scalar = str | int | float | bool
_LABEL_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Filters:
    """Bounds of a search beside the question; what is None or empty bounds nothing.

    Args:
        session_id: The session, as its producer named it.
        role: Who spoke: user, assistant, tool or system.
        name: The speaker's name.
        source: The producer.
        metadata: Fields of a message's metadata with their values.
        said: When it was said.
        verified: Whether only what somebody vouches for may answer, and only if it holds every
            term of the question.
    """

    session_id: str | None = None
    role: str | None = None
    name: str | None = None
    source: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    said: Interval = (None, None)
    verified: bool = False


ANYTHING: Final = Filters()


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Args:
        text: In any language.
        now: The question's clock; aware.
        limit: At most so many hits.
        kinds: "turn", "slot" and memory kinds; None means all.
        filters: Further bounds.
        project_id: The project in which it is asked; None is outside.
        as_of: Only what was known by then; None is all.
    """

    text: str
    now: datetime
    limit: int
    kinds: tuple[str, ...] | None = None
    filters: Filters = ANYTHING
    project_id: str | None = None
    as_of: datetime | None = None


def labels(
    keys: OwnerKeys, source: str, metadata: Mapping[str, object] | None
) -> tuple[bytes, ...]:
    """Return the hashes by which a turn can be filtered: of its source and its metadata's scalars.

    Args:
        keys: The owner's.
        source: The producer.
        metadata: As given to `add`.
    """
    scalars = {name: value for name, value in (metadata or {}).items() if isinstance(value, Scalar)}
    fields = [("source", source), *(("metadata", name, scalars[name]) for name in scalars)]
    return tuple(dict.fromkeys(_label(keys, *one) for one in fields[:LABELS_MAX]))


def turn_filters(keys: OwnerKeys, terms: Terms, filters: Filters) -> TurnFilter | None:
    """Return which turns the filters mean, or None where they bound no turn.

    A session belongs to a source; without one, the chat is meant.

    Raises:
        Rejected: The metadata is such as no turn has.
    """
    fault = metadata_fault(dict(filters.metadata))
    if fault is not None:
        message = f"The filter metadata can't be used: {fault}."
        raise Rejected(message)
    session = None
    if filters.session_id is not None:
        name = [filters.source or "chat", filters.session_id]
        session = keys.hash("session", orjson.dumps(name).decode())
    wanted = [("metadata", *pair) for pair in filters.metadata.items()]
    source = () if filters.source is None else (("source", filters.source),)
    speaker = tuple(keys.term(term) for term in terms.query(filters.name or ""))
    # A name without a word in it stands at no turn, and no terms would bound nothing.
    nobody = (("nobody",),) if filters.name and not speaker else ()
    found = TurnFilter(
        session=session,
        role=filters.role,
        speaker=speaker,
        labels=tuple(_label(keys, *one) for one in (*source, *wanted, *nobody)),
    )
    return None if found == TurnFilter() else found


def related_terms(
    keys: OwnerKeys, terms: Terms, own: Sequence[str], called: Sequence[str]
) -> tuple[tuple[int, float], ...]:
    """Hash what means nearly the same as a question's terms, with what each counts.

    Args:
        keys: The owner's.
        terms: Knows what means the same.
        own: The question's terms, none of which comes again.
        called: What the question calls by a name: nothing else means the same.
    """
    named = {term for name in called for term in terms.query(name)}
    found: dict[str, float] = {}
    for term in own:
        for other, weight in terms.related(term).items() if term not in named else ():
            found[other] = max(weight, found.get(other, 0.0))
    hashed = {keys.term(term): weight for term, weight in found.items()}
    for term in own:
        hashed.pop(keys.term(term), None)
    return tuple(hashed.items())


def bounds(question: Question) -> Interval | None:
    """Return when what answers was said, or None where no filter says it."""
    said = question.filters.said
    return None if said == (None, None) else said


def meet(one: Interval | None, other: Interval | None) -> Interval | None:
    """Return what two intervals share, possibly nothing; None is all of time."""
    if one is None or other is None:
        return one or other
    starts = [start for start, _ in (one, other) if start is not None]
    ends = [end for _, end in (one, other) if end is not None]
    return max(starts, default=None), min(ends, default=None)


def project_hash(keys: OwnerKeys, project_id: str) -> bytes:
    """Return the keyed hash under which a project's memories are kept."""
    return keys.hash("project", project_id)


def _label(keys: OwnerKeys, *parts: Scalar) -> bytes:
    return keys.hash("label", orjson.dumps(parts).decode())[:_LABEL_BYTES]
