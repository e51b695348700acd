"""The import of many lines: in batches, past what is refused, and told apart from repeats."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

import orjson

from ..schemas.errors import Rejected
from ..schemas.events import event_id
from ..schemas.limits import (
    IMPORT_SETTLE_S,
)
from .lines import Line, parse, raw_lines
from .repeats import date_repeat

if TYPE_CHECKING:
    from .running import AnyMemory

__all__ = ["Bad", "Importer", "Tally"]

_BATCH_LINES: Final = 200
_BATCHES_IN_FLIGHT: Final = 10  # then it waits until they are decided
_REFUSED_MESSAGE: Final = re.compile(r"Message ([0-9]{1,9}) can't be taken: ")

_Letter = tuple[str, datetime, str]
"""A dead letter: event id, first seen, reason."""


class _Taken(NamedTuple):
    """A line that was added: its number, and a digest of what a repeat has the same."""

    number: int
    content: bytes


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
        self._taken: dict[str, list[_Taken]] = {}  # by event id

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
        """Add lines that go into one call, past those that are refused."""
        while lines:
            refused = await self._add_whole(lines)
            if refused is None:
                return
            if len(lines) == 1:
                self._tally.bad.append(Bad(lines[0].number, _reason(refused)))
                return
            # Messages are looked at in order, so all before the refused one are good. Each line
            # is looked at twice at most: a message may be long, and looking at it takes time.
            named = _REFUSED_MESSAGE.match(str(refused))
            place = min(int(named[1]), len(lines) - 1) if named else 0
            await self._add(lines[:place])
            await self._add(lines[place : place + 1])
            lines = lines[place + 1 :]

    async def _add_whole(self, lines: Sequence[Line]) -> Rejected | None:
        """Add lines in one call, all or none; returns why not."""
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
            return error
        for line in lines:
            taken = self._taken.setdefault(self._event_id(line), [])
            taken.append(_Taken(line.number, _content(line)))
        return None

    def _event_id(self, line: Line) -> str:
        return str(event_id(self._tenant_id, line.user_id, line.source, line.message["id"]))

    async def _judge(self, turns: int, letters: Counter[_Letter]) -> None:
        """Tell what is new from what was there, and what was refused after all."""
        reasons: dict[str, list[str]] = {}
        for name, _, reason in (await self._letters() - letters).elements():
            reasons.setdefault(name, []).append(reason)
        for name, told in reasons.items():
            numbers = _refused(self._taken.get(name, ()), len(told))
            self._tally.bad += map(Bad, numbers, told)
        self._tally.bad.sort()
        taken = self._tally.lines - len(self._tally.bad)
        self._tally.added = min(max(await self._turns() - turns, 0), taken)
        self._tally.already = taken - self._tally.added

    async def _settle(self) -> None:
        await self._memory.settled(timeout_s=IMPORT_SETTLE_S)

    async def _turns(self) -> int:
        return (await self._memory.stats(tenant_id=self._tenant_id)).turns

    async def _letters(self) -> Counter[_Letter]:
        found = await self._memory.dead_letters(tenant_id=self._tenant_id)
        return Counter((one.event_id or "", one.first_seen, one.reason) for one in found)


def _refused(taken: Sequence[_Taken], count: int) -> Iterable[int]:
    """Tell which lines of one id were refused, from how many were: all that say another thing.

    What was stored first stays. It is mostly what the file says first; where another content
    alone explains the count, the memory knew that one before the import.
    """
    for content in dict.fromkeys(one.content for one in taken):
        others = [one.number for one in taken if one.content != content]
        if len(others) == count:
            return others
    return [one.number for one in taken][-count:]


def _content(line: Line) -> bytes:
    """Digest what a repeat under the same id has the same; its time may differ."""
    said = {name: value for name, value in line.message.items() if name != "time"}
    plain = orjson.dumps([said, line.agent_id], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(plain).digest()


def _reason(error: Rejected) -> str:
    """Take out of the sentence what doesn't help where only one message was given."""
    reason = str(error).removeprefix("Message 0 can't be taken: ")
    reason = reason.removesuffix(" Nothing of this call was stored.")
    return reason[:1].upper() + reason[1:]
