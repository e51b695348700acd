"""For programs that only publish: chat frontends, agents, connectors.

    import eunoe.producer

    eunoe.producer.publish("I moved to Oslo", user_id="ana")

    async with eunoe.producer.open(source="my-frontend") as producer:
        await producer.turn("I moved to Oslo", user_id="ana", session_id="monday")

What returns has been acknowledged by the brokers, and is decided by the writer a moment later.
Nothing is remembered, read or decided in this process, and no model is loaded.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, Self
from uuid import UUID

from .commanding import command_event
from .infra.clock import SystemClock
from .infra.cluster_settings import ClusterSettings
from .infra.settings import Settings, cluster_from_env
from .messages import Message, Origin, envelopes
from .parameters import TENANT, ident_of, name_of, several
from .receipts import NotAcknowledged, Receipt, receipts_of
from .schemas.errors import Rejected, Unavailable
from .schemas.events import Envelope, Forget, SetTimezone, event_id
from .schemas.ports import Clock
from .schemas.topics import COMMANDS, TURNS

try:
    from .infra.kafka_publishing import Published, Publisher
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "aiokafka":
        raise
    _MISSING = "Publishing needs aiokafka: pip install eunoe[producer]"
    raise ImportError(_MISSING, name=error.name) from error

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Connect", "NotAcknowledged", "Producer", "Publishing", "Receipt", "open", "publish"]

Where = ClusterSettings | Settings | str | Sequence[str] | None


class Publishing(Protocol):
    """What publishes events; see `infra.kafka_publishing.Publisher`."""

    async def publish(self, topic: str, events: Sequence[Envelope]) -> Published:
        """Publish events of one topic, in order."""
        ...

    async def close(self) -> None:
        """Deliver what was sent, and disconnect."""
        ...


Connect = Callable[[ClusterSettings], Awaitable[Publishing]]
"""What opens the connection."""


def open(where: Where = None, *, source: str = "chat") -> "Producer":  # noqa: A001 - as eunoe.open
    """Return a producer, to be used with `async with`.

    Args:
        where: Brokers ("host:port", comma-separated or a list), or settings; without it
            EUNOE_KAFKA says. The environment says the rest: the namespace, the login.
        source: The producer's name; ids are unique within it.

    Raises:
        Rejected: No brokers are named, or a setting or the source can't be used.
    """
    return Producer(_settings(where), source=source)


def publish(  # noqa: PLR0913 - the parameters of a turn
    content: str,
    *,
    user_id: str,
    role: str = "user",
    session_id: str | None = None,
    id: str | None = None,  # noqa: A002 - the name that it has in a message
    time: datetime | str | None = None,
    name: str | None = None,
    agent_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    tenant_id: str = TENANT,
    source: str = "chat",
    where: Where = None,
) -> Receipt:
    """Publish one turn and wait until the brokers acknowledge it; for scripts.

    Each call connects anew: who publishes more than one takes `open`. Args and errors as in
    `open` and `Producer.turn`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        message = (
            "publish() would block the event loop that runs here: use open() and await turn()."
        )
        raise Rejected(message)

    async def run() -> Receipt:
        async with open(where, source=source) as producer:
            return await producer.turn(
                content,
                user_id=user_id,
                role=role,
                session_id=session_id,
                id=id,
                time=time,
                name=name,
                agent_id=agent_id,
                metadata=metadata,
                tenant_id=tenant_id,
            )

    return asyncio.run(run())


