"""Measure coverage in each process of a test run: `pytest -p tests.ci.measuring`.

The workers of pytest-xdist aren't reached by `coverage run`. Each process leaves a file of its own,
and `coverage combine` adds them up. What tests start themselves isn't measured: see pyproject.toml.
"""

from typing import Final

from coverage import Coverage

__all__ = ["pytest_unconfigure"]

MEASURED: Final = Coverage(data_suffix=True)
MEASURED.set_option("run:disable_warnings", ["no-data-collected"])  # who hands out tests runs none
MEASURED.start()  # as early as it can be: definitions are lines that are reached, too


def pytest_unconfigure() -> None:
    """Write what was reached."""
    MEASURED.stop()
    MEASURED.save()
