"""The stand-in for TiKV does what TiKV does, and what tests have it do wrong."""

import asyncio
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.servers.looking import ROOT, TEXTS, WAIT_S, holds
from tests.servers.minitikv import MiniTikv
from tests.servers.process import ServerFailed

tikv = pytest.importorskip(
    "tikv_client.asynchronous", reason="tikv_client has wheels for CPython 3.11 on Linux alone"
)
pytestmark = pytest.mark.server


async def put(address: str, **pairs: str | None) -> None:
    """Put or delete keys in one transaction."""
    client = await tikv.TransactionClient.connect([address])
    transaction = await client.begin(pessimistic=False)
    try:
        for key, value in pairs.items():
            if value is None:
                await transaction.delete(key.encode())
            else:
                await transaction.put(key.encode(), value.encode())
        await transaction.commit()
    except BaseException:
        await transaction.rollback()
        raise


async def get(address: str, key: str) -> str | None:
    """Read a key in a transaction of its own."""
    client = await tikv.TransactionClient.connect([address])
    transaction = await client.begin(pessimistic=False)
    try:
        value = await transaction.get(key.encode())
    finally:
        await transaction.rollback()
    return None if value is None else value.decode()


@TEXTS
async def test_a_store_takes_and_gives(tikv_address: str, text: str) -> None:
    """What a transaction put, the next one reads."""
    key = f"test-{uuid4()}"
    await put(tikv_address, **{key: text})
    assert await get(tikv_address, key) == text


async def test_a_store_keeps_its_pairs_when_killed(own_tikv: MiniTikv) -> None:
    """After SIGKILL it starts on its folder and port, and what was committed is there."""
    await put(own_tikv.address, kept="value")
    address = own_tikv.address
    own_tikv.kill()
    own_tikv.start()
    assert own_tikv.address == address
    assert await get(address, "kept") == "value"


@TEXTS
async def test_garbage_is_gone_from_the_files(own_tikv: MiniTikv, text: str) -> None:
    """What was overwritten or deleted lies in the files until `gc`, and not after it."""
    overwritten, deleted = text[:9], text[9:]
    await put(own_tikv.address, overwritten=overwritten, deleted=deleted, kept="kept")
    await put(own_tikv.address, overwritten="new", deleted=None)
    for _ in range(2):  # they lie in the log, and after a start in a table
        assert holds(own_tikv.data, overwritten)
        assert holds(own_tikv.data, deleted)
        own_tikv.kill()
        own_tikv.start()
    own_tikv.command("gc")
    assert not holds(own_tikv.data, overwritten)
    assert not holds(own_tikv.data, deleted)
    for _ in range(2):
        values = [await get(own_tikv.address, key) for key in ("overwritten", "deleted", "kept")]
        assert values == ["new", None, "kept"]
        own_tikv.kill()
        own_tikv.start()


async def test_garbage_waits_for_a_live_transaction(own_tikv: MiniTikv) -> None:
    """`gc` refuses while a transaction holds a lock, and obeys when it has ended."""
    await put(own_tikv.address, locked="value")
    client = await tikv.TransactionClient.connect([own_tikv.address])
    transaction = await client.begin(pessimistic=True)
    await transaction.get_for_update(b"locked")
    with pytest.raises(ServerFailed, match="holds 1 locks"):
        own_tikv.command("gc")
    await transaction.rollback()
    own_tikv.command("gc")
    assert await get(own_tikv.address, "locked") == "value"


async def test_a_collection_that_was_cut_short_loses_nothing(own_tikv: MiniTikv) -> None:
    """Killed between the two renames, it finds its data in the old folder."""
    await put(own_tikv.address, kept="value")
    own_tikv.kill()
    own_tikv.data.joinpath("txn").rename(own_tikv.data / "txn.old")
    own_tikv.data.joinpath("txn.new").mkdir()
    own_tikv.start()
    assert await get(own_tikv.address, "kept") == "value"
    assert {folder.name for folder in own_tikv.data.glob("txn*")} == {"txn"}


async def test_conflicts_can_be_ordered(own_tikv: MiniTikv) -> None:
    """While they last each commit is a write conflict; when they end it's a commit."""
    own_tikv.command("conflicts 60")
    for _ in range(2):
        with pytest.raises(Exception, match=r"conflict: Some\(WriteConflict \{"):
            await put(own_tikv.address, key="value")
    own_tikv.command("conflicts 0")
    await put(own_tikv.address, key="value")
    assert await get(own_tikv.address, "key") == "value"


async def test_a_pause_can_be_ordered(own_tikv: MiniTikv) -> None:
    """While it lasts nothing is answered; when it ends everything is."""
    await put(own_tikv.address, key="value")
    own_tikv.command("pause 60")
    asked = asyncio.ensure_future(get(own_tikv.address, "key"))
    done, _ = await asyncio.wait([asked], timeout=0.5)
    assert not done
    own_tikv.command("pause 0")
    assert await asyncio.wait_for(asked, WAIT_S) == "value"


async def test_a_store_has_regions(own_tikv: MiniTikv) -> None:
    """A transaction may span regions, and a client finds keys after a split."""
    own_tikv.command("split 6d")
    await put(own_tikv.address, a="1", z="2")
    own_tikv.command("split 70")
    assert [await get(own_tikv.address, key) for key in "az"] == ["1", "2"]


def test_a_store_refuses_what_it_does_not_know(own_tikv: MiniTikv) -> None:
    """A command with a slip of the pen is an error, and not taken for done."""
    with pytest.raises(ServerFailed, match="gc, split HEXKEY"):
        own_tikv.command("collect")


LOADS_TIKV = """
import asyncio, os
from tikv_client.asynchronous import TransactionClient

async def commit():
    client = await TransactionClient.connect([os.environ["EUNOE_TEST_TIKV"]])
    for number in range(20):
        transaction = await client.begin(pessimistic=False)
        await transaction.put(b"leaving-%d" % number, b"value")
        await transaction.commit()

def test_it():
    '''It commits.'''
    asyncio.run(commit())
    assert os.environ["OUTCOME"] == "passed"
"""


@pytest.mark.parametrize("outcome", ["passed", "failed"])
@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_process_that_loaded_tikv_ends_well(
    tmp_path: Path, tikv_address: str, workers: str, outcome: str
) -> None:
    """Its exit code is pytest's, and both reports are whole; one in seven crashed without this."""
    tested = tmp_path / "test_it.py"
    tested.write_text(LOADS_TIKV, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    report = tmp_path / "report.xml"
    environment = os.environ | {
        "EUNOE_TEST_TIKV": tikv_address,
        "OUTCOME": outcome,
        "PYTHONPATH": str(ROOT),
    }
    plugins = ["-p", "tests.servers.leaving", "-p", "no:cacheprovider", "-n", workers]
    for _ in range(3):
        done = subprocess.run(  # noqa: S603 - our own interpreter, on a file written above
            [sys.executable, "-m", "pytest", *plugins, f"--junitxml={report}", str(tested)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert done.returncode == (0 if outcome == "passed" else 1), said
        assert f"= 1 {outcome} in " in done.stdout, said
        assert "Fatal" not in said
        suite: Any = ET.parse(report).getroot().find("testsuite")  # noqa: S314 - pytest wrote it
        assert (suite.get("tests"), suite.get("failures")) == ("1", str(done.returncode))
        report.unlink()
