"""Say by folder how much of the code the tests reached, from coverage's JSON report.

Usage: coverage json -o - | python tests/ci/coverage_folders.py
"""

import json
import sys
from collections import Counter
from typing import Any, Final

FOLDERS: Final = ("schemas", "streams", "infra", "agents", "src/eunoe")
PARTS: Final = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def by_folder(report: dict[str, Any]) -> dict[str, Counter[str]]:
    """Add the files' counts up by folder; a file outside of all is an error."""
    sums = {folder: Counter[str]() for folder in FOLDERS}
    for path, file in report["files"].items():
        (folder,) = [one for one in FOLDERS if path.startswith(f"{one}/")]
        sums[folder].update({part: file["summary"][part] for part in PARTS})
    return sums


def share(count: Counter[str]) -> float:
    """Return the percentage of lines and branches that were reached, as coverage computes it."""
    everything = count["num_statements"] + count["num_branches"]
    reached = count["covered_lines"] + count["covered_branches"]
    return 100.0 * reached / everything if everything else 100.0


def main() -> None:
    """Print a row for each folder, and one for all."""
    sums = by_folder(json.load(sys.stdin))
    sums["everything"] = sum(sums.values(), Counter[str]())
    print(f"{'folder':<12} {'lines':>7} {'missed':>7} {'branches':>9} {'missed':>7} {'reached':>9}")
    for folder, count in sums.items():
        lines, covered_lines, branches, covered_branches = (count[part] for part in PARTS)
        missed, unseen = lines - covered_lines, branches - covered_branches
        print(
            f"{folder:<12} {lines:>7} {missed:>7} {branches:>9} {unseen:>7} {share(count):>8.1f}%"
        )


if __name__ == "__main__":
    main()
