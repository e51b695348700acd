"""The patterns of slots, English and Chinese; group `value` is the value, `thing` of what."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = [
    "CHINESE_CLAUSE",
    "CHINESE_NO_VALUES",
    "CHINESE_SLOTS",
    "ENGLISH_CLAUSE",
    "ENGLISH_NO_VALUES",
    "ENGLISH_SLOTS",
    "JOB_ENDS",
    "NO_JOBS",
    "SlotPattern",
]

# A pattern with this mark is tried only where a clause begins.
_CLAUSE: Final = "<clause>"
ENGLISH_CLAUSE: Final = re.compile(
    r"(?:^\W*|[,;:.!?(–—]+\s*|-\s|[^\w\s'’]+\s|\b(?:and|but|so|btw|cause|because|that|since|ok|hi|hey|hello|well|lol|actually"
    r"|now|fyi|note|remember|yes|yeah|no|honestly|here|as|when|also|plus)\s+)",
    re.IGNORECASE,
)
_AM: Final = r"i(?:'m| am|m)(?: (?:now|currently|still|actually|also|just|only|originally|really|technically|officially|both))?"
_NAME: Final = r"(?-i:[A-ZÀ-Þ])[\w'-]*(?: (?-i:[A-ZÀ-Þ])[\w'-]*\.?){0,3}"
_PLACE: Final = (
    r"(?:the )?(?-i:[A-ZÀ-Þ])[\w'-]*(?:[ -](?:(?-i:[A-ZÀ-Þ])[\w'-]*|(?:of|de|la|le|upon|am|sur|del|do|da|di)(?= (?-i:[A-ZÀ-Þ])))){0,4}"
)
_LOW_PLACE: Final = r"(?!(?:the|a|an|my|our|this|that|his|her|your|their|here|there|peace|fear|hope|denial|sin|hell|constant|total|one|two|some)\b)[a-z]{3,20}(?=\s*(?:[,.!;]|$|now\b|these\b|with\b|and\b|since\b|but\b))"
_ORGANIZATION: Final = (
    r"(?-i:[A-ZÀ-Þ0-9])[\w'&.-]*(?:(?: (?:of|and|&|for|the|de)(?= (?-i:[A-ZÀ-Þ])))? (?-i:[A-ZÀ-Þ0-9])[\w'&-]*){0,5}"
)
_MONTHS: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE: Final = (
    rf"(?:{_DAY}(?: of)? {_MONTHS}(?:,? \d{{4}})?|{_MONTHS} {_DAY}(?:,? \d{{4}})?|\d{{4}}-\d\d?-\d\d?|\d\d?[./]\d\d?(?:[./]\d{{2,4}})?"
    r"|christmas(?: eve| day)?|new year'?s(?: eve| day)|halloween|valentine'?s day|boxing day|(?:the )?leap day)"
)
_EMAIL: Final = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_PHONE: Final = r"(?:\+|\()?\d[\d ()./-]{5,20}\d"
_NUMBER: Final = (
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)"
)
_ZONE: Final = (
    r"(?:(?:UTC|GMT)(?:\s?[+-]\s?\d{1,2}(?::?\d\d)?)?|[A-Z][a-zA-Z_]+/[A-Z][a-zA-Z_]+(?:/[A-Z][a-zA-Z_]+)?"
    r"|[A-Z]{2,5}T|(?:US |U\.S\. )?(?:Eastern|Central|Pacific|Mountain|Atlantic)(?: (?:Standard|Daylight|European|US))?(?= time)|[A-Z][a-z]+(?= time\b))"
)
_LANGUAGE: Final = r"(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?(?: and (?-i:[A-Z])[a-z]+)?"
_TO_BORDER: Final = r"[^,;!?\n—–]+?(?=\s*(?:[,;!?\n—–(]|\.(?:\s|$)|$| (?:and i|btw|but|so|because|cause|since|unless|which|if|when|though|although|and i'?ll|even|for now|obviously|please|thanks)\b| - ))"
_PARTNER: Final = r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|spouse|other half|better half|gf|bf|hubby)"
_ANIMAL: Final = (
    r"(?:dog|cat|puppy|pup|kitten|rabbit|bunny|hamster|parrot|budgie|canary|tortoise|turtle|horse|pony|goldfish|fish|snake|lizard|gecko"
    r"|guinea pig|ferret|rat|mouse|bird|chinchilla|hedgehog|iguana|cockatiel|pet|labrador|poodle|beagle|corgi|retriever|terrier|spaniel"
    r"|dachshund|collie|greyhound|tabby|goat|donkey|hen|chicken|llama|axolotl)"
)
_DIET: Final = (
    r"(?:vegetarian|vegan|pescatarian|pescetarian|flexitarian|fruitarian|carnivore|lacto[- ]vegetarian|ovo[- ]vegetarian|kosher|halal|keto"
    r"|paleo|gluten[- ]free|dairy[- ]free|lactose[- ]free|low[- ]carb|plant[- ]based|coeliac|celiac|lactose intolerant)"
)

_ENGLISH: Final[tuple[tuple[str, str], ...]] = (
    ("name", rf"{_CLAUSE}(?:my (?:full |first |real |actual |given )?|the )name(?:'s| is|s| =|:) (?:actually )?(?P<value>{_NAME}|[a-z]+(?=\s*(?:[,.!]|$)))"),
    ("name", rf"{_CLAUSE}(?:{_AM} called|i go by|(?:please |just |you can )*call me|(?:everyone|everybody|people|friends|they|my friends) calls? me) (?P<value>{_NAME})"),
    ("name", rf"{_CLAUSE}(?P<check>(?:i'm|i am)) (?P<value>{_NAME})(?=\s*(?:[,.!]|$|and\b|from\b|by the way))"),
    ("name", rf"^(?:(?:hi|hello|hey)[, ]+)?(?:this is |it's )?(?P<value>{_NAME}) (?:here|speaking)(?=\s*(?:[,.!:]|$))"),
    ("name", rf"{_CLAUSE}(?:hi|hello|hey)[, ]+i(?:'m| am) (?P<value>{_NAME})"),
    ("name", rf"{_CLAUSE}(?:name(?:'s|:| is)|(?:most |all )?(?:people|folks|colleagues|my \w+|the kids) calls? me) (?P<value>{_NAME})"),
    ("name", rf"{_CLAUSE}(?:please |just |you can )+call me (?P<value>(?!later|back|when|if|at|on|maybe|any|asap|now|soon|tomorrow|crazy|old|a\b|an\b|the\b|in\b|before|after|again)[a-z]{{2,12}})(?=\s*(?:[,.!]|$))"),
    ("home", rf"{_CLAUSE}(?:{_AM}|i've|i|we|we're|we are) ?(?:now |currently |still |actually |mostly )?(?:have been |been |'ve been )?(?:live|living|based|residing|reside|settled|staying|dwell)(?: now| currently| permanently)?(?: out| over| up| down)? (?:in|at|near) (?P<value>{_PLACE}|{_LOW_PLACE})"),
    ("home", rf"{_CLAUSE}(?:i|we)(?:'ve| have)? (?:just |recently |finally |since )?(?:moved|relocated)(?: house)?(?: from [\w ]+?)?(?: back| over)? to (?P<value>{_PLACE}|{_LOW_PLACE})"),
    ("home", rf"{_CLAUSE}(?:my )?home(?: for me)?(?: these days| now)?(?:'s| is) (?:now )?(?:(?:an? [^,.;]{{1,40}}? )?(?:in|near|outside) )?(?P<value>{_PLACE})"),
    ("hometown", rf"{_CLAUSE}(?:{_AM}|i come|i hail|i) (?:originally )?from (?:a [\w ]+ in )?(?P<value>{_PLACE})(?! (?:time|team|office))"),
    ("hometown", rf"{_CLAUSE}originally from (?P<value>{_PLACE}|{_LOW_PLACE})"),
    ("hometown", rf"{_CLAUSE}(?:i|we) (?:grew up|was born|was raised|was born and raised|am born and bred) in (?P<value>(?!{_MONTHS}\b|(?:19|20)\d\d){_PLACE})"),
    ("hometown", rf"{_CLAUSE}(?:my home ?town(?:'s| is)|born and (?:raised|bred) in) (?P<value>{_PLACE}|{_LOW_PLACE})"),
    ("hometown", rf"{_CLAUSE}(?:{_AM}|i was|we were)? ?(?:an? )?(?P<value>{_PLACE}) (?:native|born and (?:bred|raised))"),
    ("hometown", rf"{_CLAUSE}(?P<value>{_PLACE})(?: is|'s) (?:where i (?:grew up|was born|come from|am from|was raised)|my home ?town)"),
    ("hometown", rf"^(?:grew up|raised|born and raised|hail) (?:in|from) (?P<value>{_PLACE})"),
    ("job", rf"{_CLAUSE}(?:{_AM}) (?:the|our|now the) (?P<value>[a-z][a-z -]{{2,40}}?)(?=\s*(?:[,.!;—(]|$| at | for | in | here))"),
    ("job", rf"^(?:an? )?(?P<value>[a-z][a-z -]{{2,30}}?) (?:here|by trade|by profession)(?=\s*(?:[,.!;]|$))"),
    ("job", rf"{_CLAUSE}(?:{_AM}|i work as|{_AM} working as|i've been|i have been) an? (?P<value>[a-z][a-z -]{{2,40}}?)(?=\s*(?:[,.!;—(]|$| at | for | in | by | and | with | from | on | now| these| of | who| here| since))"),
    ("job", rf"{_CLAUSE}(?:my (?:day )?job(?:'s| is| title is)(?: being)?(?: an?)?|i make (?:a|my) living as an?) (?P<value>[a-z][a-z -]{{2,40}}?)(?=\s*(?:[,.!;—(]|$| at | for | in ))"),
    ("job", rf"{_CLAUSE}i work (?:\w+ )?as an? (?P<value>[a-z][a-z -]{{2,40}}?)(?=\s*(?:[,.!;—(]|$| at | for | in | by | and ))"),
    ("employer", rf"{_CLAUSE}(?:i|{_AM}) (?:now |currently |still )?(?:work|working|employed)(?: [a-z-]+)?(?: in [a-z]+)?(?: as an? [a-z -]+?)?(?: now)? (?:for|at|by|with) (?:the )?(?P<value>{_ORGANIZATION})"),
    ("employer", rf"{_CLAUSE}my (?:new |current )?(?:employer|company|firm|workplace)(?:'s| is)(?: called)? (?:now )?(?:the )?(?P<value>{_ORGANIZATION})"),
    ("employer", rf"{_CLAUSE}(?:i(?:'ve| have)? (?:just |recently )?(?:joined|started (?:at|with)|got hired (?:at|by))) (?:the )?(?P<value>{_ORGANIZATION})"),
    ("employer", rf"{_CLAUSE}{_AM} an? [a-z -]{{3,40}} (?:at|for|with) (?:the )?(?P<value>{_ORGANIZATION})"),
    ("birthday", rf"{_CLAUSE}(?:(?:it's )?my )?(?:birthday|bday|b-day|date of birth|dob)(?:'s| is| falls|s|:)?(?: on)?(?: the)? (?P<value>{_DATE})"),
    ("birthday", rf"{_CLAUSE}(?:i was )?born (?:on )?(?:the )?(?P<value>{_DATE})"),
    ("age", rf"{_CLAUSE}(?:{_AM}|i(?:'ve| have)? (?:just )?turned|just turned|turned|i turn|i'm turning) (?P<value>{_NUMBER})(?: years? old| years? of age| yo| y/o)?(?=\s*(?:[,.!;]|$|now\b|and\b|last\b|this\b|next\b|today\b|years? old|years? of|yo\b|in \w+\b(?<!in a)|on \w+))(?!\s*(?:and a half )?(?:min|hour|day|week|month|%|percent|km|mile|feet))"),
    ("age", rf"{_CLAUSE}as an? (?P<value>{_NUMBER})[- ]years?[- ]old"),
    ("age", rf"{_CLAUSE}(?:at (?P<value>{_NUMBER}),? i\b)"),
    ("age", rf"^(?:age:? )?(?P<value>{_NUMBER}) (?:years old|y/?o\b|here\b)"),
    ("age", rf"{_CLAUSE}(?:i'll be|i will be|i'll turn|about to turn|i hit) (?P<value>{_NUMBER})(?= (?:in|next|this|on|soon|tomorrow|years)|\s*[,.!])"),
    ("age", rf"{_CLAUSE}my age(?:'s| is) (?P<value>{_NUMBER})"),
    ("email", rf"{_CLAUSE}(?:(?:my|the) )?(?:new |work |personal |private |main )?e-?mail(?: address)?(?: is now| is|'s|:| changed[^@]{{0,40}}? is)? (?:now )?(?P<value>(?<![\w.+-]){_EMAIL})"),
    ("email", rf"\b(?:reach(?:ed)? me (?:at|on)|(?:e-?mail|mail|write to|write) me (?:at|on)|best reached at|you can reach me (?:at|on)|send (?:it|them|everything) to me at|i'm at|my e-?mail[^@]{{0,40}}is) (?P<value>(?<![\w.+-]){_EMAIL})"),
    ("phone", rf"{_CLAUSE}(?:my|the) (?:new |work |mobile |cell |home |phone |telephone )*(?:phone|number|mobile|cell|telephone|tel)(?: number)?(?: is now| is|'s|:) (?:now )?(?P<value>{_PHONE})"),
    ("phone", rf"\b(?:call|ring|text|reach|phone) me (?:at|on) (?P<value>{_PHONE})"),
    ("timezone", rf"{_CLAUSE}my time ?zone(?:'s| is|:) (?:now )?(?P<value>(?-i:{_ZONE})|{_TO_BORDER})"),
    ("timezone", rf"{_CLAUSE}(?:{_AM}|we're|i work|i live) (?:in|on) (?:the )?(?P<value>(?-i:{_ZONE}))(?: time ?zone| time\b)?"),
    ("language", rf"{_CLAUSE}my (?:native|first|mother|main) (?:language|tongue)(?:'s| is) (?:actually )?(?P<value>{_LANGUAGE})"),
    ("language", rf"{_CLAUSE}(?:i|we)(?: (?:mostly|mainly|usually|only|natively|always))? speak (?:mostly |mainly |only )?(?P<value>{_LANGUAGE})(?= (?:at home|natively|with my|to my|every)|\s*(?:[,.!;]|$))"),
    ("language", rf"{_CLAUSE}{_AM} an? native (?P<value>{_LANGUAGE}) speaker"),
    ("partner", rf"{_CLAUSE}my {_PARTNER}(?:'s (?:full |first )?name is|'s called|'s named| is called| is named|'s name's|,| is| goes by)? (?P<value>{_NAME})(?!'s\b(?! (?:a|an)\b))"),
    ("partner", rf"{_CLAUSE}(?:{_AM} )?(?:married to|engaged to|dating) (?P<value>{_NAME})"),
    ("pet", rf"{_CLAUSE}(?:my|our) (?:\w+ ){{0,2}}{_ANIMAL}(?:'s name is|'s called|'s named| is called| is named|,|'s name's)? (?P<value>{_NAME})(?!'s\b)"),
    ("pet", rf"{_CLAUSE}(?:i|we)(?:'ve| have)? (?:just |also )?(?:got|have|own|adopted|bought|rescued|keep)? ?(?:an?|one|this) (?:[\w-]+ ){{0,3}}{_ANIMAL}(?: who is| that is)?(?:,? (?:called|named)|,) (?P<value>{_NAME})"),
    ("diet", rf"{_CLAUSE}(?:{_AM}|{_AM} on|i've been|i have been|i eat|i only eat|i keep|i follow|we eat|we keep|i went|i've gone)(?: an?)?(?: strict| strictly| mostly| only| lifelong| fully| totally)? (?P<value>{_DIET})\b(?! (?:wine|restaurant|shop|place|recipe))"),
    ("diet", rf"{_CLAUSE}my diet(?:'s| is) (?:strictly )?(?P<value>{_TO_BORDER})"),
    ("allergy", rf"{_CLAUSE}(?:{_AM} )?(?:(?:severely|deathly|badly|really|very|highly|mildly|violently) )?allergic to (?:\w+ly )?(?P<value>(?!(?:work|mornings?|mondays?|effort|exercise|meetings|bullshit|nonsense|drama|fun|people)\b){_TO_BORDER})"),
    ("allergy", rf"{_CLAUSE}(?:i have|i've got|i've)? ?(?:an? )?(?:severe|bad|serious|mild|nasty|strong|life-threatening|known)? ?(?P<value>(?!i\b|my\b|have\b|the\b|an?\b|any\b|no\b|severe\b|bad\b|serious\b|mild\b|nasty\b)[a-z]+(?: [a-z]+)?) allergy(?= here|\s*[,.!;]|$| so| and| since)"),
    ("allergy", rf"{_CLAUSE}my allerg(?:y|ies)(?:'s| is| are)(?: to)? (?P<value>{_TO_BORDER})"),
    ("favourite", rf"{_CLAUSE}(?:my )?(?:all[- ]time |absolute |own |new )?favou?rite (?P<thing>[a-z][a-z -]{{1,30}}?)(?: of all time| ever)?(?: is| are|'s| has to be| has always been|:)(?: still| always| now| definitely| probably| actually)? (?P<value>{_TO_BORDER})"),
    ("favourite", rf"{_CLAUSE}(?P<value>(?-i:[A-Z])[^,;!?.]{{1,40}}?) (?:is|are) my (?:all[- ]time |absolute |new )?favou?rite (?P<thing>[a-z][a-z -]{{1,30}}?)(?=\s*(?:[,.!;]|$| of| ever| and| by))"),
    ("favourite", rf"^(?P<value>(?!that|this|it|which|he|she|they)[a-z][\w' -]{{1,30}}?) (?:is|are) (?:still |hands down |definitely |easily |by far |probably )?my (?:all[- ]time |absolute |new )?favou?rite (?P<thing>[a-z][a-z -]{{1,30}}?)(?=\s*(?:[,.!;]|$| of| ever| and| by))"),
    ("favourite", rf"^(?:my )?(?:all[- ]time )?favou?rite (?P<thing>[a-z][a-z -]{{1,30}}?)\?\s+(?:(?:oh|well|easily|easy|definitely|probably|it's|that's|that'd be|has to be|gotta be|always|still)[,: ]*)*(?P<value>{_TO_BORDER})"),
    ("birthday", rf"(?:^|[,.;:] )(?:the )?(?P<value>{_DATE}) is my (?:birthday|bday)"),
    ("default", rf"{_CLAUSE}(?:my|the|our)? ?default (?P<thing>[a-z][a-z -]{{1,30}}?)(?: for (?:my|all|everything|our|me)[\w ]*?)?(?: is| are|'s| should be| must be|:)(?: now| always)? (?P<value>{_TO_BORDER})"),
    ("default", rf"{_CLAUSE}(?:please )?(?:set|change|make|switch) (?:my|the) default (?P<thing>[a-z][a-z -]{{1,30}}?) (?:to|as|be)? ?(?P<value>{_TO_BORDER})"),
    ("default", rf"{_CLAUSE}(?:please )?(?:use|make|set|take) (?P<value>[^,;!?]{{1,60}}?) (?:as|for|be) (?:my|the) default (?P<thing>[a-z][a-z -]{{1,30}}?)(?=\s*(?:[,.!;]|$))"),
)
ENGLISH_NO_VALUES: Final = frozenset(
    "i me my not in on at it you he she the a an gone dead broken here there back later maybe when now today tomorrow wrong "
    "different changing always never mine yours unknown secret private nothing something everything".split()
)
NO_JOBS: Final = frozenset(
    "beginner winner loser believer lover member father mother brother sister owner eater sleeper fighter smoker drinker newcomer "
    "number foreigner stranger teenager reader customer sufferer survivor supporter user player person bit lot fan mess morning night "
    "night-owl owl walker slow fast good bad great big terrible light heavy early late grandmother grandfather stepfather stepmother "
    "half-brother monster disaster matter never former over under other quitter hoarder leader? human woman man vegetarian vegan "
    "perfectionist pessimist optimist feminist realist minimalist catholic christian speaker subscriber regular procrastinator hugger "
    "debtor loner worrier dreamer gamer outsider boomer christian australian canadian italian egyptian norwegian russian brazilian "
    "hungarian austrian indian asian belgian romanian ukrainian european american african parisian londoner new-yorker twin".split()
)
JOB_ENDS: Final = (
    "er", "or", "ist", "ian", "eer", "ant", "nurse", "chef", "cook", "pilot", "clerk", "judge", "guard", "smith", "wright",
    "midwife", "coach", "model", "vet", "surgeon", "physician", "attorney", "architect", "analyst", "scientist", "engineer",
    "plumber", "postman", "fireman", "policeman", "fisherman", "salesman", "craftsman", "foreman", "assistant", "accountant",
    "consultant", "student", "apprentice", "intern", "postdoc", "researcher", "mechanic", "paramedic", "au pair", "nanny", "herd",
    "civil servant", "handyman", "barista", "dj", "monk", "nun", "priest", "vicar", "imam", "rabbi", "actress", "waitress", "hostess",
    "seamstress", "agent", "chemist", "spy", "sommelier", "concierge", "electrician", "technician", "musician", "officer", "sergeant",
    "resident", "dev", "programmer", "freelancer", "secretary", "soldier", "tutor", "au-pair", "paralegal", "jeweller",
)  # fmt: skip

_ZH_CLAUSE: Final = "<clause>"
CHINESE_CLAUSE: Final = re.compile(
    r"^\W*|[，。！？；：、,.!?;:\s（(—～~）)…\"“”]+|其实|因为|所以|但是|不过|对了|你好|大家好|记住|记得|记一下|告诉你"
)
_ZH_END: Final = r"(?=[，。！；、,.!;\s（(—～~）)…哈呢啊呀哦]|$)"
_ZH_DATE: Final = (
    r"(?:(?:农历|阴历|阳历|公历)?(?:\d{4}年|[一二三四五六七八九零〇]{4}年|[一二三四五六七八九零〇\d]{2}年)?(?:[\d一二三四五六七八九十]{1,3}|正|腊|冬)月(?:初|[\d一二三四五六七八九十廿]{1,3})?[\d一二三四五六七八九十]{0,3}[日号]?"
    r"|\d{4}[-./]\d{1,2}[-./]\d{1,2}|除夕|元旦|圣诞(?:节|夜)?|国庆(?:节|当天|那天)?|中秋(?:节)?|端午(?:节)?|七夕|儿童节|愚人节|劳动节|妇女节|平安夜)"
)
_ZH_NUMBER: Final = r"(?:\d{1,3}|[一二三四五六七八九十百零〇两]{1,5})"
_ZH_PLACE: Final = r"[一-鿿A-Za-z·]{2,12}?"
_ZH_ANIMAL: Final = r"(?:狗|猫|兔子|乌龟|龟|仓鼠|鹦鹉|金鱼|鱼|蛇|猪|鸟|马|羊|鸡|鸭|柯基|金毛|拉布拉多|泰迪|哈士奇|柴犬|边牧|布偶|英短|美短|橘猫|奶牛猫|三花|狸花|蜥蜴|守宫|刺猬|龙猫|豚鼠|荷兰猪|宠物|土狗|小狗|小猫)"
_ZH_JOB: Final = (
    r"[一-鿿]{0,8}?(?:师|员|护士|医生|大夫|教授|司机|律师|会计|编辑|记者|警察|民警|军人|老师|工人|焊工|电工|木工|瓦工|钳工|技工|农民|学生|研究生|博士生|博士后|程序员|经理|主管|主任|总监|店长|厂长|老板|秘书|助理|前台|保安|保洁|"
    r"厨子|骑手|快递员|外卖员|销售|客服|运营|产品|策划|公务员|翻译|导游|导演|演员|歌手|画家|作家|写手|诗人|摄影师|模特|主播|博主|裁缝|木匠|铁匠|花匠|水手|船员|飞行员|空姐|乘务员|药剂师|兽医|法医|牙医|中医|校医|教练|裁判|队医|消防员|法官|检察官|渔民|牧民|养蜂人|工程师|会计师|自由职业者?|个体户|全职(?:妈妈|爸爸|太太)|出纳|文员|质检|采购|焊工|调音师|接线员|档案员|管理员)"
)
_ZH_TO_BORDER: Final = r"[^，。！？；,!?;\n（(]+?(?=[，。！？；,!?;\n（(]|\.(?:\s|$)|$|没有之一|除非)"
_ZH_PARTNER: Final = r"(?:老婆|老公|妻子|丈夫|太太|先生|媳妇儿?|爱人|对象|男朋友|女朋友|男友|女友|未婚妻|未婚夫|另一半|伴侣)"
_ZH_NAME_LAZY: Final = r"(?:[一-鿿]{1,4}?|[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*)"
_ZH_NAME: Final = r"(?:[一-鿿]{1,4}(?:·[一-鿿]{1,6})*|[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*)"

_ZH_TIME: Final = r"(?:上周|上个?月|上个?星期|今年|去年|前年|最近|前几天|昨天|前天|[\d一二两三四五六七八九十几]+(?:年|个月|天)前|月初|年初|年底|[春夏秋冬]天)"
_ZH_ADVERBS: Final = rf"(?:现在|目前|如今|一直|从小|平时|平常|本来|其实|已经|都|也|就|刚刚?|只|还|长期|常年|一般|主要|个人|向来|本身|天生|早就|这几年|这两年|暂时|确实|真的|可|当然|自己|{_ZH_TIME}|正|才|跟[^，。]{{1,4}}|和(?:家人|爸妈|我妈|我爸))*"
_ME: Final = rf"(?:我|本人|俺|咱)(?:们|们家|家|们一家|一家)?{_ZH_ADVERBS}"
_ME_OR_NONE: Final = rf"(?:{_ME}|{_ZH_ADVERBS})"
_MY: Final = rf"(?:我|本人|俺|咱)(?:们)?(?:家)?(?:那)?(?:的|这边的?)?"
_IS: Final = r"(?:就|其实|也|一直|永远|还|肯定|当然|始终|都|现在|依然|应该|目前|以后|请)*(?:是|：|:|为|叫)"
_ZH_GO: Final = r"(?=[，。！；、,.!;\s（(—～~）)…哈呢啊呀哦]|的|了|$)"

_CHINESE: Final[tuple[tuple[str, str], ...]] = (
    ("name", rf"{_ZH_CLAUSE}{_MY}(?:全名|本名|大名|真名|名字|姓名|英文名|中文名|昵称|小名){_IS}\s?(?!他|她|你|不|什么)(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("name", rf"{_ZH_CLAUSE}(?:我|本人)(?:就|其实)?(?:名叫|叫做|叫)\s?(?!他|她|你|车|了|不|什么|外卖|过|到|来|一|个|人|大家|谁|我)(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("name", rf"{_ZH_CLAUSE}(?:名字|姓名)(?:叫|是|：)\s?(?!他|她|你|不|什么)(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("name", rf"{_ZH_CLAUSE}我姓[一-鿿][，,]\s?(?:名|全名|叫|大名)?(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("name", rf"{_ZH_CLAUSE}(?:大家|朋友们?|同事们?|他们|你们?|您|单位里|公司里|家里人?)?(?:都|一般|平时|也)?(?:可以|请|就|直接|习惯)?(?:叫|喊|管我叫|称呼)我(?P<value>(?!一声|起|吃|去|来|的|回|过|帮|做|上|下|出|开|早|别|不){_ZH_NAME_LAZY})(?=就(?:行|好|可以|成)|吧|即可|[，。！,!]|$)"),
    ("name", rf"{_ZH_CLAUSE}(?P<check>我是)(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("home", rf"{_ZH_CLAUSE}{_ME_OR_NONE}(?:人)?(?:住在|定居在?|居住在|家住|住|家在|常住在?|常驻在?|长住在?|现居|家就安在|人在|落户在?|长居)(?!的|过|了|得|哪|这|那|一起|校|院|宿舍|不|楼|对门|隔壁|酒店|民宿|他|她|朋友|我)(?P<value>{_ZH_PLACE})(?=[，。！；,.!;\s（(]|$|这边|那边|的|已经|好多年|好几年|[\d一两二三四五六七八九十几]+[年个]|十|快|都|了)"),
    ("name", rf"{_ZH_CLAUSE}(?:这里是|我叫做|在下|鄙人|小弟|小女子)(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("home", rf"{_ZH_CLAUSE}{_ME}在(?P<value>{_ZH_PLACE})(?:生活|定居|安家|落户|租房|买了?房|居住|常住|安了家)"),
    ("home", rf"{_ZH_CLAUSE}(?:我们?(?:一家)?|一家|全家|本人)?{_ZH_ADVERBS}(?:从[一-鿿]{{2,6}})?(?:搬家?到|搬去|搬来|搬进|搬家到|搬回|移居到?|迁到)了?(?!这|那|哪|新|公司|一|楼|隔壁)(?P<value>{_ZH_PLACE})(?=了?[，。！；,.!;\s]|了?$|住|去了|来了|的|这边|那边|定居|生活)"),
    ("hometown", rf"{_ZH_CLAUSE}(?:我|本人){_ZH_ADVERBS}是?(?:个|一个)?(?:土生土长的?|地道的?|正宗的?|纯正的?)?(?P<value>(?!是|个|一|好|坏|急|慢|男|女|老|大|成年|普通|当事|负责|中间|主持|年轻|文化|有|没|不|的|这|那|哪|内向|外向|俗|粗|明白|过来|聪明|夜猫)[一-鿿]{{2,5}}?)人(?=[，。！；,.!;\s哈]|$)"),
    ("hometown", rf"{_ZH_CLAUSE}(?:{_MY})?(?:老家|家乡|故乡|籍贯|祖籍)(?:就|其实)?(?:在|是|：)?(?!那边|的|人|过|回|今年|去年|房)(?P<value>{_ZH_PLACE})(?=[，。！；,.!;\s]|$|的|那边|农村|乡下|人)"),
    ("hometown", rf"{_ZH_CLAUSE}{_ME}(?:来自|出生在|生在|长在|出生于|生于)(?!{_ZH_DATE})(?P<value>{_ZH_PLACE})(?=[，。！；,.!;\s]|$|长大|出生|的)"),
    ("hometown", rf"{_ZH_CLAUSE}{_ME}在(?P<value>[一-鿿]{{2,8}}?)(?:长大|出生|土生土长|出生长大)"),
    ("hometown", rf"{_ZH_CLAUSE}{_ME}是从?(?P<value>[一-鿿]{{2,5}}?)(?:来的|出来的|过来的)"),
    ("job", rf"{_ZH_CLAUSE}{_ME_OR_NONE}(?:是|当|做|干)(?:了)?(?:一?[名个位])?(?:全职|兼职|专职)?(?P<value>{_ZH_JOB})(?=[，。！；,.!;\s]|$|的$|的[，。]|出身|好|已经|快|[\d一二三四五六七八九十几]+多?年)"),
    ("hometown", rf"{_ZH_CLAUSE}(?:我是)?(?:土生土长的?|地道的?|正宗的?|地地道道的?)(?P<value>[一-鿿]{{2,5}}?)人"),
    ("hometown", rf"{_ZH_CLAUSE}(?P<value>[一-鿿]{{2,5}}?)人(?:一枚|一个|，在外地|，土生土长)"),
    ("hometown", rf"{_ZH_CLAUSE}(?:从小|小时候)(?:就)?(?:在|长在)(?P<value>[一-鿿]{{2,6}}?)(?:长大|[，。])"),
    ("hometown", rf"{_ZH_CLAUSE}(?P<check>我是)(?P<value>[一-鿿]{{2,5}}?)的(?=[，。！]|$)"),
    ("job", rf"{_ZH_CLAUSE}{_ME}在[^，。]{{1,12}}?(?:当|做)(?:了)?(?:一?[名个位])?(?P<value>{_ZH_JOB})(?=[，。！；,.!;\s]|$|的$|好|已经|快|[\d一两二三四五六七八九十几]+多?年)"),
    ("job", rf"{_ZH_CLAUSE}{_ME}(?:干|做|当)了[\d一两二三四五六七八九十几]+多?年的?(?P<value>{_ZH_JOB}){_ZH_GO}"),
    ("job", rf"{_ZH_CLAUSE}(?:本人|我)(?P<value>{_ZH_JOB})一[枚名个]"),
    ("job", rf"{_ZH_CLAUSE}{_MY}(?:工作|职业|本职|本行){_IS}(?:一?[名个位])?(?P<value>[一-鿿]{{2,10}}?){_ZH_END}"),
    ("job", rf"{_ZH_CLAUSE}{_ME}是?(?:做|搞|干)(?P<value>[一-鿿A-Za-z]{{2,8}}?)(?:的|工作的|这行的|这一行)(?=[，。！；,.!;\s]|$)"),
    ("employer", rf"{_ZH_CLAUSE}{_ME}在(?!家(?:里)?(?:上|工|办|干|做)|一家|一个|外地|国外|公司(?:上|工)|单位|网上|外面|北京|上海|广州|深圳|杭州)(?P<value>[一-鿿A-Za-z0-9·&]{{2,16}}?)(?:上班|工作|任职|供职|就职|当(?!时|年|天)|做(?!饭|客|梦|核酸|什么|了)|干(?!嘛|什么)|教书|实习|的[^，。的]{{1,6}}[部组]|值班|打工)"),
    ("employer", rf"{_ZH_CLAUSE}{_ME}(?:就职于|任职于|供职于|受雇于|效力于|入职了?|加入了?|跳槽[到去]了?|跳到了?)(?:一家(?:叫|名叫))?(?P<value>[一-鿿A-Za-z0-9·&]{{2,16}}?)(?=[，。！；,.!;\s]|$|当|做|的|了)"),
    ("employer", rf"{_ZH_CLAUSE}{_ME}(?:给|为|替)(?P<value>[一-鿿A-Za-z0-9·&]{{2,12}}?)(?:干活|打工|工作|做事|效力)"),
    ("employer", rf"{_ZH_CLAUSE}{_MY}(?:公司|单位|东家|雇主|工作单位)(?:的?名字)?(?:是|叫)(?!一|个|做)(?P<value>[一-鿿A-Za-z0-9·&]{{2,16}}?){_ZH_END}"),
    ("birthday", rf"{_ZH_CLAUSE}(?:{_MY})?(?:过)?(?:生日|生辰|出生日期|出生年月)(?:就|其实)?(?:是|在|：|:)?(?:每年的?)?(?P<value>{_ZH_DATE})"),
    ("birthday", rf"{_ZH_CLAUSE}(?:我|本人){_ZH_ADVERBS}是?(?P<value>{_ZH_DATE})(?:出生|生的|生日|过生日|生人|的生日)"),
    ("birthday", rf"{_ZH_CLAUSE}(?:我|本人)(?:出生于|生于|出生在)(?P<value>{_ZH_DATE})"),
    ("birthday", rf"(?P<value>{_ZH_DATE})(?:那天|当天)?(?:就)?(?:是|过)我(?:的)?生日"),
    ("age", rf"{_ZH_CLAUSE}(?:我|本人|{_ZH_TIME})?(?:今年|现在|刚|已经|都|马上|过年|刚刚|也|虚岁|周岁|实岁|快|就|才|过完|年纪|完)*(?:满|快|过)?(?P<value>{_ZH_NUMBER})(?:周)?岁(?!的|时|那|开始|起|就|小|儿|孩|以|前|后)"),
    ("age", rf"{_ZH_CLAUSE}(?:我|本人)(?:今年|现在)(?:刚|已经|都|虚岁)?(?P<value>\d{{1,2}}|[一二三四五六七八九]?十[一二三四五六七八九]?)(?:了)?{_ZH_END}"),
    ("age", rf"{_ZH_CLAUSE}我(?:已经|都|快)(?:奔)?(?P<value>[三四五六七八九]十[一二三四五六七八九]?)(?:了){_ZH_END}"),
    ("email", rf"{_ZH_CLAUSE}(?:{_MY})?(?:新|工作|个人|私人|常用)?(?:邮箱|邮件地址|电子邮箱|电邮|email|e-mail)(?:地址)?(?:换了|改了|变了)?[^@，。]{{0,4}}[，,：: ]{{0,2}}(?:新的)?(?:是|为|：|:|改成|换成)?\s*(?P<value>(?a:(?<![\w.+-]){_EMAIL}))"),
    ("email", rf"(?<!他的)(?<!她的)(?:邮箱|邮件|发到|联系我|发我|新的是)[^@他她]{{0,12}}?(?P<value>(?a:(?<![\w.+-]){_EMAIL}))"),
    ("phone", rf"{_ZH_CLAUSE}(?:{_MY})?(?:新|工作|私人)?(?:手机|电话|联系电话|座机|联系方式|号码)(?:号码?)?(?:换了|改了)?[，,]?(?:新的?|现在)?(?:号码?|的)?(?:是|为|：|:)?\s*(?P<value>\+?\d[\d -]{{5,18}}\d)"),
    ("phone", rf"(?:打我|联系我|找我|拨)(?:的?(?:电话|手机))?(?:号)?\s*(?P<value>\+?\d[\d -]{{5,18}}\d)"),
    ("timezone", rf"{_ZH_CLAUSE}(?:{_MY})?(?:所在)?时区(?:是|在|为|：|:|设成|设为|用)\s*(?P<value>[A-Za-z]+(?:/[A-Za-z_]+)+|(?:UTC|GMT)\s?[+-]\s?\d{{1,2}}(?::?\d\d)?|[一-鿿]{{2,8}}?){_ZH_END}"),
    ("timezone", rf"{_ZH_CLAUSE}我(?:这边|这里|们)?(?:现在)?(?:是|在|用|按|走)?(?:的是|的)?(?P<value>[东西][一二三四五六七八九十\d]{{1,2}}区|(?:UTC|GMT)\s?[+-]\s?\d{{1,2}}(?::?\d\d)?|(?:北京|东京|伦敦|纽约|巴黎|悉尼|柏林)时间|[一-鿿]{{2,4}}时区)"),
    ("language", rf"{_ZH_CLAUSE}(?:{_MY})?(?:母语|第一语言|家乡话|本族语){_IS}(?P<value>[一-鿿]{{1,6}}(?:语|话|文))"),
    ("language", rf"{_ZH_CLAUSE}{_ME_OR_NONE}(?:在家|家里)(?:里)?{_ZH_ADVERBS}(?:说|讲)(?:的是|的都是)?(?P<value>[一-鿿]{{1,6}}(?:语|话))"),
    ("language", rf"{_ZH_CLAUSE}(?!我不|我没){_ME}(?:说|讲)(?:的是)?(?P<value>(?!了|过|的|句|实|真|好|假|错|这|那|什|大|人)[一-鿿]{{1,5}}(?:语|话)){_ZH_END}"),
    ("partner", rf"{_ZH_CLAUSE}(?:{_MY})?{_ZH_PARTNER}(?:的)?(?:名字|大名)?(?:名叫|叫做|是叫|叫|是)(?!我|他|她|你|不|来|去|个|外|车|一|做|做的|的)(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("partner", rf"{_ZH_CLAUSE}(?:我和|和)?我(?:的|家)?{_ZH_PARTNER}(?P<check>)(?P<value>{_ZH_NAME_LAZY})(?=[，。！；,.!;\s]|$|和|跟|在|说|要|是|也|都|结婚|做|今)"),
    ("pet", rf"(?:养了?|有|领养了?|买了?|捡了?)(?:一)?[只条个匹头缸]?(?:[一-鿿]{{0,4}}?){_ZH_ANIMAL}[，,]?(?:它|他|她)?(?:的)?(?:名字|名)?(?:叫做|名叫|叫|是|取名)(?!我|不|得|起)(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("pet", rf"{_ZH_CLAUSE}(?:我|家里|咱)(?:们)?(?:家)?(?:里)?(?:的|养的)?(?:那[只条])?(?:[一-鿿]{{0,3}}?){_ZH_ANIMAL}{{1,2}}(?:的)?(?:名字|名)?(?:叫做|名叫|是叫|叫|是)(?!我|不|得|起|个)(?P<value>{_ZH_NAME}){_ZH_END}"),
    ("diet", rf"{_ZH_CLAUSE}{_ME}(?:是|只|在|信)*(?:个|一个)?(?:吃)?(?:的是|的)?(?P<value>全素|纯素|素食|清真|生酮|无麸质|低碳水?|鱼素|蛋奶素|半素|无糖|低盐|低脂|低嘌呤)(?:饮食|的|主义者?|者|餐|食品|食物|食)?(?:[，。！；,.!;\s]|$|好)"),
    ("diet", rf"{_ZH_CLAUSE}{_ME_OR_NONE}(?:信佛)?(?P<value>吃素|吃斋|吃全素|不吃荤)(?!的人|吗)"),
    ("allergy", rf"{_ZH_CLAUSE}(?:别忘了?|注意|提醒一下|记住|记得)?(?:，)?{_ME}对(?P<value>(?!活|工作|上班|早起|傻|蠢|加班|学习|运动)[一-鿿A-Za-z、和]{{1,12}}?)(?:严重|重度|轻度|有点|都|会|特别|非常|急性)?过敏"),
    ("allergy", rf"{_ZH_CLAUSE}{_ME}(?:有|是|会)?(?:严重的?|重度|轻度)?(?P<value>(?!对|过敏|会|有|容易|是|妈|爸|姐|哥|弟|妹|儿|女|老|爱人|对象|同事|朋友|不|没|孩|娃|闺|家)[一-鿿]{{1,6}}?)(?:严重|重度)?过敏(?![源原药体吗])"),
    ("allergy", rf"{_ZH_CLAUSE}{_ME_OR_NONE}(?:一|只要|要是)?(?:吃|碰|闻|喝|沾|用)(?:到|了|一点)?(?P<value>[一-鿿]{{1,6}}?)(?:就|会|都|要)(?:严重)?(?:过敏|起疹子)"),
    ("allergy", rf"^(?P<value>(?!对|过敏|会|有|容易|是|他|她|你|妈|爸|姐|哥|弟|妹|儿|女|老|同事|朋友|不|没|孩|娃|闺|家|我|季节|皮肤|换季|严重)[一-鿿]{{1,6}}?)(?:严重|重度)?过敏(?=[，。！,!]|$)"),
    ("favourite", rf"{_ZH_CLAUSE}(?:{_ME}|要说|要论)?最(?:喜欢|爱|喜爱|中意)(?:吃|喝|看|听|玩|去|用)?的(?P<thing>(?!就|是|还|一|不|人)[一-鿿A-Za-z]{{1,10}}?)(?:，那?)?(?:一直|永远|还|就|肯定|当然|始终|都)*(?:是|非|叫|要数|：|:)(?P<value>{_ZH_TO_BORDER})"),
    ("favourite", rf"{_ZH_CLAUSE}我的最爱的?(?P<thing>[一-鿿]{{1,8}}?)(?:一直|永远|就)*是(?P<value>{_ZH_TO_BORDER})"),
    ("favourite", rf"{_ZH_CLAUSE}(?P<value>[一-鿿A-Za-z0-9《》]{{1,16}}?)(?:就|永远|一直)?是我最(?:喜欢|爱|喜爱)(?:吃|喝|看|听|玩|去|用)?的(?P<thing>[一-鿿A-Za-z]{{1,10}}?){_ZH_END}"),
    ("default", rf"{_ZH_CLAUSE}(?:我|我们)?(?:的)?默认(?:的)?(?P<thing>(?!用|选|走)[一-鿿A-Za-z]{{1,12}}?)(?:就|都|一直|请|以后|现在)*(?:是|用|为|设为|设成|选|填|走|：|:|改成|换成|改为)(?:的是)?\s*(?!它|这个|那个)(?P<value>{_ZH_TO_BORDER})"),
    ("default", rf"(?:把|将)(?:我的)?默认(?P<thing>[一-鿿A-Za-z]{{1,12}}?)(?:设|改|换|调)(?:成|为|到|置为|置成)\s*(?P<value>{_ZH_TO_BORDER})"),
    ("default", rf"(?:把|将)(?P<value>[^，。]{{1,30}}?)(?:设|当|作|设置)(?:成|为|作)?(?:我的)?默认(?P<thing>[一-鿿A-Za-z]{{1,12}}?){_ZH_END}"),
    ("default", rf"{_ZH_CLAUSE}(?P<thing>[一-鿿]{{2,8}}?)(?:都|就)?默认(?:都|就)?(?:用|是|为|选|走|放在|存到|存在|发到|保存到|保存在|寄到)\s*(?P<value>(?:[A-Z]:)?/[^\s，。]+|{_ZH_TO_BORDER})"),
)
CHINESE_NO_VALUES: Final = re.compile(
    r"^(?:它$|什么|谁|哪|多少|几|这[里儿边]?$|那[里儿边]?$|一起|不|没|他|她|你|我$|外面|里面|上面|附近|隔壁|这家|那家|这个|那个|学校|宿舍|公司|单位|家里?$|同一|一个|那一|夜猫|普通|成年|中国$|好$|坏|老$|大$|两个|自己)|派的?$|[吗呢吧]$"
)


# Of each slot, words of which one must stand in the text: a look-up that spares most searches.
_ENGLISH_WORDS: Final = {
    "name": "name named names name's called call calls i'm im am here speaking go",
    "home": "live lives living based reside residing settled staying dwell moved relocated home",
    "hometown": "from grew born raised hometown town native hail",
    "job": "i'm im am been work working job living here trade profession",
    "employer": "work working employed employer company firm workplace joined started hired i'm im am",
    "birthday": "birthday bday b-day birth dob born birthday's",
    "age": "i'm im am turned turning turn age old be hit at yo here",
    "email": "@",
    "phone": "#",
    "timezone": "zone timezone time utc gmt #zone i'm im work live on in",
    "language": "language tongue speak speaker",
    "partner": "wife husband partner girlfriend boyfriend fiance fiancé fiancee fiancée spouse half gf bf hubby married engaged dating "
    "wife's husband's partner's girlfriend's boyfriend's fiancé's fiancée's spouse's",
    "pet": "dog cat puppy pup kitten rabbit bunny hamster parrot budgie canary tortoise turtle horse pony goldfish fish snake lizard gecko "
    "pig ferret rat mouse bird chinchilla hedgehog iguana cockatiel pet labrador poodle beagle corgi retriever terrier spaniel dachshund "
    "collie greyhound tabby goat donkey hen chicken llama axolotl dog's cat's puppy's rabbit's parrot's horse's tortoise's hamster's",
    "diet": "vegetarian vegan pescatarian pescetarian flexitarian fruitarian carnivore kosher halal keto paleo free gluten-free dairy-free "
    "lactose-free carb low-carb based plant-based coeliac celiac intolerant diet",
    "allergy": "allergic allergy allergies",
    "favourite": "favourite favorite favourites favorites",
    "default": "default",
}  # fmt: skip
_CHINESE_WORDS: Final = {
    "name": "叫 名 我姓 我是 喊我 称呼 鄙人",
    "home": "住 定居 家在 常驻 现居 人在 长居 搬 落户 生活 安家 租房 买房 家就安在 移居 迁到 常住 买了房",
    "hometown": "人 老家 家乡 故乡 籍贯 祖籍 来自 出生 长大 生在 长在 来的 出来的 过来的 我是 从小 小时候 生于",
    "job": "师 员 护士 生 医 教授 司机 编辑 记者 警 人 工 农民 经理 主 总监 店长 厂长 老板 秘书 助理 前台 保 厨 手 销售 客服 运营 产品 策划 翻译 "
    "导 演 画家 作家 诗 模特 匠 空姐 裁 官 者 体户 全职 出纳 质检 采购 职业 工作 本行 的 大夫 会计 行",
    "employer": "上班 工作 任职 供职 就职 当 做 干 教书 实习 部 组 值班 打工 受雇 效力 入职 加入 跳 公司 单位 东家 雇主",
    "birthday": "生日 生辰 出生 生的 生人 生于",
    "age": "岁 今年 现在 我已经 我都 我快",
    "email": "@",
    "phone": "手机 电话 座机 联系 号码 打我 找我 拨",
    "timezone": "时区 区 UTC GMT utc gmt 时间",
    "language": "语 话 文",
    "partner": "老婆 老公 妻 丈夫 太太 先生 媳妇 爱人 对象 男朋友 女朋友 男友 女友 未婚 另一半 伴侣",
    "pet": "叫 是 取名",
    "diet": "素 清真 生酮 无麸质 低碳 无糖 低盐 低脂 低嘌呤 吃斋 不吃荤",
    "allergy": "过敏 起疹子",
    "favourite": "最",
    "default": "默认",
}  # fmt: skip


class SlotPattern(NamedTuple):
    """A pattern of a slot.

    Args:
        slot: What it finds.
        words: One of these must stand in the text (lower case).
        pattern: With the group `value`.
        at_clause: Whether it is tried only where a clause begins.
    """

    slot: str
    words: frozenset[str]
    pattern: re.Pattern[str]
    at_clause: bool


def _compiled(
    rows: tuple[tuple[str, str], ...], words: dict[str, str]
) -> Iterator[SlotPattern]:
    for name, source in rows:
        at_clause = source.startswith(_CLAUSE)
        pattern = re.compile(source.removeprefix(_CLAUSE), re.IGNORECASE)
        yield SlotPattern(name, frozenset(words[name].split()), pattern, at_clause)


ENGLISH_SLOTS: Final = tuple(_compiled(_ENGLISH, _ENGLISH_WORDS))
CHINESE_SLOTS: Final = tuple(_compiled(_CHINESE, _CHINESE_WORDS))
