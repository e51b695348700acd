"""The engine's files seen from outside: checksums and copies of files that are mostly holes."""

import errno
import os
import zlib
from pathlib import Path
from typing import Final

import pytest

from eunoe.infra.embedded.shard_files import data_of, read_seal, write_seal
from eunoe.infra.embedded.shard_slots import ShardCopy
from eunoe.schemas.errors import Damaged

BLOCK: Final = 1 << 18
PIECES: Final[dict[str, tuple[int, dict[int, bytes]]]] = {
    "empty": (0, {}),
    "small": (5, {0: b"small"}),
    "nothing but a hole": (3 * BLOCK + 17, {}),
    "data first": (4 * BLOCK, {0: b"first" * 1000}),
    "data last": (4 * BLOCK + 5, {4 * BLOCK: b"last!"}),
    "data amid a block": (6 * BLOCK, {2 * BLOCK + 70_000: b"amid" * 30_000}),
    "written zeroes": (3 * BLOCK, {BLOCK: bytes(BLOCK), 2 * BLOCK + 9: b"x"}),
    "two in one block": (2 * BLOCK, {4096: b"one", BLOCK - 4096: b"two" * 2000}),
}


def make(path: Path, name: str) -> Path:
    """Make a file of `PIECES`."""
    size, pieces = PIECES[name]
    with path.open("wb") as file:
        file.truncate(size)
        for at, piece in pieces.items():
            file.seek(at)
            file.write(piece)
    return path


def refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk not tell where holes are."""
    seek = os.lseek

    def lseek(descriptor: int, at: int, how: int) -> int:
        if how in {os.SEEK_DATA, os.SEEK_HOLE}:
            raise OSError(errno.EINVAL, "Invalid argument")
        return seek(descriptor, at, how)

    monkeypatch.setattr(os, "lseek", lseek)


def checked(path: Path) -> int:
    """Return a file's checksum, computed from all its bytes."""
    content = path.read_bytes()
    check = 0
    for at in range(0, len(content), BLOCK):
        block = content[at : at + BLOCK]
        if any(block):
            check = zlib.crc32(block, check ^ at)
    return check


@pytest.mark.parametrize("holes", ["told", "untold"])
@pytest.mark.parametrize("name", PIECES)
def test_a_checksum_is_that_of_all_bytes(
    name: str, holes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Holes are skipped where the disk tells of them, and the checksum is the same."""
    if holes == "untold":
        refuse(monkeypatch)
    (tmp_path / "shard").mkdir()
    path = make(tmp_path / "shard" / "file.dat", name)
    write_seal(tmp_path, tmp_path / "shard", None)
    assert read_seal(tmp_path, tmp_path / "shard") == {
        "file.dat": (path.stat().st_size, checked(path))
    }


def test_a_byte_in_a_hole_breaks_the_seal(tmp_path: Path) -> None:
    """What is written into a hole after the shard was closed is noticed."""
    (tmp_path / "shard").mkdir()
    path = make(tmp_path / "shard" / "file.dat", "data first")
    write_seal(tmp_path, tmp_path / "shard", None)
    with path.open("r+b") as file:
        file.seek(3 * BLOCK)
        file.write(b"x")
    with pytest.raises(Damaged):
        read_seal(tmp_path, tmp_path / "shard")


@pytest.mark.parametrize("holes", ["told", "untold"])
def test_a_copy_is_the_same_and_no_larger(
    holes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders and bytes are copied, and holes stay holes where the disk tells of them."""
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "inner" / "nothing in it").mkdir(parents=True)
    for name in PIECES:
        make(source / "inner" / name, name)
    target.mkdir()
    (target / "left over").touch()
    if holes == "untold":
        refuse(monkeypatch)
    copy = ShardCopy(source, target)
    steps = 1
    while not copy.step():
        steps += 1
    assert steps == (1 if holes == "told" else 2)
    paths = sorted(path.relative_to(source) for path in source.rglob("*"))
    assert sorted(path.relative_to(target) for path in target.rglob("*")) == paths
    for path in paths:
        one, other = source / path, target / path
        if one.is_file():
            assert other.read_bytes() == one.read_bytes()
            assert holes == "untold" or other.stat().st_blocks <= one.stat().st_blocks


def test_data_is_told_in_order(tmp_path: Path) -> None:
    """What holds data is told from the start to the end, without overlap, and covers it."""
    for name, (size, pieces) in PIECES.items():
        path = make(tmp_path / "file", name)
        with path.open("rb") as file:
            parts = list(data_of(file.fileno(), size))
        ends = [0, *(edge for part in parts for edge in part)]
        assert ends == sorted(ends)
        for at, piece in pieces.items():
            assert any(start <= at and at + len(piece) <= end for start, end in parts), name
