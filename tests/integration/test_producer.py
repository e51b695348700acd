"""What a producer publishes lies on a real broker as it was acknowledged."""

import asyncio
import os
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

import eunoe
import eunoe.producer
from eunoe import Rejected, Unavailable
from eunoe.infra.cluster_settings import VARIABLES
from eunoe.infra.kafka_publishing import Publisher
from eunoe.infra.kafka_topics import apply
from eunoe.producer import NotAcknowledged, Receipt
from eunoe.schemas.events import Envelope, EventType, Forget, Turn
from eunoe.schemas.limits import MESSAGES_PER_ADD_MAX, PRODUCER_IN_FLIGHT_BYTES_MAX
from eunoe.schemas.topics import COMMANDS, PARTITIONS, TOPICS, TURNS
from tests.integration.kafka_store import KafkaStore, cluster_settings, installation, set_topic
from tests.integration.published import decoded, read_all
from tests.servers import kafka
from tests.servers.fixtures import give_kafka, give_own_kafka
from tests.servers.kafka import Kafka
from tests.servers.ports import Port

__all__ = ["give_kafka", "give_own_kafka"]

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

SAID: Final = datetime(2024, 6, 15, 22, 0, tzinfo=UTC)
ENGLISH: Final = "I moved to Oslo last week 🏔, my password is hunter2zz"
CHINESE: Final = "我上周搬到了奥斯陆🏔，我的密码是hunter2zz"


@pytest.fixture(name="store")
def make_store(kafka_address: str) -> Iterator[KafkaStore]:
    """Give topics of the test's own, as many partitions as an embedded store has."""
    with installation(kafka_address, PARTITIONS) as store:
        asyncio.run(store.make())
        yield store


def messages_of(text: str) -> list[dict[str, Any]]:
    """Return messages with everything that a message may have."""
    return [
        {"role": "user", "content": text, "id": "1", "time": SAID, "metadata": {"place": "家"}},
        {
            "role": "assistant",
            "content": text * 500,
            "id": "2",
            "time": "2024-06-16T06:00:00+08:00",
        },
        {
            "role": "tool",
            "content": "{}",
            "id": "3",
            "time": SAID,
            "name": "天气",
            "session_id": "s",
        },
    ]


@pytest.mark.parametrize(("text", "user"), [(ENGLISH, "ana/b"), (CHINESE, "安娜")])
async def test_what_is_published_is_what_add_stores(
    store: KafkaStore, tmp_path: Path, text: str, user: str
) -> None:
    """For equal input key, placement, headers and value are the embedded log's, byte by byte."""
    same: dict[str, Any] = {
        "user_id": user, "session_id": "monday", "agent_id": "helper", "tenant_id": "租户",
        "metadata": {"from": "test"},
    }  # fmt: skip
    async with eunoe.producer.open(store.settings, source="desk") as producer:
        receipts = await producer.turns(messages_of(text), **same)
    published = await read_all(store, TURNS.name)
    async with eunoe.open(tmp_path, process=False) as memory:
        await memory.add(messages_of(text), source="desk", **same)
        log = memory.runtime.engines.log
        partition = published[0].position.partition
        added = await log.read(TURNS.name, partition, 0, limit=10)
    assert len(published) == 3
    assert [(one.key, one.headers, one.value) for one in published] == [
        (one.key, one.headers, one.value) for one in added
    ]
    assert [decoded(one, PARTITIONS) for one in published] == [
        decoded(one, PARTITIONS) for one in added
    ]
    assert receipts == [
        Receipt(event.id, event.event_id, one.position.partition, one.position.offset)
        for one in published
        for event in [decoded(one, PARTITIONS)]
    ]
    assert b"hunter2zz" not in b"".join(one.value or b"" for one in published)


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
async def test_a_call_s_turns_lie_in_their_order(store: KafkaStore, text: str) -> None:
    """What one call publishes is in its order, also where calls run at the same time."""
    async with eunoe.producer.open(store.settings) as producer:
        calls = [
            producer.turns([f"{text} {n}" for n in range(400)], user_id="ana", session_id=name)
            for name in ("a", "b", "c")
        ]
        receipts = await asyncio.gather(*calls)
    found = [decoded(one, PARTITIONS) for one in await read_all(store, TURNS.name)]
    for session, told in zip(("a", "b", "c"), receipts, strict=True):
        own = [one for one in found if isinstance(one.payload, Turn)]
        own = [one for one in own if getattr(one.payload, "session_id", None) == session]
        assert [one.id for one in own] == [one.id for one in told]
        texts = [one.payload.content for one in own if isinstance(one.payload, Turn)]
        assert [int(one.rsplit(" ", 1)[1]) for one in texts] == list(range(400))


