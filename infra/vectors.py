"""What every encoder adapter does to its vectors."""

from typing import Final

import numpy as np

from ..schemas.ports import Vectors

__all__ = ["normalise_rows"]

SHORTEST: Final = 1e-8


def normalise_rows(vectors: Vectors) -> Vectors:
    """L2-normalise rows; a row shorter than 1e-8 is left as it is.

    Args:
        vectors: float32, shape (texts, dimension).
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(lengths, SHORTEST)
    return np.where(lengths < SHORTEST, vectors, unit).astype(np.float32)
