"""Names in Chinese text by rules over tagged tokens and characters; no vendor here.

What a tagger cuts apart (rare names, projects, shops) is put together again from surnames,
titles, the last characters that names of a kind share, and the places in a sentence where names
stand.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from ..schemas.ports import Entity, EntityKind
from .chinese_gazetteer import KNOWN_NAMES
from .chinese_people import find_people, is_tagged_person
from .chinese_tokens import ALL_HAN, HAN, NAME_CHARACTERS_MAX, NAME_CHARACTERS_MIN, Frequency, Token
from .chinese_words import ENDS_NO_NAME, GENERIC, NOT_NAMES, SUFFIX_KINDS
from .latin import find_latin

__all__ = ["find_names"]

_TAGS: Final[dict[str, EntityKind]] = {
    "nr": "person",
    "nrt": "person",
    "nrfg": "person",
    "ns": "place",
    "nt": "organization",
    "nz": "other",
}
_WORK: Final = re.compile(r"《([^《》\n]{1,40})》")
_NOT_NZ: Final = re.compile(
    r"[语文份版代期码星族教式剂化酸盐赛奖水片级霜]$|^第|^[一二三四五六七八九十零\d]"
)
_SUFFIX_KIND: Final[dict[str, EntityKind]] = {
    suffix: kind for kind, group in SUFFIX_KINDS.items() for suffix in group
}
_STEM_TAGS: Final = frozenset("n nr ns nt nz nrt nrfg b a ng i an vn j s x zg".split())
_NAME_TAGS: Final = frozenset(("n", "nr", "ns", "nz", "nrt", "nrfg", "nt"))
_STEM_CHARACTERS_MAX: Final = 8
_SUFFIX: Final = re.compile("|".join(sorted(_SUFFIX_KIND, key=len, reverse=True)))
_IS_WORD: Final = re.compile(rf"[{HAN}\w]")
_STOPS: Final = frozenset("的新老大小家店在去到和跟与把被让给从向个只")
_FRAMES: Final[tuple[tuple[re.Pattern[str], EntityKind], ...]] = (
    (re.compile(rf"[在从]([{HAN}]{{2,4}}?)(?:上面?|里面?|给)(?![{HAN}]?[班学])"), "product"),
    (
        re.compile(
            rf"(?:跳到|跳槽到|跳去|入职|加入|离开|去了)了?([{HAN}]{{2,4}}?)"
            rf"(?=[，。,.！!；;\s]|做|当|上班|工作|实习|$)"
        ),
        "organization",
    ),
    (re.compile(rf"在([{HAN}]{{2,6}}?)(?:上班|工作|实习|任职|做了|干了|待了|当)"), "organization"),
    (re.compile(rf"[在去到飞]([{HAN}]{{2,4}}?)(?:住|旅游|旅行|度假|出差|玩|转机|附近)"), "place"),
)
_KNOWN: Final = re.compile("|".join(sorted(KNOWN_NAMES, key=len, reverse=True)))
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
_FRAMED_TOKENS_MAX: Final = 2
_BRAND_CHARACTERS_MAX: Final = 3
_RARE_NAME: Final = 20
_RARE_BRAND: Final = 300
_BEFORE_BRAND: Final = frozenset("在去到从用给跟和与被买坐开了辆台家的是") | {"不是"}
_FUNCTION: Final = re.compile(
    r"[的了着过是我你他她它这那哪个些么不没很都也就还在家里边面点一两几半]"
)
_BEFORE_RARE: Final = frozenset(
    ("在", "去", "到", "从", "给", "跟", "和", "找", "叫", "用", "被", "由")
)


def find_names(text: str, tokens: Sequence[Token], frequency: Frequency) -> list[Entity]:
    """Find the names in a text, ordered by start, without overlaps.

    Args:
        text: The text.
        tokens: Its tagged tokens in order.
        frequency: How often a dictionary counts a word; 0 for one it doesn't have.
    """
    works = [Entity(match[1], "work", *match.span(1)) for match in _WORK.finditer(text)]
    latin = [Entity(text[a:b], kind, a, b) for a, b, kind in find_latin(text)]
    introduced, titled, surnames, rare = find_people(text, tokens, frequency)
    kept = _merge([], [*works, *latin, *introduced])
    kept = _merge(kept, titled)
    kept = _merge(kept, _suffixed(text, tokens, frequency))
    kept = _merge(kept, _known(text, tokens, frequency))
    kept = _merge(kept, surnames)
    kept = _merge(kept, rare)
    kept = _merge(kept, _tagged(tokens, frequency))
    kept = _merge(kept, _framed(text, tokens, frequency))
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


def _suffixed(text: str, tokens: Sequence[Token], frequency: Frequency) -> Iterator[Entity]:
    """Organisations, places, projects and products, by the characters that they end with."""
    ends = frozenset(token.end for token in tokens)
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
        if name in NOT_NAMES or stem in GENERIC or len(stem) < NAME_CHARACTERS_MIN:
            continue
        if text[match.end() : match.end() + 1] == "了":
            continue  # 学会了 is a verb
        if match.group() == "旅游" and tokens[index - 1].tag == "ns":
            continue  # 欧洲旅游 is travel, not a firm
        if match.group() in _WEAK and not _specific(tokens, begin, match.start(), frequency):
            continue
        if short and (stem_tokens > 1 or tokens[index].tag not in _NAME_TAGS):
            continue
        yield Entity(name, _SUFFIX_KIND[match.group()], begin, match.end())


def _specific(tokens: Sequence[Token], begin: int, end: int, frequency: Frequency) -> bool:
    """Whether some token of a stem is a name or a rare word, and none a verb's object."""
    stem = [token for token in tokens if begin <= token.start < end]
    return any(
        token.tag in ("nr", "ns", "nt", "nrt", "nz") or frequency(token.text) <= _RARE_STEM
        for token in stem
    ) and not any(token.tag in ("vn", "a", "an") and len(token.text) > 1 for token in stem[:-1])


