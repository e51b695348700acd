"""Hold figures against their lower bounds.

Usage: SCRIPT | python tests/ci/figures.py NAME=BOUND …

Reads lines of the form `NAME VALUE` (a name may hold blanks; other lines pass through), prints
them, and exits 1 if a named figure is missing or under its bound.
"""

import sys


def figures(lines: list[str]) -> dict[str, float]:
    """Read the figures; a later line of a name replaces an earlier one."""
    read: dict[str, float] = {}
    for line in lines:
        name, _, value = line.rstrip().rpartition(" ")
        try:
            read[name.strip()] = float(value)
        except ValueError:
            continue
    return read


def main(bounds: list[str]) -> int:
    """Compare; returns the exit code."""
    lines = sys.stdin.readlines()
    sys.stdout.writelines(lines)
    read = figures(lines)
    code = 0
    for bound in bounds:
        name, _, least = bound.rpartition("=")
        if read.get(name, float("-inf")) < float(least):
            print(f"{name} is {read.get(name, 'missing')}, at least {least} is wanted.")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
