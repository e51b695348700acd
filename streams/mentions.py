"""Whom and what a question names, beside what it is about. Pure."""

import re
from typing import Final

__all__ = ["asks_the_agent", "names"]

_REMEMBERING: Final = re.compile(
    r"\byou (?:still )?(?:remember|recall|know)\b|你(?:还|是否|是不是|能|可以)*(?:记得|知道|想起)",
    re.IGNORECASE,
)
"""What asks the agent to answer, and not what it said."""
_DID: Final = (
    r"advise|answer|call|choose|cite|come up|compose|create|describe|design|draft|estimate|explain"
    r"|find|generate|give|introduce|list|make|mention|name|outline|pick|plan|point|propose|provide"
    r"|quote|rank|recommend|reply|say|share|show|suggest|summari[sz]e|teach|tell|translate|warn"
    r"|write"
)
_DONE: Final = (
    r"advised|answered|called|came up|chose|chosen|cited|composed|created|described|designed"
    r"|drafted|estimated|explained|found|gave|generated|given|introduced|listed|made|mentioned"
    r"|named|outlined|picked|planned|pointed|proposed|provided|quoted|ranked|recommended|replied"
    r"|said|shared|showed|shown|suggested|summari[sz]ed|taught|told|translated|warned|written|wrote"
)
_AGENT_ENGLISH: Final = re.compile(
    rf"\bdid(?:n['’]t)? you (?:\w+ ){{0,2}}?(?:{_DID})\b"
    r"|\byou(?:['’]ve|['’]d| have| had| once| just| also| already| ever| first| last| previously"
    rf"| earlier| recently){{0,3}},? (?:{_DONE})\b"
    r"|\byour (?:\w+ )?(?:recommendation|suggestion|advice|answer|reply|explanation|list|idea|tip"
    r"|version|draft)s?\b",
    re.IGNORECASE,
)
"""What was said, not what shall be: "Can you tell me where I live?" asks for the user's words."""
_SAYING: Final = (
    r"推荐|建议|提议|介绍|教|写|列|分享|解释|告诉|提醒|讲|说|提到?|回答|翻译|总结|算|给|帮"
)
_BETWEEN: Final = r"(?:[给跟和向对帮为]我们?|[^我，。？?,!！])"
_AGENT_CHINESE: Final = re.compile(
    rf"(?<![和跟向给对与同])你(?:{_BETWEEN}{{0,8}}?(?:{_SAYING})(?:我们?)?(?:过|了|的(?!时候))"
    rf"|(?:之前|上次|上回|曾经?|以前|刚才|当时|那次|那天|昨天|前天){_BETWEEN}{{0,8}}?(?:{_SAYING})"
    r"|[的那](?:建议|意见|推荐|回答|说法|看法|方案))"
)
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9.&'-]*[A-Za-z0-9]")
_WORD: Final = r"[A-Z][\w’'&-]*[A-Za-z0-9]"
_CAPITALISED: Final = re.compile(
    rf"(?<=[\w,;:)] )[\"'“(]?({_WORD}(?: (?:(?:of|and|the|de|von|van) ){{0,2}}{_WORD})*)"
)
_NO_NAMES: Final = re.compile(
    r"I['’]\w+|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June"
    r"|July|August|September|October|November|December|English|Chinese"
)


def asks_the_agent(question: str) -> bool:
    """Tell whether a question is about what the agent said, as "What did you recommend?", 你推荐过.

    Args:
        question: In English, Chinese or both. "I told you" and 我跟你说过 are what the user said.
    """
    rest = _REMEMBERING.sub("", question)
    return bool(_AGENT_ENGLISH.search(rest) or _AGENT_CHINESE.search(rest))


def names(question: str) -> list[str]:
    """List what a question calls by a name, as far as its letters show it.

    Args:
        question: In English, Chinese or both.

    Returns:
        In Chinese the words in Latin letters; else capitalised words that begin no sentence and are
        no calendar's, those of one name together, in order.
    """
    if _HAN.search(question):
        return _LATIN.findall(question)
    return [one for one in _CAPITALISED.findall(question) if not _NO_NAMES.fullmatch(one)]
