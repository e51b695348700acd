"""Who a person is: ids made from a registration, and aliases that stand for a person. Pure.

Any producer, in any language, can make the same ids: what is hashed is said byte by byte.
"""

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, Literal

from .errors import Rejected
from .limits import DEVICE_CHARACTERS_MAX

__all__ = ["AliasKind", "alias_of", "device_of", "is_alias", "person_id", "phone_of"]

AliasKind = Literal["phone", "device"]

PERSON_CHARACTERS: Final = 16
EPOCH_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)
PUNCTUATION: Final = re.compile(r"[\s().\-/‐-―]")
"""What people write between the digits of a phone number."""
E164: Final = re.compile(r"\+[1-9][0-9]{6,14}")
ALIAS: Final = re.compile(r"(?:phone|device):[0-9a-f]{64}")


def person_id(phone: str, device: str, registered_at: datetime) -> str:
    """Return the id of the person who registered with a phone, on a device, at a moment.

    It is the first 16 hexadecimal digits of the SHA-256 of these bytes: the phone number in E.164
    form ("+" and digits), a line feed, the fingerprint in UTF-8, a line feed, and the whole
    milliseconds from 1970-01-01T00:00:00Z to the moment in decimal digits.

    Args:
        phone: A number with its country code; spaces, hyphens, points, slashes and brackets don't
            count, and a leading 00 is "+".
        device: The fingerprint that the device's own front end made.
        registered_at: Aware.

    Raises:
        Rejected: One of them can't be used.
    """
    text = f"{phone_of(phone)}\n{device_of(device)}\n{_milliseconds(registered_at)}"
    return sha256(text.encode()).hexdigest()[:PERSON_CHARACTERS]


def alias_of(kind: AliasKind, value: str) -> str:
    """Return the user id that stands for whoever has a phone number or a device.

    It is the kind, a colon, and the 64 hexadecimal digits of the SHA-256 of the value in UTF-8: a
    phone number in E.164 form, a fingerprint without the space around it.

    Args:
        kind: "phone" or "device".
        value: As in `person_id`.

    Raises:
        Rejected: The kind is another, or the value can't be used.
    """
    if kind not in {"phone", "device"}:
        message = 'The kind of an alias must be "phone" or "device".'
        raise Rejected(message)
    plain = phone_of(value) if kind == "phone" else device_of(value)
    return f"{kind}:{sha256(plain.encode()).hexdigest()}"


def is_alias(user_id: str) -> bool:
    """Tell whether a user id has the form that `alias_of` gives, and so is never a person's."""
    return ALIAS.fullmatch(user_id) is not None


def phone_of(value: object) -> str:
    """Return a phone number in E.164 form.

    Raises:
        Rejected: It is none, or has no country code.
    """
    plain = unicodedata.normalize("NFKC", value) if isinstance(value, str) else ""
    plain = PUNCTUATION.sub("", plain)
    if plain.startswith("00"):
        plain = f"+{plain[2:]}"
    if E164.fullmatch(plain) is None:
        message = "phone must be a number with its country code, such as +8613800138000."
        raise Rejected(message)
    return plain


def device_of(value: object) -> str:
    """Return a fingerprint without the space around it.

    Raises:
        Rejected: It can't be one.
    """
    plain = value.strip() if isinstance(value, str) else ""
    # A lone surrogate isn't printable either, so what is left can be written as UTF-8.
    if not plain or len(plain) > DEVICE_CHARACTERS_MAX or not plain.isprintable():
        message = (
            "device must be the fingerprint that the device's own front end made: a text of 1 to "
            f"{DEVICE_CHARACTERS_MAX} visible characters."
        )
        raise Rejected(message)
    return plain


def _milliseconds(value: object) -> int:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        message = "registered_at must be a time with an offset, such as 2024-06-15T22:00:00+08:00."
        raise Rejected(message)
    return (value - EPOCH_START) // MILLISECOND
