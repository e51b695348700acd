"""What a prompt is told of a memory: a search, in the user's zone."""

from .runtime import Runtime
from .schemas.results import Context
from .streams.asking import Question
from .streams.prompting import prompt
from .streams.zones import Zones

__all__ = ["Prompter"]


class Prompter:
    """Writes blocks of text for prompts.

    Args:
        runtime: Of an open memory.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._zones = Zones(runtime.engines.keys, runtime.engines.identity)

    async def context(self, owner: str, question: Question, budget_tokens: int) -> Context:
        """Write what answers a question, within a budget.

        Args:
            owner: Whose.
            question: Labels are in its language, if that is Chinese; else in English.
            budget_tokens: Most tokens of the block.
        """
        from .streams.intake import language  # noqa: PLC0415 - patterns that opening does without

        zone = await self._zones.at(owner, question.now)
        is_asked = bool(question.text) and question.limit > 0
        hits = await self._runtime.search(owner, question) if is_asked else []
        return prompt(
            hits,
            zone,
            question.now,
            budget_tokens=budget_tokens,
            tongue="zh" if language(question.text) == "zh" else "en",
        )
