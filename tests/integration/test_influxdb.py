"""The experience store's contract on a real InfluxDB, and what only a server can be asked."""

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit
from uuid import UUID, uuid4

import pytest

from eunoe.infra.cluster_settings import ClusterSettings
from eunoe.infra.influxdb import InfluxExperience
from eunoe.schemas.errors import Rejected, Unavailable
from eunoe.schemas.events import owner_key
from eunoe.schemas.experience import DOMAINS, GENERAL, ExperienceKind
from eunoe.schemas.limits import EXPERIENCE_WRITE_POINTS
from eunoe.schemas.topics import JOURNAL, RECALLS
from eunoe.streams.experience import handle, pseudonyms_of, totals_of
from tests.contract.experience_contract import ExperienceContract
from tests.servers.fixtures import Influxdb
from tests.servers.influxd import Influxd
from tests.support.experiencing import next_days, point, pseudonym
from tests.support.memories import open_memory
from tests.support.tools import START

pytestmark = pytest.mark.server

OTHERS: Final = ExperienceKind.MEMORY_CREATED


class Place:
    """The buckets of a namespace on a server.

    Args:
        server: Which.
        namespace: Of the buckets.
        fields: Of the settings.
    """

    def __init__(self, server: Influxdb | Influxd, namespace: str, **fields: Any) -> None:
        self.server = server
        self.namespace = namespace
        self._fields = fields

    def settings(self, **fields: Any) -> ClusterSettings:
        """Return settings for it; nothing is collected, unless a test says so."""
        values: dict[str, Any] = {
            "kafka": ("127.0.0.1:9",),
            "influxdb": self.server.url,
            "influxdb_token": self.server.token,
            "influxdb_org": self.server.org,
            "namespace": self.namespace,
            "write_window_s": 0.0,
        }
        return ClusterSettings(**(values | self._fields | fields))

    @asynccontextmanager
    async def open(self, **fields: Any) -> AsyncIterator[InfluxExperience]:
        """Open a store on it."""
        store = await InfluxExperience.open(self.settings(**fields))
        try:
            yield store
        finally:
            await store.close()

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        """Ask the server past the adapter."""
        where = urlsplit(self.server.url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=20)
        headers = {"Authorization": f"Token {self.server.token}"}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def write(self, bucket: str, line: str) -> None:
        """Write a line past the adapter."""
        path = f"/api/v2/write?org={self.server.org}&bucket={quote(bucket)}"
        status, answer = self.ask("POST", path, line)
        assert status == http.client.NO_CONTENT, answer


@pytest.fixture(name="place")
def make_place(influxdb_server: Influxdb) -> Place:
    """Return an empty place on the server of the session."""
    return Place(influxdb_server, f"t{uuid4().hex[:12]}")


@pytest.fixture(name="store")
async def open_store(place: Place) -> AsyncIterator[InfluxExperience]:
    """Open a store."""
    async with place.open() as store:
        yield store


@pytest.fixture(name="own")
def make_own_place(own_influxd: Influxd) -> Place:
    """Return a place on a server of the test's own."""
    return Place(own_influxd, "own", call_timeout_s=20.0)


class TestInfluxExperience(ExperienceContract):
    """InfluxDB keeps the promises of `ports.ExperienceStore`."""


async def count_of(store: InfluxExperience, name: str) -> int:
    """Return how much stands under a name."""
    totals = await store.totals([pseudonym(name)], *next_days(400))
    return sum(one.count for one in totals)


async def test_each_domain_has_a_bucket_that_keeps_everything(
    place: Place, store: InfluxExperience
) -> None:
    """Buckets are made when they are missing, named by namespace and domain, without an end."""
    await store.write([point("ana", domain=domain) for domain in DOMAINS])
    _, answer = place.ask("GET", f"/api/v2/buckets?limit=100&org={place.server.org}")
    found = {
        one["name"]: one["retentionRules"]
        for one in json.loads(answer)["buckets"]
        if one["name"].startswith(place.namespace)
    }
    rest = {f"{place.namespace}.{domain}" for domain in DOMAINS[1:]}
    assert set(found) == {place.namespace} | rest
    assert all(not sum(rule["everySeconds"] for rule in rules) for rules in found.values())


async def test_two_that_make_buckets_at_once_use_the_same(place: Place) -> None:
    """Several processes that start together lose no point of each other."""
    async with place.open() as one, place.open() as two, place.open() as three:
        stores = (one, two, three)
        await asyncio.gather(*(store.write([point("ana", f"{store}")]) for store in stores))
        assert [await count_of(store, "ana") for store in stores] == [3, 3, 3]


