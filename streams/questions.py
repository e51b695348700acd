"""Which exact slot a question asks for, by patterns that the whole question must fit. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from .slot_patterns import Row
from .slots import normalise_thing
from .stated import AskedSlot

__all__ = ["asked_slots"]

_QUESTION_CHARACTERS_MAX: Final = 200
_WHOSE: Final = r"(?P<whose>my|(?-i:[A-ZÀ-Þ])[\w'-]*?(?: (?-i:[A-ZÀ-Þ])[\w-]*?)?'s?)"
_TAIL: Final = (
    r"(?: again| by the way| currently| now| these days| please| at the moment)*\s*[?.!]*$"
)
_HEAD: Final = (
    r"^(?:(?:hey|hi|ok|so|and|please|sorry|btw|remind me|tell me|do you (?:remember|know"
    r"|recall)|can you (?:tell me|remind me)|remember)[,:]?\s+)*"
)
_WHAT: Final = (
    r"(?:what(?:'s| is| was| are|s)|which(?: one)? is|tell me|give me|remind me of|do you "
    r"(?:know|remember)) "
)
_ENGLISH: Final = (
    Row("favourite", rf"{_HEAD}{_WHAT}{_WHOSE} favou?rite (?P<thing>[a-z][a-z -]{{1,40}}?){_TAIL}"),
    Row(
        "favourite",
        rf"{_HEAD}(?:what|which) (?P<thing>[a-z][a-z -]{{1,30}}?) (?:do i|(?:is|are) my) "
        rf"(?:like (?:the )?(?:most|best)|favou?rites?|love (?:the )?most){_TAIL}",
    ),
    Row(
        "default",
        rf"{_HEAD}(?:{_WHAT}|where is )(?:{_WHOSE} )?default (?P<thing>[a-z][a-z "
        rf"-]{{1,40}}?){_TAIL}",
    ),
    Row(
        "name",
        rf"{_HEAD}(?:{_WHAT}my (?:full |first |real )?name|who am i|what am i called|what do "
        rf"(?:you|people|they) call me|do you know my name){_TAIL}",
    ),
    Row(
        "home",
        rf"{_HEAD}(?:where (?:do|am) i (?:live|living|based)|(?:what|which) (?:city|town"
        r"|country|place) (?:do|am) i (?:live|living|based)(?: in)?|where is my home|where's "
        rf"home){_TAIL}",
    ),
    Row("home", rf"{_HEAD}where does (?P<who>[A-Z][\w-]+(?: [A-Z][\w-]+)?) live{_TAIL}"),
    Row(
        "hometown",
        rf"{_HEAD}(?:where (?:am|do) i (?:come )?(?:originally )?from|where did i grow up"
        rf"|where was i (?:born|raised)|{_WHAT}my home ?town){_TAIL}",
    ),
    Row(
        "job",
        rf"{_HEAD}(?:what do i do(?: for (?:a living|work))?|{_WHAT}my (?:job|profession"
        rf"|occupation|job title)|what do i work as|what is it i do){_TAIL}",
    ),
    Row(
        "employer",
        rf"{_HEAD}(?:where do i work|who do i work for|what company do i work (?:for|at)"
        rf"|{_WHAT}(?:my employer|the name of my (?:company|employer))|which company do i work "
        rf"(?:for|at)){_TAIL}",
    ),
    Row("birthday", rf"{_HEAD}when(?:'s| is|s) {_WHOSE} (?:birthday|bday){_TAIL}"),
    Row("birthday", rf"{_HEAD}{_WHAT}{_WHOSE} (?:birthday|date of birth|birth date|bday){_TAIL}"),
    Row("birthday", rf"{_HEAD}what day is {_WHOSE} birthday(?: on)?{_TAIL}"),
    Row("birthday", rf"{_HEAD}when was i born{_TAIL}"),
    Row("email", rf"{_HEAD}{_WHAT}{_WHOSE} (?:current |new )?e-?mail(?: address)?{_TAIL}"),
    Row(
        "phone",
        rf"{_HEAD}{_WHAT}{_WHOSE} (?:mobile|phone|cell|telephone)?(?: ?phone)? ?(?:number"
        rf"|mobile|phone|cell){_TAIL}",
    ),
    Row(
        "timezone",
        rf"{_HEAD}(?:{_WHAT}{_WHOSE} time ?zone|(?:what|which) time ?zone am i (?:in"
        rf"|on)){_TAIL}",
    ),
    Row(
        "language",
        rf"{_HEAD}(?:{_WHAT}my (?:native|first|mother) (?:language|tongue)|(?:what|which) "
        rf"language do i speak(?: at home)?){_TAIL}",
    ),
    Row("age", rf"{_HEAD}(?:how old am i|{_WHAT}my age){_TAIL}"),
    Row(
        "partner",
        rf"{_HEAD}(?:{_WHAT}my (?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?"
        r"|spouse)(?:'s)?(?: name| called)|who(?:'s| is) my (?:wife|husband|partner|girlfriend"
        rf"|boyfriend|fianc[ée]e?|spouse)|who am i (?:married|engaged) to){_TAIL}",
    ),
    Row(
        "pet",
        rf"{_HEAD}(?:{_WHAT}(?:my|our) (?:dog|cat|pet|rabbit|parrot|hamster|tortoise|horse"
        r"|puppy|kitten|bird)(?:'s)?(?: name| called)|what (?:did|do) (?:i|we) (?:name|call) "
        rf"(?:my|our) (?:dog|cat|pet|rabbit|parrot|hamster|tortoise|horse)){_TAIL}",
    ),
    Row(
        "diet",
        rf"{_HEAD}(?:{_WHAT}my diet|what diet (?:do i follow|am i on)|am i (?:a )?(?:vegetarian"
        rf"|vegan)|do i eat meat){_TAIL}",
    ),
    Row(
        "allergy",
        rf"{_HEAD}(?:what am i allergic to|what allerg(?:y|ies) do i have|{_WHAT}my allerg(?:y"
        rf"|ies)|do i have (?:any|an) allerg(?:y|ies)){_TAIL}",
    ),
)
_ZH_HEAD: Final = (
    r"^(?:请问|你(?:还)?(?:记得|知道)|还记得|对了|那|告诉我|提醒我一?下?|，|,|\s|话说"
    r"|帮我查一?下?)*"
)
_ZH_TAIL: Final = r"(?:来着|呢|啊|呀|吗|了)*[？?。!！\s]*$"
_ZH_WHO: Final = r"(?P<who>我|[一-鿿]{2,4}?|[A-Z][A-Za-z]+)"
_CHINESE: Final = (
    Row(
        "favourite",
        rf"{_ZH_HEAD}我最(?:喜欢|爱|喜爱)(?:吃|喝|看|听|玩|去"
        rf"|用)?的(?P<thing>[一-鿿A-Za-z]{{1,12}}?)(?:是|叫)(?:什么|哪[一个部本首家位种支]*"
        rf"|谁)(?:[一-鿿]{{0,2}})?{_ZH_TAIL}",
    ),
    Row(
        "favourite",
        rf"{_ZH_HEAD}我最(?:喜欢|爱)(?:吃|喝|看|听|玩|去|用)?(?:什么"
        rf"|哪[个部本首家种支])(?P<thing>[一-鿿]{{1,8}}?){_ZH_TAIL}",
    ),
    Row(
        "default",
        rf"{_ZH_HEAD}(?:我(?:们)?(?:的)?)?默认(?:的)?(?P<thing>[一-鿿A-Za-z]{{1,14}}?)(?:是|用"
        rf"|在|设的是|设成)(?:什么|哪[里儿个家]?|谁|多少)(?:[一-鿿]{{0,2}})?{_ZH_TAIL}",
    ),
    Row(
        "name",
        rf"{_ZH_HEAD}(?:我(?:叫|的名字(?:是|叫)|名字(?:是|叫)|的全名是|的大名是)(?:什么"
        rf"|啥)(?:名字)?|我是谁|你知道我(?:叫什么|的名字)){_ZH_TAIL}",
    ),
    Row(
        "home",
        rf"{_ZH_HEAD}{_ZH_WHO}(?:现在|目前)?(?:的)?(?:住(?:在)?|家(?:住)?在|定居在)(?:哪(?:里"
        rf"|儿|个城市|座城市)?|什么(?:地方|城市)){_ZH_TAIL}",
    ),
    Row(
        "hometown",
        rf"{_ZH_HEAD}我(?:是哪里人|是哪儿人|是哪里的人|(?:的)?(?:老家|家乡|故乡|祖籍)(?:是"
        rf"|在)哪(?:里|儿)?|来自哪(?:里|儿)|在哪(?:里|儿)(?:长大|出生)的?){_ZH_TAIL}",
    ),
    Row(
        "job",
        rf"{_ZH_HEAD}我(?:是做什么(?:工作)?的|(?:的)?(?:工作|职业)是(?:什么|啥)|做什么工作"
        rf"|是干什么的|是干嘛的){_ZH_TAIL}",
    ),
    Row(
        "employer",
        rf"{_ZH_HEAD}我(?:(?:现在)?在哪(?:里|儿|家公司|个公司|个单位)?(?:上班|工作)"
        rf"|(?:的)?(?:公司|单位)(?:是哪家|叫什么(?:名字)?|是什么)){_ZH_TAIL}",
    ),
    Row(
        "birthday",
        rf"{_ZH_HEAD}{_ZH_WHO}(?:的)?(?:生日|出生日期)(?:是|在)?(?:哪(?:一)?天|什么时候"
        rf"|几月几[号日]|几号|多少|哪年哪月){_ZH_TAIL}",
    ),
    Row(
        "email",
        rf"{_ZH_HEAD}{_ZH_WHO}(?:的)?(?:邮箱|电子邮箱|邮件地址)(?:地址)?(?:是)?(?:什么|多少"
        rf"|哪个|啥)?{_ZH_TAIL}",
    ),
    Row(
        "phone",
        rf"{_ZH_HEAD}{_ZH_WHO}(?:的)?(?:手机号?|电话|手机号码|电话号码|联系方式)(?:是)?(?:什么"
        rf"|多少|哪个|几号|啥)?{_ZH_TAIL}",
    ),
    Row(
        "timezone",
        rf"{_ZH_HEAD}我(?:的时区(?:是|在)?(?:什么|哪个|多少)|在(?:哪个|什么)时区){_ZH_TAIL}",
    ),
    Row(
        "language",
        rf"{_ZH_HEAD}我(?:的)?(?:母语是(?:什么|啥|哪种(?:语言)?)|在家(?:里)?(?:说|讲)(?:什么"
        rf"|哪种)(?:话|语言)|(?:说|讲)什么语言){_ZH_TAIL}",
    ),
    Row("age", rf"{_ZH_HEAD}我(?:今年|现在)?(?:多大|几岁|多少岁)(?:年纪)?{_ZH_TAIL}"),
    Row(
        "partner",
        rf"{_ZH_HEAD}我(?:的)?(?:老婆|老公|妻子|丈夫|太太|女朋友|男朋友|对象|爱人|未婚妻"
        rf"|未婚夫)(?:的名字)?(?:叫什么(?:名字)?|是谁|是什么){_ZH_TAIL}",
    ),
    Row(
        "pet",
        rf"{_ZH_HEAD}我(?:家)?(?:的|养的)?(?:狗|猫|宠物|兔子|鹦鹉|乌龟"
        rf"|仓鼠)(?:的名字)?(?:叫什么(?:名字)?|是什么){_ZH_TAIL}",
    ),
    Row(
        "diet",
        rf"{_ZH_HEAD}我(?:的饮食(?:习惯)?是什么|是(?:不是)?吃素的?|吃不吃(?:素|肉)"
        rf"|有什么忌口){_ZH_TAIL}",
    ),
    Row(
        "allergy",
        rf"{_ZH_HEAD}我(?:对(?:什么|哪些|啥)(?:东西|食物)?过敏|有(?:什么|哪些)过敏"
        rf"|的过敏源是什么){_ZH_TAIL}",
    ),
)
_NO_SUBJECTS: Final = frozenset(
    (
        "what",
        "who",
        "your",
        "its",
        "it's",
        "that's",
        "the",
        "你",
        "他",
        "她",
        "它",
        "你们",
        "他们",
        "我们",
        "这个",
        "那个",
    )
)


_PRESENT: Final = (
    (re.compile(r"\bdid (\w+) used? to\b", re.IGNORECASE), r"did \1"),
    (re.compile(r"\bdid i\b", re.IGNORECASE), "do i"),
    (re.compile(r"\bdid (?=[A-Z])"), "does "),
    (re.compile(r"\bwas i\b", re.IGNORECASE), "am i"),
    (re.compile(r"\b(?:was|were|used to be)\b", re.IGNORECASE), "is"),
    (
        re.compile(
            r"\b(?:previous(?:ly)?|former(?:ly)?|old|originally|before (?:that|this)|back then"
            r"|in the past|at first)\b ?",
            re.IGNORECASE,
        ),
        "",
    ),
    (re.compile(r"\s+(?:in|on|at|during|before|since|until)?\s*(?=[?.!]*$)"), ""),
    (re.compile(r"以前|原来|原先|曾经|从前|过去|之前|当时|那时候?|那会儿|当初|起初|最初"), ""),
)
"""From a question about the past to the same about the present, which the patterns know."""


def asked_slots(question: str, *, past: bool = False) -> tuple[AskedSlot, ...]:
    """Return the slot that a question asks for, if its whole wording asks for nothing else.

    Args:
        question: The question, without its expressions of time.
        past: Whether it is about the past.

    Returns:
        One slot (two names where the thing may stand in either number), or none.
    """
    text = " ".join(question.replace("’", "'").split())
    if past:
        for former, present in _PRESENT:
            text = former.sub(present, text)
    if not text or len(text) > _QUESTION_CHARACTERS_MAX:
        return ()
    patterns = _CHINESE_PATTERNS if _HAN.search(text) else _ENGLISH_PATTERNS
    for slot, pattern in patterns:
        match = pattern.match(text)
        if match is None:
            continue
        groups = match.groupdict()
        subject = _subject(groups.get("whose") or groups.get("who"))
        if subject is not None and subject.lower() in _NO_SUBJECTS:
            continue
        thing = groups.get("thing")
        return (AskedSlot(subject, f"{slot}/{normalise_thing(thing)}" if thing else slot),)
    return ()


def _subject(whose: str | None) -> str | None:
    if whose is None or whose.lower() in ("my", "我"):
        return None
    return whose.removesuffix("'s").removesuffix("'").removesuffix("的")


def _compiled(rows: Sequence[Row]) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, pattern in rows:
        yield name, re.compile(pattern, re.IGNORECASE)


_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_ENGLISH_PATTERNS: Final = tuple(_compiled(_ENGLISH))
_CHINESE_PATTERNS: Final = tuple(_compiled(_CHINESE))
