"""What callers may give to the façade, checked with a sentence."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, get_args

from .schemas.errors import Rejected
from .schemas.limits import (
    EXPERIENCE_DAYS_MAX,
    ID_CHARACTERS_MAX,
    PROMPT_TOKENS_MAX,
    QUERY_CHARACTERS_MAX,
    SEARCH_LIMIT_MAX,
)
from .schemas.records import MemoryKind
from .streams.asking import ANYTHING, Filters, Scalar
from .streams.reading import Ident

__all__ = [
    "TENANT",
    "budget_of",
    "days_of",
    "filters_of",
    "ident_of",
    "kinds_of",
    "limit_of",
    "moment_of",
    "name_of",
    "not_yet",
    "question_of",
    "seconds_of",
    "several",
]

TENANT: Final = "default"
"""The installation of who names none."""
KINDS: Final = ("turn", "slot", *get_args(MemoryKind))
"""Kinds that a search or a list may be bounded to."""
FILTERS: Final = (
    "session_id", "role", "name", "source", "since", "until", "metadata", "verified",
)  # fmt: skip
"""What a search may be bounded by beside kinds."""
ROLES: Final = ("user", "assistant", "tool", "system")


def name_of(parameter: str, value: object) -> str:
    """Return a tenant's, user's or other id, or say what it must be."""
    try:
        if isinstance(value, str) and value and len(value) <= ID_CHARACTERS_MAX and value.encode():
            return value
    except UnicodeEncodeError:
        pass
    message = f"{parameter} must be a text of 1 to {ID_CHARACTERS_MAX} characters."
    raise Rejected(message)


def ident_of(value: object) -> Ident:
    """Return an id, or a pair of source and id."""
    if isinstance(value, tuple) and len(value) == 2:  # noqa: PLR2004 - a pair
        return name_of("source", value[0]), name_of("id", value[1])
    return name_of("id", value)


def several(ids: object) -> Sequence[object]:
    """Return one or several ids as several; two texts in a tuple are one pair.

    Args:
        ids: An id, a (source, id) pair, or a sequence of these; what each is, `ident_of` says.
    """
    if isinstance(ids, str) or _is_pair(ids):
        return [ids]
    if isinstance(ids, Sequence) and not isinstance(ids, bytes | bytearray | memoryview):
        return ids
    message = "The ids must be an id, a (source, id) pair, or a list of these."
    raise Rejected(message)


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2  # noqa: PLR2004 - a pair
        and all(isinstance(part, str) for part in value)
    )


def _whole(name: str, value: object, smallest: int, largest: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and smallest <= value <= largest:
        return value
    message = f"{name} must be a whole number from {smallest} to {largest}."
    raise Rejected(message)


def limit_of(value: object) -> int:
    """Return a limit, or say what it must be."""
    return _whole("limit", value, 0, SEARCH_LIMIT_MAX)


def budget_of(value: object) -> int:
    """Return a budget of tokens, or say what it must be."""
    return _whole("budget_tokens", value, 0, PROMPT_TOKENS_MAX)


def days_of(value: object) -> int:
    """Return a number of days, or say what it must be."""
    return _whole("days", value, 1, EXPERIENCE_DAYS_MAX)


def kinds_of(value: object) -> tuple[str, ...] | None:
    """Return kinds, or say which there are; None means all."""
    if value is None:
        return None
    if (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(one, str) and one in KINDS for one in value)
    ):
        return tuple(value)
    message = f"kinds must be a list of some of: {', '.join(KINDS)}."
    raise Rejected(message)


def moment_of(name: str, value: object) -> datetime | None:
    """Return an aware moment, or say what it must be; None stays None."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, datetime) and value.utcoffset() is not None:
        try:
            value.timestamp()
        except (OverflowError, ValueError, OSError):
            pass
        else:
            return value
    message = f"{name} must be a time with an offset, such as 2024-06-15T22:00:00+08:00."
    raise Rejected(message)


def filters_of(value: object) -> Filters:
    """Return the filters of a search, or say which there are; None bounds nothing."""
    if value is None:
        return ANYTHING
    if not isinstance(value, Mapping) or not set(value) <= set(FILTERS):
        message = f"filters must be a mapping with some of: {', '.join(FILTERS)}."
        raise Rejected(message)
    names = {
        key: name_of(key, value[key]) for key in ("session_id", "name", "source") if key in value
    }
    role = value.get("role")
    if role is not None and role not in ROLES:
        message = f"The filter role must be one of: {', '.join(ROLES)}."
        raise Rejected(message)
    since, until = (moment_of(key, value.get(key)) for key in ("since", "until"))
    verified = value.get("verified", False)
    if not isinstance(verified, bool):
        message = "The filter verified must be True or False."
        raise Rejected(message)
    said = (since.timestamp() if since else None, until.timestamp() if until else None)
    metadata = _metadata_of(value.get("metadata"))
    return Filters(role=role, metadata=metadata, said=said, verified=verified, **names)


def _metadata_of(value: object) -> dict[str, Scalar]:
    if value is None:
        return {}
    if isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(one, Scalar) for key, one in value.items()
    ):
        return dict(value)
    message = "The filter metadata must map names to texts, numbers or truth values."
    raise Rejected(message)


def seconds_of(name: str, value: object) -> float:
    """Return a time to wait, or say what it must be."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    message = f"{name} must be a number of seconds from 0."
    raise Rejected(message)


def not_yet(name: str, value: object) -> None:
    """Reject a parameter whose time has not come."""
    if value is not None:
        message = f"{name} isn't there yet in this version: leave it out."
        raise Rejected(message)


def question_of(query: object) -> str:
    """Return a question without the space around it and without lone surrogates."""
    if isinstance(query, str) and len(query) <= QUERY_CHARACTERS_MAX:
        return query.encode(errors="replace").decode().strip()
    message = f"The query must be a text of at most {QUERY_CHARACTERS_MAX} characters."
    raise Rejected(message)
