"""The topics of an installation on a real broker: what differs is said, and mended."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from aiokafka.admin import (  # type: ignore[import-untyped]  # it ships no types
    AIOKafkaAdminClient,
)
from aiokafka.admin.config_resource import (  # type: ignore[import-untyped]  # likewise
    ConfigResource,
    ConfigResourceType,
)
from click.testing import CliRunner

from eunoe.cli import commands
from eunoe.infra import kafka_topics
from eunoe.infra.cluster_settings import ClusterSettings
from eunoe.infra.kafka import KafkaLog
from eunoe.infra.kafka_client import WirePlace
from eunoe.infra.kafka_producing import Outgoing
from eunoe.infra.kafka_requests import Fetched, Requests
from eunoe.infra.kafka_transactions import Transactions
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.topics import JOURNAL, KEYS, TOPICS, TURNS
from tests.integration.kafka_store import KafkaStore, cluster_settings, installation, set_topic
from tests.servers import kafka
from tests.servers.fixtures import give_kafka
from tests.servers.kafka import Kafka

__all__ = ["give_kafka"]

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


@pytest.fixture
def store(kafka_address: str) -> Iterator[KafkaStore]:
    """Return an installation without topics."""
    with installation(kafka_address, 2) as store:
        yield store


async def epoch_of(settings: ClusterSettings) -> str:
    """Return the epoch of an installation."""
    log = await KafkaLog.open(settings)
    await log.close()
    return log.epoch


async def test_apply_does_what_diff_says(store: KafkaStore) -> None:
    """Diff names each missing topic, apply makes them, and then nothing differs."""
    told = await kafka_topics.diff(store.settings)
    assert len(told) == len(TOPICS)
    assert all("is missing" in one for one in told)
    await store.make()
    assert await kafka_topics.diff(store.settings) == []
    assert await kafka_topics.apply(store.settings) == []


async def test_a_log_without_topics_says_what_to_run(store: KafkaStore) -> None:
    """Opening it makes nothing, and the sentence is the command."""
    for _ in range(2):
        with pytest.raises(Unavailable, match="eunoe topics apply"):
            await KafkaLog.open(store.settings)


@pytest.mark.parametrize(
    ("topic", "setting", "value", "is_needed"),
    [
        (TURNS.name, "retention_ms", "1000", True),
        (TURNS.name, "message_timestamp_type", "CreateTime", True),
        (TURNS.name, "max_message_bytes", "1000", True),
        (TURNS.name, "segment_ms", "7200000", False),
        (JOURNAL.name, "cleanup_policy", "delete", True),
        (JOURNAL.name, "max_compaction_lag_ms", "9000000", False),
        (KEYS.name, "delete_retention_ms", "1000", False),
    ],
)
async def test_a_wrong_setting_is_told_and_mended(
    store: KafkaStore, topic: str, setting: str, value: str, *, is_needed: bool
) -> None:
    """Diff names topic, setting and value; apply mends them, and keeps what else was set."""
    await store.make()
    wanted = kafka_topics.wanted_settings(
        next(one for one in TOPICS if one.name == topic), store.settings
    )
    good = {key.replace(".", "_"): one for key, one in wanted.items()}
    await set_topic(store, topic, **(good | {setting: value, "flush_ms": "12345"}))
    name, dotted = topic.partition(".")[2], setting.replace("_", ".")
    (told,) = await kafka_topics.diff(store.settings)
    assert f"{store.settings.namespace}.{name} has {dotted} = {value}" in told
    assert told.endswith(f"has to be {wanted[dotted]}.")
    if is_needed:
        with pytest.raises(Unavailable, match=f"{dotted}.*eunoe topics apply"):
            await KafkaLog.open(store.settings)
    (done,) = await kafka_topics.apply(store.settings)
    assert dotted in done
    assert await kafka_topics.diff(store.settings) == []
    admin = AIOKafkaAdminClient(bootstrap_servers=list(store.settings.kafka))
    await admin.start()
    try:
        resource = ConfigResource(
            ConfigResourceType.TOPIC, f"{store.settings.namespace}.{name}", {"flush.ms": ""}
        )
        (answer,) = await admin.describe_configs([resource])
        ((entry,),) = [one["config_entries"] for one in answer.to_object()["resources"]]
        assert entry["config_value"] == "12345"
    finally:
        await admin.close()


async def test_another_number_of_partitions_is_refused(store: KafkaStore) -> None:
    """Diff, apply and opening say that it is another epoch, and nothing is changed."""
    await store.make()
    other = replace(store.settings, partitions=3, compaction_lag_s=60)
    for call in (kafka_topics.diff, kafka_topics.apply, KafkaLog.open):
        with pytest.raises(Rejected, match=r"EUNOE_PARTITIONS.*[Aa]nother"):
            await call(other)
    assert await kafka_topics.diff(store.settings) == []


async def test_two_who_apply_at_once_make_one_epoch(store: KafkaStore) -> None:
    """However many apply, each partition has its two opening records, of one epoch."""
    done = await asyncio.gather(*(kafka_topics.apply(store.settings) for _ in range(3)))
    store._is_made = True
    assert sum("epoch" in one for told in done for one in told) == 1
    log = await KafkaLog.open(store.settings)
    for topic in (JOURNAL, KEYS):
        for partition in range(2):
            found = await log.read(topic.name, partition, 0, limit=10)
            assert [one.key for one in found] == [b"opening/1", b"opening/2"]
            assert all(one.is_mark for one in found)
            assert {json.loads(one.value or b"")["epoch"] for one in found} == {log.epoch}
    await log.close()


async def test_apply_ends_when_what_it_appended_can_be_read(
    store: KafkaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever opens the log after it finds the epoch, although a broker marks commits later."""
    late = 0
    fetch, append = Requests.fetch, Transactions.append

    async def append_late(self: Transactions, records: Sequence[Outgoing]) -> list[int]:
        nonlocal late
        offsets = await append(self, records)
        late = 10  # of four partitions each is looked at twice before anything is there
        return offsets

    async def fetch_late(
        self: Requests, starts: Mapping[WirePlace, int], *, limit: int
    ) -> dict[WirePlace, Fetched]:
        nonlocal late
        if late:
            late -= 1
            return {place: Fetched([], start, start) for place, start in starts.items()}
        return await fetch(self, starts, limit=limit)

    monkeypatch.setattr(Transactions, "append", append_late)
    monkeypatch.setattr(Requests, "fetch", fetch_late)
    await store.make()
    assert await kafka_topics.diff(store.settings) == []


