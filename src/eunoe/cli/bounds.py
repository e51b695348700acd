"""The options that bound a question: kinds, clocks, who spoke, where, what was noted with it."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from .options import text

__all__ = ["bounded", "bounds_of"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_CLOCKS: Final = ("now", "as_of")
_FILTERS: Final = ("session_id", "role", "name", "source")
_INTERVAL: Final = ("since", "until")


def _fields(
    _: click.Context, __: click.Parameter, given: tuple[str, ...]
) -> dict[str, str | int | float | bool]:
    import orjson  # noqa: PLC0415 - not needed by a person's --help

    fields: dict[str, str | int | float | bool] = {}
    for one in given:
        key, sign, value = one.partition("=")
        if not sign or not key:
            message = f"{one!r} is no KEY=VALUE, such as channel=work."
            raise click.BadParameter(message)
        try:
            read = orjson.loads(value)
        except orjson.JSONDecodeError:
            read = value
        fields[key] = read if isinstance(read, str | int | float) else value
    return fields


_OPTIONS: Final = (
    click.option(
        "--kind", "kinds", multiple=True, type=text, help="Only this kind; may be repeated."
    ),
    click.option("--now", type=text, help="The question's clock, ISO 8601 with offset."),
    click.option(
        "--as-of", type=text, help="Answer from what was known then, ISO 8601 with offset."
    ),
    click.option("--since", type=text, help="Only what was said then or later."),
    click.option("--until", type=text, help="Only what was said before then."),
    click.option("--session", "session_id", type=text, help="Only this conversation."),
    click.option("--role", type=text, help="Only of a user, assistant, tool or system."),
    click.option("--name", type=text, help="Only what this speaker said."),
    click.option("--source", type=text, help="Only of this producer; of a session else the chat."),
    click.option(
        "--meta",
        "metadata",
        metavar="KEY=VALUE",
        multiple=True,
        type=text,
        callback=_fields,
        help="Only where the metadata hold this; may be repeated. 3 is a number, true a truth "
        "value, '\"3\"' a text.",
    ),
    click.option(
        "--verified",
        is_flag=True,
        help="Only what somebody vouches for, holding every word of the question.",
    ),
    click.option("--project", type=text, help="The project in which it is asked."),
)


def bounded(function: _Function) -> _Function:
    """Give a command the options that bound a question; `bounds_of` reads their values.

    Args:
        function: A command that takes them as keywords.

    Returns:
        The same, with the options.
    """
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def bounds_of(given: Mapping[str, object]) -> dict[str, Any]:
    """Return what the façade is asked beside the question; its sentences are told as its own.

    Args:
        given: Values of the options.

    Raises:
        Rejected: A time has no offset, or is none.
    """
    from ..parameters import moment_of  # noqa: PLC0415 - heavy

    def moment(name: str) -> object:
        return moment_of(f"--{name.replace('_', '-')}", given[name])

    filters = {name: given[name] for name in _FILTERS if given[name] is not None}
    filters |= {name: moment(name) for name in _INTERVAL if given[name] is not None}
    filters |= {name: given[name] for name in ("metadata", "verified") if given[name]}
    return {
        "kinds": given["kinds"] or None,
        "filters": filters or None,
        "project_id": given["project"],
        **{name: moment(name) for name in _CLOCKS},
    }
