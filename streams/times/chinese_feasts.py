"""Chinese feasts and dates of the lunar calendar, bare or in a year."""

import re
from datetime import date
from typing import Final

from .chinese_words import YEAR, chinese_number, turn_step, year_of_words
from .festivals import feast, feast_span, lunar_day
from .named_days import Name, Picked, latest, placed, upcoming
from .time_cursor import Cursor, Rule
from .time_values import Found, picked, void

__all__ = [
    "CHINESE_FEASTS",
    "NUMBER_HEADS",
    "YEAR_BEFORE",
    "YEAR_HEADS",
    "in_year",
    "year_of_match",
]

YEAR_BEFORE: Final = rf"(?:{YEAR}的?)?"
YEAR_HEADS: Final = "大 前 去 今 明 后 本 上 下 # 一 二"
NUMBER_HEADS: Final = "# 一 二 三 四 五 六 七 八 九 十"
_FEAST_HEADS: Final = (
    "春 大 农 除 年 元 龙 清 端 七 中 鬼 八 重 腊 冬 阳 情 三 妇 植 愚 五 劳 青 六 儿 母 父 "
    "建 教 国 十 "
    "万 光 双 感 黑 平 圣 跨 复 耶 过 这 新"
)


def year_of_match(match: re.Match[str], cursor: Cursor) -> int | None:
    """Return the year that the groups of YEAR name."""
    return year_of_words(match["turned"], match["year"], match["short"], cursor.reading.today.year)


def in_year(name: Name, year: int | None, last: int) -> Found:
    """Return a name of days, in a year if one is named."""
    if year is None:
        return Found(last, name=name)
    try:
        days = name.place(date(year, 1, 1))
    except (ValueError, OverflowError):
        days = None
    if days is None:
        return void(last)
    return Found(last, days=days, sure=name.sure and name.kind != "year end")


_FEASTS: Final = {
    # Patterns; a name that another begins with comes later.
    "spring festival": r"春节|大年初一|农历新年",
    "lunar eve": r"除夕夜?|大年三十|年三十|年夜",
    "lantern": r"元宵节?", "dragon head": r"龙抬头", "qingming": r"清明节?",
    "dragon boat": r"端午节?", "qixi": r"七夕节?", "ghost": r"中元节?|鬼节",
    "mid-autumn": r"中秋节?|八月节", "double ninth": r"重阳节?", "laba": r"腊八节?",
    "dongzhi": r"冬至节?", "new year": r"元旦节?|阳历新年", "valentine": r"情人节",
    "women": r"三八妇女节|三八节|妇女节", "arbor": r"植树节", "fools": r"愚人节",
    "labour": r"五一劳动节|五一节?(?![一二三四五六七八九十百千点])|劳动节",
    "youth": r"五四青年节|青年节",
    "children": r"六一儿童节|六一节?(?![一二三四五六七八九十百千点八])|儿童节",
    "mothers": r"母亲节", "fathers": r"父亲节", "party": r"建党节", "army": r"建军节",
    "teachers": r"教师节", "national": r"国庆节?|十一(?=黄金周|小?长假|假期|期间)",
    "halloween": r"万圣节?前?夜?", "singles": r"光棍节|双十一|双11",
    "double twelve": r"双十二|双12", "thanksgiving": r"感恩节", "black friday": r"黑色星期五",
    "christmas eve": r"平安夜|圣诞前夜", "christmas": r"圣诞节?", "new year eve": r"跨年夜",
    "easter monday": r"复活节星期一|复活节周一", "good friday": r"耶稣受难日",
    "easter": r"复活节", "whole new year": r"过年",
}  # fmt: skip
_KEYS: Final = tuple(_FEASTS)
_FEAST: Final = "|".join(f"(?P<f{number}>{names})" for number, names in enumerate(_FEASTS.values()))
_BUSY: Final = frozenset({"spring festival", "national", "labour"})
_ON_IT: Final = re.compile(r"的?(?:那|当)[天日晚]|大年初一")


