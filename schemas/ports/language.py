"""The ports of language tools and the clock."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Clock",
    "CrossEncoder",
    "Encoder",
    "Entity",
    "EntityKind",
    "Recogniser",
    "Terms",
    "Vectors",
]

if TYPE_CHECKING:
    Vectors = NDArray[np.float32]
else:
    Vectors = Any  # numpy takes a tenth of a second to import, and what only reads does without
"""Rows of float32; shape (texts, dimension) or (dimension,)."""

EntityKind = Literal["person", "organization", "place", "project", "product", "work", "other"]


class Encoder(Protocol):
    """Texts to vectors.

    Promises:
        * Every text has a finite row: empty, in any script, longer than the model reads.
        * Rows are L2-normalised (a row shorter than 1e-8 is left as it is).
        * The same text gives the same vector, alone or in a batch, if `batch_invariant`.
        * Encoders of one `id` give the same vectors, as before and after a restart.
        * Several tasks may call `encode` at once.
        * `encode` blocks in a thread of its own, not in the event loop; one short text may take
          some milliseconds there.
    """

    @property
    def id(self) -> str:
        """Model and version; vectors of different ids can't be compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """Languages it was trained for, as ISO 639-1 codes."""
        ...

    @property
    def duplicate_threshold(self) -> float:
        """Cosine from which two texts say the same, calibrated for this encoder."""
        ...

    def chance(self, language: str) -> float:
        """Return the cosine up to which a question and a turn may come by chance.

        Args:
            language: Of the question, as ISO 639-1 code; "und" for any other.
        """
        ...

    @property
    def batch_invariant(self) -> bool:
        """Whether a text's vector doesn't depend on the others of its batch."""
        ...

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts.

        Returns:
            float32, shape (len(texts), dimension).
        """
        ...


class CrossEncoder(Protocol):
    """How well texts answer a question, each read together with it.

    Promises:
        * One score per text, in the order of the texts, from 0 to 1; higher is closer.
        * The same question and text have the same score, alone or among others.
        * Any text has a score: empty, in any script, longer than the model reads.
        * Scores of one question can be compared; those of different `id`s can't be.
        * Several tasks may call `score` at once.
        * `score` blocks in a thread of its own, not in the event loop.
    """

    @property
    def id(self) -> str:
        """Model and version."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """Languages it was trained for, as ISO 639-1 codes; of others its scores say little."""
        ...

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score texts.

        Args:
            question: In any language.
            texts: At most `limits.CROSS_ENCODER_TEXTS_MAX`.

        Raises:
            Rejected: There are more texts, or the model can't be used as it is set.
            Unavailable: The model can't be had now.
        """
        ...


class Entity(NamedTuple):
    """A name in a text: text[start:end] == name."""

    name: str
    kind: EntityKind
    start: int
    end: int


class Recogniser(Protocol):
    """Finds names in texts of any mix of English and Chinese.

    Promises:
        * One list per text, ordered by `start`, without overlaps; empty where there is no name.
        * `text[start:end] == name`, in characters, whatever scripts are mixed.
        * Several tasks may call `recognise` at once.
        * `recognise` blocks in a thread of its own, not in the event loop.
    """

    async def recognise(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Find the names in each text."""
        ...


class Clock(Protocol):
    """The time, so that tests can set it."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        ...


class Terms(Protocol):
    """Texts to the words that a lexical search compares.

    Promises:
        * English and Chinese alike; a text of only Chinese characters has terms.
        * The same text gives the same terms; they are plain strings, for the caller to hash.
        * A text is found by its own words: `document` has every term that `query` lists.
        * Weights are positive and finite; a text without a letter or digit has no terms.
    """

    def document(self, text: str) -> dict[str, float]:
        """Return each distinct term with its weight, the document side of BM25."""
        ...

    def query(self, text: str) -> list[str]:
        """Return the distinct terms of a question, in order."""
        ...

    def related(self, term: str) -> Mapping[str, float]:
        """Return the terms that mean nearly the same as one, with what each counts, under 1."""
        ...
