"""Placement: Kafka's hash, to the bit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.infra.placement import murmur2, partition_of


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        # From UtilsTest.testMurmur2 of Kafka's Java client.
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_is_the_java_clients(key: bytes, expected: int) -> None:
    """The hash has the values that Kafka's own test expects."""
    assert murmur2(key) == expected


@given(key=st.binary(max_size=64), partitions=st.integers(1, 1_000))
def test_a_partition_is_a_partition(key: bytes, partitions: int) -> None:
    """Any key, the empty one included, lies in exactly one of the partitions."""
    assert 0 <= partition_of(key, partitions) < partitions
    assert partition_of(key, partitions) == partition_of(bytes(key), partitions)


def test_a_negative_hash_loses_its_sign_bit() -> None:
    """Kafka masks the sign bit, and doesn't take the absolute value."""
    assert partition_of(b"21", 1_000) == (-973932308 & 0x7FFFFFFF) % 1_000
    assert partition_of(b"21", 1_000) != 973932308 % 1_000


def test_keys_spread_over_all_partitions() -> None:
    """Owners that differ in a number only don't share one partition."""
    found = {partition_of(b"default/user-%d" % number, 8) for number in range(100)}
    assert found == set(range(8))
