"""What every command understands: which folder, which user, and for whom to print."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

__all__ = ["SOURCE", "Options", "common_options", "named", "text"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(slots=True)
class Options:
    """The common options, as given before or after the command's name.

    Args:
        folder: The data folder; None means that of the settings.
        as_json: Whether a program reads the output.
        user_id: Whose memory.
        tenant_id: Whose installation.
    """

    folder: Path | None = None
    as_json: bool = False
    user_id: str | None = None
    tenant_id: str = "default"

    @property
    def user(self) -> str:
        """The user, for commands that can't do without one.

        Raises:
            click.UsageError: None was named.
        """
        if self.user_id is None:
            message = "Missing option '--user' / '-u': whose memory?"
            raise click.UsageError(message)
        return self.user_id


def text(value: str) -> str:
    """Read a parameter that is text as UTF-8, whatever the locale's encoding.

    Args:
        value: The parameter; Python passes bytes that it can't decode as lone surrogates.

    Returns:
        The text.

    Raises:
        click.BadParameter: It can't be written as UTF-8.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        pass
    else:
        return value
    try:
        return os.fsencode(value).decode()
    except UnicodeError as error:
        message = "this is not valid UTF-8."
        raise click.BadParameter(message) from error


SOURCE: Final = click.option(
    "--source", type=text, help="The producer, where two of them use the same id."
)
"""The option that makes an id exact."""


def named(id_: str, source: str | None) -> str | tuple[str, str]:
    """Name a thing as the façade wants it: by its id, or by (source, id)."""
    return id_ if source is None else (source, id_)


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    # Also called for an option that wasn't given: that must not undo what stood before.
    if value not in (None, False) and parameter.name is not None:
        setattr(context.ensure_object(Options), parameter.name, value)


def common_options(function: _Function) -> _Function:
    """Give a command the common options; their values are found in `Options`.

    Args:
        function: A command or group.

    Returns:
        The same, with the options.
    """
    options = (
        click.option(
            "--folder",
            type=click.Path(path_type=Path, file_okay=False),
            help="Data folder; else $EUNOE_FOLDER, else ~/.local/share/eunoe.",
            expose_value=False,
            callback=_keep,
        ),
        click.option(
            "--user",
            "-u",
            "user_id",
            type=text,
            help="Whose memory.",
            expose_value=False,
            callback=_keep,
        ),
        click.option(
            "--tenant",
            "tenant_id",
            type=text,
            help="Whose installation; else “default”.",
            expose_value=False,
            callback=_keep,
        ),
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print JSON, or JSON Lines for lists.",
            expose_value=False,
            callback=_keep,
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function
