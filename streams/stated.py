"""What extraction finds in a turn: proposals for memories, and exact statements."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..schemas.records import MemoryKind

__all__ = ["AskedSlot", "Extracted", "Preference", "Proposal", "Stated"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A sentence that may become a memory: text == turn[start:end].

    Args:
        kind: What it is.
        text: The sentence.
        start: Its first character in the turn.
        end: One past its last character.
        tags: Topics, lower case.
    """

    kind: MemoryKind
    text: str
    start: int
    end: int
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stated:
    """An exact value that a speaker stated.

    Args:
        kind: A slot (a fact of high certainty) or a preference (a wish or standing order).
        subject: Whom it is about; None means whoever speaks.
        slot: Name of the slot, such as "home", "favourite/colour", "order/copies".
        value: The value as it stands in the text.
        condition: For whom, where or when it holds, as it stands in the text; None means always.
        text: The sentence.
    """

    kind: Literal["slot", "preference"]
    subject: str | None
    slot: str
    value: str
    condition: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a turn holds.

    Args:
        proposals: In the order of the text.
        statements: In the order of the text.
    """

    proposals: tuple[Proposal, ...] = ()
    statements: tuple[Stated, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedSlot:
    """A slot that a question asks for.

    Args:
        subject: Whose; None means the asker's.
        slot: As in `Stated`.
    """

    subject: str | None
    slot: str


class Preference(NamedTuple):
    """A preference in a sentence; value is sentence[start:end]."""

    slot: str
    start: int
    end: int
    condition: str | None
