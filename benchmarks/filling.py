"""Stores filled through the journal with ready vectors, so that nothing is encoded for them."""

import random
import sys
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

import eunoe
from eunoe.infra.embedded.episodes import EdgeEpisodes
from eunoe.schemas.events import Turn, event_id, owner_key
from eunoe.schemas.ports import OwnerKeys, WrappedKey
from eunoe.schemas.records import EpisodePoint, IngressPosition, JournalRecord
from eunoe.streams.context import OpenTurn
from eunoe.streams.episodic import sparse

__all__ = ["Loader", "edge_of", "make_store", "words_of"]

SESSION: Final = 20
BATCH: Final = 500
CENTRES: Final = 200
START: Final = datetime(2024, 1, 1, tzinfo=UTC)
WORDS: Final = tuple(
    first + second + third
    for first in (
        "bar",
        "cel",
        "dor",
        "fen",
        "gal",
        "hum",
        "kin",
        "lor",
        "mar",
        "nes",
        "pol",
        "rud",
    )
    for second in ("a", "e", "i", "o", "u", "an", "er", "il")
    for third in ("ba", "ck", "den", "ful", "gan", "ket", "lo", "mish", "nor", "pet", "rin", "ston")
)


def words_of(user: str, number: int) -> list[str]:
    """Make up what a user's turn says; always the same."""
    draw = random.Random(f"{user}/{number}")  # noqa: S311 - made-up text and no secret
    return draw.choices(WORDS, k=12)


def edge_of(memory: eunoe.Memory) -> EdgeEpisodes:
    """Return the engine of a memory in a folder."""
    episodes = memory.runtime.engines.episodes
    assert isinstance(episodes, EdgeEpisodes)
    return episodes


class Loader:
    """Makes journal records of made-up turns with ready vectors."""

    def __init__(self, memory: eunoe.Memory) -> None:
        self.memory = memory
        self.draw = random.Random(11)  # noqa: S311 - made-up text and no secret
        self.numbers = np.random.default_rng(11)
        dimension = memory.runtime.engines.encoder.dimension
        self.centres = self.numbers.normal(size=(CENTRES, dimension))

    async def fill(self, user: str, count: int, *, first: int = 0) -> None:
        """Append the turns of a user from a number on, up to `count`."""
        keys = await self.memory.runtime.engines.keys.owner(owner_key("default", user))
        for start in range(first, count, BATCH):
            made = [self.record(user, n, keys) for n in range(start, min(start + BATCH, count))]
            await self.memory.runtime.journal.append(
                [key for key, _ in made], [record for _, record in made]
            )

    def record(self, user: str, number: int, keys: OwnerKeys) -> tuple[WrappedKey, JournalRecord]:
        """Make one turn."""
        content = " ".join(words_of(user, number))
        key_id = event_id("default", user, "bench", str(number))
        payload = Turn(role="user", content=content, session_id=str(number // SESSION))
        opened = OpenTurn(source="bench", id=str(number), payload=payload)
        box, key = keys.seal(opened.model_dump_json(exclude_none=True).encode(), key_id)
        vector = self.centres[self.draw.randrange(CENTRES)] + self.numbers.normal(
            size=self.centres.shape[1]
        )
        unit = (vector / np.linalg.norm(vector)).astype("<f2")
        terms = self.memory.runtime.engines.terms.document(content)
        point = EpisodePoint(
            id=key_id,
            start=0,
            end=len(content),
            vector=unit.tobytes(),
            terms=sparse(keys, terms),
        )
        said_at = START + timedelta(minutes=number)
        return key, JournalRecord(
            kind="turn",
            event_id=key_id,
            owner=keys.owner,
            ingress=IngressPosition(topic="bench", partition=0, epoch="bench", offset=number),
            said_at=said_at,
            recorded_at=said_at,
            content=keys.hash("content", content),
            producer=keys.hash("producer", str(number)),
            box=box,
            encoder=self.memory.runtime.engines.encoder.id,
            language="en",
            session=keys.hash("session", str(number // SESSION)),
            position=number % SESSION,
            role="user",
            names=_names(number, content, keys),
            points=(point,),
        )


def _names(number: int, content: str, keys: OwnerKeys) -> tuple[int, ...]:
    """Take the first word of each fourth turn for a name."""
    return () if number % 4 else (keys.term(content.split(maxsplit=1)[0]),)


async def make_store(
    settings: eunoe.Settings, users: int, each: int, *, optimised: bool = True
) -> None:
    """Fill a store."""
    async with eunoe.open(settings, serve=False, process=False) as memory:
        loader = Loader(memory)
        for number in range(users):
            await loader.fill(f"u{number}", each)
            if number % 50 == 0:
                print(f"filled {number + 1} of {users} users", file=sys.stderr)
        if optimised:
            await memory.optimise()
