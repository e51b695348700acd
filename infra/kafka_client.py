"""The connection to Kafka's brokers: how it is opened, asked, and what its errors mean.

aiokafka is imported by this module and those of the same prefix that the contract in
pyproject.toml names; what they raise are Eunoe's own errors.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, Self, TypeVar

from aiokafka import errors as faults  # type: ignore[import-untyped]  # it ships no types
from aiokafka.client import (  # type: ignore[import-untyped]  # likewise
    AIOKafkaClient,
    ConnectionGroup,
    CoordinationType,
)
from aiokafka.conn import create_conn  # type: ignore[import-untyped]  # likewise

from ..schemas.errors import EunoeError, Rejected, Unavailable
from ..schemas.limits import KAFKA_AGAIN_S
from .cluster_settings import ClusterSettings

__all__ = [
    "QUICK",
    "Client",
    "KafkaError",
    "LeaderNotAvailableError",
    "Names",
    "WirePlace",
    "check",
    "connect_options",
    "meaning",
]

KafkaError = faults.KafkaError
LeaderNotAvailableError = faults.LeaderNotAvailableError
QUICK: Final[Any] = ConnectionGroup.DEFAULT
"""The connection of requests that the broker answers at once."""

Result = TypeVar("Result")

_WRONG_LOGIN: Final = (
    faults.AuthenticationFailedError,
    faults.SaslAuthenticationFailed,
    faults.IllegalSaslStateError,
)
_FORBIDDEN: Final = (
    faults.TopicAuthorizationFailedError,
    faults.GroupAuthorizationFailedError,
    faults.ClusterAuthorizationFailedError,
    faults.TransactionalIdAuthorizationFailed,
)
_TOO_LARGE: Final = (
    faults.MessageSizeTooLargeError,
    faults.RecordListTooLargeError,
    faults.RecordTooLargeError,
)
_HEALS: Final = (faults.StaleMetadata, faults.NotControllerError, faults.KafkaStorageError)
"""Errors that pass by themselves although aiokafka doesn't say so."""


class WirePlace(NamedTuple):
    """A partition of a topic as the brokers name it."""

    topic: str
    partition: int


class Names:
    """Names on the wire: everything carries the installation's namespace.

    Args:
        namespace: It takes the place of the first part: `eunoe.turns.v1`, `eunoe-writer`.
    """

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def topic(self, name: str) -> str:
        """Return a topic's name on the wire."""
        _, dot, rest = name.partition(".")
        return f"{self._namespace}.{rest if dot else name}"

    def group(self, name: str) -> str:
        """Return a group's name on the wire, or a transactional id."""
        return f"{self._namespace}-{name.removeprefix('eunoe-')}"


def connect_options(settings: ClusterSettings) -> dict[str, Any]:
    """Return what every client of aiokafka is made with.

    Raises:
        Unavailable: The file with the certificates can't be read.
    """
    options: dict[str, Any] = {
        "bootstrap_servers": list(settings.kafka),
        "request_timeout_ms": int(settings.call_timeout_s * 1_000),
        "security_protocol": settings.kafka_security,
    }
    if settings.kafka_security in ("SSL", "SASL_SSL"):
        options["ssl_context"] = _context(settings)
    if settings.kafka_security.startswith("SASL"):
        options["sasl_mechanism"] = settings.kafka_mechanism
        options["sasl_plain_username"] = settings.kafka_user
        options["sasl_plain_password"] = settings.kafka_password
    return options


def _context(settings: ClusterSettings) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=settings.kafka_ca or None)
    except (OSError, ssl.SSLError) as error:
        message = f"The certificates can't be read ({error.strerror}): see EUNOE_KAFKA_CA."
        raise Unavailable(message) from error


def check(error_code: int) -> None:
    """Raise what an error code of a response stands for, unless it says that all is well."""
    if error_code:
        raise faults.for_code(error_code)


