"""The commands that make the topics of a cluster, and say what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from . import rendering
from .failing import EXIT_REFUSED
from .options import Options, common_options

if TYPE_CHECKING:
    from ..infra.cluster_settings import ClusterSettings

__all__ = ["apply_command", "diff_command", "topics_commands"]


@click.group("topics", epilog="Example: eunoe topics diff")
def topics_commands() -> None:
    """Make the topics of a cluster, and say what differs.

    The cluster is the one that EUNOE_KAFKA names; its topics carry EUNOE_NAMESPACE. Nothing else
    makes a topic. EUNOE_PARTITIONS is fixed when they are made: another number is another epoch.
    """


@topics_commands.command("diff", epilog="Example: eunoe topics diff --json")
@common_options
@click.pass_obj
def diff_command(options: Options) -> None:
    """Say what `apply` would do, and change nothing.

    The exit code is 1 where something differs.
    """
    import asyncio  # noqa: PLC0415 - heavy

    from ..infra import kafka_topics  # noqa: PLC0415 - heavy

    told = asyncio.run(kafka_topics.diff(_cluster(options)))
    if options.as_json:
        rendering.print_json({"differences": told})
    else:
        click.echo("\n".join(told) if told else "The topics are as they have to be.")
    if told:
        click.get_current_context().exit(EXIT_REFUSED)


@topics_commands.command("apply", epilog="Example: eunoe topics apply")
@common_options
@click.pass_obj
def apply_command(options: Options) -> None:
    """Make the topics that are missing, and set the others as they have to be.

    It may be run again at any time, also beside a process that works. A topic with another
    number of partitions is refused, and then nothing is changed.
    """
    import asyncio  # noqa: PLC0415 - heavy

    from ..infra import kafka_topics  # noqa: PLC0415 - heavy

    done = asyncio.run(kafka_topics.apply(_cluster(options)))
    if options.as_json:
        rendering.print_json({"done": done})
    else:
        click.echo("\n".join(done) if done else "The topics were as they have to be.")


def _cluster(options: Options) -> ClusterSettings:
    from ..infra.settings import Settings  # noqa: PLC0415 - heavy
    from ..schemas.errors import Rejected  # noqa: PLC0415 - after the heavy ones

    settings = Settings.from_env(options.folder).cluster
    if settings is None:
        message = (
            "No cluster is set: set EUNOE_KAFKA to its brokers, host:port and comma-separated. "
            "A store in a folder needs no topics."
        )
        raise Rejected(message)
    return settings
