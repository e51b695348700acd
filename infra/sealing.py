"""Sealing, wrapping and keyed hashes; the only module that imports `cryptography`.

Everything is sealed with AES-256-GCM under 12 random bytes of nonce that stand before the
ciphertext (NIST SP 800-38D; a key may seal 2^32 values before random nonces become a risk, and
all keys but the wrapping ones seal only one). Keyed hashes are BLAKE2b (RFC 7693).
"""

import base64
import binascii
import os
import stat
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ..schemas.errors import Damaged, Unavailable
from ..schemas.limits import (
    KEY_FILE_BYTES_MAX,
)
from .durable import replace_file

__all__ = [
    "HASH_BYTES",
    "KEY_BYTES",
    "NONCE_BYTES",
    "OVERHEAD_BYTES",
    "WRAPPED_BYTES",
    "SealingKey",
    "keyed_hash",
    "load_master_key",
    "master_key_path",
    "new_key",
    "parse_master_key",
    "term_hash",
]

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
OVERHEAD_BYTES: Final = NONCE_BYTES + 16
"""How much longer a sealed value is than the plain one: nonce and tag."""
WRAPPED_BYTES: Final = KEY_BYTES + OVERHEAD_BYTES
HASH_BYTES: Final = 16

_TERM_BYTES: Final = 4
_HASHES: Final = b"eunoe hash"
_TERMS: Final = b"eunoe term"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def new_key() -> bytes:
    """Return 32 bytes from the system's random source."""
    return os.urandom(KEY_BYTES)


class SealingKey:
    """An AES-256 key, ready to seal and to open.

    Thousands of them are kept in memory. So each is no more than its bytes: a cipher takes 2.5 KB,
    and 3 microseconds to make.

    Args:
        key: 32 bytes.
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, plain: bytes, bound_to: bytes) -> bytes:
        """Seal a value.

        Args:
            plain: The value.
            bound_to: Associated data: what has to be named again to open it.

        Returns:
            Nonce, ciphertext and tag.
        """
        nonce = os.urandom(NONCE_BYTES)
        return nonce + AESGCM(self._key).encrypt(nonce, plain, bound_to)

    def open(self, sealed: bytes, bound_to: bytes) -> bytes:
        """Open a value.

        Args:
            sealed: What `seal` returned.
            bound_to: The same associated data.

        Returns:
            The plain value.

        Raises:
            Damaged: The value was sealed under another key or for something else, or changed.
        """
        return _opened(AESGCM(self._key), sealed, bound_to)

    def open_each(self, sealed: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
        """Open several values, with one cipher for all.

        Args:
            sealed: Pairs of what `seal` returned and the same associated data.

        Raises:
            Damaged: As `open`.
        """
        cipher = AESGCM(self._key)
        return (_opened(cipher, value, bound_to) for value, bound_to in sealed)


def _opened(cipher: AESGCM, sealed: bytes, bound_to: bytes) -> bytes:
    if len(sealed) < OVERHEAD_BYTES:
        message = "A sealed value is too short to be one."
        raise Damaged(message)
    try:
        return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound_to)
    except InvalidTag:
        message = "A sealed value doesn't fit its key or the record that it stands in."
        raise Damaged(message) from None


def keyed_hash(key: bytes, kind: str, text: str) -> bytes:
    """Hash a text so that nobody without the key can tell or guess it.

    Args:
        key: The owner's index key.
        kind: What the hash is used for; equal texts of two kinds hash differently.
        text: The text; a lone surrogate is hashed like any other character.

    Returns:
        16 bytes.
    """
    state = blake2b(digest_size=HASH_BYTES, key=key, person=_HASHES)
    label = kind.encode()
    # The length stands first so that no kind and text run together into another pair.
    state.update(len(label).to_bytes(4, "big") + label)
    state.update(text.encode(errors="surrogatepass"))
    return state.digest()


def term_hash(key: bytes, term: str) -> int:
    """Hash a search term.

    Args:
        key: The owner's index key.
        term: A normalised term or entity.

    Returns:
        A number from 0 to 2^32 - 1.
    """
    plain = term.encode(errors="surrogatepass")
    digest = blake2b(plain, digest_size=_TERM_BYTES, key=key, person=_TERMS)
    return int.from_bytes(digest.digest(), "big")


def master_key_path(config_home: Path, store: str) -> Path:
    """Return where a store's master key lies unless a setting says otherwise.

    Args:
        config_home: The user's configuration folder (`$XDG_CONFIG_HOME` or `~/.config`).
        store: The store's id.
    """
    return config_home / "eunoe" / "keys" / f"{store}.key"


def parse_master_key(text: str) -> bytes:
    """Read a master key that was given as text.

    Args:
        text: Base64 of 32 bytes; space around it is ignored.

    Returns:
        32 bytes.

    Raises:
        Unavailable: It isn't that.
    """
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        message = "The master key must be the base64 form of exactly 32 bytes."
        raise Unavailable(message)
    return key


def load_master_key(path: Path, *, create: bool) -> bytes:
    """Read the master key's file, or make it for a new store.

    The file holds one line of base64, as `parse_master_key` takes it, so that it can be kept
    in a password manager as well.

    Args:
        path: The file; it should lie outside the data folder.
        create: Whether the store is new, so that a missing file is made.

    Returns:
        32 bytes.

    Raises:
        Unavailable: The file is missing, readable by others, or doesn't hold a key.
    """
    try:
        return _read_master_key(path)
    except FileNotFoundError:
        if not create:
            message = (
                f"The master key file {path} is missing, and without it the store can't be "
                "read: put it back from your copy, or give the key as a setting."
            )
            raise Unavailable(message) from None
    except OSError as error:
        message = f"The master key file {path} can't be read: {error.strerror}."
        raise Unavailable(message) from error
    try:
        return _make_master_key(path)
    except OSError as error:
        message = f"The master key file {path} can't be made: {error.strerror}."
        raise Unavailable(message) from error


def _read_master_key(path: Path) -> bytes:
    with path.open("rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
            message = (
                f"The master key file {path} is open to other users: run chmod 600 on it, and "
                "think about who may have read it."
            )
            raise Unavailable(message)
        content = file.read(KEY_FILE_BYTES_MAX)
    try:
        return parse_master_key(content.decode("ascii", errors="replace"))
    except Unavailable:
        message = (
            f"The master key file {path} doesn't hold a key (one line, the base64 form of 32 "
            "bytes): put it back from your copy."
        )
        raise Unavailable(message) from None


def _make_master_key(path: Path) -> bytes:
    key = new_key()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Whole or not at all: half a key would be one that doesn't open the store, for ever.
    replace_file(path, base64.b64encode(key) + b"\n")
    return key
