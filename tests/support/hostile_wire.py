"""Hostile records on the wire and hostile lines of an import, at least a hundred of each."""

import json
import uuid
from collections.abc import Callable
from itertools import product
from typing import Any, Final

import orjson

from eunoe.schemas.events import PAYLOADS
from eunoe.schemas.limits import (
    ID_CHARACTERS_MAX,
    METADATA_BYTES_MAX,
    METADATA_DEPTH_MAX,
    TEXT_CHARACTERS_MAX,
)
from eunoe.schemas.topics import COMMANDS, TURNS
from tests.support.hostile import EVE, Case, Line, Published, headers
from tests.support.hostile_fields import BOTH, ROLES, SAID, SAID_IN_CHINESE, STRANGE_IDS

__all__ = ["WIRE_CLASSES"]

SET_TIMEZONE: Final = b"eunoe.set-timezone.v1"
FORGET: Final = b"eunoe.forget.v1"
FIELDS: Final = ("role", "content", "name", "session_id", "agent_id", "metadata")
LINE_KEYS: Final = (
    "role", "content", "name", "id", "session_id", "agent_id", "source", "user_id", "time",
)  # fmt: skip
JSON_VALUES: Final = (
    b"0", b"-1", b"1.5", b"1e999", b"true", b"false", b"[]", b'["a"]', b"{}", b'{"a":1}', b'""',
    b"NaN", b"Infinity", b"-Infinity", b'"\\ud800"', b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\x80"',
    b"99999999999999999999999", b"'a'", b"undefined", b"[1,]", b'"\x00"', b'"\x1f"', b"01", b"+1",
)  # fmt: skip
BAD_BYTES: Final[tuple[bytes, ...]] = (
    b"\xff", b"\xfe\xff", b"\xc0\xaf", b"\xe2\x82", b"\xed\xa0\x80", b"\xed\xbf\xbf",
    b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80", b"\x80", b"\xbf\xbf", b"\xe4\xbd", "你好".encode("gbk"),
    "你好".encode("utf-16"),
    "你好".encode("big5"), "ñandú".encode("latin-1"), "日".encode("shift-jis"), b"\xf0\x9f\x98",
    b"\xc3\x28",
)  # fmt: skip

NO_JSON: Final = (
    b"", b" ", b"null", b"[]", b"{", b"}", b'"a"', b"1", b"{}{}", b"{},", b"\xef\xbb\xbf{}",
    b"<xml/>", b"\0",
)  # fmt: skip
ODD_TYPES: Final = (
    "", " ", "*", "null", "turn", "eunoe", "eunoe.turn.removed.v1", "eunoe.journal.v1", "0",
    "x" * 100_000, "事件", "加入对话", "eunoe.对话.v1", "TURN_ADDED", "EventType.TURN_ADDED",
    "eunoe.ping.v1", f"eunoe.turn.added.v{2**70}",
)  # fmt: skip
ODD_VERSIONS: Final[tuple[bytes | None, ...]] = (
    b"", b"0.3", b"1", b"1.0.1", b"1.1", b"2.0", b"v1.0", b" 1.0", b"1.0 ", b"1,0", b"\xff",
    b"1.0\0", "１.0".encode(), b"01.0", b"1.0\n", b"1.0.0", b"1.", b".0", b"one", None,
)  # fmt: skip


def _turn(**fields: object) -> bytes:
    return orjson.dumps({"role": "user", "content": SAID} | fields)


def _published(number: int, *, expect: bool, value: bytes | None = None, **replaced: Any) -> Case:
    """A record of a user of its own; attributes may be replaced."""
    user, name = f"u{number}", f"p{number}"
    topic = replaced.pop("topic", TURNS.name)
    kept: str | None = replaced.pop("text", SAID)
    body = replaced.pop("body", _turn() if value is None else value)
    if expect and "ce_id" in replaced:
        name = replaced["ce_id"].decode()
    turn = None if kept is None else (name, kept)
    source = replaced["ce_source"].decode() if expect and "ce_source" in replaced else "wire"
    found = headers(user, name, **replaced)
    unsaid = (SAID, SAID_IN_CHINESE)
    return Published(user, expect, found, body, turn, topic, source, unsaid)


def _types() -> list[Case]:
    """Versions and types that this version doesn't know, one that it knows, and no type."""
    odd: list[bytes | None] = [one.encode() for one in ODD_TYPES]
    odd += [one.encode() for kind in PAYLOADS for one in _misspelt(kind.value)]
    cases = [
        _published(number, expect=False, ce_type=one) for number, one in enumerate([*odd, None])
    ]
    cases += [
        _published(number, expect=False, ce_specversion=one)
        for number, one in enumerate(ODD_VERSIONS, len(cases))
    ]
    return [*cases, _published(len(cases), expect=True)]