async def test_an_epoch_stays(store: KafkaStore) -> None:
    """Applying again changes no epoch; another namespace has another one."""
    await store.make()
    epoch = await epoch_of(store.settings)
    await kafka_topics.apply(store.settings)
    assert await epoch_of(store.settings) == epoch
    other = KafkaStore(cluster_settings(store.settings.kafka[0], partitions=2), TOPICS)
    await other.make()
    assert await epoch_of(other.settings) != epoch
    await other._remove()


async def test_more_copies_than_brokers_are_refused(store: KafkaStore) -> None:
    """The sentence names EUNOE_REPLICATION."""
    with pytest.raises(Rejected, match="EUNOE_REPLICATION"):
        await kafka_topics.apply(replace(store.settings, replication=3))


async def test_an_unreachable_broker_is_told(kafka_address: str) -> None:
    """The sentence names the address and EUNOE_KAFKA."""
    settings = cluster_settings("127.0.0.1:1", call_timeout_s=2.0)
    for call in (kafka_topics.diff, kafka_topics.apply, KafkaLog.open):
        with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1 .*EUNOE_KAFKA"):
            await call(settings)
    # One of several that answers is enough.
    both = replace(settings, kafka=("127.0.0.1:1", kafka_address), call_timeout_s=20.0)
    assert await kafka_topics.diff(both) != []


