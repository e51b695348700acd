"""What a producer checks before anything leaves the process, and what it is told."""

import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest

import eunoe.producer
from eunoe import Rejected, Settings, Unavailable
from eunoe.infra.cluster_settings import ClusterSettings
from eunoe.infra.kafka_publishing import Place, Published
from eunoe.messages import Origin, envelopes
from eunoe.producer import NotAcknowledged, Producer
from eunoe.schemas.events import Envelope, Forget, SetTimezone, Turn, event_id
from eunoe.schemas.limits import (
    ID_CHARACTERS_MAX,
    MESSAGES_PER_ADD_MAX,
    METADATA_BYTES_MAX,
    TEXT_CHARACTERS_MAX,
)
from eunoe.schemas.topics import COMMANDS, TURNS
from tests.support.tools import START, SetClock

CLUSTER = ClusterSettings(kafka=("127.0.0.1:1",))
ENGLISH = "I moved to Oslo last week"
CHINESE = "我上周搬到了奥斯陆"


class Kept:
    """A connection that keeps what it is given.

    Args:
        acknowledges: How many events of a call it acknowledges before it fails.
        failure: How.
    """

    def __init__(
        self, acknowledges: int | None = None, failure: Rejected | Unavailable | None = None
    ) -> None:
        self.calls: list[tuple[str, list[Envelope]]] = []
        self.is_closed = False
        self._acknowledges = acknowledges
        self._failure = failure

    async def publish(self, topic: str, events: Sequence[Envelope]) -> Published:
        """Keep events."""
        self.calls.append((topic, list(events)))
        count = len(events) if self._acknowledges is None else self._acknowledges
        places = [Place(3, 7 + n) if n < count else None for n in range(len(events))]
        return Published(places, self._failure)

    async def close(self) -> None:
        """Note that it was closed."""
        self.is_closed = True


def producer_over(kept: Kept) -> Producer:
    """Return a producer whose connection this is."""

    async def connect(_: ClusterSettings) -> Kept:
        return kept

    return Producer(CLUSTER, source="chat", connect=connect, clock=SetClock())


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
async def test_a_turn_is_the_event_that_add_makes(text: str) -> None:
    """Equal input gives an equal envelope, whether it is published or added."""
    kept = Kept()
    said = datetime(2024, 6, 15, 22, 0, tzinfo=UTC)
    async with producer_over(kept) as producer:
        receipt = await producer.turn(
            text,
            user_id="ana",
            role="assistant",
            session_id="monday",
            id="7",
            time=said,
            name="Ben",
            agent_id="helper",
            metadata={"place": "家"},
            tenant_id="acme",
        )
    message = {"role": "assistant", "content": text, "id": "7", "time": said, "name": "Ben"}
    origin = Origin("acme", "ana", "chat", "monday", "helper", {"place": "家"}, START)
    assert kept.calls == [(TURNS.name, envelopes(message, origin))]
    assert receipt.event_id == event_id("acme", "ana", "chat", "7")
    assert (receipt.id, receipt.partition, receipt.offset) == ("7", 3, 7)


