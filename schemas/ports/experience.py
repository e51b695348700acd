"""The port of the experience store: what works, as counts under pseudonyms."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ..experience import ExperiencePoint, Pool, Total, Unit
from .keys import OwnerKeys

__all__ = ["ExperienceStore", "OwnersKeys"]


class OwnersKeys(Protocol):
    """The part of a key log that experience needs; it makes no keys."""

    async def known_owner(self, owner: str) -> OwnerKeys | None:
        """Return an owner's keys, or None where it has none (any more)."""
        ...


class ExperienceStore(Protocol):
    """Counts by domain, kind, pseudonym and time, added up when they are asked for.

    Promises:
        * When `write` returns, every point of it survives a killed process. A point with the same
          domain, kind, pseudonym and time as one before overwrites it: a repeat changes nothing.
        * A point that the engine refuses is `Rejected` and named; no other one is lost by it.
        * Each domain's points are stored apart from those of the others.
        * `pool` says nothing that fewer than five users stand behind (`pool_of`).
        * After `erase` returned, nothing tells anything of these pseudonyms; others stay.
        * Nothing is stored but what a point holds.
    """

    async def write(self, points: Sequence[ExperiencePoint]) -> None:
        """Put points; after an error some may be there, which does no harm.

        Raises:
            Rejected: The engine refuses a point, now and later.
        """
        ...

    async def totals(
        self, pseudonyms: Sequence[str], since: datetime, until: datetime, *, unit: Unit = "day"
    ) -> list[Total]:
        """Add up what stands under some pseudonyms, in all domains.

        Args:
            pseudonyms: Those of one owner, a month each.
            since: The first moment, aware.
            until: The last, exclusive; both are widened to whole minutes.
            unit: Over what.

        Returns:
            Sums that aren't zero, ordered by start, domain and kind.

        Raises:
            Rejected: These are too many pseudonyms, or sums: ask for less time or a larger unit.
        """
        ...

    async def pool(self, domain: str, since: datetime, until: datetime) -> Pool | None:
        """Return what is known of a domain over all its users, or None for too few of them.

        Args:
            domain: One of `DOMAINS`.
            since: The first moment, aware.
            until: The last, exclusive. Only the whole UTC days between are looked at.

        Raises:
            Rejected: There is no such domain.
        """
        ...

    async def erase(self, pseudonyms: Sequence[str]) -> None:
        """Remove everything under some pseudonyms, in all domains and of all kinds.

        Raises:
            Rejected: These are too many, or one is no pseudonym.
        """
        ...

    async def close(self) -> None:
        """Finish what was handed in, and release the engine."""
        ...
