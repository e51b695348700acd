"""What fastembed brings: encoders, and the models of cross-encoders.

A model has a name that fastembed knows, or is any local folder with an ONNX model.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ..schemas.errors import Rejected
from ..schemas.ports import Vectors
from .chance import measured_chance
from .model_files import THREADS, check_folder, config_of, loaded_by_name, loaded_folder
from .slices import encode_in

__all__ = [
    "DUPLICATE_COSINE",
    "FastembedEncoder",
    "check_package",
    "cross_encoder_by_name",
    "cross_encoder_from_folder",
]

DUPLICATE_COSINE: Final = 0.995
"""As careful as what the packaged encoder needs; models differ, so a setting may replace it.

Measured for BGE small 1.5, quantised: of the labelled pairs nothing is merged wrongly at it, and
hardly anything rightly. In English .955 has a precision of .91 and a recall of .75; in Chinese no
value under it has .9 on both halves. `benchmarks/duplicates.py --encoder fastembed:FOLDER` finds
the value for another model.
"""


class FastembedEncoder:
    """`Encoder` on fastembed's `TextEmbedding`.

    A quantised model gives a text another vector in another batch, so each text is encoded alone.

    Args:
        model: A name that fastembed knows (downloaded at first use), or a folder.
        duplicate_threshold: Cosine from which two memories say the same; measure your model.

    Raises:
        Rejected: The folder lacks a file or holds a broken one, the name is unknown, or the extra
            isn't installed.
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
        self._chance: dict[str, float] = {}

    def chance(self, language: str) -> float:
        """Return the cosine up to which a question and a turn may come by chance; see the port.

        Measured with the first texts that are encoded; -1 before.
        """
        return self._chance.get(language, self._chance.get("und", -1.0))

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one at a time; see the port. A question waits for a few texts at most."""
        rows = await encode_in(self._thread, self._encode, texts)
        if not self._chance:
            loop = asyncio.get_running_loop()
            self._chance = await loop.run_in_executor(self._thread, measured_chance, self._encode)
        return rows

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


def check_package(tool: str) -> None:
    """Check that fastembed could be imported, without doing it.

    Args:
        tool: What needs it, for the sentence.

    Raises:
        Rejected: The extra isn't installed.
    """
    if find_spec("fastembed") is None:
        message = f"The {tool} needs the extra models: run pip install 'eunoe[models]'."
        raise Rejected(message)


def cross_encoder_by_name(model: str) -> Any:  # noqa: ANN401 - fastembed has no strict types
    """Load a `TextCrossEncoder` that fastembed knows; it is downloaded at first use.

    Raises:
        Rejected: The name is unknown.
        Unavailable: It can't be had, as without a network.
    """
    from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - an extra

    if model.lower() not in _names(TextCrossEncoder):
        message = f"fastembed knows no cross-encoder {model}: give one of its names, or a folder."
        raise Rejected(message)
    return loaded_by_name(model, partial(TextCrossEncoder, model_name=model, threads=THREADS))


def cross_encoder_from_folder(folder: Path) -> Any:  # noqa: ANN401 - fastembed has no strict types
    """Load a `TextCrossEncoder` from a folder that has every file.

    Raises:
        Rejected: A file of it isn't what it is called.
    """
    from fastembed.common.model_description import ModelSource  # noqa: PLC0415 - an extra
    from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - an extra

    name = f"eunoe/{folder.name}".lower()
    if name not in _names(TextCrossEncoder):
        source = ModelSource(url="local")
        TextCrossEncoder.add_custom_model(name, sources=source, model_file="model.onnx")
    path, make = str(folder), partial(TextCrossEncoder, model_name=name)
    return loaded_folder(folder, partial(make, specific_model_path=path, threads=THREADS))


def _names(kind: Any) -> set[str]:  # noqa: ANN401 - fastembed has no strict types
    return {row["model"].lower() for row in kind.list_supported_models()}


def _by_name(model: str) -> tuple[Any, int]:
    check_package("encoder")
    import fastembed  # noqa: PLC0415 - an optional extra, and a second that others save

    models = fastembed.TextEmbedding.list_supported_models()
    known = {row["model"]: int(row["dim"]) for row in models}
    if model not in known:
        message = f"fastembed knows no model {model}: give one of its names, or a local folder."
        raise Rejected(message)
    load = partial(fastembed.TextEmbedding, model_name=model, threads=THREADS)
    return loaded_by_name(model, load), known[model]


def _from_folder(folder: Path) -> tuple[Any, int]:
    check_folder(folder)
    check_package("encoder")
    import fastembed  # noqa: PLC0415 - an optional extra
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415 - extra

    dimension = config_of(folder, "hidden_size")
    name = f"eunoe/{folder.name}".lower()  # fastembed takes no second that differs in case alone
    if name not in _names(fastembed.TextEmbedding):
        fastembed.TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.CLS,
            normalization=True,
            sources=ModelSource(url="local"),
            dim=dimension,
            model_file="model.onnx",
        )
    path, make = str(folder), fastembed.TextEmbedding
    load = partial(make, model_name=name, specific_model_path=path, threads=THREADS)
    model = loaded_folder(folder, load)
    given = len(next(iter(model.embed(["length of a vector"]))))
    if given != dimension:
        message = f"The model in {folder} gives {given} numbers, and its config.json {dimension}."
        raise Rejected(message)
    return model, dimension