@pytest.mark.parametrize(
    ("text", "kept_text"),
    [
        ("my password is hunter2zz", "my password is [secret:password]"),
        ("我的密码是hunter2zz", "我的密码是[secret:password]"),
    ],
)
async def test_secrets_never_leave_the_process(text: str, kept_text: str) -> None:
    """A secret is a placeholder before the connection sees the event."""
    kept = Kept()
    async with producer_over(kept) as producer:
        await producer.turns([text, {"role": "tool", "content": text}], user_id="ana")
    payloads = [event.payload for _, events in kept.calls for event in events]
    assert [one.content for one in payloads if isinstance(one, Turn)] == [kept_text, kept_text]


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
async def test_one_wrong_message_sends_none(text: str) -> None:
    """All messages of a call are checked before the first is sent."""
    kept = Kept()
    async with producer_over(kept) as producer:
        with pytest.raises(Rejected, match=r"^Message 1 can't be taken: role") as refused:
            await producer.turns([text, {"role": "boss", "content": text}], user_id="ana")
    assert text not in str(refused.value)
    assert kept.calls == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"content": "搬" * (TEXT_CHARACTERS_MAX + 1)}, "content"),
        ({"content": "x" * (TEXT_CHARACTERS_MAX + 1)}, "content"),
        ({"content": ""}, "content"),
        ({"content": "\ud800"}, "content"),
        ({"user_id": "x" * (ID_CHARACTERS_MAX + 1)}, "user_id"),
        ({"user_id": ""}, "user_id"),
        ({"tenant_id": "租" * (ID_CHARACTERS_MAX + 1)}, "tenant_id"),
        ({"id": "x" * (ID_CHARACTERS_MAX + 1)}, "id"),
        ({"session_id": ""}, "session_id"),
        ({"metadata": {"a": "x" * METADATA_BYTES_MAX}}, "metadata"),
        ({"time": "2024-06-15T22:00:00"}, "offset"),
    ],
)
async def test_what_is_over_a_limit_is_rejected(change: dict[str, object], sentence: str) -> None:
    """A value over its bound is refused with a sentence, and nothing is sent."""
    kept = Kept()
    async with producer_over(kept) as producer:
        given: dict[str, object] = {"content": ENGLISH, "user_id": "ana", **change}
        with pytest.raises(Rejected, match=sentence):
            await producer.turn(**given)  # type: ignore[arg-type]  # wrong on purpose
    assert kept.calls == []


async def test_a_call_takes_a_bounded_number_of_messages() -> None:
    """More messages than one call takes are refused, and none is sent."""
    kept = Kept()
    async with producer_over(kept) as producer:
        with pytest.raises(Rejected, match=f"at most {MESSAGES_PER_ADD_MAX} messages"):
            await producer.turns(["x"] * (MESSAGES_PER_ADD_MAX + 1), user_id="ana")
    assert kept.calls == []


async def test_a_forget_names_events() -> None:
    """Own ids, pairs of another producer and event ids all become event ids, each once."""
    kept = Kept()
    other = UUID("6c4bb1a6-6c02-5a0e-9d0c-0a8b1a3f7e52")
    async with producer_over(kept) as producer:
        await producer.forget(["7", ("mail", "7"), other, "7"], user_id="ana")
        await producer.forget(other, user_id="安娜")
    payloads = [event.payload for topic, (event,) in kept.calls if topic == COMMANDS.name]
    own, mail = (event_id("default", "ana", source, "7") for source in ("chat", "mail"))
    assert payloads == [Forget(event_ids=(own, mail, other)), Forget(event_ids=(other,))]


@pytest.mark.parametrize("ids", [[], "", ["x" * (ID_CHARACTERS_MAX + 1)], 7, [b"7"]])
async def test_a_forget_without_an_id_is_rejected(ids: object) -> None:
    """What can't be an id is refused, and no command is sent."""
    kept = Kept()
    async with producer_over(kept) as producer:
        with pytest.raises(Rejected):
            await producer.forget(ids, user_id="ana")  # type: ignore[arg-type]  # likewise
    assert kept.calls == []


async def test_a_time_zone_is_a_command() -> None:
    """A time zone goes to the topic of commands."""
    kept = Kept()
    async with producer_over(kept) as producer:
        await producer.set_timezone("Asia/Shanghai", user_id="ana")
        with pytest.raises(Rejected, match="timezone"):
            await producer.set_timezone("", user_id="ana")
    ((topic, (event,)),) = kept.calls
    assert (topic, event.payload) == (COMMANDS.name, SetTimezone(timezone="Asia/Shanghai"))


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
async def test_what_was_not_acknowledged_can_be_given_again(text: str) -> None:
    """A failure says which messages; they hold ids and times, so that they are the same events."""
    failing = Kept(2, Unavailable("Kafka is away: see EUNOE_KAFKA."))
    messages = [{"role": "user", "content": f"{text} {n}"} for n in range(4)]
    async with producer_over(failing) as producer:
        with pytest.raises(NotAcknowledged, match="EUNOE_KAFKA") as failed:
            await producer.turns(messages, user_id="ana", session_id="monday")
    assert "2 of 4 messages weren't acknowledged, the first is 2" in str(failed.value)
    assert text not in str(failed.value)
    ((_, sent),) = failing.calls
    assert [one.id for one in failed.value.receipts] == [one.id for one in sent[:2]]
    kept = Kept()
    async with producer_over(kept) as producer:
        await producer.turns(failed.value.left, user_id="ana", session_id="elsewhere")
    assert kept.calls == [(TURNS.name, sent[2:])]


