"""The cues by which a turn in English shows that it holds something to keep.

Cue patterns are structures of a sentence ("from now on", "I'll"); the word sets are everyday
life (family, health, money, home, work, habits), which make a sentence about oneself a fact. They
were made from what people tell an assistant, not from a benchmark.
"""

import re
from typing import Final

__all__ = [
    "ENGLISH_CHAT",
    "ENGLISH_CUES",
    "ENGLISH_CUE_WORDS",
    "ENGLISH_FORMULA",
    "ENGLISH_KIN",
    "ENGLISH_LIFE",
    "ENGLISH_MARKS",
    "ENGLISH_SELF",
]

_I: Final = re.IGNORECASE


def _cue(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, _I)


_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = (
    r"(?:january|february|april|june|july|august|september|october|november|december"
    r"|(?:in|of|since|until|till|by|last|next|this|early|late|mid) (?:march|may)|(?:march|may) \d)"
)
_UNIT = (
    r"(?:%|°|percent|kg|kilos?|grams?|mg|ml|lit(?:er|re)s?|km|kilomet(?:er|re)s?|miles?|cm"
    r"|mm|met(?:er|re)s?"
    r"|feet|foot|inches|hours?|hrs?|minutes?|mins?|days?|weeks?|months?|years?|nights?"
    r"|times|euros?"
    r"|dollars?|pounds?|quid|bucks|usd|eur|gbp|francs?|yuan|guests|people|kids|pages|grand"
    r"|k\b|gb|tb)"
)

