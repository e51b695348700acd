"""Whether a turn holds something to keep, and by which cues. Pure.

First person alone is no trigger: "I see" keeps nothing, "I have a mortgage" does, since it joins
the speaker with the words of a life. Plain questions and an assistant's set phrases keep nothing.
"""

import re
from collections.abc import Sequence
from typing import Final

from ..schemas.limits import (
    READ_CHARACTERS_MAX,
)
from ..schemas.ports import Entity
from .chinese_lexicon import (
    CHINESE_CHAT,
    CHINESE_CUES,
    CHINESE_FORMULA,
    CHINESE_KIN,
    CHINESE_LIFE,
    CHINESE_SELF,
    CHINESE_STATE,
)
from .lexicon import (
    ENGLISH_CHAT,
    ENGLISH_CUE_WORDS,
    ENGLISH_CUES,
    ENGLISH_FORMULA,
    ENGLISH_KIN,
    ENGLISH_LIFE,
    ENGLISH_MARKS,
    ENGLISH_SELF,
)

__all__ = ["READ_CHARACTERS_MAX", "gate", "is_personal", "is_question", "sentences"]


_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN: Final = re.compile(r"[A-Za-z]")
_WORD: Final = re.compile(r"[a-zà-ÿ]+(?:['-][a-zà-ÿ]+)*")
_SENTENCE: Final = re.compile(
    r"[^.!?。！？；\n]+(?:[.!?](?![\s\n]|$|[\"'”’)\]])[^.!?。！？；\n]*)*(?:[.!?。！？；…]+"
    r"[\"'”’)\]]*)?"
)
_ABBREVIATION: Final = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|e\.g|i\.e|approx|No|[A-Z])\.$"
)
_QUESTION_END: Final = re.compile(r"[?？][\s\"'”’)\]]*$")
_ENGLISH_QUESTION: Final = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|hey|hi|well|btw|wait|sorry)[, ]+)*(?:what|who|whom|whose"
    r"|where|when|why|how|which"
    r"|is|are|am|was|were|do|does|did|can|could|will|would|should|have you|has|isn'?t"
    r"|aren'?t|don'?t you|any)\b"
    r"(?!ever| (?:you draft|i say|i write))",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"^\W*(?:please )?(?:can|could|will|would) you\b|^\W*(?:write|tell|give|explain"
    r"|translate|summari[sz]e|fix|list|show|make|put"
    r"|compare|describe|rewrite|repeat|continue|try|undo|shorten|keep going|go (?:on|back))\b",
    re.IGNORECASE,
)
_CHINESE_QUESTION: Final = re.compile(
    r"(?:吗|呢|嘛|么|吧)?[?？]\s*$|(?:什么|怎么|为什么|为啥|哪[里儿个些位年天]?|谁|几点"
    r"|多少|多高|多久|多大|多远|多长|是不是|能不能|可不可以|有没有|要不要"
    r"|还是[^，。]{1,10}来着|吗|来着|啥意思|是啥)[^，。！]{0,6}[?？~～]?\s*$"
)
_CHINESE_REQUEST: Final = re.compile(
    r"^(?:请|麻烦|能不能|可以)?(?:帮我)?(?:把(?:上面|刚才|这|那)|给我(?:讲|写|说|来)|再来"
    r"|换一个|写一|讲|翻译|解释|总结|列|压缩|缩短|继续|猜|说人话|成语接龙)"
)
_ORDERS: Final = frozenset(("standing_order", "remember"))
_ABOUT_OTHERS: Final = frozenset(("relation", "fact", "slot"))
_TOKEN: Final = re.compile(r"[a-zà-ÿ]+(?:['-][a-zà-ÿ]+)*|[0-9]+|[$€£¥]")
_DIGITS: Final = frozenset("0123456789$€£¥")
_DIGIT_CUES: Final = tuple(cue for cue in ENGLISH_CUES if cue[0] in ("time", "number", "slot"))
_CUES_BY_WORD: Final = {
    word: tuple(cue for cue in ENGLISH_CUES if word in ENGLISH_CUE_WORDS[cue[0]])
    for word in frozenset().union(*ENGLISH_CUE_WORDS.values())
}
_FORMULA_CHARACTERS_MAX: Final = 200
_CHINESE_FORMULA_CHARACTERS_MAX: Final = 100
_QUESTION_CHARACTERS_MAX: Final = 200
_ASKING_CHARACTERS_MAX: Final = 400
_NOT_OF_FORMULAS: Final = frozenset(
    ("number", "time", "fact", "commitment", "standing_order", "preference")
)
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
    text = text[:READ_CHARACTERS_MAX]
    found: set[str] = set()
    question = _asks(text)
    if _HAN.search(text):
        _chinese(text, found, question=question)
    if _LATIN.search(text):
        _english(text, found, question=question)
    if question:
        found &= _ORDERS
        if entities and (is_personal(text) or _REQUEST.match(text)):
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
        if end <= start:
            continue
        if (
            spans
            and spans[-1][1] + 1 == start
            and _ABBREVIATION.search(text, max(0, spans[-1][1] - 8), spans[-1][1])
        ):
            spans[-1] = (spans[-1][0], end)  # "Dr. Smith" is no end of a sentence
        else:
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
    return (
        _ENGLISH_QUESTION.match(sentence) is not None and len(sentence) < _QUESTION_CHARACTERS_MAX
    )


def is_personal(text: str) -> bool:
    """Whether a text speaks of its speaker: no trigger, but what gives some of them a sense."""
    if CHINESE_SELF.search(text):
        return True
    return not ENGLISH_SELF.isdisjoint(_WORD.findall(text.lower()))


def _asks(text: str) -> bool:
    """Whether the whole turn only asks, or asks for words on the spot."""
    if len(text) > _ASKING_CHARACTERS_MAX:
        return False
    parts = [text[start:end] for start, end in sentences(text, 8)]
    return bool(parts) and all(
        is_question(part) or _REQUEST.match(part) or _CHINESE_REQUEST.match(part) for part in parts
    )


def _english(text: str, found: set[str], *, question: bool) -> None:
    plain = text.replace("’", "'")
    formula = ENGLISH_FORMULA.match(plain) is not None
    words = _english_cues(plain, found)
    if question:
        return
    if ENGLISH_MARKS.search(plain):
        found.add("correction")
    if "@" in text and _ADDRESS.search(text):
        found.add("slot")
    words |= {part for word in words if "-" in word for part in word.split("-")}
    if not formula and not words.isdisjoint(ENGLISH_KIN) and _has_kin(words, plain):
        found.add("relation")
    content = len(words - ENGLISH_CHAT)
    if words.isdisjoint(ENGLISH_SELF):
        lively = content >= _ENGLISH_STORY_MIN
    else:
        lively = content >= _ENGLISH_CONTENT_MIN or not words.isdisjoint(ENGLISH_LIFE)
    if lively:
        found.add("fact")
    if formula and len(text) < _FORMULA_CHARACTERS_MAX:
        found -= _NOT_OF_FORMULAS


def _english_cues(text: str, found: set[str]) -> set[str]:
    """Add the triggers whose cues stand in the text; returns its words."""
    words: set[str] = set()
    for token in _TOKEN.finditer(text.lower()):
        word = token.group()
        words.add(word)
        for trigger, pattern in _CUES_BY_WORD.get(word) or _digit_cues(word):
            if trigger not in found and pattern.match(text, token.start()):
                found.add(trigger)
    return words


def _digit_cues(word: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    return _DIGIT_CUES if word[0] in _DIGITS else ()


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
    if formula and len(text) < _CHINESE_FORMULA_CHARACTERS_MAX:
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
