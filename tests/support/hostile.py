"""The law of hostile input: what is sent is stored as sent, refused with a sentence, or buried.

A case is one input at one door: a call of `add`, a record on the wire, a line of an import, or
a question. `judge` sends the cases of a class to one open store and holds the store, id by id,
against what was accepted.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import eunoe
from eunoe.cli.importer import Importer
from eunoe.schemas import errors
from eunoe.schemas.events import owner_key, split_owner
from eunoe.schemas.ports import NewRecord
from eunoe.schemas.topics import TURNS

__all__ = [
    "EVE",
    "Account",
    "Added",
    "Asked",
    "Case",
    "Line",
    "Published",
    "assert_sentence",
    "drawn",
    "headers",
    "judge",
    "through_every_door",
]

EVE: Final = "eve"
"""Who sends what is hostile; on the wire each case has a user of its own."""

FILE: Final = "talk.jsonl"
_SENTENCE_CHARACTERS_MAX: Final = 600
_QUOTE_CHARACTERS_MIN: Final = 8
_ADVICE: Final = re.compile(
    r"\b(?:must|should|has to|give|send|see|use|add|known are|at most|leave)\b|with “role”|JSON:",
    re.IGNORECASE,
)
_ERRORS: Final = tuple(
    found
    for name in errors.__all__
    if isinstance(found := getattr(errors, name), type) and issubclass(found, errors.EunoeError)
)
_Answer = TypeVar("_Answer")
_Drawn = TypeVar("_Drawn")


@dataclass(frozen=True, slots=True)
class Added:
    """A call of `add`.

    Args:
        messages: What is given.
        expect: Whether it must be taken.
        turns: The (id, text) pairs that it stores if it is taken; none if it names no ids.
        call: Parameters beside the messages.
        buried: How many of its turns become dead letters if it is refused.
        unsaid: What no refusal may repeat.
    """

    messages: Any
    expect: bool
    turns: tuple[tuple[str, str], ...] = ()
    call: Mapping[str, Any] = field(default_factory=dict)
    buried: int = 0
    unsaid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A record on the wire, under a key of its own user.

    Args:
        user: Whose key it has, and whose turn it must become.
        expect: Whether it must be taken.
        headers: Of the record.
        value: Of the record.
        turn: The (id, text) that it stores if it is taken; None for a command.
        topic: Where it is appended.
        source: The producer.
        unsaid: What no refusal may repeat.
    """

    user: str
    expect: bool
    headers: tuple[tuple[str, bytes], ...]
    value: bytes | None
    turn: tuple[str, str] | None = None
    topic: str = TURNS.name
    source: str = "wire"
    unsaid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file that is imported for `EVE`.

    Args:
        raw: Its bytes, without the end.
        expect: Whether it must be taken.
        turn: The (id, text) that it stores if it is taken; None if that is known already.
        unsaid: What no refusal may repeat.
    """

    raw: bytes
    expect: bool
    turn: tuple[str, str] | None = None
    unsaid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that stores nothing.

    Args:
        call: A method of the façade.
        arguments: By position.
        named: By name; the user is `EVE` unless it is given.
        expect: Whether it must be answered; None where an answer and a refusal are both right.
    """

    call: str
    arguments: tuple[Any, ...]
    named: Mapping[str, Any] = field(default_factory=dict)
    expect: bool | None = False


Case = Added | Published | Line | Asked


@dataclass(slots=True)
class Account:
    """What became of the cases, and what must therefore be stored.

    Args:
        sent: How many there were.
        accepted: How many were taken or answered.
        refused: How many were refused at the door.
        dead: How many became dead letters.
        stored: The text of each turn by (user, source, id).
        missing: What was sent and must not be found, the same.
        letters: How many dead letters each user must have.
    """

    sent: int = 0
    accepted: int = 0
    refused: int = 0
    dead: int = 0
    stored: dict[tuple[str, str, str], str] = field(default_factory=dict)
    missing: set[tuple[str, str, str]] = field(default_factory=set)
    letters: Counter[str] = field(default_factory=Counter)


