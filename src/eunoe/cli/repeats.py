"""A message said again under its id, but without its time, is the same message."""

from typing import TYPE_CHECKING, Any

from ..schemas.errors import Rejected

if TYPE_CHECKING:
    from .running import AnyMemory

__all__ = ["date_repeat"]


async def date_repeat(
    memory: "AnyMemory", message: dict[str, Any], *, source: str, user_id: str, tenant_id: str
) -> None:
    """Give a message that is remembered already, and names no time, the time that it has.

    Args:
        memory: The façade.
        message: As `add` takes it; it may get a time.
        source: The producer.
        user_id: Whose memory.
        tenant_id: Whose installation.
    """
    name = message.get("id")
    if "time" in message or not isinstance(name, str):
        return
    try:
        item = await memory.get((source, name), user_id=user_id, tenant_id=tenant_id)
    except Rejected:  # there is none yet, or `add` will say what is wrong
        return
    message["time"] = item.said_at.isoformat()
