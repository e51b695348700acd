"""What a producer may attach to a turn: plain JSON, within bounds that every reader holds to.

The façade and the wire ask here, so that both doors refuse the same. JSON readers stop at some
depth, and whole numbers end at 64 bits: beyond, what is written could not be read back.
"""

import json
import math
from typing import Final

from .limits import METADATA_BYTES_MAX, METADATA_DEPTH_MAX

__all__ = ["metadata_fault"]

_WHOLE_MIN: Final = -(2**63)
_WHOLE_MAX: Final = 2**64 - 1


def metadata_fault(metadata: object) -> str | None:
    """Say what metadata must be, or None if it is that.

    Args:
        metadata: A turn's, as its producer gives it.
    """
    if not _is_plain(metadata):
        return (
            f"metadata must be a JSON object of at most {METADATA_BYTES_MAX} bytes and "
            f"{METADATA_DEPTH_MAX} levels, with text keys, finite numbers and whole numbers of "
            "64 bits"
        )
    try:
        size = len(json.dumps(metadata, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return "metadata must be plain JSON, without lone surrogates"
    if size > METADATA_BYTES_MAX:
        return f"metadata must be a JSON object of at most {METADATA_BYTES_MAX} bytes"
    return None


def _is_plain(metadata: object) -> bool:
    """Walk down level by level, no deeper and, since every value takes a byte, no wider."""
    if not isinstance(metadata, dict):
        return False
    level: list[object] = [metadata]
    left = METADATA_BYTES_MAX
    for depth in range(METADATA_DEPTH_MAX + 1):
        inner: list[object] = []
        for value in level:
            if not isinstance(value, dict | list | tuple):
                if not _is_leaf(value):
                    return False
                continue
            left -= len(value)
            if depth == METADATA_DEPTH_MAX or left < 0 or not _has_text_keys(value):
                return False
            inner += value.values() if isinstance(value, dict) else value
        level = inner
    return True


def _has_text_keys(value: object) -> bool:
    return not isinstance(value, dict) or all(isinstance(key, str) for key in value)


def _is_leaf(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return _WHOLE_MIN <= value <= _WHOLE_MAX
    return value is None or isinstance(value, str)
