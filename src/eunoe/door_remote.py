"""The client's side of the door: the façade's calls, answered by the owner of the folder."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self, TypeVar

import orjson
from pydantic import TypeAdapter

from .door_identifying import RemoteIdentifying
from .door_wire import (
    PING,
    PROTOCOL,
    Id,
    error_of,
    is_private,
    pack_arguments,
    places,
    read_frame,
    write_frame,
)
from .schemas.errors import EunoeError, Unavailable
from .schemas.limits import (
    CALLS_MAX,
    PING_S_MAX,
    SETTLE_TIMEOUT_S,
    SILENCE_S_MAX,
)
from .schemas.results import (
    Check,
    Context,
    DeadLetter,
    ExperienceFigure,
    ForgetReport,
    Hit,
    Item,
    ProfileField,
    Revision,
    Stats,
)

__all__ = ["CALLS", "OwnerGone", "RemoteMemory", "connect"]

_Answer = TypeVar("_Answer")


# Names for lists, since `RemoteMemory.list` hides the built-in one inside the class.
_Ids = list[str]
_Hits = list[Hit]
_Items = list[Item]
_Revisions = list[Revision]
_Fields = list[ProfileField]
_Letters = list[DeadLetter]
_Checks = list[Check]
_Figures = list[ExperienceFigure]

_IDS: Final = TypeAdapter(_Ids)
_HITS: Final = TypeAdapter(_Hits)
_CONTEXT: Final = TypeAdapter(Context)
_ITEM: Final = TypeAdapter(Item)
_ITEMS: Final = TypeAdapter(_Items)
_REVISIONS: Final = TypeAdapter(_Revisions)
_FIELDS: Final = TypeAdapter(_Fields)
_NOTHING: Final[TypeAdapter[None]] = TypeAdapter(None)
_REPORT: Final = TypeAdapter(ForgetReport)
_STATS: Final = TypeAdapter(Stats)
_TEXT: Final = TypeAdapter(str)
_LETTERS: Final = TypeAdapter(_Letters)
_CHECKS: Final = TypeAdapter(_Checks)
_FIGURES: Final = TypeAdapter(_Figures)


class OwnerGone(Unavailable):
    """The process that owned the folder ended before it answered."""


class _Connection:
    """One connection to the owner; it carries one call at a time."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def is_open(self) -> bool:
        """Whether the owner hasn't hung up, as far as is known."""
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def ask(self, frame: bytes, *, silence_s_max: float) -> object:
        """Send a request and wait for its answer.

        Args:
            frame: The request.
            silence_s_max: How long the owner may give no sign of life, in seconds.

        Returns:
            The result, as plain JSON values.

        Raises:
            OwnerGone: It hung up.
            Unavailable: It was silent for too long.
            EunoeError: The error that it answers with.
        """
        try:
            async with asyncio.timeout(silence_s_max):
                await write_frame(self._writer, frame)
            while True:
                async with asyncio.timeout(silence_s_max):
                    answer = await read_frame(self._reader)
                if answer is None:
                    _raise_gone()
                match orjson.loads(answer):
                    case {"result": result}:
                        return result
                    case {"error": {"kind": str(kind), "sentence": str(sentence)}}:
                        raise error_of(kind, sentence)
        except TimeoutError as error:
            message = (
                f"The process that owns the folder gave no sign of life for {silence_s_max:g} s; "
                "it may be stopped. Continue or end it, then try again."
            )
            raise Unavailable(message) from error
        except OSError as error:
            _raise_gone(error)

    async def greet(self) -> None:
        """Check that somebody answers who speaks our protocol.

        Raises:
            Unavailable: Nobody answers in time, or in another protocol.
        """
        found = await self.ask(pack_arguments(PING, {}), silence_s_max=PING_S_MAX)
        if found != PROTOCOL:
            message = (
                "The process that owns the folder runs another version of Eunoe; "
                "end it, or use the same version."
            )
            raise Unavailable(message)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


