"""What bounds a question travels through the door and means the same behind it."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from eunoe.parameters import filters_of, kinds_of, moment_of
from eunoe.schemas import errors
from tests.unit.eunoe.fake_memory import FakeMemory, served

MOMENTS = [
    datetime(2024, 6, 15, 22, tzinfo=timezone(timedelta(hours=8))),
    datetime(2024, 6, 15, 22, 1, 2, 345678, tzinfo=ZoneInfo("Asia/Shanghai")),
    datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Oslo"), fold=1),
    datetime(1969, 7, 20, tzinfo=UTC),
    datetime(2024, 6, 15, 22, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
]
CALLS = ["search", "context"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_clocks_arrive(call: str, moment: datetime, fake: FakeMemory, folder: Path) -> None:
    """The question's clock, as_of and the bounds of an interval are the same moments there."""
    filters = {"since": moment, "until": moment + timedelta(days=1)}
    async with served(fake, folder) as remote:
        await getattr(remote, call)("q", user_id="ana", now=moment, as_of=moment, filters=filters)
    arrived = fake.calls[-1][1]
    for name in ("now", "as_of"):
        read = moment_of(name, arrived[name])
        assert read is not None
        assert read.timestamp() == moment.timestamp()  # an hour that comes twice equals nothing
        assert arrived[name].utcoffset() == moment.utcoffset()
    assert filters_of(arrived["filters"]) == filters_of(filters)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "filters",
    [
        {"session_id": "s1", "role": "user", "name": "Anna", "source": "mail", "verified": True},
        {"session_id": "会话", "name": "安娜", "metadata": {"频道": "工作", "page": 3, "x": 0.5}},
        MappingProxyType({"metadata": MappingProxyType({"open": False})}),
        {},
    ],
)
async def test_filters_arrive(call: str, filters: Any, fake: FakeMemory, folder: Path) -> None:
    """Texts, numbers and truth values in mappings of any kind mean the same filters there."""
    async with served(fake, folder) as remote:
        await getattr(remote, call)(
            "q", user_id="ana", filters=filters, kinds=("turn", "fact"), project_id="atlas"
        )
    arrived = fake.calls[-1][1]
    assert filters_of(arrived["filters"]) == filters_of(filters)
    assert kinds_of(arrived["kinds"]) == ("turn", "fact")
    assert arrived["project_id"] == "atlas"


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("filters", [{"metadata": {3: "x"}}, {"metadata": {"n": 2**70}}])
async def test_filters_without_a_json_form_are_rejected(
    call: str, filters: Any, fake: FakeMemory, folder: Path
) -> None:
    """What can't travel is refused with a sentence before anything is sent."""
    async with served(fake, folder) as remote:
        with pytest.raises(errors.Rejected, match=r"JSON.*\.$"):
            await getattr(remote, call)("q", user_id="ana", filters=filters)
    assert fake.calls == []


async def test_a_clock_without_an_offset_stays_without(fake: FakeMemory, folder: Path) -> None:
    """The door adds no offset: the owner's façade refuses such a clock as one at home does."""
    async with served(fake, folder) as remote:
        await remote.context("q", user_id="ana", now=datetime(2024, 6, 15))  # noqa: DTZ001 - the point
    with pytest.raises(errors.Rejected, match="offset"):
        moment_of("now", fake.calls[-1][1]["now"])
