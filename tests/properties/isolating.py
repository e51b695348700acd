"""Random operations of many owners whose names are easy to mix up, and what they must give.

Every owner says the same texts under the same ids, in the same sessions and sources. Some texts
carry the owner's marker, a word that nobody else says: where it is read, it was theirs.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, NamedTuple

import eunoe
from eunoe.door import RemoteMemory
from eunoe.schemas.errors import EunoeError, NotFound, Rejected
from tests.properties.histories import LINES, QUESTIONS
from tests.support.tools import START

__all__ = [
    "OWNERS",
    "Diary",
    "Operation",
    "Owner",
    "draw_operations",
    "is_same",
    "marker_of",
    "message",
    "perform",
]


class Owner(NamedTuple):
    """A user of a tenant."""

    tenant: str
    user: str

    @property
    def named(self) -> dict[str, Any]:
        """Return how calls of the façade name it."""
        return {"tenant_id": self.tenant, "user_id": self.user}


OWNERS: Final = (
    Owner("default", "a"),
    Owner("default", "A"),
    Owner("default", "a/b"),
    Owner("default", "a%2Fb"),
    Owner("default/a", "b"),
    Owner("DEFAULT", "a"),
    Owner("default", "a "),
    Owner("default", "\uff41"),  # a fullwidth a
    Owner("default", "e\u0301"),  # two characters that look like
    Owner("default", "\u00e9"),  # this one
    Owner("default", "安"),
    Owner("default", "安/娜"),
    Owner("安", "娜"),
    Owner("x", "y/z"),
    Owner("x/y", "z"),
)
"""They differ in case, slash, width and composition, or one begins with another."""
IDENTS: Final = tuple(f"t{number}" for number in range(12))
SOURCES: Final = ("chat", "mail")
SESSIONS: Final = ("s1", "s2", None)
CHANGES: Final = {"add": 44, "forget": 3, "set_timezone": 3}
READS: Final = {
    "search": 16,
    "get": 9,
    "history": 7,
    "list": 5,
    "profile": 4,
    "stats": 3,
    "dead_letters": 3,
    "digest": 3,
}
STORE_WIDE: Final = frozenset({"waiting", "disk_bytes"})
"""Fields of `Stats` that are of the whole store, whoever is named."""


class Operation(NamedTuple):
    """A call of the façade by an owner."""

    owner: Owner
    call: str
    arguments: dict[str, Any]


def marker_of(owner: Owner) -> str:
    """Return the word that only this owner says."""
    return f"qz{OWNERS.index(owner):02}vx"


def message(owner: Owner, source: str, ident: str, line: int, *, marked: bool) -> dict[str, Any]:
    """Return a message; all but its text follows from its source and id."""
    number = IDENTS.index(ident) + len(IDENTS) * SOURCES.index(source)
    text = LINES[line]
    return {
        "id": ident,
        "role": "assistant" if number % 5 == 4 else "user",
        "content": f"{text} {marker_of(owner)}" if marked else text,
        "session_id": SESSIONS[number % len(SESSIONS)],
        "time": START + timedelta(minutes=7 * number),
    }


def draw_operations(dice: random.Random, count: int) -> list[Operation]:
    """Draw operations of all owners."""
    weights = CHANGES | READS
    calls = dice.choices(list(weights), list(weights.values()), k=count)
    return [_draw(dice, dice.choice(OWNERS), call) for call in calls]


def _draw(dice: random.Random, owner: Owner, call: str) -> Operation:
    arguments: dict[str, Any] = {}
    if call == "add":
        source = dice.choice(SOURCES)
        arguments = {"source": source, "messages": _messages(dice, owner, source)}
    elif call == "search":
        anybody = marker_of(dice.choice(OWNERS))
        arguments = {"query": dice.choice([*QUESTIONS, *LINES, anybody]), "limit": 50}
    elif call in {"get", "history"}:
        arguments = {"id": _ident(dice, slots=True)}
    elif call == "list":
        arguments = {"limit": 1000, "kinds": dice.choice([None, None, ["turn"]])}
    elif call == "forget":
        arguments = {"ids": [_ident(dice, slots=False) for _ in range(dice.randrange(1, 3))]}
    elif call == "set_timezone":
        arguments = {"timezone": dice.choice(["Asia/Shanghai", "Europe/Lisbon"])}
    elif call == "dead_letters":
        arguments = {"show": True}
    return Operation(owner, call, arguments)


def _messages(dice: random.Random, owner: Owner, source: str) -> list[dict[str, Any]]:
    return [
        message(
            owner,
            source,
            ident,
            dice.randrange(len(LINES)),
            marked=dice.random() < 0.4,
        )
        for ident in dice.sample(IDENTS, dice.choice([1, 1, 1, 3]))
    ]


def _ident(dice: random.Random, *, slots: bool) -> str | tuple[str, str]:
    ident = dice.choice(IDENTS)
    chosen: list[str | tuple[str, str]] = [ident, (dice.choice(SOURCES), ident)]
    if slots:
        chosen.append(dice.choice(["home", "favourite/colour"]))
    return dice.choice(chosen)


async def perform(memory: eunoe.Memory | RemoteMemory, operation: Operation) -> object:
    """Do an operation.

    Returns:
        What the owner sees of it, as plain values: the result, or the error's class and sentence.
    """
    call = getattr(memory, operation.call)
    try:
        result = await call(**operation.arguments, **operation.owner.named)
    except EunoeError as error:
        return [type(error).__name__, str(error)]
    return _plain(result)


def _plain(result: Any) -> object:
    if isinstance(result, list):
        return [_plain(one) for one in result]
    if result is None or isinstance(result, str):
        return result
    fields: dict[str, Any] = result.model_dump(mode="json")
    return {name: value for name, value in fields.items() if name not in STORE_WIDE}


def is_same(found: Any, expected: Any, *, slack: float = 1e-6) -> bool:
    """Tell whether two results are equal; sums of floats may differ in their last digits.

    Term hashes differ from store to store, and with them the order in which the engine sums.
    """
    if isinstance(found, float) and isinstance(expected, float):
        return abs(found - expected) <= slack
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            is_same(found[key], expected[key], slack=slack) for key in found
        )
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(
            is_same(one, other, slack=slack) for one, other in zip(found, expected, strict=True)
        )
    return bool(found == expected)


@dataclass
class Diary:
    """What an owner's turns must be, by a model of plain Python: the first text of an id stays.

    Args:
        owner: Whose.
    """

    owner: Owner
    turns: dict[tuple[str, str], str] = field(default_factory=dict)
    forgotten: set[tuple[str, str]] = field(default_factory=set)
    refused: int = 0

    def note(self, operation: Operation, result: object) -> None:
        """Follow an operation, and check what it gave against what is known."""
        if operation.call == "add":
            self._note_add(operation, result)
        elif operation.call == "forget":
            self._note_forget(operation, result)
        elif operation.call in {"get", "history"}:
            self._check_found(operation.arguments["id"], result)

    def _note_add(self, operation: Operation, result: object) -> None:
        clashes = 0
        for one in operation.arguments["messages"]:
            key = (operation.arguments["source"], one["id"])
            if key not in self.forgotten:
                clashes += self.turns.setdefault(key, one["content"]) != one["content"]
        self.refused += clashes
        assert (isinstance(result, list) and result[:1] == [Rejected.__name__]) == (clashes > 0)

    def _note_forget(self, operation: Operation, result: object) -> None:
        keys = [self._keys(ident) for ident in operation.arguments["ids"]]
        if all(len(found) == 1 for found in keys):
            assert isinstance(result, dict), result
            for (key,) in keys:
                self.turns.pop(key, None)
                self.forgotten.add(key)
        else:
            assert isinstance(result, list), result

    def _check_found(self, ident: str | tuple[str, str], result: object) -> None:
        keys = self._keys(ident)
        if len(keys) == 1:
            assert self.turns[keys[0]] in str(result)
        elif not keys and (isinstance(ident, tuple) or ident in IDENTS):
            assert isinstance(result, list)
            assert result[0] == NotFound.__name__

    def _keys(self, ident: str | tuple[str, str]) -> Sequence[tuple[str, str]]:
        if isinstance(ident, tuple):
            return [ident] if ident in self.turns else []
        return [key for key in self.turns if key[1] == ident]
