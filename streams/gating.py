"""Whether a turn holds something to keep, and by which cues. Pure.

First person alone is no trigger: "I see" keeps nothing, "I have a mortgage" does, since it joins
the speaker with the words of a life. Plain questions and an assistant's set phrases keep nothing.
"""

import re
from collections.abc import Sequence
from typing import Final

from ..schemas.ports import Entity
from .lexicon import (
    CHINESE_CHAT,
    CHINESE_CUES,
    CHINESE_FORMULA,
    CHINESE_KIN,
    CHINESE_LIFE,
    CHINESE_SELF,
    CHINESE_STATE,
    ENGLISH_CHAT,
    ENGLISH_CUE_WORDS,
    ENGLISH_CUES,
    ENGLISH_FORMULA,
    ENGLISH_KIN,
    ENGLISH_LIFE,
    ENGLISH_SELF,
    ENGLISH_STATE,
)

__all__ = ["gate", "is_question", "sentences"]

GATED_CHARACTERS_MAX: Final = 20_000  # cues of a longer turn are looked for in its beginning

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN: Final = re.compile(r"[A-Za-z]{2}")
_WORD: Final = re.compile(r"[a-zà-ÿ]+(?:['-][a-zà-ÿ]+)*")
_SENTENCE: Final = re.compile(
    r"[^.!?。！？；\n]+(?:[.!?](?![\s\n]|$|[\"'”’)\]])[^.!?。！？；\n]*)*(?:[.!?。！？；…]+[\"'”’)\]]*)?"
)
_QUESTION_END: Final = re.compile(r"[?？][\s\"'”’)\]]*$")
_ENGLISH_QUESTION: Final = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|hey|hi|well|btw|wait|sorry)[, ]+)*(?:what|who|whom|whose|where|when|why|how|which"
    r"|is|are|am|was|were|do|does|did|can|could|will|would|should|have you|has|isn'?t|aren'?t|don'?t you|any)\b"
    r"(?!ever| (?:you draft|i say|i write))",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"^\W*(?:please )?(?:can|could|will|would) you\b|^\W*(?:write|tell|give|explain|translate|summari[sz]e|fix|list|show|make|put"
    r"|compare|describe|rewrite|repeat|continue|try|undo|shorten|keep going|go (?:on|back))\b",
    re.IGNORECASE,
)
_CHINESE_QUESTION: Final = re.compile(
    r"(?:吗|呢|嘛|么|吧)?[?？]\s*$|(?:什么|怎么|为什么|为啥|哪[里儿个些位年天]?|谁|几点|多少|多高|多久|多大|多远|多长|是不是|能不能|可不可以|有没有|要不要|还是[^，。]{1,10}来着|吗|来着|啥意思|是啥)[^，。！]{0,6}[?？~～]?\s*$"
)
_CHINESE_REQUEST: Final = re.compile(
    r"^(?:请|麻烦|能不能|可以)?(?:帮我)?(?:把(?:上面|刚才|这|那)|给我(?:讲|写|说|来)|再来|换一个|写一|讲|翻译|解释|总结|列|压缩|缩短|继续|猜|说人话|成语接龙)"
)
_ORDERS: Final = frozenset(("standing_order", "remember"))
_ABOUT_OTHERS: Final = frozenset(("relation", "fact", "slot"))
_DIGIT: Final = re.compile(r"[0-9]")
_DIGIT_CUES: Final = frozenset(("time", "number", "slot"))
_ADDRESS: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.\w")
_ENGLISH_CONTENT_MIN: Final = 3
_ENGLISH_STORY_MIN: Final = 10
_CHINESE_CONTENT_MIN: Final = 4


def gate(text: str, entities: Sequence[Entity]) -> frozenset[str]:
    """Find the triggers by which a turn is worth extracting from.

    Args:
        text: The turn.
        entities: Names in it.

    Returns:
        Names of triggers; empty means that nothing of the turn becomes a memory.
    """
    text = text[:GATED_CHARACTERS_MAX]
    found: set[str] = set()
    question = _asks(text)
    if _HAN.search(text):
        _chinese(text, found, question=question)
    if _LATIN.search(text):
        _english(text, found, question=question)
    if question:
        found &= _ORDERS
        if entities and _personal(text):
            found.add("entity")
    elif entities:
        found.add("entity")
    return frozenset(found)


