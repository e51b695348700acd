"""The door: how it opens and closes, and what neither side can do to the other."""

import asyncio
import os
import socket
import stat
import tempfile
from pathlib import Path

import pytest

from eunoe import door, door_remote, door_wire
from eunoe.schemas import errors
from tests.unit.eunoe.fake_memory import RESULTS, FakeMemory, arguments_of, served


async def test_a_client_that_dies_harms_nothing(fake: FakeMemory, folder: Path) -> None:
    """Hanging up in the middle of a request or an answer leaves the owner at work."""
    async with served(fake, folder) as remote:
        whole = door_wire.pack_arguments("digest", {"user_id": "ana"})
        framed = len(whole).to_bytes(4, "big") + whole
        for length in (1, 4, 10, len(framed)):
            _, writer = await asyncio.open_unix_connection(folder / "door.sock")
            writer.write(framed[:length])
            await writer.drain()
            writer.transport.abort()
        assert await remote.digest(user_id="ana") == "abc"


@pytest.mark.parametrize(("call", "ends"), [("add", True), ("settled", False)])
async def test_a_change_outlives_its_client(
    call: str, *, ends: bool, fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a client dies, a change that had begun is finished; a call that only reads ends."""
    monkeypatch.setattr(door, "BUSY_EVERY_S", 0.01)
    begun, gate, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def wait(name: str, _: object) -> object:
        begun.set()
        try:
            await gate.wait()
            return RESULTS[name]
        finally:
            ended.set()

    fake.behaviour = wait
    async with served(fake, folder) as remote:
        request = asyncio.create_task(getattr(remote, call)(**arguments_of(call)))
        await begun.wait()
        request.cancel()
        await asyncio.sleep(0.1)
        assert ended.is_set() is not ends
        gate.set()
        await ended.wait()
    assert (fake.finished == [call]) is ends


async def test_nobody_is_there(folder: Path, tmp_path: Path) -> None:
    """No folder, no socket, a stale socket and a plain file are all just nobody."""
    assert await door.connect(tmp_path / "missing") is None
    assert await door.connect(folder) is None
    (folder / "door.sock").write_text("not a socket")
    assert await door.connect(folder) is None
    (folder / "door.sock").unlink()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(folder / "door.sock"))
    assert await door.connect(folder) is None


async def test_the_owner_replaces_a_stale_socket_and_cleans_up(
    fake: FakeMemory, folder: Path
) -> None:
    """A socket that a killed owner left is no obstacle; a closed door leaves none."""
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(folder / "door.sock"))
    async with served(fake, folder) as remote:
        assert await remote.digest(user_id="ana") == "abc"
    assert os.listdir(folder) == []  # noqa: PTH208 - a short look


async def test_only_this_user_may_knock(fake: FakeMemory, folder: Path) -> None:
    """The socket has mode 0600."""
    async with served(fake, folder):
        found = (folder / "door.sock").lstat()
        assert stat.S_ISSOCK(found.st_mode)
        assert stat.S_IMODE(found.st_mode) == 0o600


async def test_a_long_path_has_its_door_elsewhere(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the folder's path is too long, a private directory holds the socket, and goes."""
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    far = folder / ("f" * 90) / "资料"
    far.mkdir(parents=True)
    async with await door.serve(fake, far) as opened:
        assert opened.place.parent.parent == folder
        assert stat.S_IMODE(opened.place.parent.stat().st_mode) == 0o700
        remote = await door.connect(far)
        assert remote is not None
        async with remote:
            assert await remote.digest(user_id="ana") == "abc"
    assert not opened.place.parent.exists()


async def test_a_directory_open_to_others_is_not_trusted(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hidden directory that others may write is used by neither owner nor client."""
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    far = folder / ("f" * 110)
    far.mkdir()
    (hidden,) = (place.path for place in door_wire.places(far))
    hidden.parent.mkdir(mode=0o777)
    hidden.parent.chmod(0o777)
    with pytest.raises(errors.Unavailable, match="No socket"):
        await door.serve(fake, far)
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(hidden))
        trap.listen()
        assert await door.connect(far) is None


async def test_a_silent_owner_is_unavailable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner that accepts but never answers is given up after the bounded wait."""
    monkeypatch.setattr(door_remote, "PING_S_MAX", 0.2)
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(folder / "door.sock"))
        mute.listen()
        with pytest.raises(errors.Unavailable, match="no sign of life"):
            await asyncio.wait_for(door.connect(folder), 5)


async def test_another_version_is_unavailable(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner that speaks another protocol is not talked to."""
    async with await door.serve(fake, folder):
        monkeypatch.setattr(door_remote, "PROTOCOL", 99)
        with pytest.raises(errors.Unavailable, match="version"):
            await door.connect(folder)


async def test_long_work_shows_signs_of_life(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call may last longer than the bound of silence, since the owner says it is busy."""
    monkeypatch.setattr(door, "BUSY_EVERY_S", 0.05)
    monkeypatch.setattr(door_remote, "SILENCE_S_MAX", 1.0)

    async def wait(call: str, _: object) -> object:
        await asyncio.sleep(1.5)
        return RESULTS[call]

    fake.behaviour = wait
    async with served(fake, folder) as remote:
        assert await remote.digest(user_id="ana") == "abc"


async def test_connections_are_bounded(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One connection too many is refused with a sentence, and the first ones go on."""
    monkeypatch.setattr(door, "CONNECTIONS_MAX", 2)
    async with served(fake, folder) as first:
        second = await door.connect(folder)
        assert second is not None
        with pytest.raises(errors.Unavailable, match="connections"):
            await door.connect(folder)
        assert await second.digest(user_id="ana") == "abc"
        await second.close()
        await asyncio.sleep(0.05)
        third = await door.connect(folder)
        assert third is not None
        await third.close()
        assert await first.digest(user_id="ana") == "abc"


async def test_closing_finishes_changes_and_hangs_up(fake: FakeMemory, folder: Path) -> None:
    """Closing answers a change under way, ends a waiting call, and doesn't hang."""
    gate = asyncio.Event()

    async def wait(call: str, _: object) -> object:
        await (gate.wait() if call == "add" else asyncio.sleep(3600))
        return RESULTS[call]

    fake.behaviour = wait
    opened = await door.serve(fake, folder)
    remote, idle = await door.connect(folder), await door.connect(folder)
    assert remote is not None
    assert idle is not None
    change = asyncio.create_task(remote.add("x", user_id="ana"))
    waiting = asyncio.create_task(remote.settled())
    while len(fake.calls) < 2:  # noqa: ASYNC110 - the fake has no event to wait for
        await asyncio.sleep(0.01)
    closing = asyncio.create_task(opened.close())
    with pytest.raises(door.OwnerGone):
        await waiting
    gate.set()
    await asyncio.wait_for(closing, 3)
    assert await change == RESULTS["add"]
    for former in (remote, idle):
        with pytest.raises(door.OwnerGone):
            await former.digest(user_id="ana")
    await opened.close()


async def test_closing_gives_up_a_change_that_never_ends(
    fake: FakeMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that doesn't end within the grace is cancelled, and its client told so."""
    monkeypatch.setattr(door, "CLOSE_S_MAX", 0.1)

    async def wait(*_: object) -> None:
        await asyncio.sleep(3600)

    fake.behaviour = wait
    opened = await door.serve(fake, folder)
    remote = await door.connect(folder)
    assert remote is not None
    change = asyncio.create_task(remote.add("x", user_id="ana"))
    while not fake.calls:  # noqa: ASYNC110 - likewise
        await asyncio.sleep(0.01)
    await asyncio.wait_for(opened.close(), 3)
    with pytest.raises(door.OwnerGone):
        await change


async def test_a_later_owner_keeps_its_door(fake: FakeMemory, folder: Path) -> None:
    """Closing removes only the socket that was made here, not a later owner's."""
    first = await door.serve(fake, folder)
    async with await door.serve(fake, folder):
        os.utime(folder)
        await first.close()
        remote = await door.connect(folder)
        assert remote is not None
        await remote.close()
