"""How tests open a memory: a folder of their own, cheap tools, no door for other processes."""

from pathlib import Path
from typing import Any

import eunoe
from eunoe.infra.settings import Settings
from eunoe.infra.wiring import Tools
from tests.support.tools import SetClock, WordEncoder, WordRecogniser

__all__ = ["cheap_tools", "everything_readable", "open_memory", "settings_in"]


def cheap_tools(**replaced: Any) -> Tools:
    """Return the cheap tools, some of them replaced."""
    tools: dict[str, Any] = {
        "encoder": WordEncoder(),
        "recogniser": WordRecogniser(),
        "clock": SetClock(),
    }
    return Tools(**(tools | replaced))


def settings_in(place: Path, **fields: Any) -> Settings:
    """Return settings of a data folder and a key folder under `place`."""
    return Settings(folder=place / "data", config_home=place / "config", **fields)


def open_memory(
    place: Path, *, tools: Tools | None = None, process: bool = True, **fields: Any
) -> eunoe.Memory:
    """Return the memory under a folder, to be used with `async with`.

    Args:
        place: A folder of the test's own.
        tools: Instead of the cheap ones.
        process: Whether events are decided.
        fields: Of the settings.
    """
    return eunoe.open(
        settings_in(place, **fields),
        serve=False,
        process=process,
        tools=tools or cheap_tools(),
    )


async def everything_readable(memory: eunoe.Memory, user: str, questions: list[str]) -> str:
    """Return all that a user can read back, as one text: lists, items, histories, hits."""
    found: list[Any] = []
    items = await memory.list(user_id=user, limit=1000)
    profile = await memory.profile(user_id=user)
    found += [*items, *profile]
    for ident in dict.fromkeys([*(one.id for one in items), *(one.slot for one in profile)]):
        found.append(await memory.get(ident, user_id=user))
        found += await memory.history(ident, user_id=user)
    for question in questions:
        found += await memory.search(question, user_id=user, limit=50)
    return "\n".join(one.model_dump_json() for one in found)
