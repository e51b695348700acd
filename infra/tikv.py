"""Transactions on TiKV with time limits; the only module that imports `tikv_client`.

What the vendor's client leaves to its user, and what is done about it here:

* It knows no time limits: each call gets one, and one that takes longer is `Unavailable`.
* Every error is a bare `Exception`, told apart by its text: once, in `tikv_errors`.
* A transaction that is dropped unfinished panics. So `begin` and `commit` are never cancelled: they
  run in tasks of their own to their end, whoever still waits for them. A commit must not be
  followed by a rollback while nobody knows what became of it: that would undo half of it.
* A client is dead for good after its placement driver has restarted: it is replaced by a new one,
  by one task however many callers wait.
* Answers over 4 MiB fail: see `tikv_paging`.
* The interpreter may crash as it ends, while the client's threads still run: see `leave`.
"""

import asyncio
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, NoReturn, Self, TypeVar

from tikv_client.asynchronous import (  # type: ignore[import-untyped]  # it ships no types
    TransactionClient,
)

from ..schemas.errors import Unavailable
from ..schemas.limits import (
    BACKOFF_S_FIRST,
    EXIT_IDLE_S,
)
from .tikv_errors import UNDONE, Locked, Unreachable, translated
from .tikv_paging import Reading

__all__ = ["Snapshot", "Tikv", "Transaction", "leave"]

Result = TypeVar("Result")


def leave(code: int) -> NoReturn:
    """End this process at once, with an exit code, after everything that was said is written.

    An entry point that loaded `tikv_client` ends by this, once its loop is closed: where the
    interpreter is taken down while the client's threads still run, about one process in seven
    crashes, whatever its exit code should have been.
    """
    time.sleep(EXIT_IDLE_S)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Snapshot(Reading):
    """What was committed at one moment.

    Args:
        tikv: Where.
        client: The vendor's.
        moment: The vendor's timestamp.
    """

    def __init__(self, tikv: "Tikv", client: TransactionClient, moment: object) -> None:
        super().__init__(tikv)
        self._client = client
        self._moment = moment

    def _reader(self) -> Any:  # noqa: ANN401 - the vendor's have no types
        # A new one each time: one of them reads one thing after the other.
        return self._client.snapshot(self._moment, pessimistic=False)


class Transaction(Reading):
    """Reads at its begin, and writes that all happen at its commit, or none.

    Args:
        tikv: Where.
        vendor: The vendor's, begun.
    """

    def __init__(self, tikv: "Tikv", vendor: Any) -> None:  # noqa: ANN401 - the vendor's have no types
        super().__init__(tikv)
        self._ending = tikv
        self._vendor = vendor
        self._is_ended = False

    async def commit(
        self, written: dict[bytes, bytes | None], new: dict[bytes, bytes] | None = None
    ) -> None:
        """Write and commit.

        Args:
            written: Values; None deletes. What becomes of the first becomes of all.
            new: Values of keys that must not be there yet.

        Raises:
            AlreadyThere: A key of `new` is there.
            Conflict: Another transaction wrote one of the keys since this one began.
            Locked: Another transaction is about to.
            Unavailable: TiKV can't be reached or didn't answer in time: all of it was written
                or will be, or nothing; who reads what the transaction read knows.
            Rejected: A value is too large.
        """
        await self._ending.local(self._fill(written, new or {}))
        self._is_ended = True  # the task ends it, also when nobody waits any more
        await self._ending.finish(self._commit())

    async def end(self) -> None:
        """Give the transaction up, unless it was committed."""
        if not self._is_ended:
            self._is_ended = True
            await self._ending.finish(self._vendor.rollback())

    def _reader(self) -> Any:  # noqa: ANN401 - the vendor's have no types
        return self._vendor

    async def _fill(self, written: dict[bytes, bytes | None], new: dict[bytes, bytes]) -> None:
        items = [*written.items()]
        for one in items[:1]:  # alone: TiKV decides a transaction by its first key
            await self._write(*one)
        await asyncio.gather(*(self._write(*one) for one in items[1:]))
        for key, value in new.items():
            await self._vendor.insert(key, value)

    async def _write(self, key: bytes, value: bytes | None) -> None:
        vendor = self._vendor
        await (vendor.delete(key) if value is None else vendor.put(key, value))

    async def _commit(self) -> None:
        try:
            await self._vendor.commit()
        except Exception as error:
            # Of a commit that may have succeeded, a rollback would undo one half.
            if any(sign in str(error) for sign in UNDONE):
                await self._vendor.rollback()
            raise


