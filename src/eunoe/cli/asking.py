"""The commands that only look: search, list, show, history, profile, stats and the like."""

from typing import TYPE_CHECKING, Final

import click

from . import rendering
from .bounds import bounded, bounds_of
from .failing import EXIT_REFUSED
from .options import SOURCE, Options, common_options, named, text
from .running import run

if TYPE_CHECKING:
    from ..schemas.results import (
        Check,
        Context,
        DeadLetter,
        Hit,
        Item,
        ProfileField,
        Revision,
        Stats,
    )
    from .running import AnyMemory

__all__ = [
    "context",
    "dead_letters",
    "digest",
    "doctor",
    "history",
    "list_",
    "profile",
    "search",
    "show",
    "stats",
]

_KINDS: Final = click.option(
    "--kind", "kinds", multiple=True, type=text, help="Only this kind; may be repeated."
)


@click.command(
    epilog='Example: eunoe search "我上周五说了什么？" --user ana --role user --limit 3 --why'
)
@click.argument("query", type=text)
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(1), help="At most so many."
)
@click.option("--why", is_flag=True, help="Show signals and their shares of the score.")
@bounded
@common_options
@click.pass_obj
def search(options: Options, /, query: str, limit: int, *, why: bool, **given: object) -> None:
    """Find what answers a question, best first.

    Columns: score, day, kind, source ids, with --why its reasons, text.
    """
    user, bounds = options.user, bounds_of(given)

    async def work(memory: "AnyMemory") -> "list[Hit]":
        return await memory.search(
            query, user_id=user, tenant_id=options.tenant_id, limit=limit, **bounds
        )

    row = rendering.hit_row_with_why if why else rendering.hit_row
    rendering.print_many(
        options, run(work, options), row, nothing="Nothing relevant is remembered."
    )


@click.command(
    epilog='Example: eunoe context "Where do I live?" --user ana --budget 500 '
    "--since 2024-05-01T00:00+08:00"
)
@click.argument("query", metavar="QUESTION", type=text)
@click.option(
    "--budget", default=1000, show_default=True, type=click.IntRange(0), help="Most tokens."
)
@click.option(
    "--limit", default=30, show_default=True, type=click.IntRange(1), help="At most so many hits."
)
@bounded
@common_options
@click.pass_obj
def context(options: Options, /, query: str, budget: int, limit: int, **given: object) -> None:
    """Print what answers a question as text for a prompt.

    The first line says the user's zone and the question's clock; then a line for each hit: day,
    time, speaker, text, source ids in brackets. A token is a word, a character of Chinese,
    Japanese or Korean, or a mark. The best hits get in; nothing is printed where there are none.
    """
    user, bounds = options.user, bounds_of(given)

    async def work(memory: "AnyMemory") -> "Context":
        return await memory.context(
            query,
            user_id=user,
            tenant_id=options.tenant_id,
            budget_tokens=budget,
            limit=limit,
            **bounds,
        )

    found = run(work, options)
    if options.as_json or found.text:
        rendering.print_one(options, found, rendering.context_text)
    else:  # beside the output, which goes into a prompt
        click.echo("Nothing relevant is remembered, or no line fits the budget.", err=True)


@click.command("list", epilog="Example: eunoe list --user ana --kind turn")
@click.option(
    "--limit", default=100, show_default=True, type=click.IntRange(1), help="At most so many."
)
@_KINDS
@common_options
@click.pass_obj
def list_(options: Options, limit: int, kinds: tuple[str, ...]) -> None:
    """List what is remembered, the newest first.

    Columns: time, kind, id, text.
    """
    user = options.user

    async def work(memory: "AnyMemory") -> "list[Item]":
        return await memory.list(
            user_id=user, tenant_id=options.tenant_id, kinds=kinds or None, limit=limit
        )

    items = run(work, options, process=False)
    rendering.print_many(options, items, rendering.item_row, nothing="Nothing is remembered.")


