"""What is learnt from use, counted behind everybody's backs, and what an operator sees of it.

The loop is one of its own, with offsets of its own: where it is behind, or fails, nothing else
waits for it or fails with it.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from .parameters import days_of
from .schemas.errors import Damaged, Rejected
from .schemas.experience import DOMAINS, ExperienceKind, Pool, Total, check_domain
from .schemas.limits import AGAIN_S, EXPERIENCE_BATCH_RECORDS, EXPERIENCE_WAIT_S
from .schemas.ports import LogRecord, TopicPartition
from .schemas.results import Check, ExperienceFigure
from .schemas.topics import JOURNAL, RECALLS
from .streams.consumer import Consumer, Progress
from .streams.experience import EXPERIENCE_GROUP, handle, totals_of
from .streams.feeding import LogFeed
from .streams.letters import Letters

if TYPE_CHECKING:
    from .engines import AnyEngines

__all__ = ["Experience"]

_TOPICS: Final = (JOURNAL, RECALLS)


class Experience:
    """What is learnt of use: counts it in one process; a cluster's workers count for themselves.

    Args:
        engines: Open ones.
        letters: Takes what can't be read.
    """

    def __init__(self, engines: "AnyEngines", letters: Letters) -> None:
        self._engines = engines
        self._letters = letters
        self.progress = Progress()

    async def run(self) -> None:
        """Count until cancelled.

        Raises:
            EunoeError: The journal or the store of counts is damaged; `check` says so.
        """
        feed = _Paced(
            self._engines.log, EXPERIENCE_GROUP, self._places(), limit=EXPERIENCE_BATCH_RECORDS
        )
        await Consumer(feed, self._handle, self._letters.bury, self.progress).run()

    async def settled(self) -> None:
        """Wait until everything that is in the log now has been counted.

        Raises:
            EunoeError: The loop stopped before.
        """
        log = self._engines.log
        ends = {place: (await log.bounds(*place))[1] for place in self._places()}
        for place, end in ends.items():
            while await self._waiting(place, end):
                if self.progress.failed is not None:
                    raise Damaged(self.progress.failed)
                await asyncio.sleep(AGAIN_S)

    async def check(self) -> Check:
        """Say for `doctor` whether it counts, and how far behind it is."""
        waiting = 0
        for place in self._places():
            waiting += await self._waiting(place, (await self._engines.log.bounds(*place))[1])
        trouble = self.progress.trouble or self.progress.failed
        return Check(
            name="experience",
            ok=trouble is None,
            detail=trouble or f"at most {waiting} records wait to be counted",
        )

    async def _waiting(self, place: TopicPartition, end: int) -> int:
        """Return how many records below an offset aren't counted yet; gaps may be among them.

        A forget takes records from the end of a partition as well: then nothing waits there.
        """
        log = self._engines.log
        done = await log.committed(EXPERIENCE_GROUP, *place)
        if done is None:
            done, _ = await log.bounds(*place)
        if done >= end:
            return 0
        left = await log.read(*place, done, limit=1)
        return max(0, end - left[0].position.offset) if left else 0

    async def figures(
        self, owner: str | None, domain: str | None, days: object
    ) -> list[ExperienceFigure]:
        """Return an owner's counts by day, or what five users or more stand behind, by domain.

        Args:
            owner: Whose; None means the pools.
            domain: Only this one; None means all.
            days: How many days back.

        Raises:
            Rejected: There is no such domain, or these are too many days.
        """
        domains = DOMAINS if domain is None else (check_domain(domain),)
        store, keys = self._engines.experience, self._engines.keys
        now = self._engines.clock.now()
        since = now - timedelta(days=days_of(days))
        if owner is None:
            pools = [await store.pool(one, since, now) for one in domains]
            return [figure for pool in pools if pool for figure in _of_pool(pool)]
        totals = await totals_of(owner, since, now, unit="day", keys=keys, store=store)
        return [_of_total(one) for one in totals if one.domain in domains]

    async def _handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        return await handle(records, keys=self._engines.keys, store=self._engines.experience)

    def _places(self) -> list[TopicPartition]:
        partitions = range(self._engines.partitions)
        return [TopicPartition(topic.name, number) for topic in _TOPICS for number in partitions]


class _Paced(LogFeed):
    """A feed that reads seldom and much: each batch costs two writes to the disk.

    The first is read at once, so that a process that ends soon gets on as well.
    """

    _again_at = 0.0

    async def next(self) -> list[LogRecord]:
        """Return the records that come next."""
        now = asyncio.get_running_loop().time
        await asyncio.sleep(max(0.0, self._again_at - now()))
        records = await super().next()
        self._again_at = now() + EXPERIENCE_WAIT_S
        return records


def _of_pool(pool: Pool) -> list[ExperienceFigure]:
    return [
        ExperienceFigure(
            domain=pool.domain,
            kind=one.kind.value,
            count=one.count,
            success=one.success if one.kind is ExperienceKind.TASK_OUTCOME else None,
            days=pool.days,
            user_days=one.user_days,
            share=one.share,
        )
        for one in pool.figures
    ]


def _of_total(total: Total) -> ExperienceFigure:
    is_outcome = total.kind is ExperienceKind.TASK_OUTCOME
    return ExperienceFigure(
        domain=total.domain,
        kind=total.kind.value,
        count=total.count,
        success=total.succeeded / total.count if is_outcome else None,
        day=total.start.date(),
    )
