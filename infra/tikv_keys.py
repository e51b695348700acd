"""Where the identity store's rows stand in TiKV: the layout of its keys. Pure.

Every key begins with the namespace (EUNOE_NAMESPACE, which holds no slash) and a slash: no
installation's keys lie among another's. Numbers are big-endian: the order of keys is theirs.
*id* is the 16 bytes of a UUID. *text* is bytes of any length that end by 00 01, each 00 within
written as 00 FF: no text's key begins with another's, and shorter ones come first. *number* is 8
bytes, 2^63 added, so that negative ones come first. *OWNER* is the first 24 bytes of the BLAKE2b
of the owner's name, whatever characters it has: of one length, so that no owner's keys begin with
another's; their order spreads owners over the regions of TiKV. The name itself is in the marker,
and compared there.

```text
NAMESPACE/v                                   format of the layout, decimal digits
NAMESPACE/e                                   id of the encoder that the vectors are of
NAMESPACE/p PARTITION(4)                      epoch and low water of a partition
NAMESPACE/a OWNER                             the owner's marker: name, epoch, applied offset
NAMESPACE/d OWNER a text(alias)               a user id that stands for the person OWNER now
NAMESPACE/o OWNER b                           what the alias OWNER is or was bound to
NAMESPACE/o OWNER c id(event)                 children: ids and keys of what came from the event
NAMESPACE/o OWNER i id(event or point)        an event; or of a later chunk or memory, whose it is
NAMESPACE/o OWNER k number(offset)            event with candidates, offset of the record with them
NAMESPACE/o OWNER l text(label) id(event)     a turn has a label; the value says nothing
NAMESPACE/o OWNER n number(-offset)           turn, the newest first
NAMESPACE/o OWNER q text(session) number(position)   turns that stand there: one
NAMESPACE/o OWNER r id(read)                  events whose candidates' summaries hold its text
NAMESPACE/o OWNER s text(slot) text(matter) number(said, microseconds) number(offset) NUMBER(4)
                                              a statement: the order of truth within each matter
NAMESPACE/o OWNER t number(offset)            turn, in journal order
NAMESPACE/o OWNER x id(event)                 an erased event; the value says nothing
NAMESPACE/o OWNER y text(producer) number(offset)    turn with this hash of its producer's id
NAMESPACE/o OWNER z text(session)             how many turns the session has
```

What values are is said in `tikv_rows`.
"""

from hashlib import blake2b
from typing import Final

from ..schemas.errors import Rejected
from ..schemas.limits import TIKV_KEY_BYTES_MAX

__all__ = ["FORMAT", "OwnerKeys", "Space", "behind", "number", "number_in", "text", "texts_in"]

FORMAT: Final = 1
"""Of keys and values; a store of a later one is refused."""
OWNER_BYTES: Final = 24
SIGN: Final = 1 << 63
END: Final = b"\x00\x01"


def text(value: bytes) -> bytes:
    """Write bytes of any length, so that none's key begins with another's."""
    return value.replace(b"\x00", b"\x00\xff") + END


def texts_in(key: bytes, count: int) -> list[bytes]:
    """Read the texts that a key begins with."""
    found = []
    for _ in range(count):
        end = key.index(END)
        found.append(key[:end].replace(b"\x00\xff", b"\x00"))
        key = key[end + len(END) :]
    return found


def number(value: int) -> bytes:
    """Write a number from -2^63 to 2^63 - 1."""
    if not -SIGN <= value < SIGN:
        message = f"A journal record holds the number {value}, which has more than 64 bits."
        raise Rejected(message)
    return (value + SIGN).to_bytes(8)


def number_in(key: bytes) -> int:
    """Read the number that a key ends with."""
    return int.from_bytes(key[-8:]) - SIGN


def behind(prefix: bytes) -> bytes:
    """Return the first key behind all that begin with a prefix, which doesn't end with FF."""
    return prefix[:-1] + bytes([prefix[-1] + 1])


