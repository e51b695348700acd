"""The experience store on InfluxDB 2.7.

Each domain has a bucket of its own: that of `general` is named as the namespace, the others
`NAMESPACE.DOMAIN`, so that an access token can be bounded to one. The kind is the measurement,
the pseudonym the only tag, the counts two fields. Points of several calls are collected for
`write_window_s` and written by one request, and every call waits for its own.

Deletion takes points out of every answer at once; their bytes leave the files when InfluxDB
compacts them.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Self

from ..schemas.errors import Rejected, Unavailable
from ..schemas.experience import (
    DOMAINS,
    GENERAL,
    DayCount,
    ExperienceKind,
    ExperiencePoint,
    Pool,
    Total,
    Unit,
    begin_of,
    check_domain,
    check_pseudonyms,
    check_totals,
    minutes_ns,
    moment_of,
    pool_of,
    stamp_ns,
    whole_days,
)
from ..schemas.limits import (
    EXPERIENCE_ROWS_MAX,
    EXPERIENCE_WRITE_POINTS,
)
from .cluster_settings import ClusterSettings
from .influxdb_server import InfluxServer, Refused

__all__ = ["InfluxExperience"]

_EVERY: Final[dict[Unit, str]] = {"minute": "1m", "hour": "1h", "day": "1d"}
_FIELDS: Final = ("count", "succeeded")

# What stands in the questions beside constants are bucket names, whole numbers and pseudonyms,
# all of a checked form: nothing that would have to be escaped.
_TOTALS: Final = """
from(bucket: "{bucket}")
    |> range(start: time(v: {start}), stop: time(v: {stop}))
    |> filter(fn: (r) => {whose})
    |> group(columns: ["_measurement", "_field"])
    |> aggregateWindow(every: {every}, fn: sum, createEmpty: false, timeSrc: "_start")
    |> limit(n: {limit})
    |> keep(columns: ["_time", "_measurement", "_field", "_value"])
"""
_DAYS: Final = """
days = from(bucket: "{bucket}")
    |> range(start: time(v: {start}), stop: time(v: {stop}))
    |> aggregateWindow(every: 1d, fn: sum, createEmpty: false, timeSrc: "_start")
days
    |> group(columns: ["_time", "_measurement", "_field"])
    |> reduce(identity: {{users: 0, sum: 0}}, fn: (r, accumulator) =>
        ({{users: accumulator.users + 1, sum: accumulator.sum + r._value}}))
    |> yield(name: "kinds")
days
    |> filter(fn: (r) => r._field == "count")
    |> group(columns: ["_time"])
    |> distinct(column: "pseudonym")
    |> count()
    |> yield(name: "any")
