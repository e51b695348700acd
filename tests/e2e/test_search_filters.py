"""Filters of a search, from the message that brings them to the hit; both languages in pairs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import eunoe
from tests.support.memories import open_memory

NOON: Final = datetime(2024, 6, 10, 12, tzinfo=UTC)
NAMES: Final = {"en": ("Ana Silva", "Nora"), "zh": ("安娜", "王芳")}
TEXTS: Final = {
    "en": ("The green tea stands on the shelf.", "The black tea stands on the shelf."),
    "zh": ("绿茶放在架子上。", "红茶放在架子上。"),
}
QUESTIONS: Final = {"en": "Which tea stands on the shelf?", "zh": "茶放在架子上。"}


def messages(language: str) -> list[dict[str, Any]]:
    """Return two messages that differ in everything that a filter may ask for."""
    return [
        {
            "id": f"t{number}",
            "content": text,
            "role": ("user", "assistant")[number],
            "name": NAMES[language][number],
            "session_id": f"s{number}",
            "time": (NOON + timedelta(days=number)).isoformat(),
            "metadata": {"number": number, "even": number % 2 == 0, "text": text, "list": [1]},
        }
        for number, text in enumerate(TEXTS[language])
    ]


async def texts(memory: eunoe.Memory, language: str, filters: dict[str, Any] | None) -> set[str]:
    """Search; the texts of the turns that are found."""
    hits = await memory.search(
        QUESTIONS[language],
        user_id=language,
        filters=filters,
        kinds=["turn"],
        now=NOON + timedelta(days=9),
    )
    return {hit.text for hit in hits}


async def test_every_filter_reaches_the_turns(tmp_path: Path) -> None:
    """Each filter alone finds the turn that it means, and together with another's none."""
    async with open_memory(tmp_path) as memory:
        for language in ("en", "zh"):
            first, second = messages(language)
            await memory.add([first], user_id=language, source="mail")
            await memory.add([second], user_id=language)
            one, other = TEXTS[language]
            assert await texts(memory, language, None) == {one, other}
            firsts: list[dict[str, Any]] = [
                {"role": "user"},
                {"name": NAMES[language][0]},
                {"source": "mail"},
                {"session_id": "s0", "source": "mail"},
                {"until": NOON + timedelta(days=1)},
                {"metadata": {"number": 0}},
                {"metadata": {"even": True, "text": one}},
            ]
            seconds: list[dict[str, Any]] = [
                {"role": "assistant"},
                {"name": NAMES[language][1]},
                {"source": "chat"},
                {"session_id": "s1"},
                {"since": NOON + timedelta(days=1)},
                {"metadata": {"number": 1}},
                {"metadata": {"even": False, "text": other}},
            ]
            for mine, theirs in zip(firsts, seconds, strict=True):
                assert await texts(memory, language, mine) == {one}, mine
                assert await texts(memory, language, theirs) == {other}, theirs
                assert await texts(memory, language, mine | {"role": "assistant"}) <= {other}
            for nothing in (
                {"session_id": "s0"},
                {"session_id": "s1", "source": "mail"},
                {"name": "🙂"},
                {"role": "tool"},
                {"metadata": {"number": 0, "even": False}},
                {"metadata": {"list": "[1]"}},
                {"metadata": {"number": "0"}},
                {"since": NOON + timedelta(days=5)},
                {"until": NOON},
                {"verified": True},
            ):
                assert await texts(memory, language, nothing) == set(), nothing


async def test_labels_go_with_a_forgotten_turn(tmp_path: Path) -> None:
    """After a forget no filter finds the turn, and another turn with the same labels stays."""
    async with open_memory(tmp_path) as memory:
        for language in ("en", "zh"):
            first, second = messages(language)
            second["metadata"] = first["metadata"]
            await memory.add([first, second], user_id=language)
            filters = {"metadata": {"number": 0}}
            assert await texts(memory, language, filters) == set(TEXTS[language])
            await memory.forget("t0", user_id=language)
            assert await texts(memory, language, filters) == {TEXTS[language][1]}
