"""Ports in memory, for unit tests: small, with everything in sight, and a list of what happened.

They keep what the processors rest on and nothing else: no thread, no file, no encryption. The
contract suites are for what is real.
"""

import hashlib
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import count
from typing import Final
from uuid import UUID, uuid5

from eunoe.infra.placement import partition_of
from eunoe.schemas.errors import Unavailable
from eunoe.schemas.events import EUNOE
from eunoe.schemas.ports import (
    Clock,
    LogRecord,
    NewRecord,
    Position,
    TopicPartition,
    WrappedKey,
)
from eunoe.schemas.records import Box
from tests.support.tools import SetClock

__all__ = ["EPOCH", "PARTITIONS", "FailingOnce", "ListLog", "OpenKeys", "OpenOwnerKeys"]

EPOCH: Final = "epoch-1"
PARTITIONS: Final = 2


class FailingOnce:
    """Fails at a named step, once, as an engine that is away for a moment.

    Args:
        step: The step; None fails never.
    """

    def __init__(self, step: str | None = None) -> None:
        self.step = step
        self.happened: list[str] = []

    def at(self, step: str) -> None:
        """Note a step, or fail before it."""
        if step == self.step:
            self.step = None
            message = f"the engine is away: {step}"
            raise Unavailable(message)
        self.happened.append(step)


class OpenOwnerKeys:
    """`ports.OwnerKeys` whose boxes lie open; hashes are keyed by the owner's name.

    Args:
        owner: Whose.
        numbers: Makes key ids.
    """

    def __init__(self, owner: str, numbers: "count[int]") -> None:
        self.owner = owner
        self._numbers = numbers

    def hash(self, kind: str, text: str) -> bytes:
        """Hash with the owner's name as key."""
        return hashlib.sha256(f"{self.owner}\0{kind}\0{text}".encode()).digest()[:16]

    def term(self, term: str) -> int:
        """Hash to 32 bits."""
        return int.from_bytes(self.hash("term", term)[:4], "big")

    def seal(self, plain: bytes, record: UUID) -> tuple[Box, WrappedKey]:
        """Put the text into the box as it is."""
        del record
        key_id = uuid5(EUNOE, f"key/{next(self._numbers)}")
        return Box(key_id=key_id, sealed=plain), WrappedKey(key_id, self.owner, b"")


class OpenKeys:
    """`ports.Keys` that knows which keys are there, and nothing more.

    Args:
        steps: Notes "put", "shred" and "shred shared".
    """

    def __init__(self, steps: FailingOnce | None = None) -> None:
        self.steps = steps or FailingOnce()
        self.present: dict[UUID, str] = {}
        self.shared: set[str] = set()
        self.shredded: list[UUID] = []
        self._numbers = count()

    async def owner(self, owner: str) -> OpenOwnerKeys:
        """Return an owner's keys."""
        return OpenOwnerKeys(owner, self._numbers)

    async def put(self, keys: Sequence[WrappedKey]) -> None:
        """Keep keys."""
        self.steps.at("put")
        self.present |= {key.key_id: key.owner for key in keys}

    async def stage(self, keys: Sequence[WrappedKey]) -> list[NewRecord]:
        """Keep keys; nothing goes to the log."""
        await self.put(keys)
        return []

    async def open_boxes(self, owner: str, boxes: Sequence[tuple[Box, UUID]]) -> list[bytes | None]:
        """Open the owner's boxes whose keys are there."""
        return [box.sealed if self.present.get(box.key_id) == owner else None for box, _ in boxes]

    async def shred(self, key_ids: Sequence[UUID]) -> None:
        """Remove keys."""
        self.steps.at("shred")
        self.shredded += key_ids
        for key in key_ids:
            self.present.pop(key, None)

    async def seal_shared(self, name: str, plain: bytes) -> bytes:
        """Note the name; the text stays as it is."""
        self.shared.add(name)
        return plain

    async def open_shared(self, name: str, sealed: bytes) -> bytes | None:
        """Open what is under a name that is there."""
        return sealed if name in self.shared else None

    async def shred_shared(self, names: Sequence[str]) -> None:
        """Remove names."""
        self.steps.at("shred shared")
        self.shared -= set(names)

    async def close(self) -> None:
        """Hold nothing."""


