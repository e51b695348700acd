"""How a program opens its memory: asynchronously, or through one thin synchronous shell."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from .infra.settings import Settings
from .infra.wiring import Tools
from .memory import Memory
from .schemas.errors import Rejected, Unavailable

__all__ = ["SyncMemory", "open", "open_sync"]

Result = TypeVar("Result")
Where = str | PathLike[str] | Settings | None

CALLS: Final = frozenset(
    (
        "add",
        "bind",
        "context",
        "dead_letters",
        "digest",
        "doctor",
        "experience",
        "forget",
        "get",
        "history",
        "identity",
        "list",
        "optimise",
        "profile",
        "register",
        "search",
        "set_timezone",
        "settled",
        "stats",
        "unbind",
        "warm",
    )
)


def open(  # noqa: A001 - the name that users know
    where: Where = None, *, serve: bool = True, process: bool = True, tools: Tools | None = None
) -> Memory:
    """Return the memory in a folder, to be used with `async with`.

    Args:
        where: The folder, or settings; without it the environment says.
        serve: Whether to answer other processes' commands while the folder is held.
        process: Whether to decide events; without it the store is only read.
        tools: What to replace, such as the encoder.
    """
    return Memory(_settings(where), serve=serve, process=process, tools=tools)


def open_sync(
    where: Where = None, *, serve: bool = True, process: bool = True, tools: Tools | None = None
) -> "SyncMemory":
    """Return the memory in a folder for a script, to be used with `with`.

    Every method of `Memory` is there, and returns when it is done. Args as in `open`.
    """
    return SyncMemory(open(where, serve=serve, process=process, tools=tools))


class SyncMemory:
    """A `Memory` whose event loop runs in a thread of its own.

    Args:
        memory: Not yet entered.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Open the folder; raises as `Memory.__aenter__` does."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="eunoe-loop", daemon=True
        )
        self._thread.start()
        try:
            self._run(self._memory.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Make everything durable and release the folder."""
        try:
            self._run(self._memory.__aexit__(kind, error, trace))
        finally:
            self._stop()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a method of `Memory` that waits for its result."""
        if name not in CALLS:
            message = f"A memory has no method {name!r}."
            raise AttributeError(message)
        method = getattr(self._memory, name)

        def call(*positional: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever the method takes
            return self._run(method(*positional, **named))

        return call

    def _run(self, call: Coroutine[Any, Any, Result]) -> Result:
        if self._loop is None:
            call.close()
            message = "The memory is not open: use it inside a with block."
            raise Unavailable(message)
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def _stop(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = None


def _settings(where: object) -> Settings:
    if isinstance(where, Settings):
        return where
    if where is None:
        return Settings.from_env()
    if isinstance(where, str | PathLike):
        # Who names a folder means it, wherever the environment says that servers are.
        return replace(Settings.from_env(Path(where).expanduser()), cluster=None)
    message = "Give a folder or settings."
    raise Rejected(message)
