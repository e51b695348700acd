"""English days: dates, months, seasons, weekends and years, bare or with last, next or a year."""

import re
from datetime import date
from typing import Final

from .calendars import valid_date, week_of, year_of
from .english_modifiers import (
    HOW_HEADS,
    MODIFIERS,
    OF_YEAR,
    PLACES,
    TURNS,
    ends_well,
    is_surname,
    modified,
    year_named,
)
from .english_words import CARDINAL, END, MONTH, ORDINAL, YEAR, cardinal, month_number, ordinal
from .named_days import (
    ONE_DAY,
    Name,
    Picked,
    Reading,
    date_of,
    day_of_month,
    half_year,
    latest,
    month,
    placed,
    quarter,
    season,
    weekend,
)
from .time_cursor import Cursor, Rule, mapped
from .time_values import Found, picked, void

__all__ = ["ENGLISH_DAYS"]

_NAMESAKES: Final = frozenset(["may", "march", "mar", "april", "june", "august", "jan", "dec"])
_PLANS: Final = re.compile(
    r"(?:plans?|goals?|targets?|budget|schedule|agenda|calendar|forecast|report|rent|bill"
    r"|invoice|keywords|numbers|figures) (?:for|of) $"
)


def _date(match: re.Match[str], cursor: Cursor) -> Found | None:
    name, at = match["month"], match.start("month")
    number, last = month_number(name), match.end()
    if name.rstrip(".") in _NAMESAKES and not cursor.text[at].isupper():
        return None
    word = match["date"]
    day = int(word) if word.isdigit() else ordinal(word)
    year = year_named(match, cursor.reading)
    if year is not None:
        whole = valid_date(year, number, day)
        return Found(last, days=(whole, whole + ONE_DAY)) if whole else void(last)
    if valid_date(2024, number, day) is None:  # a leap year has every day that exists
        return void(last)
    if name.rstrip(".") in _NAMESAKES and word.isdigit() and not ends_well(cursor, last):
        return None  # "May 5 people come?"
    return Found(last, name=date_of(number, day))


def _month(match: re.Match[str], cursor: Cursor) -> Found | None:
    word, at, last = match["month"].rstrip("."), match.start("month"), match.end()
    last -= match["month"].endswith(".") and not match["year"] and not match["turn"]
    name = month(month_number(word))
    year = year_named(match, cursor.reading)
    if word in _NAMESAKES and not cursor.text[at].isupper():
        return None
    if year is not None:
        days = name.place(date(year, 1, 1))
        return Found(last, days=days)
    if match["how"]:
        return picked(last, modified(match["how"], name, cursor.reading))
    if cursor.low.startswith("'s", last):
        return void(last)
    return Found(last, name=name) if _month_stands(cursor, at, word, last) else None


def _month_stands(cursor: Cursor, at: int, word: str, last: int) -> bool:
    before = cursor.word_before(at)
    if is_surname(cursor, last):
        return False
    if _in_range(cursor, at, last) or _LISTED.search(cursor.low, max(0, at - 30), at):
        return True
    if word in _NAMESAKES or len(word) <= len("sept"):
        if before in {"for", "of"}:
            return before == "of" or _PLANS.search(cursor.low, 0, at) is not None
        return before in PLACES - {"about", "and", "or", "to", "from", "at", "on", "around"}
    return before in PLACES or ends_well(cursor, last)


def _in_range(cursor: Cursor, at: int, last: int) -> bool:
    """Tell whether a name is an end of a range: from March to May, between March and May."""
    before = cursor.word_before(at)
    if before in {"from", "between"}:
        return _JOINS.match(cursor.low, last) is not None
    return before in {"to", "and"} and _OPENS.search(cursor.low, max(0, at - 30), at) is not None


_LISTED: Final = re.compile(rf"(?<![a-z])(?:in|during|both|by) {MONTH} (?:and|or|&) $")
_JOINS: Final = re.compile(r"(?: \d{4})?(?: (?:to|until|till|through|and)| ?[-–]) ?(?=[a-z\d])")
_OPENS: Final = re.compile(r"(?<![a-z])(?:from|between) [^,.;?!]*(?: to| and) $")


def _nth_day(match: re.Match[str], cursor: Cursor) -> Found | None:
    word, last = match["date"], match.end()
    day = int(word) if word.isdigit() else ordinal(word)
    if not 1 <= day <= 31:  # noqa: PLR2004 - the longest month
        return None
    if match["turn"]:
        return picked(last, placed(day_of_month(day), cursor.reading, TURNS[match["turn"]]))
    before = cursor.word_before(match.start())
    if match[0][0].isdigit() and (before != "on" or not _CLOSES.match(cursor.low, last)):
        return None
    stands = before in _DAY_PLACES if match["date"][0].isdigit() else before == "on"
    if match["every"] or (stands and ends_well(cursor, last)):
        return Found(last, name=day_of_month(day))
    return None


