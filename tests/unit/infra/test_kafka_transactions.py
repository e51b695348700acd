"""A transaction whose first records failed before the others were handed over."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import errors as faults  # type: ignore[import-untyped]  # it ships no types

from eunoe.infra.cluster_settings import ClusterSettings
from eunoe.infra.kafka_marks import OPENING_KEYS, opening
from eunoe.infra.kafka_transactions import Transactions
from eunoe.schemas.errors import EunoeError, Fenced, Rejected, Unavailable


class Producer:
    """Takes one record, which fails, and no other, as aiokafka's does.

    Args:
        reason: What the first record fails with; None acknowledges it.
    """

    def __init__(self, reason: Exception | None) -> None:
        self._reason = reason
        self._sent = 0
        running = asyncio.get_running_loop().create_future()
        self._sender = SimpleNamespace(sender_task=running)
        self.is_committed = False

    async def begin_transaction(self) -> None:
        """Begin."""

    async def abort_transaction(self) -> None:
        """Abort."""

    async def commit_transaction(self) -> None:
        """Note that it was committed."""
        self.is_committed = True

    async def send(self, *_: object) -> asyncio.Future[Any]:
        """Take the first record."""
        self._sent += 1
        if self._sent > 1:
            raise faults.IllegalOperation
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._reason is None:
            future.set_result(SimpleNamespace(offset=0))
        else:
            asyncio.get_running_loop().call_soon(future.set_exception, self._reason)
        return future


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (faults.ProducerFenced(), Fenced),
        (faults.InvalidProducerEpoch(), Fenced),
        (faults.MessageSizeTooLargeError(), Rejected),
        (faults.TopicAuthorizationFailedError(), Unavailable),
        (None, Fenced),
    ],
)
async def test_the_reason_is_told_and_nothing_is_committed(
    reason: Exception | None, told: type[EunoeError]
) -> None:
    """What is raised says why the first record failed, and is an error of our own."""
    producer: Any = Producer(reason)
    settings = ClusterSettings(kafka=("127.0.0.1:1",))
    transactions = Transactions(producer, settings, "Lost.", lambda _: None)
    records = opening("cafe.keys.v1", 3, "one", OPENING_KEYS)
    with pytest.raises(EunoeError) as raised:
        await transactions.append(records)
    assert type(raised.value) is told
    assert not producer.is_committed