ENGLISH_CUES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "remember",
        _cue(
            r"\b(?:remember(?!s? when)|don'?t (?:ever )?forget|note (?:that|this|down)|for the "
            r"(?:record|file)"
            r"|keep in mind|bear in mind|make a note|write (?:this|that|it) down|heads[- ]up|fyi"
            r"|(?:just )?so (?:that )?you know|remind me|save (?:this|that)|jot)\b"
        ),
    ),
    (
        "preference",
        _cue(
            r"\b(?:prefer\w*|(?:i|she|he|they|we)(?:'d| would)? (?:much )?rather|favou?rites?"
            r"|(?:i|we|she|he|they)(?:'m| am|'s| is)? (?:\w+ly |also |just |do )?"
            r"(?:loves?|likes?|hates?|dislikes?|enjoys?|adores?|loathes?|detests?|fond)"
            r"(?! (?:it|that|this|how|you|to see|the idea|where|what)\b)"
            r"|can'?t (?:stand|bear|eat|drink|do without)|allerg\w+|intoleran\w+|not (?:a|much "
            r"of a) .{0,12}(?:fan|person)"
            r"|(?:big|huge) fan|fan of|my go-to|gives? me|easier on|works? (?:best|better) for me"
            r"|(?:don'?t|doesn'?t|do not|never) (?:eat|drink|like|do|use|read|watch|wear"
            r"|smoke|want)"
            r"|only (?:eat|drink|use|read|wear|buy|take)|hates|loves)\b"
        ),
    ),
    (
        "standing_order",
        _cue(
            r"\b(?:from now on|going forward|from here on|in (?:the )?future|by default"
            r"|defaults?|unless i say"
            r"|always|never(?! mind)|stop (?:ask|send|us|writ|end|add|say|call|mak|includ"
            r"|suggest|put|remind|do)\w*"
            r"|no more|every time|whenever|each time|whatever (?:you|i)|make sure"
            r"|(?:please )?(?:don'?t|do not) (?:ever )?(?:send|ask|mention|schedule|book|use"
            r"|call|add|include|tell"
            r"|suggest|put|show|start|end|write|share|remind|translate|give|make|bring"
            r"|order|contact)"
            r"|(?:please )?(?:use|answer|reply|respond|write|sign|format|keep|show|put) "
            r".{1,40} (?:in|as|with|under|at) "
            r"|(?:reply|answer|respond|write|talk) (?:to me )?(?:in|with)|just use)\b"
        ),
    ),
    (
        "commitment",
        _cue(
            r"\b(?:promis\w+|i swear|i owe|owes|committ\w+|deadlines?|due (?:on|in|by|end|the"
            r"|date)|appointment"
            r"|(?:i|we)(?:'ll| will|'m going to| am going to|'re going to)"
            r" (?!be (?:right|happy|glad|back)|think|try|see|take that|go with|say|admit|let"
            r"|just|never (?:guess|know))\w+"
            r"|will (?:be|do|send|have|pay|fix|start|finish|deliver|bring|update|need|stop)"
            r"|planning|plans? to|(?:hop|look|sav|train|aim)ing (?:to|for|up|on)|signed up"
            r"|booked|scheduled"
            r"|agreed to|hold me to it|pay (?:you|him|her|them|it) back|i(?:'ve| have) (?:got "
            r")?to|i (?:must|need to))\b"
        ),
    ),
    (
        "decision",
        _cue(
            r"\b(?:decid\w+|decision|chose|chosen|picked|let'?s (?:drop|keep|go with|use|cancel"
            r"|skip|switch|make|postpone|stick)"
            r"|going with|went with|settled (?:on|for)|agreed|final answer|changed my mind"
            r"|switch(?:ed|ing)|opted"
            r"|call(?:ed|ing) (?:it )?off|we'?re (?:cancel|nam|mov|switch|keep|dropp|sell"
            r"|buy|go)\w*"
            r"|not going (?:to|ahead)|made up my mind|i'?m (?:out|done with|not taking|keeping"
            r"|taking|dropping))\b"
        ),
    ),
    (
        "correction",
        _cue(
            r"\b(?:scratch that|correction|i mean[t]?\b(?!,)|turns out|(?:is|name'?s?) "
            r"spell(?:ed|t)|not my|i (?:said|told you)"
            r"|it'?s .{1,24},? not|isn'?t .{1,24} it'?s|(?:he|she|they|i|we)(?:'s|'re|'m| is| "
            r"are| am) not"
            r"|rather than|instead of|(?:has |have |is |got |was |were )?(?:changed|moved|upped"
            r"|postponed|replaced|renamed) (?:to|from|by)"
            r"|no longer|any ?more|used to|wasn'?t|mixed (?:it|that|them|those|up)|wrong "
            r"(?:date|name|number|day|one)"
            r"|my (?:new|old|email|number|address).{0,16}(?:changed|is now))\b"
        ),
    ),
    (
        "event",
        _cue(
            r"\b(?:born|died|dies|passed away|funeral|married|engaged|divorced|separated|broke "
            r"up|split up|adopted|pregnant"
            r"|expecting|moved|quit|retir\w+|graduat\w+|hired|fired|laid off|promoted|diagnosed"
            r"|surgery|operation|hospital"
            r"|bought|sold|lost|won|crashed|stolen|robbed|flood|(?:i|we)(?:'ve| have)? (?:just "
            r"|finally )?(?:got|started|stopped|finished"
            r"|passed|failed|broke|joined|left|learned|learnt|visited|met|ran|signed|applied"
            r"|went|tried|ordered|had|saw|made|took|told|heard|gave|found|built|opened)"
            r"|had (?:my|his|her|our|a|an)|wedding|birthday|anniversary|interview|exam|holiday"
            r"|vacation|trip|on leave)\b"
        ),
    ),
    (
        "slot",
        _cue(
            r"\b(?:my (?:\w+ )?(?:name|birthday|e-?mail|phone|mobile|number|address|time ?zone"
            r"|job|employer|hometown|age)\b"
            r"|(?:called|named|nickname|calls? me)|i (?:live|work|speak|teach|study|drive|own"
            r"|run)\b|i'?m (?:from|based|a |an |\d)"
            r"|(?:vegetarian|vegan|pescatarian|halal|kosher|gluten)|years? old|originally from"
            r"|call me|turned \d|i'm (?:in|on) (?:utc|gmt|[a-z]{2,3}t\b)|\d{1,3}[- ]years?[- "
            r"]old)"
        ),
    ),
    (
        "time",
        _cue(
            rf"\b(?:{_WEEKDAY}|{_MONTH}|tomorrow|yesterday|last (?:night|week|month|year|summer"
            r"|winter|spring|autumn|fall|time)"
            r"|next (?:week|month|year|summer|winter|spring|autumn|fall|term)|this (?:week"
            r"|month|year|weekend|summer)"
            r"|(?:\d+|two|three|four|five|six|seven|eight|nine|ten|few|couple of|a|an) (?:\w+ "
            r")?(?:days?|weeks?|months?|years?|hours?|summers?) ago"
            r"|since (?:i|my|we|the|\d|last)|until|till|every (?:other )?(?:day|week|month|year"
            r"|morning|evening|night|second|two|summer|\w+day)"
            r"|\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)|\d{1,2}:\d\d|\d{1,2}(?:st|nd|rd|th)"
            r"|christmas|easter|ramadan"
            r"|weekly|monthly|daily|yearly|nightly|mornings|evenings|nights|weekends?|weekdays?"
            r"|end of (?:the )?(?:day|week|month|year)"
            r"|month-end|(?:19|20)\d\d)\b"
        ),
    ),
    (
        "number",
        _cue(
            rf"(?:[$€£¥]\s?\d|\b\d[\d.,]*\s?{_UNIT}|\b\d{{1,3}}(?:,\d{{3}})+|\b\d{{3,}}\b"
            r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty"
            r"|thirty|forty|fifty|hundred|thousand)"
            rf"(?:-\w+)? (?:\w+ )?{_UNIT}|\bit'?s \d+)"
        ),
    ),
    (
        "fact",
        _cue(
            r"\b(?:i|we)(?:'ve| have) (?:got |always |never |been )|\bi (?:have|own|use|wear"
            r"|take|weigh|drive|keep|run|grow|play|sing|paint"
            r"|sleep|wake|get up|eat|drink|cook|bake|walk|cycle|swim|train|teach|study"
            r"|volunteer|coach|manage|support|follow|collect"
            r"|smoke|snore|commute|read|write|believe in|identify|suffer|avoid|struggle|handle"
            r"|lead|do my|do a|do the|find|sign|count)\b"
            r"(?! (?:what|it|that|you|so|no idea|a (?:question|feeling|second|point)|time|to "
            r"(?:say|ask|admit))\b)"
            r"|\bi'?m (?:\w+ly )?(?:scared|afraid|terrified|colou?r-?blind|blind|deaf"
            r"|left-handed|diabetic|dyslexic|single|married|divorced"
            r"|pregnant|retired|unemployed|freelance|self-employed|training|learning|studying"
            r"|doing|working|saving|trying|living|renting|moving"
            r"|writing|building|taking|sober|catholic|muslim|jewish|hindu|buddhist|on (?:a|the"
            r"|leave|medication)|into|used to|good at|bad at|hopeless)\b"
            r"|\bmy (?:budget|goal|plan|size|shoe|height|weight|rent|salary|car|bike|laptop"
            r"|phone|flat|house|room|desk|office|garden|allotment"
            r"|blood|eyes?|ears?|back|knees?|hip|hair|routine|hobby|religion|school|course"
            r"|thesis|degree|project|company|shop|business|bank"
            r"|account|insurance|licen[cs]e|passport|visa|commute|shift|shifts|tablets|meds"
            r"|medication|prescription|signature|nickname|accent)\b"
            r"|\bmy (?:\w+ )?take\b|\bi(?:'m| am) (?:skeptical|sceptical|convinced)\b|\bi "
            r"(?:strongly )?(?:believe|doubt)\b|\b(?:our|the) (?:maximum|minimum|limit|client"
            r"|customer|landlord|budget|server|rule|policy|key|code|password|wifi|router)\b"
        ),
    ),
)
# The words that a match of each cue begins with: a cue is tried only where one of them stands.
ENGLISH_CUE_WORDS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "remember": (
            "remember don't dont note for keep bear make write heads heads-up fyi just so "
            "remind save jot"
        ),
        "preference": (
            "prefer prefers preferred preferring preference preferences preferable i i'd i'm "
            "he he'd he's she she'd she's they they'd they're we we'd we're favourite "
            "favourites favorite favorites can't cant allergic allergy allergies intolerant "
            "intolerance intolerances not big huge fan my gives give easier works don't dont "
            "doesn't doesnt do never only hates loves"
        ),
        "standing_order": (
            "from going in by default defaults unless always never stop no every whenever "
            "each whatever make please don't dont do use answer reply respond write sign "
            "format keep show put talk just"
        ),
        "commitment": (
            "promise promised promises promising i i'll i'm i've we we'll we're owes commit "
            "committed committing commitment commitments deadline deadlines due appointment "
            "will planning plan plans hoping looking saving training aiming signed booked "
            "scheduled agreed hold pay"
        ),
        "decision": (
            "decide decided decides deciding decision chose chosen picked let's lets going "
            "went settled agreed final changed switched switching opted call called calling "
            "we're not made i'm im"
        ),
        "correction": (
            "scratch correction i i'm turns is name names name's not it's its isn't isnt he "
            "he's she she's they they're we we're rather instead has have got was were "
            "changed moved upped postponed replaced renamed no any anymore used wasn't mixed "
            "wrong my"
        ),
        "event": (
            "born died dies passed funeral married engaged divorced separated broke split "
            "adopted pregnant expecting moved quit retire retired retires retiring retirement "
            "graduated graduate graduating graduation hired fired laid promoted diagnosed "
            "surgery operation hospital bought sold lost won crashed stolen robbed flood i "
            "i've we we've had wedding birthday anniversary interview exam holiday vacation "
            "trip on"
        ),
        "slot": (
            "my called named nickname call calls i i'm im vegetarian vegan pescatarian halal "
            "kosher gluten gluten-free year years originally turned"
        ),
        "time": (
            "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays "
            "wednesdays thursdays fridays saturdays sundays january february march april may "
            "june july august september october november december in of since until till by "
            "early late mid last next this tomorrow yesterday two three four five six seven "
            "eight nine ten few couple a an every christmas easter ramadan weekly monthly "
            "daily yearly nightly mornings evenings nights weekend weekends weekday weekdays "
            "end month-end"
        ),
        "number": (
            "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty "
            "forty fifty hundred thousand it's"
        ),
        "fact": ("i we i've we've i'm im my our the"),
    }.items()
}
ENGLISH_MARKS: Final = re.compile(
    r"^no[, ]+(?:no|it|i|not|the)\b(?! other)|, not \w+|^not\b(?! (?:sure|bad|really|yet|much"
    r"|at all))",
    _I,
)
ENGLISH_FORMULA: Final = re.compile(
    r"^\W*(?:sure|of course|certainly|absolutely|here (?:you go|is|are|'s)|apologies|i'?m "
    r"sorry|sorry|you'?re (?:right|welcome)"
    r"|thanks? (?:you )?(?:for your patience|so much)|good question|great (?:question"
    r"|catch)|i'?m just a language model|as an ai|no problem"
    r"|i'?d be (?:happy|glad)|let me know|is there anything else|do you want|would you like"
    r"|glad|happy to|understood|which of)\b",
    _I,
)
ENGLISH_SELF: Final = frozenset(
    "i i'm im i've ive i'd i'll my mine me we we're we've our ours us myself".split()
)
ENGLISH_KIN: Final = frozenset(
    "mother mum mom mummy mommy dad daddy father parents parent sister brother siblings "
    "sibling wife husband "
    "partner girlfriend boyfriend fiance fiancé fiancee fiancée spouse son daughter kid "
    "kids child children baby "
    "toddler twins twin uncle aunt auntie cousin nephew niece grandma grandpa grandmother "
    "grandfather gran nan "
    "granny grandson granddaughter grandkids stepson stepdaughter stepmother stepfather "
    "stepdad stepmum ex boss "
    "manager supervisor colleague coworker coworkers colleagues landlord landlady "
    "neighbour neighbor neighbours "
    "neighbors friend friends roommate flatmate housemate godson goddaughter godmother "
    "brother-in-law "
    "sister-in-law mother-in-law father-in-law in-laws family team client clients teacher "
    "tutor doctor dentist "
    "therapist coach mentor assistant intern dog cat puppy kitten kittens rabbit hamster "
    "parrot tortoise horse pet "
    "pets budgie goldfish".split()
)
ENGLISH_LIFE: Final = frozenset(
    # health
    "allergy allergic asthma diabetes migraine migraines headache headaches insomnia "
    "anxiety depression adhd "
    "autism dyslexia vegetarian vegan gluten lactose medication tablets pills insulin "
    "inhaler pollen nuts "
    "surgery hospital doctor dentist therapist therapy physio pregnant cancer stroke knee "
    "hip wisdom glasses "
    "contacts hearing wheelchair blood pressure cholesterol diet sugar smoking alcohol "
    "sober gym yoga running "
    "marathon swim swimming cycling climbing hiking football tennis chess cello piano "
    "guitar violin choir "
    # food
    "breakfast lunch dinner coffee tea decaf espresso milk oat meat pork beef fish seafood "
    "shellfish chicken "
    "spicy coriander cilantro garlic onions mushrooms olives cheese eggs bread rice wine "
    "beer dessert chocolate "
    # home and money
    "mortgage rent lease landlord flat apartment house cottage houseboat garden allotment "
    "boiler kitchen "
    "bathroom bedroom attic basement garage key keys wifi router budget salary wage "
    "savings loan debt deposit "
    "pension tax insurance bank account card payment invoice subscription bills payday owe "
    # work and school
    "job boss office shift shifts nights freelance contract client clients project "
    "projects report thesis phd "
    "degree university college school course class exam exams homework semester teacher "
    "nurse engineer lawyer "
    "accountant plumber electrician chef welder farmer driver pilot retired retirement "
    "promotion interview "
    "meeting meetings newsletter deadline training apprenticeship bookkeeping committee "
    # travel and things
    "flight flights train trains plane flying window aisle seat seats hotel passport visa "
    "holiday vacation car "
    "motorbike motorcycle bike van truck diesel electric licence license laptop android "
    "iphone windows linux mac "
    "printer keyboard e-readers kindle paper dark mode shoes size tattoo "
    # faith, family, life
    "church mosque temple catholic muslim jewish hindu buddhist christian atheist married "
    "divorced single wedding "
    "baby kids children twins dog cat tortoise rabbit horse scared afraid phobia born "
    "raised grew moved "
    "migrated citizenship accent bilingual language languages left-handed colourblind "
    "colorblind weigh tall "
    "birthday nickname surname".split()
)
# What small talk and talk about the talk is made of: what remains of a sentence is its content.
ENGLISH_CHAT: Final = frozenset(
    "the a an and or but if so to of in on at for with by from as than then that this "
    "these those it its it's is "
    "isn't are aren't was wasn't were be been being am do does did don't didn't doesn't "
    "have has had haven't will "
    "would can could should may might must i i'm i've i'd i'll im ive me my mine myself we "
    "we're us our you you're "
    "you've your he she they them their there here what which who how when where why not "
    "no yes yeah ok okay oh ah "
    "wow haha lol just only really very quite so too also even still again already maybe "
    "perhaps well now then "
    "soon later today now ever never always all any some one two both another other more "
    "most less much many few lot "
    "bit little second sec moment minute while time way thing things something anything "
    "nothing everything stuff "
    "kind sort part point case idea sense question questions answer answers word words "
    "sentence text message reply "
    "line lines paragraph list table version option options example step joke story poem "
    "haiku page link typo "
    "think thought know knew mean meant see saw say said saying tell told ask asked guess "
    "hope wish feel felt "
    "wonder wondering wondered believe suppose understand understood follow get got go "
    "going come came back look "
    "looks looking sound sounds read reading write writing put make made take took give "
    "gave let like love loved "
    "want wanted need try trying wait waiting help happen happened work works start send "
    "sent press pressed "
    "missed forgot remember find figure figured change explain repeat check click scroll "
    "type typing "
    "good great nice fine bad wrong right true sure sorry thanks thank please happy glad "
    "funny weird strange "
    "cool crazy wild silly bored boring tired sleepy hungry busy lazy confused lost "
    "serious kidding joking "
    "early slow fast quick slowly easy hard hot cold rainy windy sunny long short big "
    "small new old same "
    "different first last next better best worse worst laugh laughing smile cry loud out "
    "up down over off about "
    "because though actually honestly basically seriously literally totally exactly head "
    "brain mind heart eyes "
    "weather rain sun wind day morning night evening week weekend everyone everybody "
    "someone people anyone "
    "million years ago late person robot bot model assistant language human real".split()
)
