"""Hostile fields, ids, times, lists and questions at the façade, at least a hundred of each."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from itertools import product
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from eunoe.schemas.limits import (
    ID_CHARACTERS_MAX,
    MESSAGES_PER_ADD_MAX,
    METADATA_BYTES_MAX,
    METADATA_DEPTH_MAX,
    QUERY_CHARACTERS_MAX,
    SEARCH_LIMIT_MAX,
)
from tests.support.hostile import Added, Asked, Case, drawn
from tests.support.hostile_texts import TEXT_CLASSES

__all__ = ["FIELD_CLASSES", "ROLES", "STRANGE_IDS", "chain", "wrong_types"]

SAID: Final = "The violin teacher plays on Fridays"
SAID_IN_CHINESE: Final = "小提琴老师每周五演奏"
BOTH: Final = (SAID, SAID_IN_CHINESE)

STRANGE_IDS: Final = (
    "/", "//", "a/b", "../a", "a|b", "a\nb", "a\r\nb", "a\tb", "a\0b", "\0", " ", "  a", "a  ", ".",
    "*", "%", "%2F", "a%2Fb", "'", '"', "'; --", "{}", "[]", "null", "None", "true", "0", "-1",
    "NaN", "t1,t2", "a:b", "chat/a", '["chat","a"]', "default/eve", "home", "timezone",
    "default/home",
    "你好", "用户/一", "编号\n二", "ａ", "😀", "e\u0301", "\u00e9", "\u202eabc", "\ufeffa",
    "\u200b",
    "6c4bb1a6-6c02-5a0e-9d0c-0a8b1a3f7e52", "6C4BB1A6-6C02-5A0E-9D0C-0A8B1A3F7E52",
    "urn:uuid:6c4bb1a6-6c02-5a0e-9d0c-0a8b1a3f7e52", "x" * ID_CHARACTERS_MAX,
    "字" * ID_CHARACTERS_MAX, "😀" * ID_CHARACTERS_MAX, "\n" * ID_CHARACTERS_MAX,
)  # fmt: skip
BAD_TEXTS: Final[tuple[object, ...]] = (
    "", "x" * (ID_CHARACTERS_MAX + 1), "字" * (ID_CHARACTERS_MAX + 1), "x" * 1_000_000, "\ud800",
    "a\udfffb", "字\ud83d", 0, 1, -1, 2**70, 1.5, math.nan, True, False, b"a", bytearray(b"a"), [],
    ["a"], {}, {"a": "b"}, (), ("a",), object, UUID(int=1), Decimal(1),
    datetime(2024, 1, 1, tzinfo=UTC),
)  # fmt: skip
"""What no id, name or session can be; None is left out, since it means that none is given."""

ROLES: Final[tuple[object, ...]] = (
    "", " ", "User", "USER", "user ", " user", "users", "human", "ai", "bot", "function",
    "developer",
    "admin", "root", "system\n", "sys\0tem", "ｕｓｅｒ", "usеr", "用户", "助手", "系统",
    "user|system",
    "user,assistant", "\ud800", "u" * 10_000, None, 0, 1, True, 1.5, b"user", [], ["user"], {},
    {"role": "user"}, ("user",),
)  # fmt: skip


class _Restless(tzinfo):
    """A time zone that raises or, without an error, knows no offset."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def utcoffset(self, _: datetime | None) -> timedelta | None:
        """Raise, or return nothing."""
        if self._error is not None:
            raise self._error
        return None

    def tzname(self, _: datetime | None) -> str | None:
        """Return nothing."""
        return None

    def dst(self, _: datetime | None) -> timedelta | None:
        """Return nothing."""
        return None


def chain(depth: int, leaf: object = 1) -> dict[str, Any]:
    """Return objects within objects, `depth` levels in all."""
    value: object = leaf
    for _ in range(depth):
        value = {"a": value}
    assert isinstance(value, dict)
    return value


