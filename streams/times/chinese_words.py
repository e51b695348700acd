"""Chinese words of time: numbers and the pieces of patterns."""

from typing import Final

__all__ = [
    "CLOCK_PARTS",
    "COUNT",
    "DAY_NUMBER",
    "MONTH_NUMBER",
    "TURN",
    "WEEK",
    "WEEKDAY_NUMBER",
    "YEAR",
    "chinese_number",
    "turn_step",
    "weekday_of",
    "year_of_words",
]

_DIGITS: Final = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6,
                  "七": 7, "八": 8, "九": 9, "俩": 2, "仨": 3}  # fmt: skip
_NUMERALS: Final = "零〇一二两三四五六七八九十百廿卅"
COUNT: Final = rf"(?:\d{{1,4}}|[{_NUMERALS}]{{1,6}}|俩|仨)"
MONTH_NUMBER: Final = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
DAY_NUMBER: Final = (
    r"(?:[12]\d|3\d|0?[1-9]|[二廿]十?[一二三四五六七八九]|[二三]十[一二]?|十[一二三四五六七八九]?"
    r"|廿[一二三四五六七八九]?|[一二三四五六七八九])"
)
WEEK: Final = r"(?:周|星期|礼拜)"
WEEKDAY_NUMBER: Final = r"[一二三四五六日天]"
TURN: Final = r"(?:大上|上上|下下|上|这|本|下)"
YEAR: Final = (
    r"(?:(?P<turned>大前年|大后年|前年|去年|今年|明年|后年|本年度?|上一年|下一年)"
    r"|(?P<year>(?:19|20)\d\d|[一二][零〇九][零〇一二三四五六七八九]{2})年"
    r"|(?P<short>\d\d)年(?=\d{1,2}月|[上下]半年|第?[一二三四]季度|[春夏秋冬][天季]|年?[初底末]))"
)
"""A year before something else, or alone."""

_YEARS: Final = {
    "大前年": -3, "前年": -2, "去年": -1, "上一年": -1, "今年": 0, "本年": 0, "本年度": 0,
    "明年": 1, "下一年": 1, "后年": 2, "大后年": 3,
}  # fmt: skip
_AHEAD_MAX: Final = 20
_TURNS: Final = {"上上": -2, "大上": -2, "上": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}
CLOCK_PARTS: Final = {
    "凌晨": "small hours", "清晨": "early morning", "早上": "morning", "早晨": "morning",
    "上午": "morning", "中午": "noon", "正午": "noon", "下午": "afternoon", "午后": "afternoon",
    "傍晚": "dusk", "黄昏": "dusk", "晚上": "night", "晚间": "night", "夜晚": "night",
    "半夜": "deep night", "夜里": "deep night", "大半夜": "deep night", "深夜": "late night",
    "大清早": "early morning", "清早": "early morning", "一大早": "early morning",
    "大早上": "morning", "头晌": "morning", "前晌": "morning", "前半晌": "morning",
    "上半晌": "morning", "晌午": "noon", "大中午": "noon", "后晌": "afternoon",
    "下晌": "afternoon", "后半晌": "afternoon", "下半晌": "afternoon", "傍黑": "dusk",
    "擦黑": "dusk", "大晚上": "night", "前半夜": "evening",
    "上半夜": "evening", "后半夜": "after midnight", "下半夜": "after midnight",
}  # fmt: skip


def chinese_number(word: str) -> int:
    """Return the number of digits or numerals: 12, 十二, 二十三, 廿三, 一百零五, 二〇二四."""
    if word.isdigit():
        return int(word)
    word = word.replace("廿", "二十").replace("卅", "三十").replace("二十十", "二十")
    if len(word) > 1 and not set(word) & {"十", "百"}:
        return int("".join(str(_DIGITS[one]) for one in word))
    total = digit = 0
    for one in word:
        if one in _DIGITS:
            digit = _DIGITS[one]
        else:
            total += (digit or 1) * (10 if one == "十" else 100)
            digit = 0
    return total + digit


def weekday_of(word: str) -> int:
    """Return 0 for 一, 6 for 日 and 天."""
    return "一二三四五六日".index("日" if word == "天" else word)


def turn_step(word: str) -> int:
    """Return how many units 上, 这, 下下 are from the running one."""
    return _TURNS[word]


def year_of_words(turned: str | None, year: str | None, short: str | None, this: int) -> int | None:
    """Return the year that the groups of YEAR name, None where there is none."""
    if turned:
        return this + _YEARS[turned]
    if year:
        return chinese_number(year)
    if not short:
        return None
    # 98年3月 is of the last century: no one speaks of a year so far ahead in two digits.
    return int(short) + (2000 if 2000 + int(short) <= this + _AHEAD_MAX else 1900)
