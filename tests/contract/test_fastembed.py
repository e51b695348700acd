"""Beyond the contract of encoders: what a model folder's files say, and what is refused."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from eunoe.infra.fastembed import DUPLICATE_COSINE, FastembedEncoder
from eunoe.infra.model_files import FOLDER_FILES
from eunoe.schemas.errors import Rejected, Unavailable
from tests.support.onnx_model import DIMENSION, write_model

KNOWN = "BAAI/bge-small-en-v1.5"
SAID = {"en": "Nora moved to Lisbon in May.", "zh": "诺拉五月搬到了里斯本。"}


@pytest.fixture(scope="module", name="encoder")
def open_encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastembedEncoder]:
    """Load a model folder once."""
    folder = write_model(tmp_path_factory.mktemp("models") / "bytes-32")
    encoder = FastembedEncoder(str(folder))
    yield encoder
    asyncio.run(encoder.close())


def test_the_folder_says_the_dimension(encoder: FastembedEncoder) -> None:
    """The dimension is that of config.json, and the id has the folder's name."""
    assert encoder.dimension == DIMENSION
    assert encoder.id == "fastembed:bytes-32"


@pytest.mark.parametrize("language", SAID)
async def test_a_text_is_the_same_in_a_batch_to_the_last_bit(
    encoder: FastembedEncoder, language: str
) -> None:
    """The model adds what stands beside a text; the encoder keeps texts apart."""
    text = SAID[language]
    alone = await encoder.encode([text])
    batch = await encoder.encode(["🎈", text, "x" * 500])
    assert np.array_equal(batch[1], alone[0])
    assert abs(float(np.linalg.norm(alone[0])) - 1.0) < 1e-6


def test_folders_of_one_name_in_another_case_are_both_read(tmp_path: Path) -> None:
    """The library takes names that differ in case for one; two folders still are two."""
    for name in ("Upper", "upper"):
        place = tmp_path / f"in-{name}"
        place.mkdir()
        encoder = FastembedEncoder(str(write_model(place / name)))
        assert encoder.id == f"fastembed:{name}"
        asyncio.run(encoder.close())


@pytest.mark.parametrize(
    ("name", "languages"), [("bge-small-en", {"en"}), ("bge-small-zh", {"zh"})]
)
def test_the_name_says_the_language(tmp_path: Path, name: str, languages: set[str]) -> None:
    """A Chinese model is known by its name."""
    encoder = FastembedEncoder(str(write_model(tmp_path / name)))
    assert encoder.languages == languages
    asyncio.run(encoder.close())


def test_the_threshold_may_be_given(tmp_path: Path) -> None:
    """A measured threshold replaces the nominal one."""
    folder = str(write_model(tmp_path / "model"))
    assert FastembedEncoder(folder).duplicate_threshold == DUPLICATE_COSINE
    assert FastembedEncoder(folder, duplicate_threshold=0.97).duplicate_threshold == 0.97


@pytest.mark.parametrize("name", [one for one in FOLDER_FILES if one != "config.json"])
def test_a_broken_file_is_refused(tmp_path: Path, name: str) -> None:
    """What a library says of a broken file comes as a sentence that names the folder."""
    folder = write_model(tmp_path / "model")
    (folder / name).write_bytes(b"broken")
    with pytest.raises(Rejected, match=f"{folder} can't be used"):
        FastembedEncoder(str(folder))


@pytest.mark.parametrize("config", ["broken", "[]", "{}", '{"hidden_size": "32"}', "{", "0"])
def test_a_folder_without_a_dimension_is_refused(tmp_path: Path, config: str) -> None:
    """The sentence names the file and the field."""
    folder = write_model(tmp_path / "model")
    (folder / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(Rejected, match=r"config\.json .* must give hidden_size"):
        FastembedEncoder(str(folder))


def test_a_dimension_that_is_not_the_models_is_refused(tmp_path: Path) -> None:
    """A config of another model is told before a store is made with it."""
    folder = write_model(tmp_path / "model")
    (folder / "config.json").write_text(json.dumps({"hidden_size": 33}), encoding="utf-8")
    with pytest.raises(Rejected, match="33"):
        FastembedEncoder(str(folder))


def test_without_the_extra_it_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The sentence says what to install, for a name and for a folder."""
    folder = write_model(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "fastembed", None)
    for model in (KNOWN, str(folder)):
        with pytest.raises(Rejected, match=r"encoder needs .*eunoe\[models\]"):
            FastembedEncoder(model)


def test_without_a_network_it_is_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model that can't be downloaded is unavailable, and the sentence says what helps."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    with pytest.raises(Unavailable, match=f"{KNOWN} can't be loaded: .* local folder"):
        FastembedEncoder(KNOWN)
