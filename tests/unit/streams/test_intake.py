"""What happens to a text before anything keeps it."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.streams.intake import chunk, language, replace_secrets

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)


@pytest.mark.parametrize(
    ("text", "kept", "kind"),
    [
        ("my key is sk-abcdEFGH1234567890abcd ok", "my key is [secret:api-key] ok", "api-key"),
        ("我的密钥：a1B2c3D4e5F6g7H8，别外传", "我的密钥：[secret:api-key]，别外传", "api-key"),
        ("AKIAIOSFODNN7EXAMPLE", "[secret:api-key]", "api-key"),
        (
            "my password is hunter2, keep it",
            "my password is [secret:password], keep it",
            "password",
        ),
        ("wifi 密码是abc12345，记一下", "wifi 密码是[secret:password]，记一下", "password"),
        ("PIN is 4471.", "PIN is [secret:password].", "password"),
        ("pay with 4111 1111 1111 1111", "pay with [secret:credit-card]", "credit-card"),
        ("卡号4111111111111111", "卡号[secret:credit-card]", "credit-card"),
        ("身份证11010519491231002X", "身份证[secret:id-number]", "id-number"),
        ("to DE89 3704 0044 0532 0130 00 please", "to [secret:iban] please", "iban"),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [secret:token]", "token"),
        (
            "postgres://ana:s3cret@db.example.org/x",
            "postgres://ana:[secret:password]@db.example.org/x",
            "password",
        ),
    ],
)
def test_a_secret_becomes_a_typed_placeholder(text: str, kept: str, kind: str) -> None:
    """The secret is gone, its kind is told, and all around it stays."""
    assert replace_secrets(text) == (kept, (kind,))


def test_a_private_key_goes_as_a_whole() -> None:
    """Nothing between BEGIN and END survives, nor after a BEGIN without an END."""
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"
    assert replace_secrets(f"a {key} b")[0] == "a [secret:private-key] b"
    assert replace_secrets(key.split("-----END", maxsplit=1)[0])[0] == "[secret:private-key]"


def test_a_web_token_goes() -> None:
    """A JSON web token is a secret."""
    example = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN"
    assert replace_secrets(f"token {example}")[0] == "token [secret:token]"


@pytest.mark.parametrize(
    "text",
    [
        "The password is wrong, I forgot it again.",
        "我把密码忘了，密码是多少来着",
        "My mobile is +44 7700 900123",
        "我手机号是13800000000",
        "write to lena.fors@example.com",
        "Email:lena@example.com",
        "2024-01-02 10:30, 1,299.00 EUR",
        "550e8400-e29b-41d4-a716-446655440000",
        "order number 4111111111111111",
        "订单号6222021234567890123",
        "4111 1111 1111 1112",
        "110105194912310021",
        "DE89 3704 0044 0532 0130 01",
        "the token of my love is here",
        "see https://example.org/a:b@c",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    """Numbers with a wrong checksum, contacts, dates, prices and talk about passwords stay."""
    assert replace_secrets(text) == (text, ())


@given(TEXTS)
def test_replacing_twice_is_replacing_once(text: str) -> None:
    """A placeholder holds no secret."""
    once, _ = replace_secrets(text)
    assert replace_secrets(once) == (once, ())


@given(
    st.lists(
        st.sampled_from(
            [
                "password is ",
                "密码是",
                "token: ",
                "sk-",
                "Bearer ",
                "a1B2c3D4e5F6g7H8",
                "4111111111111111",
                " ",
                "[secret:",
                "]",
                "://u:",
                "@h",
            ]
        ),
        max_size=8,
    )
)
def test_pieces_of_secrets_settle_as_well(parts: list[str]) -> None:
    """Whatever stands beside a secret, replacing again changes nothing."""
    once, _ = replace_secrets("".join(parts))
    assert replace_secrets(once)[0] == once


@given(TEXTS, st.integers(1, 60), st.integers(0, 60))
def test_chunks_cover_every_character(text: str, tokens_max: int, overlap: int) -> None:
    """Chunks begin at the beginning, end at the end, move on, and leave no gap."""
    chunks = chunk(text, tokens_max, overlap)
    assert chunks[0][0] == 0
    assert chunks[-1][1] == len(text)
    for (start, end), (next_start, next_end) in pairwise(chunks):
        assert start < next_start <= end <= next_end


@pytest.mark.parametrize("text", ["One two three.", "我昨天去了上海。", ""])
def test_a_short_text_is_one_chunk(text: str) -> None:
    """Nothing is cut below the limit."""
    assert chunk(text, 10, 3) == [(0, len(text))]


@pytest.mark.parametrize(
    "text",
    [
        "One two three. Four five six. Seven eight nine.",
        "我昨天去上海。你明天去北京。他后天去广州。",
    ],
)
def test_chunks_end_with_sentences(text: str) -> None:
    """A border between sentences is preferred to one between words."""
    ends = [end for _, end in chunk(text, 7 if text.isascii() else 15, 2)]
    assert len(ends) > 1
    assert all(text[:end].rstrip()[-1] in ".。" for end in ends)


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "我" * 1_000_000, "ab " * 333_333, "eyJ" * 333_333]
)
def test_a_megabyte_ends_in_time(text: str) -> None:
    """Neither chunks nor secrets take longer than the length of a text warrants."""
    begun = time.perf_counter()
    assert chunk(text, 400, 50)[-1][1] == len(text)
    replace_secrets(text)
    assert time.perf_counter() - begun < 20


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Lisbon", "en"),
        ("我住在里斯本", "zh"),
        ("我昨天和Michael去了上海", "zh"),
        ("She said 你好 and went on talking", "en"),
        ("12345 🎉", "und"),
        ("", "und"),
    ],
)
def test_the_language_is_that_of_most_words(text: str, expected: str) -> None:
    """A name of another script changes nothing."""
    assert language(text) == expected
