"""Ids of persons and aliases: what is hashed, byte by byte, and what can't be used."""

import subprocess
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eunoe
from eunoe.schemas.errors import Rejected
from eunoe.schemas.persons import alias_of, is_alias, person_id, phone_of

WHEN = datetime(2024, 6, 15, 22, 0, 0, 123_456, timezone(timedelta(hours=8)))
PHONE = "+8613800138000"
DEVICE = "ua:5f1c screen:9b02 webgl:77aa"

devices = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cf", "Co", "Cn", "Zl", "Zp", "Zs"]),
    min_size=1,
    max_size=30,
)
phones = st.from_regex(r"\+[1-9][0-9]{6,14}", fullmatch=True)
moments = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the bounds of `datetimes` have no zone


def test_a_persons_id_is_a_constant() -> None:
    """It never changes between releases; coreutils come to the same."""
    text = f"{PHONE}\n{DEVICE}\n1718460000123"
    done = subprocess.run(
        ["sha256sum"],  # noqa: S607 - whichever there is
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    assert person_id(PHONE, DEVICE, WHEN) == done.stdout.decode()[:16] == "ebf99e799f8b8f1a"
    assert eunoe.person_id is person_id


def test_an_alias_is_a_constant() -> None:
    """It never changes between releases, and says of what kind it is."""
    phone = "ec61f3c620a98bdead8c1f1f0ae747abd1b62a0c2dba4fd4bc22cf0d1d8653e5"
    device = "3a8b386fbcd14513db2972efaf1aa7737ed5dabfdb8dcfd262e6915de7ced17f"
    assert alias_of("phone", PHONE) == f"phone:{phone}"
    assert alias_of("device", DEVICE) == f"device:{device}"
    assert sha256(PHONE.encode()).hexdigest() == phone
    assert eunoe.alias_of is alias_of


@pytest.mark.parametrize(
    "written",
    [
        "+86 138 0013 8000",
        "0086-138-0013-8000",
        " +86 (138) 0013.8000 ",
        "＋８６ １３８ ００１３ ８０００",
        "+86/138–0013–8000",
    ],
)
def test_a_phone_number_may_be_written_in_any_way(written: str) -> None:
    """What people write between digits doesn't make another person, nor do full-width digits."""
    assert phone_of(written) == PHONE
    assert person_id(written, DEVICE, WHEN) == person_id(PHONE, DEVICE, WHEN)
    assert alias_of("phone", written) == alias_of("phone", PHONE)


@pytest.mark.parametrize(
    "phone", ["", "138 0013 8000", "+", "+0123456789", "+12345", "+1234567890123456", "电话", None]
)
def test_a_number_without_a_country_code_is_refused(phone: object) -> None:
    """The sentence says how to write it, and doesn't repeat it."""
    sentence = r"country code, such as \+8613800138000\.$"
    with pytest.raises(Rejected, match=sentence):
        alias_of("phone", phone)  # type: ignore[arg-type]  # what callers give
    with pytest.raises(Rejected, match=sentence):
        person_id(phone, DEVICE, WHEN)  # type: ignore[arg-type]  # what callers give


@pytest.mark.parametrize("device", ["", "  ", "a\nb", "\udcff", "x" * 513, None, 7])
def test_what_is_no_fingerprint_is_refused(device: object) -> None:
    """A fingerprint is a visible text that the device sent; none is ever made here."""
    with pytest.raises(Rejected, match="the device's own front end made"):
        alias_of("device", device)  # type: ignore[arg-type]  # what callers give


@pytest.mark.parametrize("moment", [datetime(2024, 6, 15), "2024-06-15", None])  # noqa: DTZ001 - refused for that
def test_a_moment_without_an_offset_is_refused(moment: object) -> None:
    """Nobody knows which millisecond it would be."""
    with pytest.raises(Rejected, match="registered_at must be a time with an offset"):
        person_id(PHONE, DEVICE, moment)  # type: ignore[arg-type]  # what callers give


def test_another_kind_is_refused() -> None:
    """A mail address stands for nobody."""
    with pytest.raises(Rejected, match="kind"):
        alias_of("mail", "ana@example.org")  # type: ignore[arg-type]  # what callers give


@given(st.tuples(phones, devices, moments), st.tuples(phones, devices, moments))
def test_different_registrations_are_different_persons(
    one: tuple[str, str, datetime], other: tuple[str, str, datetime]
) -> None:
    """Ids are equal only where phone, device and millisecond are; a person is no alias."""
    parts = [(*registration[:2], _ms(registration[2])) for registration in (one, other)]
    assert (person_id(*one) == person_id(*other)) == (parts[0] == parts[1])
    assert not is_alias(person_id(*one))
    assert is_alias(alias_of("phone", one[0]))
    assert is_alias(alias_of("device", one[1]))


def _ms(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
