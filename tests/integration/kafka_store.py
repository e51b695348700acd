"""Logs and key logs on a real broker, each in a namespace of its own, as their tests use them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final
from uuid import uuid4

import pytest
from aiokafka.admin import AIOKafkaAdminClient  # type: ignore[import-untyped]  # it ships no types
from aiokafka.admin.config_resource import (  # type: ignore[import-untyped]  # likewise
    ConfigResource,
    ConfigResourceType,
)

from eunoe.infra import kafka_topics
from eunoe.infra.cluster_settings import ClusterSettings
from eunoe.infra.kafka import KafkaLog
from eunoe.infra.kafka_keys import KafkaKeys
from eunoe.schemas.topics import TOPICS, Topic
from tests.contract.log_contract import CONTRACT_PARTITIONS, CONTRACT_TOPICS

__all__ = [
    "LAG_S",
    "MASTER",
    "KafkaKeyStore",
    "KafkaStore",
    "cluster_settings",
    "give_log",
    "installation",
    "set_topic",
]

MASTER: Final = bytes(range(32))
LAG_S: Final = 1.5
"""After which what was tombstoned has gone: short, so that tests see it go."""


def cluster_settings(address: str, **more: object) -> ClusterSettings:
    """Return settings for a broker, with a namespace that nobody else has."""
    chosen: dict[str, object] = {
        "kafka": (address,),
        "namespace": f"test-{uuid4().hex[:12]}",
        "partitions": CONTRACT_PARTITIONS,
        "call_timeout_s": 20.0,
    }
    return ClusterSettings(**(chosen | more))  # type: ignore[arg-type]  # by name


class KafkaStore:
    """The topics of one log.

    Args:
        settings: Where the broker is, and the namespace.
        topics: The topics table.
    """

    def __init__(
        self, settings: ClusterSettings, topics: Sequence[Topic] = CONTRACT_TOPICS
    ) -> None:
        self.settings = settings
        self.topics = topics
        self._is_made = False

    async def make(self) -> None:
        """Make the topics, the first time."""
        if not self._is_made:
            await kafka_topics.apply(self.settings, topics=self.topics)
            self._is_made = True

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[KafkaLog, None]:
        """Open the log."""
        await self.make()
        log = await KafkaLog.open(self.settings, topics=self.topics)
        try:
            yield log
        finally:
            await log.close()

    def remove(self) -> None:
        """Remove the topics, so that the broker doesn't carry those of every test."""
        if self._is_made:
            asyncio.run(self._remove())

    async def _remove(self) -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=list(self.settings.kafka))
        await admin.start()
        try:
            prefix = f"{self.settings.namespace}."
            await admin.delete_topics(
                [prefix + topic.name.partition(".")[2] for topic in self.topics]
            )
        finally:
            await admin.close()


@contextmanager
def installation(address: str, partitions: int) -> Iterator[KafkaStore]:
    """Give an installation without topics, which has those of the table once they are made."""
    store = KafkaStore(cluster_settings(address, partitions=partitions), TOPICS)
    try:
        yield store
    finally:
        store.remove()


async def set_topic(store: KafkaStore, topic: str, **values: str) -> None:
    """Give a topic settings as an operator may, and no others."""
    admin = AIOKafkaAdminClient(bootstrap_servers=list(store.settings.kafka))
    await admin.start()
    try:
        name = f"{store.settings.namespace}.{topic.partition('.')[2]}"
        configs = {key.replace("_", "."): value for key, value in values.items()}
        await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, configs)])
    finally:
        await admin.close()


@pytest.fixture(name="log")
async def give_log(store: KafkaStore) -> AsyncIterator[KafkaLog]:
    """Return the log of the module's store."""
    async with store.open() as log:
        yield log


class KafkaKeyStore(KafkaStore):
    """The topics of one key log, which a lane writes.

    Args:
        settings: Where the broker is, and the namespace.
    """

    def __init__(self, settings: ClusterSettings) -> None:
        super().__init__(settings, TOPICS)

    @asynccontextmanager
    async def keys(
        self, partition: int = 0, master: bytes = MASTER
    ) -> AsyncGenerator[KafkaKeys, None]:
        """Open the keys of a lane."""
        async with self.open() as log, log.fenced(partition) as fenced:
            keys = await KafkaKeys.open(fenced, partition, master=master)
            try:
                yield keys
            finally:
                await keys.close()