"""


class _Batch:
    """Points that are written together."""

    def __init__(self) -> None:
        self.points: list[ExperiencePoint] = []
        self.is_full = asyncio.Event()


class InfluxExperience:
    """`ExperienceStore` on InfluxDB; use `open`.

    Args:
        server: Where it is.
        settings: Names, and how long points are collected.
    """

    def __init__(self, server: InfluxServer, settings: ClusterSettings) -> None:
        self._server = server
        self._settings = settings
        self._collecting: tuple[_Batch, asyncio.Task[dict[ExperiencePoint, str]]] | None = None
        self._writing: set[asyncio.Task[dict[ExperiencePoint, str]]] = set()
        self._closed = False

    @classmethod
    async def open(cls, settings: ClusterSettings) -> Self:
        """Prepare to reach the server; nothing is sent before the first call.

        Args:
            settings: Where it is, and how it is used.
        """
        return cls(InfluxServer(settings), settings)

    @property
    def waiting(self) -> int:
        """How many requests wait for one of the connections to the server."""
        return self._server.waiting

    async def write(self, points: Sequence[ExperiencePoint]) -> None:
        """Put points, together with those of other calls; see the port.

        Raises:
            Rejected: InfluxDB refuses one of them; the sentence names it.
            Unavailable: It can't be reached, or denies access.
        """
        self._check_open()
        if not points:
            return
        if self._collecting is None:
            batch = _Batch()
            writing = asyncio.create_task(self._write(batch), name="eunoe-influxdb")
            self._writing.add(writing)
            writing.add_done_callback(self._writing.discard)
            self._collecting = batch, writing
        batch, writing = self._collecting
        batch.points += points
        if len(batch.points) >= EXPERIENCE_WRITE_POINTS:
            self._end_collecting(batch)
        # Shielded: others wait for the same request.
        refused = await asyncio.shield(writing)
        for one in points:
            if one in refused:
                raise Rejected(_naming(one, refused[one]))

    async def totals(
        self, pseudonyms: Sequence[str], since: datetime, until: datetime, *, unit: Unit = "day"
    ) -> list[Total]:
        """Add up what stands under some pseudonyms; see the port.

        Raises:
            Unavailable: InfluxDB can't be reached, or denies access.
        """
        self._check_open()
        wanted = check_pseudonyms(pseudonyms)
        start, stop = minutes_ns(since, until)
        if not wanted or start >= stop:
            return []
        whose = " or ".join(f'r.pseudonym == "{one}"' for one in wanted)
        sums: dict[tuple[datetime, str, ExperienceKind], dict[str, int]] = {}
        for domain in DOMAINS:
            bucket = self._bucket(domain)
            asked = _TOTALS.format(
                bucket=bucket, start=start, stop=stop, whose=whose,
                every=_EVERY[unit], limit=EXPERIENCE_ROWS_MAX + 1,
            )  # fmt: skip
            for row in await self._server.ask(bucket, asked):
                kind = ExperienceKind(row["_measurement"])
                place = (begin_of(row["_time"], unit), domain, kind)
                sums.setdefault(place, {})[row["_field"]] = row["_value"]
        return check_totals(
            [
                Total(*place, *(found.get(name, 0) for name in _FIELDS))
                for place, found in sums.items()
            ]
        )

    async def pool(self, domain: str, since: datetime, until: datetime) -> Pool | None:
        """Return what is known of a domain over all its users; see the port.

        Raises:
            Unavailable: InfluxDB can't be reached, or denies access.
        """
        self._check_open()
        start, stop = map(stamp_ns, whole_days(since, until))
        bucket = self._bucket(check_domain(domain))
        if start >= stop:
            return None
        asked = _DAYS.format(bucket=bucket, start=start, stop=stop)
        counts: list[DayCount] = []
        succeeded: dict[tuple[datetime, str], int] = {}
        kinds: list[dict[str, Any]] = []
        for row in await self._server.ask(bucket, asked):
            if row["result"] == "any":
                counts.append(DayCount(row["_time"], None, row["_value"], 0, 0))
            elif row["_field"] == "succeeded":
                succeeded[row["_time"], row["_measurement"]] = row["sum"]
            else:
                kinds.append(row)
        for row in kinds:
            day, kind = row["_time"], row["_measurement"]
            well = succeeded.get((day, kind), 0)
            counts.append(DayCount(day, ExperienceKind(kind), row["users"], row["sum"], well))
        return pool_of(domain, counts)

    async def erase(self, pseudonyms: Sequence[str]) -> None:
        """Remove everything under some pseudonyms, after what waits to be written; see the port.

        Raises:
            Unavailable: InfluxDB can't be reached, or denies access.
        """
        self._check_open()
        gone = check_pseudonyms(pseudonyms)
        await self._flush()
        for one in gone:
            # Not all at once: who waits for a connection uses up the time limit, and others need
            # some as well.
            deleting = (
                self._server.delete(self._bucket(domain), f'pseudonym="{one}"')
                for domain in DOMAINS
            )
            await asyncio.gather(*deleting)

    async def close(self) -> None:
        """Write what waits, and hang up; twice is no error."""
        if self._closed:
            return
        self._closed = True
        await self._flush()
        await self._server.close()

    async def _flush(self) -> None:
        if self._collecting is not None:
            self._end_collecting(self._collecting[0])
        if self._writing:
            await asyncio.wait(self._writing)

    def _end_collecting(self, batch: _Batch) -> None:
        batch.is_full.set()
        if self._collecting is not None and self._collecting[0] is batch:
            self._collecting = None

    async def _write(self, batch: _Batch) -> dict[ExperiencePoint, str]:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.write_window_s):
                await batch.is_full.wait()
        self._end_collecting(batch)
        return await self._put_all(batch.points)

    async def _put_all(self, points: Iterable[ExperiencePoint]) -> dict[ExperiencePoint, str]:
        """Write points; returns those that InfluxDB refuses, each with its reason."""
        of_domain: dict[str, list[ExperiencePoint]] = {}
        for one in points:
            of_domain.setdefault(one.domain, []).append(one)
        refused: dict[ExperiencePoint, str] = {}
        for domain, theirs in of_domain.items():
            for start in range(0, len(theirs), EXPERIENCE_WRITE_POINTS):
                part = theirs[start : start + EXPERIENCE_WRITE_POINTS]
                refused |= await self._put(self._bucket(domain), part)
        return refused

    async def _put(
        self, bucket: str, points: Sequence[ExperiencePoint]
    ) -> dict[ExperiencePoint, str]:
        try:
            await self._server.write(bucket, "\n".join(map(_line, points)).encode())
        except Refused as error:
            if len(points) == 1:
                return {points[0]: str(error)}
            half = len(points) // 2
            first = await self._put(bucket, points[:half])
            return first | await self._put(bucket, points[half:])
        return {}

    def _bucket(self, domain: str) -> str:
        # No namespace has a point in it, so no two installations share a bucket.
        namespace = self._settings.namespace
        return namespace if domain == GENERAL else f"{namespace}.{domain}"

    def _check_open(self) -> None:
        if self._closed:
            message = "The experience store is closed."
            raise Unavailable(message)


def _line(point: ExperiencePoint) -> str:
    """Write a point in InfluxDB's line protocol; its parts hold nothing that needs an escape."""
    counts = f"count={point.count}i,succeeded={point.succeeded}i"
    return f"{point.kind.value},pseudonym={point.pseudonym} {counts} {point.at_ns}"


def _naming(point: ExperiencePoint, reason: str) -> str:
    moment = moment_of(point.at_ns).isoformat(timespec="minutes")
    return (
        f"InfluxDB refuses a point of the kind {point.kind.value} in the domain {point.domain}, "
        f"of {moment}: {reason}"
    )