def _chinese_name(match: re.Match[str], cursor: Cursor) -> Found | None:
    """Read "last 周五" as last Friday."""
    found = cursor.read_day(match.end())
    if found is None or found.nothing or found.name is None:
        return None
    return picked(found.last, modified(match["how"], found.name, cursor.reading))


_CLOSES: Final = re.compile(r" ?(?:$|[^a-z &]|(?:i|we|you|what|which|who)(?![a-z]))", re.ASCII)
"""What may follow "on 3rd", which is also a street, a base and a place in a race."""
_DAY_PLACES: Final = frozenset(
    "on by until till since before after from to through between and around of".split()
)


def _quarter(match: re.Match[str], cursor: Cursor) -> Found:
    name = quarter(int(match["q"]) if match["q"] else ordinal(match["nth"]))
    return _in_year(match, name, cursor)


def _half(match: re.Match[str], cursor: Cursor) -> Found:
    number = int(match["h"]) if match["h"] else ordinal(match["nth"])
    return _in_year(match, half_year(number), cursor)


def _in_year(match: re.Match[str], name: Name, cursor: Cursor) -> Found:
    year = year_named(match, cursor.reading)
    if year is None:
        return Found(match.end(), name=name)
    try:
        days = name.place(date(year, 1, 1))
    except (ValueError, OverflowError):
        days = None
    if days is None:
        return void(match.end())
    sure = name.sure and name.kind not in {"holiday", "year end"}
    return Found(match.end(), days=days, sure=sure)


_SEASONS: Final = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
_SEASON_PLACES: Final = frozenset(
    "in during since until till before after over by around early mid late".split()
)


def _season(match: re.Match[str], cursor: Cursor) -> Found | None:
    reading, word = cursor.reading, match["season"]
    name = season(_SEASONS[word], reading.zone)
    if match["year"] or match["turn"]:
        return _in_year(match, name, cursor)
    if match["how"]:
        return picked(match.end(), _season_turn(match["how"], name, reading))
    before = cursor.word_before(match.start())
    if before not in _SEASON_PLACES or not ends_well(cursor, match.end()):
        return None
    if word == "fall" and not (match["the"] and before == "in"):
        return None
    return Found(match.end(), name=name)


def _beyond(match: re.Match[str], cursor: Cursor) -> Found | None:
    """Read "the summer before last", "two summers ago", "three weekends ago"."""
    reading, word, last = cursor.reading, match["name"], match.end()
    count = 2
    if match["side"] != "before last":
        count = cardinal(match["count"]) if match["count"] else 2
    if not 1 <= count <= _BACK_MAX:
        return None
    if word == "weekend":
        choice = placed(weekend(), reading, -count)
        return picked(last, choice and Picked(choice.days, reading.today.weekday() < _SATURDAY))
    season_number = _SEASONS.get(word)
    name = month(month_number(word)) if season_number is None else None
    name = name or season(season_number or 0, reading.zone)
    over = latest(name, reading)
    if over is None:
        return None
    days = name.place(date(over.days[0].year + 1 - count, 1, 1))
    return None if days is None else Found(last, days=days, sure=over.sure)


_BACK_MAX: Final = 60
_SATURDAY: Final = 5


def _season_turn(how: str, name: Name, reading: Reading) -> Picked | None:
    if how == "this":  # a winter that runs since last year is this one
        running = [days for days in name.near(reading.today) if days[0] <= reading.today < days[1]]
        if running:
            return Picked(running[0], sure=False)
    return modified(how, name, reading)


def _weekend(match: re.Match[str], cursor: Cursor) -> Found | None:
    how, reading, last = match["how"], cursor.reading, match.end()
    name = weekend()
    if how in {"last", "the last", "previous"}:
        step = -2 if match["beyond"] else -1
        return picked(last, placed(name, reading, step))
    if how == "next":
        step = 2 if match["beyond"] else 1
        weekday_now = reading.today.weekday() < 5  # noqa: PLR2004 - Saturday
        choice = placed(name, reading, step)
        return picked(last, choice and Picked(choice.days, step > 1 or not weekday_now))
    if how == "this":
        return picked(last, placed(name, reading, 0))
    if match["beyond"]:
        return picked(last, placed(name, reading, -2 if "last" in match["beyond"] else 2))
    if how in {"the", None}:
        return Found(last, name=name) if ends_well(cursor, last) else void(last)
    return picked(last, modified(how, name, reading))


def _weekend_of(match: re.Match[str], cursor: Cursor) -> Found:
    target = cursor.read_day(match.end())
    if target is None or target.nothing or not target.dated:
        return void(match.end() if target is None else target.last)
    return mapped(target, lambda days: weekend().place(week_of(days[0])[0]))


