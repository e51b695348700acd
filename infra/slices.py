"""Long batches in an encoder's thread, a slice at a time: a question waits for one, not for all."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from ..schemas.limits import ENCODE_TEXTS
from ..schemas.ports import Vectors

__all__ = ["encode_in"]


async def encode_in(
    thread: ThreadPoolExecutor, encode: Callable[[Sequence[str]], Vectors], texts: Sequence[str]
) -> Vectors:
    """Encode texts in a thread.

    Args:
        thread: The encoder's own.
        encode: Blocks; returns float32, shape (texts, dimension), also for no text.
        texts: Any number.

    Returns:
        float32, shape (len(texts), dimension).
    """
    loop = asyncio.get_running_loop()
    slices = [
        await loop.run_in_executor(thread, encode, texts[start : start + ENCODE_TEXTS])
        for start in range(0, max(1, len(texts)), ENCODE_TEXTS)
    ]
    if len(slices) == 1:
        return slices[0]
    import numpy as np  # noqa: PLC0415 - what only reads does without

    return np.concatenate(slices)
