"""The rules on who is who, one test each, named after the rule; names in both languages.

They hold through the façade of one process; `tests/integration` holds the parts that have servers
of their own to the same. Rules that the design decides otherwise are tested in its form.
"""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

import eunoe
from eunoe.persons import Alias
from eunoe.schemas.cloudevents import encode
from eunoe.schemas.errors import Rejected
from eunoe.schemas.events import Envelope, EventType, Turn, owner_key
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import TURNS
from tests.support.memories import open_memory

BEIJING: Final = timezone(timedelta(hours=8))
REGISTERED: Final = datetime(2024, 6, 15, 22, 0, 0, 123_000, BEIJING)
PHONE: Final = "+86 138 0013 8000"
PLAIN: Final = "+8613800138000"
NEW_PHONE: Final = "+86 139 0013 9000"
DEVICE: Final = "5f1c9b0277aa"
NEW_DEVICE: Final = "e03d5b6c1288"
SAID: Final = {
    "en": ("Anna", "I keep the spare key under the blue pot.", "spare key"),
    "zh": ("张伟", "我把备用钥匙放在蓝色花盆下面。", "备用钥匙"),
}
OTHERS: Final = {
    "en": ("Anna", "I keep the spare key in the garage.", "spare key"),
    "zh": ("张伟", "我把备用钥匙放在车库里。", "备用钥匙"),
}
"""What another person of the same name says."""

both = pytest.mark.parametrize("language", ["en", "zh"])


@pytest.fixture(name="memory")
async def open_one(tmp_path: Path) -> AsyncIterator[eunoe.Memory]:
    """Open a memory."""
    async with open_memory(tmp_path) as memory:
        yield memory


async def say(memory: eunoe.Memory, user: str, said: tuple[str, str, str], ident: str) -> None:
    """Let somebody say something."""
    name, text, _ = said
    await memory.add({"id": ident, "name": name, "content": text}, user_id=user)


async def texts(memory: eunoe.Memory, user: str) -> list[str]:
    """Return what a user said, the newest first."""
    return [one.text for one in await memory.list(user_id=user, kinds=["turn"])]


async def publish(memory: eunoe.Memory, user: str, text: str, ident: str) -> None:
    """Publish a turn as another program does, who knows no persons, and wait until it is done."""
    event = Envelope(
        id=ident,
        source="frontend",
        type=EventType.TURN_ADDED,
        time=REGISTERED,
        tenant_id="default",
        user_id=user,
        payload=Turn(role="user", content=text),
    )
    headers, value = encode(event)
    log = memory.runtime.engines.log
    await log.append([NewRecord(TURNS.name, event.owner.encode(), value, headers)])
    await memory.settled()
    await memory.settled()  # what was published again under the person's name as well


def everything_stored(folder: Path) -> bytes:
    """Return the bytes of every file."""
    return b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())


def phone(number: str = PHONE) -> str:
    """Return what stands for whoever has a number."""
    return eunoe.alias_of("phone", number)


def device(fingerprint: str = DEVICE) -> str:
    """Return what stands for whoever has a device."""
    return eunoe.alias_of("device", fingerprint)


@both
async def test_c1_1_layers_lie_apart(language: str, tmp_path: Path) -> None:
    """Who, what and how it was used lie in files of their own; one that is lost harms no other.

    Preferences are exact statements beside the identity, as the design maps the four layers.
    """
    async with open_memory(tmp_path) as memory:
        person = await memory.register(phone=PHONE, device=DEVICE)
        await say(memory, person, SAID[language], "t1")
        who, what = await memory.identity(user_id=person), await texts(memory, person)
        digest = await memory.digest(user_id=person)
        await memory.runtime.experience.settled()
    data = tmp_path / "data"
    layers = [data / "identity.sqlite", data / "episodes", data / "experience.sqlite"]
    assert all(layer.exists() for layer in layers)
    for layer in layers:
        shutil.rmtree(layer) if layer.is_dir() else layer.unlink()
        for beside in data.glob(f"{layer.name}-*"):
            beside.unlink()
        async with open_memory(tmp_path) as memory:
            assert await memory.identity(user_id=person) == who, layer
            assert await texts(memory, person) == what, layer
            assert await memory.digest(user_id=person) == digest, layer


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "Europe/Oslo"])
async def test_c1_3_the_identity_layer_holds_what_never_changes(
    zone: str, memory: eunoe.Memory, tmp_path: Path
) -> None:
    """User id, registered phone, fingerprint, first use and zone are there, sealed on the disk."""
    person = await memory.register(phone=PHONE, device=DEVICE, registered_at=REGISTERED)
    await memory.set_timezone(zone, user_id=phone())
    found = await memory.identity(user_id=device())
    assert (found.user_id, found.phones, found.devices) == (person, (PLAIN,), (DEVICE,))
    assert (found.first_used_at, found.timezone) == (REGISTERED, zone)
    assert found.aliases == (device(), phone())
    stored = everything_stored(tmp_path)
    assert person.encode() in stored
    assert PLAIN.encode() not in stored
    assert DEVICE.encode() not in stored


