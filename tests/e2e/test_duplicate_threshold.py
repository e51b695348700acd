"""With the packaged encoder: the same line again is one memory, another fact never is."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from eunoe.infra.recogniser import TextRecogniser
from eunoe.infra.usem3 import DUPLICATE_COSINE, UseEncoder
from eunoe.streams.deduplication import cosine, unpack
from eunoe.streams.episodic import pack
from eunoe.streams.extraction import guard
from tests.support.memories import cheap_tools, open_memory

pytestmark = pytest.mark.timeout(120)

REPEATED: Final = {
    "en": "Remember that the boiler code is under the mat.",
    "zh": "记住，热水器的密码在脚垫下面。",
}
OTHER: Final = (
    ("en", "Remember that I lent the tent to my colleague.",
     "Remember that my colleague lent the tent to me."),
    ("en", "Remember that the tenants upstairs moved in.",
     "Remember that the tenants upstairs moved out."),
    ("zh", "记住，我把旧相机送给了侄子。", "记住，侄子把旧相机送给了我。"),
    ("zh", "记住，楼上的租客搬进来了。", "记住，楼下的租客搬进来了。"),
)  # fmt: skip
"""Each pair has one guard, and a cosine over the former threshold of .92."""
FORMER: Final = 0.92


class SharedEncoder(UseEncoder):
    """The packaged encoder, which one store leaves open for the next."""

    async def close(self) -> None:
        """Stay open."""

    async def end(self) -> None:
        """Close."""
        await super().close()


@pytest.fixture(scope="module", name="encoder")
def open_encoder() -> Iterator[SharedEncoder]:
    """Load the model once."""
    encoder = SharedEncoder()
    yield encoder
    asyncio.run(encoder.end())


@pytest.fixture(scope="module", name="recogniser")
def load_recogniser() -> TextRecogniser:
    """Load the models once."""
    return TextRecogniser()


async def memories(place: Path, encoder: SharedEncoder, *said: str) -> int:
    """Return how many memories there are after some turns of one person."""
    async with open_memory(place, tools=cheap_tools(encoder=encoder)) as memory:
        for one in said:
            await memory.add(one, user_id="ana")
        return (await memory.stats(user_id="ana")).memories


@pytest.mark.parametrize("language", REPEATED)
async def test_the_same_line_again_is_one_memory(
    tmp_path: Path, encoder: SharedEncoder, language: str
) -> None:
    """However high the threshold, what is said again word for word is touched."""
    assert await memories(tmp_path, encoder, *[REPEATED[language]] * 3) == 1


@pytest.mark.parametrize("language", REPEATED)
async def test_a_full_stop_makes_no_other_memory(
    tmp_path: Path, encoder: SharedEncoder, language: str
) -> None:
    """The same line with another mark at its end, or none, is touched."""
    line = REPEATED[language].rstrip(".。")
    assert await memories(tmp_path, encoder, f"{line}.", line, f"{line}!", f"{line}。") == 1


@pytest.mark.parametrize(("language", "one", "other"), OTHER)
async def test_swapped_sides_and_opposites_stay_two(
    tmp_path: Path, encoder: SharedEncoder, language: str, one: str, other: str
) -> None:
    """Two facts that only the threshold can tell apart are both kept."""
    del language  # it names the case
    assert await memories(tmp_path, encoder, one, other) == 2


@pytest.mark.parametrize(("language", "one", "other"), OTHER)
async def test_only_the_threshold_tells_those_apart(
    encoder: SharedEncoder, recogniser: TextRecogniser, language: str, one: str, other: str
) -> None:
    """The pairs above are hard: equal guards, and closer than the nominal threshold was."""
    del language  # it names the case
    first, second = (unpack(pack(vector)) for vector in await encoder.encode([one, other]))
    names = recogniser.find([one, other])
    assert guard(one, names[0]) == guard(other, names[1])
    assert FORMER <= cosine(first, second) < DUPLICATE_COSINE
