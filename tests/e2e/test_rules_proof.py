"""The rules that the proof keeps, one test each, named after the rule."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

import eunoe
from eunoe.schemas.events import event_id, owner_key
from eunoe.schemas.ports import EpisodicQuery
from tests.support.memories import everything_readable, open_memory
from tests.support.twelve_hours import HOURS

pytestmark = pytest.mark.timeout(580)

ROOT: Final = Path(__file__).parents[2]
TENANTS: Final = ("a", "b")
SECRETS: Final = {"a": ("kestrel", "红隼"), "b": ("walrus", "海象")}
GROWTH_MAX: Final = 1.05


def said(tenant: str) -> list[dict[str, str]]:
    """Return what the user of a tenant says: the same ids and sessions, another secret."""
    english, chinese = SECRETS[tenant]
    texts = (
        f"Remember that the password hint is {english}.",
        f"My favourite colour is {english} blue.",
        f"记住:暗号是{chinese}。",
        f"我住在{chinese}路。",
    )
    return [
        {"id": f"t{number}", "content": text, "session_id": "s"}
        for number, text in enumerate(texts)
    ]


async def tell(memory: eunoe.Memory) -> None:
    """Let the same user of two tenants speak."""
    for tenant in TENANTS:
        await memory.add(said(tenant), user_id="ana", tenant_id=tenant)


async def test_c7_t10_a_tenant_reads_nothing_of_another(tmp_path: Path) -> None:
    """With any door, id, question or crafted owner, tenant A sees none of B's texts."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
        theirs = await memory.list(user_id="ana", tenant_id="b", limit=100)
        questions = [*SECRETS["b"], "password hint", "暗号是什么?", "我住在哪里?"]
        found = await everything_readable(memory, "ana", questions)
        for user in ("ana", "b/ana", "b%2Fana", "../b/ana", "ana' OR '1'='1", "b\x00ana"):
            for tenant in ("a", "A", "a/b", "*", "%"):
                hits = await memory.search("password hint 暗号", user_id=user, tenant_id=tenant)
                found += "".join(hit.text for hit in hits)
                found += str(await memory.profile(user_id=user, tenant_id=tenant))
                for item in theirs:
                    if user == "ana" and tenant == "a" and item.kind == "turn":
                        continue  # the same producer's id: A's own turn
                    with pytest.raises(eunoe.NotFound):
                        await memory.get(item.id, user_id=user, tenant_id=tenant)
        assert not any(secret in found for secret in SECRETS["b"])
        for item in theirs:
            assert (await memory.get(item.id, user_id="ana", tenant_id="b")).text == item.text


async def test_c13_1_every_key_begins_with_the_tenant(tmp_path: Path) -> None:
    """Owners, record keys and identities name the tenant first, so equal names never meet."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
        engines = memory.runtime.engines
        owners = await engines.identity.owners()
        assert owners == [owner_key(tenant, "ana") for tenant in TENANTS]
        assert all(
            one.startswith(f"{tenant}/") for one, tenant in zip(owners, TENANTS, strict=True)
        )
        keys = [await engines.keys.owner(owner) for owner in owners]
        assert keys[0].hash("slot", "home") != keys[1].hash("slot", "home")
        assert keys[0].term("hint") != keys[1].term("hint")
        ids = [event_id(tenant, "ana", "chat", "t0") for tenant in TENANTS]
        assert len(set(ids)) == 2
        for tenant, found in zip(TENANTS, ids, strict=True):
            places = await engines.identity.places(owner_key(tenant, "ana"), ids)
            assert list(places) == [found]


async def test_c13_2_isolation_is_by_row(tmp_path: Path) -> None:
    """Each row and point of a store names its owner, and the stores ask for it in every read."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
        engines = memory.runtime.engines
        theirs = await engines.identity.turns(owner_key("b", "ana"))
        events = [place.event_id for place in theirs]
        memories = [one.memory_id for one in await engines.episodes.memories(owner_key("b", "ana"))]
        owner = owner_key("a", "ana")
        assert events
        assert memories
        assert await engines.identity.places(owner, [*events, *memories]) == {}
        assert await engines.identity.known(owner, events) == {}
        assert await engines.identity.readers(owner, events) == set()
        assert await engines.identity.points(owner, events) == []
        assert await engines.episodes.turn_boxes(owner, events) == {}
        assert await engines.episodes.memories(owner, memories) == []
        vector = (await engines.encoder.encode(["password hint walrus 海象"]))[0]
        everything = await engines.episodes.query(EpisodicQuery(owner, vector, (), 1_000))
        assert {hit.point_id for hit in everything}.isdisjoint(one.bytes for one in events)
    with closing(sqlite3.connect(tmp_path / "data" / "identity.sqlite")) as file:
        rows = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {name for (name,) in rows} - {"fence", "owners", "partitions"}
        assert {"events", "points", "statements"} <= tables
        for table in tables:
            columns = {row[1] for row in file.execute(f"PRAGMA table_info({table})")}
            assert "owner" in columns, table


def test_c7_t12_twelve_hours_grow_the_memory_by_less_than_five_percent(
    tmp_path: Path,
) -> None:
    """A process with one session for twelve simulated hours holds 5 % more than after its first."""
    command = [sys.executable, "-m", "tests.support.twelve_hours", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    hours = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(hours) == 1 + HOURS
    growth = hours[-1]["resident_bytes"] / hours[0]["resident_bytes"]
    assert growth < GROWTH_MAX, hours
