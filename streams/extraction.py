"""What a turn holds that is worth keeping, by rules. Pure.

The gate decides whether anything is looked for; then each sentence is read alone, so that no
topic of a long turn is lost over another (D2.4). Sentences become proposals for memories; exact
facts, preferences and standing orders become statements. A model may propose more later.
"""

import re
from collections.abc import Sequence
from typing import Final

from ..schemas.limits import (
    PROPOSAL_CHARACTERS_MAX,
    PROPOSALS_MAX,
    SENTENCES_MAX,
    STATEMENTS_MAX,
    TOPICS_MAX,
)
from ..schemas.ports import Entity
from ..schemas.records import MemoryKind
from .gating import READ_CHARACTERS_MAX, gate, is_personal, is_question, sentences
from .guards import guard
from .preferences import find_preferences
from .questions import asked_slots
from .slots import find_slots
from .stated import AskedSlot, Extracted, Proposal, Stated

__all__ = [
    "AskedSlot",
    "Extracted",
    "Proposal",
    "Stated",
    "asked_slots",
    "extract",
    "gate",
    "guard",
    "summarise_context",
    "topics",
]


_WORDY_MIN: Final = 3  # characters
_WORDY: Final = re.compile(r"[\w\u3400-\u9fff]")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_TOPIC_WORD: Final = re.compile(r"[a-z][a-z-]{4,}")
# A sentence with these is kept beside its statements; slots and preferences alone live elsewhere.
_BEYOND_STATEMENTS: Final = frozenset(
    ("event", "commitment", "decision", "relation", "remember", "correction")
)
_KINDS: Final[tuple[MemoryKind, ...]] = ("decision", "commitment", "event", "relation")
_STRENGTH: Final = {
    "remember": 3.0, "decision": 3.0, "commitment": 2.5, "preference": 2.0, "standing_order": 2.0,
    "correction": 2.0, "event": 2.0, "relation": 1.5, "slot": 1.5,
}  # fmt: skip
_TOPICS: Final[tuple[tuple[str, frozenset[str], re.Pattern[str]], ...]] = (
    ("health", frozenset(
        "doctor hospital surgery medication tablets allergic allergy diabetes asthma dentist "
        "therapy pregnant blood".split()),
     re.compile(r"医生|医院|手术|吃药|过敏|糖尿|血压|体检|住院|怀孕|看病|牙")),
    ("food", frozenset(
        "eat drink food coffee tea breakfast lunch dinner vegetarian vegan restaurant cook "
        "recipe coriander meat".split()),
     re.compile(r"吃|喝|咖啡|茶|早饭|晚饭|餐|菜|素食|香菜|火锅")),
    ("work", frozenset(
        "work job boss office project client clients report meeting deadline salary employer "
        "company team".split()),
     re.compile(r"工作|上班|公司|项目|客户|甲方|会议|周报|报告|领导|同事|加班|截止")),
    ("family", frozenset(
        "mother father mum mom dad sister brother wife husband son daughter kids child baby "
        "partner uncle aunt cousin".split()),
     re.compile(r"妈|爸|哥|姐|弟|妹|老婆|老公|儿子|女儿|孩子|爷爷|奶奶|外婆|外公|舅|姨|对象")),
    ("home", frozenset(
        "home house flat apartment rent mortgage garden kitchen boiler landlord neighbour move "
        "moved".split()),
     re.compile(r"家里|房|搬家|租|小区|装修|厨房|房东|邻居|住在")),
    ("travel", frozenset(
        "flight flights train trip holiday hotel passport visa travel airport seat".split()),
     re.compile(r"航班|飞机|火车|高铁|旅行|旅游|酒店|护照|签证|机场|出差")),
    ("money", frozenset(
        "money budget pay paid salary bank loan debt invoice price euros dollars pounds "
        "savings tax".split()),
     re.compile(r"钱|预算|工资|银行|贷款|房贷|发票|报销|价|存款|还款|元")),
    ("pets", frozenset(
        "dog cat puppy kitten rabbit parrot pet tortoise".split()), re.compile(
            r"狗|猫|宠物|兔子|乌龟|鹦鹉|仓鼠")),
    ("study", frozenset(
        "exam school university course class thesis degree study homework phd".split()),
     re.compile(r"考试|学校|大学|课|论文|学习|作业|读博|考研")),
)  # fmt: skip