class ListLog:
    """`ports.Log` as lists of records.

    Args:
        clock: For the time of records that bring none.
        steps: Notes every call that writes.
    """

    epoch: Final = EPOCH

    def __init__(self, clock: Clock | None = None, steps: FailingOnce | None = None) -> None:
        self.clock = clock or SetClock()
        self.steps = steps or FailingOnce()
        self.records: dict[TopicPartition, list[LogRecord]] = {}
        self.ends: dict[TopicPartition, int] = {}
        self.commits: dict[tuple[str, TopicPartition], int] = {}

    def partition_of(self, placed_by: bytes) -> int:
        """Place as Kafka does."""
        return partition_of(placed_by, PARTITIONS)

    async def append(self, records: Sequence[NewRecord]) -> list[Position]:
        """Append."""
        if records:
            self.steps.at(f"append {records[0].topic}")
        positions = []
        for one in records:
            place = TopicPartition(one.topic, self.partition_of(one.placed_by or one.key))
            position = Position(*place, EPOCH, self.ends.get(place, 0))
            self.ends[place] = position.offset + 1
            moment = one.timestamp or self.clock.now()
            record = LogRecord(position, one.key, one.value, one.headers, moment)
            self.records.setdefault(place, []).append(record)
            positions.append(position)
        return positions

    async def read(
        self, topic: str, partition: int, offset: int, *, limit: int, wait_s: float = 0.0
    ) -> list[LogRecord]:
        """Read from an offset on."""
        del wait_s
        records = self.records.get(TopicPartition(topic, partition), [])
        return [one for one in records if one.position.offset >= offset][:limit]

    async def poll(
        self, offsets: Mapping[TopicPartition, int], *, limit: int, wait_s: float
    ) -> list[LogRecord]:
        """Read from several partitions."""
        del wait_s
        found = [await self.read(*place, start, limit=limit) for place, start in offsets.items()]
        return [record for records in found for record in records]

    async def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset and the next."""
        place = TopicPartition(topic, partition)
        end = self.ends.get(place, 0)
        records = self.records.get(place, [])
        return (records[0].position.offset if records else end), end

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit."""
        self.steps.at(f"commit {group}")
        self.commits |= {(group, place): offset for place, offset in offsets.items()}

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return what was committed."""
        return self.commits.get((group, TopicPartition(topic, partition)))

    async def delete_before(self, topic: str, partition: int, offset: int) -> int:
        """Delete below an offset."""
        self.steps.at(f"delete {topic}")
        return self._keep(
            TopicPartition(topic, partition), lambda one: one.position.offset >= offset
        )

    async def expire(self, topic: str, before: datetime) -> int:
        """Delete what is older."""
        self.steps.at(f"expire {topic}")
        places = [place for place in self.records if place.topic == topic]
        return sum(self._keep(place, lambda one: one.timestamp >= before) for place in places)

    async def compact(self, topic: str) -> int:
        """Keep the newest record of each key, but for tombstones."""
        self.steps.at(f"compact {topic}")
        gone = 0
        for place in [place for place in self.records if place.topic == topic]:
            newest = {one.key: one for one in self.records[place]}
            kept = {one.position for one in newest.values() if one.value is not None}
            gone += self._keep(place, partial(_is_at, kept))
        return gone

    async def vacuum(self) -> None:
        """Have nothing to clean."""
        self.steps.at("vacuum")

    async def close(self) -> None:
        """Hold nothing."""

    def values(self, topic: str) -> list[bytes | None]:
        """Return a topic's values, partition by partition."""
        places = sorted(place for place in self.records if place.topic == topic)
        return [one.value for place in places for one in self.records[place]]

    def _keep(self, place: TopicPartition, wanted: Callable[[LogRecord], bool]) -> int:
        records = self.records.get(place, [])
        kept = [one for one in records if wanted(one)]
        self.records[place] = kept
        return len(records) - len(kept)


def _is_at(positions: Container[Position], record: LogRecord) -> bool:
    return record.position in positions
