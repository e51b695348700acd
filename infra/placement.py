"""Which partition a key belongs to: murmur2 as Kafka's Java client computes it.

Every record of an owner has to lie in one partition, whoever wrote it, so that the embedded log
and Kafka place alike, and the writer can see what another client placed otherwise.
"""

from typing import Final

__all__ = ["murmur2", "partition_of"]

_SEED: Final = 0x9747B28C
_MULTIPLIER: Final = 0x5BD1E995
_SHIFT: Final = 24
_WORD: Final = 0xFFFFFFFF
_SIGN: Final = 0x80000000
_POSITIVE: Final = 0x7FFFFFFF


def murmur2(data: bytes) -> int:
    """Hash bytes as `org.apache.kafka.common.utils.Utils.murmur2` does.

    Args:
        data: What to hash.

    Returns:
        A signed 32-bit integer.
    """
    length = len(data)
    aligned = length & ~3
    state = _SEED ^ length
    for start in range(0, aligned, 4):
        word = int.from_bytes(data[start : start + 4], "little") * _MULTIPLIER & _WORD
        word ^= word >> _SHIFT
        word = word * _MULTIPLIER & _WORD
        state = (state * _MULTIPLIER & _WORD) ^ word
    if aligned != length:
        state ^= int.from_bytes(data[aligned:], "little")
        state = state * _MULTIPLIER & _WORD
    state ^= state >> 13
    state = state * _MULTIPLIER & _WORD
    state ^= state >> 15
    return state - (1 << 32) if state & _SIGN else state


def partition_of(key: bytes, partitions: int) -> int:
    """Compute the partition that Kafka's default partitioner gives a key.

    Args:
        key: Record key, or what a record is placed by.
        partitions: How many partitions the topic has, at least one.

    Returns:
        A number from 0 to `partitions` - 1.
    """
    return (murmur2(key) & _POSITIVE) % partitions