def _misspelt(kind: str) -> tuple[str, ...]:
    return (
        kind[:-1], kind[:-3], kind.upper(), f" {kind}", f"{kind} ", f"{kind}\0", f"{kind}.v1",
        kind.replace(".", "/"), kind.replace("eunoe", "io.eunoe"), kind.replace("eunoe", "eunoё"),
        f"com.{kind}", f"{kind}\n", f"{kind};{kind}", f"*{kind}",
        *(kind.replace("v1", other) for other in ("v2", "v0", "v01", "v1.1", "V1", "v一", "v-1")),
    )  # fmt: skip


def _headers() -> list[Case]:
    cases: list[Case] = []
    names = ("ce_id", "ce_source", "ce_userid", "ce_tenantid")
    long = ("x" * (ID_CHARACTERS_MAX + 1)).encode()
    bad: tuple[bytes | None, ...] = (
        None,
        b"",
        long,
        b"x" * 1_000_000,
        ("字" * 513).encode(),
        *BAD_BYTES[:9],
    )
    for name, one in product(names, bad):
        cases.append(_published(len(cases), expect=False, **{name: one}))
    times = (
        None, b"", b"now", b"1717200000", b"-1", b"1e30", b"2024-05-01", b"2024-05-01T10:00:00",
        b"\xff", b"2024-13-01T00:00:00Z", b"10000-01-01T00:00:00Z", b"0000-01-01T00:00:00Z",
        b"2024-05-01T10:00:00Z\0",
        b"2024-05-01T10:00:00+08:00:30", b"2024-05-01T10:00:00+99:00", "昨天".encode(),
        b"9" * 100_000,
        "二〇二四年".encode(), b"2024-05-01T10:00:00Z 2024",
    )  # fmt: skip
    cases += [_published(n, expect=False, ce_time=one) for n, one in enumerate(times, len(cases))]
    good = (b"0001-01-01T00:00:00+14:00", b"9999-12-31T23:59:59-12:00", b"1970-01-01T00:00:00Z")
    cases += [_published(n, expect=True, ce_time=one) for n, one in enumerate(good, len(cases))]
    for name in ("ce_id", "ce_source"):
        for text in STRANGE_IDS[:20]:
            cases.append(_published(len(cases), expect=True, **{name: text.encode()}))
    for extra in ("ce_subject", "ce_dataschema", "ce_事件", "x", "", "traceparent"):
        cases.append(_published(len(cases), expect=True, **{extra: b"\xff\0"}))
    return cases


def _fields() -> list[Case]:
    """Every field with every JSON value that it can't have."""
    cases: list[Case] = []
    for name, value in product(FIELDS, JSON_VALUES):
        if name == "metadata" and value in {b"{}", b'{"a":1}'}:
            continue
        other = b"" if name == "content" else b',"content":"' + SAID.encode() + b'"'
        role = b"" if name == "role" else b'"role":"user",'
        body = b"{" + role + b'"' + name.encode() + b'":' + value + other + b"}"
        cases.append(_published(len(cases), expect=False, value=body))
    return cases


def _json() -> list[Case]:
    """Depth, duplicate keys, numbers, unknown keys, and what is no JSON at all."""
    said = f'"role":"user","content":"{SAID}"'.encode()
    shallow = [_nested(b'{"a":', b"}", depth) for depth in range(1, METADATA_DEPTH_MAX + 1)]
    good = [b"{" + said + b',"metadata":' + one + b"}" for one in shallow]
    twice = (b'"role":5', b'"content":"x"', b'"metadata":5', b'"metadata":{"a":1,"a":2}')
    good += [b"{" + one + b"," + said + b',"metadata":{}}' for one in twice]
    bad: list[bytes | None] = [None, _turn(metadata={"a": "x" * METADATA_BYTES_MAX}), *NO_JSON]
    for depth in (17, 18, 127, 128, 200, 253, 254, 255, 256, 900, 1_100, 100_000):
        for left, right in ((b"[", b"]"), (b'{"a":', b"}")):
            deep = _nested(left, right, depth)
            bad += [deep, b"{" + said + b',"x":' + deep + b"}"]
            bad.append(b"{" + said + b',"metadata":{"a":' + deep + b"}}")
    bad += [_turn(**{key: 1}) for key in ("x", "Content", "内容", *BOTH, "\0", "id", "user_id")]
    bad += [b'{"role":"user","content":"' + one + b'"}' for one in BAD_BYTES]
    cases = [_published(number, expect=True, value=one) for number, one in enumerate(good)]
    return cases + [_published(n, expect=False, body=one) for n, one in enumerate(bad, len(cases))]


def _nested(left: bytes, right: bytes, depth: int) -> bytes:
    return left * depth + b"1" + right * depth


