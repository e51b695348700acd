"""What goes wrong in a soak, each with the time that it is given to be mended."""

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable
from typing import Final

from tests.support.clustering import Cluster, Worker

__all__ = ["KINDS", "Faults"]

AWAY_S: Final = 2.0
"""How long a server that was killed is away."""
STILL_S: Final = 3.0
"""How much longer than its session a worker stands still."""
WORKERS_MAX: Final = 3


class Faults:
    """Does harm to a cluster.

    Args:
        cluster: To which.
        encoder: Of the workers that it starts.
        tell: Called with what is done.
    """

    def __init__(self, cluster: Cluster, encoder: str, tell: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._encoder = encoder
        self._tell = tell
        self._wanted = 2
        self._mourned: list[Worker] = []

    @property
    def died(self) -> int:
        """How many workers ended by themselves, and were started again."""
        return len(self._mourned)

    def start(self) -> None:
        """Start the first workers."""
        for _ in range(self._wanted):
            self._start()

    async def end(self) -> None:
        """Let every worker end, which it has to do well."""
        for worker in self._alive:
            await self._end(worker)

    async def do(self, kind: str, dice: random.Random) -> None:
        """Do one kind of harm, and what an operator's machine does against it."""
        self._tell(f"fault: {kind}")
        doing: dict[str, Callable[[random.Random], Awaitable[None]]] = {
            "kill a worker": self._kill,
            "let a worker stand still": self._stand_still,
            "add a worker": self._add,
            "remove a worker": self._remove,
        }
        if kind in doing:
            await doing[kind](dice)
        else:
            await self._restart(SERVERS[kind])

    @property
    def _alive(self) -> list[Worker]:
        return [one for one in self._cluster.workers if one.process.poll() is None]

    async def _kill(self, dice: random.Random) -> None:
        dice.choice(self._alive).kill()
        self._start()

    async def _stand_still(self, dice: random.Random) -> None:
        worker = dice.choice(self._alive)
        cluster = self._cluster.settings.cluster
        assert cluster is not None
        worker.pause()
        await asyncio.sleep(cluster.session_timeout_s + STILL_S)
        worker.resume()

    async def _add(self, dice: random.Random) -> None:
        del dice
        if self._wanted == WORKERS_MAX:
            await self._end(self._alive[0])
        self._wanted = min(WORKERS_MAX, self._wanted + 1)
        self._start()

    async def _remove(self, dice: random.Random) -> None:
        self._wanted = max(1, self._wanted - 1)
        await self._end(dice.choice(self._alive))

    async def _end(self, worker: Worker) -> None:
        await asyncio.to_thread(lambda: worker.port)  # one that is starting knows no signal yet
        code = await asyncio.to_thread(worker.stop)
        if code != 0:
            message = f"A worker that was asked to end did so with {code}:\n{worker.told[-2000:]}"
            raise AssertionError(message)

    async def _restart(self, name: str) -> None:
        server = self._cluster.servers[name]
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(AWAY_S)
        await asyncio.to_thread(server.start)

    def revive(self) -> None:
        """Start workers in the place of those that ended by themselves, as a supervisor does."""
        for worker in self._cluster.workers:
            code = worker.process.poll()
            if code not in {None, 0, -signal.SIGKILL} and worker not in self._mourned:
                self._mourned.append(worker)
                said = worker.told.strip().splitlines() or ["nothing"]
                self._tell(f"a worker ended by itself with {code}, and said: {said[-1]}")
        while len(self._alive) < self._wanted:
            self._start()

    def _start(self) -> None:
        self._cluster.worker(encoder=self._encoder)


SERVERS: Final = {
    "restart the broker": "kafka",
    "restart TiKV": "tikv",
    "restart Qdrant": "qdrant",
    "restart InfluxDB": "influxdb",
}
KINDS: Final = (
    "kill a worker",
    "let a worker stand still",
    "restart the broker",
    "restart TiKV",
    "restart Qdrant",
    "restart InfluxDB",
    "add a worker",
    "remove a worker",
)
