"""The log on Kafka: the contract on a real broker."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]  # it ships no types
from hypothesis import given, settings

from eunoe.infra.kafka import KafkaLog
from eunoe.infra.kafka_client import Names
from eunoe.schemas.errors import Conflict
from eunoe.schemas.ports import TopicPartition
from eunoe.schemas.topics import Topic
from tests.contract.log_contract import (
    COMMITS,
    INGRESS,
    LogContract,
    NewStore,
    each_example,
    last_commit_counts,
)
from tests.contract.log_deletion_contract import (
    COMPACTED_TOPICS,
    COMPACTION_STEPS,
    LogDeletionContract,
    compaction_is_a_dictionary,
)
from tests.integration.kafka_store import LAG_S, KafkaStore, cluster_settings
from tests.servers.fixtures import give_kafka

__all__ = ["give_kafka"]

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
few_examples = settings(each_example, max_examples=4)
"""Each makes topics and waits for the broker's cleaner."""


def stores(address: str, **more: float) -> Iterator[Callable[[], KafkaStore]]:
    """Give a maker of empty stores, and remove them afterwards."""
    made: list[KafkaStore] = []

    def make() -> KafkaStore:
        made.append(KafkaStore(cluster_settings(address, **more)))
        return made[-1]

    yield make
    for store in made:
        store.remove()


@pytest.fixture
def new_store(kafka_address: str) -> Iterator[Callable[[], KafkaStore]]:
    """Return a maker of empty stores."""
    yield from stores(kafka_address)


@pytest.fixture
async def log(new_store: Callable[[], KafkaStore]) -> AsyncIterator[KafkaLog]:
    """Return an empty log."""
    async with new_store().open() as log:
        yield log


class TestKafkaLog(LogContract):
    """The contract on Kafka."""

    @few_examples
    @given(commits=COMMITS)
    def test_the_last_commit_counts_and_survives(
        self, new_store: NewStore, commits: list[tuple[str, dict[TopicPartition, int]]]
    ) -> None:
        """After any interleaving of commits and a restart, each place has its last offset."""
        asyncio.run(last_commit_counts(new_store, commits))


async def test_a_group_with_members_commits_for_itself(
    new_store: Callable[[], KafkaStore],
) -> None:
    """Who isn't a member is told so, and what the group had committed stays."""
    store = new_store()
    async with store.open() as log:
        place = TopicPartition(INGRESS.name, 0)
        await log.commit("one", {place: 3})
        names = Names(store.settings.namespace)
        member = AIOKafkaConsumer(
            names.topic(INGRESS.name),
            bootstrap_servers=store.settings.kafka[0],
            group_id=names.group("one"),
            enable_auto_commit=False,
        )
        await member.start()
        try:
            with pytest.raises(Conflict, match="has members"):
                await log.commit("one", {place: 5})
        finally:
            await member.stop()
        assert await log.committed("one", *place) == 3


class TestKafkaLogDeletion(LogDeletionContract):
    """The contract on deletion, where brokers compact at once."""

    @pytest.fixture
    def new_store(self, kafka_address: str) -> Iterator[Callable[[], KafkaStore]]:
        """Return a maker of empty stores whose topics have a short lag."""
        yield from stores(kafka_address, compaction_lag_s=LAG_S)

    @few_examples
    @given(topic=COMPACTED_TOPICS, steps=COMPACTION_STEPS)
    def test_compaction_is_a_dictionary(
        self, new_store: NewStore, topic: Topic, steps: list[tuple[int, bytes | None] | None]
    ) -> None:
        """After any puts, tombstones and compactions the last value of each key is there."""
        asyncio.run(compaction_is_a_dictionary(new_store, topic, steps))