async def test_calls_of_a_window_are_one_request(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is handed in while points are collected goes with them, and every call is answered."""
    async with place.open(write_window_s=0.3) as store:
        requests = watched(store, monkeypatch)
        await asyncio.gather(*(store.write([point("ana", f"e{n}")]) for n in range(50)))
        assert [len(lines) for lines in requests] == [50]
        await store.write([point("ana", "later")])
        assert len(requests) == 2
        assert await count_of(store, "ana") == 51


async def test_a_full_batch_waits_for_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the bound of points they are written at once, in requests of at most so many."""
    async with place.open(write_window_s=3_600.0) as store:
        requests = watched(store, monkeypatch)
        many = [point("ana", f"e{n}", minute=n) for n in range(EXPERIENCE_WRITE_POINTS + 7)]
        await store.write(many)
        assert [len(lines) for lines in requests] == [EXPERIENCE_WRITE_POINTS, 7]
        assert await count_of(store, "ana") == len(many)


async def test_closing_and_erasing_write_first_what_waits(place: Place) -> None:
    """Nothing that was handed in is lost when a store closes, nor comes after an erasure."""
    async with place.open(write_window_s=3_600.0) as store:
        waiting = [asyncio.create_task(store.write([point(name)])) for name in ("ana", "ben")]
        await asyncio.sleep(0)
        await store.erase([pseudonym("ana")])
        await asyncio.gather(*waiting)
        assert (await count_of(store, "ana"), await count_of(store, "ben")) == (0, 1)
        last = asyncio.create_task(store.write([point("ben", "last")]))
        await asyncio.sleep(0)
        await store.close()
        await last
    async with place.open() as store:
        assert await count_of(store, "ben") == 2


async def test_an_erasure_of_many_takes_few_connections(
    store: InfluxExperience, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many pseudonyms go, at most one request for each domain is under way."""
    running: list[str] = []
    most = 0
    delete = store._server.delete

    async def note(bucket: str, predicate: str) -> None:
        nonlocal most
        running.append(bucket)
        most = max(most, len(running))
        await delete(bucket, predicate)
        running.remove(bucket)

    monkeypatch.setattr(store._server, "delete", note)
    names = [f"user {number}" for number in range(40)]
    await store.write([point(name) for name in (*names, "ben")])
    await store.erase([pseudonym(name) for name in names])
    assert most == len(DOMAINS)
    assert [await count_of(store, name) for name in (names[0], names[-1], "ben")] == [0, 0, 1]


async def test_a_refused_point_is_named_and_the_others_are_kept(
    place: Place, store: InfluxExperience
) -> None:
    """Of a batch only what InfluxDB refuses is `Rejected`, and who handed in others isn't told."""
    await store.write([point("ben", kind=OTHERS)])
    at = point("ana").at_ns
    place.write(place.namespace, f"search,pseudonym={pseudonym('x')} count=1.5 {at + 1}")
    good = [point("ana", f"e{n}", kind=OTHERS) for n in range(20)]
    mixed = [*(point("ben", f"e{n}", kind=OTHERS) for n in range(10)), point("ben")]
    async with place.open(write_window_s=0.2) as both:
        told = await asyncio.gather(both.write(good), both.write(mixed), return_exceptions=True)
        assert told[0] is None
        assert isinstance(told[1], Rejected)
        assert "search" in str(told[1])
        assert "2024-03-30T00:00" in str(told[1])
        assert pseudonym("ben") not in str(told[1])
        assert await count_of(both, "ana") == 20
        assert await count_of(both, "ben") == 10  # the first was there before


async def test_what_was_written_survives_a_killed_server(own: Place, own_influxd: Influxd) -> None:
    """After SIGKILL the store waits with a sentence, and finds every point when it is back."""
    async with own.open() as store:
        for number in range(20):
            await store.write([point("ana", f"e{number}")])
        own_influxd.kill()
        with pytest.raises(Unavailable, match="EUNOE_INFLUXDB"):
            await store.write([point("ana", "lost")])
        with pytest.raises(Unavailable, match="EUNOE_INFLUXDB"):
            await count_of(store, "ana")
        own_influxd.start()
        assert await count_of(store, "ana") == 20
        await store.write([point("ana", "lost"), point("ana", "e3")])
        assert await count_of(store, "ana") == 21


async def test_a_paused_server_is_unavailable_in_time(own: Place, own_influxd: Influxd) -> None:
    """No call waits longer than its limit; who waits for a connection is counted and told so."""
    async with own.open() as patient:
        await patient.write([point("ana")])
        await count_of(patient, "ana")
    async with own.open(connections_max=1, call_timeout_s=2.0) as store:
        with suppress(Unavailable):  # on a slow machine
            await count_of(store, "ana")
        own_influxd.pause()
        try:
            calls = [asyncio.create_task(count_of(store, "ana")) for _ in range(3)]
            while store.waiting < 2:  # noqa: ASYNC110 - what is looked at tells nobody
                await asyncio.sleep(0.01)
            async with asyncio.timeout(30):
                told = await asyncio.gather(*calls, return_exceptions=True)
        finally:
            own_influxd.resume()
        assert all(isinstance(one, Unavailable) for one in told)
        sentences = sorted(str(one) for one in told)
        assert all("EUNOE_INFLUXDB" in one for one in sentences)
        assert sum("EUNOE_CONNECTIONS_MAX" in one for one in sentences) >= 1
        assert store.waiting == 0
    async with own.open() as patient:
        assert await count_of(patient, "ana") == 1


async def test_a_write_that_was_cancelled_harms_nobody(place: Place) -> None:
    """The other calls of its batch are answered, and repeating it changes nothing."""
    async with place.open(write_window_s=0.3) as store:
        impatient = asyncio.create_task(store.write([point("ana")]))
        patient = asyncio.create_task(store.write([point("ben")]))
        await asyncio.sleep(0.05)
        impatient.cancel()
        await patient
        await store.write([point("ana")])
        assert (await count_of(store, "ana"), await count_of(store, "ben")) == (1, 1)


async def test_a_bucket_that_was_removed_is_made_again(
    place: Place, store: InfluxExperience
) -> None:
    """A call says that it can't now, the next one goes on."""
    await store.write([point("ana")])
    _, answer = place.ask("GET", f"/api/v2/buckets?name={place.namespace}&org={place.server.org}")
    (bucket,) = json.loads(answer)["buckets"]
    place.ask("DELETE", f"/api/v2/buckets/{bucket['id']}")
    with pytest.raises(Unavailable, match="EUNOE_INFLUXDB"):
        await store.write([point("ana")])
    await store.write([point("ana")])
    assert await count_of(store, "ana") == 1


@pytest.mark.parametrize(
    ("fields", "variable"),
    [
        ({"influxdb_token": "not this one"}, "EUNOE_INFLUXDB_TOKEN"),
        ({"influxdb_token": ""}, "EUNOE_INFLUXDB_TOKEN"),
        ({"influxdb_org": "nobody"}, "EUNOE_INFLUXDB_ORG"),
        ({"influxdb": "http://127.0.0.1:9"}, "EUNOE_INFLUXDB"),
        ({"influxdb": "http://does-not-exist.invalid:8086"}, "EUNOE_INFLUXDB"),
    ],
    ids=["wrong token", "no token", "no organisation", "nobody there", "no such host"],
)
async def test_a_wrong_setting_is_named(
    place: Place, fields: dict[str, str], variable: str
) -> None:
    """The sentence names the variable to set, never the token, and nothing is `Rejected`."""
    async with place.open(**fields) as store:
        calls: list[Callable[[], Any]] = [
            lambda: store.write([point("ana")]),
            lambda: count_of(store, "ana"),
            lambda: store.pool(GENERAL, *next_days(1)),
            lambda: store.erase([pseudonym("ana")]),
        ]
        for call in calls:
            with pytest.raises(Unavailable, match=rf"{variable}\b") as told:
                await call()
            assert place.server.token not in str(told.value)


SAID: Final = {
    "en": ("My sister Nora moved to Lisbon in May.", "Remember that the boiler is serviced."),
    "zh": ("我妹妹上个月搬到了里斯本。", "记住:锅炉每年十月检修。"),
}
ASKED: Final = {"en": "Lisbon", "zh": "里斯本"}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_nothing_but_counts_gets_into_the_server(
    own: Place, own_influxd: Influxd, tmp_path: Path, language: str
) -> None:
    """What a store's own records count leaves neither user, event nor text in InfluxDB's files."""
    users = ("alexandra", "王小明同学")
    async with open_memory(tmp_path) as memory, own.open() as store:
        for user in users:
            await memory.add(list(SAID[language]), user_id=user)
            assert await memory.search(ASKED[language], user_id=user)
        await memory.runtime.served.publish()
        engines = memory.runtime.engines
        records = [
            record
            for topic in (JOURNAL, RECALLS)
            for partition in range(engines.partitions)
            for record in await engines.log.read(topic.name, partition, 0, limit=1_000)
        ]
        for _ in range(2):
            refused = await handle(records, keys=engines.keys, store=store)
            assert refused == [None] * len(records)
        begin, end = START, START + timedelta(days=1)
        names: list[str] = []
        for user in users:
            owner = owner_key("default", user)
            keys = await engines.keys.known_owner(owner)
            assert keys is not None
            names += pseudonyms_of(keys, begin, begin)
            found = await totals_of(owner, begin, end, unit="day", keys=engines.keys, store=store)
            assert {one.kind: one.count for one in found}[OTHERS] == len(SAID[language])
        events = [UUID(record.key.decode()) for record in records if record.key[8:9] == b"-"]
        assert len(events) == len(users) * len(SAID[language])
    own_influxd.stop()
    files = [path for path in own_influxd.folder.rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() for path in files)
    assert all(name.encode() in held for name in names)
    for text in (*users, *map(quote, users), *SAID[language], ASKED[language], "boiler", "锅炉"):
        assert text.encode() not in held, text
    for event in events:
        assert str(event).encode() not in held
        assert event.bytes not in held


def watched(store: InfluxExperience, patch: pytest.MonkeyPatch) -> list[list[bytes]]:
    """Return the lines of each request that writes, as they come."""
    requests: list[list[bytes]] = []
    write = store._server.write

    async def note(bucket: str, lines: bytes) -> None:
        requests.append(lines.splitlines())
        await write(bucket, lines)

    patch.setattr(store._server, "write", note)
    return requests
