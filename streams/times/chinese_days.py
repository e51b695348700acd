"""Chinese days: dates, weekdays, months, quarters and seasons, bare or placed."""

import re
from datetime import date
from typing import Final

from .calendars import valid_date, year_of
from .chinese_feasts import NUMBER_HEADS, YEAR_BEFORE, YEAR_HEADS, in_year, year_of_match
from .chinese_words import (
    COUNT,
    DAY_NUMBER,
    MONTH_NUMBER,
    TURN,
    WEEK,
    WEEKDAY_NUMBER,
    YEAR,
    chinese_number,
    turn_step,
    weekday_of,
)
from .counted import turn_of
from .english_words import END, WEEKDAY, weekday_number
from .festivals import lunar_day
from .named_days import (
    ONE_DAY,
    Name,
    Picked,
    coming,
    date_of,
    day_of_month,
    half_year,
    latest,
    month,
    month_stretch,
    placed,
    quarter,
    season,
    week_stretch,
    weekday,
    weekend,
    year_stretch,
)
from .time_cursor import Cursor, Rule
from .time_values import Found, picked, void

__all__ = ["CHINESE_DAYS"]

_NO_MEASURE: Final = (
    r"(?!个(?!别|人)|次|遍|趟|顿|种|件|条|天(?!气|空|亮|黑|津|上)|节(?!目|日|奏)|小时|分钟)"
)
_NOT_ONE: Final = (
    r"(?!(?<=一)(?:共|直|般|定|样|些|点|下|切|再|律|旦|向|边|起(?=去|来|吃|玩|看|学|聊)))"
)
_LONGEST: Final = 31
_OTHERS: Final = frozenset({"sat", "sun"})
"""English short names that are other things as well, unless they are written as names."""
_DAYS: Final = {
    "大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "昨儿": -1, "今天": 0,
    "今日": 0, "今儿": 0, "明天": 1, "明日": 1, "明儿": 1, "后天": 2, "后日": 2, "大后天": 3,
    "大前儿": -3, "前儿": -2, "后儿": 2, "大后儿": 3, "昨个": -1, "今个": 0, "明个": 1,
    "大大前天": -4, "大大后天": 4,
}  # fmt: skip


def _day(match: re.Match[str], cursor: Cursor) -> Found:
    return picked(match.end(), turn_of(cursor.reading, "day", _DAYS[match["day"]]))


def _weekday(match: re.Match[str], cursor: Cursor) -> Found:
    name = weekday(weekday_of(match["day"]))
    return _placed_weekday(match, name, cursor) if match["turn"] else Found(match.end(), name=name)


def _placed_weekday(match: re.Match[str], name: Name, cursor: Cursor) -> Found:
    reading, turn = cursor.reading, match["turn"]
    choice = placed(name, reading, turn_step(turn))
    this = placed(name, reading, 0)
    if choice is None or this is None:
        return void(match.end())
    sure, loose = True, match["loose"] and not match["whole"]
    if loose and turn == "上":
        sure = this.days[1] > reading.today  # else this week's may be meant
    if loose and turn == "下":
        sure = this.days[0] <= reading.today
    return picked(match.end(), Picked(choice.days, sure))


def _english_weekday(match: re.Match[str], cursor: Cursor) -> Found | None:
    """Read 上周 Friday as 上周五."""
    word, at = match["english"].rstrip("."), match.start("english")
    if word in _OTHERS and cursor.text[at : at + 2] != word[:2].capitalize():
        return None
    return _placed_weekday(match, weekday(weekday_number(word)), cursor)


def _week(match: re.Match[str], cursor: Cursor) -> Found:
    return picked(match.end(), turn_of(cursor.reading, "week", turn_step(match["turn"])))


def _weekend(match: re.Match[str], cursor: Cursor) -> Found:
    if not match["turn"]:
        return Found(match.end(), name=weekend())
    return picked(match.end(), placed(weekend(), cursor.reading, turn_step(match["turn"])))


def _week_part(match: re.Match[str], cursor: Cursor) -> Found:
    name = week_stretch(0, 2) if match["part"] == "初" else week_stretch(1, 3)
    if not match["turn"]:
        return Found(match.end(), name=name)
    return picked(match.end(), placed(name, cursor.reading, turn_step(match["turn"])))


