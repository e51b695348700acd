"""Versions of exact values: ranks in the order of truth."""

import hashlib
from datetime import timedelta
from uuid import UUID

import orjson
import pytest

from eunoe.schemas.ports import OwnerKeys, StatementRow, WrappedKey
from eunoe.schemas.records import Box
from eunoe.streams.identity import matter_hash, normalise, slot_hash, state, versions
from tests.support.records import ANA, box, ident
from tests.support.tools import START


class OpenKeys:
    """`OwnerKeys` whose boxes lie open."""

    owner = ANA

    def hash(self, kind: str, text: str) -> bytes:
        """Hash without a key."""
        return hashlib.sha256(f"{kind}\0{text}".encode()).digest()[:16]

    def term(self, term: str) -> int:
        """Hash without a key."""
        return int.from_bytes(self.hash("term", term)[:4], "big")

    def seal(self, plain: bytes, record: UUID) -> tuple[Box, WrappedKey]:
        """Put the text into the box as it is."""
        return Box(key_id=record, sealed=plain), WrappedKey(record, self.owner, b"")


KEYS: OwnerKeys = OpenKeys()


def rows(*said: tuple[str, str, int]) -> list[StatementRow]:
    """Return rows of one matter from (event, value, minute), in the order of truth."""
    made = [
        StatementRow(
            kind="slot",
            slot=b"s",
            matter=b"m",
            value=value.encode(),
            box=box(event),
            event_id=ident(event),
            said_at=START + timedelta(minutes=minute),
            recorded_at=START,
            journal_offset=offset,
        )
        for offset, (event, value, minute) in enumerate(said)
    ]
    return sorted(made, key=lambda row: (row.said_at, row.journal_offset))


def values(*said: tuple[str, str, int]) -> list[tuple[int, bytes, bool]]:
    """Return (number, value, whether current) of the versions."""
    return [(one.number, one.rows[0].value, one.current) for one in versions(rows(*said))]


def test_an_equal_value_touches() -> None:
    """Said again, a value stays one version, with both sources, the newest first."""
    (version,) = versions(rows(("t1", "a", 0), ("t2", "a", 5)))
    assert (version.number, version.current) == (1, True)
    assert version.sources == (ident("t2"), ident("t1"))
    assert version.said_at == START + timedelta(minutes=5)


def test_another_value_is_a_version() -> None:
    """Each change is a version; only the last is current; a return is a version again."""
    assert values(("t1", "a", 0), ("t2", "b", 1), ("t3", "a", 2)) == [
        (1, b"a", False),
        (2, b"b", False),
        (3, b"a", True),
    ]


def test_a_late_statement_falls_into_place() -> None:
    """A statement that arrives last and was said earlier changes no current value."""
    assert values(("t1", "a", 0), ("t2", "b", 10), ("t3", "c", 5)) == [
        (1, b"a", False),
        (2, b"c", False),
        (3, b"b", True),
    ]


def test_at_one_moment_the_journal_decides() -> None:
    """Of two values said at one moment the one that was journaled later holds."""
    assert values(("t1", "a", 0), ("t2", "b", 0))[-1] == (2, b"b", True)


def test_a_turn_is_one_source_of_a_version() -> None:
    """A turn that states a value twice stands among its sources once."""
    (version,) = versions(rows(("t1", "a", 0), ("t1", "a", 0)))
    assert version.sources == (ident("t1"),)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ((None, "home", None), (None, " HOME ", None), True),
        (("Ana", "home", None), ("ana", "home", None), True),
        ((None, "home", None), ("Ana", "home", None), False),
        ((None, "home", None), (None, "home", "at work"), False),
        ((None, "家", None), (None, "家", None), True),
        ((None, "家", None), (None, "公司", None), False),
        (("a", "b", None), (None, "a", "b"), False),
    ],
)
def test_a_matter_is_subject_slot_and_condition(
    one: tuple[str | None, str, str | None],
    other: tuple[str | None, str, str | None],
    equal: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """Values compete only where subject, slot and condition are the same, case aside."""
    assert (matter_hash(KEYS, *one, "x") == matter_hash(KEYS, *other, "y")) is equal


@pytest.mark.parametrize(("slot", "is_one"), [("home", True), ("allergy", False), ("pet", False)])
def test_a_slot_of_several_values_has_a_matter_for_each(slot: str, is_one: bool) -> None:  # noqa: FBT001 - a column
    """A second home replaces the first; a second allergy stands beside it."""
    one, other = (matter_hash(KEYS, None, slot, None, value) for value in ("花生", "shellfish"))
    assert (one == other) is is_one
    assert one == matter_hash(KEYS, None, slot, None, " 花生 ")


def test_a_statement_seals_what_was_said() -> None:
    """The box holds the value exactly; outside it stand only hashes."""
    statement, key = state(
        KEYS, ident("t1"), kind="slot", slot="Home", value="New  York", subject="Ana", text="all"
    )
    assert orjson.loads(statement.box.sealed) == {
        "subject": "Ana",
        "slot": "Home",
        "value": "New  York",
        "condition": None,
        "text": "all",
    }
    assert statement.slot == slot_hash(KEYS, "home")
    assert statement.value == KEYS.hash("value", normalise("new york"))
    assert key.key_id == statement.box.key_id
