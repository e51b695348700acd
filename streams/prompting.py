"""Hits as a block of text for a prompt: dated, cited, within a budget of tokens. Pure.

The first line says zone and clock; every other line shows one hit:

    Times are in Asia/Shanghai; it is Saturday 2024-06-15 22:00.
    Friday 2024-06-14 09:30 Anna, home: Hangzhou [D1:3]
    Saturday 2024-06-15 21:00 assistant: Shall I book the train? [D2:1]

What hits say is quoted material. It stays on its line, behind date and speaker; its square
brackets become full-width ones, so that those at the line's end alone are a citation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple
from unicodedata import category, normalize
from zoneinfo import ZoneInfo

from ..schemas.limits import (
    PROMPT_CITED_MAX,
    PROMPT_SHARES,
    PROMPT_TEXT_TOKENS_MIN,
    SPEAKER_CHARACTERS_MAX,
)
from ..schemas.results import Context, Hit
from .tokens import WORD_CHARACTERS_MAX, count, cut

__all__ = ["Tongue", "prompt"]

Tongue = Literal["en", "zh"]
"""The language of labels and weekdays."""

_EXACT: Final = frozenset({"slot", "preference", "profile"})
"""Kinds of hits that are exact answers: a value under a name."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Marks without width that letters and emoji need."""
_BRACKETS: Final = str.maketrans("[]", "［］")
_COLONS: Final = str.maketrans(":：,，", "    ")
_IN_CITATIONS: Final = frozenset("[],%")


class _Words(NamedTuple):
    header: str
    weekdays: tuple[str, ...]
    roles: dict[str, str]
    tiers: dict[str, str]
    comma: str
    colon: str


