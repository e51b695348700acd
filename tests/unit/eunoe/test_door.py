"""The door: what a client asks of the owner's façade, and gets."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from eunoe import door, door_remote, door_wire
from eunoe.schemas import errors
from tests.unit.eunoe.fake_memory import RESULTS, FakeMemory, arguments_of, raw_ask, served


@pytest.mark.parametrize("call", sorted(RESULTS))
async def test_every_call_gives_what_the_owner_gives(
    call: str, fake: FakeMemory, folder: Path
) -> None:
    """Results and arguments of each call arrive as they were sent: moments, pairs, nothing."""
    async with served(fake, folder) as remote:
        result = await getattr(remote, call)(**arguments_of(call))
    assert result == RESULTS[call]
    assert type(result) is type(RESULTS[call])
    name, arguments = fake.calls[-1]
    assert name == call
    for key, value in arguments_of(call).items():
        assert arguments[key] == value
        assert type(arguments[key]) is type(value)


def test_the_doors_calls_are_those_of_the_remote_memory() -> None:
    """Every public call of `RemoteMemory` may be asked for, and no other."""
    public = {name for name in dir(door.RemoteMemory) if not name.startswith("_")} - {"close"}
    assert set(door_remote.CALLS) == public == set(RESULTS)


async def test_a_pair_is_one_id_and_two_ids_are_two(fake: FakeMemory, folder: Path) -> None:
    """A pair (source, id) inside `ids` stays a pair; two texts in a list stay two ids."""
    async with served(fake, folder) as remote:
        await remote.forget(["chat", "t1"], user_id="ana")
        await remote.forget([("chat", "t1")], user_id="ana")
        await remote.forget(("chat", "t1"), user_id="ana")
        await remote.forget("t1", user_id="ana")
    assert [arguments["ids"] for _, arguments in fake.calls] == [
        ["chat", "t1"],
        [("chat", "t1")],
        ("chat", "t1"),
        "t1",
    ]


@pytest.mark.parametrize("name", errors.__all__)
async def test_errors_keep_their_class_and_sentence(
    name: str, fake: FakeMemory, folder: Path
) -> None:
    """An error of the owner is raised at the client as the same class with the same text."""
    kind = getattr(errors, name)

    async def fail(*_: object) -> None:
        message = "Nothing has the id “t9”. 没有。"
        raise kind(message)

    fake.behaviour = fail
    async with served(fake, folder) as remote:
        with pytest.raises(kind, match="没有") as caught:
            await remote.get("t9", user_id="ana")
        assert type(caught.value) is kind


async def test_a_bug_of_the_owner_is_answered_and_survived(fake: FakeMemory, folder: Path) -> None:
    """An unforeseen exception inside becomes Unavailable, is reported, and stops nothing."""
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    async def fail(*_: object) -> None:
        raise ZeroDivisionError

    async with served(fake, folder) as remote:
        fake.behaviour = fail
        with pytest.raises(errors.Unavailable, match="ZeroDivisionError"):
            await remote.digest(user_id="ana")
        fake.behaviour = None
        assert await remote.digest(user_id="ana") == "abc"
    assert [type(context["exception"]) for context in reported] == [ZeroDivisionError]


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"call":"get"}',
        b'{"call":"__init__","arguments":{}}',
        b'{"call":"close","arguments":{}}',
        b'{"call":"get","arguments":{"id":"x"}}',
        b'{"call":"digest","arguments":{"user_id":"a","self":1}}',
        b'{"call":"digest","arguments":{"user_id":"a","more":1}}',
        b'{"call":"search","arguments":{"query":"q","user_id":"a","now":"soon"}}',
        b'{"call":"digest","arguments":' + b'{"a":' * 5000 + b"}" * 5001,
    ],
)
async def test_what_is_no_request_is_rejected(frame: bytes, fake: FakeMemory, folder: Path) -> None:
    """A frame that is no well-formed request reaches no façade and gets a sentence."""
    async with served(fake, folder) as remote:
        answer = await raw_ask(folder, frame)
        assert answer["error"]["kind"] == "Rejected"
        assert answer["error"]["sentence"].endswith(".")
        assert fake.calls == []
        assert await remote.digest(user_id="ana") == "abc"


@pytest.mark.parametrize("value", ["\ud800", 2**70, object()])
async def test_what_has_no_json_form_is_rejected_here(
    value: object, fake: FakeMemory, folder: Path
) -> None:
    """A lone surrogate, a huge integer or an object is refused before anything is sent."""
    async with served(fake, folder) as remote:
        with pytest.raises(errors.Rejected):
            await remote.add({"content": value}, user_id="ana")
        assert fake.calls == []
        assert await remote.digest(user_id="ana") == "abc"


async def test_too_large_a_request_or_answer_is_rejected(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the bound, the client sends nothing, and the owner refuses to read or to answer."""
    monkeypatch.setattr(door_wire, "REQUEST_BYTES_MAX", 400)
    async with served(fake, folder) as remote:
        with pytest.raises(errors.Rejected, match="bound"):
            await remote.add("x" * 500, user_id="ana")
        with pytest.raises(errors.Rejected, match="bound"):
            await remote.list(user_id="ana")
        answer = await raw_ask(folder, b" " * 500)
        assert answer["error"]["kind"] == "Rejected"
        assert await remote.digest(user_id="ana") == "abc"


async def test_calls_run_side_by_side(fake: FakeMemory, folder: Path) -> None:
    """Many calls at once are all answered, and a slow one doesn't hold up the others."""
    gate = asyncio.Event()

    async def wait(call: str, _: object) -> object:
        if call == "settled":
            await gate.wait()
        return RESULTS[call]

    fake.behaviour = wait
    async with served(fake, folder) as remote:
        slow = asyncio.create_task(remote.settled())
        quick = await asyncio.gather(*(remote.digest(user_id=str(n)) for n in range(50)))
        assert quick == ["abc"] * 50
        assert not slow.done()
        gate.set()
        await slow
    users = {arguments["user_id"] for call, arguments in fake.calls if call == "digest"}
    assert users == {str(n) for n in range(50)}
