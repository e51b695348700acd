"""What a search is bounded by: labels of turns, and which turns the filters mean."""

from itertools import count
from typing import Any, Final, cast

import pytest

from eunoe.infra.terms import Terms
from eunoe.schemas.errors import Rejected
from eunoe.schemas.limits import LABELS_MAX
from eunoe.schemas.ports import OwnerKeys, TurnFilter
from eunoe.streams.asking import (
    ANYTHING,
    Filters,
    labels,
    project_hash,
    related_terms,
    turn_filters,
)
from tests.support.fakes import OpenOwnerKeys
from tests.support.records import ANA, BEN

KEYS: Final = cast("OwnerKeys", OpenOwnerKeys(ANA, count()))
BENS: Final = cast("OwnerKeys", OpenOwnerKeys(BEN, count()))
TERMS: Final = Terms()


def meant(**fields: Any) -> TurnFilter | None:
    """Return which turns filters mean."""
    return turn_filters(KEYS, TERMS, Filters(**fields))


def wanted(**fields: Any) -> TurnFilter:
    """Return the same, where some are meant."""
    found = meant(**fields)
    assert found is not None
    return found


# --- labels ------------------------------------------------------------------------------------


def test_a_turn_has_a_label_for_its_source_and_each_scalar() -> None:
    """Texts, numbers and truth values are labels; lists, objects and null are none."""
    metadata = {
        "city": "里斯本",
        "n": 3,
        "share": 0.5,
        "done": True,
        "list": [1],
        "o": {},
        "no": None,
    }
    assert len(labels(KEYS, "chat", metadata)) == 5
    assert len(labels(KEYS, "chat", None)) == len(labels(KEYS, "chat", {})) == 1
    assert labels(KEYS, "chat", {"list": ["a"], "no": None}) == labels(KEYS, "chat", None)


def test_labels_are_keyed_short_and_distinct() -> None:
    """Labels are hashes under the owner's keys, and tell neither name nor value."""
    metadata = {"city": "Porto", "state": "Porto"}
    made = labels(KEYS, "Porto", metadata)
    assert len(set(made)) == len(made) == 3
    assert {len(one) for one in made} == {8}
    assert not set(made) & set(labels(BENS, "Porto", metadata))
    assert all(b"Porto" not in one for one in made)


def test_what_is_written_differently_is_another_label() -> None:
    """Truth isn't 1, "1" isn't 1, a name isn't a value, and a source is no field."""
    values: list[dict[str, Any]] = [
        {"n": 1},
        {"n": "1"},
        {"n": True},
        {"n": "true"},
        {"1": "n"},
        {"source": "chat"},
        {'n",1': ""},
        {"N": 1},
    ]
    made = [labels(KEYS, "chat", one)[1:] for one in values]
    assert len(set(made)) == len(values)
    assert labels(KEYS, "source", None) != labels(KEYS, "chat", {"source": "source"})[1:]


def test_labels_are_bounded() -> None:
    """Of much metadata the source and the first fields are labels, as many as the bound allows."""
    metadata = {f"field {number}": number for number in range(LABELS_MAX + 50)}
    made = labels(KEYS, "chat", metadata)
    assert len(made) == LABELS_MAX
    first = dict(list(metadata.items())[: LABELS_MAX - 1])
    assert labels(KEYS, "chat", first) == made
    lists: dict[str, object] = {f"list {number}": [] for number in range(LABELS_MAX)}
    assert labels(KEYS, "chat", lists | {"n": 1}) == labels(KEYS, "chat", {"n": 1})


# --- filters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("filters", [ANYTHING, Filters(said=(1.0, 2.0)), Filters(verified=True)])
def test_what_bounds_no_turn_is_none(filters: Filters) -> None:
    """Times and what is vouched for are asked of the points, so no turn is bounded."""
    assert turn_filters(KEYS, TERMS, filters) is None


def test_filters_mean_what_turns_are_stored_with() -> None:
    """The labels of a filter are those of a turn with the same source and metadata."""
    metadata = {"city": "里斯本", "n": 3, "share": 0.5, "done": False}
    assert set(wanted(source="mail", metadata=metadata).labels) == set(
        labels(KEYS, "mail", metadata)
    )
    assert set(wanted(metadata={"n": 3}).labels) < set(labels(KEYS, "mail", metadata))
    assert wanted(source="mail").labels == labels(KEYS, "mail", None)
    assert not set(wanted(metadata={"n": 4}).labels) & set(labels(KEYS, "mail", metadata))


