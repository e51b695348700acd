"""What goes around each call of the stand-in for Qdrant: keys, errors, faults, counts."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.servers.qdrant_shapes import BadRequestError, UnprocessableError

__all__ = ["Fault", "Faults", "failed", "ok"]

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Fault:
    """What goes wrong; see the stand-in."""

    status: int | None = None
    delay_s: float = 0.0
    drop: bool = False
    path: str = ""
    count: int | None = None
    until: float = float("inf")

    def meets(self, call: str) -> bool:
        """Tell whether it holds now, of a call."""
        return self.path in call and time.monotonic() < self.until and self.count != 0


class Faults:
    """Keys, errors, faults and counts.

    Args:
        key: That requests have to bring; empty is none.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._faults: list[Fault] = []
        self._calls: Counter[str] = Counter()

    def routes(self) -> list[web.RouteDef]:
        """Return the calls by which tests set and read all this."""
        return [
            web.post("/faults", self._set_fault),
            web.delete("/faults", self._end_faults),
            web.get("/calls", self._told_calls),
            web.delete("/calls", self._forget_calls),
        ]

    @web.middleware
    async def around(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a call, as far as it comes to that."""
        if request.path in {"/faults", "/calls"}:
            return await handler(request)
        resource = request.match_info.route.resource
        route = resource.canonical if resource else request.path
        self._calls[f"{request.method} {route}"] += 1
        if self._key and request.headers.get("api-key") != self._key:
            return failed(401, "Must provide an API key that is valid")
        fault = self._fault(f"{request.method} {request.path}")
        if fault is not None and fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        if fault is not None and fault.status is not None:
            return failed(fault.status, "A fault that a test has set")
        answer = await _answered(request, handler)
        if fault is not None and fault.drop and request.transport is not None:
            request.transport.abort()
        return answer

    def _fault(self, call: str) -> Fault | None:
        fault = next((one for one in self._faults if one.meets(call)), None)
        if fault is not None and fault.count is not None:
            fault.count -= 1
        return fault

    async def _set_fault(self, request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        seconds = body.pop("seconds", None)
        fault = Fault(**body)
        if seconds is not None:
            fault.until = time.monotonic() + seconds
        self._faults.append(fault)
        return ok(len(self._faults))

    async def _end_faults(self, _: web.Request) -> web.Response:
        self._faults.clear()
        return ok(0)

    async def _told_calls(self, _: web.Request) -> web.Response:
        return ok(dict(self._calls))

    async def _forget_calls(self, _: web.Request) -> web.Response:
        self._calls.clear()
        return ok(0)


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except BadRequestError as error:
        return failed(400, str(error))
    except UnprocessableError as error:
        return failed(422, str(error))
    except LookupError as error:
        return failed(404, f"Not found: Collection `{error}` doesn't exist!")


def ok(result: object) -> web.Response:
    """Return an answer as the server gives it."""
    return web.json_response({"result": result, "status": "ok", "time": 0.0})


def failed(status: int, error: str) -> web.Response:
    """Return an error as the server gives it."""
    return web.json_response({"status": {"error": error}, "time": 0.0}, status=status)