def _month_turn(match: re.Match[str], cursor: Cursor) -> Found:
    """Read 上个月, with a day, a third or an end of it."""
    reading, last = cursor.reading, match.end()
    step = turn_step(match["turn"])
    if match["date"]:
        name = day_of_month(chinese_number(match["date"]))
    elif match["part"]:
        name = _month_part(match["part"], None)
    else:
        return picked(last, turn_of(reading, "month", step))
    return picked(last, placed(name, reading, step))


_MONTH_PARTS: Final[dict[str, tuple[int, int | None, bool]]] = {
    "上旬": (1, 11, True), "中旬": (11, 21, True), "下旬": (21, None, True), "初": (1, 8, False),
    "底": (-6, None, False), "末": (-6, None, False), "中": (11, 21, False),
    "月初": (1, 8, False), "月底": (-6, None, False), "月末": (-6, None, False),
    "月中": (11, 21, False), "头": (1, 8, False), "尾": (-6, None, False),
    "月头": (1, 8, False), "月尾": (-6, None, False),
}  # fmt: skip
_YEAR_PARTS: Final = {"初": (1, 2), "中": (6, 2), "底": (12, 1), "末": (12, 1), "尾": (12, 1)}


def _month_part(word: str, number: int | None) -> Name:
    first, end, sure = _MONTH_PARTS[word]
    return month_stretch(number, first, end, sure=sure)


def _date(match: re.Match[str], cursor: Cursor) -> Found:
    last, year = match.end(), year_of_match(match, cursor)
    number, day = chinese_number(match["month"]), chinese_number(match["date"])
    if year is not None:
        whole = valid_date(year, number, day)
        return Found(last, days=(whole, whole + ONE_DAY)) if whole else void(last)
    if valid_date(2024, number, day) is None:  # a leap year has every day that exists
        return void(last)
    return Found(last, name=date_of(number, day))


def _spoken(match: re.Match[str], cursor: Cursor) -> Found:
    """Read 八月十五 without 号: the lunar feast for most; other such dates may be of either."""
    if _JOINED.match(cursor.low, match.end()):
        return _date(match, cursor)
    if (match["month"], match["date"]) != ("八", "十五"):
        return void(match.end())
    return in_year(lunar_day(8, 15, sure=False), year_of_match(match, cursor), match.end())


_JOINED: Final = re.compile(r"(?:到|至|-|~)[一二三四五六七八九十\d]+(?:月|号|日)")


def _nth_day(match: re.Match[str], _: Cursor) -> Found:
    day = chinese_number(match["date"])
    return Found(match.end(), name=day_of_month(day)) if day <= _LONGEST else void(match.end())


def _month(match: re.Match[str], cursor: Cursor) -> Found:
    number, word = chinese_number(match["month"]), match["part"]
    name = _month_part(word, number) if word else month(number)
    return in_year(name, year_of_match(match, cursor), match.end())


def _no_date(match: re.Match[str], _: Cursor) -> Found:
    return void(match.end())


def _bare_part(match: re.Match[str], _: Cursor) -> Found:
    return Found(match.end(), name=_month_part(match[0], None))


def _year_part(match: re.Match[str], cursor: Cursor) -> Found:
    name = year_stretch(*_YEAR_PARTS[match["part"]])
    return in_year(name, year_of_match(match, cursor), match.end())


def _new_year(match: re.Match[str], cursor: Cursor) -> Found:
    return in_year(year_stretch(*_YEAR_PARTS["初"]), year_of_match(match, cursor), match.end())


def _whole_year(match: re.Match[str], cursor: Cursor) -> Found | None:
    year = year_of_match(match, cursor)
    return None if year is None else Found(match.end(), days=year_of(year))


def _first_year(match: re.Match[str], _: Cursor) -> Found:
    return Found(match.end(), days=year_of(int(match[0])))