def _year(match: re.Match[str], cursor: Cursor) -> Found | None:
    places = PLACES - {"on", "at", "about", "around", "and", "or", "over"}
    before = cursor.word_before(match.start())
    stands = match["the"] or before in places or _in_range(cursor, match.start(), match.end())
    if not stands:
        return None
    if _PLURAL.match(cursor.low, match.end()):
        return None
    return Found(match.end(), days=year_of(int(match["year"])))


_PLURAL: Final = re.compile(
    r" (?!(?:is|was|has|does|this|us|as|yes|his|its)(?![a-z]))[a-z]+s(?![a-z'])"
)


def _decade(match: re.Match[str], _: Cursor) -> Found:
    year = int(match["decade"])
    year += 1900 if year < 100 else 0  # noqa: PLR2004 - of "the 90s"
    return Found(match.end(), days=(date(year, 1, 1), date(year + 10, 1, 1)))


_MONTHS_HEADS: Final = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)

_MONTH_NAME: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
)

ENGLISH_DAYS: Final = (
    Rule(
        "# the first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth "
        "twenty thirtieth thirty",
        rf"(?:the )?(?P<date>\d\d?(?!\d|:\d)|{ORDINAL})(?: day)?(?: of)? "
        rf"?(?P<month>{MONTH}){OF_YEAR}?",
        _date,
    ),
    Rule(
        _MONTHS_HEADS,
        rf"(?P<month>{MONTH}) ?(?:the )?(?P<date>{ORDINAL}|\d\d?(?!\d"
        rf"|:\d)(?! ?[ap]\.?m)){OF_YEAR}?{END}",
        _date,
    ),
    Rule(
        "the #",
        r"(?:the |(?=\d))(?P<date>\d\d?(?:st|nd|rd|th)|first|second|third|fourth|fifth"
        r"|tenth|fifteenth|twentieth)(?: day)?(?: of (?:(?P<turn>last|this|next) month"
        r"|(?P<every>the month))"
        rf"|(?<=[tdh])){END}",
        _nth_day,
    ),
    Rule(
        "last this next",
        rf"(?P<turn>last|this|next) month(?:,? on)? the (?P<date>\d\d?(?:st|nd|rd|th)){END}"
        r"(?P<every>)",
        _nth_day,
    ),
    Rule(
        "last this next",
        r"(?P<turn>last|this|next) month ?(?P<date>\d\d?)(?P<every>)号",
        _nth_day,
    ),
    Rule("last this next", r"(?P<how>last|this|next) ?(?=[\u4e00-\u9fff])", _chinese_name),
    Rule(
        f"{HOW_HEADS} {_MONTHS_HEADS}",
        rf"{MODIFIERS}?(?P<month>{MONTH}){OF_YEAR}?",
        _month,
    ),
    Rule("q", r"q(?P<q>[1-4])(?P<nth>)" + rf"{OF_YEAR}?{END}", _quarter),
    Rule(
        "the first second third fourth",
        rf"(?:the )?(?P<nth>first|second|third|fourth)(?P<q>) quarter{OF_YEAR}?"
        rf"(?: of the year)?{END}",
        _quarter,
    ),
    Rule("h", r"h(?P<h>[12])(?P<nth>)" + rf"{OF_YEAR}{END}", _half),
    Rule(
        "the first second",
        rf"(?:the )?(?P<nth>first|second)(?P<h>) half(?:{OF_YEAR}| of the year){END}",
        _half,
    ),
    Rule(
        f"{HOW_HEADS} spring summer autumn fall winter",
        rf"(?:{MODIFIERS}|(?P<the>the ))?(?P<season>spring|summer|autumn|fall"
        rf"|winter){END}{OF_YEAR}?",
        _season,
    ),
    Rule(
        f"the {_MONTHS_HEADS} spring summer autumn fall winter",
        rf"(?P<count>(?!))?(?:the )?(?P<name>{_MONTH_NAME}|spring|summer|autumn|fall|winter)"
        rf" (?P<side>before last){END}",
        _beyond,
    ),
    Rule(
        "# a one two three four five six seven eight nine ten couple",
        rf"(?:(?P<count>{CARDINAL})|(?:a )?couple(?: of)?) (?P<name>weekend)s?"
        rf" (?P<side>ago|back){END}",
        _beyond,
    ),
    Rule("the", r"the weekend of (?:the )?(?=[a-z0-9])", _weekend_of),
    Rule(
        f"{HOW_HEADS} weekend",
        r"(?:(?P<how>the last|this past|the past|past|last|this coming|the coming|coming|next|this"
        rf"|previous|the) )?weekend{END}(?P<beyond> before last| after next)?",
        _weekend,
    ),
    Rule("the #", rf"(?P<the>the year )?(?P<year>{YEAR})(?![-/:.,]\d)", _year),
    Rule("the", rf"the '?(?P<decade>(?:1[89]|20)\d0|[2-9]0)'?s{END}", _decade),
)
