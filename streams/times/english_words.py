"""English words of time: numbers, names of days and months, and the pieces of patterns."""

import re
from typing import Final

__all__ = [
    "CARDINAL",
    "END",
    "FOLLOWERS",
    "FOLLOWS",
    "MONTH",
    "MONTHS",
    "ORDINAL",
    "UNIT",
    "WEEKDAY",
    "WEEKDAYS",
    "YEAR",
    "cardinal",
    "month_number",
    "ordinal",
    "unit_of",
    "weekday_number",
]

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first "
    "twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh "
    "twenty-eighth twenty-ninth thirtieth thirty-first"
).split()
WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS: Final = (
    "january february march april may june july august september october november december"
).split()

END: Final = r"(?![a-z0-9])"
WEEKDAY: Final = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tues?|wed|thurs?|thu|fri|sat|sun)\.?)"
    rf"{END}"
)
MONTH: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    rf"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?){END}"
)
YEAR: Final = rf"(?:19|20)\d\d{END}"
CARDINAL: Final = (
    r"(?:\d{1,4}|an?|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|" + "|".join(sorted(_ONES[1:], key=len, reverse=True)) + rf"){END}"
)
ORDINAL: Final = (
    r"(?:\d{1,2}(?:st|nd|rd|th)|"
    + "|".join(sorted(_ORDINALS, key=len, reverse=True)).replace("-", "[ -]")
    + rf"){END}"
)
UNIT: Final = (
    rf"(?P<unit>minute|min|hour|hr|day|night|week|fortnight|month|quarter|year|decade)s?{END}"
)

FOLLOWERS: Final = tuple(
    """i we you he she they it my our your his her their its the a an this that these those who
    whom what which when where why how and or but so if as than then because while of on in at by
    to for from with without about after before since until till between over under into through
    during around near is are was were am be been being do does did done has have had will would
    can could shall should may might must won't didn't wasn't isn't don't not no only also too
    again already still just please ok okay maybe probably exactly i'm i'll i've i'd we're we'll
    we've you're it's he's she's there here me us him them anyway instead alone together ever yet
    even now later last next early late today tomorrow tonight yesterday morning afternoon evening
    night noon started went came ended""".split()
)
"""Words that may come after a name of days that is no attribute."""
FOLLOWS: Final = rf"(?= *(?:$|[^a-z ]|(?:{'|'.join(FOLLOWERS)})(?![a-z])))"
"""A place where a name of days may end: no noun comes after it."""

_NUMBERS: Final = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}
_ORDINAL_NUMBERS: Final = {word: number for number, word in enumerate(_ORDINALS, 1)}
_SPLIT: Final = re.compile(r"[ -]+")


def cardinal(word: str) -> int:
    """Return the number of a word or of digits."""
    if word.isdigit():
        return int(word)
    if word in {"a", "an"}:
        return 1
    return sum(_NUMBERS[piece] for piece in _SPLIT.split(word))


def ordinal(word: str) -> int:
    """Return the number of "3rd" or "third"."""
    if word[0].isdigit():
        return int(word[:-2])
    return _ORDINAL_NUMBERS[_SPLIT.sub("-", word)]


def weekday_number(word: str) -> int:
    """Return 0 for Monday and its short forms."""
    return next(number for number, day in enumerate(WEEKDAYS) if day.startswith(word[:3]))


def month_number(word: str) -> int:
    """Return 1 for January and its short form."""
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(word[:3]))


def unit_of(word: str) -> str:
    """Return the unit of a word in the singular."""
    return {"min": "minute", "hr": "hour", "night": "day"}.get(word, word)
