"""Chinese counts from now, nights by name, and the vague ones."""

import re
from datetime import timedelta
from typing import Final

from .calendars import elapsed, midnight
from .chinese_words import CLOCK_PARTS, COUNT, TURN, chinese_number, turn_step
from .counted import (
    about,
    ahead,
    beyond,
    exactly,
    point,
    rolling,
    this_time,
    turn_of,
    vague,
)
from .time_cursor import Cursor, Rule
from .time_values import PARTS, Found, part, void

__all__ = ["CHINESE_COUNTS"]

_UNITS: Final = {
    "分钟": "minute", "分": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day",
    "周": "week", "星期": "week", "礼拜": "week", "月": "month",
    "季度": "quarter", "年": "year",
}  # fmt: skip
_HALF_UNITS: Final = {"年": "half year", "月": "half month", "小时": "hour", "钟头": "hour"}
_AROUND: Final = (
    r"(?P<loose>小(?=[一半俩两仨三\d])|大(?=半)|大概|大约|差不多|将近|约莫|约|近|快|不到|不足)?(?P<exact>整整|刚好|正好|恰好)?"
    r"(?P<loose2>大概|大约|差不多|将近|约)?"
)
_SIDE: Final = r"(?P<side>之前|以前|前|之后|以后|后)(?!天|年(?!前)|者|来|台|面|边|背|悔|果|续)"
_SAID: Final = frozenset("，。！？、；：,.!?;: "
    "我你您他她它们咱是在到从就才于把被跟和与说了也都还又曾早那过记道想为"
                         "妈爸哥姐弟妹爷奶婆公师友事同学要会将的")  # fmt: skip
"""What may stand before "三周后" counted from now; a noun is an anchor that isn't a date."""


_OF_TODAY: Final = re.compile(r"的?(?:今天|今日)")
_AGO: Final = frozenset({"之前", "以前", "前"})


def _hangs(match: re.Match[str], cursor: Cursor) -> bool:
    """Tell whether a count hangs on a word before it: 手术三周后, 毕业后两年."""
    at = match.start()
    if at == 0:
        return False
    before = cursor.low[at - 1]
    if before == "的":
        at -= 1
        return at > 0 and cursor.low[at - 1] not in _SAID and cursor.low[at - 1] > "\u3000"
    return before > "\u3400" and before not in _SAID


def _is_year(match: re.Match[str]) -> bool:
    """Tell whether what looks like a count is a year: 2026年之前."""
    counts = match["unit"] == "年" and not match["half"] and match["count"] != _ABOUT_ONE
    return counts and chinese_number(match["count"]) >= _YEAR_MIN


_YEAR_MIN: Final = 1000
_ABOUT_ONE: Final = "个把"


def _counted(match: re.Match[str], cursor: Cursor) -> Found | None:
    last, tense = match.end(), cursor.reading.tense
    ago = match["side"] in _AGO
    if _is_year(match) or (match["unit"] == "日" and ago and tense == "future"):
        return None  # 15日前交 is before the 15th
    if _hangs(match, cursor) or (not ago and tense == "past"):
        return void(last)  # 三天后 in a story counts from what was told
    more = match["more"] or match["more2"] or match["over"]
    unit, word = _UNITS[match["unit"]], match["unit"]
    if match["half"]:
        unit = _HALF_UNITS.get(word, unit)
        count = 0.5 if unit in {"hour", "day"} else 1.0
    else:
        number = 1 if match["count"] == _ABOUT_ONE else chinese_number(match["count"])
        count = number + (0.5 if more == "半" else 0)
    if unit == "day" and count % 1:
        return void(last)
    return _read_count(match, cursor, unit, -count if ago else count)


def _read_count(match: re.Match[str], cursor: Cursor, unit: str, count: float) -> Found:
    last, reading = match.end(), cursor.reading
    more = match["more"] or match["more2"] or match["over"]
    day = _OF_TODAY.match(cursor.low, last)
    if match["exact"] or day:
        return exactly(day.end() if day else last, reading, unit, count)
    if (match["loose"] or "").startswith("不"):
        return vague(last, reading, unit, 0, int(count))
    read = point
    if more == "多":
        read = beyond
    elif match["loose"] or match["loose2"] or "左右" in match[0] or match["count"] == _ABOUT_ONE:
        read = about
    return read(last, reading, unit, count)


def _vague(match: re.Match[str], cursor: Cursor) -> Found:
    last, unit = match.end(), _UNITS[match["unit"]]
    ago = match["side"] in _AGO
    if _hangs(match, cursor) or not (ago or cursor.reading.tense != "past"):
        return void(last)
    word = match["count"] or ""
    if match["teens"]:
        near, far = 10, 19
    elif word in {"几", "数", "好几", "若干"}:
        near, far = 1, 6
    else:
        one, other = (chinese_number(digit) for digit in word)
        near, far = one - 1, other
    return vague(last, cursor.reading, unit, *((-near, -far) if ago else (near, far)))


