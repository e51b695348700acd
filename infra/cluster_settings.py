"""Where the servers of a cluster are, and how they are used; a part of `Settings`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from ..schemas.errors import Rejected

__all__ = ["VARIABLES", "ClusterSettings"]

NAMESPACE: Final = re.compile(r"[a-z][a-z0-9-]{0,40}")
SECURITY: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """The servers of one installation; each field says its variable in the environment.

    Args:
        kafka: Brokers, "host:port" (EUNOE_KAFKA, comma-separated). Set, it chooses the cluster.
        tikv: Placement drivers, "host:port" (EUNOE_TIKV, comma-separated).
        qdrant: URL (EUNOE_QDRANT).
        influxdb: URL (EUNOE_INFLUXDB).
        influxdb_token: Access token (EUNOE_INFLUXDB_TOKEN).
        influxdb_org: Organisation (EUNOE_INFLUXDB_ORG).
        namespace: First part of every topic, group, key, collection and bucket (EUNOE_NAMESPACE).
        partitions: Of every topic that `eunoe topics apply` makes (EUNOE_PARTITIONS).
        replication: Copies of each partition (EUNOE_REPLICATION).
        kafka_security: One of `SECURITY` (EUNOE_KAFKA_SECURITY).
        kafka_mechanism: One of `MECHANISMS` (EUNOE_KAFKA_MECHANISM).
        kafka_user: For SASL (EUNOE_KAFKA_USER).
        kafka_password: For SASL (EUNOE_KAFKA_PASSWORD).
        kafka_ca: File with the certificates that are trusted (EUNOE_KAFKA_CA).
        qdrant_key: API key (EUNOE_QDRANT_KEY).
        session_timeout_s: Seconds without a heartbeat after which a worker's partitions go to
            others (EUNOE_SESSION_TIMEOUT_S).
        call_timeout_s: Seconds after which a call to an engine counts as failed
            (EUNOE_CALL_TIMEOUT_S).
        connections_max: Of one process to one engine (EUNOE_CONNECTIONS_MAX).
        write_window_s: How long experience is collected before it is written
            (EUNOE_WRITE_WINDOW_S).
        cache_expiry_s: How long a process may use what it remembers of who a user is
            (EUNOE_CACHE_EXPIRY_S).
        tick_s: Between two ticks of a partition (EUNOE_TICK_S).
        compaction_lag_s: After which a tombstoned record has gone from the disk, at most
            (EUNOE_COMPACTION_LAG_S).
        metrics_port: Of /healthz and /metrics on loopback; 0 takes a free one
            (EUNOE_METRICS_PORT).

    Raises:
        Rejected: A value can't be used; the sentence names the variable.
    """

    kafka: tuple[str, ...]
    tikv: tuple[str, ...] = ("127.0.0.1:2379",)
    qdrant: str = "http://127.0.0.1:6333"
    influxdb: str = "http://127.0.0.1:8086"
    influxdb_token: str = field(default="", repr=False)
    influxdb_org: str = "eunoe"
    namespace: str = "eunoe"
    partitions: int = 8
    replication: int = 1
    kafka_security: str = "PLAINTEXT"
    kafka_mechanism: str = "PLAIN"
    kafka_user: str = ""
    kafka_password: str = field(default="", repr=False)
    kafka_ca: str = ""
    qdrant_key: str = field(default="", repr=False)
    session_timeout_s: float = 60.0
    call_timeout_s: float = 10.0
    connections_max: int = 32
    write_window_s: float = 1.0
    cache_expiry_s: float = 60.0
    tick_s: float = 600.0
    compaction_lag_s: float = 3_600.0
    metrics_port: int = 9464

    def __post_init__(self) -> None:
        """Check what has a scale or a form."""
        _require(bool(NAMESPACE.fullmatch(self.namespace)), "namespace", "small letters and digits")
        _require(all(":" in one for one in self.kafka), "kafka", "host:port, comma-separated")
        _require(all(":" in one for one in self.tikv), "tikv", "host:port, comma-separated")
        for name in ("qdrant", "influxdb"):
            _require(getattr(self, name).startswith(("http://", "https://")), name, "a URL")
        _require(self.kafka_security in SECURITY, "kafka_security", " or ".join(SECURITY))
        _require(self.kafka_mechanism in MECHANISMS, "kafka_mechanism", " or ".join(MECHANISMS))
        for name in ("partitions", "replication", "connections_max"):
            _require(getattr(self, name) >= 1, name, "at least 1")
        for name in ("session_timeout_s", "call_timeout_s", "tick_s", "compaction_lag_s"):
            _require(getattr(self, name) > 0, name, "more than 0 seconds")
        for name in ("write_window_s", "cache_expiry_s"):
            _require(getattr(self, name) >= 0, name, "0 seconds or more")
        _require(0 <= self.metrics_port < 65_536, "metrics_port", "a port")  # noqa: PLR2004 - ports end there

    @classmethod
    def from_variables(cls, variables: Mapping[str, str]) -> Self | None:
        """Read what the environment says; None where EUNOE_KAFKA isn't set.

        Raises:
            Rejected: A variable has a value that can't be used.
        """
        if not variables.get(VARIABLES["kafka"]):
            return None
        values: dict[str, Any] = {
            name: _read(name, variables[variable])
            for name, variable in VARIABLES.items()
            if variables.get(variable)
        }
        return cls(**values)


VARIABLES: Final = {one.name: f"EUNOE_{one.name.upper()}" for one in fields(ClusterSettings)}
"""The environment variable of each field."""
LISTS: Final = ("kafka", "tikv")
NUMBERS: Final = {
    one.name: int if isinstance(one.default, int) else float
    for one in fields(ClusterSettings)
    if isinstance(one.default, int | float)
}


def _read(name: str, value: str) -> object:
    if name in LISTS:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if name in NUMBERS:
        try:
            return NUMBERS[name](value)
        except ValueError:
            message = f"{VARIABLES[name]} must be a number, and is {value!r}."
            raise Rejected(message) from None
    return value


def _require(holds: bool, name: str, form: str) -> None:  # noqa: FBT001 - a condition
    if not holds:
        message = f"{VARIABLES[name]} must be {form}."
        raise Rejected(message)
