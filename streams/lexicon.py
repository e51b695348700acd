"""The cues by which a turn shows that it holds something to keep, English and Chinese.

Cue patterns are structures of a sentence ("from now on", "以后都"); the word sets are everyday
life (family, health, money, home, work, habits), which make a sentence about oneself a fact. They
were made from what people tell an assistant, not from a benchmark.
"""

import re
from typing import Final

__all__ = [
    "CHINESE_CHAT",
    "CHINESE_CUES",
    "CHINESE_FORMULA",
    "CHINESE_KIN",
    "CHINESE_LIFE",
    "CHINESE_SELF",
    "CHINESE_STATE",
    "ENGLISH_CHAT",
    "ENGLISH_CUES",
    "ENGLISH_CUE_WORDS",
    "ENGLISH_FORMULA",
    "ENGLISH_KIN",
    "ENGLISH_LIFE",
    "ENGLISH_SELF",
    "ENGLISH_STATE",
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
    r"(?:%|°|percent|kg|kilos?|grams?|mg|ml|lit(?:er|re)s?|km|kilomet(?:er|re)s?|miles?|cm|mm|met(?:er|re)s?"
    r"|feet|foot|inches|hours?|hrs?|minutes?|mins?|days?|weeks?|months?|years?|nights?|times|euros?"
    r"|dollars?|pounds?|quid|bucks|usd|eur|gbp|francs?|yuan|guests|people|kids|pages|grand|k\b|gb|tb)"
)

