"""`eunoe demo`: a guided tour on a fresh folder, which ends with a proof."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import rendering
from .failing import refuse
from .options import Options, common_options, text

if TYPE_CHECKING:
    from ..infra.settings import Settings
    from .tour import Said, Tour

__all__ = ["demo"]


@click.command(epilog='Example: eunoe demo --say "My parrot is Zorblat" --ask "Who is my parrot?"')
@click.option("--say", "said", type=text, help="Your own words, to be remembered and forgotten.")
@click.option("--ask", "question", type=text, help="A question that they answer.")
@common_options
@click.pass_obj
def demo(options: Options, said: str | None, question: str | None) -> None:
    """Show in half a minute what this is, and prove it.

    In a fresh folder, which is removed at the end unless --folder names it: remember a small
    conversation in English and Chinese, ask about it, forget one thing, and search every file
    for its words. The exit code is 1 if something of it was found.
    """
    if (said is None) is not (question is None):
        message = "--say and --ask belong together."
        raise click.UsageError(message)
    import asyncio  # noqa: PLC0415 - heavy

    from .tour import Said  # noqa: PLC0415 - heavy

    own = None if said is None or question is None else Said(said, question)
    begun = time.monotonic()
    tell: Callable[[str], None] = (lambda _: None) if options.as_json else click.echo
    with _fresh(options) as settings:
        tell(f"Eunoe, on a fresh folder: {settings.folder}\n")
        tour = asyncio.run(_tour(settings, own, tell))
    _report(options, tour, time.monotonic() - begun)


async def _tour(settings: "Settings", own: "Said | None", tell: Callable[[str], None]) -> "Tour":
    import eunoe  # noqa: PLC0415 - heavy

    from .tour import take_tour  # noqa: PLC0415 - heavy

    async with eunoe.open(settings, serve=False) as memory:
        return await take_tour(memory, settings.folder, own, tell)


@contextmanager
def _fresh(options: Options) -> "Iterator[Settings]":
    """Give settings of an empty folder; a temporary one has its keys beside it."""
    from dataclasses import replace  # noqa: PLC0415 - not needed by --help

    from ..infra.settings import Settings  # noqa: PLC0415 - heavy
    from ..schemas.errors import Rejected  # noqa: PLC0415 - after the heavy ones

    settings = Settings.from_env()
    if options.folder is not None:
        if options.folder.exists() and any(options.folder.iterdir()):
            message = f"{options.folder} isn't empty; the demo wants a folder of its own."
            raise Rejected(message)
        yield replace(settings, folder=options.folder)
        return
    with tempfile.TemporaryDirectory(prefix="eunoe-demo-") as name:
        folder, keys = Path(name) / "data", Path(name) / "config"
        yield replace(settings, folder=folder, config_home=keys)


def _report(options: Options, tour: "Tour", seconds: float) -> None:
    if options.as_json:
        from pydantic_core import to_jsonable_python  # noqa: PLC0415 - heavy

        rendering.print_json(to_jsonable_python(tour) | {"seconds": round(seconds, 1)})
    elif not tour.problems:
        click.echo(
            "\nProved: what was said is found in both languages, with the turn it came from; "
            "it never stood\nin plain in the folder; and what is forgotten is neither found nor "
            f"stands there.  ({seconds:.0f} s)"
        )
    if tour.problems:
        refuse(" ".join(tour.problems))
