"""How long it is remembered that a user id is no alias, as EUNOE_CACHE_EXPIRY_S says."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from eunoe.persons import Persons
from eunoe.schemas.errors import Rejected
from eunoe.schemas.persons import alias_of
from tests.support.tools import START, SetClock


class Asked:
    """Bindings of nobody, and how often somebody asked."""

    def __init__(self) -> None:
        self.times = 0

    async def bindings(self, owners: Sequence[str]) -> dict[str, Any]:
        """Count, and know nothing."""
        del owners
        self.times += 1
        return {}


def persons(asked: Asked, expiry_s: float) -> Persons:
    """Return what knows the persons of a store with such an expiry."""
    engines: Any = SimpleNamespace(
        identity=asked, keys=None, clock=SetClock(START), cache_expiry_s=expiry_s
    )
    return Persons(engines)


@pytest.mark.parametrize(("expiry_s", "times"), [(0.0, 3), (3_600.0, 1)])
@pytest.mark.parametrize("user", ["ana", "小王"])
async def test_an_ordinary_id_is_asked_for_once_within_the_expiry(
    user: str, expiry_s: float, times: int
) -> None:
    """With 0 it is asked for each time."""
    asked = Asked()
    one = persons(asked, expiry_s)
    for _ in range(3):
        assert await one.named("default", user) == user
    assert asked.times == times


async def test_an_alias_is_asked_for_each_time() -> None:
    """Whose a phone is may change at any moment, so it is never remembered."""
    asked = Asked()
    one = persons(asked, 3_600.0)
    for _ in range(2):
        with pytest.raises(Rejected, match="alone is no person"):
            await one.named("default", alias_of("phone", "+8613800138000"))
    assert asked.times == 2
