"""`eunoe import`: many messages at once, each line on its own account."""

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from . import rendering
from .failing import EXIT_REFUSED
from .options import Options, common_options
from .running import run

if TYPE_CHECKING:
    from .importer import Tally
    from .running import AnyMemory

__all__ = ["import_"]


@click.command("import", epilog="Example: eunoe import conversations.jsonl --user ana")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@common_options
@click.pass_obj
def import_(options: Options, file: str) -> None:
    """Remember a file of messages, one JSON object a line.

    FILE may be “-”, standard input.

    Keys: role, content; optional: name, id, time (ISO 8601 with offset), session_id, user_id
    (else --user), source, agent_id, metadata. A bad line is reported by its number and doesn't
    stop the rest; the exit code is then 1. Importing a file again adds nothing twice, so the
    same command goes on with an interrupted import.
    """
    from .importer import Importer  # noqa: PLC0415 - heavy

    name = os.fsencode(Path(file).name).decode(errors="replace")

    async def work(memory: "AnyMemory") -> "Tally":
        importer = Importer(memory, file=name, tenant_id=options.tenant_id, user_id=options.user_id)
        with _opened(file) as source, _progress(options, source) as advance:
            return await importer.run(source, advance)

    tally = run(work, options, repeatable=False)
    _report(options, tally)
    if tally.bad:
        click.get_current_context().exit(EXIT_REFUSED)


def _report(options: Options, tally: "Tally") -> None:
    if options.as_json:
        bad = [asdict(one) for one in tally.bad]
        rendering.print_json({"added": tally.added, "already": tally.already, "bad": bad})
        return
    for one in tally.bad:
        click.echo(f"Line {one.line}: {rendering.plain(one.reason)}", err=True)
    told = f"{tally.lines} lines: {tally.added} added, {tally.already} already there"
    click.echo(f"{told}, {len(tally.bad)} bad." if tally.bad else f"{told}.")


def _opened(file: str) -> contextlib.AbstractContextManager[BinaryIO]:
    if file == "-":
        return contextlib.nullcontext(sys.stdin.buffer)
    return Path(file).open("rb")


@contextlib.contextmanager
def _progress(options: Options, file: BinaryIO) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal; give what moves it on by so many bytes."""
    size = _size(file)
    if options.as_json or size is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=size, label="Importing", file=sys.stderr) as bar:
        yield bar.update


def _size(file: BinaryIO) -> int | None:
    try:
        found = os.fstat(file.fileno())
    except OSError:  # no real file
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