class Client:
    """Connections to the brokers. Use `connect`.

    Args:
        client: That of aiokafka, started.
        settings: Where the brokers are.
    """

    def __init__(self, client: AIOKafkaClient, settings: ClusterSettings) -> None:
        self._client = client
        self._settings = settings
        self._coordinators: dict[tuple[Any, str], int] = {}

    @classmethod
    async def connect(cls, settings: ClusterSettings) -> Self:
        """Connect.

        Raises:
            Unavailable: No broker answers, or the login is wrong; the sentence names the setting.
        """
        # What it would say on standard error is in our own sentences.
        logging.getLogger("aiokafka").addHandler(logging.NullHandler())
        client = AIOKafkaClient(**connect_options(settings))
        made = cls(client, settings)
        try:
            async with asyncio.timeout(settings.call_timeout_s):
                await client.bootstrap()
                await client.force_metadata_update()
        except (KafkaError, TimeoutError) as error:
            await client.close()
            raise await made.translated(error) from error
        except BaseException:
            await client.close()
            raise
        return made

    @property
    def call_timeout_s(self) -> float:
        """Seconds after which a call counts as failed."""
        return self._settings.call_timeout_s

    @property
    def is_one_node(self) -> bool:
        """Whether one broker leads everything."""
        return len(self._client.cluster.brokers()) <= 1

    async def follow(self, topics: Sequence[str]) -> None:
        """Keep what is known of the cluster to these topics, which exist: names on the wire."""
        await self.again(lambda: self._client.set_topics(topics))

    async def refresh(self) -> None:
        """Look again which topics there are and who leads them."""
        await self._client.force_metadata_update()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, node: int | None, request: object, *, group: Any = QUICK) -> Any:  # noqa: ANN401 - aiokafka's
        """Send a request to a node (None takes any), and return its response.

        Raises:
            KafkaError: No answer came; see `again`.
        """
        chosen = self._client.get_random_node() if node is None else node
        try:
            return await self._client.send(chosen, request, group=group)
        except (KeyError, OSError) as error:  # a connection that ended meanwhile
            raise faults.KafkaConnectionError from error

    async def ask_controller(self, request: object) -> Any:  # noqa: ANN401 - aiokafka's
        """Send a request to the controller."""
        if self._client.cluster.controller is None:
            await self._client.force_metadata_update()
        controller = self._client.cluster.controller
        return await self.ask(None if controller is None else controller.nodeId, request)

    def leader(self, topic: str, partition: int) -> int:
        """Return the node that leads a partition.

        Raises:
            KafkaError: None is known now.
        """
        node = self._client.cluster.leader_for_partition(WirePlace(topic, partition))
        if node is None or node < 0:
            raise faults.LeaderNotAvailableError
        return int(node)

    async def coordinator(self, group: str) -> int:
        """Return the node that keeps a group's offsets."""
        key = (CoordinationType.GROUP, group)
        if key not in self._coordinators:
            self._coordinators[key] = await self._client.coordinator_lookup(*key)
        return self._coordinators[key]

    async def again(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        """Repeat an attempt until it succeeds, as long as what goes wrong may heal.

        Raises:
            Unavailable: It didn't heal within the time limit, or can't.
            Rejected: What was sent is too large.
        """
        failure: Exception = TimeoutError()
        try:
            async with asyncio.timeout(self.call_timeout_s):
                while True:
                    try:
                        return await attempt()
                    except KafkaError as error:
                        if not error.retriable and not isinstance(error, _HEALS):
                            raise await self.translated(error) from error
                        failure = error
                    self._coordinators.clear()
                    await self._client.force_metadata_update()
                    await asyncio.sleep(KAFKA_AGAIN_S)
        except TimeoutError:
            raise await self.translated(failure) from failure

    async def translated(self, error: Exception) -> EunoeError:
        """Say what an error means: one sentence that names the setting to change."""
        if isinstance(error, faults.KafkaConnectionError | faults.NodeNotReadyError | TimeoutError):
            error = await self._probe() or error
        return meaning(error, self._settings)

    async def _probe(self) -> Exception | None:
        """Find out why no broker answers: aiokafka itself only says that none does."""
        options = connect_options(self._settings)
        for address in options.pop("bootstrap_servers"):
            host, _, port = address.rpartition(":")
            try:
                async with asyncio.timeout(self.call_timeout_s):
                    connection = await create_conn(host.strip("[]"), int(port), **options)
            except (KafkaError, OSError, TimeoutError, ValueError) as error:
                if not isinstance(error, ConnectionError | TimeoutError):
                    return error
            else:
                with suppress(KafkaError):
                    connection.close()
        return None


def meaning(error: Exception, settings: ClusterSettings) -> EunoeError:
    """Translate an error of aiokafka's or of the network."""
    brokers = ", ".join(settings.kafka)
    name = type(error).__name__
    if isinstance(error, _WRONG_LOGIN):
        message = (
            "Kafka refuses the login: see EUNOE_KAFKA_USER, EUNOE_KAFKA_PASSWORD and "
            "EUNOE_KAFKA_MECHANISM."
        )
    elif isinstance(error, faults.UnsupportedSaslMechanismError):
        message = "Kafka doesn't take this way of logging in: see EUNOE_KAFKA_MECHANISM."
    elif isinstance(error, _FORBIDDEN):
        message = (
            f"Kafka doesn't allow this to EUNOE_KAFKA_USER ({name}): give that user the right."
        )
    elif isinstance(error, ssl.SSLError):
        message = (
            f"The connection to Kafka at {brokers} can't be made safe ({error.reason}): see "
            "EUNOE_KAFKA_CA and EUNOE_KAFKA_SECURITY."
        )
    elif isinstance(error, faults.UnknownTopicOrPartitionError):
        message = "A topic is missing in Kafka: run eunoe topics apply."
    elif isinstance(error, _TOO_LARGE):
        return Rejected(
            "A record is larger than its topic takes: raise max.message.bytes of the topic, or "
            "run eunoe topics apply."
        )
    else:
        message = f"Kafka at {brokers} can't be used now ({name}): see EUNOE_KAFKA."
    return Unavailable(message)
