"""Names in Chinese text by rules over tagged tokens and characters; no vendor here.

What a tagger cuts apart (rare names, projects, shops) is put together again from surnames,
titles, the last characters that names of a kind share, and the places in a sentence where names
stand.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from ..schemas.ports import Entity, EntityKind
from .chinese_words import (
    COMPOUND_SURNAMES,
    ENDS_NO_NAME,
    GENERIC,
    GIVEN,
    NOT_NAMES,
    SUFFIX_KINDS,
    SURNAMES,
    TITLES,
    TRANSLITERATION,
)
from .latin import find_latin

__all__ = ["Token", "find_names"]

_HAN: Final = r"\u4e00-\u9fff"
_TITLE: Final = "|".join(sorted(TITLES, key=len, reverse=True))
_COMPOUND: Final = "|".join(COMPOUND_SURNAMES)
_TAGS: Final[dict[str, EntityKind]] = {
    "nr": "person",
    "nrt": "person",
    "nrfg": "person",
    "ns": "place",
    "nt": "organization",
    "nz": "other",
}
_WORK: Final = re.compile(r"《([^《》\n]{1,40})》")
_DOTTED: Final = re.compile(rf"[{_HAN}]{{1,6}}(?:[·•・][{_HAN}]{{1,6}})+")
_FOREIGN: Final = re.compile(rf"[{''.join(sorted(TRANSLITERATION))}]{{2,6}}$")
_COMPOUND_NAME: Final = re.compile(rf"(?:{_COMPOUND})[{_HAN}]{{1,2}}")
_TITLED: Final = re.compile(rf"(?:{_COMPOUND}|[{''.join(sorted(SURNAMES))}])(?:{_TITLE})(?!们)")
_NICKNAME: Final = re.compile(rf"^[小老阿][{_HAN}]$")
_FAMILIAR: Final = frozenset("小老阿")
_NR: Final = ("nr", "nrfg", "nrt")
_NEVER_GIVEN: Final = frozenset(("v", "d", "p", "c", "r", "uj", "ul", "m", "t", "y", "u", "f", "q"))
_NOT_NZ: Final = re.compile(
    r"[语文份版代期码星族教式剂化酸盐赛奖水片级霜]$|^第|^[一二三四五六七八九十零\d]"
)
_SEPARATOR: Final = re.compile(r"^[、和跟与及]$")
_CALLED: Final = re.compile(
    r"(?:名叫|叫做|名字叫|的叫|个叫|名字是|人叫|父叫|傅叫|友叫|兄叫|弟叫|姐叫"
    rf"|妹叫)([{_HAN}]{{2,3}})"
    r"(?=[，。、,；;！!?？\s]|的|$)"
)
_SUFFIXES: Final = tuple(
    (suffix, kind)
    for suffix, kind in sorted(
        ((s, k) for k, group in SUFFIX_KINDS.items() for s in group), key=lambda p: -len(p[0])
    )
)
_SUFFIX_KIND: Final[dict[str, EntityKind]] = dict(_SUFFIXES)
_STEM_TAGS: Final = frozenset(
    (
        "n",
        "nr",
        "ns",
        "nt",
        "nz",
        "nrt",
        "nrfg",
        "b",
        "a",
        "ng",
        "i",
        "an",
        "vn",
        "j",
        "s",
        "x",
        "zg",
    )
)
_NAME_TAGS: Final = frozenset(("n", "nr", "ns", "nz", "nrt", "nrfg", "nt"))
_STEM_CHARACTERS_MAX: Final = 8
_SUFFIX: Final = re.compile("|".join(re.escape(suffix) for suffix, _ in _SUFFIXES))
_IS_WORD: Final = re.compile(rf"[{_HAN}\w]")
_STOPS: Final = frozenset("的新老大小家店在去到和跟与把被让给从向个只")
_FRAMES: Final[tuple[tuple[re.Pattern[str], EntityKind], ...]] = (
    (re.compile(rf"[在从]([{_HAN}]{{2,4}}?)(?:上面?|里面?|给)(?![{_HAN}]?[班学])"), "product"),
    (
        re.compile(
            rf"(?:跳到|跳槽到|跳去|入职|加入|离开|去了)了?([{_HAN}]{{2,4}}?)"
            rf"(?=[，。,.！!；;\s]|做|当|上班|工作|实习|$)"
        ),
        "organization",
    ),
    (re.compile(rf"在([{_HAN}]{{2,6}}?)(?:上班|工作|实习|任职|做了|干了|待了|当)"), "organization"),
    (re.compile(rf"[在去到飞]([{_HAN}]{{2,4}}?)(?:住|旅游|旅行|度假|出差|玩|转机|附近)"), "place"),
)
_COMMON: Final = 5000
_SIBLING_TAGS: Final = frozenset(("n", "nr", "ns", "nz", "nrt", "nrfg", "x", "d", "m"))
_WEAK: Final = frozenset(
    "公司 集团 科技 物流 旅游 地产 电器 保险 证券 航空 咖啡 系统 平台 计划 项目 行动 工程 "
    "课题 专项 "
    "中心 协会 学会 委员会 俱乐部 餐厅 酒店 超市 乐队 手机 平板 电脑 导航 健身房 花园 公园 "
    "小区 总部".split()
)
_RARE_STEM: Final = 1400
_RARE: Final = 150
_RARE_TAGS: Final = frozenset(("n", "nr", "ns", "nz", "nrt", "nrfg", "x", "a", "v", "m", "vn"))
_RARE_NAME: Final = 20
_RARE_BRAND: Final = 300
_RARE_PERSON: Final = 400
_BEFORE_BRAND: Final = frozenset("在去到从用给跟和与被买坐开了辆台家的是".strip()) | {"不是"}
_ALL_HAN: Final = re.compile(rf"[{_HAN}]+")
_FUNCTION: Final = re.compile(
    r"[的了着过是我你他她它这那哪个些么不没很都也就还在家里边面点一两几半]"
)
_FUNCTION_CHARACTERS: Final = frozenset("一不的了着过是有就都也还要会能可")
_BEFORE_RARE: Final = frozenset(
    ("在", "去", "到", "从", "给", "跟", "和", "找", "叫", "用", "被", "由")
)
_POINTERS: Final = frozenset(("那", "这", "哪", "每"))


class Token(NamedTuple):
    """A tagged token; `tag` is one of ICTCLAS, as jieba gives it."""

    text: str
    tag: str
    start: int

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)


Frequency = Callable[[str], int]


def find_names(text: str, tokens: list[Token], frequency: Frequency) -> list[Entity]:
    """Find the names in a text, ordered by start, without overlaps.

    Args:
        text: The text.
        tokens: Its tagged tokens in order.
        frequency: How often a dictionary counts a word; 0 for one it doesn't have.
    """
    strong = [
        *_characters(text),
        *(Entity(text[a:b], kind, a, b) for a, b, kind in find_latin(text)),
    ]
    kept = _merge([], strong)
    starts = frozenset(token.start for token in tokens)
    ends = frozenset(token.end for token in tokens)
    kept = _merge(kept, _titled(text, starts, ends))
    kept = _merge(kept, _suffixed(text, tokens, ends, frequency))
    kept = _merge(kept, _surnames(text, tokens, frequency))
    kept = _merge(kept, _rare_names(tokens, frequency))
    kept = _merge(kept, _tagged(tokens, frequency))
    kept = _merge(kept, _framed(text, tokens, starts, ends, frequency))
    kept = _merge(kept, _rare_objects(tokens, frequency))
    kept = _merge(kept, _siblings(tokens, kept, frequency))
    return sorted(kept, key=lambda e: e.start)


def _merge(kept: list[Entity], more: Iterable[Entity]) -> list[Entity]:
    """Add the longest first of what doesn't overlap."""
    merged = list(kept)
    for entity in sorted(more, key=lambda e: (e.start - e.end, e.start)):
        if all(entity.end <= k.start or entity.start >= k.end for k in merged):
            merged.append(entity)
    return merged


