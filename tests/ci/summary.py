"""Close a CI run: refuse skips that nobody expected, then print `N passed, N failed`.

Usage: python tests/ci/summary.py REPORT.xml …   (what pytest --junitxml wrote)
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Final

EXPECTED_SKIPS: Final[dict[str, str]] = {}
"""`classname::name` as in the report, and why that test may be skipped in CI."""


def main(reports: list[str]) -> int:
    """Count; returns the exit code."""
    passed = failed = unexpected = 0
    for report in reports:
        for case in ET.parse(Path(report)).getroot().iter("testcase"):  # noqa: S314 - pytest wrote it just now
            name = f"{case.get('classname')}::{case.get('name')}"
            skip = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                print(f"failed: {name}")
            elif skip is None:
                passed += 1
            elif skip.get("type") != "pytest.xfail" and name not in EXPECTED_SKIPS:
                unexpected += 1
                print(f"skipped, which nobody expected: {name}: {skip.get('message')}")
    print(f"{passed} passed, {failed + unexpected} failed")
    return 0 if passed and not failed and not unexpected else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
