"""English around a time: what is none, what recurs, which session, which tense, empty words."""

import re
from typing import Final

from .english_words import (
    CARDINAL,
    MONTH,
    ORDINAL,
    cardinal,
    month_number,
    ordinal,
    weekday_number,
)
from .named_days import Tense
from .time_values import SessionOrdinal

__all__ = [
    "ENGLISH_EMPTY",
    "ENGLISH_NOT_TIMES",
    "WEEKDAY_CODES",
    "english_ordinal",
    "english_rule",
    "english_tense",
]

Place = tuple[int, int]
"""Where something stands: its first character and the one after its last."""

WEEKDAY_CODES: Final = "mon tue wed thu fri sat sun".split()
_FLAGS: Final = re.ASCII
_UNITS: Final = (
    r"(?:second|sec|minute|min|hour|hr|day|night|week|fortnight|month|quarter|year|decade)"
)
_FEASTS: Final = (
    r"(?:christmas|xmas|new year'?s?|easter|halloween|thanksgiving|valentine'?s?|mother'?s"
    r"|father'?s"
    r"|fourth of july|4th of july|holidays?|birthday|chinese new year|lunar new year|mid-autumn"
    r"|spring festival|diwali|hanukkah|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|weekend|anniversary)"
)

ENGLISH_NOT_TIMES: Final = re.compile(
    r"(?<![a-z0-9])(?:"
    r"good (?:morning|afternoon|evening|night|day)"
    rf"|(?:merry|happy|blessed|joyful|belated) (?:belated )?{_FEASTS}(?: (?:day|eve|festival))?"
    rf"(?:,? (?:and|&) (?:a )?(?:happy |merry )?{_FEASTS})?"
    r"|(?:have|enjoy|wish(?:ing)? you) (?:a |your |the |an )(?:(?:very )?(?:nice|great|good|lovely"
    r"|wonderful|fun|relaxing|pleasant|happy|merry|restful) )?(?:rest of (?:your|the) )?"
    r"(?:weekend|day|evening|night|morning|afternoon|week|christmas|holidays?|easter|friday|monday"
    r"|sunday)(?=[ ,.!]|$)"
    r"|(?:one|some|any) ?day(?= [a-z]|[,.!?]|$)(?! (?:ago|before|after|from|later|in ))"
    r"|(?:day|week|month|year|night) (?:by|after|to|in) (?:day|week|month|year|night)"
    r"|day in,? day out|night and day|day and night|the good old days|now and then|now or never"
    r"|once upon a time|from now on(?:wards)?|until now|up to now|by now|right now"
    r"|last (?:name|names|but not least|resort|straw|chance|words?|minute|min|place|call|page|one"
    r"|thing|supper|samurai|standing)(?![a-z])"
    r"|next (?:to|door|level|steps?|one|page|thing|generation|of kin|up)(?![a-z])"
    r"|past (?:the (?!(?:\d|last|few|couple|half|week|month|year|hour|day|summer|winter|spring"
    r"|autumn|mon|tues|wednes|thurs|fri|satur|sun))|(?:tense|participle|perfect|simple|life"
    r"|lives|due|experience)(?![a-z]))"
    r"|for (?:about |around |over |almost |nearly |more than |at least |up to |just |only "
    r"|another )?"
    rf"(?:{CARDINAL}|a few|several|a couple of|half an?|many)(?: and a half)?(?: more| whole"
    r"| full| long)?"
    rf"[ -]{_UNITS}s?(?! ago| from now| back)(?![a-z])"
    rf"|{CARDINAL}-(?:and-a-half-)?{_UNITS}s?(?:-[a-z]+)?(?! ago)(?![a-z])"
    r"|(?:the |within |in |of |over |a )?(?:first|last|next"
    rf"|past)? ?{CARDINAL} {_UNITS}s?(?:'s?)? (?:old|long|of(?! next| last| this| the (?:year"
    r"|month))|each|apart|straight|in a row|per|younger"
    rf"|older|tall|away from (?!now)|notice|experience|worth)(?![a-z])"
    rf"|(?:once|twice|thrice|{CARDINAL} times?|{CARDINAL} {_UNITS}s?) (?:a|an|per|every"
    rf"|each) {_UNITS}"
    rf"|{CARDINAL}(?: to | or |-|–){CARDINAL} {_UNITS}s?(?! ago| from now| back)(?![a-z])"
    rf"|{CARDINAL} (?:mon|tues|wednes|thurs|fri|satur|sun)days in a row"
    r"|24/7|(?:24|7|365)/(?:7|365)|9[- ]to[- ]5|\d+/\d+(?= (?:cups?|inch|of|teaspoons?"
    r"|tablespoons?|pounds?|miles?"
    r"|stars?|points?))"
    r"|(?:room|page|chapter|section|version|flat|apartment|platform|gate|bus|line|number|no\.|unit"
    r"|episode|level|floor|row|seat|route|highway|exit|track|iso|rfc|step|item|question|ticket"
    r"|issue)"
    r" #?\d+(?:[/.:-]\d+)*"
    r"|(?:tgi|tgi's) friday'?s?|boy(?:z)? ?ii|black sabbath|arctic monkeys"
    r"|(?:april|may|june|august|wednesday|friday|sunday|summer|autumn|dawn),? (?:and|&) "
    r"(?=(?:april|may|june|august|summer|autumn) (?:sent|came|are|were|have|said|told|went|is"
    r"|gave))"
    r"(?:april|may|june|august|summer|autumn)"
    r"|(?:orthodox|eastern) (?:easter|christmas|new year)(?: (?:eve|day|sunday))?"
    r"|(?:see you|talk to you|catch you|speak) (?:soon|later)(?![a-z])"
    r"|(?:at|for) (?:the )?(?:last|first|next) (?:moment|second)"
    r"|(?:the )?(?:arab|prague) spring|winter olympics|spring (?:roll|rolls|onion|onions"
    r"|cleaning|water)"
    r"|(?:a|an|this|that|the|his|her|my) (?:mattress )?spring(?= (?:in|broke|of (?!\d|last|this"
    r"|next)))"
    r"|sunday (?:times|best|roast|school)|mayday|may day parade|august(?: manner)"
    r")",
    _FLAGS,
)
"""What looks like a time and is none: greetings, fixed phrases, durations, names, numbers."""