def _characters(text: str) -> Iterator[Entity]:
    """Works in title marks, foreign names with dots, names that a text introduces."""
    for match in _WORK.finditer(text):
        yield Entity(match[1], "work", *match.span(1))
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
        while end not in ends and end - start > 2:
            end -= 1
        if start in starts and end in ends and text[start:end] not in NOT_NAMES:
            yield Entity(text[start:end], "person", start, end)


def _suffixed(
    text: str, tokens: list[Token], ends: frozenset[int], frequency: Frequency
) -> Iterator[Entity]:
    """Organisations, places, projects and products, by the characters that they end with."""
    for match in _SUFFIX.finditer(text):
        if match.end() not in ends:
            continue
        index = next(i for i, token in enumerate(tokens) if token.end >= match.end())
        while tokens[index].start > match.start():
            index -= 1
        begin, stem_tokens = _stem(tokens, index, match.start())
        stem = text[begin : match.start()]
        name = text[begin : match.end()]
        short = len(match.group()) == 1
        if name in NOT_NAMES or stem in GENERIC or len(stem) < 2:
            continue
        if match.group() == "旅游" and tokens[index - 1].tag == "ns":
            continue  # 欧洲旅游 is travel, not a firm
        if match.group() in _WEAK and not _specific(tokens, begin, match.start(), frequency):
            continue
        if short and (stem_tokens > 1 or tokens[index].tag not in _NAME_TAGS):
            continue
        yield Entity(name, _SUFFIX_KIND[match.group()], begin, match.end())


