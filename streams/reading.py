"""Reading memory back: one item, lists, histories, profiles, and the digest of an owner.

Reads only; nothing here appends, encodes or reads a clock.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any
from uuid import UUID

import orjson

from ..schemas.errors import AmbiguousId, Damaged, Unavailable
from ..schemas.events import event_id, iso, owner_key, split_owner
from ..schemas.limits import (
    DIGEST_ATTEMPTS_MAX,
    DIGEST_PAUSE_S,
    LIST_PAGE,
)
from ..schemas.ports import ALWAYS, EpisodicStore, EventPlace, IdentityStore, Keys, MemoryPoint
from ..schemas.results import Hit, Item, ProfileField, Revision
from ..schemas.sentences import is_quotable
from .answers import Answer
from .context import Turns
from .identity import Version, producer_hash, slot_hash, versions
from .opened import memory_hit, not_found, slot_hit, turn_hit, turn_item
from .projections import JournalReader
from .recall import Found

__all__ = ["Ident", "Reader"]

Ident = str | tuple[str, str]
"""A producer's id, or (source, id) where several sources use it."""


Matter = list[tuple[Version, dict[str, Any]]]
"""The versions of one matter, oldest first, each with the content of its newest statement."""


class Reader:
    """Opens what the stores hold.

    Args:
        keys: To open boxes.
        identity: Places and statements.
        episodes: Memories.
        turns: Opens turns.
        journal: Records, for histories.
    """

    def __init__(
        self,
        keys: Keys,
        identity: IdentityStore,
        episodes: EpisodicStore,
        turns: Turns,
        journal: JournalReader,
    ) -> None:
        self._keys = keys
        self._identity = identity
        self._episodes = episodes
        self._turns = turns
        self._journal = journal

    async def place(self, owner: str, ident: Ident) -> EventPlace | None:
        """Find a turn by the producer's id.

        Raises:
            AmbiguousId: Several sources use the id.
        """
        if not isinstance(ident, str):
            key = event_id(*split_owner(owner), *ident)
            return (await self._identity.places(owner, [key])).get(key)
        keys = await self._keys.owner(owner)
        found = await self._identity.by_producer(owner, producer_hash(keys, ident))
        if len(found) > 1:
            turns = await self._turns.open(owner, [place.event_id for place in found])
            sources = ", ".join(sorted(turn.source for turn in turns.values()))
            name = f"the id {ident}" if is_quotable(ident) else "this id"
            message = f"Several sources use {name}: give (source, id), of {sources}."
            raise AmbiguousId(message)
        return found[0] if found else None

    async def memory(self, owner: str, ident: Ident) -> MemoryPoint | None:
        """Find a memory by its id."""
        try:
            key = UUID(ident) if isinstance(ident, str) else None
        except ValueError:
            key = None
        found = [] if key is None else await self._episodes.memories(owner, [key])
        return found[0] if found else None

    async def get(self, owner: str, ident: Ident) -> Item:
        """Return a turn, memory or slot.

        Raises:
            NotFound: Nothing of this owner has the id.
            AmbiguousId: Several sources use the id.
        """
        place = await self.place(owner, ident)
        if place is not None:
            return (await self._turn_items(owner, [place]))[0]
        memory = await self.memory(owner, ident)
        if memory is not None:
            return (await self._memory_items(owner, [memory]))[0]
        matters = await self._matters(owner, ident)
        if matters:
            return await self._slot_item(owner, matters[0])
        raise not_found(ident)

    async def items(self, owner: str, kinds: Sequence[str] | None, limit: int) -> list[Item]:
        """Return turns and memories, the newest first."""
        items: list[Item] = []
        if kinds is None or "turn" in kinds:
            places = await self._identity.turns(owner, limit=limit, newest=True)
            items += await self._turn_items(owner, places)
        if kinds is None or set(kinds) - {"turn"}:
            memories = [
                memory
                for memory in await self._episodes.memories(owner)
                if kinds is None or memory.kind in kinds
            ]
            memories.sort(key=lambda memory: memory.said_at, reverse=True)
            items += await self._memory_items(owner, memories[:limit])
        items.sort(key=lambda item: (item.said_at, item.created_at), reverse=True)
        return items[:limit]

    async def history(self, owner: str, ident: Ident) -> list[Revision]:
        """Return how a turn, memory or slot came to be what it is, oldest first.

        Raises:
            NotFound: Nothing of this owner has the id.
        """
        place = await self.place(owner, ident)
        if place is not None:
            item = (await self._turn_items(owner, [place]))[0]
            return [
                Revision(
                    at=item.said_at,
                    recorded_at=item.created_at,
                    change="added",
                    text=item.text,
                    sources=item.sources,
                )
            ]
        memory = await self.memory(owner, ident)
        if memory is not None:
            return await self._memory_history(owner, memory)
        matters = await self._matters(owner, ident)
        if not matters:
            raise not_found(ident)
        return [step for matter in matters for step in await self._slot_history(owner, matter)]

    async def profile(self, owner: str) -> list[ProfileField]:
        """Return the current value of every slot and preference."""
        fields = []
        memories = await self._episodes.memories(owner)
        for matter in await self._all_matters(owner, None):
            version, content = matter[-1]
            fields.append(
                ProfileField(
                    slot=content["slot"],
                    value=content["value"],
                    subject=content["subject"],
                    condition=content["condition"],
                    kind=version.rows[-1].kind,
                    version=version.number,
                    said_at=version.said_at,
                    sources=await self.producer_ids(owner, version.sources),
                    memories=tuple(
                        str(memory.memory_id)
                        for memory in memories
                        if not set(version.sources).isdisjoint(memory.sources)
                    ),
                )
            )
        return sorted(fields, key=lambda one: (one.subject or "", one.slot, one.condition or ""))

    async def hits(self, owner: str, found: Sequence[Found]) -> list[Hit]:
        """Open what a search found."""
        ids = [one.point_id for one in found if one.spot.kind != "turn"]
        memories = {one.memory_id: one for one in await self._episodes.memories(owner, ids)}
        contents = await self._contents(owner, list(memories.values()))
        events = [one.spot.event_id for one in found]
        sources = {source for memory in memories.values() for source in memory.sources}
        turns = await self._turns.open(owner, list({*events, *sources}) if sources else events)
        hits = []
        for one, event in zip(found, events, strict=True):
            memory = None if one.spot.kind == "turn" else memories.get(one.point_id)
            if memory is not None and memory.memory_id in contents:
                hits.append(memory_hit(one, memory, contents[memory.memory_id], turns))
            elif (turn := turns.get(event)) is not None:
                hits.append(turn_hit(one, turn))
        return hits

    async def slot_hits(self, owner: str, answers: Sequence[Answer]) -> list[Hit]:
        """Turn exact answers into hits."""
        events = {source for answer in answers for source in answer.version.sources}
        turns = await self._turns.open(owner, list(events))
        return [slot_hit(answer, turns) for answer in answers]

    async def producer_ids(self, owner: str, events: Sequence[UUID]) -> tuple[str, ...]:
        """Return the producer's ids of turns, in order; commands have none."""
        turns = await self._turns.open(owner, events)
        return tuple(turns[event].id for event in events if event in turns)

    async def digest(self, owner: str) -> str:
        """Digest an owner's state: what was said, kept, stated, what rests on what, and aliases.

        Left out are vectors, access times and the log's positions. All of it is read at one
        position of the journal: what was written meanwhile makes it begin anew.

        Returns:
            64 hexadecimal digits of SHA-256.

        Raises:
            Unavailable: It was written to without a pause.
        """
        for _ in range(DIGEST_ATTEMPTS_MAX):
            generation = self._journal.generation
            if generation % 2 == 0:
                with suppress(KeyError):  # a turn that went while it was read
                    found = await self._digest(owner)
                    if self._journal.generation == generation:
                        return found
                if self._journal.generation == generation:
                    message = "A turn that is listed can't be opened: run eunoe doctor."
                    raise Damaged(message)
            await asyncio.sleep(DIGEST_PAUSE_S)
        message = "The memory is written to without a pause: ask for the digest again later."
        raise Unavailable(message)

    async def aliases(self, owner: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the user ids that stand for a person, with what was said when they were bound."""
        tenant_id, person = split_owner(owner)
        found: list[tuple[str, dict[str, Any]]] = []
        names = {owner_key(tenant_id, one): one for one in await self._identity.aliases(owner)}
        bindings = await self._identity.bindings(list(names))
        for key, alias in names.items():
            rows = [row for row in bindings.get(key, ()) if row.person == person]
            boxes = [(row.box, row.event_id) for row in rows if row.box is not None]
            opened = await self._keys.open_boxes(key, boxes)
            found += [(alias, orjson.loads(plain)) for plain in opened if plain is not None]
        return found

    async def _digest(self, owner: str) -> str:
        state: list[Any] = []
        after = -1
        while places := await self._identity.turns(owner, after=after, limit=LIST_PAGE):
            turns = await self._turns.open(owner, [place.event_id for place in places])
            for place in places:
                content = turns[place.event_id].model_dump(mode="json")
                state.append([str(place.event_id), iso(place.said_at), place.position, content])
            after = places[-1].journal_offset
        memories = await self._episodes.memories(owner)
        contents = await self._contents(owner, memories)
        state += [
            [
                str(memory.memory_id),
                memory.kind,
                contents.get(memory.memory_id),
                [str(source) for source in memory.sources],
                iso(memory.said_at),
                iso(memory.touched_at),
                memory.importance,
                memory.confidence,
                None if memory.truth == ALWAYS else memory.truth.model_dump(mode="json"),
            ]
            for memory in memories
        ]
        for matter in await self._all_matters(owner, None):
            state += [
                [version.number, content, [str(source) for source in version.sources]]
                for version, content in matter
            ]
        state += [[alias, content] for alias, content in await self.aliases(owner)]
        return hashlib.sha256(orjson.dumps(state, option=orjson.OPT_SORT_KEYS)).hexdigest()

    async def _turn_items(self, owner: str, places: Sequence[EventPlace]) -> list[Item]:
        turns = await self._turns.open(owner, [place.event_id for place in places])
        items = []
        for place in places:
            turn = turns.get(place.event_id)
            record = await self._journal.record_at(owner, place.journal_offset)
            if turn is None or record is None:
                continue
            items.append(turn_item(place, turn, record.recorded_at))
        return items

    async def _memory_items(self, owner: str, memories: Sequence[MemoryPoint]) -> list[Item]:
        contents = await self._contents(owner, memories)
        items = []
        for memory in memories:
            if memory.memory_id not in contents:
                continue
            content = contents[memory.memory_id]
            items.append(
                Item(
                    id=str(memory.memory_id),
                    kind=memory.kind,
                    text=content["text"],
                    sources=await self.producer_ids(owner, memory.sources),
                    said_at=memory.said_at,
                    created_at=memory.created_at,
                    last_accessed=memory.last_accessed,
                    importance=memory.importance,
                    confidence=memory.confidence,
                    summary=content["summary"] or None,
                    tags=tuple(content["tags"]),
                )
            )
        return items

    async def _contents(
        self, owner: str, memories: Sequence[MemoryPoint]
    ) -> dict[UUID, dict[str, Any]]:
        boxes = [(memory.box, memory.memory_id) for memory in memories]
        opened = await self._keys.open_boxes(owner, boxes)
        return {
            memory.memory_id: orjson.loads(plain)
            for memory, plain in zip(memories, opened, strict=True)
            if plain is not None
        }

    async def _all_matters(self, owner: str, slots: Sequence[bytes] | None) -> list[Matter]:
        rows = await self._identity.statements(owner, slots)
        matters: list[Matter] = []
        for _, group in groupby(rows, key=lambda row: row.matter):
            found = versions(list(group))
            boxes = [(one.rows[-1].box, one.rows[-1].event_id) for one in found]
            opened = await self._keys.open_boxes(owner, boxes)
            matter = [
                (one, orjson.loads(plain))
                for one, plain in zip(found, opened, strict=True)
                if plain is not None
            ]
            if matter:
                matters.append(matter)
        # Hashes order the rows; names order what a person sees, and the digest.
        return sorted(matters, key=lambda matter: orjson.dumps(_names(matter[-1][1])))

    async def _matters(self, owner: str, ident: Ident) -> list[Matter]:
        if not isinstance(ident, str):
            return []
        keys = await self._keys.owner(owner)
        return await self._all_matters(owner, [slot_hash(keys, ident)])

    async def _slot_item(self, owner: str, matter: Matter) -> Item:
        version, content = matter[-1]
        newest = version.rows[-1]
        return Item(
            id=content["slot"],
            kind=newest.kind,
            text=content["value"],
            sources=await self.producer_ids(owner, version.sources),
            said_at=version.said_at,
            created_at=version.rows[0].recorded_at,
            last_accessed=newest.recorded_at,
            name=content["subject"],
        )

    async def _slot_history(self, owner: str, matter: Matter) -> list[Revision]:
        return [
            Revision(
                at=version.rows[0].said_at,
                recorded_at=version.rows[0].recorded_at,
                change="stated" if version.current else "superseded",
                text=content["value"],
                sources=await self.producer_ids(owner, version.sources),
                version=version.number,
            )
            for version, content in matter
        ]

    async def _memory_history(self, owner: str, memory: MemoryPoint) -> list[Revision]:
        places = await self._identity.places(owner, memory.sources)
        turns = await self._turns.open(owner, memory.sources)
        steps = []
        for number, source in enumerate(memory.sources):
            if source not in places or source not in turns:
                continue
            record = await self._journal.record_at(owner, places[source].journal_offset)
            steps.append(
                Revision(
                    at=places[source].said_at,
                    recorded_at=memory.created_at if record is None else record.recorded_at,
                    change="touched" if number else "added",
                    text=turns[source].payload.content,
                    sources=(turns[source].id,),
                )
            )
        return steps


def _names(content: dict[str, Any]) -> list[str | None]:
    return [content["subject"], content["slot"], content["condition"]]