# --- what recurs ---------------------------------------------------------------------------------

_DAY_NAME: Final = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_DAY_NAMES: Final = rf"{_DAY_NAME}s?(?:(?:,? and |,? or | & |, ?){_DAY_NAME}s?)*"
_TIME_OF_DAY: Final = (
    r"(?: (?P<part>morning|afternoon|evening|night)s?)?(?: (?:at|from|around|by) (?:noon|midnight"
    r"|\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?(?: ?(?:to|until|-"
    r"|–) ?\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?)?)"
    r"(?![a-z0-9]))?"
)
_RULE: Final = re.compile(
    r"(?<![a-z0-9])(?:"
    r"(?:every|each) (?P<other>other|second|2nd|two weeks on|two weeks,? on|other week on"
    rf"|second week on) (?P<days2>{_DAY_NAMES})"
    rf"|every (?P<n>two|three|four|2|3|4) weeks,? on (?P<days4>{_DAY_NAMES})"
    rf"|(?:biweekly|fortnightly|every fortnight) on (?P<days5>{_DAY_NAMES})"
    r"|(?:(?:every|each)(?: week(?: on)?| single)?|weekly on"
    rf"|once a week on) (?P<days>{_DAY_NAMES})"
    rf"|(?:on )?(?P<plural>{_DAY_NAME}s(?:(?:,? and |,? or | & |, ?){_DAY_NAME}s)*)(?!')"
    r"(?! (?:ago|back|from now|in a row)(?![a-z]))"
    r"|(?P<ends>(?:on |at |every |each |during )(?:the )?weekends?(?<! "
    r"the weekend)(?<!at weekend)(?<!on weekend))(?! (?:of|in))"
    r"|(?P<work>(?:on |every |each )(?:weekdays?|workdays?|working days?|business days?))"
    rf"|(?:on )?the (?P<nth>{ORDINAL})(?: day)? of (?:every|each) month"
    rf"|(?:every|each) month,? on the (?P<nth2>{ORDINAL})|monthly,? on the (?P<nth3>{ORDINAL})"
    rf"|(?:every|each) (?:year,? on )?(?:the )?(?P<month>{MONTH}) (?:the )?(?P<day>\d\d?)(?:st"
    r"|nd|rd|th)?"
    r"|(?:every|each) (?:year,? on )?(?:the )?(?P<day2>\d\d?)(?:st|nd|rd"
    rf"|th)?(?: of)? (?P<month2>{MONTH})"
    r"|(?:(?:every|each)(?: year,? (?:on|at)| single)?|yearly on"
    r"|annually on) (?P<feast>christmas eve|christmas(?: day)?"
    r"|halloween|valentine'?s day|new year'?s eve|new year'?s day|boxing day|fourth of july)"
    r"|(?:(?P<month3>" + MONTH + r") (?P<day3>\d\d?)(?:st|nd|rd|th)?,? (?:every|each) year)"
    r"|(?:every|each) (?:single )?(?P<daypart>morning|afternoon|evening|night)"
    r"|in the (?P<parts>morning|afternoon|evening)s"
    r"|(?P<nightly>nightly)"
    r"|(?P<daily>(?:every|each)(?: single)? day|daily)"
    r")(?![a-z0-9])" + _TIME_OF_DAY,
    _FLAGS,
)
_FEAST_DAYS: Final = {
    "christmas eve": "12-24", "christmas": "12-25", "halloween": "10-31", "valentine": "02-14",
    "new year's eve": "12-31", "new years eve": "12-31", "new year": "01-01", "boxing": "12-26",
    "fourth": "07-04",
}  # fmt: skip
_DAY: Final = re.compile(_DAY_NAME)
_CLOCK: Final = re.compile(
    r"(?<![a-z0-9])(?:at|around|from|by) (?:noon|midnight|\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?)"
    r"(?![a-z0-9])"
    r"|(?<![\d:])\d{1,2}:\d\d(?: ?[ap]\.?m\.?)?(?![\d:])|(?<!\d)\d{1,2} ?[ap]\.?m(?:\.|(?![a-z]))",
    _FLAGS,
)