def _digest(owner: str) -> bytes:
    return blake2b(owner.encode(), digest_size=OWNER_BYTES).digest()


class Space:
    """The keys of one installation.

    Args:
        namespace: Letters, digits and hyphens.
    """

    def __init__(self, namespace: str) -> None:
        self._prefix = namespace.encode() + b"/"
        self.format = self._prefix + b"v"
        self.encoder = self._prefix + b"e"
        self.owners = self._prefix + b"a"
        """What all markers of owners begin with."""

    def partition(self, partition: int) -> bytes:
        """Return where a partition's low water is."""
        return self._prefix + b"p" + partition.to_bytes(4)

    def owner(self, owner: str) -> "OwnerKeys":
        """Return an owner's keys."""
        digest = _digest(owner)
        return OwnerKeys(self.owners + digest, self._prefix + b"o" + digest, self._prefix + b"d")


class OwnerKeys:
    """The keys of one owner.

    Args:
        marker: Where the marker is.
        prefix: What all the others begin with, but those of `aliases`.
        persons: What the keys of persons' aliases begin with, whosever.
    """

    def __init__(self, marker: bytes, prefix: bytes, persons: bytes) -> None:
        self.marker = marker
        self.prefix = prefix
        self._persons = persons
        self.bindings = prefix + b"b"
        self.ids = prefix + b"i"
        """What the keys of events and points begin with; the id follows."""
        self.kept = prefix + b"c"
        """What the keys of events' children begin with; the id follows."""
        self.candidates = prefix + b"k"
        self.newest = prefix + b"n"
        self.places = prefix + b"q"
        self.readers = prefix + b"r"
        self.statements = prefix + b"s"
        self.turns = prefix + b"t"
        self.erased = prefix + b"x"

    def aliases(self, person: str) -> bytes:
        """Return what the keys of the aliases of a person (an owner) begin with."""
        return self._persons + _digest(person) + b"a"

    def candidate(self, offset: int) -> bytes:
        """Return where an event with candidates stands."""
        return self.candidates + number(offset)

    def labelled(self, label: bytes) -> bytes:
        """Return what the keys of the turns with a label begin with; the id follows."""
        return self.prefix + b"l" + text(label)

    def turn(self, offset: int) -> bytes:
        """Return where a turn stands in journal order."""
        return self.turns + number(offset)

    def newest_turn(self, offset: int) -> bytes:
        """Return where a turn stands, the newest first."""
        return self.newest + number(-offset)

    def session_places(self, session: bytes) -> bytes:
        """Return what the keys of a session's places begin with."""
        return self.places + text(session)

    def place(self, session: bytes, position: int) -> bytes:
        """Return where the turns at a place are."""
        return self.session_places(session) + number(position)

    def produced(self, producer: bytes) -> bytes:
        """Return what the keys of turns with a hash of the producer's id begin with."""
        return self.prefix + b"y" + text(producer)

    def by_producer(self, producer: bytes, offset: int) -> bytes:
        """Return where a turn stands among those with its hash of the producer's id."""
        return self.produced(producer) + number(offset)

    def session(self, session: bytes) -> bytes:
        """Return where a session's size is."""
        return self.prefix + b"z" + text(session)

    def slot(self, slot: bytes) -> bytes:
        """Return what the keys of a slot's statements begin with."""
        return self.statements + text(slot)

    def statement(self, slot: bytes, matter: bytes, said_us: int, offset: int, rank: int) -> bytes:
        """Return where a statement stands."""
        order = number(said_us) + number(offset) + rank.to_bytes(4)
        return self.slot(slot) + text(matter) + order

    def require(self, key: bytes) -> bytes:
        """Return a key that TiKV takes.

        Raises:
            Rejected: It is too long.
        """
        if len(key) > TIKV_KEY_BYTES_MAX:
            message = (
                f"A hash in a journal record is longer than a key in TiKV may be: "
                f"{len(key)} of {TIKV_KEY_BYTES_MAX} bytes."
            )
            raise Rejected(message)
        return key