class Tikv:
    """A client of one TiKV; for one event loop.

    Args:
        endpoints: Placement drivers, "host:port".
        timeout_s: Seconds after which a call counts as failed.
    """

    def __init__(self, endpoints: Sequence[str], timeout_s: float) -> None:
        self._endpoints = list(endpoints)
        self.timeout_s = timeout_s
        self._client: TransactionClient | None = None
        self._connecting: asyncio.Task[TransactionClient] | None = None
        self._running: set[asyncio.Future[Any]] = set()

    @classmethod
    async def connect(cls, endpoints: Sequence[str], timeout_s: float) -> Self:
        """Connect.

        Raises:
            Unavailable: TiKV can't be reached, or didn't answer in time.
        """
        tikv = cls(endpoints, timeout_s)
        await tikv._connected()
        return tikv

    async def snapshot(self) -> Snapshot:
        """Return what is committed now.

        Raises:
            Unavailable: TiKV can't be reached, or didn't answer in time.
        """
        client, moment = await self._with_client(lambda one: one.current_timestamp())
        return Snapshot(self, client, moment)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Begin an optimistic transaction; leaving gives up what wasn't committed.

        Raises:
            Unavailable: TiKV can't be reached, or didn't answer in time.
        """
        _, vendor = await self._with_client(lambda one: one.begin(pessimistic=False), _orphaned)
        transaction = Transaction(self, vendor)
        try:
            yield transaction
        finally:
            await transaction.end()

    async def read(self, call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Make a call that changes nothing, again as long as a lock stands in its way."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self.timeout_s
        while True:
            client = self._client
            task = asyncio.ensure_future(call())
            try:
                return await self._answer(task)
            except Locked:
                if loop.time() > until:
                    raise
                await asyncio.sleep(BACKOFF_S_FIRST)
            except Unavailable:
                self._drop(client)
                raise
            finally:
                task.cancel()

    async def finish(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do what must come to its end, also when the caller is cancelled or waits no longer."""
        client = self._client
        try:
            return await self._answer(self._kept(work))
        except Locked:
            raise
        except Unavailable:
            self._drop(client)
            raise

    async def local(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do what asks no server, and so needs no time limit."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task})
            return self._result(task)
        finally:
            task.cancel()

    async def close(self) -> None:
        """Wait for what must come to its end, and let go of the client."""
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=self.timeout_s)
            for task in late:
                task.cancel()
        self._client = None

    async def _with_client(
        self,
        call: Callable[[TransactionClient], Coroutine[Any, Any, Result]],
        orphan: Callable[["asyncio.Future[Any]"], Coroutine[Any, Any, None]] | None = None,
    ) -> tuple[TransactionClient, Result]:
        """Make the first call of something; a client that turns out to be dead is replaced once."""
        for is_last in (False, True):
            client = await self._connected()
            task = self._kept(call(client))
            try:
                return client, await self._answer(task)
            except Unreachable:
                self._drop(client)
                if is_last:
                    raise
            except BaseException as error:
                if isinstance(error, Unavailable):
                    self._drop(client)
                if orphan is not None:
                    self._kept(orphan(task))
                raise
        raise AssertionError  # pragma: no cover - the loop returns or raises

    async def _connected(self) -> TransactionClient:
        if self._client is not None:
            return self._client
        if self._connecting is None or self._connecting.done():
            # TransactionClient.connect has no types; it returns one.
            self._connecting = self._kept(TransactionClient.connect(self._endpoints))
        connecting = self._connecting
        try:
            client = await self._answer(connecting)
        finally:
            if connecting is self._connecting:
                self._connecting = None
        if self._client is None:
            self._client = client
        return self._client

    def _drop(self, client: TransactionClient | None) -> None:
        if client is self._client:
            self._client = None

    def _kept(self, work: Coroutine[Any, Any, Result]) -> "asyncio.Task[Result]":
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: "asyncio.Future[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it gets it too; if nobody does, nobody is told

    async def _answer(self, task: "asyncio.Future[Result]") -> Result:
        """Wait for a task, without cancelling it; translates what it raises."""
        done, _ = await asyncio.wait({task}, timeout=self.timeout_s)
        if not done:
            message = (
                f"TiKV at {', '.join(self._endpoints)} did not answer within {self.timeout_s:g} "
                "seconds: see that it runs there (EUNOE_TIKV), or allow it more time "
                "(EUNOE_CALL_TIMEOUT_S)."
            )
            raise Unavailable(message)
        return self._result(task)

    def _result(self, task: "asyncio.Future[Result]") -> Result:
        error = task.exception()
        if error is None:
            return task.result()
        raise translated(error, self._endpoints) from None


async def _orphaned(beginning: "asyncio.Future[Any]") -> None:
    """Give up a transaction that nobody waits for, once it has begun."""
    await asyncio.wait({beginning})
    if not beginning.cancelled() and beginning.exception() is None:
        await beginning.result().rollback()
