"""What is refused before anything is stored, and in which words."""

import pytest
from pydantic import ValidationError

from eunoe.cli.importer import _refused, _Taken
from eunoe.messages import is_field_like
from eunoe.parameters import ident_of, several
from eunoe.schemas.cloudevents import describe
from eunoe.schemas.errors import Rejected
from eunoe.schemas.events import Forget, Turn
from eunoe.schemas.sentences import QUOTED_CHARACTERS_MAX, is_quotable

SECRET = "the cellar door"  # noqa: S105 - words that no sentence may repeat


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("a", ["a"]),
        (("a",), ["a"]),
        (("来源", "编号"), [("来源", "编号")]),
        (("a", "b", "c"), ["a", "b", "c"]),
        ((("s", "a"),), [("s", "a")]),
        ((("s", "a"), ("s", "b")), [("s", "a"), ("s", "b")]),
        ([("s", "a"), "b"], [("s", "a"), "b"]),
        ([], []),
    ],
)
def test_ids_are_read_in_every_form(given: object, wanted: list[object]) -> None:
    """One id, one pair, and sequences of both are told apart; two texts in a tuple are a pair."""
    assert [ident_of(one) for one in several(given)] == wanted


@pytest.mark.parametrize("given", [None, 5, b"ab", {"a"}, {"a": 1}, iter("a"), object()])
def test_what_is_no_id_is_refused(given: object) -> None:
    """Anything else is refused with a sentence that lists the forms."""
    with pytest.raises(Rejected, match="pair"):
        several(given)


@pytest.mark.parametrize(
    ("ident", "taken"),
    [
        ("t1", True),
        ("编号一", True),
        ("x" * QUOTED_CHARACTERS_MAX, True),
        ("x" * (QUOTED_CHARACTERS_MAX + 1), False),
        ("字" * (QUOTED_CHARACTERS_MAX + 1), False),
        ("a\nb", False),
        ("\u202eabc", False),
        ("零\u200b宽", False),
        ("", False),
    ],
)
def test_only_short_visible_ids_are_quoted(ident: str, taken: bool) -> None:  # noqa: FBT001 - a table's column
    """A sentence repeats no line break, no mark of direction and no whole text."""
    assert is_quotable(ident) is taken


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("contents", True),
        ("Role", True),
        ("我住在波尔图", False),
        (SECRET, False),
        ("x" * 25, False),
    ],
)
def test_only_names_of_fields_are_quoted(name: str, taken: bool) -> None:  # noqa: FBT001 - a table's column
    """A misspelt field is named; a sentence in its place is not."""
    assert is_field_like(name) is taken


def test_an_unknown_key_on_the_wire_stays_out_of_the_reason() -> None:
    """The reason of a dead letter isn't sealed, so that it must not repeat a key."""
    with pytest.raises(ValidationError) as caught:
        Turn.model_validate({"role": "user", "content": "x", SECRET: 1, "我住在波尔图": 2})
    assert describe(caught.value) == "an unknown field: must be left out"


def test_a_thousand_faults_are_one_sentence() -> None:
    """Faults are told once each, and only the first few."""
    with pytest.raises(ValidationError) as caught:
        Forget.model_validate({"event_ids": [SECRET] * 1000})
    told = describe(caught.value)
    assert told.startswith("event_ids.0: must be a UUID; ")
    assert told.endswith(" more")
    assert told.count(";") == 5
    assert SECRET not in told


@pytest.mark.parametrize(
    ("contents", "count", "wanted"),
    [
        ("ab", 1, [2]),
        ("abb", 2, [2, 3]),
        ("aba", 1, [2]),
        ("abc", 2, [2, 3]),
        ("abb", 1, [1]),  # the memory knew b before the file
        ("ab", 2, [1, 2]),  # it knew another one
        ("a", 1, [1]),
    ],
)
def test_the_lines_that_were_refused_are_told(contents: str, count: int, wanted: list[int]) -> None:
    """From how many lines of one id were refused it follows which ones."""
    taken = [_Taken(number, content.encode()) for number, content in enumerate(contents, 1)]
    assert list(_refused(taken, count)) == wanted
