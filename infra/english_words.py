"""English word lists of the recogniser: capitals without a name, and how names end.

General lists; none was made from a benchmark's names.
"""

from typing import Final

from ..schemas.ports import EntityKind

__all__ = [
    "CALENDAR",
    "LANGUAGES",
    "LEADS",
    "NOT_NAMES",
    "PROJECT_NOUNS",
    "SUFFIX_KINDS",
    "TITLES",
]

LANGUAGES: Final = frozenset(
    "english chinese mandarin cantonese french german spanish portuguese italian japanese korean "
    "russian arabic hindi dutch swedish norwegian danish finnish polish czech greek turkish "
    "hebrew thai vietnamese indonesian ukrainian romanian hungarian catalan tagalog irish "
    "scottish welsh british american european asian african australian canadian indian mexican "
    "brazilian swiss austrian belgian persian urdu bengali tamil latin swahili malay".split()
)
CALENDAR: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays mon tue tues wed thu thur thurs fri sat sun january "
    "february march april may june july august september october november december jan feb mar "
    "apr jun jul aug sep sept oct nov dec christmas easter thanksgiving halloween lent ramadan "
    "eid diwali hanukkah passover spring summer autumn fall winter".split()
)
TITLES: Final = frozenset(
    "mr mrs ms miss dr prof professor sir madam uncle aunt auntie cousin grandma grandpa granny "
    "sister brother coach captain cfo ceo cto coo vp sre dear".split()
)
PROJECT_NOUNS: Final = (
    "project|pipeline|initiative|programme|program|rollout|migration|codebase|repo|repository|"
    "dashboard|sprint|campaign|prototype|engine"
)
SUFFIX_KINDS: Final[dict[EntityKind, frozenset[str]]] = {
    "organization": frozenset(
        "lab labs studio studios institute university college school schools academy inc ltd llc "
        "gmbh corp corporation company co bank trust group systems partners press network "
        "foundation association society committee agency ministry department hospital clinic "
        "capital ventures logistics telemetry consulting holdings industries nursery orchard "
        "bakery cafe café restaurant hotel church council union club team airlines airways "
        "insurance pharmacy museum gallery library theatre theater extension garden gardens "
        "science visualization".split()
    ),
    "place": frozenset(
        "street road avenue lane square park lake river mountain mountains valley island islands "
        "bay beach bridge station airport city county district village town hills heights court "
        "drive harbour harbor forest coast quay".split()
    ),
    "project": frozenset("project initiative programme pipeline engine".split()),
    "product": frozenset("app phone pro max watch pad book cloud drive".split()),
}
NOT_NAMES: Final = frozenset(
    "i i'm i'll i've i'd ok okay yes no hi hello hey thanks thank please sorry well also but and "
    "or so if when where what who why how which while whereas because since although though "
    "however therefore maybe perhaps just only even still yet already never always sometimes "
    "often usually the a an this that these those my your his her its our their mine yours he "
    "she it we you they me him us them there here now then today tomorrow yesterday tonight "
    "mum mom mama dad papa mother father grandma grandpa grandmother grandfather nan gran "
    "everyone everybody someone somebody nobody anyone anybody nothing everything something "
    "god lord jesus wow oh ah um hmm yeah yep nope lol omg btw fyi asap ps am pm not do does did "
    "is are was were be been have has had can could will would shall should may might must let "
    "lets let's don't doesn't didn't won't can't isn't it's that's there's he's she's we're "
    "they're you're what's who's internet wifi wi-fi gps pdf tv dvd usb cv faq diy covid first "
    "second third next last new old north south east west northern southern eastern western "
    "great good bad big small part section chapter figure table page step version note quick "
    "both all each every any some many much more most few one two three four five six seven "
    "eight nine ten in on at by for from to of with about after before during until till under "
    "over between into through without within against near like as than too very really "
    "honestly actually basically apparently hopefully luckily sadly finally anyway besides "
    "instead otherwise meanwhile recently currently afternoon morning evening night noon "
    "midnight weekend week month year day".split()
)
LEADS: Final = frozenset(
    "dear hey hi hello thanks call ask tell meet met remember remind email mail text ring book "
    "visit see saw met with from for via per re".split()
)
