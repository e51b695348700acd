"""Publish one turn to Eunoe as a plain CloudEvent, with aiokafka and nothing of Eunoe's."""

import argparse
import asyncio
import json
import os
import sys
import uuid
from datetime import UTC, datetime
from urllib.parse import quote

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]  # likewise

Record = tuple[list[tuple[str, bytes]], bytes]
"""Headers and value."""


def binary(attributes: dict[str, str], data: dict[str, str]) -> Record:
    """Return an event in binary mode: attributes are headers, the data are the value."""
    headers = [(f"ce_{name}", value.encode()) for name, value in attributes.items()]
    headers.append(("content-type", b"application/json"))
    return headers, json.dumps(data, ensure_ascii=False).encode()


def structured(attributes: dict[str, str], data: dict[str, str]) -> Record:
    """Return an event in structured mode: the value is the whole event."""
    whole = {**attributes, "datacontenttype": "application/json", "data": data}
    headers = [("content-type", b"application/cloudevents+json; charset=UTF-8")]
    return headers, json.dumps(whole, ensure_ascii=False).encode()


def event(given: argparse.Namespace) -> tuple[dict[str, str], dict[str, str]]:
    """Return an event's attributes and data."""
    attributes = {
        "specversion": "1.0",
        "id": given.id or str(uuid.uuid4()),
        "source": given.source,
        "type": "eunoe.turn.added.v1",
        "time": given.time or datetime.now(UTC).isoformat(),
        "tenantid": given.tenant,
        "userid": given.user,
    }
    data = {"role": given.role, "content": given.text}
    if given.session:
        data["session_id"] = given.session
    return attributes, data


async def publish(given: argparse.Namespace, brokers: str) -> str:
    """Publish an event; returns its id when all replicas in sync have it."""
    attributes, data = event(given)
    headers, value = (structured if given.structured else binary)(attributes, data)
    owner = f"{quote(given.tenant, safe='')}/{quote(given.user, safe='')}"
    namespace = os.environ.get("EUNOE_NAMESPACE") or "eunoe"
    # Its default partitioner is murmur2 of the key, as everywhere in Eunoe.
    producer = AIOKafkaProducer(
        bootstrap_servers=brokers, acks="all", enable_idempotence=True, max_request_size=2**26
    )
    try:
        await producer.start()
        await producer.send_and_wait(
            f"{namespace}.turns.v1", value, owner.encode(), headers=headers
        )
    finally:
        await producer.stop()
    return attributes["id"]


def main() -> int:
    """Read the arguments; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", help="what was said; - reads the input")
    parser.add_argument("--user", default="ana", help="whose memory")
    parser.add_argument("--tenant", default="default", help="whose installation")
    parser.add_argument("--role", default="user", help="user, assistant, tool or system")
    parser.add_argument("--session", help="the conversation's id")
    parser.add_argument("--id", help="unique with the source; the same id is the same event")
    parser.add_argument("--source", default="plain", help="the name of this producer")
    parser.add_argument("--time", help="when it was said, ISO 8601 with offset")
    parser.add_argument("--structured", action="store_true", help="structured mode, else binary")
    given = parser.parse_args()
    if given.text == "-":
        given.text = sys.stdin.read()
    brokers = os.environ.get("EUNOE_KAFKA")
    if not brokers:
        print("Set EUNOE_KAFKA to the brokers, host:port.", file=sys.stderr)
        return 1
    try:
        print(asyncio.run(publish(given, brokers)))
    except KafkaError as error:
        print(f"Kafka at {brokers} can't be used now ({error}): see EUNOE_KAFKA.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
