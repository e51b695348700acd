"""What comes by chance, measured for encoders that are made here."""

from collections.abc import Sequence

import numpy as np

from eunoe.infra.chance import measured_chance
from eunoe.infra.vectors import normalise_rows
from eunoe.schemas.ports import Vectors


def _apart(texts: Sequence[str]) -> Vectors:
    """Encode every text in a direction of its own, by what it says."""
    rows = [np.random.default_rng(list(text.encode())).normal(size=64) for text in texts]
    return normalise_rows(np.asarray(rows, dtype=np.float32))


def _together(texts: Sequence[str]) -> Vectors:
    """Encode every text alike."""
    return np.ones((len(texts), 4), dtype=np.float32) / 2.0


def _lifted(texts: Sequence[str]) -> Vectors:
    """Encode as `_apart`, with a direction that all texts share."""
    return normalise_rows(_apart(texts) + np.full(64, 0.125, dtype=np.float32))


def test_chance_is_over_the_mean_of_unlike_texts() -> None:
    """Random directions of 64 dimensions meet by about 2.5/8; a shared part adds its own."""
    apart, lifted = measured_chance(_apart), measured_chance(_lifted)
    assert all(0.2 < cosine < 0.45 for cosine in apart.values())
    assert all(lifted[language] > apart[language] + 0.2 for language in apart)


def test_every_language_has_a_value() -> None:
    """English and Chinese have their own, and others the higher one."""
    found = measured_chance(_apart)
    assert found["und"] == max(found["en"], found["zh"])


def test_an_encoder_that_tells_nothing_apart_leaves_room() -> None:
    """Something can still be over what comes by chance."""
    assert set(measured_chance(_together).values()) == {0.95}
