"""A CI run counts only if every module of tests passed something and nothing was skipped."""

from pathlib import Path
from typing import Final

import pytest

from tests.ci.summary import main, suites

SKIP: Final = '<skipped type="pytest.skip" message="no server"/>'


def report(place: Path, modules: list[str], *, inner: str = "") -> str:
    """Write what pytest reports of a test in each module; returns the file."""
    cases = "".join(
        f'<testcase classname="{one}" name="test">{inner}</testcase>' for one in modules
    )
    place.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>", encoding="utf-8")
    return str(place)


def test_all_modules_are_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Reports together hold every module; the last line counts what passed."""
    names = suites()
    halves = [report(tmp_path / f"{number}.xml", names[number::2]) for number in range(2)]
    assert main(halves) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(names)} passed, 0 failed"


@pytest.mark.parametrize("name", [__name__, "tests.integration.test_cluster"])
def test_a_module_that_was_left_out_is_noticed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether it needs servers or not; one whose tests were all skipped is left out too."""
    others = [one for one in suites() if one != name]
    assert len(others) == len(suites()) - 1
    assert main([report(tmp_path / "others.xml", others)]) == 1
    assert f"no test of {name} passed" in capsys.readouterr().out
    skipped = report(tmp_path / "skipped.xml", [name], inner=SKIP)
    assert main([report(tmp_path / "others.xml", others), skipped]) == 1
    assert "skipped, which nobody expected" in capsys.readouterr().out


def test_nothing_at_all_is_no_success(tmp_path: Path) -> None:
    """A report without tests is a failure."""
    assert main([report(tmp_path / "empty.xml", [])]) == 1
