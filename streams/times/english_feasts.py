"""English names of feasts and what stands around them."""

import re
from datetime import date
from typing import Final

from .english_modifiers import MODIFIERS, OF_YEAR, TURNS, ends_well, modified, year_named
from .english_words import END, ORDINAL, ordinal
from .festivals import feast, feast_span, lunar_day
from .named_days import Name, Picked
from .time_cursor import Cursor, Rule
from .time_values import Found, picked, void

__all__ = ["ENGLISH_FEASTS"]

_NAMES: Final = {
    # Patterns of names; a name that another begins with comes later.
    "new year eve": r"new year'?s'? eve",
    "new year": r"new year'?s'? day",
    "lunar eve": r"(?:chinese|lunar) new year'?s eve",
    "spring festival": r"(?:chinese|lunar) new year(?:'s day)?|spring festival",
    "epiphany": r"epiphany",
    "groundhog": r"groundhog day",
    "valentine": r"valentine'?s'?(?: day)?",
    "women": r"(?:international )?women'?s'? day",
    "patrick": r"(?:(?:st\.?|saint) )?(?:patrick|padd(?:y|ie)|patty)'?s day"
    r"|(?:st\.?|saint) pat'?s(?: day)?",
    "fools": r"april fools?'?s?'?(?: day)?",
    "earth": r"earth day",
    "ash wednesday": r"ash wednesday",
    "palm sunday": r"palm sunday",
    "maundy thursday": r"maundy thursday",
    "good friday": r"good friday",
    "easter monday": r"easter monday",
    "easter": r"easter(?: sunday)?",
    "ascension": r"ascension day",
    "pentecost": r"pentecost|whit sunday",
    "whit monday": r"whit monday",
    "mothers": r"mother'?s'? day",
    "fathers": r"father'?s'? day",
    "juneteenth": r"juneteenth",
    "fourth of july": r"(?:fourth|4th) of july|independence day",
    "bastille": r"bastille day",
    "labor": r"labou?r day",
    "memorial": r"memorial day",
    "presidents": r"presidents'? day",
    "halloween": r"hallowe'?en",
    "all saints": r"all saints'?(?: day)?",
    "guy fawkes": r"guy fawkes(?: night| day)?|bonfire night",
    "singles": r"singles'? day",
    "thanksgiving": r"thanksgiving(?: day)?",
    "black friday": r"black friday",
    "cyber monday": r"cyber monday",
    "christmas eve": r"christmas eve|xmas eve",
    "christmas": r"christmas(?: day)?|xmas(?: day)?",
    "boxing": r"boxing day",
    "lantern": r"lantern festival",
    "qingming": r"qingming(?: festival)?|tomb[- ]sweeping day",
    "dragon boat": r"dragon boat(?: festival)?",
    "qixi": r"qixi(?: festival)?",
    "ghost": r"(?:hungry )?ghost festival",
    "mid-autumn": r"mid-autumn(?: festival)?|moon festival",
    "double ninth": r"double ninth(?: festival)?|chongyang(?: festival)?",
    "laba": r"laba festival",
    "dongzhi": r"dongzhi(?: festival)?",
    "national": r"(?:china's |chinese )?national day",
}
_KEYS: Final = tuple(_NAMES)
_NAME: Final = "|".join(f"(?P<f{number}>{names})" for number, names in enumerate(_NAMES.values()))
_BUSY: Final = frozenset({"spring festival", "national", "labour"})


def _key(match: re.Match[str]) -> str:
    return next(key for number, key in enumerate(_KEYS) if match[f"f{number}"])


def _feast(match: re.Match[str], cursor: Cursor) -> Found | None:
    reading, last, key = cursor.reading, match.end(), _key(match)
    around = match["around"] or match["holidays"]
    name = (feast_span if around else feast)(key, reading.zone)
    attribute = cursor.low.startswith("'s", last) or not ends_well(cursor, last)
    if attribute and not (match["holidays"] or match["year"] or match["turn"]):
        return void(last)
    named = match[f"f{_KEYS.index(key)}"]
    on_it = named.endswith(" day") or cursor.word_before(match.start()) == "on"
    busy = key in _BUSY and not on_it
    return _placed(match, cursor, name, busy=busy)


def _placed(match: re.Match[str], cursor: Cursor, name: Name, *, busy: bool) -> Found:
    reading, last = cursor.reading, match.end()
    year = year_named(match, reading)
    if year is None and match["turned"]:
        year = reading.today.year + TURNS[match["turned"]]
    if year is not None:
        days = name.place(date(year, 1, 1))
        sure = name.sure and not busy and name.kind != "year end"
        return Found(last, days=days, sure=sure) if days else void(last)
    if match["how"]:
        choice = modified(match["how"], name, reading)
        return picked(last, choice and Picked(choice.days, choice.sure and not busy))
    if not name.near(reading.today):
        return void(last)
    found = Found(last, name=name)
    return found.unsure() if busy else found


_HEADS: Final = (
    "new chinese lunar spring epiphany groundhog valentine valentines international women womens "
    "st saint patrick patricks paddy paddys pattys april earth ash palm "
    "maundy good easter ascension pentecost whit mother mothers "
    "father fathers juneteenth fourth independence bastille labor labour memorial presidents "
    "halloween hallowe all guy bonfire singles thanksgiving black cyber christmas xmas boxing "
    "lantern qingming tomb dragon qixi hungry ghost mid moon double chongyang laba dongzhi china "
    "national"
)


def _lunar(match: re.Match[str], cursor: Cursor) -> Found:
    month = 1 if match["month"] is None else ordinal(match["month"])
    name = lunar_day(month, ordinal(match["date"]))
    return _placed(match, cursor, name, busy=False)


ENGLISH_FEASTS: Final = (
    Rule(
        "the",
        rf"the (?P<date>{ORDINAL})(?: day)? of (?:the )?(?:(?:chinese|lunar) new year"
        rf"|(?P<month>{ORDINAL}) lunar month){END}(?P<how>)(?P<turned>){OF_YEAR}?",
        _lunar,
    ),
    Rule(
        f"# {_HEADS} the last this past next coming previous over around",
        r"(?P<around>(?:over|around)(?: the)? )?(?:(?P<turned>last|this|next) year's "
        rf"|{MODIFIERS}|the )?"
        rf"(?:{_NAME}){END}(?P<holidays> (?:holidays?|break|period|season|vacation"
        rf"|week){END})?{OF_YEAR}?",
        _feast,
    ),
)
