"""Settings: what the environment says, and what is refused."""

from pathlib import Path

import pytest

from eunoe.infra.encoders import encoder_of
from eunoe.infra.settings import Settings
from eunoe.infra.usem3 import DUPLICATE_COSINE
from eunoe.schemas.errors import Rejected


@pytest.fixture(autouse=True)
def _without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EUNOE_CROSS_ENCODER", "EUNOE_DUPLICATE_THRESHOLD"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("value", [None, ""])
def test_nothing_set_is_the_encoders_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str | None
) -> None:
    """Unset and empty are the same: no cross-encoder, the encoder's own threshold."""
    if value is not None:
        monkeypatch.setenv("EUNOE_CROSS_ENCODER", value)
        monkeypatch.setenv("EUNOE_DUPLICATE_THRESHOLD", value)
    settings = Settings.from_env(tmp_path)
    assert settings.cross_encoder is None
    assert settings.duplicate_threshold is None
    assert encoder_of(settings).duplicate_threshold == DUPLICATE_COSINE


@pytest.mark.parametrize("name", ["BAAI/bge-reranker-base", "/models/中文"])
def test_the_environment_names_a_cross_encoder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """A name or a folder is taken as it is."""
    monkeypatch.setenv("EUNOE_CROSS_ENCODER", name)
    assert Settings.from_env(tmp_path).cross_encoder == name


@pytest.mark.parametrize("value", ["0.98", "1", "5e-1"])
def test_the_environment_sets_the_threshold(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    """A cosine over 0 reaches the encoder."""
    monkeypatch.setenv("EUNOE_DUPLICATE_THRESHOLD", value)
    assert encoder_of(Settings.from_env(tmp_path)).duplicate_threshold == float(value)


@pytest.mark.parametrize("value", ["0", "-0.5", "1.01", "nan", "inf", "high", "百分之九十"])
def test_what_is_no_threshold_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    """The sentence names the variable and its range."""
    monkeypatch.setenv("EUNOE_DUPLICATE_THRESHOLD", value)
    with pytest.raises(Rejected, match="EUNOE_DUPLICATE_THRESHOLD must be a number"):
        Settings.from_env(tmp_path)


@pytest.mark.parametrize("value", [0.0, 2.0, float("nan")])
def test_a_caller_is_held_to_the_same_range(tmp_path: Path, value: float) -> None:
    """Settings made in code are checked like those of the environment."""
    with pytest.raises(Rejected, match="at most 1"):
        Settings(folder=tmp_path, duplicate_threshold=value)
