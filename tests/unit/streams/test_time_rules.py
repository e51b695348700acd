"""Rules of expressions of time: what tells at once that none of a word's many rules fits."""

import json
import re
from datetime import datetime
from pathlib import Path

import pytest

from eunoe.streams.times import english_points, parse
from eunoe.streams.times.time_cursor import any_of
from eunoe.streams.zones import UTC_ZONE

TABLE = Path(__file__).parent / "times_en.jsonl"


@pytest.mark.parametrize("head", ["the", "a", "last"])
def test_one_pattern_fits_where_any_of_the_rules_does(head: str) -> None:
    """At each place of each text of the table, one pattern tells what the rules tell together."""
    rules = english_points._RULES
    gate = any_of(rules, head)
    texts = [json.loads(line)["text"].lower() for line in TABLE.read_text("utf-8").splitlines()]
    places = [(text, at.start()) for text in texts for at in re.finditer(rf"\b{head}\b", text)]
    fitting = [any(rule.match(text, at) for rule, _ in rules[head]) for text, at in places]
    assert [gate.match(text, at) is not None for text, at in places] == fitting
    assert {True, False} == set(fitting)


@pytest.mark.parametrize("text", ["What did Ana say about the garden?", "安娜说花园怎么样？"])
def test_a_text_without_a_time_is_left_whole(text: str) -> None:
    """Where there is no time, there is no question about one to be taken out."""
    parsed = parse(text, datetime(2024, 6, 20, tzinfo=UTC_ZONE), UTC_ZONE)
    assert (parsed.spans, parsed.ordinal, parsed.rule, parsed.rest) == ((), None, None, text)
