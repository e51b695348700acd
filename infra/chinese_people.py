"""People's names in Chinese text, by surnames, titles, and characters of names."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..schemas.ports import Entity
from .chinese_tokens import ALL_HAN, HAN, NAME_CHARACTERS_MAX, NAME_CHARACTERS_MIN, Frequency, Token
from .chinese_words import (
    COMPOUND_SURNAMES,
    ENDS_NO_NAME,
    GIVEN,
    NOT_NAMES,
    SURNAMES,
    TITLES,
    TRANSLITERATION,
)

__all__ = ["SWALLOWED", "find_people", "is_tagged_person"]

_TITLE: Final = "|".join(sorted(TITLES, key=len, reverse=True))
_COMPOUND: Final = "|".join(COMPOUND_SURNAMES)
_DOTTED: Final = re.compile(rf"[{HAN}]{{1,6}}(?:[·•・][{HAN}]{{1,6}})+")
_FOREIGN: Final = re.compile(rf"[{''.join(sorted(TRANSLITERATION))}]{{2,6}}$")
_COMPOUND_NAME: Final = re.compile(rf"(?:{_COMPOUND})[{HAN}]{{1,2}}")
_TITLED: Final = re.compile(rf"(?:{_COMPOUND}|[{''.join(sorted(SURNAMES))}])(?:{_TITLE})(?!们)")
_NICKNAME: Final = re.compile(rf"^[小老阿][{HAN}]$")
_FAMILIAR: Final = frozenset("小老阿")
_NR: Final = ("nr", "nrfg", "nrt")
_NEVER_GIVEN: Final = frozenset(("v", "d", "p", "c", "r", "uj", "ul", "m", "t", "y", "u", "f", "q"))
_CALLED: Final = re.compile(
    r"(?:名叫|叫做|名字叫|的叫|个叫|名字是|人叫|父叫|傅叫|友叫|兄叫|弟叫|姐叫"
    rf"|妹叫)([{HAN}]{{2,3}})"
    r"(?=[，。、,；;！!?？\s]|的|$)"
)
_GIVEN_CHARACTERS_MAX: Final = 2
_FULL_NAME_CHARACTERS: Final = 3
SWALLOWED: Final = frozenset("和跟与说在也就把给要去来")
_RARE_NAME: Final = 20
_RARE_PERSON: Final = 400
_FUNCTION_CHARACTERS: Final = frozenset("一不的了着过是有就都也还要会能可")
_POINTERS: Final = frozenset(("那", "这", "哪", "每"))


def find_people(
    text: str, tokens: Sequence[Token], frequency: Frequency
) -> Iterator[Sequence[Entity]]:
    """Yield what each rule finds, the surest rule first."""
    starts = frozenset(token.start for token in tokens)
    ends = frozenset(token.end for token in tokens)
    yield list(_introduced(text))
    yield list(_titled(text, starts, ends))
    yield list(_surnames(text, tokens, frequency))
    yield list(_rare_names(tokens, frequency))


def is_tagged_person(token: Token, before: Token | None, frequency: Frequency) -> bool:
    """Whether a token that is tagged as a person's name looks like one where it stands."""
    word = token.text
    short = len(word) == NAME_CHARACTERS_MIN
    if short and frequency(word) > _RARE_PERSON and not _familiar(word):
        return False
    if token.tag == "nrt" and len(word) < NAME_CHARACTERS_MAX:
        return True
    return _is_person(word, before)


def _introduced(text: str) -> Iterator[Entity]:
    """Foreign names with dots, and names that a text introduces."""
    for match in _DOTTED.finditer(text):
        start, end = _trim_dotted(text, *match.span())
        yield Entity(text[start:end], "person", start, end)
    for match in _CALLED.finditer(text):
        if match[1] not in NOT_NAMES:
            yield Entity(match[1], "person", *match.span(1))


def _trim_dotted(text: str, start: int, end: int) -> tuple[int, int]:
    """Cut what stands around a name with dots: it ends where sounds of foreign names end."""
    first = min(p for mark in "·•・" if (p := text.find(mark, start, end)) >= 0)
    last = max(text.rfind(mark, start, end) for mark in "·•・")
    left = first - 1
    while left > start and text[left - 1] in TRANSLITERATION:
        left -= 1
    right = last + 2
    while right < end and text[right - 1] in TRANSLITERATION and text[right] in TRANSLITERATION:
        right += 1
    return left, right


