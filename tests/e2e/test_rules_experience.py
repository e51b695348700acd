"""The rules of experience, one test each, named after the rule; both languages are read.

Rules that the design decides otherwise are tested in the design's form.
"""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

import eunoe
from eunoe import experiencing
from eunoe.infra.cluster_settings import ClusterSettings
from eunoe.infra.influxdb import InfluxExperience
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.events import event_id, owner_key
from eunoe.schemas.experience import DOMAINS, GENERAL, ExperienceKind
from eunoe.streams.experience import totals_of
from tests.support.experiencing import next_days, point, pseudonym
from tests.support.memories import cheap_tools, open_memory
from tests.support.tools import SetClock

both = pytest.mark.parametrize("language", ["en", "zh"])
WEDNESDAY: Final = datetime(2024, 3, 6, 14, 5, tzinfo=UTC)
USERS: Final = ("ana", "ben", "安娜", "小王", "eve")
SAID: Final = {
    "en": ("My sister Nora moved to Lisbon in May.", "I prefer aisle seats on flights."),
    "zh": ("我妹妹诺拉五月搬到了里斯本。", "我喜欢靠过道的座位。"),
}
COMPLAINT: Final = {
    "en": "The support of Fabrikam lost my luggage twice, I am furious.",
    "zh": "华星客服两次弄丢了我的行李,我非常生气。",
}
ASKED: Final = {"en": "Where did Nora move?", "zh": "诺拉搬到了哪里?"}
WORDS: Final = {
    "en": ("Nora", "Lisbon", "aisle", "Fabrikam", "luggage", "furious"),
    "zh": ("诺拉", "里斯本", "过道", "华星", "行李", "生气"),
}


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count at once what comes one by one."""
    monkeypatch.setattr(experiencing, "EXPERIENCE_WAIT_S", 0.0)


@asynccontextmanager
async def using(
    place: Path, language: str, metadata: Mapping[str, Any] | None = None
) -> AsyncIterator[tuple[eunoe.Memory, SetClock]]:
    """Open a store in which five users have said and asked something, all of it counted."""
    clock = SetClock(WEDNESDAY, step=timedelta(milliseconds=1))
    async with open_memory(place, tools=cheap_tools(clock=clock)) as memory:
        for user in USERS:
            texts = [*SAID[language], COMPLAINT[language]]
            messages = [{"id": f"{user}-{n}", "content": text} for n, text in enumerate(texts)]
            await memory.add(messages, user_id=user, metadata=metadata)
            assert await memory.search(ASKED[language], user_id=user)
        await counted(memory)
        yield memory, clock


async def counted(memory: eunoe.Memory) -> None:
    """Publish what searches served, and wait until everything is counted."""
    await memory.runtime.served.publish()
    await memory.runtime.experience.settled()


def bytes_of(place: Path) -> bytes:
    """Return what the files of experience hold."""
    files = sorted((place / "data").glob("experience.sqlite*"))
    assert files
    return b"".join(file.read_bytes() for file in files)


def values_of(value: Any) -> list[Any]:
    """Return every value in what JSON holds."""
    if isinstance(value, dict):
        return [one for inner in value.values() for one in values_of(inner)]
    if isinstance(value, list):
        return [one for inner in value for one in values_of(inner)]
    return [value]


@both
async def test_c1_1_the_layers_stand_apart(tmp_path: Path, language: str) -> None:
    """Who one is, preferences, what was said and experience lie apart; one goes, the others stay.

    In the design's form: identity and preferences are kinds apart in the store of who one is,
    context is the episodes and the log, and experience is a store of its own, without owners.
    """
    async with using(tmp_path, language) as (memory, _):
        await memory.set_timezone("Asia/Shanghai", user_id="ana")
        digest = await memory.digest(user_id="ana")
        assert await memory.experience(user_id="ana")
    data = tmp_path / "data"
    with closing(sqlite3.connect(data / "identity.sqlite")) as file:
        kinds = {kind for (kind,) in file.execute("SELECT DISTINCT kind FROM statements")}
    assert {"preference", "profile"} <= kinds
    assert (data / "episodes").is_dir()
    for leftover in data.glob("experience.sqlite*"):
        leftover.unlink()
    async with open_memory(tmp_path) as memory:
        assert await memory.digest(user_id="ana") == digest
        assert await memory.experience(user_id="ana") == []
        assert all(one.ok for one in await memory.doctor())


@both
async def test_c4_1_habits_are_learnt_without_being_stated(tmp_path: Path, language: str) -> None:
    """Which share of users does something, and at which hours, is known though nobody says it."""
    async with using(tmp_path, language) as (memory, clock):
        engines = memory.runtime.engines
        clock.moment = WEDNESDAY + timedelta(hours=1)
        for _ in range(3):
            await memory.search(ASKED[language], user_id="ana")
        await counted(memory)
        owner = owner_key("default", "ana")
        day = WEDNESDAY.replace(hour=0, minute=0)
        totals = await totals_of(
            owner, day, day + timedelta(days=1),
            unit="hour", keys=engines.keys, store=engines.experience,
        )  # fmt: skip
        searches = {
            one.start.hour: one.count for one in totals if one.kind is ExperienceKind.SEARCH
        }
        assert searches == {14: 1, 15: 3}
        used = [
            point(str(n), kind=ExperienceKind.TASK_OUTCOME, count=20, succeeded=14 + n % 2)
            for n in range(10)
        ]
        await engines.experience.write(used)
        pool = await engines.experience.pool(GENERAL, *next_days(1))
        assert pool is not None
        (figure,) = pool.figures
        assert (figure.count, figure.success) == (200, 0.725)
        stated = [one.value for one in await memory.profile(user_id="ana")]
        assert not any("14" in value or "15" in value for value in stated)


@both
async def test_c4_2_it_is_added_up_by_the_minute_and_masked(tmp_path: Path, language: str) -> None:
    """A minute is the finest that is known; no user, event or text stands in the store's files."""
    async with using(tmp_path, language) as (memory, _):
        engines = memory.runtime.engines
        keys = await engines.keys.known_owner(owner_key("default", "ana"))
        assert keys is not None
        found = await totals_of(
            keys.owner, WEDNESDAY, WEDNESDAY + timedelta(minutes=1),
            unit="minute", keys=engines.keys, store=engines.experience,
        )  # fmt: skip
        assert {one.start for one in found} == {WEDNESDAY}
        assert {one.kind for one in found} == {
            ExperienceKind.MEMORY_CREATED, ExperienceKind.SEARCH, ExperienceKind.HIT_SERVED
        }  # fmt: skip
        ids = [
            event_id("default", user, "chat", f"{user}-{number}")
            for user in USERS
            for number in range(3)
        ]
    held = bytes_of(tmp_path)
    assert keys.hash("experience", '["default/ana","2024-03"]').hex().encode() in held
    for text in (*USERS, *SAID[language], *WORDS[language], "default/", "chat"):
        if len(text) > 3 or not text.isascii():  # three letters may be in any bytes
            assert text.encode() not in held, text
    for one in ids:
        assert one.bytes not in held
        assert str(one).encode() not in held
        assert one.hex.encode() not in held


