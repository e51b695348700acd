"""Chinese clock times and parts of the day."""

import re
from datetime import UTC, timedelta, timezone
from typing import Final

from .chinese_words import CLOCK_PARTS, chinese_number
from .time_cursor import Cursor
from .time_values import Found, Within, clock, hour_in_part, loosely, part, void

__all__ = ["CLOCK_STARTS", "read_clock", "read_part"]

CLOCK_STARTS: Final = frozenset("".join(CLOCK_PARTS) + "大约差北东台香新首莫迪格世美纽伦巴柏洛悉当")
"""Characters that one may begin with, beside numerals."""
_PART_WORDS: Final = "|".join(sorted(CLOCK_PARTS, key=len, reverse=True))
_PART: Final = re.compile(rf"(?P<part>{_PART_WORDS})(?!茶|好|安|餐|饭|觉|班|市|会|店|板)")
_NUMBER: Final = r"(?:\d{1,2}|二?十[一二三四五六七八九]?|[零〇一二两三四五六七八九])"
_ZONES: Final = {
    "北京": 8,
    "东京": 9,
    "台北": 8,
    "香港": 8,
    "新加坡": 8,
    "首尔": 9,
    "莫斯科": 3,
    "迪拜": 4,
}
_CLOCK: Final = re.compile(
    rf"(?P<loose0>大概|大约|差不多|约)?(?:(?P<city>{'|'.join(_ZONES)})时间|(?P<utc>utc|gmt"
    r"|格林尼治时间|世界时) ?|(?P<foreign>美东|美西|纽约|伦敦|巴黎|柏林|洛杉矶|悉尼|当地)时间)?"
    rf"(?P<part>{_PART_WORDS})?(?P<loose>大概|大约|差不多)?的?"
    rf"(?:(?P<hour>{_NUMBER})(?:点钟?(?!(?<=一点)[都也没儿不小东点])|时(?!候|间|代|期|常|刻|节|尚|区|差))(?P<tail>半|一刻|三刻"
    rf"|整|钟|过?(?P<minute>\d{{1,2}}|[零〇]?[一二三四五六七八九]"
    r"|[一二三四五]?十[一二三四五六七八九]?)分?)?"
    r"|(?P<h>\d{1,2}):(?P<m>\d\d)(?::\d\d)?(?![\d:]))"
    r"(?: ?(?P<utc2>utc|gmt)(?![a-z])(?P<offset>[+-]\d{1,2})?)?"
    r"(?P<around>左右|前后|上下|多)?"
)


def read_clock(cursor: Cursor, at: int, key: str | None) -> Found | None:
    """Read a clock time at a position.

    Args:
        cursor: Of the text.
        at: Where it may begin.
        key: Of the part of the day that is said before it.

    Returns:
        None too where it doesn't say which half of the day.
    """
    match = _CLOCK.match(cursor.low, at)
    if match is None:
        return None
    hour = chinese_number(match["hour"] or match["h"])
    minute = _minute(match)
    if hour > 24 or (minute or 0) > 59:  # noqa: PLR2004 - of a clock
        return None
    if match["foreign"]:
        return void(match.end())
    own = CLOCK_PARTS.get(match["part"] or "")
    if key in {"night", "late night", "deep night"} and own in {None, "small hours", "deep night"}:
        own = key  # 昨晚凌晨两点 is of the same night
    within = _within(match, own or key, hour, minute)
    if within is None:
        return None
    if match["loose0"] or match["loose"] or match["around"] in {"左右", "前后", "上下"}:
        within = loosely(within)
    return Found(match.end(), within=within._replace(zone=_zone(match)))


def _minute(match: re.Match[str]) -> int | None:
    if match["m"]:
        return int(match["m"])
    tails = {"半": 30, "一刻": 15, "三刻": 45}
    if match["tail"] in tails:
        return tails[match["tail"]]
    return chinese_number(match["minute"].lstrip("零〇") or "零") if match["minute"] else None


def _within(match: re.Match[str], key: str | None, hour: int, minute: int | None) -> Within | None:
    if key is not None:
        return hour_in_part(key, hour, minute)
    whole = match["h"] or match["hour"]
    if hour > 12 or (match["h"] and (hour == 0 or whole.startswith("0"))):  # noqa: PLR2004 - noon
        return clock(hour, minute)
    zoned = match["city"] or match["utc"] or match["utc2"]
    return clock(hour, minute) if zoned and match["h"] else None


def _zone(match: re.Match[str]) -> timezone | None:
    if match["city"]:
        return timezone(timedelta(hours=_ZONES[match["city"]]))
    if match["offset"]:
        return timezone(timedelta(hours=max(-14, min(14, int(match["offset"])))))
    return UTC if match["utc"] or match["utc2"] else None


def read_part(cursor: Cursor, at: int) -> Found | None:
    """Read a part of the day at a position."""
    match = _PART.match(cursor.low, at)
    return None if match is None else Found(match.end(), within=part(CLOCK_PARTS[match["part"]]))
