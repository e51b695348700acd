"""From what a caller asks to a `Question`, every part of it checked."""

from .parameters import filters_of, kinds_of, limit_of, moment_of, name_of, question_of
from .schemas.ports import Clock
from .streams.asking import Question

__all__ = ["question_from"]


def question_from(  # noqa: PLR0913 - the parameters of a search
    query: object,
    clock: Clock,
    *,
    limit: object,
    kinds: object,
    filters: object,
    project: object,
    now: object,
    as_of: object,
) -> Question:
    """Return a question, or say what is wrong with it; `Memory.search` describes the parameters.

    Args:
        query: What is asked.
        clock: Of the question, where it brings none.
        limit: Most hits.
        kinds: Or None for all.
        filters: Or None.
        project: Id of the project in which it is asked, or None.
        now: The question's own clock, or None.
        as_of: Or None for all that is known.

    Raises:
        Rejected: A part can't be used.
    """
    return Question(
        text=question_of(query),
        now=moment_of("now", now) or clock.now(),
        limit=limit_of(limit),
        kinds=kinds_of(kinds),
        filters=filters_of(filters),
        project_id=None if project is None else name_of("project_id", project),
        as_of=moment_of("as_of", as_of),
    )
