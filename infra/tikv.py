"""Transactions on TiKV with time limits; the only module that imports `tikv_client`.

What the vendor's client leaves to its user, and what is done about it here:

* It knows no time limits: each call gets one, and one that takes longer is `Unavailable`.
* Every error is a bare `Exception`, told apart by its text: once, in `_translated`.
* A transaction that is dropped unfinished panics. So `begin` and `commit` are never cancelled: they
  run in tasks of their own to their end, whoever still waits for them. A commit must not be
  followed by a rollback while nobody knows what became of it: that would undo half of it.
* A client is dead for good after its placement driver has restarted: it is replaced by a new one,
  by one task however many callers wait.
* Answers over 4 MiB fail: what is read comes in pages, halved where they are still too long.
* The interpreter may crash as it ends, while the client's threads still run: see `leave`.
"""

import asyncio
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NoReturn, Self, TypeVar

from tikv_client.asynchronous import TransactionClient

from ..schemas.errors import Conflict, Damaged, EunoeError, Rejected, Unavailable
from ..schemas.limits import (
    BACKOFF_S_FIRST,
    EXIT_IDLE_S,
    REASON_CHARACTERS_MAX,
    TIKV_KEYS_A_READ,
    TIKV_PAGE,
    TIKV_READS_AT_ONCE,
)

__all__ = ["AlreadyThere", "Locked", "Reading", "Snapshot", "Tikv", "Transaction", "leave"]

Result = TypeVar("Result")
Pair = tuple[bytes, bytes]


class AlreadyThere(Conflict):
    """A key that was to be new is there."""

    def __init__(self) -> None:
        super().__init__("A key that was to be new is in TiKV already: read it, decide again.")


class Locked(Unavailable):
    """Another transaction's lock stands in the way; it goes, or is resolved within seconds."""

    def __init__(self) -> None:
        super().__init__(
            "A transaction of another process, perhaps of a dead one, holds a key in TiKV; its "
            "lock goes within seconds: try again."
        )


class _Overtaken(Conflict):
    def __init__(self) -> None:
        super().__init__("Another process wrote the same keys in TiKV: read them, decide again.")


class _TooLarge(Rejected):
    def __init__(self) -> None:
        super().__init__("A value is larger than TiKV takes (raft-entry-max-size).")


class _Unreachable(Unavailable):
    """The client is of no use any more, or the server isn't there."""


class _TooLong(Exception):
    """An answer is longer than the client takes."""


EXISTS: Final = ("AlreadyExist",)
CONFLICTS: Final = ("WriteConflict", "Deadlock", "TxnNotFound", "TxnLockNotFound")
LOCKED: Final = ("ResolveLock", "Failed to resolve lock", "KeyIsLocked")
TOO_LARGE: Final = ("raft_entry_too_large", "RaftEntryTooLarge")
TOO_LONG: Final = ("message length too large",)
UNDONE: Final = (*EXISTS, *CONFLICTS, *LOCKED, *TOO_LARGE)
"""Texts of errors after which it is certain that nothing was committed."""
MEANINGS: Final[tuple[tuple[tuple[str, ...], Callable[[], Exception]], ...]] = (
    (TOO_LONG, _TooLong),
    (EXISTS, AlreadyThere),
    (CONFLICTS, _Overtaken),
    (LOCKED, Locked),
    (TOO_LARGE, _TooLarge),
)
"""What an error means whose text holds one of these; of two, the first."""


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


