"""Where records go: topics, partitions and positions, checked before anything is sent."""

from collections.abc import Iterable, Sequence

from ..schemas.errors import Rejected
from ..schemas.ports import LogRecord, NewRecord, Position
from ..schemas.topics import Topic
from .kafka_client import Names, WirePlace
from .kafka_producing import Outgoing
from .kafka_requests import WireRecord
from .kafka_times import milliseconds, moment_of
from .log_checks import check_size, is_compacted, keeps_own_time, placing
from .placement import partition_of

__all__ = ["Places"]


class Places:
    """The topics of a log, their names on the wire, and its epoch.

    Args:
        names: On the wire.
        topics: The topics table.
        count: Partitions of every topic.
        epoch: Of every position.
    """

    def __init__(self, names: Names, topics: Iterable[Topic], count: int, epoch: str) -> None:
        self.topics = tuple(topics)
        self.count = count
        self.epoch = epoch
        self._wire = {one.name: names.topic(one.name) for one in self.topics}
        self._by_name = {one.name: one for one in self.topics}

    def partition_of(self, placed_by: bytes) -> int:
        """Compute the partition of a key."""
        return partition_of(placed_by, self.count)

    def topic(self, name: str) -> Topic:
        """Return a row of the topics table.

        Raises:
            Rejected: There is none of this name.
        """
        found = self._by_name.get(name)
        if found is None:
            message = f"The log has no topic {name!r}."
            raise Rejected(message)
        return found

    def compacted(self, name: str) -> Topic:
        """Return a row of the table that is compacted.

        Raises:
            Rejected: There is none of this name, or its records are all kept.
        """
        topic = self.topic(name)
        if not is_compacted(topic):
            message = f"The topic {name} isn't one that is compacted."
            raise Rejected(message)
        return topic

    def check_cut(self, name: str) -> None:
        """Check that a topic's records can be deleted by offset or by time.

        Raises:
            Rejected: There is no such topic, or keys and tombstones say what goes from it.
        """
        if is_compacted(self.topic(name)):
            message = f"The topic {name} is compacted: a tombstone deletes, not an offset or time."
            raise Rejected(message)

    def check_partition(self, partition: int) -> None:
        """Check that a partition exists.

        Raises:
            Rejected: It doesn't.
        """
        if not 0 <= partition < self.count:
            message = f"The topics have partitions 0 to {self.count - 1}."
            raise Rejected(message)

    def wire(self, topic: str, partition: int) -> WirePlace:
        """Return a place as the brokers name it.

        Raises:
            Rejected: There is no such topic or partition.
        """
        self.topic(topic)
        self.check_partition(partition)
        return WirePlace(self._wire[topic], partition)

    def outgoing(self, record: NewRecord) -> Outgoing:
        """Check a record, and say where it goes.

        Raises:
            Rejected: It has an unknown topic, is too long, or has a time without a zone.
        """
        topic = self.topic(record.topic)
        check_size(record)
        moment = None if keeps_own_time(topic) else record.timestamp
        return Outgoing(
            self._wire[topic.name],
            self.partition_of(placing(record)),
            record.key,
            record.value,
            record.headers,
            None if moment is None else milliseconds(moment),
        )

    def positions(
        self, records: Sequence[NewRecord], outgoing: Sequence[Outgoing], offsets: Sequence[int]
    ) -> list[Position]:
        """Say where records are now."""
        return [
            Position(record.topic, sent.partition, self.epoch, offset)
            for record, sent, offset in zip(records, outgoing, offsets, strict=True)
        ]

    def record(self, topic: str, partition: int, found: WireRecord) -> LogRecord:
        """Return a record as the port has it."""
        position = Position(topic, partition, self.epoch, found.offset)
        when = moment_of(found.timestamp_ms)
        return LogRecord(position, found.key, found.value, found.headers, when)
