"""The garbage collector goes through what opening made once, and in no later search."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.memories import open_memory

QUESTIONS = {"en": "Which tea stands on the shelf?", "zh": "哪种茶放在架子上？"}


@pytest.fixture
def whole() -> Iterator[list[str]]:
    """Note each time that the collector was told to go through everything."""
    noted: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            noted.append(phase)

    threshold = gc.get_threshold()
    gc.set_threshold(threshold[0], threshold[1], 1_000_000)  # never by itself
    gc.callbacks.append(note)
    yield noted
    gc.callbacks.remove(note)
    gc.set_threshold(*threshold)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_only_the_first_search_goes_through_everything(
    tmp_path: Path, whole: list[str], language: str
) -> None:
    """The first search of an opened store pays for what was made to open it; the next don't."""
    async with open_memory(tmp_path) as memory:
        whole.clear()
        counts = []
        for _ in range(3):
            await memory.search(QUESTIONS[language], user_id=language)
            counts.append(len(whole))
        assert counts == [1, 1, 1]


async def test_a_switched_off_collector_stays_off(tmp_path: Path, whole: list[str]) -> None:
    """A program that collects at times of its own is left alone."""
    async with open_memory(tmp_path) as memory:
        whole.clear()
        gc.disable()
        try:
            await memory.search(QUESTIONS["en"], user_id="ana")
            await memory.search(QUESTIONS["zh"], user_id="ana")
        finally:
            gc.enable()
        assert whole == []
