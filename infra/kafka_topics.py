"""The topics of an installation: how they have to be, what differs, and what mends it.

Nothing else makes a topic. Two who apply at once take turns: the opening records are one
transaction of a producer of which there is one at a time, so they make one epoch.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import uuid4

from ..schemas.errors import Fenced, Rejected, Unavailable
from ..schemas.limits import KAFKA_AGAIN_S, KAFKA_MESSAGE_BYTES_MAX
from ..schemas.topics import KEYS, TOPICS, Retention, Topic
from .cluster_settings import ClusterSettings
from .kafka_admin import Admin, Found
from .kafka_client import Client, LeaderNotAvailableError, Names, WirePlace
from .kafka_marks import OPENING_KEYS, epoch_of, opening
from .kafka_requests import Requests
from .kafka_transactions import Transactions
from .log_checks import is_compacted

__all__ = ["apply", "check", "diff", "wanted_settings"]

_SECOND_MS: Final = 1_000
_HOUR_MS: Final = 3_600 * _SECOND_MS
_DAY_MS: Final = 24 * _HOUR_MS
_FOR_EVER: Final = "-1"
_ANY_TIME: Final = str(2**63 - 1)
_HEAD_RECORDS: Final = 64
"""Among the first so many records of a partition its opening records are looked for."""
_APPLIES_MAX: Final = 6

_NEEDED: Final = frozenset(
    ("cleanup.policy", "max.message.bytes", "message.timestamp.type", "retention.ms")
)
"""Settings without which a process doesn't work at all; the others only make it slow or lax."""
_AT_LEAST: Final = frozenset(("max.message.bytes",))


