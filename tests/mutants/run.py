"""Break the code on purpose, one mutant at a time in a copy; each must make its named test fail.

Usage:
    python tests/mutants/run.py              every mutant of mutants.toml
    python tests/mutants/run.py NAME …       only these

A mutant stands in `mutants.toml` as one table:

    [[mutant]]
    name = "owner-key-unquoted"        unique; what the command line takes
    promise = "…"                      the sentence that the mutant breaks
    file = "schemas/events.py"         path from the root, never through a link in src/eunoe
    find = 'exact text'                must occur exactly once in the file
    replace = 'what stands there instead'
    test = "tests/…/test_x.py::test_y" pytest's node id of the test that must fail

The repository is copied to temporary folders, one for each core, links kept as links, and tests
import from the copy (PYTHONPATH goes before the editable installation; checked at the start). First
every named test must pass unmutated. A mutant is killed when its test fails; a test that can't be
collected, errors in a fixture, is skipped or passes doesn't kill. The last line is
`N passed, N failed`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
TABLE: Final = Path(__file__).with_name("mutants.toml")
LEFT_OUT: Final = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "build", "*.egg-info"
)
TEST_TIMEOUT_S: Final = 300.0
COPIES_MAX: Final = min(4, os.cpu_count() or 1)
"""Mutants at a time; a test may load the models, half a gigabyte."""


class TableError(Exception):
    """The table of mutants doesn't fit the code; the text says what to change."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One row of the table; the fields are those of the module's docstring."""

    name: str
    promise: str
    file: str
    find: str
    replace: str
    test: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of pytest came to: how many tests ran, failed, errored, were skipped."""

    ran: int
    failed: int
    errors: int
    skipped: int
    output: str


def read_table() -> list[Mutant]:
    """Read the table.

    Raises:
        TableError: A row doesn't fit the code as it is now.
    """
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]
    mutants = [Mutant(**row) for row in rows]
    names = [mutant.name for mutant in mutants]
    if len(names) != len(set(names)):
        message = "Two mutants have one name: rename one in mutants.toml."
        raise TableError(message)
    for mutant in mutants:
        count = (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.find)
        if count != 1:
            message = (
                f"{mutant.name}: its text occurs {count} times in {mutant.file}, not once: "
                "the code has changed, so update `find` in tests/mutants/mutants.toml."
            )
            raise TableError(message)
    return mutants


def environment(copy: Path) -> dict[str, str]:
    """Return an environment in which Python imports from the copy and leaves no bytecode."""
    return os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}


def check_imports(copy: Path) -> None:
    """Make sure that the copy is what gets imported.

    Raises:
        TableError: Python found the package elsewhere.
    """
    found = subprocess.run(
        [sys.executable, "-c", "import eunoe.schemas.events as m; print(m.__file__)"],
        cwd=copy,
        env=environment(copy),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    if not Path(found).is_relative_to(copy):
        message = f"Python imports {found}, not the copy in {copy}."
        raise TableError(message)


def run_tests(copy: Path, tests: list[str]) -> Outcome:
    """Run tests in the copy; a run over its time counts as an error."""
    report = copy / "mutants.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter; the tests stand in our table
            [*command, f"--junitxml={report}", *tests],
            cwd=copy,
            env=environment(copy),
            capture_output=True,
            text=True,
            check=False,
            timeout=TEST_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return Outcome(0, 0, 1, 0, f"over {TEST_TIMEOUT_S:.0f} s")
    output = done.stdout + done.stderr
    if not report.exists():
        return Outcome(0, 0, 1, 0, output)
    suites = ET.parse(report).getroot().iter("testsuite")  # noqa: S314 - pytest wrote it just now
    ran = failed = errors = skipped = 0
    for suite in suites:
        ran += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0))
        errors += int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    return Outcome(ran, failed, errors, skipped, output)


def verdict(outcome: Outcome) -> str:
    """Say in a word or two what became of a mutant; only "killed" is good."""
    if outcome.errors or not outcome.ran:
        return "no answer"
    if outcome.failed:
        return "killed"
    return "skipped" if outcome.skipped else "SURVIVED"


def kill(copy: Path, mutant: Mutant) -> bool:
    """Apply a mutant to the copy, run its test, undo it, print the row; true if killed."""
    file = copy / mutant.file
    source = file.read_text(encoding="utf-8")
    began = time.monotonic()
    file.write_text(source.replace(mutant.find, mutant.replace), encoding="utf-8")
    try:
        outcome = run_tests(copy, [mutant.test])
    finally:
        file.write_text(source, encoding="utf-8")
    word = verdict(outcome)
    seconds = time.monotonic() - began
    row = f"{word:<10} {mutant.name:<32} {seconds:5.1f} s  {mutant.promise}\n"
    if word != "killed":
        row += f"           by {mutant.test}\n{outcome.output[-3000:]}\n"
    print(row, end="", flush=True)  # at once, so that no other's comes between
    return word == "killed"


def choose(names: list[str]) -> list[Mutant]:
    """Return the named mutants, or all.

    Raises:
        TableError: As in `read_table`, or there is no mutant of that name.
    """
    mutants = read_table()
    if unknown := set(names) - {mutant.name for mutant in mutants}:
        message = f"No mutant is called {', '.join(sorted(unknown))}."
        raise TableError(message)
    return [mutant for mutant in mutants if not names or mutant.name in names]


def check_tests(copy: Path, tests: list[str]) -> None:
    """Make sure that tests run and pass before anything is broken.

    Raises:
        TableError: One doesn't.
    """
    sound = run_tests(copy, tests)
    if sound.failed or sound.errors or sound.skipped or not sound.ran:
        message = f"{sound.output[-6000:]}\nEach named test must pass before anything is broken."
        raise TableError(message)


def kill_all(copies: Sequence[Path], mutants: Sequence[Mutant]) -> int:
    """Check the named tests, then kill mutants, in each copy one at a time; returns how many died.

    Raises:
        TableError: A test doesn't pass unmutated.
    """
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def kill_in_one(mutant: Mutant) -> bool:
        copy = free.get()
        try:
            return kill(copy, mutant)
        finally:
            free.put(copy)

    tests = sorted({mutant.test for mutant in mutants})
    parts = [part for start in range(len(copies)) if (part := tests[start :: len(copies)])]
    with ThreadPoolExecutor(len(copies)) as pool:
        for _ in pool.map(check_tests, copies, parts):
            pass  # raises what one of them raised
        return sum(pool.map(kill_in_one, mutants))


def main(names: list[str]) -> int:
    """Run the mutants; returns the exit code."""
    try:
        mutants = choose(names)
        with tempfile.TemporaryDirectory(prefix="eunoe-mutants-") as folder:
            count = min(COPIES_MAX, len(mutants))
            copies = [Path(folder).resolve() / f"copy-{number}" for number in range(count)]
            for copy in copies:
                shutil.copytree(ROOT, copy, symlinks=True, ignore=LEFT_OUT)
                check_imports(copy)
            killed = kill_all(copies, mutants)
    except TableError as error:
        print(error)
        return 2
    print(f"{killed} passed, {len(mutants) - killed} failed")
    return 0 if killed == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