def _decade(match: re.Match[str], _: Cursor) -> Found:
    century = {
        "上世纪": 1900,
        "上个世纪": 1900,
        "二十世纪": 1900,
        "20世纪": 1900,
        "本世纪": 2000,
        "21世纪": 2000,
    }
    if len(match["tens"]) == len("2010"):
        first = int(match["tens"])
        return Found(match.end(), days=(date(first, 1, 1), date(first + 10, 1, 1)))
    word = match["tens"].removesuffix("十") if not match["tens"].isdigit() else match["tens"]
    tens = int(word) if word.isdigit() else 10 * (chinese_number(word) if word else 1)
    first = century[match["century"] or "上世纪"] + tens
    return Found(match.end(), days=(date(first, 1, 1), date(first + 10, 1, 1)))


def _quarter(match: re.Match[str], cursor: Cursor) -> Found:
    return in_year(quarter(chinese_number(match["q"])), year_of_match(match, cursor), match.end())


def _quarter_turn(match: re.Match[str], cursor: Cursor) -> Found:
    return picked(match.end(), turn_of(cursor.reading, "quarter", turn_step(match["turn"])))


def _half(match: re.Match[str], cursor: Cursor) -> Found:
    name = half_year(1 if match["half"] == "上" else 2)
    return in_year(name, year_of_match(match, cursor), match.end())


def _season(match: re.Match[str], cursor: Cursor) -> Found:
    reading, last = cursor.reading, match.end()
    name = season("春夏秋冬".index(match["season"]), reading.zone)
    if match["turn"]:
        turn = turn_step(match["turn"])
        choice = (
            latest(name, reading)
            if turn < 0
            else coming(name, reading)
            if turn
            else placed(name, reading, 0)
        )
        return picked(last, choice)
    return in_year(name, year_of_match(match, cursor), last)


_NOT_HOUSE: Final = (
    r"(?!楼|线|店|机|房|桌|码|院|门|馆|厅|公路|文件|选手|员工|球|床|车|柜|台|位|仓|电池|味|粉|用)"
)


_WEEK_HEADS: Final = "大 上 这 本 下 周"

