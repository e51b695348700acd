"""How a command gets at the memory: through the owner's door, or by opening the folder.

What is heavy is imported when a command runs, so that `--help` answers at once.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..schemas.limits import (
    AGAIN_S,
    HELD_S_MAX,
)
from .options import Options

if TYPE_CHECKING:
    from ..door import RemoteMemory
    from ..infra.settings import Settings
    from ..memory import Memory

__all__ = ["AnyMemory", "run"]

AnyMemory: TypeAlias = "Memory | RemoteMemory"
"""The façade, here or through the door."""

_Result = TypeVar("_Result")


def run(
    work: Callable[[AnyMemory], Awaitable[_Result]],
    options: Options,
    *,
    process: bool = True,
    repeatable: bool = True,
) -> _Result:
    """Do some work on the memory of the folder that the options name.

    When the owner ends in the middle, or is starting or ending, the work is begun anew.

    Args:
        work: What to do with it.
        options: The common options.
        process: Whether the work needs models, when the folder is opened here.
        repeatable: Whether the work may be begun twice.

    Returns:
        What `work` returns.

    Raises:
        EunoeError: What `work` or the opening raises.
    """
    import asyncio  # noqa: PLC0415 - heavy

    if options.folder is not None:
        return asyncio.run(_work(work, options.folder, process=process, repeatable=repeatable))

    from ..infra.settings import Settings  # noqa: PLC0415 - heavy

    settings = Settings.from_env()
    if settings.cluster is not None:
        return asyncio.run(_work_on_cluster(work, settings))
    return asyncio.run(_work(work, settings.folder, process=process, repeatable=repeatable))


async def _work_on_cluster(
    work: Callable[[AnyMemory], Awaitable[_Result]], settings: "Settings"
) -> _Result:
    import eunoe  # noqa: PLC0415 - heavy

    async with eunoe.open(settings) as memory:
        return await work(memory)


async def _work(
    work: Callable[[AnyMemory], Awaitable[_Result]],
    folder: Path,
    *,
    process: bool,
    repeatable: bool,
) -> _Result:
    import asyncio  # noqa: PLC0415 - heavy

    import eunoe  # noqa: PLC0415 - heavy

    from ..door import OwnerGone, connect  # noqa: PLC0415 - heavy
    from ..schemas.errors import FolderHeld  # noqa: PLC0415 - after the heavy ones

    clock = asyncio.get_running_loop().time
    give_up_at = clock() + HELD_S_MAX
    while True:
        begun = False
        try:
            # What decides nothing must not answer for others either: they may want to add.
            memory = await connect(folder) or eunoe.open(folder, serve=process, process=process)
            async with memory:
                begun = True
                return await work(memory)
        except (FolderHeld, OwnerGone):
            if (begun and not repeatable) or clock() > give_up_at:
                raise
        await asyncio.sleep(AGAIN_S)
