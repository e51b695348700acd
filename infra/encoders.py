"""Which encoder and cross-encoder the settings name."""

from typing import Final

from ..schemas.errors import Rejected
from .cross_encoder import FastembedCrossEncoder
from .fastembed import DUPLICATE_COSINE as FASTEMBED_DUPLICATE
from .fastembed import FastembedEncoder
from .settings import ENCODER_DEFAULT, Settings
from .usem3 import DUPLICATE_COSINE, UseEncoder

__all__ = ["cross_encoder_of", "encoder_of"]

FASTEMBED: Final = "fastembed:"


def encoder_of(settings: Settings) -> UseEncoder | FastembedEncoder:
    """Make the encoder.

    Raises:
        Rejected: There is none such; the sentence says what is wrong.
        Unavailable: Its model can't be had, as without a network.
    """
    name, threshold = settings.encoder, settings.duplicate_threshold
    if name == ENCODER_DEFAULT:
        return UseEncoder(duplicate_threshold=threshold or DUPLICATE_COSINE)
    if name.startswith(FASTEMBED):
        model = name.removeprefix(FASTEMBED)
        return FastembedEncoder(model, duplicate_threshold=threshold or FASTEMBED_DUPLICATE)
    message = f"The encoder must be {ENCODER_DEFAULT} or {FASTEMBED}NAME-OR-FOLDER."
    raise Rejected(message)


def cross_encoder_of(settings: Settings) -> FastembedCrossEncoder | None:
    """Make the cross-encoder, or none; its model is loaded by the first question that needs it.

    Raises:
        Rejected: The folder lacks a file, or the extra isn't installed.
    """
    return FastembedCrossEncoder(settings.cross_encoder) if settings.cross_encoder else None
