"""Experience counts each event once, however its records are split, repeated and mixed."""

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.infra.embedded.experience import SqliteExperience
from eunoe.schemas.experience import DOMAINS, ExperienceKind, ExperiencePoint, Pool, Total
from tests.support.experiencing import MIDNIGHT, point, pseudonym
from tests.support.places import memory_folder

bounded = settings(max_examples=40, deadline=None)
NAMES: Final = ("ana", "ben", "安娜", "小王", "eve", "dan")
DAYS: Final = 3

POINTS: Final = st.lists(
    st.builds(
        lambda who, event, minute, **fields: point(who, f"e{event}", minute=minute, **fields),
        st.sampled_from(NAMES),
        st.integers(0, 50),
        st.integers(0, DAYS * 24 * 60 - 1),
        kind=st.sampled_from(ExperienceKind),
        domain=st.sampled_from(DOMAINS[:2]),
        count=st.integers(1, 9),
    ),
    max_size=40,
    unique_by=lambda one: (one.domain, one.kind, one.pseudonym, one.at_ns),
)


def known(
    batches: Sequence[Sequence[ExperiencePoint]],
) -> tuple[list[list[Total]], list[Pool | None]]:
    """Return the totals of everybody and the pools, after batches were written."""
    begin, end = MIDNIGHT, MIDNIGHT + timedelta(days=DAYS)

    async def write(folder: Path) -> tuple[list[list[Total]], list[Pool | None]]:
        store = SqliteExperience(folder / "experience.sqlite")
        try:
            for batch in batches:
                await store.write(batch)
            totals = [
                await store.totals([pseudonym(name)], begin, end, unit="hour") for name in NAMES
            ]
            return totals, [await store.pool(domain, begin, end) for domain in DOMAINS]
        finally:
            await store.close()

    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        return asyncio.run(write(Path(folder)))


@bounded
@given(points=POINTS, data=st.data())
def test_splits_repeats_and_order_change_nothing(
    points: list[ExperiencePoint], data: st.DataObject
) -> None:
    """Any batches of the same points, in any order, some of them again, give the same figures."""
    again = data.draw(st.lists(st.sampled_from(points), max_size=20)) if points else []
    sent = data.draw(st.permutations(points + again))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sent)), max_size=5)) | {0, len(sent)})
    batches = [sent[begin:end] for begin, end in zip(cuts, cuts[1:], strict=False)]
    totals, pools = known(batches)
    assert (totals, pools) == known([points])
    assert sum(one.count for some in totals for one in some) == sum(one.count for one in points)
