"""An event loop in which nothing waits: time jumps, and threads' work is done in seeded order.

Work that is handed to an executor is done in the loop itself, after a delay that the seed draws;
what one executor is handed stays in order, as with its thread. So the same seed gives the same
interleaving of writer, callers and engines, each time.
"""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from random import Random
from typing import Any, Final, TypeVar

__all__ = ["SimulatedLoop"]

Result = TypeVar("Result")

DELAYS_S: Final = (0.0, 0.0, 0.0, 0.001, 0.004, 0.03)
STEP_S: Final = 1e-6


class _Jumping(selectors.SelectSelector):
    """A selector that lets the loop's time pass instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if not events:
            if timeout is None:
                message = "Everybody waits for something that nobody does."
                raise RuntimeError(message)
            self.now_s += max(0.0, timeout)
        return events


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop with a time of its own, in seconds from 0.

    Args:
        dice: Draws how long executors take.
    """

    def __init__(self, dice: Random) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)
        self._dice = dice
        self._ends: dict[int, float] = {}

    def time(self) -> float:
        """Return the loop's time."""
        return self._jumping.now_s

    def run_in_executor(  # type: ignore[override] # the stub wants its own TypeVarTuple
        self, executor: Executor | None, func: Callable[..., Result], *args: Any
    ) -> "asyncio.Future[Result]":
        """Do the work later, in the loop; in order for each executor."""
        future: asyncio.Future[Result] = self.create_future()

        def work() -> None:
            if future.cancelled() and self._dice.random() < 0.5:
                return  # it was still waiting for its thread
            try:
                result = func(*args)
            except BaseException as error:  # noqa: BLE001 - what a thread does with it
                if not future.cancelled():
                    future.set_exception(error)
            else:
                if not future.cancelled():
                    future.set_result(result)

        begins = self.time() + self._dice.choice(DELAYS_S)
        if executor is not None:
            begins = max(begins, self._ends.get(id(executor), 0.0) + STEP_S)
            self._ends[id(executor)] = begins
        self.call_at(begins, work)
        return future
