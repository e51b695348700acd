"""Whom and what a question names, beside what it is about. Pure."""

import re
from typing import Final

__all__ = ["asks_the_agent", "names"]

_REMEMBERING: Final = re.compile(
    r"\byou (?:still )?(?:remember|recall|know)\b|你(?:还|是否|是不是|能|可以)*(?:记得|知道|想起)",
    re.IGNORECASE,
)
"""What asks the agent to answer, and not what it said."""
_AGENT_ENGLISH: Final = re.compile(
    r"\byou(?:'ve|'d| have| had| once| just| also| already| ever| first| previously| earlier)*,? "
    r"(?:recommend|suggest|sa(?:y|id)\b|t(?:ell|old)\b|mention|advi[sc]e|explain|g[ai]ve\b|given\b"
    r"|wr(?:ite|ote|itten)\b|taught\b|teach\b|propos|list|show|share|describ|calculat|c[ao]me up"
    r"|introduc|answer|repl(?:y|ied)|provid|point|warn|translat|summari)"
    r"|\byour (?:\w+ )?(?:recommendation|suggestion|advice|answer|reply|explanation|list|idea|tip"
    r"|version|draft)s?\b",
    re.IGNORECASE,
)
_AGENT_CHINESE: Final = re.compile(
    r"(?<![和跟向给对与同])你(?:[^，。？?,!！]{0,8}?"
    r"(?:推荐|建议|提议|介绍|教[过我给]|写[过的了给]|列[过的了出]|分享|解释|告诉|提醒|讲[过的了]|说[过的了]|提[过到]"
    r"|回答|翻译|总结|算[过的出]|[给帮][了过]?我)|[的那](?:建议|意见|推荐|回答|说法|看法|方案))"
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
