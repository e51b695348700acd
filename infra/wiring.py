"""The composition root: settings to a running embedded store."""

import fcntl
import os
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final, Protocol

import orjson

from ..schemas.errors import Damaged, EncoderMismatch, FolderHeld, Rejected, Unavailable
from ..schemas.ports import Clock, CrossEncoder, Encoder, Keys, Log, LogReader, Recogniser, Terms
from ..schemas.topics import PARTITIONS
from .clock import SystemClock
from .durable import replace_file
from .embedded.episodes import EdgeEpisodes
from .embedded.experience import SqliteExperience
from .embedded.identity import SqliteIdentity
from .embedded.keys import SqliteKeys
from .embedded.log import SqliteLog
from .embedded.log_view import SqliteLogView
from .encoders import cross_encoder_of, encoder_of
from .recogniser_process import ProcessRecogniser
from .sealing import load_master_key, master_key_path, parse_master_key
from .settings import Settings

__all__ = [
    "FORMAT",
    "STORE_FILE",
    "ClosingCrossEncoder",
    "ClosingEncoder",
    "ClosingRecogniser",
    "Engines",
    "LateTerms",
    "ReplayEngines",
    "Tools",
    "open_engines",
    "open_replay",
]

FORMAT: Final = 1
STORE_FILE: Final = "store.json"
REPLAY_FILE: Final = "replay.json"
LOCK_FILE: Final = "owner.lock"


class LateTerms:
    """`Terms` of a splitter that is imported when it is first needed: listing does without."""

    def __init__(self) -> None:
        self._splitter: Terms | None = None

    def document(self, text: str) -> dict[str, float]:
        """Return each distinct term with its weight; see the port."""
        return self._loaded().document(text)

    def query(self, text: str) -> list[str]:
        """Return the distinct terms of a question; see the port."""
        return self._loaded().query(text)

    def related(self, term: str) -> Mapping[str, float]:
        """Return the terms that mean nearly the same as one; see the port."""
        return self._loaded().related(term)

    def _loaded(self) -> Terms:
        if self._splitter is None:
            from .terms import Terms as TermSplitter  # noqa: PLC0415 - patterns and a stemmer

            self._splitter = TermSplitter()
        return self._splitter


class ClosingEncoder(Encoder, Protocol):
    """An encoder that holds a thread."""

    async def close(self) -> None:
        """Release it."""
        ...


class ClosingCrossEncoder(CrossEncoder, Protocol):
    """A cross-encoder that holds a thread."""

    async def close(self) -> None:
        """Release it."""
        ...


class ClosingRecogniser(Recogniser, Protocol):
    """A recogniser that holds a thread."""

    async def close(self) -> None:
        """Release it."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What a caller may replace, as tests do; None takes the settings' own."""

    encoder: ClosingEncoder | None = None
    recogniser: ClosingRecogniser | None = None
    clock: Clock | None = None
    cross_encoder: ClosingCrossEncoder | None = None


@dataclass(frozen=True, slots=True)
class Engines:
    """Everything that is open, and how to close it."""

    folder: Path
    partitions: int
    log: Log
    keys: SqliteKeys
    identity: SqliteIdentity
    episodes: EdgeEpisodes
    experience: SqliteExperience
    encoder: ClosingEncoder
    recogniser: ClosingRecogniser
    terms: Terms
    clock: Clock
    cross_encoder: ClosingCrossEncoder | None
    stack: AsyncExitStack
    cache_expiry_s: float = 0.0
    """How long what is remembered of who a user is may be used: asking takes microseconds."""


@dataclass(frozen=True, slots=True)
class ReplayEngines:
    """Log and keys of a store, only read, with stores of their own in another folder."""

    partitions: int
    log: LogReader
    keys: Keys
    identity: SqliteIdentity
    episodes: EdgeEpisodes


@dataclass(frozen=True, slots=True)
class _Store:
    """What the store's file says; without an epoch the store was never opened to its end."""

    id: str
    encoder: str
    dimension: int
    partitions: int
    epoch: str | None


