"""Reading from TiKV in pages: an answer of over 4 MiB fails, so long ones come in parts."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from ..schemas.errors import Damaged
from ..schemas.limits import (
    TIKV_KEYS_A_READ,
    TIKV_PAGE,
    TIKV_PAGE_BYTES,
    TIKV_PAGE_FIRST,
    TIKV_READS_AT_ONCE,
)
from .tikv_errors import TooLong

__all__ = ["Caller", "Reading", "each"]

Item = TypeVar("Item")
Result = TypeVar("Result")
Pair = tuple[bytes, bytes]


class Caller(Protocol):
    """Makes calls that only read, with their time limits."""

    async def read(self, call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Make a call, again as long as a lock stands in its way."""
        ...


class Reading:
    """Reads at one moment.

    Args:
        tikv: Makes the calls.
    """

    def __init__(self, tikv: Caller) -> None:
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
        parts = await each(chunks, self._get, TIKV_READS_AT_ONCE)
        return {key: value for part in parts for key, value in part}

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
        except TooLong:
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
        size = TIKV_PAGE_FIRST
        while limit is None or len(found) < limit:
            wanted = size if limit is None else min(size, limit - len(found))
            try:
                page = await self._page(method, start, end, wanted)
            except TooLong:
                size = wanted // 2
                _require_shorter(size)
                continue
            found += page
            if len(page) < wanted:
                break
            start = key_of(page[-1]) + b"\0"
            # An answer that is too long costs seconds: the client asks for it again and again.
            size = min(TIKV_PAGE, max(1, TIKV_PAGE_BYTES * len(page) // sum(map(_bytes, page))))
        return found

    async def _page(self, method: str, start: bytes, end: bytes, limit: int) -> list[Any]:
        page: list[Any] = await self._tikv.read(
            lambda: getattr(self._reader(), method)(start, end, limit)
        )
        return page


async def each(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], limit: int
) -> list[Result]:
    """Do the same with each item, so many at a time; returns when nothing of it runs any more.

    Args:
        items: In the order of what is returned.
        work: An error of one ends the others.
        limit: How many at a time.
    """
    places = asyncio.Semaphore(limit)

    async def one(item: Item) -> Result:
        async with places:
            return await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
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


def _bytes(item: bytes | Pair) -> int:
    return len(item) if isinstance(item, bytes) else len(item[0]) + len(item[1])