@click.command(epilog="Example: eunoe show D1:3 --user ana")
@click.argument("id_", metavar="ID", type=text)
@SOURCE
@common_options
@click.pass_obj
def show(options: Options, id_: str, source: str | None) -> None:
    """Show all about one turn, memory or slot."""
    user = options.user

    async def work(memory: "AnyMemory") -> "Item":
        return await memory.get(named(id_, source), user_id=user, tenant_id=options.tenant_id)

    rendering.print_one(options, run(work, options, process=False), rendering.item_text)


@click.command(epilog="Example: eunoe history home --user ana")
@click.argument("id_", metavar="ID", type=text)
@SOURCE
@common_options
@click.pass_obj
def history(options: Options, id_: str, source: str | None) -> None:
    """Show how a thing came to be what it is.

    Columns: time, change, version, source ids, text.
    """
    user = options.user

    async def work(memory: "AnyMemory") -> "list[Revision]":
        return await memory.history(named(id_, source), user_id=user, tenant_id=options.tenant_id)

    revisions = run(work, options, process=False)
    rendering.print_many(options, revisions, rendering.revision_row, nothing="No history.")


@click.command(epilog="Example: eunoe profile --user ana")
@common_options
@click.pass_obj
def profile(options: Options) -> None:
    """Show what holds of the user now.

    Columns: slot, version, day, source ids, value.
    """
    user = options.user

    async def work(memory: "AnyMemory") -> "list[ProfileField]":
        return await memory.profile(user_id=user, tenant_id=options.tenant_id)

    fields = run(work, options, process=False)
    rendering.print_many(options, fields, rendering.field_row, nothing="No slots or preferences.")


@click.command(epilog="Example: eunoe stats")
@common_options
@click.pass_obj
def stats(options: Options) -> None:
    """Count what is remembered, of one user or of all."""

    async def work(memory: "AnyMemory") -> "Stats":
        return await memory.stats(user_id=options.user_id, tenant_id=options.tenant_id)

    rendering.print_one(options, run(work, options, process=False), rendering.stats_text)


@click.command(epilog="Example: eunoe doctor")
@common_options
@click.pass_obj
def doctor(options: Options) -> None:
    """Check the folder, its keys, stores and models.

    The exit code is 1 if something is not well.
    """
    from ..schemas.errors import EunoeError  # noqa: PLC0415 - after the heavy ones
    from ..schemas.results import Check  # noqa: PLC0415 - heavy

    async def work(memory: "AnyMemory") -> "list[Check]":
        return await memory.doctor()

    try:
        checks = run(work, options)
    except (EunoeError, OSError) as error:
        checks = [Check(name="open the folder", ok=False, detail=str(error))]
    rendering.print_many(options, checks, rendering.check_row, nothing="Nothing was checked.")
    if not all(check.ok for check in checks):
        click.get_current_context().exit(EXIT_REFUSED)


@click.command("dead-letters", epilog="Example: eunoe dead-letters --show")
@click.option("--show", "show_", is_flag=True, help="Open the originals.")
@common_options
@click.pass_obj
def dead_letters(options: Options, show_: bool) -> None:  # noqa: FBT001 - a flag of the command
    """List what was refused after it had been taken.

    Columns: time, topic, attempts, reason and, with --show, the original.
    """

    async def work(memory: "AnyMemory") -> "list[DeadLetter]":
        return await memory.dead_letters(
            user_id=options.user_id, tenant_id=options.tenant_id, show=show_
        )

    letters = run(work, options, process=False)
    rendering.print_many(options, letters, rendering.letter_row, nothing="No dead letters.")


@click.command(epilog="Example: eunoe digest --user ana")
@common_options
@click.pass_obj
def digest(options: Options) -> None:
    """Print a digest: equal digests, equal memories."""
    user = options.user

    async def work(memory: "AnyMemory") -> str:
        return await memory.digest(user_id=user, tenant_id=options.tenant_id)

    found = run(work, options, process=False)
    if options.as_json:
        rendering.print_json({"digest": found})
    else:
        click.echo(found)