def wrong_types(wanted: type) -> list[object]:
    """Return values of every other type, hostile ones too."""
    values: list[object] = [*BAD_TEXTS, None, date(2024, 1, 1), time(1), range(3), frozenset("a")]
    values += [complex(1), memoryview(b"a"), Ellipsis, timedelta(1), print, int, iter("a")]
    return [one for one in values if not isinstance(one, wanted)]


def _turn(number: object, **fields: object) -> dict[str, object]:
    text = BOTH[len(repr(number)) % 2]
    return {"role": "user", "id": f"f{number}", "content": text} | fields


def _added(cases: Sequence[tuple[Mapping[str, object], bool]]) -> list[Case]:
    """Make each case of its fields, and of whether they must be taken."""
    found: list[Case] = []
    for number, (fields, expect) in enumerate(cases):
        message = _turn(number, **fields)
        name, content = message["id"], str(message["content"])
        turns = ((name, content),) if isinstance(name, str) else ()
        unsaid = (content, *(one for one in fields.values() if isinstance(one, str)))
        found.append(Added(message, expect, turns, unsaid=unsaid))
    return found


def _times_as_text() -> list[Case]:
    bad = (
        "", " ", "now", "today", "tomorrow at noon", "昨天", "2024年5月1日", "1717200000",
        "-1", "1e9", "2024", "2024-05", "2024-05-01", "2024-05-01T10:00", "2024-05-01 10:00:00",
        "2024-05-01T10:00:00", "10:00:00Z", "T10:00Z", "2024-13-01T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2023-02-29T00:00:00Z", "2024-05-01T24:00:01Z", "2024-05-01T23:60:00Z",
        "2024-05-01T23:59:61Z",
        "2024-05-01T10:00:00+24:00", "2024-05-01T10:00:00+99:99", "2024-05-01T10:00:00+08:00:30",
        "2024-05-01T10:00:00-00:00:01", "2024-05-01T10:00:00+08:00:30.5", "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "+12024-01-01T00:00:00Z", "01/05/2024",
        "May 1, 2024", "Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00 Europe/Lisbon",
        "2024-05-01T10:00:00[Asia/Shanghai]", "２０２４-05-01T10:00:00Z", "2024-05-01T10:00:00Z\0",
        "2024-05-01T10:00:00Z; DROP TABLE turns", "\ud800", "9" * 10_000, "2024-05-01T10:00:00ZZ",
        "P1D", "R/2024-05-01T00:00:00Z/P1D", "二〇二四年五月一日", "2024-05-01T１０:00:00Z",
        "2024-05-01T10:00:00+八:00", "明天下午三点",
    )  # fmt: skip
    good = (
        "2024-05-01T10:00:00Z", "2024-05-01T10:00:00+00:00", "2024-05-01T10:00:00-12:00",
        "2024-05-01T10:00:00+14:00", "2024-05-01T10:00:00.000001+08:00", "20240501T100000Z",
        "2024-W18-3T10:00:00Z", "2024-05-01 10:00:00+08:00", "2024-05-01T10:00+08:00",
        "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999Z",
        "9999-12-31T23:59:59-12:00", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z",
        "1582-10-10T00:00:00Z", "2038-01-19T03:14:08Z", "2024-02-29T00:00:00Z",
    )  # fmt: skip
    years = [f"{year:04}-06-15T12:00:00+08:00" for year in range(1, 10_000, 250)]
    cases: list[tuple[Mapping[str, object], bool]] = [({"time": one}, False) for one in bad]
    return _added(cases + [({"time": one}, True) for one in (*good, *years)])


