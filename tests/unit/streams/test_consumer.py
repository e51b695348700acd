"""The only loop that acknowledges."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import pytest

from eunoe.schemas.errors import Conflict, Damaged, EunoeError, Rejected, Unavailable
from eunoe.schemas.limits import BATCH_RECORDS_MAX
from eunoe.schemas.ports import Log, LogRecord, Position, TopicPartition
from eunoe.streams.consumer import Consumer, Progress
from eunoe.streams.feeding import LogFeed

PLACE = TopicPartition("turns", 0)
NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)


class ListLog:
    """A log of some records that writes down what is committed and when."""

    def __init__(self, count: int, happened: list[str]) -> None:
        self.records = [
            LogRecord(Position(*PLACE, "e", offset), b"k", b"v", (), NOON)
            for offset in range(count)
        ]
        self.happened = happened

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Nothing was committed before."""
        del group, topic, partition
        return None

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """The whole list."""
        del topic, partition
        return 0, len(self.records)

    async def poll(
        self, offsets: Mapping[TopicPartition, int], *, limit: int, wait_s: float
    ) -> list[LogRecord]:
        """Return what comes next, or wait for ever."""
        del wait_s
        found = self.records[offsets[PLACE] :][:limit]
        if not found:
            await asyncio.Event().wait()
        return found

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Write the commit down."""
        del group
        self.happened.append(f"commit {offsets[PLACE]}")


class Handler:
    """Refuses some offsets and fails some times before it works."""

    def __init__(
        self, happened: list[str], refused: frozenset[int] = frozenset(), failures: int = 0
    ) -> None:
        self.happened = happened
        self.refused = refused
        self.failures = failures

    async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        """Take records."""
        if self.failures:
            self.failures -= 1
            self.happened.append("failed")
            message = "the store is away"
            raise Unavailable(message)
        self.happened.append(f"handled {len(records)}")
        return [Rejected("no") if one.position.offset in self.refused else None for one in records]

    async def bury(self, record: LogRecord, reason: Rejected, attempts: int) -> None:
        """Take a while to write a letter."""
        del reason, attempts
        await asyncio.sleep(0.01)
        self.happened.append(f"buried {record.position.offset}")


async def consume(log: ListLog, handler: Handler, progress: Progress) -> "asyncio.Task[None]":
    """Start a consumer."""
    consumer = Consumer(
        LogFeed(cast("Log", log), "group", [PLACE]), handler.handle, handler.bury, progress
    )
    return asyncio.create_task(consumer.run())


async def test_a_batch_is_committed_after_it_was_handled() -> None:
    """No offset is acknowledged before the handler has returned for its record."""
    happened: list[str] = []
    progress = Progress()
    task = await consume(ListLog(3, happened), Handler(happened), progress)
    await progress.wait([Position(*PLACE, "e", 2)])
    task.cancel()
    assert happened == ["handled 3", "commit 3"]


async def test_an_engine_that_is_away_acknowledges_nothing() -> None:
    """While the handler can't work, the same records are tried again and none is committed."""
    happened: list[str] = []
    progress = Progress()
    task = await consume(ListLog(2, happened), Handler(happened, failures=2), progress)
    await progress.wait([Position(*PLACE, "e", 1)])
    task.cancel()
    assert happened == ["failed", "failed", "handled 2", "commit 2"]


async def test_a_refused_record_is_buried_before_it_is_acknowledged() -> None:
    """The dead letter is written, to its end, before the offset is committed."""
    happened: list[str] = []
    progress = Progress()
    handler = Handler(happened, refused=frozenset({1}))
    task = await consume(ListLog(3, happened), handler, progress)
    refused = await progress.wait([Position(*PLACE, "e", offset) for offset in range(3)])
    task.cancel()
    assert happened == ["handled 3", "buried 1", "commit 3"]
    assert [position.offset for position, _ in refused] == [1]


