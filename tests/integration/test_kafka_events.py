"""CloudEvents that other clients publish to the broker, in both modes of the Kafka binding."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types

from eunoe.schemas.cloudevents import decode
from eunoe.schemas.events import Turn
from eunoe.schemas.topics import TURNS
from tests.contract.log_contract import written
from tests.integration.kafka_store import KafkaStore, installation
from tests.servers.fixtures import give_kafka

__all__ = ["give_kafka"]

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
TEXTS: Final = ("I moved to Oslo 🏔", "我搬到了奥斯陆🏔")


@pytest.fixture
def store(kafka_address: str) -> Iterator[KafkaStore]:
    """Return an empty installation."""
    with installation(kafka_address, 2) as store:
        yield store


def attributes(number: int) -> dict[str, str]:
    """Return the attributes of an event."""
    return {
        "specversion": "1.0",
        "id": f"m-{number}",
        "source": "聊天",
        "type": "eunoe.turn.added.v1",
        "time": "2026-05-07T17:30:00+08:00",
        "tenantid": "default",
        "userid": "安娜",
    }


@pytest.mark.parametrize("text", TEXTS)
async def test_both_modes_come_through_the_broker_alike(store: KafkaStore, text: str) -> None:
    """An event is the same whether its attributes are headers or it is one JSON object."""
    data = {"role": "user", "content": text, "metadata": {"place": "家"}}
    key = b"default/%E5%AE%89%E5%A8%9C"
    async with store.open() as log:
        name = f"{store.settings.namespace}.turns.v1"
        async with AIOKafkaProducer(bootstrap_servers=store.settings.kafka[0]) as producer:
            await producer.send_and_wait(
                name,
                json.dumps(data).encode(),
                key,
                headers=[(f"ce_{name}", value.encode()) for name, value in attributes(1).items()]
                + [("content-type", b"application/json")],
            )
            await producer.send_and_wait(
                name,
                json.dumps(attributes(2) | {"data": data}).encode(),
                key,
                headers=[("content-type", b"application/cloudevents+json; charset=UTF-8")],
            )
        partition = log.partition_of(key)
        found = written(await log.read(TURNS.name, partition, 0, limit=10, wait_s=10))
        events = [decode(one.headers, one.value) for one in found]
        assert [one.id for one in events] == ["m-1", "m-2"]
        assert events[1].model_copy(update={"id": "m-1"}) == events[0]
        assert isinstance(events[0].payload, Turn)
        assert events[0].payload.content == text
        assert {log.partition_of(one.owner.encode()) for one in events} == {partition}


def golden() -> list[tuple[str, dict[str, Any]]]:
    """Return the golden files of events."""
    folder = Path(__file__).resolve().parents[1] / "wire"
    read = [(one.name, json.loads(one.read_bytes())) for one in sorted(folder.glob("*.json"))]
    return [(name, value) for name, value in read if "headers" in value]


async def test_golden_events_come_through_the_broker_unchanged(store: KafkaStore) -> None:
    """Headers in their order and values are byte for byte what was published."""
    files = golden()
    assert len(files) >= 8
    async with store.open() as log:
        name = f"{store.settings.namespace}.turns.v1"
        sent = []
        async with AIOKafkaProducer(bootstrap_servers=store.settings.kafka[0]) as producer:
            for _, one in files:
                headers = tuple((key, value.encode()) for key, value in one["headers"])
                value = one["value"].encode()
                sent.append((headers, value))
                await producer.send_and_wait(
                    name, value, b"key", partition=0, headers=list(headers)
                )
        found = await log.read(TURNS.name, 0, 0, limit=100, wait_s=10)
        assert [(one.headers, one.value) for one in found] == sent
        for record in found:
            decode(record.headers, record.value)