def _specific(tokens: list[Token], begin: int, end: int, frequency: Frequency) -> bool:
    """Whether some token of a stem is a name or a rare word, and none a verb's object."""
    stem = [token for token in tokens if begin <= token.start < end]
    return any(
        token.tag in ("nr", "ns", "nt", "nrt", "nz") or frequency(token.text) <= _RARE_STEM
        for token in stem
    ) and not any(token.tag in ("vn", "a", "an") and len(token.text) > 1 for token in stem[:-1])


def _stem(tokens: list[Token], index: int, suffix: int) -> tuple[int, int]:
    """Walk back over the tokens that name the thing.

    Args:
        tokens: The text's tokens.
        index: The token that holds the suffix's first character.
        suffix: Where the suffix begins.

    Returns:
        Where the stem begins, and how many tokens it has.
    """
    taken: list[Token] = []
    begin = tokens[index].start
    if begin < suffix:
        taken.append(tokens[index])
    for token in reversed(tokens[:index]):
        if token.end != begin or token.tag not in _STEM_TAGS or not _IS_WORD.match(token.text):
            break
        if suffix - token.start > _STEM_CHARACTERS_MAX:
            break
        if len(token.text) == 1 and token.text in _STOPS:
            break
        begin = token.start
        taken.append(token)
    while taken and taken[-1].text in GENERIC:
        begin = taken.pop().end
    return begin, len(taken)


def _surnames(text: str, tokens: list[Token], frequency: Frequency) -> Iterator[Entity]:
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


def _given(surname: Token, following: list[Token]) -> int:
    """Where the given name after a surname ends, or 0: its characters are those of names."""
    first = following[0]
    if len(first.text) > 2 or first.tag in _NEVER_GIVEN or not _ALL_HAN.fullmatch(first.text):
        return 0
    if surname.tag in _NR and first.tag in (*_NR, "x", "nz", "ng"):
        return first.end
    if not GIVEN.issuperset(first.text):
        return 0
    if len(first.text) == 2:
        return first.end if surname.tag in _NR else 0
    if len(following) > 1 and len(following[1].text) == 1 and following[1].text in GIVEN:
        return following[1].end if following[1].tag not in _NEVER_GIVEN else 0
    return first.end if surname.tag in _NR else 0


def _given_end(tokens: list[Token], start: int, after: int) -> int | None:
    """Where a given name after a compound surname ends: at the end of the next short token."""
    if not any(token.start == start for token in tokens):
        return None
    for index, token in enumerate(tokens):
        if token.start == start and token.end == after + 1:
            more = tokens[index + 1 : index + 2]
            single = more and len(more[0].text) == 1 and more[0].text in GIVEN
            return more[0].end if single and more[0].tag not in _NEVER_GIVEN else token.end
        if token.start <= start and token.end > after:
            return token.end if token.end - after <= 2 and token.start == start else None
        if token.start == after:
            plain = token.tag in ("uj", "p", "c", "ul", "x", "uz", "r", "y")
            return None if plain or len(token.text) > 2 else token.end
    return None


def _rare_names(tokens: list[Token], frequency: Frequency) -> Iterator[Entity]:
    """Three characters from a surname on that no everyday words make up."""
    for token in tokens:
        word = token.text
        if len(word) == 3 and word[0] in SURNAMES and token.tag not in ("m", "t", "mq"):
            rare = frequency(word) <= _RARE_NAME
            if (
                rare
                and word[2] not in ENDS_NO_NAME
                and not (frequency(word[:2]) or frequency(word[1:]))
            ):
                yield Entity(word, "person", token.start, token.end)