def english_rule(low: str) -> tuple[str, list[Place]] | None:
    """Find what recurs in a text in lower case.

    Returns:
        The rule and the places it was read from, clock times included, or None.
    """
    match = _RULE.search(low)
    if match is None:
        return None
    rule = _rule(match)
    if rule is None:
        return None
    places = [match.span()]
    places += [clock.span() for clock in _CLOCK.finditer(low)]
    return rule, places


def _rule(match: re.Match[str]) -> str | None:
    every = match["days2"] or match["days5"]
    if every:
        return f"weekly/2:{_codes(every)}"
    if match["days4"]:
        return f"weekly/{cardinal(match['n'])}:{_codes(match['days4'])}"
    if match["days"] or match["plural"]:
        return f"weekly:{_codes(match['days'] or match['plural'])}"
    if match["ends"]:
        return "weekly:sat,sun"
    if match["work"]:
        return f"weekly:{','.join(WEEKDAY_CODES[:5])}"
    return _rarer_rule(match)


def _rarer_rule(match: re.Match[str]) -> str | None:
    number = match["nth"] or match["nth2"] or match["nth3"]
    if number:
        return f"monthly:{ordinal(number)}"
    for month, day in (("month", "day"), ("month2", "day2"), ("month3", "day3")):
        if match[month]:
            return f"yearly:{month_number(match[month]):02}-{int(match[day]):02}"
    if match["feast"]:
        return "yearly:" + next(
            on for key, on in _FEAST_DAYS.items() if match["feast"].startswith(key)
        )
    part = match["daypart"] or match["parts"] or ("night" if match["nightly"] else None)
    if part or match["daily"]:
        return f"daily:{part}" if part else "daily"
    return None


def _codes(names: str) -> str:
    numbers = sorted({weekday_number(name) for name in _DAY.findall(names)})
    return ",".join(WEEKDAY_CODES[number] for number in numbers)


