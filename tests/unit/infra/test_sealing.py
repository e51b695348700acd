"""Sealing, keyed hashes and the master key's file."""

import base64
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.infra.sealing import (
    HASH_BYTES,
    KEY_BYTES,
    NONCE_BYTES,
    OVERHEAD_BYTES,
    WRAPPED_BYTES,
    SealingKey,
    keyed_hash,
    load_master_key,
    master_key_path,
    new_key,
    parse_master_key,
    term_hash,
)
from eunoe.schemas.errors import Damaged, Unavailable

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
texts = st.text(max_size=40)


@given(plain=st.binary(max_size=200), bound_to=st.binary(max_size=40))
def test_what_was_sealed_opens(plain: bytes, bound_to: bytes) -> None:
    """Opening is the inverse of sealing, and the overhead is constant."""
    sealed = SealingKey(KEY).seal(plain, bound_to)
    assert len(sealed) == len(plain) + OVERHEAD_BYTES
    assert SealingKey(KEY).open(sealed, bound_to) == plain


@given(plain=st.binary(max_size=50), place=st.integers(min_value=0), flip=st.integers(1, 255))
def test_a_changed_byte_is_noticed(plain: bytes, place: int, flip: int) -> None:
    """No byte of nonce, ciphertext or tag can be changed."""
    sealed = bytearray(SealingKey(KEY).seal(plain, b"record"))
    sealed[place % len(sealed)] ^= flip
    with pytest.raises(Damaged):
        SealingKey(KEY).open(bytes(sealed), b"record")


def test_another_key_or_record_opens_nothing() -> None:
    """A value opens under its own key and for its own record only."""
    sealed = SealingKey(KEY).seal(b"plain", b"record")
    with pytest.raises(Damaged):
        SealingKey(OTHER).open(sealed, b"record")
    with pytest.raises(Damaged):
        SealingKey(KEY).open(sealed, b"another record")


@pytest.mark.parametrize("length", [0, NONCE_BYTES, OVERHEAD_BYTES - 1])
def test_a_short_value_is_damaged(length: int) -> None:
    """What is too short for nonce and tag is named, and not handed to the cipher."""
    with pytest.raises(Damaged):
        SealingKey(KEY).open(bytes(length), b"record")


def test_nonces_and_keys_are_fresh() -> None:
    """Sealing twice gives two nonces, and no key comes twice."""
    key = SealingKey(KEY)
    assert len({key.seal(b"plain", b"")[:NONCE_BYTES] for _ in range(1_000)}) == 1_000
    assert len({new_key() for _ in range(1_000)}) == 1_000
    assert len(key.seal(new_key(), b"")) == WRAPPED_BYTES


@given(kind=texts, text=texts, other_kind=texts, other_text=texts)
def test_hashes_are_separate_for_each_kind(
    kind: str, text: str, other_kind: str, other_text: str
) -> None:
    """Two hashes are equal only for the same kind, text and key."""
    digest = keyed_hash(KEY, kind, text)
    assert len(digest) == HASH_BYTES
    assert digest == keyed_hash(KEY, kind, text)
    assert digest != keyed_hash(OTHER, kind, text)
    same = (kind, text) == (other_kind, other_text)
    assert (digest == keyed_hash(KEY, other_kind, other_text)) is same


def test_kind_and_text_dont_run_together() -> None:
    """Moving a character from the kind to the text gives another hash."""
    assert keyed_hash(KEY, "ab", "c") != keyed_hash(KEY, "a", "bc")
    assert keyed_hash(KEY, "", "abc") != keyed_hash(KEY, "abc", "")


@given(text=st.text(st.characters(codec=None, exclude_categories=()), max_size=20))
def test_any_text_can_be_hashed(text: str) -> None:
    """A lone surrogate, which has no UTF-8, is no reason to fail."""
    assert len(keyed_hash(KEY, "kind", text)) == HASH_BYTES
    assert 0 <= term_hash(KEY, text) < 2**32


def test_terms_use_the_whole_range_and_the_key() -> None:
    """Term hashes spread over 32 bits and differ between owners."""
    found = [term_hash(KEY, f"term {number}") for number in range(1_000)]
    assert len(set(found)) == 1_000
    assert max(found) > 2**31 > min(found)
    assert found != [term_hash(OTHER, f"term {number}") for number in range(1_000)]


# --- the master key ----------------------------------------------------------------------------


def test_a_master_key_is_base64_of_32_bytes() -> None:
    """The text form is read with space around it."""
    text = base64.b64encode(KEY).decode()
    assert parse_master_key(f"  {text}\n") == KEY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        base64.b64encode(KEY[:-1]).decode(),
        base64.b64encode(KEY + b"x").decode(),
        base64.b64encode(KEY).decode()[:-1],
        "钥匙",
    ],
)
def test_another_text_is_no_master_key(text: str) -> None:
    """A wrong length or form is refused, and the sentence doesn't repeat the text."""
    with pytest.raises(Unavailable, match="32 bytes") as caught:
        parse_master_key(text)
    assert not text or text not in str(caught.value)


def test_a_new_store_gets_a_private_key_file(tmp_path: Path) -> None:
    """The file has mode 0600 in a folder of mode 0700, and holds the same key from then on."""
    path = master_key_path(tmp_path, "store")
    assert path == tmp_path / "eunoe" / "keys" / "store.key"
    key = load_master_key(path, create=True)
    assert len(key) == KEY_BYTES
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load_master_key(path, create=True) == key
    assert load_master_key(path, create=False) == key
    assert parse_master_key(path.read_text(encoding="ascii")) == key


def test_a_key_that_was_not_written_to_its_end_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends while it writes the key leaves no half of one in its place."""

    def end(_: int) -> None:
        raise KeyboardInterrupt

    path = master_key_path(tmp_path, "store")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", end)
        with pytest.raises(KeyboardInterrupt):
            load_master_key(path, create=True)
    assert not path.exists()
    key = load_master_key(path, create=True)
    assert load_master_key(path, create=False) == key
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_missing_file_is_never_replaced(tmp_path: Path) -> None:
    """Where the store exists, a new key would hide that the old one is lost."""
    path = tmp_path / "keys" / "store.key"
    with pytest.raises(Unavailable, match="missing"):
        load_master_key(path, create=False)
    assert not path.parent.exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o644])
@pytest.mark.parametrize("create", [False, True])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int, *, create: bool) -> None:
    """A key that lies open is told to its owner, with what to do."""
    path = tmp_path / "store.key"
    load_master_key(path, create=True)
    path.chmod(mode)
    with pytest.raises(Unavailable, match="chmod 600"):
        load_master_key(path, create=create)


@pytest.mark.parametrize("content", [b"", b"short", bytes(32), base64.b64encode(KEY) * 2])
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    """Neither an empty nor a cut nor another file counts as a key, and it isn't overwritten."""
    path = tmp_path / "store.key"
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(Unavailable, match="doesn't hold a key"):
        load_master_key(path, create=True)
    assert path.read_bytes() == content


def test_a_place_that_cant_be_used_is_unavailable(tmp_path: Path) -> None:
    """A folder in the file's place, or a file in the folder's, is told in a sentence."""
    with pytest.raises(Unavailable, match="can't be read"):
        load_master_key(tmp_path, create=False)
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="can't be"):
        load_master_key(tmp_path / "file" / "store.key", create=True)


def test_a_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk at the first start doesn't leave half a key behind."""

    def fail(_descriptor: int) -> None:
        message = "No space left on device"
        raise OSError(28, message)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(Unavailable, match="No space left"):
        load_master_key(tmp_path / "store.key", create=True)
    assert list(tmp_path.iterdir()) == []
