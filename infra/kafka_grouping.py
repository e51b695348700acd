"""Calls that append several records: those that wait together share one transaction."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple
from uuid import uuid4

from ..schemas.errors import EunoeError, Fenced, Rejected, Unavailable
from ..schemas.limits import GROUP_RECORDS_MAX
from .cluster_settings import ClusterSettings
from .kafka_client import Names
from .kafka_producing import Outgoing, Room
from .kafka_transactions import Expect, Transactions, ends

__all__ = ["Groups"]


class _Call(NamedTuple):
    records: Sequence[Outgoing]
    offsets: asyncio.Future[list[int]]


class Groups:
    """Appends several records at once, all or none; the transactional id is this process's own.

    Args:
        settings: Where the brokers are.
        room: What may be in flight.
        expect: Told the last offset of each partition when a transaction is committed.
    """

    def __init__(self, settings: ClusterSettings, room: Room, expect: Expect) -> None:
        self._expect = expect
        self._settings = settings
        self._room = room
        self._calls: deque[_Call] = deque()
        self._committer: asyncio.Task[None] | None = None
        self._transactions: Transactions | None = None

    async def append(self, records: Sequence[Outgoing]) -> list[int]:
        """Append records in one transaction; returns their offsets.

        Raises:
            Unavailable: Kafka can't be reached, or didn't answer in time: then it is unknown
                whether the records are there.
            Rejected: A record is larger than its topic takes.
        """
        try:
            async with asyncio.timeout(self._settings.call_timeout_s):
                give = await self._room.take(len(records), sum(one.size for one in records))
        except TimeoutError:
            message = "Kafka takes records more slowly than they come: see EUNOE_KAFKA."
            raise Unavailable(message) from None
        call = _Call(records, asyncio.get_running_loop().create_future())
        call.offsets.add_done_callback(lambda _: give())
        self._calls.append(call)
        if self._committer is None:
            # A task of its own, so that a caller who is cancelled doesn't stop the others.
            self._committer = asyncio.create_task(self._commit_calls())
        return await call.offsets

    async def close(self) -> None:
        """Commit what was given, and stop."""
        self._room.close()
        if self._committer is not None:
            await asyncio.wait({self._committer})
        await self._close_transactions()

    async def _commit_calls(self) -> None:
        group: list[_Call] = []
        try:
            while self._calls:
                group = self._take_group()
                try:
                    await self._commit(group)
                except Rejected as error:
                    # One call is at fault: each for itself then, so that it fails alone.
                    await self._commit_singly(group, error)
                except EunoeError as error:
                    _fail(group, error)
        finally:
            self._committer = None
            message = "The log was closed; whether it appended is unknown."
            _fail([*group, *self._calls], Unavailable(message))  # who has an answer keeps it
            self._calls.clear()

    async def _commit_singly(self, group: Sequence[_Call], error: EunoeError) -> None:
        if len(group) == 1:
            _fail(group, error)
            return
        for call in group:
            try:
                await self._commit([call])
            except EunoeError as own:
                _fail([call], own)

    def _take_group(self) -> list[_Call]:
        group = [self._calls.popleft()]
        size = len(group[0].records)
        while self._calls and size + len(self._calls[0].records) <= GROUP_RECORDS_MAX:
            group.append(self._calls.popleft())
            size += len(group[-1].records)
        return group

    async def _commit(self, group: Sequence[_Call]) -> None:
        if self._transactions is not None and not self._transactions.is_usable:
            await self._close_transactions()
        if self._transactions is None:
            self._transactions = await Transactions.open(
                self._settings,
                Names(self._settings.namespace).group(f"producer-{uuid4()}"),
                lost="Kafka gave the transaction up: it took too long.",
                timeout_s=2 * self._settings.call_timeout_s,
            )
        records = [record for call in group for record in call.records]
        try:
            appended = await self._transactions.append(records)
        except Fenced as error:  # nobody else has this id: it was a time limit of the broker's
            raise Unavailable(str(error)) from error
        self._expect(ends(records, appended))
        offsets = iter(appended)
        for call in group:
            own = [next(offsets) for _ in call.records]
            if not call.offsets.done():
                call.offsets.set_result(own)

    async def _close_transactions(self) -> None:
        transactions, self._transactions = self._transactions, None
        if transactions is not None:
            await transactions.close()


def _fail(calls: Sequence[_Call], error: EunoeError) -> None:
    # Each call gets an exception of its own: a shared one would gather all their tracebacks.
    for call in calls:
        if not call.offsets.done():
            call.offsets.set_exception(type(error)(str(error)))
