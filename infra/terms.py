"""Terms of a text: what the sparse half of a search compares.

A document becomes terms with weights, the term frequency part of BM25; a question becomes
distinct terms of weight one. The engine multiplies by the inverse document frequency among one
owner's points, so no statistic of anybody's text is kept here. Terms are plain strings: whoever
stores them hashes them under the owner's key.

Words of spaced scripts are folded, freed of stop words and stemmed as English. Scripts written
without spaces (Chinese, Japanese, Thai, ...) give single characters and pairs of neighbouring
characters, which needs no dictionary and finds any name.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import orjson
import Stemmer

__all__ = ["TermParameters", "Terms"]

# Han with extensions and compatibility forms, kana, Hangul, Thai, Lao, Burmese and Khmer.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs of Hebrew, Arabic and the scripts of India count as no letter for `re`.
_MARKS: Final = "\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
_LETTER: Final = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"
_PIECE: Final = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:'{_LETTER}+)*")
_ASCII_PIECE: Final = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_IS_UNSPACED: Final = re.compile(rf"[{_UNSPACED}]")
_ORDINAL: Final = re.compile(r"(\d+)(?:st|nd|rd|th)")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_COMBINING: Final = re.compile(r"[\u0300-\u036f]")
_STOP_WORDS: Final = frozenset(
    """
    a about am an and any are as at be because been being both but by can could did do does doing
    during each for from further had has have having he her here hers herself him himself his how
    i if in into is it its itself just me my myself nor of on once only or other our ours
    ourselves out own she should so some such than that the their theirs them themselves then
    there these they this those through to too until up us very was we were what when where which
    while who whom why will with would you your yours yourself yourselves
    im ive id ill youre youve youll youd hes shes theyre theyve weve dont doesnt didnt isnt arent
    wasnt werent cant couldnt wont wouldnt shouldnt hasnt havent hadnt thats theres whats lets
    """.split()  # a word list reads better as one text that is split
)
# Single characters that carry grammar; a pair is left out only when both halves are in here, so
# that 好的 and a name with 和 in it keep a term.
_STOP_CHARACTERS: Final = frozenset(
    "的了是在我你他她它们和与也都就着过吗呢吧啊呀哦嗯哪什么么这那有被把让给到对从很个"
)

_NONE: Final[Mapping[str, float]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TermParameters:
    """Constants of the term frequency part of BM25 (Robertson & Zaragoza 2009, equation 3.15).

    Attributes:
        saturation: `k1`; low, since a word said twice in one turn is hardly more about it.
        length_share: `b`; below the usual .75, since long turns of a talk are the informative ones.
        length_average: words of an average turn once stop words are out; fixed, not measured, so
            that a document gets the same weights whatever its owner has stored (13 to 15 was
            seen in three collections of chats).
        character_words: words that one unspaced character stands for: a Chinese word has about
            1.6 characters.
        text_length_max: characters read of a text; what comes after adds no term.
        related_weight: What a related word counts, times how near it is; .4 to .7 is flat.
    """

    saturation: float = 0.6
    length_share: float = 0.4
    length_average: float = 13.0
    character_words: float = 0.6
    text_length_max: int = 20_000
    related_weight: float = 0.6


class Terms:
    """Turns texts into terms; holds no text between calls."""

    def __init__(self, parameters: TermParameters | None = None) -> None:
        """Prepare the stemmer.

        Args:
            parameters: constants of BM25; the documented ones by default.
        """
        self._parameters = parameters or TermParameters()
        # No cache of words: a forgotten text must not live on in a stemmer.
        self._stemmer = Stemmer.Stemmer("english", 0)
        self._related: dict[str, dict[str, float]] | None = None

    def document(self, text: str) -> dict[str, float]:
        """Weigh the terms of a text that is to be found.

        Args:
            text: what the encoder gets as well, in any script.

        Returns:
            Term to weight, `f (k1 + 1) / (f + k1 (1 - b + b length / average))`, in order of first
            use; empty only for a text without a letter or digit.
        """
        terms, length = self._split(text)
        k1, share = self._parameters.saturation, self._parameters.length_share
        damping = k1 * (1.0 - share + share * length / self._parameters.length_average)
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        return {term: count * (k1 + 1.0) / (count + damping) for term, count in counts.items()}

    def query(self, text: str) -> list[str]:
        """List the terms of a question, each of weight one.

        Args:
            text: the question in any script.

        Returns:
            Distinct terms in order of first use; empty only for a text without a letter or digit.
        """
        return list(dict.fromkeys(self._split(text)[0]))

    def related(self, term: str) -> Mapping[str, float]:
        """Return English terms that mean nearly the same: "dinner" has "lunch" and "meal".

        Other scripts' have none: neighbouring characters already share what their words share.

        Args:
            term: as `query` lists it.

        Returns:
            Term to what it counts where the question's own counts 1; empty where none is known.
        """
        if self._related is None:
            self._related = _table(self._parameters.related_weight)
        return self._related.get(term, _NONE)

    def _split(self, text: str) -> tuple[list[str], float]:
        """Return the terms with repeats, and the length in words."""
        words, runs = _pieces(text[: self._parameters.text_length_max])
        kept = [word for word in words if word not in _STOP_WORDS]
        characters = [character for run in runs for character in run]
        told = [character for character in characters if character not in _STOP_CHARACTERS]
        if not kept and not told:
            # Nothing but stop words: "是的" or "who are you" shall still find its own like.
            kept, told = words, characters
        terms = self._stemmer.stemWords(kept)
        for run in runs:
            terms.extend(_pairs(run))
        terms.extend(told)
        return terms, len(kept) + len(told) * self._parameters.character_words


def _table(weight: float) -> dict[str, dict[str, float]]:
    """Read the table of related words, which has each pair once, with its cosine in percent."""
    text = files("eunoe.infra").joinpath("related_words.json").read_bytes()
    table: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for one, others in orjson.loads(text).items():
        for other, percent in others.items():
            table[one][other] = table[other][one] = weight * percent / 100
    return dict(table)


def _pieces(text: str) -> tuple[list[str], list[str]]:
    """Split a text into folded words and runs of unspaced characters."""
    if text.isascii():
        words = [_fold(word) for word in _ASCII_PIECE.findall(_numbers(text.lower()))]
        return words, []
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    words, runs = [], []
    for piece in _PIECE.findall(_numbers(folded)):
        if _IS_UNSPACED.match(piece):
            runs.append(piece)
        else:
            words.append(_fold(piece))
    return words, runs


def _numbers(text: str) -> str:
    """Join thousands, so that 1,200 and 1200 are one term."""
    return _THOUSANDS.sub("", text) if "," in text else text


def _fold(word: str) -> str:
    """Drop a possessive, apostrophes, the ending of an ordinal number and accents."""
    if "'" in word:
        word = word.removesuffix("'s").replace("'", "")
    if word[0].isdigit():
        ordinal = _ORDINAL.fullmatch(word)
        return ordinal[1] if ordinal else word
    if not word.isascii():
        # Marks of other scripts than Latin are letters there and stay.
        word = unicodedata.normalize("NFC", _COMBINING.sub("", unicodedata.normalize("NFD", word)))
    return word


def _pairs(run: str) -> list[str]:
    """Return neighbouring characters, but for pairs of two grammatical ones."""
    return [
        first + second
        for first, second in pairwise(run)
        if first not in _STOP_CHARACTERS or second not in _STOP_CHARACTERS
    ]
