"""The composition root of a cluster: settings to open servers."""

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from ..schemas.errors import EncoderMismatch, Rejected
from ..schemas.ports import Clock, Keys, Terms
from .clock import SystemClock
from .cluster_settings import ClusterSettings
from .encoders import cross_encoder_of, encoder_of
from .influxdb import InfluxExperience
from .kafka import KafkaLog
from .kafka_client import Names
from .kafka_fenced import FencedLog
from .kafka_keys import KafkaKeys
from .qdrant import QdrantEpisodes
from .recogniser_process import ProcessRecogniser
from .sealing import parse_master_key
from .settings import Settings
from .tikv_identity import TikvIdentity
from .wiring import ClosingCrossEncoder, ClosingEncoder, ClosingRecogniser, LateTerms, Tools

__all__ = ["ClusterEngines", "open_cluster", "servers_of", "tls_of"]


@dataclass(frozen=True, slots=True)
class ClusterEngines:
    """Everything of a cluster that one process has open, and how to close it."""

    servers: ClusterSettings
    names: Names
    partitions: int
    log: KafkaLog
    keys: KafkaKeys
    identity: TikvIdentity
    episodes: QdrantEpisodes
    experience: InfluxExperience
    encoder: ClosingEncoder
    recogniser: ClosingRecogniser
    terms: Terms
    clock: Clock
    cross_encoder: ClosingCrossEncoder | None
    master: bytes
    stack: AsyncExitStack
    folder: None = None
    """Nothing lies in one."""

    @property
    def cache_expiry_s(self) -> float:
        """How long what is remembered of who a user is may be used."""
        return self.servers.cache_expiry_s

    @asynccontextmanager
    async def lane(self, partition: int) -> AsyncIterator[tuple[FencedLog, Keys]]:
        """Open what only the writer of a partition has: the log that it alone appends to, keys.

        Raises:
            Unavailable: An engine can't be used now.
            Fenced: Another process took the partition over meanwhile.
        """
        async with self.log.fenced(partition) as log:
            keys = await KafkaKeys.open(log, partition, master=self.master)
            try:
                yield log, keys
            finally:
                await keys.close()


def servers_of(settings: Settings) -> ClusterSettings:
    """Return where the servers are.

    Raises:
        Rejected: No setting says it.
    """
    if settings.cluster is None:
        message = "EUNOE_KAFKA must be set for this: the brokers as host:port, comma-separated."
        raise Rejected(message)
    return settings.cluster


def tls_of(servers: ClusterSettings) -> ssl.SSLContext | None:
    """Return how connections to the brokers are encrypted, or None."""
    if not servers.kafka_security.endswith("SSL"):
        return None
    return ssl.create_default_context(cafile=servers.kafka_ca or None)


async def open_cluster(settings: Settings, tools: Tools) -> ClusterEngines:
    """Connect to every server.

    Raises:
        Rejected: A setting is wrong, or the topics aren't those that are needed.
        EncoderMismatch: The vectors there are another encoder's.
        Unavailable: A server can't be reached; the sentence names the setting.
        Damaged: What is there contradicts itself.
    """
    servers = servers_of(settings)
    master = _master_key(settings)
    async with AsyncExitStack() as stack:
        encoder = tools.encoder or encoder_of(settings)
        stack.push_async_callback(encoder.close)
        recogniser = tools.recogniser or ProcessRecogniser()
        stack.push_async_callback(recogniser.close)
        cross_encoder = tools.cross_encoder or cross_encoder_of(settings)
        if cross_encoder is not None:
            stack.push_async_callback(cross_encoder.close)
        log = await KafkaLog.open(servers)
        stack.push_async_callback(log.close)
        keys = await KafkaKeys.open_to_read(log, range(log.partitions), master=master)
        stack.push_async_callback(keys.close)
        identity = await TikvIdentity.open(
            servers.tikv, servers.namespace, timeout_s=servers.call_timeout_s
        )
        stack.push_async_callback(identity.close)
        await _require_encoder(identity, encoder.id)
        episodes = await QdrantEpisodes.open(
            servers.qdrant,
            servers.namespace,
            encoder.dimension,
            key=servers.qdrant_key,
            timeout_s=servers.call_timeout_s,
            connections_max=servers.connections_max,
        )
        stack.push_async_callback(episodes.close)
        experience = await InfluxExperience.open(servers)
        stack.push_async_callback(experience.close)
        return ClusterEngines(
            servers=servers,
            names=Names(servers.namespace),
            partitions=log.partitions,
            log=log,
            keys=keys,
            identity=identity,
            episodes=episodes,
            experience=experience,
            encoder=encoder,
            recogniser=recogniser,
            terms=LateTerms(),
            clock=tools.clock or SystemClock(),
            cross_encoder=cross_encoder,
            master=master,
            stack=stack.pop_all(),
        )


async def _require_encoder(identity: TikvIdentity, encoder: str) -> None:
    claimed = await identity.claim_encoder(encoder)
    if claimed != encoder:
        message = (
            f"This memory was written with the encoder {claimed} and not with {encoder}: set "
            "EUNOE_ENCODER to that one, or EUNOE_NAMESPACE to another installation."
        )
        raise EncoderMismatch(message)


def _master_key(settings: Settings) -> bytes:
    if settings.master_key is None:
        message = (
            "EUNOE_MASTER_KEY must be set, to the same base64 of 32 bytes for every process of a "
            "cluster: make one with head -c 32 /dev/urandom | base64."
        )
        raise Rejected(message)
    return parse_master_key(settings.master_key)
