"""What callers may give to the façade, checked with a sentence."""

from collections.abc import Sequence

from .schemas.errors import Rejected
from .schemas.limits import ID_CHARACTERS_MAX, QUERY_CHARACTERS_MAX, SEARCH_LIMIT_MAX
from .streams.reading import Ident

__all__ = ["ident_of", "limit_of", "name_of", "not_yet", "question_of", "several"]


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


def several(ids: Ident | Sequence[Ident]) -> Sequence[Ident]:
    """Return one or several ids as several."""
    if isinstance(ids, str | tuple):
        return [ids]  # pyright: ignore[reportReturnType]  # a pair, and not several
    return ids


def limit_of(value: object) -> int:
    """Return a limit, or say what it must be."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= SEARCH_LIMIT_MAX:
        return value
    message = f"limit must be a whole number from 0 to {SEARCH_LIMIT_MAX}."
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
