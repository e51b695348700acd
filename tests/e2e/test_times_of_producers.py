"""Times that producers give: what is nonsense stops nothing."""

from pathlib import Path

import pytest

from tests.support.memories import open_memory


@pytest.mark.parametrize("text", ["I met Nora yesterday at noon.", "我去年见过诺拉。"])
async def test_a_turn_from_the_ends_of_the_calendar_is_stored(tmp_path: Path, text: str) -> None:
    """A turn whose clock stands at the first or last moment there is doesn't stop the writer."""
    times = (
        "0001-01-01T00:00:00+00:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59.999999+00:00",
        "9999-12-31T23:59:59-12:00",
    )
    async with open_memory(tmp_path) as memory:
        for number, time in enumerate(times):
            await memory.add({"id": f"t{number}", "content": text, "time": time}, user_id="ana")
        await memory.add({"id": "now", "content": text}, user_id="ana")
        items = await memory.list(user_id="ana", kinds=["turn"])
        assert len(items) == len(times) + 1
        assert await memory.search(text, user_id="ana")
