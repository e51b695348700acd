"""Events of aliases, and events in another partition than their owner's, are published there.

An alias becomes the person it stands for before event id, key and placement are made of the user
id. Other clients place keys by other hashes, and nobody but the owner's writer may decide. The
bindings of an alias are decided here, in its own partition and in order with its events, so what
was looked up once stays true until the next command binds or unbinds the alias.

Delivery: the copy is durable before the original is acknowledged; a crash between the two leaves
the event twice in the right partition, where its identity is known. What a batch has done isn't
done again when the batch is tried again; after a crash, an event whose alias was bound otherwise
meanwhile is looked for under the person it was bound to before.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from ..schemas.cloudevents import decode, encode
from ..schemas.errors import Rejected
from ..schemas.events import Bind, Envelope, EventType, Forget, Unbind, event_id, owner_key
from ..schemas.limits import BINDINGS_CACHED_MAX, ID_CHARACTERS_MAX
from ..schemas.ports import BindingRow, IdentityStore, Keys, Log, LogRecord, NewRecord, Position
from .consumer import Handle, Prepare
from .persons import person_of

__all__ = ["ALIAS_HEADER", "Router"]

ALIAS_HEADER: Final = "eunoe-alias"
"""Header of a copy that was an alias's event: the alias's owner key. It is resolved once only."""
BINARY: Final = b"application/json"
BINDING_TYPES: Final = frozenset(kind.value.encode() for kind in (EventType.BIND, EventType.UNBIND))


class _Address(NamedTuple):
    """Whose an event is, as far as routing has to know."""

    tenant_id: str
    user_id: str
    is_binding: bool
    was_alias: bool

    @property
    def owner(self) -> str:
        return owner_key(self.tenant_id, self.user_id)


class Router:
    """Hands what is in its place to the writer, and publishes the rest where it belongs.

    Args:
        log: Where to; not the writer's own, which has one partition.
        identity: Knows what aliases are bound to.
        keys: Every partition's, to compare what an event says with what is stored.
        handle: The writer.
        prepare: The writer's work ahead.
        release: Told of records that were prepared and that the writer doesn't get.
    """

    def __init__(
        self,
        log: Log,
        identity: IdentityStore,
        keys: Keys,
        handle: Handle,
        prepare: Prepare,
        release: Callable[[Sequence[LogRecord]], None] | None = None,
    ) -> None:
        self._log = log
        self._identity = identity
        self._keys = keys
        self._handle = handle
        self._prepare = prepare
        self._release = release
        self._rows: dict[str, tuple[BindingRow, ...]] = {}
        self._partitions: dict[str, int] = {}
        self._changes = 0
        self._done: dict[Position, Rejected | None] = {}

    async def prepare(self, records: Sequence[LogRecord]) -> None:
        """Work ahead on what is in its place; see `consumer.Prepare`."""
        addresses = [_address(one) for one in records]
        rows = await self._bindings(self._to_resolve(records, addresses))
        here = [
            record
            for record, address in zip(records, addresses, strict=True)
            if address is None or (self._is_placed(record, address) and not rows.get(address.owner))
        ]
        if here:
            await self._prepare(here)

    async def handle(self, records: Sequence[LogRecord]) -> list[Rejected | None]:
        """Decide or publish records, in order; see `consumer.Handle`."""
        positions = {one.position for one in records}
        self._done = {key: one for key, one in self._done.items() if key in positions}
        run: list[LogRecord] = []
        try:
            for record in records:
                if record.position in self._done:
                    continue
                address = _address(record)
                if address is None or not address.is_binding:
                    run.append(record)
                    continue
                await self._run(run)
                run = []
                await self._run([record])
                self._changed(address.owner)
            await self._run(run)
        except BaseException:
            self._rows.clear()  # whatever was decided before it failed
            self._changes += 1
            raise
        done, self._done = self._done, {}
        return [done[one.position] for one in records]

    async def _run(self, records: Sequence[LogRecord]) -> None:
        """Do records between which nothing is bound."""
        addresses = [_address(one) for one in records]
        rows = await self._bindings(self._to_resolve(records, addresses))
        here: list[LogRecord] = []
        copies: list[NewRecord] = []
        elsewhere: dict[Position, Rejected | None] = {}
        for record, address in zip(records, addresses, strict=True):
            try:
                copy = await self._copy(record, address, rows)
            except Rejected as refusal:
                elsewhere[record.position] = refusal
                continue
            if copy is None:
                here.append(record)
            else:
                elsewhere[record.position] = None
                copies += copy
        if copies:
            await self._log.append(copies)
        if elsewhere and self._release is not None:
            self._release([one for one in records if one.position in elsewhere])
        self._done |= elsewhere
        if here:
            results = await self._handle(here)
            self._done |= zip((one.position for one in here), results, strict=True)

    async def _copy(
        self,
        record: LogRecord,
        address: _Address | None,
        rows: dict[str, tuple[BindingRow, ...]],
    ) -> list[NewRecord] | None:
        """Return what is published instead of a record, or None where the writer decides it.

        Raises:
            Rejected: Nobody can be meant.
        """
        if address is None:
            return None  # the writer says why, and buries it here
        owner = address.owner
        is_placed, bindings = self._is_placed(record, address), rows.get(owner, ())
        if is_placed and (address.is_binding or (not bindings and person_of(address.user_id, ()))):
            return None
        try:
            event = decode(record.headers, record.value)
        except Rejected:
            return None
        if not is_placed:
            placed_by = owner.encode()
            return [NewRecord(record.position.topic, placed_by, record.value, record.headers)]
        if address.was_alias:
            _refuse_second_alias(bindings)
            return None
        return await self._resolved(record.position.topic, event, bindings)

    async def _resolved(
        self, topic: str, event: Envelope, bindings: Sequence[BindingRow]
    ) -> list[NewRecord] | None:
        if await self._is_known(event, bindings):
            return []
        person = person_of(event.user_id, bindings)
        if person == event.user_id:
            return None
        if isinstance(event.payload, Forget):
            message = (
                "A forget names turns by ids that are made of the user id, and this one is an "
                "alias: make them of the person's id, and send it under that."
            )
            raise Rejected(message)
        moved = event.model_copy(update={"user_id": person})
        headers, value = encode(moved)
        marked = (*headers, (ALIAS_HEADER, event.owner.encode()))
        return [NewRecord(topic, moved.owner.encode(), value, marked)]

    async def _is_known(self, event: Envelope, rows: Sequence[BindingRow]) -> bool:
        """Tell whether an event is with a person whom its alias stood for before."""
        former = [row for row in rows if not row.is_bound]
        if not former:
            return False
        from .episodic import content_hash  # noqa: PLC0415 - patterns that reading saves

        for row in former:
            owner = owner_key(event.tenant_id, row.person)
            key = event_id(event.tenant_id, row.person, event.source, event.id)
            known = (await self._identity.known(owner, [key])).get(key)
            # Whoever has the alias now may use the same ids for something else.
            if known and known.content == content_hash(await self._keys.owner(owner), event):
                return True
        return False

    def _to_resolve(
        self, records: Sequence[LogRecord], addresses: Sequence[_Address | None]
    ) -> list[str]:
        """Return the owners that may be aliases, each once."""
        return list(
            dict.fromkeys(
                address.owner
                for record, address in zip(records, addresses, strict=True)
                if address is not None
                and not address.is_binding
                and self._is_placed(record, address)
            )
        )

    async def _bindings(self, owners: Sequence[str]) -> dict[str, tuple[BindingRow, ...]]:
        """Return what those of the owners that are or were aliases are bound to."""
        missing = [one for one in owners if one not in self._rows]
        if missing:
            changes = self._changes
            found = await self._identity.bindings(missing)
            if changes != self._changes:
                return found  # somebody works ahead: what was read may be of before the change
            if len(self._rows) + len(missing) > BINDINGS_CACHED_MAX:
                kept = {one: self._rows[one] for one in owners if one in self._rows}
                self._rows = kept
            self._rows |= {one: found.get(one, ()) for one in missing}
        return {one: rows for one in owners if (rows := self._rows[one])}

    def _changed(self, owner: str) -> None:
        self._rows.pop(owner, None)
        self._changes += 1

    def _is_placed(self, record: LogRecord, address: _Address) -> bool:
        owner = address.owner
        partition = self._partitions.get(owner)
        if partition is None:
            if len(self._partitions) >= BINDINGS_CACHED_MAX:
                self._partitions.clear()
            partition = self._partitions[owner] = self._log.partition_of(owner.encode())
        return partition == record.position.partition


def _refuse_second_alias(rows: Sequence[BindingRow]) -> None:
    """Refuse an event that came through an alias whose person is one by now."""
    if any(row.is_bound for row in rows):
        message = (
            "The person that the event's alias stood for is now an alias itself: bind the first "
            "alias to the person, or name the person."
        )
        raise Rejected(message)


def _address(record: LogRecord) -> _Address | None:
    """Return whose an event is; None where it can't be read.

    An event in binary mode, which almost all are in, says it in its headers.
    """
    headers = dict(record.headers)
    was_alias = ALIAS_HEADER in headers
    try:
        if headers.get("content-type") == BINARY:
            tenant_id, user_id = headers["ce_tenantid"].decode(), headers["ce_userid"].decode()
            if max(len(tenant_id), len(user_id)) > ID_CHARACTERS_MAX:
                return None  # nothing is remembered of names that may have any length
            return _Address(tenant_id, user_id, headers.get("ce_type") in BINDING_TYPES, was_alias)
        event = decode(record.headers, record.value)
    except (Rejected, KeyError, UnicodeDecodeError):
        return None
    is_binding = isinstance(event.payload, Bind | Unbind)
    return _Address(event.tenant_id, event.user_id, is_binding, was_alias)
