"""The identity store of the cluster: TiKV, through transactions of one owner each.

It is a projection of the journal. An owner's records of a batch are applied in one transaction,
together with the owner's marker; where they are too many, in several, each of which moves the
marker by whole records (and within a very large one, see `tikv_erasing`). Every transaction reads
the marker and writes it, so that of two at a time one fails, reads the marker again, and finds what
is left to do: a late or repeated writer changes nothing. A partition's low water is written after
the transactions of its owners.

A read is of one moment: all that it looks at was committed then.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Self, TypeVar

from ..schemas.errors import Conflict, Damaged, Rejected
from ..schemas.limits import (
    BACKOFF_S_FIRST,
    TIKV_OWNERS_AT_ONCE,
    TIKV_RECORDS_MAX,
    TIKV_TRIES_MAX,
)
from ..schemas.ports import Applied, Stored
from .tikv import Tikv
from .tikv_draft import Draft
from .tikv_effects import needed
from .tikv_erasing import write
from .tikv_errors import Locked
from .tikv_keys import FORMAT, Space
from .tikv_paging import each
from .tikv_reads import TikvReads
from .tikv_rows import Half, Marker, pack_partition, unpack_partition

__all__ = ["TikvIdentity"]

Result = TypeVar("Result")
PAUSE_S_MAX: Final = 1.0


class TikvIdentity(TikvReads):
    """`IdentityStore` on TiKV.

    Args:
        tikv: Connected.
        space: Where this installation's keys are.
    """

    @classmethod
    async def open(cls, endpoints: Sequence[str], namespace: str, *, timeout_s: float) -> Self:
        """Connect, and see that this version understands what is there.

        Args:
            endpoints: Placement drivers, "host:port".
            namespace: Of the installation; an empty one is made where there is none.
            timeout_s: Seconds after which a call to TiKV counts as failed.

        Raises:
            Unavailable: TiKV can't be reached, or didn't answer in time.
            Rejected: A newer version of Eunoe wrote what is there.
        """
        tikv = await Tikv.connect(endpoints, timeout_s)
        store = cls(tikv, Space(namespace))
        try:
            await store._again(store._see_format)
        except BaseException:
            await tikv.close()
            raise
        return store

    async def apply(self, records: Sequence[Stored]) -> None:
        """Apply records of the journal, in order; see the port.

        Raises:
            Conflict: Other processes applied records of these owners again and again.
            Unavailable: TiKV can't be reached or didn't answer in time; what was applied stays.
            Rejected: A record holds more than a row takes, or a newer Eunoe wrote the store.
        """
        owners: dict[str, list[Stored]] = {}
        for stored in records:
            owners.setdefault(stored.record.owner, []).append(stored)
        await each(owners.items(), lambda one: self._apply_owner(*one), TIKV_OWNERS_AT_ONCE)
        for partition in {stored.position.partition for stored in records}:
            part = [one for one in records if one.position.partition == partition]
            applied = Applied(part[-1].position.epoch, max(one.position.offset for one in part) + 1)
            await self._again(lambda: self._raise_low_water(partition, applied))  # noqa: B023 - awaited here

    async def claim_encoder(self, encoder: str) -> str:
        """Note which encoder an installation's vectors are of, if none is noted; returns that one.

        Raises:
            Unavailable: TiKV can't be reached, or didn't answer in time.
            Conflict: Others note one again and again.
        """
        return await self._again(lambda: self._claim(self._space.encoder, encoder))

    async def close(self) -> None:
        """Let go of TiKV, once everything that was begun has come to its end."""
        await self._tikv.close()

    async def _apply_owner(self, owner: str, records: list[Stored]) -> None:
        while records:
            records = await self._again(lambda: self._apply_some(owner, records))  # noqa: B023 - awaited here

    async def _apply_some(self, owner: str, records: Sequence[Stored]) -> list[Stored]:
        """Apply what one transaction takes of an owner's records; returns the others."""
        keys = self._space.owner(owner)
        part, others = records[:TIKV_RECORDS_MAX], records[TIKV_RECORDS_MAX:]
        async with self._tikv.transaction() as transaction:
            draft = Draft(transaction, keys)
            await draft.load(
                [
                    self._space.format,
                    keys.marker,
                    *(key for one in part for key in needed(keys, one.record)),
                ]
            )
            self._require_format(await draft.value(self._space.format))
            before = _marker(owner, records[0].position.epoch, await draft.value(keys.marker))
            marker, half = before, before.half
            rest = [one for one in part if one.position.offset > marker.applied]
            while rest and not draft.is_full:
                half = await _write(draft, rest[0], half)
                if half is not None:
                    marker = marker._replace(half=half)
                    break
                position = rest.pop(0).position
                marker = Marker(owner, position.epoch, position.offset)
            if marker != before:
                # First, since TiKV decides a transaction by its first key.
                await transaction.commit({keys.marker: marker.pack(), **draft.written})
            return [*rest, *others]

    async def _raise_low_water(self, partition: int, applied: Applied) -> None:
        key = self._space.partition(partition)
        async with self._tikv.transaction() as transaction:
            value = (await transaction.get([key])).get(key)
            epoch, low_water = (applied.epoch, -1) if value is None else unpack_partition(value)
            offset = max(low_water, applied.offset)
            if (epoch, low_water) != (applied.epoch, offset):
                await transaction.commit({key: pack_partition(applied.epoch, offset)})

    async def _claim(self, key: bytes, value: str) -> str:
        async with self._tikv.transaction() as transaction:
            found = (await transaction.get([key])).get(key)
            if found is None:
                await transaction.commit({}, new={key: value.encode()})
                return value
            return found.decode()

    async def _see_format(self) -> None:
        key = self._space.format
        async with self._tikv.transaction() as transaction:
            value = (await transaction.get([key])).get(key)
            if value is None:
                await transaction.commit({}, new={key: str(FORMAT).encode()})
            else:
                self._require_format(value)

    def _require_format(self, value: bytes | None) -> None:
        found = FORMAT if value is None else int(value)
        if found > FORMAT:
            message = (
                f"The identity store in TiKV has format {found}, and this version of Eunoe knows "
                f"{FORMAT} at most: install the version that wrote it, or use another namespace "
                "(EUNOE_NAMESPACE)."
            )
            raise Rejected(message)

    async def _again(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Do a transaction's work, anew as long as others are in its way, and not for ever."""
        for failures in range(1, TIKV_TRIES_MAX + 1):
            try:
                return await work()
            except (Conflict, Locked):
                if failures == TIKV_TRIES_MAX:
                    raise
                await asyncio.sleep(min(BACKOFF_S_FIRST * 2 ** (failures - 1), PAUSE_S_MAX))
        raise AssertionError  # pragma: no cover - the loop returns or raises


async def _write(draft: Draft, stored: Stored, half: Half | None) -> Half | None:
    offset = stored.position.offset
    if half is not None and half.offset != offset:
        message = (
            f"The journal record at offset {half.offset} is half applied, and the one at {offset} "
            "can't come before its other half: apply the partition from its low water on."
        )
        raise Damaged(message)
    try:
        return await write(draft, stored, half)
    except struct.error as error:
        message = f"The journal record at offset {offset} holds a number or hash that is too long."
        raise Rejected(message) from error


def _marker(owner: str, epoch: str, value: bytes | None) -> Marker:
    marker = Marker(owner, epoch) if value is None else Marker.unpack(value)
    if marker.owner != owner:
        message = "Two owners have the same hash in TiKV, which chance can't do: change nothing."
        raise Damaged(message)
    return marker
