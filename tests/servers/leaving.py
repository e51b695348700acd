"""A safe end for test processes that loaded tikv_client.

Its threads outlive the interpreter: about one process in seven crashes while Python finalises,
after all tests have passed. So such a process waits until they are idle, and leaves without
finalising when everything has been reported, with the exit code that pytest decided on.
"""

import atexit
import os
import sys
import time
from typing import Final

import pytest

__all__ = ["pytest_sessionstart"]

IDLE_S: Final = 0.2


def pytest_sessionstart(session: pytest.Session) -> None:
    """See to it that this process ends well, whatever its tests load."""
    # What registers later runs earlier, and so is done by then.
    atexit.register(_leave, session)


def _leave(session: pytest.Session) -> None:
    if "tikv_client" not in sys.modules:
        return
    time.sleep(IDLE_S)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(session.exitstatus))
