"""Histories: what some people's clients do, one operation after the other, drawn from a seed."""

from dataclasses import dataclass, replace
from random import Random
from typing import Final

from tests.properties.histories import LINES, Said

__all__ = [
    "Add",
    "Clash",
    "Client",
    "Forget",
    "History",
    "Look",
    "Malformed",
    "Zone",
    "draw",
]

EVENTS_MIN: Final = 200
NAMES: Final = (("default", "ana"), ("default", "安娜"), ("t2", "ana"), ("t2", "b/n"))
ZONES: Final = ("Asia/Shanghai", "Europe/Berlin", "America/New_York", "UTC")
QUESTIONS: Final = (
    "What is my favourite colour?",
    "Lisbon Nora moved",
    "boiler October",
    "我住在哪里?",
    "妹妹结婚",
)


@dataclass(frozen=True, slots=True)
class Add:
    """Send turns, new ones or such as were sent before."""

    turns: tuple[Said, ...]
    wait: bool


@dataclass(frozen=True, slots=True)
class Clash:
    """Send another content under the id of a turn that is there: it has to be refused."""

    turn: Said


@dataclass(frozen=True, slots=True)
class Malformed:
    """Write a record that is no event into the topic: it has to become a dead letter."""

    value: bytes


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget turns."""

    idents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Zone:
    """Set the time zone."""

    name: str


@dataclass(frozen=True, slots=True)
class Look:
    """Search and list."""

    question: str


Operation = Add | Clash | Malformed | Forget | Zone | Look


@dataclass(frozen=True, slots=True)
class Client:
    """One person's client."""

    tenant_id: str
    user_id: str
    operations: tuple[Operation, ...]

    @property
    def kept(self) -> list[str]:
        """The ids of the turns that no forget names, in the order in which they were first sent."""
        gone = {one for step in self.operations if isinstance(step, Forget) for one in step.idents}
        sent = [
            one.ident for step in self.operations if isinstance(step, Add) for one in step.turns
        ]
        return [one for one in dict.fromkeys(sent) if one not in gone]

    @property
    def refused(self) -> set[str]:
        """The ids of kept turns that were sent with another content later."""
        clashes = {step.turn.ident for step in self.operations if isinstance(step, Clash)}
        return clashes & set(self.kept)

    def survivors(self) -> "Client":
        """Return the client that never sent what this one's forgets name, and nothing twice.

        What it leaves out it looks instead, so that every operation keeps its number.
        """
        kept, sent = set(self.kept), set[str]()
        steps: list[Operation] = []
        for step in self.operations:
            if isinstance(step, Add):
                turns = tuple(
                    {one.ident: one for one in step.turns if one.ident in kept - sent}.values()
                )
                sent |= {one.ident for one in turns}
                steps.append(replace(step, turns=turns))
            else:
                steps.append(step if isinstance(step, Zone) else Look(QUESTIONS[0]))
        return replace(self, operations=tuple(steps))


@dataclass(frozen=True, slots=True)
class History:
    """All clients of a store."""

    clients: tuple[Client, ...]

    @property
    def events(self) -> int:
        """How many events are sent at least."""
        total = 0
        for client in self.clients:
            for step in client.operations:
                total += len(step.turns) if isinstance(step, Add) else not isinstance(step, Look)
        return total


def draw(dice: Random) -> History:
    """Draw a history of at least 200 events of three or four users, with every kind of event."""
    users = dice.choice((3, 4))
    least = EVENTS_MIN // users + 1
    while True:
        history = History(tuple(_client(dice, *name, least) for name in NAMES[:users]))
        done = {type(step) for client in history.clients for step in client.operations}
        if {Add, Clash, Forget, Malformed, Zone} <= done:
            return history


def _client(dice: Random, tenant_id: str, user_id: str, least: int) -> Client:
    known: list[Said] = []
    alive: dict[str, Said] = {}
    steps: list[Operation] = []
    events = 0
    while events < least:
        kind = dice.choices(
            ("add", "again", "clash", "malformed", "forget", "zone", "look"),
            (10, 2, 1.5, 1, 3, 1.5, 2),
        )[0]
        step: Operation
        if kind == "add" or not alive:
            step = Add(_turns(dice, len(known)), wait=dice.random() < 0.4)
            known += step.turns
            alive |= {one.ident: one for one in step.turns}
        elif kind == "again":
            # Repeats are of forgotten turns as well: they stay out.
            step = Add(tuple(dice.choices(known, k=dice.randint(1, 6))), wait=dice.random() < 0.4)
        elif kind == "clash":
            turn = dice.choice(list(alive.values()))
            step = Clash(replace(turn, text=f"{turn.text} 不对 not so"))
        elif kind == "malformed":
            step = Malformed(dice.choice((b"{", b"[]", b"null", "不是".encode(), b"\xff\x00")))
        elif kind == "forget":
            step = Forget(tuple(dice.sample(list(alive), k=min(len(alive), dice.randint(1, 4)))))
            for ident in step.idents:
                del alive[ident]
        elif kind == "zone":
            step = Zone(dice.choice(ZONES))
        else:
            step = Look(dice.choice(QUESTIONS))
        steps.append(step)
        events += len(step.turns) if isinstance(step, Add) else not isinstance(step, Look)
    return Client(tenant_id, user_id, tuple(steps))


def _turns(dice: Random, first: int) -> tuple[Said, ...]:
    return tuple(
        Said(
            number,
            dice.choice(LINES),
            dice.choice(("user", "user", "user", "assistant")),
            None,
            dice.choice(("s1", "s2", None)),
            10 * number - dice.choice((0, 0, 0, 2_000)),
        )
        for number in range(first, first + dice.randint(1, 9))
    )