class RemoteMemory(RemoteIdentifying):
    """The façade of a folder that another process owns.

    It offers the calls of `Memory`, with the same results and errors. Leaving it as a context
    manager hangs up; the owner goes on.
    """

    def __init__(self, place: Path, connection: _Connection) -> None:
        self._place = place
        self._idle = [connection]
        self._room = asyncio.Semaphore(CALLS_MAX)

    async def __aenter__(self) -> Self:
        """Return itself; the connection is there already."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Hang up."""
        await self.close()

    async def close(self) -> None:
        """Hang up; the owner goes on."""
        while self._idle:
            self._idle.pop().close()

    async def add(  # noqa: PLR0913 - the façade's signature
        self,
        messages: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
        *,
        user_id: str,
        session_id: str | None = None,
        tenant_id: str = "default",
        agent_id: str | None = None,
        source: str = "chat",
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
        store: bool = True,
        wait: bool = True,
    ) -> _Ids:
        """Do as `Memory.add`."""
        return await self._ask("add", locals(), _IDS)

    async def search(  # noqa: PLR0913 - the façade's signature
        self,
        query: str,
        *,
        user_id: str,
        tenant_id: str = "default",
        limit: int = 10,
        kinds: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        project_id: str | None = None,
        now: datetime | None = None,
        as_of: datetime | None = None,
    ) -> _Hits:
        """Do as `Memory.search`."""
        return await self._ask("search", locals(), _HITS)

    async def context(  # noqa: PLR0913 - the façade's signature
        self,
        query: str,
        *,
        user_id: str,
        tenant_id: str = "default",
        budget_tokens: int = 1000,
        limit: int = 30,
        kinds: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        project_id: str | None = None,
        now: datetime | None = None,
        as_of: datetime | None = None,
    ) -> Context:
        """Do as `Memory.context`."""
        return await self._ask("context", locals(), _CONTEXT)

    async def get(
        self,
        id: Id,  # noqa: A002 - the façade's name
        *,
        user_id: str,
        tenant_id: str = "default",
    ) -> Item:
        """Do as `Memory.get`."""
        return await self._ask("get", locals(), _ITEM)

    async def list(
        self,
        *,
        user_id: str,
        tenant_id: str = "default",
        kinds: Sequence[str] | None = None,
        limit: int = 100,
    ) -> _Items:
        """Do as `Memory.list`."""
        return await self._ask("list", locals(), _ITEMS)

    async def history(
        self,
        id: Id,  # noqa: A002 - the façade's name
        *,
        user_id: str,
        tenant_id: str = "default",
    ) -> _Revisions:
        """Do as `Memory.history`."""
        return await self._ask("history", locals(), _REVISIONS)

    async def profile(self, *, user_id: str, tenant_id: str = "default") -> _Fields:
        """Do as `Memory.profile`."""
        return await self._ask("profile", locals(), _FIELDS)

    async def set_timezone(
        self, timezone: str, *, user_id: str, tenant_id: str = "default"
    ) -> None:
        """Do as `Memory.set_timezone`."""
        await self._ask("set_timezone", locals(), _NOTHING)

    async def forget(
        self, ids: Id | Sequence[Id], *, user_id: str, tenant_id: str = "default"
    ) -> ForgetReport:
        """Do as `Memory.forget`."""
        return await self._ask("forget", locals(), _REPORT)

    async def stats(self, *, user_id: str | None = None, tenant_id: str = "default") -> Stats:
        """Do as `Memory.stats`."""
        return await self._ask("stats", locals(), _STATS)

    async def settled(self, *, timeout_s: float = SETTLE_TIMEOUT_S) -> None:
        """Do as `Memory.settled`."""
        await self._ask("settled", locals(), _NOTHING)

    async def digest(self, *, user_id: str, tenant_id: str = "default") -> str:
        """Do as `Memory.digest`."""
        return await self._ask("digest", locals(), _TEXT)

    async def dead_letters(
        self, *, user_id: str | None = None, tenant_id: str = "default", show: bool = False
    ) -> _Letters:
        """Do as `Memory.dead_letters`."""
        return await self._ask("dead_letters", locals(), _LETTERS)

    async def doctor(self) -> _Checks:
        """Do as `Memory.doctor`."""
        return await self._ask("doctor", locals(), _CHECKS)

    async def experience(
        self,
        *,
        user_id: str | None = None,
        tenant_id: str = "default",
        domain: str | None = None,
        days: int = 30,
    ) -> _Figures:
        """Do as `Memory.experience`."""
        return await self._ask("experience", locals(), _FIGURES)

    async def _ask(
        self, call: str, named: Mapping[str, object], answer: TypeAdapter[_Answer]
    ) -> _Answer:
        arguments = {name: value for name, value in named.items() if name != "self"}
        frame = pack_arguments(call, arguments)
        async with self._room:
            connection = await self._take()
            try:
                result = await connection.ask(frame, silence_s_max=SILENCE_S_MAX)
            except EunoeError as error:
                self._give_back(connection, reusable=not isinstance(error, Unavailable))
                raise
            except BaseException:
                connection.close()
                raise
            self._give_back(connection, reusable=True)
        return answer.validate_python(result)

    async def _take(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
            connection.close()
        fresh = await _dial(self._place)
        if fresh is None:
            _raise_gone()
        return fresh

    def _give_back(self, connection: _Connection, *, reusable: bool) -> None:
        if reusable and connection.is_open:
            self._idle.append(connection)
        else:
            connection.close()


CALLS: Final[dict[str, Callable[..., object]]] = {
    name: getattr(RemoteMemory, name)
    for name in (
        "add bind context dead_letters digest doctor experience forget get history identity list "
        "profile register search set_timezone settled stats unbind"
    ).split()
}
"""What may be called through the door; the signatures say which arguments."""


async def connect(folder: Path) -> RemoteMemory | None:
    """Reach the process that owns a data folder.

    Args:
        folder: The data folder.

    Returns:
        Its façade, or None when nobody answers there.

    Raises:
        Unavailable: Somebody is there but gives no answer in time, or has no room.
    """
    for place in places(folder):
        if place.hidden and not is_private(place.path.parent):
            continue
        try:
            connection = await _dial(place.path)
        except OwnerGone:
            continue
        if connection is not None:
            return RemoteMemory(place.path, connection)
    return None


async def _dial(place: Path) -> _Connection | None:
    try:
        async with asyncio.timeout(PING_S_MAX):
            reader, writer = await asyncio.open_unix_connection(place)
    except TimeoutError as error:
        message = "The process that owns the folder takes no more connections now; try again."
        raise Unavailable(message) from error
    except OSError:  # no socket, a stale one, or one of another user
        return None
    connection = _Connection(reader, writer)
    try:
        await connection.greet()
    except BaseException:
        connection.close()
        raise
    return connection


def _raise_gone(cause: BaseException | None = None) -> NoReturn:
    message = "The process that owned the folder ended before it answered; try again."
    raise OwnerGone(message) from cause
