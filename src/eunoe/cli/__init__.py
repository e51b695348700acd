"""The command line: `eunoe COMMAND`.

Each command asks the process that owns the data folder, or opens the folder itself. What is
heavy to import is imported inside the commands, so that `eunoe --help` answers at once.
"""

from .commands import commands, main

__all__ = ["commands", "main"]