# --- sessions ------------------------------------------------------------------------------------

_NOUN: Final = r"(?:session|conversation|chat|talk|dialogue|discussion)"
_TALKS: Final = (
    r"(?:talk|spoke|speak|chat|discuss|said|say|told|tell|ask|mention|convers|messag|wrote|advis"
    r"|recommend|suggest|explain|promis|agree|answer|brought up|touched base|connected|went over"
    r"|text|ping|contact|reached out)"
)
_WHO: Final = (
    r"(?:(?:that |when )?(?:we|i|you|you and i|we two)"
    r"(?: (?:last|first|both|had|have|actually|really|ever))?)"
)
_SESSION: Final = re.compile(
    r"(?<![a-z])(?:(?:the|our|my|your|this|that|very|in) ){0,3}(?:"
    rf"(?P<opening>(?:when|day) (?:we|i) first {_TALKS}|first (?:thing (?:that )?(?:i|we)(?: ever)?"
    rf" {_TALKS}|messages? i (?:ever )?(?:sent|wrote)))"
    rf"|(?P<lately>(?:when|day) (?:we|i) last {_TALKS})"
    r"|(?P<back>second[- ]to[- ]last|second[- ]last|next[- ]to[- ]last|last but one"
    rf"|penultimate) (?:{_NOUN}|time {_WHO} {_TALKS})"
    rf"|(?P<third>third[- ]to[- ]last|last but two|antepenultimate) (?:{_NOUN}"
    rf"|time {_WHO} {_TALKS})"
    rf"|last {_NOUN} but (?P<but>one|two)"
    rf"|{_NOUN} (?P<beyond>before last)"
    rf"|(?P<beyond2>time before last)"
    rf"|(?P<ago>{CARDINAL}) (?:{_NOUN})s? ago"
    rf"|(?P<last>last|previous|latest|most recent|prior|preceding) (?:{_NOUN}|time {_WHO} {_TALKS})"
    rf"|(?P<nth>{ORDINAL}) (?:ever )?(?:{_NOUN}|time {_WHO} {_TALKS})"
    r"|(?P<alone>last time)(?= *(?:$|[^a-z ]|(?:about|on|regarding|concerning|and|but|what|which"
    r"|did|do"
    r"|was|were|again|around|here|or|with you|please|already|too|why|how)(?![a-z])))"
    rf"|(?P<now>(?:(?<=this )|current |present |ongoing |running ){_NOUN})"
    r")(?P<tail>[a-z]*)",
    _FLAGS,
)
_OTHERS: Final = re.compile(
    r" (?:with (?!you)|at |of (?!ours)|i (?:gave|attended|heard|saw|watched)|by )"
)


_TO_ANOTHER: Final = re.compile(r" (?:to|with) (?!you(?![a-z]))(?!be(?![a-z]))")
_TO_YOU: Final = re.compile(
    r" (?:(?:to |with )?you|here|about|on|in|what|who|where|when|which|how|did|was|and)(?![a-z])"
    r"| *(?:$|[^a-z ])"
)
_MESSAGES: Final = re.compile(r"(?:text|ping|contact|messag|wrote|reached out)[a-z]*$", _FLAGS)
_SPEAKS: Final = re.compile(r"(?:talk|spoke|speak|chat|convers|connect)[a-z]*$", _FLAGS)
_TELLS: Final = re.compile(r"(?:talk|discuss|chat)[a-z]*$", _FLAGS)


def _is_with_another(match: re.Match[str], low: str) -> bool:
    """Tell whether somebody else is talked or written to: the last time I texted Mum."""
    words, at = match[0], match.end()
    if _MESSAGES.search(words) or (match["opening"] and not _TELLS.search(words)):
        return _TO_YOU.match(low, at) is None
    return _SPEAKS.search(words) is not None and _TO_ANOTHER.match(low, at) is not None


def english_ordinal(low: str) -> tuple[SessionOrdinal, Place] | None:
    """Find which session a text in lower case asks for."""
    for match in _SESSION.finditer(low):
        nouns = match["tail"] == "s" and not match["ago"]
        if nouns or _OTHERS.match(low, match.end()) or _is_with_another(match, low):
            continue
        return _ordinal(match), match.span()
    return None