@both
async def test_c1_4_a_binding_holds_once_it_is_acknowledged(
    language: str, memory: eunoe.Memory, tmp_path: Path
) -> None:
    """Effects and marker are one transaction; what follows, from anywhere, is the person's."""
    person = await memory.register(phone=PHONE, device=DEVICE)
    with closing(sqlite3.connect(tmp_path / "data" / "identity.sqlite")) as file:
        rows = file.execute(
            "SELECT o.applied >= 0, b.person, b.bound FROM bindings b"
            " JOIN owners o ON o.number = b.owner"
        ).fetchall()
    assert rows == [(1, person, 1)] * 2
    _, text, _ = SAID[language]
    await publish(memory, phone(), text, "t1")
    assert await texts(memory, person) == [text]
    await memory.unbind(user_id=person, phone=PHONE)
    other = await memory.register(phone=PHONE, device=NEW_DEVICE)
    _, text, _ = OTHERS[language]
    await publish(memory, phone(), text, "t2")
    assert await texts(memory, other) == [text]
    assert len(await texts(memory, person)) == 1


async def test_c1_5_a_user_id_is_made_of_the_registration(memory: eunoe.Memory) -> None:
    """It is the first 16 digits of SHA-256 over phone, fingerprint and milliseconds."""
    found = await memory.register(phone=PHONE, device=DEVICE, registered_at=REGISTERED)
    assert found == sha256(f"{PLAIN}\n{DEVICE}\n1718460000123".encode()).hexdigest()[:16]
    assert found == eunoe.person_id(PHONE, DEVICE, REGISTERED)
    assert await memory.register(phone=PLAIN, device=DEVICE) == found
    again = await memory.register(phone=PHONE, device=DEVICE, registered_at=REGISTERED)
    assert again == found
    assert len((await memory.identity(user_id=found)).aliases) == 2


@both
async def test_c1_6_people_of_one_name_who_share_a_phone_are_two(
    language: str, memory: eunoe.Memory
) -> None:
    """They have ids and records of their own; the phone alone says nothing any more."""
    first = await memory.register(phone=PHONE, device=DEVICE)
    second = await memory.register(phone=PHONE, device=NEW_DEVICE)
    assert first != second
    await say(memory, device(), SAID[language], "t1")
    await say(memory, device(NEW_DEVICE), OTHERS[language], "t1")
    assert await texts(memory, first) == [SAID[language][1]]
    assert await texts(memory, second) == [OTHERS[language][1]]
    for user, (_, text, query) in ((first, SAID[language]), (second, OTHERS[language])):
        hits = await memory.search(query, user_id=user)
        assert {one.text for one in hits} == {text}
    with pytest.raises(Rejected, match="2 persons share this alias: name the person, or a device"):
        await say(memory, phone(), SAID[language], "t2")
    await publish(memory, phone(), SAID[language][1], "t3")
    (letter,) = await memory.dead_letters(user_id=phone())
    assert "2 persons share this alias" in letter.reason
    assert len(await texts(memory, first)) == len(await texts(memory, second)) == 1


@pytest.mark.parametrize("number", [PHONE, "+47 22 33 44 55"])
async def test_c1_6_a_phone_alone_is_no_user(number: str, memory: eunoe.Memory) -> None:
    """Under a number that nobody registered, nothing is stored, whoever sends it."""
    with pytest.raises(Rejected, match="alone is no person"):
        await memory.add("Hi", user_id=phone(number))
    await publish(memory, phone(number), "你好", "t1")
    (letter,) = await memory.dead_letters(user_id=phone(number))
    assert "alone is no person" in letter.reason
    assert (await memory.stats()).users == 0