class Producer:
    """Publishes turns and commands; made by `open`.

    Every call returns when the brokers have acknowledged what it published: all replicas in sync
    have it. Calls may run at the same time; what one call publishes lies in its order, and what
    is sent and not acknowledged is bounded over all of them.

    Args:
        settings: Where the brokers are.
        source: The producer's name.
        connect: Opens the connection.
        clock: For turns without a time.
    """

    def __init__(
        self,
        settings: ClusterSettings,
        *,
        source: str,
        connect: Connect = Publisher.open,
        clock: Clock | None = None,
    ) -> None:
        self._settings = settings
        self._source = name_of("source", source)
        self._connect = connect
        self._clock: Clock = clock or SystemClock()
        self._connection: Publishing | None = None

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            Unavailable: Kafka can't be reached, the login is wrong, or a topic is missing; the
                sentence names the setting or the command.
        """
        self._connection = await self._connect(self._settings)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: "TracebackType | None",
    ) -> None:
        """Deliver what was sent, within a time limit, and disconnect."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def turn(  # noqa: PLR0913 - the parameters that users of memory libraries know
        self,
        content: str,
        *,
        user_id: str,
        role: str = "user",
        session_id: str | None = None,
        id: str | None = None,  # noqa: A002 - the name that it has in a message
        time: datetime | str | None = None,
        name: str | None = None,
        agent_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tenant_id: str = TENANT,
    ) -> Receipt:
        """Publish what was said; secrets are replaced by placeholders before.

        Args:
            content: The text.
            user_id: Whose memory.
            role: Who spoke: "user", "assistant", "tool" or "system".
            session_id: The conversation.
            id: The producer's id of the turn; without it one is made. A turn that is published
                again with the same id counts once.
            time: When it was said (ISO 8601 with offset, or an aware datetime); else now.
            name: Who spoke.
            agent_id: The agent.
            metadata: Kept with it.
            tenant_id: The installation.

        Raises:
            Rejected: It can't be taken; nothing was sent.
            NotAcknowledged: The brokers didn't acknowledge it.
        """
        given = {"id": id, "time": time, "name": name}
        message = {key: value for key, value in given.items() if value is not None}
        receipts = await self.turns(
            [{"role": role, "content": content, **message}],
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            metadata=metadata,
            tenant_id=tenant_id,
        )
        return receipts[0]

    async def turns(
        self,
        messages: Message | Sequence[Message],
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tenant_id: str = TENANT,
    ) -> list[Receipt]:
        """Publish several turns: all are checked, then all are sent, then all are awaited.

        They lie in the log in this order. It is no transaction: a failure may leave some behind.

        Args:
            messages: As `Memory.add` takes them.
            user_id: Whose memory.
            session_id: Session of messages that name none.
            agent_id: The agent.
            metadata: For messages that bring none.
            tenant_id: The installation.

        Returns:
            One receipt for each, in order.

        Raises:
            Rejected: A message can't be taken, and nothing was sent; or the topic doesn't take a
                record of this size.
            NotAcknowledged: Some weren't acknowledged; it says which, and holds them.
        """
        origin = Origin(
            tenant_id=name_of("tenant_id", tenant_id),
            user_id=name_of("user_id", user_id),
            source=self._source,
            session_id=session_id,
            agent_id=agent_id,
            metadata=metadata,
            now=self._clock.now(),
        )
        return await self._published(TURNS.name, envelopes(messages, origin))

    async def forget(
        self,
        ids: str | UUID | tuple[str, str] | Sequence[str | UUID | tuple[str, str]],
        *,
        user_id: str,
        tenant_id: str = TENANT,
    ) -> Receipt:
        """Publish the command that removes turns and what rests on them. Can't be undone.

        It reaches turns that were published before it and are decided after it, too.

        Args:
            ids: Ids of this producer's turns, (source, id) pairs of another's, or event ids
                (UUID, as in `Receipt.event_id`); one or a list. Memories are forgotten by their
                turns.
            user_id: Whose memory.
            tenant_id: The installation.

        Raises:
            Rejected: There is no id, or one can't be an id.
            NotAcknowledged: The brokers didn't acknowledge it.
        """
        owner = name_of("tenant_id", tenant_id), name_of("user_id", user_id)
        each: Sequence[object] = [ids] if isinstance(ids, UUID) else several(ids)
        found = [self._event_id(one, *owner) for one in each]
        if not found:
            message = "Nothing to forget: give at least one id."
            raise Rejected(message)
        payload = Forget(event_ids=tuple(dict.fromkeys(found)))
        return await self._command(payload, *owner)

    async def set_timezone(
        self, timezone: str, *, user_id: str, tenant_id: str = TENANT
    ) -> Receipt:
        """Publish the command that sets an owner's time zone from now on.

        Args:
            timezone: An IANA name, such as Asia/Shanghai; the writer checks that there is one.
            user_id: Whose memory.
            tenant_id: The installation.

        Raises:
            Rejected: It can't be a name.
            NotAcknowledged: The brokers didn't acknowledge it.
        """
        owner = name_of("tenant_id", tenant_id), name_of("user_id", user_id)
        payload = SetTimezone(timezone=name_of("timezone", timezone))
        return await self._command(payload, *owner)

    def _event_id(self, ident: object, tenant_id: str, user_id: str) -> UUID:
        if isinstance(ident, UUID):
            return ident
        named = ident_of(ident)
        source, own = named if isinstance(named, tuple) else (self._source, named)
        return event_id(tenant_id, user_id, source, own)

    async def _command(
        self, payload: Forget | SetTimezone, tenant_id: str, user_id: str
    ) -> Receipt:
        event = command_event(
            payload,
            tenant_id=tenant_id,
            user_id=user_id,
            now=self._clock.now(),
            source=self._source,
        )
        return (await self._published(COMMANDS.name, [event]))[0]

    async def _published(self, topic: str, events: Sequence[Envelope]) -> list[Receipt]:
        if self._connection is None:
            message = "The producer is not open: use it inside an async with block."
            raise Unavailable(message)
        published = await self._connection.publish(topic, events)
        return receipts_of(events, published.places, published.failure)


def _settings(where: object) -> ClusterSettings:
    if isinstance(where, ClusterSettings):
        return where
    if isinstance(where, Settings):
        if where.cluster is None:
            message = "These settings name no brokers: set EUNOE_KAFKA, or give cluster settings."
            raise Rejected(message)
        return where.cluster
    if where is None or isinstance(where, str):
        return cluster_from_env(where)
    if isinstance(where, Sequence) and all(isinstance(one, str) for one in where):
        return cluster_from_env(",".join(where))
    message = "Give brokers as host:port, or settings."
    raise Rejected(message)