async def test_a_record_that_its_topic_never_takes_is_rejected() -> None:
    """What no repeat heals is no `Unavailable`."""
    failing = Kept(0, Rejected("A record is larger than its topic takes."))
    async with producer_over(failing) as producer:
        with pytest.raises(Rejected, match="larger than its topic takes"):
            await producer.turn(ENGLISH, user_id="ana")


async def test_a_command_that_was_not_acknowledged_says_so() -> None:
    """A command is given again as it was; there is no message to give."""
    failing = Kept(0, Unavailable("Kafka is away: see EUNOE_KAFKA."))
    async with producer_over(failing) as producer:
        with pytest.raises(NotAcknowledged, match="Give the same again") as failed:
            await producer.forget("7", user_id="ana")
    assert failed.value.left == ()


async def test_a_producer_is_open_inside_its_block_only() -> None:
    """Outside of the block it says what to do; at its end the connection is closed."""
    kept = Kept()
    producer = producer_over(kept)
    with pytest.raises(Unavailable, match="async with"):
        await producer.turn(ENGLISH, user_id="ana")
    async with producer:
        pass
    assert kept.is_closed
    with pytest.raises(Unavailable, match="async with"):
        await producer.turn(ENGLISH, user_id="ana")


def test_brokers_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without brokers EUNOE_KAFKA is named; other variables count for brokers that are given."""
    monkeypatch.delenv("EUNOE_KAFKA", raising=False)
    with pytest.raises(Rejected, match="EUNOE_KAFKA"):
        eunoe.producer.open()
    with pytest.raises(Rejected, match="EUNOE_KAFKA"):
        eunoe.producer.publish(ENGLISH, user_id="ana")
    with pytest.raises(Rejected, match="EUNOE_KAFKA"):
        eunoe.producer.open("localhost")
    with pytest.raises(Rejected, match="EUNOE_KAFKA"):
        eunoe.producer.open(Settings.from_env())
    monkeypatch.setenv("EUNOE_NAMESPACE", "NOT A NAME")
    for brokers in ("one:9092,two:9092", ["one:9092", "two:9092"]):
        with pytest.raises(Rejected, match="EUNOE_NAMESPACE"):
            eunoe.producer.open(brokers)


def test_a_source_is_a_name() -> None:
    """A producer without a name is refused where it is opened."""
    with pytest.raises(Rejected, match="source"):
        eunoe.producer.open(CLUSTER, source="")


async def test_publish_does_not_block_a_loop() -> None:
    """Where an event loop runs the call says what to use instead."""
    with pytest.raises(Rejected, match="use open"):
        eunoe.producer.publish(ENGLISH, user_id="ana", where=CLUSTER)


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own."""
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )


def test_eunoe_does_without_aiokafka() -> None:
    """`import eunoe` and its façade load no client of Kafka."""
    done = run_python("import sys, eunoe; eunoe.open; assert 'aiokafka' not in sys.modules")
    assert done.returncode == 0, done.stderr


def test_a_missing_extra_is_named() -> None:
    """Where aiokafka isn't installed the import says what to install."""
    done = run_python("import sys; sys.modules['aiokafka'] = None; import eunoe.producer")
    assert done.returncode == 1
    assert "ImportError: Publishing needs aiokafka: pip install eunoe[producer]" in done.stderr
