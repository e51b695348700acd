"""What happens to a text before anything keeps it: secrets out, language, chunks. Pure.

Secrets become typed placeholders before the first append, so that no log, store or backup ever
holds one. Whatever has a checksum (cards, identity cards, bank accounts) is checked, so that
order numbers and phone numbers stay what they are.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, Literal

__all__ = ["chunk", "language", "replace_secrets"]

Replacement = Callable[[re.Match[str]], str | None]

_PASSES_MAX: Final = 4
_SECRET_CHARACTERS_MIN: Final = 3
_UNIT_CHARACTERS_MAX: Final = 24

_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_JWT: Final = re.compile(
    r"(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"
)
_BEARER: Final = re.compile(r"(?<![A-Za-z0-9])(Bearer\s+)([A-Za-z0-9._~+/-]{12,}=*)", re.IGNORECASE)
_API_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"sk-[A-Za-z0-9_-]{16,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|AIza[A-Za-z0-9_-]{30,}|(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}|hf_[A-Za-z0-9]{20,}"
    r"|npm_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|LTAI[A-Za-z0-9]{12,}"
    r")(?![A-Za-z0-9_])"
)
_LABELLED_KEY: Final = re.compile(
    r"((?:api[ _-]?key|secret[ _-]?(?:access[ _-]?)?key|access[ _-]?(?:key|token)|client[ "
    r"_-]?secret"
    r"|auth[ _-]?token|refresh[ _-]?token|private[ _-]?token"
    r"|(?<![A-Za-z0-9])token|密钥|令牌|访问凭证)"
    r"(?:\s+id)?[\"']?\s{0,3}(?:is|are|=|:|：|是|为)\s{0,3}[\"'`“]?)"
    r"(?!\[secret:)([A-Za-z0-9_\-./+=]{12,})",
    re.IGNORECASE,
)
_URL_PASSWORD: Final = re.compile(
    r"(?<![A-Za-z0-9+.-])([a-z][a-z0-9+.-]{1,15}://[^\s:/@\[\]]{0,64}:)(?!\[secret:)([^\s@/"
    r"]{1,128})(?=@)",
    re.IGNORECASE,
)
_PASSWORD: Final = re.compile(
    r"(?<![A-Za-z0-9])((?:pass ?words?|passwd|pwd|pass ?codes?|pass ?phrase|pin(?: code| number)?)"
    r"(?: (?:for|to|of|on) [\w .'’-]{1,40}?)?[\"']?\s{0,3}"
    r"(?:(?:is now|is|was|=|:|：|changed to|set to)\s{0,3}))"
    r"(?!\[secret:)([\"'`“‘]?)([^\s\"'`“”‘’]{3,64})",
    re.IGNORECASE,
)
_CHINESE_PASSWORD: Final = re.compile(
    r"((?:密码|口令|PIN码?|pin码?|通行码|[Pp]assword|pwd)(?:已经|现在|都|就)?\s{0,3}"
    r"(?:是|为|：|:|=|换成了?|改成了?|改为了?|设成了?|设为了?|设的是)\s{0,3}[\"'“‘「]?)"
    r"(?!\[secret:)([!-~]{3,64})"
)
_NO_PASSWORDS: Final = frozenset(
    "wrong not incorrect correct required too the a an same different expired expiring "
    "still in on "
    "saved stored weak strong case reset invalid being now never always good bad fine secure "
    "insecure long short old new easy hard safe lost forgotten gone missing no yes needed changed "
    "accepted rejected empty blank unknown hidden visible shared there here what that this "
    "my your "
    "his her our their one something somewhere asked about due like also only just really very "
    "compromised leaked encrypted hashed up out hers mine yours ours theirs set working stuck "
    "locked blocked unchanged all both either impossible optional mandatory".split()
)
_CARD: Final = re.compile(r"(?<![A-Za-z0-9_+.-])[0-9](?:[ -]?[0-9]){12,18}(?![A-Za-z0-9_-])")
_ORDER: Final = re.compile(
    r"(?:order|tracking|invoice|parcel|ticket|ref(?:erence)?|订单|单号|运单|快递|编号"
    r"|流水)[^\d\n]{0,16}$",
    re.IGNORECASE,
)
_CHINESE_ID: Final = re.compile(
    r"(?<![0-9A-Za-z])[1-9]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]"
    r"(?![0-9A-Za-z])"
)
_SOCIAL_SECURITY: Final = re.compile(
    r"(?<![A-Za-z0-9])((?:ssn|social security(?: number)?)\D{0,12})(\d{3}-\d\d-\d{4})\b",
    re.IGNORECASE,
)
_IBAN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]){11,32}")
_IBAN_LENGTHS: Final = {
    "AD": 24, "AE": 23, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22,
    "DK": 18, "EE": 20, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28,
    "IE": 22, "IL": 23, "IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27,
    "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SA": 24, "SE": 24, "SI": 19,
    "SK": 24, "SM": 27, "TR": 26, "UA": 29,
}  # fmt: skip

_CJK: Final = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_UNIT: Final = re.compile(rf"[{_CJK}]|[^\s{_CJK}]{{1,{_UNIT_CHARACTERS_MAX}}}")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_LATIN_WORD: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ]+")
_SENTENCE_END: Final = frozenset(".!?。！？；;\n…")


def replace_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace secrets by placeholders such as `[secret:password]`.

    Args:
        text: Any text.

    Returns:
        The text without secrets, and the kinds found, each once, in alphabetical order.
    """
    kinds: set[str] = set()
    for _ in range(_PASSES_MAX):
        before = text
        for kind, pattern, replacement in _RULES:
            text = _replace(text, kind, pattern, replacement, kinds)
        if text == before:
            break
    return text, tuple(sorted(kinds))


