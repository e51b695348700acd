"""The group of all commands, and the program's entry."""

import io
import sys
from typing import Final

import click

from .asking import (
    context,
    dead_letters,
    digest,
    doctor,
    history,
    list_,
    profile,
    search,
    show,
    stats,
)
from .changing import add, forget, set_timezone
from .experiencing import experience
from .failing import Commands
from .identifying import bind, register, unbind
from .importing import import_
from .options import Options, common_options
from .reembedding import reembed_command
from .replaying import replay_command
from .topics import topics_commands
from .touring import demo
from .working import worker

__all__ = ["commands", "main"]


_START: Final = """\b
Start with:
  eunoe demo
  eunoe add "I moved to Oslo in May" --user ana
  eunoe search "Where do I live?" --user ana
"""


def _print_version(
    context: click.Context,
    _: click.Parameter,
    value: bool,  # noqa: FBT001 - as click calls it
) -> None:
    if not value or context.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - rarely needed

    try:
        click.echo(f"eunoe {version('eunoe')}")
    except PackageNotFoundError:
        click.echo("eunoe (run from its source, not installed)")
    context.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_START,
)
@common_options
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
@click.pass_context
def commands(context: click.Context) -> None:
    """Remember what a person told their agent, and find it again, with its source.

    Everything is kept in one folder on this machine, sealed; nothing leaves it. The common
    options may stand before or after the command's name. Ids are those that the messages came
    with.

    Exit codes: 0 well, 1 refused, 2 wrong usage, 3 unavailable, 4 damaged.
    """
    context.ensure_object(Options)


for _command in (
    demo,
    add,
    import_,
    search,
    context,
    list_,
    show,
    history,
    profile,
    set_timezone,
    forget,
    register,
    bind,
    unbind,
    stats,
    digest,
    dead_letters,
    experience,
    doctor,
    reembed_command,
    replay_command,
    topics_commands,
    worker,
):
    commands.add_command(_command)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not know 中文
    try:
        commands.main(prog_name="eunoe")
    except SystemExit as end:
        if "tikv_client" in sys.modules:  # its threads may crash an interpreter that is taken down
            from ..infra.tikv import leave  # noqa: PLC0415 - there already

            leave(end.code if isinstance(end.code, int) else 0)
        raise
