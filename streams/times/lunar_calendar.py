"""The calendar of China, 1900 to 2100: lunar dates, and the two solar terms that are feasts.

The tables are astronomical facts (new moons and solar terms as seen from 120 degrees east). They
were written out with lunar_python 1.4.8. Every month was compared with lunardate 0.3.0 (to 2099)
and LunarCalendar 0.0.9: both agree but for six months, in each of which one of the two does.
The terms are those of LunarCalendar but for 冬至 1951, which is a day earlier there.
"""

from datetime import date, timedelta
from typing import Final

__all__ = ["DONGZHI", "LUNAR_YEARS", "QINGMING", "lunar_date", "solar_term"]

LUNAR_YEARS: Final = range(1900, 2101)
_NEW_YEAR_1900: Final = date(1900, 1, 31)
_LONG: Final = 30
_MONTHS: Final = 12

# A year in hexadecimal: bits 15 to 4 tell which of months 1 to 12 have 30 days, bits 3 to 0 which
# month is followed by a leap month (0: none), bit 16 whether that one has 30 days.
_YEARS: Final = tuple(
    int(year, 16)
    for year in (
        "04bd8 04ae0 0a570 054d5 0d260 0d950 16554 056a0 09ad0 055d2 04ae0 0a5b6 0a4d0 0d250 "
        "1d255 0b540 0d6a0 0ada2 095b0 14977 04970 0a4b0 0b4b5 06a50 06d40 1ab54 02b60 09570 "
        "052f2 04970 06566 0d4a0 0ea50 16a95 05ad0 02b60 186e3 092e0 1c8d7 0c950 0d4a0 1d8a6 "
        "0b550 056a0 1a5b4 025d0 092d0 0d2b2 0a950 0b557 06ca0 0b550 15355 04da0 0a5b0 14573 "
        "052b0 0a9a8 0e950 06aa0 0aea6 0ab50 04b60 0aae4 0a570 05260 0f263 0d950 05b57 056a0 "
        "096d0 04dd5 04ad0 0a4d0 0d4d4 0d250 0d558 0b540 0b6a0 195a6 095b0 049b0 0a974 0a4b0 "
        "0b27a 06a50 06d40 0af46 0ab60 09570 04af5 04970 064b0 074a3 0ea50 06b58 05ac0 0ab60 "
        "096d5 092e0 0c960 0d954 0d4a0 0da50 07552 056a0 0abb7 025d0 092d0 0cab5 0a950 0b4a0 "
        "0baa4 0ad50 055d9 04ba0 0a5b0 15176 052b0 0a930 07954 06aa0 0ad50 05b52 04b60 0a6e6 "
        "0a4e0 0d260 0ea65 0d530 05aa0 076a3 096d0 04afb 04ad0 0a4d0 1d0b6 0d250 0d520 0dd45 "
        "0b5a0 056d0 055b2 049b0 0a577 0a4b0 0aa50 1b255 06d20 0ada0 14b63 09370 049f8 04970 "
        "064b0 168a6 0ea50 06b20 1a6c4 0aae0 092e0 0d2e3 0c960 0d557 0d4a0 0da50 05d55 056a0 "
        "0a6d0 055d4 052d0 0a9b8 0a950 0b4a0 0b6a6 0ad50 055a0 0aba4 0a5b0 052b0 0b273 06930 "
        "07337 06aa0 0ad50 14b55 04b60 0a570 054e4 0d160 0e968 0d520 0daa0 16aa6 056d0 04ae0 "
        "0a9d4 0a2d0 0d150 0f252 0d520 "
    ).split()
)
QINGMING: Final = "清明"
DONGZHI: Final = "冬至"
_TERMS: Final = {
    # Month, and of each year the last digit of the day in April; in December, the day less 20.
    QINGMING: (4, 0, (
        "556655665566555655565556555655565556555655565555555555555555555555555555555545554555"
        "455545554555455545554555445544554455445544554455445544554445444544454445444544454445"
        "444544444444444444444444444444445"
    )),
    DONGZHI: (12, 20, (
        "223322332233223322232223222322232223222322232223222322222222222222222222222222222222"
        "222212221222122212221222122212221222112211221122112211221122112211221122111211121112"
        "111211121112111211121111111111112"
    )),
}  # fmt: skip


def _months(year: int) -> list[tuple[int, bool, int]]:
    code = _YEARS[year - LUNAR_YEARS.start]
    months = []
    for month in range(1, _MONTHS + 1):
        months.append((month, False, _LONG - 1 + (code >> (_MONTHS + 4 - month) & 1)))
        if month == code & 0xF:
            months.append((month, True, _LONG - 1 + (code >> 16 & 1)))
    return months


def _new_years() -> tuple[date, ...]:
    days = [_NEW_YEAR_1900]
    for year in LUNAR_YEARS:
        days.append(days[-1] + timedelta(days=sum(length for *_, length in _months(year))))
    return tuple(days)


_NEW_YEARS: Final = _new_years()


def lunar_date(year: int, month: int, day: int, *, leap: bool = False) -> date | None:
    """Return the date of a lunar day, or None where the year has none such.

    Args:
        year: Of the lunar calendar: it begins in January or February of that year.
        month: 1 to 12.
        day: 1 to 30; 0 is the eve of the month, so that (year + 1, 1, 0) is New Year's Eve.
        leap: Whether the leap month of that number is meant.
    """
    if year not in LUNAR_YEARS:
        return None
    first = _NEW_YEARS[year - LUNAR_YEARS.start]
    for number, is_leap, length in _months(year):
        if (number, is_leap) == (month, leap):
            return first + timedelta(days=day - 1) if day <= length else None
        first += timedelta(days=length)
    return None


def solar_term(term: str, year: int) -> date | None:
    """Return the date of 清明 or 冬至 in a year, by China's calendar."""
    if year not in LUNAR_YEARS:
        return None
    month, base, days = _TERMS[term]
    return date(year, month, base + int(days[year - LUNAR_YEARS.start]))
