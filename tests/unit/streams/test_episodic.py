"""What a turn is before anything is decided: how much it states."""

import pytest

from eunoe.schemas.events import Turn
from eunoe.streams.episodic import states


def stated(text: str, role: str = "user") -> int:
    """Return the percent that a turn states."""
    return states(Turn.model_validate({"role": role, "content": text}))


@pytest.mark.parametrize(
    ("whole", "half", "short", "nothing"),
    [
        (
            "Nell's boss at the florist will lend us a roof box.",
            "Nell's boss at the florist has a roof box. Should we really ask her for it, or not?",
            "same here",
            "Should we ask Nell's boss for her roof box?",
        ),
        (
            "小姑子的男朋友是自贡人，年夜饭要来。",
            "小姑子的男朋友是自贡人，要来。年夜饭我到底要不要给他单独做点不辣的？",
            "我也是",
            "年夜饭要不要给他单独做点不辣的？",
        ),
    ],
)
def test_a_turn_states_what_it_does_not_ask(
    whole: str, half: str, short: str, nothing: str
) -> None:
    """A turn of a few words states little, and one that only asks nothing."""
    assert stated(whole) == 100
    assert 30 < stated(half) < 70
    assert 0 < stated(short) <= 50
    assert stated(nothing) == 0
    assert stated("🙂") < stated(short)


@pytest.mark.parametrize(
    "text", ["Your flight leaves at 6:40 from the small airport.", "你的航班六点四十从小机场起飞。"]
)
def test_what_an_agent_states_counts_half(text: str) -> None:
    """What it says about its user, it was told."""
    assert stated(text, "assistant") == stated(text) / 2 == 50