def drawn(strategy: st.SearchStrategy[_Drawn], count: int) -> list[_Drawn]:
    """Draw values, the same at each run.

    Args:
        strategy: Of at least as many values.
        count: How many.
    """
    found: list[_Drawn] = []

    @settings(
        max_examples=2 * count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(strategy)
    def collect(value: _Drawn) -> None:
        found.append(value)

    collect()
    distinct = list({repr(value): value for value in found}.values())
    assert len(distinct) >= count
    return distinct[:count]


def headers(user: str, ident: str, **replaced: bytes | None) -> tuple[tuple[str, bytes], ...]:
    """Return the headers of a turn as a producer sends them; None leaves one out."""
    attributes: dict[str, bytes | None] = {
        "ce_specversion": b"1.0",
        "ce_id": ident.encode(),
        "ce_source": b"wire",
        "ce_type": b"eunoe.turn.added.v1",
        "ce_time": b"2024-05-01T10:00:00+08:00",
        "ce_tenantid": b"default",
        "ce_userid": user.encode(),
        "content-type": b"application/json",
    }
    attributes |= {name.replace("content_", "content-"): one for name, one in replaced.items()}
    return tuple((name, value) for name, value in attributes.items() if value is not None)


def through_every_door(
    texts: Sequence[str], *, expect: Callable[[str], bool], stored: Mapping[str, str] | None = None
) -> list[Case]:
    """Send each text to `add`, and each third one also to the wire and to an import.

    Args:
        texts: What is said.
        expect: Whether a text must be taken.
        stored: What the façade keeps instead of a text that holds a secret.
    """
    cases: list[Case] = []
    for number, text in enumerate(texts):
        kept = (stored or {}).get(text, text)
        taken, unsaid = expect(text), (text,)
        message = {"role": "user", "content": text}
        name = f"a{number}"
        cases.append(Added(message | {"id": name}, taken, ((name, kept),), unsaid=unsaid))
        body = json.dumps(message, ensure_ascii=not taken).encode()
        if number % 3 == 0:
            name, user = f"w{number}", f"wire-{number}"
            cases.append(
                Published(user, taken, headers(user, name), body, (name, text), unsaid=unsaid)
            )
        if number % 3 == 1:
            name = f"i{number}"
            raw = json.dumps(message | {"id": name}).encode()
            cases.append(Line(raw, taken, (name, kept), unsaid))
    return cases


def assert_sentence(sentence: str, unsaid: Sequence[str]) -> None:
    """A refusal is one printable sentence that says what to do and repeats nothing sent."""
    assert sentence.isprintable(), ascii(sentence)
    assert sentence.endswith("."), sentence
    assert len(sentence) <= _SENTENCE_CHARACTERS_MAX, sentence
    assert _ADVICE.search(sentence), sentence
    for one in unsaid:
        if len(one) >= _QUOTE_CHARACTERS_MIN:
            assert one not in sentence, ascii(sentence)


def _assert_refusal(error: errors.EunoeError, unsaid: Sequence[str] = ()) -> None:
    assert type(error) in _ERRORS
    assert isinstance(error, errors.Rejected), error
    assert_sentence(str(error), unsaid)


async def judge(memory: eunoe.Memory, cases: Sequence[Case]) -> Account:
    """Send the cases, in order within each door, and compare the store with what was accepted.

    Args:
        memory: Open, with cheap tools; it may hold other users' turns.
        cases: Of one class.

    Returns:
        The account, all of it compared.
    """
    account = Account(sent=len(cases))
    for case in cases:
        if isinstance(case, Added):
            await _add(memory, case, account)
    await _import(memory, [case for case in cases if isinstance(case, Line)], account)
    await _publish(memory, [case for case in cases if isinstance(case, Published)], account)
    await _assert_stored(memory, account)
    before = await memory.digest(user_id=EVE)
    for case in cases:
        if isinstance(case, Asked):
            await _ask(memory, case, account)
    assert await memory.digest(user_id=EVE) == before
    assert account.accepted + account.refused + account.dead == account.sent
    return account


async def _add(memory: eunoe.Memory, case: Added, account: Account) -> None:
    named: dict[str, Any] = {"user_id": EVE, **case.call}
    names, refusal = await _outcome(memory.add(case.messages, **named))
    assert (refusal is None) is case.expect, f"{refusal}: {case.messages!r:.300} {named!r:.300}"
    # A user or source that is no text can't have stored anything.
    user, source = str(named["user_id"]), str(named.get("source", "chat"))
    if refusal is not None:
        _assert_refusal(refusal, case.unsaid)
        account.missing |= {(user, source, name) for name, _ in case.turns}
        account.letters[EVE] += case.buried
        account.dead += bool(case.buried)
        account.refused += not case.buried
        return
    account.accepted += 1
    assert not case.turns or names == [name for name, _ in case.turns]
    for name, text in case.turns:
        account.stored.setdefault((user, source, name), text)


async def _outcome(call: Awaitable[_Answer]) -> tuple[_Answer | None, errors.EunoeError | None]:
    """Return (answer, refusal); what is no error of ours is raised on."""
    try:
        return await call, None
    except errors.EunoeError as error:
        return None, error


async def _import(memory: eunoe.Memory, cases: Sequence[Line], account: Account) -> None:
    file = io.BytesIO(b"".join(case.raw + b"\n" for case in cases))
    importer = Importer(memory, file=FILE, tenant_id="default", user_id=EVE)
    before = len(await memory.dead_letters(user_id=EVE))
    tally = await importer.run(file, lambda _: None)
    bad = {one.line: one.reason for one in tally.bad}
    assert len(bad) == len(tally.bad)
    assert tally.added + tally.already + len(bad) == tally.lines
    for number, case in enumerate(cases, 1):
        assert (number not in bad) is case.expect, f"{bad.get(number)}: {case.raw[:300]!r}"
        if number in bad:
            assert_sentence(bad[number], case.unsaid)
            account.refused += 1
            if case.turn is not None:
                account.missing.add((EVE, "chat", case.turn[0]))
            continue
        account.accepted += 1
        if case.turn is not None:
            account.stored.setdefault((EVE, "chat", case.turn[0]), case.turn[1])
    # A line may pass the door and be buried by the writer; its number is told all the same.
    account.letters[EVE] += len(await memory.dead_letters(user_id=EVE)) - before


async def _publish(memory: eunoe.Memory, cases: Sequence[Published], account: Account) -> None:
    log = memory.runtime.engines.log
    appended = []
    for case in cases:
        key = owner_key("default", case.user).encode()
        record = NewRecord(case.topic, key, case.value, case.headers)
        _, refusal = await _outcome(log.append([record]))
        if refusal is None:
            appended.append(case)
            continue
        assert not case.expect, f"{refusal}: {case.headers} {case.value!r:.300}"
        _assert_refusal(refusal, case.unsaid)
        account.refused += 1
    await memory.settled()
    reasons = await _reasons(memory)
    for case in appended:
        letters = reasons.get(case.user, [])
        assert (not letters) is case.expect, f"{letters}: {case.headers} {case.value!r:.300}"
        assert len(letters) <= 1
        for reason in letters:
            assert_sentence(reason, case.unsaid)
        account.letters[case.user] += len(letters)
        account.dead += len(letters)
        account.accepted += not letters
    for case in cases:
        if case.turn is not None and case.expect:
            account.stored[case.user, case.source, case.turn[0]] = case.turn[1]
        elif case.turn is not None:
            account.missing.add((case.user, case.source, case.turn[0]))


async def _reasons(memory: eunoe.Memory) -> dict[str, list[str]]:
    """Return why something was buried, by the user that the letter is filed under."""
    found: dict[str, list[str]] = {}
    for _, letter in await memory.runtime.letters._all():  # once, however many users
        found.setdefault(split_owner(letter.owner)[1], []).append(letter.reason)
    return found


async def _ask(memory: eunoe.Memory, case: Asked, account: Account) -> None:
    named: dict[str, Any] = {"user_id": EVE, **case.named}
    _, refusal = await _outcome(getattr(memory, case.call)(*case.arguments, **named))
    told = f"{refusal}: {case.call} {case.arguments!r:.300} {named!r:.300}"
    assert case.expect in {None, refusal is None}, told
    if refusal is not None:
        _assert_refusal(refusal)
    account.accepted += refusal is None
    account.refused += refusal is not None


async def _assert_stored(memory: eunoe.Memory, account: Account) -> None:
    """Everything that was accepted is there once, as it was sent, and nothing else is."""
    users = {user for user, *_ in account.stored.keys() | account.missing} | {EVE}
    reasons = await _reasons(memory)
    for user in users:
        listed = await memory.list(user_id=user, kinds=["turn"], limit=1000)
        wanted = Counter((one[1], one[2]) for one in account.stored if one[0] == user)
        assert Counter((item.source, item.id) for item in listed) == wanted
        assert len(reasons.get(user, [])) == account.letters[user]
    for (user, source, name), text in account.stored.items():
        assert (await memory.get((source, name), user_id=user)).text == text
    for user, source, name in account.missing - account.stored.keys():
        found, _ = await _outcome(memory.get((source, name), user_id=user))
        assert found is None, f"It was refused and is there: {name!r}"
