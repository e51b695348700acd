"""The door: other processes use a data folder through the one that owns it.

The owner serves a Unix-domain socket in the folder, closed to other users of the machine. A
client sends one request at a time on a connection and may open several. Whatever a client does,
dies or leaves unread, the owner goes on.

Delivery: a call that changes something and has begun is finished even when its client died. A
client that got no answer may repeat it with the same ids, which is harmless.
"""

import asyncio
import contextlib
import inspect
import os
import socket
from asyncio import StreamReader, StreamWriter, Task
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from pydantic_core import to_json

from .door_remote import CALLS, OwnerGone, RemoteMemory, connect
from .door_wire import (
    BUSY,
    PING,
    PROTOCOL,
    Place,
    check_size,
    error_answer,
    is_private,
    places,
    read_frame,
    unpack_arguments,
    write_frame,
)
from .schemas.errors import EunoeError, Rejected, Unavailable
from .schemas.limits import (
    BUSY_EVERY_S,
    CLOSE_S_MAX,
    CONNECTIONS_MAX,
)

__all__ = ["Door", "OwnerGone", "RemoteMemory", "connect", "serve"]

_CHANGES: Final = frozenset({"add", "bind", "forget", "register", "set_timezone", "unbind"})


class Door:
    """A served folder; made by `serve`, and closed before the memory behind it."""

    def __init__(self, memory: object, place: Place) -> None:
        self._memory = memory
        self._place = place
        self._inode = place.path.lstat().st_ino
        self._server: asyncio.Server | None = None
        self._conversations: set[Task[None]] = set()
        self._occupied: set[Task[None]] = set()  # conversations about a change
        self._changing: set[Task[bytes]] = set()

    @property
    def place(self) -> Path:
        """Where the socket is."""
        return self._place.path

    async def __aenter__(self) -> Self:
        """Return itself; it's open already."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close()

    async def listen(self, listener: socket.socket) -> None:
        """Start to answer.

        Args:
            listener: A bound socket.
        """
        self._server = await asyncio.start_unix_server(self._accept, sock=listener)

    async def close(self) -> None:
        """Take no more requests, finish what changes something, hang up on everybody.

        Calls that only read, and those that take too long, are cancelled.
        """
        if self._server is None:
            return
        self._server.close()
        self._server = None
        with contextlib.suppress(OSError):
            self._remove_socket()
        for task in self._conversations - self._occupied:
            task.cancel()
        if changing := {*self._changing, *self._occupied}:
            await asyncio.wait(changing, timeout=CLOSE_S_MAX)
        rest: set[Task[Any]] = {*self._conversations, *self._changing}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def _remove_socket(self) -> None:
        path = self._place.path
        if path.lstat().st_ino == self._inode:  # else it is a later owner's
            path.unlink()
            if self._place.hidden:
                path.parent.rmdir()

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        # A plain function: asyncio makes a task of a coroutine by itself, which we couldn't end.
        task = asyncio.get_running_loop().create_task(self._converse(reader, writer))
        self._conversations.add(task)
        task.add_done_callback(self._conversations.discard)

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            if len(self._conversations) > CONNECTIONS_MAX:
                message = f"The owner of the folder serves {CONNECTIONS_MAX} connections already."
                await write_frame(writer, error_answer(Unavailable(message)))
                return
            while self._server is not None and (frame := await read_frame(reader)) is not None:
                await self._answer(frame, writer)
        except Rejected as error:  # a frame over the bound: what follows can't be read
            with contextlib.suppress(OSError):
                await write_frame(writer, error_answer(error))
        except OSError:
            pass  # the client went away
        finally:
            writer.close()

    async def _answer(self, frame: bytes, writer: StreamWriter) -> None:
        """Do what a request asks for, with signs of life while it lasts."""
        try:
            call, arguments = unpack_arguments(frame)
            _check_arguments(call, arguments)
        except Rejected as error:
            await write_frame(writer, error_answer(error))
            return
        work = asyncio.get_running_loop().create_task(self._work(call, arguments))
        with self._kept(call, work):
            await write_frame(writer, await _finish(work, writer))

    @contextlib.contextmanager
    def _kept(self, call: str, work: Task[bytes]) -> Iterator[None]:
        """Mark a call that changes something, so that it ends well; end any other with us."""
        if call not in _CHANGES:
            try:
                yield
            finally:
                work.cancel()
            return
        self._changing.add(work)
        work.add_done_callback(self._changing.discard)
        conversation = asyncio.current_task()
        if conversation is not None:
            self._occupied.add(conversation)
        try:
            yield
        finally:
            if conversation is not None:
                self._occupied.discard(conversation)

    async def _work(self, call: str, arguments: dict[str, object]) -> bytes:
        if call == PING:
            return to_json({"result": PROTOCOL})
        try:
            result = await getattr(self._memory, call)(**arguments)
            answer = to_json({"result": result}, inf_nan_mode="null")
            check_size(len(answer))
        except EunoeError as error:
            return error_answer(error)
        return answer


async def serve(memory: object, folder: Path) -> Door:
    """Let other processes use a folder that this process owns.

    Args:
        memory: The façade that answers.
        folder: The data folder; the caller holds it, so a socket found there is a stale one.

    Returns:
        The door. Close it before the memory.

    Raises:
        Unavailable: No socket can be made, in the folder or in the temporary directory.
    """
    for place in places(folder):
        try:
            listener = _bind(place)
        except OSError:  # a file system without sockets, or a directory of somebody else
            continue
        door = Door(memory, place)
        await door.listen(listener)
        return door
    message = f"No socket can be made in {folder}, nor in the temporary directory."
    raise Unavailable(message)


def _bind(place: Place) -> socket.socket:
    directory = place.path.parent
    if place.hidden:
        directory.mkdir(mode=0o700, exist_ok=True)
        if not is_private(directory):
            raise PermissionError(directory)
    place.path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    former = os.umask(0o177)  # the socket is never open to others, not even for a moment
    try:
        listener.bind(os.fspath(place.path))
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(former)
    return listener


def _check_arguments(call: str, arguments: dict[str, object]) -> None:
    if call == PING:
        return
    if call not in CALLS:
        message = f"There is no call {call!r}."
        raise Rejected(message)
    try:
        inspect.signature(CALLS[call]).bind(None, **arguments)
    except TypeError as error:
        message = f"{call}: {error}."
        raise Rejected(message) from error


async def _finish(work: Task[bytes], writer: StreamWriter) -> bytes:
    """Wait for a call, giving signs of life; a bug in it is reported and answered."""
    while not (await asyncio.wait({work}, timeout=BUSY_EVERY_S))[0]:
        await write_frame(writer, BUSY)
    failure = None if work.cancelled() else work.exception()
    if failure is None:
        return work.result()
    context = {"message": "A call through the door failed", "exception": failure}
    asyncio.get_running_loop().call_exception_handler(context)
    message = (
        f"The process that owns the folder failed inside ({type(failure).__name__}); "
        "its own output says more."
    )
    return error_answer(Unavailable(message))
