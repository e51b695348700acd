"""A store that an earlier version left: it opens, and answers as it did before."""

from pathlib import Path
from typing import Final

import eunoe
from eunoe.infra.embedded.shard_opening import MARKERS
from tests.support.memories import everything_readable, open_memory
from tests.support.older_layouts import set_back_identity, set_back_markers

USERS: Final = ("ana", "安娜")
TURNS: Final = (
    "My name is Ana Silva and I live in Porto.",
    "Remember that locker 12 is mine.",
    "I moved to Lisbon, I live in Lisbon now.",
    "我对花生过敏,请记住。",
    "我们下周三去三亚。",
    "I met Nora yesterday at the harbour.",
    "This is forgotten: the safe is behind the mirror.",
)
QUESTIONS: Final = [
    "Where do I live?",
    "我对什么过敏?",
    "locker",
    "Who did I meet at the harbour?",
    "我们什么时候去三亚?",
    "the safe behind the mirror",
    "What did I say today?",
]


async def told(memory: eunoe.Memory, user: str) -> str:
    """Return all that can be read back, by time and by filters as well."""
    found = [await everything_readable(memory, user, QUESTIONS)]
    for filters in ({"role": "user"}, {"session_id": "s1"}, {"metadata": {"n": 3}}):
        hits = await memory.search("Porto 花生过敏 locker", user_id=user, filters=filters)
        assert hits, filters
        found += [one.model_dump_json() for one in hits]
    return "\n".join(found)


async def test_a_store_of_the_earlier_layout_answers_as_before(tmp_path: Path) -> None:
    """Emptied stores are filled from the journal: every answer is the same, nothing comes back."""
    async with open_memory(tmp_path) as memory:
        for user in USERS:
            messages = [
                {"id": f"t{n}", "content": text, "session_id": f"s{n % 2}", "metadata": {"n": n}}
                for n, text in enumerate(TURNS)
            ]
            await memory.add(messages, user_id=user)
            await memory.forget(f"t{len(TURNS) - 1}", user_id=user)
        before = {user: await told(memory, user) for user in USERS}
        digests = {user: await memory.digest(user_id=user) for user in USERS}
    (identity,) = (tmp_path / "data").rglob("identity.sqlite")
    (markers,) = (tmp_path / "data").rglob(MARKERS)
    set_back_identity(identity)
    set_back_markers(markers)
    async with open_memory(tmp_path) as memory:
        assert {user: await told(memory, user) for user in USERS} == before
        assert {user: await memory.digest(user_id=user) for user in USERS} == digests
        assert all("mirror" not in text for text in before.values())
        await memory.add({"content": "I live in Braga."}, user_id="ana")
        (hit, *_) = await memory.search("Where do I live?", user_id="ana")
        assert "Braga" in hit.text
