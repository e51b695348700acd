"""The contracts of language tools and clocks, on every implementation there is.

Packaged models, a model folder for fastembed, and the stand-ins of other tests: these compute at
once and keep no thread, so the promise that the event loop stays free isn't theirs.
"""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from eunoe.infra.clock import SystemClock
from eunoe.infra.fastembed import FastembedEncoder
from eunoe.infra.model_files import FOLDER_FILES
from eunoe.infra.recogniser import TextRecogniser
from eunoe.infra.terms import Terms as TermSplitter
from eunoe.infra.usem3 import UseEncoder
from eunoe.infra.wiring import ClosingEncoder, ClosingRecogniser
from eunoe.schemas.errors import Rejected
from eunoe.schemas.ports import Clock, Terms
from tests.contract.language_contract import (
    ClockContract,
    EncoderContract,
    RecogniserContract,
    TermsContract,
    ThreadedEncoderContract,
    ThreadedRecogniserContract,
)
from tests.support.onnx_model import write_model
from tests.support.tools import SetClock, WordEncoder, WordRecogniser

NewEncoder = Callable[[], ClosingEncoder]
NewRecogniser = Callable[[], ClosingRecogniser]


@pytest.fixture(scope="module", name="model")
def written_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a model folder."""
    return write_model(tmp_path_factory.mktemp("models") / "bytes-32")


@pytest.fixture(scope="class", name="encoder")
def open_encoder(new_encoder: NewEncoder) -> Iterator[ClosingEncoder]:
    """Make an encoder of the class's kind; its model is loaded once."""
    encoder = new_encoder()
    yield encoder
    asyncio.run(encoder.close())


@pytest.fixture(scope="class", name="recogniser")
def open_recogniser(new_recogniser: NewRecogniser) -> Iterator[ClosingRecogniser]:
    """Make a recogniser of the class's kind; its models are loaded once."""
    recogniser = new_recogniser()
    yield recogniser
    asyncio.run(recogniser.close())


class TestUseEncoder(ThreadedEncoderContract):
    """The packaged encoder."""

    @pytest.fixture(scope="class", name="new_encoder")
    @classmethod
    def make_encoders(cls) -> NewEncoder:
        """Make encoders."""
        return UseEncoder


class TestFastembedEncoder(ThreadedEncoderContract):
    """fastembed, with a model folder."""

    @pytest.fixture(scope="class", name="new_encoder")
    @classmethod
    def make_encoders(cls, model: Path) -> NewEncoder:
        """Make encoders."""
        return lambda: FastembedEncoder(str(model))


@pytest.mark.parametrize("name", FOLDER_FILES)
def test_a_folder_that_lacks_a_file_is_refused(tmp_path: Path, name: str) -> None:
    """The sentence names what is missing, before any library looks into the folder."""
    folder = write_model(tmp_path / "model")
    (folder / name).unlink()
    with pytest.raises(Rejected, match=name):
        FastembedEncoder(str(folder))


@pytest.mark.parametrize("name", ["nobody/knows-this-model", "没有这个模型"])
def test_an_unknown_model_is_refused(name: str) -> None:
    """A name that is no folder and no known model is refused without a look at the network."""
    with pytest.raises(Rejected, match="local folder"):
        FastembedEncoder(name)


class TestWordEncoder(EncoderContract):
    """The stand-in of other tests."""

    @pytest.fixture(scope="class", name="new_encoder")
    @classmethod
    def make_encoders(cls) -> NewEncoder:
        """Make encoders."""
        return lambda: cast("ClosingEncoder", WordEncoder())  # its constants are the class's


class TestTextRecogniser(ThreadedRecogniserContract):
    """spaCy and jieba."""

    @pytest.fixture(scope="class", name="new_recogniser")
    @classmethod
    def make_recognisers(cls) -> NewRecogniser:
        """Make recognisers."""
        return TextRecogniser


class TestWordRecogniser(RecogniserContract):
    """The stand-in of other tests."""

    @pytest.fixture(scope="class", name="new_recogniser")
    @classmethod
    def make_recognisers(cls) -> NewRecogniser:
        """Make recognisers."""
        return WordRecogniser


class TestTerms(TermsContract):
    """The splitter into terms."""

    @pytest.fixture(name="terms")
    def make_terms(self) -> Terms:
        """Make a splitter."""
        return TermSplitter()


class TestSystemClock(ClockContract):
    """The machine's clock."""

    @pytest.fixture(name="clock")
    def make_clock(self) -> Clock:
        """Make a clock."""
        return SystemClock()


class TestSetClock(ClockContract):
    """The clock that tests set."""

    @pytest.fixture(name="clock")
    def make_clock(self) -> Clock:
        """Make a clock."""
        return SetClock()
