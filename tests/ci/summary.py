"""Close a CI run: refuse skips that nobody expected, and suites that are missing.

The last line is `N passed, N failed`. Every module of tests has to be there with a test that
passed.

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
    seen: set[str] = set()
    for report in reports:
        for case in ET.parse(Path(report)).getroot().iter("testcase"):  # noqa: S314 - pytest wrote it just now
            name = f"{case.get('classname')}::{case.get('name')}"
            skip = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                print(f"failed: {name}")
            elif skip is None:
                passed += 1
                seen.add(str(case.get("classname")))
            elif skip.get("type") != "pytest.xfail" and name not in EXPECTED_SKIPS:
                unexpected += 1
                print(f"skipped, which nobody expected: {name}: {skip.get('message')}")
    missing = [
        name for name in suites() if not any(f"{one}.".startswith(f"{name}.") for one in seen)
    ]
    for name in missing:
        print(f"no test of {name} passed: was it run, and are the servers built?")
    wrong = failed + unexpected + len(missing)
    print(f"{passed} passed, {wrong} failed")
    return 0 if passed and not wrong else 1


def suites() -> list[str]:
    """Return the modules of tests, as a report names them."""
    root = Path(__file__).resolve().parents[2]
    paths = sorted((root / "tests").rglob("test_*.py"))
    return [".".join(path.relative_to(root).with_suffix("").parts) for path in paths]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
