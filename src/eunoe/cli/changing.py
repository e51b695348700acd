"""The commands that change something: add, set-timezone, forget."""

import sys
from typing import TYPE_CHECKING

import click

from . import rendering
from .failing import refuse
from .options import SOURCE, Options, common_options, named, text
from .repeats import date_repeat
from .running import run

if TYPE_CHECKING:
    from ..schemas.results import ForgetReport
    from .running import AnyMemory

__all__ = ["add", "forget", "set_timezone"]


@click.command(epilog='Example: eunoe add "我搬到上海了" --user ana --time 2024-05-06T09:00+08:00')
@click.argument("text", type=text)
@click.option(
    "--role",
    default="user",
    show_default=True,
    type=text,
    help="Who spoke: user, assistant, tool or system.",
)
@click.option("--name", type=text, help="The speaker's name.")
@click.option("--session", "session_id", type=text, help="The conversation it belongs to.")
@click.option("--id", "id_", type=text, help="Its id; a repeat with the same id is stored once.")
@click.option(
    "--source", default="chat", show_default=True, type=text, help="The producer of the id."
)
@click.option("--time", type=text, help="When it was said, ISO 8601 with offset; else now.")
@common_options
@click.pass_obj
def add(  # noqa: PLR0913, PLR0917 - an option each
    options: Options,
    text: str,
    role: str,
    name: str | None,
    session_id: str | None,
    id_: str | None,
    source: str,
    time: str | None,
) -> None:
    """Remember one message; “-” reads it from standard input."""
    user = options.user
    message = {"role": role, "content": _standard_input() if text == "-" else text}
    given = {"name": name, "session_id": session_id, "id": id_, "time": time}
    message |= {key: value for key, value in given.items() if value is not None}
    if id_ is None:
        message = _identity() | message

    async def work(memory: "AnyMemory") -> list[str]:
        tenant = options.tenant_id
        await date_repeat(memory, message, source=source, user_id=user, tenant_id=tenant)
        return await memory.add(message, user_id=user, tenant_id=tenant, source=source)

    ids = run(work, options)
    if options.as_json:
        rendering.print_json({"ids": ids})
    else:
        click.echo(f"Remembered as {', '.join(map(rendering.plain, ids))}")


@click.command("set-timezone", epilog="Example: eunoe set-timezone Asia/Shanghai --user ana")
@click.argument("timezone", type=text)
@common_options
@click.pass_obj
def set_timezone(options: Options, timezone: str) -> None:
    """Say where the user's days begin and end.

    TIMEZONE is an IANA name; “last Friday” and “上周五” are understood in it.
    """
    user = options.user

    async def work(memory: "AnyMemory") -> None:
        await memory.set_timezone(timezone, user_id=user, tenant_id=options.tenant_id)

    run(work, options)
    if options.as_json:
        rendering.print_json({"timezone": timezone})
    else:
        click.echo(f"The time zone of {rendering.plain(user)} is {rendering.plain(timezone)}.")


@click.command(epilog="Example: eunoe forget D1:3 D1:4 --user ana --yes")
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=text)
@SOURCE
@click.option("--yes", is_flag=True, help="Don't ask.")
@common_options
@click.pass_obj
def forget(options: Options, ids: tuple[str, ...], source: str | None, yes: bool) -> None:  # noqa: FBT001 - a flag of the command
    """Forget turns and what rests on them, for ever."""
    user = options.user
    if not yes:
        _confirm(f"Forget {', '.join(map(rendering.plain, ids))}? This can't be undone.")

    async def work(memory: "AnyMemory") -> "ForgetReport":
        return await memory.forget(
            [named(id_, source) for id_ in ids], user_id=user, tenant_id=options.tenant_id
        )

    rendering.print_one(options, run(work, options), rendering.report_text)


def _identity() -> dict[str, str]:
    """Name a message, so that saying it again after a broken connection stores it once."""
    from uuid import uuid4  # noqa: PLC0415 - not needed by --help

    from ..infra.clock import SystemClock  # noqa: PLC0415 - not needed by --help

    return {"id": str(uuid4()), "time": SystemClock().now().astimezone().isoformat()}


def _standard_input() -> str:
    from ..schemas.errors import Rejected  # noqa: PLC0415 - keeps the imports of --help few
    from ..schemas.limits import TEXT_CHARACTERS_MAX  # noqa: PLC0415 - likewise

    bytes_max = 4 * TEXT_CHARACTERS_MAX
    raw = sys.stdin.buffer.read(bytes_max + 1)
    if len(raw) > bytes_max:
        message = f"Standard input is longer than {TEXT_CHARACTERS_MAX} characters."
        raise Rejected(message)
    try:
        return raw.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        message = f"Standard input is not valid UTF-8: byte {error.start} can't be read."
        raise Rejected(message) from error


def _confirm(question: str) -> None:
    if not _has_terminal():
        message = "Without a terminal nobody can be asked: add --yes."
        raise click.UsageError(message)
    if not click.confirm(question, err=True):
        refuse("Nothing was forgotten.")


def _has_terminal() -> bool:
    return sys.stdin.isatty()
