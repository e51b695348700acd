"""What a search may be bounded by: what is taken, and what is refused with a sentence."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from types import MappingProxyType
from typing import Any, Final

import pytest

from eunoe.parameters import FILTERS, filters_of, moment_of
from eunoe.schemas.errors import Rejected
from eunoe.schemas.limits import ID_CHARACTERS_MAX
from eunoe.streams.asking import ANYTHING, Filters

NOON: Final = datetime(2024, 6, 15, 12, tzinfo=UTC)
SECRET: Final = "the cellar door, 地窖的门"  # noqa: S105 - words that no sentence may repeat


def sentence(call: Callable[[], object]) -> str:
    """Return the sentence with which a value is refused: one line that repeats nothing."""
    with pytest.raises(Rejected) as caught:
        call()
    told = str(caught.value)
    assert told[0].isalpha()
    assert told.endswith(".")
    assert "\n" not in told
    assert SECRET not in told
    assert len(told) < 200
    return told


# --- moments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        NOON,
        "2024-06-15T12:00:00+00:00",
        "2024-06-15T20:00:00+08:00",
        "2024-06-15T12:00Z",
        NOON.astimezone(timezone(timedelta(hours=-5))),
    ],
)
def test_a_moment_is_taken_in_every_form(given: object) -> None:
    """A datetime or its text, in any zone, is the instant that it names."""
    assert moment_of("now", given) == NOON


def test_no_moment_is_none() -> None:
    """What wasn't given stays nothing."""
    assert moment_of("as_of", None) is None


@pytest.mark.parametrize(
    "given",
    [
        datetime(2024, 6, 15, 12),  # noqa: DTZ001 - without a zone, which is refused
        "2024-06-15T12:00:00",
        "2024-06-15",
        date(2024, 6, 15),
        time(12, tzinfo=UTC),
        "",
        "yesterday",
        "昨天",
        "2024-13-01T00:00:00Z",
        "2024-06-15T12:00:00+99:00",
        "\ud800",
        "0" * 100_000,
        1_718_452_800,
        1.5,
        float("nan"),
        True,
        b"2024-06-15T12:00:00Z",
        [],
        object(),
        SECRET,
    ],
)
def test_what_is_no_moment_is_refused(given: object) -> None:
    """Anything without an offset, and anything else, is refused with an example."""
    told = sentence(lambda: moment_of("as_of", given))
    assert told.startswith("as_of must be a time with an offset, such as 2024")


# --- filters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, {}, MappingProxyType({}), {"metadata": {}}])
def test_no_filter_bounds_nothing(given: object) -> None:
    """What wasn't given, and what is empty, bounds nothing."""
    assert filters_of(given) == ANYTHING


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"session_id": "第一次"}, Filters(session_id="第一次")),
        ({"session_id": "s1"}, Filters(session_id="s1")),
        ({"role": "assistant"}, Filters(role="assistant")),
        ({"role": None}, ANYTHING),
        ({"name": "王芳"}, Filters(name="王芳")),
        ({"name": "Ana"}, Filters(name="Ana")),
        ({"source": "mail"}, Filters(source="mail")),
        ({"since": NOON}, Filters(said=(NOON.timestamp(), None))),
        ({"until": "2024-06-15T20:00:00+08:00"}, Filters(said=(None, NOON.timestamp()))),
        ({"since": NOON, "until": NOON}, Filters(said=(NOON.timestamp(), NOON.timestamp()))),
        ({"since": None, "until": None}, ANYTHING),
        ({"metadata": {"城市": "里斯本", "n": 1, "x": 0.5, "ok": True}},
         Filters(metadata={"城市": "里斯本", "n": 1, "x": 0.5, "ok": True})),
        ({"verified": True}, Filters(verified=True)),
        ({"verified": False}, ANYTHING),
    ],
)  # fmt: skip
def test_each_filter_is_taken(given: Mapping[str, Any], wanted: Filters) -> None:
    """Each filter alone is what it says, as a dict or any other mapping."""
    assert filters_of(given) == wanted
    assert filters_of(MappingProxyType(dict(given))) == wanted


def test_filters_go_together() -> None:
    """All filters at once are all of them."""
    given = {
        "session_id": "s1",
        "role": "user",
        "name": "Ana",
        "source": "mail",
        "since": NOON,
        "until": NOON + timedelta(days=1),
        "metadata": {"n": 1},
        "verified": True,
    }
    assert set(given) == set(FILTERS)
    said = (NOON.timestamp(), NOON.timestamp() + 86_400)
    expected = Filters("s1", "user", "Ana", "mail", {"n": 1}, said, verified=True)
    assert filters_of(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        [],
        "role",
        5,
        True,
        object(),
        {"roles": "user"},
        {SECRET: "user"},
        {"role": "user", 5: 1},
        {None: "user"},
        {("role",): "user"},
        [("role", "user")],
    ],
)
def test_what_is_no_mapping_of_filters_is_refused(given: object) -> None:
    """Anything but a mapping, and any other key, is refused with the list of filters."""
    told = sentence(lambda: filters_of(given))
    assert told == f"filters must be a mapping with some of: {', '.join(FILTERS)}."


@pytest.mark.parametrize("name", ["session_id", "name", "source"])
@pytest.mark.parametrize(
    "given",
    [
        "",
        None,
        5,
        True,
        b"a",
        [],
        ["a"],
        {"a": 1},
        "\ud800",
        "x" * (ID_CHARACTERS_MAX + 1),
        object(),
    ],
)
def test_what_is_no_name_is_refused(name: str, given: object) -> None:
    """A session, a speaker or a source is a text of some length, and the sentence names which."""
    assert sentence(lambda: filters_of({name: given})).startswith(f"{name} must be a text of 1 to ")


@pytest.mark.parametrize(
    "given", ["", "User", "用户", "human", 5, True, [], {}, ["user"], object()]
)
def test_what_is_no_role_is_refused(given: object) -> None:
    """A role is one of four."""
    told = sentence(lambda: filters_of({"role": given}))
    assert told == "The filter role must be one of: user, assistant, tool, system."


@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("given", ["2024-06-15", "昨天", 0, False, datetime(2024, 6, 15), SECRET])  # noqa: DTZ001 - without a zone
def test_what_is_no_bound_in_time_is_refused(name: str, given: object) -> None:
    """Bounds in time need an offset, and the sentence names which one lacks it."""
    assert sentence(lambda: filters_of({name: given})).startswith(f"{name} must be a time")


@pytest.mark.parametrize("given", [None, 0, 1, "yes", "True", "是", [], object()])
def test_verified_is_a_truth_value(given: object) -> None:
    """Nothing but True and False is taken."""
    told = sentence(lambda: filters_of({"verified": given}))
    assert told == "The filter verified must be True or False."


@pytest.mark.parametrize(
    "given",
    [
        [],
        "n",
        5,
        {1: "a"},
        {None: 1},
        {"n": None},
        {"n": [1]},
        {"n": {}},
        {"n": b"a"},
        {"n": NOON},
        {"a": 1, SECRET: object()},
    ],
)
def test_what_is_no_metadata_is_refused(given: object) -> None:
    """Metadata to filter by maps texts to scalars."""
    told = sentence(lambda: filters_of({"metadata": given}))
    assert told == "The filter metadata must map names to texts, numbers or truth values."


def test_what_is_given_may_change_afterwards() -> None:
    """Filters are those of the call: a mapping that its caller changes later changes none."""
    metadata = {"n": 1}
    filters = filters_of({"metadata": metadata})
    metadata["n"] = 2
    assert filters.metadata == {"n": 1}
