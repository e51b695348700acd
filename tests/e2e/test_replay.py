"""Replay: stores made anew from log and keys, which are only read, and compared with the live."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import eunoe
from eunoe.cli.commands import commands
from eunoe.replaying import Replayed, _Replay, replay
from eunoe.schemas.errors import Rejected
from tests.properties.histories import LINES
from tests.support.memories import cheap_tools, open_memory, settings_in

USERS = ("ana", "安娜")
DAMAGED = 4
"""The exit code."""


async def tell(memory: eunoe.Memory, *, first: int = 0, count: int = 30) -> None:
    """Add lines in both languages for each user, and forget one of them."""
    for user in USERS:
        messages = [
            {"id": f"t{number}", "content": LINES[number % len(LINES)], "session_id": "s"}
            for number in range(first, first + count)
        ]
        await memory.add(messages, user_id=user)
        await memory.forget(f"t{first + 3}", user_id=user)


async def run(place: Path, into: str = "replayed", *, compare: bool = True) -> Replayed:
    """Replay a store into a folder beside it."""
    return await replay(settings_in(place), place / into, compare=compare, tell=lambda _: None)


def truth(place: Path) -> dict[str, bytes]:
    """Return the bytes of log and keys."""
    return {name: (place / "data" / name).read_bytes() for name in ("log.sqlite", "keys.sqlite")}


async def test_a_replay_equals_the_live_stores_and_leaves_the_truth_alone(tmp_path: Path) -> None:
    """Every user's digest is the live one; log and keys are the same bytes as before."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
    before = truth(tmp_path)
    alone = await run(tmp_path, compare=False)
    assert truth(tmp_path) == before
    compared = await run(tmp_path)
    assert (alone.users, compared.different) == (len(USERS), ())
    assert alone.records == len(USERS) * 30


async def test_a_replay_runs_beside_an_owner_that_goes_on(tmp_path: Path) -> None:
    """While turns come and go in the owner, a replay ends with equal digests."""
    async with eunoe.open(settings_in(tmp_path), tools=cheap_tools()) as memory:
        await tell(memory)
        more = asyncio.create_task(tell(memory, first=100))
        assert (await run(tmp_path)).different == ()
        await more
        assert (await run(tmp_path)).different == ()


async def test_a_forget_between_catching_up_and_comparing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that the owner shreds while the new stores still hold the turn are no damage."""
    async with eunoe.open(settings_in(tmp_path), tools=cheap_tools()) as memory:
        await tell(memory)
        catch_up, calls = _Replay.catch_up, 0

        async def late(self: _Replay, tell: Callable[[int], None] | None = None) -> int:
            nonlocal calls
            calls += 1
            count = await catch_up(self, tell)
            if calls in {2, 4}:  # the first of each user's comparison
                for user in USERS:
                    await memory.forget(f"t{calls + 3}", user_id=user)
            return count

        monkeypatch.setattr(_Replay, "catch_up", late)
        assert (await run(tmp_path)).different == ()
        assert calls > len(USERS) + 1


async def test_replayed_stores_take_the_place_of_the_live_ones(tmp_path: Path) -> None:
    """Moved into the folder, the new stores answer, and life goes on from there."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
        digests = [await memory.digest(user_id=user) for user in USERS]
    await run(tmp_path, compare=False)
    data = tmp_path / "data"
    shutil.rmtree(data / "episodes")
    for name in ("episodes", "identity.sqlite"):
        shutil.move(tmp_path / "replayed" / name, data / name)
    for leftover in data.glob("identity.sqlite-*"):
        leftover.unlink()
    async with open_memory(tmp_path) as memory:
        assert [await memory.digest(user_id=user) for user in USERS] == digests
        await tell(memory, first=100)
    assert (await run(tmp_path, "again")).different == ()


async def test_an_interrupted_replay_goes_on(tmp_path: Path) -> None:
    """Stopped after a batch and run again, it ends with the live state."""
    async with open_memory(tmp_path) as memory:
        await tell(memory, count=200)

    def stop(records: int) -> None:
        if records > 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await replay(settings_in(tmp_path), tmp_path / "replayed", tell=stop)
    assert (await run(tmp_path)).different == ()


@pytest.mark.parametrize("name", ["nick", "小张"])
async def test_persons_are_compared_and_not_their_aliases(tmp_path: Path, name: str) -> None:
    """Aliases, shared ones too, are part of their persons' states; one that is lost is seen."""
    async with open_memory(tmp_path) as memory:
        people = [await memory.register(phone="+8613800138000", device=one) for one in "ab"]
        await memory.bind(user_id=people[0], alias=name)
        await memory.add("I live in Porto. 我住在上海。", user_id=name)
        await memory.unbind(user_id=people[1], device="b")
    found = await run(tmp_path)
    assert (found.users, found.different) == (2, ())
    with closing(sqlite3.connect(tmp_path / "data" / "identity.sqlite")) as file, file:
        file.execute("UPDATE bindings SET bound = 0 WHERE person = ?", (people[1],))
    found = await run(tmp_path, "again")
    assert found.different == (("default", people[1]),)


async def test_a_live_store_that_differs_is_named(tmp_path: Path) -> None:
    """A row that went behind the product's back shows in that user's comparison only."""
    async with open_memory(tmp_path) as memory:
        await tell(memory)
    with closing(sqlite3.connect(tmp_path / "data" / "identity.sqlite")) as file, file:
        file.execute(
            "DELETE FROM statements WHERE owner ="
            " (SELECT number FROM owners WHERE owner = 'default/ana')"
        )
    assert (await run(tmp_path)).different == (("default", "ana"),)


async def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    """The store's own folder, a used one, and another store's replay aren't written into."""
    for place in (tmp_path, tmp_path / "other"):
        async with open_memory(place) as memory:
            await tell(memory)
    await run(tmp_path / "other", "../replayed", compare=False)
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "thesis.txt").write_text("mine", encoding="utf-8")
    for into in ("data", "used", "replayed"):
        with pytest.raises(Rejected, match="folder"):
            await run(tmp_path, into)
    assert [one.name for one in (tmp_path / "used").glob("*.txt")] == ["thesis.txt"]
    with pytest.raises(Rejected, match="holds no store"):
        await replay(settings_in(tmp_path / "nowhere"), tmp_path / "x", tell=lambda _: None)


def test_the_command_compares_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints how many users are equal; where one differs it says the way out."""

    async def fill() -> None:
        async with open_memory(tmp_path) as memory:
            await tell(memory)

    asyncio.run(fill())
    monkeypatch.setenv("EUNOE_CONFIG_HOME", str(tmp_path / "config"))
    words = ["--folder", str(tmp_path / "data"), "replay", "--into", str(tmp_path / "new")]
    commands.main(words, standalone_mode=False)
    assert "Every user's digest equals the live one." in capsys.readouterr().out
    with closing(sqlite3.connect(tmp_path / "data" / "identity.sqlite")) as file, file:
        file.execute("DELETE FROM statements")
    assert commands.main([*words, "--json"], standalone_mode=False) == DAMAGED
    printed = capsys.readouterr()
    assert '"different":[["default",' in printed.out
    assert "identity.sqlite and episodes" in printed.err