def sentences(text: str, most: int) -> list[tuple[int, int]]:
    """Cut a text into at most `most` sentences, as (start, end) without outer spaces."""
    spans: list[tuple[int, int]] = []
    for match in _SENTENCE.finditer(text):
        raw = match.group()
        start = match.start() + len(raw) - len(raw.lstrip())
        end = match.start() + len(raw.rstrip())
        if end > start:
            spans.append((start, end))
            if len(spans) >= most:
                break
    return spans


def is_question(sentence: str) -> bool:
    """Whether a sentence asks, so that it states nothing."""
    if _QUESTION_END.search(sentence):
        return True
    if _HAN.search(sentence):
        return _CHINESE_QUESTION.search(sentence) is not None
    return _ENGLISH_QUESTION.match(sentence) is not None and len(sentence) < 200


def _asks(text: str) -> bool:
    """Whether the whole turn only asks, or asks for words on the spot."""
    if len(text) > 400:
        return False
    parts = [text[start:end] for start, end in sentences(text, 8)]
    return bool(parts) and all(
        is_question(part) or _REQUEST.match(part) or _CHINESE_REQUEST.match(part) for part in parts
    )


def _personal(text: str) -> bool:
    return (
        CHINESE_SELF.search(text) is not None
        or not ENGLISH_SELF.isdisjoint(_WORD.findall(text.lower()))
        or _REQUEST.match(text) is not None
    )


def _english(text: str, found: set[str], *, question: bool) -> None:
    plain = text.replace("’", "'")
    formula = ENGLISH_FORMULA.match(plain) is not None
    words = set(_WORD.findall(plain.lower()))
    words |= {part for word in words if "-" in word for part in word.split("-")}
    digits = _DIGIT.search(plain) is not None
    for trigger, pattern in ENGLISH_CUES:
        if question and trigger not in _ORDERS:
            continue
        likely = not words.isdisjoint(ENGLISH_CUE_WORDS[trigger])
        if (likely or (digits and trigger in _DIGIT_CUES)) and pattern.search(plain):
            found.add(trigger)
    if "@" in text and not question and _ADDRESS.search(text):
        found.add("slot")
    if question:
        return
    if not formula and not words.isdisjoint(ENGLISH_KIN) and _has_kin(words, plain):
        found.add("relation")
    if not words.isdisjoint(ENGLISH_SELF):
        lively = not words.isdisjoint(ENGLISH_LIFE)
        rich = len(words - ENGLISH_CHAT) >= _ENGLISH_CONTENT_MIN
        if lively or rich or ENGLISH_STATE.search(plain):
            found.add("fact")
    elif ENGLISH_STATE.search(plain) or len(words - ENGLISH_CHAT) >= _ENGLISH_STORY_MIN:
        found.add("fact")
    if formula and len(text) < 200:
        found.difference_update(("number", "time", "fact", "commitment", "standing_order", "preference"))


def _has_kin(words: set[str], text: str) -> bool:
    owners = ENGLISH_SELF | {"his", "her", "their", "your", "the"}
    return not words.isdisjoint(owners) or text[:1].isupper()


def _chinese(text: str, found: set[str], *, question: bool) -> None:
    formula = CHINESE_FORMULA.match(text) is not None
    for trigger, pattern in CHINESE_CUES:
        if question and trigger not in _ORDERS:
            continue
        if pattern.search(text):
            found.add(trigger)
    if question:
        return
    if CHINESE_KIN.search(text):
        found.add("relation")
    if CHINESE_STATE.search(text) or _lively(text) or (not found and _rich(text)):
        found.add("fact")
    if formula and len(text) < 100:
        found.difference_update(("number", "time", "fact", "decision", "standing_order"))


def _lively(text: str) -> bool:
    """Whether words of a life stand in the text, with the speaker or in twos."""
    seen = set(CHINESE_LIFE.findall(text))
    return len(seen) > 1 or (len(seen) == 1 and CHINESE_SELF.search(text) is not None)


def _rich(text: str) -> bool:
    """Whether a sentence about the speaker says more than talk about the talk does."""
    if CHINESE_SELF.search(text) is None:
        return False
    rest = CHINESE_CHAT.sub("", text)
    return len(_HAN.findall(rest)) >= _CHINESE_CONTENT_MIN