CHINESE_DAYS: Final = (
    Rule(
        f"{YEAR_HEADS} {NUMBER_HEADS}",
        rf"{YEAR_BEFORE}(?P<month>{MONTH_NUMBER})月(?:份的?)?(?:(?P<date>{DAY_NUMBER})(?:号|日(?!常"
        r"|程|子|记|报))|(?P<digits>\d\d?)(?![\d点:.个天次月年]))",
        lambda match, cursor: _date(match, cursor) if match["date"] else _digits(match, cursor),
    ),
    Rule(
        f"{YEAR_HEADS} {NUMBER_HEADS}",
        rf"{YEAR_BEFORE}(?P<month>[一二三四五六七八九]|十[一二]?)月(?P<date>十[一二三四五六七八九]?"
        r"|[二三]十[一二三四五六七八九]?)(?![个天次月年万千百块元])",
        _spoken,
    ),
    Rule(
        f"{YEAR_HEADS} {NUMBER_HEADS}",
        rf"{YEAR_BEFORE}(?P<month>{MONTH_NUMBER})月(?:份)?(?:的?(?P<part>上旬|中旬|下旬"
        r"|初(?![一二三四五六七八九十])|底|末|头(?![一几两三个天])|尾|中(?!间|旬|秋|午|国)))?",
        _month,
    ),
    Rule(
        "上 这 本 下",
        rf"(?P<turn>{TURN})一?(?:个)?月(?:份)?的?(?:(?P<date>{DAY_NUMBER})(?:号|日){_NOT_HOUSE}"
        r"|月?(?P<part>上旬|中旬|下旬|初|底|末|头(?![一几两三个天])|尾|中(?!间)))?(?<!的)",
        _month_turn,
    ),
    Rule(
        "大 上 这 本 下 周", rf"(?:(?P<turn>{TURN})(?:一?个)?)?(?:周末|周六日(?!程|记))", _weekend
    ),
    Rule(
        f"{_WEEK_HEADS} 星 礼",
        rf"(?:(?P<turn>{TURN})(?P<loose>一?个)?(?P<whole>{WEEK}的?(?={WEEK}))?)?"
        rf"{WEEK}(?P<day>{WEEKDAY_NUMBER}){_NO_MEASURE}{_NOT_ONE}",
        _weekday,
    ),
    Rule(
        "大 上 这 本 下 周",
        rf"(?:(?P<turn>{TURN})(?:一?个)?)?周(?P<part>初|中)(?!间|旬)",
        _week_part,
    ),
    Rule(
        "大 上 这 本 下",
        rf"(?P<turn>{TURN})(?P<loose>一?个)?(?P<whole>(?:{WEEK}的?)?) ?(?P<english>{WEEKDAY})",
        _english_weekday,
    ),
    Rule(
        "大 上 这 本 下",
        rf"(?P<turn>{TURN})(?:一?个)? ?weekend{END}",
        _weekend,
    ),
    Rule("大 上 这 本 下", rf"(?P<turn>{TURN})(?:一?个|一)?{WEEK}(?!末|刊|报|游|围)", _week),
    Rule("大 上 这 本 下", r"(?P<turn>上上|上|这|本|下)(?:一?个|一)?季度", _quarter_turn),
    Rule(f"{YEAR_HEADS} {NUMBER_HEADS} 第", rf"{YEAR_BEFORE}第?(?P<q>[一二三四1-4])季度", _quarter),
    Rule(f"{YEAR_HEADS} q", rf"{YEAR_BEFORE}q(?P<q>[1-4])(?!\d)", _quarter),
    Rule(f"{YEAR_HEADS} 上 下", rf"{YEAR_BEFORE}(?P<half>上|下)半年", _half),
    Rule(
        f"{YEAR_HEADS} 春 夏 秋 冬 这",
        rf"(?:{YEAR}的?|(?P<turn>上|这|下)一?个)?(?P<season>[春夏秋冬])[天季]",
        _season,
    ),
    Rule(
        f"{YEAR_HEADS} 开",
        rf"{YEAR_BEFORE}开年(?!会|货)",
        _new_year,
    ),
    Rule(
        f"{YEAR_HEADS} 年",
        rf"{YEAR_BEFORE}年?(?P<part>[初底末尾中])(?<=年.)(?![一二三四五六七八九]|国|文|心)",
        _year_part,
    ),
    Rule(f"{NUMBER_HEADS} 〇", rf"{COUNT}月份?{COUNT}[号日]", _no_date),
    Rule("月", r"月(?:初|底|末|头(?![一几两三个天])|尾|中(?!间))", _bare_part),
    Rule("上 中 下", r"[上中下]旬", _bare_part),
    Rule(
        "上 二 2 # 本",
        r"(?P<century>上个?世纪|二十世纪|20世纪|本世纪|21世纪)(?P<tens>[1-9]0"
        r"|[一二三四五六七八九]?十)年代",
        _decade,
    ),
    Rule(
        "# 七 八 九 六 五",
        r"(?P<century>(?!))?(?P<tens>(?:19|20)\d0|[5-9]0|[五六七八九]十)年代",
        _decade,
    ),
    Rule("#", r"(?:19|20)\d\d(?=(?:到|至|-|~|～|—)(?:19|20)\d\d年)", _first_year),
    Rule(YEAR_HEADS, rf"{YEAR}(?!级|代|款|版|会)", _whole_year),
    Rule(
        "大 前 昨 今 明 后",
        rf"(?P<day>{'|'.join(sorted(_DAYS, key=len, reverse=True))})(?:(?<=儿)个(?!月)|(?<=个)儿"
        r"|(?<!儿)(?<!个)|(?<=儿)(?![子女孙媳童科歌])|(?<=个)(?![月头子别人儿]))",
        _day,
    ),
    Rule(
        NUMBER_HEADS + " 廿",
        rf"(?P<date>{DAY_NUMBER})(?:号{_NOT_HOUSE}|日(?!游|元|本|子|常))",
        _nth_day,
    ),
)


def _digits(match: re.Match[str], cursor: Cursor) -> Found:
    # 6月15 without 号, in digits, is a date of our calendar.
    day, number = int(match["digits"]), chinese_number(match["month"])
    year = year_of_match(match, cursor)
    whole = valid_date(year or 2024, number, day)
    if whole is None:
        return void(match.end())
    if year is not None:
        return Found(match.end(), days=(whole, whole + ONE_DAY))
    return Found(match.end(), name=date_of(number, day))
