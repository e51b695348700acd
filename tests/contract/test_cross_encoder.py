"""The contract of cross-encoders on every implementation there is, and how each is refused."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eunoe.infra import cross_encoder as adapter
from eunoe.infra.cross_encoder import AGAIN_S, FastembedCrossEncoder
from eunoe.infra.model_files import FOLDER_FILES
from eunoe.infra.wiring import ClosingCrossEncoder, open_engines
from eunoe.schemas.errors import Rejected, Unavailable
from tests.contract.cross_encoder_contract import (
    CrossEncoderContract,
    ThreadedCrossEncoderContract,
)
from tests.support.cross_encoding import WordCrossEncoder
from tests.support.memories import cheap_tools, settings_in
from tests.support.onnx_model import write_cross_encoder

KNOWN = "Xenova/ms-marco-MiniLM-L-6-v2"
QUESTIONS = {"en": "Where did Nora move?", "zh": "诺拉搬到了哪里？"}


@pytest.fixture(scope="module", name="model")
def written_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a model folder."""
    return write_cross_encoder(tmp_path_factory.mktemp("models") / "bytes-multilingual")


class TestFastembedCrossEncoder(ThreadedCrossEncoderContract):
    """fastembed, with a model folder."""

    @pytest.fixture(scope="class", name="cross_encoder")
    @classmethod
    def open_cross_encoder(cls, model: Path) -> Iterator[ClosingCrossEncoder]:
        """Make one; its model is loaded once."""
        made = FastembedCrossEncoder(str(model))
        yield made
        asyncio.run(made.close())


class TestWordCrossEncoder(CrossEncoderContract):
    """The stand-in of other tests."""

    @pytest.fixture(scope="class", name="cross_encoder")
    @classmethod
    def make_cross_encoder(cls) -> ClosingCrossEncoder:
        """Make one."""
        return WordCrossEncoder()


@pytest.mark.parametrize("name", FOLDER_FILES)
def test_a_folder_that_lacks_a_file_is_refused(tmp_path: Path, name: str) -> None:
    """The sentence names what is missing, before any library looks into the folder."""
    folder = write_cross_encoder(tmp_path / "model")
    (folder / name).unlink()
    with pytest.raises(Rejected, match=f"lacks {name}"):
        FastembedCrossEncoder(str(folder))


@pytest.mark.parametrize("name", [one for one in FOLDER_FILES if one != "config.json"])
async def test_a_broken_file_is_refused(tmp_path: Path, name: str) -> None:
    """What a library says of a broken file comes as a sentence that names the folder."""
    folder = write_cross_encoder(tmp_path / "model")
    (folder / name).write_bytes(b"broken")
    broken = FastembedCrossEncoder(str(folder))
    with pytest.raises(Rejected, match=f"{folder} can't be used"):
        await broken.score("Where?", ["here"])
    await broken.close()


@pytest.mark.parametrize("name", ["nobody/knows-this-model", "没有这个模型"])
async def test_an_unknown_model_is_refused(name: str) -> None:
    """A name that is no folder and no known model is refused without a look at the network."""
    unknown = FastembedCrossEncoder(name)
    with pytest.raises(Rejected, match=f"no cross-encoder {name}"):
        await unknown.score("Where?", ["here"])
    await unknown.close()


def test_without_the_extra_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says what to install."""
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(Rejected, match=r"cross-encoder needs .*eunoe\[models\]"):
        FastembedCrossEncoder(KNOWN)


async def test_without_a_network_it_is_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A model that can't be downloaded is unavailable, and the sentence says what helps."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    away = FastembedCrossEncoder(KNOWN)
    with pytest.raises(Unavailable, match=f"{KNOWN} can't be loaded: .* local folder"):
        await away.score("Where?", ["here"])
    await away.close()


async def test_what_was_away_is_not_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions after a failed download fail at once, until some minutes have passed."""
    moment, tries = 1000.0, []

    def fail(model: str) -> None:
        tries.append(model)
        message = "The model can't be loaded."
        raise Unavailable(message)

    monkeypatch.setattr(adapter, "cross_encoder_by_name", fail)
    monkeypatch.setattr(adapter, "monotonic", lambda: moment)
    away = FastembedCrossEncoder(KNOWN)
    for expected in (1, 1, 2, 2):
        with pytest.raises(Unavailable, match="can't be loaded"):
            await away.score("Where?", ["here"])
        assert len(tries) == expected
        moment += AGAIN_S * 0.6
    await away.close()


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        (KNOWN, {"en"}),
        ("BAAI/bge-reranker-base", {"en", "zh"}),
        ("BAAI/bge-reranker-v2-m3", {"en", "zh"}),
        ("jinaai/jina-reranker-v2-base-multilingual", {"en", "zh"}),
    ],
)
def test_a_known_model_says_its_languages(name: str, languages: set[str]) -> None:
    """What reads Chinese says so, what doesn't says that it doesn't."""
    assert FastembedCrossEncoder(name).languages == languages


def test_languages_may_be_given() -> None:
    """A name needn't tell them."""
    assert FastembedCrossEncoder(KNOWN, languages=frozenset(("zh",))).languages == {"zh"}


@pytest.mark.parametrize("language", QUESTIONS)
async def test_the_setting_opens_one(tmp_path: Path, model: Path, language: str) -> None:
    """A store whose settings name a folder has its cross-encoder, in both languages."""
    settings = settings_in(tmp_path, cross_encoder=str(model))
    engines = await open_engines(settings, cheap_tools())
    async with engines.stack:
        assert engines.cross_encoder is not None
        question = QUESTIONS[language]
        same, other = await engines.cross_encoder.score(question, [question, "🎈"])
        assert same > other


async def test_without_the_setting_there_is_none(tmp_path: Path) -> None:
    """Nobody pays for a model that isn't asked for."""
    engines = await open_engines(settings_in(tmp_path), cheap_tools())
    async with engines.stack:
        assert engines.cross_encoder is None


async def test_a_tool_comes_before_the_setting(tmp_path: Path) -> None:
    """A caller's own cross-encoder replaces that of the settings, which isn't even looked at."""
    own = WordCrossEncoder()
    settings = settings_in(tmp_path, cross_encoder=str(tmp_path / "no-such-folder"))
    engines = await open_engines(settings, cheap_tools(cross_encoder=own))
    async with engines.stack:
        assert engines.cross_encoder is own