ENGLISH_CUES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("remember", _cue(
        r"\b(?:remember(?!s? when)|don'?t (?:ever )?forget|note (?:that|this|down)|for the (?:record|file)"
        r"|keep in mind|bear in mind|make a note|write (?:this|that|it) down|heads[- ]up|fyi"
        r"|(?:just )?so (?:that )?you know|remind me|save (?:this|that)|jot)\b")),
    ("preference", _cue(
        r"\b(?:prefer\w*|(?:i|she|he|they|we)(?:'d| would)? (?:much )?rather|favou?rites?"
        r"|(?:i|we|she|he|they)(?:'m| am|'s| is)? (?:\w+ly |also |just |do )?"
        r"(?:loves?|likes?|hates?|dislikes?|enjoys?|adores?|loathes?|detests?|fond)"
        r"(?! (?:it|that|this|how|you|to see|the idea|where|what)\b)"
        r"|can'?t (?:stand|bear|eat|drink|do without)|allerg\w+|intoleran\w+|not (?:a|much of a) .{0,12}(?:fan|person)"
        r"|(?:big|huge) fan|fan of|my go-to|gives? me|easier on|works? (?:best|better) for me"
        r"|(?:don'?t|doesn'?t|do not|never) (?:eat|drink|like|do|use|read|watch|wear|smoke|want)"
        r"|only (?:eat|drink|use|read|wear|buy|take)|hates|loves)\b")),
    ("standing_order", _cue(
        r"\b(?:from now on|going forward|from here on|in (?:the )?future|by default|defaults?|unless i say"
        r"|always|never(?! mind)|stop (?:ask|send|us|writ|end|add|say|call|mak|includ|suggest|put|remind|do)\w*"
        r"|no more|every time|whenever|each time|whatever (?:you|i)|make sure"
        r"|(?:please )?(?:don'?t|do not) (?:ever )?(?:send|ask|mention|schedule|book|use|call|add|include|tell"
        r"|suggest|put|show|start|end|write|share|remind|translate|give|make|bring|order|contact)"
        r"|(?:please )?(?:use|answer|reply|respond|write|sign|format|keep|show|put) .{1,40} (?:in|as|with|under|at) "
        r"|(?:reply|answer|respond|write|talk) (?:to me )?(?:in|with)|just use)\b")),
    ("commitment", _cue(
        r"\b(?:promis\w+|i swear|i owe|owes|committ\w+|deadlines?|due (?:on|in|by|end|the|date)|appointment"
        r"|(?:i|we)(?:'ll| will|'m going to| am going to|'re going to)"
        r" (?!be (?:right|happy|glad|back)|think|try|see|take that|go with|say|admit|let|just|never (?:guess|know))\w+"
        r"|will (?:be|do|send|have|pay|fix|start|finish|deliver|bring|update|need|stop)"
        r"|planning|plans? to|(?:hop|look|sav|train|aim)ing (?:to|for|up|on)|signed up|booked|scheduled"
        r"|agreed to|hold me to it|pay (?:you|him|her|them|it) back|i(?:'ve| have) (?:got )?to|i (?:must|need to))\b")),
    ("decision", _cue(
        r"\b(?:decid\w+|decision|chose|chosen|picked|let'?s (?:drop|keep|go with|use|cancel|skip|switch|make|postpone|stick)"
        r"|going with|went with|settled (?:on|for)|agreed|final answer|changed my mind|switch(?:ed|ing)|opted"
        r"|call(?:ed|ing) (?:it )?off|we'?re (?:cancel|nam|mov|switch|keep|dropp|sell|buy|go)\w*"
        r"|not going (?:to|ahead)|made up my mind|i'?m (?:out|done with|not taking|keeping|taking|dropping))\b")),
    ("correction", _cue(
        r"\b(?:scratch that|correction|i mean[t]?\b(?!,)|turns out|(?:is|name'?s?) spell(?:ed|t)|not my|i (?:said|told you)"
        r"|it'?s .{1,24},? not|isn'?t .{1,24} it'?s|(?:he|she|they|i|we)(?:'s|'re|'m| is| are| am) not"
        r"|rather than|instead of|(?:has |have |is |got |was |were )?(?:changed|moved|upped|postponed|replaced|renamed) (?:to|from|by)"
        r"|no longer|any ?more|used to|wasn'?t|mixed (?:it|that|them|those|up)|wrong (?:date|name|number|day|one)"
        r"|my (?:new|old|email|number|address).{0,16}(?:changed|is now))\b|^no[, ]+(?:no|it|i|not|the)\b(?! other)|, not \w+|^not\b(?! (?:sure|bad|really|yet|much|at all))")),
    ("event", _cue(
        r"\b(?:born|died|dies|passed away|funeral|married|engaged|divorced|separated|broke up|split up|adopted|pregnant"
        r"|expecting|moved|quit|retir\w+|graduat\w+|hired|fired|laid off|promoted|diagnosed|surgery|operation|hospital"
        r"|bought|sold|lost|won|crashed|stolen|robbed|flood|(?:i|we)(?:'ve| have)? (?:just |finally )?(?:got|started|stopped|finished"
        r"|passed|failed|broke|joined|left|learned|learnt|visited|met|ran|signed|applied|went|tried|ordered|had|saw|made|took|told|heard|gave|found|built|opened)"
        r"|had (?:my|his|her|our|a|an)|wedding|birthday|anniversary|interview|exam|holiday|vacation|trip|on leave)\b")),
    ("slot", _cue(
        r"\b(?:my (?:\w+ )?(?:name|birthday|e-?mail|phone|mobile|number|address|time ?zone|job|employer|hometown|age)\b"
        r"|(?:called|named|nickname|calls? me)|i (?:live|work|speak|teach|study|drive|own|run)\b|i'?m (?:from|based|a |an |\d)"
        r"|(?:vegetarian|vegan|pescatarian|halal|kosher|gluten)|years? old|originally from|call me)")),
    ("time", _cue(
        rf"\b(?:{_WEEKDAY}|{_MONTH}|tomorrow|yesterday|last (?:night|week|month|year|summer|winter|spring|autumn|fall|time)"
        r"|next (?:week|month|year|summer|winter|spring|autumn|fall|term)|this (?:week|month|year|weekend|summer)"
        r"|(?:\d+|two|three|four|five|six|seven|eight|nine|ten|few|couple of|a|an) (?:\w+ )?(?:days?|weeks?|months?|years?|hours?|summers?) ago"
        r"|since (?:i|my|we|the|\d|last)|until|till|every (?:other )?(?:day|week|month|year|morning|evening|night|second|two|summer|\w+day)"
        r"|\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)|\d{1,2}:\d\d|\d{1,2}(?:st|nd|rd|th)|christmas|easter|ramadan"
        r"|weekly|monthly|daily|yearly|nightly|mornings|evenings|nights|weekends?|weekdays?|end of (?:the )?(?:day|week|month|year)"
        r"|month-end|(?:19|20)\d\d)\b")),
    ("number", _cue(
        rf"(?:[$€£¥]\s?\d|\b\d[\d.,]*\s?{_UNIT}|\b\d{{1,3}}(?:,\d{{3}})+|\b\d{{3,}}\b"
        r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred|thousand)"
        rf"(?:-\w+)? (?:\w+ )?{_UNIT}|\bit'?s \d+)")),
)
# Of each cue, words of which one must stand in the text; a look-up that spares most searches.
ENGLISH_CUE_WORDS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "remember": "remember remembers remembering don't dont forget note record file mind heads heads-up fyi know remind "
        "save jot write",
        "preference": "prefer prefers preferred preferring preference preferences preferable rather favourite favourites "
        "favorite favorites love loves like likes hate hates dislike dislikes enjoy enjoys adore adores loathe loathes "
        "detest detests fond can't cant allergic allergy allergies allergens intolerant intolerance intolerances not fan "
        "person my gives give easier works don't dont doesn't doesnt do never only",
        "standing_order": "now forward here future default defaults unless always never stop more time times whenever each "
        "every whatever make don't dont do use answer reply respond write sign format keep show put talk just",
        "commitment": "promise promised promises promising swear owe owes commit committed committing commitment "
        "commitments deadline deadlines due appointment i we i'm we're i'll we'll i've i'm will planning plan plans hoping "
        "looking saving training aiming signed booked scheduled agreed hold pay",
        "decision": "decide decided decides deciding decision chose chosen picked let's lets going went settled agreed final "
        "changed switched switching opted called calling call we're not made i'm",
        "correction": "scratch correction mean meant turns spelled spelt not said told isn't no rather instead changed moved "
        "upped postponed replaced renamed longer more anymore used wasn't mixed wrong",
        "event": "born died dies passed funeral married engaged divorced separated broke split adopted pregnant expecting "
        "moved quit retire retired retires retiring retirement graduated graduate graduating graduation hired fired laid "
        "promoted diagnosed surgery operation hospital bought sold lost won crashed stolen robbed flood got started stopped "
        "finished failed joined left learned learnt visited met ran signed applied went tried ordered had saw made took told "
        "heard gave found built opened wedding birthday anniversary interview exam holiday vacation trip leave",
        "slot": "my called named nickname calls call i i'm vegetarian vegan pescatarian halal kosher gluten gluten-free old "
        "originally",
        "time": "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
        "saturdays sundays january february march april may june july august september october november december tomorrow "
        "yesterday last next this ago since until till every o'clock christmas easter ramadan weekly monthly daily yearly "
        "nightly mornings evenings nights weekend weekends weekday weekdays end month-end",
        "number": "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred "
        "thousand it's twenty-five",
    }.items()
}
ENGLISH_FORMULA: Final = re.compile(
    r"^\W*(?:sure|of course|certainly|absolutely|here (?:you go|is|are|'s)|apologies|i'?m sorry|sorry|you'?re (?:right|welcome)"
    r"|thanks? (?:you )?(?:for your patience|so much)|good question|great (?:question|catch)|i'?m just a language model|as an ai|no problem"
    r"|i'?d be (?:happy|glad)|let me know|is there anything else|do you want|would you like|glad|happy to|understood|which of)\b",
    _I,
)
ENGLISH_SELF: Final = frozenset(
    "i i'm im i've ive i'd i'll my mine me we we're we've our ours us myself".split()
)
ENGLISH_KIN: Final = frozenset(
    "mother mum mom mummy mommy dad daddy father parents parent sister brother siblings sibling wife husband "
    "partner girlfriend boyfriend fiance fiancé fiancee fiancée spouse son daughter kid kids child children baby "
    "toddler twins twin uncle aunt auntie cousin nephew niece grandma grandpa grandmother grandfather gran nan "
    "granny grandson granddaughter grandkids stepson stepdaughter stepmother stepfather stepdad stepmum ex boss "
    "manager supervisor colleague coworker coworkers colleagues landlord landlady neighbour neighbor neighbours "
    "neighbors friend friends roommate flatmate housemate godson goddaughter godmother brother-in-law "
    "sister-in-law mother-in-law father-in-law in-laws family team client clients teacher tutor doctor dentist "
    "therapist coach mentor assistant intern dog cat puppy kitten kittens rabbit hamster parrot tortoise horse pet "
    "pets budgie goldfish".split()
)
ENGLISH_STATE: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have) (?:got |always |never |been )|\bi (?:have|own|use|wear|take|weigh|drive|keep|run|grow|play|sing|paint"
    r"|sleep|wake|get up|eat|drink|cook|bake|walk|cycle|swim|train|teach|study|volunteer|coach|manage|support|follow|collect"
    r"|smoke|snore|commute|read|write|believe in|identify|suffer|avoid|struggle|handle|lead|do my|do a|do the|find|sign|count)\b"
    r"(?! (?:what|it|that|you|so|no idea|a (?:question|feeling|second|point)|time|to (?:say|ask|admit))\b)"
    r"|\bi'?m (?:\w+ly )?(?:scared|afraid|terrified|colou?r-?blind|blind|deaf|left-handed|diabetic|dyslexic|single|married|divorced"
    r"|pregnant|retired|unemployed|freelance|self-employed|training|learning|studying|doing|working|saving|trying|living|renting|moving"
    r"|writing|building|taking|sober|catholic|muslim|jewish|hindu|buddhist|on (?:a|the|leave|medication)|into|used to|good at|bad at|hopeless)\b"
    r"|\bmy (?:budget|goal|plan|size|shoe|height|weight|rent|salary|car|bike|laptop|phone|flat|house|room|desk|office|garden|allotment"
    r"|blood|eyes?|ears?|back|knees?|hip|hair|routine|hobby|religion|school|course|thesis|degree|project|company|shop|business|bank"
    r"|account|insurance|licen[cs]e|passport|visa|commute|shift|shifts|tablets|meds|medication|prescription|signature|nickname|accent)\b"
    r"|\bmy (?:\w+ )?take\b|\bi(?:'m| am) (?:skeptical|sceptical|convinced)\b|\bi (?:strongly )?(?:believe|doubt)\b|\b(?:our|the) (?:maximum|minimum|limit|client|customer|landlord|budget|server|rule|policy|key|code|password|wifi|router)\b",
    _I,
)
ENGLISH_LIFE: Final = frozenset(
    # health
    "allergy allergic asthma diabetes migraine migraines headache headaches insomnia anxiety depression adhd "
    "autism dyslexia vegetarian vegan gluten lactose medication tablets pills insulin inhaler pollen nuts "
    "surgery hospital doctor dentist therapist therapy physio pregnant cancer stroke knee hip wisdom glasses "
    "contacts hearing wheelchair blood pressure cholesterol diet sugar smoking alcohol sober gym yoga running "
    "marathon swim swimming cycling climbing hiking football tennis chess cello piano guitar violin choir "
    # food
    "breakfast lunch dinner coffee tea decaf espresso milk oat meat pork beef fish seafood shellfish chicken "
    "spicy coriander cilantro garlic onions mushrooms olives cheese eggs bread rice wine beer dessert chocolate "
    # home and money
    "mortgage rent lease landlord flat apartment house cottage houseboat garden allotment boiler kitchen "
    "bathroom bedroom attic basement garage key keys wifi router budget salary wage savings loan debt deposit "
    "pension tax insurance bank account card payment invoice subscription bills payday owe "
    # work and school
    "job boss office shift shifts nights freelance contract client clients project projects report thesis phd "
    "degree university college school course class exam exams homework semester teacher nurse engineer lawyer "
    "accountant plumber electrician chef welder farmer driver pilot retired retirement promotion interview "
    "meeting meetings newsletter deadline training apprenticeship bookkeeping committee "
    # travel and things
    "flight flights train trains plane flying window aisle seat seats hotel passport visa holiday vacation car "
    "motorbike motorcycle bike van truck diesel electric licence license laptop android iphone windows linux mac "
    "printer keyboard e-readers kindle paper dark mode shoes size tattoo "
    # faith, family, life
    "church mosque temple catholic muslim jewish hindu buddhist christian atheist married divorced single wedding "
    "baby kids children twins dog cat tortoise rabbit horse scared afraid phobia born raised grew moved "
    "migrated citizenship accent bilingual language languages left-handed colourblind colorblind weigh tall "
    "birthday nickname surname".split()
)

