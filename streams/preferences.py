"""Preferences and standing orders of a speaker, by the matter that they are about. Pure.

The slot names the matter ("like/coriander", "order/copies"), so that a newer word on the same
matter becomes a newer version; a condition (for whom, where, when) makes it a narrower one.
"""

import re
from collections.abc import Iterator
from typing import Final

from .chinese_preferences import find_chinese_preferences
from .slots import normalise_thing
from .stated import Preference

__all__ = ["find_preferences"]

_I: Final = re.IGNORECASE
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_MATTER_WORDS_MAX: Final = 3

_UNREAL: Final = re.compile(
    r"\b(?:wish|used to|no longer|imagine|pretend|if i (?:liked|were|was|had)|i (?:would"
    r"|'d) (?:love|like|hate) to)\b",
    _I,
)
_CONDITION: Final = re.compile(
    r"(?:,?\s*\b(?P<value>(?:(?:for|in|on|with)\s+(?:all\s+|any\s+|the\s+|my\s+"
    r"|every\s+)?(?:e-?mails?|mails?|messages?|letters?|replies|reports?"
    r"|texts?|calls?|meetings?|notes?|posts?|documents?|anything|everything)\s+(?:to|from"
    r"|for|with|about|on)\s+[^,;.!?]+"
    r"|(?:after|before|from|until|past|between)\s+(?:\d[\w:.]*(?:\s?[ap]\.?m\.?)?(?:\s+and"
    r"\s+\d[\w:.]*(?:\s?[ap]\.?m\.?)?)?|noon|midnight|lunch|dinner|work|ten|nine|eight"
    r"|seven|six|five|four|eleven|twelve)(?:\s+o'clock)?(?:\s+(?:at night|in the morning"
    r"|on \w+days?))?"
    r"|(?:when|whenever|if|while|during|unless|as long as|until)\s+[^,;.!?]+"
    r"|(?:on|at|over)\s+(?:the\s+)?(?:weekends?|weekdays?|work|home|night|(?:mon|tues"
    r"|wednes|thurs|fri|satur|sun)days?|holidays?|school nights)"
    r"|(?:for|to|with)\s+(?:my\s+(?:boss|team|clients?|manager|mother|mum|mom|dad|father"
    r"|wife|husband|kids)|(?-i:[A-Z])[\w'-]+(?:\s(?-i:[A-Z])[\w'-]+)*|work|clients?"
    r"|customers|strangers|breakfast|lunch|dinner|long flights|short trips|business trips)"
    r"|in\s+(?:meetings|public|winter|summer|spring|autumn|the\s+(?:morning|evening"
    r"|afternoon)s?))))(?=\s*(?:[,;.!?]|$))",
    _I,
)
_LEADING: Final = re.compile(
    r"^\W*(?:from now on,?\s+|please,?\s+|and\s+|but\s+|in (?:the "
    r")?future,?\s+)*(?P<value>(?:for|in|on|with|when|whenever|if|after|before|during|while"
    r"|at)\b[^,;.!?]{2,60}),\s+(?P<rest>.+)$",
    _I,
)
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?")
_ORDER_WORDS: Final = frozenset(
    "stop quit more never always don't dont do now forward here future default today time "
    "every each unless rule possible please reply answer "
    "respond write talk speak just whatever".split()
)
_CONDITION_WORDS: Final = frozenset(
    "for in on with when whenever if after before during while at".split()
)
_LIKING_WORDS: Final = frozenset(
    "love like enjoy adore hate dislike loathe detest despise can't cant cannot don't dont "
    "do never fan into fond keen sick obsessed prefer "
    "favour favor rather works easier suits preference".split()
)
_PREFIX: Final = (
    r"^\W*(?:(?:ok|okay|oh|hey|hi|and|but|so|also|btw|well|please|look|listen|remember|note"
    r"|honestly|actually|yes|no|thanks|for the record|just so you know"
    r"|fyi)\b[,:]?\s+(?:that\s+)?)*"
)
_ORDER_LEAD: Final = (
    r"(?:from now on|going forward|from here on|in (?:the )?future|by default|from today"
    r"|always|(?:every|each) time|every \w+|unless i say (?:otherwise|so)|as a rule"
    r"|whenever possible)"
)
_VERB: Final = (
    r"(?:answer|reply|respond|write|use|send|show|sign|format|keep|put|call|book|schedule"
    r"|ask|add|include|mention|suggest|make|give|start|end"
    r"|share|translate|speak|talk|remind|order|contact|open|save|export|round|list|explain"
    r"|summari[sz]e|address|attach|copy|cc|quote|check|confirm"
    r"|recommend|offer|invite|forward|delete|archive|print|read|play|skip|avoid|leave|stick"
    r"|be|do|tell|offer|apologi[sz]e|assume|repeat|change|move|pay|buy|text|email|mail"
    r"|treat|spell|insert|wake|set|pick|choose|say)"
)
_NO_MORE: Final = (
    r"(?:asking|sending|using|adding|calling|mentioning|suggesting|including|writing|ending"
    r"|starting|reminding|putting|making|telling|giving|showing"
    r"|saying|offering|booking|apologi[sz]ing|repeating|recommending|translating|signing"
    r"|copying|cc'?ing|doing|being|scheduling|opening|changing|explaining|summari[sz]ing)"
)
_ORDERS: Final = (
    re.compile(
        rf"{_PREFIX}(?P<order>(?:please\s+)?(?:stop|quit)\s+(?P<verb>{_NO_MORE})\b(?P<object>.*"
        r"))$",
        _I,
    ),
    re.compile(rf"{_PREFIX}(?P<order>no more\s+(?P<object>[a-z][\w' -]+.*))$", _I),
    re.compile(
        rf"{_PREFIX}(?P<order>(?:please\s+|you (?:should|must|can)\s+)?(?:never|always|don'?t "
        rf"ever|do not ever)\s+(?:again\s+)?(?P<verb>{_VERB})\b(?P<object>.*))$",
        _I,
    ),
    re.compile(
        rf"{_PREFIX}(?:{_ORDER_LEAD},?\s+)(?:please,?\s+)?(?:i(?:'d| would) like you to\s+|i "
        r"want you to\s+|could you\s+|can you\s+)?(?P<order>(?:(?:don'?t|do not|never|always"
        rf"|only)\s+)?(?P<verb>{_VERB})\b(?P<object>.*))$",
        _I,
    ),
    re.compile(
        rf"{_PREFIX}(?:(?:could|can|would) you\s+(?:please\s+)?)(?P<order>(?:(?:always|never"
        rf"|not|only)\s+)?(?P<verb>{_VERB})\b(?P<object>.*\b(?:in (?:the )?future|from now on"
        r"|by default|going forward|every time|always)\b.*))$",
        _I,
    ),
    re.compile(
        rf"{_PREFIX}(?P<order>(?:please\s+)?(?P<verb>{_VERB})\b(?P<object>.*\b(?:from now on"
        r"|by default|going forward|in (?:the )?future|every time|each time|unless i (?:say"
        r"|ask)|as a rule|always)\b.*))$",
        _I,
    ),
    re.compile(
        rf"{_PREFIX}(?P<order>(?:please\s+)?(?:don'?t|do not)\s+(?:ever\s+)?(?P<verb>ask|send"
        r"|mention|schedule|book|use|call|add|include|suggest|put|start|end|sign|translate"
        r"|recommend|copy|cc|show|remind|offer|order|contact|share"
        r"|apologi[sz]e)\b(?P<object>.*))$",
        _I,
    ),
    re.compile(
        rf"{_PREFIX}(?P<order>(?:please\s+)?(?P<verb>reply|answer|respond|write|talk"
        r"|speak)\s+(?:to me\s+)?(?P<object>(?:only\s+|always\s+)?(?:in|with|using)\s+.*))$",
        _I,
    ),
    re.compile(rf"{_PREFIX}(?P<order>(?:just\s+|please\s+)use\s+(?P<object>[\w' -]+.*))$", _I),
    re.compile(rf"{_PREFIX}(?P<order>whatever you (?P<verb>[a-z]+)\b(?P<object>.*))$", _I),
)
_LIKE: Final = re.compile(
    r"(?:^|[,;:.!?—–-]\s*|\b(?:and|but|because|so|honestly|actually|also|that|well|yes|no"
    r"|btw)\s+)(?:i|we)(?:'m| am)?\s+(?:(?:really|absolutely|just|do|still|also|truly|quite"
    r"|now|always|personally|simply|kind of|actually|totally|honestly|usually|generally"
    r"|normally|much|strongly)\s+)*"
    r"(?P<value>love|like|enjoy|adore|hate|dislike|loathe|detest|despise|can'?t stand"
    r"|can'?t bear|cannot stand|don'?t (?:really |much )?(?:like|enjoy|eat|drink|want)|do "
    r"not (?:like|eat|drink)|never (?:eat|drink|use)|(?:not|not really) (?:a (?:big |huge "
    r")?fan of|into|keen on)|(?:a )?(?:big |huge )?fan of|(?:really )?into|fond of|keen on"
    r"|sick of|obsessed with)\s+"
    r"(?P<object>(?!it\b|that\b|this\b|how\b|you\b|to\b|the idea|where|what|when|him\b"
    r"|her\b|them\b|your\b)[^,;.!?—]+)",
    _I,
)
_PREFER: Final = re.compile(
    r"\b(?:i|we)\s+(?:(?:really|much|always|generally|usually|strongly|still|now|do|would"
    r"|just)\s+)*(?:prefer|favou?r)\s+(?P<object>[^,;.!?—]+)"
    r"|\b(?:i'd|i would|i'?d)\s+(?:much\s+)?(?:rather|prefer)\s+(?:have\s+|to have\s+|to "
    r"get\s+)?(?P<rather>[^,;.!?—]+)"
    r"|^\W*(?P<front>[\w][\w' -]{2,40}?)\s+(?:works best for me|is much easier on my eyes"
    r"|suits me best|is my preference)",
    _I,
)
_OVER: Final = re.compile(r"\s+(?:over|to|rather than|instead of|than|not)\s+", _I)
_OBJECT_END: Final = re.compile(
    r"\s*(?:[,;.!?—(]|\b(?:because|since|so|when|if|unless|from now on|by default|going "
    r"forward|in (?:the )?future|again|any ?more|please|every time|always|and|but|which i"
    r"|which|that|i want|for|to|with|as|under|before|after|until|ever|at all|these days"
    r"|now)\b).*$",
    _I,
)
_FILLER: Final = frozenset(
    "me my the a an any all some your our of in it them anything everything something us "
    "more too that this those these ever every each "
    "i you to on at by with only just stuff things for whether what how about be up out so".split()
)
_DEFAULT_MATTERS: Final = {
    "answer": "reply", "respond": "reply", "write": "reply", "talk": "reply", "speak": "reply",
    "answering": "reply", "writing": "reply", "asking": "ask",
}  # fmt: skip


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
    rules = (
        find_chinese_preferences(plain, question=question)
        if _HAN.search(plain)
        else _english(plain, question=question)
    )
    for one in rules:
        found.setdefault((one.slot, one.condition), one)
    return list(found.values())


def _english(text: str, *, question: bool) -> Iterator[Preference]:
    listed = _WORD.findall(text.lower())
    words = set(listed)
    if not words.isdisjoint(_ORDER_WORDS) or (listed and listed[0] in _CONDITION_WORDS):
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
            return Preference(f"order/{matter}", offset + start, offset + end, leading or condition)
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
    thing = (
        re.split(r"\b(?:in|on|at|by|of|via|from|as)\b", thing, maxsplit=1)[-1]
        if " in " in thing
        else thing
    )
    picked = [word for word in re.findall(r"[\w'-]+", thing) if word not in _FILLER]
    return normalise_thing(picked[-1]) if picked else ""
