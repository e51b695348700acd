"""Settings that all tests share."""

import os

from hypothesis import settings

from tests.support.places import memory_folder

pytest_plugins = [
    "tests.servers.fixtures",
    "tests.servers.leaving",
    "tests.servers.qdrant_fixtures",
]

# A first call loads models and compiles; how long an example takes says nothing here. Under CI
# Hypothesis takes its own profile (the same examples each time), which this one inherits.
settings.register_profile("eunoe", parent=settings.default, deadline=None, print_blob=True)
settings.load_profile("eunoe")

# pytest's folders lie in memory: processes are killed in tests, but no power is lost, so that
# nothing has to wait for a disk. The contracts of back-ends are tested on the disk.
if (_memory := memory_folder()) is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _memory)
