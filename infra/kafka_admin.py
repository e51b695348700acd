"""What is asked of Kafka's brokers about topics: which there are, how they are set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aiokafka.admin.config_resource import (  # type: ignore[import-untyped]  # it ships no types
    ConfigResourceType,
)
from aiokafka.errors import (  # type: ignore[import-untyped]  # likewise
    TopicAlreadyExistsError,
)
from aiokafka.errors import (
    for_code as fault_of,
)
from aiokafka.protocol.admin import (  # type: ignore[import-untyped]  # likewise
    AlterConfigsRequest,
    CreateTopicsRequest,
    DescribeConfigsRequest,
)
from aiokafka.protocol.metadata import (  # type: ignore[import-untyped]  # likewise
    MetadataRequest,
)

from ..schemas.errors import Rejected
from .kafka_client import Client, check

__all__ = ["Admin", "Found"]

_TOPIC: Final = ConfigResourceType.TOPIC.value
_OWN: Final = 1
"""Source of a setting that was made for this very topic."""


@dataclass(frozen=True, slots=True)
class Found:
    """A topic that exists.

    Args:
        partitions: How many.
        replication: Copies of the partition that has the fewest.
        settings: Everything that it is set to.
        own: What was set for it alone; the rest is the broker's.
    """

    partitions: int
    replication: int
    settings: Mapping[str, str]
    own: Mapping[str, str]


class Admin:
    """Requests about topics, each with the client's time limit.

    Args:
        client: The connections.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def find(self, names: Sequence[str]) -> dict[str, Found]:
        """Return those of some topics that exist.

        Raises:
            Unavailable: Kafka can't be reached, or doesn't allow it.
        """
        shapes = await self.shapes(names)
        if not shapes:
            return {}
        configured = await self._client.again(lambda: self._settings(list(shapes)))
        return {
            name: Found(*shape, *configured[name])
            for name, shape in shapes.items()
            if name in configured
        }

    async def shapes(self, names: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return (partitions, copies of the one that has the fewest) of those that exist.

        Raises:
            Unavailable: Kafka can't be reached, or doesn't allow it.
        """

        async def look() -> dict[str, tuple[int, int]]:
            # Asked by name a topic would be made by the question, where brokers allow it.
            answer = await self._client.ask(
                None, MetadataRequest(list(names), allow_auto_topic_creation=False)
            )
            return {
                topic: (len(partitions), min((len(one[3]) for one in partitions), default=0))
                for code, topic, _, partitions in answer.topics
                if not code
            }

        return await self._client.again(look)

    async def _settings(
        self, names: Sequence[str]
    ) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
        request = DescribeConfigsRequest([(_TOPIC, name, None) for name in names])
        answer = await self._client.ask(None, request)
        found = {}
        for code, _, _, name, entries in answer.resources:
            check(code)
            values = {one[0]: one[1] or "" for one in entries}
            own = {one[0]: one[1] or "" for one in entries if one[3] == _OWN}
            found[name] = (values, own)
        return found

    async def create(
        self, name: str, partitions: int, replication: int, settings: Mapping[str, str]
    ) -> None:
        """Make a topic; that it is there already is no error.

        Raises:
            Rejected: The brokers can't make it so.
            Unavailable: Kafka can't be reached, or doesn't allow it.
        """
        wanted: Any = (name, partitions, replication, [], list(settings.items()))
        timeout_ms = int(self._client.call_timeout_s * 1_000)

        async def attempt() -> str | None:
            answer = await self._client.ask_controller(
                CreateTopicsRequest([wanted], timeout_ms, validate_only=False)
            )
            ((_, code, said, *_),) = answer.topic_errors
            return _refusal(code, said)

        refusal = await self._client.again(attempt)
        if refusal is not None:
            message = f"Kafka doesn't make the topic {name}: {refusal} See EUNOE_REPLICATION."
            raise Rejected(message)

    async def alter(self, name: str, settings: Mapping[str, str]) -> None:
        """Give a topic these settings of its own, and no others.

        Raises:
            Rejected: The brokers don't take one.
            Unavailable: Kafka can't be reached, or doesn't allow it.
        """

        async def attempt() -> str | None:
            answer = await self._client.ask_controller(
                AlterConfigsRequest([(_TOPIC, name, list(settings.items()))])
            )
            ((code, said, *_),) = answer.resources
            return _refusal(code, said)

        refusal = await self._client.again(attempt)
        if refusal is not None:
            message = f"Kafka doesn't take the settings of the topic {name}: {refusal}"
            raise Rejected(message)


def _refusal(code: int, said: str | None) -> str | None:
    """Return what brokers say of a request that they don't want, or None if all is well."""
    if not code:
        return None
    fault = fault_of(code)
    if fault is TopicAlreadyExistsError:
        return None
    if fault.retriable or "Authorization" in fault.__name__:
        raise fault
    return said or f"{fault.__name__}."