async def open_engines(settings: Settings, tools: Tools) -> Engines:
    """Open or make the store in the settings' folder.

    Raises:
        FolderHeld: Another process owns the folder.
        EncoderMismatch: The store was written with another encoder.
        Rejected: A newer version of Eunoe wrote the store, or a setting is wrong.
        Unavailable: The folder, the master key or an engine can't be used.
        Damaged: The store contradicts itself.
    """
    async with AsyncExitStack() as stack:
        folder = settings.folder.absolute()
        stack.enter_context(_hold(folder))
        encoder = tools.encoder or encoder_of(settings)
        stack.push_async_callback(encoder.close)
        recogniser = tools.recogniser or ProcessRecogniser()
        stack.push_async_callback(recogniser.close)
        cross_encoder = tools.cross_encoder or cross_encoder_of(settings)
        if cross_encoder is not None:
            stack.push_async_callback(cross_encoder.close)
        clock = tools.clock or SystemClock()
        store = _read_store(folder, encoder)
        master = _master_key(settings, store.id, is_new=store.epoch is None)
        keys = await SqliteKeys.open(folder / "keys.sqlite", master=master)
        stack.push_async_callback(keys.close)
        log = await SqliteLog.open(
            folder / "log.sqlite", partitions=store.partitions, sealer=keys.sealer, clock=clock
        )
        stack.push_async_callback(log.close)
        if store.epoch is None:
            _write_store(folder, replace(store, epoch=log.epoch))
        elif store.epoch != log.epoch:
            message = "log.sqlite belongs to another store: restore the whole folder together."
            raise Damaged(message)
        identity, episodes = await _open_stores(folder, encoder.dimension, stack)
        experience = SqliteExperience(folder / "experience.sqlite")
        stack.push_async_callback(experience.close)
        return Engines(
            folder=folder,
            partitions=store.partitions,
            log=log,
            keys=keys,
            identity=identity,
            episodes=episodes,
            experience=experience,
            encoder=encoder,
            recogniser=recogniser,
            terms=LateTerms(),
            clock=clock,
            cross_encoder=cross_encoder,
            stack=stack.pop_all(),
        )


@asynccontextmanager
async def open_replay(settings: Settings, into: Path) -> AsyncGenerator[ReplayEngines, None]:
    """Open the log and keys of the settings' folder to read, and stores in another folder.

    It works beside the process that owns the folder.

    Args:
        settings: Of the store that is read.
        into: The other folder: empty, missing, or of a replay that was interrupted.

    Raises:
        Rejected: The folder holds no store, or the other one holds something else.
        FolderHeld: Another process replays into the other folder.
        Unavailable: A folder, the master key or an engine can't be used.
        Damaged: The store contradicts itself.
    """
    folder = settings.folder.absolute()
    store = _look(folder)
    async with AsyncExitStack() as stack:
        stack.enter_context(_hold(into))
        _claim(into, store)
        keys = await SqliteKeys.open_to_read(
            folder / "keys.sqlite", master=_master_key(settings, store.id, is_new=False)
        )
        stack.push_async_callback(keys.close)
        log = await SqliteLogView.open(
            folder / "log.sqlite", sealer=keys.sealer, partitions=store.partitions
        )
        stack.push_async_callback(log.close)
        identity, episodes = await _open_stores(into, store.dimension, stack)
        yield ReplayEngines(store.partitions, log, keys, identity, episodes)


async def _open_stores(
    folder: Path, dimension: int, stack: AsyncExitStack
) -> tuple[SqliteIdentity, EdgeEpisodes]:
    identity = await SqliteIdentity.open(folder / "identity.sqlite")
    stack.push_async_callback(identity.close)
    _make_folder(folder / "episodes")
    episodes = await EdgeEpisodes.open(folder / "episodes", dimension)
    stack.push_async_callback(episodes.close)
    return identity, episodes


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        message = f"The folder {folder} can't be made: {error.strerror}."
        raise Unavailable(message) from error


def _claim(into: Path, store: _Store) -> None:
    """Note in the folder which log it is replayed from, or check that it says so."""
    mark = {"store": store.id, "epoch": store.epoch, "dimension": store.dimension}
    path = into / REPLAY_FILE
    if {one.name for one in into.iterdir()} <= {LOCK_FILE}:
        _write_json(path, mark)
        return
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        found = None
    if found != mark:
        message = f"The folder {into} holds something else: give an empty one to replay into."
        raise Rejected(message)


