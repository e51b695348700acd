"""Keys and values of the identity store on TiKV: whatever they hold, none is another's."""

from datetime import datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.infra.tikv_keys import OwnerKeys, Space, number_in, text, texts_in
from eunoe.infra.tikv_rows import (
    Children,
    EventRow,
    Half,
    Marker,
    PointRow,
    pack_partition,
    pack_statement,
    row_in,
    statement_in,
    unpack_partition,
)
from eunoe.schemas.errors import Rejected
from eunoe.schemas.records import Box

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
texts = st.binary(max_size=6) | st.sampled_from(
    [b"", b"\x00", b"\x00\x01", b"\xff", b"a\x00", b"a"]
)
offsets = st.integers(-(2**62), 2**62)
ids = st.binary(min_size=16, max_size=16)


def keys_of(owner: str, namespace: str = "eunoe") -> OwnerKeys:
    """Return an owner's keys."""
    return Space(namespace).owner(owner)


def every_key(keys: OwnerKeys, value: bytes, offset: int) -> list[bytes]:
    """Return a key of each table of an owner."""
    return [
        keys.marker,
        keys.labelled(value),
        keys.place(value, offset),
        keys.by_producer(value, offset),
        keys.session(value),
        keys.statement(value, value, offset, offset, 0),
        keys.turn(offset),
        keys.newest_turn(offset),
        keys.candidate(offset),
    ]


@given(names, names, texts, offsets)
def test_no_owner_is_within_another(one: str, other: str, value: bytes, offset: int) -> None:
    """No key of an owner lies where another's are looked for, whatever their names hold."""
    keys = keys_of(other)
    for key in every_key(keys_of(one), value, offset):
        assert key.startswith((keys.prefix, keys.marker)) == (one == other)


@given(texts, offsets)
def test_no_installation_is_within_another(value: bytes, offset: int) -> None:
    """Keys of two namespaces stay apart, also where one's name begins the other's."""
    for key in every_key(keys_of("default/ana", "eunoe"), value, offset):
        assert key.startswith(b"eunoe/")
        assert not key.startswith((b"eunoe-2/", b"eunoe2/", b"euno/"))
    for namespace in ("eunoe-2", "eunoe2", "euno"):
        for key in every_key(keys_of("default/ana", namespace), value, offset):
            assert not key.startswith(b"eunoe/")


@given(texts, texts, offsets, offsets)
def test_tables_are_apart(one: bytes, other: bytes, first: int, second: int) -> None:
    """Keys of two tables of an owner are never equal."""
    keys = keys_of("default/ana")
    assert len({*every_key(keys, one, first)} | {*every_key(keys, other, second)[:1]}) == 9
    mixed = zip(every_key(keys, one, first), every_key(keys, other, second), strict=True)
    assert len({key[: len(keys.prefix) + 1] for key, _ in mixed}) == 9


@given(texts, texts)
def test_a_text_begins_no_other(one: bytes, other: bytes) -> None:
    """No text's key begins with another's, their order is kept, and they are read back."""
    assert text(one).startswith(text(other)) == (one == other)
    assert (text(one) < text(other)) == (one < other)
    assert texts_in(text(one) + text(other) + b"\x00", 2) == [one, other]


@given(offsets, offsets)
def test_numbers_keep_their_order(one: int, other: int) -> None:
    """Keys are in the order of their numbers; the newest turns come the other way round."""
    keys = keys_of("default/ana")
    assert (keys.turn(one) < keys.turn(other)) == (one < other)
    assert (keys.newest_turn(one) < keys.newest_turn(other)) == (one > other)
    assert number_in(keys.place(b"s", one)) == one


@given(st.tuples(texts, texts, offsets, offsets), st.tuples(texts, texts, offsets, offsets))
def test_statements_are_in_the_order_of_truth(
    one: tuple[bytes, bytes, int, int], other: tuple[bytes, bytes, int, int]
) -> None:
    """By slot and matter, then by when it was said, then by journal offset."""
    keys = keys_of("default/ana")
    assert (keys.statement(*one, 0) < keys.statement(*other, 0)) == (one < other)
    assert keys.statement(*one, 0) < keys.statement(*one, 1)


def test_what_is_too_long_is_rejected() -> None:
    """A number of more than 64 bits, or a key that TiKV doesn't take, is `Rejected` by name."""
    keys = keys_of("default/ana")
    with pytest.raises(Rejected, match="64 bits"):
        keys.turn(2**63)
    with pytest.raises(Rejected, match="longer than a key"):
        keys.require(keys.session(b"s" * 5_000))


rows = st.builds(
    EventRow,
    content=texts,
    producer=texts,
    offset=offsets,
    session=st.none() | texts,
    position=st.integers(0, 2**40),
    speaker=st.lists(st.integers(0, 2**32 - 1), max_size=4).map(tuple),
    said=names,
    role=st.sampled_from([None, "user", "assistant"]),
    candidates=st.none() | st.integers(0, 2**62),
    states=st.integers(0, 100),
    outdated=st.integers(0, 1),
    names=st.lists(st.integers(0, 2**32 - 1), max_size=4).map(tuple),
)
points = st.builds(
    PointRow,
    event=ids,
    kind=st.sampled_from(["turn", "fact"]),
    confidence=st.floats(0, 1),
    scope=st.sampled_from(["private", "project"]),
    is_superseded=st.booleans(),
)
several = st.lists(texts, unique=True, max_size=4).map(dict.fromkeys)
id_sets = st.lists(ids, unique=True, max_size=4).map(dict.fromkeys)
children = st.builds(Children, id_sets, id_sets, id_sets, several, several)
markers = st.builds(
    Marker,
    names,
    names,
    offsets,
    st.none() | st.builds(Half, st.integers(0, 9), st.integers(0, 9), offsets),
)


@given(rows | points)
def test_a_row_is_read_as_it_was_written(row: EventRow | PointRow) -> None:
    """Decoding undoes encoding, and an event is told from a point."""
    assert row_in(row.pack()) == row


@given(children)
def test_children_are_read_as_they_were_written(one: Children) -> None:
    """Decoding undoes encoding; none at all is no value."""
    assert Children.unpack(one.pack()) == one


@given(markers)
def test_a_marker_is_read_as_it_was_written(marker: Marker) -> None:
    """Decoding undoes encoding, whatever the owner is called."""
    assert Marker.unpack(marker.pack()) == marker


@given(names, offsets)
def test_a_low_water_is_read_as_it_was_written(epoch: str, offset: int) -> None:
    """Decoding undoes encoding."""
    assert unpack_partition(pack_partition(epoch, offset)) == (epoch, offset)


@given(texts, texts, texts, ids, st.datetimes(), offsets)
def test_a_statement_is_read_as_it_was_written(
    slot: bytes, matter: bytes, value: bytes, event: bytes, said: datetime, offset: int
) -> None:
    """What stands in the key and what stands in the value are one statement again."""
    keys = keys_of("default/ana")
    key = keys.statement(slot, matter, 5, offset, 3)[len(keys.statements) :]
    box = Box(key_id=UUID(bytes=event), sealed=value)
    times = (said.isoformat(), said.isoformat())
    row = statement_in(key, pack_statement(box, event, times, "slot", value))
    assert (row.slot, row.matter, row.value, row.box) == (slot, matter, value, box)
    assert (row.event_id.bytes, row.said_at, row.recorded_at) == (event, said, said)
    assert (row.kind, row.journal_offset) == ("slot", offset)
