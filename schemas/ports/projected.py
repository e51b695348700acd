"""What every store of the ports takes: journal records with their places, and markers."""

from dataclasses import dataclass
from typing import NamedTuple

from ..records import JournalRecord
from .log import Position

__all__ = ["Applied", "Interval", "Stored"]

Interval = tuple[float | None, float | None]
"""Seconds since 1970, the end exclusive; None is open."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A journal record with its place, as projections take it."""

    position: Position
    record: JournalRecord


class Applied(NamedTuple):
    """How far a projection is: every journal record below `offset` has had its effect."""

    epoch: str
    offset: int
