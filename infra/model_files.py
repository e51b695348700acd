"""Model folders and names: load what they say, or tell in a sentence what is wrong with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import orjson

from ..schemas.errors import Rejected, Unavailable
from ..schemas.limits import REASON_CHARACTERS_MAX

__all__ = [
    "FOLDER_FILES",
    "THREADS",
    "check_folder",
    "config_of",
    "loaded_by_name",
    "loaded_folder",
]

Model = TypeVar("Model")

FOLDER_FILES: Final = (
    "config.json",
    "model.onnx",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)
"""What a local folder must hold."""

THREADS: Final = 1
"""Of a model: more of them wait for each other; on two busy cores half the speed."""

RUNTIME: Final = "onnxruntime"
"""Its errors share no base, only the package that they are defined in."""


def check_folder(folder: Path) -> None:
    """Check that a model folder has every file.

    Raises:
        Rejected: One is missing; the sentence names it.
    """
    missing = [name for name in FOLDER_FILES if not (folder / name).is_file()]
    if missing:
        message = f"The model folder {folder} lacks {', '.join(missing)}."
        raise Rejected(message)


def config_of(folder: Path, field: str) -> int:
    """Return a positive number of a folder's config.json.

    Raises:
        Rejected: It isn't there.
    """
    try:
        value = orjson.loads((folder / "config.json").read_bytes())[field]
    except (OSError, ValueError, KeyError, TypeError):
        value = None
    if not isinstance(value, int) or value <= 0:
        message = f"The file config.json in {folder} must give {field} as a positive number."
        raise Rejected(message)
    return value


def loaded_folder(folder: Path, load: Callable[[], Model]) -> Model:
    """Load a model from a folder.

    Raises:
        Rejected: A file of it isn't what it is called.
    """
    try:
        return load()
    except BaseException as error:
        # The tokenizers raise nothing more exact than Exception.
        is_known = type(error) is Exception or isinstance(error, OSError | ValueError)
        if is_known or type(error).__module__.partition(".")[0] == RUNTIME:
            message = f"The model folder {folder} can't be used: {_first_line(error)}"
            raise Rejected(message) from error
        raise


def loaded_by_name(model: str, load: Callable[[], Model]) -> Model:
    """Load a model that fastembed downloads at first use.

    Raises:
        Unavailable: It can't be had, as without a network; fastembed tries for 40 seconds.
    """
    try:
        return load()
    except (OSError, ValueError) as error:
        message = f"The model {model} can't be loaded: without a network give a local folder."
        raise Unavailable(message) from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:REASON_CHARACTERS_MAX].rstrip(".") + "."