def chunk(text: str, tokens_max: int, overlap_tokens: int) -> list[tuple[int, int]]:
    """Cut a long text into overlapping chunks at borders of sentences, else of words.

    Args:
        text: Any text.
        tokens_max: Most tokens in a chunk; words, or characters of Chinese, count as one.
        overlap_tokens: About how many tokens a chunk repeats of the one before.

    Returns:
        (start, end) pairs in order that cover every character; one pair if the text is short.
    """
    units = [match.span() for match in _UNIT.finditer(text)]
    tokens_max = max(1, tokens_max)
    if len(units) <= tokens_max:
        return [(0, len(text))]
    overlap = max(0, min(overlap_tokens, tokens_max // 2))
    chunks: list[tuple[int, int]] = []
    first = 0
    while True:
        last = first + tokens_max
        if last >= len(units):
            chunks.append((units[first][0] if chunks else 0, len(text)))
            return chunks
        last = _border(text, units, last, last - max(1, tokens_max // 3))
        chunks.append((units[first][0] if chunks else 0, units[last][0]))
        first = max(first + 1, _border(text, units, last - overlap // 2, last - overlap))
        first = min(first, last)


def language(text: str) -> Literal["en", "zh", "und"]:
    """Return the main language of a text: "en" for Latin words, "zh" for Chinese characters."""
    han = len(_HAN.findall(text))
    kana = len(_KANA.findall(text))
    words = len(_LATIN_WORD.findall(text))
    if kana > han // 4:
        return "und"
    if han > words:
        return "zh"
    return "en" if words else "und"


def _border(text: str, units: list[tuple[int, int]], at: int, lowest: int) -> int:
    """Return the best unit to begin with in (lowest, at]: after a sentence, else after a space."""
    spaced = 0
    for index in range(at, max(lowest, 0), -1):
        gap = text[units[index - 1][1] - 1 : units[index][0]]
        if gap[0] in _SENTENCE_END or "\n" in gap:
            return index
        if not spaced and (len(gap) > 1 or _HAN.match(gap)):
            spaced = index
    return spaced or max(at, 0)


def _replace(
    text: str, kind: str, pattern: re.Pattern[str], replacement: Replacement, kinds: set[str]
) -> str:
    def put(match: re.Match[str]) -> str:
        kept = replacement(match)
        if kept is None:
            return match.group()
        kinds.add(kind)
        return kept.replace("\0", f"[secret:{kind}]")

    return pattern.sub(put, text)


def _whole(_: re.Match[str]) -> str:
    return "\0"


def _after_label(match: re.Match[str]) -> str:
    return match[1].replace("\0", "") + "\0"


def _key(match: re.Match[str]) -> str | None:
    value = match[2]
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return _after_label(match) if mixed else None


def _password(match: re.Match[str]) -> str | None:
    """A password by its label: not "my password is wrong", but whatever looks chosen."""
    value = match[3].rstrip(".,;!?)]}")
    tail = match[3][len(value) :]
    plain = value.isalpha() and value.islower()
    if (
        len(value) < _SECRET_CHARACTERS_MIN
        or not value.isascii()
        or value.lower().strip("'") in _NO_PASSWORDS
    ):
        return None
    told = match[2] or re.search(r"[=:：]\s*$", match[1])
    if plain and not told and re.match(r"\s+[a-z]", match.string[match.end() : match.end() + 3]):
        return None  # the sentence goes on: "password is kept in the safe"
    if match[1].lower().startswith("pin") and not value.isdigit():
        return None
    return f"{_after_label(match)[:-1]}{match[2]}\0{tail}"


def _chinese_password(match: re.Match[str]) -> str | None:
    value = match[2].rstrip(".,;!?)]}\"'")
    tail = match[2][len(value) :]
    return f"{_after_label(match)}{tail}" if len(value) >= _SECRET_CHARACTERS_MIN else None


def _card(match: re.Match[str]) -> str | None:
    digits = [int(c) for c in match.group() if c.isdigit()]
    number = "".join(map(str, digits))
    if not _issued(number) or _ORDER.search(
        match.string[max(0, match.start() - 40) : match.start()]
    ):
        return None
    total = 0
    for place, digit in enumerate(reversed(digits)):
        double = digit * 2 if place % 2 else digit
        total += sum(divmod(double, 10))  # the sum of its digits, by Luhn
    return "\0" if total % 10 == 0 else None


def _issued(number: str) -> bool:
    """Whether an issuer of cards gives out numbers that begin so and are so long."""
    prefixes: dict[int, tuple[str, ...]] = {
        13: ("4",),
        14: ("36", "38", "39", "300", "301", "302", "303", "304", "305"),
        15: ("34", "37"),
        16: ("4", "51", "52", "53", "54", "55", "22", "23", "24", "25", "26", "27", "35",
             "6011", "62", "64", "65"),
        17: ("62",),
        18: ("62",),
        19: ("4", "62"),
    }  # fmt: skip
    return number.startswith(prefixes.get(len(number), ("x",)))


def _chinese_id(match: re.Match[str]) -> str | None:
    """Check the last character by GB 11643 (ISO 7064, MOD 11-2)."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    number = match.group()
    total = sum(int(c) * weight for c, weight in zip(number, weights, strict=False))
    return "\0" if "10X98765432"[total % 11] == number[-1].upper() else None


def _iban(match: re.Match[str]) -> str | None:
    """Check an account number by ISO 13616 (length of the country, ISO 7064 MOD 97-10)."""
    text = match.group()
    wanted = _IBAN_LENGTHS.get(text[:2], 0)
    end = _nth_character(text, wanted)
    if not end or re.match(r"[A-Za-z0-9]", text[end : end + 1]):
        return None
    number = text[:end].replace(" ", "")
    digits = "".join(str(int(c, 36)) for c in number[4:] + number[:4])
    return "\0" + text[end:] if int(digits) % 97 == 1 else None


def _nth_character(text: str, wanted: int) -> int:
    """Return where the `wanted`th character that is no space ends; 0 if there are fewer."""
    seen = 0
    for index, character in enumerate(text):
        seen += character != " "
        if seen == wanted:
            return index + 1
    return 0


def _rules() -> Iterator[tuple[str, re.Pattern[str], Replacement]]:
    yield "private-key", _PRIVATE_KEY, _whole
    yield "token", _JWT, _whole
    yield "token", _BEARER, _after_label
    yield "api-key", _API_KEY, _whole
    yield "api-key", _LABELLED_KEY, _key
    yield "password", _URL_PASSWORD, _after_label
    yield "password", _PASSWORD, _password
    yield "password", _CHINESE_PASSWORD, _chinese_password
    yield "id-number", _CHINESE_ID, _chinese_id
    yield "id-number", _SOCIAL_SECURITY, _after_label
    yield "credit-card", _CARD, _card
    yield "iban", _IBAN, _iban


_RULES: Final = tuple(_rules())
