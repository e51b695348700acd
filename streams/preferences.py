"""Preferences and standing orders of a speaker, by the matter that they are about. Pure.

The slot names the matter ("like/coriander", "order/copies"), so that a newer word on the same
matter becomes a newer version; a condition (for whom, where, when) makes it a narrower one.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .slots import normalise_thing

__all__ = ["Preference", "find_preferences"]

_I: Final = re.IGNORECASE
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_MATTER_WORDS_MAX: Final = 3

_UNREAL: Final = re.compile(
    r"\b(?:wish|used to|no longer|imagine|pretend|if i (?:liked|were|was|had)|i (?:would|'d) (?:love|like|hate) to)\b", _I
)
_CONDITION: Final = re.compile(
    r"(?:,?\s*\b(?P<value>(?:(?:for|in|on|with)\s+(?:all\s+|any\s+|the\s+|my\s+|every\s+)?(?:e-?mails?|mails?|messages?|letters?|replies|reports?"
    r"|texts?|calls?|meetings?|notes?|posts?|documents?|anything|everything)\s+(?:to|from|for|with|about|on)\s+[^,;.!?]+"
    r"|(?:after|before|from|until|past|between)\s+(?:\d[\w:.]*(?:\s?[ap]\.?m\.?)?(?:\s+and\s+\d[\w:.]*(?:\s?[ap]\.?m\.?)?)?|noon|midnight|lunch|dinner|work|ten|nine|eight|seven|six|five|four|eleven|twelve)(?:\s+o'clock)?(?:\s+(?:at night|in the morning|on \w+days?))?"
    r"|(?:when|whenever|if|while|during|unless|as long as|until)\s+[^,;.!?]+"
    r"|(?:on|at|over)\s+(?:the\s+)?(?:weekends?|weekdays?|work|home|night|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|holidays?|school nights)"
    r"|(?:for|to|with)\s+(?:my\s+(?:boss|team|clients?|manager|mother|mum|mom|dad|father|wife|husband|kids)|(?-i:[A-Z])[\w'-]+(?:\s(?-i:[A-Z])[\w'-]+)*|work|clients?|customers|strangers|breakfast|lunch|dinner|long flights|short trips|business trips)"
    r"|in\s+(?:meetings|public|winter|summer|spring|autumn|the\s+(?:morning|evening|afternoon)s?))))(?=\s*(?:[,;.!?]|$))",
    _I,
)
_LEADING: Final = re.compile(
    r"^\W*(?:from now on,?\s+|please,?\s+|and\s+|but\s+|in (?:the )?future,?\s+)*(?P<value>(?:for|in|on|with|when|whenever|if|after|before|during|while|at)\b[^,;.!?]{2,60}),\s+(?P<rest>.+)$",
    _I,
)
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?")
_ORDER_WORDS: Final = frozenset(
    "stop quit more never always don't dont do now forward here future default today time every each unless rule possible please reply answer "
    "respond write talk speak just whatever for in on with when whenever if after before during while at".split()
)
_LIKING_WORDS: Final = frozenset(
    "love like enjoy adore hate dislike loathe detest despise can't cant cannot don't dont do never fan into fond keen sick obsessed prefer "
    "favour favor rather works easier suits preference".split()
)
_PREFIX: Final = (
    r"^\W*(?:(?:ok|okay|oh|hey|hi|and|but|so|also|btw|well|please|look|listen|remember|note|honestly|actually|yes|no|thanks|for the record|just so you know|fyi)\b[,:]?\s+(?:that\s+)?)*"
)
_ORDER_LEAD: Final = (
    r"(?:from now on|going forward|from here on|in (?:the )?future|by default|from today|always|(?:every|each) time|every \w+|unless i say (?:otherwise|so)|as a rule|whenever possible)"
)
_VERB: Final = (
    r"(?:answer|reply|respond|write|use|send|show|sign|format|keep|put|call|book|schedule|ask|add|include|mention|suggest|make|give|start|end"
    r"|share|translate|speak|talk|remind|order|contact|open|save|export|round|list|explain|summari[sz]e|address|attach|copy|cc|quote|check|confirm"
    r"|recommend|offer|invite|forward|delete|archive|print|read|play|skip|avoid|leave|stick|be|do|tell|offer|apologi[sz]e|assume|repeat|change|move|pay|buy|text|email|mail|treat|spell|insert|wake|set|pick|choose|say)"
)
_NO_MORE: Final = (
    r"(?:asking|sending|using|adding|calling|mentioning|suggesting|including|writing|ending|starting|reminding|putting|making|telling|giving|showing"
    r"|saying|offering|booking|apologi[sz]ing|repeating|recommending|translating|signing|copying|cc'?ing|doing|being|scheduling|opening|changing|explaining|summari[sz]ing)"
)
_ORDERS: Final = (
    re.compile(rf"{_PREFIX}(?P<order>(?:please\s+)?(?:stop|quit)\s+(?P<verb>{_NO_MORE})\b(?P<object>.*))$", _I),
    re.compile(rf"{_PREFIX}(?P<order>no more\s+(?P<object>[a-z][\w' -]+.*))$", _I),
    re.compile(rf"{_PREFIX}(?P<order>(?:please\s+|you (?:should|must|can)\s+)?(?:never|always|don'?t ever|do not ever)\s+(?:again\s+)?(?P<verb>{_VERB})\b(?P<object>.*))$", _I),
    re.compile(rf"{_PREFIX}(?:{_ORDER_LEAD},?\s+)(?:please,?\s+)?(?:i(?:'d| would) like you to\s+|i want you to\s+|could you\s+|can you\s+)?(?P<order>(?:(?:don'?t|do not|never|always|only)\s+)?(?P<verb>{_VERB})\b(?P<object>.*))$", _I),
    re.compile(rf"{_PREFIX}(?:(?:could|can|would) you\s+(?:please\s+)?)(?P<order>(?:(?:always|never|not|only)\s+)?(?P<verb>{_VERB})\b(?P<object>.*\b(?:in (?:the )?future|from now on|by default|going forward|every time|always)\b.*))$", _I),
    re.compile(rf"{_PREFIX}(?P<order>(?:please\s+)?(?P<verb>{_VERB})\b(?P<object>.*\b(?:from now on|by default|going forward|in (?:the )?future|every time|each time|unless i (?:say|ask)|as a rule|always)\b.*))$", _I),
    re.compile(rf"{_PREFIX}(?P<order>(?:please\s+)?(?:don'?t|do not)\s+(?:ever\s+)?(?P<verb>ask|send|mention|schedule|book|use|call|add|include|suggest|put|start|end|sign|translate|recommend|copy|cc|show|remind|offer|order|contact|share|apologi[sz]e)\b(?P<object>.*))$", _I),
    re.compile(rf"{_PREFIX}(?P<order>(?:please\s+)?(?P<verb>reply|answer|respond|write|talk|speak)\s+(?:to me\s+)?(?P<object>(?:only\s+|always\s+)?(?:in|with|using)\s+.*))$", _I),
    re.compile(rf"{_PREFIX}(?P<order>(?:just\s+|please\s+)use\s+(?P<object>[\w' -]+.*))$", _I),
    re.compile(rf"{_PREFIX}(?P<order>whatever you (?P<verb>{_VERB})\b(?P<object>.*))$", _I),
)
_LIKE: Final = re.compile(
    r"(?:^|[,;:.!?—–-]\s*|\b(?:and|but|because|so|honestly|actually|also|that|well|yes|no|btw)\s+)(?:i|we)(?:'m| am)?\s+(?:(?:really|absolutely|just|do|still|also|truly|quite|now|always|personally|simply|kind of|actually|totally|honestly|usually|generally|normally|much|strongly)\s+)*"
    r"(?P<value>love|like|enjoy|adore|hate|dislike|loathe|detest|despise|can'?t stand|can'?t bear|cannot stand|don'?t (?:really |much )?(?:like|enjoy|eat|drink|want)|do not (?:like|eat|drink)|never (?:eat|drink|use)|(?:not|not really) (?:a (?:big |huge )?fan of|into|keen on)|(?:a )?(?:big |huge )?fan of|(?:really )?into|fond of|keen on|sick of|obsessed with)\s+"
    r"(?P<object>(?!it\b|that\b|this\b|how\b|you\b|to\b|the idea|where|what|when|him\b|her\b|them\b|your\b)[^,;.!?—]+)",
    _I,
)
_PREFER: Final = re.compile(
    r"\b(?:i|we)\s+(?:(?:really|much|always|generally|usually|strongly|still|now|do|would|just)\s+)*(?:prefer|favou?r)\s+(?P<object>[^,;.!?—]+)"
    r"|\b(?:i'd|i would|i'?d)\s+(?:much\s+)?(?:rather|prefer)\s+(?:have\s+|to have\s+|to get\s+)?(?P<rather>[^,;.!?—]+)"
    r"|^\W*(?P<front>[\w][\w' -]{2,40}?)\s+(?:works best for me|is much easier on my eyes|suits me best|is my preference)",
    _I,
)
_OVER: Final = re.compile(r"\s+(?:over|to|rather than|instead of|than|not)\s+", _I)
_OBJECT_END: Final = re.compile(
    r"\s*(?:[,;.!?—(]|\b(?:because|since|so|when|if|unless|from now on|by default|going forward|in (?:the )?future|again|any ?more|please|every time|always|and|but|which i|which|that|i want|for|to|with|as|under|before|after|until|ever|at all|these days|now)\b).*$",
    _I,
)
_FILLER: Final = frozenset(
    "me my the a an any all some your our of in it them anything everything something us more too that this those these ever every each "
    "i you to on at by with only just stuff things for whether what how about be up out so".split()
)
_DEFAULT_MATTERS: Final = {
    "answer": "reply", "respond": "reply", "write": "reply", "talk": "reply", "speak": "reply",
    "answering": "reply", "writing": "reply", "asking": "ask",
}  # fmt: skip

_ZH_UNREAL: Final = re.compile(r"如果我喜欢|要是我|以前喜欢|曾经")
_ZH_TIME_CONDITION: Final = (
    r"(?:(?:晚上|早上|上午|下午|中午|凌晨|每天)?[\d一二两三四五六七八九十]{1,3}点(?:半)?(?:钟)?(?:之?后|以后|之?前|以前|到[^，。]{1,6})|周末|工作日|节假日|上班(?:时间?|期间)?|下班后|出差(?:时|的时候|期间)?|在家(?:时|的时候)?|开会(?:时|的时候)?|晚上|早上|周[一二三四五六日天])"
)
_ZH_CONDITION: Final = re.compile(
    rf"(?P<value>(?:给|跟|和|对|发给|写给)[^，。；！？]{{1,14}}?的?(?:邮件|信|消息|微信|短信|报告|周报|文档|回复|信件)|{_ZH_TIME_CONDITION}"
    r"|[^，。；！？]{2,14}的时候|(?:如果|要是|只要|除非)[^，。；！？]{2,20}|[^，。；！？]{1,8}(?:期间|这阵子|那阵子))"
)
_ZH_ORDER: Final = re.compile(
    r"(?P<order>(?:(?:请|麻烦|记得|拜托)?(?:你|您)?(?:以后|往后|今后|从今以后|从现在起|从现在开始|从今天起|默认|每次|每回|永远|一律|一概|统一|始终)|(?:请|麻烦)?(?:别再|不要再|别老|别总|别给我|不要给我|别跟我|不用再|别问我|不要问我|别在|不要在|别每次|不用每次))[^。！？!?\n]+)"
)
_ZH_ORDER_WORDS: Final = re.compile(r"以后|往后|今后|从今|从现在|默认|每次|每回|永远|一律|一概|统一|始终|别|不要|不用|都用|都按|都要")
_ZH_ORDER_TAIL: Final = re.compile(
    r"(?P<order>[^。！？!?\n]{2,40}?(?:(?:以后|往后|今后)都?(?:按|这么|这样)[^。！？!?\n]*|一律[^。！？!?\n]+|都(?:用|按|要)[^。！？!?\n]+))"
)
_ZH_PREFIXES: Final = re.compile(
    r"^(?:请|麻烦|记得|拜托|你|您|以后|往后|今后|从今以后|从现在起|从现在开始|从今天起|默认|每次|每回|永远|一律|一概|统一|始终|都|给我|跟我|帮我|我的?|所有的?|再|别|不要|不用|老|总|问我|就|能不能|把|，|的时候|在|每次|要)+"
)
_ZH_VERB: Final = re.compile(
    r"(?:都|就|请|只|不|别|要|一律|默认|统一|全部|必须)*(?:用|按|写|发|放|给|走|抄送|回复|回|问|提|订|安排|加|做|弄|叫|称呼|选|设|标|附|排|推荐|推|寄|打|说|讲|翻译|改|带|存|导出|显示|以|用的)"
)
_ZH_LIKE: Final = re.compile(
    r"(?:^|[，。；！？、,\s]|其实|但是|不过|因为)我(?:个人|本来|其实|平时|一直|从小|就|真的|还是|现在|也|最|超|特别|非常|很|挺|比较|更|实在|都|从来|最近)*(?P<value>喜欢|爱|爱吃|爱喝|爱看|爱听|偏爱|讨厌|受不了|不喜欢|不爱|不吃|不喝|不爱吃|不爱喝|不能吃|不碰|从不吃|从来不吃|从不喝|吃不惯|喝不惯|迷上了?|怕|不习惯)(?:吃|喝|看|听|用)?(?P<object>(?!你|这|那|它|他|她|了|的)[^，。；！？,!?\s]{1,16})"
)
_ZH_PREFER: Final = re.compile(
    r"我(?:还是|个人|一般|都|比较|总是|永远)*(?:更(?:喜欢|愿意|爱|习惯|倾向(?:于)?)|宁愿|宁可|偏好|偏向|习惯用|永远选|只(?:用|要|坐|喝|吃|买|看)|优先选?)(?P<object>[^，。；！？,!?]{1,20})"
)
_ZH_OBJECT_TAIL: Final = re.compile(r"(?:了|的|啊|呢|吧|哦|呀|来着|得要命|得不行|到不行|一点都不行|这种|这类|那种|这个|味道?)+$")


class Preference(NamedTuple):
    """A preference in a sentence; value is sentence[start:end]."""

    slot: str
    start: int
    end: int
    condition: str | None


def find_preferences(sentence: str, *, question: bool) -> list[Preference]:
    """Find the speaker's preferences and standing orders in a sentence.

    Args:
        sentence: The sentence.
        question: Whether it asks; then only requests for always ("could you … in future?") count.

    Returns:
        In the order of the text, one per matter.
    """
    plain = sentence.replace("’", "'")
    found: dict[tuple[str, str | None], Preference] = {}
    rules = _chinese(plain, question=question) if _HAN.search(plain) else _english(plain, question=question)
    for one in rules:
        found.setdefault((one.slot, one.condition), one)
    return list(found.values())


def _english(text: str, *, question: bool) -> Iterator[Preference]:
    words = set(_WORD.findall(text.lower()))
    if not words.isdisjoint(_ORDER_WORDS):
        order = _english_order(text, question=question)
        if order is not None:
            yield order
            return
    if question or words.isdisjoint(_LIKING_WORDS) or _UNREAL.search(text):
        return
    for match in _PREFER.finditer(text):
        group = next(name for name in ("object", "rather", "front") if match[name])
        yield from _preferred(text, *match.span(group))
    for match in _LIKE.finditer(text):
        start, end = match.span("object")
        condition, (start, end) = _condition(text, start, end)
        matter = _matter(text[start:end])
        if matter:
            yield Preference(f"like/{matter}", *match.span("value"), condition)


def _preferred(text: str, start: int, end: int) -> Iterator[Preference]:
    """What is preferred, and to what: the matter is the pair, or the thing itself."""
    condition, (start, end) = _condition(text, start, end)
    parts = _OVER.split(text[start:end], maxsplit=1)
    value_end = start + len(parts[0].rstrip())
    if len(parts) > 1:
        pair = sorted(filter(None, (_head(parts[0]), _head(parts[1]))))
        matter = " or ".join(pair)
    else:
        matter = _head(parts[0])
    if matter:
        yield Preference(f"prefer/{matter}", start, value_end, condition)


def _english_order(text: str, *, question: bool) -> Preference | None:
    body, offset, leading = text, 0, None
    lead = _LEADING.match(text)
    if lead:
        body, offset, leading = lead["rest"], lead.start("rest"), lead["value"]
    for pattern in _ORDERS:
        match = pattern.match(body)
        if match is None or (question and "you" not in body.lower()[: match.start("order")]):
            continue
        start, end = match.span("order")
        verb = (match.groupdict().get("verb") or "").lower()
        place = match.start("object")
        condition, (_, object_end) = _condition(body, place, match.end("object"))
        matter = _order_matter(body[place:object_end], verb)
        end = min(end, object_end) if condition else end
        while end > start and body[end - 1] in " .,;!?":
            end -= 1
        if matter:
            return Preference(
                f"order/{matter}", offset + start, offset + end, leading or condition
            )
    if leading:
        return _english_plain_order(body, offset, leading)
    return None


def _english_plain_order(body: str, offset: int, leading: str) -> Preference | None:
    """An order that only its condition makes a standing one: "For mails to Wang, use French"."""
    match = re.match(rf"(?:please\s+)?(?P<verb>{_VERB})\b(?P<object>.*)$", body, _I)
    if match is None or leading.lower().startswith(("if you can", "if possible", "in short")):
        return None
    matter = _order_matter(match["object"], match["verb"].lower())
    end = len(body.rstrip(" .!"))
    return Preference(f"order/{matter}", offset, offset + end, leading) if matter else None


def _order_matter(words: str, verb: str) -> str:
    verb = _DEFAULT_MATTERS.get(verb, verb)
    if verb == "reply":
        return "reply"
    lowered = words.strip().lower()
    which = re.match(r"(?:me )?(?:about |for )?(?:which|what) (\w+)", lowered)
    if which:
        return normalise_thing(which[1])
    thing = _OBJECT_END.sub("", lowered.strip(" '\""))
    picked = [word for word in re.findall(r"[\w'-]+", thing) if word not in _FILLER]
    if not picked:
        return normalise_thing(verb) if verb else ""
    if len(picked) > _MATTER_WORDS_MAX:
        picked = picked[:_MATTER_WORDS_MAX]
    # What stands after "in", "at" and the like says how, not what.
    how = re.split(r"\b(?:in|at|on|by|from|of|into)\b", thing, maxsplit=1)[0]
    first = [word for word in re.findall(r"[\w'-]+", how) if word not in _FILLER]
    chosen = first or picked
    return _plural_kept(" ".join(chosen[-1:] if len(chosen) > 1 else chosen))


def _plural_kept(word: str) -> str:
    """One form for one matter; orders are mostly about things in the plural."""
    single = normalise_thing(word)
    return f"{single[:-1]}ies" if single.endswith("y") and word.endswith("ies") else word


def _condition(text: str, start: int, end: int) -> tuple[str | None, tuple[int, int]]:
    """Split a trailing condition off text[start:end]."""
    last = None
    for match in _CONDITION.finditer(text, start, end):
        last = match
    if last is None:
        return None, (start, end)
    return last["value"].strip(), (start, last.start())


def _matter(words: str) -> str:
    thing = _OBJECT_END.sub("", words.strip().lower())
    picked = [word for word in re.findall(r"[\w'-]+", thing) if word not in _FILLER]
    return normalise_thing(" ".join(picked[:_MATTER_WORDS_MAX])) if picked else ""


def _head(words: str) -> str:
    """The last word of the thing itself: "window seats" is about seats."""
    thing = _OBJECT_END.sub("", words.strip().lower())
    thing = re.split(r"\b(?:in|on|at|by|of|via|from|as)\b", thing, maxsplit=1)[-1] if " in " in thing else thing
    picked = [word for word in re.findall(r"[\w'-]+", thing) if word not in _FILLER]
    return normalise_thing(picked[-1]) if picked else ""


def _chinese(text: str, *, question: bool) -> Iterator[Preference]:
    if question and not re.search(r"以后|每次|默认|一律", text):
        return
    for pattern in (_ZH_ORDER, _ZH_ORDER_TAIL):
        match = pattern.search(text) if _ZH_ORDER_WORDS.search(text) else None
        if match and not re.search(r"以后(?:再说|会|怎么|还)|(?:我|他|她|他们|我们)(?:以后|每次|永远|始终)", match["order"][:8]):
            order = _chinese_order(text, match)
            if order is not None:
                yield order
                return
    if question or _ZH_UNREAL.search(text):
        return
    for match in _ZH_PREFER.finditer(text):
        yield from _chinese_preferred(text, *match.span("object"))
    for match in _ZH_LIKE.finditer(text):
        matter = _ZH_OBJECT_TAIL.sub("", match["object"])
        if matter:
            yield Preference(f"喜好/{matter}", *match.span("value"), None)


def _chinese_preferred(text: str, start: int, end: int) -> Iterator[Preference]:
    parts = re.split(r"(?:而不是|胜过|也不|多过)", text[start:end], maxsplit=1)
    matter = _ZH_OBJECT_TAIL.sub("", parts[0])
    if matter:
        yield Preference(f"偏好/{matter}", start, start + len(parts[0]), None)


def _chinese_order(text: str, match: re.Match[str]) -> Preference | None:
    start, end = match.span("order")
    while end > start and text[end - 1] in " ，,；;。":
        end -= 1
    before = text[:start]
    found = _ZH_CONDITION.search(text)
    condition = None
    body = text[start:end]
    if found and (found.end() <= start + 24):
        condition = found["value"]
        body = body.replace(condition, "", 1)
        if before.strip(" ，,") and condition not in before:
            body = f"{before}{body}"
    matter = _chinese_matter(body.strip(" ，,"))
    return Preference(f"order/{matter}", start, end, condition) if matter else None


def _chinese_matter(order: str) -> str:
    """The thing that an order is about: before the verb, else after it."""
    order = order.split("，")[0].split(",")[0] if "，" in order or "," in order else order
    rest = _ZH_PREFIXES.sub("", order)
    verb = _ZH_VERB.search(rest)
    if verb is None:
        return _ZH_OBJECT_TAIL.sub("", rest)[:8]
    thing = rest[: verb.start()].strip("的，, ")
    if thing:
        return _ZH_OBJECT_TAIL.sub("", thing)
    after = re.sub(r"^(?:我|给我|过|了|一下|任何|中转的|[^的，]{1,6}的(?=[一-鿿]{2}))", "", rest[verb.end() :])
    after = re.split(r"[，,。]|再|就|都", after, maxsplit=1)[0]
    return _ZH_OBJECT_TAIL.sub("", after)[:8] or verb.group()
