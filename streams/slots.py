"""Slots: facts of high certainty that a speaker states of himself, by strict patterns. Pure.

A pattern must match from the beginning of a clause, so that somebody else's facts, wishes and
quotations state nothing. Values are the text's own characters.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ..schemas.ports import Entity
from .chinese_slots import CHINESE_CLAUSE, CHINESE_NO_VALUES, CHINESE_SLOTS
from .english_slots import (
    CLAUSE_MARKS,
    CLAUSE_WORDS,
    ENGLISH_NO_VALUES,
    ENGLISH_SLOTS,
    JOB_ENDS,
    NO_JOBS,
)
from .slot_patterns import SlotPattern

__all__ = ["Slot", "find_slots", "normalise_thing"]

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_WORD: Final = re.compile(r"[A-Za-zÀ-ÿ]+(?:['-][A-Za-zÀ-ÿ]+)*")
_DIGITS: Final = re.compile(r"\d{3}|\d\d\W\d")
_STEM_MIN: Final = 3
_JOB_WORDS_MAX: Final = 4
_UNREAL: Final = re.compile(
    r"\b(?:if (?:i|my)|wish|imagine|pretend|suppose|as if|like i|would|could(?! you)|might"
    r"|maybe|used to|no longer|any ?more"
    r"|used to be|feels? like|in (?:the|my) dream|joking|kidding|not really)\b",
    re.IGNORECASE,
)
_CHINESE_UNREAL: Final = re.compile(
    r"如果|要是|假如|假设|万一|真想|要能|恨不得|仿佛|好像|感觉自己|觉得自己|梦见|以前|曾经"
    r"|早就?(?:不|离)|不再|已经不|开玩笑|差点|本来想|原来(?:住|在|叫)|巴不得|幻想"
)
_TAIL: Final = re.compile(
    r"(?:(?:了|吧|啦|哦|呢|哈|呀|啊|喔|哟|没有之一|这个文件夹|就行|就好|即可)+)$"
)
_THING_ARTICLE: Final = re.compile(r"^(?:the|a|an|my|our|your|all-time)\s+")
_BRITISH: Final = {
    "color": "colour", "flavor": "flavour", "theater": "theatre", "center": "centre",
    "airplane": "aeroplane", "tv show": "show", "movie": "film", "tv series": "series",
    "programme": "program", "cell": "phone",
}  # fmt: skip


def _by_first_character() -> dict[str, list[tuple[str, frozenset[int]]]]:
    """Return the words of Chinese slots by their first character, each with its slots."""
    words = sorted(set().union(*(one.words for one in CHINESE_SLOTS)))
    found: dict[str, list[tuple[str, frozenset[int]]]] = {}
    for word in words:
        slots = frozenset(i for i, one in enumerate(CHINESE_SLOTS) if word in one.words)
        found.setdefault(word[0], []).append((word, slots))
    return found


_WORDS_BY_FIRST: Final = _by_first_character()


class Slot(NamedTuple):
    """A slot found in a sentence; the value is sentence[start:end]."""

    slot: str
    start: int
    end: int


def find_slots(sentence: str, entities: Sequence[Entity]) -> list[Slot]:
    """Find what the speaker states of himself in a sentence that is no question.

    Args:
        sentence: The sentence.
        entities: Names in it, with places in the sentence.

    Returns:
        Slots in the order of their values, at most one per slot name.
    """
    plain = sentence.replace("’", "'")
    found: dict[str, Slot] = {}
    if _HAN.search(plain):
        for slot in _chinese(plain, entities):
            found.setdefault(slot.slot, slot)
        unreal = found and _CHINESE_UNREAL.search(plain)
    else:
        for slot in _english(plain, entities):
            found.setdefault(slot.slot, slot)
        unreal = found and _UNREAL.search(plain)
    if unreal:
        return []
    by_value: dict[int, str] = {}
    for slot in list(found.values()):
        if (
            slot.slot.startswith("default/")
            and by_value.setdefault(slot.start, slot.slot) != slot.slot
        ):
            del found[slot.slot]  # one value under two names: the closer wording came first
    name = found.get("name")
    others = (found.get("pet"), found.get("partner"))
    if name is not None and any(other and other.start == name.start for other in others):
        del found["name"]  # 我有一只狗，名字叫大黄: not the speaker's name
    return sorted(found.values(), key=lambda slot: slot.start)


def normalise_thing(thing: str) -> str:
    """Return one name for one thing: lower case, singular, British spelling."""
    thing = _THING_ARTICLE.sub("", " ".join(thing.lower().split()))
    thing = _BRITISH.get(thing, thing)
    head, _, last = thing.rpartition(" ")
    last = _BRITISH.get(last, last)
    if len(last) > _STEM_MIN and last.endswith("ies") and last not in ("series", "movies"):
        last = last[:-3] + "y"
    elif (
        len(last) > _STEM_MIN
        and last.endswith("s")
        and not last.endswith(("ss", "us", "is", "series"))
    ):
        last = last[:-1]
    last = _BRITISH.get(last, last)
    return f"{head} {last}".strip()


def _english(text: str, entities: Sequence[Entity]) -> Iterator[Slot]:
    words, starts = _read(text)
    for one in ENGLISH_SLOTS:
        name = one.slot
        if words.isdisjoint(one.words):
            continue
        for match in _matches(one, text, starts):
            start, end = _trimmed(text, *match.span("value"))
            value = text[start:end]
            if not value or value.lower() in ENGLISH_NO_VALUES:
                continue
            if name == "job":
                if not _is_job(value):
                    continue
            elif name == "name" and "check" in match.groupdict() and match["check"]:
                people = {e.start for e in entities if e.kind == "person"}
                if start not in people:
                    continue
            thing = match.groupdict().get("thing")
            yield Slot(f"{name}/{normalise_thing(thing)}" if thing else name, start, end)


def _read(text: str) -> tuple[set[str], list[int]]:
    """Return a text's words in lower case, with marks for numbers, and where clauses begin."""
    words: set[str] = set()
    starts = [0]
    previous, end = "", 0
    for match in _WORD.finditer(text):
        word = match.group().lower()
        gap = text[end : match.start()]
        if (
            end == 0
            or previous in CLAUSE_WORDS
            or (gap != " " and CLAUSE_MARKS.search(gap) is not None)
        ):
            starts.append(match.start())
        words.add(word)
        if "-" in word:
            words.update(word.split("-"))
        previous, end = word, match.end()
    if "@" in text:
        words.add("@")
    if _DIGITS.search(text):
        words.add("#")
    return words, sorted(set(starts))