async def test_a_letter_that_is_refused_itself_acknowledges_nothing() -> None:
    """Neither lost nor the end of the consumer: it is tried until it can be written."""
    happened: list[str] = []

    class Unwritable(Handler):
        async def bury(self, record: LogRecord, reason: Rejected, attempts: int) -> None:
            """Refuse twice."""
            if happened.count("unwritable") < 2:
                happened.append("unwritable")
                message = "too long"
                raise Rejected(message)
            await super().bury(record, reason, attempts)

    progress = Progress()
    handler = Unwritable(happened, refused=frozenset({0}))
    task = await consume(ListLog(1, happened), handler, progress)
    await progress.wait([Position(*PLACE, "e", 0)])
    task.cancel()
    assert happened == ["handled 1", "unwritable", "unwritable", "buried 0", "commit 1"]
    assert progress.retries == 2


async def test_a_bug_in_the_handler_is_told_to_everybody_who_waits() -> None:
    """A consumer that stops never leaves a caller waiting in silence."""

    class Broken(Handler):
        async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
            """Fail as a bug does."""
            raise KeyError(len(records))

    progress = Progress()
    task = await consume(ListLog(1, []), Broken([]), progress)
    with pytest.raises(Damaged, match="KeyError"):
        await progress.wait([Position(*PLACE, "e", 0)])
    with pytest.raises(Damaged):
        await task
    assert progress.failed is not None


async def test_what_comes_next_is_prepared_meanwhile_and_handed_over_after() -> None:
    """The next records are worked ahead while the handler is busy, and committed in order."""
    happened: list[str] = []
    prepared = asyncio.Event()

    class Slow(Handler):
        async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
            """Be busy until the next records are prepared."""
            if records[0].position.offset == 0:
                await prepared.wait()
            return await super().handle(records)

    async def prepare(records: Sequence[LogRecord]) -> None:
        happened.append(f"prepared {len(records)}")
        if records[0].position.offset:
            prepared.set()

    handler, progress = Slow(happened), Progress()
    log = ListLog(BATCH_RECORDS_MAX + 2, happened)
    feed = LogFeed(cast("Log", log), "group", [PLACE])
    consumer = Consumer(feed, handler.handle, handler.bury, progress, prepare=prepare)
    task = asyncio.create_task(consumer.run())
    await progress.wait([Position(*PLACE, "e", BATCH_RECORDS_MAX + 1)])
    task.cancel()
    size = BATCH_RECORDS_MAX
    assert happened == [
        f"prepared {size}",
        "prepared 2",
        f"handled {size}",
        f"commit {size}",
        "handled 2",
        f"commit {size + 2}",
    ]


@pytest.mark.parametrize("error", [Unavailable("the keys are away"), Conflict("others wrote")])
async def test_what_can_not_be_prepared_is_handled_all_the_same(error: EunoeError) -> None:
    """An engine that is away while records are worked ahead doesn't end the consumer."""
    happened: list[str] = []

    async def prepare(records: Sequence[LogRecord]) -> None:
        happened.append(f"not prepared {len(records)}")
        raise error

    handler, progress = Handler(happened), Progress()
    feed = LogFeed(cast("Log", ListLog(2, happened)), "group", [PLACE])
    consumer = Consumer(feed, handler.handle, handler.bury, progress, prepare=prepare)
    task = asyncio.create_task(consumer.run())
    await progress.wait([Position(*PLACE, "e", 1)])
    task.cancel()
    assert happened == ["not prepared 2", "handled 2", "commit 2"]


async def test_a_log_that_can_not_be_read_is_read_again() -> None:
    """A log that is away for a while doesn't end the consumer, and says so meanwhile."""
    happened: list[str] = []
    progress = Progress()

    class Away(ListLog):
        fails = 2

        async def poll(
            self, offsets: Mapping[TopicPartition, int], *, limit: int, wait_s: float
        ) -> list[LogRecord]:
            """Fail twice, then read."""
            if self.fails:
                self.fails -= 1
                happened.append(f"trouble: {progress.trouble}")
                message = "the log is away"
                raise Unavailable(message)
            return await super().poll(offsets, limit=limit, wait_s=wait_s)

    task = await consume(Away(2, happened), Handler(happened), progress)
    await progress.wait([Position(*PLACE, "e", 1)])
    task.cancel()
    assert happened == ["trouble: None", "trouble: the log is away", "handled 2", "commit 2"]
    assert progress.trouble is None