def wanted_settings(topic: Topic, settings: ClusterSettings) -> dict[str, str]:
    """Return what a topic has to be set to.

    A tombstoned record leaves the disk after the segment rolled (`segment.ms`, and a tick), it was
    compacted (`max.compaction.lag.ms`) and its file was removed (`file.delete.delay.ms`). Each is
    a third of the lag that the settings allow, the tick a sixth; of keys, half of that.

    Args:
        topic: A row of the topics table.
        settings: Of the cluster.

    Returns:
        Values by Kafka's names.
    """
    lag_ms = int(settings.compaction_lag_s * _SECOND_MS)
    share_ms = max(lag_ms // (6 if topic.name == KEYS.name else 3), 1)
    wanted = {
        "file.delete.delay.ms": str(min(share_ms, 60 * _SECOND_MS)),
        "max.message.bytes": str(KAFKA_MESSAGE_BYTES_MAX),
        # Of three copies two have to have a record, so that one broker may be away.
        "min.insync.replicas": str(max(1, settings.replication - 1)),
        "message.timestamp.after.max.ms": _ANY_TIME,
        "message.timestamp.before.max.ms": _ANY_TIME,
        "message.timestamp.type": "CreateTime",
        "retention.bytes": _FOR_EVER,
    }
    if is_compacted(topic):
        return wanted | {
            "cleanup.policy": "compact",
            # A process that follows the keys and was away must still see what was shredded.
            "delete.retention.ms": str(_DAY_MS if lag_ms >= _HOUR_MS else share_ms),
            "max.compaction.lag.ms": str(share_ms),
            "min.cleanable.dirty.ratio": "0.5",
            "min.compaction.lag.ms": "0",
            "segment.ms": str(share_ms),
        }
    if topic.retention is Retention.UNTIL_JOURNALED:
        return wanted | {
            "cleanup.policy": "delete",
            "message.timestamp.type": "LogAppendTime",
            "retention.ms": _FOR_EVER,
            # What lies below the writer's offset is deleted by segments.
            "segment.ms": str(min(_HOUR_MS, lag_ms)),
        }
    return wanted | {
        "cleanup.policy": "delete",
        # Seven days are kept by `expire`, which shreds the keys too; the broker comes after it.
        "retention.ms": str(8 * _DAY_MS),
        "segment.ms": str(_DAY_MS),
    }


async def diff(
    settings: ClusterSettings,
    *,
    topics: Sequence[Topic] = TOPICS,
) -> list[str]:
    """Say what `apply` would do; nothing where all is as it has to be.

    Args:
        settings: Where the brokers are, and how the topics have to be.
        topics: The topics table.

    Raises:
        Unavailable: Kafka can't be reached, or the login is wrong.
    """
    client = await Client.connect(settings)
    try:
        work = _Work(settings, client, topics)
        return [*await work.differences(), *await work.missing_openings()]
    finally:
        await client.close()


async def apply(
    settings: ClusterSettings,
    *,
    topics: Sequence[Topic] = TOPICS,
) -> list[str]:
    """Make the topics that are missing, mend their settings, and append the opening records.

    Args:
        settings: Where the brokers are, and how the topics have to be.
        topics: The topics table.

    Returns:
        What was done, in sentences.

    Raises:
        Rejected: A topic has another number of partitions; nothing was changed.
        Unavailable: Kafka can't be reached, the login is wrong, or others apply all the time.
    """
    client = await Client.connect(settings)
    try:
        work = _Work(settings, client, topics)
        return [*await work.make_and_mend(), *await work.open_all()]
    finally:
        await client.close()


async def check(
    settings: ClusterSettings,
    *,
    client: Client,
    topics: Sequence[Topic] = TOPICS,
) -> str:
    """Check that the topics can be used; returns their epoch.

    Args:
        settings: Where the brokers are, and how the topics have to be.
        client: Connected.
        topics: The topics table.

    Raises:
        Unavailable: Something isn't as it has to be: the first sentence of it.
        Rejected: A topic has another number of partitions.
    """
    work = _Work(settings, client, topics)
    for one in await work.differences(only=_NEEDED):
        message = f"{one} Run: eunoe topics apply."
        raise Unavailable(message)
    epoch = await work.epoch()
    if epoch is None:
        message = "The topics have no opening records. Run: eunoe topics apply."
        raise Unavailable(message)
    return epoch


class _Work:
    """What the three have in common.

    Args:
        settings: Where the brokers are, and how the topics have to be.
        client: Connected.
        topics: The topics table.
    """

    def __init__(self, settings: ClusterSettings, client: Client, topics: Sequence[Topic]) -> None:
        self._settings = settings
        self._client = client
        self._names = Names(settings.namespace)
        self._topics = {self._names.topic(one.name): one for one in topics}
        self._admin = Admin(client)
        self._requests = Requests(client)
        self._found: Mapping[str, Found] = {}

    async def differences(self, only: frozenset[str] | None = None) -> list[str]:
        """Say what is missing or set otherwise.

        Args:
            only: Settings that are looked at; None looks at all.

        Raises:
            Rejected: A topic has another number of partitions.
        """
        self._found = await self._admin.find(list(self._topics))
        told = []
        for name, topic in self._topics.items():
            found = self._found.get(name)
            if found is None:
                told.append(f"The topic {name} is missing.")
                continue
            self._check_count(name, found)
            told += [
                f"The topic {name} has {setting} = {found.settings.get(setting)}, "
                f"and it has to be {value}."
                for setting, value in self._wrong(topic, found).items()
                if only is None or setting in only
            ]
            if only is None and found.replication < self._settings.replication:
                told.append(
                    f"The topic {name} has {found.replication} copies, and EUNOE_REPLICATION says "
                    f"{self._settings.replication}: reassign its partitions with Kafka's own tool."
                )
        return told

    def _check_count(self, name: str, found: Found) -> None:
        wanted = self._settings.partitions
        if found.partitions != wanted:
            message = (
                f"The topic {name} has {found.partitions} partitions, and EUNOE_PARTITIONS says "
                f"{wanted}. Another number is another epoch: set it to {found.partitions}, "
                "or take another EUNOE_NAMESPACE and import anew."
            )
            raise Rejected(message)

    def _wrong(self, topic: Topic, found: Found) -> dict[str, str]:
        wanted = wanted_settings(topic, self._settings)
        return {
            name: value
            for name, value in wanted.items()
            if not _serves(name, found.settings.get(name), value)
        }

    async def make_and_mend(self) -> list[str]:
        """Make missing topics, and mend the settings of the others."""
        await self.differences()  # a wrong number of partitions ends it before anything is made
        done = []
        for name, topic in self._topics.items():
            found = self._found.get(name)
            if found is None:
                wanted = wanted_settings(topic, self._settings)
                await self._admin.create(
                    name, self._settings.partitions, self._settings.replication, wanted
                )
                done.append(f"Made the topic {name}.")
            elif wrong := self._wrong(topic, found):
                await self._admin.alter(name, {**found.own, **wrong})
                done.append(f"Set {', '.join(sorted(wrong))} of the topic {name}.")
        await self._client.again(self._all_there)
        return done

    async def _all_there(self) -> None:
        # A broker knows a topic a moment after the controller has made it.
        self._found = await self._admin.find(list(self._topics))
        if self._found.keys() != self._topics.keys():
            raise LeaderNotAvailableError
        await self._client.refresh()

    async def open_all(self) -> list[str]:
        """Append the opening records that are missing."""
        for attempt in range(_APPLIES_MAX):
            try:
                return await self._open_all()
            except Fenced:
                # Somebody else applies at the same time, and gets time for it: who comes back at
                # once shuts the other out in turn.
                await asyncio.sleep(KAFKA_AGAIN_S * 2**attempt)
        message = "Somebody else applies all the time: run eunoe topics apply again."
        raise Unavailable(message)

    async def _open_all(self) -> list[str]:
        if not await self._missing():
            return []
        lost = "Somebody else applies the topics now."
        transactions = await Transactions.open(
            self._settings, self._names.group("topics"), lost=lost
        )
        try:
            missing = await self._missing()  # as it is now, with nobody else at it
            epoch = await self.epoch() or str(uuid4())
            records = [
                record for place, keys in missing.items() for record in opening(*place, epoch, keys)
            ]
            if records:
                await transactions.append(records)
        finally:
            await transactions.close()
        await self._client.again(self._all_open)
        return [f"Opened {len(missing)} partitions, epoch {epoch}."] if missing else []

    async def _all_open(self) -> None:
        # A broker answers a commit before it has marked the partitions: until then nobody reads it.
        if await self._missing():
            raise LeaderNotAvailableError

    async def missing_openings(self) -> list[str]:
        """Say where opening records are missing, of the topics that exist."""
        missing = await self._missing()
        topics = sorted({place.topic for place in missing})
        return [f"The topic {name} lacks opening records." for name in topics]

    async def epoch(self) -> str | None:
        """Return the epoch: that of the first opening record, in the order of the table."""
        for heads in await self._heads():
            found = epoch_of(heads[1])
            if found is not None:
                return found
        return None

    async def _missing(self) -> dict[WirePlace, list[bytes]]:
        missing = {}
        for place, head in await self._heads():
            there = {key for key, _ in head}
            if lacking := [key for key in OPENING_KEYS if key not in there]:
                missing[place] = lacking
        return missing

    async def _heads(self) -> list[tuple[WirePlace, list[tuple[bytes, bytes | None]]]]:
        places = [
            WirePlace(name, partition)
            for name, topic in self._topics.items()
            if is_compacted(topic) and name in self._found
            for partition in range(self._settings.partitions)
        ]
        firsts = await asyncio.gather(*(self._requests.bounds(*place) for place in places))
        starts = {place: first for place, (first, _) in zip(places, firsts, strict=True)}
        return [(place, await self._head(place, start)) for place, start in starts.items()]

    async def _head(self, place: WirePlace, start: int) -> list[tuple[bytes, bytes | None]]:
        head: list[tuple[bytes, bytes | None]] = []
        while True:
            found = (await self._requests.fetch({place: start}, limit=_HEAD_RECORDS))[place]
            head += [(one.key, one.value) for one in found.records]
            if len(head) >= _HEAD_RECORDS or found.following in (start, found.end):
                return head
            start = found.following


def _serves(name: str, found: str | None, wanted: str) -> bool:
    if name in _AT_LEAST and found is not None:
        return int(found) >= int(wanted)
    if name == "min.cleanable.dirty.ratio" and found is not None:
        return float(found) == float(wanted)
    return found == wanted