def fingerprint(agent: str, screen: str, renderer: str, mobile: str = "") -> str:
    """Make a fingerprint as a front end does: of hashes, and never here."""
    parts = [sha256(part.encode()).hexdigest() for part in (agent, screen, renderer)]
    return sha256("".join([*parts, mobile]).encode()).hexdigest()


async def test_c1_7_a_fingerprint_tells_devices_apart(memory: eunoe.Memory) -> None:
    """Agent, screen, renderer and, with consent, the mobile's id each make another device."""
    agent, screen, renderer = "Chrome/90 手机", "1170x2532x24", "Apple GPU"
    prints = {
        fingerprint(agent, screen, renderer),
        fingerprint("Safari/15", screen, renderer),
        fingerprint(agent, "1920x1080x24", renderer),
        fingerprint(agent, screen, "ANGLE"),
        fingerprint(agent, screen, renderer, "IDFA-1"),
    }
    people = {await memory.register(phone=PHONE, device=one) for one in prints}
    assert len(prints) == len(people) == 5
    for one in prints:
        found = await memory.identity(user_id=device(one))
        assert found.devices == (one,)


async def test_c1_8_a_fingerprint_is_never_made_here(memory: eunoe.Memory) -> None:
    """Whoever sends none is refused; what is sent is taken as it is."""
    with pytest.raises(TypeError, match="device"):
        await memory.register(phone=PHONE)  # type: ignore[call-arg]  # what is tested
    for nothing in ("", "   "):
        with pytest.raises(Rejected, match="the device's own front end made"):
            await memory.register(phone=PHONE, device=nothing)
    person = await memory.register(phone=PHONE, device="指纹-1")
    assert (await memory.identity(user_id=person)).devices == ("指纹-1",)


@both
async def test_c1_9_a_new_phone_or_device_keeps_the_person(
    language: str, memory: eunoe.Memory
) -> None:
    """Once it is bound, what was said before is found through it; the old number may go."""
    person = await memory.register(phone=PHONE, device=DEVICE, registered_at=REGISTERED)
    await say(memory, phone(), SAID[language], "t1")
    await memory.bind(user_id=device(), phone=NEW_PHONE)
    await memory.bind(user_id=phone(NEW_PHONE), device=NEW_DEVICE)
    await memory.unbind(user_id=person, phone=PHONE)
    _, text, query = SAID[language]
    for alias in (phone(NEW_PHONE), device(NEW_DEVICE), device()):
        (hit, *_) = await memory.search(query, user_id=alias)
        assert hit.text == text
    await say(memory, device(NEW_DEVICE), OTHERS[language], "t2")
    assert len(await texts(memory, person)) == 2
    found = await memory.identity(user_id=person)
    assert found.phones == ("+8613900139000",)
    assert set(found.devices) == {DEVICE, NEW_DEVICE}
    with pytest.raises(Rejected, match="alone is no person"):
        await texts(memory, phone())
    await memory.forget("t1", user_id=device(NEW_DEVICE))
    assert await texts(memory, person) == [OTHERS[language][1]]


async def test_c1_9_a_new_registration_is_bound_to_the_old_person(memory: eunoe.Memory) -> None:
    """After a phone change the derived id becomes an alias, and nothing is orphaned."""
    person = await memory.register(phone=PHONE, device=DEVICE, registered_at=REGISTERED)
    await memory.add("我住在上海。", user_id=person)
    derived = eunoe.person_id(NEW_PHONE, NEW_DEVICE, REGISTERED)
    await memory.bind(user_id=person, alias=derived)
    found = await memory.register(phone=NEW_PHONE, device=NEW_DEVICE, registered_at=REGISTERED)
    assert found == person
    assert await texts(memory, phone(NEW_PHONE)) == ["我住在上海。"]
    assert await texts(memory, derived) == ["我住在上海。"]


@both
async def test_c1_10_the_users_own_words_are_told_apart(
    language: str, memory: eunoe.Memory
) -> None:
    """Every passage says who spoke: the user, an agent, or a tool that read a document."""
    person = await memory.register(phone=PHONE, device=DEVICE)
    _, text, query = SAID[language]
    roles = ("user", "assistant", "tool")
    said = [{"id": role, "role": role, "content": f"{text} ({role})"} for role in roles]
    await memory.add(said, user_id=device())
    found = await memory.search(query, user_id=person, kinds=["turn"])
    assert {one.role: one.id for one in found} == {role: role for role in roles}
    own = await memory.search(query, user_id=person, filters={"role": "user"})
    assert {one.role for one in own} == {"user"}


