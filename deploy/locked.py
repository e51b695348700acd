"""Cut out of requirements.lock what some extras need, with its hashes, for a small image.

Usage: python deploy/locked.py pyproject.toml requirements.lock cluster > needed.lock

The lock holds all extras; uv's comments in it say who asked for a package (`# via`). Whoever is
asked for, directly or not, by the core or by one of the extras is kept. Standard library alone, so
that it runs before anything is installed.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Final

__all__ = ["needed", "part"]

NAME: Final = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


def part(project: str, lock: str, extras: list[str]) -> str:
    """Return the lock of the core and some extras.

    Args:
        project: Text of pyproject.toml.
        lock: Text of requirements.lock.
        extras: Their names.

    Raises:
        ValueError: There is no such extra, or the lock has no package that one asks for.
    """
    blocks = _blocks(lock)
    names = needed(project, lock, extras)
    return "".join(text for name, text, _ in blocks if name in names)


def needed(project: str, lock: str, extras: list[str]) -> set[str]:
    """Return the names of the packages that the core and some extras need.

    Raises:
        ValueError: There is no such extra, or the lock has no package that one asks for.
    """
    tables = tomllib.loads(project)["project"]
    optional = tables["optional-dependencies"]
    if unknown := set(extras) - set(optional):
        message = f"There is no extra {', '.join(sorted(unknown))}."
        raise ValueError(message)
    asked = [*tables["dependencies"], *(one for extra in extras for one in optional[extra])]
    found = {_name(one) for one in asked}
    blocks = _blocks(lock)
    if missing := found - {name for name, _, _ in blocks}:
        message = f"requirements.lock lacks {', '.join(sorted(missing))}: write it with make lock."
        raise ValueError(message)
    while True:
        more = {name for name, _, askers in blocks if askers & found} - found
        if not more:
            return found
        found |= more


def _blocks(lock: str) -> list[tuple[str, str, set[str]]]:
    """Return name, text and askers of each entry; a name has two where Pythons differ."""
    blocks = []
    for text in re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE)[1:]:
        askers = re.findall(r"^    #(?: via|  ) +([A-Za-z0-9._-]+)", text, flags=re.MULTILINE)
        blocks.append((_name(text), text, {_canonical(one) for one in askers} - {"eunoe"}))
    return blocks


def _name(requirement: str) -> str:
    found = NAME.match(requirement)
    if found is None:
        message = f"{requirement!r} names no package."
        raise ValueError(message)
    return _canonical(found[1])


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    project, lock = (Path(one).read_text(encoding="utf-8") for one in sys.argv[1:3])
    sys.stdout.write(part(project, lock, sys.argv[3:]))
