"""What an operator asks: counts, health, and what a forget has done."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from .experiencing import Experience
from .schemas.errors import Damaged, EunoeError
from .schemas.results import Check, ForgetReport, Stats
from .schemas.topics import INGRESS, JOURNAL, WRITER_GROUP
from .streams.letters import Letters
from .streams.persons import persons_among
from .streams.projections import Journal
from .streams.serving import Served

if TYPE_CHECKING:
    from .engines import AnyEngines, AnyProgress

__all__ = ["Operator"]


class Operator:
    """Looks at the engines.

    Args:
        engines: All of them.
        letters: Dead letters.
        progress: Of the writer.
        served: What searches served.
        experience: What is learnt of use.
    """

    def __init__(
        self,
        engines: "AnyEngines",
        letters: Letters,
        progress: "AnyProgress",
        served: Served,
        experience: Experience,
    ) -> None:
        self._engines = engines
        self._letters = letters
        self._progress = progress
        self._served = served
        self._experience = experience

    async def stats(self, owner: str | None) -> Stats:
        """Count, for one owner or for all."""
        identity = self._engines.identity
        owners = await identity.owners()
        totals = {"turns": 0, "memories": 0, "slots": 0}
        for one in owners if owner is None else [owner]:
            for name, count in (await identity.counts(one)).items():
                totals[name] += count
        folder = self._engines.folder
        return Stats(
            **totals,
            waiting=await self._waiting(),
            dead_letters=len(await self._letters.refused(owner, show=False)),
            users=len(await persons_among(identity, owners)) if owner is None else None,
            disk_bytes=None if folder is None else await asyncio.to_thread(_size, folder),
            encoder=self._engines.encoder.id,
        )

    async def doctor(self, journal: Journal) -> list[Check]:
        """Check what can be checked; each line stands alone."""
        trouble = self._progress.trouble or self._progress.failed
        waiting = await self._waiting()
        checks = [
            self._place(),
            Check(name="keys", ok=True, detail="the master key opens the key log"),
            Check(
                name="encoder",
                ok=True,
                detail=f"{self._engines.encoder.id}, {self._engines.encoder.dimension} dimensions",
            ),
            Check(
                name="writer",
                ok=trouble is None,
                detail=trouble or f"{waiting} acknowledged events wait to be decided",
            ),
        ]
        checks.append(await self._positions())
        checks.append(await self._journal(journal))
        count = len(await self._letters.refused(None, show=False))
        detail = f"{count} refused events are kept: see eunoe dead-letters"
        checks.append(Check(name="dead letters", ok=True, detail=detail))
        checks.append(Check(name="recalls", ok=True, detail=self._recalls()))
        checks.append(await self._experience.check())
        return checks

    def _place(self) -> Check:
        folder = self._engines.folder
        if folder is None:
            return Check(name="servers", ok=True, detail="all answered when it was opened")
        return Check(name="folder", ok=True, detail=f"{folder} is held by this process")

    def _recalls(self) -> str:
        served = self._served
        counts = f"{served.waiting} searches wait to be published, {served.dropped} were given up"
        return counts if served.trouble is None else f"{counts}: {served.trouble}"

    async def report(
        self, owner: str, command: UUID, producer_ids: tuple[str, ...], journal: Journal
    ) -> ForgetReport:
        """Verify what a forget has done, and say it.

        Raises:
            Damaged: Something of it is still there.
        """
        known = (await self._engines.identity.known(owner, [command]))[command]
        record = await journal.record_at(owner, known.journal_offset)
        if record is None or record.erasure is None:
            message = "The forget left no outcome in the journal."
            raise Damaged(message)
        erasure = record.erasure
        verified = await self._verify(owner, erasure.events, erasure.appends)
        added = {put.decision.memory_id for put in erasure.puts}
        return ForgetReport(
            forgotten=producer_ids,
            memories_removed=len(erasure.memories),
            memories_changed=len(added),
            keys_shredded=len(erasure.keys),
            verified=verified,
        )

    async def _verify(
        self, owner: str, events: Sequence[UUID], appends: Sequence[UUID]
    ) -> tuple[str, ...]:
        engines = self._engines
        partition = engines.log.partition_of(owner.encode())
        offset, _ = await engines.log.bounds(JOURNAL.name, partition)
        gone = {str(key).encode() for key in appends}
        left = bool(await engines.identity.places(owner, events)) or bool(
            await engines.episodes.turn_boxes(owner, events)
        )
        standing: set[bytes] = set()  # a record may be there until a broker compacts its segment
        while records := await engines.log.read(JOURNAL.name, partition, offset, limit=256):
            for one in records:
                if one.key in gone:
                    (standing.discard if one.value is None else standing.add)(one.key)
            offset = records[-1].position.offset + 1
        if left or standing:
            message = "Something of the forgotten turns is still there: run eunoe doctor."
            raise Damaged(message)
        return ("identity store", "episodic store", "journal", "key log")

    async def _waiting(self) -> int:
        waiting = 0
        for topic in INGRESS:
            for partition in range(self._engines.partitions):
                first, end = await self._engines.log.bounds(topic.name, partition)
                done = await self._engines.log.committed(WRITER_GROUP, topic.name, partition)
                begin = max(first, done or 0)
                # A broker's own records take offsets too: what can be read says whether it waits.
                if end > begin and await self._engines.log.read(
                    topic.name, partition, begin, limit=1
                ):
                    waiting += end - begin
        return waiting

    async def _positions(self) -> Check:
        for partition in range(self._engines.partitions):
            _, end = await self._engines.log.bounds(JOURNAL.name, partition)
            applied = await self._engines.identity.applied(partition)
            if applied is not None and applied.offset > end:
                return Check(
                    name="stores",
                    ok=False,
                    detail=f"the identity store is ahead of the journal in partition {partition}",
                )
        return Check(name="stores", ok=True, detail="no store is ahead of the journal")

    async def _journal(self, journal: Journal) -> Check:
        count = 0
        try:
            for partition in range(self._engines.partitions):
                async for stored in journal.read(partition, 0):
                    count += len(stored)
        except EunoeError as error:
            return Check(name="journal", ok=False, detail=str(error))
        return Check(name="journal", ok=True, detail=f"{count} records can be read")


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            status = path.stat()
        except OSError:
            continue  # a file that just went
        total += status.st_blocks * 512  # what the disk gives, not what sparse files say
    return total