def _times_as_values() -> list[Case]:
    epochs = [sign * 10**power for power in range(25) for sign in (1, -1)]
    wrong = [one for one in wrong_types(datetime) if one is not None and not isinstance(one, str)]
    zones: list[tzinfo] = [UTC, ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Lisbon")]
    zones += [timezone(timedelta(minutes=minutes)) for minutes in (-1439, -720, -1, 1, 840, 1439)]
    moments = (datetime.min, datetime.max, datetime(2024, 5, 1, 10))  # noqa: DTZ901, DTZ001 - given zones below
    aware = [one.replace(tzinfo=zone) for one, zone in product(moments, zones)]
    odd: list[tzinfo] = [
        timezone(timedelta(seconds=1)), timezone(timedelta(hours=8, microseconds=1)),
        _Restless(None), _Restless(RuntimeError(SAID)), _Restless(OverflowError()),
    ]  # fmt: skip
    refused: list[object] = [*moments, *epochs, *map(float, epochs[:20]), math.inf, *wrong]
    refused += [moments[2].replace(tzinfo=zone) for zone in odd]
    minute = timedelta(minutes=1)
    whole = [
        (one, not (one.utcoffset() or minute) % minute) for one in aware
    ]  # before 1900 it isn't
    return _added(
        [({"time": one}, False) for one in refused] + [({"time": one}, yes) for one, yes in whole]
    )


def _ids_taken() -> list[Case]:
    characters = st.characters(exclude_categories=["Cs"])
    free = drawn(st.text(characters, min_size=1, max_size=ID_CHARACTERS_MAX), 60)
    names = [*STRANGE_IDS, *(one for one in free if one not in STRANGE_IDS)]
    return [_taken({"id": one, "content": SAID}, (one, SAID)) for one in names]


def _taken(message: object, *turns: tuple[str, str], **call: object) -> Case:
    return Added(message, expect=True, turns=turns, call=call)


def _ids_refused() -> list[Case]:
    wrong = BAD_TEXTS
    cases: list[Case] = []
    for number, one in enumerate(wrong):
        unsaid = (SAID, one) if isinstance(one, str) else (SAID,)
        for name in ("id", "session_id", "name"):
            turns = () if name == "id" else ((f"{name}{number}", SAID),)
            message = {"content": SAID, "id": f"{name}{number}"} | {name: one}
            cases.append(Added(message, expect=False, turns=turns, unsaid=unsaid))
        cases += [
            Added({"content": SAID}, expect=False, call={name: one}, unsaid=unsaid)
            for name in ("source", "user_id", "tenant_id", "agent_id", "session_id")
        ]
    return cases


def _same_id_later() -> list[Case]:
    """Each id is taken once, repeated, then contradicted in every field."""
    cases: list[Case] = []
    others: list[dict[str, object]] = [
        {"content": f"{SAID} again"}, {"content": SAID_IN_CHINESE}, {"role": "assistant"},
        {"name": "安娜"}, {"metadata": {"a": 1}}, {"session_id": "s"}, {"content": SAID.upper()},
    ]  # fmt: skip
    for number in range(26):
        name = ("n{}", "编号{}", "a/{}", "a\n{}")[number % 4].format(number)
        message = {"id": name, "content": SAID}
        turn = (name, SAID)
        cases.append(_taken(message, turn))
        cases.append(_taken(message | {"time": "2024-05-01T10:00:00Z"}, turn))
        cases += [
            Added(message | other, expect=False, turns=(turn,), buried=1, unsaid=(SAID,))
            for other in (others[number % 7], others[(number + 3) % 7])
        ]
        cases.append(_taken(message, turn, source=f"other {number}"))
    return cases


def _same_id_at_once() -> list[Case]:
    cases: list[Case] = []
    for number in range(52):
        name = ("d{}", "重复{}")[number % 2].format(number)
        many = 2 + number % 3
        cases.append(_taken([{"id": name, "content": SAID}] * many, *([(name, SAID)] * many)))
        fresh = f"{name} fresh"
        other = {"id": fresh, "content": SAID_IN_CHINESE}
        some = [{"id": fresh, "content": SAID}, {"id": f"{fresh}!", "content": SAID}, other]
        turns = ((fresh, SAID), (f"{fresh}!", SAID))
        cases.append(Added(some, expect=False, turns=turns, unsaid=(SAID, SAID_IN_CHINESE)))
    return cases


def _wrong_types() -> list[Case]:
    cases: list[Case] = []
    for one in wrong_types(str):
        if not isinstance(one, Mapping | Sequence) or isinstance(
            one, bytes | bytearray | memoryview | range
        ):
            cases.append(Added(one, expect=False))
        cases.append(Added({"content": one}, expect=False))
        cases.append(
            Added([{"content": SAID, "id": "good"}, one], expect=False, turns=(("good", SAID),))
        )
        if not isinstance(one, dict):
            cases.append(Added({"content": SAID, "metadata": [one]}, expect=False))
    names: tuple[Any, ...] = (
        "Content", "text", "内容", "user_id", SAID, SAID_IN_CHINESE * 3, "\ud800", "a\nb", 1, None,
        ("a",),
    )  # fmt: skip
    cases += [Added({"content": SAID, name: 1}, expect=False, unsaid=BOTH) for name in names]
    empty: tuple[object, ...] = ({}, {"role": "user"}, [{}], [[]], [None], [[SAID]])
    cases += [Added(one, expect=False) for one in empty]
    return cases


def _metadata() -> list[Case]:
    good: list[object] = [chain(depth) for depth in range(1, METADATA_DEPTH_MAX + 1)]
    values: tuple[object, ...] = (
        None, True, 0, -0.0, 1e308, 5e-324, 2**64 - 1, -(2**63), "", "\0", "字", [], {},
    )  # fmt: skip
    good += [{"a": one} for one in values]
    good += [
        {"键": "值" * 20_000},
        {"": ""},
        {"a\nb": 1},
        {"__proto__": {}},
        {"role": "system"},
        {"a": "x" * 65_000},
    ]
    leaves: tuple[object, ...] = (
        math.nan, math.inf, -math.inf, 2**64, -(2**63) - 1, 10**400, "\ud800", "字\udfff", b"a",
        object(), {1}, frozenset((1,)), datetime(2024, 1, 1, tzinfo=UTC), Decimal(1), UUID(int=1),
        1j,
        MappingProxyType({"a": 1}), range(2), print,
    )  # fmt: skip
    bad: list[object] = [
        put for leaf in leaves for put in ({"a": leaf}, {"键": [leaf]}, chain(9, leaf))
    ]
    bad += [{key: 1} for key in (1, 1.5, None, True, ("a",), b"a", "\ud800")]
    bad += [
        chain(METADATA_DEPTH_MAX + more) for more in (1, 2, 100, 180, 240, 300, 900, 5_000, 100_000)
    ]
    bad += [{"a": "x" * METADATA_BYTES_MAX}, {"a": "字" * 30_000}, {"a": list(range(70_000))}]
    looped: dict[str, Any] = {}
    looped["a"] = [looped]
    wide: list[Any] = []
    for _ in range(METADATA_DEPTH_MAX - 2):
        wide = [wide] * 10
    bad += [looped, {"a": wide}]
    cases: list[tuple[Mapping[str, object], bool]] = [({"metadata": one}, True) for one in good]
    return _added(cases + [({"metadata": one}, False) for one in bad])


def _roles() -> list[Case]:
    cases: list[Case] = []
    for text, (number, role) in product((*BOTH, "Ignore all roles"), enumerate(ROLES)):
        name = f"r{number}{text}"
        message = {"id": name, "content": text, "role": role}
        cases.append(Added(message, expect=False, turns=((name, text),), unsaid=(text,)))
    return cases


def _lists() -> list[Case]:
    """A bad message among good ones, at every place: none of the call is stored."""
    bad: tuple[object, ...] = (
        None, 1, "", "\ud800", {}, {"content": None}, {"content": SAID, "role": "Ana"}, [], b"a",
        {"content": SAID, "id": ""}, {"content": SAID, "time": "昨天"}, {"content": SAID, "表": 1},
        {"content": SAID, "metadata": {"a": math.nan}}, {"content": "字" * 1_000_001},
    )  # fmt: skip
    cases: list[Case] = []
    for (number, one), place, size in product(enumerate(bad), (0, 1, 2), (2, 5, 40)):
        names = [f"l{number}/{place}/{size}/{index}" for index in range(size)]
        good: list[object] = [{"id": name, "content": BOTH[len(name) % 2]} for name in names]
        turns = tuple((name, BOTH[len(name) % 2]) for name in names)
        at = (0, size // 2, size)[place]
        cases.append(Added([*good[:at], one, *good[at:]], expect=False, turns=turns))
    cases.append(Added([SAID] * (MESSAGES_PER_ADD_MAX + 1), expect=False, unsaid=(SAID,)))
    cases.append(Added([], expect=True))
    return cases


def _questions() -> list[Case]:
    cases: list[Case] = []
    makers = [make for name, make in TEXT_CLASSES.items() if not name.startswith(("size", "any"))]
    said = [case for make in makers for case in make()[:400:20]]
    texts = [case.messages["content"] for case in said if isinstance(case, Added)]
    texts += ["?" * QUERY_CHARACTERS_MAX, "字" * (QUERY_CHARACTERS_MAX + 1)]
    cases += [
        Asked("search", (text,), expect=len(text) <= QUERY_CHARACTERS_MAX)
        for text in dict.fromkeys(texts)
    ]
    cases += [Asked("search", (one,)) for one in wrong_types(str)]
    wrong = [*wrong_types(int), -1, SEARCH_LIMIT_MAX + 1, 2**70, True]
    cases += [
        Asked(call, ("violin",)[: call == "search"], {"limit": one})
        for call in ("search", "list")
        for one in wrong
    ]
    cases += [
        Asked("search", ("violin",), {name: 1})
        for name in ("filters", "project_id", "now", "as_of")
    ]
    kinds: tuple[object, ...] = ([], ["turn"], ("slot", "turn"), ["fact", "relation"])
    cases += [
        Asked("search", (text,), {"kinds": one}, expect=True) for one in kinds for text in BOTH
    ]
    no_kinds: tuple[object, ...] = ("turn", 5, [[]], [5], ["nothing"], ["", "种类"], ["\ud800"])
    cases += [Asked(call, (), {"kinds": one}) for one in no_kinds for call in ("list",)]
    cases += [Asked("search", ("violin",), {"kinds": one}) for one in no_kinds]
    return cases


def _questions_of_ids() -> list[Case]:
    cases: list[Case] = []
    strange = [one for one in STRANGE_IDS if one not in {"home", "timezone"}]
    for call in ("get", "history", "forget"):
        cases += [Asked(call, (one,)) for one in strange]
        cases += [Asked(call, (("来源", one),)) for one in strange]
        cases += [Asked(call, (one,)) for one in BAD_TEXTS]
        cases += [Asked(call, ((one, "a"),)) for one in BAD_TEXTS]
    several: tuple[object, ...] = (
        ("a",), ("a", "b", "c"), (("a", "b"),), (("a", "b"), ("c", "d")), ["a", None], [["a", "b"]],
        [("a", "b", "c")], None, 5, {"a"}, {"a": "b"}, b"ab", range(2), iter(["a"]), ["\ud800"],
        [""], [()], ("编号",), ["一", "二"], print,
    )  # fmt: skip
    cases += [Asked("forget", (one,)) for one in several]
    cases += [
        Asked("set_timezone", (one,))
        for one in ("", "Mars", "../Asia", "中国", "\0", "x" * 999, "\ud800", ["UTC"], 5, None)
    ]
    for call in ("list", "profile", "digest", "stats", "dead_letters"):
        cases += [Asked(call, (), {"user_id": one}) for one in BAD_TEXTS]
        cases += [Asked(call, (), {"tenant_id": one}) for one in BAD_TEXTS]
    return cases


FIELD_CLASSES: Final[dict[str, Callable[[], list[Case]]]] = {
    "times as text": _times_as_text,
    "times as values": _times_as_values,
    "strange ids": _ids_taken,
    "bad ids and names": _ids_refused,
    "the same id with other content": _same_id_later,
    "the same id twice in a call": _same_id_at_once,
    "wrong types": _wrong_types,
    "metadata": _metadata,
    "bad roles": _roles,
    "good and bad in one call": _lists,
    "strange questions": _questions,
    "strange ids to read and forget": _questions_of_ids,
}
"""Name to what makes the class's cases."""