@both
async def test_a_forget_reaches_what_came_under_an_alias(
    language: str, memory: eunoe.Memory
) -> None:
    """The original under the alias's name leaves the ingress topic too, in its own partition."""
    person = await memory.register(phone=PHONE, device=DEVICE, registered_at=REGISTERED)
    log = memory.runtime.engines.log
    places = [log.partition_of(owner_key("default", one).encode()) for one in (person, phone())]
    assert places[0] != places[1]
    _, text, query = SAID[language]
    await publish(memory, phone(), text, "t1")
    begin, end = await log.bounds(TURNS.name, places[1])
    assert end > begin
    await memory.forget(("frontend", "t1"), user_id=phone())
    assert await memory.search(query, user_id=person) == []
    for place in places:
        begin, end = await log.bounds(TURNS.name, place)
        assert begin == end
        assert await log.read(TURNS.name, place, 0, limit=9) == []


# --- What can't be bound -----------------------------------------------------------------------


async def test_what_has_turns_of_its_own_is_no_alias(memory: eunoe.Memory) -> None:
    """Binding it would hide them, and let others read as the person."""
    await memory.add("Hi", user_id="nick")
    await memory.set_timezone("Asia/Shanghai", user_id="小张")
    for alias in ("nick", "小张"):
        with pytest.raises(Rejected, match="of its own as a user"):
            await memory.bind(user_id="ana", alias=alias)
    assert (await memory.identity(user_id="ana")).aliases == ()


async def test_aliases_form_no_chains(memory: eunoe.Memory) -> None:
    """An alias stands for a person, never for itself or for another alias."""
    await memory.bind(user_id="ana", alias="nick")
    engines = memory.runtime.engines
    persons = memory.runtime.persons
    for alias, person, sentence in (
        ("x", "x", "bound to itself"),
        ("x", "nick", "is itself an alias"),
        ("x", phone(), "is itself an alias"),
        ("ana", "eva", "as to a person"),
    ):
        now = engines.clock.now()
        command = Alias(alias).bound("default", person, now, now)
        with pytest.raises(Rejected, match=sentence):
            await memory._commands([command])
    assert await persons.named("default", "x") == "x"
    assert (await memory.identity(user_id="nick")).aliases == ("nick",)


async def test_what_is_not_bound_cannot_be_unbound(memory: eunoe.Memory) -> None:
    """Nor twice, nor from another person."""
    person = await memory.register(phone=PHONE, device=DEVICE)
    with pytest.raises(Rejected, match="isn't bound to that person"):
        await memory.unbind(user_id="ana", phone=PHONE)
    await memory.unbind(user_id=person, phone=PHONE)
    with pytest.raises(Rejected, match="isn't bound to that person"):
        await memory.unbind(user_id=person, phone=PHONE)


async def test_unbinding_destroys_what_was_registered(memory: eunoe.Memory) -> None:
    """The key of the phone's box goes; the alias and the person's id stay in the journal."""
    person = await memory.register(phone=PHONE, device=DEVICE)
    engines = memory.runtime.engines
    alias = owner_key("default", phone())
    (row,) = (await engines.identity.bindings([alias]))[alias]
    assert row.box is not None
    assert await engines.keys.open_boxes(alias, [(row.box, row.event_id)]) != [None]
    await memory.unbind(user_id=person, phone=PHONE)
    assert await engines.keys.open_boxes(alias, [(row.box, row.event_id)]) == [None]
    assert (await memory.identity(user_id=person)).phones == ()


async def test_one_of_several_names_is_needed(memory: eunoe.Memory) -> None:
    """What stands for a person is a phone, a device or another id: one at a time."""
    given: list[dict[str, str]] = [{}, {"phone": PHONE, "device": DEVICE}, {"alias": ""}]
    for names in given:
        with pytest.raises(Rejected, match=r"^(Give one of|alias must be)"):
            await memory.bind(user_id="ana", **names)


async def test_two_registrations_at_a_time_are_one_person(memory: eunoe.Memory) -> None:
    """Of the same phone and device, in one process; another moment that is given is another."""
    found = await asyncio.gather(*(memory.register(phone=PHONE, device=DEVICE) for _ in range(3)))
    assert len(set(found)) == 1
    other = await memory.register(phone=PHONE, device=DEVICE, registered_at=REGISTERED)
    assert other != found[0]
    with pytest.raises(Rejected, match="give registered_at"):
        await memory.register(phone=PHONE, device=DEVICE)