def extract(text: str, entities: Sequence[Entity], *, speaker: str | None, role: str) -> Extracted:
    """Find proposals for memories and exact statements in a turn.

    Args:
        text: The turn.
        entities: Names in it.
        speaker: Who speaks in a chat between people; its slots then belong to the speaker.
        role: "user", "assistant", "tool" or "system"; only a user states slots and preferences.

    Returns:
        At most 8 proposals and 16 statements, in the order of the text.
    """
    del speaker  # the writer puts the speaker's name where a statement names no subject
    whole = gate(text, entities) if role != "system" else frozenset()
    if not whole:
        return Extracted()
    proposals: list[tuple[float, Proposal]] = []
    statements: list[Stated] = []
    pieces = _pieces(text, entities)
    for start, end, inside in pieces:
        sentence = text[start:end]
        question = is_question(sentence)
        stated = _statements(sentence, inside, question=question) if role == "user" else []
        statements.extend(stated)
        if question:
            continue
        triggers = whole if len(pieces) == 1 else gate(sentence, inside)
        if stated and not triggers & _BEYOND_STATEMENTS:
            continue
        proposal = _proposal(sentence, start, triggers, inside)
        if proposal is not None:
            proposals.append((sum(_STRENGTH.get(one, 1.0) for one in triggers), proposal))
    strongest = sorted(proposals, key=lambda pair: -pair[0])[:PROPOSALS_MAX]
    kept = sorted((proposal for _, proposal in strongest), key=lambda proposal: proposal.start)
    return Extracted(tuple(kept), tuple(statements[:STATEMENTS_MAX]))


def summarise_context(previous: Sequence[tuple[str, str]], limit: int) -> str:
    """Make a short summary of what came before: its last turns, clipped at sentences.

    Args:
        previous: (speaker, text) pairs, oldest first.
        limit: Most characters.

    Returns:
        One line per turn, oldest first; the newest turn gets the most room.
    """
    lines: list[str] = []
    left = limit
    for speaker, said in reversed(previous):
        head = f"{speaker}: " if speaker else ""
        room = min(left, max(limit // 2, 40)) - len(head)
        clipped = _clip(" ".join(said.split()), room)
        if not clipped:
            break
        lines.append(head + clipped)
        left -= len(head) + len(clipped) + 1
    return "\n".join(reversed(lines))[:limit]


def topics(text: str, entities: Sequence[Entity]) -> tuple[str, ...]:
    """Return what a text is about: names first, then topics of everyday life.

    Returns:
        At most 6 tags, lower case, each once.
    """
    found = [entity.name.casefold() for entity in entities[:3]]
    words = set(re.findall(r"[a-z]+", text.lower()))
    chinese = _HAN.search(text) is not None
    for name, english, pattern in _TOPICS:
        if not words.isdisjoint(english) or (chinese and pattern.search(text)):
            found.append(name)
    return tuple(dict.fromkeys(found))[:TOPICS_MAX]


def _pieces(text: str, entities: Sequence[Entity]) -> list[tuple[int, int, list[Entity]]]:
    """Cut the turn into sentences, each with its names, placed from the sentence's start."""
    ordered = sorted(entities, key=lambda entity: entity.start)
    pieces = []
    place = 0
    for start, end in sentences(text[:READ_CHARACTERS_MAX], SENTENCES_MAX):
        while place < len(ordered) and ordered[place].start < start:
            place += 1
        inside = []
        while place < len(ordered) and ordered[place].start < end:
            one = ordered[place]
            inside.append(one._replace(start=one.start - start, end=one.end - start))
            place += 1
        pieces.append((start, end, inside))
    return pieces


def _statements(sentence: str, entities: Sequence[Entity], *, question: bool) -> list[Stated]:
    found: list[Stated] = []
    taken: list[tuple[int, int]] = []
    if not question:
        for slot in find_slots(sentence, entities):
            value = sentence[slot.start : slot.end]
            found.append(Stated("slot", None, slot.slot, value, None, sentence))
            taken.append((slot.start, slot.end))
    defaults = any(one.slot.startswith(("default/", "favourite/")) for one in found)
    if defaults:
        return found
    for preference in find_preferences(sentence, question=question):
        value = sentence[preference.start : preference.end]
        if value:
            found.append(
                Stated("preference", None, preference.slot, value, preference.condition, sentence)
            )
    return found


def _proposal(
    sentence: str, start: int, triggers: frozenset[str], entities: Sequence[Entity]
) -> Proposal | None:
    if not triggers or len(_WORDY.findall(sentence[:20])) < _WORDY_MIN:
        return None
    if triggers <= {"number", "time"} and not is_personal(sentence):
        return None  # a bare number or time, without anybody or anything, says nothing later
    text = sentence[:PROPOSAL_CHARACTERS_MAX]
    return Proposal(_kind(triggers), text, start, start + len(text), topics(text, entities))


def _kind(triggers: frozenset[str]) -> MemoryKind:
    for kind in _KINDS:
        if kind in triggers:
            return kind
    return "fact"


def _clip(text: str, room: int) -> str:
    """Cut a text to at most `room` characters, after a sentence if one ends in time."""
    if len(text) <= room:
        return text
    if room < 1:
        return ""
    ends = [end for _, end in sentences(text[: room + 1], SENTENCES_MAX) if end <= room]
    whole = [end for end in ends if text[end - 1] in ".!?。！？；"]
    if whole:
        return text[: whole[-1]]
    cut = text.rfind(" ", 0, room)
    return text[: cut if cut > room // 2 else room - 1].rstrip() + "…" if room > 1 else ""