def _feast(match: re.Match[str], cursor: Cursor) -> Found:
    reading, last = cursor.reading, match.end()
    key = next(key for number, key in enumerate(_KEYS) if match[f"f{number}"])
    around = match["around"] or key == "whole new year"
    base = "spring festival" if key == "whole new year" else key
    name = (feast_span if around else feast)(base, reading.zone)
    on_it = _ON_IT.match(cursor.low, last) or "大年初一" in match[0]
    busy = base in _BUSY and not on_it and not around
    found: Found
    if match["turn"]:
        step = turn_step(match["turn"])
        choice = latest(name, reading) if step < 0 else _next_or_this(name, cursor, step)
        found = picked(last, choice)
    elif (year := year_of_match(match, cursor)) is not None:
        found = in_year(name, year, last)
    else:
        found = Found(last, name=name) if name.near(reading.today) else void(last)
    return found.unsure() if busy and not found.nothing else found


def _next_or_this(name: Name, cursor: Cursor, step: int) -> Picked | None:
    if step == 0:
        return placed(name, cursor.reading, 0)
    choice = upcoming(name, cursor.reading)
    # Some count from this year's, some from now.
    return choice and Picked(choice.days, choice.days[0].year > cursor.reading.today.year)


_LUNAR_MONTHS: Final = {"正": 1, "冬": 11, "腊": 12}
_LUNAR_DAY: Final = (
    r"(?:初[一二三四五六七八九十]|十[一二三四五六七八九]|二十[一二三四五六七八九]?"
    r"|廿[一二三四五六七八九]?|三十|十"
    r"|\d{1,2})"
)


def _lunar(match: re.Match[str], cursor: Cursor) -> Found:
    word, last = match["month"], match.end()
    number = _LUNAR_MONTHS.get(word) or chinese_number(word)
    if match["date"] is None:
        return void(last)  # a whole lunar month isn't spoken of by the page
    day = chinese_number(match["date"].removeprefix("初"))
    name = lunar_day(number, day, leap=match["leap"] is not None)
    return in_year(name, year_of_match(match, cursor), last)


def _new_year_day(match: re.Match[str], cursor: Cursor) -> Found:
    day = chinese_number(match["date"])
    return in_year(lunar_day(1, day), year_of_match(match, cursor), match.end())


CHINESE_FEASTS: Final = (
    Rule(
        f"{YEAR_HEADS} {_FEAST_HEADS}",
        rf"(?:{YEAR}的?|(?P<turn>上|这|下)一?个)?(?:{_FEAST})(?P<around>(?:的)?(?:黄金周|小?长假"
        r"|假期|期间|前后|放假|假|那几天|那些天|那会儿|那阵子?|那段时间))?",
        _feast,
    ),
    Rule(
        f"{YEAR_HEADS} {NUMBER_HEADS} 农 阴 旧 闰 正 冬 腊",
        rf"{YEAR_BEFORE}(?:(?:农历|阴历|旧历)(?P<leap>闰)?(?P<month>正|冬|腊|十[一二]?"
        r"|[一二三四五六七八九])月"
        rf"(?P<date>{_LUNAR_DAY})?)(?:日|号)?",
        _lunar,
    ),
    Rule(
        f"{YEAR_HEADS} {NUMBER_HEADS} 闰 正 冬 腊",
        rf"{YEAR_BEFORE}(?P<leap>闰)?(?P<month>正|冬|腊)月(?P<date>{_LUNAR_DAY})?",
        _lunar,
    ),
    Rule(
        f"{YEAR_HEADS} {NUMBER_HEADS} 闰",
        rf"{YEAR_BEFORE}(?P<leap>闰)?(?P<month>十[一二]?"
        r"|[一二三四五六七八九])月(?P<date>初[一二三四五六七八九十])",
        _lunar,
    ),
    Rule(
        "闰",
        r"(?P<turned>(?!))?(?P<year>(?!))?(?P<short>(?!))?(?P<leap>闰)(?P<month>十[一二]?"
        rf"|[一二三四五六七八九])月(?P<date>{_LUNAR_DAY})",
        _lunar,
    ),
    Rule(
        f"{YEAR_HEADS} 大", rf"{YEAR_BEFORE}大年初(?P<date>[一二三四五六七八九十])", _new_year_day
    ),
)
