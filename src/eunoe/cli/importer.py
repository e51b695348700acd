"""The import of many lines: in batches, past what is refused, and told apart from repeats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO, Final

from ..schemas.errors import Rejected
from ..schemas.events import event_id
from .lines import Line, parse, raw_lines
from .repeats import date_repeat

if TYPE_CHECKING:
    from .running import AnyMemory

__all__ = ["Bad", "Importer", "Tally"]

_BATCH_LINES: Final = 200
_BATCHES_IN_FLIGHT: Final = 10  # then it waits until they are decided
_SETTLE_S_MAX: Final = 3600.0


_Letter = tuple[str, datetime, str]
"""A dead letter: event id, first seen, reason."""


@dataclass(frozen=True, slots=True, order=True)
class Bad:
    """A line that was not taken, by number from 1, and why."""

    line: int
    reason: str


@dataclass(slots=True)
class Tally:
    """What became of a file.

    Args:
        lines: Lines read, empty ones left out.
        added: Messages that were not there before; beside other producers, an estimate.
        already: Messages that were there.
        bad: Lines that were not taken.
    """

    lines: int = 0
    added: int = 0
    already: int = 0
    bad: list[Bad] = field(default_factory=list)


class Importer:
    """One import of one file.

    Args:
        memory: The façade.
        file: Name of the file, for the ids of messages that have none.
        tenant_id: Whose installation.
        user_id: The user of lines that name none.
    """

    def __init__(
        self, memory: "AnyMemory", *, file: str, tenant_id: str, user_id: str | None
    ) -> None:
        self._memory = memory
        self._file = file
        self._tenant_id = tenant_id
        self._user_id = user_id
        self._tally = Tally()
        self._numbers: dict[str, int] = {}  # of the lines that were taken, by event id

    async def run(self, source: BinaryIO, advance: Callable[[int], None]) -> Tally:
        """Import everything, and wait until it is decided.

        Args:
            source: The lines.
            advance: Is told how many more bytes are done.

        Returns:
            What became of it.

        Raises:
            EunoeError: The import can't go on; the same import goes on from there later.
        """
        await self._settle()
        turns, letters = await self._turns(), await self._letters()
        batch: list[Line] = []
        batches = size = 0
        for number, taken, raw in raw_lines(source):
            size += taken
            if raw != b"":
                self._take(batch, number, raw)
            if len(batch) == _BATCH_LINES:
                await self._add_batch(batch)
                batches += 1
                batch = []
                if batches % _BATCHES_IN_FLIGHT == 0:
                    await self._settle()
                advance(size)
                size = 0
        await self._add_batch(batch)
        await self._settle()
        advance(size)
        await self._judge(turns, letters)
        return self._tally

    def _take(self, batch: list[Line], number: int, raw: bytes | None) -> None:
        self._tally.lines += 1
        try:
            batch.append(parse(raw, number, file=self._file, user_id=self._user_id))
        except Rejected as error:
            self._tally.bad.append(Bad(number, str(error)))

    async def _add_batch(self, batch: Sequence[Line]) -> None:
        """Add what belongs to each user, in the order of the file."""
        users = dict.fromkeys(line.user_id for line in batch)
        for user in users:
            mine = [line for line in batch if line.user_id == user]
            for line in mine:
                await date_repeat(
                    self._memory,
                    line.message,
                    source=line.source,
                    user_id=user,
                    tenant_id=self._tenant_id,
                )
            for _, alike in groupby(mine, key=lambda line: line.call):
                await self._add(list(alike))

    async def _add(self, lines: Sequence[Line]) -> None:
        """Add lines that go into one call; halve them until what is refused stands alone."""
        first = lines[0]
        try:
            await self._memory.add(
                [line.message for line in lines],
                user_id=first.user_id,
                tenant_id=self._tenant_id,
                agent_id=first.agent_id,
                source=first.source,
                wait=False,
            )
        except Rejected as error:
            if len(lines) == 1:
                self._tally.bad.append(Bad(first.number, _reason(error)))
                return
            middle = len(lines) // 2
            await self._add(lines[:middle])
            await self._add(lines[middle:])
        else:
            self._numbers |= {self._event_id(line): line.number for line in lines}

    def _event_id(self, line: Line) -> str:
        return str(event_id(self._tenant_id, line.user_id, line.source, line.message["id"]))

    async def _judge(self, turns: int, letters: set[_Letter]) -> None:
        """Tell what is new from what was there, and what was refused after all."""
        fresh = await self._letters() - letters
        refused = {name: reason for name, _, reason in fresh if name in self._numbers}
        self._tally.bad += (Bad(self._numbers[name], reason) for name, reason in refused.items())
        self._tally.bad.sort()
        taken = self._tally.lines - len(self._tally.bad)
        self._tally.added = min(max(await self._turns() - turns, 0), taken)
        self._tally.already = taken - self._tally.added

    async def _settle(self) -> None:
        await self._memory.settled(timeout_s=_SETTLE_S_MAX)

    async def _turns(self) -> int:
        return (await self._memory.stats(tenant_id=self._tenant_id)).turns

    async def _letters(self) -> set[_Letter]:
        found = await self._memory.dead_letters(tenant_id=self._tenant_id)
        return {(letter.event_id or "", letter.first_seen, letter.reason) for letter in found}


def _reason(error: Rejected) -> str:
    """Take out of the sentence what doesn't help where only one message was given."""
    reason = str(error).removeprefix("Message 0 can't be taken: ")
    reason = reason.removesuffix(" Nothing of this call was stored.")
    return reason[:1].upper() + reason[1:]
