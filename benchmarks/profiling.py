"""Where the time goes: the share of each step, without that of the steps inside it."""

import inspect
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

__all__ = ["Profile"]


class Profile:
    """Seconds of each step, without those of the steps inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner: ContextVar[list[float]] = ContextVar("inner")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what is inside as a step."""
        outer = self._inner.get([])
        inner: list[float] = []
        self._inner.set(inner)
        began = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - began
            self._inner.set(outer)
            outer.append(took)
            self.seconds[name] += took - sum(inner)

    def watch(self, target: object, name: str, step: str) -> None:
        """Count a function of a module, or a method of an object or of a class, as a step."""
        call: Callable[..., Any] = getattr(target, name)

        @wraps(call)
        def timed(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever it takes
            with self.step(step):
                return call(*given, **named)

        @wraps(call)
        async def awaited(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - the same
            with self.step(step):
                return await call(*given, **named)

        setattr(target, name, awaited if inspect.iscoroutinefunction(call) else timed)
