"""The command line with cheap tools: `python -m tests.support.commanding …` is `eunoe …`.

Only the models are replaced; a store of the cheap encoder can be used as any other. With
EUNOE_FILE_BYTES no file can grow beyond so many bytes, as on a disk that is full.
"""

import os
import resource
from pathlib import Path

import eunoe
from eunoe.cli.commands import main
from eunoe.infra.settings import Settings
from tests.support.memories import cheap_tools

__all__ = ["open_cheap"]

_open = eunoe.open


def open_cheap(where: Path, *, serve: bool, process: bool) -> eunoe.Memory:
    """Open a folder as the command line does, with cheap tools."""
    return _open(Settings.from_env(where), serve=serve, process=process, tools=cheap_tools())


if __name__ == "__main__":
    if bound := os.environ.get("EUNOE_FILE_BYTES"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(bound), int(bound)))
    eunoe.open = open_cheap  # type: ignore[assignment]  # as the command line calls it
    main()