def _starts(clause: re.Pattern[str], text: str) -> list[int]:
    found = {match.end() for match in clause.finditer(text)}
    return sorted(found | {0})


def _matches(one: SlotPattern, text: str, starts: Sequence[int]) -> Iterator[re.Match[str]]:
    if not one.at_clause:
        yield from one.pattern.finditer(text)
        return
    for start in starts:
        match = one.pattern.match(text, start)
        if match is not None:
            yield match


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and text[end - 1] in " .,;!?'\"，。！；：:”’)":
        end -= 1
    while start < end and text[start] in " '\"“‘":
        start += 1
    return start, end


def _is_job(value: str) -> bool:
    words = value.lower().split()
    if not words or len(words) > _JOB_WORDS_MAX or NO_JOBS.intersection(words):
        return False
    return words[-1].endswith(JOB_ENDS) or words[0].endswith(JOB_ENDS)


def _possible(lower: str) -> set[int]:
    """Return which of the Chinese slots have one of their words in a text.

    Hundreds of words would have to be looked for, but few begin with a character of the text.
    """
    return {
        index
        for character in set(lower)
        for word, indices in _WORDS_BY_FIRST.get(character, ())
        if word in lower
        for index in indices
    }


def _chinese(text: str, entities: Sequence[Entity]) -> Iterator[Slot]:
    names = {e.start: e for e in entities}
    lower = text.lower()
    starts: list[int] = []
    possible = _possible(lower)
    for index, one in enumerate(CHINESE_SLOTS):
        name = one.slot
        if index not in possible:
            continue
        starts = starts or _starts(CHINESE_CLAUSE, text)
        for match in _matches(one, text, starts):
            start, end = _trimmed(text, *match.span("value"))
            tail = (
                _TAIL.search(text, start, end) if name in ("favourite", "default", "home") else None
            )
            if tail and tail.start() > start:
                end = tail.start()
            if name in ("home", "hometown", "employer") and start in names:
                longer = names[start].end
                end = max(end, longer) if name == "employer" and longer <= match.end() + 4 else end
            value = text[start:end]
            if not value or CHINESE_NO_VALUES.search(value):
                continue
            if "check" in match.groupdict() and match["check"] is not None:
                person = names.get(start)
                wanted = "place" if name == "hometown" else "person"
                if person is None or person.kind != wanted or person.end != end:
                    continue
            thing = match.groupdict().get("thing")
            yield Slot(f"{name}/{thing.strip().lower()}" if thing else name, start, end)