def _rolling(match: re.Match[str], cursor: Cursor) -> Found:
    last, reading, unit = match.end(), cursor.reading, _UNITS[match["unit"]]
    read = ahead if match["way"] in _AHEAD else rolling
    word = match["count"]
    if match["half"]:
        half = _HALF_UNITS.get(match["unit"], unit)
        return read(last, reading, half, 1.0 if half.startswith("half") else 0.5)
    if word in {"几", "好几", "数"}:
        return read(last, reading, unit, 7 if unit == "day" else 6, sure=False)
    if match["way"] == "这" and word in {"两", "一两", "两三"}:
        return read(last, reading, unit, chinese_number(word[-1]), sure=False)
    if len(word) > 1 and not word.isdigit() and "十" not in word and "百" not in word:
        return read(last, reading, unit, chinese_number(word[-1]), sure=False)
    return read(last, reading, unit, chinese_number(word))


_AHEAD: Final = frozenset({"未来", "接下来", "今后", "往后", "后面"})


def _within(match: re.Match[str], cursor: Cursor) -> Found | None:
    if _is_year(match):
        return None
    if _hangs(match, cursor) or cursor.reading.tense == "past":
        return void(match.end())
    unit = _UNITS[match["unit"]]
    if match["half"]:
        half = _HALF_UNITS.get(match["unit"], unit)
        return ahead(match.end(), cursor.reading, half, 1.0 if half.startswith("half") else 0.5)
    return ahead(match.end(), cursor.reading, unit, chinese_number(match["count"]))


def _again(match: re.Match[str], cursor: Cursor) -> Found:
    unit, last = _UNITS[match["unit"]], match.end()
    if match["half"]:
        half = _HALF_UNITS.get(match["unit"], unit)
        return point(last, cursor.reading, half, 1.0 if half.startswith("half") else 0.5)
    if match["count"] in {"几", "两三", "一两"}:
        return vague(last, cursor.reading, unit, 1, 6 if match["count"] == "几" else 3)
    return point(last, cursor.reading, unit, chinese_number(match["count"]))


def _this_day(match: re.Match[str], cursor: Cursor) -> Found:
    years = {"前年": -2, "去年": -1, "明年": 1, "后年": 2}
    last = match.end()
    if match["year"]:
        unit, step = "year", years[match["year"]]
    else:
        unit = "week" if match["unit"] in {"周", "星期", "礼拜"} else "month"
        step = turn_step(match["turn"])
    read = exactly if match["day"] in {"今天", "今日"} else this_time
    return read(last, cursor.reading, unit, step)


_NIGHTS: Final = {"昨": -1, "今": 0, "明": 1, "前": -2, "后": 2}


def _night(match: re.Match[str], cursor: Cursor) -> Found:
    step, reading = _NIGHTS[match["day"]], cursor.reading
    key = {"早": "morning", "晨": "morning", "午": "noon"}.get(match["part"], "night")
    choice = turn_of(reading, "day", step)
    runs = step == -1 and key == "night" and reading.now.hour < PARTS["night"][1] - 24
    return Found(match.end(), days=choice and choice.days, within=part(key), sure=not runs)


def _hours_of_today(match: re.Match[str], cursor: Cursor) -> Found:
    reading, last = cursor.reading, match.end()
    unit = {"周": "week", "星": "week", "个": "month", "月": "month", "年": "year"}.get(
        match["unit"], "day"
    )
    choice = turn_of(reading, unit, 0)
    if choice is None:
        return void(last)
    first, end = (midnight(day, reading.zone) for day in choice.days)
    later = match["side"] in {"晚", "迟"}
    return Found(last, instants=(reading.now, end) if later else (first, reading.now))


_FUZZY: Final[dict[str, int | None]] = {
    # Days before today; None is an hour before now.
    "刚才": None, "刚刚": None, "刚": None, "方才": None,
    "最近": 30, "近来": 30, "近期": 30, "近日": 30,
    "前几天": 7, "前些天": 7, "前些日子": 90, "前两天": 3, "前阵子": 90, "前段时间": 90,
    "前一阵子": 90, "前一段时间": 90, "前一阵": 90, "前段日子": 90, "这阵子": 30,
    "这段时间": 30, "这段日子": 30, "近段时间": 30, "近一段时间": 30, "最近一段时间": 30,
    "不久前": 30, "前不久": 30, "前些时候": 90,
    "这些天": 7, "这几天": 7, "这两天": 3,
}  # fmt: skip
_TO_NOW: Final = frozenset(word for word in _FUZZY if word.startswith(("最近", "近", "这")))


