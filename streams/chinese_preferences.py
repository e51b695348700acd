"""Preferences and standing orders in Chinese; see `preferences`. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from .stated import Preference

__all__ = ["find_chinese_preferences"]

_ZH_UNREAL: Final = re.compile(r"如果我喜欢|要是我|以前喜欢|曾经")
_ZH_TIME_CONDITION: Final = (
    r"(?:(?:晚上|早上|上午|下午|中午|凌晨|每天)?[\d一二两三四五六七八九十]{1,3}点(?:半)?(?:"
    r"钟)?(?:之?后|以后|之?前|以前|到[^，。]{1,6})|周末|工作日|节假日|上班(?:时间?|期间)?"
    r"|下班后|出差(?:时|的时候|期间)?|在家(?:时|的时候)?|开会(?:时|的时候)?|晚上|早上"
    r"|周[一二三四五六日天])"
)
_ZH_CONDITION: Final = re.compile(
    rf"(?P<value>(?:给|跟|和|对|发给|写给)[^，。；！？]{{1,14}}?的?(?:邮件|信|消息|微信"
    rf"|短信|报告|周报|文档|回复|信件)|{_ZH_TIME_CONDITION}"
    r"|[^，。；！？]{2,14}的时候|(?:如果|要是|只要|除非)[^，。；！？]{2,20}"
    r"|[^，。；！？]{1,8}(?:期间|这阵子|那阵子))"
)
_ZH_ORDER: Final = re.compile(
    r"(?P<order>(?:(?:请|麻烦|记得|拜托)?(?:你|您)?(?:以后|往后|今后|从今以后|从现在起"
    r"|从现在开始|从今天起|默认|每次|每回|永远|一律|一概|统一|始终)|(?:请|麻烦)?(?:别再"
    r"|不要再|别老|别总|别给我|不要给我|别跟我|不用再|别问我|不要问我|别在|不要在|别每次"
    r"|不用每次))[^。！？!?\n]+)"
)
_ZH_ORDER_WORDS: Final = re.compile(
    r"以后|往后|今后|从今|从现在|默认|每次|每回|永远|一律|一概|统一|始终|别|不要|不用|都用|都按"
    r"|都要|回[答复]|答复|跟我|和我|说话"
)
_ZH_REPLY_ORDER: Final = re.compile(
    r"^(?P<order>(?:请|麻烦|拜托)?(?:你|您)?(?:都|就|只|尽量|直接)?用[^，。]{1,10}(?:回复"
    r"|回答|答复|跟我说|和我说|跟我交流)[^。！？!?\n]{0,6}"
    r"|(?:回答|回复|答复|说话)(?:我)?(?:时|的时候|都)?(?:请|要|就|尽量|只)?用[^。！？!?\n]+)"
)
_ZH_ORDER_TAIL: Final = re.compile(
    r"(?P<order>[^。！？!?\n]{2,40}?(?:(?:以后|往后|今后)都?(?:按|这么|这样)[^。！？!?\n]*"
    r"|一律[^。！？!?\n]+|都(?:用|按|要)[^。！？!?\n]+))"
)
_ZH_PREFIXES: Final = re.compile(
    r"^(?:请|麻烦|记得|拜托|你|您|以后|往后|今后|从今以后|从现在起|从现在开始|从今天起|默认"
    r"|每次|每回|永远|一律|一概|统一|始终|都|给我|跟我|帮我|我的?|所有的?|再|别|不要|不用"
    r"|老|总|问我|就|能不能|把|，|的时候|在|每次|要)+"
)
_ZH_VERB: Final = re.compile(
    r"(?:都|就|请|只|不|别|要|一律|默认|统一|全部|必须)*(?:用|按|写|发(?!票)|放|给|走|抄送"
    r"|回复|回|问|提|订|安排|加|做|弄|叫|称呼|选|设|标|附|排|推荐|推|寄|打|说|讲|翻译|改|带"
    r"|存|导出|显示|以|用的)"
)
_ZH_LIKE: Final = re.compile(
    r"(?:^|[，。；！？、,\s]|其实|但是|不过|因为)我(?:个人|本来|其实|平时|一直|从小|就|真的"
    r"|还是|现在|也|最|超|特别|非常|很|挺|比较|实在|都|从来|最近)*(?P<value>喜欢|爱|爱吃"
    r"|爱喝|爱看|爱听|偏爱|讨厌|受不了|不喜欢|不爱|不吃|不喝|不爱吃|不爱喝|不能吃|不碰"
    r"|从不吃|从来不吃|从不喝|吃不惯|喝不惯|迷上了?|怕|不习惯)(?:吃|喝|看|听"
    r"|用)?(?P<object>(?!你|这|那|它|他|她|了|的)[^，。；！？,!?\s]{1,16})"
)
_ZH_PREFER: Final = re.compile(
    r"我(?:还是|个人|一般|都|比较|总是|永远)*(?:更(?:喜欢|愿意|爱|习惯|倾向(?:于)?)|宁愿"
    r"|宁可|偏好|偏向|习惯用|永远选|只(?:用|要|坐|喝|吃|买|看)"
    r"|优先选?)(?P<object>[^，。；！？,!?]{1,20})"
)
_ZH_OBJECT_TAIL: Final = re.compile(
    r"(?:了|的|啊|呢|吧|哦|呀|来着|得要命|得不行|到不行|一点都不行|这种|这类|那种|这个|味道?)+$"
)


_ZH_CONDITION_REACH: Final = 24
_ZH_MATTER_MAX: Final = 8
_ZH_LETTER: Final = re.compile(r"的?(邮件|信件|消息|微信|短信|报告|周报|文档|回复|信)$")
_ZH_REPLY: Final = re.compile(
    r"用[^，。]{1,10}(?:回答|回复|答复|跟我说|和我说|交流)|^(?:请|以后|往后|都|每次)*(?:回答"
    r"|回复|答复)|回答我"
)
_ZH_ADVERB_TAIL: Final = re.compile(
    r"(?:的事情?|的时候|这块|这边|一律|都|全部|统一|默认|就|请|以后|往后|今后)+$"
)
_ZH_AFTER_VERB: Final = re.compile(r"^(?:我|给我|过|了|一下|任何|[^的，]{1,6}的(?=[一-鿿]{2}))")


def find_chinese_preferences(text: str, *, question: bool) -> Iterator[Preference]:
    """Find preferences and standing orders in a Chinese sentence; see `find_preferences`."""
    if question and not re.search(r"以后|每次|默认|一律", text):
        return
    for pattern in (_ZH_ORDER, _ZH_ORDER_TAIL, _ZH_REPLY_ORDER):
        match = pattern.search(text) if _ZH_ORDER_WORDS.search(text) else None
        if match and not re.search(
            r"以后(?:再说|会|怎么|还)|(?:我|他|她|他们|我们)(?:以后|每次|永远|始终)",
            match["order"][:8],
        ):
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
    found = _ZH_CONDITION.search(text)
    condition = None
    body = text[start:end]
    before = re.split(r"[，,；;：:]", text[:start])[-1]
    if found and found.end() <= start + _ZH_CONDITION_REACH:
        condition = found["value"]
        body = body.replace(condition, "", 1)
        before = before.replace(condition, "", 1)
        if found.end() > start:  # 晚上十点以后 reaches into 以后别发
            before = ""
        letter = _ZH_LETTER.search(condition)
        if letter:
            return Preference(f"order/{letter[1]}", start, end, condition)
    matter = _chinese_matter(f"{before}{body}".strip(" ，,"))
    return Preference(f"order/{matter}", start, end, condition) if matter else None


def _chinese_matter(order: str) -> str:
    """The thing that an order is about: before the verb, else after it."""
    if _ZH_REPLY.search(order):
        return "回答"
    order = re.split(r"[，,]", order, maxsplit=1)[0]
    rest = _ZH_PREFIXES.sub("", order)
    verb = _ZH_VERB.search(rest)
    if verb is None:
        return _ZH_OBJECT_TAIL.sub("", rest)[:_ZH_MATTER_MAX]
    thing = _ZH_ADVERB_TAIL.sub("", rest[: verb.start()]).strip("的，, ")
    if thing:
        return _ZH_OBJECT_TAIL.sub("", thing)[-_ZH_MATTER_MAX:]
    after = _ZH_AFTER_VERB.sub("", rest[verb.end() :])
    after = re.split(r"[，,。]|再|就|都", after, maxsplit=1)[0]
    return _ZH_OBJECT_TAIL.sub("", after)[:_ZH_MATTER_MAX] or verb.group()
