"""What an error means to the shell: one sentence on standard error, and an exit code.

0 well · 1 refused (or something is not well) · 2 wrong usage · 3 unavailable, try again ·
4 damaged · 130 interrupted.
"""

import errno
import json
import os
import sys
from contextlib import suppress
from typing import Any, Final

import click

from ..schemas import errors
from ..schemas.errors import Conflict, Damaged, EunoeError, Unavailable
from .options import Options

__all__ = ["EXIT_REFUSED", "Commands", "refuse"]

EXIT_REFUSED: Final = 1
_EXIT_USAGE: Final = 2
_EXIT_UNAVAILABLE: Final = 3
_EXIT_DAMAGED: Final = 4
_EXIT_INTERRUPTED: Final = 130


class Commands(click.Group):
    """A group whose commands end with a sentence and a code, never with a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Name the commands in the order in which they were added, not by the alphabet."""
        return list(self.commands)

    def main(self, *positional: Any, **named: Any) -> Any:  # noqa: ANN401 - as click has it
        """Run the program; what is printed before any command runs may find no room either."""
        try:
            return super().main(*positional, **named)
        except OSError as error:
            click.echo(_sentence(error), err=True)
            _drop_output()
            sys.exit(_EXIT_UNAVAILABLE)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Run a command; translate what it raises on purpose."""
        try:
            return super().invoke(ctx)
        except EunoeError as error:
            _say(ctx, _kind(error), str(error))
            ctx.exit(_code(error))
        except click.UsageError as error:
            if not ctx.ensure_object(Options).as_json:
                raise
            _say(ctx, "Usage", error.format_message())
            ctx.exit(_EXIT_USAGE)
        except (KeyboardInterrupt, click.Abort):
            click.echo(err=True)
            ctx.exit(_EXIT_INTERRUPTED)
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of a pipe left; click ends quietly
                raise
            _say(ctx, "Unavailable", _sentence(error))
            _drop_output()
            ctx.exit(_EXIT_UNAVAILABLE)


def _drop_output() -> None:
    """Let what is still in the buffer go nowhere, or Python would fail once more as it ends."""
    with suppress(OSError, ValueError):  # captured output has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def refuse(sentence: str) -> None:
    """End the command: what was asked for didn't come about.

    Args:
        sentence: Says why.
    """
    context = click.get_current_context()
    _say(context, "Rejected", sentence)
    context.exit(EXIT_REFUSED)


def _say(context: click.Context, kind: str, sentence: str) -> None:
    if context.ensure_object(Options).as_json:
        sentence = json.dumps({"error": {"kind": kind, "sentence": sentence}})
    click.echo(sentence, err=True)


def _kind(error: EunoeError) -> str:
    names = (cls.__name__ for cls in type(error).__mro__)
    return next(name for name in names if name in errors.__all__)


def _code(error: EunoeError) -> int:
    if isinstance(error, Damaged):
        return _EXIT_DAMAGED
    return _EXIT_UNAVAILABLE if isinstance(error, Unavailable | Conflict) else EXIT_REFUSED


def _sentence(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}."