class _hold:  # noqa: N801 - used as a context manager
    """Hold the folder's lock; one process owns the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[str] | None = None

    def __enter__(self) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = (self._folder / LOCK_FILE).open("a+", encoding="ascii")
        except FileExistsError as error:
            message = f"The folder {self._folder} can't be used: it is a file."
            raise Unavailable(message) from error
        except OSError as error:
            message = f"The folder {self._folder} can't be used: {error.strerror}."
            raise Unavailable(message) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().strip() or "unknown"
            self._file.close()
            message = (
                f"The process {holder} owns the folder {self._folder}: use the eunoe commands, "
                "which work beside it, or end it first."
            )
            raise FolderHeld(message) from None
        except OSError as error:
            self._file.close()
            message = f"The folder {self._folder} can't be locked: {error.strerror}."
            raise Unavailable(message) from error
        self._tell(str(os.getpid()).encode())

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._tell(b"")
            self._file.close()

    def _tell(self, holder: bytes) -> None:
        # The lock is what counts: on a full disk nobody learns who holds it.
        if self._file is not None:
            with suppress(OSError):
                self._file.truncate(0)
                os.write(self._file.fileno(), holder)


def _read_store(folder: Path, encoder: Encoder) -> _Store:
    if not (folder / STORE_FILE).exists():
        if (folder / "log.sqlite").exists() and (folder / "identity.sqlite").exists():
            message = f"{folder / STORE_FILE} is missing: restore the whole folder from one backup."
            raise Damaged(message)
        # Before any key is made: a process that ends in between finds its master key again.
        new = _Store(uuid.uuid4().hex, encoder.id, encoder.dimension, PARTITIONS, None)
        _write_store(folder, new)
    store = _look(folder)
    for name in ("log.sqlite", "keys.sqlite"):
        path = folder / name
        # An empty one in its place would be taken for a store that holds nothing.
        if store.epoch is not None and not (path.exists() and path.stat().st_size):
            message = f"{path} is missing or empty: restore the whole folder from one backup."
            raise Damaged(message)
    if (store.encoder, store.dimension) != (encoder.id, encoder.dimension):
        message = (
            f"The store was written with the encoder {store.encoder} and not with {encoder.id}: "
            f"open it with that one, or run: eunoe --folder {folder} reembed --into NEW-FOLDER"
        )
        raise EncoderMismatch(message)
    return store


def _look(folder: Path) -> _Store:
    path = folder / STORE_FILE
    try:
        fields = orjson.loads(path.read_bytes())
        version = fields.pop("format")
        store = _Store(**fields) if version == FORMAT else None
    except FileNotFoundError:
        message = f"The folder {folder} holds no store."
        raise Rejected(message) from None
    except OSError as error:
        message = f"{path} can't be read now: {error.strerror}."
        raise Unavailable(message) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{path} can't be read: restore the whole folder from one backup."
        raise Damaged(message) from error
    if store is None:
        message = (
            f"The store has format {version} and this version of Eunoe reads format {FORMAT}: "
            "install the version that wrote it."
        )
        raise Rejected(message)
    return store


def _write_store(folder: Path, store: _Store) -> None:
    fields = {
        "format": FORMAT,
        "id": store.id,
        "encoder": store.encoder,
        "dimension": store.dimension,
        "partitions": store.partitions,
        "epoch": store.epoch,
    }
    _write_json(folder / STORE_FILE, fields)


def _write_json(path: Path, fields: Mapping[str, object]) -> None:
    try:
        replace_file(path, orjson.dumps(fields))
    except OSError as error:
        message = f"{path} can't be written now: {error.strerror}."
        raise Unavailable(message) from error


def _master_key(settings: Settings, store: str, *, is_new: bool) -> bytes:
    if settings.master_key is not None:
        return parse_master_key(settings.master_key)
    return load_master_key(master_key_path(settings.config_home, store), create=is_new)
