"""The command that makes the stores anew from the log, and compares."""

from pathlib import Path

import click

from . import rendering
from .options import Options, common_options

__all__ = ["replay_command"]


@click.command("replay", epilog="Example: eunoe replay --into /tmp/eunoe-replayed")
@click.option(
    "--into",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the new stores; log and keys are only read.",
)
@click.option(
    "--compare/--no-compare",
    default=True,
    help="Whether to compare each user's digest with that of the live stores.",
)
@common_options
@click.pass_obj
def replay_command(options: Options, into: Path, compare: bool) -> None:  # noqa: FBT001 - as click calls it
    """Make the stores anew elsewhere, and compare them.

    It works beside a process that uses the memory. When it was interrupted, run it again: it goes
    on. To use the new stores, end every process that owns the folder and move identity.sqlite
    and episodes into it. The exit code is 4 if a user's state differs.
    """
    import asyncio  # noqa: PLC0415 - heavy

    from ..infra.settings import Settings  # noqa: PLC0415 - heavy
    from ..replaying import replay  # noqa: PLC0415 - heavy
    from ..schemas.errors import Damaged  # noqa: PLC0415 - after the heavy ones

    def tell(records: int) -> None:
        if not options.as_json:
            click.echo(f"\r{records} records", nl=False, err=True)

    settings = Settings.from_env(options.folder)
    done = asyncio.run(replay(settings, into, compare=compare, tell=tell))
    different = [list(one) for one in done.different]
    if options.as_json:
        rendering.print_json(
            {
                "records": done.records,
                "users": done.users,
                "compared": done.compared,
                "different": different,
            }
        )
    else:
        click.echo(err=True)
        click.echo(f"{done.records} records of {done.users} users are replayed into {into}.")
        if done.compared and not different:
            click.echo("Every user's digest equals the live one.")
    if different:
        names = ", ".join(f"{user} (tenant {tenant})" for tenant, user in done.different)
        message = (
            f"The live stores differ from the log for {names}: end every process that owns the "
            f"folder, and replace identity.sqlite and episodes by those in {into}."
        )
        raise Damaged(message)