_ZH_NUMBER = r"[\d一二两三四五六七八九十百千万半几]+"
_ZH_UNIT = (
    r"(?:块|元|毛|万|千|百|斤|公斤|克|毫克|升|公里|米|厘米|平米|平方|度|岁|年|个月|个?星期|周(?!围|末)|天|小时|个小时|分钟"
    r"|次|片|粒|顿|个人|口人|个孩子|人|号|层|楼|页|针|期|折|%|％|G|GB|码|届|只|条|本|场|张|辆|台|套|间|份)"
)
CHINESE_CUES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("remember", _cue(
        r"记住|记一下|记得|记着|记下|别忘|提醒我|备忘|请注意|帮我记|备注|顺便说|说明一下|提前说|先说好|存一下|供参考|文件概要|记录")),
    ("preference", _cue(
        r"喜欢(?!你这|这个说法)|喜爱|偏爱|偏好|更(?:喜欢|愿意|习惯|爱)|宁愿|宁可|讨厌|受不了|不爱|最爱|爱(?:吃|喝|看|听|穿|用)|不(?:吃|喝|碰|沾|穿|用|看|抽)"
        r"|不能(?:吃|喝|碰|闻)|过敏|忌口|习惯(?:了|用|喝|吃|先|早|晚)|只(?:吃|喝|要|用|看|穿|支持|坐|买|认)|从不|从来不|从来没|永远选|不感冒|怕(?:冷|热|黑|高|辣|狗|猫|吵|晒|生)"
        r"|恐(?:飞|高)|免了|不太行|顺眼|看着舒服|对[^，。]{1,8}(?:没兴趣|感兴趣|无感)|吃不惯|喝不惯|一点都不行|不敢吃")),
    ("standing_order", _cue(
        r"以后|往后|从今(?:天|以后|往后)?|今后|从现在(?:起|开始)|默认|一律|每次|每回|永远|始终|统一|一概|总是|都(?:用|按|要|放|写|发|抄|走|加|给)"
        r"|别(?:再|老|总|给我|跟我|问|发|提|用|写|叫|在)(?!这么|说了)|不要(?:再|给我|跟我|每|老|用|发|提|写|在|叫)|不用(?:再|每次|问我|拐弯)|给我[^，。]{0,8}(?:用|先|按|要)"
        r"|必须|务必|就说|就行[，。]|对我直说|尽量(?:用|别|不|放)|抄送|先(?:看|问|给)我?")),
    ("commitment", _cue(
        r"答应|承诺|保证(?!书)|发誓|说定|一定(?:把|会|要|给)|欠|还(?:他|她|你|清|完|款|钱|给)|要还|我(?:会|来|将|去|就|负责|带|打算|准备|计划|争取|尽快|马上去|得)(?!不|想想|缓|看看|让)"
        r"|我们(?:会|将|打算|准备|计划|明天)|打算|计划(?:去|在|买|考)|预约|约(?:了|好)|截止|到期|预产期|deadline|之前(?:把|给|交|发|做|完成)|立字为据|说到做到|报了名|定了[^，。]{0,6}(?:票|位|酒店)|将(?:在|于|更新)|归你|我带")),
    ("decision", _cue(
        r"决定|拍板|定了|就这么定|选了|选择了|还是选|改主意|不(?:做|去|要|办|买|干|卖|考)了|换(?:成|到|了)|改(?:成|用|为|到)|取消|放弃|辞了|拒了|算了不|先不|免谈|敲定|确定(?:用|选|了)|商量好|一致|采用|切换|定在|达成|转向|挂出去")),
    ("correction", _cue(
        r"不是[^，。？?！!]{1,16}[，,]?(?:是|而是)|[，,]不是[^，。？?！!]{1,12}[！!。]?$|说错|记错|搞错|搞混|弄错|写错|我说的是|更正|纠正|其实(?:是|我)|之前说|前面说|改(?:成|到|为)|换成|涨到|降到|已经不|早就?不|不再|而不是|原来|应该是|是[^，。]{1,8}不是")),
    ("event", _cue(
        r"去世|走了[，,]|过世|结婚|订婚|离婚|分手|怀孕|出生|生了|毕业|退休|辞职|离职|入职|升职|转正|转(?:到|岗)|搬(?:到|家|去|进|出)|手术|住院|出院|确诊|查出|体检|领养|买了|卖了|丢了|考(?:上|过|了|试|研|博)|面试|参加|去了|拿到|收到了?(?:offer|录取)|开始|戒|学会|报到|离开|加入|换银行|流产|受伤|摔|骨折|中奖|比赛|旅行|出差|休[^，。]{0,4}假|葬礼|婚礼|生日|纪念日")),
    ("slot", _cue(
        r"我(?:姓|名)|我叫(?!车|了|他|她|你|外卖|不)|叫我|喊我|名字(?:叫|是)|我(?:的)?(?:邮箱|电话|手机号|手机|微信|地址|生日|时区|母语|职业|工作|单位|公司|老家|鞋码|身高|体重|血型|星座|学校|专业)|我住|我家|我在[^，。？?]{1,12}(?:上班|工作|上学|读|住|做|当|科|部)"
        r"|我是(?:一?[名个位])?[^，。？?不说想]{1,10}(?:师|员|工|生|人|民|者|长|士|手|匠|户|徒)|我今年|我属|我对象|我[一-鿿]{0,3}岁|岁了|吃素|素食|清真|回民|信(?:佛|教|主|基督)|我(?:开|骑|养|租|坐)的?")),
    ("time", _cue(
        r"(?:周|星期|礼拜)[一二三四五六日天](?!到晚)|[\d一二三四五六七八九十]{1,3}月(?:份|底|初|中|[\d一二三四五六七八九十]{1,3}[日号])?|[\d一二三四五六七八九十]{1,3}[号日](?:要|前|那|是|之|到|晚|早|下|上|交|打|$|[，。])|明[天早晚年]|后天|昨[天晚]|前天|去年|今年|前年|明年"
        r"|上(?:周|个?月|星期|礼拜)|下(?:周|个?月|星期|礼拜)|这(?:周|个?月)|周末|年底|年初|月底|月初|春节|中秋|国庆|五一|十一|元旦|腊月|正月|过年"
        r"|[\d一二两三四五六七八九十]+点(?!击|评|赞|心)(?:半|钟|之前|以前|以后|\d)?|凌晨|每(?:天|周|月|年|晚|早|个?星期|逢|隔)|天天|年前|年后|(?:天|周|月|年|星期)(?:前|后|之前|以前|之后|以后)|从小|小时候|从[^，。]{1,5}岁|暑假|寒假|[春夏秋冬]天(?!气)|那年|上半年|下半年|(?:19|20)\d\d年?|\d{1,2}[:：]\d\d|早上|晚上|下午|上午")),
    ("number", _cue(rf"{_ZH_NUMBER}多?个?{_ZH_UNIT}|\d{{3,}}|[¥￥$€]\s?\d|百分之|\d+[.:：]\d+|[一二两三四五六七八九][万千百][一二三四五六七八九零〇]?")),
)
CHINESE_FORMULA: Final = re.compile(
    r"^[\s，。]*(?:好的[，,：:]|当然可以|没问题[，,]|很抱歉|抱歉[，,]|对不起[，,]|不客气|很高兴能|感谢您|谢谢您|理解您|以下是|下面我们|您要|您想|请问您|有意思的问题|整体结构|希望(?:对您|以上|这))"
)
CHINESE_SELF: Final = re.compile(r"[我咱俺]|本人|自己家|家里")
CHINESE_KIN: Final = re.compile(
    r"(?:我|咱|俺|他|她|的|^|[，。、,：:\s]|给|跟|和|是)(?:家|们家|亲|的)?(?:大|二|三|小|老)?(?:爸妈|爸爸?|妈妈?|父亲|母亲|父母|爹|娘(?!们)|哥哥?|弟弟?|姐姐?|妹妹?|兄弟|姐妹|老公|老婆|丈夫|妻子|太太|媳妇|爱人|对象|男友|女友"
    r"|男朋友|女朋友|未婚[夫妻]|前[夫妻任]|儿子|女儿|闺女|孩子|娃|宝宝|双胞胎|孙子|孙女|外孙|爷爷|奶奶|姥姥|姥爷|外公|外婆|叔叔?|伯伯?|舅舅?|姑姑?|姨妈?|婶|堂[哥弟姐妹]|表[哥弟姐妹]|侄[子女]|外甥女?|女婿|岳[父母]|公公|婆婆|嫂子|姐夫|妹夫"
    r"|继[父母子女]|养[父母]|干[爹妈]|老板|领导|上司|经理|同事|室友|舍友|房东|房客|租客|邻居|客户|甲方|乙方|对接人|导师|师傅|师父|闺蜜|发小|朋友|老同学|狗|猫|兔子|乌龟|仓鼠|鹦鹉)(?![呜呐一]?叫吗)"
)
CHINESE_STATE: Final = re.compile(
    r"我(?:一直|从|都|现在|目前|平时|每|天天|已经|又|正在|在|有|没有?[^，。]{0,3}(?:过|车|房|证)|会|不会|开|骑|养|用|戴|穿|睡|喝|吃|抽|跑|练|学|教|写|画|唱|弹|打|种|管|带|做|当|属|姓|信|恐|怕|红绿|字|鞋|坐|租|换|看球|微信|只|最|不|对|属于|近视|左撇|单身|已婚|离异)"
    r"(?!想说|说|是说|知道|懂|明白|觉得|确定|清楚|开玩笑|信你|会不|听听|试试|看看|问问|感觉|意思|行|太想)"
    r"|(?:我认为|我对[^，。]{1,20}(?:看法|持)|老实说)|我们(?:公司|家|组|部门|学校|团队|小区|单位|店|班|去|在|有)|我(?:家|妈|爸|姐|哥|弟|妹|姥|爷|奶|舅|姑|姨|叔|娃|儿|女|老[公婆]|对象|们俩|俩)|在攒|正在(?:学|减|装|备|写|攒)|最多|最少|不超过|预算|底价|单位里|场地|服务器|快[\d一二三四五六七八九十]+年"
)
CHINESE_LIFE: Final = re.compile(
    "|".join(
    "过敏 哮喘 糖尿 血压 血糖 血脂 脂肪肝 胃病 胃炎 反酸 偏头痛 失眠 抑郁 焦虑症 近视 色盲 色弱 轮椅 怀孕 月子 疫苗 手术 住院 体检 吃药 降压药 药片 "
    "素食 吃素 清真 忌口 海鲜 牛奶 奶制品 乳糖 坚果 花生 香菜 辣 猪肉 牛肉 羊肉 早饭 早餐 夜宵 咖啡 茶 酒 戒烟 戒酒 "
    "房贷 房租 租房 首付 贷款 工资 薪水 奖金 存款 攒钱 理财 保险 社保 公积金 报销 发票 订阅 会员 银行卡 工资卡 "
    "房东 户口 门禁 钥匙 热水器 暖气 装修 小区 车位 摩托 皮卡 柴油 驾照 自行车 电动车 停车 靠窗 航班 中转 高铁 火车 护照 签证 "
    "上班 下班 加班 值班 夜班 倒班 出差 跑船 退休 兼职 实习 读博 考研 考试 论文 开题 答辩 简历 离职 合同 项目 甲方 客户 周报 日报 初稿 报告 会议 订单 护士 医生 老师 焊工 司机 厨师 程序员 会计 律师 编辑 "
    "大提琴 钢琴 吉他 小提琴 围棋 象棋 篮球 足球 羽毛球 跑步 马拉松 游泳 瑜伽 健身 爬山 摄影 画画 书法 "
    "怀孕 预产期 结婚 离婚 单身 丁克 孩子 疫苗 幼儿园 小学 中学 高考 大学 宿舍 老家 方言 闽南话 粤语 普通话 母语 "
    "佛教 基督 回民 信佛 属龙 本命年 生日 星座 血型 鞋码 身高 体重 绰号 外号 网名 大名 小名 深色模式 列表 表格 二十四小时制".split())
)
# What small talk and talk about the talk is made of: what remains of a sentence is its content.
ENGLISH_CHAT: Final = frozenset(
    "the a an and or but if so to of in on at for with by from as than then that this these those it its it's is "
    "isn't are aren't was wasn't were be been being am do does did don't didn't doesn't have has had haven't will "
    "would can could should may might must i i'm i've i'd i'll im ive me my mine myself we we're us our you you're "
    "you've your he she they them their there here what which who how when where why not no yes yeah ok okay oh ah "
    "wow haha lol just only really very quite so too also even still again already maybe perhaps well now then "
    "soon later today now ever never always all any some one two both another other more most less much many few lot "
    "bit little second sec moment minute while time way thing things something anything nothing everything stuff "
    "kind sort part point case idea sense question questions answer answers word words sentence text message reply "
    "line lines paragraph list table version option options example step joke story poem haiku page link typo "
    "think thought know knew mean meant see saw say said saying tell told ask asked guess hope wish feel felt "
    "wonder wondering wondered believe suppose understand understood follow get got go going come came back look "
    "looks looking sound sounds read reading write writing put make made take took give gave let like love loved "
    "want wanted need try trying wait waiting help happen happened work works start send sent press pressed "
    "missed forgot remember find figure figured change explain repeat check click scroll type typing "
    "good great nice fine bad wrong right true sure sorry thanks thank please happy glad funny weird strange "
    "cool crazy wild silly bored boring tired sleepy hungry busy lazy confused lost serious kidding joking "
    "early slow fast quick slowly easy hard hot cold rainy windy sunny long short big small new old same "
    "different first last next better best worse worst laugh laughing smile cry loud out up down over off about "
    "because though actually honestly basically seriously literally totally exactly head brain mind heart eyes "
    "weather rain sun wind day morning night evening week weekend everyone everybody someone people anyone "
    "million years ago late person robot bot model assistant language human real".split()
)
CHINESE_CHAT: Final = re.compile(
    r"我们?|你们?|您|他们?|她们?|它|这[个些样里么次]?|那[个些样里么]?|刚才|刚刚|一下|一遍|一点|有点|什么|怎么样?|为什么|哪[个里儿]?|谁|吗|呢|吧|啊|呀|哦|嘛|啦|了|的|地|得|着|过"
    r"|是不是|不是|还是|就是|可是|但是|所以|因为|如果|要是|然后|而且|不过|其实|真的?|太|很|好像|好|挺|最|更|又|再|还|也|都|就|才|只|不|没有?|别|说|想|看|听|问|懂|明白|知道|觉得|感觉|认为|以为|希望|开玩笑|随便"
    r"|理解|意思|句|话|字|段|篇|条|个|次|问题|答案|回答|消息|链接|版本|内容|标题|文字|笑|哈+|嘿+|呵+|哎|唉|嗯+|哇+|天|时间|时候|今天|现在|一会儿?|等|半天|老|来|去|到|出|上|下|里|在|有|给|让|把|被|和|跟|对|会|能|可以|要|应该|得|缓缓|信息量|大|小|多|少|快|慢|难|容易|厉害|无聊|累|困|饿|忙|开心|难过|脑袋|头|心|人|东西|事情?|样子?|认真|当真|讲|写|发|打|点|搞定|弄|做|试|猜|学|小学生|打不开|网|慢慢|一样|差不多|行|对|错|嗡+|死|活"
)
