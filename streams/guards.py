"""What two texts must have in common to be the same memory: the guard. Pure.

Vectors hardly tell "20 mg" from "40 mg", "eat" from "don't eat", Wednesday from Thursday or Ana
from Anna; so what decides is read off the text, in one canonical form for both languages.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..schemas.ports import Entity

__all__ = ["guard"]

_NEGATIONS: Final = frozenset(
    "not no never none nobody nothing neither nor without cannot stopped quit isn't aren't "
    "wasn't weren't don't doesn't didn't won't "
    "wouldn't can't couldn't shouldn't haven't hasn't hadn't mustn't hate hates hated "
    "dislike dislikes refuse refuses refused cancel "
    "cancelled canceled cancels cancelling fail failed fails unlike unlikely lack lacks "
    "rarely hardly dont doesnt didnt cant wont isnt".split()
)
_ZH_NEGATION: Final = re.compile(r"[不没别未勿莫无非]|讨厌|拒绝|取消|停止|戒")
_DIGITS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?P<sign>[-+](?=\d))?(?P<number>\d+(?:,\d{3})+(?:\.\d+)?"
    r"|\d+(?:[.:]\d+)*)\s?(?P<unit>[%°$€£¥]|(?:st|nd|rd|th)\b|[A-Za-zµ]{1,12}\b"
    r"|[\u4e00-\u9fff])?"
)
_ZH_DIGITS: Final = "零〇一二两三四五六七八九十百千万亿半"
_ZH_NUMBER: Final = re.compile(rf"第?[{_ZH_DIGITS}]+[个]?(?P<unit>[\u4e00-\u9fff])?")
_ZH_IDIOMS: Final = re.compile(
    r"一(?:下|直|样|定|起|般|些|点|旦|切|边|时|共|律|概|会儿|向|方面|致)|第一时间|万一|千万"
    r"|十分(?!钟)|万分|百分之百|一[^，。]一|统一|唯一|专一|九一|之一|一一"
)
_ZH_VALUES: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_ZH_SCALES: Final = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_EN_NUMBERS: Final[dict[str, float]] = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
} | dict(
    (
        *zip(
            "twenty thirty forty fifty sixty seventy eighty ninety hundred".split(),
            range(20, 101, 10),
            strict=True,
        ),
        *zip("first second third fourth fifth".split(), range(1, 6), strict=True),
        ("thousand", 1000),
        ("million", 1_000_000),
        ("dozen", 12),
        ("half", 0.5),
        ("once", 1),
        ("twice", 2),
    )
)


def _named(pairs: str) -> dict[str, str]:
    """Read "name=word,word" entries: word to name."""
    entries = (entry.partition("=") for entry in pairs.split())
    return {word: name for name, _, words in entries for word in words.split(",")}


_DAYS: Final = _named(
    "day1=monday,mondays,mon day2=tuesday,tuesdays,tue,tues day3=wednesday,wednesdays,wed "
    "day4=thursday,thursdays,thu day5=friday,fridays,fri day6=saturday,saturdays "
    "day7=sunday,sundays"
)
_MONTHS: Final = _named(
    "month1=january,jan month2=february,feb month3=march month4=april,apr month5=may "
    "month6=june,jun month7=july,jul month8=august,aug month9=september,sept,sep "
    "month10=october,oct month11=november,nov month12=december,dec"
)
_TIME_WORDS: Final = _named(
    "today=today tonight=tonight tomorrow=tomorrow yesterday=yesterday morning=morning,mornings "
    "afternoon=afternoon,afternoons evening=evening,evenings night=night,nights noon=noon "
    "midnight=midnight am=am pm=pm weekend=weekend,weekends daily=daily weekly=weekly "
    "monthly=monthly yearly=yearly spring=spring summer=summer autumn=autumn,fall winter=winter "
    "last=last next=next before=before after=after always=always sometimes=sometimes "
    "usually=usually left=left right=right"
)
_ZH_DAY: Final = re.compile(r"(?:上|下|这|本)*(?:个)?(?:周|星期|礼拜)([一二三四五六日天])")
_ZH_TIME: Final = re.compile(
    r"今天|明天|昨天|后天|前天|今年|明年|去年|前年|早上|上午|中午|下午|晚上|凌晨|周末|春天"
    r"|夏天|秋天|冬天|上周|下周|这周|上个?月|下个?月|这个?月|每天|每周|每月|每年|之前|之后"
    r"|以前|以后|月初|月底|年初|年底|春节|中秋|国庆|元旦|左|右"
)
_ZH_TIME_NAMES: Final = _named(
    "today=今天 tomorrow=明天 yesterday=昨天 morning=早上,上午 afternoon=下午 evening=晚上 "
    "weekend=周末 daily=每天 weekly=每周 monthly=每月 yearly=每年"
)
_WORD: Final = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_UNITS: Final = _named(
    "kg=kilo,kilos,kilogram,kilograms hour=hours,hrs,h minute=minutes,mins,min day=days,天 "
    "week=weeks,周 month=months,月 year=years,年 %=percent date=日,号 clock=点 age=岁 mg=毫 "
    "time=times,次 =个,st,nd,rd,th"
)
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_MONTHS_IN_CAPITALS: Final = frozenset(("may", "march", "sep", "jan"))
_SCALE_MIN: Final = 100
_VAGUE: Final = frozenset(("one", "second", "first", "once"))
_COUNTED: Final = frozenset(
    ("day", "week", "month", "year", "hour", "minute", "kid", "child", "time", "dog", "cat")
)
_NO_UNITS: Final = frozenset(
    "and or of in on at to for the a an is are was with by not but from than if as i we it he "
    "she".split()
)


def guard(text: str, entities: Sequence[Entity]) -> str:
    """Return the canonical form of what must not differ between duplicates.

    Args:
        text: The text.
        entities: Names in it.

    Returns:
        Negation, numbers with units, dates and times, and names, in a fixed order; equal for
        texts that may be merged, different for ones that must never be.
    """
    plain = text.replace("’", "'")
    words = _WORD.findall(plain)
    lower = [word.lower() for word in words]
    negations = sum(word in _NEGATIONS for word in lower)
    times = set(_english_times(words, lower))
    numbers = [*_digits(plain), *_english_numbers(lower)]
    if _HAN.search(plain):
        negations += len(_ZH_NEGATION.findall(plain))
        times.update(_chinese_times(plain))
        numbers.extend(_chinese_numbers(plain))
    return "|".join(
        (
            f"not:{negations}",
            f"names:{','.join(sorted(_names(entities)))}",
            f"times:{','.join(sorted(times))}",
            f"numbers:{','.join(sorted(numbers))}",
        )
    )


def _names(entities: Sequence[Entity]) -> set[str]:
    return {" ".join(entity.name.casefold().split()) for entity in entities}


def _english_times(words: Sequence[str], lower: Sequence[str]) -> Iterator[str]:
    for word, low in zip(words, lower, strict=True):
        known = _DAYS.get(low) or _TIME_WORDS.get(low)
        if known is not None:
            yield known
        elif low in _MONTHS and (low not in _MONTHS_IN_CAPITALS or word[0].isupper()):
            yield _MONTHS[low]


def _chinese_times(text: str) -> Iterator[str]:
    for match in _ZH_DAY.finditer(text):
        yield f"day{'一二三四五六日'.index(match[1].replace('天', '日')) + 1}"
    for match in _ZH_TIME.finditer(text):
        yield _ZH_TIME_NAMES.get(match.group(), match.group())


def _digits(text: str) -> Iterator[str]:
    for match in _DIGITS.finditer(text):
        number = match["number"].replace(",", "")
        if "." in number and ":" not in number:
            number = number.rstrip("0").rstrip(".")
        yield f"{match['sign'] or ''}{_scaled(number, match['unit'])}"


def _chinese_numbers(text: str) -> Iterator[str]:
    plain = _ZH_DAY.sub("", _ZH_IDIOMS.sub("", text))
    for match in _ZH_NUMBER.finditer(plain):
        body = match.group().removesuffix(match["unit"] or "")
        digits = "".join(c for c in body if c in _ZH_DIGITS)
        if digits:
            yield f"{_chinese_value(digits)}{_unit(match['unit'])}"


def _english_numbers(lower: Sequence[str]) -> Iterator[str]:
    """Numbers in words: "three kids", "twenty-five", "two hundred"."""
    index = 0
    while index < len(lower):
        value = _EN_NUMBERS.get(lower[index])
        index += 1
        if value is None:
            continue
        first = lower[index - 1]
        while index < len(lower) and lower[index] in _EN_NUMBERS:
            more = _EN_NUMBERS[lower[index]]
            value = value * more if more >= _SCALE_MIN else value + more
            index += 1
            first = ""
        unit = lower[index] if index < len(lower) else ""
        if first in _VAGUE and unit not in _COUNTED:
            continue  # "no one", "the first thing", "a second": rarely a number
        yield f"{value:g}{_unit(unit)}"


def _scaled(number: str, unit: str | None) -> str:
    if unit == "万" and number.replace(".", "").isdigit():
        return f"{float(number) * 10_000:.15g}"
    if unit in ("k", "K") and number.replace(".", "").isdigit():
        return f"{float(number) * 1000:.15g}"
    return f"{number}{_unit(unit)}"


def _unit(unit: str | None) -> str:
    if not unit or unit.lower() in _NO_UNITS:
        return ""
    lower = unit.lower()
    known = _UNITS.get(lower)
    if known is not None:
        return known
    return lower if lower.isascii() else ""


def _chinese_value(digits: str) -> str:
    """Read a Chinese number: 二十三, 一百零五, 两万, 一九八七."""
    if digits == "半":
        return "0.5"
    if not any(c in _ZH_SCALES for c in digits):
        return "".join(str(_ZH_VALUES.get(c, ".5")) for c in digits)
    total, section, current = 0, 0, 0
    half = digits.endswith("半")
    for character in digits:
        if character in _ZH_VALUES:
            current = _ZH_VALUES[character]
        elif character in ("万", "亿"):
            section = (section + current) or 1
            total = (total + section) * _ZH_SCALES[character]
            section = current = 0
        elif character in _ZH_SCALES:
            section += (current or 1) * _ZH_SCALES[character]
            current = 0
    if current and len(digits) > 1 and digits[-2] in "百千万":
        current *= _ZH_SCALES[digits[-2]] // 10  # 一万八 is 18 000
    if half and len(digits) > 1 and digits[-2] in "百千万":
        return str(total + section + _ZH_SCALES[digits[-2]] // 2)
    return f"{total + section + current}{'.5' if half else ''}"