@both
async def test_c4_4_pools_are_split_by_domain_and_stored_apart(
    tmp_path: Path, language: str
) -> None:
    """What a turn's metadata names as its domain is counted there and in no other."""
    for domain in DOMAINS:
        place = tmp_path / domain
        async with using(place, language, {"domain": domain, "渠道": "网页"}) as (memory, clock):
            clock.moment += timedelta(days=1)
            figures = await memory.experience()
            made = ExperienceKind.MEMORY_CREATED.value
            assert [one.domain for one in figures if one.kind == made] == [domain]
            for other in DOMAINS:
                found = await memory.experience(domain=other)
                assert any(one.kind == made for one in found) == (other == domain)
        with closing(sqlite3.connect(place / "data" / "experience.sqlite")) as file:
            rows = {
                other: file.execute(
                    f"SELECT count(*) FROM points_{other.replace('-', '_')} WHERE kind = ?",  # noqa: S608 - a table's name
                    (made,),
                ).fetchone()[0]
                for other in DOMAINS
            }
        assert {other for other, count in rows.items() if count} == {domain}


@both
async def test_c4_5_only_masked_statistics_can_be_read(tmp_path: Path, language: str) -> None:
    """What is known over all users is rates and counts of five or more; nothing else comes out."""
    async with using(tmp_path, language) as (memory, clock):
        assert await memory.experience() == []  # the day isn't over
        clock.moment += timedelta(days=1)
        figures = await memory.experience()
        by_kind = {one.kind: one for one in figures}
        assert by_kind["search"].share == 1.0
        assert by_kind["search"].user_days == len(USERS)
        shown = json.dumps([json.loads(one.model_dump_json()) for one in figures])
        texts = {one for one in values_of(json.loads(shown)) if isinstance(one, str)}
        assert texts <= {*DOMAINS, *(kind.value for kind in ExperienceKind)}
    four = tmp_path / "four"
    clock = SetClock(WEDNESDAY, step=timedelta(milliseconds=1))
    async with open_memory(four, tools=cheap_tools(clock=clock)) as memory:
        for user in USERS[:4]:
            await memory.add(SAID[language][0], user_id=user)
            for _ in range(9):
                await memory.search(ASKED[language], user_id=user)
        await counted(memory)
        clock.moment += timedelta(days=1)
        assert await memory.experience() == []
        assert await memory.experience(user_id=USERS[0])


