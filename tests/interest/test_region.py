"""A filter's region holds every event that the filter accepts; and says what is easily said."""

import random
import time
from typing import Any

import pytest

from polycast.interest.cesql import Program, parse
from polycast.interest.dialects import expression
from polycast.interest.region import region
from polycast.model.region import EVERYTHING
from polycast.model.subscription import read_filters
from tests.interest import expressions


def _region(text: str) -> Any:
    return region(parse(text, strict=False))


@pytest.mark.parametrize("seed", range(20))
def test_no_accepted_event_lies_outside(seed: int) -> None:
    rng = random.Random(seed)
    accepted = inside = 0
    for _ in range(150):
        strict = rng.random() < 0.3
        parsed = parse(expressions.expression(rng, rng.randrange(4), strict), strict)
        found, program = region(parsed), Program(parsed)
        for _ in range(8):
            attributes = expressions.attributes(rng)
            accepted += program.accepts(attributes)
            inside += found.contains(attributes)
            assert found.contains(attributes) or not program.accepts(attributes), parsed
    assert accepted < inside < 150 * 8


@pytest.mark.parametrize("seed", range(10))
def test_no_event_that_filters_accept_lies_outside(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        parsed = expression(read_filters([expressions.filters(rng, 3) for _ in range(rng.randrange(3))], ""))
        found, program = region(parsed), Program(parsed)
        for _ in range(8):
            attributes = expressions.attributes(rng)
            assert found.contains(attributes) or not program.accepts(attributes), parsed


@pytest.mark.parametrize(
    ("text", "axis", "inside", "outside"),
    [
        ("level > 3 AND level <= 5", "level", [4, "4.5", 5, 3], [2, "6", "x", None]),
        ("type LIKE 'map.%'", "type", ["map.", "map.x"], ["text.x", None, 5]),
        ("type NOT LIKE 'map.%'", "type", ["map.x", "x"], [None]),
        ("type LIKE 'map'", "type", ["map"], ["map.x"]),
        ("type IN ('a', 'c') OR type = 'e'", "type", ["a", "c", "e"], ["b", "d", None]),
        ("EXISTS type AND NOT EXISTS level", "type", ["a"], [None]),
        ("NOT (level < 3)", "level", [3, 4], [2, "x"]),
        ("level < 3 XOR level > 5", "level", [2, 6], ["x"]),
        ("urgent", "urgent", [True, "TRUE", "true"], [False, "yes", None, 0]),
        ("urgent = FALSE", "urgent", [False, "False", 0], [True, 1, "true"]),
        ("time < '2026-01-01T00:00:00Z'", "time", ["2025-06-01T00:00:00+05:00"], ["2026-06-01T00:00:00Z", None]),
        ("5 = level AND TRUE", "level", [5, "5"], [6, "x"]),
        ("FALSE OR level = 5", "level", [5, "05"], [6]),
        ("data.lat >= 33.5", "data", [33.5, 40], [33, None]),
        ("1 / 0 = 1 AND level = 1", "level", [1], [2]),
    ],
)
def test_what_regions_hold(text: str, axis: str, inside: list[Any], outside: list[Any]) -> None:
    found = _region(text)

    def event(value: Any) -> dict[str, Any]:
        return {"data": {"lat": value}} if axis == "data" else {axis: value}

    assert [value for value in inside if not found.contains(event(value))] == []
    assert [value for value in outside if found.contains(event(value))] == []


def test_filters_without_bounds_have_none() -> None:
    assert _region("LENGTH(type) = 3") == EVERYTHING
    assert region(expression([])) == EVERYTHING
    assert _region("FALSE AND type = 'a'").boxes == ()


def test_disjoint_interests_do_not_meet() -> None:
    maps, voice = _region("type LIKE 'map.%' AND level > 3"), _region("type = 'voice' OR level < 2")
    assert not maps.intersects(_region("type LIKE 'voice.%'"))
    assert not maps.intersects(voice)
    assert maps.intersects(_region("level = 7"))
    assert not _region("urgent = TRUE").intersects(_region("urgent = FALSE"))


@pytest.mark.parametrize(
    "text",
    [
        "NOT " * 9_000 + "a",
        "(" * 100_000 + "a = 1" + ")" * 100_000,
        "a = 1 OR b = 2 AND (" * 1_200 + "c = 3" + ")" * 1_200,
        " AND ".join(f"(a{number} = 1 OR b{number} = 2)" for number in range(1_200)),
        " OR ".join(f"a{number} = 1 AND b = {number}" for number in range(1_200)),
        "a IN (" + ", ".join(map(str, range(9_000))) + ")",
        "a = 1 AND " * 100_000 + "b = 2",
        " XOR ".join(f"a{number % 50} < {number}" for number in range(1_000)),
    ],
)
def test_regions_of_hostile_filters(text: str) -> None:
    start = time.monotonic()
    found = _region(text)
    assert time.monotonic() - start < 30
    assert sum(len(box) for box in found.boxes) < 200
