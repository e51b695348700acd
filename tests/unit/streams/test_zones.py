"""In which time zone a user was: what was set by then, else what the moment itself tells."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import pytest

from eunoe.streams.zones import TIMEZONE, Zones
from tests.support.records import ANA
from tests.support.stating import Statements
from tests.support.tools import START

DAY: Final = timedelta(days=1)


async def zone_at(shelf: Statements, moment: datetime = START) -> str:
    """Return the name of the zone at a moment."""
    return (await Zones(shelf.keys, shelf.identity).at(ANA, moment)).key


async def set_zone(shelf: Statements, name: str, said_at: datetime = START) -> None:
    """Set the zone as the command does."""
    await shelf.state(TIMEZONE, name, said_at, kind="profile")


async def test_the_zone_that_was_set_last_by_then() -> None:
    """Each zone holds from when it was set to when the next one was, and the first from ever."""
    shelf = Statements()
    await set_zone(shelf, "Europe/Lisbon", START)
    await set_zone(shelf, "Asia/Shanghai", START + 2 * DAY)
    assert await zone_at(shelf, START - 100 * DAY) == "Europe/Lisbon"
    assert await zone_at(shelf, START) == "Europe/Lisbon"
    assert await zone_at(shelf, START + 2 * DAY - timedelta.resolution) == "Europe/Lisbon"
    assert await zone_at(shelf, START + 2 * DAY) == "Asia/Shanghai"
    assert await zone_at(shelf, START + 200 * DAY) == "Asia/Shanghai"


async def test_a_zone_set_late_falls_into_its_place() -> None:
    """What counts is when it was set, not when it came in; of one moment, what came in last."""
    shelf = Statements()
    await set_zone(shelf, "Asia/Shanghai", START + 2 * DAY)
    await set_zone(shelf, "Europe/Lisbon", START)
    assert await zone_at(shelf, START + DAY) == "Europe/Lisbon"
    assert await zone_at(shelf, START + 3 * DAY) == "Asia/Shanghai"
    await set_zone(shelf, "Asia/Tokyo", START + 2 * DAY)
    assert await zone_at(shelf, START + 3 * DAY) == "Asia/Tokyo"


async def test_the_zone_is_set_back() -> None:
    """A zone that was set before holds again when it is set again."""
    shelf = Statements()
    for number, name in enumerate(("Europe/Lisbon", "Asia/Shanghai", "Europe/Lisbon")):
        await set_zone(shelf, name, START + number * DAY)
    zones = [await zone_at(shelf, START + number * DAY) for number in range(4)]
    assert zones == ["Europe/Lisbon", "Asia/Shanghai", "Europe/Lisbon", "Europe/Lisbon"]


@pytest.mark.parametrize(
    ("hours", "name"),
    [
        (8, "Etc/GMT-8"),
        (-5, "Etc/GMT+5"),
        (14, "Etc/GMT-14"),
        (-12, "Etc/GMT+12"),
        (0, "UTC"),
        (5.5, "UTC"),
        (-3.5, "UTC"),
        (5.75, "UTC"),
        (15, "UTC"),
        (-13, "UTC"),
        (23.5, "UTC"),
    ],
)
async def test_without_any_the_offset_tells(hours: float, name: str) -> None:
    """Where no zone was set, whole hours of offset are one; others aren't, and mean UTC."""
    offset = timedelta(hours=hours)
    moment = START.astimezone(timezone(offset))
    shelf = Statements()
    assert await zone_at(shelf, moment) == name
    zone = await Zones(shelf.keys, shelf.identity).at(ANA, moment)
    assert moment.astimezone(zone).utcoffset() == (offset if name != "UTC" else timedelta())


async def test_a_zone_that_was_set_goes_before_the_offset() -> None:
    """The offset of the moment says nothing once a zone was set, if only later."""
    shelf = Statements()
    await set_zone(shelf, "Europe/Lisbon", START + DAY)
    moment = START.astimezone(timezone(timedelta(hours=8)))
    assert await zone_at(shelf, moment) == "Europe/Lisbon"


@pytest.mark.parametrize(
    "value",
    ["", "nonsense", "北京时间", "America", "../etc/passwd", "/etc/passwd", "a\0b", "x" * 300],
)
async def test_what_is_no_zone_is_passed_over(value: str) -> None:
    """A value that names no zone counts as if it weren't there, first, last or alone."""
    shelf = Statements()
    await set_zone(shelf, value, START)
    assert await zone_at(shelf, START.astimezone(timezone(timedelta(hours=8)))) == "Etc/GMT-8"
    await set_zone(shelf, "Asia/Tokyo", START + DAY)
    assert await zone_at(shelf, START) == "Asia/Tokyo"
    await set_zone(shelf, value, START + 2 * DAY)
    assert await zone_at(shelf, START + 3 * DAY) == "Asia/Tokyo"


async def test_only_commands_set_the_users_zone() -> None:
    """What turns say of a time zone, the user's or somebody else's, changes none."""
    shelf = Statements()
    await shelf.state(TIMEZONE, "Asia/Tokyo", START)
    await shelf.state(TIMEZONE, "Asia/Seoul", START, kind="preference")
    assert await zone_at(shelf, START + DAY) == "UTC"
    await set_zone(shelf, "Europe/Lisbon", START + DAY)
    await shelf.state(TIMEZONE, "Asia/Tokyo", START + 2 * DAY)
    await shelf.state(TIMEZONE, "Asia/Tokyo", START + 2 * DAY, kind="profile", subject="Marta")
    assert await zone_at(shelf, START + 3 * DAY) == "Europe/Lisbon"


async def test_another_slot_is_no_zone() -> None:
    """A zone's name in another slot of the profile sets nothing."""
    shelf = Statements()
    await shelf.state("home", "Asia/Tokyo", START, kind="profile")
    assert await zone_at(shelf, START.astimezone(UTC)) == "UTC"


async def test_a_shredded_zone_is_passed_over() -> None:
    """A zone whose key is gone is as if it had never been set."""
    shelf = Statements()
    await set_zone(shelf, "Europe/Lisbon", START)
    await set_zone(shelf, "Asia/Tokyo", START + DAY)
    await shelf.open_keys.shred([shelf.rows[1].box.key_id])
    assert await zone_at(shelf, START + 2 * DAY) == "Europe/Lisbon"
