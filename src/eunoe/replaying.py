"""Replaying the journal: stores made anew in another folder, and compared with the live ones.

Log and keys are only read, so it works beside the process that owns the folder. Interrupted, it
goes on where it was.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .door import connect
from .infra.settings import Settings
from .infra.wiring import ReplayEngines, Tools, open_replay
from .memory import Memory
from .recorded import RecordedEncoder
from .schemas.errors import Damaged, Rejected
from .schemas.events import split_owner
from .schemas.limits import COMPARISONS_MAX, DIGEST_PAUSE_S
from .streams.context import Turns
from .streams.persons import persons_among
from .streams.projections import JournalReader
from .streams.reading import Reader

__all__ = ["Replayed", "replay"]


class _Digests(Protocol):
    async def digest(self, *, user_id: str, tenant_id: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay made.

    Args:
        records: Journal records that were applied to the new stores.
        users: Users whose state is there.
        compared: Whether it was compared with the live stores.
        different: Those users whose digest differs from the live one, as (tenant, user).
    """

    records: int
    users: int
    compared: bool
    different: tuple[tuple[str, str], ...]


async def replay(
    settings: Settings, into: Path, *, compare: bool = True, tell: Callable[[int], None]
) -> Replayed:
    """Make the stores of `settings.folder` anew in another folder, from its log and keys alone.

    Args:
        settings: Of the store; a process may own it meanwhile.
        into: The new folder: empty, missing, or of a replay that was interrupted.
        compare: Whether each user's digest is compared with that of the live stores; without a
            process that owns them, they are opened for it.
        tell: Called with the number of records after each batch.

    Raises:
        Rejected: The two folders are one, the old one holds no store, or the new one holds
            something else.
        Unavailable: A folder, the master key or an engine can't be used; or a user is written
            to without a pause.
        Damaged: Log or keys contradict themselves.
    """
    if into.absolute() == settings.folder.absolute():  # noqa: ASYNC240 - looks at no disk
        message = "Give another folder for the new stores: the old ones stay as they are."
        raise Rejected(message)
    async with open_replay(settings, into) as engines:
        made = _Replay(engines)
        records = await made.catch_up(tell)
        owners = await persons_among(engines.identity, await engines.identity.owners())
        different: list[tuple[str, str]] = []
        if compare:
            async with _live(settings) as live:
                different = [split_owner(one) for one in owners if await made.differs(one, live)]
    return Replayed(records, len(owners), compare, tuple(different))


class _Replay:
    """The new stores, and how they are read."""

    def __init__(self, engines: ReplayEngines) -> None:
        keys, identity, episodes = engines.keys, engines.identity, engines.episodes
        self._journal = JournalReader(engines.log, range(engines.partitions))
        self._projections = (identity, episodes)
        turns = Turns(keys, identity, episodes, self._journal)
        self._reader = Reader(keys, identity, episodes, turns, self._journal)

    async def catch_up(self, tell: Callable[[int], None] | None = None) -> int:
        """Apply what is new in the journal; returns how many records the first store took."""
        applied = 0
        async for count in self._journal.replay(self._projections):
            applied += count
            if tell is not None:
                tell(applied // len(self._projections))
        return applied // len(self._projections)

    async def differs(self, owner: str, live: _Digests) -> bool:
        """Compare a digest with the live one, at a moment in which nothing was written."""
        tenant_id, user_id = split_owner(owner)
        for _ in range(COMPARISONS_MAX):
            before = await live.digest(user_id=user_id, tenant_id=tenant_id)
            await self.catch_up()
            try:
                found = await self._reader.digest(owner)
            except Damaged:
                # A key went while the new stores still held its box: the forget follows, or else
                # it is damage.
                if await self.catch_up() == 0:
                    raise
                continue
            if found == before:
                return False
            # The live state moved on while this one caught up, or it is really another.
            if await live.digest(user_id=user_id, tenant_id=tenant_id) == before:
                return True
            await asyncio.sleep(DIGEST_PAUSE_S)
        return True


@asynccontextmanager
async def _live(settings: Settings) -> AsyncGenerator[_Digests, None]:
    remote = await connect(settings.folder)
    if remote is not None:
        async with remote:
            yield remote
        return
    tools = Tools(encoder=RecordedEncoder.of(settings.folder))
    async with Memory(settings, serve=False, process=False, tools=tools) as memory:
        yield memory
