"""The patterns of slots in English; group `value` is the value, `thing` of what."""

import re
from typing import Final

from .slot_patterns import CLAUSE, EMAIL, Row, compile_slots
from .slot_words import ENGLISH_SLOT_WORDS

__all__ = [
    "CLAUSE_MARKS",
    "CLAUSE_WORDS",
    "ENGLISH_NO_VALUES",
    "ENGLISH_SLOTS",
    "JOB_ENDS",
    "NO_JOBS",
]

CLAUSE_MARKS: Final = re.compile(r"[,;:.!?(–—]|-\s|[^\w\s'’\"“”)/@#&+*-]")
CLAUSE_WORDS: Final = frozenset(
    "and but so btw cause because that since ok hi hey hello well lol actually now fyi note "
    "remember yes yeah no honestly here as when also plus".split()
)
_AM: Final = (
    r"i(?:'m| am|m)(?: (?:now|currently|still|actually|also|just|only|originally|really"
    r"|technically|officially|both))?"
)
_NAME: Final = r"(?-i:[A-ZÀ-Þ])[\w'-]*(?: (?-i:[A-ZÀ-Þ])[\w'-]*\.?){0,3}"
_PLACE: Final = (
    r"(?:the )?(?-i:[A-ZÀ-Þ])[\w'-]*(?:[ -](?:(?-i:[A-ZÀ-Þ])[\w'-]*|(?:of|de|la|le|upon|am"
    r"|sur|del|do|da|di)(?= (?-i:[A-ZÀ-Þ])))){0,4}"
)
_LOW_PLACE: Final = (
    r"(?!(?:the|a|an|my|our|this|that|his|her|your|their|here|there|peace|fear|hope|denial|sin"
    r"|hell|constant|total|one|two|some)\b)[a-z]{3,20}(?=\s*(?:[,.!;]|$|now\b|these\b|with\b"
    r"|and\b|since\b|but\b))"
)
_ORGANIZATION: Final = (
    r"(?-i:[A-ZÀ-Þ0-9])[\w'&.-]*(?:(?: (?:of|and|&|for|the|de)(?= (?-i:[A-ZÀ-Þ])))? "
    r"(?-i:[A-ZÀ-Þ0-9])[\w'&-]*){0,5}"
)
_MONTHS: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE: Final = (
    rf"(?:{_DAY}(?: of)? {_MONTHS}(?:,? \d{{4}})?|{_MONTHS} {_DAY}(?:,? \d{{4}})?"
    rf"|\d{{4}}-\d\d?-\d\d?|\d\d?[./]\d\d?(?:[./]\d{{2,4}})?"
    r"|christmas(?: eve| day)?|new year'?s(?: eve| day)|halloween|valentine'?s day|boxing "
    r"day|(?:the )?leap day)"
)
_PHONE: Final = r"(?:\+|\()?\d[\d ()./-]{5,20}\d"
_NUMBER: Final = (
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two"
    r"|three|four|five|six|seven|eight|nine))?"
    r"|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)"
)
_ZONE: Final = (
    r"(?:(?:UTC|GMT)(?:\s?[+-]\s?\d{1,2}(?::?\d\d)?)?"
    r"|[A-Z][a-zA-Z_]+/[A-Z][a-zA-Z_]+(?:/[A-Z][a-zA-Z_]+)?"
    r"|[A-Z]{2,5}T|(?:US |U\.S\. )?(?:Eastern|Central|Pacific|Mountain|Atlantic)(?: "
    r"(?:Standard|Daylight|European|US))?(?= time)|[A-Z][a-z]+(?= time\b))"
)
_LANGUAGE: Final = r"(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?(?: and (?-i:[A-Z])[a-z]+)?"
_TO_BORDER: Final = (
    r"[^,;!?\n—–]+?(?=\s*(?:[,;!?\n—–(]|\.(?:\s|$)|$| (?:and i|btw|but|so|because|cause|since"
    r"|unless|which|if|when|though|although|and i'?ll|even|for now|obviously|please|thanks)\b| "
    r"- ))"
)
_PARTNER: Final = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|spouse|other half|better half|gf"
    r"|bf|hubby)"
)
_ANIMAL: Final = (
    r"(?:dog|cat|puppy|pup|kitten|rabbit|bunny|hamster|parrot|budgie|canary|tortoise|turtle"
    r"|horse|pony|goldfish|fish|snake|lizard|gecko"
    r"|guinea pig|ferret|rat|mouse|bird|chinchilla|hedgehog|iguana|cockatiel|pet|labrador"
    r"|poodle|beagle|corgi|retriever|terrier|spaniel"
    r"|dachshund|collie|greyhound|tabby|goat|donkey|hen|chicken|llama|axolotl)"
)
_DIET: Final = (
    r"(?:vegetarian|vegan|pescatarian|pescetarian|flexitarian|fruitarian|carnivore|lacto[- "
    r"]vegetarian|ovo[- ]vegetarian|kosher|halal|keto"
    r"|paleo|gluten[- ]free|dairy[- ]free|lactose[- ]free|low[- ]carb|plant[- ]based"
    r"|coeliac|celiac|lactose intolerant)"
)

