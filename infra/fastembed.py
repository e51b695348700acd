"""Encoders through fastembed: a model by name, or any local folder with an ONNX model."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import orjson

from ..schemas.errors import Rejected, Unavailable
from ..schemas.ports import Vectors

__all__ = ["FastembedEncoder"]

DUPLICATE_COSINE: Final = 0.995
"""Nominal: models differ, and none was measured; as careful as what the packaged encoder needs.

`benchmarks/duplicates.py --encoder fastembed:FOLDER` finds the value for a model.
"""
FOLDER_FILES: Final = (
    "config.json",
    "model.onnx",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)


class FastembedEncoder:
    """`Encoder` on fastembed's `TextEmbedding`.

    A quantised model gives a text another vector in another batch, so each text is encoded alone.

    Args:
        model: A name that fastembed knows (downloaded at first use), or a folder.
        duplicate_threshold: Cosine from which two memories say the same; the default is nominal,
            so measure your model.

    Raises:
        Rejected: The folder lacks a file, the name is unknown, or the extra isn't installed.
        Unavailable: The model can't be loaded, as without a network.
    """

    batch_invariant: bool = True

    def __init__(self, model: str, *, duplicate_threshold: float = DUPLICATE_COSINE) -> None:
        self.duplicate_threshold = duplicate_threshold
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eunoe-encoder")
        folder = Path(model)
        if folder.is_dir():
            self._model, self.dimension = _from_folder(folder)
            self.id = f"fastembed:{folder.name}"
        else:
            self._model, self.dimension = _by_name(model)
            self.id = f"fastembed:{model}"
        self.languages = frozenset(("zh",) if "zh" in self.id else ("en",))

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one at a time; see the port."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._encode, texts)

    async def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        import numpy as np  # noqa: PLC0415 - what only reads does without

        from .vectors import normalise_rows  # noqa: PLC0415 - with numpy

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = next(iter(self._model.embed([text], batch_size=1)))
        return normalise_rows(rows)


def _package() -> Any:  # noqa: ANN401 - fastembed is an optional extra without strict types
    try:
        import fastembed  # noqa: PLC0415 - an optional extra
    except ImportError:
        message = "The encoder needs the extra models: run pip install 'eunoe[models]'."
        raise Rejected(message) from None
    return fastembed


def _by_name(model: str) -> tuple[Any, int]:
    fastembed = _package()
    models = fastembed.TextEmbedding.list_supported_models()
    known = {row["model"]: int(row["dim"]) for row in models}
    if model not in known:
        message = f"fastembed knows no model {model}: give one of its names, or a local folder."
        raise Rejected(message)
    try:
        return fastembed.TextEmbedding(model_name=model), known[model]
    except (OSError, ValueError) as error:
        message = f"The model {model} can't be loaded: without a network give a local folder."
        raise Unavailable(message) from error


def _from_folder(folder: Path) -> tuple[Any, int]:
    missing = [name for name in FOLDER_FILES if not (folder / name).is_file()]
    if missing:
        message = f"The model folder {folder} lacks {', '.join(missing)}."
        raise Rejected(message)
    fastembed = _package()
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415 - extra

    config = orjson.loads((folder / "config.json").read_bytes())
    dimension = int(config["hidden_size"])
    name = f"eunoe/{folder.name}"
    known = {row["model"] for row in fastembed.TextEmbedding.list_supported_models()}
    if name not in known:
        fastembed.TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.CLS,
            normalization=True,
            sources=ModelSource(url="local"),
            dim=dimension,
            model_file="model.onnx",
        )
    return fastembed.TextEmbedding(model_name=name, specific_model_path=str(folder)), dimension
