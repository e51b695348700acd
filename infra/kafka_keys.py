"""The key log on Kafka: the topic of wrapped keys, read into memory and followed.

The lane of a partition writes its keys, through the fenced log that it is given; who only reads
makes none. What is shredded elsewhere closes here as soon as its tombstone is read; a key that
isn't here is looked for up to the topic's present end before its box counts as erased.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, Self, TypeVar
from uuid import UUID, uuid4

from ..schemas.errors import Damaged, Rejected, Unavailable
from ..schemas.limits import GROUP_RECORDS_MAX, OWNERS_CACHED_MAX
from ..schemas.ports import Log, NewRecord, OwnerKeys, WrappedKey
from ..schemas.records import Box
from ..schemas.topics import KEYS
from .embedded.key_cache import KeyCache
from .kafka_key_follower import KeyFollower
from .kafka_key_table import (
    KeyTable,
    SharedKey,
    check_record,
    data_record,
    owner_record,
    shared_record,
)
from .owner_keys import SealingOwnerKeys
from .sealing import OVERHEAD_BYTES, WRAPPED_BYTES, SealingKey, new_key

__all__ = ["KafkaKeys"]

Made = TypeVar("Made")

_UUID_BYTES: Final = 16
_CHECK_PLAIN: Final = b"eunoe key log"
_CHECK: Final = b"check"
_WRONG_MASTER: Final = (
    "The master key is not the one that this key log was made with: give the right key file or "
    "EUNOE_MASTER_KEY. Nothing was changed."
)


class KafkaKeys:
    """`Keys` on a topic of the log. Use `open` in a lane and `open_to_read` elsewhere.

    Args:
        log: Where the topic is; a lane's is fenced.
        follower: Keeps the table at the topic's end.
        master: Wraps the owners' and the shared keys.
        partition: The only one that is written, or None who only reads.
    """

    def __init__(
        self, log: Log, follower: KeyFollower, master: SealingKey, partition: int | None
    ) -> None:
        self._log = log
        self._follower = follower
        self._master = master
        self._partition = partition
        self._owners: KeyCache[str, SealingOwnerKeys] = KeyCache(OWNERS_CACHED_MAX)
        self._making: dict[str, asyncio.Task[Any]] = {}
        self._placed: dict[int, bytes] = {}
        self._closed = False

    @classmethod
    async def open(cls, log: Log, partition: int, *, master: bytes) -> Self:
        """Open the keys of a lane.

        Args:
            log: The fenced one of the partition.
            partition: Whose keys are read, written and shredded.
            master: The master key, 32 bytes.

        Raises:
            Unavailable: Kafka can't be reached, or another master key belongs to these keys.
            Fenced: Another process has the partition now.
            Damaged: The topic holds what isn't a key.
        """
        return await cls._open(log, [partition], master, partition)

    @classmethod
    async def open_to_read(cls, log: Log, partitions: Iterable[int], *, master: bytes) -> Self:
        """Open the keys to read them; nothing is made, but what is told to be shredded is.

        Args:
            log: Where the topic is.
            partitions: Which of it are read: for questions, all.
            master: The master key, 32 bytes.

        Raises:
            Unavailable: Kafka can't be reached, or another master key belongs to these keys.
            Damaged: The topic holds what isn't a key.
        """
        return await cls._open(log, list(partitions), master, None)

    @classmethod
    async def _open(
        cls, log: Log, partitions: Sequence[int], master: bytes, written: int | None
    ) -> Self:
        key = SealingKey(master)
        follower = KeyFollower(log, partitions)
        await follower.load()
        keys = cls(log, follower, key, written)
        await keys._check_master()
        follower.follow()
        return keys

    async def _check_master(self) -> None:
        for sealed in self._table.checks.values():
            try:
                self._master.open(sealed, _CHECK)
            except Damaged:
                raise Unavailable(_WRONG_MASTER) from None
        if self._partition is not None and self._partition not in self._table.checks:
            sealed = self._master.seal(_CHECK_PLAIN, _CHECK)
            place = self._place(self._partition)
            await self._append([check_record(KEYS.name, sealed, place)])

    async def owner(self, owner: str) -> OwnerKeys:
        """Return the owner's keys; a lane makes them durably at the first use.

        Who only reads gets keys of the moment for an owner who has none: they match nothing.

        Raises:
            Unavailable: Kafka can't be reached, or another master key belongs to these keys.
            Fenced: Another process has the partition now.
            Rejected: The owner belongs to another partition than this lane's.
        """
        self._check_open()
        found = self._known(owner)
        if found is not None:
            return found
        if self._partition is None:
            return await self.known_owner(owner) or SealingOwnerKeys.of_the_moment(owner)
        return await self._once(f"owner/{owner}", lambda: self._make_owner(owner))

    async def known_owner(self, owner: str) -> OwnerKeys | None:
        """Return an owner's keys, or None where the topic has none up to its present end.

        Raises:
            Unavailable: Kafka can't be reached, or another master key belongs to these keys.
        """
        if self._known(owner) is None:
            await self._follower.catch_up([self._log.partition_of(owner.encode())])
        return self._known(owner)

    async def put(self, keys: Sequence[WrappedKey]) -> None:
        """Append wrapped keys to the key log.

        Raises:
            Rejected: A key has the wrong form, its owner has no keys here, or nothing is made here.
            Unavailable: Kafka can't be reached.
            Fenced: Another process has the partition now.
        """
        await self._append(await self.stage(keys))

    async def stage(self, keys: Sequence[WrappedKey]) -> list[NewRecord]:
        """Return the records of wrapped keys, for the transaction of the records they close.

        Raises:
            Rejected: As `put`.
        """
        self._check_open()
        self._check_writes()
        for key in keys:
            if len(key.wrapped) != WRAPPED_BYTES:
                message = f"A wrapped key must have {WRAPPED_BYTES} bytes."
                raise Rejected(message)
            if self._table.owner(key.owner) is None:
                message = "A wrapped key names an owner who has no keys here."
                raise Rejected(message)
        return [data_record(KEYS.name, key, key.key_id, key.owner) for key in keys]

    async def open_boxes(self, owner: str, boxes: Sequence[tuple[Box, UUID]]) -> list[bytes | None]:
        """Open (box, record id) pairs in order; None where the key was shredded.

        Raises:
            Damaged: A box doesn't fit its key, its record or its owner.
            Unavailable: A key isn't here, and Kafka can't be reached to look for it.
        """
        self._check_open()
        if any(self._table.data(box.key_id) is None for box, _ in boxes):
            await self._follower.catch_up([self._log.partition_of(owner.encode())])
            self._check_open()
        keys = self._known(owner)
        opened: list[bytes | None] = []
        for box, record in boxes:
            found = self._table.data(box.key_id)
            if found is None:
                opened.append(None)
                continue
            if keys is None or found.owner != owner:
                message = "A box is sealed with a key of another owner."
                raise Damaged(message)
            opened.append(keys.unwrap(box.key_id, found.wrapped).open(box.sealed, record.bytes))
        return opened

    async def shred(self, key_ids: Sequence[UUID]) -> None:
        """Destroy data keys; absent ones are no error.

        Boxes under them are closed when it returns, here; elsewhere when the tombstones are read
        there. The wrapped keys leave the brokers' disks within the topic's compaction lag.

        Raises:
            Unavailable: Kafka can't be reached.
            Fenced: Another process has the partition now.
        """
        self._check_open()
        if any(self._table.data(one) is None for one in key_ids):
            await self._follower.catch_up()
        found = {one: self._table.data(one) for one in key_ids}
        await self._append(
            [
                data_record(KEYS.name, None, key_id, key.owner)
                for key_id, key in found.items()
                if key is not None
            ]
        )

    async def seal_shared(self, name: str, plain: bytes) -> bytes:
        """Seal under a key that several records share, such as a tenant's day; makes it.

        Lanes make one each; all of a name are shredded together.

        Raises:
            Rejected: Nothing is made here.
            Unavailable: Kafka can't be reached.
            Fenced: Another process has the partition now.
        """
        self._check_open()
        self._check_writes()
        ids = self._table.shared_ids(name)
        key_id = ids[0] if ids else await self._once(f"shared/{name}", lambda: self._share(name))
        key = self._table.shared(key_id)
        if key is None:
            message = f"The shared key {name} was shredded meanwhile: seal again."
            raise Unavailable(message)
        return key_id.bytes + self._open_shared_key(key_id, key).seal(plain, name.encode())

    async def open_shared(self, name: str, sealed: bytes) -> bytes | None:
        """Open what `seal_shared` sealed; None when that key was shredded.

        Raises:
            Damaged: The value doesn't fit its key or its name.
            Unavailable: The key isn't here, and Kafka can't be reached to look for it.
        """
        self._check_open()
        if len(sealed) < _UUID_BYTES + OVERHEAD_BYTES:
            message = "A sealed value is too short to be one."
            raise Damaged(message)
        key_id = UUID(bytes=sealed[:_UUID_BYTES])
        if self._table.shared(key_id) is None:
            await self._follower.catch_up()
            self._check_open()
        key = self._table.shared(key_id)
        if key is None:
            return None
        if key.name != name:
            message = "A sealed value belongs to another shared key."
            raise Damaged(message)
        return self._open_shared_key(key_id, key).open(sealed[_UUID_BYTES:], name.encode())

    async def shred_shared(self, names: Sequence[str]) -> None:
        """Destroy shared keys; the next use of a name makes another key.

        Raises:
            Unavailable: Kafka can't be reached.
            Fenced: Another process has the partition now.
        """
        self._check_open()
        await self._follower.catch_up()
        records = []
        for key_id in [one for name in names for one in self._table.shared_ids(name)]:
            key = self._table.shared(key_id)
            if key is not None:
                placed_by = self._place(key.partition)
                records.append(shared_record(KEYS.name, key_id, None, placed_by))
        await self._append(records)

    async def close(self) -> None:
        """Forget all keys in memory; the log stays open."""
        if self._closed:
            return
        self._closed = True
        await self._follower.close()
        self._owners.clear()

    @property
    def _table(self) -> KeyTable:
        return self._follower.table

    def _check_open(self) -> None:
        if self._closed:
            message = "The key log is closed."
            raise Unavailable(message)
        self._follower.check()

    def _check_writes(self) -> None:
        if self._partition is None:
            message = "This process only reads the key log: a partition's writer makes its keys."
            raise Rejected(message)

    def _known(self, owner: str) -> SealingOwnerKeys | None:
        cached = self._owners.find((owner,))
        if cached:
            return cached[owner]
        kept = self._table.owner(owner)
        if kept is None:
            return None
        try:
            keys = SealingOwnerKeys.open(owner, kept, self._master)
        except Damaged:
            raise Unavailable(_WRONG_MASTER) from None
        self._owners.remember([(owner, keys)], purges=self._owners.purges)
        return keys

    async def _make_owner(self, owner: str) -> SealingOwnerKeys:
        found = self._known(owner)
        if found is not None:
            return found
        keys, kept = SealingOwnerKeys.make(owner, self._master)
        await self._append([owner_record(KEYS.name, owner, kept)])
        return keys

    async def _share(self, name: str) -> UUID:
        ids = self._table.shared_ids(name)
        if ids:
            return ids[0]
        if self._partition is None:
            raise AssertionError
        key_id = uuid4()
        wrapped = self._master.seal(new_key(), key_id.bytes + name.encode())
        key = SharedKey(name, wrapped, self._partition)
        await self._append([shared_record(KEYS.name, key_id, key, self._place(self._partition))])
        return key_id

    def _open_shared_key(self, key_id: UUID, key: SharedKey) -> SealingKey:
        try:
            return SealingKey(self._master.open(key.wrapped, key_id.bytes + key.name.encode()))
        except Damaged:
            raise Unavailable(_WRONG_MASTER) from None

    async def _append(self, records: Sequence[NewRecord]) -> None:
        for start in range(0, len(records), GROUP_RECORDS_MAX):
            positions = await self._log.append(records[start : start + GROUP_RECORDS_MAX])
            # Read back and not taken over: what others append between keeps its place.
            await self._follower.reach(positions)

    async def _once(self, what: str, make: Callable[[], Coroutine[Any, Any, Made]]) -> Made:
        """Let all who want the same new thing wait for one making of it."""
        task = self._making.get(what)
        if task is None:
            task = self._making[what] = asyncio.create_task(make())
            task.add_done_callback(lambda _: self._making.pop(what, None))
        made: Made = await asyncio.shield(task)
        return made

    def _place(self, partition: int) -> bytes:
        """Return what places a record in a partition."""
        if partition not in self._placed:
            number = 0
            while self._log.partition_of(b"%d" % number) != partition:
                number += 1
            self._placed[partition] = b"%d" % number
        return self._placed[partition]
