"""The command that shows what is learnt from use, as counts."""

from typing import TYPE_CHECKING

import click

from . import rendering
from .options import Options, common_options, text
from .running import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..schemas.results import ExperienceFigure
    from .running import AnyMemory

__all__ = ["experience"]


@click.command(epilog="Example: eunoe experience --domain support-dialogue --days 90")
@click.option("--domain", type=text, help="Only this business domain.")
@click.option(
    "--days", default=30, show_default=True, type=click.IntRange(1), help="So many days back."
)
@common_options
@click.pass_obj
def experience(options: Options, domain: str | None, days: int) -> None:
    """Show how memory is used: over all users, or of one.

    Over all users only what at least five of them did on a whole UTC day counts. Columns: how many
    days had so many users (with --user the day), domain, kind, count, share of the users of a day,
    and of tasks how many went well.
    """

    async def work(memory: "AnyMemory") -> "list[ExperienceFigure]":
        return await memory.experience(
            user_id=options.user_id, tenant_id=options.tenant_id, domain=domain, days=days
        )

    figures = run(work, options, process=False)
    nothing = (
        "Nothing that at least five users stand behind."
        if options.user_id is None
        else "Nothing is counted of this user."
    )
    rendering.print_many(options, figures, _row, nothing=nothing)


def _row(figure: "ExperienceFigure") -> "Sequence[str]":
    days = f"{figure.days} day" if figure.days == 1 else f"{figure.days} days"
    return (
        days if figure.day is None else figure.day.isoformat(),
        figure.domain,
        figure.kind,
        f"{figure.count}",
        "" if figure.share is None else f"{figure.share:.0%} of users",
        "" if figure.success is None else f"{figure.success:.0%} well",
    )