async def test_commands_go_to_their_topic(store: KafkaStore) -> None:
    """A forget names the event that the turn's receipt names."""
    async with eunoe.producer.open(store.settings) as producer:
        turn = await producer.turn("a slip of the tongue", user_id="ana", id="7")
        told = await producer.forget("7", user_id="ana")
        await producer.set_timezone("Asia/Shanghai", user_id="安娜")
    events = {
        event.id: event
        for one in await read_all(store, COMMANDS.name)
        for event in [decoded(one, PARTITIONS)]
    }
    assert len(events) == 2
    assert events[told.id].payload == Forget(event_ids=(turn.event_id,))


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_one_line_publishes(store: KafkaStore, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """`publish` finds the brokers in the environment, and returns when they acknowledged."""
    monkeypatch.setenv(VARIABLES["kafka"], store.settings.kafka[0])
    monkeypatch.setenv(VARIABLES["namespace"], store.settings.namespace)
    receipt = eunoe.producer.publish(text, user_id="ana")
    (record,) = asyncio.run(read_all(store, TURNS.name))
    event = decoded(record, PARTITIONS)
    assert (event.id, event.event_id) == (receipt.id, receipt.event_id)
    assert isinstance(event.payload, Turn)
    assert "[secret:password]" in event.payload.content


async def test_the_largest_call_is_published_whole(store: KafkaStore) -> None:
    """As many turns as one call takes are all there, in order."""
    messages = [
        {"content": f"{'I moved to Oslo' if n % 2 else '我搬到了奥斯陆'} {n}", "id": str(n)}
        for n in range(MESSAGES_PER_ADD_MAX)
    ]
    async with eunoe.producer.open(store.settings) as producer:
        receipts = await producer.turns(messages, user_id="ana")
    found = [decoded(one, PARTITIONS).id for one in await read_all(store, TURNS.name)]
    assert found == [one.id for one in receipts] == [one["id"] for one in messages]


async def test_ten_thousand_turns_take_bounded_memory(store: KafkaStore) -> None:
    """Beside the call's own events memory holds what is in flight, and not everything at once."""
    said = Turn(role="user", content="搬到了奥斯陆 Oslo " * 400)
    events = [
        Envelope(
            id=str(n), source="chat", type=EventType.TURN_ADDED, time=SAID,
            tenant_id="default", user_id="ana", payload=said,
        )
        for n in range(MESSAGES_PER_ADD_MAX)
    ]  # fmt: skip
    whole = MESSAGES_PER_ADD_MAX * len(said.content.encode())
    publisher = await Publisher.open(store.settings)
    try:
        await publisher.publish(TURNS.name, events[:1])
        tracemalloc.start()
        try:
            published = await publisher.publish(TURNS.name, events)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    finally:
        await publisher.close()
    assert published.failure is None
    assert None not in published.places
    # In flight a value is there up to three times: encoded, in its batch, and in the request.
    assert peak < 4 * PRODUCER_IN_FLIGHT_BYTES_MAX < 0.8 * whole


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
async def test_nothing_acknowledged_is_lost_when_the_broker_dies(
    own_kafka: Kafka, text: str
) -> None:
    """Killed in the middle and restarted: what was acknowledged is there, repeats are the same."""
    settings = cluster_settings(own_kafka.address, partitions=PARTITIONS, call_timeout_s=2.0)
    patient = cluster_settings(
        own_kafka.address, partitions=PARTITIONS, namespace=settings.namespace
    )
    await apply(patient)
    receipts: list[Receipt] = []
    failures: list[NotAcknowledged] = []
    in_the_middle = asyncio.Event()

    async def keep_on(producer: eunoe.producer.Producer, user: str) -> None:
        for call in range(40):
            messages: Any = [
                {"content": f"{text} {n}", "id": f"{user}-{call}-{n}", "time": SAID}
                for n in range(20)
            ]
            while messages:
                try:
                    receipts.extend(await producer.turns(messages, user_id=user))
                    break
                except NotAcknowledged as failed:
                    failures.append(failed)
                    receipts.extend(failed.receipts)
                    messages = failed.left
            if len(receipts) > 400:
                in_the_middle.set()
            await asyncio.sleep(0.02)  # so that the broker dies before all is said

    async with eunoe.producer.open(settings) as producer:
        work = [asyncio.create_task(keep_on(producer, user)) for user in ("ana", "安娜", "ben")]
        await in_the_middle.wait()
        await asyncio.to_thread(own_kafka.kill)
        await asyncio.sleep(3.0)  # longer than a call may take
        before = len(receipts)
        await asyncio.to_thread(own_kafka.start)
        await asyncio.gather(*work)
    assert failures
    assert all("EUNOE_KAFKA" in str(one) for one in failures)
    assert before < 2_400 == len({one.event_id for one in receipts})
    records = await read_all(KafkaStore(patient, TOPICS), TURNS.name)
    events = [decoded(one, PARTITIONS) for one in records]
    by_id: dict[str, Envelope] = {}
    for event in events:
        assert by_id.setdefault(event.id, event) == event
    assert {one.event_id for one in by_id.values()} == {one.event_id for one in receipts}
    lies = {
        (one.position.partition, one.position.offset): decoded(one, PARTITIONS).id
        for one in records
    }
    for one in receipts:
        assert one.offset == -1 or lies[one.partition, one.offset] == one.id


async def test_a_broker_that_is_away_is_named() -> None:
    """Opening fails with a sentence that names the variable."""
    port = Port()
    try:
        settings = cluster_settings(f"127.0.0.1:{port.number}", call_timeout_s=2.0)
        with pytest.raises(Unavailable, match="EUNOE_KAFKA"):
            async with eunoe.producer.open(settings):
                pass
    finally:
        port.release()


async def test_a_missing_topic_is_named(kafka_address: str) -> None:
    """Where nobody made the topics the sentence says how, and none is made."""
    settings = cluster_settings(kafka_address)
    for _ in range(2):
        with pytest.raises(Unavailable, match="run eunoe topics apply"):
            async with eunoe.producer.open(settings):
                pass


async def test_a_wrong_password_is_named(tmp_path: Path) -> None:
    """A login that is refused names the variables of the login; the right one publishes."""
    login: dict[str, Any] = {
        "kafka_security": "SASL_PLAINTEXT", "kafka_user": "eunoe", "kafka_password": "right",
        "partitions": PARTITIONS,
    }  # fmt: skip
    with kafka.running(tmp_path, user="eunoe", password="right") as server:  # noqa: S106 - of this test
        right = cluster_settings(server.address, **login)
        await apply(right)
        wrong = cluster_settings(server.address, **(login | {"kafka_password": "guess"}))
        with pytest.raises(Unavailable, match="EUNOE_KAFKA_PASSWORD") as refused:
            async with eunoe.producer.open(wrong):
                pass
        assert "guess" not in str(refused.value)
        async with eunoe.producer.open(right) as producer:
            receipt = await producer.turn("hello", user_id="ana")
    assert receipt.offset == 0


@pytest.mark.parametrize("letter", ["x", "搬"])
async def test_what_a_topic_does_not_take_is_rejected(store: KafkaStore, letter: str) -> None:
    """A record over the topic's own bound is refused with the setting's name; the next one goes."""
    await set_topic(store, TURNS.name, max_message_bytes="10000")
    async with eunoe.producer.open(store.settings) as producer:
        await producer.turn("before", user_id="ana", id="before")
        with pytest.raises(Rejected, match=r"max\.message\.bytes"):
            await producer.turn(letter * 50_000, user_id="ana", id="large")
        await producer.turn("after", user_id="ana", id="after")
    await apply(store.settings)  # nobody reads topics that aren't as they have to be
    found = [decoded(one, PARTITIONS).id for one in await read_all(store, TURNS.name)]
    assert found == ["before", "after"]


def test_the_environment_of_this_run_names_no_brokers() -> None:
    """Tests say themselves where their broker is."""
    assert "EUNOE_KAFKA" not in os.environ
