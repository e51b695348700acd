"""Cross-encoders through fastembed: a model by name, or any local folder with an ONNX model."""

import asyncio
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any, Final

from ..schemas.errors import Rejected, Unavailable
from ..schemas.limits import CROSS_ENCODER_TEXTS_MAX
from .fastembed import check_package, cross_encoder_by_name, cross_encoder_from_folder
from .model_files import check_folder

__all__ = ["FastembedCrossEncoder"]

AGAIN_S: Final = 300.0
"""After a model couldn't be had: fastembed tries for 40 s, and no other question waits for that."""
BOTH: Final = ("multilingual", "bge-reranker", "-m3")
"""Parts of the names of models that were trained for Chinese and English."""


class FastembedCrossEncoder:
    """`CrossEncoder` on fastembed's `TextCrossEncoder`; the model is loaded at first use.

    A quantised model gives a text another score in another batch, so each text is scored alone.
    The logistic function brings what the model says to one scale.

    Args:
        model: A name that fastembed knows (downloaded at first use), or a folder.
        languages: What it was trained for, as ISO 639-1 codes; None tells it from the name.

    Raises:
        Rejected: The folder lacks a file, or the extra isn't installed.
    """

    def __init__(self, model: str, *, languages: frozenset[str] | None = None) -> None:
        folder = Path(model)
        self._folder = folder if folder.is_dir() else None
        if self._folder:
            check_folder(folder)
        check_package("cross-encoder")
        self._name = folder.name if self._folder else model
        self.id = f"fastembed:{self._name}"
        self.languages = languages or _languages(self._name)
        self._model: Any = None  # fastembed has no strict types
        self._failure: str | None = None
        self._again_at = 0.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eunoe-cross-encoder")

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score texts, one at a time; see the port.

        Raises:
            Rejected: There are too many texts, the name is unknown, or a file of the folder isn't
                what it is called.
            Unavailable: The model can't be had, as without a network.
        """
        if len(texts) > CROSS_ENCODER_TEXTS_MAX:
            message = f"A cross-encoder scores at most {CROSS_ENCODER_TEXTS_MAX} texts at a time."
            raise Rejected(message)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._score, question, list(texts))

    async def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _score(self, question: str, texts: list[str]) -> list[float]:
        if not texts:
            return []
        if self._model is None:
            self._model = self._load()
        return [_logistic(one) for one in self._model.rerank(question, texts, batch_size=1)]

    def _load(self) -> Any:  # noqa: ANN401 - fastembed has no strict types
        if self._folder:
            return cross_encoder_from_folder(self._folder)
        if self._failure and monotonic() < self._again_at:
            raise Unavailable(self._failure)
        try:
            return cross_encoder_by_name(self._name)
        except Unavailable as error:
            self._failure, self._again_at = str(error), monotonic() + AGAIN_S
            raise


def _languages(name: str) -> frozenset[str]:
    if any(part in name.lower() for part in BOTH):
        return frozenset(("en", "zh"))
    return frozenset(("zh",) if "zh" in name.lower() else ("en",))


def _logistic(value: float) -> float:
    """Return 1 / (1 + exp(-value)), without an overflow far from 0."""
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    grown = math.exp(value)
    return grown / (1.0 + grown)
