"""Short forms and misspellings of English words of time, as they are typed."""

from typing import Final

__all__ = ["ALWAYS", "UNITS"]

ALWAYS: Final = {
    short: word
    for word, shorts in {
        "yesterday": "yday yest ystd ystday ystrdy yesturday yesterdy yestarday yeterday yesteday"
        " yestrday yersterday",
        "tomorrow": "tmrw tmr tmw tmrrw tmoro tmorrow tomoz tomoro 2moro 2morrow 2morro 2mrw 2mro"
        " tommorow tommorrow tomorow tomorro",
        "today": "2day 2dae",
        "tonight": "2nite 2night tonite tnite",
        "last night": "lastnight lastnite",
        "last week": "lastweek lastwk",
        "midnight": "midnite",
        "night": "nite",
        "nights": "nites",
        "week": "wk",
        "weeks": "wks",
        "weekend": "wknd wkend weeknd",
        "weekends": "wknds wkends",
        "years": "yrs",
        "month": "mth mnth",
        "months": "mths mnths",
        "hours": "hrs",
        "minutes": "mins",
        "afternoon": "arvo",
        "monday": "mondy",
        "tuesday": "tues tusday teusday tuseday",
        "wednesday": "weds wensday wednsday wendsday wedensday wedsday",
        "thursday": "thurs thur thrusday thursady thurday thirsday",
        "friday": "fri firday fridya",
        "saturday": "saterday saturady satuday saturda",
        "sunday": "sundy",
        "january": "januray janurary janaury",
        "february": "febuary feburary febrary",
        "september": "septemeber setpember septmber",
        "october": "octobor ocotber",
        "november": "novemeber novmber",
        "december": "decemeber decmber",
        "next": "nxt",
        "before": "b4",
        "till": "til",
        "between": "btwn",
        "about": "abt",
        "couple": "cpl",
        "couple of": "coupla",
        "valentine's day": "vday",
        "you": "u ya",
        "your": "ur",
        "are": "r",
        "what": "wat wut wot",
        "what's": "whats",
        "conversation": "convo",
        "conversations": "convos",
        "message": "msg",
        "messaged": "msgd msged",
        "texted": "txted txtd",
        "have to": "gotta",
        "didn't": "didnt",
        "don't": "dont",
        "wasn't": "wasnt",
        "weren't": "werent",
        "i'm": "im",
        "i've": "ive",
        "we've": "weve",
    }.items()
    for short in shorts.split()
}
"""What a form that is no other word stands for."""
UNITS: Final = {
    "h": "hour", "hr": "hour", "hrs": "hours", "hour": "hour", "hours": "hours", "m": "minute",
    "min": "minute", "mins": "minutes", "minute": "minute", "minutes": "minutes", "d": "day",
    "day": "day", "days": "days", "w": "week", "wk": "week", "wks": "weeks", "week": "week",
    "weeks": "weeks", "mo": "month", "mos": "months", "mth": "month", "mths": "months",
    "month": "month", "months": "months", "y": "year", "yr": "year", "yrs": "years",
    "year": "year", "years": "years",
}  # fmt: skip
"""What a unit stands for that is written to its number."""
