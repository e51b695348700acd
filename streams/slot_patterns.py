"""How patterns of slots are held: where they are tried, and which words they need."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

__all__ = ["CLAUSE", "EMAIL", "Row", "SlotPattern", "compile_slots"]

# A pattern that begins with this mark is tried only where a clause begins.
CLAUSE: Final = "<clause>"
EMAIL: Final = r"(?a:(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"


class Row(NamedTuple):
    """A pattern before it is compiled."""

    slot: str
    pattern: str


class SlotPattern(NamedTuple):
    """A pattern of a slot.

    Args:
        slot: What it finds.
        words: One of these must stand in the text (lower case).
        pattern: With the group `value`.
        at_clause: Whether it is tried only where a clause begins.
    """

    slot: str
    words: frozenset[str]
    pattern: re.Pattern[str]
    at_clause: bool


def compile_slots(rows: Sequence[Row], words: Mapping[str, str]) -> Iterator[SlotPattern]:
    """Compile rows of (slot, pattern), in order.

    Args:
        rows: Patterns with the group `value`, and `thing` where a slot is of something.
        words: Of each slot, the words of which one must stand in a text, parted by spaces.
    """
    for name, source in rows:
        at_clause = source.startswith(CLAUSE)
        pattern = re.compile(source.removeprefix(CLAUSE), re.IGNORECASE)
        yield SlotPattern(name, frozenset(words[name].split()), pattern, at_clause)