def _titled(text: str, starts: frozenset[int], ends: frozenset[int]) -> Iterator[Entity]:
    """A surname and a title, where jieba cuts before and after: not 蓝工 in 海蓝工程."""
    for match in _TITLED.finditer(text):
        start, end = match.span()
        while end not in ends and end - start > NAME_CHARACTERS_MIN:
            end -= 1
        if start in starts and end in ends and text[start:end] not in NOT_NAMES:
            yield Entity(text[start:end], "person", start, end)


def _surnames(text: str, tokens: Sequence[Token], frequency: Frequency) -> Iterator[Entity]:
    """Names that were cut apart: surname and given name, nickname, compound surname."""
    for match in _COMPOUND_NAME.finditer(text):
        start = match.start()
        end = _given_end(tokens, start, start + 2)
        if end is not None:
            yield Entity(text[start:end], "person", start, end)
    for index, token in enumerate(tokens):
        word = token.text
        if _NICKNAME.match(word) and frequency(word) <= _RARE_NAME:
            yield Entity(word, "person", token.start, token.end)
        following = tokens[index + 1 : index + 3]
        if len(word) != 1 or not following or following[0].start != token.end:
            continue
        if word in _FAMILIAR and following[0].text in SURNAMES and following[0].tag in _NR:
            yield Entity(word + following[0].text, "person", token.start, following[0].end)
        elif word in SURNAMES:
            end = _given(token, following)
            if end:
                yield Entity(text[token.start : end], "person", token.start, end)


def _given(surname: Token, following: Sequence[Token]) -> int:
    """Where the given name after a surname ends, or 0: its characters are those of names."""
    first = following[0]
    if (
        len(first.text) > _GIVEN_CHARACTERS_MAX
        or first.tag in _NEVER_GIVEN
        or not ALL_HAN.fullmatch(first.text)
    ):
        return 0
    if surname.tag in _NR and first.tag in (*_NR, "x", "nz", "ng"):
        return first.end
    if not GIVEN.issuperset(first.text):
        return 0
    if len(first.text) == _GIVEN_CHARACTERS_MAX:
        return first.end if surname.tag in _NR else 0
    if len(following) > 1 and len(following[1].text) == 1 and following[1].text in GIVEN:
        return following[1].end if following[1].tag not in _NEVER_GIVEN else 0
    return first.end if surname.tag in _NR else 0


def _given_end(tokens: Sequence[Token], start: int, after: int) -> int | None:
    """Where a given name after a compound surname ends: at the end of the next short token."""
    if not any(token.start == start for token in tokens):
        return None
    for index, token in enumerate(tokens):
        if token.start == start and token.end == after + 1:
            more = tokens[index + 1 : index + 2]
            single = more and len(more[0].text) == 1 and more[0].text in GIVEN
            return more[0].end if single and more[0].tag not in _NEVER_GIVEN else token.end
        if token.start <= start and token.end > after:
            return (
                token.end
                if token.end - after <= _GIVEN_CHARACTERS_MAX and token.start == start
                else None
            )
        if token.start == after:
            plain = token.tag in ("uj", "p", "c", "ul", "x", "uz", "r", "y")
            return None if plain or len(token.text) > _GIVEN_CHARACTERS_MAX else token.end
    return None


def _rare_names(tokens: Sequence[Token], frequency: Frequency) -> Iterator[Entity]:
    """Three characters from a surname on that no everyday words make up."""
    for token in tokens:
        word = token.text
        if len(word) != _FULL_NAME_CHARACTERS or word[0] not in SURNAMES:
            continue
        if token.tag in ("m", "t", "mq") or frequency(word) > _RARE_NAME:
            continue
        if word[-1] in SWALLOWED and not frequency(word):
            yield Entity(word[:-1], "person", token.start, token.end - 1)  # 黄渤和徐峥
        elif word[-1] not in ENDS_NO_NAME and not (frequency(word[:2]) or frequency(word[1:])):
            yield Entity(word, "person", token.start, token.end)


def _familiar(word: str) -> bool:
    return word[0] in _FAMILIAR and word[1] in SURNAMES


def _is_person(word: str, before: Token | None) -> bool:
    """Whether a token that jieba tags as a person's name looks like one where it stands."""
    if before is not None and (before.tag in ("m", "q") or before.text in _POINTERS):
        return False
    return _like_person(word) or _FOREIGN.fullmatch(word) is not None


def _like_person(name: str) -> bool:
    if name[-1] in ENDS_NO_NAME or name[1] in _FUNCTION_CHARACTERS:
        return False
    if name[0] in SURNAMES and NAME_CHARACTERS_MIN <= len(name) <= NAME_CHARACTERS_MAX:
        return len(name) < NAME_CHARACTERS_MAX or name[:2] in COMPOUND_SURNAMES
    return name[0] in "小老阿" and len(name) <= _FULL_NAME_CHARACTERS