class Reading:
    """Reads at one moment, in pages that fit an answer."""

    def __init__(self, tikv: "Tikv") -> None:
        self._tikv = tikv

    async def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that are there.

        Raises:
            Unavailable: TiKV can't be reached, or didn't answer in time.
        """
        chunks = [
            keys[start : start + TIKV_KEYS_A_READ]
            for start in range(0, len(keys), TIKV_KEYS_A_READ)
        ]
        if len(chunks) == 1:
            return dict(await self._get(chunks[0]))
        places = asyncio.Semaphore(TIKV_READS_AT_ONCE)

        async def read(chunk: Sequence[bytes]) -> list[Pair]:
            async with places:
                return await self._get(chunk)

        return {key: value for part in await _all(map(read, chunks)) for key, value in part}

    async def scan(self, start: bytes, end: bytes, *, limit: int | None = None) -> list[Pair]:
        """Return keys from `start` up to `end`, exclusive, in their order, with their values.

        Raises:
            Unavailable: TiKV can't be reached, or didn't answer in time.
        """
        return await self._pages("scan", start, end, limit, lambda pair: pair[0])

    async def scan_keys(self, start: bytes, end: bytes, *, limit: int | None = None) -> list[bytes]:
        """Return keys from `start` up to `end`, exclusive, in their order."""
        return await self._pages("scan_keys", start, end, limit, lambda key: key)

    def _reader(self) -> Any:  # noqa: ANN401 - the vendor's have no types
        raise NotImplementedError

    async def _get(self, keys: Sequence[bytes]) -> list[Pair]:
        if not keys:
            return []
        try:
            found: list[Pair] = await self._tikv.read(lambda: self._reader().batch_get(list(keys)))
        except _TooLong:
            half = len(keys) // 2
            _require_shorter(half)
            return [*await self._get(keys[:half]), *await self._get(keys[half:])]
        return found

    async def _pages(
        self,
        method: str,
        start: bytes,
        end: bytes,
        limit: int | None,
        key_of: Callable[[Any], bytes],
    ) -> list[Any]:
        found: list[Any] = []
        size = TIKV_PAGE
        while limit is None or len(found) < limit:
            wanted = size if limit is None else min(size, limit - len(found))
            try:
                page = await self._page(method, start, end, wanted)
            except _TooLong:
                size = wanted // 2
                _require_shorter(size)
                continue
            found += page
            if len(page) < wanted:
                break
            start = key_of(page[-1]) + b"\0"
        return found

    async def _page(self, method: str, start: bytes, end: bytes, limit: int) -> list[Any]:
        page: list[Any] = await self._tikv.read(
            lambda: getattr(self._reader(), method)(start, end, limit)
        )
        return page


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
        self._is_ended = True  # the task ends it, also when nobody waits any more
        await self._tikv.finish(self._commit(written, new or {}))

    async def end(self) -> None:
        """Give the transaction up, unless it was committed."""
        if not self._is_ended:
            self._is_ended = True
            await self._tikv.finish(self._vendor.rollback())

    def _reader(self) -> Any:  # noqa: ANN401 - the vendor's have no types
        return self._vendor

    async def _commit(self, written: dict[bytes, bytes | None], new: dict[bytes, bytes]) -> None:
        vendor, is_begun = self._vendor, False
        try:
            items = [*written.items()]
            for one in items[:1]:  # alone: TiKV decides a transaction by its first key
                await _write(vendor, *one)
            await asyncio.gather(*(_write(vendor, *one) for one in items[1:]))
            for key, value in new.items():
                await vendor.insert(key, value)
            is_begun = True
            await vendor.commit()
        except Exception as error:
            # Of a commit that may have succeeded, a rollback would undo one half.
            if not is_begun or any(sign in str(error) for sign in UNDONE):
                await vendor.rollback()
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
            except _Unreachable:
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
        error = task.exception()
        if error is None:
            return task.result()
        raise _translated(error, self._endpoints) from None


async def _write(vendor: Any, key: bytes, value: bytes | None) -> None:  # noqa: ANN401 - the vendor's have no types
    await (vendor.delete(key) if value is None else vendor.put(key, value))


async def _orphaned(beginning: "asyncio.Future[Any]") -> None:
    """Give up a transaction that nobody waits for, once it has begun."""
    await asyncio.wait({beginning})
    if not beginning.cancelled() and beginning.exception() is None:
        await beginning.result().rollback()


async def _all(work: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _require_shorter(size: int) -> None:
    if size < 1:
        message = "A value in TiKV is longer than an answer may be; Eunoe writes none like it."
        raise Damaged(message)


def _translated(error: BaseException, endpoints: Sequence[str]) -> BaseException:
    """Return what an error of the vendor's means; they differ by their text alone."""
    if not isinstance(error, Exception) or isinstance(error, EunoeError | _TooLong):
        return error
    text = str(error)
    for signs, meaning in MEANINGS:
        if any(sign in text for sign in signs):
            return meaning()
    return _Unreachable(
        f"TiKV at {', '.join(endpoints)} can't be used now: see that it runs there (EUNOE_TIKV). "
        f"Its client says: {text[:REASON_CHARACTERS_MAX]}"
    )
