"""What a batch of journal records writes to a Qdrant server.

Each point holds the journal position that it was written for, and is written only on the condition
that the position it holds is lower: so what comes again changes nothing, and neither does what
comes late. Of several changes of a point within a batch only the last state is sent, under the
last position. An upsert on a condition inserts where there is no point, hence the gravestones:
whatever is removed leaves a point with a position and without anything that a query finds.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import NAMESPACE_OID, UUID, uuid5

from qdrant_client import models

from ..schemas.limits import QDRANT_POINTS_A_PUT, QDRANT_REQUEST_BYTES
from ..schemas.ports import Applied, Position, Stored
from .points import Change, NewPoint, Payload, Removal, after_touch, changes_of
from .qdrant_words import WORDS, empty_struct, point_struct

__all__ = [
    "APPLIED",
    "BURIED",
    "EPOCH",
    "MARKER",
    "PARTITION",
    "KnownPoint",
    "Placed",
    "State",
    "marker_id",
    "marker_operation",
    "placed",
    "requests_of",
    "states_of",
    "touched",
]

APPLIED: Final = "applied"
EPOCH: Final = "epoch"
BURIED: Final = "buried"
"""When a gravestone was set, in seconds since 1970; other points lack it."""
PARTITION: Final = "partition"
"""Of the journal; only markers and gravestones have it."""
MARKER: Final = "marker"
"""The partition that a marker is of; other points lack it."""
NUMBER_BYTES: Final = 12  # about what one takes in JSON
POINT_BYTES: Final = 2_048  # what a payload takes beside its box

Operation = models.UpsertOperation | models.OverwritePayloadOperation


class Placed(NamedTuple):
    """A change, and the place of the record that it is of."""

    position: Position
    change: Change


@dataclass(frozen=True, slots=True)
class KnownPoint:
    """What the server holds of a memory that is touched.

    Args:
        payload: All of it.
        words: The terms that it is found by.
    """

    payload: Payload
    words: Sequence[int]


@dataclass(frozen=True, slots=True)
class State:
    """What a point becomes.

    Args:
        place: The journal position that says so; `offset` is the record's own.
        partition: Of the journal.
        payload: All of it, but the position; None is a gravestone.
        point: With its vectors; None leaves those that are there.
    """

    place: Applied
    partition: int
    payload: Payload | None
    point: NewPoint | None = None

    @property
    def size(self) -> int:
        """About how many bytes it takes in a request."""
        if self.payload is None:
            return POINT_BYTES
        sealed = len(self.payload.get("box", {}).get("sealed", ""))
        point = self.point
        count = len(point.dense) + 2 * len(point.indices) if point else 0
        words = len(self.payload.get("words", ())) + len(self.payload.get("sources", ())) * 4
        return POINT_BYTES + sealed + NUMBER_BYTES * (count + words)


def placed(records: Iterable[Stored]) -> list[Placed]:
    """Return what records change, in order."""
    return [
        Placed(stored.position, change)
        for stored in records
        for change in changes_of(stored.record)
    ]


def touched(changes: Iterable[Placed]) -> set[UUID]:
    """Return the memories that are touched without having been made or removed before."""
    here: set[UUID] = set()
    wanted: set[UUID] = set()
    for _, change in changes:
        if isinstance(change, NewPoint):
            here.add(change.id)
        elif isinstance(change, Removal):
            here.update(change.ids)
        elif change.decision.memory_id not in here:
            wanted.add(change.decision.memory_id)
    return wanted


def states_of(changes: Iterable[Placed], known: Mapping[UUID, KnownPoint]) -> dict[UUID, State]:
    """Return the last state of each point.

    Args:
        changes: In order.
        known: Of the memories that are `touched` those that are there.
    """
    states: dict[UUID, State] = {}
    for (_, partition, epoch, offset), change in changes:
        place = Applied(epoch, offset)
        if isinstance(change, NewPoint):
            states[change.id] = State(place, partition, change.payload, change)
        elif isinstance(change, Removal):
            states |= {one: State(place, partition, None) for one in change.ids}
        else:
            memory = change.decision.memory_id
            before = _before(memory, states, known)
            if before is not None:
                payload = after_touch(before.payload, change.decision, before.words)
                point = states[memory].point if memory in states else None
                states[memory] = State(place, partition, payload, point)
    return states


def _before(
    memory: UUID, states: Mapping[UUID, State], known: Mapping[UUID, KnownPoint]
) -> KnownPoint | None:
    """Return what a touch finds; None where there is no memory, or no more."""
    state = states.get(memory)
    if state is None:
        return known.get(memory)
    if state.payload is None:
        return None
    words = state.point.indices if state.point else known[memory].words
    return KnownPoint(state.payload, words)


def requests_of(
    states: Mapping[UUID, State], dimension: int, now: float
) -> Iterator[list[models.UpdateOperation]]:
    """Yield the operations of each request; between requests no order matters.

    Args:
        states: What points become.
        dimension: Of vectors.
        now: In seconds since 1970, for gravestones.
    """
    batch: dict[UUID, State] = {}
    size = 0
    for point, state in states.items():
        if batch and (
            size + state.size > QDRANT_REQUEST_BYTES or len(batch) >= QDRANT_POINTS_A_PUT
        ):
            yield list(_operations(batch, dimension, now))
            batch, size = {}, 0
        batch[point] = state
        size += state.size
    if batch:
        yield list(_operations(batch, dimension, now))


def _operations(states: Mapping[UUID, State], dimension: int, now: float) -> Iterator[Operation]:
    puts: list[models.PointStruct] = []
    places: dict[Applied, list[UUID]] = defaultdict(list)
    for ident, state in states.items():
        if state.payload is None:
            stone = {BURIED: now, PARTITION: state.partition} | _place(state.place)
            puts.append(empty_struct(ident, dimension, stone))
        elif state.point is not None:
            puts.append(point_struct(state.point, state.payload | _place(state.place)))
        else:
            continue
        places[state.place].append(ident)
    if puts:
        lower: list[models.Condition] = [_lower(ids, place) for place, ids in places.items()]
        condition = models.Filter(should=lower)
        yield models.UpsertOperation(upsert=models.PointsList(points=puts, update_filter=condition))
    for ident, state in states.items():
        if state.payload is not None and state.point is None:
            yield models.OverwritePayloadOperation(
                overwrite_payload=models.SetPayload(
                    payload=state.payload | _place(state.place),
                    filter=_lower([ident], state.place),
                )
            )


def marker_id(partition: int) -> UUID:
    """Return the id of a partition's marker."""
    return uuid5(NAMESPACE_OID, f"eunoe/marker/{partition}")


def marker_operation(partition: int, applied: Applied, dimension: int) -> models.UpdateOperation:
    """Return what moves a partition's marker on, and never back."""
    ident = marker_id(partition)
    payload = {MARKER: partition, PARTITION: partition} | _place(applied)
    put = models.PointsList(
        points=[empty_struct(ident, dimension, payload)], update_filter=_lower([ident], applied)
    )
    return models.UpsertOperation(upsert=put)


def _place(place: Applied) -> Payload:
    return {EPOCH: place.epoch, APPLIED: place.offset}


def _lower(ids: Sequence[UUID], place: Applied) -> models.Filter:
    """Hold of points that were last written at a lower position of the same epoch."""
    lower = models.FieldCondition(key=APPLIED, range=models.Range(lt=place.offset))
    return WORDS.every([WORDS.has_id(ids), WORDS.equals(EPOCH, place.epoch), lower])
