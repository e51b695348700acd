"""Requests to an InfluxDB 2.7 server; the only module that imports its client.

Each request has a time limit and one of a bounded number of connections. The client's errors are
translated here, once. Nothing is repeated: who calls tries again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import aiohttp
from influxdb_client.client.exceptions import InfluxDBError
from influxdb_client.client.flux_csv_parser import FluxCsvParserException, FluxQueryException
from influxdb_client.client.influxdb_client_async import InfluxDBClientAsync
from influxdb_client.domain.post_bucket_request import PostBucketRequest
from influxdb_client.rest import ApiException
from influxdb_client.service.buckets_service import BucketsService
from influxdb_client.service.organizations_service import OrganizationsService

from ..schemas.errors import Unavailable
from ..schemas.limits import REASON_CHARACTERS_MAX
from .cluster_settings import ClusterSettings
from .gate import Gate

__all__ = ["InfluxServer", "Refused"]

_DENIED: Final = frozenset({401, 403})
_NOT_FOUND: Final = 404
_REFUSED: Final = frozenset({400, 413, 422})
_EVER: Final = ("1970-01-01T00:00:00Z", "2262-04-11T00:00:00Z")


class Refused(Exception):
    """InfluxDB takes a request for wrong, now and later; the text is its reason."""


class InfluxServer:
    """One server; nothing is sent before the first call. Inside a running event loop only.

    Args:
        settings: Where it is, and how it is used.
    """

    def __init__(self, settings: ClusterSettings) -> None:
        self._settings = settings
        # Most of what it takes and returns has no annotations.
        self._client: Any = InfluxDBClientAsync(
            url=settings.influxdb,
            token=settings.influxdb_token,
            org=settings.influxdb_org,
            timeout=round(settings.call_timeout_s * 1_000),
            connection_pool_maxsize=settings.connections_max,
        )
        self._gate = Gate(settings.connections_max)
        self._made: set[str] = set()

    @property
    def waiting(self) -> int:
        """How many requests wait for one of the connections."""
        return self._gate.waiting

    async def write(self, bucket: str, lines: bytes) -> None:
        """Write points, durably.

        Args:
            bucket: Where to; made if it isn't there.
            lines: Line protocol.

        Raises:
            Refused: InfluxDB takes one of them for wrong; others may be there.
            Unavailable: It can't be reached, or denies access.
        """
        await self._ensure(bucket)
        await self._call(lambda: self._client.write_api().write(bucket=bucket, record=lines))

    async def ask(self, bucket: str, flux: str) -> list[dict[str, Any]]:
        """Return the rows of a question to a bucket.

        Raises:
            Unavailable: InfluxDB can't be reached, denies access or doesn't know the language.
        """
        await self._ensure(bucket)
        tables = await self._answered(lambda: self._client.query_api().query(flux))
        return [record.values for table in tables for record in table.records]

    async def delete(self, bucket: str, predicate: str) -> None:
        """Delete points of a bucket, of any time.

        Args:
            bucket: Where from.
            predicate: Comparisons by `=`, joined by AND.

        Raises:
            Unavailable: InfluxDB can't be reached, or denies access.
        """
        await self._ensure(bucket)
        delete = self._client.delete_api().delete
        await self._answered(lambda: delete(*_EVER, predicate, bucket=bucket))

    async def close(self) -> None:
        """Hang up."""
        await self._client.close()

    async def _ensure(self, name: str) -> None:
        """Make a bucket where it isn't there; it keeps everything."""
        if name in self._made:
            return
        buckets: Any = BucketsService(self._client.api_client)  # type: ignore[no-untyped-call]  # untyped
        found = await self._answered(
            lambda: buckets.get_buckets_async(name=name, org=self._settings.influxdb_org),
            missing_is_nothing=True,
        )
        if found is None or not found.buckets:
            await self._make(buckets, name)
        self._made.add(name)

    async def _make(self, buckets: Any, name: str) -> None:  # noqa: ANN401 - it has no types
        orgs: Any = OrganizationsService(self._client.api_client)  # type: ignore[no-untyped-call]  # untyped
        found = await self._answered(
            lambda: orgs.get_orgs_async(org=self._settings.influxdb_org), missing_is_nothing=True
        )
        if found is None or not found.orgs:
            message = (
                f"InfluxDB has no organisation {self._settings.influxdb_org!r}: set "
                "EUNOE_INFLUXDB_ORG to one that it has."
            )
            raise Unavailable(message)
        make: Any = PostBucketRequest  # untyped
        request = make(org_id=found.orgs[0].id, name=name, retention_rules=[])
        with suppress(Refused):  # somebody else has just made it; if not, the next call says so
            await self._call(lambda: buckets.post_buckets_async(post_bucket_request=request))

    async def _answered(
        self, request: Callable[[], Awaitable[Any]], *, missing_is_nothing: bool = False
    ) -> Any:  # noqa: ANN401 - what the client returns
        """Do a request that InfluxDB has no reason to refuse."""
        try:
            return await self._call(request, missing_is_nothing=missing_is_nothing)
        except Refused as error:
            message = (
                f"InfluxDB refuses a request ({error}): Eunoe needs InfluxDB 2.7 at EUNOE_INFLUXDB."
            )
            raise Unavailable(message) from error

    async def _call(
        self, request: Callable[[], Awaitable[Any]], *, missing_is_nothing: bool = False
    ) -> Any:  # noqa: ANN401 - what the client returns
        """Do one request within the time limit, on one of the connections.

        Raises:
            Refused: InfluxDB takes it for wrong.
            Unavailable: It can't be reached in time, or denies access.
        """
        awaited = "a connection was free: raise EUNOE_CONNECTIONS_MAX, or look at EUNOE_INFLUXDB"
        try:
            async with asyncio.timeout(self._settings.call_timeout_s), self._gate.inside():
                awaited = "it answered: look at the server at EUNOE_INFLUXDB"
                return await request()
        except TimeoutError as error:
            message = f"{self._settings.call_timeout_s:g} s passed at InfluxDB before {awaited}."
            raise Unavailable(message) from error
        except ApiException as error:
            if error.status == _NOT_FOUND and missing_is_nothing:
                return None
            raise self._translated(error) from error
        except (InfluxDBError, FluxQueryException, FluxCsvParserException) as error:
            raise Refused(str(error)[:REASON_CHARACTERS_MAX]) from error
        except (aiohttp.ClientError, OSError) as error:
            message = (
                f"InfluxDB can't be reached ({type(error).__name__}): start the server that "
                "EUNOE_INFLUXDB names, or set it to another."
            )
            raise Unavailable(message) from error

    def _translated(self, error: ApiException) -> Exception:
        if error.status in _DENIED:
            message = (
                "InfluxDB denies access: set EUNOE_INFLUXDB_TOKEN to a token that may read and "
                "write the buckets of this installation, and make them."
            )
            return Unavailable(message)
        reason = str(error.message)[:REASON_CHARACTERS_MAX]
        if error.status in _REFUSED:
            return Refused(reason)
        if error.status == _NOT_FOUND:
            self._made.clear()  # somebody removed a bucket: the next call makes it again
        message = (
            f"InfluxDB at EUNOE_INFLUXDB can't do it now (status {error.status}: {reason}); it "
            "is tried again."
        )
        return Unavailable(message)