_ENGLISH: Final = (
    Row(
        "name",
        rf"{CLAUSE}(?:my (?:full |first |real |actual |given )?|the )name(?:'s| is|s| =|:) "
        rf"(?:actually )?(?P<value>{_NAME}|[a-z]+(?=\s*(?:[,.!]|$)))",
    ),
    Row(
        "name",
        rf"{CLAUSE}(?:{_AM} called|i go by|(?:please |just |you can )*call me|(?:everyone"
        rf"|everybody|people|friends|they|my friends) calls? me) (?P<value>{_NAME})",
    ),
    Row(
        "name",
        rf"{CLAUSE}(?P<check>(?:i'm|i am)) (?P<value>{_NAME})(?=\s*(?:[,.!]|$|and\b|from\b|by "
        r"the way))",
    ),
    Row(
        "name",
        rf"^(?:(?:hi|hello|hey)[, ]+)?(?:this is |it's )?(?P<value>{_NAME}) (?:here"
        r"|speaking)(?=\s*(?:[,.!:]|$))",
    ),
    Row("name", rf"{CLAUSE}(?:hi|hello|hey)[, ]+i(?:'m| am) (?P<value>{_NAME})"),
    Row(
        "name",
        rf"{CLAUSE}(?:name(?:'s|:| is)|(?:most |all )?(?:people|folks|colleagues|my \w+|the "
        rf"kids) calls? me) (?P<value>{_NAME})",
    ),
    Row(
        "name",
        rf"{CLAUSE}(?:please |just |you can )+call me (?P<value>(?!later|back|when|if|at|on"
        r"|maybe|any|asap|now|soon|tomorrow|crazy|old|a\b|an\b|the\b|in\b|before|after"
        rf"|again)[a-z]{{2,12}})(?=\s*(?:[,.!]|$))",
    ),
    Row(
        "home",
        rf"{CLAUSE}(?:{_AM}|i've|i|we|we're|we are) ?(?:now |currently |still |actually "
        r"|mostly )?(?:have been |been |'ve been )?(?:live|living|based|residing|reside"
        r"|settled|staying|dwell)(?: now| currently| permanently)?(?: out| over| up| down)? "
        rf"(?:in|at|near) (?P<value>{_PLACE}|{_LOW_PLACE})",
    ),
    Row(
        "home",
        rf"{CLAUSE}(?:i|we)(?:'ve| have)? (?:just |recently |finally |since )?(?:moved"
        rf"|relocated)(?: house)?(?: from [\w ]+?)?(?: back| over)? to (?P<value>{_PLACE}"
        rf"|{_LOW_PLACE})",
    ),
    Row(
        "home",
        rf"{CLAUSE}(?:my )?home(?: for me)?(?: these days| now)?(?:'s| is) (?:now )?(?:(?:an? "
        rf"[^,.;]{{1,40}}? )?(?:in|near|outside) )?(?P<value>{_PLACE})",
    ),
    Row(
        "hometown",
        rf"{CLAUSE}(?:{_AM}|i come|i hail|i) (?:originally )?from (?:a [\w ]+ in "
        rf")?(?P<value>{_PLACE})(?! (?:time|team|office))",
    ),
    Row("hometown", rf"{CLAUSE}originally from (?P<value>{_PLACE}|{_LOW_PLACE})"),
    Row(
        "hometown",
        rf"{CLAUSE}(?:i|we) (?:grew up|was born|was raised|was born and raised|am born and "
        rf"bred) in (?P<value>(?!{_MONTHS}\b|(?:19|20)\d\d){_PLACE})",
    ),
    Row(
        "hometown",
        rf"{CLAUSE}(?:my home ?town(?:'s| is)|born and (?:raised|bred) in) (?P<value>{_PLACE}"
        rf"|{_LOW_PLACE})",
    ),
    Row(
        "hometown",
        rf"{CLAUSE}(?:{_AM}|i was|we were)? ?(?:an? )?(?P<value>{_PLACE}) (?:native|born and "
        r"(?:bred|raised))",
    ),
    Row(
        "hometown",
        rf"{CLAUSE}(?P<value>{_PLACE})(?: is|'s) (?:where i (?:grew up|was born|come from|am "
        r"from|was raised)|my home ?town)",
    ),
    Row("hometown", rf"^(?:grew up|raised|born and raised|hail) (?:in|from) (?P<value>{_PLACE})"),
    Row(
        "job",
        rf"{CLAUSE}(?:{_AM}) (?:the|our|now the) (?P<value>[a-z][a-z "
        rf"-]{{2,40}}?)(?=\s*(?:[,.!;—(]|$| at | for | in | here))",
    ),
    Row(
        "job",
        r"^(?:an? )?(?P<value>[a-z][a-z -]{2,30}?) (?:here|by trade|by "
        r"profession)(?=\s*(?:[,.!;]|$))",
    ),
    Row(
        "job",
        rf"{CLAUSE}(?:{_AM}|i work as|{_AM} working as|i've been|i have been) an? "
        rf"(?P<value>[a-z][a-z -]{{2,40}}?)(?=\s*(?:[,.!;—(]|$| at | for | in | by | and | "
        r"with | from | on | now| these| of | who| here| since))",
    ),
    Row(
        "job",
        rf"{CLAUSE}(?:my (?:day )?job(?:'s| is| title is)(?: being)?(?: an?)?|i make (?:a|my) "
        rf"living as an?) (?P<value>[a-z][a-z -]{{2,40}}?)(?=\s*(?:[,.!;—(]|$| at | for | in ))",
    ),
    Row(
        "job",
        rf"{CLAUSE}i work (?:\w+ )?as an? (?P<value>[a-z][a-z -]{{2,40}}?)(?=\s*(?:[,.!;—(]|$| "
        r"at | for | in | by | and ))",
    ),
    Row(
        "employer",
        rf"{CLAUSE}(?:i|{_AM}) (?:now |currently |still )?(?:work|working|employed)(?: "
        r"[a-z-]+)?(?: in [a-z]+)?(?: as an? [a-z -]+?)?(?: now)? (?:for|at|by|with) (?:the "
        rf")?(?P<value>{_ORGANIZATION})",
    ),
    Row(
        "employer",
        rf"{CLAUSE}my (?:new |current )?(?:employer|company|firm|workplace)(?:'s| is)(?: "
        rf"called)? (?:now )?(?:the )?(?P<value>{_ORGANIZATION})",
    ),
    Row(
        "employer",
        rf"{CLAUSE}(?:i(?:'ve| have)? (?:just |recently )?(?:joined|started (?:at|with)|got "
        rf"hired (?:at|by))) (?:the )?(?P<value>{_ORGANIZATION})",
    ),
    Row(
        "employer",
        rf"{CLAUSE}{_AM} an? [a-z -]{{3,40}} (?:at|for|with) (?:the "
        rf")?(?P<value>{_ORGANIZATION})",
    ),
    Row(
        "birthday",
        rf"{CLAUSE}(?:(?:it's )?my )?(?:birthday|bday|b-day|date of birth|dob)(?:'s| is| falls"
        rf"|s|:)?(?: on)?(?: the)? (?P<value>{_DATE})",
    ),
    Row("birthday", rf"{CLAUSE}(?:i was )?born (?:on )?(?:the )?(?P<value>{_DATE})"),
    Row(
        "age",
        rf"{CLAUSE}(?:{_AM}|i(?:'ve| have)? (?:just )?turned|just turned|turned|i turn|i'm "
        rf"turning) (?P<value>{_NUMBER})(?: years? old| years? of age| yo| y/o)?(?=\s*(?:[,.!;]"
        r"|$|now\b|and\b|last\b|this\b|next\b|today\b|years? old|years? of|yo\b|in "
        r"\w+\b(?<!in a)|on \w+))(?!\s*(?:and a half )?(?:min|hour|day|week|month|%|percent|km"
        r"|mile|feet))",
    ),
    Row("age", rf"{CLAUSE}as an? (?P<value>{_NUMBER})[- ]years?[- ]old"),
    Row("age", rf"{CLAUSE}(?:at (?P<value>{_NUMBER}),? i\b)"),
    Row("age", rf"^(?:age:? )?(?P<value>{_NUMBER}) (?:years old|y/?o\b|here\b)"),
    Row(
        "age",
        rf"{CLAUSE}(?:i'll be|i will be|i'll turn|about to turn|i hit) (?P<value>{_NUMBER})(?= "
        r"(?:in|next|this|on|soon|tomorrow|years)|\s*[,.!])",
    ),
    Row("age", rf"{CLAUSE}my age(?:'s| is) (?P<value>{_NUMBER})"),
    Row(
        "email",
        rf"{CLAUSE}(?:(?:my|the) )?(?:new |work |personal |private |main )?e-?mail(?: "
        rf"address)?(?: is now| is|'s|:| changed[^@]{{0,40}}? is)? (?:now )?(?P<value>{EMAIL})",
    ),
    Row(
        "email",
        r"\b(?:reach(?:ed)? me (?:at|on)|(?:e-?mail|mail|write to|write) me (?:at|on)|best "
        r"reached at|you can reach me (?:at|on)|send (?:it|them|everything) to me at|i'm at"
        rf"|my e-?mail[^@]{{0,40}}is) (?P<value>{EMAIL})",
    ),
    Row(
        "phone",
        rf"{CLAUSE}(?:my|the) (?:new |work |mobile |cell |home |phone |telephone )*(?:phone"
        r"|number|mobile|cell|telephone|tel)(?: number)?(?: is now| is|'s|:) (?:now "
        rf")?(?P<value>{_PHONE})",
    ),
    Row("phone", rf"\b(?:call|ring|text|reach|phone) me (?:at|on) (?P<value>{_PHONE})"),
    Row(
        "timezone",
        rf"{CLAUSE}my time ?zone(?:'s| is|:) (?:now )?(?P<value>(?-i:{_ZONE})|{_TO_BORDER})",
    ),
    Row(
        "timezone",
        rf"{CLAUSE}(?:{_AM}|we're|i work|i live) (?:in|on) (?:the "
        rf")?(?P<value>(?-i:{_ZONE}))(?: time ?zone| time\b)?",
    ),
    Row(
        "language",
        rf"{CLAUSE}my (?:native|first|mother|main) (?:language|tongue)(?:'s| is) (?:actually "
        rf")?(?P<value>{_LANGUAGE})",
    ),
    Row(
        "language",
        rf"{CLAUSE}(?:i|we)(?: (?:mostly|mainly|usually|only|natively|always))? speak "
        rf"(?:mostly |mainly |only )?(?P<value>{_LANGUAGE})(?= (?:at home|natively|with my|to "
        r"my|every)|\s*(?:[,.!;]|$))",
    ),
    Row("language", rf"{CLAUSE}{_AM} an? native (?P<value>{_LANGUAGE}) speaker"),
    Row(
        "partner",
        rf"{CLAUSE}my {_PARTNER}(?:'s (?:full |first )?name is|'s called|'s named| is called| "
        rf"is named|'s name's|,| is| goes by)? (?P<value>{_NAME})(?!'s\b(?! (?:a|an)\b))",
    ),
    Row("partner", rf"{CLAUSE}(?:{_AM} )?(?:married to|engaged to|dating) (?P<value>{_NAME})"),
    Row(
        "pet",
        rf"{CLAUSE}(?:my|our) (?:\w+ ){{0,2}}{_ANIMAL}(?:'s name is|'s called|'s named| is "
        rf"called| is named|,|'s name's)? (?P<value>{_NAME})(?!'s\b)",
    ),
    Row(
        "pet",
        rf"{CLAUSE}(?:i|we)(?:'ve| have)? (?:just |also )?(?:got|have|own|adopted|bought"
        rf"|rescued|keep)? ?(?:an?|one|this) (?:[\w-]+ ){{0,3}}{_ANIMAL}(?: who is| that "
        rf"is)?(?:,? (?:called|named)|,) (?P<value>{_NAME})",
    ),
    Row(
        "diet",
        rf"{CLAUSE}(?:{_AM}|{_AM} on|i've been|i have been|i eat|i only eat|i keep|i follow|we "
        r"eat|we keep|i went|i've gone)(?: an?)?(?: strict| strictly| mostly| only| lifelong| "
        rf"fully| totally)? (?P<value>{_DIET})\b(?! (?:wine|restaurant|shop|place|recipe))",
    ),
    Row("diet", rf"{CLAUSE}my diet(?:'s| is) (?:strictly )?(?P<value>{_TO_BORDER})"),
    Row(
        "allergy",
        rf"{CLAUSE}(?:{_AM} )?(?:(?:severely|deathly|badly|really|very|highly|mildly"
        r"|violently) )?allergic to (?:\w+ly )?(?P<value>(?!(?:work|mornings?|mondays?|effort"
        rf"|exercise|meetings|bullshit|nonsense|drama|fun|people)\b){_TO_BORDER})",
    ),
    Row(
        "allergy",
        rf"{CLAUSE}(?:i have|i've got|i've)? ?(?:an? )?(?:severe|bad|serious|mild|nasty|strong"
        r"|life-threatening|known)? ?(?P<value>(?!i\b|my\b|have\b|the\b|an?\b|any\b|no\b"
        r"|severe\b|bad\b|serious\b|mild\b|nasty\b)[a-z]+(?: [a-z]+)?) allergy(?= here"
        r"|\s*[,.!;]|$| so| and| since)",
    ),
    Row("allergy", rf"{CLAUSE}my allerg(?:y|ies)(?:'s| is| are)(?: to)? (?P<value>{_TO_BORDER})"),
    Row(
        "favourite",
        rf"{CLAUSE}(?:my )?(?:all[- ]time |absolute |own |new )?favou?rite (?P<thing>[a-z][a-z "
        rf"-]{{1,30}}?)(?: of all time| ever)?(?: is| are|'s| has to be| has always been|:)(?: "
        rf"still| always| now| definitely| probably| actually)? (?P<value>{_TO_BORDER})",
    ),
    Row(
        "favourite",
        rf"{CLAUSE}(?P<value>(?-i:[A-Z])[^,;!?.]{{1,40}}?) (?:is|are) my (?:all[- ]time "
        rf"|absolute |new )?favou?rite (?P<thing>[a-z][a-z -]{{1,30}}?)(?=\s*(?:[,.!;]|$| of| "
        r"ever| and| by))",
    ),
    Row(
        "favourite",
        r"^(?P<value>(?!that|this|it|which|he|she|they)[a-z][\w' -]{1,30}?) (?:is|are) "
        r"(?:still |hands down |definitely |easily |by far |probably )?my (?:all[- ]time "
        r"|absolute |new )?favou?rite (?P<thing>[a-z][a-z -]{1,30}?)(?=\s*(?:[,.!;]|$| of| "
        r"ever| and| by))",
    ),
    Row(
        "favourite",
        rf"^(?:my )?(?:all[- ]time )?favou?rite (?P<thing>[a-z][a-z -]{{1,30}}?)\?\s+(?:(?:oh"
        r"|well|easily|easy|definitely|probably|it's|that's|that'd be|has to be|gotta be"
        rf"|always|still)[,: ]*)*(?P<value>{_TO_BORDER})",
    ),
    Row("birthday", rf"(?:^|[,.;:] )(?:the )?(?P<value>{_DATE}) is my (?:birthday|bday)"),
    Row(
        "default",
        rf"{CLAUSE}(?:my|the|our)? ?default (?P<thing>[a-z][a-z -]{{1,30}}?)(?: for (?:my|all"
        r"|everything|our|me)[\w ]*?)?(?: is| are|'s| should be| must be|:)(?: now| always)? "
        rf"(?P<value>{_TO_BORDER})",
    ),
    Row(
        "default",
        rf"{CLAUSE}(?:please )?(?:set|change|make|switch) (?:my|the) default "
        rf"(?P<thing>[a-z][a-z -]{{1,30}}?) (?:to|as|be)? ?(?P<value>{_TO_BORDER})",
    ),
    Row(
        "default",
        rf"{CLAUSE}(?:please )?(?:use|make|set|take) (?P<value>[^,;!?]{{1,60}}?) (?:as|for|be) "
        rf"(?:my|the) default (?P<thing>[a-z][a-z -]{{1,30}}?)(?=\s*(?:[,.!;]|$))",
    ),
)
ENGLISH_NO_VALUES: Final = frozenset(
    "i me my not in on at it you he she the a an gone dead broken here there back later "
    "maybe when now today tomorrow wrong "
    "different changing always never mine yours unknown secret private nothing something "
    "everything".split()
)
NO_JOBS: Final = frozenset(
    "beginner winner loser believer lover member father mother brother sister owner eater "
    "sleeper fighter smoker drinker newcomer "
    "number foreigner stranger teenager reader customer sufferer survivor supporter user "
    "player person bit lot fan mess morning night "
    "night-owl owl walker slow fast good bad great big terrible light heavy early late "
    "grandmother grandfather stepfather stepmother "
    "half-brother monster disaster matter never former over under other quitter hoarder "
    "leader? human woman man vegetarian vegan "
    "perfectionist pessimist optimist feminist realist minimalist catholic christian "
    "speaker subscriber regular procrastinator hugger "
    "debtor loner worrier dreamer gamer outsider boomer christian australian canadian "
    "italian egyptian norwegian russian brazilian "
    "hungarian austrian indian asian belgian romanian ukrainian european american african "
    "parisian londoner new-yorker twin".split()
)
JOB_ENDS: Final = (
    *(
        "er or ist ian eer ant nurse chef cook pilot clerk judge guard smith wright midwife coach "
        "model vet surgeon physician attorney architect analyst scientist engineer plumber "
        "postman fireman policeman fisherman salesman craftsman foreman assistant accountant "
        "consultant student apprentice intern postdoc researcher mechanic paramedic nanny herd "
        "handyman barista dj monk nun priest vicar imam rabbi actress waitress hostess seamstress "
        "agent chemist spy sommelier concierge electrician technician musician officer sergeant "
        "resident dev programmer freelancer secretary soldier tutor au-pair paralegal jeweller"
    ).split(),
    "au pair",
    "civil servant",
)

ENGLISH_SLOTS: Final = tuple(compile_slots(_ENGLISH, ENGLISH_SLOT_WORDS))