def _framed(
    text: str,
    tokens: list[Token],
    starts: frozenset[int],
    ends: frozenset[int],
    frequency: Frequency,
) -> Iterator[Entity]:
    """What stands where sites, employers and places stand, and is no everyday word."""
    for pattern, kind in _FRAMES:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            name = match[1]
            if start not in starts or end not in ends or name in GENERIC or name in NOT_NAMES:
                continue
            inside = [t for t in tokens if start <= t.start < end]
            if any(t.tag not in _RARE_TAGS for t in inside) or len(inside) > 2:
                continue
            if frequency(name) <= _RARE and not _FUNCTION.search(name):
                yield Entity(name, kind, start, end)


def _rare_objects(tokens: list[Token], frequency: Frequency) -> Iterator[Entity]:
    """A noun that is in no dictionary, where a shop, a site or a make would stand."""
    for before, token in zip(tokens, tokens[1:], strict=False):
        word = token.text
        if not 2 <= len(word) <= 4 or token.tag not in ("n", "nz", "nr", "ns", "x"):
            continue
        if before.text not in _BEFORE_RARE or before.end != token.start:
            continue
        if word in NOT_NAMES or word in GENERIC or word[-1] in ENDS_NO_NAME:
            continue
        if frequency(word) <= _RARE_NAME and _ALL_HAN.fullmatch(word):
            if not _FUNCTION.search(word):
                yield Entity(word, "other", token.start, token.end)


def _tagged(tokens: list[Token], frequency: Frequency) -> Iterator[Entity]:
    """What jieba itself calls a name, without its usual mistakes."""
    for index, token in enumerate(tokens):
        kind = _TAGS.get(token.tag)
        word = token.text
        if kind is None or len(word) < 2 or word in NOT_NAMES or word in GENERIC:
            continue
        if not _ALL_HAN.fullmatch(word):
            continue
        before = tokens[index - 1] if index else None
        if kind == "person" and not (
            (len(word) > 2 or frequency(word) <= _RARE_PERSON or _familiar(word))
            and ((token.tag == "nrt" and len(word) < 4) or _is_person(word, before))
        ):
            continue
        if kind == "other" and not _is_brand(word, before, frequency(word)):
            continue
        if word.endswith("人") and len(word) > 2 and token.tag in ("ns", "nrt", "nz"):
            yield Entity(word[:-1], "place", token.start, token.end - 1)
        else:
            yield Entity(word, kind, token.start, token.end)


def _familiar(word: str) -> bool:
    return word[0] in _FAMILIAR and word[1] in SURNAMES


def _is_person(word: str, before: Token | None) -> bool:
    """Whether a token that jieba tags as a person's name looks like one where it stands."""
    if before is not None and (before.tag in ("m", "q") or before.text in _POINTERS):
        return False
    return _like_person(word) or _FOREIGN.fullmatch(word) is not None


def _is_brand(word: str, before: Token | None, frequency: int) -> bool:
    """Whether an "other proper noun" stands where a firm or a make would stand."""
    if _NOT_NZ.search(word) or frequency > _RARE_BRAND or len(word) > 3:
        return False
    return before is None or before.tag == "x" or before.text in _BEFORE_BRAND


def _like_person(name: str) -> bool:
    if name[-1] in ENDS_NO_NAME or name[1] in _FUNCTION_CHARACTERS:
        return False
    if name[0] in SURNAMES and 2 <= len(name) <= 4:
        return len(name) < 4 or name[:2] in COMPOUND_SURNAMES
    return name[0] in "小老阿" and len(name) <= 3


def _siblings(tokens: list[Token], kept: list[Entity], frequency: Frequency) -> Iterator[Entity]:
    """In a list of people or places, the short words between them are such as well."""
    known = {(e.start, e.end): e.kind for e in kept if e.kind in ("person", "place")}
    for index, token in enumerate(tokens):
        if not 2 <= len(token.text) <= 3 or not _ALL_HAN.fullmatch(token.text):
            continue
        if token.text in NOT_NAMES or token.text in GENERIC or token.tag not in _SIBLING_TAGS:
            continue
        if frequency(token.text) > _COMMON:
            continue
        for step in (-1, 1):
            at, beyond = index + step, index + 2 * step
            if 0 <= at < len(tokens) and 0 <= beyond < len(tokens) and tokens[at].text == "、":
                kind = known.get((tokens[beyond].start, tokens[beyond].end))
                if kind is not None:
                    yield Entity(token.text, kind, token.start, token.end)
                    break
