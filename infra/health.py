"""Health and metrics of a worker, on loopback: Prometheus and aiohttp are known here alone."""

from collections.abc import Callable, Sequence
from typing import Final, Self

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ..schemas.errors import Unavailable

__all__ = ["HealthServer", "Metrics"]

LOOPBACK: Final = "127.0.0.1"
LABELS: Final = ("processor", "partition")
LATENCIES_S: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """What a worker counts, by processor and partition; docs/operating.md says what alarms mean."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.lag = self._gauge("eunoe_lag", "Records that are to be done.")
        self.in_flight = self._gauge("eunoe_in_flight", "Records read and not acknowledged.")
        self.retries = self._gauge("eunoe_retries", "Tries again since the lane was opened.")
        self.dead_letters = Counter(
            "eunoe_dead_letters", "Events refused.", LABELS, registry=self.registry
        )
        self.latency = Histogram(
            "eunoe_latency_seconds",
            "From publishing an event to its being searchable.",
            LABELS,
            buckets=LATENCIES_S,
            registry=self.registry,
        )
        self.waiting = self._gauge(
            "eunoe_pool_waiting", "Calls that wait for a connection.", ("engine",)
        )
        self.healthy = self._gauge("eunoe_healthy", "1 if /healthz says so.", ())

    def _gauge(self, name: str, told: str, labels: Sequence[str] = LABELS) -> Gauge:
        return Gauge(name, told, labels, registry=self.registry)

    def forget(self, processor: str, partitions: Sequence[int]) -> None:
        """Remove what was told of partitions that are another's now."""
        for gauge in (self.lag, self.in_flight, self.retries):
            for partition in partitions:
                gauge.remove(processor, str(partition))


class HealthServer:
    """Answers /healthz and /metrics. Use `start`.

    Args:
        runner: Of the web application.
        port: On which it listens.
    """

    def __init__(self, runner: web.AppRunner, port: int) -> None:
        self._runner = runner
        self.port = port

    @classmethod
    async def start(
        cls, port: int, metrics: Metrics, troubles: Callable[[], Sequence[str]]
    ) -> Self:
        """Listen on loopback.

        Args:
            port: 0 takes a free one.
            metrics: What /metrics says.
            troubles: Sentences; none means healthy.

        Raises:
            Unavailable: The port is taken.
        """

        async def health(_: web.Request) -> web.Response:
            found = list(troubles())
            status = 503 if found else 200
            body = {"status": "unhealthy" if found else "healthy", "troubles": found}
            return web.json_response(body, status=status)

        async def told(_: web.Request) -> web.Response:
            metrics.healthy.set(0 if troubles() else 1)
            body = generate_latest(metrics.registry)
            return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

        application = web.Application()
        application.router.add_get("/healthz", health)
        application.router.add_get("/metrics", told)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, LOOPBACK, port)
        try:
            await site.start()
        except OSError as error:
            await runner.cleanup()
            message = f"The port {port} is taken: set EUNOE_METRICS_PORT to another, or to 0."
            raise Unavailable(message) from error
        return cls(runner, runner.addresses[0][1])

    async def close(self) -> None:
        """Listen no more."""
        await self._runner.cleanup()