@both
async def test_c4_7_preferences_and_complaints_never_become_training_data(
    tmp_path: Path, language: str
) -> None:
    """Neither leaves the owner's own sealed memory: of both only counts get into the pools."""
    async with using(tmp_path, language) as (memory, clock):
        assert [one.value for one in await memory.profile(user_id="ana")]
        items = await memory.list(user_id="ana", kinds=["turn"])
        assert COMPLAINT[language] in {one.text for one in items}
        clock.moment += timedelta(days=1)
        shown = "".join(one.model_dump_json() for one in await memory.experience())
        assert shown
        held = bytes_of(tmp_path)
        for word in (*WORDS[language], *SAID[language], COMPLAINT[language]):
            assert word not in shown
            assert word.encode() not in held
        # Not even whether a matter was stated can be told: no hash of it is there either.
        async for stored in memory.runtime.journal.read(
            memory.runtime.engines.log.partition_of(b"default/ana"), 0
        ):
            for record in (one.record for one in stored):
                for statement in record.statements:
                    assert statement.slot not in held
                    assert statement.value not in held
                assert record.content not in held


VARIABLES: Final = {
    "EUNOE_KAFKA": "127.0.0.1:9092",
    "EUNOE_CONNECTIONS_MAX": "3",
    "EUNOE_WRITE_WINDOW_S": "7.5",
    "EUNOE_CACHE_EXPIRY_S": "11",
}


async def test_d17_1_pool_window_and_expiry_are_settings() -> None:
    """Each is set by a variable and refused where it can't be used; the pool is as large as set."""
    settings = ClusterSettings.from_variables(VARIABLES)
    assert settings is not None
    assert (settings.connections_max, settings.write_window_s) == (3, 7.5)
    assert settings.cache_expiry_s == 11.0
    store = await InfluxExperience.open(settings)
    try:
        session = store._server._client.api_client.rest_client.pool_manager
        assert session.connector.limit == 3
    finally:
        await store.close()
    for name, value in (
        ("EUNOE_CONNECTIONS_MAX", "0"),
        ("EUNOE_WRITE_WINDOW_S", "-1"),
        ("EUNOE_CACHE_EXPIRY_S", "soon"),
    ):
        with pytest.raises(Rejected, match=name):
            ClusterSettings.from_variables(VARIABLES | {name: value})


async def test_d17_2_a_pools_backlog_can_be_seen() -> None:
    """Who waits for a connection is counted, and told which setting it is when it is too long."""
    taken: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: taken.append(writer), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    settings = ClusterSettings(
        kafka=("127.0.0.1:9",),
        influxdb=f"http://127.0.0.1:{port}",
        connections_max=2,
        call_timeout_s=1.0,
        write_window_s=0.0,
    )
    store = await InfluxExperience.open(settings)
    try:
        assert store.waiting == 0
        calls = [
            asyncio.create_task(store.totals([pseudonym("ana")], *next_days(1))) for _ in range(6)
        ]
        async with asyncio.timeout(30):
            while store.waiting < 4:  # noqa: ASYNC110 - what is looked at tells nobody
                await asyncio.sleep(0.01)
            assert store.waiting == 4
            told = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(one, Unavailable) for one in told)
        assert any("EUNOE_CONNECTIONS_MAX" in str(one) for one in told)
        assert store.waiting == 0
    finally:
        await store.close()
        silent.close()
        for writer in taken:
            writer.close()
