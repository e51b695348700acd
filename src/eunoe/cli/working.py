"""The command that decides what a cluster's producers publish."""

import click

from .options import Options, common_options, text

__all__ = ["worker"]


@click.command("worker", epilog="Example: eunoe worker --only writer")
@click.option(
    "--only",
    multiple=True,
    type=text,
    metavar="NAME",
    help="Run this processor: writer or experience. Repeat it for several; else all are run.",
)
@common_options
@click.pass_obj
def worker(options: Options, only: tuple[str, ...]) -> None:
    """Run the cluster's processors until SIGINT or SIGTERM.

    The environment says where the servers are (EUNOE_KAFKA, EUNOE_TIKV, EUNOE_QDRANT,
    EUNOE_INFLUXDB) and which key opens the memory (EUNOE_MASTER_KEY). Start as many workers as
    you like, up to one for each partition; any may end at any time. Health and metrics are
    answered on loopback, at the port EUNOE_METRICS_PORT: /healthz and /metrics.
    """
    import asyncio  # noqa: PLC0415 - heavy

    from ..infra.settings import Settings  # noqa: PLC0415 - heavy
    from ..schemas.errors import Rejected  # noqa: PLC0415 - after the heavy ones
    from . import rendering  # noqa: PLC0415 - heavy

    settings = Settings.from_env(options.folder)
    try:
        from ..worker import work  # noqa: PLC0415 - needs the cluster's libraries
    except ModuleNotFoundError as error:
        message = f"A worker needs {error.name}: pip install 'eunoe[cluster]' on Python 3.11."
        raise Rejected(message) from error

    def tell(sentence: str) -> None:
        if options.as_json:
            rendering.print_json({"worker": sentence})
        else:
            click.echo(sentence)

    asyncio.run(work(settings, only, tell=tell))