def _stem(tokens: Sequence[Token], index: int, suffix: int) -> tuple[int, int]:
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


def _known(text: str, tokens: Sequence[Token], frequency: Frequency) -> Iterator[Entity]:
    """Names that everybody knows; those in the dictionary only where it cuts around them."""
    starts = {token.start for token in tokens}
    ends = {token.end for token in tokens}
    for match in _KNOWN.finditer(text):
        name = match.group()
        whole = match.start() in starts and match.end() in ends
        if whole or not frequency(name):
            yield Entity(name, KNOWN_NAMES[name], *match.span())


def _framed(text: str, tokens: Sequence[Token], frequency: Frequency) -> Iterator[Entity]:
    """What stands where sites, employers and places stand, and is no everyday word."""
    starts = frozenset(token.start for token in tokens)
    ends = frozenset(token.end for token in tokens)
    for pattern, kind in _FRAMES:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            name = match[1]
            if start not in starts or end not in ends or name in GENERIC or name in NOT_NAMES:
                continue
            inside = [t for t in tokens if start <= t.start < end]
            if len(inside) > _FRAMED_TOKENS_MAX or not _may_be_name(inside, frequency):
                continue
            if frequency(name) <= _RARE and not _FUNCTION.search(name):
                yield Entity(name, kind, start, end)


def _may_be_name(tokens: Sequence[Token], frequency: Frequency) -> bool:
    """Whether one or two tokens can be a name: none of a clause, and one of them rare."""
    if any(token.tag not in _RARE_TAGS for token in tokens):
        return False
    if len(tokens) > 1 and tokens[0].tag == "v" and len(tokens[0].text) > 1:
        return False  # 在考虑工作
    return min(frequency(token.text) for token in tokens) <= _RARE_BRAND


def _rare_objects(tokens: Sequence[Token], frequency: Frequency) -> Iterator[Entity]:
    """A noun that is in no dictionary, where a shop, a site or a make would stand."""
    for before, token in pairwise(tokens):
        word = token.text
        if not NAME_CHARACTERS_MIN <= len(word) <= NAME_CHARACTERS_MAX or token.tag not in (
            "n",
            "nz",
            "nr",
            "ns",
            "x",
        ):
            continue
        if before.text not in _BEFORE_RARE or before.end != token.start:
            continue
        if word in NOT_NAMES or word in GENERIC or word[-1] in ENDS_NO_NAME:
            continue
        half = len(word) // 2
        compound = frequency(word) or (frequency(word[:half]) and frequency(word[half:]))
        rare = not compound and ALL_HAN.fullmatch(word) is not None
        if rare and not _FUNCTION.search(word):
            yield Entity(word, "other", token.start, token.end)


def _tagged(tokens: Sequence[Token], frequency: Frequency) -> Iterator[Entity]:
    """What jieba itself calls a name, without its usual mistakes."""
    for index, token in enumerate(tokens):
        kind = _TAGS.get(token.tag)
        word = token.text
        if kind is None or len(word) < NAME_CHARACTERS_MIN or word in NOT_NAMES or word in GENERIC:
            continue
        if not ALL_HAN.fullmatch(word):
            continue
        stem = word[:-1]
        if word[-1] == "人" and (stem in KNOWN_NAMES or token.tag in ("ns", "nrt")):
            if len(stem) >= NAME_CHARACTERS_MIN:
                yield Entity(stem, "place", token.start, token.end - 1)
            continue
        before = tokens[index - 1] if index else None
        if kind == "person" and not is_tagged_person(token, before, frequency):
            continue
        if kind == "other" and not _is_brand(word, before, frequency(word)):
            continue
        if (
            word.endswith("人")
            and len(word) > NAME_CHARACTERS_MIN
            and token.tag in ("ns", "nrt", "nz")
        ):
            yield Entity(word[:-1], "place", token.start, token.end - 1)
        else:
            yield Entity(word, kind, token.start, token.end)


def _is_brand(word: str, before: Token | None, frequency: int) -> bool:
    """Whether an "other proper noun" stands where a firm or a make would stand."""
    if _NOT_NZ.search(word) or frequency > _RARE_BRAND or len(word) > _BRAND_CHARACTERS_MAX:
        return False
    return before is None or before.tag == "x" or before.text in _BEFORE_BRAND


def _siblings(
    tokens: Sequence[Token], kept: list[Entity], frequency: Frequency
) -> Iterator[Entity]:
    """In a list of people or places, the short words between them are such as well."""
    known: dict[tuple[int, int], EntityKind] = {
        (e.start, e.end): e.kind for e in kept if e.kind in ("person", "place")
    }
    for index, token in enumerate(tokens):
        if not NAME_CHARACTERS_MIN <= len(
            token.text
        ) < NAME_CHARACTERS_MAX or not ALL_HAN.fullmatch(token.text):
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