def _commands() -> list[Case]:
    """Commands that ask for nothing possible, and commands in the wrong topic."""
    zones: tuple[object, ...] = (
        "", " ", "Mars/Olympus", "Asia", "America/Argentina", "../../etc/passwd", "/etc/localtime",
        "a\0b",
        "x" * ID_CHARACTERS_MAX, "字" * ID_CHARACTERS_MAX, "x" * 513, "北京", "亚洲/上海",
        "asia/上海", "GMT+25", "+08:00", "UTC+8", "CST6CDT7", ".", "..", "./Asia/Shanghai",
        "Asia//Shanghai", "Asia\\Shanghai", "zone.tab",
        "Asia/Shanghai\0", "Asia/Shanghai\n", " Asia/Shanghai", "Asia/Shanghai ", "tzdata.zi", "😀",
        "~", "C:\\",
        5, True, None, [], {}, ["Asia/Shanghai"], 1.5,
    )  # fmt: skip
    bodies = [orjson.dumps({"timezone": zone}) for zone in zones]
    bodies += [b"{}", b"[]", b"{", b"null", b'{"timezone":"UTC","x":1}', b'{"zone":"UTC"}', b"\xff"]
    cases = [_command(number, SET_TIMEZONE, body) for number, body in enumerate(bodies)]
    ids: tuple[object, ...] = (
        [], [""], ["t1"], [5], [None], [[]], [{}], "t1", 5, None, {}, True, ["*"], [SAID], ["编号"],
        ["6c4bb1a6-6c02-5a0e-9d0c-0a8b1a3f7e5"], ["x" * 100_000], ["t1"] * 1_000,
        [str(uuid.UUID(int=1)), "t1"],
    )  # fmt: skip
    for topic, some in product((COMMANDS.name, TURNS.name), ids):
        body = orjson.dumps({"event_ids": some})
        cases.append(_command(len(cases), FORGET, body, topic=topic))
    # Well-formed ones: what names nothing of this user removes nothing.
    named = (uuid.UUID(int=2**128 - 1), *(uuid.UUID(int=number) for number in range(11)))
    for topic, one in product((COMMANDS.name, TURNS.name), named):
        body = orjson.dumps({"event_ids": [str(one), str(one)]})
        cases.append(_command(len(cases), FORGET, body, expect=True, topic=topic))
    return cases


def _command(
    number: int, kind: bytes, body: bytes, *, expect: bool = False, topic: str = COMMANDS.name
) -> Case:
    return _published(number, expect=expect, value=body, ce_type=kind, text=None, topic=topic)


def _lines() -> list[Case]:
    """Lines that are none, then good ones, each with contradictions and a repeat behind it."""
    said = f'"role":"user","content":"{SAID}"'.encode()
    bad = [one for one in NO_JSON if one.strip()]
    bad += [b"a,b", b"{'role':'user'}", b"//", b"{" + said + b',"user_id":""}']
    bad += [b'{"role":"user","content":"' + one.replace(b"\n", b"") + b'"}' for one in BAD_BYTES]
    for name, value in product(LINE_KEYS, JSON_VALUES):
        others = b"" if name in {"role", "content"} else said + b","
        bad.append(b"{" + others + b'"' + name.encode() + b'":' + value.replace(b"\n", b"") + b"}")
    bad += [_turn(**{key: 1}) for key in ("x", "内容", *BOTH, "\0", "tenant_id", "expires_at")]
    for depth in (17, 200, 300, 1_100, 100_000):
        bad.append(b"{" + said + b',"metadata":' + _nested(b'{"a":', b"}", depth) + b"}")
    bad += [json.dumps({"role": one, "content": SAID}).encode() for one in ROLES if _is_json(one)]
    sizes = (TEXT_CHARACTERS_MAX + 1, 17_000_000)
    bad += [b'{"role":"user","content":"' + b"x" * size + b'"}' for size in sizes]
    cases: list[Case] = [Line(one, expect=False, unsaid=BOTH) for one in bad]
    for number, text in enumerate(BOTH * 5):
        good = {"role": "user", "content": text, "id": f"line/{number}\n", "user_id": EVE}
        turn = (f"line/{number}\n", text)
        cases.append(Line(orjson.dumps(good), expect=True, turn=turn))
        cases += [
            Line(orjson.dumps(good | other), expect=False, turn=turn, unsaid=BOTH)
            for other in ({"content": "other"}, {"name": "third"})
        ]
        cases.append(Line(b" \t" + orjson.dumps(good) + b"\r", expect=True, turn=turn))
    return cases


def _is_json(value: object) -> bool:
    return isinstance(value, str | int | float | list | dict)


WIRE_CLASSES: Final[dict[str, Callable[[], list[Case]]]] = {
    "unknown types and versions on the wire": _types,
    "wrong headers on the wire": _headers,
    "wrong fields on the wire": _fields,
    "strange JSON and bad UTF-8 on the wire": _json,
    "impossible commands on the wire": _commands,
    "bad lines of an import": _lines,
}
"""Name to what makes the class's cases."""