@pytest.fixture(scope="module")
def closed_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Give a broker that asks for a login."""
    with kafka.running(tmp_path_factory.mktemp("kafka"), user="ana", password="wonder") as server:  # noqa: S106 - a test's
        yield server


async def test_a_login_is_used(closed_kafka: Kafka) -> None:
    """With the right password topics are made, written and read."""
    settings = cluster_settings(
        closed_kafka.address,
        partitions=1,
        kafka_security="SASL_PLAINTEXT",
        kafka_user="ana",
        kafka_password="wonder",  # noqa: S106 - a test's
    )
    await kafka_topics.apply(settings)
    assert await kafka_topics.diff(settings) == []
    assert await epoch_of(settings)


@pytest.mark.parametrize(("user", "password"), [("ana", "wrong"), ("bob", "wonder"), ("", "")])
async def test_a_wrong_login_is_told(closed_kafka: Kafka, user: str, password: str) -> None:
    """The sentence names the settings of the login, and never what they are."""
    settings = cluster_settings(
        closed_kafka.address,
        kafka_security="SASL_PLAINTEXT",
        kafka_user=user,
        kafka_password=password,
        call_timeout_s=5.0,
    )
    for call in (kafka_topics.diff, kafka_topics.apply, KafkaLog.open):
        with pytest.raises(Unavailable, match="EUNOE_KAFKA_USER, EUNOE_KAFKA_PASSWORD") as raised:
            await call(settings)
        assert not password or password not in str(raised.value)


async def test_another_mechanism_is_told(closed_kafka: Kafka) -> None:
    """The sentence names EUNOE_KAFKA_MECHANISM."""
    settings = cluster_settings(
        closed_kafka.address,
        kafka_security="SASL_PLAINTEXT",
        kafka_mechanism="SCRAM-SHA-512",
        kafka_user="ana",
        kafka_password="wonder",  # noqa: S106 - a test's
        call_timeout_s=5.0,
    )
    with pytest.raises(Unavailable, match="EUNOE_KAFKA_MECHANISM"):
        await kafka_topics.diff(settings)


def test_the_commands_say_and_do_it(kafka_address: str) -> None:
    """`eunoe topics diff` ends with 1 while something differs, and with 0 after apply."""
    settings = cluster_settings(kafka_address, partitions=2)
    environment = {
        "EUNOE_KAFKA": kafka_address,
        "EUNOE_NAMESPACE": settings.namespace,
        "EUNOE_PARTITIONS": "2",
        "EUNOE_CALL_TIMEOUT_S": "20",
    }

    def run(*arguments: str, **more: str) -> tuple[int, str, str]:
        done = CliRunner(env=environment | more).invoke(commands, ["topics", *arguments])
        return done.exit_code, done.stdout, done.stderr

    code, told, _ = run("diff")
    assert (code, told.count("is missing")) == (1, len(TOPICS))
    code, told, _ = run("diff", "--json")
    assert (code, len(json.loads(told)["differences"])) == (1, len(TOPICS))
    code, told, _ = run("apply")
    assert (code, told.count("Made the topic")) == (0, len(TOPICS))
    assert run("apply", "--json") == (0, '{"done":[]}\n', "")
    assert run("diff") == (0, "The topics are as they have to be.\n", "")
    code, _, told = run("diff", EUNOE_PARTITIONS="5")
    assert (code, "EUNOE_PARTITIONS" in told) == (1, True)
    code, _, told = run("diff", EUNOE_KAFKA="127.0.0.1:1", EUNOE_CALL_TIMEOUT_S="2")
    assert (code, "EUNOE_KAFKA" in told, told.count("\n")) == (3, True, 1)
    store = KafkaStore(settings, TOPICS)
    store._is_made = True
    store.remove()