def _ordinal(match: re.Match[str]) -> SessionOrdinal:
    if match["nth"]:
        return SessionOrdinal(ordinal(match["nth"]), from_end=False)
    if match["opening"]:
        return SessionOrdinal(1, from_end=False)
    return SessionOrdinal(_back(match), from_end=True)


def _back(match: re.Match[str]) -> int:
    if match["now"]:
        return 0
    if match["ago"]:
        return cardinal(match["ago"])
    if match["third"] or match["but"] == "two":
        return 3
    return 2 if match["back"] or match["but"] or match["beyond"] or match["beyond2"] else 1


# --- tense ---------------------------------------------------------------------------------------

_IRREGULAR: Final = (
    "was were did had said told went came saw met made took gave got wrote spoke thought bought "
    "brought felt found left lost heard knew kept ran sent slept spent stood taught wore won ate "
    "drank drove flew forgot began broke chose fell held led paid rode rang sang sat sold built "
    "caught cut grew hid meant read set understood woke wept quit dreamt learnt hung fought "
    "happened been could used gone done seen heard had "
).split()
_PAST: Final = re.compile(
    rf"(?<![a-z])(?:{'|'.join(sorted(set(_IRREGULAR)))}|didn't|wasn't|weren't|hadn't"
    rf"|[a-z]{{2,}}ed)(?![a-z])"
    r"|(?<![a-z])(?:have|has|haven't|hasn't|'ve|'s) (?:(?:i|you|we|they|he|she|it) )?(?:[a-z]+ )?"
    r"(?:been|[a-z]{2,}(?:ed|en|wn|ught)|met|made|had|told|said|lost|found|done|gone)(?![a-z])",
    _FLAGS,
)
_NOT_PAST: Final = frozenset(
    "need speed feed seed weed indeed exceed proceed succeed bed red wed hundred embed scheduled "
    "excited interested tired closed supposed planned named based called booked".split()
)
_FUTURE: Final = re.compile(
    r"(?<![a-z])(?:will|won't|shall|gonna|going to|about to|plan(?:ning)? to|intend to|must|have to"
    r"|has to|need to|needs to|let's|let us|don't forget|see you|due|should)(?![a-z])"
    r"|^(?:please |can you |could you )?(?:remind|wake|call|book|send|buy|schedule|set|plan|meet"
    r"|tell her|tell him)(?![a-z])"
    r"|'ll(?![a-z])|(?:i'm|we're|you're|he's|she's|they're|am|are|is) [a-z]+ing(?![a-z])",
    _FLAGS,
)
_PRESENT: Final = re.compile(
    r"(?<![a-z])(?:is|are|am|i'm|we're|it's|there's|have|has|arrives?|leaves?|starts?|begins?|ends?"
    r"|comes?|opens?|closes?|leave|expires?|move)(?![a-z])",
    _FLAGS,
)


def english_tense(low: str) -> Tense | None:
    """Guess the tense of the main verb of a text in lower case; None where nothing marks it."""
    past = next((m for m in _PAST.finditer(low) if m[0] not in _NOT_PAST), None)
    future = _FUTURE.search(low)
    if past is not None and future is not None:
        return "past" if past.start() < future.start() else "future"
    if past is not None:
        return "past"
    return "future" if future is not None or _PRESENT.search(low) else None


ENGLISH_EMPTY: Final = frozenset(
    """a about again all am and any anything are as at be been bring brought by can chat chatted
    chatting conversation conversations could cover covered day did discuss discussed do does done
    during everything exactly find for from gave get give go had happen happened has have hey how i
    in is it just know last let list look mention mentioned me my note noted notes of on our over
    please recall recap record recorded remember remind said say saying session sessions show so
    some something speak spoke stuff sum summarise summarize summary talk talked talking tell than
    that the there thing things this time to together told topic topics up us was we went were what
    what's when where which who with would write wrote you your and or i'd we'd i've we've ask
    asked us did didn't ok okay hi hello also too""".split()
)
"""Words that a question about a time holds beside the time."""
