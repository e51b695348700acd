"""The façade: what a program that remembers calls."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from .commanding import turns_to_forget
from .door import serve as serve_door
from .identifying import Identifying
from .infra.settings import Settings
from .infra.wiring import Tools, open_engines
from .opened import TENANT
from .parameters import (
    budget_of,
    ident_of,
    kinds_of,
    limit_of,
    name_of,
    not_yet,
    several,
)
from .questioning import question_from
from .runtime import Runtime
from .schemas import results
from .schemas.errors import Rejected
from .schemas.events import Forget, SetTimezone
from .schemas.topics import TURNS
from .streams.asking import Question
from .streams.consumer import Progress
from .streams.reading import Ident
from .upkeep import Upkeep

if TYPE_CHECKING:
    from .messages import Message

__all__ = ["Memory"]

# The class has a method named list, so the types of its other methods have names here.
Revisions = list[results.Revision]
ProfileFields = list[results.ProfileField]


class Memory(Identifying, Upkeep):
    """Long-term memory in a folder: an async context manager, made by `eunoe.open`.

    Args:
        settings: Where and how.
        serve: Whether other processes' commands are answered while this one holds the folder.
        process: Whether events are decided; if not, the store is only read and no model loads.
        tools: What a caller replaces.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        serve: bool = True,
        process: bool = True,
        tools: Tools | None = None,
    ) -> None:
        super().__init__(process=process)
        self._settings = settings
        self._serve = serve
        self._tools = tools or Tools()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open the folder, bring the stores to the journal's end, start deciding.

        On a cluster its workers decide: here the servers are connected to.

        Raises:
            FolderHeld: Another process owns the folder.
            EncoderMismatch: The store was written with another encoder.
            Unavailable: The folder, the key or an engine can't be used.
            Rejected: A setting is wrong, or a newer version wrote the store.
            Damaged: The store contradicts itself.
        """
        async with AsyncExitStack() as stack:
            if self._settings.cluster is None:
                await self._open_folder(stack)
            else:
                await self._open_cluster(stack)
            self._stack = stack.pop_all()
        return self

    async def _open_folder(self, stack: AsyncExitStack) -> None:
        engines = await open_engines(self._settings, self._tools)
        stack.push_async_callback(engines.stack.aclose)
        progress = Progress()
        self._opened = Runtime(engines, progress, turns_searchable=self._settings.turns_searchable)
        await self.runtime.journal.catch_up()
        stack.push_async_callback(self.runtime.journal.flush)
        if self._process:
            stack.push_async_callback(self.runtime.start(progress))
        if self._serve:
            door = await serve_door(self, engines.folder)
            stack.push_async_callback(door.close)

    async def _open_cluster(self, stack: AsyncExitStack) -> None:
        from .following import Following  # noqa: PLC0415 - needs the cluster's libraries
        from .infra.cluster import open_cluster  # noqa: PLC0415 - likewise

        engines = await open_cluster(self._settings, self._tools)
        stack.push_async_callback(engines.stack.aclose)
        following = Following(engines)
        await following.start()
        self._opened = Runtime(engines, following, turns_searchable=self._settings.turns_searchable)
        stack.push_async_callback(self.runtime.served.start())

    async def __aexit__(self, *_: object) -> None:
        """Stop deciding, make everything durable, release the folder."""
        await self._stack.aclose()
        self._opened = None

    async def add(  # noqa: PLR0913 - the parameters that users of memory libraries know
        self,
        messages: "Message | Sequence[Message]",
        *,
        user_id: str,
        session_id: str | None = None,
        tenant_id: str = TENANT,
        agent_id: str | None = None,
        source: str = "chat",
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
        store: bool = True,
        wait: bool = True,
    ) -> list[str]:
        """Remember what was said. All messages are checked, then all are stored or none.

        One whose id is stored with other content is refused by itself when it is decided; the
        others stay.

        Args:
            messages: A text (said by the user), a mapping with role and content and, if known,
                name, id, time (ISO 8601 with offset, or an aware datetime), session_id,
                metadata; or a list of these.
            user_id: Whose memory.
            session_id: The conversation.
            tenant_id: The installation.
            agent_id: The agent.
            source: The producer; ids are unique within it.
            metadata: Kept with each message.
            expires_at: Not there yet.
            store: Not there yet: False.
            wait: Whether to wait until the messages are decided and searchable.

        Returns:
            The messages' ids, in order. They are durable when this returns.

        Raises:
            Rejected: A message can't be taken, or an id is used again with other content.
            Unavailable: The folder can't be written now, and nothing was stored; or deciding
                takes too long, and everything is.
        """
        not_yet("expires_at", expires_at)
        not_yet("store", None if store else store)
        from .messages import Origin, envelopes  # noqa: PLC0415 - patterns that reading saves

        origin = Origin(
            tenant_id=tenant_id,
            user_id=await self._person(tenant_id, user_id),
            source=source,
            session_id=session_id,
            agent_id=agent_id,
            metadata=metadata,
            now=self.runtime.engines.clock.now(),
        )
        events = envelopes(messages, origin)
        if events:
            await self.runtime.publish(TURNS.name, events, wait=wait and self._process)
        return [event.id for event in events]

    async def search(  # noqa: PLR0913 - the parameters that users of memory libraries know
        self,
        query: str,
        *,
        user_id: str,
        tenant_id: str = TENANT,
        limit: int = 10,
        kinds: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        project_id: str | None = None,
        now: datetime | None = None,
        as_of: datetime | None = None,
    ) -> list[results.Hit]:
        """Find what was said, best first; nothing relevant is an empty list.

        Args:
            query: A question or words, in English or Chinese.
            user_id: Whose memory.
            tenant_id: The installation.
            limit: At most so many hits.
            kinds: Only these: "turn", "slot" or memory kinds.
            filters: Bounds beside kinds: "session_id", "role", "name" (who spoke), "source",
                "since" and "until" (times with offset; the end exclusive), "metadata" (a mapping
                that the message's must hold), and "verified": only what somebody vouches for and
                what holds every term of the query.
            project_id: The project in which it is asked: its memories come first, the user's own
                next, those of other projects never.
            now: The question's clock, aware; the present by default.
            as_of: Answer from what was known at this time, aware.

        Raises:
            Rejected: A parameter can't be used.
        """
        question = self._question(
            query, limit, kinds=kinds, filters=filters, project=project_id, now=now, as_of=as_of
        )
        if not question.text or question.limit == 0:
            return []
        return await self.runtime.search(await self._owner(tenant_id, user_id), question)

    async def context(  # noqa: D417, PLR0913 - those of a search, described there
        self,
        query: str,
        *,
        user_id: str,
        tenant_id: str = TENANT,
        budget_tokens: int = 1000,
        limit: int = 30,
        kinds: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        project_id: str | None = None,
        now: datetime | None = None,
        as_of: datetime | None = None,
    ) -> results.Context:
        """Write what `search` finds, of the same parameters, as a block of text for a prompt.

        Args:
            budget_tokens: Most tokens of the block: words, characters of Chinese, Japanese and
                Korean, and marks. The best hits get in.

        Raises:
            Rejected: A parameter can't be used.
        """
        from .prompter import Prompter  # noqa: PLC0415 - patterns that the others do without

        question = self._question(
            query, limit, kinds=kinds, filters=filters, project=project_id, now=now, as_of=as_of
        )
        owner = await self._owner(tenant_id, user_id)
        return await Prompter(self.runtime).context(owner, question, budget_of(budget_tokens))

    async def get(self, id: Ident, *, user_id: str, tenant_id: str = TENANT) -> results.Item:  # noqa: A002 - the field's word
        """Return a turn by its producer's id (or (source, id)), a memory by its id, or a slot.

        Raises:
            NotFound: This user has nothing with the id.
            AmbiguousId: Several sources use the id.
        """
        return await self.runtime.reader.get(await self._owner(tenant_id, user_id), ident_of(id))

    async def list(
        self,
        *,
        user_id: str,
        tenant_id: str = TENANT,
        kinds: Sequence[str] | None = None,
        limit: int = 100,
    ) -> list[results.Item]:
        """List turns and memories, the newest first."""
        owner = await self._owner(tenant_id, user_id)
        return await self.runtime.reader.items(owner, kinds_of(kinds), limit_of(limit))

    async def history(
        self,
        id: Ident,  # noqa: A002 - the field's word
        *,
        user_id: str,
        tenant_id: str = TENANT,
    ) -> Revisions:
        """Return how a turn, memory or slot came to be what it is, oldest first.

        Raises:
            NotFound: This user has nothing with the id.
        """
        return await self.runtime.reader.history(
            await self._owner(tenant_id, user_id), ident_of(id)
        )

    async def profile(self, *, user_id: str, tenant_id: str = TENANT) -> ProfileFields:
        """Return the current value of every slot and preference, with its sources."""
        return await self.runtime.reader.profile(await self._owner(tenant_id, user_id))

    async def set_timezone(self, timezone: str, *, user_id: str, tenant_id: str = TENANT) -> None:
        """Set the user's time zone.

        Args:
            timezone: An IANA name, such as "Asia/Shanghai".
            user_id: Whose.
            tenant_id: The installation.

        Raises:
            Rejected: There is no such zone.
        """
        from zoneinfo import available_timezones  # noqa: PLC0415 - for this alone

        if name_of("timezone", timezone) not in available_timezones():
            message = "The time zone must be an IANA name, such as Asia/Shanghai."
            raise Rejected(message)
        await self._command(tenant_id, user_id, SetTimezone(timezone=timezone))

    async def forget(
        self, ids: Ident | Sequence[Ident], *, user_id: str, tenant_id: str = TENANT
    ) -> results.ForgetReport:
        """Remove turns and everything that rests on them, from stores, keys and log.

        Args:
            ids: Producer's ids of turns, or (source, id) pairs.
            user_id: Whose.
            tenant_id: The installation.

        Raises:
            NotFound: An id is unknown; nothing was removed.
            Rejected: An id is a memory's: the sentence names the turns to forget.
        """
        owner = await self._owner(tenant_id, user_id)
        idents = [ident_of(one) for one in (several(ids))]
        await self.settled()  # what was only just acknowledged can be forgotten too
        events = await turns_to_forget(self.runtime.reader, owner, idents)
        producer_ids = await self.runtime.reader.producer_ids(owner, events)
        command = await self._command(tenant_id, user_id, Forget(event_ids=events))
        return await self.runtime.operator.report(
            owner, command, producer_ids, self.runtime.journal
        )

    def _question(self, query: str, limit: int, **bounds: object) -> Question:
        return question_from(query, self.runtime.engines.clock, limit=limit, **bounds)
