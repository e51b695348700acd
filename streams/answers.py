"""Exact answers: the version of a slot that a question asks for, before any vector is asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final

import orjson

from ..schemas.ports import IdentityStore, Interval, Keys, StatementRow
from .identity import Version, normalise, slot_hash, versions
from .stated import AskedSlot

__all__ = ["Answer", "Answers"]

_CUT: Final = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")
"""What an expression of time leaves in the middle of a Chinese question."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An exact answer: the current version of a matter, opened."""

    version: Version
    content: dict[str, Any]


class Answers:
    """Answers questions for exact slots.

    Args:
        keys: To open statements.
        identity: Where they stand.
    """

    def __init__(self, keys: Keys, identity: IdentityStore) -> None:
        self._keys = keys
        self._identity = identity

    async def find(
        self,
        owner: str,
        question: str,
        *,
        past: Interval | None = None,
        as_of: datetime | None = None,
    ) -> list[Answer]:
        """Answer a question for an exact slot; empty where it asks none or none is known.

        Args:
            owner: Whose.
            question: Without its expressions of time.
            past: What the question is about: the version that held then answers. Of an interval
                without a beginning that is the last one stated in it, but for the present one.
            as_of: Only what was recorded by then.
        """
        from .questions import asked_slots  # noqa: PLC0415 - patterns that reading does without

        asked = asked_slots(_CUT.sub("", question), past=past is not None)
        if not asked:
            return []
        keys = await self._keys.owner(owner)
        hashes = {slot_hash(keys, one.slot): one for one in asked}
        rows = await self._identity.statements(owner, list(hashes))
        if as_of is not None:
            rows = [row for row in rows if row.recorded_at <= as_of]
        found = []
        for slot, group in groupby(sorted(rows, key=_slot), key=_slot):
            opened = await self._opened(owner, list(group), past)
            found += _of_subject(opened, hashes[slot])
        return sorted(found, key=lambda answer: answer.content["condition"] or "")

    async def _opened(
        self, owner: str, rows: Sequence[StatementRow], past: Interval | None
    ) -> list[Answer]:
        wanted: list[Version] = []
        for _, group in groupby(rows, key=lambda row: row.matter):
            known = versions(list(group))
            wanted += known[-1:] if past is None else _held(known, past)
        boxes = [(version.rows[-1].box, version.rows[-1].event_id) for version in wanted]
        opened = await self._keys.open_boxes(owner, boxes)
        return [
            Answer(version, orjson.loads(plain))
            for version, plain in zip(wanted, opened, strict=True)
            if plain is not None
        ]


def _held(known: Sequence[Version], past: Interval) -> list[Version]:
    """Return the versions that held at some time in an interval, each until the next was stated.

    The first holds from ever: when it was said is no more than when we heard of it. Of all that
    was before a time, the last is asked for, and the present version isn't.
    """
    start, end = past
    last = float("inf") if end is None else end
    begins = [float("-inf"), *(one.rows[0].said_at.timestamp() for one in known[1:])]
    ends = [*begins[1:], float("inf")]
    if start is None:
        former = zip(known[:-1], begins, strict=False)
        return [version for version, begin in former if begin < last][-1:]
    return [
        version
        for version, begin, until in zip(known, begins, ends, strict=True)
        if begin < last and until > start
    ]


def _of_subject(answers: Sequence[Answer], asked: AskedSlot) -> list[Answer]:
    """Keep the answers about whom the question asks; "my" may mean the only one there is."""
    subjects = {answer.content["subject"] for answer in answers}
    wanted = asked.subject
    if wanted is None and None not in subjects and len(subjects) == 1:
        return list(answers)
    return [answer for answer in answers if _name(answer.content["subject"]) == _name(wanted)]


def _name(subject: str | None) -> str | None:
    return None if subject is None else normalise(subject)


def _slot(row: StatementRow) -> bytes:
    """Group by slot; rows come by matter, and one slot may have several."""
    return row.slot