@pytest.mark.parametrize("name", ["Ana Silva", "王芳", "The", "我"])
def test_a_name_is_looked_up_as_it_is_stored(name: str) -> None:
    """A speaker is found by the keyed terms of the name; case and marks make no difference."""
    expected = tuple(KEYS.term(term) for term in TERMS.query(name))
    assert expected
    assert wanted(name=name) == TurnFilter(speaker=expected)
    assert wanted(name=f"  {name.upper()}!") == wanted(name=name)


@pytest.mark.parametrize("name", ["🙂", "...", "?", "\u200b"])
def test_a_name_without_a_word_means_no_turn(name: str) -> None:
    """Such a name must not mean everybody: it asks for what stands at no turn."""
    found = wanted(name=name)
    assert found.speaker == ()
    assert len(found.labels) == 1
    assert not set(found.labels) & set(labels(KEYS, "nobody", {"nobody": "nobody"}))


def test_a_session_belongs_to_a_source() -> None:
    """One session id of two sources is two sessions; without a source the chat is meant."""
    plain = wanted(session_id="s1")
    assert plain.session == wanted(session_id="s1", source="chat").session
    assert plain.session != wanted(session_id="s1", source="mail").session
    assert plain.session != wanted(session_id="s2").session
    assert plain.labels == ()
    other = turn_filters(BENS, TERMS, Filters(session_id="s1"))
    assert other is not None
    assert other.session != plain.session


def test_filters_go_together() -> None:
    """Every field bounds, beside the others."""
    found = wanted(session_id="s1", role="user", name="Ana", source="mail", metadata={"n": 1})
    assert found.role == "user"
    assert found.session == wanted(session_id="s1", source="mail").session
    assert found.speaker == wanted(name="Ana").speaker
    assert found.labels == wanted(source="mail", metadata={"n": 1}).labels


@pytest.mark.parametrize(
    "metadata",
    [
        {"n": 2**64},
        {"n": -(2**63) - 1},
        {"n": float("nan")},
        {"n": float("inf")},
        {"n": "\ud800"},
        {"\udfff": 1},
        {"n": "字" * 30_000},
    ],
)
def test_metadata_that_no_turn_can_have_is_refused(metadata: dict[str, Any]) -> None:
    """What no message may bring is refused with a sentence, as at the message."""
    with pytest.raises(Rejected, match=r"^The filter metadata can't be used: metadata must .*\.$"):
        meant(metadata=metadata)


def test_a_project_has_a_hash_of_its_own() -> None:
    """Projects are told apart by keyed hashes, another owner's project of that name as well."""
    assert project_hash(KEYS, "花园") == project_hash(KEYS, "花园")
    assert len({project_hash(KEYS, "花园"), project_hash(KEYS, "a"), project_hash(BENS, "a")}) == 3


# --- related terms -----------------------------------------------------------------------------


def beside(question: str, *called: str) -> set[int]:
    """Return what is asked for beside a question's own terms."""
    return {term for term, _ in related_terms(KEYS, TERMS, TERMS.query(question), called)}


def hashed(word: str) -> int:
    """Return the hash of a word's term."""
    (term,) = TERMS.query(word)
    return KEYS.term(term)


def test_what_means_the_same_is_asked_for_beside() -> None:
    """The other words count less than the question's own, and none of those comes again."""
    found = dict(related_terms(KEYS, TERMS, TERMS.query("dinner or lunch?"), ()))
    assert hashed("meal") in found
    assert found.keys().isdisjoint({hashed("dinner"), hashed("lunch")})
    assert all(0.0 < weight < 1.0 for weight in found.values())


def test_nothing_is_asked_for_beside_a_name_or_chinese() -> None:
    """A name means whom it names; Chinese words share characters with their like."""
    assert hashed("price") in beside("cost")
    assert not beside("Cost", "Cost")
    assert not beside("晚饭吃了什么")
