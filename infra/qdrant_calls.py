"""Calls to a Qdrant server: a pool of connections, a time limit, and errors in our words."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from ..schemas.errors import Damaged, EunoeError, Fenced, Unavailable
from ..schemas.limits import QDRANT_IDLE_S_MAX
from .gate import Gate

__all__ = ["HttpStatus", "QdrantCalls"]

CLOSED: Final = "The episodic store is closed."
STRANGE: Final = "answers in a form that this version doesn't know"
UNDONE: Final = "has taken a write and not done it in time"
HEALS: Final = frozenset((httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_MANY_REQUESTS))
LOCKED: Final = frozenset((httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN))


class HttpStatus(Exception):
    """An answer that whoever asked has to interpret; it never leaves the adapter.

    Args:
        code: Of HTTP.
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"HTTP {code}")
        self.code = code


class QdrantCalls:
    """One process's connections to a server.

    Args:
        url: Of the server.
        key: Sent with each request; empty sends none.
        timeout_s: After which a call counts as failed, waiting for a connection included.
        connections_max: At a time.
        client: Instead of one for the URL, for a test.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        timeout_s: float,
        connections_max: int,
        client: AsyncQdrantClient | None = None,
    ) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._gate = Gate(connections_max)
        self._closed = False
        limits = httpx.Limits(
            max_connections=connections_max,
            max_keepalive_connections=connections_max,
            keepalive_expiry=QDRANT_IDLE_S_MAX,
        )
        self._client = client or AsyncQdrantClient(
            url=url,
            headers={"api-key": key} if key else None,
            timeout=math.ceil(timeout_s),
            check_compatibility=False,  # what matters is probed when the store is opened
            limits=limits,
        )

    @property
    def waiting(self) -> int:
        """How many requests wait for a connection at this moment."""
        return self._gate.waiting

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._url

    @asynccontextmanager
    async def call(self, *, tell: frozenset[int] = frozenset()) -> AsyncIterator[AsyncQdrantClient]:
        """Lend the client for one request.

        Args:
            tell: Codes of HTTP that are raised as `HttpStatus`.

        Raises:
            Unavailable: The server can't be used now.
            Fenced: The collection that was asked isn't there any more.
            Damaged: The server doesn't take what it was sent.
            HttpStatus: It answered one of those codes.
        """
        if self._closed:
            raise Unavailable(CLOSED)
        try:
            async with asyncio.timeout(self._timeout_s), self._gate.inside():
                yield self._client
        except TimeoutError as error:
            message = (
                f"Qdrant at {self._url} didn't answer within {self._timeout_s:g} s: check the "
                "server that EUNOE_QDRANT names, or raise EUNOE_CALL_TIMEOUT_S."
            )
            raise Unavailable(message) from error
        except (UnexpectedResponse, ResponseHandlingException, QdrantException) as error:
            raise self._translated(error, tell) from error

    async def ask(
        self, collection: str, requests: list[models.QueryRequest]
    ) -> list[list[models.ScoredPoint]]:
        """Ask several questions in one request; returns the points that each found.

        A server takes no question for no points: it finds none, and isn't asked.
        """
        asked = [one for one in requests if one.limit != 0]
        answers = iter(await self._ask(collection, asked) if asked else ())
        return [[] if one.limit == 0 else next(answers) for one in requests]

    async def update(self, collection: str, operations: list[models.UpdateOperation]) -> None:
        """Do several things in order, in one request; done when this returns.

        Raises:
            Unavailable: As for `call`, and where the server hasn't done it in time.
        """
        batch = models.UpdateOperations(operations=operations)
        async with self.call() as client:
            found = await client.http.points_api.batch_update(
                collection, wait=True, update_operations=batch
            )
        results = found.result or []
        if len(results) != len(operations) or any(
            one.status != models.UpdateStatus.COMPLETED for one in results
        ):
            raise self._unavailable(UNDONE)

    async def close(self) -> None:
        """Give the connections back; twice is no error."""
        if not self._closed:
            self._closed = True
            await self._client.close()

    async def _ask(
        self, collection: str, requests: list[models.QueryRequest]
    ) -> list[list[models.ScoredPoint]]:
        # Not by the client's own method: it copies each question deeply, in search of texts that
        # it might embed, which takes longer than all the rest.
        batch = models.QueryRequestBatch(searches=requests)
        async with self.call() as client:
            found = await client.http.search_api.query_batch_points(
                collection, query_request_batch=batch
            )
        answers = [one.points for one in found.result or []]
        if len(answers) != len(requests):
            raise self._unavailable(STRANGE)
        return answers

    def _translated(self, error: Exception, tell: frozenset[int]) -> EunoeError | HttpStatus:
        if isinstance(error, UnexpectedResponse):
            code = error.status_code or 0
            return HttpStatus(code) if code in tell else self._refused(code)
        source: Any = getattr(error, "source", error)
        if isinstance(error, QdrantException):
            what = "takes no more requests for now"
        elif isinstance(source, httpx.TimeoutException):
            what = "didn't answer in time"
        elif isinstance(source, httpx.HTTPError):
            what = "can't be reached"
        else:
            what = STRANGE
        return self._unavailable(what)

    def _refused(self, code: int) -> EunoeError:
        if code in LOCKED:
            message = f"Qdrant at {self._url} refuses the key: set EUNOE_QDRANT_KEY to a valid one."
            return Unavailable(message)
        if code >= httpx.codes.INTERNAL_SERVER_ERROR or code in HEALS:
            return self._unavailable(f"answers {code}")
        if code == httpx.codes.NOT_FOUND:
            message = (
                f"The collection at Qdrant {self._url} isn't there any more: it was removed, or "
                "another took its place; start again, and the journal fills what is missing."
            )
            return Fenced(message)
        message = (
            f"Qdrant at {self._url} doesn't take a request of the episodic store ({code}): stop, "
            "and report it with the versions of both."
        )
        return Damaged(message)

    def _unavailable(self, what: str) -> Unavailable:
        return Unavailable(
            f"Qdrant at {self._url} {what}: check the server that EUNOE_QDRANT names."
        )