def _fuzzy(match: re.Match[str], cursor: Cursor) -> Found:
    reading, last = cursor.reading, match.end()
    days = _FUZZY[match["word"]]
    if days is None:
        return Found(last, instants=(elapsed(reading.now, -60), reading.now), sure=False)
    if match["word"] in _TO_NOW and reading.tense == "future":
        return void(last)
    start = midnight(reading.today - timedelta(days=days), reading.zone)
    end = reading.now if match["word"] in _TO_NOW else midnight(reading.today, reading.zone)
    return Found(last, instants=(start, end), sure=False)


def _pointer(match: re.Match[str], _: Cursor) -> Found:
    return void(match.end())


_COUNT_HEADS: Final = "# 一 二 两 三 四 五 六 七 八 九 十 百 廿 半 俩 仨 个"
_LOOSE_HEADS: Final = "不 大 小 差 将 约 近 快 整 刚 正 恰"

_MORE: Final = r"个?(?P<more>半|多)?个?"
_ANY_UNIT: Final = r"(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|月(?<=[个半多俩仨拉把]月)|季度|年)"

CHINESE_COUNTS: Final = (
    Rule(
        "前 去 明 后 上 这 下",
        rf"(?:(?P<year>前年|去年|明年|后年)|(?P<turn>{TURN})(?:个|一)?(?P<unit>周|星期|礼拜"
        r"|月))的?(?P<day>今天|今日|这个?时候|这会儿?|这时|此时|同一时间|同期)",
        _this_day,
    ),
    Rule(
        "前 昨 今 明 后",
        r"(?P<day>[昨今明前后])(?P<part>晚上?|夜里?|早上?|晨|午)(?!餐|饭|报|会|安|霜"
        r"|点(?![^ ]{0,2}钟))",
        _night,
    ),
    Rule(
        "今 这 本",
        r"(?:今天|今日|这一?个?(?P<unit>周|星|月|年)期?|今(?=年)年)的?(?:更|稍)?(?P<side>早|晚"
        r"|迟)些?(?:时候|时)",
        _hours_of_today,
    ),
    Rule(
        "几 好 数 一 两 三 四 五 六 七 八 十 若",
        r"(?:(?P<teens>十几|十来)|(?P<count>好几|几|数|若干|一两|两三|三四|三五|四五|五六|六七"
        rf"|七八|八九))个?{_ANY_UNIT}{_SIDE}",
        _vague,
    ),
    Rule(
        f"{_COUNT_HEADS} {_LOOSE_HEADS}",
        rf"{_AROUND}(?:(?P<half>半)拉?|(?P<count>{COUNT}|个把(?![个])))(?P<over>多)?{_MORE}{_ANY_UNIT}"
        rf"(?P<more2>半|多)?(?:左右)?{_SIDE}(?P<tail>左右)?",
        _counted,
    ),
    Rule(
        "最 近 过 这 未 接 今 往 后",
        r"(?P<way>最近|近|过去|这|未来|接下来|今后|往后|后面)的?(?:这|的)?(?:(?P<half>半)"
        rf"|(?P<count>好几|几|数|一两|两三|三四|三五|四五|五六|七八|{COUNT}))"
        rf"个?{_ANY_UNIT}(?<!这一周)(?<!这一年)(?<!这一天)(?<!这一日)"
        r"(?<!这两天)(?<!这几天)(?:以来|来(?!说)|之?内|之?间(?!谍))?",
        _rolling,
    ),
    Rule("这", rf"(?P<way>这)(?P<half>(?!))?(?P<count>一)个?{_ANY_UNIT}来(?!说)", _rolling),
    Rule(
        _COUNT_HEADS,
        rf"(?:(?P<half>半)|(?P<count>{COUNT}))个?{_ANY_UNIT}(?:之内|以内|内)(?!部|容|心|存|地|向)",
        _within,
    ),
    Rule(
        "再 过",
        rf"(?:再过|再有|过)(?:(?P<half>半)|(?P<count>几|两三|一两|{COUNT}))个?{_ANY_UNIT}(?:以后"
        r"|之后|后)?(?<!过两天)(?<!过去)",
        _again,
    ),
    Rule(
        "刚 方 最 近 前 这 不",
        r"(?P<word>刚才|刚刚(?!好|够)|方才(?!华)|最近一段时间|近一?段时间|这段日子|不久前|前不久"
        r"|前些时候|最近|近来|近期|近日|前一?段时间|前一?段日子|前一?阵子"
        r"|前一阵|前几天|前些天|前些日子|前两天|这阵子|这段时间|这些天|这几天|这两天)",
        _fuzzy,
    ),
    Rule(
        "第 次 那 当 同 翌",
        r"(?:第二|次|那|当|同|翌)(?:天|日|晚|周|年(?!级)|月|个?(?:周"
        rf"|星期)[一二三四五六日末天]?)的?(?:{'|'.join(CLOCK_PARTS)})?的?(?:{COUNT}[点时]半?)?",
        _pointer,
    ),
)