_WORDS: Final[dict[Tongue, _Words]] = {
    "en": _Words(
        header="Times are in {zone}; it is {now}.",
        weekdays=(
            "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
        ),
        roles={"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"},
        tiers={"faded": " (faded)", "superseded": " (superseded)"},
        comma=", ",
        colon=": ",
    ),
    "zh": _Words(
        header="时间按 {zone}；现在是{now}。",
        weekdays=("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
        roles={"user": "用户", "assistant": "助手", "tool": "工具", "system": "系统"},
        tiers={"faded": "（已淡忘）", "superseded": "（已被取代）"},
        comma="，",
        colon="：",
    ),
}  # fmt: skip
_ROLES: Final = frozenset(
    label for words in _WORDS.values() for role in words.roles.items() for label in role
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A hit's line in parts; its tokens are the sum of theirs.

    Args:
        hit: Which.
        head: Date, speaker and name of a slot, up to the colon.
        text: All of it, on one line.
        citation: In brackets.
    """

    hit: Hit
    head: str
    text: str
    citation: str

    @property
    def frame_tokens(self) -> int:
        """Tokens beside the text."""
        return count(self.head) + count(self.citation)

    def shown(self, tokens_max: int) -> str:
        """Return the line with so many tokens of its text."""
        return f"{self.head}{cut(self.text, tokens_max)} {self.citation}"


def prompt(
    hits: Sequence[Hit],
    zone: ZoneInfo,
    now: datetime,
    *,
    budget_tokens: int,
    tongue: Tongue,
) -> Context:
    """Write hits as a block.

    Args:
        hits: Best first.
        zone: The user's.
        now: The question's clock; aware.
        budget_tokens: Most tokens of the block.
        tongue: Of the labels.

    Returns:
        The block of the best hits, exact answers first, then by time. A memory and a turn that it
        came from are shown once, as the better of both. If not all fits, a text that takes more
        than a third of the budget is cut, and so is the last one; if no line fits, the block is
        empty.
    """
    words = _WORDS[tongue]
    clock = _moment(now, zone, words)
    header = words.header.format(zone=_zone_name(zone), now=clock)
    lines = [_line(hit, zone, words, budget_tokens) for hit in _distinct(hits)]
    given = _shares(lines, budget_tokens - count(header))
    shown = list(zip(lines, given, strict=False))
    if not shown:
        return Context(text="", tokens=0, hits=(), timezone=zone.key)
    in_order = sorted(shown, key=lambda one: (one[0].hit.kind not in _EXACT, one[0].hit.said_at))
    text = "\n".join([header, *(line.shown(tokens) for line, tokens in in_order)])
    hits_shown = tuple(line.hit for line, _ in shown)
    return Context(text=text, tokens=count(text), hits=hits_shown, timezone=zone.key)


def _shares(lines: Sequence[_Line], tokens: int) -> list[int]:
    """Share tokens among the texts of the best lines; those behind the last share find no room."""
    wanted = [count(line.text) for line in lines]
    frames = [line.frame_tokens for line in lines]
    longest = tokens if sum(wanted) + sum(frames) <= tokens else tokens // PROMPT_SHARES
    longest = max(longest, PROMPT_TEXT_TOKENS_MIN)
    given: list[int] = []
    for whole, frame in zip(wanted, frames, strict=True):
        share = min(whole, longest, tokens - frame)
        if share < min(whole, PROMPT_TEXT_TOKENS_MIN):
            break
        given.append(share)
        tokens -= frame + share
    for rank, share in enumerate(given):  # what is left goes to the best that were cut
        more = min(wanted[rank] - share, tokens)
        given[rank] += more
        tokens -= more
    return given


def _distinct(hits: Iterable[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    for hit in hits:
        if not any(_repeats(hit, better) for better in kept):
            kept.append(hit)
    return kept


def _repeats(hit: Hit, better: Hit) -> bool:
    """Say whether a hit shows again what a better one shows."""
    if hit.kind in _EXACT or better.kind in _EXACT:
        return (hit.kind, hit.id, hit.text) == (better.kind, better.id, better.text)
    if hit.kind == better.kind == "turn":
        return (hit.id, hit.said_at) == (better.id, better.said_at)
    if "turn" not in {hit.kind, better.kind}:
        return hit.text == better.text
    turn, memory = (hit, better) if hit.kind == "turn" else (better, hit)
    if memory.sources[:1] == (turn.id,):  # of two producers that use the same id, one said it
        return memory.said_at == turn.said_at
    return turn.id in memory.sources


def _line(hit: Hit, zone: ZoneInfo, words: _Words, budget_tokens: int) -> _Line:
    slot = _name(hit.id) if hit.kind in _EXACT else ""
    said_by = words.comma.join(part for part in (_said_by(hit, words), slot) if part)
    tier = words.tiers.get(hit.tier, "")
    head = f"{_moment(hit.said_at, zone, words)} {said_by}{tier}".rstrip() + words.colon
    return _Line(hit, head, _quoted(hit.text, budget_tokens), _citation(hit))


def _said_by(hit: Hit, words: _Words) -> str:
    """Return the speaker's name, else the role; nobody is shown in a role that isn't theirs."""
    role = words.roles.get(hit.role or "", "")
    name = _name(hit.name or "")
    return role if normalize("NFKC", name).casefold() in _ROLES else name or role


def _name(name: str) -> str:
    return " ".join(_plain(name).translate(_COLONS).split())[:SPEAKER_CHARACTERS_MAX].rstrip()


def _quoted(text: str, budget_tokens: int) -> str:
    """Put a text on one line; of a very long one only as much is read as could be shown."""
    characters_max = (budget_tokens + 1) * (WORD_CHARACTERS_MAX + 1)
    read = _plain(text[:characters_max])
    return read if len(text) <= characters_max else f"{read}…"


def _plain(text: str) -> str:
    """Put a text on one line, without what is invisible, turns it round or looks like a source."""
    seen = text if text.isprintable() else "".join(map(_visible, text))
    return " ".join(seen.translate(_BRACKETS).split())


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    kind = category(character)
    if kind in {"Cc", "Zl", "Zp", "Zs"}:
        return " "
    return "" if kind in {"Cf", "Cs"} else character


def _citation(hit: Hit) -> str:
    """Return the closest sources, or, where a command set a value, the value's own name."""
    sources = hit.sources[:PROMPT_CITED_MAX] or (hit.id,)
    return f"[{', '.join(map(_cited, sources))}]"


def _cited(ident: str) -> str:
    """Return an id; what would end it, or can't be seen, is written as in an address: %5D."""
    return "".join(
        character
        if character.isprintable() and character not in _IN_CITATIONS
        else "".join(f"%{byte:02X}" for byte in character.encode(errors="replace"))
        for character in ident
    )


def _moment(moment: datetime, zone: ZoneInfo, words: _Words) -> str:
    try:
        local = moment.astimezone(zone)
    except OverflowError:  # on the calendar's first or last day
        local = moment
    return f"{words.weekdays[local.weekday()]} {local.date().isoformat()} {local:%H:%M}"


def _zone_name(zone: ZoneInfo) -> str:
    """Return a zone's name; one of an offset alone is named by that, not by its turned sign."""
    if not zone.key.startswith("Etc/"):
        return zone.key
    offset = f"{datetime(2000, 1, 1, tzinfo=zone):%z}"  # the same at any time
    return f"UTC{offset[:3]}:{offset[3:]}" if offset.strip("+-0") else "UTC"
