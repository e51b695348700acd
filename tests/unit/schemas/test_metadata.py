"""The bounds of metadata: what both doors ask of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.schemas.limits import METADATA_BYTES_MAX, METADATA_DEPTH_MAX
from eunoe.schemas.metadata import metadata_fault

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
trees = st.dictionaries(
    texts,
    st.recursive(leaves, lambda one: st.lists(one, max_size=3) | st.dictionaries(texts, one)),
    max_size=3,
)


def nested(levels: int) -> dict[str, Any]:
    """Return so many objects within each other."""
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"层": value}
    return value


@given(trees)
def test_plain_json_is_taken(metadata: dict[str, Any]) -> None:
    """Whatever JSON can say within the bounds has no fault."""
    assert metadata_fault(metadata) is None


@pytest.mark.parametrize(("levels", "taken"), [(METADATA_DEPTH_MAX, True), (17, False)])
def test_the_levels_are_counted(levels: int, taken: bool) -> None:  # noqa: FBT001 - a table's column
    """The deepest allowed is taken and one level more is not, however little it holds."""
    assert (metadata_fault(nested(levels)) is None) is taken


@pytest.mark.parametrize("unit", ["x", "字"])
def test_the_bytes_are_counted(unit: str) -> None:
    """The size is that of the JSON in UTF-8: to the byte."""
    room = METADATA_BYTES_MAX - len('{"a": ""}')
    filled = unit * (room // len(unit.encode()))
    assert metadata_fault({"a": filled}) is None
    fault = metadata_fault({"a": filled + unit})
    assert fault is not None
    assert str(METADATA_BYTES_MAX) in fault


def test_what_doubles_at_each_level_ends_early() -> None:
    """Values that hold the same list many times are refused without being walked whole."""
    wide: list[Any] = []
    for _ in range(METADATA_DEPTH_MAX - 1):
        wide = [wide] * 50
    assert metadata_fault({"a": wide}) is not None


def test_a_loop_is_refused() -> None:
    """What holds itself is no JSON."""
    loop: dict[str, Any] = {}
    loop["环"] = loop
    assert metadata_fault(loop) is not None
