"""One store with real tools that has heard a conversation in each language, without a network."""

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

import eunoe
from eunoe.infra.usem3 import UseEncoder
from eunoe.infra.wiring import Tools
from eunoe.opening import SyncMemory
from eunoe.schemas.events import owner_key
from eunoe.schemas.ports import Vectors
from eunoe.schemas.records import JournalRecord
from eunoe.schemas.results import Hit, Item
from tests.support.memories import settings_in
from tests.support.tools import SetClock

__all__ = [
    "ADDRESS",
    "CLAUSE",
    "EMPLOYER",
    "FOLDER",
    "LANGUAGES",
    "MOVE",
    "NAME",
    "QUESTIONS",
    "REPORT",
    "RESTAURANT",
    "TALK",
    "TOOLS",
    "VALUES",
    "ZONE",
    "House",
    "WatchedEncoder",
    "open_house",
    "question",
    "value",
]

LANGUAGES: Final = ("en", "zh")
TALK: Final = {
    "en": (
        "My default backup folder is /srv/backup.",
        "My default delivery address is 12 Mill Lane.",
        "My name is Iris Novak.",
        "I work at Fabrikam.",
        "My usual tools are Neovim and Obsidian.",
        "My time zone is UTC+8.",
        "When you write the weekly report, attach last year's average.",
        "Yesterday we ate at the restaurant Casa Azul with Tom.",
        "I moved to Berlin last week.",
        "To amend clause 7 of the contract template, ask Legal and use form B.",
    ),
    "zh": (
        "我的默认备份文件夹是 /srv/beifen。",
        "我的默认收货地址是杭州市文三路12号。",
        "我叫林晓。",
        "我在华星科技上班。",
        "我常用的工具是飞书和Notion。",
        "我的时区是东八区。",
        "写周报的时候附上去年的平均值。",
        "昨天我们和小王在老城南餐厅吃饭。",
        "我上周搬到了杭州。",
        "修改合同模板第七条,要先找法务,再填B表。",
    ),
}
FOLDER, ADDRESS, NAME, EMPLOYER, TOOLS, ZONE, REPORT, RESTAURANT, MOVE, CLAUSE = range(10)


class WatchedEncoder(UseEncoder):
    """The real encoder, with a list of what it was asked to encode."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Note the texts and encode them."""
        self.texts += texts
        return await super().encode(texts)


@dataclass(frozen=True)
class House:
    """An open store with what was put into it."""

    place: Path
    memory: SyncMemory
    encoder: WatchedEncoder
    clock: SetClock
    connected: list[object]

    def say(self, user: str, *texts: str, **named: Any) -> list[str]:
        """Add texts of a user in one call; returns their ids."""
        ids: list[str] = self.memory.add(list(texts), user_id=user, **named)
        return ids

    def ask(self, user: str, question: str, **named: Any) -> list[Hit]:
        """Search."""
        hits: list[Hit] = self.memory.search(question, user_id=user, **named)
        return hits

    def kept(self, user: str) -> list[Item]:
        """Return a user's memories, the newest first."""
        items: list[Item] = self.memory.list(user_id=user, limit=1000)
        return [item for item in items if item.kind != "turn"]

    def stated(self, user: str) -> dict[str, str]:
        """Return a user's slots and preferences with their current values."""
        return {one.slot: one.value for one in self.memory.profile(user_id=user)}

    def records(self, user: str) -> list[JournalRecord]:
        """Return a user's journal records."""
        found: list[JournalRecord] = self.run(self._records(owner_key("default", user)))
        return found

    async def _records(self, owner: str) -> list[JournalRecord]:
        journal = self.memory._memory.runtime.journal
        partition = journal.log.partition_of(owner.encode())
        found: list[JournalRecord] = []
        async for stored in journal.read(partition, 0):
            found += [one.record for one in stored if one.record.owner == owner]
        return found

    def run(self, call: Any) -> Any:
        """Run a coroutine in the store's loop."""
        return self.memory._run(call)


@pytest.fixture(scope="module", name="house")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Open the store, with every connection forbidden, and tell it both conversations."""
    place = tmp_path_factory.mktemp("rules")
    encoder, clock = WatchedEncoder(), SetClock()
    connected: list[object] = []
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            connected.append(address)
            message = f"no network here: {address}"
            raise OSError(message)
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket.socket, "connect_ex", refuse)
        tools = Tools(encoder=encoder, clock=clock)
        with eunoe.open_sync(settings_in(place), serve=False, tools=tools) as memory:
            for user, texts in TALK.items():
                messages = [
                    {"content": text, "id": f"{user}{number}"} for number, text in enumerate(texts)
                ]
                memory.add(messages, user_id=user, session_id="s1")
            yield House(place, memory, encoder, clock, connected)


QUESTIONS: Final = {
    FOLDER: ("What is my default backup folder?", "我的默认备份文件夹是什么?"),
    ADDRESS: ("What is my default delivery address?", "我的默认收货地址是哪里?"),
    ZONE: ("What is my time zone?", "我的时区是什么?"),
    REPORT: (
        "the weekly report should carry a reference average",
        "周报要带一个参考平均值",
    ),
    RESTAURANT: ("Which restaurant did I mention?", "我提到过哪家餐厅?"),
    CLAUSE: ("How do I amend clause 7 of the contract template?", "合同模板第七条怎么改?"),
}
VALUES: Final = {
    FOLDER: ("/srv/backup", "/srv/beifen"),
    ADDRESS: ("12 Mill Lane", "杭州市文三路12号"),
    ZONE: ("UTC+8", "东八区"),
}


def question(language: str, number: int) -> str:
    """Return the question for a turn of `TALK`."""
    return QUESTIONS[number][LANGUAGES.index(language)]


def value(language: str, number: int) -> str:
    """Return the exact value that a turn of `TALK` states."""
    return VALUES[number][LANGUAGES.index(language)]
