"""Events that lie in another partition than their owner's are published there.

Other clients place keys by other hashes, and nobody but the owner's writer may decide.

Delivery: the copy is durable before the original is acknowledged; a crash between the two leaves
the event twice in the right partition, where its identity is known.
"""

from collections.abc import Sequence

from ..schemas.cloudevents import decode
from ..schemas.errors import Rejected
from ..schemas.ports import Log, LogRecord, NewRecord
from .consumer import Handle, Prepare

__all__ = ["Router"]


class Router:
    """Hands what is in its place to the writer, and publishes the rest where it belongs.

    Args:
        log: Where to; not the writer's own, which has one partition.
        handle: The writer.
        prepare: The writer's work ahead.
    """

    def __init__(self, log: Log, handle: Handle, prepare: Prepare) -> None:
        self._log = log
        self._handle = handle
        self._prepare = prepare

    async def prepare(self, records: Sequence[LogRecord]) -> None:
        """Work ahead on what is in its place; see `consumer.Prepare`."""
        await self._prepare([one for one in records if self._moved(one) is None])

    async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        """Decide or publish records; see `consumer.Handle`."""
        elsewhere = {
            index: moved for index, one in enumerate(records) if (moved := self._moved(one))
        }
        if elsewhere:
            await self._log.append(list(elsewhere.values()))
        here = [one for index, one in enumerate(records) if index not in elsewhere]
        results = iter(await self._handle(here) if here else [])
        return [None if index in elsewhere else next(results) for index in range(len(records))]

    def _moved(self, record: LogRecord) -> NewRecord | None:
        try:
            event = decode(record.headers, record.value)
        except Rejected:
            return None  # the writer says why, and buries it here
        placed_by = event.owner.encode()
        if self._log.partition_of(placed_by) == record.position.partition:
            return None
        return NewRecord(record.position.topic, placed_by, record.value, record.headers)
